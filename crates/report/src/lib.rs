//! Findings to terminal, HTML, Markdown, LaTeX, CSV and JSON. Pure functions to a string.
//!
//! [`documents`] turns findings into a [`document`], and [`print`] turns a document into text: nothing else knows a format. [`data`]
//! writes findings as CSV and JSON, with plain numbers in base units. Digits and units of documents come from [`figures`], so that a figure
//! looks the same in every format that people read.

mod apart;
mod badge;
pub mod charts;
pub mod data;
pub mod document;
pub mod documents;
pub mod print;
mod printable;
mod sparkline;
mod svg;
mod wording;

pub use badge::badge;
pub use print::{LAYOUT, Style, layout_of};
pub use sparkline::sparkline;
pub use svg::palette::marker;
pub use tolok_analysis::figures;

use tolok_analysis::Findings;

use document::Depth;

/// The name of a run's card beside its page, as a drawing.
pub const CARD: &str = "share.svg";
/// The same as a picture, which is what places that show links understand.
pub const CARD_PICTURE: &str = "share.png";

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
    /// A picture to share: the headline, and the bars of the first scenario.
    Card,
    /// Objectives as test cases, for continuous integration.
    Junit,
}

impl Format {
    pub const ALL: [Self; 9] = [
        Self::Terminal,
        Self::Markdown,
        Self::Csv,
        Self::Tidy,
        Self::Latex,
        Self::Json,
        Self::Html,
        Self::Card,
        Self::Junit,
    ];

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
            Self::Card => "svg",
            Self::Junit => "junit",
        }
    }

    /// What the names of its files end in, without the point.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Terminal => "txt",
            // Both are CSV, and one folder may hold both.
            Self::Tidy => "tidy.csv",
            Self::Junit => "junit.xml",
            other => other.name(),
        }
    }
}

/// The findings in a format, with a line break at the end.
pub fn render(findings: &Findings, format: Format, style: &Style) -> String {
    match format {
        Format::Terminal => print::terminal(&documents::glance(findings), style),
        Format::Markdown => {
            format!(
                "{}\n<!-- tolok report, layout {LAYOUT} -->\n",
                print::markdown(&documents::run(findings, Depth::Full))
            )
        }
        Format::Csv => data::run(findings),
        Format::Tidy => data::tidy(findings),
        Format::Latex => print::latex(&documents::paper(findings)),
        Format::Json => data::json(findings),
        Format::Html => print::html_with_card(&documents::run(findings, Depth::Page), CARD_PICTURE),
        Format::Card => charts::card::card(findings),
        Format::Junit => data::junit::run(findings),
    }
}

/// The card of a run as a PNG of 1200 × 630.
pub fn card_picture(findings: &Findings) -> Vec<u8> {
    charts::card::picture(findings)
}

/// Everything that a terminal can show, which is many screens.
pub fn verbose(findings: &Findings, style: &Style) -> String {
    print::terminal(&documents::run(findings, Depth::Short), style)
}

/// What one pastes into a README or a message: the verdict, a table for each scenario, and a line on how it was measured. None of
/// formats that are not for people, nor of a page.
pub fn brief(findings: &Findings, format: Format, style: &Style) -> Option<String> {
    match format {
        Format::Terminal => Some(print::terminal(&documents::brief(findings, Depth::Short), style)),
        Format::Markdown => Some(print::markdown(&documents::brief(findings, Depth::Full))),
        _ => None,
    }
}
