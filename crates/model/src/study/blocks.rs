//! `blocks` of a study as it is written, and what is made of it.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::plan::Stopping;
use crate::reading::table::Spanned;
use crate::reading::text::Reading;
use crate::units::Percent;

/// How often every case runs by default.
const DEFAULT: u32 = 10;
/// Fewer blocks have no interval, so there is nothing that a rule could go by.
pub(crate) const LEAST_FOR_A_RULE: u32 = 5;

/// A number of blocks, or a rule with a number that is never exceeded.
#[derive(Debug, Clone)]
pub enum BlocksFile {
    Fixed(u32),
    /// Until it is sure enough.
    Until(UntilTable),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UntilTable {
    until: Percent,
    at_least: Option<u32>,
    at_most: u32,
}

pub(crate) const BLOCKS: &str = "a number, or a table such as { until = \"3%\", at-most = 30 }";

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

/// How often every case runs at most, and the rule by which a run may end earlier.
pub(crate) fn read_blocks(written: Option<Spanned<BlocksFile>>, reading: &mut Reading) -> (u32, Option<Stopping>) {
    let Some(written) = written else { return (DEFAULT, None) };
    let span = written.span();
    let mut note = |message: String| reading.note(span.clone(), message, None);
    match written.into_inner() {
        BlocksFile::Fixed(blocks) => {
            if blocks == 0 {
                note("`blocks` must be at least 1".to_owned());
            }
            (blocks, None)
        }
        BlocksFile::Until(UntilTable { until, at_least, at_most }) => {
            let at_least = at_least.unwrap_or(LEAST_FOR_A_RULE);
            if until.0 <= 0.0 || until.0 >= 1.0 {
                note("`until` must lie between 0% and 100%".to_owned());
            }
            if at_least < LEAST_FOR_A_RULE {
                note(format!("`at-least` must be {LEAST_FOR_A_RULE} or more: fewer blocks have no interval"));
            }
            if at_most < at_least {
                note(format!("`at-most` is {at_most}; it must be {at_least} or more, which is `at-least`"));
            }
            (at_most, Some(Stopping { until: until.0, at_least }))
        }
    }
}
