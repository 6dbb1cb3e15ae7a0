//! The plan: every case of a study, and the shuffled order in which its trials run.

pub(crate) mod available;
mod cases;
mod drawn;
pub(crate) mod error;
mod estimate;
mod generators;
mod order;
mod selected;
pub(crate) mod skipped;
pub(crate) mod slices;
mod twins;

use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::database::Database;
use crate::environment::Environment;
use crate::limits::{CASES, TRIALS};
use crate::plan::available::{AvailableEnvironments, in_environments, programs_in_environments};
use crate::plan::cases::{Candidates, add_programs, cases, speechless};
use crate::plan::error::PlanError;
use crate::plan::order::shuffled;
pub use crate::plan::selected::Selected;
use crate::plan::selected::{ceilings, skip_without_workload, unable};
use crate::plan::skipped::Skipped;
use crate::program::ProgramScenario;
use crate::study::judge::Judge;
use crate::study::published::PublishedRatio;
use crate::study::scale::{is_unscaled, unscaled};
use crate::study::{Scenario, Study};
use crate::subject::brought::{Brought, kept_out};
use crate::subject::{Role, Subject, SubjectChoice};

/// Name of a case, suitable for a folder: `json-c64--go-nethttp-encoder`.
pub type CaseId = String;

/// A subject under a scenario: one trial runs one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub id: CaseId,
    pub scenario: String,
    /// The subject and how it is run.
    pub subject: SubjectChoice,
    /// Whether it competes or is a ceiling.
    pub role: Role,
    /// For the second half of an A/A pair: the case that it repeats, with the same subject and scenario. A second half
    /// does not compete. If the scenario has several, they take turns, so each is only in some blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_of: Option<CaseId>,
}

impl Case {
    /// Whether it is compared with others: it is neither a ceiling nor the second half of an A/A pair.
    pub fn competes(&self) -> bool {
        self.role == Role::Subject && self.twin_of.is_none()
    }

    /// Whether one server answers both in a launch. Cases of one subject choice share it; the noise check's second
    /// entry has its own.
    pub fn shares_server(&self, other: &Case) -> bool {
        self.subject.label == other.subject.label && self.twin_of.is_some() == other.twin_of.is_some()
    }
}

/// When a run may end before its last block. Part of the plan and of its hash.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// It ends after the first block at which every ratio that reports rely on has an interval within this fraction of
    /// it, on either side: 0.03.
    pub until: f64,
    /// The fewest blocks before it may end.
    pub at_least: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Its place in the order, from 1.
    pub number: u32,
    /// The block it belongs to, from 1.
    pub block: u32,
    pub case: CaseId,
    /// The launch that holds its slices or turns, from 1, or `None` for a separate trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<u32>,
}

/// Every case of a study, and the order of its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub format: u32,
    pub title: String,
    pub question: String,
    pub seed: u64,
    /// How often every case is run; with a stopping rule, at most.
    pub blocks: u32,
    /// When the run may end before its last block, or `None` if all blocks run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// No block except the first five starts unless it would end within this many seconds. `None` without a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
    /// Differences smaller than this fraction do not matter.
    pub smallest_effect: f64,
    /// Which response decides verdicts, tiers and order.
    #[serde(default, skip_serializing_if = "Judge::is_default")]
    pub judge: Judge,
    /// How often a disturbed trial is repeated at most.
    pub reruns: u32,
    /// Whether each competing case is run once more, unscored, with costly counters on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diagnose: bool,
    /// Whether subjects are rebuilt for each block, with a new layout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rebuild: bool,
    /// Factor by which every warm-up and window of the study is scaled; 0.1 for a tenth.
    #[serde(default = "unscaled", skip_serializing_if = "is_unscaled")]
    pub scale: f64,
    /// The environments of the subjects.
    pub environments: Vec<Environment>,
    pub scenarios: Vec<Scenario>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramScenario>,
    /// Published figures to compare with the measured ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedRatio>,
    /// The cases, in study order.
    pub cases: Vec<Case>,
    /// The trials, in execution order.
    pub trials: Vec<PlannedTrial>,
    pub skipped: Vec<Skipped>,
    /// What its cases use from outside the checkout.
    #[serde(default, skip_serializing_if = "Brought::is_empty")]
    pub brought: Brought,
}

/// Returns why a variant of a subject cannot run here, if it cannot.
pub type Ready<'a> = &'a dyn Fn(&Subject, &str) -> Result<(), String>;

/// What the machine that runs the plan can do.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Returns why a variant of a subject cannot run, if it cannot.
    pub ready: Ready<'a>,
    /// Returns what a runnable variant lacks for workloads that use this database, if anything.
    pub ready_for_database: &'a dyn Fn(&Subject, &str, &Database) -> Result<(), String>,
    /// Returns why an environment is unavailable, if it is. The environment has no database if that is unavailable.
    pub fits: &'a dyn Fn(&Environment) -> Result<(), String>,
    /// Returns why a program of the toolbox, such as a load generator, is unavailable, if it is.
    pub tool: &'a dyn Fn(&str) -> Result<(), String>,
    /// Returns why an environment's database is unavailable, if it is.
    pub database: &'a dyn Fn(&Environment, &Database) -> Result<(), String>,
}

impl std::fmt::Debug for Here<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Here")
    }
}

impl Plan {
    /// Expands a study into environments × scenarios × subjects × blocks. `seed` shuffles each block on its own.
    pub fn expand(study: &Study, catalogue: &Catalogue, here: Here<'_>, seed: u64) -> Result<Self, PlanError> {
        let mut selected = Selected::resolve(study, catalogue, here.ready);
        if selected.choices.is_empty() {
            return Err(PlanError::NothingReady(selected.skipped));
        }
        let ceilings = ceilings(study, catalogue, here.ready, &mut selected);
        let AvailableEnvironments { mut environments, refused, without_database } =
            AvailableEnvironments::of(study, here);
        if environments.is_empty() {
            return Err(PlanError::NoEnvironment(refused));
        }
        selected.skipped.extend(refused);
        CASES.holds((study.scenarios.len() * environments.len()) as u64).map_err(PlanError::TooLarge)?;
        let (scenarios, programs) =
            (in_environments(study, &environments), programs_in_environments(study, &environments));
        let (mut scenarios, programs) = with_their_tools(scenarios, programs, here, &mut selected);
        if selected.choices.iter().any(|choice| catalogue.subject(&choice.subject).is_some_and(is_external)) {
            // An external server cannot be frozen, and no other subject shares its CPU.
            scenarios.iter_mut().for_each(|scenario| scenario.slices = None);
        }
        if scenarios.is_empty() && programs.is_empty() {
            if without_database.is_empty() {
                return Err(PlanError::NoTool(selected.skipped));
            }
            return Err(PlanError::NoDatabase(without_database));
        }
        selected.skipped.extend(without_database);
        environments.retain(|environment| {
            let of_scenarios = scenarios.iter().map(|scenario| &scenario.environment);
            of_scenarios.chain(programs.iter().map(|program| &program.environment)).any(|id| *id == environment.id)
        });
        let asking = (scenarios.as_slice(), environments.as_slice());
        let unable = unable(asking, catalogue, here, &mut selected, &ceilings);
        let candidates = Candidates { subjects: &selected.choices, ceilings: &ceilings, without_database: &unable };
        let mut cases = cases(&scenarios, &environments, catalogue, candidates);
        CASES.holds(cases.len() as u64).map_err(PlanError::TooLarge)?;
        selected.skipped.extend(kept_out(&selected.choices, catalogue, &scenarios, &environments));
        for choices in [&selected.choices, &ceilings] {
            selected.skipped.extend(speechless(catalogue, choices, &scenarios));
        }
        add_programs(&mut cases, &programs, catalogue, &selected.choices);
        twins::add(&mut cases, study.aa_pair);
        if cases.is_empty() {
            if !unable.is_empty() {
                return Err(PlanError::NothingReady(selected.skipped));
            }
            if !speechless(catalogue, &selected.choices, &scenarios).is_empty() {
                return Err(PlanError::NoProtocol(selected.skipped));
            }
            skip_without_workload(study, catalogue, &mut selected);
            return Err(PlanError::NothingToDo(selected.skipped));
        }
        skip_without_workload(study, catalogue, &mut selected);
        let mut plan = Self {
            format: crate::RECORD_FORMAT,
            title: study.title.clone(),
            question: study.question.clone(),
            seed,
            blocks: study.blocks,
            stopping: study.stopping,
            budget_s: study.budget_s,
            smallest_effect: study.smallest_effect,
            judge: study.judge,
            reruns: study.reruns,
            diagnose: false,
            rebuild: false,
            scale: study.scale,
            environments,
            brought: Brought::of(&cases, &scenarios, catalogue),
            scenarios,
            programs,
            published: study.published.clone(),
            cases,
            trials: Vec::new(),
            skipped: selected.skipped,
        };
        plan.blocks = plan.blocks.min(plan.most_in_budget());
        plan.is_bounded().map_err(PlanError::TooLarge)?;
        plan.trials = plan.order_by_seed();
        Ok(plan)
    }

    /// Checks the number of cases and trials against tolok's limits. It does not read the list of trials.
    pub fn is_bounded(&self) -> Result<(), String> {
        CASES.holds(self.cases.len() as u64)?;
        TRIALS.holds((self.cases.len() as u64).saturating_mul(u64::from(self.blocks)))
    }

    /// Whether a stopping rule or a budget may end a run before its last block.
    pub fn may_end_early(&self) -> bool {
        self.stopping.is_some() || self.budget_s.is_some()
    }

    pub fn case(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// The timed program with this id.
    pub fn program(&self, id: &str) -> Option<&ProgramScenario> {
        self.programs.iter().find(|program| program.id == id)
    }

    /// The environment of a timed program.
    pub fn program_environment(&self, program: &ProgramScenario) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.id == program.environment)
    }

    pub fn environment(&self, scenario: &Scenario) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.id == scenario.environment)
    }

    /// The order that the seed gives these cases and blocks. It equals the plan's, unless the plan was edited.
    pub fn order_by_seed(&self) -> Vec<PlannedTrial> {
        shuffled(&self.cases, (&self.scenarios, &self.programs), self.blocks, self.seed)
    }

    /// A fingerprint of what is fixed before the first trial: the whole plan, including what is skipped.
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_else(|error| format!("{self:?} {error}"));
        crate::manifest::sha256(text.as_bytes())
    }
}

/// The scenarios and programs whose tools are available. Reports each missing tool once.
fn with_their_tools(
    scenarios: Vec<Scenario>,
    programs: Vec<ProgramScenario>,
    here: Here<'_>,
    selected: &mut Selected,
) -> (Vec<Scenario>, Vec<ProgramScenario>) {
    let mut is_there = |tool: Option<&str>, id: &str| {
        let Err(reason) = tool.map_or(Ok(()), |name| (here.tool)(name)) else { return true };
        let subject = format!("tool [{}]", tool.unwrap_or_default());
        Skipped::new(subject, reason).with_scenarios(vec![id.to_owned()]).join(&mut selected.skipped);
        false
    };
    let mut has_tool = |scenario: &Scenario| is_there(scenario.tool.name.program(), &scenario.id);
    let scenarios = scenarios.into_iter().filter(|scenario| has_tool(scenario)).collect();
    let programs = programs.into_iter().filter(|program| is_there(program.timer.program(), &program.id)).collect();
    (scenarios, programs)
}

/// Whether it is a server that tolok does not start.
fn is_external(subject: &Subject) -> bool {
    subject.external.is_some()
}
