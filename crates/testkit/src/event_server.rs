//! A single-threaded server with an event queue: thousands of connections cost it next to nothing, and it logs what
//! it did when, on `CLOCK_MONOTONIC`. It has only one answer.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::time::{ClockId, clock_gettime};

/// How often it checks whether to stop.
const STOP_LATENCY: Duration = Duration::from_millis(20);

const LISTENER: u64 = u64::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    AtOnce,
    /// At once, except that it stops entirely for `length` every `every`. The first stall is `first` after the first
    /// request.
    Stalls {
        /// From the first request to the first stall.
        first: Duration,
        /// From the start of one stall to that of the next.
        every: Duration,
        length: Duration,
    },
    /// One request after the other, in order of arrival, each taking this long.
    OneAtATime {
        service: Duration,
    },
}

/// What a server did, in nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// Actual start and end of each stall.
    pub stalls: Vec<(u64, u64)>,
    /// When each answer was written, in order.
    pub answers: Vec<u64>,
    pub connections: usize,
    /// The most connections that were open at once.
    pub most_open: usize,
}

/// The server. Dropping it stops it.
pub struct EventServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Log>>>,
}

impl EventServer {
    /// Starts a server on 127.0.0.1 and a free port that answers every request with `200 OK` and this body.
    pub fn start(body: &str, pattern: Pattern) -> EventServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
        // The standard library requests a backlog of 128 connections, which thousands at once overflow.
        rustix::net::listen(&listener, 16_384).expect("listen(2) may be repeated");
        let address = listener.local_addr().expect("a bound socket has an address");
        let stop = Arc::new(AtomicBool::new(false));
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let thread = thread::spawn({
            let stop = Arc::clone(&stop);
            move || Loop::new(listener, answer.into_bytes(), pattern)?.run(&stop)
        });
        EventServer { address, stop, thread: Some(thread) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Stops it and returns its log.
    pub fn finish(mut self) -> Log {
        self.end().expect("it was not stopped before").expect("an event loop on the loopback does not fail")
    }

    fn end(&mut self) -> Option<io::Result<Log>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(|thread| thread.join().expect("the event loop does not panic"))
    }
}

impl Drop for EventServer {
    fn drop(&mut self) {
        drop(self.end());
    }
}

struct Client {
    stream: TcpStream,
    /// How many bytes of the end of a head, `\r\n\r\n`, have arrived.
    ended: usize,
}

struct Loop {
    queue: OwnedFd,
    listener: TcpListener,
    clients: HashMap<u64, Client>,
    next: u64,
    answer: Vec<u8>,
    pattern: Pattern,
    /// When the next stall begins, or `None` before the first request.
    stall_ns: Option<u64>,
    /// Clients that wait for an answer, if they are served one at a time.
    waiting: VecDeque<u64>,
    /// When the first of them gets its answer.
    done_ns: u64,
    log: Log,
}

impl Loop {
    fn new(listener: TcpListener, answer: Vec<u8>, pattern: Pattern) -> io::Result<Loop> {
        listener.set_nonblocking(true)?;
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&queue, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        let (clients, waiting, log) = (HashMap::new(), VecDeque::new(), Log::default());
        Ok(Loop { queue, listener, clients, next: 0, answer, pattern, stall_ns: None, waiting, done_ns: 0, log })
    }

    fn run(mut self, stop: &AtomicBool) -> io::Result<Log> {
        let mut events = [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 256];
        while !stop.load(Ordering::Relaxed) {
            let ready = epoll::wait(&self.queue, &mut events, Some(&self.patience()));
            let count = match ready {
                Err(rustix::io::Errno::INTR) => 0,
                ready => ready?,
            };
            self.stall();
            for event in &events[..count] {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    client => self.read(client),
                }
            }
            self.serve_waiting();
        }
        Ok(self.log)
    }

    /// How long to wait for the next event.
    fn patience(&self) -> Timespec {
        let next_ns = match self.waiting.is_empty() {
            false => Some(self.done_ns),
            true => self.stall_ns,
        };
        let left_ns = next_ns.map_or(u64::MAX, |next| next.saturating_sub(now_ns()));
        let left_ns = left_ns.min(STOP_LATENCY.as_nanos() as u64);
        Timespec { tv_sec: 0, tv_nsec: left_ns as i64 }
    }

    /// Stops for a while if a stall is due.
    fn stall(&mut self) {
        let Pattern::Stalls { every, length, .. } = self.pattern else { return };
        let begun_ns = now_ns();
        let Some(planned_ns) = self.stall_ns.filter(|planned| *planned <= begun_ns) else { return };
        thread::sleep(Duration::from_nanos((planned_ns + length.as_nanos() as u64).saturating_sub(begun_ns)));
        self.log.stalls.push((begun_ns, now_ns()));
        self.stall_ns = Some(planned_ns + every.as_nanos() as u64);
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            epoll::add(&self.queue, &stream, epoll::EventData::new_u64(self.next), epoll::EventFlags::IN)?;
            self.clients.insert(self.next, Client { stream, ended: 0 });
            self.next += 1;
            self.log.connections += 1;
            self.log.most_open = self.log.most_open.max(self.clients.len());
        }
    }

    /// Reads a client's data and answers each complete request.
    fn read(&mut self, number: u64) {
        let mut buffer = [0; 4096];
        loop {
            let Some(client) = self.clients.get_mut(&number) else { return };
            match client.stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The end of the stream, or a reset, which also ends it.
                Ok(0) | Err(_) => return drop(self.clients.remove(&number)),
                Ok(bytes) => {
                    for _ in 0..client.count_heads(&buffer[..bytes]) {
                        self.requested(number);
                    }
                }
            }
        }
    }

    fn requested(&mut self, number: u64) {
        match self.pattern {
            Pattern::AtOnce => self.answer(number),
            Pattern::Stalls { first, .. } => {
                self.stall_ns.get_or_insert_with(|| now_ns() + first.as_nanos() as u64);
                self.answer(number);
            }
            Pattern::OneAtATime { service } => {
                if self.waiting.is_empty() {
                    self.done_ns = now_ns() + service.as_nanos() as u64;
                }
                self.waiting.push_back(number);
            }
        }
    }

    /// Answers the client that is being served if its time is over, and begins with the next.
    fn serve_waiting(&mut self) {
        let Pattern::OneAtATime { service } = self.pattern else { return };
        while now_ns() >= self.done_ns
            && let Some(number) = self.waiting.pop_front()
        {
            self.answer(number);
            self.done_ns += service.as_nanos() as u64;
        }
    }

    fn answer(&mut self, number: u64) {
        let Some(client) = self.clients.get_mut(&number) else { return };
        // The answer is far smaller than the socket's buffer. A client that is gone is detected when reading.
        let _ = client.stream.write_all(&self.answer);
        self.log.answers.push(now_ns());
    }
}

impl Client {
    /// Counts the heads that these bytes complete. What follows a head counts as the next one.
    fn count_heads(&mut self, bytes: &[u8]) -> usize {
        const END: [u8; 4] = *b"\r\n\r\n";
        let mut heads = 0;
        for byte in bytes {
            self.ended = match self.ended {
                at if *byte == END[at] => at + 1,
                _ => usize::from(*byte == END[0]),
            };
            if self.ended == END.len() {
                (self.ended, heads) = (0, heads + 1);
            }
        }
        heads
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &EventServer, times: usize) -> Vec<u64> {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let mut answer = [0; 40];
        (0..times)
            .map(|_| {
                let before = now_ns();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
                stream.read_exact(&mut answer).unwrap();
                assert!(answer.ends_with(b"\r\n\r\nhi"), "{answer:?}");
                now_ns() - before
            })
            .collect()
    }

    #[test]
    fn answers_come_at_once_and_are_in_the_log() {
        let server = EventServer::start("hi", Pattern::AtOnce);
        ask(&server, 3);
        ask(&server, 2);
        let log = server.finish();
        assert_eq!((log.answers.len(), log.connections, log.stalls.len()), (5, 2, 0));
        assert!(log.answers.is_sorted());
    }

    #[test]
    fn a_stall_is_as_long_as_its_log_says() {
        let (first, every, length) = (Duration::ZERO, Duration::from_secs(3600), Duration::from_millis(50));
        let server = EventServer::start("hi", Pattern::Stalls { first, every, length });
        // The first request sets the time of the stall, which comes between later ones. Even if the server begins it
        // late, it ends on time.
        let asked_ns = now_ns();
        ask(&server, 500);
        let log = server.finish();
        assert_eq!(log.stalls.len(), 1);
        let (begin, end) = log.stalls[0];
        assert!(end - asked_ns >= length.as_nanos() as u64, "{log:?}");
        assert!(log.answers.iter().all(|answered| *answered <= begin || *answered >= end), "{log:?}");
        assert!(log.answers[0] <= begin && log.answers[log.answers.len() - 1] >= end, "{log:?}");
    }

    #[test]
    fn one_at_a_time_takes_its_time_for_each() {
        let server = EventServer::start("hi", Pattern::OneAtATime { service: Duration::from_millis(20) });
        assert!(ask(&server, 3).iter().all(|took_ns| *took_ns >= 20_000_000));
        assert_eq!(server.finish().answers.len(), 3);
    }
}
