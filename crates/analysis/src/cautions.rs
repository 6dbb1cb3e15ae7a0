//! What readers must know before quoting any figure of a run, the most serious first.

use tolok_model::sentences::sentence;
use tolok_model::{CpuSource, LatencyMark, LoadProfile, Outcome, Plan, Scenario, TrialRecord, duration_words};

use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, counted, listed};
use crate::findings::{CaseFinding, Comparison, FallbackFinding};
use crate::findings::{IsolationFinding, NoiseFloor, OthersFinding, ScenarioFinding, TrialCounts};
use crate::grouping::{each_once, sorted_once};
use crate::programs::Timed;
use crate::records::Records;
use crate::{nodes, outlier_blocks};

/// Windows shorter than this only serve to try things out: start-up effects and single disturbances weigh too much.
pub const SHORTEST_WINDOW_TO_QUOTE_S: f64 = 10.0;
/// Fewer blocks than this show only large differences.
pub const FEWEST_BLOCKS_TO_QUOTE: u32 = 10;
/// A case may exceed the ceiling by this share by chance.
pub const ABOVE_CEILING_TOLERATED: f64 = 0.05;
/// The ceiling's highest trial may be this many times its lowest before the machine counts as unsteady.
pub const CEILING_SWING_TOLERATED: f64 = 1.5;
/// A ratio gets a caution if the correction for having been noticed leaves less than this share of its logarithm.
const NOTICED_SHARE_LEFT: f64 = 0.75;
/// Up to this many scenarios are listed by id. Beyond that, only their number is given.
const MOST_NAMED: usize = 4;

/// What cautions are derived from, besides the records.
pub(crate) struct Seen<'a> {
    pub(crate) trials_missing: u32,
    pub(crate) scenarios: &'a [ScenarioFinding],
    pub(crate) timed: &'a [Timed<'a>],
    pub(crate) isolation: &'a IsolationFinding,
    pub(crate) others: &'a OthersFinding,
}

/// All cautions of a run. Readers see the first few, so the gravest come first.
pub(crate) fn cautions(records: &Records, seen: &Seen) -> Vec<String> {
    let Records { run, plan, trials, .. } = *records;
    let Seen { trials_missing, scenarios, timed, isolation, others } = *seen;
    let counts = TrialCounts::of(plan, trials);
    let of_scenarios = |of: fn(&ScenarioFinding) -> Option<String>| scenarios.iter().filter_map(of).collect::<Vec<_>>();
    let one = |caution: Option<String>| caution.into_iter().collect::<Vec<_>>();
    let programs: Vec<_> = timed.iter().map(|timed| &timed.finding).collect();
    [
        // Figures that contradict themselves, are missing, or were changed by other programs.
        differs_from_itself(scenarios, timed),
        one(missing(plan, trials_missing)),
        one(failed(trials)),
        of_scenarios(above_ceiling),
        one(others.caution.clone()),
        one(disturbed(counts)),
        one(unsteady_machine(scenarios)),
        // Figures that rest on too few data.
        one(few_blocks(plan)),
        one(short_windows(plan, trials)),
        of_scenarios(noticed),
        outlier_blocks::cautions(scenarios, &programs),
        scenarios.iter().flat_map(of_slices).collect(),
        // What figures include besides the subject, or leave out.
        one(shared_cpus(records)),
        one(not_ours(records)),
        one(database_beside(scenarios)),
        one(cpu_from_threads(trials)),
        one(autogrouped(isolation)),
        isolation.fallbacks.iter().map(|fallback| said(fallback, isolation.trials)).collect(),
        // How to read the figures.
        one(reruns(counts)),
        one(above_start(timed)),
        one(skipped(plan)),
        one(closed_loop(plan)),
        one(open_loop(plan, scenarios)),
        one(from_sending(scenarios)),
        one(back_filled(scenarios)),
        one(ramps(plan)),
        one(nodes::sentence(records)),
        run.machine.remarks.iter().map(|remark| as_sentence(remark)).collect(),
        one(programs_alone(plan)),
    ]
    .concat()
}

/// A sentence that the run's figures may be quoted by tolok's own rule, or `None` if not. The cautions or the unsound parts then
/// explain why.
pub(crate) fn quotable(records: &Records, trials_missing: u32, unsound: &[String]) -> Option<String> {
    let Records { run, plan, trials, .. } = *records;
    let is_shortened = plan.scale < 1.0;
    let is_short = is_shortened || short_windows(plan, trials).is_some() || few_blocks(plan).is_some();
    if is_short || trials_missing > 0 || !unsound.is_empty() || run.cpus.values().any(|cpus| cpus.shared) {
        return None;
    }
    let rounds = counted(u64::from(plan.blocks), "round");
    Some(format!("These figures may be quoted, with the machine and the cautions: {rounds}, and nothing unsound."))
}

/// The most serious caution: a run that tells a subject apart from itself finds differences that do not exist.
fn differs_from_itself(scenarios: &[ScenarioFinding], timed: &[Timed]) -> Vec<String> {
    let of_servers = scenarios.iter().map(|scenario| (&scenario.id, &scenario.noise_floor));
    let of_programs = timed.iter().map(|timed| (&timed.finding.id, &timed.finding.noise_floor));
    let told = |(id, floor): (&String, &Option<NoiseFloor>)| {
        let floor = floor.as_ref().filter(|floor| floor.verdict.is_told_apart() || floor.widening > 1.0)?;
        let failed = if floor.pairs.len() > 1 { "the noise check failed: " } else { "" };
        Some(format!("In {id} {failed}{}", floor.sentence))
    };
    of_servers.chain(of_programs).filter_map(told).collect()
}

/// Differences that are probably smaller than they look, because few blocks can only detect large ones.
fn noticed(scenario: &ScenarioFinding) -> Option<String> {
    let told = scenario.comparisons.iter().filter(|pair| pair.verdict.is_told_apart());
    let share_left = |pair: &&Comparison| Some(pair.ratio_if_noticed?.ln() / pair.ratio.value.ln());
    let mut flattered: Vec<(f64, &Comparison)> = told
        .filter_map(|pair| Some((share_left(&pair)?, pair)))
        .filter(|(left, _)| *left < NOTICED_SHARE_LEFT)
        .collect();
    flattered.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (_, worst) = flattered.first()?;
    let title = |subject: &str| {
        let found = scenario.cases.iter().find(|case| case.subject == subject);
        found.map_or_else(|| subject.to_owned(), |case| case.title.clone())
    };
    let [seen, left] = [worst.ratio.value, worst.ratio_if_noticed?].map(|value| amount(Quantity::Ratio, value));
    let others = match flattered.len() - 1 {
        0 => String::new(),
        more => format!(" So does the ratio of {} more.", counted(more as u64, "pair")),
    };
    Some(format!(
        "In {}, {} over {} ({seen}) is only just large enough to count. Such ratios tend to be too large; {left} is likelier.{others}",
        scenario.id,
        title(&worst.a),
        title(&worst.b),
    ))
}

fn of_slices(scenario: &ScenarioFinding) -> Vec<String> {
    let said = scenario.slices.iter().flat_map(|slices| &slices.cautions);
    said.map(|caution| format!("In {} (slices): {caution}", scenario.id)).collect()
}

fn missing(plan: &Plan, trials_missing: u32) -> Option<String> {
    let planned = counted(plan.trials.len() as u64, "planned trial");
    (trials_missing > 0).then(|| format!("{trials_missing} of {planned} missing: the run was stopped before its end."))
}

fn failed(trials: &[TrialRecord]) -> Option<String> {
    let failed = trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Failed(_))).count();
    let all = counted(trials.len() as u64, "trial");
    match failed {
        0 => None,
        every if every == trials.len() => Some(format!("All of {all} failed: there are no figures.")),
        some => Some(format!("{some} of {all} failed; figures rest on the other trials of each case, if it has any.")),
    }
}

fn short_windows(plan: &Plan, trials: &[TrialRecord]) -> Option<String> {
    // The length of a slice does not decide its value.
    let whole = plan.scenarios.iter().filter(|scenario| scenario.slices.is_none());
    let windows = whole.filter_map(|scenario| {
        let is_of_it = |case: &str| plan.case(case).is_some_and(|case| case.scenario == scenario.id);
        shortest_window_s(&scenario.load, trials, is_of_it)
    });
    let shortest_s = windows.reduce(f64::min)?;
    let window = duration_words(shortest_s);
    (shortest_s < SHORTEST_WINDOW_TO_QUOTE_S)
        .then(|| format!("A try-out, not a result to publish: windows of {window} (10 s or more are needed)."))
}

/// The planned length. If the load has a number of iterations, the shortest measured length in the trials of these cases, to a
/// hundredth of a second.
pub(crate) fn shortest_window_s(
    load: &LoadProfile,
    trials: &[TrialRecord],
    is_of: impl Fn(&str) -> bool,
) -> Option<f64> {
    if !load.executor.has_iterations() {
        return Some(load.duration_s);
    }
    let windows = trials.iter().filter(|trial| is_of(&trial.case)).filter_map(|trial| match &trial.outcome {
        Outcome::Completed(measurement) => Some((measurement.window_s * 100.0).round() / 100.0),
        Outcome::Timed(_) | Outcome::Failed(_) => None,
    });
    windows.reduce(f64::min)
}

fn few_blocks(plan: &Plan) -> Option<String> {
    let (blocks, least) = (plan.blocks, least_trials());
    let counted = counted(u64::from(blocks), "round");
    if blocks < least {
        let verb = if blocks == 1 { "gives" } else { "give" };
        return Some(format!("{counted} {verb} no interval ({least} are needed), so no difference can be shown."));
    }
    if blocks == least {
        return Some(format!(
            "A try-out, not a result to publish: {counted} ({FEWEST_BLOCKS_TO_QUOTE} or more are needed). The interval of a figure is \
             the range of its trials, which covers 93.75%."
        ));
    }
    (blocks < FEWEST_BLOCKS_TO_QUOTE).then(|| {
        format!("A try-out, not a result to publish: {counted} ({FEWEST_BLOCKS_TO_QUOTE} or more are needed).")
    })
}

fn shared_cpus(records: &Records) -> Option<String> {
    let is_shared = |scenario: &Scenario| records.run.cpus.get(&scenario.environment).is_some_and(|cpus| cpus.shared);
    let place = in_scenarios(records.plan, is_shared, "")?;
    let text = "subject and generator shared their CPUs, so every figure is lower than the subject alone would reach.";
    Some(place.map_or_else(|| as_sentence(text), |ids| format!("In {ids} {text}")))
}

/// The generator takes CPU time from a database on the same CPU, and this affects every figure.
fn database_beside(scenarios: &[ScenarioFinding]) -> Option<String> {
    let beside = |scenario: &&ScenarioFinding| {
        scenario.database.as_ref().is_some_and(|database| !database.shares_cpus_with.is_empty())
    };
    let databases = scenarios.iter().filter_map(|scenario| scenario.database.as_ref());
    let names = sorted_once(databases.flat_map(|database| database.shares_cpus_with.clone()));
    let all = scenarios.iter().filter(|scenario| scenario.database.is_some()).count();
    let ids: Vec<String> = scenarios.iter().filter(beside).map(|scenario| scenario.id.clone()).collect();
    let place =
        if ids.len() == all { "The".to_owned() } else { format!("In {} the", several(&ids, scenarios.len(), "")) };
    (!ids.is_empty()).then(|| {
        format!("{place} database shared a CPU with the {}, which lowers every figure.", listed(&names, "and the"))
    })
}

fn measured(trials: &[TrialRecord]) -> impl Iterator<Item = &tolok_model::Measurement> {
    trials.iter().filter_map(|trial| match &trial.outcome {
        Outcome::Completed(measurement) => Some(measurement.as_ref()),
        Outcome::Timed(_) | Outcome::Failed(_) => None,
    })
}

fn disturbed(counts: TrialCounts) -> Option<String> {
    let all = counted(u64::from(counts.measured + counts.failed), "trial");
    (counts.disturbed > 0).then(|| {
        format!(
            "{} of {all} discarded: other programs used the CPU. The records keep them, but no figure includes them.",
            counts.disturbed
        )
    })
}

fn reruns(counts: TrialCounts) -> Option<String> {
    (counts.measured_anew > 0).then(|| {
        format!(
            "{} {} repeated because the machine was busy. Only the machine’s state decides that, never the result.",
            counted(u64::from(counts.measurements_discarded), "measurement"),
            if counts.measurements_discarded == 1 { "was" } else { "were" }
        )
    })
}

/// Servers that tolok did not start.
fn not_ours(records: &Records) -> Option<String> {
    let names: Vec<String> = records.plan.brought.servers.iter().map(|server| server.subject.clone()).collect();
    let (are, they) = if names.len() == 1 { ("was", "it") } else { ("were", "they") };
    (!names.is_empty()).then(|| {
        format!(
            "{} {are} not started by tolok, which does not know where {they} ran, under which limits, beside what, and with how warm a cache. A server on this machine may share the generator’s CPU. A comparison includes all of that.",
            listed(&names, "and")
        )
    })
}

/// CPU time after a thread's last reading is lost. A process that lives between two readings is lost entirely.
fn cpu_from_threads(trials: &[TrialRecord]) -> Option<String> {
    let ours = measured(trials).filter_map(|trial| trial.subject.as_ref());
    let (all, of_threads) = ours.fold((0, 0), |(all, of_threads), used| {
        (all + 1, of_threads + u32::from(used.cpu_source == CpuSource::Threads))
    });
    let place = if of_threads == all { String::new() } else { format!(" of {of_threads} of {all} trials") };
    (of_threads > 0).then(|| {
        format!(
            "CPU time{place} was summed over threads, not read from control groups. That misses short-lived processes, so subjects that start many look cheaper than they are."
        )
    })
}

fn autogrouped(isolation: &IsolationFinding) -> Option<String> {
    (isolation.trials > 0 && isolation.is_autogrouped()).then(|| {
        "The scheduler shares contended CPUs between sessions (autogroup), and no control group kept the parts out of that. One busy shell could take as much CPU as a whole subject."
            .to_owned()
    })
}

fn said(fallback: &FallbackFinding, trials: u32) -> String {
    let sentence = as_sentence(&fallback.text);
    if fallback.trials == trials {
        return sentence;
    }
    format!("{} (in {} of {}).", sentence.trim_end_matches('.'), fallback.trials, counted(u64::from(trials), "trial"))
}

fn skipped(plan: &Plan) -> Option<String> {
    let names: Vec<String> = plan.skipped.iter().map(|skipped| skipped.subject.clone()).collect();
    (!names.is_empty()).then(|| format!("Skipped: {}.", listed(&names, "and")))
}

/// The ceiling does the same work in every trial, so its variation comes from the machine.
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
             steady, so trust ratios within rounds more than medians.",
            amount(Quantity::Number, swing)
        )
    })
}

/// Nothing can be faster than the limit. If a figure is clearly above it, one of the two is wrong.
fn above_ceiling(scenario: &ScenarioFinding) -> Option<String> {
    let share = |case: &CaseFinding| case.of_ceiling.as_ref().map_or(0.0, |of_ceiling| of_ceiling.value);
    let above = |case: &&CaseFinding| share(case) > 1.0 + ABOVE_CEILING_TOLERATED;
    let names = |case: &CaseFinding| format!("{} ({})", case.title, amount(Quantity::Share, share(case)));
    let names: Vec<String> = scenario.cases.iter().filter(above).map(names).collect();
    let (names, id) = (listed(&names, "and"), &scenario.id);
    (!names.is_empty()).then(|| {
        format!(
            "Above the ceiling of {id}: {names}. One of the two was disturbed, or the generator limited the ceiling."
        )
    })
}

/// Remarks are fragments or sentences. This list needs sentences.
fn as_sentence(remark: &str) -> String {
    sentence(remark.trim())
}

fn closed_loop(plan: &Plan) -> Option<String> {
    let ids = ids_where(plan, |load| !load.executor.is_open(), "every closed loop")?;
    let is_full = plan.scenarios.iter().all(|scenario| scenario.load.think_time.is_none());
    let of = ids.map(|ids| format!(" of {ids}")).unwrap_or_default();
    let at_full_load = if is_full { " at full load" } else { "" };
    Some(format!(
        "Latencies{of} come from a closed loop{at_full_load}: a slow answer delays the next request, so these percentiles look better than at a fixed request rate."
    ))
}

fn open_loop(plan: &Plan, scenarios: &[ScenarioFinding]) -> Option<String> {
    let sent = sent(scenarios);
    let is_planned = |scenario: &Scenario| scenario.load.executor.is_open() && !sent.contains(&scenario.id);
    let which = if sent.is_empty() { "every open loop" } else { "open loops" };
    let ids = in_scenarios(plan, is_planned, which)?;
    let place = ids.map(|ids| format!("In {ids} requests")).unwrap_or_else(|| "Requests".to_owned());
    Some(format!(
        "{place} started by the clock (open loop): response times begin at the planned instant and include the wait for a free connection. Goodput cannot exceed the offered rate."
    ))
}

/// Ids of the scenarios whose latencies have this mark.
fn marked(scenarios: &[ScenarioFinding], mark: LatencyMark) -> Vec<String> {
    scenarios.iter().filter(|it| it.latency_marks.contains(&mark)).map(|scenario| scenario.id.clone()).collect()
}

/// Ids of the open-loop scenarios whose tool does not measure from the planned start.
fn sent(scenarios: &[ScenarioFinding]) -> Vec<String> {
    let is_open = |id: &String| scenarios.iter().any(|it| it.id == *id && it.loop_model == "open");
    marked(scenarios, LatencyMark::FromSend).into_iter().filter(is_open).collect()
}

fn from_sending(scenarios: &[ScenarioFinding]) -> Option<String> {
    let ids = sent(scenarios);
    (!ids.is_empty()).then(|| {
        format!(
            "In {} the tool measures latency from sending: a request that had to wait before looks as fast as one that did not.",
            several(&ids, scenarios.len(), &by_tools(scenarios, &ids))
        )
    })
}

fn back_filled(scenarios: &[ScenarioFinding]) -> Option<String> {
    let ids = marked(scenarios, LatencyMark::BackFilled);
    (!ids.is_empty()).then(|| {
        format!(
            "In {} the tool adds samples after the run, so some latencies were never measured. Do not compare them with another tool’s.",
            several(&ids, scenarios.len(), &by_tools(scenarios, &ids))
        )
    })
}

fn ramps(plan: &Plan) -> Option<String> {
    let ids = ids_where(plan, |load| load.executor.is_ramp(), "every ramp")?;
    let place = ids.map(|ids| format!("In {ids} the load")).unwrap_or_else(|| "The load".to_owned());
    Some(format!(
        "{place} changed within the window: every figure mixes its levels, and a percentile mostly shows the highest. The timeline.jsonl of each trial has its seconds."
    ))
}

fn ids_where(plan: &Plan, is_so: impl Fn(&LoadProfile) -> bool, which: &str) -> Option<Option<String>> {
    in_scenarios(plan, |scenario| is_so(&scenario.load), which)
}

/// The scenarios for which `is_so` holds: `Some(None)` if it holds for all, `None` if for none.
fn in_scenarios(plan: &Plan, is_so: impl Fn(&Scenario) -> bool, which: &str) -> Option<Option<String>> {
    let found: Vec<String> =
        plan.scenarios.iter().filter(|scenario| is_so(scenario)).map(|scenario| scenario.id.clone()).collect();
    match found.len() {
        0 => None,
        all if all == plan.scenarios.len() => Some(None),
        _ => Some(Some(several(&found, plan.scenarios.len(), which))),
    }
}

/// Lists scenarios by id. Many are given as a number and a description.
fn several(ids: &[String], all: usize, which: &str) -> String {
    let number = ids.len();
    let which = if which.is_empty() { String::new() } else { format!(" ({which})") };
    match number {
        few if few <= MOST_NAMED => listed(ids, "and"),
        every if every == all => format!("all {all} scenarios"),
        _ => format!("{number} of {all} scenarios{which}"),
    }
}

/// The tools of these scenarios: `by k6, h2load and hey`.
fn by_tools(scenarios: &[ScenarioFinding], ids: &[String]) -> String {
    let own = scenarios.iter().filter(|scenario| ids.contains(&scenario.id));
    let names = each_once(own.map(|scenario| scenario.tool.split(' ').next().unwrap_or_default().to_owned()));
    format!("by {}", listed(&names, "and"))
}

/// A program without work still starts like one with work, so its time is a lower bound of the start-up cost.
fn above_start(timed: &[Timed]) -> Option<String> {
    let has_floor = |timed: &Timed| timed.finding.cases.iter().any(|case| case.floor_s.is_some());
    timed.iter().any(has_floor).then(|| {
        "Time above the start is the time of a run minus that of one without the work. What a runtime does only under work (compile hot code, grow its heap) counts as work."
            .to_owned()
    })
}

fn programs_alone(plan: &Plan) -> Option<String> {
    let all_warm = plan.programs.iter().all(|program| program.runs.warmup_runs > 0);
    let after = if all_warm { ", after warm-up runs" } else { "" };
    (!plan.programs.is_empty()).then(|| format!("Programs ran one at a time{after}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_scenarios_are_counted_and_few_are_named() {
        let ids = |number: usize| -> Vec<String> { (0..number).map(|it| format!("s{it}")).collect() };
        assert_eq!(several(&ids(4), 25, "every closed loop"), "s0, s1, s2 and s3");
        assert_eq!(several(&ids(20), 25, "every closed loop"), "20 of 25 scenarios (every closed loop)");
        assert_eq!(several(&ids(5), 25, ""), "5 of 25 scenarios");
        assert_eq!(several(&ids(5), 5, "by wrk"), "all 5 scenarios");
    }
}
