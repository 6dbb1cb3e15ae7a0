//! Parses a request as far as this server needs it: method, path, and whether to keep the connection.

use crate::answers::After;

/// Longest head of a request.
pub const HEAD_LIMIT_BYTES: usize = 16 * 1024;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'input> {
    pub method: &'input [u8],
    /// Without the query.
    pub path: &'input [u8],
    pub after: After,
    /// Length of the request within the input.
    pub length: usize,
}

/// The front of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Front<'input> {
    Request(Request<'input>),
    Incomplete,
    Bad,
}

/// Parses the request at the front of the input.
pub fn read(input: &[u8]) -> Front<'_> {
    match input.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
        Some(end) => parse(&input[..end], end + 4).map_or(Front::Bad, Front::Request),
        None => Front::Incomplete,
    }
}

fn parse(head: &[u8], length: usize) -> Option<Request<'_>> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next()?.split(|&byte| byte == b' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || method.is_empty() || !target.starts_with(b"/") {
        return None;
    }
    let mut after = match version {
        b"HTTP/1.1" => After::Keep,
        b"HTTP/1.0" => After::Close,
        _ => return None,
    };
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => after = connection(value, version).unwrap_or(after),
            // A body would be taken for the next request; no workload sends one.
            14 if name.eq_ignore_ascii_case(b"content-length") && value != b"0" => return None,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => return None,
            _ => {}
        }
    }
    let path = target.split(|&byte| byte == b'?').next()?;
    Some(Request { method, path, after, length })
}

fn connection(value: &[u8], version: &[u8]) -> Option<After> {
    let mut options = value.split(|&byte| byte == b',').map(|option| option.trim_ascii());
    if options.clone().any(|option| option.eq_ignore_ascii_case(b"close")) {
        return Some(After::Close);
    }
    let keep = options.any(|option| option.eq_ignore_ascii_case(b"keep-alive"));
    (keep && version == b"HTTP/1.0").then_some(After::KeepAndSay)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, method: &str, path: &str, after: After) {
        let expected = Request { method: method.as_bytes(), path: path.as_bytes(), after, length: input.len() };
        assert_eq!(read(input.as_bytes()), Front::Request(expected), "{input:?}");
    }

    #[test]
    fn requests_are_read() {
        check("GET /hello HTTP/1.1\r\n\r\n", "GET", "/hello", After::Keep);
        check("GET /hello?a=b HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/hello", After::Keep);
        check("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", "GET", "/", After::Close);
        check("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", "GET", "/", After::Keep);
        check("HEAD / HTTP/1.0\r\n\r\n", "HEAD", "/", After::Close);
        check(
            "POST / HTTP/1.0\r\nconnection: keep-alive, x\r\nContent-Length: 0\r\n\r\n",
            "POST",
            "/",
            After::KeepAndSay,
        );
    }

    #[test]
    fn a_request_ends_where_the_next_begins() {
        let Front::Request(first) = read(b"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n") else {
            panic!("no request")
        };
        assert_eq!((first.path, first.length), (&b"/a"[..], 19));
    }

    #[test]
    fn part_of_a_request_is_incomplete_and_other_things_are_bad() {
        assert_eq!(read(b"GET /a HTTP/1.1\r\nHost: x\r\n"), Front::Incomplete);
        for input in [
            "\r\n\r\n",
            "GET\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
            "GET / HTTP/1.1 x\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(read(input.as_bytes()), Front::Bad, "{input:?}");
        }
    }
}
