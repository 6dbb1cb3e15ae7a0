//! Finds programs: the user's own first, then the toolbox's.
//!
//! This happens at every start, so all programs are queried concurrently, each within a few seconds.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::catalogue::{Extras, VersionSource};
use super::{
    Program, ProgramState, Recipe, Remedy, Source, Surroundings, Toolbox, Version, asked, extras, php_driver, plan,
    shim, swoole,
};
use tolok_host::call::{Answer, Call};

/// The most that is shown of a program's error message.
const COMPLAINT_CHARS: usize = 300;

/// A file that may be the right program.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) source: Source,
}

/// Why a candidate cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It does not work.
    Broken(String),
    /// It works, but a part that subjects need is missing.
    Incomplete(String),
    /// It needs something from the system that the toolbox cannot provide.
    Unsupported { reason: String, command: String },
}

/// The states of these programs, queried concurrently.
pub(super) fn detect(recipes: &[&Recipe], toolbox: &Toolbox) -> BTreeMap<String, ProgramState> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for &recipe in recipes {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || state(recipe, toolbox));
            threads.push((recipe, thread.ok()));
        }
        let join = |(recipe, thread): (&Recipe, Option<std::thread::ScopedJoinHandle<'_, ProgramState>>)| {
            // If the system allows no more threads, use this one.
            let state = thread.map_or_else(
                || state(recipe, toolbox),
                |thread| thread.join().expect("detection reports trouble as a state and does not panic"),
            );
            (recipe.name.clone(), state)
        };
        threads.into_iter().map(join).collect()
    })
}

/// The first usable candidate, else the problem of the first candidate.
pub(super) fn state(recipe: &Recipe, toolbox: &Toolbox) -> ProgramState {
    if let Some(whole) = &recipe.part_of {
        return part_state(recipe, whole, toolbox);
    }
    let mut first_refusal = None;
    for candidate in candidates(recipe, toolbox) {
        match examine(recipe, &candidate, toolbox) {
            Ok(program) => return ProgramState::Ready(program),
            Err(refusal) => first_refusal = first_refusal.or(Some(refusal)),
        }
    }
    refused(recipe, first_refusal, toolbox)
}

/// A part is looked for in the very program that will run: another copy with the part would not help.
fn part_state(recipe: &Recipe, whole: &str, toolbox: &Toolbox) -> ProgramState {
    let refusal = match toolbox.catalogue.recipe(whole).map(|whole| state(whole, toolbox)) {
        Ok(ProgramState::Ready(program)) => {
            let mut part = Program { name: recipe.name.clone(), title: recipe.title.clone(), ..program };
            let complete = if recipe.pecl.is_some() { swoole::postgres } else { php_driver::complete };
            match complete(recipe, &mut part, toolbox) {
                Ok(()) => return ProgramState::Ready(part),
                Err(refusal) => refusal,
            }
        }
        _ => Refusal::Incomplete(format!("it is a part of {whole}, which cannot be used here itself")),
    };
    refused(recipe, Some(refusal), toolbox)
}

fn refused(recipe: &Recipe, refusal: Option<Refusal>, toolbox: &Toolbox) -> ProgramState {
    let remedy = plan::remedy(recipe, toolbox);
    let obstacle = plan::obstacle(recipe, toolbox);
    match refusal {
        Some(Refusal::Unsupported { reason, command }) => {
            ProgramState::Missing { reason: Some(reason), remedy: Remedy::ByHand { command } }
        }
        None => ProgramState::Missing { reason: obstacle, remedy },
        Some(Refusal::Incomplete(what)) => {
            let reasons: Vec<String> = [what].into_iter().chain(obstacle).collect();
            ProgramState::Missing { reason: Some(reasons.join("; ")), remedy }
        }
        Some(Refusal::Broken(seen)) => ProgramState::Broken { seen, remedy },
    }
}

/// All candidates for the program, the preferred ones first.
pub(super) fn candidates(recipe: &Recipe, toolbox: &Toolbox) -> Vec<Candidate> {
    if let Some((_, from)) = recipe.version_wanted() {
        let found = matching_files(&toolbox.version_folder(&recipe.name), &[from.file()], is_executable);
        return found.into_iter().map(|path| Candidate { path, source: Source::Toolbox }).collect();
    }
    let own = recipe.names.iter().find_map(|name| first_on_path(&toolbox.surroundings.search_path, name));
    let own = own.or_else(|| in_folders(recipe, &toolbox.surroundings.system_root));
    let bins = ["usr/bin", "usr/sbin", "bin", "sbin"].map(|folder| toolbox.root().join(folder));
    let unpacked = (!recipe.apt.is_empty()).then(|| {
        let in_bins = recipe.names.iter().find_map(|name| first_on_path(&bins, name));
        in_bins.or_else(|| in_folders(recipe, &toolbox.root()))
    });
    // A package whose version is read from a file is never executed: its script may be a library.
    let is_usable = match recipe.version {
        Some(VersionSource::Package { .. }) => Path::is_file,
        Some(VersionSource::Printed(_)) | None => is_executable,
    };
    let npm = recipe.npm.map(|package| matching_files(&toolbox.npm_folder(package), &recipe.files, is_usable));
    let npm = npm.unwrap_or_default();
    let newer = recipe.newer.is_some().then(|| {
        let bin = [toolbox.newer_root(&recipe.name).join("bin")];
        recipe.names.iter().find_map(|name| first_on_path(&bin, name))
    });
    let unpacked = unpacked.or(newer);
    let built =
        recipe.go_package.is_some().then(|| toolbox.go_program(&recipe.name)).filter(|path| is_executable(path));
    let fetched = unpacked.flatten().into_iter().chain(npm).chain(built);
    let candidate = |source| move |path| Candidate { path, source };
    own.into_iter().map(candidate(Source::System)).chain(fetched.map(candidate(Source::Toolbox))).collect()
}

/// The program in one of its folders outside PATH; the newest of several versions.
fn in_folders(recipe: &Recipe, root: &Path) -> Option<PathBuf> {
    let files: Vec<String> = recipe
        .folders
        .iter()
        .flat_map(|folder| recipe.names.iter().map(move |name| format!("{folder}/{name}")))
        .collect();
    let found = matching_files(root, &files, is_executable);
    let number = |path: &PathBuf| {
        let parts = path.components().rev();
        parts.into_iter().find_map(|part| Version::parse(part.as_os_str().to_str()?))
    };
    found.into_iter().max_by_key(number)
}

/// Finds the candidate's version and what else subjects need.
fn examine(recipe: &Recipe, candidate: &Candidate, toolbox: &Toolbox) -> Result<Program, Refusal> {
    let unpacked = candidate.path.starts_with(toolbox.root());
    let mut program = Program {
        name: recipe.name.clone(),
        title: recipe.title.clone(),
        path: candidate.path.clone(),
        prefix: if unpacked { toolbox.root().to_string_lossy().into_owned() } else { String::new() },
        version: String::new(),
        source: candidate.source,
        env: if unpacked && !recipe.starts_others { toolbox.library_env() } else { BTreeMap::new() },
        extras: BTreeMap::new(),
    };
    if unpacked && recipe.extras.is_some_and(Extras::is_php) {
        extras::require_time_zones(toolbox)?;
    }
    program.path = shim::behind(recipe, &program, toolbox);
    let mut output = String::new();
    let unknown = || Refusal::Broken(format!("tolok does not know how {} says its version", recipe.name));
    program.version = match recipe.version.as_ref().ok_or_else(unknown)? {
        VersionSource::Printed(question) => {
            let version;
            (version, output) = asked::version(question, &program, toolbox)?;
            version
        }
        VersionSource::Package { package } => {
            program.path = fs::canonicalize(&program.path)
                .map_err(|error| Refusal::Broken(format!("{} leads nowhere: {error}", program.path.display())))?;
            package_version(&program.path, package)?
        }
    };
    if let Some((wanted, _)) = recipe.version_wanted()
        && program.version != wanted
    {
        let (path, version) = (program.path.display(), &program.version);
        return Err(Refusal::Broken(format!("{path} is version {version}, and {wanted} was asked for")));
    }
    if let Some(smallest) = recipe.smallest_version()
        && Version::parse(&program.version).is_none_or(|version| version < smallest)
    {
        let (path, version) = (program.path.display(), &program.version);
        return Err(Refusal::Broken(format!("{path} is version {version}, and {smallest} is the oldest that will do")));
    }
    if let Some(kind) = recipe.extras {
        extras::complete(kind, &mut program, &output, toolbox)?;
    }
    Ok(program)
}

/// The answer of a program that succeeded.
pub(super) fn ask(call: &Call, surroundings: &Surroundings) -> Result<Answer, Refusal> {
    ask_ending(call, 0, surroundings)
}

/// The same, if the program may also exit with `status`.
pub(super) fn ask_ending(call: &Call, status: i32, surroundings: &Surroundings) -> Result<Answer, Refusal> {
    let answer = call
        .clone()
        .in_folder(&surroundings.folder)
        .ask(surroundings.patience)
        .map_err(|error| Refusal::Broken(format!("`{call}` {error}")))?;
    if answer.status.success() || answer.status.code() == Some(status) {
        return Ok(answer);
    }
    let (status, complaint) = (answer.status, complaint(&answer.text));
    Err(Refusal::Broken(format!("`{call}` failed ({status}){complaint}")))
}

/// The first lines of a program's output, formatted as the end of a sentence.
pub(super) fn complaint(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().take(COMPLAINT_CHARS).collect();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// The version in the `package.json` of the script's package.
fn package_version(script: &Path, package: &str) -> Result<String, Refusal> {
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let read = |folder: &Path| {
        let text = fs::read_to_string(folder.join("package.json")).ok()?;
        serde_json::from_str::<Package>(&text).ok().filter(|found| found.name == package)
    };
    // The script is in `bin` or at the top of its package.
    let found = script.ancestors().skip(1).take(3).find_map(read);
    found.map(|package| package.version).ok_or_else(|| {
        Refusal::Broken(format!("{} is not in the package {package}, so its version is unknown", script.display()))
    })
}

/// The first executable of that name in the folders. A `*` in the name matches digits and dots, and the highest version wins.
pub(super) fn first_on_path(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let Some((head, tail)) = name.split_once('*') else {
        return folders.iter().map(|folder| folder.join(name)).find(|path| is_executable(path));
    };
    let number = |file: &OsStr| {
        let middle = file.to_str()?.strip_prefix(head)?.strip_suffix(tail)?;
        middle.chars().all(|c| c.is_ascii_digit() || c == '.').then(|| Version::parse(middle)).flatten()
    };
    let numbered = |folder: &PathBuf| {
        let files = fs::read_dir(folder).ok()?.flatten();
        let files = files.filter_map(|file| Some((number(&file.file_name())?, file.path())));
        files.filter(|(_, path)| is_executable(path)).max_by(|a, b| a.0.cmp(&b.0)).map(|(_, path)| path)
    };
    folders.iter().find_map(numbered)
}

/// The usable files below a folder that match a pattern; a `*` matches anything within one path component.
fn matching_files(folder: &Path, patterns: &[String], is_usable: fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for pattern in patterns {
        let mut paths = vec![folder.to_owned()];
        for part in pattern.split('/') {
            paths = paths.iter().flat_map(|path| matching_entries(path, part)).collect();
        }
        paths.retain(|path| is_usable(path));
        paths.sort();
        found.append(&mut paths);
    }
    found
}

fn matching_entries(folder: &Path, part: &str) -> Vec<PathBuf> {
    let Some((head, tail)) = part.split_once('*') else { return vec![folder.join(part)] };
    let matches = |name: &str| name.len() >= part.len() - 1 && name.starts_with(head) && name.ends_with(tail);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(matches))
        .map(|entry| entry.path())
        .collect()
}

pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

impl Surroundings {
    /// A file of the system, below a root that tests can set.
    pub(super) fn system_file(&self, path: &str) -> PathBuf {
        self.system_root.join(path.trim_start_matches('/'))
    }
}
