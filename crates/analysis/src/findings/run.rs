//! The top level of a run's findings.

use serde::Serialize;
use tolok_model::{scale_percent_words, scale_words};

use super::case::ScenarioFinding;
use super::fairness::FairnessLedger;
use super::isolation::IsolationFinding;
use super::programs::{ProgramFinding, ProgramSeries, TimersFinding};
use super::published::PublishedFinding;
use super::recommend::Recommendation;
use super::sensitivity::{FactorPanel, VarianceFinding};
use super::tools::ToolsFinding;
use super::trials::{OthersFinding, TrialCounts};
use super::untested::Untested;
use crate::JsonSchema;
use crate::duel::Duel;

/// Version of the format of [`Findings`], and of the judging rules. Since 7, all cases of a scenario are fitted together.
pub const FINDINGS_SCHEMA: u32 = 7;

/// All findings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// Version of this format.
    pub schema_version: u32,
    /// The run: what, where, when, with what.
    pub run: RunFacts,
    /// One entry for each scenario, in the order of the study.
    pub scenarios: Vec<ScenarioFinding>,
    /// What each tool reports for each subject, if scenarios differ only in their tools.
    pub tools: Vec<ToolsFinding>,
    /// One entry for each scenario of timed programs, in the order of the study.
    pub programs: Vec<ProgramFinding>,
    /// Programs across the values of one parameter.
    pub program_series: Vec<ProgramSeries>,
    /// What several timers report of the same programs.
    pub timers: Vec<TimersFinding>,
    /// Scenarios that differ only in one factor, side by side.
    pub sensitivity: Vec<FactorPanel>,
    /// How much each factor of the study matters, per workload.
    pub variance: Vec<VarianceFinding>,
    /// Published ratios next to measured ones; empty if the study names none.
    pub published: Vec<PublishedFinding>,
    /// Recommendations by declared rules; empty without comparisons.
    pub recommendations: Vec<Recommendation>,
    /// Resources and settings of each subject, and where they differ.
    pub fairness: FairnessLedger,
    /// What the run did not test, the most important first.
    pub untested: Vec<Untested>,
    /// Requested subjects that were left out.
    pub skipped: Vec<SkippedSubject>,
    /// Planned trials without a record, because the run was stopped.
    pub trials_missing: u32,
    /// Outcomes of all trials, including the ceiling and the noise check.
    pub trials: TrialCounts,
    /// What others took of the CPUs meanwhile.
    pub others: OthersFinding,
    /// Why the run is not sound, the most serious reason first; empty if it is sound.
    pub unsound: Vec<String>,
    /// A sentence that these figures may be quoted: enough rounds, long enough windows or slices, and nothing unsound. Absent
    /// otherwise.
    pub quotable: Option<String>,
    /// How well the parts of the trials were isolated.
    pub isolation: IsolationFinding,
    /// Whether the machine had two speeds during the run; absent with too few measurements to tell.
    pub machine_speeds: Option<MachineSpeeds>,
    /// The result of a run of `tolok duel`; absent in all other runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duel: Option<Duel>,
    /// What readers must know before quoting a figure, the most important first.
    pub cautions: Vec<String>,
}

impl Findings {
    /// Whether the run timed programs only, without a server.
    pub fn has_programs_only(&self) -> bool {
        self.scenarios.is_empty() && !self.programs.is_empty()
    }

    /// A sentence that the run was shorter or longer than its study, or `None` if it was not.
    pub fn scaled(&self) -> Option<String> {
        let of_programs = || {
            let by = scale_percent_words(self.run.scale)?;
            Some(format!("Runs of programs {by}: in number and in time they were not what the study says."))
        };
        let of_servers = self.run.scaled().filter(|_| !self.has_programs_only());
        let of_programs = of_programs().filter(|_| !self.programs.is_empty());
        let all: Vec<String> = of_servers.into_iter().chain(of_programs).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }
}

/// Whether the machine switched between two speeds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MachineSpeeds {
    /// Number of measurements behind this.
    pub values: u32,
    /// The kind of measurement: `slice` or `trial`.
    pub unit: String,
    /// The second speed; absent if a single speed explains the measurements as well.
    pub two: Option<TwoSpeeds>,
    /// The same in a sentence.
    pub sentence: String,
}

/// The slower of two speeds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TwoSpeeds {
    /// The loss of the median case, as a share of its goodput.
    pub slower: f64,
    /// Share of the measured time at this speed.
    pub share: f64,
    /// Mean duration of a stay at this speed, in seconds.
    pub stay_s: f64,
    /// Distance between the two speeds, in standard deviations of the noise within each.
    pub separation: f64,
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
    /// Fingerprint of all records and raw files, from the run's manifest; absent in runs without a manifest.
    pub records_sha256: Option<String>,
    /// Rounds of the plan; with a stopping rule, the rounds that ran.
    pub blocks: u32,
    /// The stopping rule and its result, in a sentence; absent without a rule.
    pub stopping: Option<String>,
    /// Differences smaller than this fraction do not matter.
    pub smallest_effect: f64,
    /// Every warm-up and window over its length in the study: 0.1 for a tenth.
    pub scale: f64,
    /// One line on the machine.
    pub machine: String,
    /// What readers must know about the machine.
    pub machine_remarks: Vec<String>,
    /// Name and version of each program used.
    pub programs: Vec<(String, String)>,
    /// Command that repeats the run.
    pub command: String,
}

impl RunFacts {
    /// A sentence that the run was shorter or longer than its study, or `None` if it was not.
    pub fn scaled(&self) -> Option<String> {
        let by = scale_words(self.scale)?;
        Some(format!("Times {by}: warm-ups and measurements were not as long as the study says."))
    }
}

/// A requested subject that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SkippedSubject {
    /// As the study names it.
    pub subject: String,
    /// The reason, and what would help.
    pub reason: String,
    /// Whether it was left out only of workloads that ask a database; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub database_only: bool,
}
