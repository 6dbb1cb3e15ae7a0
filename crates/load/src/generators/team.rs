//! The generators of a run, from the run's side.

use std::io::{self, BufReader};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::clocks::{ClockOffset, RoundTrip};
use super::protocol::{Order, Told, Voice, Work, next};
use super::{BEAT, Generator, LOOK, SILENCE_LIMIT};
use crate::clock::{Clock, MonotonicNs, SystemClock};
use crate::engine::{Border, Outcome};
use crate::error::LoadError;
use crate::options::{Executor, Options};
use crate::record::GeneratorNode;
use crate::recording::{Recorded, Row};
use crate::schedule::{Share, Span};
use crate::threads::Message;

/// Time requests per clock measurement.
const ROUND_TRIPS: usize = 16;

/// The message of a generator, and when it arrived.
type Heard = (usize, MonotonicNs, io::Result<Told>);

pub(super) struct Team {
    peers: Vec<Peer>,
    heard: Receiver<Heard>,
    /// Threads per generator.
    threads: u32,
    last_beat: Instant,
}

struct Peer {
    generator: Generator,
    socket: TcpStream,
    voice: Voice,
    clock: ClockOffset,
}

impl Team {
    /// Connects to all of them.
    pub fn gather(generators: &[Generator], token: &str) -> Result<Team, LoadError> {
        let (sender, heard) = channel();
        let connect = |(number, generator): (usize, &Generator)| {
            let peer = Peer::connect(generator, token, (number, sender.clone()));
            peer.map_err(|error| lost(generator, &error))
        };
        let peers = generators.iter().enumerate().map(connect).collect::<Result<_, _>>()?;
        Ok(Team { peers, heard, threads: 1, last_beat: Instant::now() })
    }

    /// The total number of threads.
    pub fn threads(&self) -> usize {
        self.peers.len() * self.threads as usize
    }

    /// Distributes the work, and waits until every generator reaches the target. Returns the congestion control of their connections.
    pub fn prepare(&mut self, options: &Options) -> Result<Option<String>, LoadError> {
        self.threads = options.generator.threads;
        let all = self.threads() as u32;
        for (peer, number) in self.peers.iter().zip(0..) {
            let first = Share { thread: number * self.threads, threads: all };
            let iterations = iterations(options, Share { thread: number, threads: self.peers.len() as u32 });
            peer.voice.say(&Order::Work(Box::new(Work { options: options.clone(), first, iterations })));
        }
        let (mut ready, mut found) = (0, None);
        while ready < self.peers.len() {
            if let Some((_, _, Told::Ready { congestion_control })) = self.next(LOOK)? {
                ready += 1;
                found = congestion_control;
            }
        }
        Ok(found)
    }

    /// Asks every generator for its time, one after another.
    pub fn exchange_clocks(&mut self) -> Result<Vec<ClockOffset>, LoadError> {
        for number in 0..self.peers.len() {
            let mut trips = Vec::new();
            while trips.len() < ROUND_TRIPS {
                let asked = SystemClock.now();
                self.peers[number].voice.say(&Order::Ping);
                trips.push(self.pong(number, asked)?);
            }
            self.peers[number].clock = ClockOffset::of(&trips).unwrap_or_default();
        }
        Ok(self.peers.iter().map(|peer| peer.clock).collect())
    }

    fn pong(&mut self, of: usize, asked: MonotonicNs) -> Result<RoundTrip, LoadError> {
        loop {
            match self.next(LOOK)? {
                Some((number, answered, Told::Pong { at })) if number == of => {
                    return Ok(RoundTrip { asked, there: at, answered });
                }
                _ => {}
            }
        }
    }

    /// Sends an order to all of them, each on its own clock.
    pub fn order(&self, order: impl Fn(ClockOffset) -> Order) {
        self.peers.iter().for_each(|peer| peer.voice.say(&order(peer.clock)));
    }

    /// The next message of a thread, on our clock, or `None` if none comes within `patience`.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<(u32, Message)>, LoadError> {
        let Some((number, _, told)) = self.next(patience)? else { return Ok(None) };
        let (clock, first) = (self.peers[number].clock, number as u32 * self.threads);
        Ok(match told {
            Told::Row { thread, row } => Some((first + thread, Message::Row(Box::new(row.read_here(clock))))),
            Told::Border { thread, border } => Some((first + thread, Message::Border(border.read_here(clock)))),
            Told::Ended { thread, outcome } => {
                let Outcome { recorded, interrupted, usage } = *outcome;
                let outcome = Outcome { recorded: recorded.read_here(clock), interrupted, usage };
                Some((first + thread, Message::Ended(Ok(Box::new(outcome)))))
            }
            Told::Beat | Told::Ready { .. } | Told::Failed(_) | Told::Pong { .. } => None,
        })
    }

    /// The generators, as a record describes them.
    pub fn nodes(&self, before: &[ClockOffset], after: &[ClockOffset]) -> Vec<GeneratorNode> {
        let clocks = before.iter().zip(after);
        let node = |(peer, (clock, clock_after)): (&Peer, (&ClockOffset, &ClockOffset))| GeneratorNode {
            name: peer.generator.name.clone(),
            clock: *clock,
            clock_after: *clock_after,
        };
        self.peers.iter().zip(clocks).map(node).collect()
    }

    /// The next message of any generator. Fails if one is lost or cannot do its work.
    fn next(&mut self, patience: Duration) -> Result<Option<(usize, MonotonicNs, Told)>, LoadError> {
        if self.last_beat.elapsed() >= BEAT {
            self.last_beat = Instant::now();
            self.order(|_| Order::Beat);
        }
        // This side keeps no sender, but the channel cannot end unnoticed: each reader's last message is the reason why it ended.
        let Ok((number, at, told)) = self.heard.recv_timeout(patience) else { return Ok(None) };
        let generator = &self.peers[number].generator;
        match told {
            Ok(Told::Failed(reason)) => Err(LoadError::OnGenerator { generator: generator.name.clone(), reason }),
            Ok(told) => Ok(Some((number, at, told))),
            Err(error) => Err(lost(generator, &error)),
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        // Closing the connections ends generators and readers.
        self.peers.iter().for_each(|peer| drop(peer.socket.shutdown(Shutdown::Both)));
    }
}

impl Peer {
    fn connect(generator: &Generator, token: &str, (number, sender): (usize, Sender<Heard>)) -> io::Result<Peer> {
        let socket = TcpStream::connect_timeout(&generator.address, SILENCE_LIMIT)?;
        socket.set_read_timeout(Some(SILENCE_LIMIT))?;
        io::Write::write_all(&mut &socket, format!("{token}\n").as_bytes())?;
        let (voice, mut words) = (Voice::of(&socket)?, BufReader::new(socket.try_clone()?));
        Builder::new().spawn(move || {
            loop {
                let told = next(&mut words);
                let (at, is_last) = (SystemClock.now(), told.is_err());
                if sender.send((number, at, told)).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Peer { generator: generator.clone(), socket, voice, clock: ClockOffset::default() })
    }
}

fn lost(generator: &Generator, error: &io::Error) -> LoadError {
    let reason = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("it was silent for {} s", SILENCE_LIMIT.as_secs())
        }
        io::ErrorKind::UnexpectedEof => "its process ended".to_owned(),
        _ => error.to_string(),
    };
    LoadError::GeneratorLost { generator: generator.name.clone(), reason }
}

/// This generator's part of the iterations that all threads share.
fn iterations(options: &Options, share: Share) -> u64 {
    let Executor::SharedIterations { iterations, .. } = options.executor else { return 0 };
    let (number, of) = (u64::from(share.thread), u64::from(share.threads));
    iterations / of + u64::from(number < iterations % of)
}

impl Row {
    /// Converts a row of another machine to our clock.
    pub(crate) fn read_here(self, clock: ClockOffset) -> Row {
        Row { start: clock.here(self.start), end: clock.here(self.end), ..self }
    }
}

impl Border {
    fn read_here(self, clock: ClockOffset) -> Border {
        match self {
            Border::WindowStarted { planned, reached } => {
                Border::WindowStarted { planned: clock.here(planned), reached: clock.here(reached) }
            }
            Border::WindowEnded(at) => Border::WindowEnded(clock.here(at)),
        }
    }
}

impl Recorded {
    /// Converts the records of another machine to our clock.
    pub(crate) fn read_here(self, clock: ClockOffset) -> Recorded {
        let Span { start, window_start, window_end } = self.span;
        Recorded {
            span: Span {
                start: clock.here(start),
                window_start: clock.here(window_start),
                window_end: clock.here(window_end),
            },
            last_good: self.last_good.map(|at| clock.here(at)),
            drain_row: self.drain_row.read_here(clock),
            ..self
        }
    }
}
