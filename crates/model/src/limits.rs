//! The largest inputs that tolok accepts, and what to do when a limit is too small.
//!
//! All limits are defined here. Each is far above what tolok itself writes or any known study needs, yet low enough
//! that reading takes seconds and at most a gigabyte.

use crate::figures::count;
use crate::units::bytes_words;

/// The most of something that tolok accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// What it limits, as the subject of a sentence.
    pub of: &'static str,
    pub most: u64,
    pub unit: Unit,
    /// What to do if the limit is too small.
    pub instead: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    /// Counted things, by name.
    Number(&'static str),
}

const MIB: u64 = 1 << 20;
const OF_ANOTHER_HAND: &str = "no tolok writes more: take a copy of the run that `tolok verify` accepts";

const fn bytes(of: &'static str, most: u64, instead: &'static str) -> Bound {
    Bound { of, most, unit: Unit::Bytes, instead }
}

const fn number(of: &'static str, most: u64, name: &'static str, instead: &'static str) -> Bound {
    Bound { of, most, unit: Unit::Number(name), instead }
}

/// A study, a subject, a workload, or a published comparison.
pub const STUDY: Bound = bytes("a study or another file in TOML", MIB, "write several studies, and compare their runs");
pub const SCENARIOS: Bound = number(
    "a study",
    1_000,
    "scenarios",
    "shorten its lists of values, or write several studies and compare their runs",
);
pub const LIST: Bound =
    number("a list", 10_000, "values", "list fewer, or write several studies and compare their runs");
pub const ENVIRONMENTS: Bound = number(
    "a study",
    1_000,
    "environments",
    "shorten its lists of values, or write several studies and compare their runs",
);
pub const CASES: Bound = number(
    "a plan",
    10_000,
    "cases",
    "name fewer subjects or scenarios, or write several studies and compare their runs",
);
pub const TRIALS: Bound =
    number("a plan", 1_000_000, "trials", "ask for fewer rounds, or name fewer subjects or scenarios");
pub const SCRIPT: Bound = bytes("a script of a study", 4 * MIB, "bundle less into it");
pub const TABLE: Bound = bytes("a published table", 64 * MIB, "split it, and audit its parts");
pub const ROWS: Bound = number("a published table", 100_000, "rows", "split it, and audit its parts");
pub const BODY: Bound =
    bytes("a body", 64 * MIB, "for a longer response, compare its length with --expect-length, or use --discard");
pub const REQUESTS: Bound = bytes("a file of requests", 64 * MIB, "use fewer requests: they are sent over and over");
pub const DATA: Bound = bytes("a file of data", 64 * MIB, "use fewer rows: they are taken over and over");

/// `run.json`, `trial.json` and similar files.
pub const RECORD: Bound = bytes("a record of a run", 32 * MIB, OF_ANOTHER_HAND);
pub const PLAN_FILE: Bound = bytes("the plan of a run", 256 * MIB, OF_ANOTHER_HAND);
const RAW_FILE: Bound = bytes("a raw file of a trial", 256 * MIB, OF_ANOTHER_HAND);
/// High, because logs are only hashed, and their last lines read.
pub const HASHED_FILE: Bound =
    bytes("a file of a run", 64 << 30, "let the subject log less, or move the file out of the run's folder");
pub const FOLDER: Bound = number("a folder of a run", 1_000_000, "entries", OF_ANOTHER_HAND);

/// All limits, in the order of the reference.
pub const ALL: [&Bound; 17] = [
    &STUDY,
    &LIST,
    &SCENARIOS,
    &ENVIRONMENTS,
    &CASES,
    &TRIALS,
    &SCRIPT,
    &TABLE,
    &ROWS,
    &BODY,
    &REQUESTS,
    &DATA,
    &RECORD,
    &PLAN_FILE,
    &RAW_FILE,
    &HASHED_FILE,
    &FOLDER,
];

/// The limit for a file in a run's folder, by its name.
pub fn of_file(name: &str) -> &'static Bound {
    match name.rsplit('/').next().unwrap_or(name) {
        "plan.json" => &PLAN_FILE,
        "run.json" | "names.json" | "block.json" | "trial.json" | "diagnosis.json" => &RECORD,
        _ => &RAW_FILE,
    }
}

impl Bound {
    /// `Ok` if `found` is within the limit, else the message.
    pub fn holds(&self, found: u64) -> Result<(), String> {
        if found <= self.most { Ok(()) } else { Err(self.sentence()) }
    }

    /// The limit, and how to avoid it.
    pub fn sentence(&self) -> String {
        format!("{} has at most {}; {}", self.of, self.most_words(), self.instead)
    }

    pub fn most_words(&self) -> String {
        match self.unit {
            Unit::Bytes => bytes_words(self.most),
            Unit::Number(name) => format!("{} {name}", count(self.most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_names_itself_and_the_way_around_it() {
        assert_eq!(RECORD.holds(32 << 20), Ok(()));
        let sentence = FOLDER.holds(1_000_001).unwrap_err();
        assert_eq!(
            sentence,
            "a folder of a run has at most 1,000,000 entries; no tolok writes more: take a copy of the run that `tolok verify` accepts"
        );
        assert!(ALL.iter().all(|bound| !bound.instead.is_empty() && bound.most > 0));
    }
}
