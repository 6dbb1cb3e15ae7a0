//! What several tools report of the same subjects.

use serde::Serialize;

use super::estimate::Estimate;
use crate::JsonSchema;
use crate::flag::FlagKind;

use tolok_model::LatencyMark;

/// What the tools of a study report of one subject, under one load in one environment.
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
    /// Id of the environment; empty if the study has only one.
    pub environment: String,
    /// The environment in words.
    pub environment_words: String,
    /// The subject as users write it: `go/nethttp:encoder`.
    pub subject: String,
    /// Title of the subject.
    pub subject_title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Whether it is the ceiling.
    pub is_ceiling: bool,
    /// The conclusion, in a few sentences; never a bare winner.
    pub verdict: String,
    /// One for each tool, in the order of the study.
    pub rows: Vec<ToolRow>,
}

/// What one tool reports. Figures that it does not report are absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToolRow {
    /// Its name: `wrk`.
    pub tool: String,
    /// Its versions, as it reports them.
    pub versions: Vec<String>,
    /// The user's own script, if it defines the requests.
    pub script: Option<String>,
    /// Id of its scenario.
    pub scenario: String,
    /// Name of the case.
    pub case: String,
    /// Planned trials.
    pub trials_planned: u32,
    /// Trials behind all figures.
    pub trials_scored: u32,
    /// The distinct reasons of failed trials, as words.
    pub failures: Vec<String>,
    /// Correct responses per second, as the tool reports them.
    pub goodput_rps: Option<Estimate>,
    /// Responses per second with a status of 200 to 299, as the kernel counted them in the tool's own window.
    pub wire_rps: Option<Estimate>,
    /// Correct responses by the tool's count, over those responses.
    pub counted_of_wire: Option<Estimate>,
    /// Whether the two differ inexplicably in any trial.
    pub is_contradicted: bool,
    /// Goodput over that of tolok's own tool in the same round; absent for tolok's own.
    pub goodput_of_own: Option<Estimate>,
    /// Arithmetic mean of the latencies, in seconds.
    pub latency_mean_s: Option<Estimate>,
    /// Their median, in seconds.
    pub latency_p50_s: Option<Estimate>,
    /// Their 99th percentile, in seconds.
    pub latency_p99_s: Option<Estimate>,
    /// The longest, in seconds.
    pub latency_max_s: Option<Estimate>,
    /// What readers must know about these latencies.
    pub latency_marks: Vec<LatencyMark>,
    /// Goodput × mean latency ÷ connections: by Little's law, the share of connections that waited for a response. It exceeds 1
    /// only if latencies were not measured. Only for closed loops with keep-alive.
    pub little: Option<Estimate>,
    /// Trials in which it was too high for measured latencies.
    pub trials_against_little: u32,
    /// CPU time of the tool per correct response, in seconds.
    pub generator_cpu_s_per_good: Option<Estimate>,
    /// The same over that of tolok's own tool in the same round; absent for tolok's own.
    pub generator_cpu_of_own: Option<Estimate>,
    /// CPU time of the subject per correct response that the tool counted, in seconds.
    pub subject_cpu_s_per_good: Option<Estimate>,
    /// CPU time of the subject per response on the wire, of any status, in seconds.
    pub subject_cpu_s_per_wire: Option<Estimate>,
    /// Share of its CPU time that the tool used, from 0 to 1.
    pub generator_busy: Option<f64>,
    /// Share of its CPU time that the subject used, from 0 to 1.
    pub subject_busy: Option<f64>,
    /// Whether the tool was the limit instead of the subject: its goodput is a lower bound.
    pub is_limit: bool,
    /// Failed requests by class, as the tool reports them.
    pub errors: Vec<(String, u64)>,
    /// Flags that keep its case out of the ranking, as words.
    pub voided_by: Vec<FlagKind>,
    /// What it does not report, in words.
    pub does_not_tell: Vec<String>,
    /// Known differences that affect its figures in this run, one sentence each.
    pub notes: Vec<String>,
}

impl ToolsFinding {
    /// Whether the subject's CPU time per response on the wire is known for every measured row.
    pub fn is_cost_per_wire(&self) -> bool {
        let measured = || self.rows.iter().filter(|row| row.trials_scored > 0);
        measured().count() > 0 && measured().all(|row| row.subject_cpu_s_per_wire.is_some())
    }

    /// The subject's CPU time per response, of the same kind for every row.
    pub fn subject_cpu_s<'a>(&self, row: &'a ToolRow) -> Option<&'a Estimate> {
        if self.is_cost_per_wire() { &row.subject_cpu_s_per_wire } else { &row.subject_cpu_s_per_good }.as_ref()
    }
}
