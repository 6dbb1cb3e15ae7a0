//! The head of an answer: the status line, and the three headers that determine where the answer ends (RFC 9112 §2-§6).
//!
//! Hand-written: the engine needs four facts of a head, and a general parser takes twice the instructions of the whole engine. Strict
//! wherever a lenient reading could hide where an answer ends.

use crate::options::Method;

/// Longest head, including all interim answers before it; trailers may be as long again.
pub(super) const HEAD_LIMIT_BYTES: usize = 64 * 1024;

/// How to find the end of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// No body: HEAD, 1xx, 204, 304.
    NoBody,
    /// No body; the answer to GET would have one of this length.
    NoBodyOf(u64),
    /// After this many bytes.
    Length(u64),
    /// By the chunked coding.
    Chunked,
    /// At the end of the connection.
    UntilClose,
}

/// The content of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub status: u16,
    pub framing: Framing,
    /// The target keeps the connection after this answer.
    pub keep_alive: bool,
}

/// Why a head is invalid.
pub(super) type Reason = &'static str;

/// Length of the head, including its empty line, if `bytes` contains its end. Bytes before `from` were already searched without success.
pub(super) fn find_end(bytes: &[u8], from: usize) -> Option<usize> {
    // The empty line may have begun up to three bytes before the new bytes: CR LF CR | LF.
    let mut at = from.saturating_sub(3);
    while let Some(newline) = bytes.get(at..)?.iter().position(|&byte| byte == b'\n') {
        at += newline + 1;
        match bytes.get(at..)? {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Whether `bytes` can be the start of an answer. Detects garbage at once; waiting for the end of a head would report it as a timeout.
pub(super) fn may_begin_answer(bytes: &[u8]) -> bool {
    const START: &[u8] = b"HTTP/1.";
    let common = bytes.len().min(START.len());
    bytes[..common] == START[..common]
}

/// Parses a complete head, including its empty line.
pub(super) fn parse(head: &[u8], method: Method) -> Result<Head, Reason> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (minor_version, status) = parse_status_line(lines.next().unwrap_or_default())?;
    let mut fields = Fields::default();
    // The empty line ends the head; nothing relevant follows.
    for line in lines.take_while(|line| !line.is_empty()) {
        fields.read(line)?;
    }
    let framing = fields.framing(method, status, minor_version)?;
    let persistent = if minor_version == 0 { fields.keep_alive } else { true };
    let keep_alive = persistent && !fields.close && framing != Framing::UntilClose;
    Ok(Head { status, framing, keep_alive })
}

/// `HTTP/1.x SP 3DIGIT [SP reason]`: the minor version and the status.
fn parse_status_line(line: &[u8]) -> Result<(u8, u16), Reason> {
    let (version, rest) = line.split_at_checked(8).ok_or("the status line is too short")?;
    let minor = match version {
        b"HTTP/1.1" => 1,
        b"HTTP/1.0" => 0,
        _ => return Err("the status line does not begin with HTTP/1.0 or HTTP/1.1"),
    };
    if rest.iter().any(|&byte| is_control(byte)) {
        return Err("the status line holds a control character");
    }
    let digits = match rest {
        [b' ', digits @ ..] if digits.len() == 3 => digits,
        [b' ', a, b, c, b' ', ..] => &[*a, *b, *c],
        _ => return Err("the status line has no status of three digits"),
    };
    if !digits.iter().all(u8::is_ascii_digit) || digits[0] == b'0' {
        return Err("the status line has no status of three digits");
    }
    Ok((minor, digits.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0'))))
}

/// The relevant header fields read so far.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    fn read(&mut self, line: &[u8]) -> Result<(), Reason> {
        let colon = line.iter().position(|&byte| byte == b':').ok_or("a header line has no colon")?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        // This also rejects folded lines and blanks before the colon, which other parsers interpret differently.
        if name.is_empty() || !name.iter().all(|&byte| is_token(byte)) {
            return Err("a header name holds a character that no name may hold");
        }
        // These include CR and NUL, which some parsers treat as the end of the line.
        if value.iter().any(|&byte| is_control(byte)) {
            return Err("a header value holds a control character");
        }
        let value = value.trim_ascii();
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.read_connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.read_length(value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.read_coding(value)?,
            _ => {}
        }
        Ok(())
    }

    fn read_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(|option| option.trim_ascii()) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Accepts a list of lengths: an intermediary may combine several headers into one (RFC 9112 §6.3).
    fn read_length(&mut self, value: &[u8]) -> Result<(), Reason> {
        for value in value.split(|&byte| byte == b',').map(|value| value.trim_ascii()) {
            let length = number(value)?;
            if self.length.is_some_and(|earlier| earlier != length) {
                return Err("two Content-Lengths contradict each other");
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn read_coding(&mut self, value: &[u8]) -> Result<(), Reason> {
        // The engine sends no TE header, so it may only receive chunked, and only once.
        if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err("a Transfer-Encoding other than chunked");
        }
        self.chunked = true;
        Ok(())
    }

    /// RFC 9112 §6.3, in its order.
    fn framing(&self, method: Method, status: u16, minor_version: u8) -> Result<Framing, Reason> {
        if self.chunked && self.length.is_some() {
            return Err("both Content-Length and Transfer-Encoding");
        }
        if self.chunked && minor_version == 0 {
            return Err("Transfer-Encoding in an HTTP/1.0 answer");
        }
        Ok(match (method, status) {
            (_, 100..200 | 204) => Framing::NoBody,
            (Method::Head, _) => self.length.map_or(Framing::NoBody, Framing::NoBodyOf),
            (_, 304) => Framing::NoBody,
            _ if self.chunked => Framing::Chunked,
            _ => self.length.map_or(Framing::UntilClose, Framing::Length),
        })
    }
}

fn number(digits: &[u8]) -> Result<u64, Reason> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("Content-Length is not a number");
    }
    let mut number: u64 = 0;
    for digit in digits {
        let shifted = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
        number = shifted.ok_or("Content-Length is too large a number")?;
    }
    Ok(number)
}

/// Whether a byte is forbidden in a header value; a tab is allowed.
pub(super) fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}

/// Whether a byte is allowed in a header name (RFC 9110 §5.6.2).
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Result<Head, Reason> {
        assert_eq!(find_end(head.as_bytes(), 0), Some(head.len()), "{head:?}");
        parse(head.as_bytes(), Method::Get)
    }

    fn check(head: &str, status: u16, framing: Framing, keep_alive: bool) {
        assert_eq!(read(head), Ok(Head { status, framing, keep_alive }), "{head:?}");
    }

    #[test]
    fn the_end_of_the_body_is_found_as_the_standard_says() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", 200, Framing::Length(12), true);
        check("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, Framing::Length(0), true);
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", 200, Framing::Chunked, true);
        check("HTTP/1.1 200 OK\r\n\r\n", 200, Framing::UntilClose, false);
        check("HTTP/1.1 204 No Content\r\n\r\n", 204, Framing::NoBody, true);
        check("HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n", 304, Framing::NoBody, true);
        check("HTTP/1.1 100 Continue\r\n\r\n", 100, Framing::NoBody, true);
    }

    #[test]
    fn an_answer_to_head_has_no_body_whatever_it_says() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
        assert_eq!(parse(head, Method::Head).unwrap().framing, Framing::NoBodyOf(12));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(parse(chunked, Method::Head).unwrap().framing, Framing::NoBody);
    }

    #[test]
    fn persistence_follows_the_version_unless_the_connection_header_says_otherwise() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n", 200, Framing::Length(1), false);
        check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: x, CLOSE\r\n\r\n", 200, Framing::Length(1), false);
        check("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", 200, Framing::Length(1), false);
        check("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\n", 200, Framing::Length(1), true);
        let both = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n";
        check(both, 200, Framing::Length(1), false);
    }

    #[test]
    fn small_deviations_from_the_standard_are_accepted() {
        check("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n", 200, Framing::Length(5), true);
        check("HTTP/1.1 200 \r\nContent-Length:\t5 \r\n\r\n", 200, Framing::Length(5), true);
        check("HTTP/1.1 200 OK\nContent-Length: 5\n\n", 200, Framing::Length(5), true);
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 200, Framing::Length(5), true);
        check("HTTP/1.1 200 OK\r\nContent-Length: 5, 5 ,05\r\n\r\n", 200, Framing::Length(5), true);
        check("HTTP/1.1 200 \u{e4}\u{f6}\r\nX: \u{fc}\r\nContent-Length: 5\r\n\r\n", 200, Framing::Length(5), true);
    }

    #[test]
    fn a_broken_head_is_refused() {
        for head in [
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.2 200 OK\r\n\r\n",
            "HTTP/1.1  200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 099 OK\r\n\r\n",
            "HTTP/1.1 2x0 OK\r\n\r\n",
            "HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: empty\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\r\n folded: b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5;5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            "HTTP/1.1 200 O\rK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert!(read(head).is_err(), "{head:?}");
        }
    }

    #[test]
    fn the_end_of_a_head_is_found_wherever_the_search_was_interrupted() {
        let bytes = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n";
        for from in 0..24 {
            assert_eq!(find_end(bytes, from), Some(25), "from {from}");
        }
        for length in 0..25 {
            assert_eq!(find_end(&bytes[..length], 0), None, "{length}");
        }
    }

    #[test]
    fn garbage_is_recognised_by_its_first_bytes() {
        assert!(may_begin_answer(b"") && may_begin_answer(b"HT") && may_begin_answer(b"HTTP/1.1 200"));
        assert!(!may_begin_answer(b"X") && !may_begin_answer(b"\r\nHTTP/1.1") && !may_begin_answer(b"HTTP/2"));
    }
}
