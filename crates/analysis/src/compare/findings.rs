//! What a comparison of runs says: the only thing that its reports read, and its JSON.

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
    /// What follows, as a word.
    pub outcome: CompareOutcome,
    /// What follows, in one sentence.
    pub sentence: String,
    /// Differences smaller than this fraction do not matter.
    pub threshold: f64,
    /// How many figures of cases were judged together, by verdict.
    pub tally: Tally,
    /// The runs before: one, or two and more.
    pub before: Vec<ComparedSide>,
    /// The runs after, likewise.
    pub after: Vec<ComparedSide>,
    /// Conditions in which the runs differ and which have a say in the figures themselves. Without `--allow-differences` there
    /// is no comparison where there are any.
    pub conditions: Vec<Difference>,
    /// What else differs: that which was to be compared, and what a reader must know.
    pub changes: Vec<Difference>,
    /// Scenarios that are in all runs, in the order of the run before.
    pub scenarios: Vec<ScenarioChange>,
    /// Cases of the first run before that another run lacks.
    pub only_before: Vec<UnmatchedCase>,
    /// Further cases of the first run after that another run lacks.
    pub only_after: Vec<UnmatchedCase>,
    /// What a reader must know before relying on this, most important first.
    pub cautions: Vec<String>,
}

worded! {
    /// What follows from a comparison.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum CompareOutcome by words {
        /// Something became worse by what matters, or more.
        Regression = "Regression",
        /// In one of the runs no case may be ranked.
        NotSound = "Not sound",
        /// One run of each, and something is worse in the one after. Whether by its version or by the run, a pair does not show.
        Changed = "Changed between these two runs",
        /// Nothing became worse as far as can be told, but of a main figure it cannot be told.
        CannotTell = "Cannot tell",
        /// Nothing became worse by what matters, as far as was looked.
        NoRegression = "No regression found",
    }
}

/// Judged figures of cases, by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// All that were judged.
    pub judged: u32,
    /// Worse by what matters, or more.
    pub regressions: u32,
    /// Better by what matters, or more.
    pub improvements: u32,
    /// Worse by what matters, or more, in the one run after.
    pub worse: u32,
    /// Better by what matters, or more, in the one run after.
    pub better: u32,
    /// Told to differ by less than what matters.
    pub equivalent: u32,
    /// No difference found, by an interval that would have shown a large one.
    pub no_difference_found: u32,
    /// Nothing can be told.
    pub cannot_tell: u32,
    /// Of these, main figures.
    pub main_cannot_tell: u32,
    /// Cases in both runs of which one or both may not be ranked, so that none of their figures was judged.
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
    /// Commit of the checkout and whether it was changed, if it is one.
    pub git: Option<String>,
    /// Its machine in one line.
    pub machine: String,
    /// Blocks of its plan.
    pub blocks: u32,
    /// Trials that were planned and have no record.
    pub trials_missing: u32,
    /// The difference that matters to its study, as a fraction.
    pub smallest_effect: f64,
    /// Command that repeats it.
    pub command: String,
}

/// Something in which the runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What: `CPU model`, `link`, `Go`.
    pub what: String,
    /// Scenarios that it is about, by their ids in the run before; none if it is about the runs as a whole.
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
    /// The subject as a person would write it.
    pub subject: String,
    /// Title of the subject.
    pub title: String,
}

/// A scenario of all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioChange {
    /// Its id in the run before.
    pub id: String,
    /// Its id in the run after, which is the same unless the study was written anew.
    pub id_after: String,
    /// Title of its workload.
    pub title: String,
    /// Its load in words; of programs, how often they are run.
    pub load: String,
    /// What put the load on, or timed.
    pub tool: String,
    /// Its environment in words.
    pub environment: String,
    /// A closed or an open loop, or programs.
    pub kind: ScenarioKind,
    /// The program that is the same in both runs and shows what the machine did; none where there is none.
    pub control: Option<ControlFinding>,
    /// Why there is none.
    pub no_control: Option<String>,
    /// How far apart the run before found two halves that are the same; none where it has no such pair. Of several runs, the
    /// largest.
    pub noise_floor_before: Option<NoiseFloor>,
    /// The same of the runs after.
    pub noise_floor_after: Option<NoiseFloor>,
    /// Cases of all runs, in the order of the run before's table.
    pub cases: Vec<CaseChange>,
}

/// A program that is the same in both runs, so that what differs is the machine's.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ControlFinding {
    /// The subject as a person would write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// By how much each of its figures shifted.
    pub shifts: Vec<ControlShift>,
}

/// By how much a figure of the control shifted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ControlShift {
    /// Which figure.
    pub metric: ComparedMetric,
    /// After over before.
    pub ratio: ChangeRatio,
    /// max(r, 1/r) − 1 of that ratio: a difference of a case that is no larger cannot be told from it.
    pub size: f64,
    /// Whether the machine shifted by what matters, or more: the interval excludes 1, and the size is the threshold at least.
    pub is_relevant: bool,
    /// Whether it can serve as a control: its interval is no wider than 10 % to either side, or does not hold 1. The shift of one
    /// that scatters more is shown, and nothing is judged by it.
    pub is_usable: bool,
}

/// A subject under a scenario in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseChange {
    /// The subject as a person would write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Why none of its figures is judged; none where they are.
    pub not_judged: Option<String>,
    /// Whether it may be ranked in the run before and may not in the run after: nobody knows what became of it, so the outcome
    /// is no better than *cannot tell*.
    pub lost_rank: bool,
    /// Its figures.
    pub figures: Vec<FigureChange>,
}

/// A figure of a case in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FigureChange {
    /// Which.
    pub metric: ComparedMetric,
    /// Its unit: `per_s`, `s` or `bytes`.
    pub unit: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// Whether the scenario is judged by it first of all, or it was asked for.
    pub is_main: bool,
    /// Median over the trials of the run before. Of several runs: the geometric mean over runs, and the mean of each run in
    /// place of the trials.
    pub before: Option<Estimate>,
    /// The same of the runs after.
    pub after: Option<Estimate>,
    /// After over before, by geometric means. Of a pair with Welch's interval over trials; of several runs with Student's, in
    /// which the run is the unit.
    pub ratio: Option<ChangeRatio>,
    /// Standard deviation among runs of the same side, as a fraction; none for a pair, which does not show it.
    pub between_runs: Option<f64>,
    /// How often equal figures would differ as much, by chance, for all that were judged together (Holm).
    pub p_adjusted: Option<f64>,
    /// How often figures that differ by the threshold would look as alike, likewise.
    pub p_equivalence_adjusted: Option<f64>,
    /// The figure over the control's in the same block, after over before: what is left of the change where what the machine did
    /// is taken out. None without a control.
    pub beside_control: Option<ChangeRatio>,
    /// How often that would be as far from 1, by chance, for all that have a control together (Holm).
    pub p_beside_control_adjusted: Option<f64>,
    /// What follows; none where it is not judged.
    pub verdict: Option<Change>,
    /// Why nothing can be told, or why it is not judged.
    pub reason: Option<String>,
}

/// One value over another, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ChangeRatio {
    /// After over before.
    pub value: f64,
    /// Lower end of its 95 % interval, which holds for this figure alone; none with fewer than 5 trials in a run of a pair.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

worded! {
    /// What became of a figure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Change by words {
        /// Worse by what matters, or more.
        Regression = "regression",
        /// Better by what matters, or more.
        Improvement = "improvement",
        /// Worse by what matters, or more, in the run after: of its version or of the run, a pair does not show.
        Worse = "changed for the worse",
        /// Better by what matters, or more, in the run after, likewise.
        Better = "changed for the better",
        /// They differ by less than what matters, if at all.
        Equivalent = "equivalent",
        /// No difference that matters was found, by an interval narrow enough to show a large one.
        NoDifferenceFound = "no difference found",
        /// Nothing can be told.
        CannotTell = "cannot tell",
    }
}

impl ChangeRatio {
    /// max(r, 1/r) − 1: the same for a change and its way back.
    pub fn size(self) -> f64 {
        size(self.value)
    }

    /// √(high ÷ low) − 1; none without an interval.
    pub fn half_width(self) -> Option<f64> {
        half_width(&self.estimate())
    }

    /// Whether its interval does not hold 1.
    pub fn is_told(self) -> bool {
        self.estimate().excludes_one()
    }

    /// The same as an estimate, to be written like one.
    pub fn estimate(self) -> Estimate {
        Estimate { value: self.value, low: self.low, high: self.high, trials: Vec::new() }
    }
}

impl RunComparison {
    /// Every judged or shown figure with its scenario and its case.
    pub fn figures(&self) -> impl Iterator<Item = (&ScenarioChange, &CaseChange, &FigureChange)> {
        self.scenarios.iter().flat_map(|scenario| {
            scenario.cases.iter().flat_map(move |case| case.figures.iter().map(move |figure| (scenario, case, figure)))
        })
    }
}
