//! The load in words, for the terminal and for Markdown.

use tolok_analysis::figures::{Quantity, amount, count, counted, significant};
use tolok_load::options::{Arrivals, ConnectionPolicy, DataOrder, Executor, Mix, Stage};
use tolok_load::record::{LoopModel, PlanSummary, Record, RequestSummary};
use tolok_model::duration_words;

/// `GET http://127.0.0.1:8080/json`, or a list or the number of the requests.
pub fn title(plan: &PlanSummary) -> String {
    let mut title = match (plan.requests.as_slice(), plan.mix) {
        ([request], _) => format!("{} {}", request.method, plan.url),
        (_, Mix::Weighted) => format!("{}: {} by weight", plan.url, listed(plan)),
        (_, Mix::Sequence) => format!("{}: {} in sequence", plan.url, listed(plan)),
    };
    if plan.address.starts_with("unix:") {
        title += &format!(" over {}", plan.address);
    }
    title
}

fn listed(plan: &PlanSummary) -> String {
    // Many requests are counted, not listed.
    if plan.requests.is_empty() {
        return counted(plan.request_count, "request");
    }
    let one = |request: &RequestSummary| format!("{} {} {}", request.weight, request.method, request.path);
    plan.requests.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Executor, loop, users or pool, connections, window.
pub fn done(record: &Record) -> Vec<String> {
    let plan = &record.plan;
    let loop_model = match plan.loop_model {
        LoopModel::Closed => "closed loop",
        LoopModel::Open => "open loop",
    };
    let mut parts = vec![format!("{} ({loop_model}): {}", plan.executor, executor(&plan.profile))];
    if plan.loop_model == LoopModel::Open {
        parts.push(pool(plan));
    }
    if let Some(streams) = plan.streams_per_connection {
        let each = counted(u64::from(streams), "stream");
        parts.push(format!("HTTP/2, {each} a connection"));
    }
    parts
        .extend(plan.pipeline.map(|depth| format!("pipelined, {} a connection", counted(u64::from(depth), "request"))));
    parts.push(match plan.connection {
        ConnectionPolicy::KeepAlive => "keep-alive".to_owned(),
        ConnectionPolicy::PerRequest => "a connection for every request".to_owned(),
        ConnectionPolicy::Requests { requests_per_connection } => {
            format!("a connection for {}", counted(u64::from(requests_per_connection), "request"))
        }
    });
    match plan.tls_verified {
        Some(true) => parts.push("TLS".to_owned()),
        Some(false) => parts.push("TLS, any certificate accepted".to_owned()),
        None => {}
    }
    parts.extend(plan.data.as_ref().map(|data| {
        let order = match data.order {
            DataOrder::Random => "drawn at random",
            DataOrder::InOrder => "in order",
        };
        format!("filled from {} {order}", counted(data.rows, "row"))
    }));
    parts.extend(pauses(plan));
    parts.extend(body_check(plan));
    parts.push(window(record));
    parts
}

fn executor(executor: &Executor) -> String {
    let users = |vus: u32| counted(u64::from(vus), "user");
    let spaced = |arrivals: &Arrivals| match arrivals {
        Arrivals::Uniform => "evenly spaced",
        Arrivals::Poisson => "as a Poisson process",
    };
    let steps = |stages: &[Stage], level: fn(f64) -> String| {
        let step = |stage: &Stage| format!("{} in {}", level(stage.target), duration(stage.duration.as_secs_f64()));
        stages.iter().map(step).collect::<Vec<_>>().join(" → ")
    };
    match executor {
        Executor::ConstantVus { vus, .. } => users(*vus),
        Executor::RampingVus { start_vus, stages } => {
            format!("{} → {}", users(*start_vus), steps(stages, |vus| significant(vus, 4)))
        }
        Executor::PerVuIterations { vus, iterations, .. } => {
            format!("{} × {}", users(*vus), counted(*iterations, "iteration"))
        }
        Executor::SharedIterations { vus, iterations, .. } => {
            format!("{} by {}", counted(*iterations, "iteration"), users(*vus))
        }
        Executor::ConstantArrivalRate { rate_rps, arrivals, .. } => {
            format!("{} {}", rate(*rate_rps), spaced(arrivals))
        }
        Executor::RampingArrivalRate { start_rate_rps, stages, arrivals } => {
            format!("{} → {}, {}", rate(*start_rate_rps), steps(stages, rate), spaced(arrivals))
        }
    }
}

fn pool(plan: &PlanSummary) -> String {
    match (plan.pool_unbounded, plan.vus) {
        // Places share connections.
        (false, places) if plan.pipeline.is_some_and(|depth| depth > 1) => {
            format!("pool of {}", counted(u64::from(places), "place"))
        }
        (false, places) if plan.streams_per_connection.is_some_and(|streams| streams > 1) => {
            format!("pool of {}", counted(u64::from(places), "stream"))
        }
        (false, connections) => format!("pool of {}", counted(u64::from(connections), "connection")),
        (true, 0) => "unbounded pool".to_owned(),
        (true, most) => format!("pool of up to {} connections", count(u64::from(most))),
    }
}

fn pauses(plan: &PlanSummary) -> Vec<String> {
    let [least, most] = plan.think_time_s;
    let mut parts = Vec::new();
    if most > 0.0 {
        let range = if least < most { format!("{} to {}", duration(least), duration(most)) } else { duration(most) };
        parts.push(format!("pauses of {range}"));
    }
    parts.extend(plan.slow_users.map(|users| format!("{} slow:", counted(u64::from(users), "user"))));
    if let Some(rate) = plan.read_bytes_per_s {
        parts.push(format!("reading at most {}/s", amount(Quantity::Bytes, rate as f64)));
    }
    if let Some(rate) = plan.write_bytes_per_s {
        parts.push(format!("writing at most {}/s", amount(Quantity::Bytes, rate as f64)));
    }
    parts
}

fn body_check(plan: &PlanSummary) -> Option<String> {
    let words = match plan.body_check.as_str() {
        "mixed" => "bodies checked as each request says",
        "length" => "length of every body checked",
        "exactly" => "every body compared",
        "gzip" => "every body unpacked and compared",
        "json" => "bodies compared as JSON",
        "discard" => "bodies discarded unread",
        _ => return None,
    };
    Some(words.to_owned())
}

fn window(record: &Record) -> String {
    let plan = &record.plan;
    let planned = if (plan.window_s - record.window_s).abs() > 0.005 {
        format!("{} of {}", duration(record.window_s), duration(plan.window_s))
    } else {
        duration(plan.window_s)
    };
    let measured = match undone(record) {
        _ if record.interrupted => format!("interrupted after {planned}"),
        _ if record.aborted => format!("ended after {planned}, as a threshold was crossed"),
        Some(undone) => format!("stopped after {} with {} left", duration(record.window_s), undone),
        None => duration(record.window_s),
    };
    if record.warm_up_s > 0.0 {
        format!("{measured} after {} of warm-up", duration(record.warm_up_s))
    } else {
        measured
    }
}

/// Requests of the planned iterations that did not fit into the time limit.
fn undone(record: &Record) -> Option<String> {
    let planned = match &record.plan.profile {
        Executor::SharedIterations { iterations, .. } => *iterations,
        Executor::PerVuIterations { vus, iterations, .. } => iterations.saturating_mul(u64::from(*vus)),
        _ => return None,
    };
    let planned = planned.saturating_mul(record.plan.iteration_requests);
    let left = planned.saturating_sub(record.ledger.scheduled);
    (left > 0).then(|| format!("{} of {}", count(left), counted(planned, "request")))
}

/// `2,000/s`
pub fn rate(rps: f64) -> String {
    format!("{}/s", significant(rps, 4))
}

/// `10 s`, `0.5 s`, `3.60 ms`, `1 h 30 min`: a planned duration, or one that is close to it.
pub fn duration(length_s: f64) -> String {
    match length_s {
        120.0.. => duration_words(length_s.round()),
        tiny if tiny > 0.0 && tiny < 0.1 => amount(Quantity::Seconds, tiny),
        _ => format!("{} s", significant(length_s, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_the_unit_that_fits() {
        let lengths = [10.0, 0.5, 3.214, 0.0036, 0.0, 5400.2].map(duration);
        assert_eq!(lengths, ["10 s", "0.5 s", "3.21 s", "3.60\u{a0}ms", "0 s", "1 h 30 min"]);
    }
}
