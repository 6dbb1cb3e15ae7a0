//! The findings of a run, from the top.

use serde::Serialize;

use super::case::ScenarioFinding;
use super::fairness::FairnessLedger;
use super::isolation::IsolationFinding;
use super::programs::{ProgramFinding, ProgramSeries, TimersFinding};
use super::published::PublishedFinding;
use super::recommend::Recommendation;
use super::sensitivity::{FactorPanel, VarianceFinding};
use super::tools::ToolsFinding;
use super::trials::TrialCounts;
use super::untested::Untested;
use crate::JsonSchema;
use crate::duel::Duel;

/// Version of the format of [`Findings`].
pub const FINDINGS_SCHEMA: u32 = 6;

/// Everything that can be said about a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// Version of this format.
    pub schema_version: u32,
    /// The run: what, where, when, with what.
    pub run: RunFacts,
    /// One entry for each scenario, in the order of the study.
    pub scenarios: Vec<ScenarioFinding>,
    /// What each tool says, for each subject of scenarios that differ in their tools only.
    pub tools: Vec<ToolsFinding>,
    /// One entry for each scenario of programs that are timed, in the order of the study.
    pub programs: Vec<ProgramFinding>,
    /// Programs across the values of one parameter.
    pub program_series: Vec<ProgramSeries>,
    /// What several timers say of the same programs.
    pub timers: Vec<TimersFinding>,
    /// Scenarios that differ in one factor only, beside each other.
    pub sensitivity: Vec<FactorPanel>,
    /// How much each factor of the study matters, for each workload.
    pub variance: Vec<VarianceFinding>,
    /// Published ratios beside measured ones; empty where the study names none.
    pub published: Vec<PublishedFinding>,
    /// Which one for what, by declared rules; empty where nothing was compared.
    pub recommendations: Vec<Recommendation>,
    /// What each subject had, and where that was not the same for all.
    pub fairness: FairnessLedger,
    /// What was not looked at, the weightiest first.
    pub untested: Vec<Untested>,
    /// Subjects that were asked for and left out.
    pub skipped: Vec<SkippedSubject>,
    /// Trials that were planned and have no record (the run was stopped).
    pub trials_missing: u32,
    /// What became of all trials, those of the ceiling and of the A/A pair among them.
    pub trials: TrialCounts,
    /// What held the parts of the trials apart, and what did not.
    pub isolation: IsolationFinding,
    /// What follows from a run of `tolok duel`; absent in all other runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duel: Option<Duel>,
    /// What a reader must know before quoting a figure, most important first.
    pub cautions: Vec<String>,
}

impl Findings {
    /// Whether programs alone were timed, and no server asked.
    pub fn has_programs_only(&self) -> bool {
        self.scenarios.is_empty() && !self.programs.is_empty()
    }

    /// Says in a sentence that the run was shorter or longer than its study, or `None` if it was as long.
    pub fn scaled(&self) -> Option<String> {
        let of_programs = || {
            let by = self.run.scaled_by()?;
            Some(format!("Runs of programs {by}: in number and in time they were not what the study says."))
        };
        let of_servers = self.run.scaled().filter(|_| !self.has_programs_only());
        let of_programs = of_programs().filter(|_| !self.programs.is_empty());
        let all: Vec<String> = of_servers.into_iter().chain(of_programs).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }
}

/// The run: what, where, when, with what.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunFacts {
    /// Name of the run's folder.
    pub id: String,
    /// Title of the study.
    pub title: String,
    /// Question of the study.
    pub question: String,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// Version of tolok.
    pub tolok_version: String,
    /// Seed of the order.
    pub seed: u64,
    /// Fingerprint of the plan.
    pub plan_sha256: String,
    /// Fingerprint of all records and raw files, as the manifest of the run has it; none in runs from before there was one.
    pub records_sha256: Option<String>,
    /// Blocks of the plan; with a rule for stopping, those that were run.
    pub blocks: u32,
    /// The rule by which the run might end before its last block, and what came of it, in a sentence; none without a rule.
    pub stopping: Option<String>,
    /// Differences smaller than this fraction do not matter.
    pub smallest_effect: f64,
    /// By how much every warm-up and window was longer than the study says: 0.1 for a tenth.
    pub scale: f64,
    /// One line on the machine.
    pub machine: String,
    /// What a reader must know of the machine.
    pub machine_remarks: Vec<String>,
    /// Name and version of each program used.
    pub programs: Vec<(String, String)>,
    /// Command that repeats the run.
    pub command: String,
}

impl RunFacts {
    /// Says in a sentence that the run was shorter or longer than its study, or `None` if it was as long.
    pub fn scaled(&self) -> Option<String> {
        let by = self.scaled_by()?;
        Some(format!("Every window {by}: warm-ups and windows were not as long as the study says."))
    }

    /// `shortened to 15%`
    fn scaled_by(&self) -> Option<String> {
        let word = if self.scale < 1.0 { "shortened" } else { "lengthened" };
        let percent = (self.scale * 1e4).round() / 1e2;
        (self.scale != 1.0).then(|| format!("{word} to {percent}%"))
    }
}

/// A subject that was asked for and left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SkippedSubject {
    /// As the study names it.
    pub subject: String,
    /// Why, and what would help.
    pub reason: String,
}
