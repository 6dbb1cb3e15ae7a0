//! One generator, once: start a server, let the generator loose on it, wait, and take account.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::assets::Asset;
use crate::cell::{Cell, Contender, Exercise};
use crate::child::{Ended, Placed, spawn};
use crate::claim::{self, Claim};
use crate::counters::{Counted, Counters};
use crate::error::{self, BenchError};
use crate::interrupt::{Interrupt, Woken};
use crate::peers::Peer;
use crate::regime::Transfer;
use crate::server::{Counts, Server};
use crate::tool::Job;
use crate::transfer::transfer_ns;

/// How often the server is asked for its counts. Rarely enough to cost nothing, often enough to cut off the start and the
/// end of a run within a hundredth.
const SAMPLE: Duration = Duration::from_millis(20);

/// How much longer than it was told a generator may run: some write long reports.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Place {
    /// This program, which is some of the others as well.
    pub own: PathBuf,
    pub ceiling: PathBuf,
    /// Private folder, with the answers' bodies in `assets`.
    pub folder: PathBuf,
    pub server_cpu: u32,
    pub generator_cpu: u32,
    pub duration: Duration,
}

/// What became of one generator in one cell of one round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// How long it was told to run.
    pub told_s: f64,
    /// How long it ran, its start and its report included.
    pub wall_s: f64,
    pub server: Counts,
    /// Answers per second by the server's count, between the first and the last moment at which it answered.
    pub rate_rps: Option<f64>,
    /// CPU time outside the kernel, of the generator and what it started, its start and its report included.
    pub cpu_user_s: f64,
    /// CPU time in the kernel.
    pub cpu_system_s: f64,
    /// CPU time of the server, by which one sees whether it was the limit.
    pub server_cpu_s: f64,
    /// Most memory that the generator itself had at once (`VmHWM`); none where the server is not asked all the while.
    pub peak_bytes: Option<u64>,
    pub counted: Option<Counted>,
    /// What the generator says of itself.
    pub claim: Option<Claim>,
    /// Transfer times of the machine around it.
    pub transfer: Option<Transfer>,
    /// Why this is no good measurement.
    pub problem: Option<String>,
    /// Server and generator went before everybody else.
    #[serde(skip)]
    pub raised: bool,
}

impl Measurement {
    /// Answers to what was asked for.
    pub fn answers(&self) -> u64 {
        self.server.answers.saturating_sub(self.server.refusals)
    }

    /// CPU time of the generator.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// CPU time for one answer.
    pub fn cpu_us(&self) -> Option<f64> {
        self.per_answer(self.cpu_s() * 1e6)
    }

    /// Some quantity for one answer. None if the measurement is no good.
    pub fn per_answer(&self, quantity: f64) -> Option<f64> {
        (self.problem.is_none() && self.answers() > 0).then(|| quantity / self.answers() as f64)
    }
}

/// One generator and what it is told.
#[derive(Debug)]
pub struct Task<'a> {
    pub peer: &'a Peer,
    pub arguments: Vec<String>,
    /// The script that it runs, which is written where [`Place::script`] says.
    pub script: Option<String>,
    pub told: Duration,
    /// The server is asked for its counts all the while.
    pub sampled: bool,
}

/// A measurement, and what it was made of.
#[derive(Debug)]
pub struct Observed {
    pub measurement: Measurement,
    pub output: String,
    /// The code with which it left; none if a signal ended it.
    pub code: Option<i32>,
    /// What the server said at the end.
    pub told: String,
}

impl Place {
    pub fn script(&self) -> PathBuf {
        self.folder.join("script.js")
    }
}

/// What a generator in a cell is to do; the files are those of the folder.
pub fn job(cell: &Cell, contender: Contender, place: &Place, port: u16) -> Job {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    Job {
        url: url(cell.asset, &port.to_string()),
        connections: cell.connections,
        duration: place.duration,
        keep_alive: cell.exercise == Exercise::KeepAlive,
        discards: contender.discards,
        body: text(cell.asset.file(&place.folder.join("assets"))),
        script: text(place.script()),
    }
}

/// Where an answer is to be had.
pub fn url(asset: Asset, port: &str) -> String {
    format!("http://127.0.0.1:{port}/{}", asset.name())
}

/// A contender in a cell, once, against a fresh ceiling. None if it was interrupted.
pub fn measure_cell(
    cell: &Cell,
    contender: Contender,
    peer: &Peer,
    place: &Place,
    interrupt: &Interrupt,
) -> Result<Option<Measurement>, BenchError> {
    let task = |port| {
        let job = job(cell, contender, place, port);
        let arguments = contender.tool.arguments(&job).expect("who cannot do this does not take part");
        let (script, told) = (contender.tool.script(&job), contender.tool.told(place.duration));
        Task { peer, arguments, script, told, sampled: true }
    };
    let observed = measure(|| Server::ceiling(place), task, place, interrupt)?;
    Ok(observed.map(|observed| observed.measurement))
}

/// Measures once: a server, and what is to be done to it once its port is known. None if it was interrupted.
pub fn measure<'a>(
    start: impl FnOnce() -> Result<Server, BenchError>,
    task: impl FnOnce(u16) -> Task<'a>,
    place: &Place,
    interrupt: &Interrupt,
) -> Result<Option<Observed>, BenchError> {
    let before_ns = transfer_ns(place);
    let mut server = start()?;
    let task = task(server.port);
    if let Some(script) = &task.script {
        error::write(&place.script(), script)?;
    }
    let output = place.folder.join("output");
    let mut command = command(&task, &output)?;
    let counters = Counters::open();
    let began = Instant::now();
    let program = || task.peer.path.display().to_string();
    let failed = |source| BenchError::Run { program: program(), source };
    let placed = spawn(&mut command, place.generator_cpu).map_err(failed)?;
    let raised = placed.is_raised() && server.is_raised();
    let limit = task.told + PATIENCE;
    let every = if task.sampled { SAMPLE } else { limit };
    let Watched { samples, peak_bytes, woken } = watch(&placed, &mut server, interrupt, began, every, limit)?;
    match woken {
        Woken::Ready => {}
        Woken::Interrupted => return Ok(None),
        Woken::Late => placed.kill(),
    }
    let ended = placed.reap().map_err(failed)?;
    let wall_s = began.elapsed().as_secs_f64();
    let counted = counters.and_then(Counters::read);
    let told = server.ask()?;
    let counts = Counts::read(&told)?;
    let server_cpu_s = server.stop()?.as_secs_f64();
    let transfer = before_ns.zip(transfer_ns(place));
    let output = std::fs::read_to_string(&output).unwrap_or_default();
    let claim = claim::read(task.peer.tool, &output);
    let measurement = Measurement {
        told_s: task.told.as_secs_f64(),
        wall_s,
        server: counts,
        rate_rps: rate(&samples),
        cpu_user_s: ended.user.as_secs_f64(),
        cpu_system_s: ended.system.as_secs_f64(),
        server_cpu_s,
        peak_bytes,
        counted,
        claim,
        transfer: transfer.map(|(before_ns, after_ns)| Transfer { before_ns, after_ns }),
        problem: problem(woken, &ended, claim, counts, &output),
        raised,
    };
    Ok(Some(Observed { measurement, output, code: ended.status.code(), told }))
}

/// The command, with everything it says in one file.
fn command(task: &Task, output: &Path) -> Result<Command, BenchError> {
    let file = || File::options().create(true).append(true).open(output);
    let failed = |source| BenchError::Write { path: output.to_owned(), source };
    error::write(output, "")?;
    let mut command = Command::new(&task.peer.path);
    command.args(&task.arguments).envs(task.peer.environment.clone());
    // What some keep of each run in their user's home is not wanted there.
    command.envs(output.parent().map(|folder| ("HOME", folder)));
    command.stdin(std::process::Stdio::null());
    command.stdout(file().map_err(failed)?).stderr(file().map_err(failed)?);
    Ok(command)
}

/// What was seen of a generator while it ran.
struct Watched {
    /// Answers of the server by then, by the seconds since the start.
    samples: Vec<(f64, u64)>,
    peak_bytes: Option<u64>,
    woken: Woken,
}

/// Waits for the generator's end, and asks the server for its counts meanwhile.
fn watch(
    placed: &Placed,
    server: &mut Server,
    interrupt: &Interrupt,
    began: Instant,
    every: Duration,
    limit: Duration,
) -> Result<Watched, BenchError> {
    use std::os::fd::AsFd as _;
    let (mut samples, mut peak_bytes) = (Vec::new(), None);
    let mut next = began + every;
    loop {
        let woken = interrupt.wait(placed.pidfd.as_fd(), next);
        let woken = woken.map_err(|source| BenchError::Run { program: "the clock".to_owned(), source })?;
        let asked = began.elapsed();
        if woken != Woken::Late || asked >= limit {
            return Ok(Watched { samples, peak_bytes, woken });
        }
        let counts = server.counts()?;
        peak_bytes = peak_rss_bytes(placed.child.id()).or(peak_bytes);
        samples.push((asked.as_secs_f64(), counts.answers));
        next = (next + every).max(Instant::now());
    }
}

/// The line `VmHWM:     5120 kB` of a process; none once it has ended.
fn peak_rss_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kb = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    kb.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Answers per second while the server answered: from the first sample that saw an answer to the last before the counts
/// stood still. What a generator does before and after, and pieces of intervals, are left out.
fn rate(samples: &[(f64, u64)]) -> Option<f64> {
    let first = samples.iter().position(|(_, answers)| *answers > 0)?;
    let still = samples.last()?.1;
    let last = samples.iter().rposition(|(_, answers)| *answers < still)?;
    let ((from_s, before), (to_s, after)) = (samples[first], samples[last]);
    (last > first).then(|| (after - before) as f64 / (to_s - from_s))
}

/// Why a measurement is no good.
fn problem(woken: Woken, ended: &Ended, claim: Option<Claim>, counts: Counts, text: &str) -> Option<String> {
    let last_line =
        || text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing").to_owned();
    if woken == Woken::Late {
        return Some("it did not end, and was killed".to_owned());
    }
    if counts.answers == 0 {
        return Some(format!("the server was asked for nothing: {}", last_line()));
    }
    if counts.refusals > 0 {
        return Some(format!("it asked {} times for something that is not served", counts.refusals));
    }
    // Some leave with a failure when a request failed, and still tell their counts.
    (!ended.status.success() && claim.is_none()).then(|| format!("{}: {}", ended.status, last_line()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    #[test]
    fn a_process_tells_the_most_memory_that_it_had() {
        let filled = std::hint::black_box(vec![1_u8; 32 << 20]);
        assert!(peak_rss_bytes(std::process::id()).unwrap() >= filled.len() as u64);
        assert_eq!(peak_rss_bytes(u32::MAX), None);
    }

    #[test]
    fn the_rate_is_that_of_the_time_in_which_the_server_answered() {
        let check = |samples: &[(f64, u64)], expected| assert_eq!(rate(samples), expected, "{samples:?}");
        // Nothing until 0.2 s, 1000 a second until 0.55 s, nothing after.
        check(&[(0.1, 0), (0.2, 0), (0.3, 100), (0.4, 200), (0.5, 300), (0.6, 350), (0.7, 350)], Some(1000.0));
        check(&[(0.5, 100), (1.0, 600), (1.5, 1100)], Some(1000.0));
        check(&[], None);
        check(&[(0.1, 0), (0.2, 0)], None);
        check(&[(0.1, 0), (0.2, 50), (0.3, 50)], None);
    }

    #[test]
    fn a_measurement_is_no_good_if_the_tool_did_something_else() {
        let ended = |code: i32| {
            let status = std::process::ExitStatus::from_raw(code << 8);
            Ended { status, user: Duration::ZERO, system: Duration::ZERO }
        };
        let (good, claim) =
            (Counts { answers: 9, refusals: 0, connections: 1 }, Some(Claim { requests: 9, failed: 0 }));
        let check = |woken, code, claim, counts, words: Option<&str>| {
            let found = problem(woken, &ended(code), claim, counts, "line\nlast\n\n");
            assert_eq!(found.as_deref(), words);
        };
        check(Woken::Ready, 0, claim, good, None);
        check(Woken::Ready, 5, claim, good, None);
        check(Woken::Ready, 5, None, good, Some("exit status: 5: last"));
        check(Woken::Late, 0, claim, good, Some("it did not end, and was killed"));
        check(Woken::Ready, 0, claim, Counts::default(), Some("the server was asked for nothing: last"));
        let refused = Counts { refusals: 9, ..good };
        check(Woken::Ready, 0, claim, refused, Some("it asked 9 times for something that is not served"));
    }
}
