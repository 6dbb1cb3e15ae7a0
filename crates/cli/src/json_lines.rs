//! `--format jsonl`: a line for each event as it happens, and one of findings at the end.
//!
//! Whoever reads may be slow, and the lab must not wait for him while it measures: a thread of its own writes
//! ([`LineWriter`]).

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tolok_analysis::{CaseFinding, Estimate, Findings, ProgramCaseFinding};
use tolok_store::LineWriter;

use crate::exit::{CliError, Exit};
use crate::output::say;

/// Where lines go: standard output or a file.
pub struct JsonLines {
    lines: LineWriter,
    is_terminal: bool,
}

impl JsonLines {
    /// To a file, or to standard output if none is named (or `-`).
    pub fn to(file: Option<&Path>) -> Result<Self, CliError> {
        let file = file.filter(|path| *path != Path::new("-"));
        let lines = match file {
            None => LineWriter::new(io::stdout()),
            Some(path) => File::create(path).and_then(LineWriter::new),
        };
        let lines = lines.map_err(|error| {
            let target = file.map_or("standard output".to_owned(), |path| path.display().to_string());
            let next = "choose another file with -o FILE";
            CliError::new(Exit::Internal, format!("cannot write {target}: {error}; {next}"))
        })?;
        Ok(Self { lines, is_terminal: file.is_none() && io::stdout().is_terminal() })
    }

    /// Whether the lines are seen on a terminal, where anything else would stand between them.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Hands a line over. That nobody reads it any more is no error.
    pub fn write(&mut self, line: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(line) {
            let _ = self.lines.push((text + "\n").as_bytes());
        }
    }
}

impl Drop for JsonLines {
    /// Writes what is left, for as long as somebody takes it.
    fn drop(&mut self) {
        if let Ok(unread_bytes @ 1..) = self.lines.finish() {
            say(format!("warning: the reader of the lines has stopped; {unread_bytes} bytes are lost"));
        }
    }
}

/// The last line: what was found, in short.
#[derive(Debug, Serialize)]
pub struct FindingsLine<'a> {
    event: &'static str,
    t_s: f64,
    run: &'a str,
    folder: PathBuf,
    report: PathBuf,
    trials_missing: u32,
    scenarios: Vec<ScenarioLine<'a, ServerLine<'a>>>,
    programs: Vec<ScenarioLine<'a, ProgramLine<'a>>>,
}

#[derive(Debug, Serialize)]
struct ScenarioLine<'a, T> {
    id: &'a str,
    verdict: &'a str,
    cases: Vec<T>,
}

#[derive(Debug, Serialize)]
struct ServerLine<'a> {
    subject: &'a str,
    goodput_rps: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    tier: Option<&'a str>,
    ranked: bool,
}

#[derive(Debug, Serialize)]
struct ProgramLine<'a> {
    subject: &'a str,
    wall_s: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    tier: Option<&'a str>,
    ranked: bool,
}

impl<'a> FindingsLine<'a> {
    /// What was found in the run in `folder`, which has its page.
    pub fn of(findings: &'a Findings, folder: &Path, t_s: f64) -> Self {
        // One that says the same wherever it is read.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let scenarios = findings.scenarios.iter().map(|scenario| ScenarioLine {
            id: &scenario.id,
            verdict: &scenario.verdict,
            cases: scenario.cases.iter().map(ServerLine::of).collect(),
        });
        let programs = findings.programs.iter().map(|program| ScenarioLine {
            id: &program.id,
            verdict: &program.verdict,
            cases: program.cases.iter().map(ProgramLine::of).collect(),
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

/// Value and ends of the interval.
fn figures(estimate: Option<&Estimate>) -> (Option<f64>, Option<f64>, Option<f64>) {
    let of = |part: fn(&Estimate) -> Option<f64>| estimate.and_then(part);
    (of(|it| Some(it.value)), of(|it| it.low), of(|it| it.high))
}

impl<'a> ServerLine<'a> {
    fn of(case: &'a CaseFinding) -> Self {
        let (goodput_rps, low, high) = figures(case.goodput_rps.as_ref());
        Self { subject: &case.subject, goodput_rps, low, high, tier: case.tier.as_deref(), ranked: case.ranked }
    }
}

impl<'a> ProgramLine<'a> {
    fn of(case: &'a ProgramCaseFinding) -> Self {
        let (wall_s, low, high) = figures(case.wall_s.as_ref());
        Self { subject: &case.subject, wall_s, low, high, tier: case.tier.as_deref(), ranked: case.ranked }
    }
}
