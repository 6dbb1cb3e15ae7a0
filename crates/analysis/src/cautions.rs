//! What a reader must know before quoting any figure of a run, the gravest first.

use tolok_model::{Executor, Outcome, Plan, RunRecord, TrialRecord, format_duration};

use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, counted, listed};
use crate::findings::{CaseFinding, ScenarioFinding};

/// Windows shorter than this are for trying out: start-up effects and single disturbances weigh too much in them.
pub const SHORTEST_WINDOW_TO_QUOTE_S: f64 = 10.0;
/// Fewer blocks than this show only large differences.
pub const FEWEST_BLOCKS_TO_QUOTE: u32 = 10;
/// A case may come out this share above the ceiling by chance.
pub const ABOVE_CEILING_TOLERATED: f64 = 0.05;
/// The ceiling's highest trial may be this many times its lowest before the machine counts as unsteady.
pub const CEILING_SWING_TOLERATED: f64 = 1.5;
/// From so many compared pairs on, a false alarm among them is likely enough to be spoken of.
const MANY_PAIRS: usize = 10;

/// All cautions of a run.
pub(crate) fn cautions(
    run: &RunRecord,
    plan: &Plan,
    trials: &[TrialRecord],
    trials_missing: u32,
    scenarios: &[ScenarioFinding],
) -> Vec<String> {
    let mut cautions: Vec<String> = [
        missing(plan, trials_missing),
        failed(trials),
        short_windows(plan),
        few_blocks(plan),
        shared_cpus(run),
        skipped(plan),
    ]
    .into_iter()
    .flatten()
    .collect();
    cautions.extend(scenarios.iter().filter_map(above_ceiling));
    cautions.extend(unsteady_machine(scenarios));
    cautions.extend([closed_loop(plan), many_pairs(scenarios)].into_iter().flatten());
    cautions.extend(run.machine.remarks.iter().map(|remark| as_sentence(remark)));
    cautions.push(not_tested(plan));
    cautions
}

fn missing(plan: &Plan, trials_missing: u32) -> Option<String> {
    let planned = counted(plan.trials.len() as u64, "planned trial");
    (trials_missing > 0)
        .then(|| format!("{trials_missing} of {planned} have no record: the run was stopped before its end."))
}

fn failed(trials: &[TrialRecord]) -> Option<String> {
    let failed = trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Failed(_))).count();
    let all = counted(trials.len() as u64, "trial");
    match failed {
        0 => None,
        every if every == trials.len() => Some(format!("All of {all} failed: there are no figures.")),
        some => Some(format!("{some} of {all} failed; the figures of those cases rest on what is left.")),
    }
}

fn short_windows(plan: &Plan) -> Option<String> {
    let shortest_s = plan.scenarios.iter().map(|scenario| scenario.load.duration_s).reduce(f64::min)?;
    let window = format_duration(shortest_s);
    (shortest_s < SHORTEST_WINDOW_TO_QUOTE_S)
        .then(|| format!("Windows of {window} are for trying out, not for quoting (10s or more are)."))
}

fn few_blocks(plan: &Plan) -> Option<String> {
    let (blocks, least) = (plan.blocks, least_trials());
    let counted = counted(u64::from(blocks), "block");
    if blocks < least {
        let verb = if blocks == 1 { "gives" } else { "give" };
        return Some(format!("{counted} {verb} no interval ({least} are the least), so no difference can be told."));
    }
    if blocks == least {
        return Some(format!(
            "With {counted} an interval is the whole range of the trials; it covers 93.75%, and only large differences can \
             be told."
        ));
    }
    (blocks < FEWEST_BLOCKS_TO_QUOTE).then(|| format!("{counted} show only large differences."))
}

fn shared_cpus(run: &RunRecord) -> Option<String> {
    run.cpus.shared.then(|| {
        "Subject and generator shared their CPUs, so every figure is lower than the subject alone would reach."
            .to_owned()
    })
}

fn skipped(plan: &Plan) -> Option<String> {
    let names: Vec<String> = plan.skipped.iter().map(|skipped| skipped.subject.clone()).collect();
    (!names.is_empty()).then(|| format!("Asked for but left out: {}.", listed(&names, "and")))
}

/// The ceiling does the same work in every trial, so what makes it swing is the machine.
fn unsteady_machine(scenarios: &[ScenarioFinding]) -> Option<String> {
    let swing = |scenario: &ScenarioFinding| {
        let trials = &scenario.ceiling.as_ref()?.goodput_rps.as_ref()?.trials;
        let lowest = trials.iter().copied().min_by(f64::total_cmp).filter(|lowest| *lowest > 0.0)?;
        let highest = trials.iter().copied().max_by(f64::total_cmp)?;
        Some((highest / lowest, scenario.id.clone()))
    };
    let (swing, id) = scenarios.iter().filter_map(swing).max_by(|left, right| left.0.total_cmp(&right.0))?;
    (swing > CEILING_SWING_TOLERATED).then(|| {
        format!(
            "The ceiling, which does the same work every time, swung by a factor of {} in {id}: this machine is not \
             steady, so believe ratios within blocks before medians.",
            amount(Quantity::Number, swing)
        )
    })
}

/// Nothing can be faster than the limit, so a figure clearly above it says that one of the two is wrong.
fn above_ceiling(scenario: &ScenarioFinding) -> Option<String> {
    let share = |case: &CaseFinding| case.of_ceiling.as_ref().map_or(0.0, |of_ceiling| of_ceiling.value);
    let above = |case: &&CaseFinding| share(case) > 1.0 + ABOVE_CEILING_TOLERATED;
    let names = |case: &CaseFinding| format!("{} ({})", case.title, amount(Quantity::Share, share(case)));
    let names: Vec<String> = scenario.cases.iter().filter(above).map(names).collect();
    let (names, id) = (listed(&names, "and"), &scenario.id);
    (!names.is_empty()).then(|| format!("Above the ceiling of {id}: {names}. One of the two was disturbed, or the generator was the limit of the ceiling."))
}

/// Remarks are written as fragments or as sentences; here they stand among sentences.
fn as_sentence(remark: &str) -> String {
    let mut letters = remark.trim().trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn closed_loop(plan: &Plan) -> Option<String> {
    let is_closed = |executor: &Executor| match executor {
        Executor::ConstantVus { .. } => true,
    };
    plan.scenarios.iter().any(|scenario| is_closed(&scenario.load.executor)).then(|| {
        "Latencies come from a closed loop at full load: a slow answer delays the next request, so the percentiles \
         flatter, and they say nothing about a given request rate."
            .to_owned()
    })
}

fn many_pairs(scenarios: &[ScenarioFinding]) -> Option<String> {
    let pairs: usize = scenarios.iter().map(|scenario| scenario.comparisons.len()).sum();
    (pairs >= MANY_PAIRS).then(|| {
        format!("{pairs} pairs were compared, each on its own: about one interval in twenty misses by chance (one in sixteen with 5 blocks).")
    })
}

fn not_tested(plan: &Plan) -> String {
    let longest_s = plan.scenarios.iter().map(|scenario| scenario.load.duration_s).fold(0.0, f64::max);
    let window = format_duration(longest_s);
    format!(
        "Not tested: a network between client and server (all ran over loopback), TLS, HTTP/2, a database, a fixed request \
         rate, load that changes, behaviour beyond {window}."
    )
}
