//! What resuming a run would execute, and whether the user has approved it.
//!
//! Reading a stranger's run is safe. But its plan may name folders with programs, scripts, servers and databases. tolok stores the
//! hashes of the plans that it made for this user, and asks before it resumes any other.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tolok_lab::home::user_folder;
use tolok_model::secrets::masked;
use tolok_model::{Plan, Subject, SubjectFolder};
use tolok_store::{Folder, RunFolder};

use crate::exit::CliError;
use crate::output::say;

/// Records that this user made a plan, or trusts it.
pub fn remember(folder: &RunFolder, plan: &Plan) -> Result<(), CliError> {
    if asked(plan).is_empty() {
        return Ok(());
    }
    let (file, hash) = (known_plans()?, hash_of(folder)?);
    let written = keep(&file, &hash);
    if let Err(error) = written {
        say(format!("warning: cannot write {}: {error}; to resume this run you will need --trust", file.display()));
    }
    Ok(())
}

/// Refuses to resume someone else's run until the user allows what its plan would execute.
pub fn refuse_unknown(folder: &RunFolder, plan: &Plan, trusts: bool) -> Result<(), CliError> {
    let asked = asked(plan);
    if asked.is_empty() || is_known(&hash_of(folder)?)? {
        return Ok(());
    }
    if trusts {
        return remember(folder, plan);
    }
    let name = folder.path().display();
    let list: String = asked.iter().map(|what| format!("\n  {what}")).collect();
    Err(CliError::usage(format!(
        "cannot resume: this tolok did not make the plan of {name}, and going on would{list}\nIf you trust who made it: tolok resume --trust {name}"
    )))
}

/// What a plan would execute here, each as the rest of a sentence.
fn asked(plan: &Plan) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    for brought in &plan.brought.folders {
        asked.push(format!("run the programs of {}: {}", brought.subject, brought.folder));
        asked.extend(commands(brought).into_iter().map(|command| format!("  {command}")));
    }
    for scenario in &plan.scenarios {
        if let Some(script) = &scenario.tool.script {
            let lines = script.text.lines().count();
            asked.push(format!("run the script {} ({lines} lines) with {}", script.file, scenario.tool.name.word()));
        }
    }
    asked.extend(plan.brought.servers.iter().map(|server| format!("load {} with requests", server.base)));
    let databases = plan.environments.iter().filter_map(|environment| environment.database.as_ref());
    asked.extend(databases.filter_map(|database| database.dsn.as_ref()).map(|dsn| {
        let place = if dsn.starts_with("env:") { dsn.clone() } else { masked(dsn) };
        format!("make tables in the database {place}")
    }));
    asked.dedup();
    asked
}

/// The commands of a subject's build, processes and program, if the subject can be read.
fn commands(brought: &SubjectFolder) -> Vec<String> {
    let text = Folder::at(brought.folder.as_ref()).text("subject.toml").unwrap_or_default();
    let Ok(subject) = Subject::read(&brought.subject, &text) else { return Vec::new() };
    let build = subject.build.iter().map(|build| &build.command);
    let processes = subject.processes.iter().map(|process| &process.command);
    let program = subject.program.iter().map(|program| &program.command);
    build.chain(processes).chain(program).map(|command| command.join(" ")).collect()
}

fn hash_of(folder: &RunFolder) -> Result<String, CliError> {
    Ok(folder.sum("plan.json")?.map(|sum| sum.sha256).unwrap_or_default())
}

/// The file of known plans: one SHA-256 per line.
fn known_plans() -> Result<PathBuf, CliError> {
    Ok(user_folder("XDG_CACHE_HOME", ".cache")?.join("plans-made-here"))
}

fn is_known(hash: &str) -> Result<bool, CliError> {
    Ok(fs::read_to_string(known_plans()?).is_ok_and(|text| text.lines().any(|line| line == hash)))
}

/// Adds a line under the file's lock: several tolok processes may start runs at the same time.
fn keep(file: &Path, hash: &str) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    let mut open = File::options().read(true).append(true).create(true).open(file)?;
    open.lock()?;
    let mut known = String::new();
    open.read_to_string(&mut known)?;
    if known.lines().any(|line| line == hash) {
        return Ok(());
    }
    // A full disk may have cut off the last line.
    let begins = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    open.write_all(format!("{begins}{hash}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_keep_at_once_is_kept_in_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cache/plans");
        let hashes: Vec<String> = (100..164).map(|number| number.to_string()).collect();
        std::thread::scope(|scope| {
            hashes.iter().for_each(|hash| drop(scope.spawn(|| keep(&file, hash).unwrap())));
        });
        let mut kept: Vec<String> = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
        kept.sort();
        assert_eq!(kept, hashes);
    }

    #[test]
    fn a_plan_is_kept_once_and_never_joins_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plans");
        fs::write(&file, "one\ntw").unwrap();
        ["three", "one", "three"].iter().for_each(|hash| keep(&file, hash).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntw\nthree\n");
    }
}
