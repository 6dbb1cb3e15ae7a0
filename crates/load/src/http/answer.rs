//! Reads an answer piece by piece as the network delivers it, and judges it while it arrives. A body is kept only if its check needs the
//! whole.

use super::chunked::{Chunked, Piece};
use super::head::{self, Framing, HEAD_LIMIT_BYTES, Head};
pub(crate) use super::rules::Rules;
use crate::fault::Fault;
use crate::options::Method;

/// Most interim answers before the real one. Servers send one or two. An endless series is a fault, even if each one is well-formed.
const INTERIM_LIMIT: u32 = 32;

/// Capacity for partial heads that a connection keeps for the next head.
const KEPT_HEAD_BYTES: usize = 4 * 1024;

const TOO_LONG: Fault = Fault::Malformed("the head is longer than 64 KiB");

/// A complete answer. It is as expected, except perhaps for its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The target accepts another request on this connection.
    pub keep_alive: bool,
    /// Its status, if unexpected. Such an answer is a failure but does not end the connection: otherwise an error page would cost the
    /// target more than it does with real clients.
    pub wrong_status: Option<u16>,
}

/// Where in the answer the next byte belongs.
#[derive(Debug, Clone, Copy)]
enum Place {
    Head,
    Length { left: u64, keep_alive: bool },
    Chunks { chunked: Chunked, keep_alive: bool },
    UntilClose,
}

/// Reads the answers on a connection one after another.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    place: Place,
    /// The received part of an incomplete head.
    partial_head: Vec<u8>,
    /// Bytes of heads in this exchange, including interim answers.
    head_bytes: usize,
    /// Interim answers in this exchange; invalid before the first.
    interim: u32,
    body_bytes: u64,
    /// The status of the current answer, if unexpected. Its body is then only counted.
    wrong_status: Option<u16>,
    /// The received part of a body that is checked once complete.
    collected: Option<Vec<u8>>,
    /// Set if further answers follow: a wrong body is then read to its end, and its fault is stored here.
    flaw: Option<Box<Option<Fault>>>,
}

impl AnswerReader {
    pub fn new() -> AnswerReader {
        AnswerReader {
            place: Place::Head,
            partial_head: Vec::new(),
            head_bytes: 0,
            interim: 0,
            body_bytes: 0,
            wrong_status: None,
            collected: None,
            flaw: None,
        }
    }

    /// From now on answers follow one another, and a wrong body does not end them.
    pub fn read_on(&mut self) {
        self.flaw = Some(Box::default());
    }

    /// Takes the fault of the last answer's body, if it had one and was read to its end.
    pub fn take_flaw(&mut self) -> Option<Fault> {
        self.flaw.as_mut().and_then(|flaw| flaw.take())
    }

    /// Whether any byte of the current answer has arrived.
    pub fn has_begun(&self) -> bool {
        !matches!(self.place, Place::Head) || self.head_bytes > 0 || !self.partial_head.is_empty()
    }

    /// How many bytes may be discarded unseen: the rest of a body of known length that need not be checked.
    pub fn discardable(&self, rules: &Rules) -> Option<usize> {
        match self.place {
            Place::Length { left, .. } if rules.discards => Some(usize::try_from(left).unwrap_or(usize::MAX)),
            _ => None,
        }
    }

    /// Skips bytes that were [`discardable`](Self::discardable) and have been discarded. Returns the answer once it is complete.
    pub fn discarded(&mut self, bytes: usize, rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        let Place::Length { left, keep_alive } = self.place else {
            return if bytes == 0 { Ok(None) } else { Err(Fault::Malformed("bytes after the answer")) };
        };
        let left = left.checked_sub(bytes as u64).ok_or(Fault::Malformed("bytes after the answer"))?;
        self.body_bytes += bytes as u64;
        if left == 0 {
            return self.complete(keep_alive, rules).map(Some);
        }
        self.place = Place::Length { left, keep_alive };
        Ok(None)
    }

    /// Processes received bytes. Returns the answer once it is complete; the reader is then ready for the next one.
    pub fn feed(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        let mut rest = bytes;
        if !self.has_begun()
            && let Some((head, length)) = rules.last_head.of(bytes)
        {
            rest = &bytes[length..];
            // The usual case: the whole answer arrived at once and is correct.
            if rules.accept(&head, rest) {
                return Ok(Some(Answer { keep_alive: head.keep_alive, wrong_status: None }));
            }
            let begun = self.begin_body(head, length, rules);
            if let Some(answer) = begun.inspect_err(|fault| rules.look_at_wrong_length(fault, rest))? {
                return alone(answer, rest);
            }
        }
        self.feed_piece(rest, rules)
    }

    /// Processes received bytes up to the end of the current answer. Returns how many, and the answer once it is complete.
    pub fn feed_next(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<(usize, Option<Answer>), Fault> {
        let mut taken = 0;
        if !self.has_begun()
            && let Some((head, length)) = rules.last_head.of(bytes)
        {
            if let Framing::Length(body) = head.framing
                && let Some(end) = usize::try_from(body).ok().and_then(|body| length.checked_add(body))
                && let Some(body) = bytes.get(length..end)
                && rules.accept(&head, body)
            {
                return Ok((end, Some(Answer { keep_alive: head.keep_alive, wrong_status: None })));
            }
            taken = length;
            if let Some(answer) = self.begin_body(head, length, rules)? {
                return Ok((taken, Some(answer)));
            }
        }
        let (more, answer) = self.feed_rest(&bytes[taken..], rules)?;
        Ok((taken + more, answer))
    }

    #[inline]
    fn feed_piece(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        match self.feed_rest(bytes, rules)? {
            (taken, Some(answer)) => alone(answer, &bytes[taken..]),
            (_, None) => Ok(None),
        }
    }

    #[inline]
    fn feed_rest(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<(usize, Option<Answer>), Fault> {
        let mut at = 0;
        while at < bytes.len() {
            let bytes = &bytes[at..];
            let (taken, complete) = match self.place {
                Place::Head => self.feed_head(bytes, rules)?,
                Place::Length { left, keep_alive } => self.feed_length(bytes, left, keep_alive, rules)?,
                Place::Chunks { chunked, keep_alive } => self.feed_chunks(bytes, chunked, keep_alive, rules)?,
                Place::UntilClose => {
                    self.body(bytes, rules)?;
                    (bytes.len(), None)
                }
            };
            at += taken;
            if complete.is_some() {
                return Ok((at, complete));
            }
        }
        Ok((at, None))
    }

    /// Processes the end of the stream.
    pub fn end_of_stream(&mut self, rules: &mut Rules) -> Result<Answer, Fault> {
        match self.place {
            Place::UntilClose => self.complete(false, rules),
            _ if self.wrong_status.is_some() => Ok(self.rest(false)),
            _ if !self.has_begun() => Err(Fault::ClosedBeforeAnswer),
            _ => Err(Fault::ClosedInsideAnswer),
        }
    }

    /// Processes received bytes of a head that is not the remembered one.
    #[cold]
    fn feed_head(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<(usize, Option<Answer>), Fault> {
        let searched = self.partial_head.len();
        let room = HEAD_LIMIT_BYTES - self.head_bytes;
        let whole: &[u8] = if searched == 0 {
            bytes
        } else {
            // Stores no more than can belong to the head: a body may follow it, and every connection keeps its buffer.
            self.partial_head.extend_from_slice(&bytes[..bytes.len().min(room + 1 - searched)]);
            &self.partial_head
        };
        if !head::may_begin_answer(whole) {
            return Err(Fault::Malformed("it does not begin with HTTP/1."));
        }
        let Some(length) = head::find_end(whole, searched) else {
            if whole.len() > room {
                return Err(TOO_LONG);
            }
            if searched == 0 {
                self.partial_head.extend_from_slice(bytes);
            }
            return Ok((bytes.len(), None));
        };
        if length > room {
            return Err(TOO_LONG);
        }
        let head = head::parse(&whole[..length], rules.method).map_err(Fault::Malformed)?;
        if head.status >= 200 {
            rules.last_head.remember(&whole[..length], head);
        }
        self.partial_head.clear();
        self.partial_head.shrink_to(KEPT_HEAD_BYTES);
        let taken = length - searched;
        let begun = self.begin_body(head, length, rules);
        Ok((taken, begun.inspect_err(|fault| rules.look_at_wrong_length(fault, &bytes[taken..]))?))
    }

    /// A head within the limit is complete: judges it and goes on to the body, if there is one.
    #[inline]
    fn begin_body(&mut self, head: Head, length: usize, rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        let first = self.head_bytes == 0;
        self.head_bytes += length;
        if head.status < 200 {
            return self.pass_over_interim(head.status, first);
        }
        if rules.accepts_status(head.status) {
            rules.judge_length(&head).or_else(|fault| self.flawed(fault))?;
        } else {
            self.wrong_status = Some(head.status);
        }
        let keep_alive = head.keep_alive;
        self.place = match head.framing {
            Framing::NoBodyOf(_) => return Ok(Some(self.rest(keep_alive))),
            Framing::NoBody if rules.method == Method::Head => return Ok(Some(self.rest(keep_alive))),
            Framing::NoBody | Framing::Length(0) => return self.complete(keep_alive, rules).map(Some),
            Framing::Length(left) => Place::Length { left, keep_alive },
            Framing::Chunked => Place::Chunks { chunked: Chunked::new(), keep_alive },
            Framing::UntilClose => Place::UntilClose,
        };
        Ok(None)
    }

    /// Skips an interim answer; the real one follows.
    #[cold]
    fn pass_over_interim(&mut self, status: u16, first: bool) -> Result<Option<Answer>, Fault> {
        if status == 101 {
            return Err(Fault::Malformed("it switches to another protocol"));
        }
        self.interim = if first { 1 } else { self.interim + 1 };
        if self.interim > INTERIM_LIMIT {
            return Err(Fault::Malformed("more than 32 interim answers"));
        }
        Ok(None)
    }

    fn feed_length(
        &mut self,
        bytes: &[u8],
        left: u64,
        keep_alive: bool,
        rules: &mut Rules,
    ) -> Result<(usize, Option<Answer>), Fault> {
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        self.body(&bytes[..taken], rules)?;
        let left = left - taken as u64;
        if left == 0 {
            // The head's check covered the length, so only a collected body remains to be judged.
            if self.collected.is_some() {
                self.complete(keep_alive, rules)?;
            }
            return Ok((taken, Some(self.rest(keep_alive))));
        }
        self.place = Place::Length { left, keep_alive };
        Ok((taken, None))
    }

    fn feed_chunks(
        &mut self,
        bytes: &[u8],
        mut chunked: Chunked,
        keep_alive: bool,
        rules: &mut Rules,
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

    #[inline]
    fn body(&mut self, piece: &[u8], rules: &mut Rules) -> Result<(), Fault> {
        if self.wrong_status.is_none() {
            let judged = rules.judge_body(self.body_bytes, piece, &mut self.collected);
            judged.or_else(|fault| self.flawed(fault))?;
        }
        self.body_bytes += piece.len() as u64;
        Ok(())
    }

    fn complete(&mut self, keep_alive: bool, rules: &mut Rules) -> Result<Answer, Fault> {
        if self.wrong_status.is_none() {
            let judged = rules.judge_end(self.body_bytes, &mut self.collected);
            judged.or_else(|fault| self.flawed(fault))?;
        }
        Ok(self.rest(keep_alive))
    }

    /// If further answers follow, stores the fault of a wrong body and ignores the rest of the body.
    #[cold]
    fn flawed(&mut self, fault: Fault) -> Result<(), Fault> {
        let Some(flaw) = self.flaw.as_mut().filter(|_| matches!(fault, Fault::BadBody(_))) else { return Err(fault) };
        **flaw = Some(fault);
        self.collected = None;
        self.wrong_status = Some(0);
        Ok(())
    }

    /// Resets for the next answer.
    fn rest(&mut self, keep_alive: bool) -> Answer {
        self.place = Place::Head;
        self.head_bytes = 0;
        self.body_bytes = 0;
        Answer { keep_alive, wrong_status: self.wrong_status.take() }
    }
}

/// Only one request was sent, so no bytes may follow its answer.
fn alone(answer: Answer, rest: &[u8]) -> Result<Option<Answer>, Fault> {
    if rest.is_empty() { Ok(Some(answer)) } else { Err(Fault::Malformed("bytes after the answer")) }
}

#[cfg(test)]
#[path = "rfc9112_tests.rs"]
mod rfc9112_tests;
#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
