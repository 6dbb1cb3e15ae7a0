//! Other activity on the machine during a measurement.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{BenchError, failed};

const LOOP: &str = "while :; do :; done";

/// A condition for measurements: shell commands of normal priority that run at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub name: String,
    pub commands: Vec<String>,
}

impl FromStr for Condition {
    type Err = String;

    /// Parses `as it is`, `two busy loops=2` or `compilers=make clean all`. A command is restarted when it ends.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, beside) = text.split_once('=').unwrap_or((text, "0"));
        if name.is_empty() || name.contains('/') || name == "servers" {
            return Err("give the condition a name that a folder can have".to_owned());
        }
        let commands = match beside.parse::<usize>() {
            Ok(loops) => vec![LOOP.to_owned(); loops],
            Err(_) => vec![format!("while :; do {beside}; done")],
        };
        Ok(Self { name: name.to_owned(), commands })
    }
}

impl Condition {
    /// The folder of the runs under this condition.
    pub fn runs(&self, folder: &Path) -> PathBuf {
        folder.join(&self.name).join("runs")
    }

    /// Starts the commands. Dropping the result ends them.
    pub fn begin(&self) -> Result<Beside, BenchError> {
        let mut beside = Beside(Vec::new());
        for command in &self.commands {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).process_group(0);
            shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            beside.0.push(shell.spawn().map_err(failed("start what runs beside"))?);
        }
        Ok(beside)
    }
}

/// Programs that run until this is dropped.
pub struct Beside(Vec<Child>);

impl Drop for Beside {
    fn drop(&mut self) {
        for shell in &mut self.0 {
            // It may have ended already.
            let _ = kill_process_group(Pid::from_child(shell), Signal::KILL);
            let _ = shell.wait();
        }
    }
}

/// The folders of runs of all conditions in a folder, sorted by name.
pub fn folders_of_runs(folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let entries = std::fs::read_dir(folder).map_err(failed(format!("read {}", folder.display())))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("runs")).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    Ok(found)
}

/// The name of the condition that a folder of runs belongs to.
pub fn condition_of(runs: &Path) -> String {
    let named = runs.parent().and_then(Path::file_name);
    named.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The subfolders of a folder, sorted by name; empty if the folder does not exist.
pub fn folders_in(folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(format!("read {}", folder.display())))?,
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    Ok(found)
}

/// A program that was built with this one.
pub fn program_beside_this(name: &str) -> Result<PathBuf, BenchError> {
    let path = std::env::current_exe().map_err(failed("find this program"))?.with_file_name(name);
    if path.is_file() { Ok(path) } else { Err(BenchError::NotBuilt { path }) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead as _, BufReader};

    use super::*;

    #[test]
    fn a_condition_has_a_name_and_may_have_loops_or_a_command() {
        let condition = |name: &str, commands: &[&str]| Condition {
            name: name.to_owned(),
            commands: commands.iter().map(|command| (*command).to_owned()).collect(),
        };
        assert_eq!("as it is".parse(), Ok(condition("as it is", &[])));
        assert_eq!("two loops=2".parse(), Ok(condition("two loops", &[LOOP, LOOP])));
        assert_eq!("compilers=make all".parse(), Ok(condition("compilers", &["while :; do make all; done"])));
        for text in ["", "a/b", "=2", "servers"] {
            assert!(text.parse::<Condition>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_runs_beside_ends_with_it_children_included() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let command = format!("x=exec 3>{}; echo begun >&3; sleep 1000", pipe.display());
        let beside = command.parse::<Condition>().unwrap().begin().unwrap();
        let mut said = BufReader::new(File::open(&pipe).unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        drop(beside);
        // The pipe ends with the last process that holds it: the shell or its child.
        assert_eq!(said.read_line(&mut line).unwrap(), 0);
    }

    #[test]
    fn a_program_of_ours_that_is_not_there_is_to_be_built() {
        let error = program_beside_this("no-such-program").unwrap_err().to_string();
        assert!(error.ends_with("no-such-program is missing; the scripts of the benches build it"), "{error}");
    }
}
