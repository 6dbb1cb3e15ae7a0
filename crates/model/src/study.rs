//! A study: a question, the subjects it is put to, and the scenarios under which they answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::catalogue::Catalogue;
use crate::environment::Environment;
use crate::environment_reading::read_environments;
use crate::load_profile::{Executor, LoadProfile};
use crate::load_reading::read_load;
use crate::objective::{Objective, Part};
use crate::several::Several;
use crate::study_file::{ScenarioFile, StudyFile};
use crate::subject::{ParameterValue, SubjectChoice};
use crate::table::Table;
use crate::text::{Problem, ROOT, Reading, Span};
use crate::units::Percent;
use crate::wording::suggestion;

/// How often a disturbed trial is measured anew, where the study does not say.
const DEFAULT_RERUNS: u32 = 2;

/// A question, the subjects it is put to, and the scenarios under which they answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// A few words for the report's head.
    pub title: String,
    /// The question that the study answers.
    pub question: String,
    /// Which subjects, as the study names them.
    pub subjects: Vec<SubjectSelector>,
    /// How often every case is run.
    pub blocks: u32,
    /// Seed of the order, if the study fixes one.
    pub seed: Option<u64>,
    /// Differences smaller than this fraction do not matter to the question.
    pub smallest_effect: f64,
    /// Whether the machine's limit is measured beside the subjects.
    pub ceiling: bool,
    /// What is asked, and how.
    pub scenarios: Vec<Scenario>,
    /// How often a disturbed trial is measured anew at most.
    pub reruns: u32,
    /// What surrounds the subjects: one, or each combination that the study lists.
    pub environments: Vec<Environment>,
}

/// A workload under a load profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// A name for folders and tables: `json-c64`, or `json-c64-lan-wifi` where there are several environments.
    pub id: String,
    /// Id of its environment; empty where there is one only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub environment: String,
    /// The workload, with the parameters that the study sets: `rows?fields=40&limit=1000`.
    pub workload: String,
    /// Whether the workload asks a database, so that its trials have one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub database: bool,
    /// How it is asked.
    pub load: LoadProfile,
    /// What must hold in every trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<Objective>,
    /// Whether a trial is stopped at the first objective that is crossed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abort: bool,
}

/// A subject as a study names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectSelector {
    /// `*`: the default variant of every subject that is ready.
    EveryReady,
    /// `node/http:*`: all variants of one subject.
    EveryVariant(String),
    /// One variant of one subject.
    One(SubjectChoice),
}

impl Study {
    /// Reads a study, checks every name in it against the catalogue, and returns all problems at once.
    pub fn read(text: &str, catalogue: &Catalogue) -> Result<Self, Vec<Problem>> {
        let (file, mut reading) = Reading::read::<StudyFile>(text);
        let title = reading.require(file.title, &ROOT, "title", "title = \"Large answers: which runtime?\"");
        let example = "subjects = [\"go/nethttp\", \"bun/serve\"]";
        let subjects = reading.require(file.subjects, &ROOT, "subjects", example);
        let subjects = subjects.map(|subjects| read_subjects(subjects, catalogue, &mut reading)).unwrap_or_default();
        let scenarios = read_scenarios(file.scenario, catalogue, &mut reading);
        let blocks = at_least_one(file.blocks, 10, "blocks", &mut reading);
        let smallest_effect = file.smallest_effect.map_or(0.03, |effect| below_all(&effect, &mut reading));
        let environments = read_environments(file.environment, &mut reading);
        match title {
            Some(title) if !reading.has_problems() => Ok(Self {
                title,
                question: file.question.unwrap_or_default(),
                subjects,
                blocks,
                seed: file.seed,
                smallest_effect,
                ceiling: file.ceiling.unwrap_or(true),
                reruns: file.reruns.unwrap_or(DEFAULT_RERUNS),
                scenarios,
                environments,
            }),
            _ => Err(reading.into_problems()),
        }
    }
}

fn at_least_one(value: Option<Spanned<u32>>, default: u32, key: &str, reading: &mut Reading) -> u32 {
    let Some(value) = value else { return default };
    if *value.get_ref() == 0 {
        reading.note(value.span(), format!("`{key}` must be at least 1"), None);
    }
    value.into_inner()
}

fn below_all(effect: &Spanned<Percent>, reading: &mut Reading) -> f64 {
    let fraction = effect.get_ref().0;
    if fraction >= 1.0 {
        reading.note(effect.span(), "`smallest-effect` must be less than 100%", None);
    }
    fraction
}

fn read_subjects(
    listed: Spanned<Vec<Spanned<String>>>,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<SubjectSelector> {
    let span = listed.span();
    let listed = listed.into_inner();
    if listed.is_empty() && !reading.is_damaged(&ROOT, "subjects") {
        reading.note(span, "no subject is listed", Some("`*` means every subject that is ready here".to_owned()));
    }
    let mut selectors = Vec::new();
    for name in listed {
        match SubjectSelector::read(name.get_ref(), catalogue) {
            Ok(selector) if selectors.contains(&selector) => {
                let message = format!("`{}` is listed twice", name.get_ref());
                let help = "without a variant, a subject means its default variant".to_owned();
                reading.note(name.span(), message, Some(help));
            }
            Ok(selector) => selectors.push(selector),
            Err((message, help)) => reading.note(name.span(), message, help),
        }
    }
    selectors
}

impl SubjectSelector {
    /// Reads `*`, `id`, `id:variant`, `id:*` or any of the last with `?parameter=value&…`.
    pub fn read(text: &str, catalogue: &Catalogue) -> Result<Self, (String, Option<String>)> {
        if text == "*" {
            return Ok(SubjectSelector::EveryReady);
        }
        let (name, overrides) = text.split_once('?').unwrap_or((text, ""));
        let (id, variant) = match name.split_once(':') {
            Some((id, variant)) => (id, Some(variant)),
            None => (name, None),
        };
        let Some(subject) = catalogue.subject(id) else {
            let ids: Vec<&str> = catalogue.subjects.iter().map(|subject| subject.id.as_str()).collect();
            return Err((format!("there is no subject `{id}`"), Some(suggestion(id, &ids))));
        };
        match (variant, overrides) {
            (Some("*"), "") => Ok(SubjectSelector::EveryVariant(id.to_owned())),
            (Some("*"), _) => {
                let help = "name one variant instead of `*`".to_owned();
                Err(("parameters cannot be set for all variants at once".to_owned(), Some(help)))
            }
            _ => {
                let overrides = read_overrides(overrides).map_err(|message| (message, None))?;
                subject.choose(variant, &overrides).map(SubjectSelector::One).map_err(|message| (message, None))
            }
        }
    }
}

fn read_overrides(text: &str) -> Result<BTreeMap<String, ParameterValue>, String> {
    let mut overrides = BTreeMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| format!("`{pair}` is not of the form parameter=value"))?;
        let value = value.parse().map_or_else(|_| ParameterValue::Text(value.to_owned()), ParameterValue::Integer);
        if overrides.insert(name.to_owned(), value).is_some() {
            return Err(format!("parameter `{name}` is set twice"));
        }
    }
    Ok(overrides)
}

fn read_scenarios(
    written: Option<Vec<Table<ScenarioFile>>>,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<Scenario> {
    let written = written.unwrap_or_default();
    if written.is_empty() && !reading.is_damaged(&ROOT, "scenario") {
        let help = "for example: [[scenario]] with `workload = \"hello\"` and a `load`".to_owned();
        reading.note(ROOT, "no scenario is given", Some(help));
    }
    let mut scenarios: Vec<Scenario> = Vec::new();
    for scenario in written {
        let span = scenario.span.clone();
        for read in read_scenario(scenario, catalogue, reading) {
            if scenarios.iter().any(|earlier| earlier.id == read.id) {
                let help = "scenarios are told apart by workload, executor, users or rates, and connections".to_owned();
                reading.note(span.clone(), format!("scenario `{}` stands here twice", read.id), Some(help));
            } else {
                scenarios.push(read);
            }
        }
    }
    scenarios
}

/// One scenario for each combination of workload and number of virtual users or rate.
fn read_scenario(scenario: Table<ScenarioFile>, catalogue: &Catalogue, reading: &mut Reading) -> Vec<Scenario> {
    let Table { span, entries: scenario } = scenario;
    let workloads = reading.require(scenario.workload, &span, "workload", "workload = [\"hello\", \"json\"]");
    let workloads = workloads.map(|listed| read_workloads(listed, &span, catalogue, reading)).unwrap_or_default();
    let example = "load = { executor = \"constant-vus\", vus = 64, duration = \"10s\" }";
    let load = reading.require(scenario.load, &span, "load", example);
    let profiles = load.map(|load| read_load(load, reading)).unwrap_or_default();
    let has_objectives = scenario.objective.is_some() || reading.is_damaged(&span, "objective");
    let objectives = read_objectives(scenario.objective, profiles.first().map(|load| &load.executor), reading);
    let abort = read_abort(scenario.abort, has_objectives, reading);
    let combinations = workloads.iter().flat_map(|workload| profiles.iter().map(move |load| (workload, load)));
    combinations
        .map(|(workload, load)| Scenario {
            id: format!("{workload}-{}", load.id()),
            environment: String::new(),
            workload: workload.clone(),
            database: false,
            load: load.clone(),
            objectives: objectives.clone(),
            abort,
        })
        .collect()
}

fn read_workloads(
    listed: Spanned<Several<String>>,
    scenario: &Span,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<String> {
    let span = listed.span();
    let names = listed.into_inner().0;
    if names.is_empty() && !reading.is_damaged(scenario, "workload") {
        reading.note(span, "no workload is listed", None);
    }
    let mut known = Vec::new();
    for name in names {
        if catalogue.workload(name.get_ref()).is_some() {
            known.push(name.into_inner());
        } else {
            let all: Vec<&str> = catalogue.workloads.iter().map(|workload| workload.name.as_str()).collect();
            let help = suggestion(name.get_ref(), &all);
            reading.note(name.span(), format!("there is no workload `{}`", name.get_ref()), Some(help));
        }
    }
    known
}

/// What must hold in every trial of the scenario.
fn read_objectives(
    written: Option<Spanned<Several<String>>>,
    executor: Option<&Executor>,
    reading: &mut Reading,
) -> Vec<Objective> {
    let mut objectives: Vec<Objective> = Vec::new();
    for text in written.map(|written| written.into_inner().0).unwrap_or_default() {
        match Objective::parse(text.get_ref()) {
            Err(error) => reading.note(text.span(), error.to_string(), Some(error.help())),
            Ok(objective) if objectives.contains(&objective) => {
                reading.note(text.span(), format!("`{objective}` is listed twice"), None);
            }
            Ok(objective) => {
                if objective.part == Some(Part::Queue) && executor.is_some_and(|executor| !executor.is_open()) {
                    let help = "only requests that start by the clock can find no free connection".to_owned();
                    reading.note(text.span(), "in a closed loop nothing waits in a queue", Some(help));
                }
                objectives.push(objective);
            }
        }
    }
    objectives
}

/// Whether trials stop at the first objective that is crossed.
fn read_abort(written: Option<Spanned<bool>>, has_objectives: bool, reading: &mut Reading) -> bool {
    let Some(written) = written else { return false };
    if *written.get_ref() && !has_objectives {
        let help = "for example: objective = [\"failed < 1%\"]".to_owned();
        reading.note(written.span(), "without an `objective` there is nothing to stop at", Some(help));
    }
    written.into_inner()
}
