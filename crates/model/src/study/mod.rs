//! A study: a question, its subjects, and the scenarios that they run under.

pub mod aa_pair;
pub mod blocks;
pub(crate) mod file;
pub(crate) mod judge;
pub(crate) mod publish;
pub(crate) mod published;
pub(crate) mod published_reading;
pub(crate) mod scale;
pub(crate) mod slices;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::database::Database;
use crate::database::reading::WrittenDatabase;
use crate::environment::Environment;
use crate::environment::reading::{Surroundings, read_environments};
use crate::limits::SCENARIOS;
use crate::load::objective::{Objective, Part};
use crate::load::profile::{Executor, LoadProfile};
use crate::load::reading::read_load;
use crate::plan::Stopping;
use crate::program::ProgramScenario;
use crate::program::reading::read_program_scenarios;
use crate::protocol::{Protocol, Spoken, is_one, one};
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Problem, ROOT, Reading, Span};
use crate::reading::wording::suggestion;
use crate::study::aa_pair::AaPair;
use crate::study::blocks::{Blocks, read_blocks};
use crate::study::file::{ScenarioFile, StudyFile};
use crate::study::judge::Judge;
use crate::study::published::PublishedRatio;
use crate::study::published_reading::read_published;
use crate::study::scale::{is_unscaled, unscaled};
use crate::study::slices::{Design, SliceDesign, not_sliced, not_sliced_in, read_slices};
use crate::subject::{ParameterValue, SubjectChoice};
use crate::tool::reading::{check_abort, check_tool, read_tools};
use crate::tool::{ToolChoice, is_own_tool};
use crate::units::{Percent, duration_words};
use crate::workload::Workload;
use crate::workload::data::DataBody;

/// How often a disturbed trial is repeated by default.
const DEFAULT_RERUNS: u32 = 2;

/// A question, its subjects, and the scenarios under which they are measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// A few words for the report's head.
    pub title: String,
    /// The question that the study answers.
    pub question: String,
    /// Which subjects, as the study names them.
    pub subjects: Vec<SubjectSelector>,
    /// How often every case is run; with a stopping rule, at most.
    pub blocks: u32,
    /// When a run may end before its last block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// No block except the first five starts unless it would end within this many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
    /// Which subject of each scenario is entered twice, to show how much equal subjects differ.
    #[serde(default)]
    pub aa_pair: AaPair,
    /// Seed of the order, if the study fixes one.
    pub seed: Option<u64>,
    /// Differences smaller than this fraction do not matter to the question.
    pub smallest_effect: f64,
    /// Which response decides verdicts.
    #[serde(default, skip_serializing_if = "Judge::is_default")]
    pub judge: Judge,
    /// Whether to measure the ceiling, which shows the machine's limit.
    pub ceiling: bool,
    pub scenarios: Vec<Scenario>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramScenario>,
    /// Published figures to compare with the measured ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedRatio>,
    /// How often a disturbed trial is repeated at most.
    pub reruns: u32,
    /// The environments: one, or each combination that the study lists.
    pub environments: Vec<Environment>,
    /// Maps each environment's id to its name in scenarios without a database. Environments that differ only in their
    /// databases share a name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ids_without_database: BTreeMap<String, String>,
    /// Factor by which every warm-up and window of the file is scaled.
    #[serde(default = "unscaled", skip_serializing_if = "is_unscaled")]
    pub scale: f64,
}

/// A workload under a load profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// A name for folders and tables: `json-c64`, or `json-c64-lan-wifi` if there are several environments.
    pub id: String,
    /// Id of its environment; empty if there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub environment: String,
    /// The workload, with the parameters that the study sets: `rows?fields=40&limit=1000`.
    pub workload: String,
    /// Whether the workload uses a database, so that its trials have one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub database: bool,
    pub load: LoadProfile,
    /// The protocol between load generator and subjects.
    #[serde(default, skip_serializing_if = "Protocol::is_default")]
    pub protocol: Protocol,
    /// Over HTTP/2: users, or pool connections, that share a connection. Over HTTP/1.1: requests that the workload
    /// pipelines. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub streams: u32,
    #[serde(default, skip_serializing_if = "is_own_tool")]
    pub tool: ToolChoice,
    /// What must hold in every trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<Objective>,
    /// Whether a trial stops at the first crossed objective.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abort: bool,
    /// Its slices, or `None` if each case has its own trial. With slices, `load.duration_s` is the measured time of
    /// each case in a launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<SliceDesign>,
}

/// A subject as a study names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectSelector {
    /// `*`: the default variant of every subject that is ready.
    EveryReady,
    /// `node/http:*`: all variants of one subject.
    EveryVariant(String),
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
        let asks_database = asks_database(file.scenario.as_deref(), catalogue, &reading);
        let needs_scenario = file.program.is_empty() && !reading.is_damaged(&ROOT, "program");
        let design = file.design.as_ref().map(|design| *design.get_ref()).unwrap_or_default();
        let programs = read_program_scenarios(file.program, design, catalogue, &mut reading);
        let slices = read_slices(file.slices, SliceDesign::default(), &mut reading);
        let asked = WrittenDesign { design, slices };
        let scenarios = read_scenarios(file.scenario, needs_scenario, asked, catalogue, &mut reading);
        let Blocks { most: blocks, stopping, budget_s } = read_blocks(file.blocks, &mut reading);
        let smallest_effect = file.smallest_effect.map_or(0.03, |effect| below_all(&effect, &mut reading));
        let Surroundings { mut environments, ids_without_database, database } =
            read_environments(file.environment, &mut reading);
        match &database {
            Some(written) => check_database(written, asks_database, &scenarios, catalogue, &mut reading),
            None if asks_database == Some(true) => {
                environments.iter_mut().for_each(|environment| environment.database = Some(Database::default()));
            }
            None => {}
        }
        let is_sliced = scenarios.iter().any(|scenario| scenario.slices.is_some());
        let is_sliced = is_sliced || programs.iter().any(|program| program.in_turns);
        check_slices(file.design.filter(|_| is_sliced), &environments, &mut reading);
        let mut study = Self {
            title: title.unwrap_or_default(),
            question: file.question.unwrap_or_default(),
            subjects,
            blocks,
            stopping,
            budget_s,
            aa_pair: file.aa_pair.unwrap_or_default(),
            seed: file.seed,
            smallest_effect,
            judge: file.judge.unwrap_or_default(),
            ceiling: file.ceiling.unwrap_or(true),
            published: Vec::new(),
            reruns: file.reruns.unwrap_or(DEFAULT_RERUNS),
            scenarios,
            programs,
            environments,
            ids_without_database: told_apart(ids_without_database),
            scale: unscaled(),
        };
        study.published = read_published(file.published, &study, catalogue, &mut reading);
        if reading.has_problems() { Err(reading.into_problems()) } else { Ok(study) }
    }
}

/// A study's design. A scenario may override it.
#[derive(Debug, Clone, Copy)]
struct WrittenDesign {
    design: Design,
    slices: SliceDesign,
}

/// Checks a study with slices against its environments.
fn check_slices(design: Option<Spanned<Design>>, environments: &[Environment], reading: &mut Reading) {
    let refused = environments.iter().find_map(not_sliced_in);
    if let (Some(why), Some(design)) = (refused, design) {
        let help = "`design = \"trials\"` gives each case a window of its own".to_owned();
        reading.note(design.span(), format!("nothing can be sliced in this environment: {why}"), Some(help));
    }
}

/// Whether any workload of the study uses a database, or `None` if an error leaves that unknown.
fn asks_database(scenarios: Option<&[Table<ScenarioFile>]>, catalogue: &Catalogue, reading: &Reading) -> Option<bool> {
    let listed = scenarios?.iter().flat_map(|scenario| scenario.entries.workload.iter());
    let texts = listed.flat_map(|listed| &listed.get_ref().0);
    let asks: Option<Vec<bool>> =
        texts.map(|text| catalogue.workload(text.get_ref()).map(|workload| workload.database)).collect();
    let asks = asks.filter(|asks| !asks.is_empty() && !reading.was_wrong("workload") && !reading.was_wrong("scenario"));
    asks.map(|asks| asks.contains(&true))
}

/// Checks the database against the scenarios that use it.
fn check_database(
    written: &WrittenDatabase,
    asks_database: Option<bool>,
    scenarios: &[Scenario],
    catalogue: &Catalogue,
    reading: &mut Reading,
) {
    if asks_database == Some(false) {
        let asking = catalogue.workloads.iter().filter(|workload| workload.database);
        let names: Vec<&str> = asking.map(|workload| workload.name.as_str()).collect();
        let help =
            if names.is_empty() { "no workload does".to_owned() } else { format!("these do: {}", names.join(", ")) };
        reading.note(written.span.clone(), "nothing in this study asks a database", help);
    }
    let Some((span, outage)) = &written.outage else { return };
    let writes = |one: &&Scenario| {
        catalogue.workload(one.workload_name()).and_then(|it| it.body.data()) == Some(DataBody::Updates)
    };
    if let Some(writing) = scenarios.iter().find(writes) {
        let help = "take an outage for workloads that read, or for `counter`";
        let message = format!("`{}` writes, and an outage is probed by reading", writing.id);
        reading.note(span.clone(), message, help);
    }
    let back_s = outage.at_s + outage.for_s;
    if let Some(short) = scenarios.iter().find(|one| one.database && one.load.duration_s <= back_s) {
        let (window, back) = (duration_words(short.load.duration_s), duration_words(back_s));
        let message = format!("the window of `{}` is over after {window}, before the database is back", short.id);
        let help = format!("it is back {back} after the window began; what subjects do then needs a longer window");
        reading.note(span.clone(), message, help);
    }
}

/// Keeps only the ids that differ.
fn told_apart(ids: BTreeMap<String, String>) -> BTreeMap<String, String> {
    ids.into_iter().filter(|(id, without_database)| id != without_database).collect()
}

fn below_all(effect: &Spanned<Percent>, reading: &mut Reading) -> f64 {
    let fraction = effect.get_ref().0;
    reading.note_if(fraction >= 1.0, effect.span(), "`smallest-effect` must be less than 100%", None);
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
        reading.note(span, "no subject is listed", "`*` means every subject that is ready here");
    }
    let mut selectors = Vec::new();
    for name in listed {
        match SubjectSelector::read(name.get_ref(), catalogue) {
            Ok(selector) if selectors.contains(&selector) => {
                let message = format!("`{}` is listed twice", name.get_ref());
                reading.note(name.span(), message, "without a variant, a subject means its default variant");
            }
            Ok(selector) => selectors.push(selector),
            Err((message, help)) => reading.note(name.span(), message, help),
        }
    }
    selectors
}

impl Scenario {
    /// Whether two scenarios differ only in their tool.
    pub fn differs_in_tool_only(&self, other: &Self) -> bool {
        let same_load = self.workload == other.workload && self.load == other.load;
        let same_load = same_load && (self.protocol, self.streams) == (other.protocol, other.streams);
        same_load && self.environment == other.environment && self.tool != other.tool
    }

    /// Its load and protocol in a few words: `closed loop, 64 virtual users, keep-alive, 1 s, over HTTP/2 with TLS`.
    pub fn describe_load(&self) -> String {
        let load = self.load.describe();
        let shared = match self.streams {
            1 => String::new(),
            streams if self.protocol.is_http2() => format!(", {streams} streams a connection"),
            depth => format!(", {depth} pipelined requests a connection"),
        };
        match self.protocol {
            Protocol::Http1 => load + &shared,
            protocol => format!("{load}, over {}{shared}", protocol.title()),
        }
    }

    /// The name of its workload without parameters, which subjects list.
    pub fn workload_name(&self) -> &str {
        self.workload.split('?').next().unwrap_or_default()
    }
}

impl SubjectSelector {
    /// Reads `*`, `id`, `id:variant`, `id:*`, or any but `*` with `?parameter=value&…`.
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
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` is not of the form parameter=value, such as pool=32"))?;
        let value = value.parse().map_or_else(|_| ParameterValue::Text(value.to_owned()), ParameterValue::Integer);
        if overrides.insert(name.to_owned(), value).is_some() {
            return Err(format!("parameter `{name}` is set twice; leave one of them out"));
        }
    }
    Ok(overrides)
}

fn read_scenarios(
    written: Option<Vec<Table<ScenarioFile>>>,
    is_needed: bool,
    design: WrittenDesign,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<Scenario> {
    let written = written.unwrap_or_default();
    if written.is_empty() && is_needed && !reading.is_damaged(&ROOT, "scenario") {
        let help = "for example: [[scenario]] with `workload = \"hello\"` and a `load`";
        reading.note(ROOT, "no scenario is given", help);
    }
    let mut scenarios: Vec<Scenario> = Vec::new();
    for scenario in written {
        let span = scenario.span.clone();
        let read = read_scenario(scenario, design, catalogue, reading);
        if let Err(why) = SCENARIOS.holds((scenarios.len() + read.len()) as u64) {
            reading.note(span, why, None);
            break;
        }
        for read in read {
            if scenarios.iter().any(|earlier| earlier.id == read.id) {
                let help =
                    "scenarios are told apart by workload, executor, users or rates, connections, protocol, and tool";
                reading.note(span.clone(), format!("scenario `{}` appears twice", read.id), help);
            } else {
                scenarios.push(read);
            }
        }
    }
    scenarios
}

/// One scenario for each combination of workload, number of virtual users or rate, tool, and protocol.
fn read_scenario(
    scenario: Table<ScenarioFile>,
    design: WrittenDesign,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<Scenario> {
    let Table { span, entries: mut scenario } = scenario;
    let scenario_span = span.clone();
    let workloads = reading.require(scenario.workload, &span, "workload", "workload = [\"hello\", \"json\"]");
    let workloads = workloads.map(|listed| read_workloads(listed, &span, catalogue, reading)).unwrap_or_default();
    let example = "load = { executor = \"constant-vus\", vus = 64, duration = \"10s\" }";
    let streams = scenario.load.as_mut().and_then(|load| load.entries.streams.take());
    let spoken = Spoken::read(scenario.protocol, streams, &span, reading);
    let load = reading.require(scenario.load, &span, "load", example);
    let profiles = load.map(|load| read_load(load, reading)).unwrap_or_default();
    let has_objectives = scenario.objective.is_some() || reading.is_damaged(&span, "objective");
    let objectives = read_objectives(scenario.objective, profiles.first().map(|load| &load.executor), reading);
    let abort = read_abort(scenario.abort, has_objectives.then_some(&objectives), reading);
    let tools = read_tools(scenario.tool, reading);
    tools.iter().for_each(|(tool, span)| check_abort(tool, abort, span, reading));
    let design_span = scenario.design.as_ref().map(Spanned::span);
    let is_sliced = scenario.design.map_or(design.design, Spanned::into_inner) == Design::Slices;
    let slices = read_slices(scenario.slices, design.slices, reading);
    let mut scenarios = Vec::new();
    if let Err(why) = SCENARIOS.holds((workloads.len() * profiles.len() * tools.len() * spoken.len()) as u64) {
        reading.note(scenario_span, why, None);
        return scenarios;
    }
    for (workload, load) in workloads.iter().flat_map(|workload| profiles.iter().map(move |load| (workload, load))) {
        for ((tool, span), over) in
            tools.iter().flat_map(|tool| spoken.each(workload.pipeline).map(move |over| (tool, over)))
        {
            let asked = (workload, load);
            if !check_tool((tool, span), asked, reading) || !spoken.check(over, (tool.name, span), load, reading) {
                continue;
            }
            let mut read = Scenario {
                id: format!("{}-{}{}{}", workload.folder_name(), load.id(), over.suffix(), tool.suffix()),
                environment: String::new(),
                workload: workload.name.clone(),
                database: workload.database,
                load: load.clone(),
                protocol: over.protocol,
                streams: over.streams,
                tool: tool.clone(),
                objectives: objectives.clone(),
                abort,
                slices: is_sliced.then_some(slices),
            };
            if let Some(why) = not_sliced(&read, Some(workload)).filter(|_| is_sliced) {
                let span = design_span.clone().unwrap_or_else(|| scenario_span.clone());
                let help = "`design = \"trials\"` in this [[scenario]] gives each case a window of its own";
                reading.note(span, format!("`{}` cannot be sliced: {why}", read.id), Some(help.to_owned()));
                read.slices = None;
            }
            scenarios.push(read);
        }
    }
    scenarios
}

fn read_workloads(
    listed: Spanned<Several<String>>,
    scenario: &Span,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<Workload> {
    let span = listed.span();
    let texts = listed.into_inner().0;
    reading.note_if(texts.is_empty() && !reading.is_damaged(scenario, "workload"), span, "no workload is listed", None);
    let mut known: Vec<Workload> = Vec::new();
    for text in texts {
        match catalogue.choose_workload(text.get_ref()) {
            Err((message, help)) => reading.note(text.span(), message, help),
            Ok(workload) => {
                // `rows` and `rows?limit=10000` differ in name, but mean the same request.
                let is_same = |earlier: &&Workload| {
                    let [base, other] = [&earlier.name, &workload.name].map(|name| name.split('?').next());
                    base == other && earlier.values == workload.values && earlier.name != workload.name
                };
                if let Some(earlier) = known.iter().find(is_same) {
                    let message = format!("`{}` is what `{}` means already", text.get_ref(), earlier.name);
                    reading.note(text.span(), message, None);
                } else {
                    known.push(workload);
                }
            }
        }
    }
    known
}

/// Reads what must hold in every trial of the scenario.
fn read_objectives(
    written: Option<Spanned<Several<String>>>,
    executor: Option<&Executor>,
    reading: &mut Reading,
) -> Vec<Objective> {
    let mut objectives: Vec<Objective> = Vec::new();
    for text in written.map(|written| written.into_inner().0).unwrap_or_default() {
        match Objective::parse(text.get_ref()) {
            Err(error) => reading.note(text.span(), error.to_string(), error.help()),
            Ok(objective) if objectives.contains(&objective) => {
                reading.note(text.span(), format!("`{objective}` is listed twice"), None);
            }
            Ok(objective) => {
                if objective.part == Some(Part::Queue) && executor.is_some_and(|executor| !executor.is_open()) {
                    let help = "only requests that start by the clock can find no free connection";
                    reading.note(text.span(), "in a closed loop nothing waits in a queue", help);
                }
                objectives.push(objective);
            }
        }
    }
    objectives
}

/// Reads whether trials stop at the first crossed objective.
fn read_abort(written: Option<Spanned<bool>>, objectives: Option<&Vec<Objective>>, reading: &mut Reading) -> bool {
    let Some(written) = written else { return false };
    match objectives.filter(|_| *written.get_ref()) {
        None if *written.get_ref() => {
            let help = "for example: objective = [\"failed < 1%\"]";
            reading.note(written.span(), "without an `objective` there is nothing to stop at", help);
        }
        // An empty list means unreadable objectives, which are reported already.
        Some(objectives) if !objectives.is_empty() && !objectives.iter().any(Objective::can_end_a_trial) => {
            let help = "an upper limit can, such as failed < 1%, and goodput as a share";
            reading.note(written.span(), "no `objective` here can end a trial before its time", help);
        }
        _ => {}
    }
    written.into_inner()
}
