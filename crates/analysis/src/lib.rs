//! Trial records to findings: estimates, comparisons, validity. Pure.
//!
//! [`analyse`] takes what a run stored and says what follows from it: the median of each figure over the trials with
//! its interval, the ratio of every two cases within the blocks, a verdict in words, and what speaks against believing
//! any of it. It reads no file and no clock and starts nothing, so findings can be made again from the raw data at any
//! time. The rules stand where they are applied: verdicts in `verdict.rs`, flags in `flags.rs`, cautions in
//! `cautions.rs`, what has to hold in every trial in `gates/`, what limited a case in `bottleneck/`.

mod analyse;
mod bottleneck;
mod cautions;
mod compare;
mod contest;
mod counter;
mod curve;
mod database;
mod database_flags;
mod demands;
mod diagnosis;
mod environment;
mod estimate;
mod fairness;
mod fairness_rules;
pub mod figures;
mod findings;
mod flags;
pub mod forecast;
mod gates;
mod isolation;
mod judgement;
mod link;
mod names;
mod noise;
mod objectives;
mod observations;
mod outage;
mod outlier_blocks;
mod power;
mod programs;
mod published;
mod recommend;
pub mod replication;
mod resources;
mod seconds;
mod sensitivity;
mod sentence;
mod setup;
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
mod untested;
mod usage;
mod verdict;

pub use analyse::{Records, analyse, machine_line};
pub use bottleneck::{
    BUSY_THREAD, Bottleneck, BottleneckKind, KEEPS_UP, LATENCY_OF_ANSWER, NOISY_HALF_WIDTH, POOL_AT_WORK,
    POOL_WAITS_CONSIDERABLE,
};
pub use cautions::{ABOVE_CEILING_TOLERATED, FEWEST_BLOCKS_TO_QUOTE, SHORTEST_WINDOW_TO_QUOTE_S};
pub use compare::{
    Better, COMPARE_SCHEMA, CaseChange, Change, ChangeRatio, CompareOutcome, CompareRefusal, CompareRequest,
    ComparedMetric, ComparedRun, ComparedSide, ControlFinding, ControlShift, Difference, FigureChange, RunComparison,
    ScenarioChange, ScenarioKind, Tally, UnmatchedCase, compare_runs,
};
pub use counter::CounterFinding;
pub use curve::{CurvePoint, LatencyCurve, SlowAnswers};
pub use database::{DatabaseFinding, DatabaseUse, PoolUse};
pub use diagnosis::DiagnosisFinding;
pub use environment::{EnvironmentFinding, LinkFinding, PartFinding};
pub use fairness::{FairnessAnswers, FairnessLedger, FairnessRow, ParameterFact};
pub use fairness_rules::{MANY_THREADS_A_CPU, WATCHING_PROCESSES, WIRE_BYTES_TOLERATED, WORK_OF_ONE_THREAD};
pub use findings::{
    CaseFinding, Comparison, DisturbedTrial, Estimate, FINDINGS_SCHEMA, Findings, Flag, ObjectiveFinding, RunFacts,
    ScenarioFinding, SkippedSubject, TrialFailure, Verdict,
};
pub use flags::{
    BACKLOG_TOLERATED, ERRORS_TOLERATED, LINK_FULL, LINK_LATENESS_OF_LATENCY, MEMORY_LIMIT_NEAR, SATURATED,
    THROTTLING_TOLERATED, WAITING_TOLERATED,
};
pub use gates::{CPU_READ_LATE_S, FEWEST_ANSWERS_FOR_LITTLE, LITTLE_OFF, SHORTEST_JUDGED_S, UTILISATION_TOLERATED};
pub use isolation::{FallbackFinding, IsolationFinding, SysctlFinding, WeightsFinding};
pub use judgement::{GateFinding, GateOutcome, NoiseFloor, PowerNote, ServiceDemand, SteadyClass, SteadyFinding};
pub use link::{LinkDirectionUse, LinkUse};
pub use names::{Names, SubjectName};
pub use outage::OutageFinding;
pub use programs::findings::{
    Crossover, CrossoverBy, DisturbedProgramTrial, ProgramCaseFinding, ProgramComparison, ProgramFinding,
    ProgramSeries, SeriesLine, SeriesPoint, TimeComparison, TimerReading, TimersFinding,
};
pub use programs::{AT_FLOOR, COARSE_TIMER, FEWEST_RUNS_FOR_OUTLIERS, OUTLIER_SD, timer_title};
pub use published::{PublishedFinding, PublishedReading};
pub use recommend::{CLEARLY_AHEAD, Recommendation, Strength};
pub use resources::{MemorySource, ResourcesFinding, ThrottlingFinding};
pub use seconds::{Band, SecondsFinding, TailFinding};
pub use sensitivity::{
    FactorCrossover, FactorLevel, FactorLine, FactorPanel, FactorPoint, VarianceFinding, VarianceShare,
};
pub use setup::{ParameterSetup, ProcessSetup, SubjectSetup, VariantSetup};
pub use steadiness::GROWTH_TOLERATED;
pub use stopping::blocks_settled;
pub use tolok_model::{CpuMode, LatencyMark, ObjectiveOutcome};
pub use tool_flags::WIRE_TOLERATED;
pub use tool_sentence::share_of_wire;
pub use tools::{LITTLE_TOLERATED, ToolRow, ToolsFinding, without_brackets};
pub use trial_counts::TrialCounts;
pub use trial_findings::{TrialFinding, TrialOutcome};
pub use untested::Untested;
pub use verdict::{EQUIVALENCE_HALF_WIDTH, FALSE_ALARMS};
