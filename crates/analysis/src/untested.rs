//! What a run did not test, so readers do not read it into the figures.
//!
//! Everything here follows from the plan and the records: a factor that the study varies is not listed.

use std::collections::BTreeSet;

use tolok_model::{
    Connection, CpuMode, Database, LoadProfile, Outcome, Pace, Plan, Role, Scenario, TrialRecord, duration_words,
};

use crate::figures::{counted, listed};
use crate::findings::Untested;
use crate::grouping::{grouped, sorted_once};
use crate::records::Records;

/// Returns what was not tested, or `None` if it was tested.
type Rule = fn(&Records) -> Option<Untested>;

/// The rules for a kind of scenarios, the most important first. A row is the name of a rule, or what was not tested, under which
/// condition, why, and what would test it.
macro_rules! rules {
    ($($($rule:ident)? $($what:literal if ($is_lacking:expr): $because:literal $(, $how:literal)?)?;)+) => {
        &[$($($rule)? $(|records| {
            let is_lacking: fn(&Plan) -> bool = $is_lacking;
            is_lacking(records.plan).then(|| item($what, $because, None$(.or(Some($how)))?))
        })?,)+]
    };
}

const OF_SERVERS: &[Rule] = rules! {
    network;
    "a given request rate" if (|plan| all(plan, |it| !it.load.executor.is_open())):
        "Every loop was closed: a slow response delays the next request, so there are no response times at a fixed rate, and no overload.",
        "`executor = \"constant-arrival-rate\"`, or `studies/open-loop.toml`";
    "how much a server can do" if (|plan| all(plan, |it| it.load.executor.is_open())):
        "Requests came at fixed rates: a server that kept up may have had much capacity to spare.",
        "`executor = \"constant-vus\"`, or `studies/core.toml`";
    "TLS, HTTP/2 and HTTP/3" if (|plan| all(plan, |it| it.protocol.is_default() && it.streams == 1)): "Every request was HTTP/1.1 in the clear, without pipelining.",
        "`protocol = [\"https\", \"h2\"]`, or `studies/protocols.toml`; not HTTP/3";
    "a database" if (|plan| all(plan, |it| !it.database)):
        "No server had to wait for anything behind it.", "`workload = \"rows\"`, or `studies/data-heavy.toml`";
    hours;
    level;
    percentiles;
    cpus_of_ours;
    "a share of a CPU, as containers have it" if (|plan| !plan.environments.is_empty()
        && plan.environments.iter().all(|it| it.subject.mode != CpuMode::Quota)):
        "No subject ran under a CPU quota.", "`subject.mode = \"quota\"`, or `studies/limits.toml`";
    memory;
    kinds;
    "writing and uploads" if (|plan| all(plan, |it| !WRITING.contains(&it.workload_name()))):
        "The run had none of tolok’s workloads that write or send bodies.",
        "`workload = \"crud\"`, `\"updates\"` or `\"upload\"`";
    "a connection for each request" if (|plan| all(plan, |it| it.load.connection == Connection::KeepAlive)):
        "Clients kept their connections, so no server had to accept many new ones.", "`connection = \"per-request\"`";
    "connections that are kept" if (|plan| all(plan, |it| it.load.connection == Connection::PerRequest)):
        "Every request came over a connection of its own.", "`connection = \"keep-alive\"`";
    "load that changes" if (|plan| all(plan, |it| !it.load.executor.is_ramp())):
        "The load was constant: no peak, and nothing to recover from.",
        "`executor = \"ramping-vus\"` or `\"ramping-arrival-rate\"`";
    "packet loss" if (|plan| plan.environments.iter().all(|it| it.link.loss <= 0.0)):
        "No packet was lost on purpose.", "`link = { loss = \"1%\" }`";
    "slow clients" if (|plan| all(plan, |it| it.load.pace == Pace::default())):
        "Clients sent and read as fast as they could: none held a worker for long.",
        "`read-rate = \"50KB/s\"`, and `slow-share` for slow clients beside fast ones";
    pool;
    distance;
    engine;
    "a database that goes away" if (|plan| of_all(plan, |database| database.outage.is_some()) == Some(false)):
        "It was available all the time.", "`database.outage`, or `studies/database-outage.toml`";
    "neighbours" if (|_| true): "Nothing ran beside a server on purpose, so the run does not show who suffers most from others.";
    "a start with nothing in the file cache" if (has_ours):
        "Programs and files were in memory when servers started: the first start after boot takes longer.";
};

const OF_PROGRAMS: &[Rule] = rules! {
    "other sizes of the input" if (has_one_size):
        "Each program had one size of its input, so the run does not show where the order changes with it.",
        "a list in the workload’s parameter, as in `studies/queue.toml`";
    "a first run with nothing in the file cache" if (|plan| plan.programs.iter().all(|it| it.runs.warmup_runs > 0)):
        "Warm-up runs came first, so the program and its input were in memory.",
        "`warmup = 0` leaves them out; tolok does not empty the machine's cache";
    "several programs at once" if (|_| true): "Programs ran one at a time.";
    "other inputs" if (|_| true):
        "The inputs are those of the workloads; other data may suit other programs.", "a workload of your own";
};

/// Without servers, the limits of programs are the only evidence for these rules.
const OF_PROGRAMS_ALONE: &[Rule] = &[cpus, memory];

const OF_BOTH: &[Rule] = rules! {
    left_out;
    "another machine" if (|_| true): "All ran on one machine, whose CPU, caches and kernel affect every figure.",
        "the same study there, and `tolok compare`";
};

/// Everything that was not tested, the most important first.
pub(crate) fn untested(records: &Records) -> Vec<Untested> {
    let (has_servers, has_programs) = (!records.plan.scenarios.is_empty(), !records.plan.programs.is_empty());
    let rules = [
        (OF_SERVERS, has_servers),
        (OF_PROGRAMS, has_programs),
        (OF_PROGRAMS_ALONE, has_programs && !has_servers),
        (OF_BOTH, true),
    ];
    let asked = rules.iter().filter(|(_, is_asked)| *is_asked).flat_map(|(rules, _)| *rules);
    asked.filter_map(|rule| rule(records)).collect()
}

fn item(what: &str, because: &str, how: Option<&str>) -> Untested {
    Untested { what: what.to_owned(), because: because.to_owned(), how: how.map(str::to_owned) }
}

fn all(plan: &Plan, is_so: impl Fn(&Scenario) -> bool) -> bool {
    plan.scenarios.iter().all(is_so)
}

/// Whether tolok started any of the competing servers. The limits of other servers are unknown.
fn has_ours(plan: &Plan) -> bool {
    let is_external = |subject: &str| plan.brought.server(subject).is_some();
    plan.cases.iter().any(|case| case.role == Role::Subject && !is_external(&case.subject.subject))
}

fn has_one_size(plan: &Plan) -> bool {
    let workloads: BTreeSet<&str> = plan.programs.iter().map(|program| program.workload.as_str()).collect();
    let series: BTreeSet<&str> = workloads.iter().filter_map(|it| it.split_once('?')).map(|it| it.0).collect();
    workloads.len() <= series.len().max(1)
}

fn network(records: &Records) -> Option<Untested> {
    let plan = records.plan;
    if !plan.brought.servers.is_empty() {
        let because =
            "Servers that tolok did not start were measured where they run: the network to them was not varied.";
        return Some(item("other networks between client and server", because, None));
    }
    let mut of_scenarios = plan.scenarios.iter().filter_map(|scenario| plan.environment(scenario));
    if of_scenarios.any(|environment| environment.link.emulates()) {
        let because = "Links were emulated on one machine: no network card, driver or switch took part.";
        return Some(item("a real network", because, None));
    }
    Some(item(
        "a network between client and server",
        "All ran over the loopback interface: no distance, no limit of bandwidth, no loss.",
        Some("`link = [\"localhost\", \"lan-wifi\"]`, or `studies/links.toml`"),
    ))
}

/// tolok's workloads that write, or whose requests have bodies.
const WRITING: [&str; 6] = ["counter", "crud", "mixed", "updates", "upload", "validate"];

fn kinds(records: &Records) -> Option<Untested> {
    let has_parts =
        |trial: &TrialRecord| matches!(&trial.outcome, Outcome::Completed(found) if !found.parts.is_empty());
    let is_mixed = records.plan.scenarios.iter().any(|scenario| scenario.tool.script.is_some());
    (!is_mixed && !records.trials.iter().any(has_parts)).then(|| {
        let because = "Every scenario sent requests of one kind: no slow request delayed a fast one.";
        item(
            "requests of several kinds at a time",
            because,
            Some("`workload = \"mixed\"`, or `[[part]]` in a workload of yours"),
        )
    })
}

fn hours(records: &Records) -> Option<Untested> {
    const HOUR_S: f64 = 3600.0;
    let plan = records.plan;
    let longest_s = plan.scenarios.iter().map(|scenario| scenario.load.duration_s).fold(0.0, f64::max);
    (longest_s < HOUR_S).then(|| {
        let window = duration_words(longest_s);
        let anew = if plan.brought.servers.is_empty() { ", and every trial started anew" } else { "" };
        let because = format!(
            "No window was longer than {window}{anew}: the run does not show leaks, slow growth, or what a runtime does after hours."
        );
        item(&format!("behaviour beyond {window}"), &because, Some("a longer `duration`"))
    })
}

/// Numbers of users and rates are one factor: the amount of load.
fn level(records: &Records) -> Option<Untested> {
    let plan = records.plan;
    let words = |load: &LoadProfile| match load.executor.vus_max() {
        Some(vus) => counted(u64::from(vus), "user"),
        None => format!("{} requests/s", load.executor.level_at(0.0)),
    };
    let levels = |group: &[&Scenario]| sorted_once(group.iter().map(|scenario| words(&scenario.load)));
    // A load that varies for any workload counts as varied. Several workloads with one load each do not.
    let of_workloads = grouped(&plan.scenarios, |one, other| one.workload == other.workload);
    let is_varied =
        of_workloads.iter().any(|group| levels(group).len() > 1) || !all(plan, |it| !it.load.executor.is_ramp());
    let (what, how) = match all(plan, |it| it.load.executor.is_open()) {
        true => ("other request rates", "a list, as in `rate = [500, 2000]`"),
        false => ("other numbers of users", "a list, as in `vus = [16, 64, 256]`"),
    };
    (!is_varied).then(|| {
        let levels = listed(&levels(&plan.scenarios.iter().collect::<Vec<_>>()), "or");
        let because = format!("Each workload had one load ({levels}): with less or more the order may differ.");
        item(what, &because, Some(how))
    })
}

/// Percentiles for which some case has too few samples.
fn percentiles(records: &Records) -> Option<Untested> {
    let competes = |case: &str| records.plan.case(case).is_some_and(|case| case.role == Role::Subject);
    let own = records.trials.iter().filter(|trial| competes(&trial.case));
    // The highest percentile with enough samples in each trial.
    let highest = own.filter_map(|trial| match &trial.outcome {
        Outcome::Completed(measurement) if measurement.compared_goodput_rps() > 0.0 => {
            let known = measurement.compared_latency().percentiles.iter().filter(|it| it.latency_s.is_some());
            Some(known.map(|percentile| percentile.quantile).fold(0.0, f64::max))
        }
        _ => None,
    });
    let (least, most) = highest.fold((f64::INFINITY, 0.0_f64), |(least, most), at| (least.min(at), most.max(at)));
    (most > 0.0).then(|| {
        let [least_name, most_name] = [least, most].map(|quantile| format!("p{}", (quantile * 1e6).round() / 1e4));
        let fewest = match least {
            0.0 => "; some trials have too few for any".to_owned(),
            _ if least < most => format!(", and {least_name} in the trials with the fewest"),
            _ => String::new(),
        };
        let because = format!(
            "{most_name} is the highest of the usual percentiles with 10 responses of a trial beyond it{fewest}."
        );
        item(&format!("response times beyond {most_name}"), &because, Some("a longer `duration`"))
    })
}

fn cpus_of_ours(records: &Records) -> Option<Untested> {
    cpus(records).filter(|_| has_ours(records.plan))
}

fn cpus(records: &Records) -> Option<Untested> {
    let plan = records.plan;
    let numbers = sorted_once(plan.environments.iter().map(|it| it.subject.whole_cpus()));
    let [only] = numbers.as_slice() else { return None };
    let other = if *only == 1 { "more CPUs than one" } else { "another number of CPUs" };
    let started = if plan.brought.servers.is_empty() { "" } else { " that tolok started" };
    let cpus = counted(u64::from(*only), "CPU");
    let because = format!(
        "Every subject{started} had {cpus}: the run does not show who gains from more, and who can use only one."
    );
    Some(item(other, &because, Some("`subject.cpus = [1, 2]`")))
}

fn memory(records: &Records) -> Option<Untested> {
    let is_unlimited = records.plan.environments.iter().all(|it| it.subject.memory_bytes.is_none());
    is_unlimited.then(|| {
        item(
            "scarce memory",
            "The study limited no memory, which flatters runtimes that trade it for speed.",
            Some("`subject.memory = \"512MiB\"`, or `studies/limits.toml`"),
        )
    })
}

/// The common value of all used databases, or `None` if they differ or none is used.
fn of_all<T: PartialEq>(plan: &Plan, of: impl Fn(&Database) -> T) -> Option<T> {
    let asking = plan.scenarios.iter().filter(|scenario| scenario.database);
    let mut values = asking.filter_map(|scenario| plan.environment(scenario)?.database.as_ref()).map(of);
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

fn pool(records: &Records) -> Option<Untested> {
    let connections = counted(u64::from(of_all(records.plan, |database| database.pool)?), "connection");
    let because = format!("Every subject had {connections} to it.");
    Some(item("other numbers of connections to the database", &because, Some("`database.pool = [4, 16, 64]`")))
}

fn distance(records: &Records) -> Option<Untested> {
    let because = match of_all(records.plan, |database| database.link.rtt_s)? {
        rtt_s if rtt_s > 0.0 => format!("It was always a round trip of {} away.", duration_words(rtt_s)),
        _ => "It ran on the same machine, without a distance.".to_owned(),
    };
    Some(item("other distances of the database", &because, Some("`database.rtt = [\"0ms\", \"20ms\"]`")))
}

fn engine(records: &Records) -> Option<Untested> {
    let engine = of_all(records.plan, |database| database.engine)?.title();
    let because = format!("All used {engine}, with little data, all of it in memory, and without other clients.");
    Some(item("another database", &because, Some("`database.engine`")))
}

fn left_out(records: &Records) -> Option<Untested> {
    let names: Vec<String> = records.plan.skipped.iter().map(|skipped| skipped.subject.clone()).collect();
    (!names.is_empty()).then(|| {
        let because = "The study asks for it, but this machine could not provide it; the report says why.";
        let what = format!("what was left out ({})", listed(&names, "and"));
        item(&what, because, Some("`tolok doctor` says what would help"))
    })
}
