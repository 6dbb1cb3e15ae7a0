//! `--figures`: each chart of a report as files for a paper.

use std::path::Path;

use tolok_analysis::Findings;
use tolok_analysis::figures::counted;
use tolok_lab::convert::{Converter, Found, INSTALL};
use tolok_report::charts::{Chart, figures};
use tolok_report::latex;

use crate::exit::Complaint;
use crate::output::{put, say};

/// Writes SVG, PDF where the machine can make it, and `figures.tex` into a folder that is there.
pub fn write(findings: &Findings, folder: &Path) -> Result<(), Complaint> {
    let charts = figures(findings);
    for chart in &charts {
        put(&chart.svg, Some(&folder.join(format!("{}.svg", chart.name))))?;
    }
    let converter = Converter::find(&std::env::var_os("PATH").unwrap_or_default());
    let has_pdf = converter.as_ref().is_some_and(|found| convert(found, &charts, folder));
    let text = latex::figures(findings, &charts, has_pdf.then_some("pdf"));
    put(&text, Some(&folder.join("figures.tex")))?;
    let pdf = match (&converter, has_pdf) {
        (Some(found), true) => format!(", as PDF by {}", found.name()),
        _ => String::new(),
    };
    say(format!(
        "figures {}: {} as SVG{pdf}, and figures.tex",
        folder.display(),
        counted(charts.len() as u64, "chart")
    ));
    if converter.is_none() {
        say(format!("no PDF was made, as no converter is on PATH; install one and run this again: {INSTALL}"));
    }
    Ok(())
}

/// Makes the PDFs, and says of the first that cannot be made why; whether all were made.
fn convert(found: &Found, charts: &[Chart], folder: &Path) -> bool {
    for chart in charts {
        if let Err(error) = found.convert(&folder.join(format!("{}.svg", chart.name)), chart.size_mm()) {
            say(format!("warning: {error}"));
            return false;
        }
    }
    !charts.is_empty()
}
