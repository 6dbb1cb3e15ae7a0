//! One request, one whole answer: for readiness and for comparing answers with a workload's contract.
//!
//! Nothing is timed here but the patience; measuring is the load engine's work.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tolok_model::Workload;

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
    Connection(#[from] std::io::Error),
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
const ANSWER_LIMIT: usize = 256 << 20;

/// Asks once, with a connection that closes after the answer.
pub fn ask(port: u16, method: &str, path: &str, patience: Duration) -> Result<Answer, ProbeError> {
    let deadline = Instant::now() + patience;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_write_timeout(Some(patience))?;
    let request = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut received = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || received.len() > ANSWER_LIMIT {
            return Err(ProbeError::Silent { patience });
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => received.extend(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(ProbeError::Silent { patience });
            }
            Err(error) => return Err(error.into()),
        }
    }
    parse(&received, method == "HEAD")
}

/// Compares an answer with the contract of a workload; says what differs.
pub fn check(answer: &Answer, workload: &Workload, body: &[u8]) -> Result<(), String> {
    if answer.status != workload.status {
        let sent = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]).into_owned();
        return Err(format!("status {} instead of {}: {sent:?}", answer.status, workload.status));
    }
    let given = answer.header("content-type").unwrap_or("none");
    let essence = given.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(&workload.content_type) {
        return Err(format!("content type {given} instead of {}", workload.content_type));
    }
    if answer.body == body {
        return Ok(());
    }
    let first = answer.body.iter().zip(body).position(|(given, owed)| given != owed);
    let at = first.unwrap_or(answer.body.len().min(body.len()));
    let excerpt = |bytes: &[u8]| {
        let excerpt = &bytes[at.min(bytes.len())..(at + 30).min(bytes.len())];
        String::from_utf8_lossy(excerpt).into_owned()
    };
    Err(format!(
        "a body of {} bytes instead of {}, different from byte {at} on: {:?} instead of {:?}",
        answer.body.len(),
        body.len(),
        excerpt(&answer.body),
        excerpt(body)
    ))
}

impl Answer {
    /// The first header with this name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
    }
}

fn parse(received: &[u8], head_only: bool) -> Result<Answer, ProbeError> {
    let end = received.windows(4).position(|window| window == b"\r\n\r\n").ok_or(ProbeError::Malformed("no head"))?;
    let head = std::str::from_utf8(&received[..end]).map_err(|_| ProbeError::Malformed("a head that is not text"))?;
    let mut lines = head.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or(ProbeError::Malformed("no status line"))?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: Vec::new() };
    let sent = &received[end + 4..];
    let chunked = answer.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
    answer.body = match length {
        _ if head_only => Vec::new(),
        _ if chunked => join_chunks(sent).ok_or(ProbeError::Malformed("a broken chunk"))?,
        Some(length) if sent.len() != length => return Err(ProbeError::Malformed("fewer or more bytes than announced")),
        _ => sent.to_vec(),
    };
    Ok(answer)
}

fn join_chunks(mut coded: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = coded.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&coded[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        coded = &coded[end + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend(coded.get(..size)?);
        coded = coded.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body_of(answer: &str) -> Result<String, String> {
        let parsed = parse(answer.as_bytes(), false).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(parsed.body).unwrap())
    }

    #[test]
    fn every_framing_gives_the_same_body() {
        let expect = Ok("hello".to_owned());
        assert_eq!(body_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), expect);
        assert_eq!(body_of("HTTP/1.1 200 OK\r\n\r\nhello"), expect);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=1\r\nlo\r\n0\r\n\r\n";
        assert_eq!(body_of(chunked), expect);
    }

    #[test]
    fn a_cut_answer_is_no_answer() {
        let short = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello";
        assert_eq!(body_of(short), Err("the answer is not HTTP/1.1: fewer or more bytes than announced".to_owned()));
        let cut = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhel";
        assert_eq!(body_of(cut), Err("the answer is not HTTP/1.1: a broken chunk".to_owned()));
        assert!(body_of("SSH-2.0-OpenSSH\r\n\r\n").is_err());
    }
}
