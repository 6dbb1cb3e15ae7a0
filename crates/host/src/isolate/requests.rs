//! Parses requests from a stream of bytes: one line of JSON each, some followed by the content of a file.

use std::io;

use super::protocol::Request;

/// Received bytes, and the requests in them.
#[derive(Debug, Default)]
pub(super) struct Requests {
    input: Vec<u8>,
    /// A request whose content has not arrived completely.
    waiting: Option<Request>,
}

impl Requests {
    pub(super) fn take_in(&mut self, bytes: &[u8]) {
        self.input.extend(bytes);
    }

    /// The next complete request, with its content.
    pub(super) fn next(&mut self) -> io::Result<Option<(Request, Vec<u8>)>> {
        if self.waiting.is_none() {
            let Some(end) = self.input.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
            let line: Vec<u8> = self.input.drain(..=end).collect();
            self.waiting = Some(serde_json::from_slice(&line)?);
        }
        match self.waiting.take() {
            Some(request) if request.length() <= self.input.len() => {
                let content = self.input.drain(..request.length()).collect();
                Ok(Some((request, content)))
            }
            unfinished => {
                self.waiting = unfinished;
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(content: &[u8]) -> Vec<u8> {
        let header = Request::Write { path: "file".into(), mode: 0o644, length: content.len() };
        [&serde_json::to_vec(&header).unwrap()[..], b"\n", content].concat()
    }

    #[test]
    fn requests_are_found_however_the_bytes_arrive() {
        // Content that looks like a line end or a request is still content.
        let contents = [&b"\n\0\xff{}\n\"stop\"\n"[..], b"", b"plain"];
        let stream = [contents.map(write).concat(), b"\"stop\"\n".to_vec()].concat();
        for step in [1, 7, stream.len()] {
            let (mut requests, mut found) = (Requests::default(), Vec::new());
            for bytes in stream.chunks(step) {
                requests.take_in(bytes);
                while let Some(request) = requests.next().unwrap() {
                    found.push(request);
                }
            }
            let seen: Vec<&[u8]> = found.iter().map(|(_, content)| &content[..]).collect();
            assert_eq!(seen, [contents[0], contents[1], contents[2], b""], "in steps of {step}");
            assert_eq!(found[3].0, Request::Stop);
        }
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        let mut requests = Requests::default();
        requests.take_in(b"go away\n");
        assert!(requests.next().is_err());
    }
}
