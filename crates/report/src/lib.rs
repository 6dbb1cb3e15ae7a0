//! Findings as terminal text, HTML, Markdown, LaTeX, CSV and JSON. Pure functions that return strings.
//!
//! [`documents`] turns findings into a [`document`], and [`print`] turns a document into text; only it depends on formats. [`data`]
//! writes findings as CSV and JSON, with plain numbers in base units. Digits and units of documents come from [`figures`], so that a figure
//! looks the same in every format for people.

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

/// The file name of a run's card beside its page, as SVG.
pub const CARD: &str = "share.svg";
/// The same as PNG, which link previews need.
pub const CARD_PICTURE: &str = "share.png";

/// The output formats of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables and sentences for a terminal or a log.
    Terminal,
    /// Tables as GitHub shows them.
    Markdown,
    /// One line per case, numbers in base units.
    Csv,
    /// CSV with one line per observation, which is one figure of one trial.
    Tidy,
    /// Tables for a paper.
    Latex,
    /// Everything, in the format of [`schema`].
    Json,
    /// One self-contained page.
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

    /// The extension of its files, without the dot.
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

/// The findings in a format, with a newline at the end.
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

/// The long terminal report, which takes many screens.
pub fn verbose(findings: &Findings, style: &Style) -> String {
    print::terminal(&documents::run(findings, Depth::Short), style)
}

/// A short report for a README or a message: the verdict, a table for each scenario, and a line on how it was measured. `None` for
/// formats that are not for people, and for a page.
pub fn brief(findings: &Findings, format: Format, style: &Style) -> Option<String> {
    match format {
        Format::Terminal => Some(print::terminal(&documents::brief(findings, Depth::Short), style)),
        Format::Markdown => Some(print::markdown(&documents::brief(findings, Depth::Full))),
        _ => None,
    }
}
