//! Writes a report of an invented run, to look at it: `cargo run -p tolok-report --example page -- html page.html`.

#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;

use std::process::ExitCode;

use tolok_report::{Format, Style, render};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (format, path) = match arguments.as_slice() {
        [format, path] => (Format::from_name(format), path),
        _ => return usage(),
    };
    let Some(format) = format else { return usage() };
    let mut findings = invented::ordinary().findings();
    findings.cautions.insert(0, "Every figure of this report is invented; nothing was measured.".to_owned());
    match std::fs::write(path, render(&findings, format, &Style::default())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("cannot write {path}: {error}")),
    }
}

fn usage() -> ExitCode {
    let formats = Format::ALL.map(Format::name).join("|");
    complain(&format!("usage: page {formats} FILE"))
}

#[allow(clippy::print_stderr, reason = "an example is a program of its own")]
fn complain(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
