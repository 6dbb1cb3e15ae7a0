//! Trial records to findings: estimates, comparisons, validity. Pure.
//!
//! [`analyse`] takes what a run stored and says what follows from it: the median of each figure over the trials with
//! its interval, the ratio of every two cases within the blocks, a verdict in words, and what speaks against believing
//! any of it. It reads no file and no clock and starts nothing, so findings can be made again from the raw data at any
//! time. The rules stand where they are applied: verdicts in `verdict.rs`, flags in `flags.rs`, cautions in
//! `cautions.rs`.

mod analyse;
mod cautions;
mod estimate;
pub mod figures;
mod findings;
mod flags;
mod names;
mod objectives;
mod observations;
mod sentence;
mod usage;
mod verdict;

pub use analyse::{analyse, machine_line};
pub use cautions::{ABOVE_CEILING_TOLERATED, FEWEST_BLOCKS_TO_QUOTE, SHORTEST_WINDOW_TO_QUOTE_S};
pub use findings::{
    CaseFinding, Comparison, Estimate, FINDINGS_SCHEMA, Findings, Flag, ObjectiveFinding, RunFacts, ScenarioFinding,
    SkippedSubject, TrialFailure, Verdict,
};
pub use flags::{
    BACKLOG_TOLERATED, DISTURBED_TRIALS, ERRORS_TOLERATED, FOREIGN_TOLERATED, SATURATED, STEAL_TOLERATED,
    TAKEN_TOLERATED, WAITING_TOLERATED,
};
pub use names::{Names, SubjectName};
pub use tolok_model::ObjectiveOutcome;
pub use verdict::EQUIVALENCE_HALF_WIDTH;
