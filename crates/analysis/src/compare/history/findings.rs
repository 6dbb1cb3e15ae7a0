//! The findings of a history of runs: the only input of its reports, and its JSON.

use serde::Serialize;

use crate::JsonSchema;
use crate::compare::findings::{ComparedSide, Difference};
use crate::compare::metric::{ComparedMetric, ScenarioKind};
use crate::findings::{Better, Estimate};

/// Version of the format of [`RunHistory`].
pub const HISTORY_SCHEMA: u32 = 1;

/// Runs of one study over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunHistory {
    /// Version of this format.
    pub schema_version: u32,
    /// The conclusion, in one sentence.
    pub sentence: String,
    /// Differences smaller than this fraction do not matter.
    pub threshold: f64,
    /// The runs in the order in which they began.
    pub runs: Vec<ComparedSide>,
    /// Runs that were left out, because their conditions differ from the newest run's or they share no case with it.
    pub left_out: Vec<LeftOutRun>,
    /// Every figure over time.
    pub series: Vec<FigureSeries>,
    /// What readers must know before relying on this.
    pub cautions: Vec<String>,
}

impl RunHistory {
    /// Whether any figure was checked for changes. The ceiling does not count, because it belongs to the machine.
    pub fn can_tell(&self) -> bool {
        self.series.iter().any(|series| series.not_judged.is_none() && !series.is_ceiling)
    }
}

/// A run that is not part of the history.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LeftOutRun {
    /// Name of its folder.
    pub id: String,
    /// Conditions that differ from those of the newest run; empty if the run shares no case with it.
    pub conditions: Vec<Difference>,
}

/// A figure of a case over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FigureSeries {
    /// Id of the scenario in the newest run.
    pub scenario: String,
    /// Title of its workload.
    pub scenario_title: String,
    /// A closed or an open loop, or programs.
    pub kind: ScenarioKind,
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Whether it is the ceiling, whose changes come from the machine.
    pub is_ceiling: bool,
    /// Which figure.
    pub metric: ComparedMetric,
    /// Its unit: `per_s`, `s` or `bytes`.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Whether it is the main figure of the scenario.
    pub is_main: bool,
    /// One point for each run that ranks the case and has the figure, in the order of the runs.
    pub points: Vec<HistoryPoint>,
    /// Where its level changes.
    pub changes: Vec<LevelChange>,
    /// The smallest change in the middle of the series that would be found four times out of five, as a fraction. It grows with
    /// the scatter of the runs.
    pub smallest_visible: Option<f64>,
    /// Why the series is not searched for changes; absent if it is.
    pub not_judged: Option<String>,
}

/// A figure in one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Index of the run in the history, from 0.
    pub run: usize,
    /// Median over its trials, with its interval.
    pub value: Estimate,
}

/// A change of a level.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LevelChange {
    /// Index of the first run of the new level, from 0.
    pub run: usize,
    /// The new level over the old one: geometric means over the runs of each.
    pub ratio: f64,
    /// Whether it is worse by the threshold or more (`true`), or better by as much (`false`); absent for a smaller change.
    pub is_worse: Option<bool>,
    /// What else differs between this run and the previous one that has the figure.
    pub differences: Vec<Difference>,
}
