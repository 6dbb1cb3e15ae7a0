//! Load in slices: several servers run, and one at a time gets load for a tenth of a second while the others are frozen.
//!
//! A slice begins when its server is thawed. Load runs for a lead-in, which no figure counts, and for the window. Then sending stops, the
//! engine waits for requests in flight, and the server is frozen again. So a slice leaves no work for the next one, and all CPU time
//! between thaw and freeze belongs to it.

mod cpu;
mod freezer;
mod job;
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, MonotonicNs, SystemClock};
use crate::connector;
use crate::engine::{self, Engine, Lap, Run, Window};
use crate::error::LoadError;
use crate::fault::ErrorClass;
use crate::histogram::{Durations, seconds};
use crate::open_files;
use crate::options::{ConnectionPolicy, Executor, Options, Pace, Protocol, ThinkTime};
use crate::record::ErrorExample;
use crate::recording::{Recorded, part_records};
use crate::stop::Stop;
use crate::summary;
use crate::sys::{CpuTime, Punctual};
use crate::transport::Connector;
use cpu::CpuReader;
use freezer::Freezer;
pub use job::{CpuAccount, FreezerFiles, SlicedServer, SlicedTarget, SlicesJob, Turn};
pub use record::{SliceLine, SlicesRecord, TargetRecord, WarmUp};

/// The shortest time between two reports of progress.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// A moment of a run in slices. In a JSON line, `event` names its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum SliceEvent {
    /// The first slice begins.
    WindowStarted {
        /// On `CLOCK_MONOTONIC`.
        monotonic_ns: u64,
    },
    /// Some slices are over.
    Slices {
        /// How many.
        done: u32,
        /// In total.
        of: u32,
    },
    /// The last slice is over.
    WindowEnded {
        /// On `CLOCK_MONOTONIC`.
        monotonic_ns: u64,
    },
}

/// Why a target cannot be loaded in slices, if it cannot.
pub fn refusal(options: &Options) -> Option<&'static str> {
    let reasons = [
        (!matches!(options.executor, Executor::ConstantVus { .. }), "slices need a closed loop of constant users"),
        (options.protocol != Protocol::Http1, "slices need HTTP/1.1"),
        (options.connection != ConnectionPolicy::KeepAlive, "slices need connections that are kept alive"),
        (options.think_time != ThinkTime::NONE, "users that pause leave slices empty"),
        (options.pace != Pace::default(), "slow clients outlast a slice"),
        (options.generator.threads != 1, "slices are given by one thread"),
    ];
    reasons.into_iter().find_map(|(is_so, why)| is_so.then_some(why))
}

/// Runs all slices of a job. `targets` are the options of its targets, in their order. Returns one line per slice.
///
/// An unreachable target is not an error: its requests fail, and the others go on. Setting `stop` ends the run soon. In all cases, no
/// server is left frozen.
pub fn run(
    job: &SlicesJob,
    targets: &[Options],
    stop: &AtomicBool,
    events: &mut dyn FnMut(SliceEvent),
) -> Result<(SlicesRecord, Vec<SliceLine>), LoadError> {
    let refused = |reason: String| LoadError::Option { option: "--slices", reason };
    if let Some(problem) = job.problem() {
        return Err(refused(problem));
    }
    for (target, options) in job.targets.iter().zip(targets) {
        if let Some(why) = refusal(options) {
            return Err(refused(format!("target `{}`: {why}", target.name)));
        }
        options.check()?;
        engine::check(options)?;
    }
    let most_lingering =
        open_files::allow(targets.iter().map(|options| options.executor.vus()).sum(), engine::MOST_LINGERING)?;
    let most_lingering = most_lingering / targets.len().max(1) as u32;
    let connectors = targets.iter().map(connector).collect::<Result<Vec<Connector>, LoadError>>()?;
    let (stop, iterations) = (Stop::new(stop, Duration::ZERO), Arc::new(AtomicU64::new(0)));
    let runs: Vec<Run<'_>> = targets
        .iter()
        .zip(&connectors)
        .map(|(options, connector)| Run {
            options,
            connector,
            stop: &stop,
            iterations: &iterations,
            most_connections: options.executor.vus(),
            most_lingering,
        })
        .collect();
    let _punctual = Punctual::new();
    let mut slices = Slices::new(job, &runs)?;
    slices.freeze_all()?;
    slices.warm_up()?;
    slices.all(events)?;
    Ok(slices.finish())
}

/// A run in slices in progress.
struct Slices<'run> {
    job: &'run SlicesJob,
    runs: &'run [Run<'run>],
    targets: Vec<Target<'run>>,
    freezers: Vec<Option<Freezer>>,
    cpu: Vec<Option<CpuReader<'run>>>,
    database_cpu: Option<CpuReader<'run>>,
    lines: Vec<SliceLine>,
    began: MonotonicNs,
    ended: MonotonicNs,
    interrupted: bool,
}

/// The state and results of a target.
struct Target<'run> {
    engine: Engine<'run, SystemClock, Window>,
    window: Window,
    response: Durations,
    warm_up: WarmUp,
    failed_by_class: BTreeMap<ErrorClass, u64>,
    opened: u64,
    never_answered: u64,
    examples: BTreeMap<ErrorClass, ErrorExample>,
}

/// The readings before a slice.
struct Before {
    cpu_s: Option<f64>,
    database_cpu_s: Option<f64>,
    generator: CpuTime,
}

impl<'run> Slices<'run> {
    fn new(job: &'run SlicesJob, runs: &'run [Run<'run>]) -> Result<Self, LoadError> {
        let grace = Duration::from_secs_f64(job.drain_limit_s);
        let target = |run: &'run Run<'run>| {
            let window = Window::new();
            Ok(Target {
                engine: Engine::sliced(SystemClock, run, grace, window.clone())?,
                window,
                response: Durations::new(),
                warm_up: WarmUp::default(),
                failed_by_class: BTreeMap::new(),
                opened: 0,
                never_answered: 0,
                examples: BTreeMap::new(),
            })
        };
        let freezer = |server: &SlicedServer| server.freezer.clone().map(Freezer::new);
        Ok(Slices {
            job,
            runs,
            targets: runs.iter().map(target).collect::<Result<_, LoadError>>()?,
            freezers: job.servers.iter().map(freezer).collect(),
            cpu: job.servers.iter().map(|server| server.cpu.as_ref().map(CpuReader::new)).collect(),
            database_cpu: job.database_cpu.as_ref().map(CpuReader::new),
            lines: Vec::with_capacity(job.order.len()),
            began: MonotonicNs(0),
            ended: MonotonicNs(0),
            interrupted: false,
        })
    }

    /// Freezes every server, so none works while another is warmed up.
    fn freeze_all(&self) -> Result<(), LoadError> {
        self.freezers.iter().flatten().try_for_each(|freezer| freezer.freeze().map(drop).map_err(not_frozen))
    }

    fn warm_up(&mut self) -> Result<(), LoadError> {
        for target in 0..self.targets.len() {
            let warm_up = self.runs[target].options.warm_up;
            if warm_up.is_zero() || self.interrupted {
                continue;
            }
            let server = self.job.targets[target].server;
            self.thaw(server)?;
            self.targets[target].window.count_short();
            let lap = self.targets[target].engine.lap(&self.runs[target], warm_up, Duration::ZERO)?;
            let good_by_10ms = self.targets[target].window.take_short();
            self.freeze(server)?;
            self.interrupted |= lap.interrupted;
            let Lap { recorded, .. } = lap;
            let known = &mut self.targets[target];
            known.warm_up = WarmUp { good: recorded.whole_run.good, failed: recorded.failures, good_by_10ms };
            known.note(recorded);
            known.window.take(|_| {});
        }
        Ok(())
    }

    fn all(&mut self, events: &mut dyn FnMut(SliceEvent)) -> Result<(), LoadError> {
        let (mut told, of) = (Instant::now(), self.job.order.len() as u32);
        self.began = SystemClock.now();
        events(SliceEvent::WindowStarted { monotonic_ns: self.began.0 });
        for (slice, turn) in (0..).zip(&self.job.order) {
            if self.interrupted {
                break;
            }
            let line = self.one(slice, *turn)?;
            self.lines.push(line);
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                events(SliceEvent::Slices { done: slice + 1, of });
            }
        }
        self.ended = SystemClock.now();
        events(SliceEvent::WindowEnded { monotonic_ns: self.ended.0 });
        Ok(())
    }

    fn one(&mut self, slice: u32, turn: Turn) -> Result<SliceLine, LoadError> {
        let server = self.job.targets[turn.target].server;
        let (lead_in, window) = (Duration::from_secs_f64(turn.lead_in_s), Duration::from_secs_f64(turn.window_s));
        let before = self.read(server);
        let start = SystemClock.now();
        self.thaw(server)?;
        let thawed = SystemClock.now();
        let lap = self.targets[turn.target].engine.lap(&self.runs[turn.target], lead_in, window)?;
        let after = self.read(server);
        let freeze_began = SystemClock.now();
        let frozen = self.freeze(server)?;
        let freeze_s = seconds(SystemClock.now().ns_since(freeze_began));
        self.interrupted |= lap.interrupted;
        let recorded = &lap.recorded;
        let mut line = SliceLine {
            slice,
            target: turn.target,
            start_s: seconds(start.ns_since(self.began)),
            lead_in_s: recorded.span.window_start.since(recorded.span.start).as_secs_f64(),
            window_s: recorded.span.window().as_secs_f64(),
            drain_s: seconds(lap.drained_at.ns_since(recorded.span.window_end)),
            thaw_s: seconds(thawed.ns_since(start)),
            freeze_s,
            drained: lap.unanswered == 0,
            frozen,
            good: recorded.ledger.good + recorded.warm_up.carried_over_good,
            failed: recorded.ledger.failed,
            sent: lap.sent,
            whole_good: recorded.whole_run.good,
            whole_failed: recorded.failures,
            unanswered: lap.unanswered,
            opened: recorded.connections.opened,
            cpu_s: before.cpu_s.zip(after.cpu_s).map(|(before, after)| after - before),
            database_cpu_s: before.database_cpu_s.zip(after.database_cpu_s).map(|(before, after)| after - before),
            generator_cpu_s: whole(after.generator.since(before.generator)),
            ..SliceLine::default()
        };
        self.targets[turn.target].take(lap.recorded, &mut line);
        Ok(line)
    }

    fn read(&mut self, server: usize) -> Before {
        Before {
            cpu_s: self.cpu[server].as_mut().and_then(CpuReader::read_s),
            database_cpu_s: self.database_cpu.as_mut().and_then(CpuReader::read_s),
            generator: CpuTime::of_this_thread(),
        }
    }

    fn thaw(&self, server: usize) -> Result<(), LoadError> {
        self.freezers[server].as_ref().map_or(Ok(()), |freezer| freezer.thaw().map_err(not_frozen))
    }

    /// Whether it is frozen, or `None` if it cannot be frozen.
    fn freeze(&self, server: usize) -> Result<Option<bool>, LoadError> {
        self.freezers[server].as_ref().map(|freezer| freezer.freeze().map_err(not_frozen)).transpose()
    }

    fn finish(self) -> (SlicesRecord, Vec<SliceLine>) {
        let names = self.job.targets.iter().map(|target| target.name.clone());
        let of_target = |((name, run), mut target): ((String, &Run<'_>), Target<'_>)| TargetRecord {
            name,
            warm_up: target.warm_up,
            failed_by_class: target.failed_by_class,
            response_time: target.response.summary(),
            connections_opened: target.opened,
            connections_never_answered: target.never_answered,
            error_examples: target.examples.into_values().collect(),
            body_check: summary::body_checks(run.options),
            expected_body_bytes: summary::expected_body_bytes(run.options),
            parts: part_records(target.engine.take_parts(), run.options, None),
        };
        let record = SlicesRecord {
            format: SlicesRecord::FORMAT,
            engine: concat!("tolok-load ", env!("CARGO_PKG_VERSION")).to_owned(),
            interrupted: self.interrupted,
            began_monotonic_ns: self.began.0,
            ended_monotonic_ns: self.ended.0,
            slices: self.lines.len() as u32,
            targets: names.zip(self.runs).zip(self.targets).map(of_target).collect(),
        };
        (record, self.lines)
    }
}

impl Target<'_> {
    /// Adds a slice, and puts the response times into its line.
    fn take(&mut self, recorded: Recorded, line: &mut SliceLine) {
        let response = &mut self.response;
        self.window.take(|slice| {
            response.add(slice);
            response.set_instants_of(slice);
            line.latency_mean_s = slice.mean_s();
            line.latency_p50_s = slice.plain_quantile_s(0.5);
            line.latency_max_s = slice.max_s();
        });
        for (class, count) in &recorded.ledger.failed_by_class {
            *self.failed_by_class.entry(*class).or_default() += count;
        }
        self.note(recorded);
    }

    fn note(&mut self, recorded: Recorded) {
        self.opened += recorded.connections.opened;
        self.never_answered += recorded.connections.never_answered;
        for (class, example) in recorded.error_examples {
            self.examples.entry(class).or_insert(example);
        }
    }
}

fn whole(cpu: CpuTime) -> f64 {
    (cpu.user + cpu.system).as_secs_f64()
}

fn not_frozen(error: std::io::Error) -> LoadError {
    LoadError::Freezer(error)
}

#[cfg(test)]
mod tests;
