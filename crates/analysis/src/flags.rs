//! The rules that raise the flags of servers. Checks of single trials are gates (`gates/`). A gate that bars a case raises one of
//! these flags.

use tolok_model::{
    FailureKind, Limits, LinkWindow, LoadProfile, LoadTool, Measurement, Scenario, ToolWarning, bytes_words,
    duration_words,
};

use crate::case_inputs::{CaseInputs, unsent_share, waiting_connections, warnings_that_count};
use crate::database_flags::database_flags;
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
use crate::trial_flags::{disturbed, failed_trials, out_of_memory, too_few_trials};
use crate::usage::Cpus;

/// All flags of a case, those that void its rank first. `gates` are the case's gates, which raise the flags that have no rule
/// here.
pub(crate) fn flags(inputs: &CaseInputs, gates: &[Gated]) -> Vec<Flag> {
    let (observations, load) = (inputs.observations, &inputs.scenario.load);
    let limits = &inputs.around.environment.subject;
    let killed = observations.measured().filter(|trial| oom_kills(trial) > 0).count();
    let mut flags: Vec<Flag> = [
        out_of_memory(observations, killed, "some of it", limits),
        failed_trials(observations, |reason| reason_words(reason, load)),
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

/// The reason, with a remark if readers could misunderstand it.
fn reason_words(reason: FailureKind, load: &LoadProfile) -> String {
    let word = reason.word();
    match reason {
        FailureKind::DatabaseFailed => format!("{word} (the database’s failure, and not the subject’s)"),
        FailureKind::Hung => {
            let window = duration_words(load.duration_s);
            format!("{word} (too slow or silent for a figure in a window of {window}; that is not 0)")
        }
        _ => word.to_owned(),
    }
}

fn no_good_answers(observations: &Observations) -> Option<Flag> {
    let censored = observations.censored();
    FlagKind::NoGoodAnswers.raised_if(censored > 0, || {
        let trials = measured_trials(observations, censored);
        format!("{trials} had no correct response: too slow or broken for a figure; that is not 0")
    })
}

/// `4 of 6 measured trials`
fn measured_trials(observations: &Observations, number: usize) -> String {
    format!("{number} of {}", counted(observations.scored.len() as u64, "measured trial"))
}

fn window_too_short(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let without = observations.number(|trial| trial.ledger.good == 0 && trial.goodput_rps > 0.0);
    FlagKind::WindowTooShort.raised_if(without > 0, || {
        let (trials, window) = (measured_trials(observations, without), duration_words(load.duration_s));
        format!(
            "in {trials} only requests sent during warm-up were answered: responses take longer than the window of {window}; \
             make it longer"
        )
    })
}

fn errors(observations: &Observations) -> Option<Flag> {
    let ledgers = || observations.trials().map(|trial| &trial.ledger);
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
    let unaccounted = |trial: &Measurement| trial.ledger.unaccounted().unwrap_or_default();
    let open = observations.number(|trial| unaccounted(trial) > 0);
    let lost: u64 = observations.trials().map(unaccounted).sum();
    FlagKind::LedgerOpen.raised_if(open > 0, || {
        let (requests, trials) = (counted(lost, "request"), observations.of_scored(open));
        format!("{requests} not accounted for in {trials}: a fault of the tool")
    })
}

/// Lists each gate once, with the words of the first trial in which it failed.
fn not_trusted(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let untrusted = observations.number(|trial| warnings_that_count(trial, load).next().is_some());
    let mut reasons: Vec<&ToolWarning> = Vec::new();
    for warning in observations.trials().flat_map(|trial| warnings_that_count(trial, load)) {
        if reasons.iter().all(|known| known.gate != warning.gate) {
            reasons.push(warning);
        }
    }
    let words = |warning: &&ToolWarning| format!("{} ({})", warning.gate, warning.text.trim_end_matches('.'));
    let reasons: Vec<String> = reasons.iter().map(words).collect();
    FlagKind::NotTrusted.raised_if(untrusted > 0, || {
        let trials = observations.of_scored(untrusted);
        format!("in {trials} the load tool's figures cannot be trusted, it says: {}", listed(&reasons, "and"))
    })
}

fn aborted(observations: &Observations) -> Option<Flag> {
    let aborted = observations.number(|trial| trial.aborted);
    FlagKind::Aborted.raised_if(aborted > 0, || {
        let trials = observations.of_scored(aborted);
        format!("{trials} stopped at the first crossed objective, as the study asks, so their windows are cut short")
    })
}

/// Requests that were never sent are in no percentile, so readers of percentiles must know about them.
fn backlog(observations: &Observations, scenario: &Scenario) -> Option<Flag> {
    let worst = observations.trials().map(unsent_share).reduce(f64::max)?;
    FlagKind::Backlog.raised_if(worst >= BACKLOG_TOLERATED, || match (scenario.tool.name, small_share(worst)) {
        (LoadTool::K6, worst) => format!(
            "k6 dropped up to {worst} of the scheduled requests in a trial, because no virtual user was free; they are in no \
             percentile"
        ),
        (_, worst) => format!(
            "it did not keep up: when a trial ended, up to {worst} of the scheduled requests still waited for a free \
             connection; they are in no percentile"
        ),
    })
}

/// Follows the rule of the gate `generator-headroom`.
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

/// A server that gives each connection a process keeps the other connections in its queue. Their waits are in no percentile until
/// they get a response, so readers of the median must know.
fn connections_waiting(observations: &Observations, load: &LoadProfile) -> Option<Flag> {
    let (most, connections) = (waiting_connections(observations, load)?, load.connections_max()?);
    let message = format!(
        "up to {most} of {connections} connections still waited for their first response when a trial ended; percentiles \
         cover only requests that were answered"
    );
    FlagKind::ConnectionsWaiting.raised(message)
}

fn shared_cpus(observations: &Observations, cpus: &Cpus) -> Option<Flag> {
    FlagKind::SharedCpus.raised_if(cpus.shared && !observations.scored.is_empty(), || {
        "subject and generator shared their CPUs, so the generator's own work lowers the figure".to_owned()
    })
}

/// The emulator's own delay is part of every latency, but it is not the link's delay. One trial with a late mean is enough.
fn link_late(observations: &Observations) -> Option<Flag> {
    let lateness = |trial: &Measurement| {
        let window = trial.link.as_ref()?;
        let (max_s, mean_s) = (worse(window, |it| it.lateness_s_max), worse(window, |it| it.lateness_s_mean));
        let tolerated_s = trial.latency.at(0.5).map_or(f64::INFINITY, |median_s| LINK_LATENESS_OF_LATENCY * median_s);
        (mean_s > tolerated_s).then_some((max_s, mean_s))
    };
    let late: Vec<(f64, f64)> = observations.trials().filter_map(lateness).collect();
    let max_s = late.iter().map(|(max_s, _)| *max_s).reduce(f64::max)?;
    let mean_s = late.iter().map(|(_, mean_s)| *mean_s).fold(0.0, f64::max);
    let [max, mean] = [max_s, mean_s].map(|late_s| amount(Quantity::Seconds, late_s));
    let trials = observations.of_scored(late.len());
    let message = format!(
        "the link's emulator was late in {trials}: by up to {max}, and by {mean} on average in the worst of them"
    );
    FlagKind::LinkLate.raised(message)
}

/// The larger value of the two directions.
fn worse(window: &LinkWindow, of: fn(&tolok_model::LinkDirection) -> f64) -> f64 {
    of(&window.to_subject).max(of(&window.to_client))
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

/// A process that could not start did no work, and no response shows that.
fn tasks_refused(observations: &Observations, limits: &Limits) -> Option<Flag> {
    let most = observations.used().filter_map(|used| used.refused_tasks).max().filter(|most| *most > 0)?;
    let limit = limits.pids?;
    let message = format!(
        "up to {} in a trial it could not start a process or thread, because it may have {limit} at most",
        counted(most, "time")
    );
    FlagKind::TasksRefused.raised(message)
}

/// Its figures are compared with the others', although they are not of the same kind.
fn external(inputs: &CaseInputs) -> Option<Flag> {
    let server = inputs.external?;
    let compared = server.own.as_ref().map(|own| format!("; {}", own.body.words())).unwrap_or_default();
    let unknown = if server.pid.is_some() { "isolation is" } else { "CPU, memory and isolation are" };
    FlagKind::External.raised(format!("not started by tolok: its {unknown} unknown{compared}"))
}

/// Follows from the utilisation law. Behind a full link, the subject may have had spare capacity.
fn link_full(link: &LinkUse) -> Option<Flag> {
    let used = link.rate_offered().filter(|used| *used >= LINK_FULL)?;
    let message =
        format!("the link was offered {} of its rate: it, and not the subject, may be the limit", small_share(used));
    FlagKind::LinkFull.raised(message)
}
