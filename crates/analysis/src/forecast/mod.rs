//! Forecasts throughput and response time under unmeasured loads from a run's service demands.
//!
//! [`forecast`] reads what each correct response took of each resource in the run's scenarios. It puts these demands into a
//! queueing network (`network.rs`), and solves it for other numbers of users, distances, pools and instances. First it predicts
//! each scenario of the same run from the others (`validation.rs`). If the median error exceeds [`MOST_ERROR`], it refuses. All
//! random numbers have a fixed seed: the same records and the same question give the same figures.

mod answer;
mod calibration;
mod findings;
mod group;
mod interval;
mod network;
mod observed;
mod remarks;
mod validation;

pub use findings::{
    Conditions, FORECAST_SCHEMA, Forecast, ForecastResource, HeldOut, InstancesNeeded, Predicted, Prediction,
    SubjectForecast, Validation,
};

use crate::figures::listed;
use crate::records::Records;
use group::Group;

/// A forecast is refused if the median relative error of throughput over the held-out scenarios is larger.
pub const MOST_ERROR: f64 = 0.20;
/// The fewest scenarios of a subject and a workload that allow holding one out.
pub const FEWEST_SCENARIOS: usize = 2;

/// The question to a forecast. Omitted values come from the scenario with the most users, the first of them in the plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForecastQuestion {
    /// Users of each subject, all its instances together.
    pub users: u64,
    /// Copies of the subject, each with the CPUs and the pool of the measured one, sharing one database.
    pub instances: u32,
    /// Round-trip time between users and subject, in seconds.
    pub rtt_s: Option<f64>,
    /// Round-trip time between subject and database, in seconds.
    pub database_rtt_s: Option<f64>,
    /// Connections of each instance to the database.
    pub pool: Option<u32>,
    /// Mean pause of a user between a response and the next request, in seconds.
    pub think_s: Option<f64>,
    /// Only this subject, as studies name it, or all its variants.
    pub subject: Option<String>,
    /// Only this workload, with or without its parameters.
    pub workload: Option<String>,
    /// The mean response time to keep, in seconds. The forecast then gives the instances that this takes.
    pub mean_below_s: Option<f64>,
}

impl ForecastQuestion {
    /// This number of users, and everything else as measured.
    pub fn of_users(users: u64) -> Self {
        Self { users, instances: 1, ..Self::default() }
    }
}

/// The prediction for each subject and workload of a run, and the errors of such predictions within the run.
///
/// # Errors
/// A sentence if the run has no data on the requested subject or workload.
pub fn forecast(records: &Records, question: &ForecastQuestion) -> Result<Forecast, String> {
    let groups = Group::all(records);
    let is_asked = |group: &&Group| group.is_asked(question);
    let asked: Vec<&Group> = groups.iter().filter(is_asked).collect();
    if asked.is_empty() {
        return Err(nothing_asked(&groups, question));
    }
    Ok(Forecast {
        schema_version: FORECAST_SCHEMA,
        run: records.run.id.clone(),
        study: records.run.study.clone(),
        machine: crate::machine_line(&records.run.machine),
        subjects: asked.into_iter().map(|group| answer::answer(group, question)).collect(),
    })
}

fn nothing_asked(groups: &[Group], question: &ForecastQuestion) -> String {
    let each = |name: fn(&Group) -> &String| {
        let names: std::collections::BTreeSet<String> = groups.iter().map(|group| name(group).clone()).collect();
        listed(&names.into_iter().collect::<Vec<_>>(), "and")
    };
    if groups.is_empty() {
        return "the run has no server under a load; only those can be forecast".to_owned();
    }
    let asked = [("subject", &question.subject), ("workload", &question.workload)];
    let asked = asked.iter().filter_map(|(what, name)| Some(format!("{what} `{}`", name.as_ref()?)));
    let asked = asked.collect::<Vec<_>>().join(" and ");
    let (subjects, workloads) = (each(|group| &group.subject), each(|group| &group.workload));
    format!("the run has no {asked}; it has the subjects {subjects}, and the workloads {workloads}")
}
