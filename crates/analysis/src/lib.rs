//! Derives findings from trial records: estimates, comparisons, validity. Pure.
//!
//! [`analyse`] takes the records of a run and returns its findings. These are each figure over the trials with its interval, the
//! ratio of every two cases within blocks, a verdict in words, and reasons to doubt it. It reads no file and no clock and starts
//! nothing, so anyone can recompute findings from the raw data. Rules live where they apply: verdicts in `verdict.rs`, flags in
//! `flags.rs`, cautions in `cautions.rs`, checks of every trial in `gates/`, limits of a case in `bottleneck/`.

mod analyse;
mod bottleneck;
mod case;
mod case_inputs;
mod cautions;
mod compare;
mod contest;
mod counter;
mod curve;
mod database;
mod database_flags;
mod demands;
mod diagnosis;
mod duel;
mod environment;
mod estimate;
mod fairness;
mod fairness_rules;
pub mod figure;
pub mod figures;
mod findings;
mod fit;
mod flag;
mod flags;
pub mod forecast;
mod gates;
mod grouping;
mod histogram;
mod isolation;
mod link;
mod names;
mod nodes;
mod noise;
#[cfg(test)]
#[path = "../tests/invented/normal.rs"]
mod normal;
mod objectives;
mod observations;
mod others;
mod outage;
mod outlier_blocks;
mod parts;
mod power;
mod programs;
mod published;
mod recommend;
mod records;
pub mod replication;
mod run_facts;
mod seconds;
mod sensitivity;
mod sentence;
mod servers;
mod setup;
mod slices;
mod soundness;
mod speeds;
mod steadiness;
mod stopping;
mod tiers;
mod tool_differences;
mod tool_flags;
mod tool_rates;
mod tool_sentence;
mod tools;
mod trial_counts;
mod trial_findings;
mod trial_flags;
mod untested;
mod usage;
mod verdict;
mod worded;

// The schemas are checked in under `schemas/`. Only the tests that compare them with the types need schemars.
#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(not(feature = "schema"))]
use tolok_schema::JsonSchema;

pub use analyse::analyse;
pub use bottleneck::{
    BUSY_THREAD, KEEPS_UP, LATENCY_OF_ANSWER, NOISY_HALF_WIDTH, POOL_AT_WORK, POOL_WAITS_CONSIDERABLE,
};
pub use cautions::{ABOVE_CEILING_TOLERATED, FEWEST_BLOCKS_TO_QUOTE, SHORTEST_WINDOW_TO_QUOTE_S};
pub use compare::{
    COMPARE_SCHEMA, CaseChange, Change, ChangeRatio, CompareOutcome, CompareRefusal, CompareRequest, ComparedMetric,
    ComparedRun, ComparedSide, ControlFinding, ControlShift, Difference, FEWEST_RUNS, FigureChange, FigureSeries,
    HISTORY_SCHEMA, HistoryPoint, LeftOutRun, LevelChange, RunComparison, RunHistory, ScenarioChange, ScenarioKind,
    Tally, UnmatchedCase, compare_runs, history,
};
pub use duel::{DUEL_SCHEMA, Duel, DuelOutcome, DuelPair, DuelTwin, LOSSES_EXCLUDED, duel, is_duel, standing};
pub use estimate::least_trials;
pub use fairness_rules::{MANY_THREADS_A_CPU, WATCHING_PROCESSES, WIRE_BYTES_TOLERATED, WORK_OF_ONE_THREAD};
pub use findings::*;
pub use flag::*;
pub use gates::{
    CPU_READ_LATE_S, FEWEST_ANSWERS_FOR_LITTLE, LITTLE_OFF, SHORTEST_JUDGED_S, UTILISATION_TOLERATED, gates_page,
};
pub use names::{Names, SubjectName};
pub use power::difference;
pub use programs::{AT_FLOOR, COARSE_TIMER, FEWEST_RUNS_FOR_OUTLIERS, OUTLIER_SD, timer_title};
pub use recommend::CLEARLY_AHEAD;
pub use records::Records;
pub use run_facts::machine_line;
pub use setup::{ParameterSetup, ProcessSetup, SubjectSetup, VariantSetup};
pub use steadiness::GROWTH_TOLERATED;
pub use stopping::blocks_settled;
pub use tolok_model::{CpuMode, Judge, LatencyMark, ObjectiveOutcome};
pub use tool_flags::WIRE_TOLERATED;
pub use tool_sentence::share_of_wire;
pub use tools::{LITTLE_TOLERATED, without_brackets};
pub use verdict::{EQUIVALENCE_HALF_WIDTH, FALSE_ALARMS};
