//! Reads programs: `[program]` of a workload and of a subject, `[[program]]` of a study.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::JsonSchema;
use crate::catalogue::Catalogue;
use crate::program::{ProgramScenario, ProgramWorkload, Runs, SubjectProgram};
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Problem, ROOT, Reading, Span};
use crate::study::slices::Design;
use crate::tool::Timer;
use crate::tool::reading::read_timers;
use crate::units::Seconds;
use crate::workload::data::read_free_parameters;
use crate::workload::file::WorkloadFile;

/// `[program]` of a workload: what programs do and print, instead of a request and its answer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ProgramWorkload")]
pub struct ProgramWorkloadFile {
    /// Arguments after the subject's command, with the workload's parameters in double braces: `["sync", "{{ n }}"]`.
    #[schemars(required, length(min = 1))]
    pub arguments: Option<Spanned<Vec<String>>>,
    /// Arguments with which the program starts and ends without the work, which measures the cost of its start.
    #[schemars(required, length(min = 1))]
    pub floor: Option<Spanned<Vec<String>>>,
    /// The exact standard output, with parameters in double braces: `{{ n * (n + 1) // 2 }}`.
    #[schemars(required)]
    pub output: Option<String>,
    /// The exact standard output with the arguments of `floor`.
    #[schemars(required)]
    pub floor_output: Option<String>,
}

/// `[program]` of a subject: how to start it, instead of servers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SubjectProgram")]
pub struct SubjectProgramFile {
    /// The command, each part a template. The workload's arguments follow it.
    #[schemars(required, length(min = 1))]
    pub command: Option<Spanned<Vec<String>>>,
    /// Extra environment variables, each value a template.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// `[[program]]` of a study: programs that run to completion and are timed. Lists make one scenario for each
/// combination.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ProgramScenario")]
pub struct ProgramScenarioFile {
    /// One workload or several, with any parameters: `queue-sync?n=1000`.
    #[schemars(required)]
    pub workload: Option<Spanned<Several<String>>>,
    /// Maximum number of counted runs of a trial, or of a case in a launch. Default 10.
    #[schemars(range(min = 1))]
    pub runs: Option<Spanned<u32>>,
    /// Discarded runs before them. Default 1.
    pub warmup_runs: Option<u32>,
    /// No further run starts once the counted ones have taken this long. Default `10s`.
    pub at_most: Option<Spanned<Seconds>>,
    /// A longer run is ended, and its trial fails. Default `60s`.
    pub timeout: Option<Spanned<Seconds>>,
    /// What times it: `tolok` (default), `hyperfine`, `time`; one or several.
    #[schemars(with = "Option<Several<Timer>>")]
    pub timer: Option<Spanned<Several<String>>>,
    /// How its cases take turns. Default: the study's `design`.
    pub design: Option<Spanned<Design>>,
}

impl ProgramWorkload {
    /// Whether the text of a `workload.toml` seems meant as a workload for programs.
    pub fn is_meant(text: &str) -> bool {
        let (file, _) = Reading::read::<WorkloadFile>(text);
        file.program.is_some() && file.request.is_none() && file.answer.is_none()
    }

    /// Reads the text of a `workload.toml` with a `[program]`, from the folder `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let (file, mut reading) = Reading::read::<WorkloadFile>(text);
        let title = reading.require(file.title, &ROOT, "title", "title = \"Queue\"");
        if let Some(database) = file.database.filter(|database| *database.get_ref()) {
            reading.note(database.span(), "programs have no database", "leave `database` out");
        }
        let parameters = read_free_parameters(file.parameter, &mut reading);
        let program = reading.require(file.program, &ROOT, "program", "[program] with arguments and output");
        let program = program.and_then(|program| read_program(program, &mut reading));
        match (title, program) {
            (Some(title), Some((arguments, floor, output, floor_output))) if !reading.has_problems() => Ok(Self {
                name: name.to_owned(),
                title,
                summary: file.summary.unwrap_or_default(),
                arguments,
                floor,
                output,
                floor_output,
                parameters,
                values: BTreeMap::new(),
            }),
            _ => Err(reading.into_problems()),
        }
    }
}

type ReadProgram = (Vec<String>, Vec<String>, String, String);

fn read_program(program: Table<ProgramWorkloadFile>, reading: &mut Reading) -> Option<ReadProgram> {
    let Table { span, entries: file } = program;
    let arguments = reading.require(file.arguments, &span, "arguments", "arguments = [\"sync\", \"{{ n }}\"]");
    let floor = reading.require(file.floor, &span, "floor", "floor = [\"sync\", \"0\"]");
    let output = reading.require(file.output, &span, "output", "output = \"{{ n }}\\n\"");
    let floor_output = reading.require(file.floor_output, &span, "floor-output", "floor-output = \"0\\n\"");
    Some((arguments?.into_inner(), floor?.into_inner(), output?, floor_output?))
}

pub(crate) fn read_subject_program(program: Table<SubjectProgramFile>, reading: &mut Reading) -> SubjectProgram {
    let Table { span, entries: file } = program;
    let example = "command = [\"{{ build }}/queue\"]";
    let command = reading.require(file.command, &span, "command", example);
    if let Some(empty) = command.as_ref().filter(|command| command.get_ref().is_empty()) {
        reading.note(empty.span(), "the command is empty", format!("for example: {example}"));
    }
    SubjectProgram { command: command.map(Spanned::into_inner).unwrap_or_default(), env: file.env }
}

/// Reads every `[[program]]` of a study, still without an environment. `design` is the study's default.
pub(crate) fn read_program_scenarios(
    written: Vec<Table<ProgramScenarioFile>>,
    design: Design,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<ProgramScenario> {
    let mut scenarios: Vec<ProgramScenario> = Vec::new();
    for scenario in written {
        let Table { span, entries: file } = scenario;
        let workloads = reading.require(file.workload, &span, "workload", "workload = \"queue-sync?n=1000\"");
        let workloads = workloads.map(|listed| read_workloads(listed, catalogue, reading)).unwrap_or_default();
        let timer_span = file.timer.as_ref().map_or_else(|| span.clone(), Spanned::span);
        let timers = read_timers(file.timer, reading);
        let in_turns = file.design.map_or(design, Spanned::into_inner) == Design::Slices;
        let runs = Runs {
            runs: file.runs.map_or(10, |runs| reading.at_least_one(&runs, "runs")),
            warmup_runs: file.warmup_runs.unwrap_or(1),
            at_most_s: file.at_most.map_or(10.0, |time| reading.positive(&time, "at-most")),
            timeout_s: file.timeout.map_or(60.0, |time| reading.positive(&time, "timeout")),
        };
        for (workload, timer) in workloads.iter().flat_map(|one| timers.iter().map(move |timer| (one, *timer))) {
            let id = match timer {
                Timer::Tolok => workload.folder_name(),
                timer => format!("{}-{}", workload.folder_name(), timer.word()),
            };
            note_twice(&scenarios, &id, &span, reading);
            note_turns(in_turns, timer, &id, &timer_span, reading);
            let (workload, environment) = (workload.name.clone(), String::new());
            scenarios.push(ProgramScenario { id, environment, workload, runs: runs.clone(), timer, in_turns });
        }
    }
    scenarios
}

fn note_twice(earlier: &[ProgramScenario], id: &str, span: &Span, reading: &mut Reading) {
    if earlier.iter().any(|earlier| earlier.id == id) {
        let help = "they are told apart by workload and timer";
        reading.note(span.clone(), format!("program `{id}` appears twice"), help);
    }
}

/// Reports turns with another timer: those make all runs of a program in one go, so they cannot alternate.
fn note_turns(in_turns: bool, timer: Timer, id: &str, span: &Span, reading: &mut Reading) {
    if in_turns && timer != Timer::Tolok {
        let message = format!("`{id}` cannot take turns: only tolok's own timer can");
        let help = "`design = \"trials\"` in this [[program]] gives each case trials of its own";
        reading.note(span.clone(), message, help);
    }
}

fn read_workloads(
    listed: Spanned<Several<String>>,
    catalogue: &Catalogue,
    reading: &mut Reading,
) -> Vec<ProgramWorkload> {
    let span = listed.span();
    let texts = listed.into_inner().0;
    reading.note_if(texts.is_empty(), span, "no workload is listed", None);
    let mut known: Vec<ProgramWorkload> = Vec::new();
    for text in texts {
        match catalogue.choose_program(text.get_ref()) {
            Ok(workload) => known.push(workload),
            Err((message, help)) => reading.note(text.span(), message, help),
        }
    }
    known
}
