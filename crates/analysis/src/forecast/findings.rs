//! The findings of a forecast. These types are the JSON of `tolok forecast --format json`.

use serde::Serialize;

use crate::JsonSchema;

/// Version of the JSON.
pub const FORECAST_SCHEMA: u32 = 1;

/// The predictions from one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Version of this format.
    pub schema_version: u32,
    /// The run behind it.
    pub run: String,
    /// Its study.
    pub study: String,
    /// The machine on which it was measured: predictions are for that machine.
    pub machine: String,
    /// A forecast for each subject and workload.
    pub subjects: Vec<SubjectForecast>,
}

impl Forecast {
    /// Whether nothing is predicted at all.
    pub fn is_all_refused(&self) -> bool {
        self.subjects.iter().all(|subject| subject.prediction.is_none())
    }
}

/// The prediction for one subject under one workload, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SubjectForecast {
    /// The subject, as a study would name it.
    pub subject: String,
    /// The subject, as users write it.
    pub title: String,
    /// The workload.
    pub workload: String,
    /// The workload, as users write it.
    pub workload_title: String,
    /// The conditions of the prediction.
    pub conditions: Conditions,
    /// Scenarios that calibrate it, by id.
    pub calibrated_from: Vec<String>,
    /// Errors of predictions for scenarios of this run; absent with too few of them.
    pub validation: Option<Validation>,
    /// The prediction; absent if it is refused.
    pub prediction: Option<Prediction>,
    /// Why there is no prediction, and what would help.
    pub refused: Option<String>,
    /// Reasons to doubt it, one sentence each.
    pub remarks: Vec<String>,
}

/// The conditions of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conditions {
    /// Users, all instances together.
    pub users: u64,
    /// Copies of the subject.
    pub instances: u32,
    /// Round-trip time between users and subject, in seconds.
    pub rtt_s: f64,
    /// Round-trip time between subject and database, in seconds; absent without a database.
    pub database_rtt_s: Option<f64>,
    /// Connections of each instance to the database; absent without a database.
    pub pool: Option<u32>,
    /// Mean pause of a user between a response and the next request, in seconds.
    pub think_s: f64,
    /// CPUs of each instance.
    pub subject_cpus: f64,
    /// CPUs of the database; absent without a database, or if unknown.
    pub database_cpus: Option<u32>,
}

/// A predicted figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Predicted {
    /// The prediction.
    pub value: f64,
    /// Lower end of the interval. It covers the scatter between rounds. It also covers times (without the users' pause) that are
    /// wrong by the median held-out error, or by the worst one among the half of the scenarios nearest in users.
    pub low: f64,
    /// Upper end, likewise.
    pub high: f64,
}

/// What is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Prediction {
    /// Correct responses per second.
    pub throughput_rps: Predicted,
    /// Mean response time, in seconds.
    pub response_mean_s: Predicted,
    /// Use of each resource.
    pub resources: Vec<ForecastResource>,
    /// The resource that saturates first: `subject-cpu`, `database-cpu` or `pool`.
    pub bottleneck: String,
    /// The most correct responses per second that this resource allows, for any number of users.
    pub most_rps: f64,
    /// The number of users beyond which more users only wait longer.
    pub users_at_knee: f64,
    /// Instances that keep the requested mean response time; absent without a request.
    pub instances_needed: Option<InstancesNeeded>,
    /// What it takes to measure this throughput.
    pub to_measure: ToMeasure,
}

/// What it takes to measure a throughput: the costs per response at the most users of the run, times the throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ToMeasure {
    /// CPUs of load generators like the run's, each at most 90% busy.
    pub generator_cpus: f64,
    /// Bytes of bodies per second on the links to them.
    pub body_bytes_per_s: f64,
}

/// How many instances keep a mean response time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InstancesNeeded {
    /// The mean response time, in seconds.
    pub mean_below_s: f64,
    /// The smallest number; absent if no number is enough.
    pub instances: Option<u32>,
    /// The resource that saturates first with that number or, if no number is enough, with any number.
    pub bottleneck: String,
}

/// The prediction for a resource.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ForecastResource {
    /// Its name: `subject-cpu`, `database-cpu`, `pool`, or a delay without a limit: `link`, `database-link`, `other`.
    pub resource: String,
    /// Time that each correct response takes of it, without waiting, in seconds.
    pub demand_s: f64,
    /// Number of servers, all instances together; absent for a delay.
    pub servers: Option<f64>,
    /// Its utilisation, from 0 to 1; absent for a delay.
    pub utilisation: Option<f64>,
}

/// Errors of predictions for this run's own scenarios.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Validation {
    /// Each scenario, predicted from all others.
    pub held_out: Vec<HeldOut>,
    /// Median of the relative errors of throughput.
    pub throughput_error_median: f64,
    /// The largest of them.
    pub throughput_error_worst: f64,
    /// Median of the relative errors of the mean response time; absent if no tool reports that.
    pub response_error_median: Option<f64>,
    /// The largest of them.
    pub response_error_worst: Option<f64>,
}

/// A scenario that was held out and predicted from the others.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HeldOut {
    /// Its id.
    pub scenario: String,
    /// Its users.
    pub users: u64,
    /// Correct responses per second, median over trials.
    pub measured_rps: f64,
    /// The same, predicted.
    pub predicted_rps: f64,
    /// |predicted − measured| / measured.
    pub throughput_error: f64,
    /// Mean response time, median over trials, in seconds; absent if the tool does not measure it.
    pub measured_response_s: Option<f64>,
    /// The same, predicted.
    pub predicted_response_s: f64,
    /// |predicted − measured| / measured.
    pub response_error: Option<f64>,
}
