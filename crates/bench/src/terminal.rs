//! Output of the benches: results to standard output, everything else to standard error.

use std::io::Write as _;
use std::process::ExitCode;

use crate::error::BenchError;

/// Prints a result. Ignores a closed pipe.
pub fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a message.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The exit code of a bench; prints the error if it failed.
pub fn exit_code(ended: Result<ExitCode, BenchError>) -> ExitCode {
    ended.unwrap_or_else(|error| {
        say(&format!("error: {error}"));
        ExitCode::FAILURE
    })
}
