//! The nouns of tolok, and the plan.
//!
//! This crate reads what people write (studies, subjects, workloads) from text into types. It reports all problems at
//! once, each with its place in the text. It then expands a study into a plan. A [`TrialRecord`] holds what a trial
//! found.
//!
//! This crate does no I/O, reads no clock and starts nothing: it takes text and values, and returns values.

mod catalogue;
mod database;
mod environment;
pub mod fidelity;
pub mod figures;
pub mod limits;
mod load;
pub mod manifest;
mod plan;
mod program;
mod protocol;
mod reading;
mod record;
pub mod refusal;
pub mod replication;
#[cfg(feature = "schema")]
mod schema;
pub mod secrets;
pub mod sentences;
pub mod shown;
mod study;
mod subject;
mod tool;
pub mod transcription;
mod units;
mod verification;
mod workload;

// Only the tests that compare these types with the files under `schemas/` need schemars.
#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(not(feature = "schema"))]
use tolok_schema::JsonSchema;

pub use catalogue::Catalogue;
pub use database::address::{AddressError, DatabaseAddress};
pub use database::{Database, Engine, Outage, Wire};
pub use environment::{CpuMode, Environment, Limits, Link, LinkBackend, Network, USUAL_CONGESTION};
pub use load::objective::{Limit, Metric, Objective, ObjectiveError, Part, Relation};
pub use load::profile::{Arrivals, Connection, Executor, LoadProfile, Pace, Pool, Stage, ThinkTime};
pub use plan::error::PlanError;
pub use plan::skipped::Skipped;
pub use plan::slices::{PlannedSlice, PlannedTurn};
pub use plan::{Case, CaseId, Here, Plan, PlannedTrial, Ready, Selected, Stopping};
pub use program::{ProgramScenario, ProgramWorkload, Runs, SubjectProgram};
pub use protocol::Protocol;
pub use reading::text::{Problem, Span};
pub use reading::wording;
pub use record::checks::{LatePercentile, LoadChecks, SecondSeries, TailSeries};
pub use record::clients::{ClientFigures, Clients};
pub use record::database::{CounterCheck, DatabaseWindow, OutageRecord, PoolWindow};
pub use record::pool::{GeneratorMachine, Node, PoolRequest};
pub use record::raw::{RawServer, RawTurns, RawWindow};
pub use record::resources::{
    CpuSource, Disturbance, FOREIGN_TOLERATED, HostWindow, LinkDirection, LinkWindow, MemoryUse, NetworkBytes,
    Resources, STEAL_TOLERATED, SchedulerCounts, Throttling,
};
pub use record::slices::{RawSlices, SliceFigures, SliceRow};
pub use record::tool::{ProgramRun, ProgramTiming, ProgramTurns, TimerSummary, ToolUsed, WireCount};
pub use record::{
    BlockRecord, CpuMap, Diagnosis, DiagnosisRecord, Failure, FailureKind, GarbageCollection, GroupWeights, Isolation,
    Latency, LatencyMark, LedgerCounts, MachineSummary, Measurement, ObjectiveOutcome, ObjectiveRecord, Outcome,
    PartFigures, Percentile, ProgramUsed, RECORD_FORMAT, RunRecord, ToolWarning, TrialRecord,
};
pub use replication::file::ReplicationFile;
pub use study::aa_pair::AaPair;
pub use study::file::StudyFile;
pub use study::judge::Judge;
pub use study::publish::Quotable;
pub use study::published::{PublishedMetric, PublishedRatio};
pub use study::scale::{Scale, ScaleError, scale_percent_words, scale_words};
pub use study::slices::{Design, SliceDesign, describe as describe_slices};
pub use study::{Scenario, Study, SubjectSelector};
pub use subject::brought::{
    Brought, EXTERNAL, ExternalServer, LOCAL, OwedBody, OwnRequest, SubjectFolder, URL_WORKLOAD, url_workload,
};
pub use subject::file::SubjectFile;
pub use subject::{
    Build, Colour, GcLog, Marker, Parameter, ParameterValue, Process, Role, Subject, SubjectChoice, SubjectDiagnosis,
    TemplateFile, Variant,
};
pub use tolok_rng::SplitMix64;
pub use tool::{LoadTool, Script, Timer, ToolChoice};
pub use units::{
    BitRate, Bytes, Percent, Seconds, bit_rate_words, bytes_words, duration_words, format_duration, parse_byte_rate,
    percent_words, rate_parts,
};
pub use verification::{
    Check, CheckOutcome, Difference, NotRecomputable, VERIFICATION_SCHEMA, ValueDifference, Verification, compare,
};
pub use workload::computed::Computed;
pub use workload::data::{DataBody, WorkloadParameter};
pub use workload::file::WorkloadFile;
pub use workload::list::{DataOrder, RequestList};
pub use workload::mixed::{MixedPart, WrongPart};
pub use workload::{Body, Compared, GeneratedBody, GeneratedKind, SentBody, VaryingBody, Workload, WorkloadFolder};
