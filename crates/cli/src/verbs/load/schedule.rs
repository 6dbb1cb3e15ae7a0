//! When requests start: the executor that the options describe, or a sentence on their contradiction.

use std::time::Duration;

use tolok_load::options::{Arrivals, Executor, Pool, Stage, ThinkTime};

use crate::args::LoadArgs;

/// Default number of users, or of connections in the pool.
const DEFAULT_VUS: u32 = 64;
const DEFAULT_WINDOW: Duration = Duration::from_secs(10);
/// With a number of iterations the time limit is only a safety net. k6 has the same limit.
const LONGEST_ITERATIONS: Duration = Duration::from_secs(600);
const MOST_USERS: f64 = 100_000.0;

/// When requests start, and what they wait for.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub executor: Executor,
    pub pool: Pool,
    pub think_time: ThinkTime,
}

/// The schedule that the options describe.
pub fn schedule(args: &LoadArgs) -> Result<Schedule, String> {
    refuse_contradictions(args)?;
    let executor = match (args.rate, args.stages.is_empty()) {
        (Some(rate_rps), true) => Executor::ConstantArrivalRate {
            rate_rps,
            duration: args.duration.unwrap_or(DEFAULT_WINDOW),
            arrivals: args.arrivals.unwrap_or(Arrivals::Uniform),
        },
        (Some(start_rate_rps), false) => Executor::RampingArrivalRate {
            start_rate_rps,
            stages: lines(args),
            arrivals: args.arrivals.unwrap_or(Arrivals::Uniform),
        },
        (None, false) => Executor::RampingVus { start_vus: args.vus.unwrap_or(0), stages: lines(args) },
        (None, true) => by_users(args),
    };
    if let Some(name) = &args.executor
        && name != executor.name()
    {
        return Err(another_executor(name, executor.name()));
    }
    let pool = args.pool.unwrap_or(Pool::Bounded(args.vus.unwrap_or(DEFAULT_VUS)));
    Ok(Schedule { executor, pool, think_time: args.think.unwrap_or(ThinkTime::NONE) })
}

fn by_users(args: &LoadArgs) -> Executor {
    let max_duration = args.duration.unwrap_or(LONGEST_ITERATIONS);
    let vus = args.vus.unwrap_or(DEFAULT_VUS);
    match (args.iterations, args.iterations_per_vu) {
        (Some(iterations), _) => {
            // Users without work would be counted and connected for nothing.
            let most = u32::try_from(iterations).unwrap_or(u32::MAX);
            let vus = args.vus.unwrap_or(DEFAULT_VUS.min(most));
            Executor::SharedIterations { vus, iterations, max_duration }
        }
        (None, Some(iterations)) => Executor::PerVuIterations { vus, iterations, max_duration },
        (None, None) => Executor::ConstantVus { vus, duration: args.duration.unwrap_or(DEFAULT_WINDOW) },
    }
}

fn lines(args: &LoadArgs) -> Vec<Stage> {
    args.stages.iter().map(|stage| Stage { duration: stage.duration, target: stage.target }).collect()
}

fn refuse_contradictions(args: &LoadArgs) -> Result<(), String> {
    let (has_stages, has_rate) = (!args.stages.is_empty(), args.rate.is_some());
    let iterations = match (args.iterations, args.iterations_per_vu) {
        (Some(_), Some(_)) => {
            return refuse("--iterations and --iterations-per-vu exclude each other: the first is shared by all users");
        }
        (Some(_), None) => Some("--iterations"),
        (None, Some(_)) => Some("--iterations-per-vu"),
        (None, None) => None,
    };
    if let (Some(option), Some(rate)) = (iterations, args.rate) {
        return refuse(&rate_and_iterations(option, rate, args.iterations));
    }
    if let (Some(option), true) = (iterations, has_stages) {
        return refuse(&format!("--stage and {option} exclude each other: the stages say when the run ends"));
    }
    if has_stages && args.duration.is_some() {
        return refuse("--stage and --duration exclude each other: the stages have their own lengths");
    }
    if has_rate && args.think.is_some() {
        return refuse("--rate and --think exclude each other: arrivals by the clock do not wait for pauses");
    }
    if has_rate && args.pool.is_some() && args.vus.is_some() {
        return refuse("with --rate, --vus and --pool both give the size of the pool; give one of them");
    }
    if !has_rate && args.arrivals.is_some() {
        return refuse("--arrivals needs --rate: without it requests start when users are free, not by the clock");
    }
    if !has_rate && args.pool.is_some() {
        return refuse("--pool needs --rate: without it every user has a connection of its own (--vus)");
    }
    if args.vus == Some(0) && (has_rate || !has_stages) {
        return refuse("--vus 0 sends nothing; give at least 1 (only --stage may begin with none)");
    }
    refuse_stages(args)
}

fn refuse_stages(args: &LoadArgs) -> Result<(), String> {
    if args.rate.is_some() {
        return Ok(());
    }
    for stage in &args.stages {
        if stage.is_rate {
            return refuse("a --stage with a rate needs --rate, the rate at the start, such as --rate 0");
        }
        if stage.target.fract() != 0.0 || stage.target > MOST_USERS {
            return refuse(&format!(
                "--stage {}: without --rate the target is a number of users, whole and at most {MOST_USERS}",
                stage.target
            ));
        }
    }
    Ok(())
}

/// Users who know `-n` with a rate from other tools want a window of this length.
fn rate_and_iterations(option: &str, rate: f64, shared: Option<u64>) -> String {
    let text = format!("--rate and {option} exclude each other: arrivals by the clock go on for --duration");
    match shared.filter(|_| rate > 0.0) {
        Some(iterations) => {
            let took = Duration::try_from_secs_f64((iterations as f64 / rate * 1e3).round() / 1e3).unwrap_or_default();
            format!("{text}; {iterations} at {rate}/s take --duration {}", humantime::format_duration(took))
        }
        None => text,
    }
}

fn another_executor(asked: &str, is: &str) -> String {
    let needs = match asked {
        "constant-vus" => "takes --vus and --duration, and neither --rate, --stage nor a number of iterations",
        "ramping-vus" => "needs --stage, and no --rate",
        "per-vu-iterations" => "needs --iterations-per-vu",
        "shared-iterations" => "needs --iterations",
        "constant-arrival-rate" => "needs --rate, and no --stage",
        _ => "needs --rate and --stage",
    };
    format!("--executor {asked} {needs}; the other options make it {is}")
}

fn refuse(sentence: &str) -> Result<(), String> {
    Err(sentence.to_owned())
}
