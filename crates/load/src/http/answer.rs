//! One answer, fed piece by piece as the network delivers it, and judged while it streams in: nothing of a body is kept.

use super::chunked::{Chunked, Piece};
use super::head::{self, Framing, HEAD_LIMIT_BYTES, Head};
use crate::fault::{BodyFault, Fault};
use crate::options::{ExpectBody, ExpectStatus, Method, Options};

/// What answers are judged by; one for all connections of a run.
#[derive(Debug)]
pub(crate) struct Rules {
    method: Method,
    status: ExpectStatus,
    body: Option<Vec<u8>>,
    body_limit_bytes: u64,
    last_head: LastHead,
}

impl Rules {
    pub fn new(options: &Options) -> Rules {
        let body = match &options.expect.body {
            // An answer to HEAD has no body to compare.
            ExpectBody::Exactly(bytes) if options.method == Method::Get => Some(bytes.clone()),
            _ => None,
        };
        Rules {
            method: options.method,
            status: options.expect.status,
            body,
            body_limit_bytes: options.body_limit_bytes,
            last_head: LastHead::default(),
        }
    }

    /// Length of the body every answer is compared with.
    pub fn expected_body_bytes(&self) -> Option<u64> {
        self.body.as_ref().map(|body| body.len() as u64)
    }

    /// What a head alone tells about the answer.
    fn judge_head(&self, head: &Head) -> Result<(), Fault> {
        if !self.status.accepts(head.status) {
            return Err(Fault::BadStatus(head.status));
        }
        match (&self.body, head.framing) {
            (Some(body), Framing::Length(announced)) if announced != body.len() as u64 => {
                Err(Fault::BadBody(BodyFault::Length { announced, expected: body.len() as u64 }))
            }
            (None, Framing::Length(announced)) if announced > self.body_limit_bytes => {
                Err(Fault::Malformed("the body announced is longer than the limit"))
            }
            _ => Ok(()),
        }
    }

    /// Judges a piece of a body that begins at byte `at` of it.
    fn judge_body(&self, at: u64, piece: &[u8]) -> Result<(), Fault> {
        let end = at + piece.len() as u64;
        let Some(body) = &self.body else {
            let fits = end <= self.body_limit_bytes;
            return if fits { Ok(()) } else { Err(Fault::Malformed("the body is longer than the limit")) };
        };
        match body.get(at as usize..end as usize) {
            Some(expected) if expected == piece => Ok(()),
            Some(expected) => {
                let same = expected.iter().zip(piece).take_while(|(a, b)| a == b).count();
                Err(Fault::BadBody(BodyFault::Differs { at: at + same as u64 }))
            }
            None => Err(Fault::BadBody(BodyFault::Long { expected: body.len() as u64 })),
        }
    }

    /// Judges the length of a body that is complete.
    fn judge_end(&self, received: u64) -> Result<(), Fault> {
        match self.expected_body_bytes() {
            Some(expected) if expected != received => Err(Fault::BadBody(BodyFault::Short { received, expected })),
            _ => Ok(()),
        }
    }
}

/// The head last read as a whole. Answers of one target differ in little but the date, so nearly every head equals the
/// one before it byte for byte, and comparing costs a tenth of reading. It ends in an empty line, therefore bytes that
/// begin with it have it as their head.
#[derive(Debug, Default)]
struct LastHead {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl LastHead {
    fn of(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        bytes.starts_with(&self.bytes).then_some((head, self.bytes.len()))
    }

    fn remember(&mut self, bytes: &[u8], head: Head) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.head = Some(head);
    }
}

/// A complete answer that is as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The target will take another request on this connection.
    pub keep_alive: bool,
}

/// Where in the answer the next byte falls.
#[derive(Debug, Clone, Copy)]
enum Place {
    Head,
    Length { left: u64, keep_alive: bool },
    Chunks { chunked: Chunked, keep_alive: bool },
    UntilClose,
}

/// Reads one answer after the other on a connection.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    place: Place,
    /// The part of a head that has arrived, only while it is incomplete.
    partial_head: Vec<u8>,
    /// Bytes of heads in this exchange, interim answers included.
    head_bytes: usize,
    body_bytes: u64,
}

impl AnswerReader {
    pub fn new() -> AnswerReader {
        AnswerReader { place: Place::Head, partial_head: Vec::new(), head_bytes: 0, body_bytes: 0 }
    }

    /// Takes what has arrived. `Some` when the answer is complete; then the reader is ready for the next one.
    pub fn feed(&mut self, mut bytes: &[u8], rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        while !bytes.is_empty() {
            let (taken, complete) = match self.place {
                Place::Head => self.feed_head(bytes, rules)?,
                Place::Length { left, keep_alive } => self.feed_length(bytes, left, keep_alive, rules)?,
                Place::Chunks { chunked, keep_alive } => self.feed_chunks(bytes, chunked, keep_alive, rules)?,
                Place::UntilClose => {
                    self.body(bytes, rules)?;
                    (bytes.len(), None)
                }
            };
            bytes = &bytes[taken..];
            if let Some(answer) = complete {
                // One request was sent, so anything after its answer belongs to nothing.
                return if bytes.is_empty() {
                    Ok(Some(answer))
                } else {
                    Err(Fault::Malformed("bytes after the answer"))
                };
            }
        }
        Ok(None)
    }

    /// The target ended the stream.
    pub fn end_of_stream(&mut self, rules: &Rules) -> Result<Answer, Fault> {
        match self.place {
            Place::UntilClose => self.complete(false, rules),
            Place::Head if self.head_bytes == 0 && self.partial_head.is_empty() => Err(Fault::ClosedBeforeAnswer),
            _ => Err(Fault::ClosedInsideAnswer),
        }
    }

    fn feed_head(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<(usize, Option<Answer>), Fault> {
        let known = if self.partial_head.is_empty() { rules.last_head.of(bytes) } else { None };
        if let Some((head, length)) = known {
            return Ok((length, self.begin_body(head, length, rules)?));
        }
        let searched = self.partial_head.len();
        let whole: &[u8] = if searched == 0 {
            bytes
        } else {
            self.partial_head.extend_from_slice(bytes);
            &self.partial_head
        };
        if !head::may_begin_answer(whole) {
            return Err(Fault::Malformed("it does not begin with HTTP/1."));
        }
        let Some(length) = head::find_end(whole, searched) else {
            if self.head_bytes + whole.len() > HEAD_LIMIT_BYTES {
                return Err(Fault::Malformed("the head is longer than 64 KiB"));
            }
            if searched == 0 {
                self.partial_head.extend_from_slice(bytes);
            }
            return Ok((bytes.len(), None));
        };
        let head = head::parse(&whole[..length], rules.method).map_err(Fault::Malformed)?;
        if head.status >= 200 {
            rules.last_head.remember(&whole[..length], head);
        }
        self.partial_head.clear();
        Ok((length - searched, self.begin_body(head, length, rules)?))
    }

    /// A head is complete: judges it and goes on to the body, if there is one.
    fn begin_body(&mut self, head: Head, length: usize, rules: &Rules) -> Result<Option<Answer>, Fault> {
        self.head_bytes += length;
        if self.head_bytes > HEAD_LIMIT_BYTES {
            return Err(Fault::Malformed("the head is longer than 64 KiB"));
        }
        if head.status == 101 {
            return Err(Fault::Malformed("it switches to another protocol"));
        }
        if head.status < 200 {
            // An interim answer; the real one follows.
            return Ok(None);
        }
        rules.judge_head(&head)?;
        let keep_alive = head.keep_alive;
        self.place = match head.framing {
            Framing::NoBody if rules.method == Method::Head => return Ok(Some(self.rest(keep_alive))),
            Framing::NoBody | Framing::Length(0) => return self.complete(keep_alive, rules).map(Some),
            Framing::Length(left) => Place::Length { left, keep_alive },
            Framing::Chunked => Place::Chunks { chunked: Chunked::new(), keep_alive },
            Framing::UntilClose => Place::UntilClose,
        };
        Ok(None)
    }

    fn feed_length(
        &mut self,
        bytes: &[u8],
        left: u64,
        keep_alive: bool,
        rules: &Rules,
    ) -> Result<(usize, Option<Answer>), Fault> {
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        self.body(&bytes[..taken], rules)?;
        let left = left - taken as u64;
        if left == 0 {
            return Ok((taken, Some(self.complete(keep_alive, rules)?)));
        }
        self.place = Place::Length { left, keep_alive };
        Ok((taken, None))
    }

    fn feed_chunks(
        &mut self,
        bytes: &[u8],
        mut chunked: Chunked,
        keep_alive: bool,
        rules: &Rules,
    ) -> Result<(usize, Option<Answer>), Fault> {
        let piece = chunked.next(bytes).map_err(Fault::Malformed)?;
        self.place = Place::Chunks { chunked, keep_alive };
        match piece {
            Piece::Framing(taken) => Ok((taken, None)),
            Piece::Data(taken) => {
                self.body(&bytes[..taken], rules)?;
                Ok((taken, None))
            }
            Piece::End(taken) => Ok((taken, Some(self.complete(keep_alive, rules)?))),
        }
    }

    fn body(&mut self, piece: &[u8], rules: &Rules) -> Result<(), Fault> {
        rules.judge_body(self.body_bytes, piece)?;
        self.body_bytes += piece.len() as u64;
        Ok(())
    }

    fn complete(&mut self, keep_alive: bool, rules: &Rules) -> Result<Answer, Fault> {
        rules.judge_end(self.body_bytes)?;
        Ok(self.rest(keep_alive))
    }

    /// Gets ready for the next answer.
    fn rest(&mut self, keep_alive: bool) -> Answer {
        self.place = Place::Head;
        self.head_bytes = 0;
        self.body_bytes = 0;
        Answer { keep_alive }
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
