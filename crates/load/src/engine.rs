//! The one event loop. It composes schedule, transport and recording, and decides nothing that they can decide.
//!
//! A virtual user sends its next request straight from where its answer was read: in the steady state of the closed
//! loop a request costs one send(2), one recv(2), and its share of one epoll_wait(2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;

use crate::clock::{Clock, MonotonicNs};
use crate::error::LoadError;
use crate::event::Event;
use crate::fault::Fault;
use crate::http::answer::{Answer, Rules};
use crate::options::{ConnectionPolicy, Options};
use crate::recording::{Attempt, Recorded, Recorder};
use crate::schedule::{Backoff, Phase, Schedule, Span, Turn};
use crate::sys::CpuTime;
use crate::transport::{Connection, Connector, Poller, Ready, Stream};

/// One buffer for all connections: answers are judged while they stream through it. Smaller ones cost a system call for
/// every piece of a large body, larger ones fall out of the processor's cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// Longest wait for the event queue, so that the stop flag is seen soon.
const STOP_LATENCY: Duration = Duration::from_millis(100);

/// Requests started between two looks at the event queue. Without a bound, thousands of users that begin at once
/// would let the first answers lie unread until the last user has connected.
const STARTS_IN_A_ROW: usize = 64;

/// How long a target that has announced to close a connection may take to do so. That it closes first leaves the
/// waiting state of the closed connection, and the port, on its side.
const LINGER: Duration = Duration::from_millis(250);

/// Deadlines are looked at no more often than this.
const SWEEP_INTERVAL: Duration = Duration::from_millis(1);

/// Grace period of a run that was stopped: whoever stopped it is waiting.
const INTERRUPTED_GRACE: Duration = Duration::from_secs(1);

/// What a virtual user is doing.
#[derive(Debug, Clone, Copy)]
enum Doing {
    /// Waiting for the planned instant of its next request, or done for good.
    Nothing,
    /// Opening the connection for a request.
    Connecting(Attempt),
    /// Sending a request and receiving its answer.
    Exchanging(Attempt),
    /// Waiting for the target to close the connection, until then at most.
    Lingering(MonotonicNs),
}

#[derive(Debug)]
struct VirtualUser {
    doing: Doing,
    connection: Option<Connection>,
    backoff: Backoff,
}

/// What a run leaves behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub recorded: Recorded,
    pub span: Span,
    pub interrupted: bool,
    /// CPU time of the engine's thread inside the window.
    pub cpu: CpuTime,
}

/// A run in progress.
pub(crate) struct Engine<'run, C> {
    clock: C,
    schedule: Schedule,
    recorder: Recorder,
    connector: Connector,
    poller: Poller,
    request: Vec<u8>,
    rules: Rules,
    policy: ConnectionPolicy,
    timeout: Duration,
    connect_timeout: Duration,
    grace: Duration,
    users: Vec<VirtualUser>,
    /// Users with their planned instants, the earliest first; each user is here at most once.
    planned: BinaryHeap<Reverse<(MonotonicNs, u32)>>,
    /// Users that are connecting or exchanging.
    in_flight: usize,
    /// No deadline passes before this instant.
    next_sweep: MonotonicNs,
    buffer: Vec<u8>,
    events: &'run mut dyn FnMut(Event),
    rows_told: usize,
    progress: Progress,
    interrupted: bool,
}

/// How far a run has come, as its caller was told.
#[derive(Debug, Clone, Copy)]
enum Progress {
    BeforeWindow,
    InWindow { cpu: CpuTime },
    Draining { cpu: CpuTime },
}

impl<'run, C: Clock> Engine<'run, C> {
    pub fn new(
        clock: C,
        options: &Options,
        connector: Connector,
        request: Vec<u8>,
        events: &'run mut dyn FnMut(Event),
    ) -> Result<Engine<'run, C>, LoadError> {
        let poller = Poller::new().map_err(queue_failed)?;
        let users = (0..options.executor.vus())
            .map(|_| VirtualUser { doing: Doing::Nothing, connection: None, backoff: Backoff::default() })
            .collect();
        // The clock is read last: what happened before is no part of the run.
        let mut engine = Engine {
            schedule: Schedule::new(options.executor, Span::new(MonotonicNs(0), Duration::ZERO, Duration::ZERO)),
            recorder: Recorder::new(Span::new(MonotonicNs(0), Duration::ZERO, Duration::ZERO)),
            connector,
            poller,
            request,
            rules: Rules::new(options),
            policy: options.connection,
            timeout: options.timeout,
            connect_timeout: options.connect_timeout.min(options.timeout),
            grace: options.grace_period(),
            users,
            planned: BinaryHeap::with_capacity(options.executor.vus() as usize),
            in_flight: 0,
            next_sweep: MonotonicNs(0),
            buffer: vec![0; BUFFER_BYTES],
            events,
            rows_told: 0,
            progress: Progress::BeforeWindow,
            interrupted: false,
            clock,
        };
        let span = Span::new(engine.clock.now(), options.warm_up, options.executor.window());
        engine.schedule = Schedule::new(options.executor, span);
        engine.recorder = Recorder::new(span);
        Ok(engine)
    }

    /// Runs to the end.
    pub fn run(mut self, stop: &AtomicBool) -> Result<Outcome, LoadError> {
        let span = self.schedule.span();
        if span.window_start > span.start {
            (self.events)(Event::WarmupStarted);
        }
        for user in 0..self.schedule.users() {
            self.plan_turn(user, span.start);
        }
        loop {
            let now = self.clock.now();
            if stop.load(Ordering::Relaxed) {
                self.interrupt(now);
            }
            self.pass_time(now);
            if let Progress::Draining { cpu } = self.progress
                && (self.in_flight == 0 || now >= self.end_of_grace())
            {
                return Ok(self.finish(cpu));
            }
            self.sweep(now);
            self.start_planned(now);
            let ready = self.poller.wait(self.time_to_wait()).map_err(queue_failed)?;
            for index in 0..ready {
                self.handle(self.poller.event(index));
            }
        }
    }

    /// Tells the caller what time has brought: rows, and the borders of the window.
    fn pass_time(&mut self, now: MonotonicNs) {
        self.recorder.advance(now);
        let span = self.schedule.span();
        if matches!(self.progress, Progress::BeforeWindow) && now >= span.window_start {
            self.tell_rows(Phase::WarmUp);
            self.progress = Progress::InWindow { cpu: CpuTime::of_this_thread() };
            (self.events)(Event::WindowStarted { monotonic_ns: span.window_start.0 });
        }
        self.tell_rows(Phase::Measure);
        if let Progress::InWindow { cpu } = self.progress
            && now >= span.window_end
        {
            self.progress = Progress::Draining { cpu: CpuTime::of_this_thread().since(cpu) };
            (self.events)(Event::WindowEnded { monotonic_ns: span.window_end.0 });
        }
    }

    /// Tells the rows that are complete, up to the last one of a phase.
    fn tell_rows(&mut self, up_to: Phase) {
        while let Some(row) = self.recorder.rows().get(self.rows_told) {
            if up_to == Phase::WarmUp && row.phase == Phase::Measure {
                return;
            }
            (self.events)(Event::Second(row.clone()));
            self.rows_told += 1;
        }
    }

    /// Ends the run now, unless its window is over anyway; then only the grace period is cut short.
    fn interrupt(&mut self, now: MonotonicNs) {
        self.grace = self.grace.min(INTERRUPTED_GRACE);
        if !self.schedule.is_over(now) {
            self.interrupted = true;
            self.schedule.stop(now);
            self.recorder.stop(now);
        }
    }

    fn end_of_grace(&self) -> MonotonicNs {
        self.schedule.span().window_end + self.grace
    }

    /// How long the loop may sleep: until the next thing that no socket will wake it for.
    fn time_to_wait(&self) -> Duration {
        let mut until = self.next_sweep;
        if let Some(Reverse((planned, _))) = self.planned.peek() {
            until = until.min(*planned);
        }
        let border = match self.progress {
            Progress::BeforeWindow | Progress::InWindow { .. } => self.recorder.next_row_end(),
            Progress::Draining { .. } => Some(self.end_of_grace()),
        };
        until = border.map_or(until, |border| until.min(border));
        until.since(self.clock.now()).min(STOP_LATENCY)
    }

    /// Asks the schedule for a user's next turn and keeps it for its time.
    fn plan_turn(&mut self, user: u32, free_at: MonotonicNs) {
        match self.schedule.turn(free_at) {
            Turn::SendAt(planned) => self.planned.push(Reverse((planned, user))),
            Turn::Done => self.retire(user),
        }
    }

    /// Starts the requests whose time has come.
    fn start_planned(&mut self, now: MonotonicNs) {
        for _ in 0..STARTS_IN_A_ROW {
            match self.planned.peek() {
                Some(Reverse((planned, _))) if *planned <= now => {}
                _ => return,
            }
            if let Some(Reverse((planned, user))) = self.planned.pop() {
                self.start(user, planned);
            }
        }
    }

    /// Acts on a user's request: sends it, after opening a connection if there is none.
    fn start(&mut self, user: u32, intended: MonotonicNs) {
        let acted = self.clock.now();
        if self.schedule.is_over(acted) {
            return self.retire(user);
        }
        let attempt = self.recorder.sent(intended, acted);
        self.in_flight += 1;
        let slot = &mut self.users[user as usize];
        if let Some(connection) = &mut slot.connection {
            connection.rewind();
            slot.doing = Doing::Exchanging(attempt);
            return self.transmit(user, attempt);
        }
        slot.doing = Doing::Connecting(attempt);
        match Connection::open(&mut self.connector, &self.poller, user) {
            Ok(connection) => {
                slot.connection = Some(connection);
                self.send_first(user, attempt);
            }
            Err(fault) => self.fail(user, attempt, self.clock.now(), &fault),
        }
    }

    /// Sends the first request of a connection, if the connection is established; otherwise this is tried again when
    /// the socket becomes writable, which is when the attempt is decided.
    fn send_first(&mut self, user: u32, attempt: Attempt) {
        let at = self.clock.now();
        let slot = &mut self.users[user as usize];
        let Some(connection) = &mut slot.connection else { return };
        match connection.send_first(&self.request, &self.poller) {
            Ok(0) => {}
            Ok(bytes) => {
                slot.doing = Doing::Exchanging(Attempt { sent: at, ..attempt });
                self.recorder.connected(attempt.acted, at);
                self.recorder.transmitted(bytes, at);
            }
            Err(fault) => self.fail(user, attempt, at, &fault),
        }
    }

    /// Sends a request, or the rest of it.
    fn transmit(&mut self, user: u32, attempt: Attempt) {
        let Some(connection) = &mut self.users[user as usize].connection else { return };
        match connection.send(&self.request, &self.poller) {
            Ok(bytes) => self.recorder.transmitted(bytes, attempt.sent),
            Err(fault) => self.fail(user, attempt, self.clock.now(), &fault),
        }
    }

    /// A socket is ready for something.
    fn handle(&mut self, ready: Ready) {
        let user = ready.token;
        match self.users[user as usize].doing {
            Doing::Nothing => self.discard(user),
            Doing::Connecting(attempt) => self.send_first(user, attempt),
            Doing::Exchanging(attempt) => {
                if ready.writable {
                    self.transmit(user, attempt);
                }
                // Sending may have failed, and then the connection that was readable is gone.
                if ready.readable && matches!(self.users[user as usize].doing, Doing::Exchanging(_)) {
                    self.receive(user, attempt, ready.ended);
                }
            }
            Doing::Lingering(_) => self.linger(user),
        }
    }

    /// Receives what there is of an answer. `ended` says that the stream had ended already, so nothing follows what a
    /// buffer holds that is not full.
    fn receive(&mut self, user: u32, attempt: Attempt, ended: bool) {
        let Some(connection) = &mut self.users[user as usize].connection else { return };
        let stream = connection.receive(&mut self.buffer);
        let at = self.clock.now();
        let answer = match stream {
            Ok(Stream::Bytes(bytes)) => {
                self.recorder.received(bytes, at);
                connection.digest(&self.buffer[..bytes], &self.request, &mut self.rules)
            }
            Ok(Stream::End) => connection.digest_end(&self.rules).map(Some),
            Ok(Stream::Nothing) => Ok(None),
            Err(fault) => Err(fault),
        };
        match answer {
            Ok(Some(answer)) => {
                let ended = match stream {
                    Ok(Stream::Bytes(bytes)) => ended && bytes < BUFFER_BYTES,
                    _ => true,
                };
                self.answered(user, attempt, at, answer, ended);
            }
            Ok(None) => {}
            Err(fault) => self.fail(user, attempt, at, &fault),
        }
    }

    /// A request has its answer: on to the next one.
    fn answered(&mut self, user: u32, attempt: Attempt, at: MonotonicNs, answer: Answer, ended: bool) {
        self.recorder.good(&attempt, at);
        self.in_flight -= 1;
        let slot = &mut self.users[user as usize];
        slot.backoff.reset();
        slot.doing = Doing::Nothing;
        if answer.keep_alive && self.policy == ConnectionPolicy::KeepAlive {
            return self.next_turn(user, at);
        }
        if !answer.keep_alive && !ended && !self.schedule.is_over(at) {
            slot.doing = Doing::Lingering(at + LINGER);
            self.next_sweep = self.next_sweep.min(at + LINGER);
            return;
        }
        self.disconnect(user);
        self.next_turn(user, self.clock.now());
    }

    /// The next request of a user that is free: at once if it is due, else in its time.
    fn next_turn(&mut self, user: u32, free_at: MonotonicNs) {
        match self.schedule.turn(free_at) {
            Turn::SendAt(planned) if planned <= free_at => self.start(user, planned),
            Turn::SendAt(planned) => self.planned.push(Reverse((planned, user))),
            Turn::Done => self.retire(user),
        }
    }

    /// Something came on a connection that is only waiting for its end.
    fn linger(&mut self, user: u32) {
        let Some(connection) = &mut self.users[user as usize].connection else { return };
        match connection.receive(&mut self.buffer) {
            Ok(Stream::Nothing) => return,
            Ok(Stream::Bytes(bytes)) => return self.recorder.unasked(bytes),
            // A reset after the answer ends the connection just as well.
            Ok(Stream::End) | Err(_) => {}
        }
        self.let_go(user);
    }

    fn let_go(&mut self, user: u32) {
        self.users[user as usize].doing = Doing::Nothing;
        self.disconnect(user);
        self.next_turn(user, self.clock.now());
    }

    /// Something came on a connection between two requests: the target has closed it, or sends what nobody has asked
    /// for. Either way it can carry no further request.
    fn discard(&mut self, user: u32) {
        if let Some(connection) = &mut self.users[user as usize].connection
            && let Ok(Stream::Bytes(bytes)) = connection.receive(&mut self.buffer)
        {
            self.recorder.unasked(bytes);
        }
        self.disconnect(user);
    }

    /// A request has failed: the connection is given up, and the next turn is planned, after a pause if the
    /// connection died without an answer. It is never taken from here, so that a target that fails at once cannot
    /// make this recurse.
    fn fail(&mut self, user: u32, attempt: Attempt, at: MonotonicNs, fault: &Fault) {
        self.recorder.failed(&attempt, at, fault);
        self.in_flight -= 1;
        let slot = &mut self.users[user as usize];
        let established = matches!(slot.doing, Doing::Exchanging(_));
        let alive = slot.connection.as_ref().is_some_and(Connection::has_answered);
        // A timeout was pause enough.
        let pause = if alive || matches!(fault, Fault::Timeout) { Duration::ZERO } else { slot.backoff.after_death() };
        slot.doing = Doing::Nothing;
        if established {
            self.disconnect(user);
        } else {
            slot.connection = None;
            self.recorder.not_connected();
        }
        self.plan_turn(user, at + pause);
    }

    /// A user will send no more requests.
    fn retire(&mut self, user: u32) {
        self.users[user as usize].doing = Doing::Nothing;
        self.disconnect(user);
    }

    /// Closes an established connection, if there is one.
    fn disconnect(&mut self, user: u32) {
        if let Some(connection) = self.users[user as usize].connection.take() {
            self.recorder.disconnected(connection.has_answered());
        }
    }

    /// Looks for deadlines that have passed. Walks over all users, but only when the earliest deadline known has come:
    /// about once in a timeout, at no cost for a request.
    fn sweep(&mut self, now: MonotonicNs) {
        if now < self.next_sweep {
            return;
        }
        // Whatever starts from now on has its deadline no earlier than this.
        let mut earliest = now + self.connect_timeout.min(self.timeout);
        for user in 0..self.users.len() as u32 {
            let Some((deadline, fault)) = self.deadline(user) else { continue };
            if deadline > now {
                earliest = earliest.min(deadline);
                continue;
            }
            match (self.users[user as usize].doing, fault) {
                (Doing::Connecting(attempt) | Doing::Exchanging(attempt), Some(fault)) => {
                    self.fail(user, attempt, now, &fault);
                }
                _ => {
                    self.recorder.not_closed_by_target();
                    self.let_go(user);
                }
            }
        }
        self.next_sweep = earliest.max(now + SWEEP_INTERVAL);
    }

    /// When what a user is doing must be over, and what it is otherwise; the end of lingering is no fault.
    fn deadline(&self, user: u32) -> Option<(MonotonicNs, Option<Fault>)> {
        match self.users[user as usize].doing {
            Doing::Nothing => None,
            Doing::Connecting(attempt) => Some((attempt.acted + self.connect_timeout, Some(Fault::ConnectTimeout))),
            Doing::Exchanging(attempt) => Some((attempt.acted + self.timeout, Some(Fault::Timeout))),
            Doing::Lingering(until) => Some((until, None)),
        }
    }

    /// Closes everything and sums up.
    fn finish(mut self, cpu: CpuTime) -> Outcome {
        for user in 0..self.users.len() as u32 {
            let slot = &mut self.users[user as usize];
            if let Doing::Connecting(attempt) | Doing::Exchanging(attempt) = slot.doing {
                self.recorder.abandoned(&attempt);
            }
            if matches!(slot.doing, Doing::Connecting(_)) {
                slot.connection = None;
                self.recorder.not_connected();
            }
            self.disconnect(user);
        }
        let span = self.schedule.span();
        Outcome { recorded: self.recorder.finish(), span, interrupted: self.interrupted, cpu }
    }
}

fn queue_failed(errno: Errno) -> LoadError {
    LoadError::EventQueue(errno.into())
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
