//! A run of one virtual user that ends with a certain request instead of at an instant.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tolok_load::histogram;
use tolok_load::options::{Arrivals, Executor, ExpectBody, Options};
use tolok_load::record::{ClientRecords, Distribution, Record, SecondRow};
use tolok_load::schedule::Phase;
use tolok_testkit::{Reply, Request, ScriptedServer};

pub const MS: Duration = Duration::from_millis(1);

/// The body every correct response has.
pub const BODY: &str = "hello";

/// Far longer than any test takes.
pub const ENDLESS: Duration = Duration::from_secs(3600);

/// What a test examines.
pub struct Played {
    pub record: Record,
    pub server: ScriptedServer,
}

/// Options for a server: one user, no end, and the body compared.
pub fn options(server: &ScriptedServer) -> Options {
    let mut options = Options::new(&server.url("/hello")).unwrap();
    options.executor = Executor::ConstantVus { vus: 1, duration: ENDLESS };
    options.requests[0].expect.body = ExpectBody::Exactly(BODY.as_bytes().into());
    options.timeout = ENDLESS;
    options.grace = Some(Duration::ZERO);
    options
}

/// One user sends one request per reply, and one more, which ends the run while in flight.
pub fn play(replies: Vec<Reply>) -> Played {
    play_with(replies, |_| {})
}

/// The same with changed options.
pub fn play_with(replies: Vec<Reply>, change: impl FnOnce(&mut Options)) -> Played {
    let last = replies.len();
    play_script(move |request| replies.get(request.number).cloned(), last, change)
}

/// Plays a script until it has no reply; this must be at the request with number `last`.
pub fn play_script(
    script: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    last: usize,
    change: impl FnOnce(&mut Options),
) -> Played {
    let stop = Arc::new(AtomicBool::new(false));
    let server = ScriptedServer::start({
        let stop = Arc::clone(&stop);
        move |request| {
            script(request).unwrap_or_else(|| {
                stop.store(true, Ordering::Relaxed);
                Reply::never()
            })
        }
    });
    let mut options = options(&server);
    change(&mut options);
    let record = tolok_load::run(&options, &stop, &mut |_| {}).unwrap();
    assert!(record.interrupted);
    assert_eq!(server.requests(), last + 1);
    check_account(&record);
    Played { record, server }
}

/// Runs to the planned end.
pub fn run(options: &Options) -> Record {
    let record = tolok_load::run(options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    record
}

/// An open loop with `rate_rps` evenly spaced iterations a second.
pub fn rate(rate_rps: f64, duration: Duration) -> Executor {
    Executor::ConstantArrivalRate { rate_rps, duration, arrivals: Arrivals::Uniform }
}

/// The invariants of every record.
pub fn check_account(record: &Record) {
    check_ledger(record);
    check_clients(record);
    check_rows(record);
    check_distributions(record);
    let json = serde_json::to_string(record).unwrap();
    assert_eq!(&serde_json::from_str::<Record>(&json).unwrap(), record);
}

/// The clients of both kinds add up to the totals.
fn check_clients(record: &Record) {
    let Some(ClientRecords { fast, slow }) = &record.clients else { return };
    let (ledger, drain) = (&record.ledger, &record.drain);
    assert_eq!(fast.sent + slow.sent, ledger.sent + drain.sent);
    assert_eq!(fast.good + slow.good, ledger.good + drain.good);
    assert_eq!(fast.failed + slow.failed, ledger.failed + drain.failed);
    let answers = (fast.goodput_rps.unwrap() + slow.goodput_rps.unwrap()) * record.window_s;
    assert_eq!(answers.round() as u64, ledger.good + record.warm_up.carried_over_good);
}

fn check_ledger(record: &Record) {
    let (ledger, drain, warm_up) = (&record.ledger, &record.drain, &record.warm_up);
    assert!(ledger.closes(), "{ledger:?}");
    assert_eq!(ledger.scheduled, ledger.sent + ledger.unsent);
    assert_eq!(ledger.unsent, drain.sent + drain.never_sent, "{ledger:?} {drain:?}");
    let settled = drain.good + drain.failed + drain.abandoned + drain.never_sent;
    assert_eq!(ledger.in_flight_at_end + ledger.unsent, settled, "{ledger:?} {drain:?}");
    assert_eq!(warm_up.sent, warm_up.good + warm_up.failed + warm_up.carried_over);
    assert!(warm_up.carried_over >= warm_up.carried_over_good + warm_up.carried_over_waiting, "{warm_up:?}");
    let ns = record.window_end_monotonic_ns - record.window_start_monotonic_ns;
    assert_eq!(record.window_s, Duration::from_nanos(ns).as_secs_f64());
    let per_window = |amount: f64| (ns > 0).then(|| amount / record.window_s);
    assert_eq!(record.goodput_rps, per_window((ledger.good + warm_up.carried_over_good) as f64));
    let open = record.plan.executor.ends_with("arrival-rate");
    assert_eq!(record.offered_rps, per_window(ledger.scheduled as f64).filter(|_| open));
    assert!(open || ledger.unsent == 0, "a closed loop has no unsent requests: {ledger:?}");
    assert_eq!(record.verdict.trusted, record.verdict.reasons.is_empty());
}

/// The rows of a phase.
pub fn rows(record: &Record, phase: Phase) -> impl Iterator<Item = &SecondRow> {
    record.timeline.iter().filter(move |row| row.phase == phase)
}

/// The sum of one figure over the rows of a phase.
pub fn sum(record: &Record, phase: Phase, figure: impl Fn(&SecondRow) -> u64) -> u64 {
    rows(record, phase).map(figure).sum()
}

fn check_rows(record: &Record) {
    let (ledger, warm_up) = (&record.ledger, &record.warm_up);
    let sums = |phase| {
        (sum(record, phase, |row| row.sent), sum(record, phase, |row| row.good), sum(record, phase, |row| row.failed))
    };
    assert_eq!(sums(Phase::Measure), (ledger.sent, ledger.good, ledger.failed));
    // Requests that waited for a connection until the warm-up was over are in no row.
    let (sent, good, failed) = sums(Phase::WarmUp);
    assert!(sent <= warm_up.sent && (good, failed) == (warm_up.good, warm_up.failed));
    assert_eq!(sum(record, Phase::Measure, |row| row.received_bytes), record.received_bytes);
    assert_eq!(sum(record, Phase::Measure, |row| row.sent_bytes), record.sent_bytes);
    let mut by_class = BTreeMap::new();
    for (class, count) in rows(record, Phase::Measure).flat_map(|row| &row.failed_by_class) {
        *by_class.entry(*class).or_insert(0) += count;
    }
    assert_eq!(by_class, ledger.failed_by_class);
    assert_eq!(sum(record, Phase::Measure, |row| row.new_connections), record.connections.opened_in_window);
    let numbers: Vec<u32> = record.timeline.iter().map(|row| row.second).collect();
    assert_eq!(numbers, (0..record.timeline.len() as u32).collect::<Vec<_>>());
    let measured_s: f64 = rows(record, Phase::Measure).map(|row| row.duration_s).sum();
    assert!((measured_s - record.window_s).abs() < 1e-6, "{measured_s} of {}", record.window_s);
    assert!(rows(record, Phase::Measure).all(|row| row.queued <= record.queue_max));
}

fn check_distributions(record: &Record) {
    let (ledger, drain) = (&record.ledger, &record.drain);
    let good = ledger.good + drain.good;
    // What the rows lack is in the drain.
    check_distribution(record, &record.response_time, |row| &row.response_time, [ledger.good, drain.good]);
    check_distribution(record, &record.service_time, |row| &row.service_time, [ledger.good, drain.good]);
    check_distribution(record, &record.lateness, |row| &row.lateness, [ledger.sent, drain.sent]);
    assert_eq!(record.failure_time.count, ledger.failed + drain.failed);
    assert_eq!(record.unanswered_time.as_ref().map_or(0, |it| it.count), drain.abandoned + drain.never_sent);
    let open = record.plan.executor.ends_with("arrival-rate");
    assert_eq!(record.punctual_time.as_ref().map(|it| it.count), open.then_some(good));
    assert_eq!(record.connect_time.count, record.connections.opened);
    assert!((good..=ledger.sent + drain.sent).contains(&record.time_to_first_byte.count));
    assert!(record.queue_time.count <= ledger.sent + drain.sent);
    // No part of the response time may exceed it.
    let longest = |distribution: &Distribution| distribution.max_s.unwrap_or(0.0);
    assert!(longest(&record.service_time) <= longest(&record.response_time));
}

/// The unanswered requests that affect the percentiles of a distribution: only for response times in open loops.
fn unanswered(record: &Record, whole: &Distribution) -> Option<histogram::Histogram<u64>> {
    let heeded = std::ptr::eq(whole, &record.response_time) && record.plan.executor.ends_with("arrival-rate");
    let unanswered = record.unanswered_time.as_ref().filter(|_| heeded)?;
    Some(histogram::decode(&unanswered.histogram).unwrap())
}

/// A distribution holds exactly the values of the rows and those of the drain.
fn check_distribution(
    record: &Record,
    whole: &Distribution,
    of_row: impl Fn(&SecondRow) -> &String,
    [in_rows, in_drain]: [u64; 2],
) {
    let told = histogram::decode(&whole.histogram).unwrap();
    assert_eq!((whole.count, told.len()), (in_rows + in_drain, in_rows + in_drain));
    let percentiles = whole.percentiles.iter();
    let made = percentiles
        .map(|it| histogram::percentile(&told, unanswered(record, whole).as_ref(), it.quantile, it.instants));
    assert_eq!(made.collect::<Vec<_>>(), whole.percentiles);
    let of_rows = histogram::merge(rows(record, Phase::Measure).map(|row| of_row(row).as_str())).unwrap();
    assert_eq!(of_rows.len(), in_rows);
    let mut rest = told;
    // Fails if a row holds a value that the total does not.
    rest.subtract(of_rows).unwrap();
    assert_eq!(rest.len(), in_drain);
}
