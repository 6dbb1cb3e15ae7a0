//! The reports of a run: built from its records, stored in its folder, printed.

use std::path::{Path, PathBuf};

use tolok_analysis::{Findings, analyse};
use tolok_report::{CARD, CARD_PICTURE, Format as ReportFormat, Style, card_picture, render};
use tolok_store::{RunFolder, StoreError};

use crate::args::{Format, ResultArgs};
use crate::exit::CliError;
use crate::output::{check_place, put, say, width};
use crate::stored::Stored;

/// The reports stored in a run's folder.
pub const KEPT: [(&str, ReportFormat); 5] = [
    ("report.html", ReportFormat::Html),
    ("report.md", ReportFormat::Markdown),
    ("report.csv", ReportFormat::Csv),
    ("report.json", ReportFormat::Json),
    (CARD, ReportFormat::Card),
];

/// The folder that the user named, or the default.
pub fn runs_folder(named: Option<&Path>) -> PathBuf {
    named.map_or_else(tolok_lab::home::runs_folder, Path::to_owned)
}

/// Refuses unusable paths for a run or its result before anything else is read.
pub fn check_places(runs: Option<&Path>, output: Option<&Path>) -> Result<(), CliError> {
    check_place(output)?;
    Ok(RunFolder::try_place(&runs_folder(runs))?)
}

/// Finds the stored run that a name refers to.
pub fn find_run(runs: Option<&Path>, name: &str) -> Result<RunFolder, CliError> {
    Ok(RunFolder::open(&RunFolder::find(&runs_folder(runs), name)?))
}

/// Analyses the stored records, and writes every report into the run's folder.
pub fn keep(folder: &RunFolder) -> Result<Findings, CliError> {
    let findings = findings(folder)?;
    let plain = Style { colour: false, width: width() };
    let reports = KEPT.map(|(name, format)| (name, render(&findings, format, &plain).into_bytes()));
    for (name, content) in reports.into_iter().chain([(CARD_PICTURE, card_picture(&findings))]) {
        // A folder that cannot be written, such as someone else's run, can still be shown.
        if let Err(error) = folder.write(name, &content) {
            say(format!("warning: {error}"));
        }
    }
    Ok(findings)
}

/// Prints the requested report. A file gets no colours.
pub fn print(findings: &Findings, format: ReportFormat, result: &ResultArgs) -> Result<(), CliError> {
    let style = Style { colour: result.output.is_none(), width: width() };
    put(&render(findings, format, &style), result.output.as_deref())
}

/// The findings from a run's records.
pub fn findings(folder: &RunFolder) -> Result<Findings, StoreError> {
    Ok(analyse(&Stored::read(folder)?.records()))
}

/// The report format, or `None` for JSON Lines and the id, which are not reports.
pub fn report_format(format: Format) -> Option<ReportFormat> {
    match format {
        Format::Text => Some(ReportFormat::Terminal),
        Format::Json => Some(ReportFormat::Json),
        Format::Md => Some(ReportFormat::Markdown),
        Format::Csv => Some(ReportFormat::Csv),
        Format::Tidy => Some(ReportFormat::Tidy),
        Format::Tex => Some(ReportFormat::Latex),
        Format::Html => Some(ReportFormat::Html),
        Format::Svg => Some(ReportFormat::Card),
        Format::Junit => Some(ReportFormat::Junit),
        Format::Jsonl | Format::Id => None,
    }
}
