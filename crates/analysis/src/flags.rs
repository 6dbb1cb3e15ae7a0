//! What must be known about a case before its figures are believed, and what keeps it out of the ranking.
//!
//! | flag | raised when | not ranked |
//! |---|---|---|
//! | `generator-bound` | closed loop: the generator used 90 % of its CPUs and the subject less than 90 % of its own | yes |
//! | `not-trusted` | the load tool says of a trial that its figures cannot be trusted | yes |
//! | `aborted` | a trial was stopped at the first crossed objective, as the study asked | yes |
//! | `errors` | a request failed | above 1 % of the requests |
//! | `no-good-answers` | a measured trial had no good answer at all | yes |
//! | `ledger-open` | the requests of a trial are not all accounted for | yes |
//! | `failed-trials` | a trial could not be measured | no |
//! | `too-few-trials` | fewer trials than an interval needs | no, but it can be told from nothing |
//! | `backlog` | 1 % of the scheduled requests or more still waited for a connection when a trial ended | no |
//! | `connections-waiting` | a tenth of the connections or more had no answer yet when a trial ended | no |
//! | `shared-cpus` | subject and generator had the same CPUs | no |
//! | `noisy` | others disturbed a quarter of the trials or more | no |

use tolok_model::{Connection, Doubt, LoadProfile, Measurement};

use crate::estimate::least_trials;
use crate::figures::{counted, listed, small_share};
use crate::findings::Flag;
use crate::observations::Observations;
use crate::usage::{Cpus, Usage};

/// A part that uses this share of its CPUs is at its limit.
pub const SATURATED: f64 = 0.90;
/// A larger share of failed requests voids the rank: what was counted is another workload.
pub const ERRORS_TOLERATED: f64 = 0.01;
/// Other programs may use this share of the machine's CPUs.
pub const FOREIGN_TOLERATED: f64 = 0.05;
/// The hypervisor may take this share of the machine's CPUs.
pub const STEAL_TOLERATED: f64 = 0.01;
/// Other programs may take this share of the subject's own CPUs.
pub const TAKEN_TOLERATED: f64 = 0.10;
/// This share of the connections may wait for their first answer when a trial ends.
pub const WAITING_TOLERATED: f64 = 0.10;
/// This share of the scheduled requests may still wait for a connection when a trial ends.
pub const BACKLOG_TOLERATED: f64 = 0.01;
/// A median withstands a few disturbed trials; from this share on they are spoken of.
pub const DISTURBED_TRIALS: f64 = 0.25;

/// Every flag of a case, those that void its rank first.
pub(crate) fn flags(observations: &Observations, cpus: &Cpus, usage: &Usage, load: Option<&LoadProfile>) -> Vec<Flag> {
    let mut flags: Vec<Flag> = [
        failed_trials(observations),
        no_good_answers(observations),
        errors(observations),
        ledger_open(observations),
        load.and_then(|load| not_trusted(observations, load)),
        aborted(observations),
        generator_bound(usage).filter(|_| load.is_none_or(|load| !load.executor.is_open())),
        too_few_trials(observations),
        backlog(observations),
        load.and_then(|load| connections_waiting(observations, load)),
        shared_cpus(observations, cpus),
        noisy(observations, cpus),
    ]
    .into_iter()
    .flatten()
    .collect();
    flags.sort_by_key(|flag| !flag.voids_rank);
    flags
}

fn flag(kind: &str, voids_rank: bool, message: String) -> Option<Flag> {
    Some(Flag { kind: kind.to_owned(), message, voids_rank })
}

fn failed_trials(observations: &Observations) -> Option<Flag> {
    if observations.failed.is_empty() {
        return None;
    }
    let mut reasons: Vec<String> =
        observations.failed.iter().map(|(_, failure)| failure.reason.word().to_owned()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let failed = observations.failed.len();
    let trials = counted(u64::from(observations.planned), "trial");
    flag("failed-trials", false, format!("{failed} of {trials} failed: {}", listed(&reasons, "and")))
}

fn no_good_answers(observations: &Observations) -> Option<Flag> {
    let censored = observations.censored();
    if censored == 0 {
        return None;
    }
    let trials = counted(observations.measured.len() as u64, "measured trial");
    let message =
        format!("{censored} of {trials} had no good answer: too slow or broken to be given a figure, which is not 0");
    flag("no-good-answers", true, message)
}

fn errors(observations: &Observations) -> Option<Flag> {
    let ledgers = || observations.measured.iter().map(|(_, measurement)| &measurement.ledger);
    let failed: u64 = ledgers().map(|ledger| ledger.failed_total()).sum();
    let sent: u64 = ledgers().map(|ledger| ledger.sent).sum();
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / sent.max(failed) as f64;
    let message = format!("{} failed, {} of those sent", counted(failed, "request"), small_share(share));
    flag("errors", share > ERRORS_TOLERATED, message)
}

fn ledger_open(observations: &Observations) -> Option<Flag> {
    let unaccounted = || observations.measured.iter().map(|(_, measurement)| measurement.ledger.unaccounted());
    let open = unaccounted().filter(|requests| *requests > 0).count();
    if open == 0 {
        return None;
    }
    let lost: u64 = unaccounted().sum();
    let trials = counted(observations.measured.len() as u64, "trial");
    let message = format!("{} not accounted for in {open} of {trials}: a fault of the tool", counted(lost, "request"));
    flag("ledger-open", true, message)
}

/// What the tool says against the figures of a trial, as far as it bars the case from the ranking.
///
/// A generator at its limit is judged here and not by the tool where the loop is closed: the tool does not know whether
/// the subject was at its limit as well, and then the figure is sound. Where requests start by the clock it is the other
/// way round: the tool may spend CPU time on waiting exactly, and only it knows whether it came too late.
pub(crate) fn doubts_that_count<'a>(
    trial: &'a Measurement,
    load: &LoadProfile,
) -> impl Iterator<Item = &'a Doubt> + use<'a> {
    let is_open = load.executor.is_open();
    trial.doubts.iter().filter(move |doubt| is_open || doubt.gate != "generator-busy")
}

fn not_trusted(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let doubts = |trial| doubts_that_count(trial, load);
    let untrusted: Vec<&Measurement> =
        observations.measured.iter().map(|(_, trial)| *trial).filter(|trial| doubts(trial).next().is_some()).collect();
    // Each gate once, with the words of the first trial in which it did not hold.
    let mut reasons: Vec<&Doubt> = Vec::new();
    for doubt in untrusted.iter().flat_map(|trial| doubts(trial)) {
        if reasons.iter().all(|known| known.gate != doubt.gate) {
            reasons.push(doubt);
        }
    }
    let said = |doubt: &&Doubt| format!("{} ({})", doubt.gate, doubt.text.trim_end_matches('.'));
    let reasons: Vec<String> = reasons.iter().map(said).collect();
    let trials = counted(observations.measured.len() as u64, "trial");
    let message = format!(
        "in {} of {trials} the load tool's figures cannot be trusted, it says: {}",
        untrusted.len(),
        listed(&reasons, "and")
    );
    if untrusted.is_empty() { None } else { flag("not-trusted", true, message) }
}

fn aborted(observations: &Observations) -> Option<Flag> {
    let aborted = observations.measured.iter().filter(|(_, trial)| trial.aborted).count();
    if aborted == 0 {
        return None;
    }
    let trials = counted(observations.measured.len() as u64, "trial");
    let message = format!(
        "{aborted} of {trials} stopped at the first objective that was crossed, as the study asks: their windows are cut off"
    );
    flag("aborted", true, message)
}

/// Requests that never left are in no percentile, so whoever reads one must know of them.
fn backlog(observations: &Observations) -> Option<Flag> {
    let share = |trial: &Measurement| {
        let scheduled = trial.ledger.sent + trial.ledger.unsent;
        trial.ledger.unsent as f64 / scheduled.max(1) as f64
    };
    let worst = observations.measured.iter().map(|(_, trial)| share(trial)).reduce(f64::max)?;
    if worst < BACKLOG_TOLERATED {
        return None;
    }
    let message = format!(
        "it did not keep up: when a trial ended, up to {} of the scheduled requests still waited for a free connection; they \
         are in no percentile",
        small_share(worst)
    );
    flag("backlog", false, message)
}

fn generator_bound(usage: &Usage) -> Option<Flag> {
    let (generator, subject) = usage.generator.zip(usage.subject)?;
    if generator < SATURATED || subject >= SATURATED {
        return None;
    }
    let message = format!(
        "the generator was the limit: it used {} of its CPUs, the subject {} of its own; the figure is a lower bound",
        small_share(generator),
        small_share(subject)
    );
    flag("generator-bound", true, message)
}

fn too_few_trials(observations: &Observations) -> Option<Flag> {
    let measured = observations.measured.len() as u64;
    if measured == 0 || measured >= u64::from(least_trials()) {
        return None;
    }
    let message =
        format!("{} measured, too few for an interval ({} are the least)", counted(measured, "trial"), least_trials());
    flag("too-few-trials", false, message)
}

/// A server that gives a connection a process to itself lets the others wait in its queue. Their waiting is in no
/// percentile until they are answered, so whoever reads a median of such a case must know.
fn connections_waiting(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let connections = load.connections_max()?;
    let ledgers = observations.measured.iter().map(|(_, measurement)| &measurement.ledger);
    let most = ledgers.map(|ledger| ledger.connections_unanswered.min(u64::from(connections))).max()?;
    if load.connection != Connection::KeepAlive || (most as f64) < WAITING_TOLERATED * f64::from(connections) {
        return None;
    }
    let message = format!(
        "up to {most} of {connections} connections still waited for their first answer when a trial ended; percentiles tell of \
         those that are served, not of those that wait"
    );
    flag("connections-waiting", false, message)
}

fn shared_cpus(observations: &Observations, cpus: &Cpus) -> Option<Flag> {
    if !cpus.shared || observations.measured.is_empty() {
        return None;
    }
    let message = "subject and generator shared their CPUs, so the generator's own work lowers the figure".to_owned();
    flag("shared-cpus", false, message)
}

fn noisy(observations: &Observations, cpus: &Cpus) -> Option<Flag> {
    let trials: Vec<[f64; 3]> = observations
        .measured
        .iter()
        .map(|(_, trial)| [cpus.foreign(trial), cpus.stolen(trial), cpus.taken_from_subject(trial)])
        .map(|shares| shares.map(Option::unwrap_or_default))
        .collect();
    let tolerated = [FOREIGN_TOLERATED, STEAL_TOLERATED, TAKEN_TOLERATED];
    let exceeds = |shares: &&[f64; 3]| shares.iter().zip(tolerated).any(|(share, tolerated)| *share > tolerated);
    let disturbed: Vec<&[f64; 3]> = trials.iter().filter(exceeds).collect();
    if disturbed.is_empty() || (disturbed.len() as f64) < DISTURBED_TRIALS * trials.len() as f64 {
        return None;
    }
    let causes = [
        "others used up to {} of the machine's CPUs",
        "the hypervisor took up to {}",
        "up to {} of the subject's own may have gone to others",
    ];
    let seen: Vec<String> = (0..causes.len())
        .map(|cause| (cause, disturbed.iter().map(|shares| shares[cause]).fold(0.0, f64::max)))
        .filter(|(cause, worst)| *worst > tolerated[*cause])
        .map(|(cause, worst)| causes[cause].replace("{}", &small_share(worst)))
        .collect();
    let of_trials = counted(trials.len() as u64, "trial");
    flag("noisy", false, format!("{} of {of_trials} disturbed: {}", disturbed.len(), listed(&seen, "and")))
}
