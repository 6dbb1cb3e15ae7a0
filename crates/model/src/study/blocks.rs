//! `blocks` of a study as written, and its meaning.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::plan::Stopping;
use crate::reading::table::Spanned;
use crate::reading::text::Reading;
use crate::units::{Percent, Seconds};

/// How often every case runs by default.
const DEFAULT: u32 = 10;
/// Fewer blocks have no interval, which a stopping rule needs.
pub(crate) const LEAST_FOR_A_RULE: u32 = 5;
/// More blocks than any budget buys.
const MOST_IN_A_BUDGET: u32 = 10_000;

/// A number of blocks, or a stopping rule with a maximum.
#[derive(Debug, Clone)]
pub enum BlocksFile {
    Fixed(u32),
    /// Until the result is precise enough, or a budget is used up.
    Until(UntilTable),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UntilTable {
    until: Option<Percent>,
    budget: Option<Seconds>,
    at_least: Option<u32>,
    at_most: Option<u32>,
}

pub(crate) const BLOCKS: &str = "a number, or a table such as { until = \"3%\", at-most = 30 } or { budget = \"3m\" }";

/// How often every case runs, and what may end a run earlier.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Blocks {
    /// The maximum number of blocks.
    pub(crate) most: u32,
    pub(crate) stopping: Option<Stopping>,
    pub(crate) budget_s: Option<f64>,
}

struct BlocksVisitor;

impl<'de> Visitor<'de> for BlocksVisitor {
    type Value = BlocksFile;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(BLOCKS)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<BlocksFile, E> {
        u32::try_from(number)
            .map(BlocksFile::Fixed)
            .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<BlocksFile, E> {
        u32::try_from(number)
            .map(BlocksFile::Fixed)
            .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<BlocksFile, A::Error> {
        UntilTable::deserialize(MapAccessDeserializer::new(entries)).map(BlocksFile::Until)
    }
}

impl<'de> Deserialize<'de> for BlocksFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlocksVisitor)
    }
}

/// Reads how often every case runs at most, and what may end a run earlier.
pub(crate) fn read_blocks(written: Option<Spanned<BlocksFile>>, reading: &mut Reading) -> Blocks {
    let Some(written) = written else { return Blocks { most: DEFAULT, ..Blocks::default() } };
    let span = written.span();
    let mut note = |message: String| reading.note(span.clone(), message, None);
    match written.into_inner() {
        BlocksFile::Fixed(most) => {
            if most == 0 {
                note("`blocks` must be at least 1".to_owned());
            }
            Blocks { most, ..Blocks::default() }
        }
        BlocksFile::Until(UntilTable { until, budget, at_least, at_most }) => {
            if until.is_none() && at_least.is_some() {
                note("`at-least` belongs to `until`".to_owned());
            }
            let at_least = at_least.unwrap_or(LEAST_FOR_A_RULE);
            let most = at_most.unwrap_or(MOST_IN_A_BUDGET);
            if until.is_none() && budget.is_none() {
                note("`blocks` needs `until` or `budget`".to_owned());
            }
            if at_most.is_none() && budget.is_none() {
                note("`until` needs `at-most`, or it might never end".to_owned());
            }
            if until.is_some_and(|until| until.0 <= 0.0 || until.0 >= 1.0) {
                note("`until` must lie between 0% and 100%".to_owned());
            }
            if budget.is_some_and(|budget| budget.0 <= 0.0) {
                note("`budget` must be longer than 0s".to_owned());
            }
            if at_least < LEAST_FOR_A_RULE {
                note(format!("`at-least` must be {LEAST_FOR_A_RULE} or more: fewer blocks have no interval"));
            }
            if most < at_least {
                note(format!("`at-most` is {most}; it must be {at_least} or more, which is `at-least`"));
            }
            let stopping = until.map(|until| Stopping { until: until.0, at_least });
            Blocks { most, stopping, budget_s: budget.map(|budget| budget.0) }
        }
    }
}
