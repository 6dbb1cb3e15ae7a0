//! One measurement of a generator: start a server, run the generator against it, and collect the results.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use tolok_bench::error::{self, BenchError, failed};
use tolok_tools::{Invocation, LOG};

use crate::assets::Asset;
use crate::child::{Ended, Placed, spawn};
use crate::counters::{Counted, Counters};
use crate::exercise::{Exercise, Served};
use crate::generator::{Claim, Contender, Record, Said, Tool};
use crate::honesty;
use crate::interrupt::{Interrupt, Woken};
use crate::peers::Peer;
use crate::regime::Transfer;
use crate::server::{Counts, Server};
use crate::transfer::transfer_ns;
use crate::truth::Latencies;

/// How often to request the server's counts. Rarely enough to cost nothing; often enough to cut off the start and the end of a run to
/// within a hundredth.
const SAMPLE: Duration = Duration::from_millis(20);

/// How much longer than planned a generator may run: some write long reports.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Place {
    /// This program, which also contains some of the others.
    pub own: PathBuf,
    pub ceiling: PathBuf,
    /// Private folder, with the bodies of answers in `assets`.
    pub folder: PathBuf,
    pub server_cpu: u32,
    pub generator_cpu: u32,
}

/// The result of one generator in one round of an exercise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// Its planned duration.
    pub told_s: f64,
    /// How long it ran, including its start and its report.
    pub wall_s: f64,
    pub server: Counts,
    /// Answers per second as counted by the server, between the first and the last sample with answers.
    pub rate_rps: Option<f64>,
    /// CPU time in user mode of the generator and everything it started, including start and report.
    pub cpu_user_s: f64,
    /// CPU time in the kernel.
    pub cpu_system_s: f64,
    /// CPU time of the server; shows whether it was the limit.
    pub server_cpu_s: f64,
    /// Peak memory of the generator (`VmHWM`), or `None` if it was not sampled while it ran.
    pub peak_bytes: Option<u64>,
    pub counted: Option<Counted>,
    /// The generator's own counts.
    pub claim: Option<Claim>,
    /// Transfer times of the machine before and after it.
    pub transfer: Option<Transfer>,
    /// Why the measurement is invalid.
    pub problem: Option<String>,
    /// At a given rate: the number of requests that should have been sent.
    pub offered: Option<u64>,
    /// How long users would have waited, if known, and what the generator reports.
    pub truth: Option<Latencies>,
    pub reported: Option<Latencies>,
    pub record: Option<Record>,
    /// The exit code of the generator, or `None` if a signal ended it.
    pub code: Option<i32>,
    /// When the server stalled, on CLOCK_MONOTONIC.
    pub stalls_ns: Vec<(u64, u64)>,
    /// Whether server and generator had the highest priority.
    #[serde(skip)]
    pub raised: bool,
}

impl Measurement {
    /// Answers to the right requests.
    pub fn answers(&self) -> u64 {
        self.server.answers.saturating_sub(self.server.refusals)
    }

    /// CPU time of the generator.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// CPU time per answer.
    pub fn cpu_us(&self) -> Option<f64> {
        self.per_answer(self.cpu_s() * 1e6)
    }

    /// A quantity per answer; `None` if the measurement is invalid.
    pub fn per_answer(&self, quantity: f64) -> Option<f64> {
        (self.problem.is_none() && self.answers() > 0).then(|| quantity / self.answers() as f64)
    }
}

/// What a measurement depends on.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub place: &'a Place,
    pub peers: &'a [Peer],
    pub interrupt: &'a Interrupt,
    /// Time of a request outside stalls.
    pub usual_s: f64,
}

/// The URL of a body.
pub fn url(asset: Asset, port: &str) -> String {
    format!("http://127.0.0.1:{port}/{}", asset.name())
}

/// Measures a contender once, against a fresh server. `None` if interrupted.
pub fn measure(
    exercise: &Exercise,
    contender: Contender,
    around: &Surroundings<'_>,
) -> Result<Option<Measurement>, BenchError> {
    let Surroundings { place, peers, interrupt, usual_s } = *around;
    let (load, tool) = (&exercise.load, contender.tool);
    let before_ns = transfer_ns(place);
    let mut server = match exercise.served {
        Served::Ceiling => Server::ceiling(place)?,
        served => honesty::server(place, served)?,
    };
    let folder = place.folder.join("work");
    let url = url(load.asset, &server.port.to_string());
    let body = load.asset.file(&place.folder.join("assets"));
    let invocation = contender.invocation(load, url, &body).expect("only capable tools take part");
    let peer = peers.iter().find(|peer| peer.tool == tool).expect("only tools that were found take part");
    let mut command = command(peer, &invocation, &folder)?;
    let counters = Counters::open();
    let began = Instant::now();
    let run = || failed(format!("run {}", peer.path.display()));
    let placed = spawn(&mut command, place.generator_cpu).map_err(run())?;
    let raised = placed.is_raised() && server.is_raised();
    let told = tool.runs_for(load.duration);
    let limit = told + PATIENCE;
    // At a given rate, intermediate counts are useless and sampling them disturbs.
    let every = if load.rate_rps.is_none() { SAMPLE } else { limit };
    let Watched { samples, peak_bytes, woken } = watch(&placed, &mut server, interrupt, began, every, limit)?;
    match woken {
        Woken::Ready => {}
        Woken::Interrupted => return Ok(None),
        Woken::Late => placed.kill(),
    }
    let ended = placed.reap().map_err(run())?;
    let wall_s = began.elapsed().as_secs_f64();
    let counted = counters.and_then(Counters::read);
    let log = server.log()?;
    let server_cpu_s = server.stop()?.as_secs_f64();
    let transfer = before_ns.zip(transfer_ns(place));
    let Said { claim, latencies, record } = contender.said(load, &folder);
    let planned = || Some((f64::from(load.rate_rps?) * told.as_secs_f64()).round() as u64);
    let scheduled = record.as_ref().map(|record| record.scheduled);
    let truth = (exercise.served != Served::Ceiling)
        .then(|| honesty::truth(exercise, contender, record.as_ref(), &log, usual_s));
    Ok(Some(Measurement {
        told_s: told.as_secs_f64(),
        wall_s,
        server: log.counts,
        rate_rps: rate(&samples),
        cpu_user_s: ended.user.as_secs_f64(),
        cpu_system_s: ended.system.as_secs_f64(),
        server_cpu_s,
        peak_bytes,
        counted,
        claim,
        transfer: transfer.map(|(before_ns, after_ns)| Transfer { before_ns, after_ns }),
        problem: problem(woken, &ended, claim, log.counts, &last_line(&folder, tool)),
        offered: truth.map(|(offered, _)| offered).or(scheduled).or_else(planned),
        truth: truth.map(|(_, truth)| truth),
        reported: latencies,
        record,
        code: ended.status.code(),
        stalls_ns: log.stalls_ns,
        raised,
    }))
}

/// The command, in a new folder that is also its HOME: files that some generators write there must not end up in the user's.
fn command(peer: &Peer, invocation: &Invocation, folder: &Path) -> Result<Command, BenchError> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir(folder).map_err(failed("make a folder for the generator"))?;
    for (name, text) in &invocation.files {
        error::write(&folder.join(name), text)?;
    }
    let file = |name: &str| File::create(folder.join(name)).map_err(failed("make a file for the output"));
    let mut command = Command::new(&peer.path);
    command.args(&invocation.arguments).envs(&peer.env).envs(&invocation.env).env("HOME", folder).current_dir(folder);
    command.stdin(Stdio::null()).stdout(file(peer.tool.output_file())?).stderr(file(LOG)?);
    Ok(command)
}

/// The generator's last line of output, from standard error if that is not empty.
fn last_line(folder: &Path, tool: Tool) -> String {
    let last = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    };
    last(LOG).or_else(|| last(tool.output_file())).unwrap_or_else(|| "it said nothing".to_owned())
}

/// What was observed while a generator ran.
struct Watched {
    /// The server's answers at each sample, by seconds since the start.
    samples: Vec<(f64, u64)>,
    peak_bytes: Option<u64>,
    woken: Woken,
}

/// Waits for the generator to end, and samples the server's counts.
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
        let woken = interrupt.wait(placed.pidfd.as_fd(), next).map_err(failed("wait for a generator"))?;
        let asked = began.elapsed();
        if woken != Woken::Late || asked >= limit {
            return Ok(Watched { samples, peak_bytes, woken });
        }
        let counts = server.log()?.counts;
        peak_bytes = peak_rss_bytes(placed.child.id()).or(peak_bytes);
        samples.push((asked.as_secs_f64(), counts.answers));
        next = (next + every).max(Instant::now());
    }
}

/// Reads the line `VmHWM:     5120 kB` of a process; `None` once it has ended.
fn peak_rss_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kb = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    kb.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Answers per second while the server answered: from the first sample with answers to the last one before the counts stopped. This leaves
/// out the generator's start and end, and partial intervals.
fn rate(samples: &[(f64, u64)]) -> Option<f64> {
    let first = samples.iter().position(|(_, answers)| *answers > 0)?;
    let still = samples.last()?.1;
    let last = samples.iter().rposition(|(_, answers)| *answers < still)?;
    let ((from_s, before), (to_s, after)) = (samples[first], samples[last]);
    (last > first).then(|| (after - before) as f64 / (to_s - from_s))
}

/// Why a measurement is invalid.
fn problem(woken: Woken, ended: &Ended, claim: Option<Claim>, counts: Counts, last_line: &str) -> Option<String> {
    if woken == Woken::Late {
        return Some("it did not end, and was killed".to_owned());
    }
    if counts.answers == 0 {
        return Some(format!("the server was asked for nothing: {last_line}"));
    }
    if counts.refusals > 0 {
        return Some(format!("it asked {} times for something that is not served", counts.refusals));
    }
    // Some exit with an error if a request failed, but still report their counts.
    (!ended.status.success() && claim.is_none()).then(|| format!("{}: {last_line}", ended.status))
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
        // Nothing until 0.2 s, 1000 a second until 0.55 s, then nothing.
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
            let found = problem(woken, &ended(code), claim, counts, "last");
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
