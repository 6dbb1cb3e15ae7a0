//! What must be known about a case before its figures are believed, and what keeps it out of the ranking.
//!
//! | flag | raised when | not ranked |
//! |---|---|---|
//! | `generator-bound` | closed loop: the generator used 90 % of its CPUs, or its quota stopped it in more than 5 % of its periods, and the subject used less than 90 % of its own | yes |
//! | `not-trusted` | the load tool says of a trial that its figures cannot be trusted | yes |
//! | `aborted` | a trial was stopped at the first crossed objective, as the study asked | yes |
//! | `out-of-memory` | the kernel killed some of the subject for want of memory, in any trial | yes |
//! | `link-late` | packets left the link's emulator later on average by a tenth of the median latency | yes |
//! | `errors` | a request failed | above 1 % of the requests |
//! | `no-good-answers` | a measured trial had no good answer at all | yes |
//! | `window-too-short` | a measured trial had good answers, and none to a request of its own window | yes |
//! | `ledger-open` | the requests of a trial are not all accounted for | yes |
//! | `counter-wrong` | a number that must be exactly right was not, in any measured trial | yes |
//! | `outage` | the study takes the database away in the window | yes |
//! | `disturbed` | others disturbed a trial however often it was measured; it is in no figure | if none is left |
//! | `failed-trials` | a trial could not be measured | no |
//! | `too-few-trials` | fewer trials than an interval needs | no, but it can be told from nothing |
//! | `backlog` | 1 % of the scheduled requests or more still waited for a connection when a trial ended | no |
//! | `connections-waiting` | a tenth of the connections or more had no answer yet when a trial ended | no |
//! | `throttled` | the subject's quota stopped it in more than 5 % of its periods | no: that is what a quota does |
//! | `memory-limit-near` | memory with page cache came within 2 % of its limit | no |
//! | `tasks-refused` | the subject could not start a process or thread, as it had as many as it may | yes |
//! | `link-full` | a link was offered 90 % of its rate or more, so it may have been the limit | no |
//! | `database-refused` | the database refused a connection, because there were as many as it accepts | no |
//! | `pool-waits` | requests waited for a connection to the database once in ten good answers or more | no |
//! | `wire-contradicts` | the tool's count of good answers and the kernel's on the wire differ by more than the connections, by more than 1 %, and by more than can have crossed before or after the tool's own window | yes |
//! | `tool-tells-little` | another tool than tolok's own does not tell what some of these flags rest on | no |
//! | `shared-cpus` | subject and generator had the same CPUs | no |
//! | `little` | in a trial, users or requests in flight were not rate × time | yes |
//! | `utilisation` | in a trial, a part used more CPU time than it was given | yes |
//! | `link-bytes` | in a trial, more bytes of bodies came over the client's link than its rate lets through or its emulator carried | yes |
//! | `not-steady` | the seconds of a trial's window had no single level | if that is so of more than half of the trials |
//! | `external` | tolok did not start the server: what it used, and what it shares with others, is not known | no |
//! | `memory-grows` | the subject's memory grew, in an interval that excludes 0, by more than 1 % over a window | no |
//!
//! What is judged trial by trial is a gate (`gates/`); a gate whose failure bars has one of these flags beside it.
//!
//! A disturbed trial counts for no flag but its own, `out-of-memory` and `counter-wrong`.

use tolok_model::{
    Connection, Disturbance, Doubt, ExternalServer, FailureKind, Limits, LinkWindow, LoadProfile, LoadTool,
    Measurement, Scenario, bytes_words, format_duration,
};

use crate::database::{DatabaseFinding, DatabaseUse};
use crate::database_flags::database_flags;
use crate::environment::Surroundings;
use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, count, counted, listed, small_share};
use crate::findings::Flag;
use crate::gates::headroom::{generator_limit, subject_used};
use crate::gates::{Gated, gate_flags};
use crate::judgement::SteadyFinding;
use crate::link::LinkUse;
use crate::observations::Observations;
use crate::resources::{ResourcesFinding, oom_kills};
use crate::steadiness::memory_grows;
use crate::tool_flags::tool_flags;
use crate::usage::{Cpus, Usage};

/// A part that uses this share of its CPUs is at its limit.
pub const SATURATED: f64 = 0.90;
/// A larger share of failed requests voids the rank: what was counted is another workload.
pub const ERRORS_TOLERATED: f64 = 0.01;
/// This share of the connections may wait for their first answer when a trial ends.
pub const WAITING_TOLERATED: f64 = 0.10;
/// This share of the scheduled requests may still wait for a connection when a trial ends.
pub const BACKLOG_TOLERATED: f64 = 0.01;
/// A quota may stop its subject in this share of its periods before it is spoken of.
pub const THROTTLING_TOLERATED: f64 = 0.05;
/// From this share of its limit on, memory counts as used up: the page cache has to give way.
pub const MEMORY_LIMIT_NEAR: f64 = 0.98;
/// From this share of its rate on, a link counts as full. Packets have gaps between them, so it never comes to all of it.
pub const LINK_FULL: f64 = 0.90;
/// Packets may leave the link's emulator later on average by this share of the median latency.
pub const LINK_LATENESS_OF_LATENCY: f64 = 0.10;

/// What there is to judge a case by.
pub(crate) struct Clues<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) around: &'a Surroundings,
    pub(crate) cpus: &'a Cpus,
    pub(crate) usage: &'a Usage,
    pub(crate) observations: &'a Observations<'a>,
    pub(crate) resources: &'a ResourcesFinding,
    pub(crate) link: Option<&'a LinkUse>,
    pub(crate) asked: Option<&'a DatabaseFinding>,
    pub(crate) database: Option<&'a DatabaseUse>,
    pub(crate) steady: Option<&'a SteadyFinding>,
    /// The server that the subject is, where tolok did not start it.
    pub(crate) external: Option<&'a ExternalServer>,
}

impl Clues<'_> {
    /// Whether tolok did not start the subject, so that nothing is known of it but its answers.
    pub(crate) fn is_external(&self) -> bool {
        self.external.is_some()
    }
}

/// Every flag of a case, those that void its rank first. `gates` are the case's: the flags of those that had none are theirs.
pub(crate) fn flags(clues: &Clues, gates: &[Gated]) -> Vec<Flag> {
    let (observations, load) = (clues.observations, &clues.scenario.load);
    let limits = &clues.around.environment.subject;
    let mut flags: Vec<Flag> = [
        out_of_memory(observations, limits),
        failed_trials(observations, load),
        no_good_answers(observations),
        window_too_short(observations, load),
        errors(observations),
        ledger_open(observations),
        not_trusted(observations, load),
        aborted(observations),
        generator_bound(clues),
        link_late(observations),
        disturbed(observations),
        too_few_trials(observations),
        backlog(observations, clues.scenario),
        connections_waiting(observations, load),
        throttled(clues.resources),
        memory_limit_near(clues.resources, limits),
        tasks_refused(observations, limits),
        clues.link.and_then(link_full),
        shared_cpus(observations, clues.cpus),
        memory_grows(observations, clues.steady),
        external(clues),
    ]
    .into_iter()
    .chain(gate_flags(gates).into_iter().map(Some))
    .chain(tool_flags(observations, clues.scenario, &clues.around.environment.link))
    .chain(database_flags(observations, clues.asked, clues.database))
    .flatten()
    .collect();
    flags.sort_by_key(|flag| !flag.voids_rank);
    flags
}

pub(crate) fn flag(kind: &str, voids_rank: bool, message: String) -> Option<Flag> {
    Some(Flag { kind: kind.to_owned(), message, voids_rank })
}

fn failed_trials(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    if observations.failed.is_empty() {
        return None;
    }
    let mut reasons: Vec<FailureKind> = observations.failed.iter().map(|(_, failure)| failure.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let reasons: Vec<String> = reasons.into_iter().map(|reason| reason_words(reason, load)).collect();
    let failed = observations.failed.len();
    let trials = counted(u64::from(observations.planned), "trial");
    flag("failed-trials", false, format!("{failed} of {trials} failed: {}", listed(&reasons, "and")))
}

/// A reason with what a reader could take it for and must not.
fn reason_words(reason: FailureKind, load: &LoadProfile) -> String {
    let word = reason.word();
    match reason {
        FailureKind::DatabaseFailed => format!("{word} (the database’s failure, and not the subject’s)"),
        FailureKind::Hung => {
            let window = format_duration(load.duration_s);
            format!("{word} (too slow or silent to be given a figure in a window of {window}, which is not 0)")
        }
        _ => word.to_owned(),
    }
}

fn no_good_answers(observations: &Observations) -> Option<Flag> {
    let censored = observations.censored();
    if censored == 0 {
        return None;
    }
    let trials = counted(observations.scored.len() as u64, "measured trial");
    let message =
        format!("{censored} of {trials} had no good answer: too slow or broken to be given a figure, which is not 0");
    flag("no-good-answers", true, message)
}

fn window_too_short(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let has_own = |measurement: &Measurement| measurement.ledger.good > 0 || measurement.goodput_rps <= 0.0;
    let without = observations.scored.iter().filter(|(_, measurement)| !has_own(measurement)).count();
    if without == 0 {
        return None;
    }
    let trials = counted(observations.scored.len() as u64, "measured trial");
    let window = format_duration(load.duration_s);
    let message = format!(
        "in {without} of {trials} no request of the window of {window} was answered in it: answers take longer, and those that came \
         were asked for in the warm-up; make the window longer"
    );
    flag("window-too-short", true, message)
}

fn errors(observations: &Observations) -> Option<Flag> {
    let ledgers = || observations.scored.iter().map(|(_, measurement)| &measurement.ledger);
    let failed: u64 = ledgers().map(|ledger| ledger.failed_total()).sum();
    let sent: u64 = ledgers().map(|ledger| ledger.sent.unwrap_or(ledger.finished())).sum();
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / sent.max(failed) as f64;
    let message = format!("{} failed, {} of those sent", counted(failed, "request"), small_share(share));
    flag("errors", share > ERRORS_TOLERATED, message)
}

fn ledger_open(observations: &Observations) -> Option<Flag> {
    let unaccounted = || observations.scored.iter().filter_map(|(_, measurement)| measurement.ledger.unaccounted());
    let open = unaccounted().filter(|requests| *requests > 0).count();
    if open == 0 {
        return None;
    }
    let lost: u64 = unaccounted().sum();
    let trials = counted(observations.scored.len() as u64, "trial");
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
        observations.scored.iter().map(|(_, trial)| *trial).filter(|trial| doubts(trial).next().is_some()).collect();
    // Each gate once, with the words of the first trial in which it did not hold.
    let mut reasons: Vec<&Doubt> = Vec::new();
    for doubt in untrusted.iter().flat_map(|trial| doubts(trial)) {
        if reasons.iter().all(|known| known.gate != doubt.gate) {
            reasons.push(doubt);
        }
    }
    let said = |doubt: &&Doubt| format!("{} ({})", doubt.gate, doubt.text.trim_end_matches('.'));
    let reasons: Vec<String> = reasons.iter().map(said).collect();
    let trials = counted(observations.scored.len() as u64, "trial");
    let message = format!(
        "in {} of {trials} the load tool's figures cannot be trusted, it says: {}",
        untrusted.len(),
        listed(&reasons, "and")
    );
    if untrusted.is_empty() { None } else { flag("not-trusted", true, message) }
}

fn aborted(observations: &Observations) -> Option<Flag> {
    let aborted = observations.scored.iter().filter(|(_, trial)| trial.aborted).count();
    if aborted == 0 {
        return None;
    }
    let trials = counted(observations.scored.len() as u64, "trial");
    let message = format!(
        "{aborted} of {trials} stopped at the first objective that was crossed, as the study asks: their windows are cut off"
    );
    flag("aborted", true, message)
}

/// Of the scheduled requests, those that never left.
pub(crate) fn unsent_share(trial: &Measurement) -> f64 {
    let scheduled = trial.ledger.sent.unwrap_or(trial.ledger.finished()) + trial.ledger.unsent;
    trial.ledger.unsent as f64 / scheduled.max(1) as f64
}

/// Requests that never left are in no percentile, so whoever reads one must know of them.
fn backlog(observations: &Observations, scenario: &Scenario) -> Option<Flag> {
    let worst = observations.scored.iter().map(|(_, trial)| unsent_share(trial)).reduce(f64::max)?;
    if worst < BACKLOG_TOLERATED {
        return None;
    }
    let worst = small_share(worst);
    let message = match scenario.tool.name {
        LoadTool::K6 => format!(
            "k6 dropped up to {worst} of the scheduled requests in a trial, because no virtual user was free; they are in no \
             percentile"
        ),
        _ => format!(
            "it did not keep up: when a trial ended, up to {worst} of the scheduled requests still waited for a free \
             connection; they are in no percentile"
        ),
    };
    flag("backlog", false, message)
}

/// The rule is that of the gate `generator-headroom`.
fn generator_bound(clues: &Clues) -> Option<Flag> {
    let limit = generator_limit(clues)?;
    let stopped = limit.stopped.map(|stopped| format!("{stopped}; ")).unwrap_or_default();
    let message = format!(
        "the generator was the limit: {stopped}it used {} of its CPUs, {}; the figure is a lower bound",
        small_share(limit.generator),
        subject_used(limit.subject)
    );
    flag("generator-bound", true, message)
}

fn too_few_trials(observations: &Observations) -> Option<Flag> {
    let measured = observations.scored.len() as u64;
    if measured == 0 || measured >= u64::from(least_trials()) {
        return None;
    }
    let left = if observations.disturbed.is_empty() { "measured" } else { "left" };
    let message =
        format!("{} {left}, too few for an interval ({} are the least)", counted(measured, "trial"), least_trials());
    flag("too-few-trials", false, message)
}

/// A server that gives a connection a process to itself lets the others wait in its queue. Their waiting is in no
/// percentile until they are answered, so whoever reads a median of such a case must know.
fn connections_waiting(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let (most, connections) = (waiting_connections(observations, load)?, load.connections_max()?);
    let message = format!(
        "up to {most} of {connections} connections still waited for their first answer when a trial ended; percentiles tell of \
         those that are served, not of those that wait"
    );
    flag("connections-waiting", false, message)
}

/// Most connections that waited when a trial ended, if those are enough to be spoken of.
pub(crate) fn waiting_connections(observations: &Observations, load: &LoadProfile) -> Option<u64> {
    let connections = load.connections_max()?;
    let ledgers = observations.scored.iter().map(|(_, measurement)| &measurement.ledger);
    let unanswered = ledgers.filter_map(|ledger| ledger.connections_unanswered);
    let most = unanswered.map(|unanswered| unanswered.min(u64::from(connections))).max()?;
    let is_many = most as f64 >= WAITING_TOLERATED * f64::from(connections);
    (load.connection == Connection::KeepAlive && is_many).then_some(most)
}

fn shared_cpus(observations: &Observations, cpus: &Cpus) -> Option<Flag> {
    if !cpus.shared || observations.scored.is_empty() {
        return None;
    }
    let message = "subject and generator shared their CPUs, so the generator's own work lowers the figure".to_owned();
    flag("shared-cpus", false, message)
}

/// A case that gets no memory any more is not the case that was asked about. Disturbed trials count as well: whoever else
/// was at work, the limit is the subject's own.
fn out_of_memory(observations: &Observations, limits: &Limits) -> Option<Flag> {
    let failed = observations.failed.iter().filter(|(_, failure)| failure.reason == FailureKind::OutOfMemory).count();
    let killed = observations.measured().filter(|trial| oom_kills(trial) > 0).count();
    if failed + killed == 0 {
        return None;
    }
    let limit = limits.memory_bytes.map(|bytes| format!(" of {}", bytes_words(bytes))).unwrap_or_default();
    let trials = counted((observations.failed.len() + observations.measured().count()) as u64, "trial");
    let message =
        format!("in {} of {trials} it reached its limit{limit}, and the kernel killed some of it", failed + killed);
    flag("out-of-memory", true, message)
}

/// The emulator's own delay is in every latency, and it is not the link's. One late packet is enough: nobody knows which
/// answer it was part of.
fn link_late(observations: &Observations) -> Option<Flag> {
    let lateness = |trial: &Measurement| {
        let window = trial.link.as_ref()?;
        let (max_s, mean_s) = (worse(window, |it| it.lateness_s_max), worse(window, |it| it.lateness_s_mean));
        let tolerated_s = trial.latency.at(0.5).map_or(f64::INFINITY, |median_s| LINK_LATENESS_OF_LATENCY * median_s);
        (mean_s > tolerated_s).then_some((max_s, mean_s))
    };
    let late: Vec<(f64, f64)> = observations.scored.iter().filter_map(|(_, trial)| lateness(trial)).collect();
    let max_s = late.iter().map(|(max_s, _)| *max_s).reduce(f64::max)?;
    let mean_s = late.iter().map(|(_, mean_s)| *mean_s).fold(0.0, f64::max);
    let message = format!(
        "the link's emulator was late in {} of {}: by up to {}, and by {} on average in the worst of them",
        late.len(),
        counted(observations.scored.len() as u64, "trial"),
        amount(Quantity::Seconds, max_s),
        amount(Quantity::Seconds, mean_s)
    );
    flag("link-late", true, message)
}

/// The worse of the two directions.
fn worse(window: &LinkWindow, of: fn(&tolok_model::LinkDirection) -> f64) -> f64 {
    of(&window.to_subject).max(of(&window.to_client))
}

fn disturbed(observations: &Observations) -> Option<Flag> {
    let disturbed = observations.disturbed.len();
    if disturbed == 0 {
        return None;
    }
    let causes = causes_of(observations.disturbed.iter().flat_map(|(_, trial)| &trial.disturbances));
    let trials = counted(observations.measured().count() as u64, "trial");
    let (was, is) = if disturbed == 1 { ("was", "is") } else { ("were", "are") };
    let message = format!("{disturbed} of {trials} {was} disturbed by others and {is} in no figure: {causes}");
    flag("disturbed", observations.scored.is_empty(), message)
}

/// Each kind once, with the words of the trial in which it was worst.
pub(crate) fn causes_of<'a>(all: impl Iterator<Item = &'a Disturbance>) -> String {
    let mut causes: Vec<&Disturbance> = Vec::new();
    for cause in all {
        match causes.iter_mut().find(|known| known.kind == cause.kind) {
            Some(known) if cause.value > known.value => *known = cause,
            Some(_) => {}
            None => causes.push(cause),
        }
    }
    causes.iter().map(|cause| cause.text.trim_end_matches('.')).collect::<Vec<_>>().join("; ")
}

fn throttled(resources: &ResourcesFinding) -> Option<Flag> {
    let throttling = resources.throttling.filter(|found| found.share > THROTTLING_TOLERATED)?;
    let message = format!(
        "its quota stopped it in {} of {} periods ({})",
        count(throttling.throttled_periods),
        count(throttling.periods),
        small_share(throttling.share)
    );
    flag("throttled", false, message)
}

fn memory_limit_near(resources: &ResourcesFinding, limits: &Limits) -> Option<Flag> {
    let share = resources.peak_of_limit.filter(|share| *share >= MEMORY_LIMIT_NEAR)?;
    let limit = limits.memory_bytes.map(bytes_words).unwrap_or_default();
    let message = format!(
        "with page cache its memory came to {} of the limit of {limit}: the cache had to give way, which can slow it down",
        small_share(share)
    );
    flag("memory-limit-near", false, message)
}

/// What could not be started did no work, and nobody was told.
fn tasks_refused(observations: &Observations, limits: &Limits) -> Option<Flag> {
    let refused = |trial: &Measurement| trial.subject.refused_tasks.unwrap_or_default();
    let most = observations.scored.iter().map(|(_, trial)| refused(trial)).max().filter(|most| *most > 0)?;
    let limit = limits.pids?;
    let message = format!(
        "up to {} in a trial it could not start a process or thread, because it may have {limit} at most",
        counted(most, "time")
    );
    flag("tasks-refused", true, message)
}

/// Its figures are compared with the others', and are not of the same kind.
fn external(clues: &Clues) -> Option<Flag> {
    let own = clues.external?.own.as_ref();
    let compared = own.map(|own| format!("; {}", own.body.words())).unwrap_or_default();
    flag("external", false, format!("not started by tolok: its CPU, memory and isolation are unknown{compared}"))
}

/// By the utilisation law. A subject behind a full link may have had more to give.
fn link_full(link: &LinkUse) -> Option<Flag> {
    let used = link.rate_offered().filter(|used| *used >= LINK_FULL)?;
    let message =
        format!("the link was offered {} of its rate: it, and not the subject, may be the limit", small_share(used));
    flag("link-full", false, message)
}
