use super::*;
use crate::clock::MonotonicNs;
use crate::fault::Fault;
use crate::options::{Arrivals, Executor};
use crate::recording::{Attempt, Collector, Recorder, Row, Rows};
use crate::schedule::Span;
use crate::sys::CpuTime;
use crate::threshold::{Comparison, Metric, Part};
use crate::transport::Address;

/// Hands every row to a collector immediately.
struct Collecting<'a>(&'a mut Collector);

impl Rows for Collecting<'_> {
    fn exchange(&mut self, row: &mut Box<Row>) {
        self.0.row(0, row);
        row.clear();
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 20 arrivals a second on two connections, with a warm-up of 0.5 s and a window of 1.5 s.
fn options() -> Options {
    let mut options = Options::new("http://127.0.0.1:8080/hello").unwrap();
    options.warm_up = ms(500);
    options.executor =
        Executor::ConstantArrivalRate { rate_rps: 20.0, duration: ms(1_500), arrivals: Arrivals::Uniform };
    options.pool = Pool::Bounded(2);
    options.seed = 7;
    options
}

fn collected() -> Collected {
    let start = MonotonicNs(1_000_000_000);
    let span = Span::new(start, ms(500), ms(1_500));
    let mut collector = Collector::new(span, 1, true);
    let mut recorder = Recorder::new(span, Collecting(&mut collector)).splitting_lateness(true);
    recorder.connected(start, start + ms(1));
    for number in 0..38 {
        let intended = start + ms(number * 50);
        // Every tenth waits 3 ms for a connection.
        let ready = if number % 10 == 5 { intended + ms(3) } else { intended };
        let attempt = Attempt { sent: ready + ms(2), ..recorder.sent(intended, ready, ready + ms(1)) };
        recorder.transmitted(60, attempt.sent);
        recorder.first_byte(&attempt, attempt.sent + ms(4));
        recorder.received(100, attempt.sent + ms(5));
        match number {
            20 => recorder.failed(&attempt, attempt.sent + ms(7), &Fault::BadStatus(500)),
            37 => recorder.abandoned(&attempt, span.window_end + ms(100)),
            _ => recorder.good(&attempt, attempt.sent + ms(5 + number % 3)),
        }
    }
    recorder.queued(2);
    let planned = start + ms(1_900);
    (0..2).for_each(|later| recorder.never_sent(planned + ms(50 * later), span.window_end + ms(100)));
    let recorded = recorder.finish();
    collector.ended(0, recorded);
    let timeline = std::iter::from_fn(|| collector.next_second()).collect();
    let (recorded, totals) = collector.finish().unwrap();
    let cpu = CpuTime { user: ms(40), system: ms(300) };
    let usage = vec![Usage { cpu, spin: ms(10), run_queue_wait: Some(ms(5)) }];
    Collected { recorded, totals, timeline, usage, interrupted: false, aborted: false, start }
}

fn summed_up() -> Record {
    let options = options();
    let connector = Connector::new(Address::Inet(options.target.resolve().unwrap()), &options);
    let plan = plan(&options, &connector, Some("cubic".into()));
    let threshold = Threshold {
        text: "response-time p99 < 5ms".into(),
        metric: Metric::Quantile(Part::Response, 0.99),
        comparison: Comparison::Below,
        limit: 0.005,
    };
    record(&options, plan, &[threshold], collected())
}

/// Others read this format. Changing the snapshot changes the format: see [`Record::FORMAT`].
#[test]
fn the_record_is_written_as_it_was_agreed() {
    let mut record = summed_up();
    record.engine = "tolok-load X.Y.Z".into();
    insta::assert_json_snapshot!(record);
}

#[test]
fn rates_are_those_of_the_figures_beside_them() {
    let record = summed_up();
    assert!(record.ledger.closes());
    assert_eq!(record.goodput_rps, Some(record.ledger.good as f64 / 1.5));
    assert_eq!(record.offered_rps, Some(record.ledger.scheduled as f64 / 1.5));
    // 0.34 s of CPU time. The thread polled the clock for 0.01 s; for half of that, something else had the CPU.
    assert!((record.generator_busy.unwrap() - 0.335 / 1.5).abs() < 1e-12);
    assert_eq!((record.cpu_user_s, record.cpu_system_s), (0.04, 0.3));
}

#[test]
fn a_run_without_a_window_has_no_rates() {
    let start = MonotonicNs(1_000_000_000);
    let span = Span::new(start, ms(500), ms(1_500));
    let mut collector = Collector::new(span, 1, true);
    let mut recorder = Recorder::new(span, Collecting(&mut collector));
    recorder.stop(start + ms(100));
    let recorded = recorder.finish();
    collector.ended(0, recorded);
    let timeline = std::iter::from_fn(|| collector.next_second()).collect();
    let (recorded, totals) = collector.finish().unwrap();
    let usage = vec![Usage::default()];
    let collected = Collected { recorded, totals, timeline, usage, interrupted: true, aborted: false, start };
    let options = options();
    let connector = Connector::new(Address::Inet(options.target.resolve().unwrap()), &options);
    let record = record(&options, plan(&options, &connector, None), &[], collected);
    assert_eq!((record.goodput_rps, record.offered_rps, record.in_flight_mean), (None, None, None));
    assert_eq!((record.generator_busy, record.window_s, record.warm_up_s), (None, 0.0, 0.1));
    assert!(record.interrupted && !record.verdict.trusted);
    // No figure may be one that JSON cannot represent, such as 0/0.
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
}

/// A thread that polled the clock for a second, but lost its CPU for a quarter of it, has still worked.
#[test]
fn time_without_the_cpu_is_no_looking_at_the_clock() {
    let thread = |spin_s, run_queue_wait_s| ThreadSummary {
        cpu: None,
        cpu_user_s: 0.5,
        cpu_system_s: 0.3,
        spin_s,
        run_queue_wait_s,
    };
    let worked = |spin_s, wait_s| (thread(spin_s, wait_s).worked_s() * 1e6).round() / 1e6;
    assert_eq!(worked(0.6, Some(0.0)), 0.2);
    assert_eq!(worked(1.0, Some(0.25)), 0.05);
    assert_eq!(worked(0.1, Some(0.4)), 0.8);
    assert_eq!(worked(0.9, None), 0.0);
}
