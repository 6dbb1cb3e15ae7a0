//! Whether a run's figures can be trusted. Each gate covers one way in which a generator can mislead its user.

use serde::{Deserialize, Serialize};

use crate::histogram::LATENESS_MOVES;
use crate::record::{Distribution, Percentile};

/// A verdict on a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// All gates passed.
    pub trusted: bool,
    /// The gates that failed.
    pub reasons: Vec<Reason>,
    /// Percentiles of the response time that the generator's own lateness distorted. The other figures are not affected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<Doubt>,
}

/// A percentile that is not the target's alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Doubt {
    /// Between 0 and 1.
    pub quantile: f64,
    /// How much the generator's lateness increased it, as a share of its value without the lateness.
    pub moved: f64,
}

/// A failed gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The gate.
    pub gate: Gate,
    /// One sentence, with the figures.
    pub text: String,
}

/// A check of a run against itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// All offered requests were sent, and answers came as fast.
    OfferedRate,
    /// The generator had CPU time left.
    GeneratorBusy,
    /// The generator was punctual. Only in records before 0.2: lateness now counts only against the percentiles that it moves ([`Doubt`]).
    Lateness,
    /// Every request is accounted for.
    Ledger,
    /// Requests in flight = rate x time (Little's law).
    Little,
    /// The users of a closed loop had requests in flight.
    IdleUsers,
    /// There were correct responses.
    NoAnswers,
    /// Correct responses came until the end.
    Silent,
    /// The generator's own machine did not run out of resources.
    LocalErrors,
    /// Other programs left the machine's CPUs to the load and its server. Only the caller can know.
    BusyMachine,
}

impl Verdict {
    /// Adds a reason that only the caller can know. It comes first, because it explains others.
    pub fn distrust(&mut self, reason: Reason) {
        self.trusted = false;
        self.reasons.insert(0, reason);
    }
}

/// With a larger share of the offered requests unsent, the rate was not offered.
pub const UNSENT_SHARE: f64 = 0.001;
/// With fewer answers than this share of the offered requests in a window, the target was outpaced. If each waiting request gets a new
/// connection, all are sent but most are never answered.
pub const ANSWERED_SHARE: f64 = 0.5;
/// Requests in flight may grow by this share of the requests offered between the middle of the window and its end.
pub const GROWTH_SHARE: f64 = 0.1;
/// Busier than this, the generator may be the limit as much as the target.
pub const BUSY_SHARE: f64 = 0.85;
/// Waiting for a CPU for a larger share of the window is reported.
pub const WAIT_SHARE: f64 = 0.01;
/// With a larger share of users idle, the load is that of fewer users.
pub const IDLE_SHARE: f64 = 0.1;
/// Little's law must hold to within this share.
pub const LITTLE_SHARE: f64 = 0.03;

#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    pub scheduled: u64,
    pub unsent: u64,
    pub good: u64,
    /// Answers and failures in the window, whenever their requests were sent.
    pub finished: u64,
    /// Requests in flight in the middle of the window and at its end. Only for arrivals at a constant rate, and a window that has a middle.
    pub in_flight: Option<(u64, u64)>,
    pub local_errors: u64,
    pub ledger_closes: bool,
    /// How long the target had been silent at the end, if it fell silent.
    pub silent_s: Option<f64>,
    pub busy: Option<f64>,
    /// Share of the window in which the thread with the least time left was ready to run but did not.
    pub run_queue_wait: f64,
    pub in_flight_mean: f64,
    /// Users that should always have a request in flight, or `None` if their number changes.
    pub users: Option<f64>,
    /// Threads that worked or waited for a CPU, on average. Each is handling one user, who has no request in flight meanwhile.
    pub threads_at_work: f64,
    /// Sum of the times that requests were in flight inside the window.
    pub time_in_flight_s: f64,
    pub window_s: f64,
}

/// Describes what is wrong, if anything.
type Check = fn(&Evidence) -> Option<String>;

/// Applies all gates.
pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let gates: [(Gate, Check); 8] = [
        (Gate::NoAnswers, no_answers),
        (Gate::Silent, silent),
        (Gate::LocalErrors, local_errors),
        (Gate::OfferedRate, offered_rate),
        (Gate::GeneratorBusy, generator_busy),
        (Gate::Ledger, ledger),
        (Gate::Little, little),
        (Gate::IdleUsers, idle_users),
    ];
    let failed = |(gate, check): (Gate, Check)| check(evidence).map(|text| Reason { gate, text });
    let reasons: Vec<Reason> = gates.into_iter().filter_map(failed).collect();
    Verdict { trusted: reasons.is_empty(), reasons, doubted: Vec::new() }
}

/// The percentiles of the response time that the generator's lateness makes more than [`LATENESS_MOVES`] larger.
pub fn doubted(response: &Distribution, punctual: &Distribution) -> Vec<Doubt> {
    let seen_s = |it: &Percentile| it.latency_s.or(it.at_least_s).or(it.once_s);
    let pairs = response.percentiles.iter().zip(&punctual.percentiles);
    let moved = pairs.filter_map(|(with, without)| {
        let (with_s, without_s) = (seen_s(with)?, seen_s(without)?);
        Some(Doubt { quantile: with.quantile, moved: with_s / without_s - 1.0 })
    });
    moved.filter(|doubt| doubt.moved > LATENESS_MOVES).collect()
}

fn no_answers(evidence: &Evidence) -> Option<String> {
    let what = match evidence.finished {
        0 => {
            "nothing failed either, so give it more time than an answer takes (--duration), or see whether the server answers at all"
        }
        _ => "see what failed and the server's log",
    };
    (evidence.good == 0).then(|| format!("not one correct response came in the window; {what}"))
}

fn silent(evidence: &Evidence) -> Option<String> {
    let silent_s = evidence.silent_s?;
    Some(format!(
        "no good answer came in the last {silent_s:.1} s of {:.1} s, though requests went on: the figures mix a server that \
         answers with one that does not",
        evidence.window_s
    ))
}

fn local_errors(evidence: &Evidence) -> Option<String> {
    (evidence.local_errors > 0).then(|| {
        format!(
            "{} requests failed because this machine ran out of something (see what failed), not because of the server",
            evidence.local_errors
        )
    })
}

fn offered_rate(evidence: &Evidence) -> Option<String> {
    let share = evidence.unsent as f64 / evidence.scheduled.max(1) as f64;
    let missed = (share > UNSENT_SHARE).then(|| {
        format!(
            "the offered rate was missed: {} of {} requests ({:.1}%) still waited for a connection when the window ended; \
             the server is slower than the rate, or the pool too small for it",
            evidence.unsent,
            evidence.scheduled,
            share * 100.0
        )
    });
    missed.or_else(|| outpaced(evidence))
}

/// All requests were sent, as with an unbounded pool, but the server answers more slowly than they come. Then every figure depends on the
/// length of the window.
fn outpaced(evidence: &Evidence) -> Option<String> {
    let (middle, end) = evidence.in_flight?;
    let grown = end.saturating_sub(middle) as f64;
    let grows = end > 2 * middle && grown > GROWTH_SHARE * evidence.scheduled as f64 / 2.0;
    let few = (evidence.finished as f64) < ANSWERED_SHARE * evidence.scheduled as f64 && evidence.good > 0;
    (grows || few).then(|| {
        format!(
            "the server does not keep up with the rate: of {} requests {} were answered or failed in the window, and {end} were in \
             flight when it ended ({middle} in its middle); lower the rate, or give a server whose answers take longer than the \
             window more time (--duration)",
            evidence.scheduled, evidence.finished
        )
    })
}

fn generator_busy(evidence: &Evidence) -> Option<String> {
    let (busy, wait) = (evidence.busy?, evidence.run_queue_wait);
    let waited = waited(evidence)
        .map(|percent| format!(", and for {percent} of the time something else had its CPU"))
        .unwrap_or_default();
    (busy + wait > BUSY_SHARE).then(|| {
        format!(
            "the generator was {:.0}% busy{waited}: these figures are its limit as much as the server's; give it more \
             threads (--threads) or CPUs of its own (--cpus), or fewer users",
            busy * 100.0
        )
    })
}

/// For how much of the window the generator waited for a CPU. `None` if hardly at all.
fn waited(evidence: &Evidence) -> Option<String> {
    let wait = evidence.run_queue_wait;
    (wait > WAIT_SHARE).then(|| format!("{:.0}%", wait * 100.0))
}

fn ledger(evidence: &Evidence) -> Option<String> {
    (!evidence.ledger_closes)
        .then(|| "requests were lost in the account; this is a fault of tolok, please report it".to_owned())
}

/// Requests in flight on average = requests a second x mean time in flight. The two sides are counted independently: one from the level,
/// the other from the requests.
fn little(evidence: &Evidence) -> Option<String> {
    let by_law = evidence.time_in_flight_s / evidence.window_s;
    let off = (by_law - evidence.in_flight_mean).abs() / evidence.in_flight_mean;
    let cause = match waited(evidence) {
        None => "requests were lost or clocks jumped".to_owned(),
        Some(percent) => format!("the generator waited {percent} of the time for a CPU that something else had"),
    };
    (off > LITTLE_SHARE).then(|| {
        format!(
            "Little's law does not hold: {:.2} requests were in flight on average, and rate x time gives {by_law:.2}; {cause}",
            evidence.in_flight_mean
        )
    })
}

/// Users that pause after failures, or that have to wait for their turn, generate less load than their number suggests.
fn idle_users(evidence: &Evidence) -> Option<String> {
    let users = evidence.users?;
    let idle = users - evidence.in_flight_mean - evidence.threads_at_work;
    (idle > IDLE_SHARE * users).then(|| {
        format!(
            "users were idle: of {users} only {:.2} had a request in flight on average; they waited after connections that brought no \
             answer, or for their first turn (see what failed, or give many users a --warmup)",
            evidence.in_flight_mean
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that passes all gates: 10,000 requests of 1 ms in 10 s, one in flight on average.
    fn sound() -> Evidence {
        Evidence {
            scheduled: 10_000,
            unsent: 10,
            good: 9_990,
            finished: 9_990,
            in_flight: Some((1, 2)),
            local_errors: 0,
            ledger_closes: true,
            silent_s: None,
            busy: Some(0.85),
            run_queue_wait: 0.0,
            in_flight_mean: 1.0,
            users: Some(1.5),
            threads_at_work: 0.35,
            time_in_flight_s: 10.29,
            window_s: 10.0,
        }
    }

    fn failed(change: impl FnOnce(&mut Evidence)) -> Vec<Gate> {
        let mut evidence = sound();
        change(&mut evidence);
        let verdict = judge(&evidence);
        assert_eq!(verdict.trusted, verdict.reasons.is_empty());
        verdict.reasons.into_iter().map(|reason| reason.gate).collect()
    }

    #[test]
    fn a_sound_run_is_trusted_at_the_very_limits() {
        assert_eq!(failed(|_| {}), []);
        assert_eq!(failed(|evidence| evidence.busy = None), []);
    }

    #[test]
    fn each_gate_catches_its_own_fault_and_no_other() {
        assert_eq!(failed(|evidence| evidence.unsent = 11), [Gate::OfferedRate]);
        assert_eq!(failed(|evidence| evidence.busy = Some(0.86)), [Gate::GeneratorBusy]);
        assert_eq!(
            failed(|evidence| (evidence.busy, evidence.run_queue_wait) = (Some(0.5), 0.4)),
            [Gate::GeneratorBusy]
        );
        assert_eq!(failed(|evidence| evidence.ledger_closes = false), [Gate::Ledger]);
        assert_eq!(failed(|evidence| evidence.time_in_flight_s = 10.4), [Gate::Little]);
        assert_eq!(failed(|evidence| evidence.time_in_flight_s = 9.6), [Gate::Little]);
        assert_eq!(failed(|evidence| evidence.in_flight = Some((100, 601))), [Gate::OfferedRate]);
        assert_eq!(failed(|evidence| evidence.in_flight = Some((400, 799))), []);
        assert_eq!(failed(|evidence| evidence.finished = 4_999), [Gate::OfferedRate]);
        assert_eq!(failed(|evidence| (evidence.finished, evidence.in_flight) = (4_999, None)), []);
        assert_eq!(failed(|evidence| evidence.good = 0), [Gate::NoAnswers]);
        assert_eq!(failed(|evidence| evidence.local_errors = 1), [Gate::LocalErrors]);
        assert_eq!(failed(|evidence| evidence.users = Some(1.51)), [Gate::IdleUsers]);
        assert_eq!(failed(|evidence| (evidence.users, evidence.threads_at_work) = (None, 0.0)), []);
        assert_eq!(failed(|evidence| evidence.silent_s = Some(4.0)), [Gate::Silent]);
    }

    /// A distribution with a median and a 99th percentile.
    fn distribution(p50_s: f64, p99_s: Option<f64>) -> Distribution {
        let percentile =
            |quantile, latency_s| Percentile { quantile, latency_s, at_least_s: None, once_s: None, instants: None };
        let percentiles = vec![percentile(0.5, Some(p50_s)), percentile(0.99, p99_s)];
        Distribution { count: 0, min_s: None, mean_s: None, max_s: None, percentiles, histogram: String::new() }
    }

    #[test]
    fn lateness_counts_against_the_percentiles_that_it_moves_and_no_other() {
        let of = |with: [f64; 2], without: [f64; 2]| -> Vec<f64> {
            let [with, without] = [with, without].map(|[p50_s, p99_s]| distribution(p50_s, Some(p99_s)));
            doubted(&with, &without).iter().map(|doubt| doubt.quantile).collect()
        };
        // 20 µs matter in a tail of 120 µs but not in one of 250 µs: the relative change counts.
        assert_eq!(of([50e-6, 120e-6], [49.9e-6, 111.4e-6]), [0.99]);
        assert!(of([50e-6, 250e-6], [49.9e-6, 245e-6]).is_empty());
        assert_eq!(of([60e-6, 120e-6], [50e-6, 118e-6]), [0.5]);
        assert_eq!(doubted(&distribution(60e-6, None), &distribution(60e-6, None)), []);
        let moved = doubted(&distribution(60e-6, None), &distribution(50e-6, None))[0].moved;
        assert!((moved - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_reason_says_what_and_what_to_do() {
        let mut evidence = sound();
        (evidence.unsent, evidence.busy) = (1_000, Some(0.99));
        let texts: Vec<String> = judge(&evidence).reasons.into_iter().map(|reason| reason.text).collect();
        assert!(texts[0].contains("1000 of 10000 requests (10.0%)"), "{texts:?}");
        assert!(texts[1].contains("99% busy") && texts[1].contains("--threads"), "{texts:?}");
        let little = |run_queue_wait| {
            let evidence = Evidence { time_in_flight_s: 10.4, run_queue_wait, ..sound() };
            judge(&evidence).reasons.last().map(|reason| reason.text.clone()).unwrap_or_default()
        };
        assert!(little(0.0).ends_with("; requests were lost or clocks jumped"));
        assert!(little(0.38).ends_with("; the generator waited 38% of the time for a CPU that something else had"));
    }

    #[test]
    fn what_only_the_caller_knows_stands_first_and_takes_the_trust_away() {
        let mut verdict = judge(&Evidence { local_errors: 1, ..sound() });
        verdict.distrust(Reason { gate: Gate::BusyMachine, text: "busy".to_owned() });
        let gates: Vec<Gate> = verdict.reasons.iter().map(|reason| reason.gate).collect();
        assert_eq!((verdict.trusted, gates), (false, vec![Gate::BusyMachine, Gate::LocalErrors]));
    }
}
