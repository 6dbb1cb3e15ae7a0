//! Recommends subjects for responses of many rows and for responses of few, and reports whether they are the same.
//!
//! This applies only if a run has several numbers of rows. For a single number, the other rules suffice.

use std::collections::BTreeSet;

use super::by_figure::by_figure;
use super::everything::least_far_behind;
use super::{Said, Scene};
use crate::compare::ComparedMetric;
use crate::figures::{count, listed};
use crate::findings::Strength;

/// A response with more rows has many.
pub(super) const MANY_ROWS: u32 = 5_000;
/// A response with at most this many rows has few.
pub(super) const FEW_ROWS: u32 = 1_000;

/// `None` if no response has that many rows, or all have the same number.
pub(super) fn many(scenes: &[Scene]) -> Option<Said> {
    among(scenes, &|rows| rows > MANY_ROWS)
}

/// The same for few rows.
pub(super) fn few(scenes: &[Scene]) -> Option<Said> {
    among(scenes, &|rows| rows <= FEW_ROWS)
}

/// Whether separate subjects for heavy and light requests would be better than one for both.
pub(super) fn each_its_own(scenes: &[Scene]) -> Option<Said> {
    let (many, few) = (many(scenes)?, few(scenes)?);
    let scenarios = [many.scenarios.clone(), few.scenarios.clone()].concat();
    let whom = |said: &Said| if said.picks.is_empty() { "nobody".to_owned() } else { listed(&said.picks, "or") };
    let because = format!(
        "for more than {} rows {} ({}); for {} rows or fewer {} ({})",
        count(u64::from(MANY_ROWS)),
        whom(&many),
        many.because,
        count(u64::from(FEW_ROWS)),
        whom(&few),
        few.because
    );
    let caveats = [many.caveats.clone(), few.caveats.clone()].concat();
    let said = Said { scenarios, because, caveats, strength: Strength::None, picks: Vec::new(), ..many.clone() };
    if many.picks.is_empty() || few.picks.is_empty() {
        return Some(Said { changes: [many.changes, few.changes].concat(), lead: 0.0, ..said });
    }
    let in_both: Vec<String> = many.picks.iter().filter(|pick| few.picks.contains(pick)).cloned().collect();
    let strength = many.strength.max(few.strength);
    let lead = many.lead.min(few.lead);
    let (picks, words) = if in_both.is_empty() {
        let each = |said: &Said, what: &str| format!("{} ({what})", listed(&said.picks, "or"));
        (vec![each(&many, "many rows"), each(&few, "few rows")], "each its own")
    } else {
        (in_both, "one is enough")
    };
    let changes = vec!["a load with hardly any requests of one kind".to_owned()];
    Some(Said { because: format!("{words}: {}", said.because), picks, strength, changes, lead, ..said })
}

fn among(scenes: &[Scene], is_meant: &dyn Fn(u32) -> bool) -> Option<Said> {
    let rows = |scene: &Scene| scene.records.names.rows_per_answer(&scene.planned.workload);
    let numbers: BTreeSet<u32> = scenes.iter().filter_map(rows).collect();
    let is_closed = |scene: &&Scene| !scene.planned.load.executor.is_open();
    let own: Vec<&Scene> = scenes.iter().filter(is_closed).filter(|scene| rows(scene).is_some_and(is_meant)).collect();
    match own.as_slice() {
        _ if numbers.len() < 2 => None,
        [only] => by_figure(only, ComparedMetric::Goodput),
        own => least_far_behind(own),
    }
}
