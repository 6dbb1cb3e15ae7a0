//! A published table as data: what a source measured, how, and what it claims about it.
//!
//! A transcription keeps each figure as printed, with its line in the file. What the source does not say is absent,
//! never guessed. This module does not judge: `tolok-audit` checks the figures against each other, and `tolok-analysis`
//! compares them with a run.

mod claim;
mod claim_reading;
mod conditions;
mod csv_reading;
mod figure_key;
mod file;
mod header;
mod lines;
mod number;
mod number_reading;
mod quantity;
mod reading;
mod sorted;
mod work;

use std::sync::Arc;

use serde::{Serialize, Serializer};

pub use claim::{Assertion, Claim, Extreme, Selector};
pub use conditions::{Conditions, CpuScope, LatencyOf, LoopModel};
pub use csv_reading::CsvOptions;
pub use figure_key::{figure_key, figure_keys};
pub use file::TranscriptionFile;
pub use number::{Mark, Number};
pub use number_reading::parse_number;
pub(crate) use number_reading::{Written, read_number};
pub use quantity::{Moment, Quantity, Unit};
pub use work::Work;
#[cfg(feature = "schema")]
pub(crate) use {figure_key::FAMILIES, number_reading::EXPECTED, sorted::Sorted};

/// A published comparison, as printed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Transcription {
    /// Short name, from its file: `asshuffi-apache-node`.
    pub key: String,
    pub title: String,
    /// Who wrote it, if known.
    pub authors: Option<String>,
    pub year: Option<u32>,
    pub url: Option<String>,
    /// A remark by the transcriber.
    pub note: Option<String>,
    /// The source's method. Applies to every row that does not override it.
    pub conditions: Conditions,
    /// Settings that rows share, by name.
    pub scenarios: Vec<Setting>,
    /// Rows of tables, in file order.
    pub rows: Vec<Row>,
    pub series: Vec<Series>,
    /// Claims of the text about the figures.
    pub claims: Vec<Claim>,
}

/// A named setting of a source, which rows refer to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its name, as rows use it: `file-500`.
    pub name: String,
    /// In words, for reports: `534 KB file, 500 connections`.
    pub title: String,
    /// Its conditions, completed by those of the whole source.
    pub conditions: Conditions,
    /// The source's own line or lines.
    pub raw: Vec<String>,
}

/// A row of a table: the figures of one subject under one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Line of the transcription where it begins, from 1.
    pub line: usize,
    /// The source's table: `Table 4`.
    pub table: Option<String>,
    /// What was measured, under the source's name: `go`.
    pub subject: String,
    pub scenario: Option<String>,
    /// Its conditions: its own, completed by its setting's, then the source's. Most rows of a table share them.
    #[serde(serialize_with = "shared")]
    pub conditions: Arc<Conditions>,
    /// The figures, in file order.
    pub figures: Vec<Figure>,
    /// The source's own line or lines.
    pub raw: Vec<String>,
}

fn shared<S: Serializer>(conditions: &Arc<Conditions>, serializer: S) -> Result<S::Ok, S::Error> {
    conditions.as_ref().serialize(serializer)
}

impl Row {
    /// The figure of a quantity, if present.
    pub fn figure(&self, quantity: &Quantity) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == *quantity)
    }

    /// The row's name in sentences: `go, 10,000 rows (Table 4)`. `title` is its setting's.
    pub fn name(&self, title: Option<&str>) -> String {
        let setting = title.or(self.scenario.as_deref()).map(|title| format!(", {title}")).unwrap_or_default();
        let table = self.table.as_ref().map(|table| format!(" ({table})")).unwrap_or_default();
        format!("{}{setting}{table}", self.subject)
    }
}

/// One figure of a row: one number, or one for each repetition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    pub quantity: Quantity,
    /// The unit in which it is printed.
    pub unit: Unit,
    /// Its key in the file: `latency_p95_s`.
    pub key: String,
    /// The numbers: one for each repetition, if the source lists them.
    pub numbers: Vec<Number>,
}

impl Figure {
    /// The number, or the mean over repetitions, in base units (s, bytes, requests per second, shares of 1, cores).
    pub fn value(&self) -> f64 {
        self.numbers.iter().map(|number| number.value).sum::<f64>() / self.numbers.len() as f64
    }

    /// How far rounding may have moved the value, in base units.
    pub fn half_unit(&self) -> f64 {
        self.numbers.iter().map(|number| number.half_unit).sum::<f64>() / self.numbers.len() as f64
    }
}

/// A figure over time, as printed second by second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Line of the transcription where it begins, from 1.
    pub line: usize,
    pub table: Option<String>,
    /// What was measured, under the source's name.
    pub subject: String,
    pub scenario: Option<String>,
    #[serde(serialize_with = "shared")]
    pub conditions: Arc<Conditions>,
    /// The instants, in seconds; empty if the source gives no times.
    pub second: Vec<f64>,
    /// The figures, each with one number for each instant.
    pub figures: Vec<Figure>,
    /// The source's own line or lines.
    pub raw: Vec<String>,
}

impl Transcription {
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.scenarios.iter().find(|setting| setting.name == name)
    }

    pub fn row_name(&self, row: &Row) -> String {
        let title = row.scenario.as_deref().and_then(|name| self.setting(name)).map(|setting| setting.title.as_str());
        row.name(title)
    }

    pub fn rows_of<'a>(&'a self, selector: &'a Selector) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| selector.means(row))
    }

    pub fn series_of<'a>(&'a self, selector: &'a Selector) -> impl Iterator<Item = &'a Series> {
        self.series.iter().filter(move |series| selector.means_series(series))
    }
}
