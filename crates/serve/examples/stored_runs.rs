//! Writes invented runs into a folder, to look at their pages and for the browser tests:
//! `cargo run -p tolok-serve --example stored-runs -- FOLDER`.

#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;
#[path = "../tests/stored/mod.rs"]
mod stored;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else { return complain("usage: stored-runs FOLDER") };
    match stored::write_all(Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("cannot write into {folder}: {error}")),
    }
}

#[allow(clippy::print_stderr, reason = "an example is a separate program")]
fn complain(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
