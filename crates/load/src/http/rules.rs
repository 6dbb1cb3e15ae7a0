//! What answers are judged by.

use super::blocks::Blocks;
use super::head::{Framing, Head};
use super::json::{Document, NotJson};
use crate::error::LoadError;
use crate::fault::{BodyFault, Fault};
use crate::options::{ExpectBody, ExpectStatus, Method, Request};

/// Longest body that is collected to be read as JSON.
const JSON_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// What answers to one request are judged by; one for all connections of a thread.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(super) method: Method,
    pub(super) last_head: LastHead,
    pub(super) discards: bool,
    status: ExpectStatus,
    check: Check,
    /// Length of a good body, where there is but one.
    length: Option<u64>,
    /// That length, or the limit.
    most_bytes: u64,
}

/// What is done with the bytes of a body.
#[derive(Debug)]
enum Check {
    Count,
    Exactly(Vec<u8>),
    Blocks(Blocks),
    Json(JsonCheck),
}

impl Rules {
    /// The rules of a request. Where the length of a good body is not known, none may be longer than `body_limit_bytes`.
    pub fn new(request: &Request, body_limit_bytes: u64) -> Result<Rules, LoadError> {
        let mut limit_bytes = body_limit_bytes;
        let (check, length) = match &request.expect.body {
            ExpectBody::Anything => (Check::Count, None),
            ExpectBody::Length(length) => (Check::Count, Some(*length)),
            ExpectBody::Discard { length } => (Check::Count, *length),
            ExpectBody::Exactly(body) => {
                let check = Blocks::of(body).map_or_else(|| Check::Exactly(body.clone()), Check::Blocks);
                (check, Some(body.len() as u64))
            }
            ExpectBody::Json { document, every } => {
                // Also for the answers that are not looked at: whether one is good must not hang on its number.
                limit_bytes = limit_bytes.min(JSON_LIMIT_BYTES);
                (Check::Json(JsonCheck::new(document, *every)?), None)
            }
        };
        Ok(Rules {
            method: request.method,
            last_head: LastHead::default(),
            discards: matches!(request.expect.body, ExpectBody::Discard { .. }),
            status: request.expect.status,
            check,
            length,
            most_bytes: length.unwrap_or(limit_bytes),
        })
    }

    /// Whether an answer with this head and all of this body is good, if that can be said at once and changes nothing.
    #[inline]
    pub(super) fn accept(&self, head: &Head, body: &[u8]) -> bool {
        let good = match &self.check {
            Check::Exactly(expected) => expected == body,
            Check::Blocks(expected) => expected.body().len() == body.len() && expected.agrees(0, body),
            Check::Count => {
                self.length.map_or(body.len() as u64 <= self.most_bytes, |length| length == body.len() as u64)
            }
            Check::Json(_) => false,
        };
        good && head.framing == Framing::Length(body.len() as u64) && self.status.accepts(head.status)
    }

    /// Whether bodies are thrown away unseen.
    #[inline]
    pub fn discards(&self) -> bool {
        self.discards
    }

    /// Whether an answer with this status is good.
    #[inline]
    pub(super) fn accepts_status(&self, status: u16) -> bool {
        self.status.accepts(status)
    }

    /// What a head alone tells about the body.
    pub(super) fn judge_length(&self, head: &Head) -> Result<(), Fault> {
        match (self.length, head.framing) {
            (Some(expected), Framing::Length(announced) | Framing::NoBodyOf(announced)) if announced != expected => {
                Err(Fault::BadBody(BodyFault::Length { announced, expected }))
            }
            (None, Framing::Length(announced)) if announced > self.most_bytes => {
                Err(Fault::Malformed("the body announced is longer than the limit"))
            }
            _ => Ok(()),
        }
    }

    /// Judges a piece of a body that begins at byte `at` of it. A body that is to be looked at when it is complete is
    /// collected in `collected`.
    #[inline]
    pub(super) fn judge_body(&mut self, at: u64, piece: &[u8], collected: &mut Option<Vec<u8>>) -> Result<(), Fault> {
        let end = at + piece.len() as u64;
        match &mut self.check {
            Check::Exactly(body) => match body.get(at as usize..end as usize) {
                Some(expected) if expected == piece => Ok(()),
                _ => Err(difference(body, at, piece)),
            },
            Check::Blocks(blocks) if blocks.agrees(at as usize, piece) => Ok(()),
            Check::Blocks(blocks) => Err(difference(blocks.body(), at, piece)),
            _ if end > self.most_bytes => Err(self.too_long()),
            Check::Json(json) => {
                json.collect(at, piece, collected);
                Ok(())
            }
            Check::Count => Ok(()),
        }
    }

    /// Judges a body that is complete.
    pub(super) fn judge_end(&mut self, received: u64, collected: &mut Option<Vec<u8>>) -> Result<(), Fault> {
        match (self.length, &mut self.check) {
            (Some(expected), _) if expected != received => Err(Fault::BadBody(BodyFault::Short { received, expected })),
            (None, Check::Json(json)) => json.judge(received, collected),
            _ => Ok(()),
        }
    }

    #[cold]
    fn too_long(&self) -> Fault {
        self.length.map_or(Fault::Malformed("the body is longer than the limit"), |expected| {
            Fault::BadBody(BodyFault::Long { expected })
        })
    }
}

/// How a piece differs that does not equal the part of the expected body at its place.
#[cold]
fn difference(body: &[u8], at: u64, piece: &[u8]) -> Fault {
    // All pieces before this one were right, so it begins inside the expected body or at its end.
    let expected = &body[at as usize..];
    let same = expected.iter().zip(piece).take_while(|(a, b)| a == b).count();
    Fault::BadBody(if same == expected.len() {
        BodyFault::Long { expected: body.len() as u64 }
    } else {
        BodyFault::Differs { at: at + same as u64 }
    })
}

/// An expected JSON document and which answers are looked at: the first, and every so many after it.
#[derive(Debug)]
struct JsonCheck {
    document: Document,
    every: u32,
    /// Answers before the next one that is looked at.
    pass: u32,
}

impl JsonCheck {
    fn new(document: &[u8], every: u32) -> Result<JsonCheck, LoadError> {
        let refuse = |reason| LoadError::Option { option: "expect-json", reason };
        if every == 0 {
            return Err(refuse("every 0th answer is none; 1 looks at every answer".to_owned()));
        }
        let document = Document::parse(document)
            .map_err(|NotJson { at, flaw }| refuse(format!("the document is no JSON at byte {at}: {flaw}")))?;
        Ok(JsonCheck { document, every, pass: 0 })
    }

    /// Whether the answer whose body begins is looked at.
    fn look(&mut self) -> bool {
        let look = self.pass == 0;
        self.pass = if look { self.every } else { self.pass } - 1;
        look
    }

    fn collect(&mut self, at: u64, piece: &[u8], collected: &mut Option<Vec<u8>>) {
        if at == 0 && self.look() {
            *collected = Some(Vec::new());
        }
        if let Some(collected) = collected {
            collected.extend_from_slice(piece);
        }
    }

    fn judge(&mut self, received: u64, collected: &mut Option<Vec<u8>>) -> Result<(), Fault> {
        let body = match collected.take() {
            // A body without bytes has not begun.
            None if received == 0 && self.look() => Vec::new(),
            None => return Ok(()),
            Some(body) => body,
        };
        self.document.compare(&body).map_err(Fault::BadBody)
    }
}

/// The head last read as a whole. Answers to one request differ in little but the date, so nearly every head equals the
/// one before it byte for byte, and comparing costs a tenth of reading. It ends in an empty line, therefore bytes that
/// begin with it have it as their head.
#[derive(Debug, Default)]
pub(super) struct LastHead {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl LastHead {
    pub fn of(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        bytes.starts_with(&self.bytes).then_some((head, self.bytes.len()))
    }

    pub fn remember(&mut self, bytes: &[u8], head: Head) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.head = Some(head);
    }
}
