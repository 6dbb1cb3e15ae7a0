//! The plan: every case of a study, and the shuffled order in which its trials run.

mod drawn;
pub(crate) mod error;
mod estimate;
pub(crate) mod skipped;
pub(crate) mod slices;
mod twins;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tolok_rng::SplitMix64;

use crate::catalogue::Catalogue;
use crate::database::Database;
use crate::environment::Environment;
use crate::limits::{CASES, TRIALS};
use crate::plan::error::PlanError;
use crate::plan::skipped::Skipped;
use crate::plan::slices::Group;
use crate::program::ProgramScenario;
use crate::study::judge::Judge;
use crate::study::published::PublishedRatio;
use crate::study::scale::{is_unscaled, unscaled};
use crate::study::{Scenario, Study, SubjectSelector};
use crate::subject::brought::{Brought, kept_out, reaches};
use crate::subject::{Role, Subject, SubjectChoice};

/// Name of a case, fit for a folder: `json-c64--go-nethttp-encoder`.
pub type CaseId = String;

/// A subject under a scenario: what one trial runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub id: CaseId,
    pub scenario: String,
    /// The subject and how it is run.
    pub subject: SubjectChoice,
    /// Whether it competes or shows the limit.
    pub role: Role,
    /// The case that this one repeats, where it is the second half of an A/A pair: the same subject under the same scenario,
    /// entered twice. It does not compete, and it is not in every block if others of the scenario are entered twice as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_of: Option<CaseId>,
}

impl Case {
    /// Whether it is compared with others: it is no limit, and not the second half of an A/A pair.
    pub fn competes(&self) -> bool {
        self.role == Role::Subject && self.twin_of.is_none()
    }

    /// Whether one server answers both in a launch: that of a subject as it is chosen. The noise check's second entry has its own.
    pub fn shares_server(&self, other: &Case) -> bool {
        self.subject.label == other.subject.label && self.twin_of.is_some() == other.twin_of.is_some()
    }
}

/// When a run may end before its last block. Fixed in the plan, and hashed with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// It ends after the first block at which no ratio that a report rests on is less sure than this, to either side, as a
    /// fraction: 0.03.
    pub until: f64,
    /// Not before this many blocks.
    pub at_least: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Its place in the order, from 1.
    pub number: u32,
    /// The block it belongs to, from 1.
    pub block: u32,
    pub case: CaseId,
    /// The launch in which its slices or turns lie, from 1, or `None` for a trial by itself.
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
    /// How often every case is run; with a rule for stopping, at most.
    pub blocks: u32,
    /// When the run may end before its last block, or `None` where all blocks are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// No block is begun that would not end within this time, but for the first five; `None` without a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
    /// Differences smaller than this fraction do not matter.
    pub smallest_effect: f64,
    /// Which response decides verdicts, tiers and order.
    #[serde(default, skip_serializing_if = "Judge::is_default")]
    pub judge: Judge,
    /// How often a disturbed trial is measured again at most.
    pub reruns: u32,
    /// Whether each competing case is run once more with costly counters on, unscored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diagnose: bool,
    /// Whether subjects are built anew for each block, with a layout of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rebuild: bool,
    /// By how much every warm-up and window of the study is longer; 0.1 for a tenth.
    #[serde(default = "unscaled", skip_serializing_if = "is_unscaled")]
    pub scale: f64,
    /// What surrounds the subjects.
    pub environments: Vec<Environment>,
    pub scenarios: Vec<Scenario>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramScenario>,
    /// What sources say, to compare with what is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedRatio>,
    /// The cases, in the order of the study.
    pub cases: Vec<Case>,
    /// The trials, in the order in which they run.
    pub trials: Vec<PlannedTrial>,
    pub skipped: Vec<Skipped>,
    /// What its cases have from elsewhere than the checkout.
    #[serde(default, skip_serializing_if = "Brought::is_empty")]
    pub brought: Brought,
}

/// Says why a variant of a subject cannot be run here, if it cannot.
pub type Ready<'a> = &'a dyn Fn(&Subject, &str) -> Result<(), String>;

/// What can be done on the machine where the plan is to be run.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Says why a variant of a subject cannot be run, if it cannot.
    pub ready: Ready<'a>,
    /// Says what a variant that can be run lacks for workloads that use a database, if anything.
    pub ready_for_database: Ready<'a>,
    /// Says why an environment is unavailable, if it is. It has no database if that one is unavailable.
    pub fits: &'a dyn Fn(&Environment) -> Result<(), String>,
    /// Says why a program of the toolbox, such as a load generator, is unavailable, if it is.
    pub tool: &'a dyn Fn(&str) -> Result<(), String>,
    /// Says why the database of an environment is unavailable, if it is.
    pub database: &'a dyn Fn(&Environment, &Database) -> Result<(), String>,
}

impl std::fmt::Debug for Here<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Here")
    }
}

/// The subjects that a study's selectors mean here, and those left out.
#[derive(Debug, Default)]
pub struct Selected {
    /// In the order of the study, each once.
    pub choices: Vec<SubjectChoice>,
    pub skipped: Vec<Skipped>,
}

impl Selected {
    /// Resolves the selectors; `ready` says why a subject cannot be run here.
    pub fn resolve(study: &Study, catalogue: &Catalogue, ready: Ready<'_>) -> Self {
        let mut selected = Self::default();
        for selector in &study.subjects {
            match selector {
                SubjectSelector::EveryReady => {
                    let is_meant = |subject: &&Subject| subject.role == Role::Subject && is_of_kind(study, subject);
                    for subject in catalogue.subjects.iter().filter(is_meant) {
                        selected.add(subject.choose(None, &Default::default()), subject, ready);
                    }
                }
                SubjectSelector::EveryVariant(id) => {
                    for subject in catalogue.subject(id).into_iter() {
                        for variant in subject.variants.keys() {
                            selected.add(subject.choose(Some(variant), &Default::default()), subject, ready);
                        }
                    }
                }
                SubjectSelector::One(choice) => {
                    for subject in catalogue.subject(&choice.subject).into_iter() {
                        selected.add(Ok(choice.clone()), subject, ready);
                    }
                }
            }
        }
        selected
    }

    fn add(&mut self, choice: Result<SubjectChoice, String>, subject: &Subject, ready: Ready<'_>) {
        let variant = choice.as_ref().map_or(&subject.default_variant, |choice| &choice.variant).clone();
        match choice.and_then(|choice| ready(subject, &variant).map(|()| choice)) {
            Ok(choice) if !self.choices.contains(&choice) => self.choices.push(choice),
            Ok(_) => {}
            Err(reason) => self.skip(subject, &variant, reason),
        }
    }

    /// A reason that several variants of a subject share is reported once.
    fn skip(&mut self, subject: &Subject, variant: &str, reason: String) {
        let is_same =
            |skipped: &Skipped| skipped.subject.split(':').next() == Some(&subject.id) && skipped.reason == reason;
        if self.skipped.iter().any(is_same) {
            return;
        }
        let is_default = variant == subject.default_variant;
        let name = if is_default { subject.id.clone() } else { format!("{}:{variant}", subject.id) };
        self.skipped.push(Skipped::new(name, reason));
    }
}

impl Plan {
    /// Expands a study: environments × scenarios × subjects × blocks, each block shuffled on its own by `seed`.
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
            // What tolok did not start cannot be frozen, and shares its CPU with no one here.
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
        let unable = unable(study, catalogue, here, &mut selected, &ceilings);
        let candidates = Candidates { subjects: &selected.choices, ceilings: &ceilings, without_database: &unable };
        let mut cases = cases(&scenarios, &environments, catalogue, candidates);
        CASES.holds(cases.len() as u64).map_err(PlanError::TooLarge)?;
        selected.skipped.extend(kept_out(&selected.choices, catalogue, &scenarios, &environments));
        add_programs(&mut cases, &programs, catalogue, &selected.choices);
        twins::add(&mut cases, study.aa_pair);
        if cases.is_empty() {
            if !unable.is_empty() {
                return Err(PlanError::NothingReady(selected.skipped));
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

    /// Whether it has no more cases and trials than tolok takes; else the sentence on it. It asks nothing of the list of trials.
    pub fn is_bounded(&self) -> Result<(), String> {
        CASES.holds(self.cases.len() as u64)?;
        TRIALS.holds((self.cases.len() as u64).saturating_mul(u64::from(self.blocks)))
    }

    /// Whether a rule or a budget may end a run before its last block.
    pub fn may_end_early(&self) -> bool {
        self.stopping.is_some() || self.budget_s.is_some()
    }

    pub fn case(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// The program that is timed under this id.
    pub fn program(&self, id: &str) -> Option<&ProgramScenario> {
        self.programs.iter().find(|program| program.id == id)
    }

    /// The environment of a program that is timed.
    pub fn program_environment(&self, program: &ProgramScenario) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.id == program.environment)
    }

    pub fn environment(&self, scenario: &Scenario) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.id == scenario.environment)
    }

    /// The order that the seed gives these cases and blocks. It is that of the plan, unless the plan was edited.
    pub fn order_by_seed(&self) -> Vec<PlannedTrial> {
        shuffled(&self.cases, (&self.scenarios, &self.programs), self.blocks, self.seed)
    }

    /// A fingerprint of what is fixed before the first trial: all of the plan, what is left out included.
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_else(|error| format!("{self:?} {error}"));
        crate::manifest::sha256(text.as_bytes())
    }
}

/// Whether the study asks at all for what the subject is: a server, or a program that is timed.
fn is_of_kind(study: &Study, subject: &Subject) -> bool {
    match subject.program {
        Some(_) => !study.programs.is_empty(),
        None => !study.scenarios.is_empty(),
    }
}

/// The ceilings that the study's results are compared with. A ceiling that the study lists itself is a subject there.
fn ceilings(study: &Study, catalogue: &Catalogue, ready: Ready<'_>, selected: &mut Selected) -> Vec<SubjectChoice> {
    let mut found = Selected { choices: Vec::new(), skipped: std::mem::take(&mut selected.skipped) };
    let is_listed = |id: &str| selected.choices.iter().any(|choice| choice.subject == id);
    let wanted = catalogue.subjects.iter().filter(|subject| study.ceiling && subject.role == Role::Ceiling);
    for subject in wanted.filter(|subject| !is_listed(&subject.id)) {
        found.add(subject.choose(None, &Default::default()), subject, ready);
    }
    selected.skipped = found.skipped;
    found.choices
}

/// Which of the study's environments this machine offers.
#[derive(Debug, Default)]
struct AvailableEnvironments {
    /// The available ones. Each lacks its database if only that is unavailable.
    environments: Vec<Environment>,
    /// The unavailable environments, each with its reason.
    refused: Vec<Skipped>,
    /// The unavailable databases, each once.
    without_database: Vec<Skipped>,
}

impl AvailableEnvironments {
    fn of(study: &Study, here: Here<'_>) -> Self {
        let mut available = Self::default();
        study.environments.iter().for_each(|environment| available.sort_in(study, environment, here));
        available
    }

    /// Tries an environment with its database, then without.
    fn sort_in(&mut self, study: &Study, environment: &Environment, here: Here<'_>) {
        let missing = match &environment.database {
            None => None,
            Some(database) => match (here.database)(environment, database).and_then(|()| (here.fits)(environment)) {
                Ok(()) => return self.environments.push(environment.clone()),
                Err(reason) => {
                    let subject = format!("database [{}]", database.describe());
                    Some(Skipped { subject, reason, scenarios: ids_with_database(study, environment) })
                }
            },
        };
        let without_database = Environment { database: None, ..environment.clone() };
        match (here.fits)(&without_database) {
            Ok(()) => {
                missing.into_iter().for_each(|missing| missing.join(&mut self.without_database));
                self.environments.push(without_database);
            }
            Err(reason) => {
                let subject = format!("environment [{}]", environment.describe());
                Skipped { subject, reason, scenarios: ids_in(study, environment) }.join(&mut self.refused);
            }
        }
    }
}

/// Ids of all that the study does in one of its environments.
fn ids_in(study: &Study, environment: &Environment) -> Vec<String> {
    let scenarios = in_environments(study, &study.environments).into_iter().map(|it| (it.environment, it.id));
    let programs = programs_in_environments(study, &study.environments).into_iter().map(|it| (it.environment, it.id));
    scenarios.chain(programs).filter(|(own, _)| *own == environment.id).map(|(_, id)| id).collect()
}

/// Ids of those that use a database there.
fn ids_with_database(study: &Study, environment: &Environment) -> Vec<String> {
    let all = in_environments(study, &study.environments).into_iter();
    all.filter(|scenario| scenario.database && scenario.environment == environment.id).map(|it| it.id).collect()
}

/// Each scenario in each environment that makes a difference to it.
pub(crate) fn in_environments(study: &Study, environments: &[Environment]) -> Vec<Scenario> {
    let distinct = distinct_without_database(environments);
    let of = |scenario: &Scenario| -> Vec<Scenario> {
        let own: Vec<&Environment> = match scenario.database {
            true => environments.iter().filter(|environment| environment.database.is_some()).collect(),
            false => distinct.clone(),
        };
        let entered = own.into_iter().map(|environment| {
            let id = id_in(study, &scenario.id, environment, scenario.database);
            Scenario { id, environment: environment.id.clone(), ..scenario.clone() }
        });
        entered.collect()
    };
    study.scenarios.iter().flat_map(of).collect()
}

/// Each program in each environment that makes a difference to it.
pub(crate) fn programs_in_environments(study: &Study, environments: &[Environment]) -> Vec<ProgramScenario> {
    let distinct = distinct_without_database(environments);
    let each = study.programs.iter().flat_map(|program| distinct.iter().map(move |environment| (program, environment)));
    let entered = each.map(|(program, environment)| {
        let id = id_in(study, &program.id, environment, false);
        ProgramScenario { id, environment: environment.id.clone(), ..program.clone() }
    });
    entered.collect()
}

/// Environments that differ in nothing but their databases are one to what uses no database.
fn distinct_without_database(environments: &[Environment]) -> Vec<&Environment> {
    let mut distinct: Vec<&Environment> = Vec::new();
    for environment in environments {
        if distinct.iter().all(|earlier| !earlier.is_same_without_database(environment)) {
            distinct.push(environment);
        }
    }
    distinct
}

/// The id of a scenario or program in an environment.
fn id_in(study: &Study, id: &str, environment: &Environment, with_database: bool) -> String {
    let without_database = study.ids_without_database.get(&environment.id).filter(|_| !with_database);
    match without_database.unwrap_or(&environment.id).as_str() {
        "" => id.to_owned(),
        environment => format!("{id}-{environment}"),
    }
}

/// Those whose tools are available. Each missing tool is reported once.
fn with_their_tools(
    scenarios: Vec<Scenario>,
    programs: Vec<ProgramScenario>,
    here: Here<'_>,
    selected: &mut Selected,
) -> (Vec<Scenario>, Vec<ProgramScenario>) {
    let mut is_there = |tool: Option<&str>, id: &str| {
        let Err(reason) = tool.map_or(Ok(()), |name| (here.tool)(name)) else { return true };
        let subject = format!("tool [{}]", tool.unwrap_or_default());
        Skipped { subject, reason, scenarios: vec![id.to_owned()] }.join(&mut selected.skipped);
        false
    };
    let mut has_tool = |scenario: &Scenario| is_there(scenario.tool.name.program(), &scenario.id);
    let scenarios = scenarios.into_iter().filter(|scenario| has_tool(scenario)).collect();
    let programs = programs.into_iter().filter(|program| is_there(program.timer.program(), &program.id)).collect();
    (scenarios, programs)
}

/// A case for each program that is timed and each subject that is one and does that work.
fn add_programs(cases: &mut Vec<Case>, programs: &[ProgramScenario], catalogue: &Catalogue, choices: &[SubjectChoice]) {
    for program in programs {
        for choice in choices.iter().filter(|choice| does(catalogue, choice, program.workload_name())) {
            let id = case_id(&program.id, choice, cases);
            cases.push(Case {
                id,
                scenario: program.id.clone(),
                subject: choice.clone(),
                role: Role::Subject,
                twin_of: None,
            });
        }
    }
}

fn serves(catalogue: &Catalogue, choice: &SubjectChoice, scenario: &Scenario) -> bool {
    does(catalogue, choice, scenario.workload_name())
}

fn does(catalogue: &Catalogue, choice: &SubjectChoice, workload: &str) -> bool {
    let subject = catalogue.subject(&choice.subject);
    subject.is_some_and(|subject| subject.workloads(&choice.variant).iter().any(|served| served == workload))
}

/// The labels of those that lack something for workloads that use a database, and would be asked for one.
fn unable(
    study: &Study,
    catalogue: &Catalogue,
    here: Here<'_>,
    selected: &mut Selected,
    ceilings: &[SubjectChoice],
) -> BTreeSet<String> {
    let mut unable = BTreeSet::new();
    let asking: Vec<&Scenario> = study.scenarios.iter().filter(|scenario| scenario.database).collect();
    for choice in selected.choices.clone().iter().chain(ceilings) {
        let is_asked = asking.iter().any(|scenario| serves(catalogue, choice, scenario));
        let Some(subject) = catalogue.subject(&choice.subject).filter(|_| is_asked) else { continue };
        if let Err(reason) = (here.ready_for_database)(subject, &choice.variant) {
            selected.skip(subject, &choice.variant, format!("for workloads that ask a database, {reason}"));
            unable.insert(choice.label.clone());
        }
    }
    unable
}

/// The subjects that cases are made from.
#[derive(Clone, Copy)]
struct Candidates<'a> {
    subjects: &'a [SubjectChoice],
    ceilings: &'a [SubjectChoice],
    /// Labels of those that cannot use a database.
    without_database: &'a BTreeSet<String>,
}

fn cases(
    scenarios: &[Scenario],
    environments: &[Environment],
    catalogue: &Catalogue,
    candidates: Candidates<'_>,
) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for scenario in scenarios {
        if cases.len() as u64 > CASES.most {
            // The plan is refused.
            break;
        }
        let is_able = |it: &SubjectChoice| !scenario.database || !candidates.without_database.contains(&it.label);
        let is_near = |it: &SubjectChoice| reaches(it, catalogue, scenario, environments);
        let can = |it: &&SubjectChoice| serves(catalogue, it, scenario) && is_able(it) && is_near(it);
        let competing: Vec<&SubjectChoice> = candidates.subjects.iter().filter(can).collect();
        // The ceiling only makes sense next to a competing case.
        let limits = candidates.ceilings.iter().filter(|_| !competing.is_empty()).filter(can);
        let with_role = |role| move |choice| (choice, role);
        let limits = limits.map(with_role(Role::Ceiling));
        for (choice, role) in competing.iter().copied().map(with_role(Role::Subject)).chain(limits) {
            let id = case_id(&scenario.id, choice, &cases);
            cases.push(Case { id, scenario: scenario.id.clone(), subject: choice.clone(), role, twin_of: None });
        }
    }
    cases
}

/// A name that no earlier case has: different labels may be the same once what is not a letter is replaced.
fn case_id(scenario: &str, choice: &SubjectChoice, earlier: &[Case]) -> CaseId {
    let name = format!("{scenario}--{}", folder_name(&choice.label));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut candidates = std::iter::once(name.clone()).chain(numbered);
    candidates.find(|id| earlier.iter().all(|case| case.id != *id)).unwrap_or(name)
}

/// Reports each subject that serves none of the study's workloads. A subject without a case for want of a database or a
/// program is reported elsewhere.
fn skip_without_workload(study: &Study, catalogue: &Catalogue, selected: &mut Selected) {
    let is_idle = |choice: &&SubjectChoice| {
        let timed = study.programs.iter().any(|one| does(catalogue, choice, one.workload_name()));
        !timed && study.scenarios.iter().all(|one| !serves(catalogue, choice, one))
    };
    for choice in selected.choices.iter().filter(is_idle) {
        let subject = catalogue.subject(&choice.subject);
        let serves = subject.map(|subject| subject.workloads(&choice.variant).join(", ")).unwrap_or_default();
        let reason = format!("it serves none of the study's workloads (it serves {serves})");
        selected.skipped.push(Skipped::new(&choice.label, reason));
    }
}

/// Replaces what has a meaning in paths and shells.
fn folder_name(label: &str) -> String {
    label.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// Whether tolok does not start it.
fn is_external(subject: &Subject) -> bool {
    subject.external.is_some()
}

/// Each block in an order of its own. The cases of a launch stand together, and launches and trials are shuffled among each
/// other.
fn shuffled(
    cases: &[Case],
    (scenarios, programs): (&[Scenario], &[ProgramScenario]),
    blocks: u32,
    seed: u64,
) -> Vec<PlannedTrial> {
    let group = |case: &Case| Group::of(case, scenarios, programs);
    let twins = twins::of_blocks(cases, (scenarios, programs), blocks, seed);
    let mut random = SplitMix64::new(seed);
    let mut launch = 0;
    let mut trials = Vec::new();
    for (block, twins) in (1..=blocks).zip(twins) {
        let mut order: Vec<&Case> = cases.iter().collect();
        random.shuffle(&mut order);
        order.retain(|case| case.twin_of.is_none() || twins.contains(&case.id));
        let mut launched = Vec::new();
        for case in order.iter().copied() {
            let together: Vec<&Case> = match group(case) {
                None => vec![case],
                Some(own) if launched.contains(&own) => continue,
                Some(own) => {
                    launched.push(own);
                    order.iter().copied().filter(|other| group(other) == Some(own)).collect()
                }
            };
            let of_launch = group(case).map(|_| {
                launch += 1;
                launch
            });
            for case in together {
                let number = trials.len() as u32 + 1;
                trials.push(PlannedTrial { number, block, case: case.id.clone(), launch: of_launch });
            }
        }
    }
    trials
}
