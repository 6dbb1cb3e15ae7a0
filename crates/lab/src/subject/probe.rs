//! One request, one whole answer: for readiness and for comparing answers with a workload's contract.
//!
//! Nothing is timed here but the patience; measuring is the load engine's work.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body, freed of any transfer coding.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Nobody listens, or the connection broke.
    #[error("{0}")]
    Connection(#[from] io::Error),
    /// The server closed the connection before the answer was whole, as one does that is just starting or ending.
    #[error("the connection was closed after {received} bytes, before the answer was whole")]
    Closed {
        /// How much had come.
        received: usize,
    },
    /// The connection was open, and the answer did not come in time.
    #[error("no whole answer within {} s", patience.as_secs_f64())]
    Silent {
        /// How long was waited.
        patience: Duration,
    },
    /// What came is not HTTP/1.1.
    #[error("the answer is not HTTP/1.1: {0}")]
    Malformed(&'static str),
}

/// No answer of a workload comes near this; a server that sends on for ever must not fill the memory.
const LARGEST_ANSWER_BYTES: usize = 256 << 20;
/// How often it is asked whether the answer is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// A server that can be asked: where it listens, and how connections to it are made.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Where it listens.
    pub address: SocketAddr,
    /// Makes a connection within the time given; the lab's own network need not be one from which the server is reached.
    pub connect: &'a dyn Fn(SocketAddr, Duration) -> io::Result<TcpStream>,
}

impl Asked<'static> {
    /// A server that is reached from the network of this process.
    pub fn directly(address: SocketAddr) -> Self {
        Self { address, connect: &|address, patience| TcpStream::connect_timeout(&address, patience) }
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its path, with a query if it has one.
    pub path: &'a str,
    /// Its body with the body's type, if it has one.
    pub body: Option<(&'a str, &'a [u8])>,
}

impl<'a> Question<'a> {
    /// One without a body.
    pub fn plain(method: &'a str, path: &'a str) -> Self {
        Self { method, path, body: None }
    }

    fn bytes(&self, host: &str) -> Vec<u8> {
        let Self { method, path, body } = self;
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        let (more, body) = body.map_or((String::new(), [].as_slice()), |(content_type, body)| {
            (format!("Content-Type: {content_type}\r\nContent-Length: {}\r\n", body.len()), body)
        });
        [head.as_bytes(), more.as_bytes(), b"\r\n", body].concat()
    }
}

/// Asks once, with a connection that may close after the answer.
pub fn ask(server: Asked<'_>, question: Question<'_>, patience: Duration) -> Result<Answer, ProbeError> {
    ask_while(server, question, patience, &|| true)
}

/// Asks once, as [`ask`] does, and gives up early when `is_wanted` says so.
pub fn ask_while(
    server: Asked<'_>,
    question: Question<'_>,
    patience: Duration,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Answer, ProbeError> {
    ask_by_name(server, &server.address.to_string(), question, patience, is_wanted)
}

/// Asks once, as [`ask_while`] does, a server that goes by the name `host`: several may share an address.
pub fn ask_by_name(
    server: Asked<'_>,
    host: &str,
    question: Question<'_>,
    patience: Duration,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Answer, ProbeError> {
    let deadline = Instant::now() + patience;
    let mut stream = (server.connect)(server.address, patience)?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(&question.bytes(host))?;
    let mut received = Received { bytes: Vec::new(), is_head: question.method == "HEAD" };
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !is_wanted() {
            return Err(ProbeError::Silent { patience });
        }
        stream.set_read_timeout(Some(left.min(LOOK)))?;
        match stream.read(&mut chunk) {
            Ok(0) => return received.answer_at_end(),
            Ok(length) => received.bytes.extend(&chunk[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        // A server may keep the connection open for as long as it likes once all has been said.
        if let Some(answer) = received.answer()? {
            return Ok(answer);
        }
        if received.bytes.len() > LARGEST_ANSWER_BYTES {
            return Err(ProbeError::Malformed("more than 256 MiB"));
        }
    }
}

impl Answer {
    /// The first header with this name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
    }
}

/// What has come of an answer.
struct Received {
    bytes: Vec<u8>,
    /// Whether the head is all there will be.
    is_head: bool,
}

impl Received {
    /// The answer, if it is whole without the connection being closed.
    fn answer(&self) -> Result<Option<Answer>, ProbeError> {
        let Some((mut answer, sent)) = read_head(&self.bytes)? else { return Ok(None) };
        let body = match framing(&answer)? {
            _ if self.is_head || matches!(answer.status, 204 | 304) => Some(Vec::new()),
            Framing::Chunked => join_chunks(sent)?,
            Framing::Length(length) if sent.len() > length => {
                return Err(ProbeError::Malformed("more bytes than announced"));
            }
            Framing::Length(length) => (sent.len() == length).then(|| sent.to_vec()),
            Framing::UntilClose => None,
        };
        Ok(body.map(|body| {
            answer.body = body;
            answer
        }))
    }

    /// The answer, now that nothing more will come.
    fn answer_at_end(&self) -> Result<Answer, ProbeError> {
        let closed = || ProbeError::Closed { received: self.bytes.len() };
        if let Some(answer) = self.answer()? {
            return Ok(answer);
        }
        let (answer, sent) = read_head(&self.bytes)?.ok_or_else(closed)?;
        match framing(&answer)? {
            Framing::UntilClose => Ok(Answer { body: sent.to_vec(), ..answer }),
            Framing::Length(_) | Framing::Chunked => Err(closed()),
        }
    }
}

/// How the end of the body is marked.
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

fn framing(answer: &Answer) -> Result<Framing, ProbeError> {
    if answer.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return Ok(Framing::Chunked);
    }
    match answer.header("content-length").map(str::parse) {
        Some(Ok(length)) => Ok(Framing::Length(length)),
        Some(Err(_)) => Err(ProbeError::Malformed("a length that is no number")),
        None => Ok(Framing::UntilClose),
    }
}

/// Status and headers, and what has come behind them; nothing until the head is whole.
fn read_head(received: &[u8]) -> Result<Option<(Answer, &[u8])>, ProbeError> {
    let start = &received[..received.len().min(7)];
    if !b"HTTP/1.".starts_with(start) {
        return Err(ProbeError::Malformed("no status line"));
    }
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&received[..end]).map_err(|_| ProbeError::Malformed("a head that is not text"))?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or(ProbeError::Malformed("no status"))?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Ok(Some((Answer { status, headers, body: Vec::new() }, &received[end + 4..])))
}

/// The body in a chunked coding; nothing until its last chunk and the trailer behind it have come.
fn join_chunks(mut coded: &[u8]) -> Result<Option<Vec<u8>>, ProbeError> {
    let broken = ProbeError::Malformed("a broken chunk");
    let mut body = Vec::new();
    while let Some((line, rest)) = split_line(coded) {
        let size = std::str::from_utf8(line).ok().and_then(|line| line.split(';').next());
        let Some(size) = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok()) else { return Err(broken) };
        if size == 0 {
            return Ok(trailer_is_whole(rest).then_some(body));
        }
        // The line end behind the chunk belongs to it.
        let Some((chunk, rest)) = size.checked_add(2).and_then(|size| rest.split_at_checked(size)) else {
            return Ok(None);
        };
        let Some(chunk) = chunk.strip_suffix(b"\r\n") else { return Err(broken) };
        body.extend(chunk);
        coded = rest;
    }
    Ok(None)
}

fn trailer_is_whole(mut rest: &[u8]) -> bool {
    while let Some((line, after)) = split_line(rest) {
        if line.is_empty() {
            return true;
        }
        rest = after;
    }
    false
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(2).position(|window| window == b"\r\n")?;
    Some((&bytes[..end], &bytes[end + 2..]))
}

#[cfg(test)]
mod tests;
