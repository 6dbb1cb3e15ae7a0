//! What a fingerprint means for measuring: the lines of `tolok doctor`.
//!
//! Some advice is about every figure that is taken here ([`figures`]), some about what cannot be done at all ([`lacks`]).

mod figures;
mod lacks;

use serde::{Deserialize, Serialize};

use super::Machine;

/// One thing to know about measuring on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What was found, with the figure.
    pub what: String,
    /// What it does to a measurement.
    pub why: String,
    /// What to do about it.
    pub fix: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it matters to.
    pub bears_on: BearsOn,
}

/// How much a finding matters; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something cannot be measured here.
    Problem,
    /// Figures taken here are worse than they need be, or something that studies often ask for cannot be had.
    Warning,
    /// Good to know when reading the figures.
    Note,
}

/// What a finding matters to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BearsOn {
    /// Every figure that is taken on the machine, so reports repeat it.
    Figures,
    /// What can be done at all: only studies that ask for it are concerned, and those are refused or say so themselves.
    Abilities,
}

pub(super) fn advice(machine: &Machine) -> Vec<Advice> {
    let checks = figures::CHECKS.iter().chain(lacks::CHECKS);
    let mut advice: Vec<Advice> = checks.filter_map(|check| check(machine)).collect();
    // Stable, so that what belongs together stays together.
    advice.sort_by_key(|advice| advice.severity);
    advice
}

/// A check tells one shortcoming, or nothing.
type Check = fn(&Machine) -> Option<Advice>;
