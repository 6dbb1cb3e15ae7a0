//! The rules that raise the flags of servers. What is judged trial by trial is a gate (`gates/`); a gate whose failure bars the case
//! has one of these flags beside it.

use tolok_model::{
    FailureKind, Limits, LinkWindow, LoadProfile, LoadTool, Measurement, Scenario, ToolWarning, bytes_words,
    format_duration,
};

use crate::case_inputs::CaseInputs;
use crate::case_inputs::{causes_of, unsent_share, waiting_connections, warnings_that_count};
use crate::database_flags::database_flags;
use crate::estimate::least_trials;
use crate::figure::resources::oom_kills;
use crate::figures::{Quantity, amount, count, counted, listed, small_share};
use crate::findings::{LinkUse, ResourcesFinding};
use crate::flag::{
    BACKLOG_TOLERATED, ERRORS_TOLERATED, LINK_FULL, LINK_LATENESS_OF_LATENCY, MEMORY_LIMIT_NEAR, THROTTLING_TOLERATED,
};
use crate::flag::{Flag, FlagKind};
use crate::gates::headroom::{generator_limit, subject_used};
use crate::gates::{Gated, gate_flags};
use crate::observations::Observations;
use crate::steadiness::memory_grows;
use crate::tool_flags::tool_flags;
use crate::usage::Cpus;

/// Every flag of a case, those that void its rank first. `gates` are the case's: the flags of those that had none are theirs.
pub(crate) fn flags(inputs: &CaseInputs, gates: &[Gated]) -> Vec<Flag> {
    let (observations, load) = (inputs.observations, &inputs.scenario.load);
    let limits = &inputs.around.environment.subject;
    let mut flags: Vec<Flag> = [
        out_of_memory(observations, limits),
        failed_trials(observations, load),
        no_good_answers(observations),
        window_too_short(observations, load),
        errors(observations),
        ledger_open(observations),
        not_trusted(observations, load),
        aborted(observations),
        generator_bound(inputs),
        link_late(observations),
        disturbed(observations),
        too_few_trials(observations),
        backlog(observations, inputs.scenario),
        connections_waiting(observations, load),
        throttled(&inputs.figures.resources),
        memory_limit_near(&inputs.figures.resources, limits),
        tasks_refused(observations, limits),
        inputs.figures.link.as_ref().and_then(link_full),
        shared_cpus(observations, inputs.cpus),
        memory_grows(observations, inputs.steady),
        external(inputs),
    ]
    .into_iter()
    .chain(gate_flags(gates).into_iter().map(Some))
    .chain(tool_flags(observations, inputs.scenario, &inputs.around.environment.link))
    .chain(database_flags(observations, inputs.asked, inputs.database()))
    .flatten()
    .collect();
    flags.sort_by_key(|flag| !flag.voids_rank);
    flags
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
    FlagKind::FailedTrials.raised(format!("{failed} of {trials} failed: {}", listed(&reasons, "and")))
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
    FlagKind::NoGoodAnswers.raised(message)
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
    FlagKind::WindowTooShort.raised(message)
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
    FlagKind::Errors.raised_voiding(share > ERRORS_TOLERATED, message)
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
    FlagKind::LedgerOpen.raised(message)
}

fn not_trusted(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let warnings = |trial| warnings_that_count(trial, load);
    let untrusted: Vec<&Measurement> =
        observations.scored.iter().map(|(_, trial)| *trial).filter(|trial| warnings(trial).next().is_some()).collect();
    // Each gate once, with the words of the first trial in which it did not hold.
    let mut reasons: Vec<&ToolWarning> = Vec::new();
    for warning in untrusted.iter().flat_map(|trial| warnings(trial)) {
        if reasons.iter().all(|known| known.gate != warning.gate) {
            reasons.push(warning);
        }
    }
    let said = |warning: &&ToolWarning| format!("{} ({})", warning.gate, warning.text.trim_end_matches('.'));
    let reasons: Vec<String> = reasons.iter().map(said).collect();
    let trials = counted(observations.scored.len() as u64, "trial");
    let message = format!(
        "in {} of {trials} the load tool's figures cannot be trusted, it says: {}",
        untrusted.len(),
        listed(&reasons, "and")
    );
    if untrusted.is_empty() { None } else { FlagKind::NotTrusted.raised(message) }
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
    FlagKind::Aborted.raised(message)
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
    FlagKind::Backlog.raised(message)
}

/// The rule is that of the gate `generator-headroom`.
fn generator_bound(inputs: &CaseInputs) -> Option<Flag> {
    let limit = generator_limit(inputs)?;
    let stopped = limit.stopped.map(|stopped| format!("{stopped}; ")).unwrap_or_default();
    let message = format!(
        "the generator was the limit: {stopped}it used {} of its CPUs, {}; the figure is a lower bound",
        small_share(limit.generator),
        subject_used(limit.subject)
    );
    FlagKind::GeneratorBound.raised(message)
}

fn too_few_trials(observations: &Observations) -> Option<Flag> {
    let measured = observations.scored.len() as u64;
    if measured == 0 || measured >= u64::from(least_trials()) {
        return None;
    }
    let left = if observations.disturbed.is_empty() { "measured" } else { "left" };
    let message =
        format!("{} {left}, too few for an interval ({} are the least)", counted(measured, "trial"), least_trials());
    FlagKind::TooFewTrials.raised(message)
}

/// A server that gives a connection a process to itself lets the others wait in its queue. Their waiting is in no
/// percentile until they are answered, so whoever reads a median of such a case must know.
fn connections_waiting(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let (most, connections) = (waiting_connections(observations, load)?, load.connections_max()?);
    let message = format!(
        "up to {most} of {connections} connections still waited for their first answer when a trial ended; percentiles tell of \
         those that are served, not of those that wait"
    );
    FlagKind::ConnectionsWaiting.raised(message)
}

fn shared_cpus(observations: &Observations, cpus: &Cpus) -> Option<Flag> {
    if !cpus.shared || observations.scored.is_empty() {
        return None;
    }
    let message = "subject and generator shared their CPUs, so the generator's own work lowers the figure".to_owned();
    FlagKind::SharedCpus.raised(message)
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
    FlagKind::OutOfMemory.raised(message)
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
    FlagKind::LinkLate.raised(message)
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
    FlagKind::Disturbed.raised_voiding(observations.scored.is_empty(), message)
}

fn throttled(resources: &ResourcesFinding) -> Option<Flag> {
    let throttling = resources.throttling.filter(|found| found.share > THROTTLING_TOLERATED)?;
    let message = format!(
        "its quota stopped it in {} of {} periods ({})",
        count(throttling.throttled_periods),
        count(throttling.periods),
        small_share(throttling.share)
    );
    FlagKind::Throttled.raised(message)
}

fn memory_limit_near(resources: &ResourcesFinding, limits: &Limits) -> Option<Flag> {
    let share = resources.peak_of_limit.filter(|share| *share >= MEMORY_LIMIT_NEAR)?;
    let limit = limits.memory_bytes.map(bytes_words).unwrap_or_default();
    let message = format!(
        "with page cache its memory came to {} of the limit of {limit}: the cache had to give way, which can slow it down",
        small_share(share)
    );
    FlagKind::MemoryLimitNear.raised(message)
}

/// What could not be started did no work, and nobody was told.
fn tasks_refused(observations: &Observations, limits: &Limits) -> Option<Flag> {
    let refused = |trial: &Measurement| trial.subject.as_ref().and_then(|it| it.refused_tasks).unwrap_or_default();
    let most = observations.scored.iter().map(|(_, trial)| refused(trial)).max().filter(|most| *most > 0)?;
    let limit = limits.pids?;
    let message = format!(
        "up to {} in a trial it could not start a process or thread, because it may have {limit} at most",
        counted(most, "time")
    );
    FlagKind::TasksRefused.raised(message)
}

/// Its figures are compared with the others', and are not of the same kind.
fn external(inputs: &CaseInputs) -> Option<Flag> {
    let own = inputs.external?.own.as_ref();
    let compared = own.map(|own| format!("; {}", own.body.words())).unwrap_or_default();
    FlagKind::External.raised(format!("not started by tolok: its CPU, memory and isolation are unknown{compared}"))
}

/// By the utilisation law. A subject behind a full link may have had more to give.
fn link_full(link: &LinkUse) -> Option<Flag> {
    let used = link.rate_offered().filter(|used| *used >= LINK_FULL)?;
    let message =
        format!("the link was offered {} of its rate: it, and not the subject, may be the limit", small_share(used));
    FlagKind::LinkFull.raised(message)
}
