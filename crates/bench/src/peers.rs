//! Finds the generators: on the PATH and in tolok's toolbox, which can also fetch some.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tolok_bench::error::{BenchError, failed};
use tolok_bench::terminal::say;
use tolok_host::call::Call;
use tolok_lab::toolbox::{Program, ProgramState, Surroundings, Toolbox};
use tolok_model::LoadTool;

use crate::generator::Tool;

/// Time limit for a program to print its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// A generator that can be run.
#[derive(Debug, Clone, Serialize)]
pub struct Peer {
    #[serde(rename = "name")]
    pub tool: Tool,
    #[serde(skip)]
    pub path: PathBuf,
    pub version: String,
    /// Variables that it needs to find its libraries.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
}

/// Generators that do not take part, each with the reason.
pub type Absent = Vec<(Tool, String)>;

/// Where to search for generators.
#[derive(Debug)]
pub struct Search {
    toolbox: Toolbox,
    surroundings: Surroundings,
}

impl Search {
    /// Searches named programs, then the PATH, then the toolbox. Named programs are linked into `folder`.
    pub fn new(given: &[(Tool, PathBuf)], folder: &Path) -> Result<Search, BenchError> {
        let lies_in = |error: tolok_lab::toolbox::ToolboxError| BenchError::Toolbox(error.to_string());
        std::fs::create_dir(folder).map_err(failed("make a folder for the generators"))?;
        for (tool, path) in given {
            let link = folder.join(tool.name());
            std::os::unix::fs::symlink(path, link).map_err(failed(format!("take {}", path.display())))?;
        }
        let mut surroundings = Surroundings::of_this_process();
        surroundings.search_path.insert(0, folder.to_owned());
        let usual = Toolbox::open_default().map_err(lies_in)?;
        let toolbox = Toolbox::with_surroundings(usual.folder(), surroundings.clone());
        Ok(Search { toolbox, surroundings })
    }

    /// The generator, or why it does not take part.
    pub fn find(&self, tool: Tool) -> Result<Peer, String> {
        match tool {
            Tool::Lab(LoadTool::Tolok) => self.unknown_to_the_toolbox(tool, Some("--version")),
            Tool::Lab(tool) => match self.toolbox.detect(tool.word()) {
                Ok(ProgramState::Ready(Program { path, version, env, .. })) => {
                    Ok(Peer { tool: Tool::Lab(tool), path, version, env })
                }
                Ok(ProgramState::Missing { remedy, .. }) => Err(format!("not found: {remedy}")),
                Ok(ProgramState::Broken { seen, remedy }) => Err(format!("{seen}: {remedy}")),
                Err(error) => Err(error.to_string()),
            },
            Tool::Wrk2 => self.unknown_to_the_toolbox(tool, Some("-v")),
            Tool::Floor | Tool::Gcannon => self.unknown_to_the_toolbox(tool, None),
        }
    }

    /// The generators found, and the missing ones with their reasons.
    pub fn all(&self, wanted: &[Tool]) -> (Vec<Peer>, Absent) {
        let (mut peers, mut absent) = (Vec::new(), Vec::new());
        for tool in wanted {
            match self.find(*tool) {
                Ok(peer) => peers.push(peer),
                Err(reason) => absent.push((*tool, reason)),
            }
        }
        (peers, absent)
    }

    fn unknown_to_the_toolbox(&self, tool: Tool, asks: Option<&str>) -> Result<Peer, String> {
        let missing = || format!("not on the PATH; name it with --tool {}=PATH", tool.name());
        let path = self.surroundings.find(tool.name()).ok_or_else(missing)?;
        let version = match asks {
            Some(word) => {
                let answer = Call::new(&path, [word]).ask(PATIENCE).map_err(|error| format!("it {error}"))?;
                let version = answer.text.split_whitespace().nth(1).map(str::to_owned);
                version.ok_or_else(|| format!("it does not tell its version: {}", answer.text.trim()))?
            }
            None => "of unknown version".to_owned(),
        };
        Ok(Peer { tool, path, version, env: BTreeMap::new() })
    }

    /// Fetches the generators that the toolbox can fetch. Reports each failure and goes on.
    pub fn fetch(&self, tools: &[Tool]) -> Result<(), BenchError> {
        let in_toolbox = |tool: &Tool| if let Tool::Lab(tool) = tool { tool.program() } else { None };
        let names: Vec<&str> = tools.iter().filter_map(in_toolbox).collect();
        let plan = self.toolbox.plan(&names).map_err(|error| BenchError::Toolbox(error.to_string()))?;
        say(&plan.to_string());
        let outcome = self.toolbox.fetch(&plan, &mut |_| {});
        for failure in outcome.map_err(|error| BenchError::Toolbox(error.to_string()))?.failed {
            say(&format!("{}: failed to {}", failure.programs.join(", "), failure.error));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn program(path: &Path, script: &str) {
        // Another process writes the file: a file that this process has open for writing cannot be run, and a concurrent test may just have
        // forked with it.
        let mut shell = Command::new("sh");
        shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(path).arg(script);
        assert!(shell.status().unwrap().success());
    }

    #[test]
    fn a_named_program_goes_before_a_found_one_and_the_missing_are_told_why() {
        let folder = tempfile::tempdir().unwrap();
        let (wrk, wrk2) = (folder.path().join("my-wrk"), folder.path().join("my-wrk2"));
        program(&wrk, "echo 'wrk 4.1.0 [epoll]'");
        program(&wrk2, "echo 'wrk 4.0.0 [epoll]'");
        let given = [(Tool::Lab(LoadTool::Wrk), wrk), (Tool::Wrk2, wrk2)];
        let search = Search::new(&given, &folder.path().join("given")).unwrap();
        assert_eq!(search.find(Tool::Lab(LoadTool::Wrk)).unwrap().version, "4.1.0");
        assert_eq!(search.find(Tool::Wrk2).unwrap().version, "4.0.0");
        assert_eq!(search.find(Tool::Gcannon).unwrap_err(), "not on the PATH; name it with --tool gcannon=PATH");
    }
}
