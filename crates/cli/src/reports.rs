//! The reports of a run: built from its records, kept in its folder, printed.

use std::path::{Path, PathBuf};

use tolok_analysis::{Findings, analyse};
use tolok_report::{CARD, CARD_PICTURE, Format as ReportFormat, Style, card_picture, render};
use tolok_store::{RunFolder, StoreError};

use crate::args::{Format, ResultArgs};
use crate::exit::CliError;
use crate::output::{check_place, put, say, width};
use crate::stored::Stored;

/// The reports that are kept in a run's folder.
pub const KEPT: [(&str, ReportFormat); 5] = [
    ("report.html", ReportFormat::Html),
    ("report.md", ReportFormat::Markdown),
    ("report.csv", ReportFormat::Csv),
    ("report.json", ReportFormat::Json),
    (CARD, ReportFormat::Card),
];

/// The folder that was named, or the usual one.
pub fn runs_folder(named: Option<&Path>) -> PathBuf {
    named.map_or_else(tolok_lab::home::runs_folder, Path::to_owned)
}

/// Refuses, before anything is looked at, places in which a run or its result cannot be kept.
pub fn check_places(runs: Option<&Path>, output: Option<&Path>) -> Result<(), CliError> {
    check_place(output)?;
    Ok(RunFolder::try_place(&runs_folder(runs))?)
}

/// The stored run that a name means.
pub fn find_run(runs: Option<&Path>, name: &str) -> Result<RunFolder, CliError> {
    Ok(RunFolder::open(&RunFolder::find(&runs_folder(runs), name)?))
}

/// Analyses what is stored, and writes every report that is kept into the run's folder.
pub fn keep(folder: &RunFolder) -> Result<Findings, CliError> {
    let findings = findings(folder)?;
    let plain = Style { colour: false, width: width() };
    let reports = KEPT.map(|(name, format)| (name, render(&findings, format, &plain).into_bytes()));
    for (name, content) in reports.into_iter().chain([(CARD_PICTURE, card_picture(&findings))]) {
        // A folder that can be read but not written, such as someone else's run, can still be shown.
        if let Err(error) = folder.write(name, &content) {
            say(format!("warning: {error}"));
        }
    }
    Ok(findings)
}

/// Prints the report that was asked for. Colour is for terminals, and no file is one.
pub fn print(findings: &Findings, format: ReportFormat, result: &ResultArgs) -> Result<(), CliError> {
    let style = Style { colour: result.output.is_none(), width: width() };
    put(&render(findings, format, &style), result.output.as_deref())
}

/// What the records of a run say.
pub fn findings(folder: &RunFolder) -> Result<Findings, StoreError> {
    Ok(analyse(&Stored::read(folder)?.records()))
}

/// The report of a format, or `None` for lines and names, which are no report.
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
