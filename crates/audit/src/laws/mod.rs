//! The laws, one module each.

mod budgets;
mod bytes;
mod censoring;
mod claims;
mod cpu_time;
mod duplicates;
mod generator;
mod goodput;
mod grim;
mod littles_law;
mod noise;
mod order;
mod percentages;
mod repetitions;
mod steadiness;
mod totals;

use tolok_model::transcription::Transcription;

use crate::finding::AuditFinding;

/// A law: what it finds in a transcription.
type Check = fn(&Transcription) -> Vec<AuditFinding>;

/// All of them, in the order of [`crate::Law`].
pub(crate) const ALL: &[Check] = &[
    claims::check,
    littles_law::check,
    order::check,
    censoring::check,
    goodput::check,
    totals::check,
    bytes::check,
    cpu_time::check,
    percentages::check,
    grim::check,
    duplicates::check,
    noise::check,
    repetitions::check,
    generator::check,
    budgets::check,
    steadiness::check,
];
