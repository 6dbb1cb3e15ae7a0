//! Writes reports of invented runs into a folder, for viewing: `cargo run -p tolok-report --example pages -- FOLDER`.

#[path = "../tests/all/audits.rs"]
mod audits;
#[path = "../tests/all/edge_cases/mod.rs"]
mod edge_cases;
#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use edge_cases::replications;
use tolok_report::document::Depth;
use tolok_report::print::{html, markdown};
use tolok_report::{Format, Style, documents, render};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else { return complain("usage: pages FOLDER") };
    match write_all(Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("cannot write into {folder}: {error}")),
    }
}

/// Writes every invented run in every format, with its figures, and the pages of invented audits.
fn write_all(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, mut findings) in edge_cases::all() {
        findings.cautions.insert(0, "Every figure of this report is invented; nothing was measured.".to_owned());
        for format in Format::ALL {
            let path = folder.join(format!("{name}.{}", format.ending()));
            fs::write(path, render(&findings, format, &Style::default()))?;
        }
        let figures = folder.join(format!("{name}-figures"));
        fs::create_dir_all(&figures)?;
        for figure in tolok_report::charts::figures(&findings) {
            fs::write(figures.join(format!("{}.svg", figure.name)), figure.svg)?;
        }
    }
    for (name, found) in replications::all() {
        let document = |depth| documents::replication(&found, depth);
        fs::write(folder.join(format!("{name}.html")), html(&document(Depth::Page)))?;
        fs::write(folder.join(format!("{name}.md")), markdown(&document(Depth::Full)))?;
    }
    for (name, audits) in audits::all() {
        fs::write(folder.join(format!("{name}.html")), html(&documents::audit(&audits, false, Depth::Page)))?;
    }
    Ok(())
}

#[allow(clippy::print_stderr, reason = "an example is a separate program")]
fn complain(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
