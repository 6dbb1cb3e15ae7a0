//! The rows of the table, and how they become fields of a finding.

use tolok_model::Measurement;

use crate::estimate::{median, middle};
use crate::findings::estimate::{Better, Estimate};
use crate::findings::resources::MemorySource;
use crate::observations::{Found, Trials};
use crate::usage::Cpus;

/// A row of the table. `F` is the finding that holds the figure.
pub struct Figure<F: 'static> {
    /// The key in JSON; for a figure of a part, the name of its column.
    pub id: &'static str,
    /// The unit.
    pub unit: Unit,
    /// Which way is better; absent if neither is.
    pub better: Option<Better>,
    /// How the values of the trials are combined.
    pub over: &'static str,
    /// Its columns in CSV.
    pub column: Column,
    /// What it means.
    pub help: &'static str,
    /// Its value in a finding.
    pub value: fn(&F) -> Option<Value>,
    /// The same with the values of its trials, for figures that have them.
    pub(crate) estimate: fn(&F) -> Option<&Estimate>,
}

/// A figure of single trials, for tidy CSV.
pub(crate) struct TrialFigure<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) help: &'static str,
    pub(crate) read: fn(&T, &Around) -> Option<f64>,
}

/// A value, with its interval if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
}

/// The columns of CSV that hold a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// No column.
    None,
    /// Its value, among the columns of its finding.
    Value(&'static str),
    /// Its value and both ends of its interval.
    Interval(&'static str),
    /// Its value, after all older columns. New figures belong here, as no column ever moves.
    Last(&'static str),
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Per second.
    PerSecond,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Hertz.
    Hertz,
    /// A share of a whole, from 0 to 1.
    Share,
    /// One value over another.
    Ratio,
    /// A number of things.
    Count,
    /// Requests.
    Requests,
    /// Runs of a program.
    Runs,
    /// CPUs.
    Cpus,
}

impl Unit {
    /// Its name in tidy CSV.
    pub fn word(self) -> &'static str {
        match self {
            Self::PerSecond => "1/s",
            Self::Seconds => "s",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Hertz => "Hz",
            Self::Share | Self::Ratio | Self::Count => "",
            Self::Requests => "requests",
            Self::Runs => "runs",
            Self::Cpus => "CPUs",
        }
    }
}

/// What a case's figures need besides its trials.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around {
    /// The kind of memory by which the scenario's cases are compared.
    pub(crate) memory: Option<MemorySource>,
    /// CPUs that the parts of a trial were given.
    pub(crate) cpus: Cpus,
    pub(crate) rows_per_answer: Option<u32>,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) database_limit_bytes: Option<u64>,
    /// Rate of the link between client and subject.
    pub(crate) link_rate_bps: Option<f64>,
    /// Rate of the link between subject and database.
    pub(crate) database_rate_bps: Option<f64>,
}

/// The scored trials of a case, and what surrounds them.
pub(crate) struct Readings<'a, T = Measurement> {
    pub(crate) trials: &'a Trials<'a, T>,
    pub(crate) around: &'a Around,
}

type Read<T> = fn(&T, &Around) -> Option<f64>;

impl<T: Found> Readings<'_, T> {
    fn all(&self, read: Read<T>) -> Vec<f64> {
        self.trials.each(|trial| read(trial, self.around))
    }

    /// The values of all trials; empty if a trial lacks the figure.
    fn every(&self, read: Read<T>) -> Vec<f64> {
        self.trials.every(|trial| read(trial, self.around))
    }

    /// The median with its interval; absent if a trial lacks the figure.
    pub(crate) fn median(&self, read: Read<T>) -> Option<Estimate> {
        median(self.every(read))
    }

    /// The median without an interval; absent if a trial lacks the figure.
    pub(crate) fn middle(&self, read: Read<T>) -> Option<f64> {
        middle(&self.every(read))
    }

    /// The median of the trials that have the figure.
    pub(crate) fn middle_of_known(&self, read: Read<T>) -> Option<f64> {
        middle(&self.all(read))
    }

    pub(crate) fn highest(&self, read: Read<T>) -> Option<f64> {
        self.all(read).into_iter().reduce(f64::max)
    }

    pub(crate) fn lowest(&self, read: Read<T>) -> Option<f64> {
        self.all(read).into_iter().reduce(f64::min)
    }

    pub(crate) fn most(&self, read: fn(&T) -> Option<u64>) -> Option<u64> {
        self.trials.trials().filter_map(read).max()
    }

    pub(crate) fn sum(&self, read: fn(&T) -> u64) -> u64 {
        self.trials.trials().map(read).sum()
    }

    /// A value computed from all trials together.
    pub(crate) fn whole<V>(&self, read: impl Fn(&Self) -> V) -> V {
        read(self)
    }

    /// A value that is filled in later.
    pub(crate) fn later<V: Default>(&self, _: ()) -> V {
        V::default()
    }
}

pub(crate) trait HasValue {
    fn value(&self) -> Option<Value>;

    fn estimate(&self) -> Option<&Estimate> {
        None
    }
}

impl HasValue for Option<Estimate> {
    fn value(&self) -> Option<Value> {
        self.as_ref().map(|estimate| Value { value: estimate.value, low: estimate.low, high: estimate.high })
    }

    fn estimate(&self) -> Option<&Estimate> {
        self.as_ref()
    }
}

impl HasValue for Option<f64> {
    fn value(&self) -> Option<Value> {
        self.map(|value| Value { value, low: None, high: None })
    }
}

impl HasValue for f64 {
    fn value(&self) -> Option<Value> {
        Some(*self).value()
    }
}

impl HasValue for Option<u64> {
    fn value(&self) -> Option<Value> {
        self.map(|count| count as f64).value()
    }
}

impl HasValue for u64 {
    fn value(&self) -> Option<Value> {
        Some(*self).value()
    }
}

impl HasValue for u32 {
    fn value(&self) -> Option<Value> {
        Some(f64::from(*self)).value()
    }
}

/// Rows of a table, in groups. A row without a figure is an empty group.
pub type Rows<Row> = &'static [&'static [Row]];

/// Turns figures into a finding: the struct, the code that fills it, and the rows of the table.
///
/// A row is `field: Type = over(read) [Unit Better] csv "column" tidy "metric";`. Everything after `over(read)` is optional.
/// `interval` or `last` can replace `csv`. `as` gives the name in the JSON Schema. Rows that begin with `+` are figures of the
/// part that the field holds.
macro_rules! figures {
    (
        $(#[doc = $about:literal])+
        pub struct $finding:ident $(as $schema:literal)? of $trial:ty, $rows:ident, $trial_rows:ident;
        $(
            $(#[doc = $help:literal])+
            $field:ident: $ty:ty = $over:ident($read:expr)
                $([$unit:ident $($better:ident)?])? $($column:ident $name:literal)* ;
            $(+ $part:literal [$part_unit:ident $($part_better:ident)?] $part_help:literal = $of:expr;)*
        )+
        $(tidy { $($alone:literal [$alone_unit:ident] $alone_help:literal = $alone_read:expr;)+ })?
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
        $(#[schemars(rename = $schema)])?
        pub struct $finding {
            $($(#[doc = $help])+ pub $field: $ty,)+
        }

        impl $finding {
            pub(crate) fn of(readings: &Readings<$trial>) -> Self {
                Self { $($field: readings.$over($read),)+ }
            }
        }

        #[doc = concat!("The rows of [`", stringify!($finding), "`].")]
        pub const $rows: Rows<Figure<$finding>> = &[$(
            row!(figure $finding $field $over [$($help)+] [$($unit $($better)?)?] $($column $name)*),
            &[$(Figure {
                id: $part,
                unit: Unit::$part_unit,
                better: row!(better $($part_better)?),
                over: "whole",
                column: Column::Value($part),
                help: $part_help,
                value: |it| { let read: fn(&$finding) -> _ = $of; read(it).value() },
                estimate: |_| None,
            },)*],
        )+];

        #[doc = concat!("Figures of single trials, by [`", stringify!($finding), "`].")]
        pub(crate) const $trial_rows: Rows<TrialFigure<$trial>> = &[
            $(row!(trial ($read) [$($help)+] [$($unit)?] $($column $name)*),)+
            &[$($(TrialFigure { name: $alone, unit: Unit::$alone_unit, help: $alone_help, read: $alone_read },)+)?],
        ];
    };
}

/// Builds the parts of a row.
macro_rules! row {
    (figure $finding:ident $field:ident $over:ident [$($help:literal)+] []) => { &[] };
    (figure $finding:ident $field:ident $over:ident [$($help:literal)+] [$unit:ident $($better:ident)?] $($column:tt)*) => {
        &[Figure {
            id: stringify!($field),
            unit: Unit::$unit,
            better: row!(better $($better)?),
            over: stringify!($over),
            column: row!(column $($column)*),
            help: concat!($($help),+),
            value: |it: &$finding| it.$field.value(),
            estimate: |it: &$finding| it.$field.estimate(),
        }]
    };
    (better) => { None };
    (better $better:ident) => { Some(Better::$better) };
    (column) => { Column::None };
    (column csv $name:literal $($rest:tt)*) => { Column::Value($name) };
    (column interval $name:literal $($rest:tt)*) => { Column::Interval($name) };
    (column last $name:literal $($rest:tt)*) => { Column::Last($name) };
    (column tidy $name:literal) => { Column::None };
    (trial ($read:expr) $help:tt $unit:tt) => { &[] };
    (trial ($read:expr) [$($help:literal)+] [$unit:ident] tidy $name:literal) => {
        &[TrialFigure { name: $name, unit: Unit::$unit, help: concat!($($help),+), read: $read }]
    };
    (trial ($read:expr) $help:tt $unit:tt $column:ident $name:literal $($rest:tt)*) => { row!(trial ($read) $help $unit $($rest)*) };
}

pub(crate) use {figures, row};
