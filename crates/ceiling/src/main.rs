//! The ceiling as a separate program, for benchmarks of tolok. Studies run it as the hidden command `tolok ceiling`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tolok_ceiling::run(std::env::args().skip(1))
}
