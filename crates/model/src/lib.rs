//! The nouns of tolok and the plan.
//!
//! What a person writes (studies, subjects, workloads) is read here from text into types, and everything wrong with it
//! is reported at once, each problem with its place in the text. A study is then expanded into a plan, and what a trial
//! found is a [`TrialRecord`]. This crate does no I/O, reads no clock and starts nothing: it takes text and values and
//! returns values.

pub mod blocks_reading;
mod brought;
mod catalogue;
mod database;
mod database_address;
mod database_file;
mod database_reading;
mod entries;
mod environment;
mod environment_file;
mod environment_reading;
pub mod fidelity;
mod load_file;
mod load_profile;
mod load_reading;
pub mod manifest;
mod objective;
mod plan;
mod plan_error;
mod program;
mod program_reading;
mod published;
mod published_reading;
mod record;
mod record_checks;
mod record_database;
mod record_raw;
mod record_resources;
mod record_tool;
pub mod replication;
mod replication_check;
mod replication_file;
mod replication_reading;
mod scale;
pub mod schema;
mod seed;
pub mod sentences;
mod several;
mod skipped;
mod study;
mod study_file;
mod subject;
mod subject_file;
mod syntax;
mod table;
mod text;
mod tool;
mod tool_reading;
pub mod transcription;
mod units;
mod verification;
pub mod wording;
mod workload;
mod workload_data;
mod workload_file;

pub use brought::{
    Brought, EXTERNAL, ExternalServer, LOCAL, OwedBody, OwnRequest, SubjectFolder, URL_WORKLOAD, url_workload,
};
pub use catalogue::Catalogue;
pub use database::{Database, Engine, Outage};
pub use database_address::{AddressError, DatabaseAddress};
pub use environment::{CpuMode, Environment, Limits, Link, LinkBackend, Network, USUAL_CONGESTION};
pub use load_profile::{Arrivals, Connection, Executor, LoadProfile, Pace, Pool, Stage, ThinkTime};
pub use objective::{Limit, Metric, Objective, ObjectiveError, Part, Relation};
pub use plan::{Case, CaseId, Here, Plan, PlannedTrial, Ready, Selected, Stopping};
pub use plan_error::PlanError;
pub use program::{ProgramScenario, ProgramWorkload, Runs, SubjectProgram};
pub use published::{PublishedMetric, PublishedRatio};
pub use record::{
    BlockRecord, CpuMap, Diagnosis, DiagnosisRecord, Doubt, Failure, FailureKind, GarbageCollection, GroupWeights,
    Isolation, Latency, LatencyMark, LedgerCounts, MachineSummary, Measurement, OLDEST_RECORD_FORMAT, ObjectiveOutcome,
    ObjectiveRecord, Outcome, Percentile, ProgramUsed, RECORD_FORMAT, RunRecord, TrialRecord,
};
pub use record_checks::{LoadChecks, SecondSeries, TailSeries};
pub use record_database::{CounterCheck, DatabaseWindow, OutageRecord, PoolWindow};
pub use record_raw::{RawServer, RawWindow};
pub use record_resources::{
    CpuSource, Disturbance, HostWindow, LinkDirection, LinkWindow, MemoryUse, NetworkBytes, Resources, SchedulerCounts,
    Throttling,
};
pub use record_tool::{ProgramRun, ProgramTiming, TimerSummary, ToolUsed, WireCount};
pub use replication_file::ReplicationFile;
pub use scale::{Scale, ScaleError};
pub use seed::SplitMix64;
pub use skipped::Skipped;
pub use study::{Scenario, Study, SubjectSelector};
pub use study_file::StudyFile;
pub use subject::{
    Build, GcLog, Parameter, ParameterValue, Process, Role, Subject, SubjectChoice, SubjectDiagnosis, TemplateFile,
    Variant,
};
pub use subject_file::SubjectFile;
pub use text::{Problem, Span};
pub use tool::{LoadTool, Script, Timer, ToolChoice};
pub use units::{
    BitRate, Bytes, Percent, Seconds, bit_rate_words, bytes_words, format_duration, parse_byte_rate, rate_parts,
};
pub use verification::{
    Check, CheckOutcome, Difference, NotRecomputable, VERIFICATION_SCHEMA, ValueDifference, Verification, compare,
};
pub use workload::{Body, GeneratedBody, GeneratedKind, SentBody, Workload};
pub use workload_data::{DataBody, WorkloadParameter};
pub use workload_file::WorkloadFile;
