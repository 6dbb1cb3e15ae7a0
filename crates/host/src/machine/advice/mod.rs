//! What a fingerprint means for measuring: the lines of `tolok doctor`.
//!
//! Some advice concerns every figure measured here ([`figures`]), some what cannot be done at all ([`lacks`]).

mod figures;
mod lacks;

use serde::{Deserialize, Serialize};

use super::Machine;

/// One thing to know about measuring on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What was found, with the figure.
    pub what: String,
    /// How it affects a measurement.
    pub why: String,
    /// What to do about it.
    pub fix: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it affects.
    pub bears_on: BearsOn,
}

/// How much a finding matters, most serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something cannot be measured here.
    Problem,
    /// Figures measured here are worse than necessary, or something that studies often need is missing.
    Warning,
    /// Useful to know when reading the figures.
    Note,
}

/// What a finding affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BearsOn {
    /// Every figure measured on the machine, so reports repeat it.
    Figures,
    /// What can be done at all. It concerns only studies that need it, which are refused or report it themselves.
    Abilities,
}

pub(super) fn advice(machine: &Machine) -> Vec<Advice> {
    let checks = figures::CHECKS.iter().chain(lacks::CHECKS);
    let mut advice: Vec<Advice> = checks.filter_map(|check| check(machine)).collect();
    // A stable sort, so related advice stays together.
    advice.sort_by_key(|advice| advice.severity);
    advice
}

/// A check returns one shortcoming, or nothing.
type Check = fn(&Machine) -> Option<Advice>;
