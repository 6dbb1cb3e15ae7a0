//! A duel: each challenger over the base, in correct responses per second and in CPU time per correct response.
//!
//! The first subject of the plan is the base. The study names the response that judges; the other is only shown. All judging
//! ratios are one family, and the rule of `verdict.rs` judges each. The outcome for a build follows:
//!
//! 1. *Worse* if a challenger is significantly worse, by the smallest effect or more.
//! 2. *Cannot tell* if the interval of a ratio includes a loss of [`LOSSES_EXCLUDED`] times the smallest effect or more. Half of
//!    all runs show less than the true difference, so the smallest effect must be smaller than the loss to detect.
//! 3. Otherwise *not worse*.

use serde::Serialize;
use tolok_model::{Judge, Role, RunRecord};

use crate::compare::ComparedMetric;
use crate::contest::by_block;
use crate::estimate::BlockRatio;
use crate::figures::{counted, small_share};
use crate::findings::{Estimate, Verdict};
use crate::fit::Fit;
use crate::noise::{NoiseCheck, aa_effect_of, second_halves};
use crate::records::Records;
use crate::slices::Comparand;
use crate::verdict::{Judged, Rule, judge};
use crate::worded::worded;
use crate::{CaseFinding, Findings, JsonSchema, ScenarioFinding};

/// Version of the format of [`Duel`].
pub const DUEL_SCHEMA: u32 = 1;
/// The interval must exclude a loss of this many times the smallest effect before a challenger counts as not worse.
pub const LOSSES_EXCLUDED: f64 = 3.0;

/// The findings of a duel.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Duel {
    /// Version of this format.
    pub schema_version: u32,
    /// The run, by its id.
    pub run: String,
    /// The machine in one line.
    pub machine: String,
    /// The command that repeats it.
    pub command: String,
    /// The subject that the others are compared with, by its title.
    pub base: String,
    /// The response that judges.
    pub judged_by: ComparedMetric,
    /// Differences smaller than this fraction do not matter.
    pub smallest_effect: f64,
    /// The outcome, as a word.
    pub outcome: DuelOutcome,
    /// The outcome, in one sentence.
    pub sentence: String,
    /// A row for each challenger in each scenario.
    pub pairs: Vec<DuelPair>,
    /// The noise check of each scenario: the base, entered twice.
    pub twins: Vec<DuelTwin>,
}

/// A challenger over the base, in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DuelPair {
    /// Id of the scenario.
    pub scenario: String,
    /// The challenger, by its title.
    pub challenger: String,
    /// The challenger, as studies name it.
    pub subject: String,
    /// Launches in which both were measured.
    pub launches: u32,
    /// Correct responses per second over those of the base; absent if one of the two has none.
    pub goodput: Option<Estimate>,
    /// CPU time per correct response over that of the base; absent if it was not read.
    pub cpu: Option<Estimate>,
    /// The probability of a difference this large in the judging response if both were equal, adjusted for all pairs.
    pub p_adjusted: Option<f64>,
    /// The verdict on the challenger.
    pub verdict: Verdict,
    /// Whether a loss of three times the smallest effect is excluded.
    pub loss_excluded: bool,
    /// The conclusion on the challenger, in a few words.
    pub conclusion: String,
    /// Both ratios in words.
    pub sentence: String,
}

/// The base over itself.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DuelTwin {
    /// Id of the scenario.
    pub scenario: String,
    /// Correct responses per second; the true ratio is 1.
    pub goodput: Option<Estimate>,
    /// CPU time per correct response; the true ratio is 1.
    pub cpu: Option<Estimate>,
    /// Both in words.
    pub sentence: String,
}

worded! {
    /// The outcome of a duel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum DuelOutcome by words {
        /// A challenger is significantly worse, by the smallest effect or more.
        Worse = "Worse",
        /// A loss that matters is not ruled out.
        CannotTell = "Cannot tell",
        /// No challenger loses three times the smallest effect.
        NotWorse = "Not worse",
    }
}

/// A pair before all are judged together.
struct Draft<'a> {
    scenario: &'a ScenarioFinding,
    case: String,
    title: String,
    subject: String,
    ratios: [Option<BlockRatio>; 2],
    aa_effect: Option<f64>,
}

const RESPONSES: [ComparedMetric; 2] = [ComparedMetric::Goodput, ComparedMetric::Cpu];

/// Whether a run is one of `tolok duel`.
pub fn is_duel(run: &RunRecord) -> bool {
    run.study == "duel" && run.command.starts_with("tolok duel ")
}

/// The findings of a duel. `findings` must be those of the same records.
pub fn duel(records: &Records, findings: &Findings) -> Duel {
    let judged_by = match records.plan.judge {
        Judge::Goodput => ComparedMetric::Goodput,
        Judge::Cpu => ComparedMetric::Cpu,
    };
    let place = usize::from(judged_by == ComparedMetric::Cpu);
    let (mut drafts, mut twins) = (Vec::new(), Vec::new());
    let mut base = String::new();
    for scenario in &findings.scenarios {
        let Some(first) = base_of(records, scenario) else { continue };
        base = title_of(scenario, first).unwrap_or(base);
        let fits = RESPONSES.map(|response| Fitted::of(records, scenario, response));
        let over = |case: &str| [0, 1].map(|response: usize| fits[response].ratio(case, first));
        let twin = records.plan.cases.iter().find(|case| case.twin_of.as_deref() == Some(first));
        let of_twin = twin.map(|twin| over(&twin.id)).unwrap_or_default();
        let effect = of_twin[place].clone().and_then(|pair| aa_effect_of(pair, records.plan.smallest_effect));
        twins.extend(twin.map(|_| twin_of(scenario, &of_twin)));
        drafts.extend(challengers(records, scenario, first).map(|(case, subject)| Draft {
            scenario,
            title: title_of(scenario, case).unwrap_or_else(|| subject.clone()),
            case: case.to_owned(),
            subject,
            ratios: over(case),
            aa_effect: effect,
        }));
    }
    let pairs = judged(drafts, records.plan.smallest_effect, place, &base);
    let outcome = outcome(&pairs);
    Duel {
        schema_version: DUEL_SCHEMA,
        run: findings.run.id.clone(),
        machine: findings.run.machine.clone(),
        command: findings.run.command.clone(),
        judged_by,
        smallest_effect: records.plan.smallest_effect,
        sentence: sentence(&pairs, &twins, &base, outcome),
        base,
        outcome,
        pairs,
        twins,
    }
}

/// The base of a scenario: the first case of the plan that competes in it.
fn base_of<'a>(records: &Records<'a>, scenario: &ScenarioFinding) -> Option<&'a str> {
    let mut cases = records.plan.cases.iter();
    cases.find(|case| case.scenario == scenario.id && case.competes()).map(|case| case.id.as_str())
}

/// All other competing cases, with their labels.
fn challengers<'a>(
    records: &Records<'a>,
    scenario: &'a ScenarioFinding,
    base: &'a str,
) -> impl Iterator<Item = (&'a str, String)> {
    let others = records.plan.cases.iter().filter(move |case| case.scenario == scenario.id && case.id != base);
    others.filter(|case| case.competes()).map(|case| (case.id.as_str(), case.subject.label.clone()))
}

fn title_of(scenario: &ScenarioFinding, case: &str) -> Option<String> {
    scenario.cases.iter().find(|finding| finding.case == case).map(|finding| finding.title.clone())
}

/// All cases of a scenario by one response, with the noise check's second entry. An unranked case has no ratio.
struct Fitted<'a> {
    cases: Vec<&'a str>,
    figures: Vec<Comparand>,
    /// The factor by which the twin widens intervals.
    widening: f64,
}

impl<'a> Fitted<'a> {
    fn of(records: &Records<'a>, scenario: &ScenarioFinding, response: ComparedMetric) -> Self {
        let is_barred = |case: &str| scenario.cases.iter().any(|finding| finding.case == case && !finding.ranked);
        let own = records.plan.cases.iter().filter(|case| case.scenario == scenario.id && case.role == Role::Subject);
        let cases: Vec<&str> = own.map(|case| case.id.as_str()).filter(|case| !is_barred(case)).collect();
        let figures: Vec<Comparand> =
            cases.iter().map(|case| by_block(records, case, response, scenario.memory_source)).collect();
        let halves = second_halves(records.plan, &scenario.id);
        let competing: Vec<usize> =
            (0..cases.len()).filter(|place| halves.iter().all(|(twin, _)| *twin != cases[*place])).collect();
        let pairs = halves.iter().filter_map(|(twin, first)| {
            let again = cases.iter().position(|case| case == twin)?;
            Some((competing.iter().position(|place| cases[*place] == *first)?, &figures[again]))
        });
        let rows: Vec<&Comparand> = competing.iter().map(|place| &figures[*place]).collect();
        let widening = NoiseCheck::of(&rows, &pairs.collect::<Vec<_>>()).map_or(1.0, |check| check.widening());
        Self { cases, figures, widening }
    }

    fn ratio(&self, case: &str, base: &str) -> Option<BlockRatio> {
        let place = |of: &str| self.cases.iter().position(|known| *known == of);
        Fit::of(self.figures.iter().collect()).widened(self.widening).ratio(place(case)?, place(base)?)
    }
}

fn twin_of(scenario: &ScenarioFinding, ratios: &[Option<BlockRatio>; 2]) -> DuelTwin {
    let [goodput, cpu] = ratios.each_ref().map(|pair| pair.as_ref().map(|pair| pair.ratio.clone()));
    let words: Vec<String> = [&goodput, &cpu].into_iter().flatten().map(in_words).collect();
    DuelTwin {
        scenario: scenario.id.clone(),
        sentence: match words.as_slice() {
            [] => "the noise check has no figures".to_owned(),
            words => format!("the base, entered twice, came out at {}", words.join(" and ")),
        },
        goodput,
        cpu,
    }
}

/// Judges all pairs together by the response in `place`.
fn judged(drafts: Vec<Draft>, smallest_effect: f64, place: usize, base: &str) -> Vec<DuelPair> {
    // Each pair has its own floor, so that part of the rule is applied to each pair separately.
    let known: Vec<BlockRatio> = drafts.iter().filter_map(|draft| draft.ratios[place].clone()).collect();
    let mut verdicts = judge(known, Rule::of(smallest_effect)).into_iter();
    let better = RESPONSES[place].better();
    let pair = |draft: Draft| {
        let judged = draft.ratios[place].as_ref().and_then(|_| verdicts.next());
        let verdict = judged.as_ref().map_or(Verdict::CannotTell, |judged| {
            let is_no_larger =
                draft.aa_effect.is_some_and(|effect| crate::estimate::size(judged.pair.ratio.value) <= effect);
            if judged.verdict.is_told_apart() && is_no_larger { Verdict::CannotTell } else { better.of(judged.verdict) }
        });
        let [goodput, cpu] = draft.ratios.map(|pair| pair.map(|pair| pair.ratio));
        let launches = judged.as_ref().map_or(0, |judged| judged.pair.blocks);
        let loss_excluded = judged.as_ref().is_some_and(|judged| is_loss_excluded(judged, smallest_effect, place));
        DuelPair {
            scenario: draft.scenario.id.clone(),
            conclusion: conclusion(verdict, loss_excluded, RESPONSES[place], smallest_effect),
            loss_excluded,
            sentence: pair_sentence(draft.scenario, &draft.case, (&draft.title, base), [&goodput, &cpu], launches),
            p_adjusted: judged.as_ref().and_then(|judged| judged.p_adjusted),
            challenger: draft.title,
            subject: draft.subject,
            launches,
            goodput,
            cpu,
            verdict,
        }
    };
    drafts.into_iter().map(pair).collect()
}

fn is_loss_excluded(judged: &Judged, smallest_effect: f64, place: usize) -> bool {
    let most = LOSSES_EXCLUDED * smallest_effect;
    let ratio = &judged.pair.ratio;
    match RESPONSES[place] {
        ComparedMetric::Cpu => ratio.high.is_some_and(|high| high < 1.0 + most),
        _ => ratio.low.is_some_and(|low| low > 1.0 / (1.0 + most)),
    }
}

fn outcome(pairs: &[DuelPair]) -> DuelOutcome {
    if pairs.iter().any(|pair| pair.verdict == Verdict::Slower) {
        DuelOutcome::Worse
    } else if pairs.is_empty() || pairs.iter().any(|pair| !pair.loss_excluded) {
        DuelOutcome::CannotTell
    } else {
        DuelOutcome::NotWorse
    }
}

/// `0.968× (0.951–0.985)`
fn in_words(ratio: &Estimate) -> String {
    of(ratio) + &beside(ratio)
}

fn pair_sentence(
    scenario: &ScenarioFinding,
    case: &str,
    (challenger, base): (&str, &str),
    [goodput, cpu]: [&Option<Estimate>; 2],
    launches: u32,
) -> String {
    let Some(goodput) = goodput else {
        return format!("{challenger} cannot be compared with {base}: {}", why_not(scenario, case, base));
    };
    let cpu = cpu.as_ref().map(|cpu| format!(" and takes {} the CPU time per response{}", of(cpu), beside(cpu)));
    format!(
        "{challenger} gives {} the correct responses per second of {base}{}{}, over {}",
        of(goodput),
        beside(goodput),
        cpu.unwrap_or_default(),
        counted_launches(launches)
    )
}

/// Why a case has no ratio: it or the base failed, or is not ranked.
fn why_not(scenario: &ScenarioFinding, case: &str, base: &str) -> String {
    let said = |finding: &CaseFinding| {
        let flag = finding.flags.iter().find(|flag| flag.voids_rank).map(|flag| flag.message.clone());
        let failure = finding.failures.first().map(|failure| format!("{}: {}", failure.reason, failure.message));
        let said = failure.or(flag)?;
        Some(format!("{}: {}", finding.title, said.trim_end_matches('.')))
    };
    let concerned = scenario.cases.iter().filter(|finding| finding.case == case || finding.title == base);
    concerned.filter_map(said).next().unwrap_or_else(|| "they share no launch with correct responses".to_owned())
}

/// `0.968×`
fn of(ratio: &Estimate) -> String {
    format!("{:.3}×", ratio.value)
}

/// ` (0.951–0.985)`
fn beside(ratio: &Estimate) -> String {
    ratio.low.zip(ratio.high).map(|(low, high)| format!(" ({low:.3}–{high:.3})")).unwrap_or_default()
}

fn counted_launches(launches: u32) -> String {
    if launches == 1 { "1 launch".to_owned() } else { format!("{launches} launches") }
}

/// The last sentence of a build log.
fn sentence(pairs: &[DuelPair], twins: &[DuelTwin], base: &str, outcome: DuelOutcome) -> String {
    if let [pair] = pairs {
        let noise = twins.first().map(|twin| format!("; {}", twin.sentence)).unwrap_or_default();
        return format!("{}: {}{noise}.", pair.conclusion, pair.sentence);
    }
    let number = |is_meant: &dyn Fn(&DuelPair) -> bool| pairs.iter().filter(|pair| is_meant(pair)).count() as u64;
    let all = counted(pairs.len() as u64, "comparison");
    let worse = number(&|pair| pair.verdict == Verdict::Slower);
    let open = number(&|pair| pair.verdict != Verdict::Slower && !pair.loss_excluded);
    format!("{}: of {all} with {base}, {worse} came out worse and {open} undecided.", outcome.words())
}

/// `Slower`, `No loss of 3% or more`, `Cannot tell`.
fn conclusion(verdict: Verdict, loss_excluded: bool, judged_by: ComparedMetric, smallest_effect: f64) -> String {
    let is_cpu = judged_by == ComparedMetric::Cpu;
    match (verdict, loss_excluded) {
        (Verdict::Slower, _) if is_cpu => "Takes more CPU time".to_owned(),
        (Verdict::Slower, _) => "Slower".to_owned(),
        (Verdict::Faster, _) if is_cpu => "Takes less CPU time".to_owned(),
        (Verdict::Faster, _) => "Faster".to_owned(),
        (Verdict::Equivalent, _) => "Equivalent".to_owned(),
        (_, true) => format!("No loss of {} or more", small_share(LOSSES_EXCLUDED * smallest_effect)),
        (_, false) => "Cannot tell".to_owned(),
    }
}

/// The state so far, for users who wait: the judging ratios, each with its interval.
pub fn standing(found: &Duel) -> Option<String> {
    let of = |pair: &DuelPair| {
        let ratio = if found.judged_by == ComparedMetric::Cpu { &pair.cpu } else { &pair.goodput };
        ratio.as_ref().map(|ratio| format!("{} {}", pair.challenger, in_words(ratio)))
    };
    let launches = found.pairs.iter().map(|pair| pair.launches).max().filter(|launches| *launches > 0)?;
    let words: Vec<String> = found.pairs.iter().filter_map(of).collect();
    Some(format!("{}: {} of {}", counted_launches(launches), words.join(", "), found.base))
}
