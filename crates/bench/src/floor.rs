//! The floor: the minimal generator. It sends, receives, and waits with epoll. It does not look at answers, keeps no times, and only knows
//! the length of an answer. So its cost is that of the system calls.

use std::io::Read as _;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, ipproto, recv, send, socket_with,
};
use tolok_bench::error::{BenchError, failed};

use crate::generator::Claim;

/// Nearly as large as the largest answer: fewer receives cost less, and a larger buffer exceeds the cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// Options of the floor.
#[derive(Debug, ClapArgs)]
pub struct FloorArgs {
    /// http://ADDRESS:PORT/PATH; no host names.
    url: String,
    /// Connections at a time.
    #[arg(long)]
    connections: usize,
    /// Duration.
    #[arg(long)]
    milliseconds: u64,
    /// Use a new connection for each request.
    #[arg(long)]
    close: bool,
    /// Let the kernel discard the bytes instead of copying them.
    #[arg(long)]
    discard: bool,
}

/// One run.
struct Floor {
    address: SocketAddr,
    request: Vec<u8>,
    close: bool,
    /// Length of every answer, including its head.
    answer_bytes: usize,
    flags: RecvFlags,
    buffer: Vec<u8>,
    queue: OwnedFd,
    connections: Vec<Connection>,
    claim: Claim,
}

struct Connection {
    socket: OwnedFd,
    received: usize,
}

/// Generates the load and returns the line to print.
pub fn run(args: &FloorArgs) -> Result<String, BenchError> {
    let mut floor = Floor::prepare(args)?;
    let end = Instant::now() + Duration::from_millis(args.milliseconds);
    floor.open_all(args.connections)?;
    let mut events = Vec::with_capacity(256);
    // Reads the clock once for many answers.
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        events.clear();
        let left = left.try_into().ok();
        match epoll::wait(&floor.queue, rustix::buffer::spare_capacity(&mut events), left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(failed("wait")(errno)),
        }
        for event in &events {
            floor.serve(event.data.u64() as usize)?;
        }
    }
    Ok(serde_json::to_string(&floor.claim).expect("two numbers serialise"))
}

impl Floor {
    fn prepare(args: &FloorArgs) -> Result<Floor, BenchError> {
        let unreadable = || failed("read the URL")(Errno::INVAL);
        let rest = args.url.strip_prefix("http://").ok_or_else(unreadable)?;
        let (host, path) = rest.split_once('/').ok_or_else(unreadable)?;
        let address: SocketAddr = host.parse().map_err(|_| unreadable())?;
        let connection = if args.close { "Connection: close\r\n" } else { "" };
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n{connection}\r\n").into_bytes();
        let answer_bytes = length_of_an_answer(address, &request).map_err(failed("ask for the first answer"))?;
        Ok(Floor {
            address,
            request,
            close: args.close,
            answer_bytes,
            flags: if args.discard { RecvFlags::TRUNC } else { RecvFlags::empty() } | RecvFlags::DONTWAIT,
            // Discarding writes nothing to it, so its size is only a limit.
            buffer: vec![0; if args.discard { BUFFER_BYTES * 4 } else { BUFFER_BYTES }],
            queue: epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed("make a queue"))?,
            connections: Vec::with_capacity(args.connections),
            // The first answer counts as well.
            claim: Claim { requests: 1, failed: 0 },
        })
    }

    fn open_all(&mut self, count: usize) -> Result<(), BenchError> {
        for index in 0..count {
            let socket = self.open(index)?;
            self.connections.push(Connection { socket, received: 0 });
        }
        Ok(())
    }

    /// Opens a connection and sends its first request. Connecting on the loopback does not block.
    fn open(&self, index: usize) -> Result<OwnedFd, BenchError> {
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, Some(ipproto::TCP));
        let socket = socket.map_err(failed("make a socket"))?;
        connect(&socket, &self.address).map_err(failed("connect"))?;
        epoll::add(&self.queue, &socket, EventData::new_u64(index as u64), EventFlags::IN).map_err(failed("watch"))?;
        send(&socket, &self.request, SendFlags::NOSIGNAL).map_err(failed("send"))?;
        Ok(socket)
    }

    /// Receives available bytes, and sends the next request once an answer is complete.
    fn serve(&mut self, index: usize) -> Result<(), BenchError> {
        loop {
            let connection = &mut self.connections[index];
            let bytes = match recv(&connection.socket, &mut self.buffer[..], self.flags) {
                Ok((_, bytes)) => bytes,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
                Err(errno) => return Err(failed("receive")(errno)),
            };
            connection.received += bytes;
            let complete = connection.received == self.answer_bytes;
            if bytes == 0 {
                self.claim.requests += u64::from(complete);
                self.claim.failed += u64::from(!complete || !self.close);
                let socket = self.open(index)?;
                self.connections[index] = Connection { socket, received: 0 };
                return Ok(());
            }
            if complete && !self.close {
                self.claim.requests += 1;
                connection.received = 0;
                send(&connection.socket, &self.request, SendFlags::NOSIGNAL).map_err(failed("send"))?;
                return Ok(());
            }
            if bytes < self.buffer.len() {
                return Ok(());
            }
        }
    }
}

/// Sends one request and closes the sending side, so the server closes after its answer.
fn length_of_an_answer(address: SocketAddr, request: &[u8]) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    std::io::Write::write_all(&mut stream, request)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)
}
