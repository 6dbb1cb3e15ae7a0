//! What an analysis says: the only thing that reports read.
//!
//! This is also the JSON report, so the names are stable and every unit is a base unit of the SI, or bytes.

use schemars::JsonSchema;
use serde::Serialize;
use tolok_model::{LatencyMark, ObjectiveOutcome};

use crate::bottleneck::Bottleneck;
use crate::curve::{LatencyCurve, SlowAnswers};
use crate::database::{DatabaseFinding, DatabaseUse};
use crate::diagnosis::DiagnosisFinding;
use crate::environment::{EnvironmentFinding, LinkFinding};
use crate::fairness::FairnessLedger;
use crate::isolation::IsolationFinding;
use crate::judgement::{GateFinding, NoiseFloor, PowerNote, ServiceDemand, SteadyFinding};
use crate::link::LinkUse;
use crate::programs::findings::{ProgramFinding, ProgramSeries, TimersFinding};
use crate::published::PublishedFinding;
use crate::recommend::Recommendation;
use crate::resources::{MemorySource, ResourcesFinding};
use crate::seconds::SecondsFinding;
use crate::sensitivity::{FactorPanel, VarianceFinding};
use crate::tools::ToolsFinding;
use crate::trial_counts::TrialCounts;
use crate::trial_findings::TrialFinding;
use crate::untested::Untested;

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
    /// What a reader must know before quoting a figure, most important first.
    pub cautions: Vec<String>,
}

impl Findings {
    /// Whether programs alone were timed, and no server asked.
    pub fn has_programs_only(&self) -> bool {
        self.scenarios.is_empty() && !self.programs.is_empty()
    }

    /// In a sentence, that the run was shorter or longer than its study; nothing where it was as long.
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
    /// In a sentence, that the run was shorter or longer than its study; nothing where it was as long.
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

/// One scenario: its cases and how they compare.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioFinding {
    /// Its id: `json-c64`.
    pub id: String,
    /// Name of its workload.
    pub workload: String,
    /// Title of its workload.
    pub title: String,
    /// Its load in words.
    pub load: String,
    /// The load generator with its version: `wrk 4.1.0`.
    pub tool: String,
    /// Whether that is tolok's own.
    pub is_own_tool: bool,
    /// What must be known of the latencies of its cases, where the tool did not take them as tolok's own does.
    pub latency_marks: Vec<LatencyMark>,
    /// Its executor, by k6's name.
    pub executor: String,
    /// `closed` or `open`.
    pub loop_model: String,
    /// What surrounded its trials: every figure below was taken in it.
    pub environment: EnvironmentFinding,
    /// The link between client and subject; none over the loopback.
    pub link: Option<LinkFinding>,
    /// The database that its subjects ask; none where its workload asks none.
    pub database: Option<DatabaseFinding>,
    /// Which memory its cases' `memory_bytes` is, the same for all; none where no trial was scored.
    pub memory_source: Option<MemorySource>,
    /// What must hold in every trial: `p95 < 50ms`.
    pub objectives: Vec<String>,
    /// One sentence that answers the question for this scenario; never a bare winner.
    pub verdict: String,
    /// Competing cases by goodput, the highest first; those that cannot be ranked last.
    pub cases: Vec<CaseFinding>,
    /// The machine's limit in this scenario.
    pub ceiling: Option<CaseFinding>,
    /// Every pair of ranked cases.
    pub comparisons: Vec<Comparison>,
    /// How far apart the same subject came out when it was entered twice; none where it was not.
    pub noise_floor: Option<NoiseFloor>,
    /// How many blocks would have told a difference that matters; none with fewer than two ranked cases.
    pub power: Option<PowerNote>,
    /// What cases did for each answer while costly counters ran. Unscored: no figure of these is a result.
    pub unscored_diagnoses: Vec<DiagnosisFinding>,
}

/// One case: a subject under the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseFinding {
    /// Name of the case.
    pub case: String,
    /// The subject as a person would write it: `go/nethttp:encoder`.
    pub subject: String,
    /// Title of the subject, with its variant where the scenario has several.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Planned trials of this case.
    pub trials_planned: u32,
    /// Trials that were measured, those that were disturbed to the end included.
    pub trials_measured: u32,
    /// Trials that all figures of the case rest on: measured, and not disturbed.
    pub trials_scored: u32,
    /// Measured trials that are in no figure, because others disturbed them however often they were measured.
    pub disturbed: Vec<DisturbedTrial>,
    /// Measurements that were thrown away because others disturbed them.
    pub reruns: u32,
    /// Trials that failed, with the reason of each.
    pub failures: Vec<TrialFailure>,
    /// Each trial that has a record, in the order of the blocks, with what it found by itself.
    pub trials: Vec<TrialFinding>,
    /// Good answers per second.
    pub goodput_rps: Option<Estimate>,
    /// A rate that the case stayed below, where it answered nothing in any scored trial: one answer in its window. Such a
    /// case has no `goodput_rps`, which is not 0.
    pub goodput_below_rps: Option<f64>,
    /// Bytes of good bodies per second.
    pub body_bytes_per_s: Option<Estimate>,
    /// What limited it; none where no trial was scored.
    pub bottleneck: Option<Bottleneck>,
    /// Requests per second that the schedule asked for; none in a closed loop.
    pub offered_rps: Option<Estimate>,
    /// Goodput as a share of the ceiling's in the same block.
    pub of_ceiling: Option<Estimate>,
    /// Goodput relative to the first case of the scenario in the same block (1 for the first).
    pub of_first: Option<Estimate>,
    /// Its verdict against the first case of the scenario; none for the first.
    pub against_first: Option<Verdict>,
    /// Letters of its tiers: cases that share one could not be told apart. None where the case is not ranked.
    pub tier: Option<String>,
    /// Checks of its trials, those that can be asked of its load and environment, in a fixed order; empty where no trial was
    /// measured.
    pub gates: Vec<GateFinding>,
    /// Whether its windows were steady; none where the load has several levels, or no trial could be judged.
    pub steady: Option<SteadyFinding>,
    /// What each good answer takes of each resource, the scarcest first.
    pub demands: Vec<ServiceDemand>,
    /// CPU time of the subject per good answer, in seconds.
    pub cpu_s_per_good: Option<Estimate>,
    /// Memory of the subject, in bytes: which kind, says the scenario's `memory_source`.
    pub memory_bytes: Option<Estimate>,
    /// Median of the trials' p50, in seconds, in the scenario's loop.
    pub latency_p50_s: Option<Estimate>,
    /// Median of the trials' p99, in seconds; none where any trial has too few samples beyond it.
    pub latency_p99_s: Option<Estimate>,
    /// Response times by percentile, in the scenario's loop; none where the tool kept no histogram and tells fewer than 3 percentiles.
    pub latency_curve: Option<LatencyCurve>,
    /// Good answers that came late; none where the tool kept no histogram.
    pub slow: Option<SlowAnswers>,
    /// Second by second; none where no window has two whole ones.
    pub seconds: Option<SecondsFinding>,
    /// From the start to the first good answer, in seconds.
    pub cold_start_s: Option<Estimate>,
    /// Share of the CPU time it was given that the subject used, from 0 to 1: of its CPUs, or of its quota.
    pub subject_busy: Option<f64>,
    /// Share of the CPU time it was given that the generator used, from 0 to 1.
    pub generator_busy: Option<f64>,
    /// Share of the machine's CPUs that neither of them used but other programs did, from 0 to 1.
    pub foreign_busy: Option<f64>,
    /// Share of the machine's CPUs that the hypervisor took away, from 0 to 1.
    pub stolen: Option<f64>,
    /// Most processes seen at once in any scored trial.
    pub processes_max: u32,
    /// What the subject used for each good answer.
    pub resources: ResourcesFinding,
    /// How the emulated link did; none where tolok emulated none.
    pub link: Option<LinkUse>,
    /// What it and its database did; none where the scenario has none.
    pub database: Option<DatabaseUse>,
    /// Requests that failed in all scored trials, by class.
    pub errors: Vec<(String, u64)>,
    /// Requests sent in all scored trials; where the tool does not tell, those that were finished.
    pub requests_sent: u64,
    /// Requests in all scored trials that are not accounted for; none where the tool tells too little to say.
    pub requests_unaccounted: Option<u64>,
    /// Requests in all scored trials that still waited for a free connection when the window ended.
    pub requests_unsent: u64,
    /// What became of the scenario's objectives, in their order.
    pub objectives: Vec<ObjectiveFinding>,
    /// What must be known about this case's figures.
    pub flags: Vec<Flag>,
    /// Whether it may be ranked at all.
    pub ranked: bool,
}

/// An objective in all trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ObjectiveFinding {
    /// The objective: `p95 < 50ms`.
    pub objective: String,
    /// Crossed if it was crossed in any trial; kept if it was kept in every trial, of which none failed; else unknown.
    pub outcome: ObjectiveOutcome,
    /// Its worst figure in any trial.
    pub worst: Option<f64>,
    /// Unit of that figure: `s`, `share` (0 to 1), `per_s` or `requests`.
    pub unit: String,
    /// Trials in which it was kept.
    pub trials_kept: u32,
    /// Trials in which it was crossed.
    pub trials_crossed: u32,
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialFailure {
    /// Number of the trial.
    pub trial: u32,
    /// The reason as a word: `did not start`.
    pub reason: String,
    /// The reason in a sentence.
    pub message: String,
}

/// A trial that was measured and is in no figure, because others disturbed it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedTrial {
    /// Number of the trial.
    pub trial: u32,
    /// How often it was measured.
    pub attempts: u32,
    /// Good answers per second that were seen, nevertheless.
    pub goodput_rps: f64,
    /// What disturbed it, as words: `foreign-cpu`, `steal`.
    pub kinds: Vec<String>,
    /// The same in sentences, with the figures seen.
    pub causes: Vec<String>,
}

/// A value with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Median over trials; of a ratio of two cases the geometric mean over blocks.
    pub value: f64,
    /// Lower end of the interval; none with fewer than 5 trials.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The trials' values, by block.
    pub trials: Vec<f64>,
}

/// How two cases of a scenario compare.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Subject of the first case.
    pub a: String,
    /// Subject of the second case.
    pub b: String,
    /// Goodput of `a` over goodput of `b`, within blocks: the geometric mean, with its own interval.
    pub ratio: Estimate,
    /// Lower end of the interval that holds for all pairs of the scenario together; none where `ratio` has none.
    pub simultaneous_low: Option<f64>,
    /// Upper end.
    pub simultaneous_high: Option<f64>,
    /// How often equal cases would differ as much, by chance, for all pairs of the scenario together (Holm).
    pub p_adjusted: Option<f64>,
    /// How often cases that differ by the smallest effect would look as alike, likewise.
    pub p_equivalence_adjusted: Option<f64>,
    /// Blocks in which `a` had the higher goodput.
    pub blocks_won: u32,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// Numbers of the blocks in which the ratio was far from what it was in the others; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlier_blocks: Vec<u32>,
    /// What follows.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The first is faster: that is sure among all pairs of the scenario, and the difference is large enough to matter.
    Faster,
    /// The second is faster.
    Slower,
    /// They differ by less than the smallest effect, if at all.
    Equivalent,
    /// No difference that matters was found, by an interval narrow enough to show a large one.
    NoDifferenceFound,
    /// The interval is too wide to say, or the difference no larger than that of a case from itself.
    CannotTell,
}

impl Verdict {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::NoDifferenceFound => "no difference found",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// Something that must be known about a case's figures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Flag {
    /// A stable word: `generator-bound`, `errors`, `no-good-answers`, `not-trusted`, `aborted`, `out-of-memory`,
    /// `link-late`, `failed-trials`, `disturbed`, `too-few-trials`, `ledger-open`, `backlog`, `connections-waiting`,
    /// `throttled`, `memory-limit-near`, `link-full`, `shared-cpus`, `tasks-refused`, `counter-wrong`, `outage`,
    /// `database-refused`, `pool-waits`, `window-too-short`, `wire-contradicts`, `tool-tells-little`,
    /// `little`, `utilisation`, `link-bytes`, `not-steady`, `memory-grows`. Of programs: `coarse-timer`,
    /// `out-of-memory`, `disturbed`, `failed-trials`, `too-few-trials`, `at-floor`, `few-runs`, `outliers`, `first-run`.
    pub kind: String,
    /// The reason in a sentence, with the figure seen.
    pub message: String,
    /// Whether the case must not be ranked because of it.
    pub voids_rank: bool,
}
