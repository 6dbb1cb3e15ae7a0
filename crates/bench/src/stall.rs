//! A server with a known slowness: it stalls now and then, or it takes the same time for every request and serves one at a time. What a
//! generator should report about it can be computed.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::time::Duration;

use clap::Args as ClapArgs;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tolok_bench::error::{BenchError, failed};

use crate::server::Counts;

const BODY: &str = include_str!("../../../workloads/hello/body.html");

/// Tokens of the listener and of standard input; a connection's token is its descriptor.
const LISTENER: u64 = u64::MAX;
const QUESTIONS: u64 = u64::MAX - 1;

/// Options of the server.
#[derive(Debug, ClapArgs)]
pub struct StallArgs {
    /// Length of a stall; 0 for none.
    #[arg(long, default_value_t = 0)]
    stall_ms: u64,
    /// From one stall to the next; the first begins half as long after the first request.
    #[arg(long, default_value_t = 1000)]
    period_ms: u64,
    /// Time per request, served one at a time.
    #[arg(long, default_value_t = 0)]
    service_us: u64,
}

/// The server's report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Log {
    /// Requests and connections.
    #[serde(flatten)]
    pub counts: Counts,
    /// When it read the first request, on CLOCK_MONOTONIC; 0 before.
    #[serde(default)]
    pub first_ns: u64,
    /// Start and end of each stall, on the same clock.
    #[serde(default)]
    pub stalls_ns: Vec<(u64, u64)>,
}

/// Serves until standard input ends. `listening` receives the line with the address, and `tell` the answer to each question.
pub fn run(args: &StallArgs, listening: &dyn Fn(&str), tell: &dyn Fn(&str)) -> Result<(), BenchError> {
    let mut server = Stalling::prepare(args).map_err(failed("make a server"))?;
    let address = server.listener.local_addr().map_err(failed("make a server"))?;
    listening(&format!("listening on {address}, stalling"));
    while server.turn(tell).map_err(failed("serve"))? {}
    Ok(())
}

struct Stalling {
    listener: TcpListener,
    queue: OwnedFd,
    /// Indexed by descriptor.
    connections: Vec<Option<Connection>>,
    answer: Vec<u8>,
    stall_ns: u64,
    period_ns: u64,
    service_ns: u64,
    /// Start of the next stall; known from the first request on.
    next_stall_ns: Option<u64>,
    /// When it has finished the last request.
    free_ns: u64,
    log: Log,
}

struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Stalling {
    fn prepare(args: &StallArgs) -> std::io::Result<Stalling> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&queue, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&queue, std::io::stdin(), EventData::new_u64(QUESTIONS), EventFlags::IN)?;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", BODY.len());
        Ok(Stalling {
            listener,
            queue,
            connections: Vec::new(),
            answer: (head + BODY).into_bytes(),
            stall_ns: args.stall_ms * 1_000_000,
            period_ns: args.period_ms * 1_000_000,
            service_ns: args.service_us * 1_000,
            next_stall_ns: None,
            free_ns: 0,
            log: Log::default(),
        })
    }

    /// Waits for events and handles them. Returns false at the end of standard input.
    fn turn(&mut self, tell: &dyn Fn(&str)) -> std::io::Result<bool> {
        self.stall_if_due();
        let left = self.next_stall_ns.map(|at| Duration::from_nanos(at.saturating_sub(now_ns())));
        let left = left.and_then(|left| left.try_into().ok());
        let mut events = Vec::with_capacity(256);
        match epoll::wait(&self.queue, rustix::buffer::spare_capacity(&mut events), left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        for event in &events {
            match event.data.u64() {
                LISTENER => self.accept()?,
                QUESTIONS => {
                    if !self.answer_questions(tell)? {
                        return Ok(false);
                    }
                }
                index => self.serve(index as usize),
            }
        }
        Ok(true)
    }

    fn stall_if_due(&mut self) {
        let (Some(due), from) = (self.next_stall_ns, now_ns()) else { return };
        if from < due {
            return;
        }
        std::thread::sleep(Duration::from_nanos((due + self.stall_ns).saturating_sub(from)));
        self.log.stalls_ns.push((from, now_ns()));
        self.next_stall_ns = Some(due + self.period_ns);
    }

    fn accept(&mut self) -> std::io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let index = stream.as_raw_fd() as usize;
            // Edge-triggered, connections are reported in the order in which requests arrived. Level-triggered, the kernel moves every
            // reported connection to the end, so frequent requests would overtake waiting ones.
            let flags = EventFlags::IN | EventFlags::ET;
            epoll::add(&self.queue, stream.as_fd(), EventData::new_u64(index as u64), flags)?;
            if self.connections.len() <= index {
                self.connections.resize_with(index + 1, || None);
            }
            self.connections[index] = Some(Connection { stream, input: Vec::new() });
            self.log.counts.connections += 1;
        }
    }

    fn answer_questions(&self, tell: &dyn Fn(&str)) -> std::io::Result<bool> {
        let mut questions = [0; 64];
        let length = rustix::io::read(std::io::stdin(), &mut questions)?;
        for _ in questions[..length].iter().filter(|byte| **byte == b'\n') {
            tell(&serde_json::to_string(&self.log).expect("numbers serialise"));
        }
        Ok(length > 0)
    }

    /// Answers the requests of one connection. Drops it if it is closed or does not accept its answers.
    fn serve(&mut self, index: usize) {
        let Some(mut connection) = self.connections.get_mut(index).and_then(Option::take) else { return };
        let mut buffer = [0; 16 * 1024];
        let asked = match connection.stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => connection.take(&buffer[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => return,
        };
        for _ in 0..asked {
            self.stall_if_due();
            self.work();
            if connection.stream.write_all(&self.answer).is_err() {
                return;
            }
            self.log.counts.answers += 1;
        }
        self.connections[index] = Some(connection);
    }

    /// Takes the time of a request. It starts when the previous one finished, if this request was already waiting.
    fn work(&mut self) {
        let now = now_ns();
        if self.log.first_ns == 0 {
            self.log.first_ns = now;
            self.next_stall_ns = (self.stall_ns > 0).then_some(now + self.period_ns / 2);
        }
        if self.service_ns > 0 {
            // Between two requests a busy server may have waited for an event. This is not a pause if the next request was already there.
            let waited = now.saturating_sub(self.free_ns) < self.service_ns / 10;
            self.free_ns = if waited { self.free_ns } else { now } + self.service_ns;
            while now_ns() < self.free_ns {
                std::hint::spin_loop();
            }
        }
    }
}

impl Connection {
    /// Keeps an incomplete request, and returns the number of complete ones.
    fn take(&mut self, bytes: &[u8]) -> usize {
        self.input.extend_from_slice(bytes);
        let mut complete = 0;
        while let Some(end) = self.input.windows(4).position(|four| four == b"\r\n\r\n") {
            self.input.drain(..end + 4);
            complete += 1;
        }
        complete
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // This clock starts at boot, so neither part is negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_across_pieces() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut connection = Connection { stream, input: Vec::new() };
        assert_eq!(connection.take(b"GET / HTTP/1.1\r\n\r"), 0);
        assert_eq!(connection.take(b"\nGET / HTTP/1.1\r\n\r\nGET"), 2);
        assert_eq!(connection.input, b"GET");
    }

    #[test]
    fn the_log_reads_back_and_is_counts_as_well() {
        let counts = Counts { answers: 3, refusals: 0, connections: 1 };
        let log = Log { counts, first_ns: 5, stalls_ns: vec![(10, 20)] };
        let line = serde_json::to_string(&log).unwrap();
        assert_eq!(serde_json::from_str::<Log>(&line).unwrap(), log);
        assert_eq!(serde_json::from_str::<Counts>(&line).unwrap(), counts);
    }
}
