//! Findings to terminal, HTML, Markdown, LaTeX, CSV and JSON. Pure functions to a string.
//!
//! A report for people is a [`document::Document`], which `documents/` builds and [`print`] turns into text. All of them read nothing but [`Findings`] (and [`fidelity`] what was found of drivers, [`compare`] a comparison of two runs,
//! [`forecast`] predictions, [`verification`] what became of a run's figures, [`audit`] what speaks against a published table) and
//! print nothing; where the text goes is the caller's business. Digits and units come from [`figures`], so that the same figure looks the same in every format that people
//! read; CSV and JSON hold the plain numbers in base units.

pub mod audit;
pub mod charts;
pub mod compare;
mod csv;
pub mod document;
mod documents;
pub mod fidelity;
pub mod forecast;
mod frame;
mod json;
pub mod latex;
mod markdown;
pub mod overlay;
pub mod page;
mod palette;
pub mod print;
mod printable;
mod programs;
pub mod replication;
mod sensitivity;
mod sparkline;
mod svg;
mod terminal;
mod tidy;
pub mod verification;

pub use print::Style;
pub use sparkline::sparkline;
pub use tolok_analysis::figures;

use tolok_analysis::Findings;

use document::{Depth, Document};
use documents::{brief, run};

/// What findings can be turned into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables and sentences for a terminal or a log.
    Terminal,
    /// Tables as GitHub shows them.
    Markdown,
    /// One line a case, numbers in base units.
    Csv,
    /// CSV with one line an observation, which is one figure of one trial.
    Tidy,
    /// Tables for a paper.
    Latex,
    /// Everything, as [`schema`] describes it.
    Json,
    /// One page that needs nothing but itself.
    Html,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Terminal, Self::Markdown, Self::Csv, Self::Tidy, Self::Latex, Self::Json, Self::Html];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "text",
            Self::Markdown => "md",
            Self::Csv => "csv",
            Self::Tidy => "tidy",
            Self::Latex => "tex",
            Self::Json => "json",
            Self::Html => "html",
        }
    }

    /// What the names of its files end in, without the point.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Terminal => "txt",
            // Both are CSV, and one folder may hold both.
            Self::Tidy => "tidy.csv",
            other => other.name(),
        }
    }

    /// The format that [`Format::name`] gives this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// The report of a run, before it has a format.
pub fn document(findings: &Findings, depth: Depth) -> Document {
    run::document(findings, depth)
}

/// The findings in a format, with a line break at the end.
pub fn render(findings: &Findings, format: Format, style: &Style) -> String {
    match format {
        Format::Terminal => print::terminal(&run::document(findings, Depth::Short), style),
        Format::Markdown => print::markdown(&run::document(findings, Depth::Full)),
        Format::Csv => csv::render(findings),
        Format::Tidy => tidy::render(findings),
        Format::Latex => latex::render(findings),
        Format::Json => json::render(findings),
        Format::Html => print::html(&run::document(findings, Depth::Page)),
    }
}

/// What one pastes into a README or a message: the verdict, a table for each scenario, and a line on how it was measured. None of
/// formats that are not for people, nor of a page.
pub fn brief(findings: &Findings, format: Format, style: &Style) -> Option<String> {
    match format {
        Format::Terminal => Some(print::terminal(&brief::document(findings, Depth::Short), style)),
        Format::Markdown => Some(print::markdown(&brief::document(findings, Depth::Full))),
        _ => None,
    }
}

/// The JSON Schema of [`Format::Json`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Findings).to_value()
}
