//! What the benches print: results to standard output, everything else to standard error.

use std::io::Write as _;
use std::process::ExitCode;

use crate::error::BenchError;

/// Prints a result. A reader that has gone has seen enough.
pub fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line for people.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The code with which a bench ends, once it has said why it failed.
pub fn exit_code(ended: Result<ExitCode, BenchError>) -> ExitCode {
    ended.unwrap_or_else(|error| {
        say(&format!("error: {error}"));
        ExitCode::FAILURE
    })
}
