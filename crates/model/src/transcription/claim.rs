//! A source's claims about its own figures, in a form that can be checked.

use serde::Serialize;

use super::{Number, Quantity, Row, Series, Unit};

/// A claim of a source about its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// Short name, unique in its file: `node-45x`.
    pub id: String,
    /// Line of the transcription where it begins, from 1.
    pub line: usize,
    /// Where in the source: `Abstract`.
    pub place: Option<String>,
    /// What it claims, in a few words of our own.
    pub says: String,
    pub raw: Vec<String>,
    /// The claim as a checkable statement.
    pub asserts: Assertion,
}

/// A statement that holds or does not hold for the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Assertion {
    /// One figure is a multiple of another.
    Ratio { quantity: Quantity, a: Selector, b: Selector, is: Number },
    /// One figure minus another has this value.
    Difference {
        quantity: Quantity,
        /// The unit of `is` as printed.
        unit: Unit,
        a: Selector,
        b: Selector,
        /// In base units.
        is: Number,
    },
    /// Figures have this value, or span this range.
    Value {
        quantity: Quantity,
        /// The unit of `is` as printed.
        unit: Unit,
        at: Selector,
        /// In base units.
        is: Number,
    },
    /// One subject has the highest or lowest figure in every selected setting.
    Extreme {
        quantity: Quantity,
        /// Which rows, of all subjects.
        at: Selector,
        subject: String,
        extreme: Extreme,
    },
    /// In every selected setting, the subjects come in this order, from the highest figure to the lowest.
    Order {
        quantity: Quantity,
        /// Which rows, of all subjects.
        at: Selector,
        subjects: Vec<String>,
    },
    Untestable {
        /// Why not, or what would have to be measured.
        why: String,
    },
}

/// An end of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extreme {
    Highest,
    Lowest,
}

/// Which rows a claim is about. An absent field selects all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Selector {
    pub subject: Option<String>,
    /// Names of settings.
    pub scenarios: Vec<String>,
    pub table: Option<String>,
}

impl Selector {
    pub fn means(&self, row: &Row) -> bool {
        self.fits(&row.subject, row.scenario.as_ref(), row.table.as_ref())
    }

    pub fn means_series(&self, series: &Series) -> bool {
        self.fits(&series.subject, series.scenario.as_ref(), series.table.as_ref())
    }

    fn fits(&self, subject: &str, scenario: Option<&String>, table: Option<&String>) -> bool {
        let is_subject = self.subject.as_ref().is_none_or(|own| own == subject);
        let is_table = self.table.is_none() || self.table.as_ref() == table;
        let is_scenario = |name: &String| scenario == Some(name);
        is_subject && is_table && (self.scenarios.is_empty() || self.scenarios.iter().any(is_scenario))
    }
}
