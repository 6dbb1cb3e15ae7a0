//! The script that k6 runs.

use serde_json::{Map, Value, json};
use tolok_load::fault::ErrorClass;
use tolok_load::histogram::QUANTILES;
use tolok_model::{Connection, Executor, LoadProfile, Metric, Pool, Script, Stage};

use super::BEGINS;
use super::objectives::{self, FAILED, WITH_FAILED_BODIES};
use crate::driver::LoadJob;

/// The scenario whose figures count.
pub(super) const WINDOW: &str = "window";
/// Durations of correct responses in the window. A threshold without a condition requests them, as for all figures that
/// k6 would not keep separate otherwise.
pub(super) const DURATION: &str = "http_req_duration{scenario:window,expected_response:true}";
/// Requests of the window that got a response or failed.
pub(super) const REQUESTS: &str = "http_reqs{scenario:window}";
/// Iterations that found no free user.
pub(super) const DROPPED: &str = "dropped_iterations{scenario:window}";
/// The class of failures with an unknown message.
pub(super) const OTHER: &str = "other";

const OWN: &str = include_str!("own.js");
const OF_USER: &str = include_str!("user.js");
/// k6's rates are whole numbers per unit of time. The first unit that makes a rate whole is used.
const TIME_UNITS_S: [f64; 9] = [1.0, 10.0, 60.0, 100.0, 1_000.0, 3_600.0, 10_000.0, 100_000.0, 1_000_000.0];
/// The seed of k6's random number generator must be an exact integer in JavaScript, even with a user's number added.
const SEEDS: u64 = 1 << 32;

/// Name of the lab's script. It avoids the usual name if a user's script has it.
pub(super) fn name(job: &LoadJob<'_>) -> &'static str {
    match &job.scenario.tool.script {
        Some(script) if bare_name(script) == "k6.js" => "tolok-k6.js",
        _ => "k6.js",
    }
}

/// The lab's script, and the user's if there is one.
pub(super) fn files(job: &LoadJob<'_>) -> Vec<(String, String)> {
    let told = format!("{:#}", told(job));
    match &job.scenario.tool.script {
        None => vec![(name(job).to_owned(), OWN.replacen("__JOB__", &told, 1))],
        Some(script) => {
            let of_user = bare_name(script);
            let text = OF_USER.replace("__SELF__", name(job)).replace("__SCRIPT__", of_user);
            vec![(name(job).to_owned(), text.replacen("__JOB__", &told, 1)), (of_user.to_owned(), script.text.clone())]
        }
    }
}

fn bare_name(script: &Script) -> &str {
    script.file.rsplit('/').next().unwrap_or_default()
}

/// Classes of failure that the lab's script distinguishes.
pub(super) fn classes() -> impl Iterator<Item = &'static str> {
    ErrorClass::ALL.into_iter().map(ErrorClass::name).chain([OTHER])
}

/// The job as the script receives it.
fn told(job: &LoadJob<'_>) -> Value {
    let load = &job.scenario.load;
    let mut told = Map::new();
    let mut tell = |name: &str, value: Value| told.insert(name.to_owned(), value);
    tell("options", options(job));
    tell("begins", BEGINS.into());
    tell("seed", (job.seed % SEEDS).into());
    let think = load.think_time.map(|pause| json!({ "least_s": pause.least_s, "most_s": pause.most_s }));
    tell("think", think.into());
    if job.scenario.tool.script.is_none() {
        tell("url", job.url.as_str().into());
        tell("status", job.status.into());
        tell("body_bytes", job.body_bytes.into());
        tell("timeout_ms", milliseconds(load.timeout_s).into());
        tell("classes", classes().collect());
        let thresholds = objectives::thresholds(job);
        tell("has_rate", thresholds.iter().any(|threshold| threshold.metric == WITH_FAILED_BODIES).into());
    }
    Value::Object(told)
}

fn options(job: &LoadJob<'_>) -> Value {
    let load = &job.scenario.load;
    let is_own = job.scenario.tool.script.is_none();
    let mut scenarios = Map::new();
    let mut window = scenario(load);
    if load.warmup_s > 0.0 {
        // Even without a warm-up load, as when a ramp starts at zero, the window does not begin earlier.
        window.insert("startTime".to_owned(), duration(warmup_s(load)).into());
        if let Some(warm_up) = warm_up(load, is_own) {
            scenarios.insert("warm_up".to_owned(), warm_up.into());
        }
    }
    scenarios.insert(WINDOW.to_owned(), window.into());
    let mut options = json!({
        "scenarios": scenarios,
        "thresholds": thresholds(job),
        "summaryTrendStats": figures(job),
        "noConnectionReuse": load.connection == Connection::PerRequest,
    });
    if job.scenario.protocol.is_encrypted() {
        options["insecureSkipTLSVerify"] = true.into();
    }
    if is_own {
        // Failures are thrown, because k6 otherwise logs a line about each one. Other tags would be computed in vain:
        // the summary has none of them.
        options["throw"] = true.into();
        options["systemTags"] = json!(["scenario", "expected_response"]);
    }
    options
}

/// Conditions by metric. Empty for those that are only needed in the summary.
fn thresholds(job: &LoadJob<'_>) -> Map<String, Value> {
    let mut thresholds: Map<String, Value> =
        [DURATION, REQUESTS, FAILED, DROPPED].map(|metric| (metric.to_owned(), json!([]))).into_iter().collect();
    for threshold in objectives::thresholds(job) {
        let condition = match job.scenario.abort {
            true => json!({ "threshold": threshold.condition(), "abortOnFail": true }),
            false => threshold.condition().into(),
        };
        let conditions = thresholds.entry(threshold.metric).or_insert_with(|| json!([]));
        conditions.as_array_mut().into_iter().for_each(|conditions| conditions.push(condition.clone()));
    }
    thresholds
}

/// The figures that k6 must report for every time.
fn figures(job: &LoadJob<'_>) -> Vec<String> {
    let usual = QUANTILES.map(|quantile| figure(Metric::Quantile(quantile)));
    let of_objectives =
        job.scenario.objectives.iter().map(|objective| objective.metric).filter(|metric| metric.is_time());
    let mut figures: Vec<String> = ["count", "avg", "min", "max"].map(str::to_owned).into();
    for figure in usual.into_iter().chain(of_objectives.map(figure)) {
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    figures
}

/// k6's name for a figure of times.
pub(super) fn figure(metric: Metric) -> String {
    match metric {
        Metric::Mean => "avg".to_owned(),
        Metric::Quantile(0.5) => "med".to_owned(),
        Metric::Quantile(_) => format!("p({})", metric.to_string().trim_start_matches('p')),
        other => other.to_string(),
    }
}

/// The scenario that counts. Its end interrupts running iterations, whose requests are not counted.
fn scenario(load: &LoadProfile) -> Map<String, Value> {
    let length = duration(load.duration_s);
    let described = match &load.executor {
        Executor::ConstantVus { vus } => json!({ "vus": vus, "duration": length }),
        Executor::RampingVus { start_vus, stages: up_and_down } => {
            json!({ "startVUs": start_vus, "stages": stages(up_and_down, 1.0), "gracefulRampDown": "0s" })
        }
        Executor::PerVuIterations { vus, iterations } | Executor::SharedIterations { vus, iterations } => {
            json!({ "vus": vus, "iterations": iterations, "maxDuration": length })
        }
        Executor::ConstantArrivalRate { rate_rps, .. } => {
            let unit_s = time_unit_s(&[*rate_rps]);
            let mut described = arrivals(load, unit_s);
            described["rate"] = whole(rate_rps * unit_s);
            described["duration"] = length.into();
            described
        }
        Executor::RampingArrivalRate { start_rate_rps, stages: up_and_down, .. } => {
            let targets = up_and_down.iter().map(|stage| stage.target);
            let unit_s = time_unit_s(&targets.chain([*start_rate_rps]).collect::<Vec<f64>>());
            let mut described = arrivals(load, unit_s);
            described["startRate"] = whole(start_rate_rps * unit_s);
            described["stages"] = stages(up_and_down, unit_s);
            described
        }
    };
    with_executor(load.executor.name(), described)
}

/// Length of the warm-up. k6 refuses less than a second.
pub(super) fn warmup_s(load: &LoadProfile) -> f64 {
    if load.warmup_s > 0.0 { load.warmup_s.max(1.0) } else { 0.0 }
}

/// The load before the window: as many users, or arrivals, as the window begins with.
fn warm_up(load: &LoadProfile, is_own: bool) -> Option<Map<String, Value>> {
    let length = duration(warmup_s(load));
    let level = load.executor.level_at(0.0);
    if level <= 0.0 {
        return None;
    }
    let mut described = if load.executor.is_open() {
        let unit_s = time_unit_s(&[level]);
        let mut described = arrivals(load, unit_s);
        described["rate"] = whole(level * unit_s);
        described["duration"] = length.into();
        with_executor("constant-arrival-rate", described)
    } else {
        with_executor("constant-vus", json!({ "vus": whole(level), "duration": length }))
    };
    if is_own {
        described.insert("exec".to_owned(), "warmUp".into());
    }
    Some(described)
}

fn with_executor(executor: &str, described: Value) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("executor".to_owned(), executor.into());
    all.insert("gracefulStop".to_owned(), "0s".into());
    if let Value::Object(described) = described {
        all.extend(described);
    }
    all
}

/// What both executors for open loops share: as many users as connections, from the beginning. An unbounded pool is
/// refused when the study is read.
fn arrivals(load: &LoadProfile, unit_s: f64) -> Value {
    let users = match load.pool.unwrap_or(Pool::DEFAULT) {
        Pool::Bounded(connections) => Some(connections),
        Pool::Unbounded => None,
    };
    json!({ "preAllocatedVUs": users, "maxVUs": users, "timeUnit": duration(unit_s) })
}

fn stages(stages: &[Stage], unit_s: f64) -> Value {
    let stage =
        |stage: &Stage| json!({ "target": whole(stage.target * unit_s), "duration": duration(stage.duration_s) });
    stages.iter().map(stage).collect()
}

/// The unit in which all of these rates are whole numbers, or very nearly.
fn time_unit_s(rates_rps: &[f64]) -> f64 {
    let is_whole = |number: f64| (number - number.round()).abs() <= number.abs() * 1e-9;
    let fits = |unit_s: &f64| rates_rps.iter().all(|rate| is_whole(rate * unit_s));
    TIME_UNITS_S.into_iter().find(fits).unwrap_or(TIME_UNITS_S[TIME_UNITS_S.len() - 1])
}

fn whole(number: f64) -> Value {
    (number.round() as u64).into()
}

/// A duration in k6's format.
fn duration(seconds: f64) -> String {
    let microseconds = (seconds * 1e6).round() as u64;
    match (microseconds % 1_000_000, microseconds % 1_000) {
        (0, _) => format!("{}s", microseconds / 1_000_000),
        (_, 0) => format!("{}ms", microseconds / 1_000),
        _ => format!("{microseconds}us"),
    }
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e6
}
