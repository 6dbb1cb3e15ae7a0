//! One request and one complete response on a blocking socket, to check whether a server is ready and what it answers.
//!
//! It has a time limit but measures no times; that is the engine's job.

mod channel;
mod http2;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use self::channel::Channel;
pub use crate::engine::Rehearsal;
use crate::http::answer::AnswerReader;
use crate::http::rules::{Documents, Rules};
use crate::http::whole;
use crate::options::Request;

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, with names in lowercase.
    pub headers: Vec<(String, String)>,
    /// The body, without the chunked coding.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum ProbeError {
    /// No server listens, or the connection broke.
    #[error("{0}")]
    Connection(#[from] io::Error),
    /// The server closed the connection before the answer was complete. Servers do this while they start or stop.
    #[error("the connection was closed after {received} bytes, before the answer was whole")]
    Closed { received: usize },
    #[error("no complete response within {} s", (patience.as_secs_f64() * 10.0).round() / 10.0)]
    Silent { patience: Duration },
    #[error("the answer is not HTTP/1.1: {0}")]
    Malformed(&'static str),
    #[error("the server does not choose HTTP/2 in TLS's handshake (h2 by ALPN)")]
    NoHttp2,
}

/// No answer of a workload is nearly this large. Keeps an endless answer from filling the memory.
const LARGEST_ANSWER_BYTES: usize = 256 << 20;
/// How often to check whether the caller still wants the answer.
const LOOK: Duration = Duration::from_millis(100);

/// The protocol on a connection; by default HTTP/1.1 without TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Speech {
    /// Accepts any certificate.
    pub tls: bool,
    /// With TLS, only if the server selects it; without, by prior knowledge.
    pub http2: bool,
}

/// A server to ask, and how to connect to it.
#[derive(Clone, Copy)]
pub struct ProbeTarget<'a> {
    /// Where it listens.
    pub address: SocketAddr,
    /// Connects within the given time. The server may be in a network that the caller cannot reach directly.
    pub connect: &'a dyn Fn(SocketAddr, Duration) -> io::Result<TcpStream>,
    /// The protocol it speaks.
    pub speech: Speech,
}

impl ProbeTarget<'static> {
    /// A server reachable from the network of this process.
    pub fn directly(address: SocketAddr) -> Self {
        Self {
            address,
            connect: &|address, patience| TcpStream::connect_timeout(&address, patience),
            speech: Speech::default(),
        }
    }
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, with the query if there is one.
    pub path: &'a str,
    /// The body and its type, if there is a body. An empty type adds no header.
    pub body: Option<(&'a str, &'a [u8])>,
    /// Whether the answer may be compressed with gzip.
    pub gzip: bool,
    /// Other headers.
    pub headers: &'a [(String, String)],
}

impl<'a> Question<'a> {
    /// A request without a body.
    pub fn plain(method: &'a str, path: &'a str) -> Self {
        Self { method, path, body: None, gzip: false, headers: &[] }
    }

    /// A request of the load. The type of its body, if any, is among its headers.
    pub fn of(request: &'a Request) -> Self {
        let Request { method, path, headers, body, .. } = request;
        let body = (!body.is_empty()).then_some(("", body.as_slice()));
        Self { body, headers, ..Self::plain(method.as_str(), path) }
    }

    fn bytes(&self, host: &str) -> Vec<u8> {
        self.bytes_with(host, "close")
    }

    fn bytes_with(&self, host: &str, connection: &str) -> Vec<u8> {
        let Self { method, path, body, gzip, headers } = self;
        let accepted = if *gzip { "Accept-Encoding: gzip\r\n" } else { "" };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: {connection}\r\n{accepted}");
        let (more, body) = body.map_or((String::new(), [].as_slice()), |(content_type, body)| {
            let length = format!("Content-Length: {}\r\n", body.len());
            let is_typed = !content_type.is_empty();
            (if is_typed { format!("Content-Type: {content_type}\r\n{length}") } else { length }, body)
        });
        let others: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        [head.as_bytes(), more.as_bytes(), others.as_bytes(), b"\r\n", body].concat()
    }
}

/// Asks once, on a connection that may close after the answer.
pub fn ask(server: ProbeTarget<'_>, question: Question<'_>, patience: Duration) -> Result<Answer, ProbeError> {
    ask_while(server, question, patience, &|| true)
}

/// Sends `count` requests at once on one connection and waits for the answers (pipelining). Returns the number of correct answers before a
/// wrong or missing one; `None` if all are correct.
pub fn ask_in_line(
    server: ProbeTarget<'_>,
    request: &Request,
    count: u32,
    patience: Duration,
) -> Result<Option<u32>, ProbeError> {
    let deadline = Instant::now() + patience;
    let stream = (server.connect)(server.address, patience)?;
    stream.set_write_timeout(Some(patience))?;
    let mut stream =
        Channel::open(stream, server, &|| Instant::now() >= deadline)?.ok_or(ProbeError::Silent { patience })?;
    let (host, question) = (server.address.to_string(), Question::of(request));
    stream.write_all(&question.bytes_with(&host, "keep-alive").repeat(count as usize))?;
    let mut rules = Rules::sharing(request, LARGEST_ANSWER_BYTES as u64, &mut Documents::default())
        .map_err(|_| ProbeError::Malformed("nothing that it could be compared with"))?;
    let (mut reader, mut piece, mut right) = (AnswerReader::new(), vec![0; 64 * 1024], 0);
    while right < count {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Some(right));
        }
        stream.socket().set_read_timeout(Some(left.min(LOOK)))?;
        let length = match stream.read(&mut piece) {
            Ok(0) => return Ok(Some(right)),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Ok(Some(right)),
        };
        let mut at = 0;
        while at < length && right < count {
            match reader.feed_next(&piece[at..length], &mut rules) {
                Ok((taken, None)) => at += taken,
                Ok((taken, Some(answer))) if answer.wrong_status.is_none() => {
                    at += taken;
                    right += 1;
                    if !answer.keep_alive {
                        return Ok((right < count).then_some(right));
                    }
                }
                _ => return Ok(Some(right)),
            }
        }
    }
    Ok(None)
}

/// Asks once, like [`ask`], and gives up as soon as `is_wanted` returns false.
pub fn ask_while(
    server: ProbeTarget<'_>,
    question: Question<'_>,
    patience: Duration,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Answer, ProbeError> {
    ask_by_name(server, &server.address.to_string(), question, patience, is_wanted)
}

/// Asks once, like [`ask_while`], with `host` as the name of the server: several servers may share an address.
pub fn ask_by_name(
    server: ProbeTarget<'_>,
    host: &str,
    question: Question<'_>,
    patience: Duration,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Answer, ProbeError> {
    let deadline = Instant::now() + patience;
    let stream = (server.connect)(server.address, patience)?;
    stream.set_write_timeout(Some(patience))?;
    let is_late = || Instant::now() >= deadline || !is_wanted();
    let mut stream = Channel::open(stream, server, &is_late)?.ok_or(ProbeError::Silent { patience })?;
    if server.speech.http2 {
        return http2::ask(stream, host, question, &is_late)?.ok_or(ProbeError::Silent { patience });
    }
    stream.write_all(&question.bytes(host))?;
    let is_head = question.method == "HEAD";
    let (mut received, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !is_wanted() {
            return Err(ProbeError::Silent { patience });
        }
        stream.socket().set_read_timeout(Some(left.min(LOOK)))?;
        let is_closed = match stream.read(&mut piece) {
            Ok(length) => {
                received.extend(&piece[..length]);
                length == 0
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        // After the answer, a server may keep the connection open for any time.
        match whole::read(&received, is_head, is_closed).map_err(ProbeError::Malformed)? {
            Some(answer) => return Ok(answer),
            None if is_closed => return Err(ProbeError::Closed { received: received.len() }),
            None if received.len() > LARGEST_ANSWER_BYTES => return Err(ProbeError::Malformed("more than 256 MiB")),
            None => {}
        }
    }
}

impl Answer {
    /// The first header with this name, given in lowercase.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests;
