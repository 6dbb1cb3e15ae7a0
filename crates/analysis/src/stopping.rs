//! The stopping rule: after how many blocks a run with such a rule ends.
//!
//! A study may request blocks until its ratios are precise enough: *until every ratio is sure to 3%, at least 6 blocks, at most
//! 20*. The plan contains the rule before the first trial, and its hash covers the rule. The rule looks only at the **width** of
//! the intervals: not at which case is ahead, by how much, whether an interval excludes 1, or any verdict. A run that ended "once
//! there was a difference" would find differences where none exist, and more of them the longer it may run.
//!
//! A budget is a time: no block begins that would exceed it, judging by the length of previous blocks. It ignores ratios, too.
//!
//! The rule applies after each whole block, to all blocks so far. It uses the ratios of reports: every pair of ranked cases of
//! each scenario, goodput within blocks, and wall time for programs, each with its own 95% interval.

use std::collections::{BTreeMap, BTreeSet};

use tolok_model::{Plan, Stopping, duration_words};

use crate::estimate::{half_width, least_trials};
use crate::figures::{counted, small_share};
use crate::findings::{CaseFinding, Comparison, Estimate, ProgramComparison};
use crate::flag::{Flag, FlagKind};
use crate::programs;
use crate::records::Records;
use crate::servers::of_servers;

/// The number of blocks after which the plan's rule or its budget ends the run, or `None` if neither applies yet.
///
/// Only whole blocks count: those with a record for every planned trial, whatever its outcome.
pub fn blocks_settled(records: &Records) -> Option<u32> {
    let sure = records.plan.stopping.and_then(|rule| blocks_until_sure(records, rule));
    let spent = records.plan.budget_s.and_then(|budget_s| blocks_in_budget(records, budget_s));
    sure.into_iter().chain(spent).min()
}

fn blocks_until_sure(records: &Records, rule: Stopping) -> Option<u32> {
    if !has_ratios(records.plan) {
        return None;
    }
    let least = rule.at_least.max(least_trials());
    (least..=whole_blocks(records)).find(|blocks| is_settled(records, *blocks, rule))
}

/// The number of blocks after which another one of average length would exceed the budget.
fn blocks_in_budget(records: &Records, budget_s: f64) -> Option<u32> {
    let took_s = block_times(records);
    (least_trials()..=whole_blocks(records)).find(|blocks| {
        let taken_s: f64 = took_s.range(1..=*blocks).map(|(_, took_s)| took_s).sum();
        taken_s * f64::from(blocks + 1) / f64::from(*blocks) > budget_s
    })
}

/// How long each block took. The trials of a launch share one time.
fn block_times(records: &Records) -> BTreeMap<u32, f64> {
    let launches: BTreeMap<u32, Option<u32>> =
        records.plan.trials.iter().map(|trial| (trial.number, trial.launch)).collect();
    let (mut blocks, mut counted) = (BTreeMap::new(), BTreeSet::new());
    for trial in records.trials {
        let launch = launches.get(&trial.number).copied().flatten();
        if launch.is_none_or(|launch| counted.insert(launch)) {
            *blocks.entry(trial.block).or_default() += trial.took_s;
        }
    }
    blocks
}

/// Whether any two cases of a plan compete. Otherwise there is no ratio that could become precise.
fn has_ratios(plan: &Plan) -> bool {
    let competing =
        |scenario: &str| plan.cases.iter().filter(|case| case.scenario == scenario && case.competes()).count();
    plan.cases.iter().any(|case| competing(&case.scenario) > 1)
}

/// The effect of the rule on a run.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// The plan shortened to the blocks that ran, or `None` if the rule did not shorten it.
    pub(crate) plan: Option<Plan>,
    pub(crate) sentence: Option<String>,
}

/// Whether and where the rule or the budget ended the run.
pub(crate) fn ended(records: &Records) -> Ended {
    let plan = records.plan;
    if !plan.may_end_early() {
        return Ended::default();
    }
    let Some(settled) = blocks_settled(records) else {
        let came = match whole_blocks(records) {
            all if all >= plan.blocks => {
                let all = counted_blocks(all);
                match least_certain(records) {
                    Some((ratio, half_width)) => {
                        format!("All {all} ran, and {ratio} is known to ±{} only", small_share(half_width))
                    }
                    None => format!("All {all} ran without that"),
                }
            }
            some => format!("The run was stopped after {}, before that", counted_blocks(some)),
        };
        return Ended { plan: None, sentence: Some(sentence(plan, &came)) };
    };
    // If a run continued anyway, its further blocks count.
    let run = records.trials.iter().map(|trial| trial.block).max().map_or(settled, |last| last.max(settled));
    let came = if run == settled {
        format!("It ended after {}", counted_blocks(settled))
    } else {
        format!("That came after {}, and {run} ran", counted_blocks(settled))
    };
    Ended { plan: Some(shortened(plan, run)), sentence: Some(sentence(plan, &came)) }
}

fn sentence(plan: &Plan, came: &str) -> String {
    let sure = plan.stopping.map(|rule| format!("once every ratio is known to ±{}", small_share(rule.until)));
    let spent =
        plan.budget_s.map(|budget_s| format!("before the round that would exceed {}", duration_words(budget_s)));
    let at_least = plan.stopping.map_or_else(least_trials, |rule| rule.at_least);
    let ends: Vec<String> = sure.into_iter().chain(spent).collect();
    format!("Planned: {at_least} to {}, ending {}. {came}.", counted_blocks(plan.blocks), ends.join(", or "))
}

fn counted_blocks(blocks: u32) -> String {
    counted(u64::from(blocks), "round")
}

/// The number of blocks from the first on with a record for every planned trial.
fn whole_blocks(records: &Records) -> u32 {
    let recorded: BTreeSet<u32> = records.trials.iter().map(|trial| trial.number).collect();
    let lacking = records.plan.trials.iter().filter(|trial| !recorded.contains(&trial.number));
    lacking.map(|trial| trial.block - 1).min().unwrap_or(records.plan.blocks)
}

/// Whether every ratio over this many blocks is precise enough, which needs an interval. A case with only disturbed trials has no
/// ratio, but may get one from further blocks, so the run waits for it. It does not wait for a case that failed on its own.
fn is_settled(records: &Records, blocks: u32, rule: Stopping) -> bool {
    let plan = shortened(records.plan, blocks);
    let part = Records { plan: &plan, ..*records };
    let is_sure = |ratio: &Estimate| half_width(ratio).is_some_and(|half_width| half_width <= rule.until);
    // Pairs without a common block have no ratio at all.
    let pairs = |ranked: usize| ranked * ranked.saturating_sub(1) / 2;
    let servers = of_servers(&part);
    let timed = programs::timed(&part);
    let is_awaited = |flags: &[Flag]| flags.iter().any(|flag| flag.voids_rank && flag.kind == FlagKind::Disturbed);
    let of_servers = servers.iter().all(|scenario| {
        if scenario.cases.iter().any(|case| is_awaited(&case.flags)) {
            return false;
        }
        let ranked = scenario.cases.iter().filter(|case| case.ranked).count();
        scenario.comparisons.len() == pairs(ranked) && scenario.comparisons.iter().all(|pair| is_sure(&pair.ratio))
    });
    let of_programs = timed.iter().map(|timed| &timed.finding).all(|program| {
        if program.cases.iter().any(|case| is_awaited(&case.flags)) {
            return false;
        }
        let ranked = program.cases.iter().filter(|case| case.ranked).count();
        program.comparisons.len() == pairs(ranked) && program.comparisons.iter().all(|pair| is_sure(&pair.wall.ratio))
    });
    of_servers && of_programs
}

/// The ratio of the whole run with the widest interval, and the interval's half width. `None` without a rule or an interval.
fn least_certain(records: &Records) -> Option<(String, f64)> {
    let rule = records.plan.stopping?;
    let (servers, timed) = (of_servers(records), programs::timed(records));
    let of_servers = servers.iter().flat_map(|scenario| {
        let words = |pair: &Comparison| pair_words(&scenario.cases, (&pair.a, &pair.b), &scenario.title);
        scenario.comparisons.iter().filter_map(move |pair| Some((words(pair), half_width(&pair.ratio)?)))
    });
    let of_programs = timed.iter().map(|timed| &timed.finding).flat_map(|program| {
        let words = |pair: &ProgramComparison| pair_words(&program.cases, (&pair.a, &pair.b), &program.title);
        program.comparisons.iter().filter_map(move |pair| Some((words(pair), half_width(&pair.wall.ratio)?)))
    });
    let wide = of_servers.chain(of_programs).filter(|(_, half_width)| *half_width > rule.until);
    wide.max_by(|(_, left), (_, right)| left.total_cmp(right))
}

fn pair_words<F>(cases: &[CaseFinding<F>], (a, b): (&str, &str), scenario: &str) -> String {
    let title = |subject: &str| {
        cases.iter().find(|case| case.subject == subject).map_or(subject.to_owned(), |case| case.title.clone())
    };
    format!("{} over {} in {scenario}", title(a), title(b))
}

/// The plan of the first blocks only, without the trials of later ones.
fn shortened(plan: &Plan, blocks: u32) -> Plan {
    let mut part = plan.clone();
    part.blocks = blocks;
    part.trials.retain(|trial| trial.block <= blocks);
    part
}
