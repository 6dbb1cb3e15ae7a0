//! The only event loop. It composes schedule, transport and recording, and leaves their decisions to them.
//!
//! A slot is a place for one connection: of a virtual user in a closed loop, of the pool in an open one. It sends its next request directly
//! after its answer was read. So in the steady state of a closed loop a request costs one send(2), one recv(2), and its share of one
//! epoll_wait(2). With HTTP/2 and with pipelining, slots share connections. The code for this is in `streams` and `pipes`, and costs other
//! runs nothing.

mod answers;
mod deadlines;
mod lingering;
mod pace;
mod pipes;
mod prepared;
mod rehearsal;
mod slices;
mod slots;
mod starts;
mod streams;
mod waking;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, MonotonicNs};
use crate::error::LoadError;
use crate::options::{Options, Timer, parts};
use crate::recording::{Part, Recorded, Recorder, Rows};
use crate::schedule::{Phase, RowPicker, Schedule, Share, Span, Steps};
use crate::stop::Stop;
use crate::sys::{CpuTime, run_queue_wait};
use crate::target::Target;
use crate::transport::{Connector, Poller};
use lingering::Lingering;
pub(crate) use lingering::MOST as MOST_LINGERING;
use pace::Rations;
use pipes::Pipes;
pub(crate) use prepared::check;
pub use prepared::problems_of_values;
use prepared::{Prepared, prepare};
pub use rehearsal::Rehearsal;
pub(crate) use slices::{Lap, Window};
use slots::{Doing, Pool, Slot};
use streams::Streams;
use waking::Waking;

/// One buffer for all connections: answers are judged as they pass through it. A smaller buffer costs a system call for every piece of a
/// large body; a larger one exceeds the processor's cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// Longest wait for the event queue, so a stop is noticed soon.
pub(crate) const STOP_LATENCY: Duration = Duration::from_millis(100);

/// Most requests started between two polls of the event queue. Without a limit, thousands of users that begin at once would leave the first
/// answers unread until the last user has connected.
const STARTS_IN_A_ROW: usize = 64;

/// Grace period of a run that was stopped: its user is waiting.
const INTERRUPTED_GRACE: Duration = Duration::from_secs(1);

/// What all threads of a run share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'run> {
    pub options: &'run Options,
    pub connector: &'run Connector,
    /// Ends the run early.
    pub stop: &'run Stop<'run>,
    /// The number of iterations that all threads share.
    pub iterations: &'run Arc<AtomicU64>,
    /// Most connections of an unbounded pool, over all threads.
    pub most_connections: u32,
    /// Most connections per thread that wait for the target to close them.
    pub most_lingering: u32,
}

/// The result of a thread.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub recorded: Recorded,
    pub interrupted: bool,
    pub usage: Usage,
}

/// Resources that a thread used inside the window.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub cpu: CpuTime,
    pub spin: Duration,
    pub run_queue_wait: Option<Duration>,
}

/// An end of the window, as reported to the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Border {
    WindowStarted { planned: MonotonicNs, reached: MonotonicNs },
    WindowEnded(MonotonicNs),
}

/// Follows a thread's progress.
pub(crate) trait Listener: Rows {
    /// Called when a border of the window has passed.
    fn passed(&mut self, border: Border);
}

/// One thread of a run in progress.
pub(crate) struct Engine<'run, C, L> {
    clock: C,
    progress: Progress,
    stop: &'run Stop<'run>,
    span: Span,
    schedule: Schedule,
    steps: Steps,
    recorder: Recorder<L>,
    connector: Connector,
    poller: Poller,
    requests: Vec<Prepared>,
    /// The values for the next iteration, if any.
    rows: RowPicker,
    target: Target,
    authority: String,
    requests_per_connection: Option<u32>,
    timeout: Duration,
    connect_timeout: Duration,
    grace: Duration,
    rations: Rations,
    slots: Vec<Slot>,
    /// Connections of earlier requests that the target is about to close.
    lingering: Lingering,
    /// With HTTP/2, the connections that slots share.
    streams: Option<Box<Streams>>,
    /// With pipelining, the connections that slots share.
    pipes: Option<Box<Pipes>>,
    pool: Pool,
    /// Slots by the planned instants of their next turns, earliest first; each slot is here at most once.
    planned: BinaryHeap<Reverse<(MonotonicNs, u32)>>,
    /// Whether connections stay open after a user's last request: in slices, further requests follow.
    keeps_connections: bool,
    /// Slots that are connecting or exchanging.
    in_flight: usize,
    /// Users that send no more requests.
    retired: usize,
    /// Requests acted on.
    acts: u64,
    /// No deadline passes before this instant.
    next_sweep: MonotonicNs,
    buffer: Vec<u8>,
    timer: Timer,
    /// How long before a planned instant the hybrid timer wakes up.
    waking: Waking,
    waiting: Waiting,
    interrupted: bool,
}

/// The current phase of a run.
#[derive(Debug, Clone, Copy)]
enum Progress {
    BeforeWindow,
    InWindow { since: Usage },
    Draining { usage: Usage },
}

/// Time spent polling the clock.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    spin: Duration,
    /// When the loop last read the clock, if its last poll of the event queue did not sleep and found nothing.
    idle_since: Option<MonotonicNs>,
    /// When the last poll of the event queue should have woken, if it slept and nothing came.
    until: Option<MonotonicNs>,
}

impl<'run, C: Clock, L: Listener> Engine<'run, C, L> {
    pub fn new(clock: C, run: &Run<'run>, share: Share, span: Span, listener: L) -> Result<Self, LoadError> {
        let options = run.options;
        let poller = Poller::new().map_err(queue_failed)?;
        let (slots, pool) = slots::of(options, share, run.most_connections);
        Ok(Engine {
            progress: Progress::BeforeWindow,
            stop: run.stop,
            span,
            schedule: Schedule::new(options, span, share, run.iterations),
            steps: Steps::new(options.mix, &options.requests, options.seed, share.thread),
            recorder: Recorder::new(span, listener)
                .splitting_lateness(options.executor.is_open())
                .with_parts(parts(&options.requests).iter().map(|_| Part::new()).collect())
                .with_clients(options.slow_users().is_some()),
            connector: run.connector.for_thread(share.thread),
            poller,
            requests: prepare(options)?,
            rows: RowPicker::new(options, share),
            authority: options.target.authority(),
            target: options.target.clone(),
            requests_per_connection: options.connection.requests_per_connection(),
            timeout: options.timeout,
            connect_timeout: options.connect_timeout.min(options.timeout),
            grace: options.grace_period(),
            rations: Rations::new(options.pace),
            planned: BinaryHeap::with_capacity(slots.len()),
            slots,
            lingering: Lingering::new(run.most_lingering),
            streams: Streams::of(options),
            pipes: Pipes::of(options),
            pool,
            keeps_connections: false,
            in_flight: 0,
            retired: 0,
            acts: 0,
            next_sweep: MonotonicNs(0),
            buffer: vec![0; BUFFER_BYTES],
            timer: options.timer(),
            waking: Waking::at_rate(options.executor.most_rps() / f64::from(share.threads)),
            waiting: Waiting::default(),
            interrupted: false,
            clock,
        })
    }

    /// Runs to the end.
    pub fn run(mut self) -> Result<Outcome, LoadError> {
        self.plan_first_turns();
        let (ended, usage) = self.work()?;
        Ok(self.finish(ended, usage))
    }

    /// Works until the window is over and everything is answered, or the grace period is over. Returns when it ended, and what the thread
    /// used inside the window.
    fn work(&mut self) -> Result<(MonotonicNs, Usage), LoadError> {
        loop {
            let now = self.clock.now();
            if let Some(at) = self.stop.instant(now) {
                self.interrupt(at);
            }
            self.count_spinning(now);
            self.note_waking(now);
            self.end_with_iterations(now);
            self.pass_time(now);
            if let Progress::Draining { usage } = self.progress
                && (self.is_drained() || now >= self.end_of_grace())
            {
                return Ok((now, usage));
            }
            let acts = self.acts;
            self.sweep(now);
            self.tick(now);
            self.start_due(now);
            let idle_since = (self.acts == acts).then_some(now);
            let ready = self.wait(now, idle_since)?;
            for index in 0..ready {
                self.handle(self.poller.event(index));
            }
        }
    }

    /// Reports rows and borders of the window that `now` has completed.
    fn pass_time(&mut self, now: MonotonicNs) {
        self.note_queue(now);
        self.recorder.advance(now);
        if matches!(self.progress, Progress::BeforeWindow) && now >= self.span.window_start {
            self.progress = Progress::InWindow { since: self.usage() };
            self.recorder.rows().passed(Border::WindowStarted { planned: self.span.window_start, reached: now });
        }
        if let Progress::InWindow { since } = self.progress
            && now >= self.span.window_end
        {
            let usage = self.usage().since(since);
            self.progress = Progress::Draining { usage };
            self.recorder.rows().passed(Border::WindowEnded(self.span.window_end));
        }
    }

    /// Updates the queue length at the end of a row. While all connections are busy, arrivals do not wake the loop, so the queue may have
    /// grown since the last count.
    fn note_queue(&mut self, now: MonotonicNs) {
        let Schedule::Open(cursor) = &self.schedule else { return };
        if let Some(end) = self.recorder.next_row_end()
            && end <= now
            && !self.pool.has_room(self.slots.len())
        {
            let waiting = self.pool.waiting(cursor, MonotonicNs(end.0.saturating_sub(1)));
            self.recorder.queued(waiting);
        }
    }

    fn usage(&self) -> Usage {
        Usage { cpu: CpuTime::of_this_thread(), spin: self.waiting.spin, run_queue_wait: run_queue_wait() }
    }

    /// Ends the run at `at`, unless its window is over by then; in that case only shortens the grace period.
    fn interrupt(&mut self, at: MonotonicNs) {
        self.grace = self.grace.min(INTERRUPTED_GRACE);
        if at < self.span.window_end {
            self.interrupted = true;
            self.end_window(at);
        }
    }

    /// Ends the window at `at`, which may be in the future.
    fn end_window(&mut self, at: MonotonicNs) {
        self.span = self.span.cut_at(at);
        self.schedule.stop(at);
        self.pool.stop(at);
        self.recorder.stop(at);
    }

    /// Ends the window once all iterations are done.
    fn end_with_iterations(&mut self, now: MonotonicNs) {
        let counted = matches!(&self.schedule, Schedule::Closed(users) if users.end_with_iterations());
        if counted && self.in_flight == 0 && self.retired == self.slots.len() && now < self.span.window_end {
            // A thread that got no iteration may be done before its window has begun.
            self.end_window(now.max(self.span.window_start));
        }
    }

    fn end_of_grace(&self) -> MonotonicNs {
        self.span.window_end + self.grace
    }

    /// Whether nothing is in flight and nothing waits.
    fn is_drained(&self) -> bool {
        let waits = matches!(&self.schedule, Schedule::Open(cursor) if cursor.next().is_some());
        self.in_flight == 0 && !waits
    }

    /// Waits for the event queue, at most until the next task that no socket announces. Returns the number of events. `idle_since` is when
    /// the loop last read the clock, if it has had nothing to do since.
    fn wait(&mut self, now: MonotonicNs, idle_since: Option<MonotonicNs>) -> Result<usize, LoadError> {
        let next_planned = self.next_planned();
        // Without a planned instant, the time since the loop last read the clock does not matter.
        let now = if next_planned.is_some() { self.clock.now() } else { now };
        let for_planned = next_planned.map(|planned| planned.since(now));
        let left = self.next_wake_up(next_planned).since(now).min(STOP_LATENCY);
        let (at_most, sleeps) = match (self.timer, for_planned) {
            (Timer::Spin, _) => (Duration::ZERO, false),
            (Timer::Hybrid, Some(planned)) if planned <= self.waking.lead() => (Duration::ZERO, false),
            (Timer::Hybrid, Some(planned)) => (left.min(planned - self.waking.lead()), true),
            _ => (left, true),
        };
        let ready = self.poller.wait(at_most).map_err(queue_failed)?;
        self.waiting.idle_since = idle_since.or(Some(now)).filter(|_| !sleeps && ready == 0);
        self.waiting.until = (sleeps && ready == 0 && self.timer == Timer::Hybrid).then(|| now + at_most);
        Ok(ready)
    }

    /// Adds up the time in which the loop only polled the clock.
    fn count_spinning(&mut self, now: MonotonicNs) {
        if let Some(since) = self.waiting.idle_since.take() {
            self.waiting.spin += now.since(since);
        }
    }

    /// An uninterrupted sleep that ended late makes the next ones end earlier.
    fn note_waking(&mut self, now: MonotonicNs) {
        if let Some(until) = self.waiting.until.take() {
            self.waking.overslept(now.since(until));
        }
    }

    /// The next instant at which a request should start.
    fn next_planned(&self) -> Option<MonotonicNs> {
        let turn = self.planned.peek().map(|Reverse((planned, _))| *planned);
        let arrival = match &self.schedule {
            Schedule::Open(cursor) if self.pool.has_room(self.slots.len()) => cursor.next().map(|next| next.planned),
            _ => None,
        };
        turn.into_iter().chain(arrival).min()
    }

    /// The next instant at which the loop has a task that no socket announces.
    fn next_wake_up(&self, next_planned: Option<MonotonicNs>) -> MonotonicNs {
        let border = match self.progress {
            Progress::BeforeWindow | Progress::InWindow { .. } => self.recorder.next_row_end(),
            Progress::Draining { .. } => Some(self.end_of_grace()),
        };
        let tick = self.rations.next_tick();
        let others = next_planned.into_iter().chain(border).chain(tick);
        others.fold(self.next_sweep, MonotonicNs::min)
    }

    /// Closes everything and returns the totals.
    fn finish(mut self, now: MonotonicNs, usage: Usage) -> Outcome {
        self.close_lingering();
        if self.streams.is_some() {
            self.finish_streams(now);
        }
        if self.pipes.is_some() {
            self.finish_pipes(now);
        }
        for slot in 0..self.slots.len() as u32 {
            let place = &mut self.slots[slot as usize];
            if let Doing::Connecting(attempt) | Doing::Exchanging(attempt) = place.doing {
                self.recorder.abandoned(&attempt, now);
            }
            if place.has_sent_nothing() {
                self.recorder.unsent();
            }
            // A connection that still waits for its line was never attempted.
            if matches!(place.doing, Doing::Connecting(_)) && place.connection.take().is_some() {
                self.recorder.not_connected();
            }
            self.disconnect(slot);
        }
        if let Schedule::Open(cursor) = &mut self.schedule {
            while let Some(arrival) = cursor.next() {
                // Arrivals still waiting from the warm-up are not requests of the window. Each counts as one request, like those sent late:
                // how many steps would have followed is unknown.
                if arrival.phase == Phase::Measure {
                    self.recorder.never_sent(arrival.planned, now);
                }
                cursor.advance();
            }
        }
        Outcome { recorded: self.recorder.finish(), interrupted: self.interrupted, usage }
    }
}

impl Usage {
    fn since(self, earlier: Usage) -> Usage {
        let waited = self.run_queue_wait.zip(earlier.run_queue_wait);
        Usage {
            cpu: self.cpu.since(earlier.cpu),
            spin: self.spin.saturating_sub(earlier.spin),
            run_queue_wait: waited.map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

fn queue_failed(errno: Errno) -> LoadError {
    LoadError::EventQueue(errno.into())
}

#[cfg(test)]
mod tests;
