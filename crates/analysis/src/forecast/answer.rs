//! A prediction for one subject under one workload, or a refusal.

use super::calibration::{Calibration, Outcome};
use super::findings::{
    Conditions, ForecastResource, InstancesNeeded, Prediction, SubjectForecast, ToMeasure, Validation,
};
use super::group::Group;
use super::interval::intervals;
use super::observed::Setting;
use super::remarks::remarks;
use super::validation::{points, validation};
use super::{FEWEST_SCENARIOS, ForecastQuestion, MOST_ERROR};
use crate::figures::small_share;
use crate::flag::SATURATED;

/// A forecast never recommends more instances than this.
const MOST_INSTANCES: u32 = 1 << 20;
/// What a study must vary so that a scenario can be held out.
const VARY: &str = "a study that varies users (vus = [1, 16, 64]), the pool or the round trip has enough";

/// The prediction, or why there is none.
pub(super) fn answer(group: &Group, question: &ForecastQuestion) -> SubjectForecast {
    let validation = if group.observed.len() < FEWEST_SCENARIOS { None } else { validation(group) };
    let setting = group.setting(question);
    let predicted = match (refusal(group, question, validation.as_ref()), &setting, &validation) {
        (None, Some(setting), Some(validation)) => prediction(group, setting, validation, question)
            .ok_or_else(|| "its demands cannot be worked with: no correct response took any time".to_owned()),
        (refused, ..) => Err(refused.unwrap_or_default()),
    };
    let (prediction, refused) = predicted.map_or_else(|refused| (None, Some(refused)), |found| (Some(found), None));
    let response_s = prediction.as_ref().map(|prediction| prediction.response_mean_s.value);
    SubjectForecast {
        subject: group.subject.clone(),
        title: group.title.clone(),
        workload: group.workload.clone(),
        workload_title: group.workload_title.clone(),
        conditions: conditions(setting.as_ref(), question),
        calibrated_from: group.observed.iter().map(|observed| observed.scenario.clone()).collect(),
        remarks: remarks(group, setting.as_ref().zip(response_s)),
        validation,
        prediction,
        refused,
    }
}

fn refusal(group: &Group, question: &ForecastQuestion, validation: Option<&Validation>) -> Option<String> {
    let has_database = group.observed.iter().any(|observed| observed.setting.database.is_some());
    if (question.pool.is_some() || question.database_rtt_s.is_some()) && !has_database {
        return Some("its workload uses no database, so it has neither a pool nor a link to one".to_owned());
    }
    let Some(validation) = validation else { return Some(nothing_to_check(group)) };
    if validation.throughput_error_median > MOST_ERROR {
        let error = small_share(validation.throughput_error_median);
        let most = small_share(MOST_ERROR);
        return Some(format!(
            "predictions of this run’s own scenarios are wrong by {error} in the median, more than the {most} allowed; a study with scenarios closer to the question may do better"
        ));
    }
    None
}

/// Why no scenario could be held out. A remark lists the unusable scenarios and the reasons.
fn nothing_to_check(group: &Group) -> String {
    let (usable, planned) = (group.observed.len(), group.observed.len() + group.left_out.len());
    if usable >= FEWEST_SCENARIOS {
        return "none of its scenarios can be predicted from the others: no correct response took any time".to_owned();
    }
    let of_them = if usable == planned { String::new() } else { format!(" of {planned}") };
    let noun = if usable == 1 && of_them.is_empty() { "scenario" } else { "scenarios" };
    let help = if planned < FEWEST_SCENARIOS { VARY } else { "a remark says why the others cannot" };
    format!(
        "the run has {usable}{of_them} {noun} to calibrate from, and a check of predictions needs {FEWEST_SCENARIOS}; {help}"
    )
}

fn prediction(
    group: &Group,
    setting: &Setting,
    validation: &Validation,
    question: &ForecastQuestion,
) -> Option<Prediction> {
    let calibration = Calibration::of(&points(group, None))?;
    let found = calibration.predict(setting)?;
    let solved = (found.solved.throughput_rps, found.solved.response_s);
    let [throughput_rps, response_mean_s] = intervals(group, (&calibration, setting), solved, validation);
    let bounds = found.model.network.bounds(setting.users);
    Some(Prediction {
        throughput_rps,
        response_mean_s,
        resources: resources(&found, setting),
        bottleneck: found.model.bottleneck(setting, &found.demands).to_owned(),
        most_rps: bounds.capacity_rps,
        users_at_knee: bounds.knee_users,
        instances_needed: question.mean_below_s.and_then(|below_s| instances(&calibration, setting, below_s)),
        to_measure: to_measure(group, throughput_rps.value)?,
    })
}

fn to_measure(group: &Group, throughput_rps: f64) -> Option<ToMeasure> {
    let figures = group.base()?.figures(None);
    Some(ToMeasure {
        generator_cpus: throughput_rps * figures.generator_s / SATURATED,
        body_bytes_per_s: throughput_rps * figures.body_bytes,
    })
}

/// The smallest number of instances that keeps the mean below the limit. The search doubles the number until the limit holds,
/// then bisects. More instances never make the mean longer.
fn instances(calibration: &Calibration, setting: &Setting, mean_below_s: f64) -> Option<InstancesNeeded> {
    let with = |instances: u32| {
        let setting = Setting { instances, ..setting.clone() };
        let outcome = calibration.predict(&setting)?;
        let bottleneck = outcome.model.bottleneck(&setting, &outcome.demands).to_owned();
        Some((outcome.solved.response_s < mean_below_s, bottleneck))
    };
    let mut enough = 1;
    while !with(enough)?.0 {
        if enough == MOST_INSTANCES {
            return Some(InstancesNeeded { mean_below_s, instances: None, bottleneck: with(enough)?.1 });
        }
        enough *= 2;
    }
    let mut too_few = enough / 2;
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if with(middle)?.0 { enough = middle } else { too_few = middle }
    }
    Some(InstancesNeeded { mean_below_s, instances: Some(enough), bottleneck: with(enough)?.1 })
}

fn resources(found: &Outcome, setting: &Setting) -> Vec<ForecastResource> {
    let (demands, throughput_rps) = (&found.demands, found.solved.throughput_rps);
    let used = |resource: &str, demand_s: f64, servers: f64| ForecastResource {
        resource: resource.to_owned(),
        demand_s,
        servers: Some(servers),
        utilisation: Some((throughput_rps * demand_s / servers).min(1.0)),
    };
    let waited = |resource: &str, demand_s: f64| ForecastResource {
        resource: resource.to_owned(),
        demand_s,
        servers: None,
        utilisation: None,
    };
    let instances = f64::from(setting.instances);
    let mut resources = vec![used("subject-cpu", demands.subject_s, setting.subject_cpus * instances)];
    if let Some(database) = &setting.database {
        resources.extend(database.cpus.map(|cpus| used("database-cpu", demands.database_s, f64::from(cpus))));
        if let Some(pool) = found.model.pool {
            let station = &found.model.network.stations()[pool];
            let connections = f64::from(database.pool) * instances;
            // Both are upper bounds of the mean share of connections in use. One is throughput over the maximum throughput, as
            // rates grow ever more slowly with the jobs inside. The other counts all jobs at the station, although some of them
            // wait.
            let solved = &found.solved.stations[pool];
            let utilisation = Some(solved.utilisation.min(solved.jobs / connections));
            resources.push(ForecastResource { utilisation, ..used("pool", station.alone_s(), connections) });
        }
        resources.push(waited("database-link", demands.database_trips * database.rtt_s));
    }
    resources.push(waited("link", demands.link_trips * setting.rtt_s));
    resources.push(waited("other", demands.other_s));
    resources.retain(|resource| resource.servers.is_some() || resource.demand_s > 0.0);
    resources
}

fn conditions(setting: Option<&Setting>, question: &ForecastQuestion) -> Conditions {
    let database = setting.and_then(|setting| setting.database.as_ref());
    Conditions {
        users: question.users,
        instances: question.instances,
        rtt_s: setting.map_or(question.rtt_s.unwrap_or(0.0), |setting| setting.rtt_s),
        database_rtt_s: database.map(|database| database.rtt_s),
        pool: database.map(|database| database.pool),
        think_s: setting.map_or(question.think_s.unwrap_or(0.0), |setting| setting.think_s),
        subject_cpus: setting.map_or(0.0, |setting| setting.subject_cpus),
        database_cpus: database.and_then(|database| database.cpus),
    }
}
