//! `tolok duel`: compares two or more subjects, in launches and slices, within a time budget.

mod sides;

use std::fmt::Write;
use std::path::PathBuf;

use tolok_host::shell::quoted;
use tolok_model::{Catalogue, format_duration};

use super::plan::{StudyRequest, make_in};
use super::setup::offer;
use crate::args::{BringArgs, DuelArgs, DuelFormat, DuelJudge, Format, MeasureArgs, ResultArgs};
use crate::bring::UserServers;
use crate::busy::Sharing;
use crate::closing::Next;
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::{announce, interruptible, measure};
use crate::reports::check_places;
use sides::Sides;

/// The error if a server is missing.
const NEEDS_ALL: &str = "a duel needs all of its servers, and some cannot run here";

/// Measures, and prints the result. The conclusion is the last line.
pub fn duel(args: &DuelArgs) -> Result<Exit, CliError> {
    check_places(args.runs.as_deref(), args.output.as_deref())?;
    let sides = Sides::read(args)?;
    let made = ("duel".to_owned(), study(args, &sides));
    let bring = UserServers { made: Some(made), folders: sides.folders, ..UserServers::default() };
    let mut opened = Lab::open_with(&bring)?;
    let versions = bring.folders.iter().flat_map(|subject| subject.all_needs()).filter(|name| name.contains('@'));
    let missing = versions.filter(|name| !opened.laboratory.programs.contains_key(*name)).map(str::to_owned).collect();
    // The plan below reports programs that the user refuses to fetch.
    let _ = offer(&mut opened, &missing, args.yes)?;
    let DuelArgs { seed, allow_shared, scale, .. } = *args;
    let asked = MeasureArgs { seed, allow_shared, scale, ..MeasureArgs::default() };
    let nothing = BringArgs::default();
    let request = StudyRequest {
        study: None,
        workloads: &[],
        bring: &nothing,
        measure: &asked,
        whole: Some(NEEDS_ALL),
        slurm: None,
    };
    let mut planned = make_in(&mut opened, &bring, request)?;
    planned.command = command(args, planned.plan.seed);
    announce(&planned);
    let format = match args.format {
        DuelFormat::Text => Format::Text,
        DuelFormat::Md => Format::Md,
        DuelFormat::Json => Format::Json,
    };
    let result = ResultArgs { runs: args.runs.clone(), format, output: args.output.clone() };
    let sharing = Sharing::of(&args.sharing, false);
    let measured = measure(&opened, &planned, &result, (sharing, &interruptible("launch")?))?;
    measured.show(&result, &[Next::new(measured.findings.run.command.as_str(), "this duel again")])
}

impl DuelJudge {
    /// Its name in a study.
    fn key(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Cpu => "cpu",
        }
    }
}

/// The study of a duel: as many launches as the budget allows, with all servers alive together.
fn study(args: &DuelArgs, sides: &Sides) -> String {
    let text = |value: &str| serde_json::Value::from(value).to_string();
    let subjects: Vec<String> = sides.selectors.iter().map(|selector| text(selector)).collect();
    let mut study = String::from("# Made by `tolok duel`.\n");
    let question = format!("Is any of the others worse than {}?", sides.selectors.first().map_or("", String::as_str));
    for (key, value) in [
        ("title", text("A duel")),
        ("question", text(&question)),
        ("subjects", format!("[{}]", subjects.join(", "))),
        ("design", text("slices")),
        ("judge", text(args.judge.key())),
        ("blocks", format!("{{ budget = {} }}", text(&format_duration(args.budget.as_secs_f64())))),
        ("smallest-effect", text(&format!("{}%", args.smallest * 100.0))),
        // Challengers are compared with the base, so every launch also compares the base with itself.
        ("aa-pair", text("first")),
        // The ceiling would take the time of another subject.
        ("ceiling", "false".to_owned()),
    ] {
        let _ = writeln!(study, "{key:<15} = {value}");
    }
    for workload in &args.workload {
        let _ = write!(
            study,
            "\n[[scenario]]\nworkload = {}\n{}",
            text(workload),
            load(&sides.catalogue, workload, args.vus)
        );
    }
    study
}

/// The load of a workload. Rows take longer than small responses, so their slices are longer.
fn load(catalogue: &Catalogue, workload: &str, vus: Option<u32>) -> String {
    let is_slow = catalogue.choose_workload(workload).is_ok_and(|workload| workload.database);
    let (usual, duration, slices) = match is_slow {
        true => (8, "4s", "slices   = { window = \"200ms\", lead-in = \"100ms\" }\n"),
        false => (64, "2s", ""),
    };
    let vus = vus.unwrap_or(usual);
    format!(
        "load     = {{ executor = \"constant-vus\", vus = {vus}, duration = \"{duration}\", warmup = \"500ms\" }}\n{slices}"
    )
}

/// The command that runs the same duel again.
fn command(args: &DuelArgs, seed: u64) -> String {
    let absolute = |text: &String| match std::fs::canonicalize(text).ok().filter(|path| path.is_dir()) {
        Some(path) if !text.contains('@') => quoted(&path.display().to_string()),
        _ => quoted(text),
    };
    let mut command = format!("tolok duel {}", args.subjects.iter().map(absolute).collect::<Vec<_>>().join(" "));
    let git = args.git.as_ref().map(|range| format!(" --git {}", quoted(range)));
    let vus = args.vus.map(|vus| format!(" --vus {vus}"));
    let scale = args.scale.map(|scale| format!(" --scale {scale}"));
    let shared = args.allow_shared.then(|| " --allow-shared".to_owned());
    let judge = (args.judge == DuelJudge::Cpu).then(|| " --judge cpu".to_owned());
    command.extend([git, vus, scale, shared, judge].into_iter().flatten());
    let (workloads, budget) = (quoted(&args.workload.join(",")), quoted(&format_duration(args.budget.as_secs_f64())));
    let _ = write!(
        command,
        " --workload {workloads} --budget {budget} --smallest {}% --seed {seed}",
        args.smallest * 100.0
    );
    command
}

/// The folder for states from git.
fn states() -> Result<PathBuf, CliError> {
    Ok(tolok_lab::home::user_folder("XDG_CACHE_HOME", ".cache")?.join("states"))
}
