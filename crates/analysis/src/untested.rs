//! What a run did not look at, so that nobody reads it into its figures.
//!
//! Everything here follows from the plan and the records: a factor that the study varies is not listed.

use std::collections::BTreeSet;

use tolok_model::{
    Connection, CpuMode, Database, Environment, LoadProfile, Measurement, Outcome, Plan, Role, Scenario,
    format_duration,
};

use crate::figures::{counted, listed};
use crate::findings::Untested;
use crate::grouping::{grouped, sorted_once};
use crate::records::Records;

/// Everything that was not looked at, the weightiest first.
pub(crate) fn untested(records: &Records) -> Vec<Untested> {
    let plan = records.plan;
    let of_servers = if plan.scenarios.is_empty() { Vec::new() } else { of_servers(records) };
    let of_programs = if plan.programs.is_empty() { Vec::new() } else { of_programs(plan) };
    let of_both = [left_out(plan), machine()];
    of_servers.into_iter().chain(of_programs).chain(of_both).flatten().collect()
}

fn of_servers(records: &Records) -> Vec<Option<Untested>> {
    let plan = records.plan;
    // Of a server that tolok did not start nobody knows what it had.
    let is_any_ours =
        plan.cases.iter().any(|case| case.role == Role::Subject && !is_external(plan, &case.subject.subject));
    vec![
        network(plan),
        rate(plan),
        capacity(plan),
        encryption(),
        database(plan),
        hours(plan),
        level(plan),
        percentiles(records),
        cpus(plan).filter(|_| is_any_ours),
        quota(plan),
        memory(plan),
        mix(plan),
        writes(plan),
        connections(plan),
        changing_load(plan),
        packet_loss(plan),
        slow_clients(),
        pool(plan),
        distance(plan),
        engine(plan),
        outage(plan),
        neighbours(),
        cold_disk().filter(|_| is_any_ours),
    ]
}

fn of_programs(plan: &Plan) -> Vec<Option<Untested>> {
    let warm = plan.programs.iter().all(|program| program.runs.warmup_runs > 0);
    let series: BTreeSet<&str> =
        plan.programs.iter().filter_map(|program| program.workload.split_once('?')).map(|it| it.0).collect();
    let workloads: BTreeSet<&str> = plan.programs.iter().map(|program| program.workload.as_str()).collect();
    let is_one_size = workloads.len() <= series.len().max(1);
    let servers_have_cpus = !plan.scenarios.is_empty();
    vec![
        is_one_size.then(|| {
            item(
                "other sizes of the input",
                "Each program had one size of its input: where the order turns round with it cannot be seen.",
                Some("a list in the workload’s parameter, as in `studies/queue.toml`"),
            )
        }),
        warm.then(|| {
            item(
                "a first run with nothing in the file cache",
                "Runs that do not count came first, so the program and what it reads lay in memory.",
                Some("`warmup = 0` leaves them out; an empty cache of the machine is beyond this version"),
            )
        }),
        some("several programs at once", "Programs ran one at a time.", None),
        some(
            "other inputs",
            "The inputs are those of the workloads; other data may suit other programs.",
            Some("a workload of your own"),
        ),
        if servers_have_cpus { None } else { cpus(plan) },
        if servers_have_cpus { None } else { memory(plan) },
    ]
}

fn item(what: &str, because: &str, how: Option<&str>) -> Untested {
    Untested { what: what.to_owned(), because: because.to_owned(), how: how.map(str::to_owned) }
}

fn some(what: &str, because: &str, how: Option<&str>) -> Option<Untested> {
    Some(item(what, because, how))
}

/// Whether tolok did not start a subject.
fn is_external(plan: &Plan, subject: &str) -> bool {
    plan.brought.server(subject).is_some()
}

fn network(plan: &Plan) -> Option<Untested> {
    if !plan.brought.servers.is_empty() {
        let because =
            "Servers that tolok did not start were asked where they are: what lies on the way was not varied.";
        return some("other networks between client and server", because, None);
    }
    let of_scenarios = || plan.scenarios.iter().filter_map(|scenario| plan.environment(scenario));
    if of_scenarios().any(|environment| environment.link.emulates()) {
        let because = "Links were emulated on one machine: no network card, driver or switch took part.";
        return some("a real network", because, None);
    }
    some(
        "a network between client and server",
        "All ran over the loopback interface: no distance, no limit of bandwidth, no loss.",
        Some("`link = [\"localhost\", \"lan-wifi\"]`, or `studies/links.toml`"),
    )
}

fn rate(plan: &Plan) -> Option<Untested> {
    let is_closed = plan.scenarios.iter().all(|scenario| !scenario.load.executor.is_open());
    is_closed.then(|| item(
        "a given request rate",
        "Every loop was closed, in which a slow answer delays the next request: there are no response times at a rate, and no overload.",
        Some("`executor = \"constant-arrival-rate\"`, or `studies/open-loop.toml`"),
    ))
}

fn capacity(plan: &Plan) -> Option<Untested> {
    let is_open = plan.scenarios.iter().all(|scenario| scenario.load.executor.is_open());
    is_open.then(|| {
        item(
            "how much a server can do",
            "Requests came at fixed rates: a server that keeps up may have had any amount to spare.",
            Some("`executor = \"constant-vus\"`, or `studies/core.toml`"),
        )
    })
}

fn encryption() -> Option<Untested> {
    some("TLS, HTTP/2 and HTTP/3", "Every request was HTTP/1.1 in the clear, without pipelining.", None)
}

fn database(plan: &Plan) -> Option<Untested> {
    let asks = plan.scenarios.iter().any(|scenario| scenario.database);
    (!asks).then(|| {
        item(
            "a database",
            "There was nothing behind the servers to wait for.",
            Some("`workload = \"rows\"`, or `studies/data-heavy.toml`"),
        )
    })
}

fn hours(plan: &Plan) -> Option<Untested> {
    const HOUR_S: f64 = 3600.0;
    let longest_s = plan.scenarios.iter().map(|scenario| scenario.load.duration_s).fold(0.0, f64::max);
    (longest_s < HOUR_S).then(|| {
        let window = format_duration(longest_s);
        let anew = if plan.brought.servers.is_empty() { ", and every trial started anew" } else { "" };
        Untested {
            what: format!("behaviour beyond {window}"),
            because: format!(
                "No window was longer than {window}{anew}: leaks, slow growth and what a runtime does \
                 after hours cannot be seen."
            ),
            how: Some("a longer `duration`".to_owned()),
        }
    })
}

/// Numbers of users and rates, which are one factor: how much load there is.
fn level(plan: &Plan) -> Option<Untested> {
    let words = |load: &LoadProfile| match load.executor.vus_max() {
        Some(vus) => counted(u64::from(vus), "user"),
        None => format!("{} requests/s", load.executor.level_at(0.0)),
    };
    let levels = sorted_once(plan.scenarios.iter().map(|scenario| words(&scenario.load)));
    let of_workloads = grouped(&plan.scenarios, |one, other| one.workload == other.workload);
    // What is varied for any workload is varied; several workloads with a level of their own are not.
    let is_varied = of_workloads.iter().any(|group| sorted_once(group.iter().map(|it| words(&it.load))).len() > 1)
        || plan.scenarios.iter().any(|scenario| scenario.load.executor.is_ramp());
    let is_open = plan.scenarios.iter().all(|scenario| scenario.load.executor.is_open());
    let (what, how) = match is_open {
        true => ("other request rates", "a list, as in `rate = [500, 2000]`"),
        false => ("other numbers of users", "a list, as in `vus = [16, 64, 256]`"),
    };
    (!is_varied).then(|| Untested {
        what: what.to_owned(),
        because: format!(
            "Each workload was asked with one load ({}): the order may be another with less or more.",
            listed(&levels, "or")
        ),
        how: Some(how.to_owned()),
    })
}

/// Percentiles of which some case has too few samples.
fn percentiles(records: &Records) -> Option<Untested> {
    let competes = |case: &str| records.plan.case(case).is_some_and(|case| case.role == Role::Subject);
    let own = records.trials.iter().filter(|trial| competes(&trial.case));
    let measured = own.filter_map(|trial| match &trial.outcome {
        Outcome::Completed(measurement) if measurement.goodput_rps > 0.0 => highest_percentile(measurement),
        _ => None,
    });
    let (least, most) = measured.fold((f64::INFINITY, 0.0_f64), |(least, most), at| (least.min(at), most.max(at)));
    let name = |quantile: f64| format!("p{}", (quantile * 1e6).round() / 1e4);
    (most > 0.0).then(|| {
        let fewest =
            if least < most { format!(", and {} in the trials with the fewest", name(least)) } else { String::new() };
        let because = format!(
            "Of the usual percentiles {} is the highest beyond which 10 answers of a trial lie{fewest}.",
            name(most)
        );
        let what = format!("response times beyond {}", name(most));
        Untested { what, because, how: Some("a longer `duration`".to_owned()) }
    })
}

/// The highest percentile that enough samples of a trial carry.
fn highest_percentile(trial: &Measurement) -> Option<f64> {
    let carried = trial.latency.percentiles.iter().filter(|it| it.latency_s.is_some());
    carried.map(|percentile| percentile.quantile).reduce(f64::max)
}

fn cpus(plan: &Plan) -> Option<Untested> {
    let numbers: BTreeSet<u32> = plan.environments.iter().map(|it| it.subject.whole_cpus()).collect();
    let only = numbers.first().filter(|_| numbers.len() == 1)?;
    let other = if *only == 1 { "more CPUs than one".to_owned() } else { "another number of CPUs".to_owned() };
    Some(Untested {
        what: other,
        because: format!(
            "Every subject{} had {}: how it grows with more, and who can use only one, cannot be seen.",
            if plan.brought.servers.is_empty() { "" } else { " that tolok started" },
            counted(u64::from(*only), "CPU")
        ),
        how: Some("`subject.cpus = [1, 2]`".to_owned()),
    })
}

fn quota(plan: &Plan) -> Option<Untested> {
    let modes: BTreeSet<bool> = plan.environments.iter().map(|it| it.subject.mode == CpuMode::Quota).collect();
    (modes == [false].into()).then(|| {
        item(
            "a share of a CPU, as containers have it",
            "No quota took CPU time away from anybody.",
            Some("`subject.mode = \"quota\"`, or `studies/limits.toml`"),
        )
    })
}

fn memory(plan: &Plan) -> Option<Untested> {
    let is_limited = plan.environments.iter().any(|it| it.subject.memory_bytes.is_some());
    (!is_limited).then(|| {
        item(
            "scarce memory",
            "The study limited no memory, which flatters runtimes that trade it for speed.",
            Some("`subject.memory = \"512MiB\"`, or `studies/limits.toml`"),
        )
    })
}

fn mix(plan: &Plan) -> Option<Untested> {
    let is_scripted = plan.scenarios.iter().any(|scenario| scenario.tool.script.is_some());
    (!is_scripted).then(|| {
        item(
            "requests of several kinds at a time",
            "Each scenario asks one workload: no slow request stands in the way of a quick one.",
            Some("a script of k6 (`tool = { name = \"k6\", script = … }`)"),
        )
    })
}

fn writes(plan: &Plan) -> Option<Untested> {
    let writes = plan.scenarios.iter().any(|scenario| scenario.workload_name() == "counter");
    (!writes).then(|| item(
        "writing and uploads",
        "Every request only read, and none had a body.",
        Some("`workload = \"counter\"` writes one number, as in `studies/counter.toml`; bodies of requests are beyond this version"),
    ))
}

fn connections(plan: &Plan) -> Option<Untested> {
    let is = |kind: &dyn Fn(&Connection) -> bool| plan.scenarios.iter().all(|scenario| kind(&scenario.load.connection));
    if is(&|it| *it == Connection::KeepAlive) {
        let because = "Clients kept their connections, so nobody paid for many new ones.";
        return some("a connection for each request", because, Some("`connection = \"per-request\"`"));
    }
    is(&|it| *it == Connection::PerRequest).then(|| {
        item(
            "connections that are kept",
            "Every request came over a connection of its own.",
            Some("`connection = \"keep-alive\"`"),
        )
    })
}

fn changing_load(plan: &Plan) -> Option<Untested> {
    let is_ramp = plan.scenarios.iter().any(|scenario| scenario.load.executor.is_ramp());
    (!is_ramp).then(|| {
        item(
            "load that changes",
            "The load was the same all the time: no peak, and nothing to recover from.",
            Some("`executor = \"ramping-vus\"` or `\"ramping-arrival-rate\"`"),
        )
    })
}

fn packet_loss(plan: &Plan) -> Option<Untested> {
    let is_lost = plan.environments.iter().any(|it| it.link.loss > 0.0);
    (!is_lost).then(|| item("packet loss", "No packet was lost on purpose.", Some("`link = { loss = \"1%\" }`")))
}

fn slow_clients() -> Option<Untested> {
    some("slow clients", "Clients sent and read as fast as they could: nobody held a worker for long.", None)
}

/// The databases that are asked, each once.
fn databases(plan: &Plan) -> Vec<&Database> {
    let asking = plan.scenarios.iter().filter(|scenario| scenario.database);
    let asked = asking.filter_map(|scenario: &Scenario| plan.environment(scenario));
    asked.filter_map(|environment: &Environment| environment.database.as_ref()).collect()
}

/// Of runs that ask a database: what all of them had, where they had the same.
fn of_all<T: PartialEq>(plan: &Plan, of: impl Fn(&Database) -> T) -> Option<T> {
    let mut values = databases(plan).into_iter().map(of);
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

fn pool(plan: &Plan) -> Option<Untested> {
    let connections = of_all(plan, |database| database.pool)?;
    Some(Untested {
        what: "other numbers of connections to the database".to_owned(),
        because: format!("Every subject had {} to it.", counted(u64::from(connections), "connection")),
        how: Some("`database.pool = [4, 16, 64]`".to_owned()),
    })
}

fn distance(plan: &Plan) -> Option<Untested> {
    let rtt_s = of_all(plan, |database| database.link.rtt_s)?;
    let because = if rtt_s > 0.0 {
        format!("It was always a round trip of {} away.", format_duration(rtt_s))
    } else {
        "It ran on the same machine, without a distance.".to_owned()
    };
    let how = Some("`database.rtt = [\"0ms\", \"20ms\"]`".to_owned());
    Some(Untested { what: "other distances of the database".to_owned(), because, how })
}

fn engine(plan: &Plan) -> Option<Untested> {
    let engine = of_all(plan, |database| database.engine)?;
    Some(Untested {
        what: "another database".to_owned(),
        because: format!(
            "All asked {}, with little data, all of it in memory, and nobody else asked it.",
            engine.title()
        ),
        how: Some("`database.engine`".to_owned()),
    })
}

fn outage(plan: &Plan) -> Option<Untested> {
    let is_gone = databases(plan).iter().any(|database| database.outage.is_some());
    (!databases(plan).is_empty() && !is_gone).then(|| {
        item(
            "a database that goes away",
            "It was there all the time.",
            Some("`database.outage`, or `studies/database-outage.toml`"),
        )
    })
}

fn neighbours() -> Option<Untested> {
    some("neighbours", "Nothing ran beside a server on purpose: who suffers most from others cannot be seen.", None)
}

fn cold_disk() -> Option<Untested> {
    let because =
        "Programs and files lay in memory when servers were started: the first start after boot takes longer.";
    some("a start with nothing in the file cache", because, None)
}

fn left_out(plan: &Plan) -> Option<Untested> {
    let names: Vec<String> = plan.skipped.iter().map(|skipped| skipped.subject.clone()).collect();
    (!names.is_empty()).then(|| Untested {
        what: format!("what was left out ({})", listed(&names, "and")),
        because: "The study asked for it, and it could not be had here; the report says why.".to_owned(),
        how: Some("`tolok doctor` says what would help".to_owned()),
    })
}

fn machine() -> Option<Untested> {
    some(
        "another machine",
        "All ran on one machine, whose CPU, caches and kernel are in every figure.",
        Some("the same study there, and `tolok compare`"),
    )
}
