//! What a forecast says. These types are the JSON that `tolok forecast --format json` prints.

use serde::Serialize;

use crate::JsonSchema;

/// Version of the JSON.
pub const FORECAST_SCHEMA: u32 = 1;

/// What is predicted from one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Version of this format.
    pub schema_version: u32,
    /// The run whose trials it rests on.
    pub run: String,
    /// Its study.
    pub study: String,
    /// The machine on which it was measured: predictions are for that machine.
    pub machine: String,
    /// One for each subject and workload.
    pub subjects: Vec<SubjectForecast>,
}

impl Forecast {
    /// Whether nothing is predicted at all.
    pub fn is_all_refused(&self) -> bool {
        self.subjects.iter().all(|subject| subject.prediction.is_none())
    }
}

/// What is predicted of one subject under one workload, or why nothing is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SubjectForecast {
    /// The subject, as a study would name it.
    pub subject: String,
    /// The subject, as a person would write it.
    pub title: String,
    /// The workload.
    pub workload: String,
    /// The workload, as a person would write it.
    pub workload_title: String,
    /// For what it is predicted.
    pub conditions: Conditions,
    /// Scenarios that it is calibrated from, by id.
    pub calibrated_from: Vec<String>,
    /// How wrong predictions of scenarios of this run are; none where there are too few of them.
    pub validation: Option<Validation>,
    /// The prediction; none where it is refused.
    pub prediction: Option<Prediction>,
    /// Why nothing is predicted, and what would help.
    pub refused: Option<String>,
    /// What speaks against believing it, a sentence each.
    pub remarks: Vec<String>,
}

/// For what something is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conditions {
    /// Users, all instances together.
    pub users: u64,
    /// Copies of the subject.
    pub instances: u32,
    /// Round-trip time between users and subject, in seconds.
    pub rtt_s: f64,
    /// Round-trip time between subject and database, in seconds; none without a database.
    pub database_rtt_s: Option<f64>,
    /// Connections of each instance to the database; none without a database.
    pub pool: Option<u32>,
    /// Mean pause of a user between an answer and the next request, in seconds.
    pub think_s: f64,
    /// CPUs of each instance.
    pub subject_cpus: f64,
    /// CPUs of the database; none without a database, or where they are not known.
    pub database_cpus: Option<u32>,
}

/// A predicted figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Predicted {
    /// The prediction.
    pub value: f64,
    /// Lower end: what the scatter between blocks gives, and at least what comes of times, but for the users' pause, that are off by
    /// the worst error of the half of the held-out scenarios that is nearest in users, or by the median error of all.
    pub low: f64,
    /// Upper end, likewise.
    pub high: f64,
}

/// What is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Prediction {
    /// Good answers per second.
    pub throughput_rps: Predicted,
    /// Mean response time, in seconds.
    pub response_mean_s: Predicted,
    /// What is used of each resource.
    pub resources: Vec<ForecastResource>,
    /// The resource that is full first: `subject-cpu`, `database-cpu` or `pool`.
    pub bottleneck: String,
    /// Good answers per second that this resource allows, for any number of users.
    pub most_rps: f64,
    /// Users from which on more users only wait longer.
    pub users_at_knee: f64,
    /// Instances that would keep the mean response time that was asked for; none where none was.
    pub instances_needed: Option<InstancesNeeded>,
}

/// How many instances keep a mean response time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InstancesNeeded {
    /// The mean response time, in seconds.
    pub mean_below_s: f64,
    /// The least number; none where no number is enough.
    pub instances: Option<u32>,
    /// The resource that is full first with them, or where no number is enough, whatever there are of them.
    pub bottleneck: String,
}

/// What is predicted of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ForecastResource {
    /// Which: `subject-cpu`, `database-cpu`, `pool`, or a time in which nothing is used up: `link`, `database-link`, `other`.
    pub resource: String,
    /// Time of it that each good answer takes, waits not included, in seconds.
    pub demand_s: f64,
    /// How many there are of it, all instances together; none of what is not used up.
    pub servers: Option<f64>,
    /// Share of what it can do at most, from 0 to 1; none of what is not used up.
    pub utilisation: Option<f64>,
}

/// How wrong predictions of this run's own scenarios are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Validation {
    /// Each scenario, predicted from all others.
    pub held_out: Vec<HeldOut>,
    /// Median of the relative errors of throughput.
    pub throughput_error_median: f64,
    /// The largest of them.
    pub throughput_error_worst: f64,
    /// Median of the relative errors of the mean response time; none where no tool told that.
    pub response_error_median: Option<f64>,
    /// The largest of them.
    pub response_error_worst: Option<f64>,
}

/// A scenario that was left out and predicted from the others.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HeldOut {
    /// Its id.
    pub scenario: String,
    /// Its users.
    pub users: u64,
    /// Good answers per second, median over trials.
    pub measured_rps: f64,
    /// The same, predicted.
    pub predicted_rps: f64,
    /// |predicted − measured| / measured.
    pub throughput_error: f64,
    /// Mean response time, median over trials, in seconds; none where the tool did not take it.
    pub measured_response_s: Option<f64>,
    /// The same, predicted.
    pub predicted_response_s: f64,
    /// |predicted − measured| / measured.
    pub response_error: Option<f64>,
}
