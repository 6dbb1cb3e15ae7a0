//! `--format jsonl`: a line for each event as it happens, and one of findings at the end.
//!
//! Whoever reads may be slow, and the lab must not wait for him while it measures: a line for which a pipe has no room waits here
//! until it has.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use tolok_analysis::{CaseFinding, Estimate, Findings, ProgramCaseFinding};

use crate::exit::{Complaint, Exit};

/// What a pipe takes at once if it takes anything.
const PIECE: usize = 4096;

/// Where lines go: standard output or a file.
pub struct JsonLines {
    output: Output,
    waiting: VecDeque<u8>,
    /// Whoever read has seen enough, or there is no room.
    is_closed: bool,
}

enum Output {
    Standard(io::Stdout),
    File(File),
}

impl JsonLines {
    /// To a file, or to standard output if none is named (or `-`).
    pub fn to(file: Option<&Path>) -> Result<Self, Complaint> {
        let output = match file.filter(|path| *path != Path::new("-")) {
            None => Output::Standard(io::stdout()),
            Some(path) => Output::File(File::create(path).map_err(|error| {
                let next = "choose where it may be written and has room, with -o FILE";
                Complaint::new(Exit::Internal, format!("cannot write {}: {error}; {next}", path.display()))
            })?),
        };
        Ok(Self { output, waiting: VecDeque::new(), is_closed: false })
    }

    /// Whether the lines are seen on a terminal, where anything else would stand between them.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.output, Output::Standard(output) if output.is_terminal())
    }

    /// Writes a line as far as that can be done at once.
    pub fn write(&mut self, line: &impl Serialize) {
        if let (false, Ok(text)) = (self.is_closed, serde_json::to_string(line)) {
            self.waiting.extend(text.bytes().chain([b'\n']));
            self.write_while(Self::has_room);
        }
    }

    fn write_while(&mut self, may_write: impl Fn(&Self) -> bool) {
        while !self.waiting.is_empty() && !self.is_closed && may_write(self) {
            let piece: Vec<u8> = self.waiting.drain(..self.waiting.len().min(PIECE)).collect();
            let written = match &mut self.output {
                Output::Standard(output) => output.write_all(&piece).and_then(|()| output.flush()),
                Output::File(file) => file.write_all(&piece),
            };
            self.is_closed = written.is_err();
        }
    }

    fn has_room(&self) -> bool {
        let fd = match &self.output {
            Output::Standard(output) => output.as_fd(),
            Output::File(file) => file.as_fd(),
        };
        let mut asked = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
        // One that cannot be asked can be written to.
        poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).map_or(true, |ready| ready > 0)
    }
}

impl Drop for JsonLines {
    /// Writes what is left, however long that takes. That nobody reads it any more is no error.
    fn drop(&mut self) {
        self.write_while(|_| true);
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

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_reader_who_is_slow_is_not_waited_for_and_gets_every_line() {
        let (mut reader, writer) = io::pipe().unwrap();
        let output = Output::File(File::from(OwnedFd::from(writer)));
        let mut lines = JsonLines { output, waiting: VecDeque::new(), is_closed: false };
        // Far more than a pipe holds, and nobody reads.
        let line = "x".repeat(1000);
        (0..1000).for_each(|_| lines.write(&line));
        assert!(lines.waiting.len() > 500_000, "{}", lines.waiting.len());
        let read = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        drop(lines);
        assert_eq!(read.join().unwrap().unwrap(), format!("\"{line}\"\n").repeat(1000));
    }

    #[test]
    fn a_reader_who_has_gone_ends_nothing() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = Output::File(File::from(OwnedFd::from(writer)));
        let mut lines = JsonLines { output, waiting: VecDeque::new(), is_closed: false };
        lines.write(&"one");
        lines.write(&"two");
        assert!(lines.is_closed);
    }
}
