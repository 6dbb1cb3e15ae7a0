//! The ceiling as a program of its own, for benchmarks of tolok. Studies run it as the hidden verb `tolok ceiling`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tolok_ceiling::run(std::env::args().skip(1))
}
