//! Runs one engine on each thread and collects what they record. The measuring threads hand over whole rows once a second. Everything slow
//! (sums, percentiles, encoding, events to the caller) happens here, on the caller's thread. The collector does not depend on where threads
//! run: [`generators`](crate::generators) feeds it threads of other machines.

use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::{Clock, MonotonicNs, SystemClock};
use crate::engine::{Border, Engine, Listener, Outcome, Run, Usage};
use crate::error::LoadError;
use crate::event::Event;
use crate::record::SecondRow;
use crate::recording::{Collector, Recorded, Row, Rows, Times};
use crate::schedule::{Phase, Share, Span};
use crate::stop::Stop;
use crate::sys;
use crate::threshold::Threshold;

/// Spare empty rows of each thread. It needs one; the second covers a late collector.
const SPARE_ROWS: usize = 2;

/// Time for the threads to get ready, so they start together.
const LEAD: Duration = Duration::from_millis(1);

/// What a run recorded, over all threads.
#[derive(Debug)]
pub(crate) struct Collected {
    pub recorded: Recorded,
    pub totals: Times,
    pub timeline: Vec<SecondRow>,
    pub usage: Vec<Usage>,
    pub interrupted: bool,
    /// The run ended because a threshold was crossed.
    pub aborted: bool,
    pub start: MonotonicNs,
}

/// A message from a thread to the collector.
#[derive(Debug)]
pub(crate) enum Message {
    Row(Box<Row>),
    Border(Border),
    Ended(Result<Box<Outcome>, LoadError>),
}

/// A thread's end of the channel.
struct Line {
    thread: u32,
    messages: Sender<(u32, Message)>,
    spare: Receiver<Box<Row>>,
}

impl Line {
    fn tell(&self, message: Message) {
        // The collector listens until every thread has ended.
        let _ = self.messages.send((self.thread, message));
    }
}

impl Rows for Line {
    fn exchange(&mut self, row: &mut Box<Row>) {
        let empty = self.spare.try_recv().unwrap_or_else(|_| Box::new(Row::new()));
        self.tell(Message::Row(mem::replace(row, empty)));
    }
}

impl Listener for Line {
    fn passed(&mut self, border: Border) {
        self.tell(Message::Border(border));
    }
}

/// Runs all threads to their end. A crossed threshold of `abort_on` ends the run early.
pub(crate) fn run(
    run: &Run<'_>,
    abort_on: &[Threshold],
    events: &mut dyn FnMut(Event),
) -> Result<Collected, LoadError> {
    let threads = run.options.generator.threads;
    let (messages, told) = channel();
    let start = SystemClock.now() + LEAD * threads;
    let span = Span::new(start, run.options.warm_up, run.options.executor.window());
    thread::scope(|scope| {
        let spares = spawn(scope, run, Share { thread: 0, threads }, span, messages)?;
        // On one CPU with a busy measuring thread, this thread would otherwise receive messages late.
        let _punctual = sys::Punctual::new();
        let second_histograms = run.options.second_histograms;
        let mut collecting = Collecting::new(span, spares.len(), second_histograms, run.stop, abort_on);
        if !run.options.warm_up.is_zero() {
            events(Event::WarmupStarted);
        }
        for (thread, message) in told {
            let emptied = collecting.take(thread, message, events);
            give_back(&spares, thread, emptied);
        }
        collecting.finish(span)
    })
}

/// Starts the threads of this process. The first has the share `first` of the run. `messages` closes when the last thread ends. Returns the
/// channels through which each thread gets its emptied rows back.
pub(crate) fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    run: &'env Run<'env>,
    first: Share,
    span: Span,
    messages: Sender<(u32, Message)>,
) -> Result<Vec<Sender<Box<Row>>>, LoadError> {
    let mut spares = Vec::new();
    for thread in 0..run.options.generator.threads {
        let (spare, empties) = channel();
        for _ in 0..SPARE_ROWS {
            let _ = spare.send(Box::new(Row::new()));
        }
        spares.push(spare);
        let line = Line { thread, messages: messages.clone(), spare: empties };
        let share = Share { thread: first.thread + thread, ..first };
        let name = format!("load-{thread}");
        let spawned = thread::Builder::new().name(name).spawn_scoped(scope, move || one_thread(run, share, span, line));
        // Threads that already run need not finish the run for nothing.
        spawned.inspect_err(|_| run.stop.abort()).map_err(LoadError::Thread)?;
    }
    Ok(spares)
}

/// Gives an emptied row back to its thread. A thread that has ended no longer needs one.
pub(crate) fn give_back(spares: &[Sender<Box<Row>>], thread: u32, emptied: Option<Box<Row>>) {
    if let Some((spare, mut row)) = spares.get(thread as usize).zip(emptied) {
        row.clear();
        let _ = spare.send(row);
    }
}

fn one_thread(run: &Run<'_>, share: Share, span: Span, line: Line) {
    let _punctual = sys::Punctual::new();
    let teller = Line { thread: line.thread, messages: line.messages.clone(), spare: channel().1 };
    let pinned = pin(&run.options.generator.cpus, line.thread);
    let outcome = pinned.and_then(|()| Engine::new(SystemClock, run, share, span, line)?.run());
    teller.tell(Message::Ended(outcome.map(Box::new)));
}

/// The CPU of a thread, or `None` to let the system choose.
pub(crate) fn cpu_of(cpus: &[u32], thread: u32) -> Option<u32> {
    cpus.get(thread as usize % cpus.len().max(1)).copied()
}

fn pin(cpus: &[u32], thread: u32) -> Result<(), LoadError> {
    let Some(cpu) = cpu_of(cpus, thread) else { return Ok(()) };
    let refused = |reason: String| LoadError::Option { option: "cpus", reason };
    let mut set = CpuSet::new();
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(refused(format!("there is no CPU {cpu}")));
    }
    set.set(cpu as usize);
    sched_setaffinity(None, &set).map_err(|errno| refused(format!("cannot run on CPU {cpu}: {errno}")))
}

/// The messages received so far.
pub(crate) struct Collecting<'run> {
    collector: Collector,
    stop: &'run Stop<'run>,
    abort_on: &'run [Threshold],
    aborted: bool,
    timeline: Vec<SecondRow>,
    started: usize,
    reached: MonotonicNs,
    ended: usize,
    window_end: MonotonicNs,
    usage: Vec<Option<Usage>>,
    interrupted: bool,
    error: Option<LoadError>,
}

impl<'run> Collecting<'run> {
    pub fn new(
        span: Span,
        threads: usize,
        second_histograms: bool,
        stop: &'run Stop<'run>,
        abort_on: &'run [Threshold],
    ) -> Collecting<'run> {
        Collecting {
            collector: Collector::new(span, threads as u32, second_histograms),
            stop,
            abort_on,
            aborted: false,
            timeline: Vec::new(),
            started: 0,
            reached: span.window_start,
            ended: 0,
            window_end: span.start,
            usage: vec![None; threads],
            interrupted: false,
            error: None,
        }
    }

    /// Takes a message of a thread. Returns its row once nothing in it is needed any more.
    pub fn take(&mut self, thread: u32, message: Message, events: &mut dyn FnMut(Event)) -> Option<Box<Row>> {
        let mut emptied = None;
        match message {
            Message::Row(row) => {
                self.collector.row(thread, &row);
                emptied = Some(row);
            }
            Message::Border(Border::WindowStarted { planned, reached }) => {
                self.started += 1;
                self.reached = self.reached.max(reached);
                if self.started == self.usage.len() {
                    let reached_monotonic_ns = self.reached.0;
                    events(Event::WindowStarted { monotonic_ns: planned.0, reached_monotonic_ns });
                }
            }
            Message::Border(Border::WindowEnded(at)) => {
                self.ended += 1;
                self.window_end = self.window_end.max(at);
                if self.ended == self.usage.len() {
                    self.tell_seconds(events);
                    events(Event::WindowEnded { monotonic_ns: self.window_end.0 });
                }
            }
            Message::Ended(Ok(outcome)) => {
                let Outcome { recorded, interrupted, usage } = *outcome;
                self.interrupted |= interrupted;
                self.usage[thread as usize] = Some(usage);
                self.collector.ended(thread, recorded);
            }
            Message::Ended(Err(error)) => {
                // The other threads can stop: there will be no result.
                self.stop.abort();
                self.error.get_or_insert(error);
            }
        }
        self.tell_seconds(events);
        emptied
    }

    /// Whether every thread has ended.
    pub fn is_over(&self) -> bool {
        self.error.is_some() || self.usage.iter().all(Option::is_some)
    }

    fn tell_seconds(&mut self, events: &mut dyn FnMut(Event)) {
        while let Some(second) = self.collector.next_second() {
            let measured = second.phase == Phase::Measure;
            events(Event::Second(Box::new(second.clone())));
            self.timeline.push(second);
            if measured && !self.aborted && self.collector.crosses(self.abort_on) {
                self.aborted = true;
                self.stop.abort();
            }
        }
    }

    pub fn finish(self, span: Span) -> Result<Collected, LoadError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (recorded, totals) = self.collector.finish().expect("all threads ended without an error");
        Ok(Collected {
            recorded,
            totals,
            timeline: self.timeline,
            usage: self.usage.into_iter().flatten().collect(),
            interrupted: self.interrupted && !self.aborted,
            aborted: self.aborted,
            start: span.start,
        })
    }
}
