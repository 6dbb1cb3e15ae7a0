//! Room: bounds on a run's figures that follow from its users, length, network and budgets.
//!
//! Let N be the most requests in flight at a time (connections × `streams`), X the answers per second and T the length
//! of the run. In a closed loop, these are impossible:
//!
//! - X · (shortest time) > N: the same sum as Little's law, with the least that every answer took;
//! - X > N ÷ RTT, because no answer arrives before a packet has gone and returned;
//! - time-outs × (time-out) > N · (T + time-out), because users waited for them.
//!
//! In any loop, these are impossible:
//!
//! - a response time below the round trip, or one of a load generator below a microsecond, even if it was divided by
//!   the users;
//! - one that is longer than the run plus the time that the tool waits at its end;
//! - more correct responses than answers, or a number other than answers × (1 − failed share). A rate may count correct
//!   responses only: then the two rates are equal;
//! - more answers per second than an open loop offers;
//! - bytes of the run other than bandwidth × T;
//! - X × (CPU time of a request) > CPUs (utilisation law, Denning and Buzen 1978);
//! - more memory than the limit. From 90% of it on, the limit may be what was measured, and the bound is undecided.
//!
//! If correct and failed requests do not add up to all, the bound is undecided, unless they are more and the tool
//! counts failed ones.
//!
//! A bound contradicts only if its inputs are stated or follow from the tool. `streams` is required, because
//! pipelining, batches and streams of HTTP/2 would make a sound table look impossible.

use tolok_model::transcription::{Figure, LatencyOf, Moment, Quantity, Row, Transcription, Unit};

use crate::draft::{Draft, OfRow, crowds_folded};
use crate::finding::AuditFinding;
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Known};
use crate::{tools, wording};

/// Tolerance for clocks and counting, as a share.
const TOLERANCE: f64 = 0.03;
/// Round trips are stated roughly, so this is their tolerance, as a share.
const ROUGH: f64 = 0.10;
/// From this share of a limit on, a figure may show the limit itself.
const NEARLY_ALL: f64 = 0.90;
/// What a source lacks for bounds on users.
const STREAMS: &str = "how many requests a connection had in flight at a time (`streams`)";

pub(super) const LAW: LawInfo = LawInfo {
    title: "Room",
    says: "Users, length, network and budgets of a run leave room for its figures.",
    needs: "throughput beside shortest times, round trips, offered rates or CPU time; or memory beside its limit",
    check,
};

/// A bound on a row.
struct Bound<'a> {
    statement: String,
    inputs: Vec<&'a Figure>,
    arithmetic: String,
    /// Whether the figures break it, even with all rounding in their favour.
    is_broken: bool,
    sentence: String,
    /// What would have to be known for a contradiction; `None` if the bound holds under every listed convention.
    unless: Option<&'static str>,
}

/// Checks every bound on every row. Each broken bound is a finding; the others of a row share one.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let of_bound = |row: &Row, finding: AuditFinding| {
        let table = Some(format!("{:?} {}", row.table, finding.statement));
        OfRow { table, closeness: 0.0, finding }
    };
    let all = transcription
        .rows
        .iter()
        .flat_map(|row| of_row(transcription, row).into_iter().map(move |finding| of_bound(row, finding)));
    crowds_folded(all.collect())
}

type Of = for<'a> fn(&'a Row) -> Option<Bound<'a>>;

const BOUNDS: [Of; 14] = [
    shortest,
    rate_over_trips,
    below_the_trip,
    below_a_call,
    beyond_the_run,
    given_up,
    more_good,
    good_share,
    successes,
    accounts,
    offered,
    transferred,
    cpus,
    memory,
];

fn of_row(transcription: &Transcription, row: &Row) -> Vec<AuditFinding> {
    let (broken, kept): (Vec<Bound>, Vec<Bound>) =
        BOUNDS.iter().filter_map(|bound| bound(row)).partition(|bound| bound.is_broken);
    let name = transcription.row_name(row);
    let mut found: Vec<AuditFinding> = broken.into_iter().map(|bound| judged(row, name.clone(), bound)).collect();
    if let Some(first) = kept.first() {
        let arithmetic = kept.iter().map(|bound| bound.arithmetic.as_str()).collect::<Vec<_>>().join("; ");
        let figures = kept.iter().flat_map(|bound| bound.inputs.iter().map(|figure| (row, *figure)));
        let number = wording::counted(kept.len(), "bound");
        let statement =
            if kept.len() == 1 { first.statement.clone() } else { "The run has room for its figures.".to_owned() };
        let draft = Draft::new(Law::Room, name, statement).figures(figures).arithmetic(arithmetic);
        found.push(draft.holds(format!("The figures keep {number} that users, length, network and budgets set.")));
    }
    found
}

fn judged(row: &Row, name: String, bound: Bound) -> AuditFinding {
    let draft = Draft::new(Law::Room, name, bound.statement)
        .figures(bound.inputs.iter().map(|figure| (row, *figure)))
        .arithmetic(bound.arithmetic);
    match bound.unless {
        Some(missing) => draft.lacks([missing]).cannot_tell(bound.sentence),
        None => draft.contradicted(bound.sentence),
    }
}

/// The most requests in flight in a closed loop, and what is missing for that to be a bound.
fn in_flight(row: &Row) -> Option<(f64, Option<&'static str>)> {
    let conditions = &row.conditions;
    let is_closed = tools::is_closed(conditions) == Some(true);
    let connections = conditions.connections.filter(|_| is_closed)? as f64;
    let streams = tools::streams(conditions);
    Some((connections * streams.unwrap_or(1) as f64, streams.is_none().then_some(STREAMS)))
}

fn printed_throughput(row: &Row) -> Option<(&Figure, Known)> {
    let figure = row.figure(&Quantity::Throughput)?;
    Some((figure, rows::throughput(row).filter(|known| known.value > 0.0)?))
}

fn shortest(row: &Row) -> Option<Bound<'_>> {
    let least = row.figure(&Quantity::Latency(Moment::Min))?;
    let (figure, x) = printed_throughput(row)?;
    let (users, unless) = in_flight(row)?;
    let busy = x.range.times(Range::of(least));
    let (rate, min) = (wording::per_second(x.value), wording::quoted(least));
    Some(Bound {
        statement: "The users can have the waits that the shortest response time makes.".to_owned(),
        inputs: vec![figure, least],
        arithmetic: format!(
            "{rate} × {min} = {}, of {}",
            wording::number(x.value * least.value()),
            wording::number(users)
        ),
        is_broken: busy.low > users * (1.0 + TOLERANCE),
        sentence: format!(
            "{rate} answers of at least {min} each keep {} users waiting at a time, and there were {}.",
            wording::number(x.value * least.value()),
            wording::number(users)
        ),
        unless,
    })
}

fn rate_over_trips(row: &Row) -> Option<Bound<'_>> {
    let rtt_s = row.conditions.rtt_s.filter(|rtt_s| *rtt_s > 0.0)?;
    let (figure, x) = printed_throughput(row)?;
    let (users, unless) = in_flight(row)?;
    let most = users / rtt_s;
    let (rate, trip) = (wording::per_second(x.value), wording::seconds(rtt_s));
    Some(Bound {
        statement: "The rate is possible over the round trip.".to_owned(),
        inputs: vec![figure],
        arithmetic: format!("{} ÷ {trip} = {}; printed {rate}", wording::number(users), wording::per_second(most)),
        is_broken: x.range.low > most * (1.0 + ROUGH),
        sentence: format!(
            "{} users get at most {} over a round trip of {trip}, and not {rate}.",
            wording::number(users),
            wording::per_second(most)
        ),
        unless,
    })
}

/// The first of the typical times that a row prints: minimum, median or mean.
fn typical(row: &Row) -> Option<&Figure> {
    let moments = [Moment::Min, Moment::Percentile(5000), Moment::Mean];
    moments.into_iter().find_map(|moment| row.figure(&Quantity::Latency(moment)))
}

fn below_the_trip(row: &Row) -> Option<Bound<'_>> {
    let rtt_s = row.conditions.rtt_s.filter(|rtt_s| *rtt_s > 0.0)?;
    let figure = typical(row)?;
    let of = row.conditions.latency_of;
    let is_of_load = matches!(of, Some(LatencyOf::All | LatencyOf::Good | LatencyOf::Planned));
    let is_told = is_of_load || (of.is_none() && tools::counts_failed_answers(&row.conditions));
    let (time, trip) = (wording::quoted(figure), wording::seconds(rtt_s));
    Some(Bound {
        statement: "Answers take a round trip or longer.".to_owned(),
        inputs: vec![figure],
        arithmetic: format!("{} {time}; round trip {trip}", figure.key),
        is_broken: Range::of(figure).high < rtt_s * (1.0 - ROUGH),
        sentence: format!("An answer within {time} came sooner than a packet goes and returns ({trip})."),
        unless: (!is_told).then_some("whether the times are those that the load generator saw (`latency-of`)"),
    })
}

/// Sending and receiving take system calls at both ends. Some tables print `ab`'s time across all users.
fn below_a_call(row: &Row) -> Option<Bound<'_>> {
    const LEAST_S: f64 = 1e-6;
    let figure = typical(row)?;
    let users = row.conditions.connections.unwrap_or(1).max(1) as f64;
    let is_broken = figure.value() > 0.0 && Range::of(figure).high * users < LEAST_S;
    let time = wording::quoted(figure);
    (is_broken && tools::counts_failed_answers(&row.conditions)).then(|| Bound {
        statement: "Answers take a microsecond or longer.".to_owned(),
        inputs: vec![figure],
        arithmetic: format!(
            "{} {time} × {} = {}",
            figure.key,
            wording::number(users),
            wording::seconds(figure.value() * users)
        ),
        is_broken,
        sentence: format!("No answer over TCP comes within {time}: the unit cannot be right."),
        unless: None,
    })
}

fn beyond_the_run(row: &Row) -> Option<Bound<'_>> {
    let conditions = &row.conditions;
    let duration_s = conditions.duration_s?;
    let figure = row.figure(&Quantity::Latency(Moment::Max))?;
    let most_s = tools::longest_run_s(conditions, duration_s, TOLERANCE);
    let waited_s = most_s + tools::timeout_s(conditions).map_or(f64::INFINITY, |(limit_s, _)| limit_s);
    let time = Range::of(figure);
    let (longest, run) = (wording::quoted(figure), wording::seconds(duration_s));
    Some(Bound {
        statement: "No answer takes longer than the run.".to_owned(),
        inputs: vec![figure],
        arithmetic: format!("maximum {longest}; run {run}"),
        is_broken: time.low > most_s,
        sentence: format!("The longest response time of {longest} is longer than the run of {run}."),
        unless: (time.low <= waited_s)
            .then_some("whether the tool waited for requests in flight at the end of the run"),
    })
}

fn given_up(row: &Row) -> Option<Bound<'_>> {
    let conditions = &row.conditions;
    let duration_s = conditions.duration_s?;
    let (limit_s, is_stated) = tools::timeout_s(conditions)?;
    let figure = row.figure(&Quantity::Timeouts)?;
    let (users, unless) = in_flight(row)?;
    let needed = Range::of(figure).low * limit_s;
    let there_are = users * ((duration_s + conditions.warmup_s.unwrap_or(0.0)) * (1.0 + TOLERANCE) + limit_s);
    let (number, limit) = (wording::quoted(figure), wording::seconds(limit_s));
    Some(Bound {
        statement: "The users can have waited for every time-out.".to_owned(),
        inputs: vec![figure],
        arithmetic: format!(
            "{number} × {limit} = {} s of waiting; there are {} s",
            wording::whole(figure.value() * limit_s),
            wording::whole(there_are)
        ),
        is_broken: needed > there_are,
        sentence: format!(
            "{number} time-outs of {limit} are {} s of waiting, and {} users had {} s.",
            wording::whole(figure.value() * limit_s),
            wording::number(users),
            wording::whole(there_are)
        ),
        unless: unless.or((!is_stated).then_some("the time-out")),
    })
}

fn more_good(row: &Row) -> Option<Bound<'_>> {
    let (all, x) = printed_throughput(row)?;
    let good = row.figure(&Quantity::Goodput)?;
    Some(Bound {
        statement: "There are no more correct responses than answers.".to_owned(),
        inputs: vec![all, good],
        arithmetic: format!("{} correct of {}", wording::quoted(good), wording::quoted(all)),
        is_broken: Range::of(good).low > x.range.high * (1.0 + TOLERANCE),
        sentence: format!(
            "There were more correct responses ({}) than answers ({}).",
            wording::quoted(good),
            wording::quoted(all)
        ),
        unless: None,
    })
}

fn good_share(row: &Row) -> Option<Bound<'_>> {
    let (all, x) = printed_throughput(row)?;
    let good = row.figure(&Quantity::Goodput)?;
    let share = [Quantity::HttpFailRate, Quantity::ErrorRate].iter().find_map(|quantity| row.figure(quantity))?;
    let failed = Range::of(share);
    if failed.high > 1.0 {
        return None;
    }
    let printed = Range::of(good).widened(TOLERANCE);
    let computed = x.range.times(failed.complement());
    let is_of_good_only = printed.meets(x.range);
    let value = x.value * (1.0 - share.value());
    Some(Bound {
        statement: "Correct responses are answers less those that failed.".to_owned(),
        inputs: vec![all, share, good],
        arithmetic: format!(
            "{} × (1 − {}) = {}; printed {}",
            wording::quoted(all),
            wording::quoted(share),
            wording::per_second(value),
            wording::quoted(good)
        ),
        is_broken: !printed.meets(computed) && !is_of_good_only,
        sentence: format!(
            "{} with {} failed leave {}, and {} are printed as correct.",
            wording::quoted(all),
            wording::quoted(share),
            wording::per_second(value),
            wording::quoted(good)
        ),
        unless: None,
    })
}

fn successes(row: &Row) -> Option<Bound<'_>> {
    let (all, good) = (row.figure(&Quantity::Requests)?, row.figure(&Quantity::Successes)?);
    Some(Bound {
        statement: "There are no more correct responses than requests.".to_owned(),
        inputs: vec![all, good],
        arithmetic: format!("{} correct of {}", wording::quoted(good), wording::quoted(all)),
        is_broken: Range::of(good).is_above(Range::of(all)),
        sentence: format!(
            "{} correct responses are more than the {} requests.",
            wording::quoted(good),
            wording::quoted(all)
        ),
        unless: None,
    })
}

fn accounts(row: &Row) -> Option<Bound<'_>> {
    let all = row.figure(&Quantity::Requests)?;
    let (good, failed) = (row.figure(&Quantity::Successes)?, row.figure(&Quantity::Failures)?);
    let (sum, of) = (Range::of(good).plus(Range::of(failed)), Range::of(all));
    let difference = all.value() - good.value() - failed.value();
    let other = wording::whole(difference.abs());
    let (is_over, counts_all) = (sum.is_above(of), tools::counts_failed_answers(&row.conditions));
    let unless = match is_over {
        true => {
            (!counts_all || tools::leaves_out_given_up(&row.conditions)).then_some("which failures are no requests")
        }
        false => Some("what became of the others"),
    };
    Some(Bound {
        statement: "Correct and failed requests are all of them.".to_owned(),
        inputs: vec![all, good, failed],
        arithmetic: format!(
            "{} correct + {} failed, of {}",
            wording::quoted(good),
            wording::quoted(failed),
            wording::quoted(all)
        ),
        is_broken: !sum.meets(of) && !Range::of(good).is_above(of),
        sentence: match is_over {
            true => format!("Correct and failed requests are {other} more than all of them."),
            false => format!("{other} requests were neither correct nor failed."),
        },
        unless,
    })
}

fn offered(row: &Row) -> Option<Bound<'_>> {
    let rate = row.figure(&Quantity::Offered).filter(|_| tools::is_closed(&row.conditions) != Some(true))?;
    let (figure, x) = printed_throughput(row)?;
    let (of, answered) = (wording::quoted(rate), wording::quoted(figure));
    Some(Bound {
        statement: "No more is answered than was asked.".to_owned(),
        inputs: vec![rate, figure],
        arithmetic: format!("{answered} of {of}"),
        is_broken: x.range.low > Range::of(rate).high * (1.0 + TOLERANCE),
        sentence: format!("{answered} were answered, and only {of} were offered."),
        unless: None,
    })
}

fn transferred(row: &Row) -> Option<Bound<'_>> {
    let conditions = &row.conditions;
    let duration_s = conditions.duration_s?;
    let (bytes, rate) = (row.figure(&Quantity::Transferred)?, row.figure(&Quantity::Bandwidth)?);
    let took = Range::of(bytes).over(Range::of(rate));
    let most_s = tools::longest_run_s(conditions, duration_s, TOLERANCE);
    let (all, a_second, run) = (wording::quoted(bytes), wording::quoted(rate), wording::seconds(duration_s));
    let implied = wording::run_seconds(bytes.value() / rate.value());
    Some(Bound {
        statement: "Bytes of a run are its bandwidth times its length.".to_owned(),
        inputs: vec![bytes, rate],
        arithmetic: format!("{all} ÷ {a_second} = {implied}; stated {run}"),
        is_broken: !took.meets(Range::between(duration_s * (1.0 - TOLERANCE), most_s)),
        sentence: format!("{all} at {a_second} take {implied} and not the {run} stated."),
        unless: None,
    })
}

fn cpus(row: &Row) -> Option<Bound<'_>> {
    let there_are = row.conditions.subject_cpus?;
    let cost = row.figure(&Quantity::CpuPerRequest).filter(|figure| figure.unit != Unit::Percent)?;
    let (figure, x) = printed_throughput(row)?;
    let used = x.range.times(Range::of(cost));
    let value = x.value * cost.value();
    Some(Bound {
        statement: "There are CPUs for the CPU time of all requests.".to_owned(),
        inputs: vec![figure, cost],
        arithmetic: format!(
            "{} × {} = {} CPUs; there are {}",
            wording::quoted(figure),
            wording::quoted(cost),
            wording::number(value),
            wording::number(there_are)
        ),
        is_broken: used.low > there_are * (1.0 + 2.0 * TOLERANCE),
        sentence: format!(
            "{} at {} of CPU time each take {} CPUs, and the subject had {}.",
            wording::quoted(figure),
            wording::quoted(cost),
            wording::number(value),
            wording::number(there_are)
        ),
        unless: None,
    })
}

fn memory(row: &Row) -> Option<Bound<'_>> {
    let limit = row.conditions.subject_memory_bytes?;
    let moments = [Moment::Max, Moment::Mean, Moment::Whole];
    let figure = moments.into_iter().find_map(|moment| row.figure(&Quantity::Memory(moment)))?;
    let is_one = row.conditions.subject_workers == Some(1);
    let used = Range::of(figure);
    let is_more = used.low > limit * (1.0 + TOLERANCE);
    let (memory, most) = (wording::quoted(figure), wording::bytes(limit));
    let unless = match is_more {
        true => (!is_one).then_some("whether memory that processes share was counted for each of them"),
        false => Some("whether the subject was short of memory"),
    };
    Some(Bound {
        statement: "The subject had memory to spare.".to_owned(),
        inputs: vec![figure],
        arithmetic: format!("{memory} of {most}"),
        is_broken: used.low > limit * NEARLY_ALL,
        sentence: match is_more {
            true => format!("{memory} of memory are more than the limit of {most}."),
            false => format!(
                "{memory} are {} of the limit of {most}: the limit may be what was measured.",
                wording::percent(figure.value() / limit)
            ),
        },
        unless,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_flight_are_connections_times_streams_and_only_in_a_closed_loop() {
        let row = |text: &str| {
            let text =
                format!("title = \"T\"\n[method]\n{text}\n[[row]]\nsubject = \"a\"\nraw = \"a\"\nthroughput_rps = 1\n");
            Transcription::read(&text, "t").unwrap_or_else(|problems| panic!("{problems:?}")).rows.remove(0)
        };
        let of = |text: &str| in_flight(&row(text));
        assert_eq!(of("tool = \"ab\"\nconnections = 50"), Some((50.0, None)));
        assert_eq!(of("tool = \"wrk\"\nconnections = 50"), Some((50.0, Some(STREAMS))));
        assert_eq!(of("tool = \"wrk\"\nconnections = 50\nstreams = 4"), Some((200.0, None)));
        assert_eq!(of("tool = \"wrk\"\nconnections = 50\nloop = \"open\""), None);
    }
}
