//! Thresholds end a run in the second that shows them crossed.

use super::*;
use crate::threshold::{Comparison, Metric, Part, Threshold};

/// Where a simulated target becomes slow or fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Queue,
    Connect,
    FirstByte,
    Failure,
}

/// The second of the window, from 0, whose row ends the run. A request starts every 5 ms; from the third second on each has this trouble
/// for 40 ms.
fn ends_in(trouble: Trouble, threshold: &Threshold) -> Option<usize> {
    let mut run = Run::of(SECOND, SECOND * 6);
    for number in 0..1_400 {
        run.clock.advance_to(START + MS * 5 * number);
        let now = run.clock.now();
        let took = |kind| if kind == trouble && number >= 3 * 200 { MS * 40 } else { MS };
        let ready = now + took(Trouble::Queue);
        let attempt = run.recorder.sent(now, ready, ready);
        let attempt = Attempt { sent: ready + took(Trouble::Connect), ..attempt };
        run.recorder.connected(ready, attempt.sent);
        let first_byte = attempt.sent + took(Trouble::FirstByte);
        run.recorder.first_byte(&attempt, first_byte);
        match took(Trouble::Failure) > MS {
            true => run.recorder.failed(&attempt, first_byte + MS * 40, &Fault::BadStatus(503)),
            false => run.recorder.good(&attempt, first_byte + MS),
        }
    }
    let mut collector = Collector::new(run.span, 1, false);
    run.kept.0.borrow().iter().for_each(|row| collector.row(0, row));
    let mut measured = 0;
    while let Some(second) = collector.next_second() {
        measured += usize::from(second.phase == Phase::Measure);
        if collector.crosses(std::slice::from_ref(threshold)) {
            return Some(measured - 1);
        }
    }
    None
}

fn below(metric: Metric, limit: f64) -> Threshold {
    Threshold { text: String::new(), metric, comparison: Comparison::Below, limit }
}

#[test]
fn every_part_of_a_request_can_end_a_run() {
    use Trouble::*;
    for (trouble, part) in
        [(Queue, Part::Queue), (Connect, Part::Connect), (FirstByte, Part::FirstByte), (Failure, Part::Failure)]
    {
        let max = below(Metric::Max(part), 0.03);
        assert_eq!(ends_in(trouble, &max), Some(2), "{trouble:?}");
        let others = [Queue, Connect, FirstByte, Failure].into_iter().filter(|other| *other != trouble);
        others.for_each(|other| assert_eq!(ends_in(other, &max), None, "{trouble:?} {other:?}"));
        // A third of the values crosses the 90th percentile at once; the median needs more than half.
        assert_eq!(ends_in(trouble, &below(Metric::Quantile(part, 0.9), 0.03)), Some(2), "{trouble:?}");
    }
    assert_eq!(ends_in(FirstByte, &below(Metric::Mean(Part::FirstByte), 0.02)), Some(3));
    assert_eq!(ends_in(Connect, &below(Metric::Quantile(Part::Connect, 0.5), 0.03)), Some(5));
}

#[test]
fn failures_end_a_run_by_their_share_and_by_their_number() {
    assert_eq!(ends_in(Trouble::Failure, &below(Metric::FailedShare, 0.3)), Some(2));
    assert_eq!(ends_in(Trouble::Failure, &below(Metric::FailedShare, 0.4)), Some(3));
    assert_eq!(ends_in(Trouble::Failure, &below(Metric::FailedCount, 1.0)), Some(2));
    assert_eq!(ends_in(Trouble::Failure, &below(Metric::FailedCount, 500.0)), Some(4));
    assert_eq!(ends_in(Trouble::Queue, &below(Metric::FailedCount, 1.0)), None);
}
