//! The loop: accept, read, answer. Uses level-triggered epoll. Sockets are watched for reading, or for writing while an answer does not fit
//! into the socket's buffer.

use std::collections::VecDeque;
use std::fs::File;
use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::epoll;
use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, accept_with, bind, getsockname,
    ipproto, listen as start_listening, recv, sendmsg, socket_with, sockopt,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::answers::{After, Answers, Reply};
use crate::counts::Counts;
use crate::planted::{Planted, Planter};
use crate::request::{self, Front, HEAD_LIMIT_BYTES};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// Most parts queued for a connection before its next requests are read.
const PIPELINE_LIMIT: usize = 64;

/// Token of the listener; a connection's token is its descriptor.
const LISTENER: u64 = u64::MAX;

/// A listening socket.
pub struct Listener {
    socket: OwnedFd,
    pub port: u16,
}

/// One listener per thread on the same port: the kernel distributes connections over them, and threads share nothing.
pub fn listen(host: Ipv4Addr, mut port: u16, threads: usize) -> Result<Vec<Listener>, Errno> {
    let mut listeners = Vec::with_capacity(threads);
    for _ in 0..threads {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if threads > 1 {
            sockopt::set_socket_reuseport(&socket, true)?;
        }
        // Accepted sockets inherit this, which saves a system call per connection.
        sockopt::set_tcp_nodelay(&socket, true)?;
        bind(&socket, &SocketAddr::from((host, port)))?;
        start_listening(&socket, BACKLOG)?;
        if let Ok(SocketAddr::V4(address)) = SocketAddr::try_from(getsockname(&socket)?) {
            port = address.port();
        }
        listeners.push(Listener { socket, port });
    }
    Ok(listeners)
}

/// Raises the limit on open files as far as possible. Serves anyway if that fails.
pub fn allow_many_connections() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// A connection.
struct Connection<'answers> {
    socket: OwnedFd,
    /// The received part of a request, while it is incomplete or waits until it can be answered.
    input: Vec<u8>,
    /// Parts not sent yet.
    output: VecDeque<Part<'answers>>,
    /// Answers with parts in `output`.
    queued: u64,
    counts: &'answers Counts,
    closing: bool,
    watches_writing: bool,
}

/// An answer, or one of two parts of an answer whose body is a file.
enum Part<'answers> {
    Bytes(&'answers [u8]),
    /// All connections share the file, so each stores the range left to send.
    File(&'answers File, Range<u64>),
}

/// What happens to a connection after it was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Gone,
}

/// Serves the connections of one listener, until the event queue fails.
pub fn run(listener: Listener, answers: &Answers, counts: &Counts, planted: Planted) -> Result<(), Errno> {
    let mut planter = Planter::new(planted);
    let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&queue, &listener.socket, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    // A connection's index is its descriptor, which the kernel keeps small and dense.
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut accepting = true;
    let mut events: Vec<epoll::Event> = Vec::with_capacity(256);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        events.clear();
        match epoll::wait(&queue, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        for event in &events {
            if event.data.u64() == LISTENER {
                accepting = accept_all(&listener, &queue, &mut connections, counts)?;
                continue;
            }
            let slot = &mut connections[event.data.u64() as usize];
            let Some(connection) = slot else { continue };
            let fate = serve(connection, event.flags, &mut buffer, answers, &queue);
            planter.work(counts);
            if fate == Fate::Gone {
                *slot = None;
                if !accepting {
                    watch_listener(&queue, &listener, true)?;
                    accepting = true;
                }
            }
        }
        planter.settle();
    }
}

/// Accepts waiting connections. Returns false if the process may not open more files. The listener is then ignored until a connection ends,
/// because a level-triggered queue would report it forever.
fn accept_all<'answers>(
    listener: &Listener,
    queue: &OwnedFd,
    connections: &mut Vec<Option<Connection<'answers>>>,
    counts: &'answers Counts,
) -> Result<bool, Errno> {
    loop {
        let socket = match accept_with(&listener.socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => socket,
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
                if connections.iter().any(Option::is_some) =>
            {
                watch_listener(queue, listener, false)?;
                return Ok(false);
            }
            // No connection is waiting, or the waiting one has gone.
            Err(_) => return Ok(true),
        };
        let index = socket.as_raw_fd() as usize;
        epoll::add(queue, &socket, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
        if connections.len() <= index {
            connections.resize_with(index + 1, || None);
        }
        counts.connected();
        connections[index] = Some(Connection::new(socket, counts));
    }
}

fn watch_listener(queue: &OwnedFd, listener: &Listener, on: bool) -> Result<(), Errno> {
    let flags = if on { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
    epoll::modify(queue, &listener.socket, epoll::EventData::new_u64(LISTENER), flags)
}

/// Handles the events of a connection.
fn serve<'answers>(
    connection: &mut Connection<'answers>,
    ready: epoll::EventFlags,
    buffer: &mut [u8],
    answers: &'answers Answers,
    queue: &OwnedFd,
) -> Fate {
    if !connection.watches_writing {
        match recv(&connection.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => return Fate::Gone,
            Ok((bytes, _)) => connection.take(&buffer[..bytes], answers),
            Err(Errno::AGAIN | Errno::INTR) => return Fate::Kept,
            Err(_) => return Fate::Gone,
        }
    } else if ready.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP) {
        return Fate::Gone;
    }
    loop {
        match connection.flush(queue) {
            Ok(true) if connection.closing => return Fate::Gone,
            // Requests may have been left unparsed because too many answers were queued.
            Ok(true) if !connection.input.is_empty() => {
                let input = std::mem::take(&mut connection.input);
                connection.take(&input, answers);
                if connection.output.is_empty() {
                    return Fate::Kept;
                }
            }
            Ok(_) => return Fate::Kept,
            Err(_) => return Fate::Gone,
        }
    }
}

impl<'answers> Connection<'answers> {
    fn new(socket: OwnedFd, counts: &'answers Counts) -> Self {
        let (input, output) = (Vec::new(), VecDeque::new());
        Self { socket, input, output, queued: 0, counts, closing: false, watches_writing: false }
    }

    /// Processes input: queues an answer for each complete request and keeps the rest.
    fn take(&mut self, bytes: &[u8], answers: &'answers Answers) {
        if self.input.is_empty() {
            let used = self.answer_all(bytes, answers);
            if !self.closing {
                self.input.extend_from_slice(&bytes[used..]);
            }
        } else {
            let mut input = std::mem::take(&mut self.input);
            input.extend_from_slice(bytes);
            let used = self.answer_all(&input, answers);
            input.drain(..used);
            self.input = input;
        }
    }

    /// Queues answers to the requests at the front of the input. Returns the length of those requests.
    fn answer_all(&mut self, input: &[u8], answers: &'answers Answers) -> usize {
        let mut used = 0;
        while used < input.len() && self.output.len() < PIPELINE_LIMIT && !self.closing {
            match request::read(&input[used..]) {
                Front::Request(request) => {
                    self.push(answers.to(request.method, request.path, request.after));
                    self.closing = request.after == After::Close;
                    used += request.length;
                }
                Front::Incomplete if input.len() - used <= HEAD_LIMIT_BYTES => break,
                Front::Incomplete => self.refuse(answers.too_large()),
                Front::Bad => self.refuse(answers.bad_request()),
            }
        }
        used
    }

    fn refuse(&mut self, reply: Reply<'answers>) {
        self.push(reply);
        self.closing = true;
    }

    fn push(&mut self, reply: Reply<'answers>) {
        self.queued += 1;
        if reply.refuses {
            self.counts.refused();
        }
        self.output.push_back(Part::Bytes(reply.bytes));
        if let Some(body) = reply.file {
            self.output.push_back(Part::File(&body.file, 0..body.length));
        }
    }

    /// Sends queued parts while the socket has room. Returns whether all were sent.
    fn flush(&mut self, queue: &OwnedFd) -> Result<bool, Errno> {
        while !self.output.is_empty() {
            match self.send() {
                Ok(sent) => self.sent(sent),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => return Err(errno),
            }
        }
        let unfinished = !self.output.is_empty();
        if !unfinished {
            self.counts.answered(std::mem::take(&mut self.queued));
        }
        if unfinished != self.watches_writing {
            // While an answer waits for room, its connection is not read: a client that only sends would fill the memory.
            let flags = if unfinished { epoll::EventFlags::OUT } else { epoll::EventFlags::IN };
            let index = self.socket.as_raw_fd() as u64;
            epoll::modify(queue, self.socket.as_fd(), epoll::EventData::new_u64(index), flags)?;
            self.watches_writing = unfinished;
        }
        Ok(!unfinished)
    }

    /// Sends the next file, or all bytes up to the next file. Returns how much was sent.
    fn send(&self) -> Result<usize, Errno> {
        if let Some(next @ Part::File(file, rest)) = self.output.front() {
            let mut from = rest.start;
            // sendfile(2) has no flag against SIGPIPE, but Rust's runtime ignores that signal.
            return match sendfile(&self.socket, file, Some(&mut from), next.length())? {
                // The file was truncated: the answer cannot be completed.
                0 => Err(Errno::IO),
                sent => Ok(sent),
            };
        }
        let bytes = || self.output.iter().map_while(Part::bytes);
        let count = bytes().count();
        let mut flags = SendFlags::NOSIGNAL;
        if count < self.output.len() {
            // The head shares a segment with the file's first bytes.
            flags |= SendFlags::MORE;
        }
        match self.output.front() {
            Some(Part::Bytes(only)) if count == 1 => rustix::net::send(&self.socket, only, flags),
            _ => {
                let slices: Vec<IoSlice> = bytes().map(IoSlice::new).collect();
                sendmsg(&self.socket, &slices, &mut SendAncillaryBuffer::default(), flags)
            }
        }
    }

    /// Removes what was sent.
    fn sent(&mut self, mut sent: usize) {
        while let Some(first) = self.output.pop_front() {
            let length = first.length();
            if sent < length {
                self.output.push_front(first.after(sent));
                return;
            }
            sent -= length;
        }
    }
}

impl<'answers> Part<'answers> {
    fn bytes(&self) -> Option<&'answers [u8]> {
        match self {
            Part::Bytes(bytes) => Some(bytes),
            Part::File(..) => None,
        }
    }

    fn length(&self) -> usize {
        match self {
            Part::Bytes(bytes) => bytes.len(),
            Part::File(_, rest) => (rest.end - rest.start) as usize,
        }
    }

    /// The rest after `sent` bytes.
    fn after(self, sent: usize) -> Part<'answers> {
        match self {
            Part::Bytes(bytes) => Part::Bytes(&bytes[sent..]),
            Part::File(file, rest) => Part::File(file, rest.start + sent as u64..rest.end),
        }
    }
}
