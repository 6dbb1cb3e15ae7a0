//! An engine that runs one slice after another. Its connections outlive each slice; everything else starts afresh.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use super::slots::Doing;
use super::{Border, Engine, Listener, Progress, Run, queue_failed};
use crate::clock::{Clock, MonotonicNs};
use crate::error::LoadError;
use crate::histogram::Durations;
use crate::recording::{Part, RESPONSE, ROW, Recorded, Recorder, Row, Rows};
use crate::schedule::{Phase, Schedule, Share, Span};

/// Length of the periods in which a warm-up is counted.
pub(crate) const SHORT: Duration = Duration::from_millis(10);

/// Response times of the requests of a window. The recorders of all slices of a target share it in turn.
#[derive(Debug, Clone)]
pub(crate) struct Window(Rc<RefCell<Gathered>>);

#[derive(Debug)]
struct Gathered {
    response: Durations,
    /// Correct responses in each [`SHORT`] of the warm-up, while they are counted.
    short: Option<Vec<u32>>,
}

impl Window {
    pub fn new() -> Window {
        let mut response = Durations::new();
        response.count_instants();
        Window(Rc::new(RefCell::new(Gathered { response, short: None })))
    }

    /// Passes on the gathered response times and clears them.
    pub fn take(&self, each: impl FnOnce(&Durations)) {
        let durations = &mut self.0.borrow_mut().response;
        each(durations);
        durations.clear();
    }

    /// Starts to count a warm-up in short periods. Rows are short until the counts are taken.
    pub fn count_short(&self) {
        self.0.borrow_mut().short = Some(Vec::new());
    }

    /// Takes the short counts and stops counting.
    pub fn take_short(&self) -> Vec<u32> {
        self.0.borrow_mut().short.take().unwrap_or_default()
    }
}

impl Rows for Window {
    fn exchange(&mut self, row: &mut Box<Row>) {
        let gathered = &mut *self.0.borrow_mut();
        if row.phase == Phase::Measure {
            gathered.response.add(&row.times.response);
            gathered.response.add_instants(&row.slowest[RESPONSE], row.start);
        } else if let Some(short) = &mut gathered.short
            && row.end.since(row.start) >= SHORT
        {
            // The count of such a short period fits into 32 bits.
            short.push(row.good as u32);
        }
        row.clear();
    }

    fn length(&self) -> Duration {
        if self.0.borrow().short.is_some() { SHORT } else { ROW }
    }
}

impl Listener for Window {
    fn passed(&mut self, _: Border) {}
}

/// The result of a slice.
#[derive(Debug)]
pub(crate) struct Lap {
    pub recorded: Recorded,
    /// Requests that the engine acted on.
    pub sent: u64,
    /// Those without an outcome.
    pub unanswered: u64,
    /// When the last of them had its outcome or was abandoned.
    pub drained_at: MonotonicNs,
    pub interrupted: bool,
}

impl<'run, C: Clock> Engine<'run, C, Window> {
    /// An engine whose connections stay open when a slice ends.
    pub fn sliced(clock: C, run: &Run<'run>, grace: Duration, window: Window) -> Result<Self, LoadError> {
        let nothing = Span::new(MonotonicNs(0), Duration::ZERO, Duration::ZERO);
        let engine = Engine::new(clock, run, Share::ALL, nothing, window)?;
        Ok(Engine { keeps_connections: true, grace, ..engine })
    }

    /// Runs a slice: load starts now, for `lead_in` without figures and for `window` with them.
    pub fn lap(&mut self, run: &Run<'run>, lead_in: Duration, window: Duration) -> Result<Lap, LoadError> {
        let span = Span::new(self.clock.now(), lead_in, window);
        let listener = self.recorder.rows().clone();
        self.span = span;
        self.schedule = Schedule::new(run.options, span, Share::ALL, run.iterations);
        let parts = self.recorder.take_parts();
        self.recorder = Recorder::new(span, listener).with_parts(parts);
        self.progress = Progress::BeforeWindow;
        self.next_sweep = MonotonicNs(0);
        self.retired = 0;
        // A server may have closed idle connections after it was thawed.
        self.notice_ends()?;
        self.plan_first_turns();
        let drained_at = self.work()?.0;
        Ok(self.end_lap(drained_at))
    }

    /// The parts of all slices so far.
    pub fn take_parts(&mut self) -> Vec<Part> {
        self.recorder.take_parts()
    }

    fn notice_ends(&mut self) -> Result<(), LoadError> {
        let ready = self.poller.wait(Duration::ZERO).map_err(queue_failed)?;
        for index in 0..ready {
            self.handle(self.poller.event(index));
        }
        Ok(())
    }

    /// Abandons requests in flight, so they do not affect another slice.
    fn end_lap(&mut self, at: MonotonicNs) -> Lap {
        let mut unanswered = 0;
        for slot in 0..self.slots.len() as u32 {
            let place = &mut self.slots[slot as usize];
            match mem::replace(&mut place.doing, Doing::Nothing) {
                Doing::Nothing => {}
                Doing::Connecting(attempt) => {
                    place.connection = None;
                    self.recorder.abandoned(&attempt, at);
                    self.recorder.not_connected();
                    unanswered += 1;
                }
                Doing::Exchanging(attempt) => {
                    self.recorder.abandoned(&attempt, at);
                    self.disconnect(slot);
                    unanswered += 1;
                }
            }
        }
        self.close_lingering();
        self.in_flight = 0;
        self.planned.clear();
        let mut listener = self.recorder.rows().clone();
        let parts = self.recorder.take_parts();
        let next = Recorder::new(self.span, listener.clone()).with_parts(parts);
        let mut recorded = mem::replace(&mut self.recorder, next).finish();
        let mut drain = Box::new(mem::replace(&mut recorded.drain_row, Row::new()));
        // Counts the requests of the window that were answered after it.
        drain.phase = Phase::Measure;
        listener.exchange(&mut drain);
        let sent = recorded.warm_up.sent + recorded.ledger.sent + recorded.drain.sent;
        Lap { sent, unanswered, drained_at: at, interrupted: mem::take(&mut self.interrupted), recorded }
    }
}
