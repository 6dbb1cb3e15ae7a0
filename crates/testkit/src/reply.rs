//! What the scripted server does with a request: a list of simple steps, and names for common lists.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Writes these bytes at once.
    Write(Vec<u8>),
    /// Writes these bytes one by one, each in its own segment.
    Dribble(Vec<u8>),
    Wait(Duration),
    /// Does nothing until the client or the test ends the connection.
    Hang,
    Close,
    Reset,
}

/// How the end of a body is indicated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Framing {
    /// By `Content-Length`.
    Length,
    /// By a `Content-Length` that is off by this much.
    WrongLength(i64),
    /// By chunked coding, in chunks of these sizes in turn, with these trailer lines.
    Chunked(Vec<usize>, Vec<&'static str>),
    UntilClose,
}

/// Everything the server does with one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub(crate) steps: Vec<Step>,
}

impl Reply {
    /// `200 OK` with this body and a `Content-Length`.
    pub fn ok(body: impl AsRef<[u8]>) -> Reply {
        Reply::with(200, body, Framing::Length, &[])
    }

    /// The same, with `Connection: close`, and closes the connection.
    pub fn ok_and_close(body: impl AsRef<[u8]>) -> Reply {
        Reply::with(200, body, Framing::Length, &["Connection: close"]).then_close()
    }

    /// An answer with this status, an empty body and a `Content-Length`.
    pub fn status(status: u16) -> Reply {
        Reply::with(status, "", Framing::Length, &[])
    }

    /// Any answer. The connection is closed afterwards only if the framing requires it.
    pub fn with(status: u16, body: impl AsRef<[u8]>, framing: Framing, headers: &[&str]) -> Reply {
        let body = body.as_ref();
        let mut answer = format!("HTTP/1.1 {status} Scripted\r\n");
        headers.iter().for_each(|header| answer.push_str(&format!("{header}\r\n")));
        answer.push_str(&frame_header(&framing, body.len()));
        let coded = match &framing {
            Framing::Chunked(sizes, trailers) => in_chunks(body, sizes, trailers),
            _ => body.to_vec(),
        };
        let reply = Reply::raw([answer.as_bytes(), b"\r\n", &coded].concat());
        if framing == Framing::UntilClose { reply.then_close() } else { reply }
    }

    /// Any bytes, unchanged.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply { steps: vec![Step::Write(bytes.into())] }
    }

    /// No answer; the connection stays open.
    pub fn never() -> Reply {
        Reply { steps: vec![Step::Hang] }
    }

    /// No answer; the connection is closed.
    pub fn close() -> Reply {
        Reply { steps: vec![Step::Close] }
    }

    /// No answer; the connection is reset.
    pub fn reset() -> Reply {
        Reply { steps: vec![Step::Reset] }
    }

    /// Waits before everything else.
    pub fn after(mut self, delay: Duration) -> Reply {
        self.steps.insert(0, Step::Wait(delay));
        self
    }

    /// Sends these bytes before everything else, such as an interim answer.
    pub fn preceded_by(mut self, bytes: impl Into<Vec<u8>>) -> Reply {
        self.steps.insert(0, Step::Write(bytes.into()));
        self
    }

    /// Sends these bytes after everything else, in the same segment if possible.
    pub fn followed_by(mut self, bytes: impl AsRef<[u8]>) -> Reply {
        match self.steps.last_mut() {
            Some(Step::Write(last) | Step::Dribble(last)) => last.extend_from_slice(bytes.as_ref()),
            _ => self.steps.push(Step::Write(bytes.as_ref().to_vec())),
        }
        self
    }

    /// Performs another reply after this one.
    pub fn joined_with(mut self, other: Reply) -> Reply {
        self.steps.extend(other.steps);
        self
    }

    /// Sends every byte in its own segment.
    pub fn dribbled(mut self) -> Reply {
        for step in &mut self.steps {
            if let Step::Write(bytes) = step {
                *step = Step::Dribble(std::mem::take(bytes));
            }
        }
        self
    }

    /// Omits the last bytes of the answer.
    pub fn cut_by(mut self, bytes: usize) -> Reply {
        if let Some(Step::Write(last) | Step::Dribble(last)) = self.steps.last_mut() {
            last.truncate(last.len().saturating_sub(bytes));
        }
        self
    }

    /// Closes the connection at the end.
    pub fn then_close(mut self) -> Reply {
        self.steps.push(Step::Close);
        self
    }

    /// Resets the connection at the end.
    pub fn then_reset(mut self) -> Reply {
        self.steps.push(Step::Reset);
        self
    }

    /// Leaves the connection open at the end and reads nothing more from it.
    pub fn then_hang(mut self) -> Reply {
        self.steps.push(Step::Hang);
        self
    }
}

fn frame_header(framing: &Framing, length: usize) -> String {
    match framing {
        Framing::Length => format!("Content-Length: {length}\r\n"),
        Framing::WrongLength(by) => format!("Content-Length: {}\r\n", (length as i64 + by).max(0)),
        Framing::Chunked(..) => "Transfer-Encoding: chunked\r\n".to_owned(),
        Framing::UntilClose => String::new(),
    }
}

fn in_chunks(body: &[u8], sizes: &[usize], trailers: &[&str]) -> Vec<u8> {
    let (mut coded, mut rest, mut sizes) = (Vec::new(), body, sizes.iter().copied().cycle());
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (chunk, after) = rest.split_at(size);
        coded.extend_from_slice(format!("{size:x}\r\n").as_bytes());
        coded.extend_from_slice(chunk);
        coded.extend_from_slice(b"\r\n");
        rest = after;
    }
    coded.extend_from_slice(b"0\r\n");
    trailers.iter().for_each(|trailer| coded.extend_from_slice(format!("{trailer}\r\n").as_bytes()));
    coded.extend_from_slice(b"\r\n");
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: Reply, steps: &[Step]) {
        assert_eq!(reply.steps, steps);
    }

    fn write(text: &str) -> Step {
        Step::Write(text.into())
    }

    #[test]
    fn answers_are_framed() {
        check(Reply::ok("hi"), &[write("HTTP/1.1 200 Scripted\r\nContent-Length: 2\r\n\r\nhi")]);
        check(
            Reply::with(200, "hello", Framing::Chunked(vec![2], vec!["X: y"]), &["A: b"]),
            &[write(
                "HTTP/1.1 200 Scripted\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n\
                 2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\nX: y\r\n\r\n",
            )],
        );
        check(
            Reply::with(200, "hi", Framing::UntilClose, &[]),
            &[write("HTTP/1.1 200 Scripted\r\n\r\nhi"), Step::Close],
        );
        check(
            Reply::with(200, "hi", Framing::WrongLength(3), &[]),
            &[write("HTTP/1.1 200 Scripted\r\nContent-Length: 5\r\n\r\nhi")],
        );
    }

    #[test]
    fn replies_are_changed_step_by_step() {
        let wait = Duration::from_millis(5);
        check(Reply::raw("abc").after(wait).then_reset(), &[Step::Wait(wait), write("abc"), Step::Reset]);
        check(Reply::raw("abc").cut_by(2).followed_by("xy").preceded_by("1"), &[write("1"), write("axy")]);
        check(Reply::raw("abc").dribbled(), &[Step::Dribble(b"abc".to_vec())]);
        check(Reply::raw("abc").joined_with(Reply::close()), &[write("abc"), Step::Close]);
        check(Reply::never().followed_by("x"), &[Step::Hang, write("x")]);
    }
}
