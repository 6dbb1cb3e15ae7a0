//! What several tools say of the same subjects.

use serde::Serialize;

use super::estimate::Estimate;
use crate::JsonSchema;
use crate::flag::FlagKind;

use tolok_model::LatencyMark;

/// What the tools of a study say of one subject, under one load in one environment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToolsFinding {
    /// Name of the workload.
    pub workload: String,
    /// Title of the workload.
    pub title: String,
    /// The load in words.
    pub load: String,
    /// `closed` or `open`.
    pub loop_model: String,
    /// Id of the environment; empty where the study has one only.
    pub environment: String,
    /// The environment in words.
    pub environment_words: String,
    /// The subject as a person would write it: `go/nethttp:encoder`.
    pub subject: String,
    /// Title of the subject.
    pub subject_title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Whether it is the ceiling.
    pub is_ceiling: bool,
    /// What follows, in a few sentences; never a bare winner.
    pub verdict: String,
    /// One for each tool, in the order of the study.
    pub rows: Vec<ToolRow>,
}

/// What one tool says. What it does not tell is absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToolRow {
    /// Its name: `wrk`.
    pub tool: String,
    /// Its versions, as it says itself.
    pub versions: Vec<String>,
    /// The user's own script, where that says what is asked.
    pub script: Option<String>,
    /// Id of its scenario.
    pub scenario: String,
    /// Name of the case.
    pub case: String,
    /// Planned trials.
    pub trials_planned: u32,
    /// Trials that all figures rest on.
    pub trials_scored: u32,
    /// Why trials failed, as words, each once.
    pub failures: Vec<String>,
    /// Good answers per second, as the tool says.
    pub goodput_rps: Option<Estimate>,
    /// The same with the answers of a status from 200 to 299 that the kernel counted, over the tool's own window.
    pub wire_rps: Option<Estimate>,
    /// Good answers that the tool counted over those answers.
    pub counted_of_wire: Option<Estimate>,
    /// Whether the two differ by more than can be explained, in any trial.
    pub is_contradicted: bool,
    /// Goodput over that of tolok's own tool in the same block; none for tolok's own.
    pub goodput_of_own: Option<Estimate>,
    /// Arithmetic mean of the latencies, in seconds.
    pub latency_mean_s: Option<Estimate>,
    /// Their median, in seconds.
    pub latency_p50_s: Option<Estimate>,
    /// Their 99th percentile, in seconds.
    pub latency_p99_s: Option<Estimate>,
    /// The longest, in seconds.
    pub latency_max_s: Option<Estimate>,
    /// What must be known of them.
    pub latency_marks: Vec<LatencyMark>,
    /// Goodput × mean latency ÷ connections, by Little's law the share of the connections that waited for an answer: above 1
    /// only if latencies were not taken. Of closed loops with keep-alive only.
    pub little: Option<Estimate>,
    /// Trials in which it was higher than latencies that were taken can make it.
    pub trials_against_little: u32,
    /// CPU time of the tool per good answer, in seconds.
    pub generator_cpu_s_per_good: Option<Estimate>,
    /// The same over that of tolok's own tool in the same block; none for tolok's own.
    pub generator_cpu_of_own: Option<Estimate>,
    /// CPU time of the subject per good answer that the tool counted, in seconds.
    pub subject_cpu_s_per_good: Option<Estimate>,
    /// CPU time of the subject per answer on the wire, of any status, in seconds.
    pub subject_cpu_s_per_wire: Option<Estimate>,
    /// Share of its CPU time that the tool used, from 0 to 1.
    pub generator_busy: Option<f64>,
    /// Share of its CPU time that the subject used, from 0 to 1.
    pub subject_busy: Option<f64>,
    /// Whether the tool, and not the subject, was the limit: its goodput is a lower bound.
    pub is_limit: bool,
    /// Failed requests by class, as the tool tells.
    pub errors: Vec<(String, u64)>,
    /// Flags that keep its case out of the ranking, as words.
    pub voided_by: Vec<FlagKind>,
    /// What it does not tell, in words.
    pub does_not_tell: Vec<String>,
    /// Known differences that bear on its figures here, a sentence each.
    pub notes: Vec<String>,
}

impl ToolsFinding {
    /// Whether the cost of an answer to the subject can be given for each answer on the wire, whoever asked.
    pub fn is_cost_per_wire(&self) -> bool {
        let measured = || self.rows.iter().filter(|row| row.trials_scored > 0);
        measured().count() > 0 && measured().all(|row| row.subject_cpu_s_per_wire.is_some())
    }

    /// What an answer cost the subject: of the same kind for every row.
    pub fn subject_cpu_s<'a>(&self, row: &'a ToolRow) -> Option<&'a Estimate> {
        if self.is_cost_per_wire() { &row.subject_cpu_s_per_wire } else { &row.subject_cpu_s_per_good }.as_ref()
    }
}
