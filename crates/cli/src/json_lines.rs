//! `--format jsonl`: a line for each event as it happens, and one of findings at the end.
//!
//! The reader may be slow, but the lab must not wait while it measures, so a separate thread writes ([`LineWriter`]).

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tolok_analysis::{CaseFinding, Estimate, Findings, ProgramCaseFinding};
use tolok_store::LineWriter;

use crate::exit::{CliError, Exit};
use crate::output::say;

/// The target of the lines: standard output or a file.
pub struct JsonLines {
    lines: LineWriter,
    is_terminal: bool,
}

impl JsonLines {
    /// Writes to a file, or to standard output if none is named (or `-`).
    pub fn to(file: Option<&Path>) -> Result<Self, CliError> {
        let file = file.filter(|path| *path != Path::new("-"));
        let lines = match file {
            None => LineWriter::new(io::stdout()),
            Some(path) => File::create(path).and_then(LineWriter::new),
        };
        let lines = lines.map_err(|error| {
            let target = file.map_or("standard output".to_owned(), |path| path.display().to_string());
            let next = "choose another file with -o FILE";
            CliError::new(Exit::of_writing(&error), format!("cannot write {target}: {error}; {next}"))
        })?;
        Ok(Self { lines, is_terminal: file.is_none() && io::stdout().is_terminal() })
    }

    /// Whether the lines go to a terminal, where other output would mix with them.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Queues a line. A reader that has gone is not an error.
    pub fn write(&mut self, line: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(line) {
            let _ = self.lines.push((text + "\n").as_bytes());
        }
    }
}

impl Drop for JsonLines {
    /// Writes what is left, for as long as the reader accepts it.
    fn drop(&mut self) {
        if let Ok(unread_bytes @ 1..) = self.lines.finish() {
            say(format!("warning: the reader of the lines has stopped; {unread_bytes} bytes are lost"));
        }
    }
}

/// The last line: a summary of the findings.
#[derive(Debug, Serialize)]
pub struct FindingsLine<'a> {
    event: &'static str,
    t_s: f64,
    run: &'a str,
    folder: PathBuf,
    report: PathBuf,
    trials_missing: u32,
    scenarios: Vec<ScenarioLine<'a>>,
    programs: Vec<ScenarioLine<'a>>,
}

#[derive(Debug, Serialize)]
struct ScenarioLine<'a> {
    id: &'a str,
    verdict: &'a str,
    cases: Vec<CaseLine<'a>>,
}

/// A case with its main figure: a rate for a server, a time for a program.
#[derive(Debug, Serialize)]
struct CaseLine<'a> {
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    goodput_rps: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_s: Option<Option<f64>>,
    low: Option<f64>,
    high: Option<f64>,
    tier: Option<&'a str>,
    ranked: bool,
}

impl<'a> FindingsLine<'a> {
    /// Summarises the findings of the run in `folder`, which contains its page.
    pub fn of(findings: &'a Findings, folder: &Path, t_s: f64) -> Self {
        // An absolute path, valid from any folder.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let scenarios = findings.scenarios.iter().map(|scenario| ScenarioLine {
            id: &scenario.id,
            verdict: &scenario.verdict,
            cases: scenario.cases.iter().map(CaseLine::of_server).collect(),
        });
        let programs = findings.programs.iter().map(|program| ScenarioLine {
            id: &program.id,
            verdict: &program.verdict,
            cases: program.cases.iter().map(CaseLine::of_program).collect(),
        });
        Self {
            event: "findings",
            t_s: (t_s * 1e3).round() / 1e3,
            run: &findings.run.id,
            report: folder.join("report.html"),
            folder,
            trials_missing: findings.trials_missing,
            scenarios: scenarios.collect(),
            programs: programs.collect(),
        }
    }
}

impl<'a> CaseLine<'a> {
    fn of_server(case: &'a CaseFinding) -> Self {
        let estimate = case.goodput_rps.as_ref();
        Self { goodput_rps: Some(estimate.map(|it| it.value)), ..Self::of(case, estimate) }
    }

    fn of_program(case: &'a ProgramCaseFinding) -> Self {
        let estimate = case.wall_s.as_ref();
        Self { wall_s: Some(estimate.map(|it| it.value)), ..Self::of(case, estimate) }
    }

    fn of<F>(case: &'a CaseFinding<F>, estimate: Option<&Estimate>) -> Self {
        let (low, high) = (estimate.and_then(|it| it.low), estimate.and_then(|it| it.high));
        let (subject, tier, ranked) = (case.subject.as_str(), case.tier.as_deref(), case.ranked);
        Self { subject, goodput_rps: None, wall_s: None, low, high, tier, ranked }
    }
}
