//! The figures of single trials, for tidy CSV.

use super::database::DATABASE_OF_TRIALS;
use super::program::PROGRAM_TRIALS;
use super::resources::RESOURCES_OF_TRIALS;
use super::server::SERVER_TRIALS;
use super::table::{Rows, TrialFigure};

/// The name, the unit and the meaning of every figure of single trials.
pub fn trial_figures() -> Vec<(&'static str, &'static str, &'static str)> {
    fn all<T>(rows: Rows<TrialFigure<T>>) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        rows.iter().copied().flatten().map(|row| (row.name, row.unit.word(), row.help.trim()))
    }
    let servers = all(SERVER_TRIALS).chain(all(RESOURCES_OF_TRIALS)).chain(all(DATABASE_OF_TRIALS));
    servers.chain(all(PROGRAM_TRIALS)).collect()
}

/// The unit of a metric in tidy CSV; empty for a plain number.
pub fn trial_unit(metric: &str) -> &'static str {
    trial_figures().into_iter().find(|(name, ..)| *name == metric).map_or("", |(_, unit, _)| unit)
}
