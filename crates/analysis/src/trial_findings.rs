//! The findings of each trial: the observations behind all figures of a case.
//!
//! A case's figure is absent if a single trial lacks it. Here every trial keeps its own figures, so others can compute with the
//! observations themselves.

use std::collections::BTreeMap;

use tolok_model::{Outcome, TrialRecord};

use crate::figure::table::{Readings, Rows, TrialFigure};
use crate::findings::{TrialFinding, TrialOutcome};
use crate::observations::Found;

/// The figures of each trial, as listed in `rows`.
pub(crate) fn of_trials<T: Found>(readings: &Readings<T>, rows: &[Rows<TrialFigure<T>>]) -> Vec<TrialFinding> {
    let figures = |found: &T| {
        let value = |row: &TrialFigure<T>| Some((row.name.to_owned(), (row.read)(found, readings.around)?));
        // JSON cannot represent NaN or infinity, which a damaged record may give.
        rows.iter()
            .copied()
            .flatten()
            .copied()
            .flatten()
            .filter_map(value)
            .filter(|(_, value)| value.is_finite())
            .collect::<BTreeMap<_, _>>()
    };
    let of_trial = |record: &&TrialRecord| {
        let (outcome, reason, found) = match (T::of(&record.outcome), &record.outcome) {
            (Some(found), _) if found.disturbances().is_empty() => (TrialOutcome::Scored, None, figures(found)),
            (Some(found), _) => {
                let kinds: Vec<&str> = found.disturbances().iter().map(|cause| cause.kind.as_str()).collect();
                (TrialOutcome::Disturbed, Some(kinds.join(" ")), figures(found))
            }
            (None, Outcome::Failed(failure)) => {
                (TrialOutcome::Failed, Some(failure.reason.word().to_owned()), BTreeMap::new())
            }
            // A case belongs to a server or to a program, and so do all its trials.
            (None, _) => return None,
        };
        Some(TrialFinding { trial: record.number, block: record.block, outcome, reason, figures: found })
    };
    readings.trials.records.iter().filter_map(of_trial).collect()
}
