//! The findings of a comparison of runs: the only input of its reports, and its JSON.

use serde::Serialize;

use super::metric::{ComparedMetric, ScenarioKind};
use crate::JsonSchema;
use crate::estimate::{half_width, size};
use crate::findings::{Better, Estimate, NoiseFloor};
use crate::worded::worded;

/// Version of the format of [`RunComparison`].
pub const COMPARE_SCHEMA: u32 = 2;

/// Runs before and runs after.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    /// Version of this format.
    pub schema_version: u32,
    /// The outcome, as a word.
    pub outcome: CompareOutcome,
    /// The outcome, in one sentence.
    pub sentence: String,
    /// Differences smaller than this fraction do not matter.
    pub threshold: f64,
    /// Number of figures judged together, by verdict.
    pub tally: Tally,
    /// The runs before: one, or two or more.
    pub before: Vec<ComparedSide>,
    /// The runs after, likewise.
    pub after: Vec<ComparedSide>,
    /// Conditions that differ between the runs and affect the figures themselves. Without `--allow-differences` there
    /// is no comparison if there are any.
    pub conditions: Vec<Difference>,
    /// What else differs: the change under comparison, and what readers must know.
    pub changes: Vec<Difference>,
    /// Scenarios that are in all runs, in the order of the run before.
    pub scenarios: Vec<ScenarioChange>,
    /// Cases of the first run before that another run lacks.
    pub only_before: Vec<UnmatchedCase>,
    /// Further cases of the first run after that another run lacks.
    pub only_after: Vec<UnmatchedCase>,
    /// What readers must know before relying on this, the most important first.
    pub cautions: Vec<String>,
}

worded! {
    /// The outcome of a comparison.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum CompareOutcome by words {
        /// Something became worse by the threshold or more.
        Regression = "Regression",
        /// One of the runs has no ranked case.
        NotSound = "Not sound",
        /// One run of each, and a figure is worse in the run after. A pair cannot show whether the version or the run caused it.
        Changed = "Changed between these two runs",
        /// Nothing clearly became worse, but a main figure has no answer.
        CannotTell = "Cannot tell",
        /// No judged figure became worse by the threshold.
        NoRegression = "No regression found",
    }
}

/// Judged figures of cases, by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// All judged figures.
    pub judged: u32,
    /// Worse by the threshold or more.
    pub regressions: u32,
    /// Better by the threshold or more.
    pub improvements: u32,
    /// Of a pair: worse by the threshold or more in the run after.
    pub worse: u32,
    /// Of a pair: better by the threshold or more in the run after.
    pub better: u32,
    /// Certain to differ by less than the threshold.
    pub equivalent: u32,
    /// No difference found, with an interval that rules out a large one.
    pub no_difference_found: u32,
    /// No answer.
    pub cannot_tell: u32,
    /// Main figures among these.
    pub main_cannot_tell: u32,
    /// Cases of both runs that are not judged, because one or both are not ranked.
    pub cases_not_judged: u32,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedSide {
    /// Name of the run's folder.
    pub id: String,
    /// Title of its study.
    pub title: String,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// Version of tolok.
    pub tolok_version: String,
    /// Commit of the checkout and whether it has changes; absent outside a checkout.
    pub git: Option<String>,
    /// Its machine in one line.
    pub machine: String,
    /// Rounds of its plan.
    pub blocks: u32,
    /// Planned trials without a record.
    pub trials_missing: u32,
    /// The difference that matters to its study, as a fraction.
    pub smallest_effect: f64,
    /// The command that repeats it.
    pub command: String,
}

/// A difference between the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What differs: `CPU model`, `link`, `Go`.
    pub what: String,
    /// Affected scenarios, by their ids in the run before; empty if it affects the whole runs.
    pub scenarios: Vec<String>,
    /// Its value in the run before.
    pub before: String,
    /// Its value in the run after.
    pub after: String,
}

/// A case that has no counterpart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnmatchedCase {
    /// Id of its scenario.
    pub scenario: String,
    /// The subject as users write it.
    pub subject: String,
    /// Title of the subject.
    pub title: String,
}

impl UnmatchedCase {
    /// The first five by subject and scenario, and the number of others.
    pub fn listed(cases: &[Self]) -> String {
        const NAMED: usize = 5;
        let names = cases.iter().take(NAMED).map(|case| format!("{} in {}", case.subject, case.scenario));
        let names = names.collect::<Vec<_>>().join(", ");
        match cases.len().saturating_sub(NAMED) {
            _ if cases.is_empty() => "none".to_owned(),
            0 => names,
            more => format!("{names}, and {more} more"),
        }
    }
}

/// A scenario of all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioChange {
    /// Its id in the run before.
    pub id: String,
    /// Its id in the run after. It differs only if the study changed.
    pub id_after: String,
    /// Title of its workload.
    pub title: String,
    /// Its load in words; for programs, how often they run.
    pub load: String,
    /// The load generator or timer.
    pub tool: String,
    /// Its environment in words.
    pub environment: String,
    /// A closed or an open loop, or programs.
    pub kind: ScenarioKind,
    /// The control: a program that is the same in both runs and shows changes of the machine; absent without one.
    pub control: Option<ControlFinding>,
    /// Why there is no control.
    pub no_control: Option<String>,
    /// The difference between the halves of the noise check in the run before, the largest if there are several runs; absent
    /// without a pair.
    pub noise_floor_before: Option<NoiseFloor>,
    /// The same in the runs after.
    pub noise_floor_after: Option<NoiseFloor>,
    /// Cases of all runs, in the order of the run before's table.
    pub cases: Vec<CaseChange>,
}

/// A program that is the same in both runs, so any difference comes from the machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ControlFinding {
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// How much each of its figures shifted.
    pub shifts: Vec<ControlShift>,
}

/// How much a figure of the control shifted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ControlShift {
    /// Which figure.
    pub metric: ComparedMetric,
    /// After over before.
    pub ratio: ChangeRatio,
    /// max(r, 1/r) − 1 of that ratio. A case's difference must be larger to count.
    pub size: f64,
    /// Whether the machine shifted by the threshold or more: the interval excludes 1, and the size reaches the threshold.
    pub is_relevant: bool,
    /// Whether it can serve as a control: its interval is at most 10% to either side, or excludes 1. Reports show the shift of an
    /// unusable control, but no judgement uses it.
    pub is_usable: bool,
}

/// A subject under a scenario in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseChange {
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Why its figures are not judged; absent if they are.
    pub not_judged: Option<String>,
    /// Whether it is ranked in the run before and not in the run after. Its change is unknown, so the outcome
    /// is no better than *cannot tell*.
    pub lost_rank: bool,
    /// Its figures.
    pub figures: Vec<FigureChange>,
}

/// A figure of a case in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FigureChange {
    /// Which figure.
    pub metric: ComparedMetric,
    /// Its unit: `per_s`, `s` or `bytes`.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Whether it is the main figure of the scenario, or was requested.
    pub is_main: bool,
    /// Median over the trials of the run before. For several runs: the geometric mean over runs, with each run's mean in place of
    /// the trials.
    pub before: Option<Estimate>,
    /// The same for the runs after.
    pub after: Option<Estimate>,
    /// After over before: the ratio of geometric means. For a pair, with Welch's interval over trials; for several runs, with
    /// Student's interval over runs.
    pub ratio: Option<ChangeRatio>,
    /// Standard deviation among runs of one side, as a fraction; absent for a pair, which cannot show it.
    pub between_runs: Option<f64>,
    /// The probability of a difference this large if the figures were equal, adjusted for all judged together (Holm).
    pub p_adjusted: Option<f64>,
    /// The probability of figures this similar if they differed by the threshold, adjusted likewise.
    pub p_equivalence_adjusted: Option<f64>,
    /// The figure over the control's in the same round, after over before: the change without the machine's share. Absent without
    /// a control.
    pub beside_control: Option<ChangeRatio>,
    /// The probability of a ratio this far from 1 by chance, adjusted for all figures with a control (Holm).
    pub p_beside_control_adjusted: Option<f64>,
    /// The verdict; absent if it is not judged.
    pub verdict: Option<Change>,
    /// Why there is no answer, or why it is not judged.
    pub reason: Option<String>,
}

/// A ratio of two values, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ChangeRatio {
    /// After over before.
    pub value: f64,
    /// Lower end of its own 95% interval; absent with fewer than 5 trials in a run of a pair.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

worded! {
    /// The change of a figure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Change by words {
        /// Worse by the threshold or more.
        Regression = "regression",
        /// Better by the threshold or more.
        Improvement = "improvement",
        /// Of a pair: worse by the threshold or more in the run after.
        Worse = "changed for the worse",
        /// Of a pair: better by the threshold or more in the run after.
        Better = "changed for the better",
        /// They differ by less than the threshold.
        Equivalent = "equivalent",
        /// No difference that matters, and the interval is narrow enough to rule out a large one.
        NoDifferenceFound = "no difference found",
        /// No answer.
        CannotTell = "cannot tell",
    }
}

impl ChangeRatio {
    /// max(r, 1/r) − 1: the same for a change and its reversal.
    pub fn size(self) -> f64 {
        size(self.value)
    }

    /// √(high ÷ low) − 1; `None` without an interval.
    pub fn half_width(self) -> Option<f64> {
        half_width(&self.estimate())
    }

    /// Whether its interval excludes 1.
    pub fn is_told(self) -> bool {
        self.estimate().excludes_one()
    }

    /// The same as an estimate, for formatting.
    pub fn estimate(self) -> Estimate {
        Estimate { value: self.value, low: self.low, high: self.high, trials: Vec::new() }
    }
}

impl RunComparison {
    /// Every figure with its scenario and its case.
    pub fn figures(&self) -> impl Iterator<Item = (&ScenarioChange, &CaseChange, &FigureChange)> {
        self.scenarios.iter().flat_map(|scenario| {
            scenario.cases.iter().flat_map(move |case| case.figures.iter().map(move |figure| (scenario, case, figure)))
        })
    }
}
