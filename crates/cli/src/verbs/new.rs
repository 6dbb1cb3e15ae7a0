//! `tolok new`: creates a subject, a workload, a study or a transcription from a template.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tolok_lab::home::{Home, WORKLOADS};
use tolok_lab::user_servers::record;
use tolok_model::{Catalogue, SubjectSelector};
use tolok_transcribe::{Row, from_transcription, merge_repetitions, rows_in_toml, setting_in_toml};

use super::audit::{self, Form};
use super::load::body_bytes;
use crate::args::{CsvArgs, NewArgs, NewAuditArgs, NewStudyArgs, NewSubjectArgs, NewThing, NewWorkloadArgs};
use crate::exit::{CliError, Exit, with_help};
use crate::output::{put, say};
use crate::scaffold::{self, Begun, Runtime, ScaffoldError, StudyWish};

/// The seed of a new study. Its value does not matter, only that it never changes.
const SEED: u64 = 1;

/// Creates the files, prints their paths, and explains the next step.
pub fn new(args: &NewArgs) -> Result<Exit, CliError> {
    let (files, next) = match &args.thing {
        NewThing::Subject(args) => subject(args)?,
        NewThing::Workload(args) => workload(args)?,
        NewThing::Study(args) => study(args)?,
        NewThing::Audit(args) => transcription(args)?,
    };
    put(&files.iter().map(|file| format!("{}\n", file.display())).collect::<String>(), None)?;
    say(next);
    Ok(Exit::Done)
}

fn subject(args: &NewSubjectArgs) -> Result<(Vec<PathBuf>, String), CliError> {
    let runtime = args.runtime;
    let schemas = schemas();
    let (folder, called, bring) = match (&args.folder, Home::checkout()) {
        (Some(folder), _) => (folder.clone(), as_a_path(&folder.join(&args.name)), "--subject"),
        (None, Some(checkout)) => {
            let folder = checkout.root().join("subjects").join(runtime.folder());
            (folder, format!("{}/{}", runtime.folder(), args.name), "quick --subjects")
        }
        (None, None) => (PathBuf::from("."), as_a_path(Path::new(&args.name)), "--subject"),
    };
    let brought = format!("{bring} {called}");
    let files = scaffold::subject(&folder, &args.name, runtime, schemas.as_deref(), (&called, &brought));
    let files = files.map_err(refused)?;
    let first = match runtime {
        Runtime::Other => "Put the command of your server into start.sh; then",
        _ => "It answers hello and json as it is",
    };
    let next = format!("{first}: tolok check {called}. To measure it: tolok run {brought}");
    Ok((files, next))
}

fn workload(args: &NewWorkloadArgs) -> Result<(Vec<PathBuf>, String), CliError> {
    let name = &args.name;
    let folder = match (&args.folder, Home::checkout()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(checkout)) => checkout.root().join(WORKLOADS),
        (None, None) if Home::find()?.catalogue()?.has_workload(name) => {
            return Err(CliError::usage(format!("there is a workload `{name}` already; choose another name")));
        }
        (None, None) => PathBuf::from(WORKLOADS),
    };
    if let Some(url) = &args.from {
        return recorded(args, url, &folder);
    }
    let files = scaffold::workload(&folder, name, schemas().as_deref()).map_err(refused)?;
    let next = format!(
        "Put the answer into body.json, name `{name}` in `workloads` of a subject.toml, and give that server the path; then: tolok \
         check SUBJECT"
    );
    Ok((files, next))
}

/// Creates a workload from a server's response to a URL.
fn recorded(args: &NewWorkloadArgs, url: &str, folder: &Path) -> Result<(Vec<PathBuf>, String), CliError> {
    let body = args.body.as_ref().map(body_bytes).transpose()?;
    let sent = body.as_ref().map(|body| (args.content_type.as_str(), body.as_slice()));
    let answer = record(url, sent, scaffold::body_file)?;
    let recording = scaffold::Recording { url, sent, answer: &answer };
    let files = scaffold::recorded_workload(folder, &args.name, schemas().as_deref(), &recording).map_err(refused)?;
    let place = match &args.folder {
        Some(_) => " tolok finds it in `workloads` of a checkout or of the working folder.",
        None => "",
    };
    let next = format!(
        "{}{place}\nTo measure it: tolok run --workload {} --url {}. For a server that tolok starts, name it in `workloads` of its \
         subject.toml",
        answer.words(),
        args.name,
        answer.server,
    );
    Ok((files, next))
}

fn study(args: &NewStudyArgs) -> Result<(Vec<PathBuf>, String), CliError> {
    let is_program = known_names(args, &Home::find()?.catalogue()?)?;
    let (folder, called) = match (&args.folder, Home::checkout()) {
        (Some(folder), _) => (folder.clone(), as_a_path(&folder.join(format!("{}.toml", args.name)))),
        (None, Some(home)) => (home.root().join("studies"), args.name.clone()),
        (None, None) => (PathBuf::from("."), as_a_path(Path::new(&format!("{}.toml", args.name)))),
    };
    let wish =
        StudyWish { called: &called, subjects: &args.subjects, workload: &args.workload, is_program, seed: SEED };
    let files = scaffold::study(&folder, &args.name, schemas().as_deref(), &wish).map_err(refused)?;
    Ok((
        files,
        format!("What it would do: tolok plan {called}. To try it out: tolok run {called} --blocks 1 --scale 0.1"),
    ))
}

fn transcription(args: &NewAuditArgs) -> Result<(Vec<PathBuf>, String), CliError> {
    let folder = match (&args.folder, Home::checkout().filter(is_inside)) {
        (Some(folder), _) => folder.clone(),
        (None, Some(home)) => home.root().join("published"),
        (None, None) => PathBuf::from("."),
    };
    let own = folder.join(format!("{}.toml", args.name));
    let here = std::env::current_dir().unwrap_or_default();
    let called = as_a_path(own.strip_prefix(here).unwrap_or(&own));
    if args.from.is_empty() && args.csv != CsvArgs::default() {
        return Err(CliError::usage("the options for tables need a file: --from FILE"));
    }
    let begun = (!args.from.is_empty()).then(|| begun(args)).transpose()?;
    let schemas = schemas();
    let files = scaffold::transcription(&folder, &args.name, schemas.as_deref(), &called, begun.as_ref());
    let first = match begun {
        Some(_) => "Add the title of the source, say what each row measured, and write its claims",
        None => "Its figures are invented: put those of the source in their place",
    };
    Ok((files.map_err(refused)?, format!("{first}. Then: tolok audit {called}")))
}

/// The initial content of a transcription: the method from options, and the rows of files in TOML.
fn begun(args: &NewAuditArgs) -> Result<Begun, CliError> {
    let (mut rows, mut heads): (Vec<Row>, Vec<String>) = Default::default();
    let options = audit::csv_options(&args.csv)?;
    let given = args.csv.conditions();
    for from in &args.from {
        let (subject, name) = match from.split_once('=') {
            Some((subject, name)) if !Path::new(from).exists() => (Some(subject.to_owned()), name),
            _ => (None, from.as_str()),
        };
        let written = audit::written(name)?;
        audit::refuse_columns(&written, &args.csv)?;
        let file = written.path.file_name().unwrap_or(written.path.as_os_str()).to_string_lossy().into_owned();
        let own = match written.form {
            Form::Runs(runs) => audit::told(&written.path, runs),
            Form::Csv | Form::Page(_) => from_transcription(&audit::table(written, &options)?),
            Form::Transcription => {
                return Err(CliError::usage(format!(
                    "{name} is no output, CSV or page; edit a transcription as it is"
                )));
            }
        };
        refuse_one_name_for_several(subject.as_deref(), name, &own)?;
        for mut row in own {
            row.subject = subject.clone().unwrap_or(row.subject);
            row.settings.retain(|setting| !given.iter().any(|given| given.split('=').next() == Some(setting.key)));
            heads.push(format!("{file}, line {}", row.line));
            rows.push(row);
        }
    }
    if args.csv.repetitions {
        (rows, heads) = (merge_repetitions(rows), Vec::new());
    }
    let method: Vec<String> = given.iter().map(|option| setting_in_toml(option)).collect();
    let title = args.csv.title.clone().unwrap_or_else(|| args.name.clone());
    Ok(Begun { title, method: method.join("\n"), rows: rows_in_toml(&rows, &heads) })
}

/// A name given for a file replaces its server's name, so the file must not contain several servers.
fn refuse_one_name_for_several(name: Option<&str>, file: &str, rows: &[Row]) -> Result<(), CliError> {
    let subjects: BTreeSet<&str> = rows.iter().map(|row| row.subject.as_str()).collect();
    match name {
        Some(name) if subjects.len() > 1 => Err(CliError::usage(format!(
            "{file} names {} servers itself, such as `{}`; leave `{name}=` out",
            subjects.len(),
            subjects.first().copied().unwrap_or_default()
        ))),
        _ => Ok(()),
    }
}

/// Refuses names that the catalogue does not have. Returns whether the workload is a program.
fn known_names(args: &NewStudyArgs, catalogue: &Catalogue) -> Result<bool, CliError> {
    let complain = |option: &str, wrong| CliError::usage(format!("{option}: {}", with_help(wrong)));
    for subject in &args.subjects {
        SubjectSelector::read(subject, catalogue).map_err(|wrong| complain("--subjects", wrong))?;
    }
    if catalogue.choose_program(&args.workload).is_ok() {
        return Ok(true);
    }
    catalogue.choose_workload(&args.workload).map_err(|wrong| complain("--workload", wrong))?;
    Ok(false)
}

/// Whether the working folder is inside the checkout. `TOLOK_HOME` only locates studies, and a table does not belong to any study.
fn is_inside(home: &Home) -> bool {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    std::env::current_dir().is_ok_and(|here| canonical(&here).starts_with(canonical(home.root())))
}

fn schemas() -> Option<PathBuf> {
    Home::checkout().map(|checkout| checkout.root().join("schemas"))
}

/// A path that cannot be mistaken for a name, because it contains a slash.
fn as_a_path(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains('/') { text } else { format!("./{text}") }
}

fn refused(error: ScaffoldError) -> CliError {
    let exit = match &error {
        ScaffoldError::Name(_) | ScaffoldError::Exists(_) => Exit::Usage,
        ScaffoldError::Write { source, .. } => Exit::of_writing(source),
    };
    CliError::new(exit, error)
}
