//! `tolok report`: findings from a run's records, in every format.

use std::path::Path;

use tolok_analysis::{Findings, Names, Records, analyse};
use tolok_lab::store::{RunFolder, StoreError};
use tolok_report::{Format as ReportFormat, Style, render};

use crate::args::{Format, ReportArgs, ResultArgs};
use crate::exit::{Complaint, Exit};
use crate::json_lines::{FindingsLine, JsonLines};
use crate::output::{put, say, width};

/// The reports that are kept in a run's folder.
pub const KEPT: [(&str, ReportFormat); 4] = [
    ("report.html", ReportFormat::Html),
    ("report.md", ReportFormat::Markdown),
    ("report.csv", ReportFormat::Csv),
    ("report.json", ReportFormat::Json),
];

/// Rebuilds the reports of a run and prints one.
pub fn report(args: &ReportArgs) -> Result<Exit, Complaint> {
    let path = RunFolder::find(&super::run::runs_folder(&args.result)?, &args.run)?;
    let (folder, result) = (RunFolder::open(&path), &args.result);
    let findings = keep(&folder)?;
    match report_format(result.format) {
        Some(format) => print(&findings, format, result)?,
        None => {
            JsonLines::to(result.output.as_deref())?.write(&FindingsLine::of(&findings, folder.path(), 0.0));
        }
    }
    Ok(Exit::Done)
}

/// Analyses what is stored, and writes every report into the run's folder.
pub fn keep(folder: &RunFolder) -> Result<Findings, Complaint> {
    let findings = findings(folder)?;
    let plain = Style { colour: false, width: width() };
    for (name, format) in KEPT {
        // A folder that can be read but not written, such as someone else's run, can still be shown.
        if let Err(error) = folder.write(name, render(&findings, format, &plain).as_bytes()) {
            say(format!("warning: {error}"));
        }
    }
    Ok(findings)
}

/// Prints the report that was asked for.
pub fn print(findings: &Findings, format: ReportFormat, result: &ResultArgs) -> Result<(), Complaint> {
    let style = Style { colour: true, width: width() };
    put(&render(findings, format, &style), result.output.as_deref())
}

/// What the records of a run say.
pub fn findings(folder: &RunFolder) -> Result<Findings, StoreError> {
    let stored = folder.read()?;
    let names: Names = folder.names()?;
    Ok(analyse(&Records {
        run: &stored.run,
        plan: &stored.plan,
        names: &names,
        trials: &stored.trials,
        diagnoses: &stored.diagnoses,
        records_sha256: stored.records_sha256.as_deref(),
    }))
}

/// The report of a format; none of lines, which are no report.
pub fn report_format(format: Format) -> Option<ReportFormat> {
    match format {
        Format::Text => Some(ReportFormat::Terminal),
        Format::Json => Some(ReportFormat::Json),
        Format::Md => Some(ReportFormat::Markdown),
        Format::Csv => Some(ReportFormat::Csv),
        Format::Html => Some(ReportFormat::Html),
        Format::Jsonl => None,
    }
}

/// Opens a page in the user's browser, where there is a screen to open one on.
pub fn open_in_browser(page: &Path) {
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| std::env::var_os(name).is_some());
    if has_screen && let Err(error) = open::that_detached(page) {
        say(format!("the browser could not be opened ({error}); the page is {}", page.display()));
    }
}
