//! The rules for judging answers.

use std::collections::HashMap;
use std::sync::Arc;

use super::blocks::Blocks;
use super::capture::Captures;
use super::evidence::{FirstBad, around, owed_and_came};
use super::gzip;
use super::head::{Framing, Head};
use super::json::{Document, Mismatch, NotJson, Owed};
use crate::error::LoadError;
use crate::fault::{BodyFault, Fault};
use crate::options::{ExpectBody, ExpectStatus, Method, Request};

/// Longest JSON body that is collected.
const JSON_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// Room for what gzip adds to a short body, including a file name.
const GZIP_FRAME_BYTES: u64 = 4_096;

/// The rules for the answers to one request; shared by all connections of a thread.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(super) method: Method,
    pub(super) last_head: LastHead,
    pub(super) discards: bool,
    status: ExpectStatus,
    check: Check,
    /// Length of a correct body, if it is fixed.
    length: Option<u64>,
    /// That length, or the limit.
    most_bytes: u64,
    first_bad: FirstBad,
}

/// Parsed documents by the address of their text, so requests that share a text share the document.
#[derive(Debug, Default)]
pub(crate) struct Documents(HashMap<*const u8, Arc<Document>>);

impl Documents {
    fn read(&mut self, text: &Arc<[u8]>) -> Result<Arc<Document>, NotJson> {
        if let Some(document) = self.0.get(&text.as_ptr()) {
            return Ok(Arc::clone(document));
        }
        let document = Arc::new(Document::parse(text)?);
        self.0.insert(text.as_ptr(), Arc::clone(&document));
        Ok(document)
    }
}

/// How to check the bytes of a body.
#[derive(Debug)]
enum Check {
    Count,
    Exactly(Arc<[u8]>),
    Blocks(Blocks),
    Gzip(Arc<[u8]>),
    Json(JsonCheck),
    Capture(Captures),
}

impl Rules {
    /// The rules of a request. If the length of a correct body is not known, `body_limit_bytes` limits it.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn new(request: &Request, body_limit_bytes: u64) -> Result<Rules, LoadError> {
        Rules::sharing(request, body_limit_bytes, &mut Documents::default())
    }

    /// The same for one of several requests that may share documents.
    pub fn sharing(request: &Request, body_limit_bytes: u64, documents: &mut Documents) -> Result<Rules, LoadError> {
        let mut limit_bytes = body_limit_bytes;
        let (check, length) = match &request.expect.body {
            ExpectBody::Anything => (Check::Count, None),
            ExpectBody::Length(length) => (Check::Count, Some(*length)),
            ExpectBody::Discard { length } => (Check::Count, *length),
            ExpectBody::Exactly(body) => {
                let check = Blocks::of(body).map_or_else(|| Check::Exactly(Arc::clone(body)), Check::Blocks);
                (check, Some(body.len() as u64))
            }
            ExpectBody::Gzip(body) => {
                // The body is collected, so limit it. One that is longer packed than unpacked is wrong at any length.
                limit_bytes = limit_bytes.min(2 * body.len() as u64 + GZIP_FRAME_BYTES);
                (Check::Gzip(Arc::clone(body)), None)
            }
            ExpectBody::Json { document, every } => {
                // Applies to unchecked answers too: whether an answer is good must not depend on its number.
                limit_bytes = limit_bytes.min(JSON_LIMIT_BYTES);
                (Check::Json(JsonCheck::new(document, *every, documents)?), None)
            }
        };
        let check = match (request.captures.as_slice(), check) {
            ([], check) => check,
            (captures, Check::Count) if !matches!(request.expect.body, ExpectBody::Discard { .. }) => {
                limit_bytes = limit_bytes.min(JSON_LIMIT_BYTES);
                Check::Capture(Captures::new(captures.iter().map(|capture| capture.pointer.as_str())))
            }
            _ => {
                let reason = "`capture` excludes a body that is compared or thrown away".to_owned();
                return Err(LoadError::Option { option: "request-file", reason });
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
            first_bad: FirstBad::default(),
        })
    }

    /// Whether an answer with this head and complete body is good, if that can be decided at once without changing state.
    #[inline]
    pub(super) fn accept(&self, head: &Head, body: &[u8]) -> bool {
        let good = match &self.check {
            Check::Exactly(expected) => **expected == *body,
            Check::Blocks(expected) => expected.body().len() == body.len() && expected.agrees(0, body),
            Check::Count => {
                self.length.map_or(body.len() as u64 <= self.most_bytes, |length| length == body.len() as u64)
            }
            Check::Gzip(_) | Check::Json(_) | Check::Capture(_) => false,
        };
        good && head.framing == Framing::Length(body.len() as u64) && self.status.accepts(head.status)
    }

    /// Whether bodies may be discarded unseen.
    #[inline]
    pub fn discards(&self) -> bool {
        self.discards
    }

    /// Whether an answer with this status is good.
    #[inline]
    pub(super) fn accepts_status(&self, status: u16) -> bool {
        self.status.accepts(status)
    }

    /// Judges the body's length as announced in the head.
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

    /// Judges a piece of a body that begins at offset `at`. A body that is checked once complete is gathered in `collected`.
    #[inline]
    pub(super) fn judge_body(&mut self, at: u64, piece: &[u8], collected: &mut Option<Vec<u8>>) -> Result<(), Fault> {
        let end = at + piece.len() as u64;
        match &mut self.check {
            Check::Exactly(body) => match body.get(at as usize..end as usize) {
                Some(expected) if expected == piece => Ok(()),
                _ => Err(difference(body, at, piece, &mut self.first_bad)),
            },
            Check::Blocks(blocks) if blocks.agrees(at as usize, piece) => Ok(()),
            Check::Blocks(blocks) => Err(difference(blocks.body(), at, piece, &mut self.first_bad)),
            _ if end > self.most_bytes => Err(self.too_long()),
            Check::Gzip(_) => {
                collected.get_or_insert_default().extend_from_slice(piece);
                Ok(())
            }
            Check::Json(json) => {
                json.collect(at, piece, collected);
                Ok(())
            }
            Check::Capture(_) => {
                collected.get_or_insert_default().extend_from_slice(piece);
                Ok(())
            }
            Check::Count => Ok(()),
        }
    }

    /// Judges a complete body.
    pub(super) fn judge_end(&mut self, received: u64, collected: &mut Option<Vec<u8>>) -> Result<(), Fault> {
        match (self.length, &mut self.check) {
            (Some(expected), _) if expected != received => Err(self.too_short(received, expected)),
            (_, Check::Gzip(owed)) => gzip::judge(&collected.take().unwrap_or_default(), owed, &mut self.first_bad),
            (_, Check::Json(json)) => json.judge(received, collected, &mut self.first_bad),
            (_, Check::Capture(captures)) => captures.take(&collected.take().unwrap_or_default()),
            _ => Ok(()),
        }
    }

    /// Judges a body in one piece.
    pub fn judge_whole(&mut self, body: &[u8]) -> Result<(), Fault> {
        let mut collected = None;
        self.judge_body(0, body, &mut collected)?;
        self.judge_end(body.len() as u64, &mut collected)
    }

    /// The values captured from the last good answer, in the order of the request's captures.
    pub fn captured(&mut self) -> &mut [String] {
        match &mut self.check {
            Check::Capture(captures) => &mut captures.found,
            _ => &mut [],
        }
    }

    /// The expected body, if it is fixed.
    fn body(&self) -> Option<&[u8]> {
        match &self.check {
            Check::Exactly(body) => Some(body),
            Check::Blocks(blocks) => Some(blocks.body()),
            Check::Count | Check::Gzip(_) | Check::Json(_) | Check::Capture(_) => None,
        }
    }

    #[cold]
    fn too_short(&mut self, received: u64, expected: u64) -> Fault {
        let fault = BodyFault::Short { received, expected };
        self.keep(fault, |body| Some(owed_and_came(body, received as usize, b"")));
        Fault::BadBody(fault)
    }

    /// The announced length is wrong; the received part of the body may show how the body differs.
    #[cold]
    pub(super) fn look_at_wrong_length(&mut self, fault: &Fault, came: &[u8]) {
        let &Fault::BadBody(fault) = fault else { return };
        self.keep(fault, |body| {
            let same = body.iter().zip(came).take_while(|(a, b)| a == b).count();
            (same < came.len())
                .then(|| format!(", and differs from byte {same} on{}", owed_and_came(body, same, &came[same..])))
        });
    }

    fn keep(&mut self, fault: BodyFault, words: impl FnOnce(&[u8]) -> Option<String>) {
        if self.first_bad.is_kept() {
            return;
        }
        if let Some(words) = self.body().and_then(words) {
            self.first_bad.keep(fault, || words);
        }
    }

    /// Details on a fault beyond its own text: what was expected by default, or how the first bad body under these rules differs.
    pub fn words_on(&self, fault: &Fault) -> Option<&str> {
        match fault {
            Fault::BadBody(fault) => self.first_bad.words(fault),
            Fault::BadStatus(_) if self.status == ExpectStatus::Success => Some(" (a 2xx)"),
            _ => None,
        }
    }

    #[cold]
    fn too_long(&self) -> Fault {
        self.length.map_or(Fault::Malformed("the body is longer than the limit"), |expected| {
            Fault::BadBody(BodyFault::Long { expected })
        })
    }
}

/// How a piece differs from the expected body at its offset.
#[cold]
pub(super) fn difference(body: &[u8], at: u64, piece: &[u8], first_bad: &mut FirstBad) -> Fault {
    // All pieces before this one were right, so it begins inside the expected body or at its end.
    let expected = &body[at as usize..];
    let same = expected.iter().zip(piece).take_while(|(a, b)| a == b).count();
    let fault = if same == expected.len() {
        BodyFault::Long { expected: body.len() as u64 }
    } else {
        BodyFault::Differs { at: at + same as u64 }
    };
    first_bad.keep(fault, || owed_and_came(body, at as usize + same, &piece[same..]));
    Fault::BadBody(fault)
}

/// Why a document cannot be used to judge bodies, as a sentence.
pub(crate) fn problem_of_json(document: &[u8]) -> Option<String> {
    Document::parse(document).err().map(no_json)
}

fn no_json(NotJson { at, flaw }: NotJson) -> String {
    format!("the document is no JSON at byte {at}: {flaw}")
}

/// An expected JSON document, and which answers are compared: the first, and then one in every `every`.
#[derive(Debug)]
struct JsonCheck {
    document: Arc<Document>,
    every: u32,
    /// Answers to skip before the next one to check.
    pass: u32,
}

impl JsonCheck {
    fn new(text: &Arc<[u8]>, every: u32, documents: &mut Documents) -> Result<JsonCheck, LoadError> {
        let refuse = |reason| LoadError::Option { option: "expect-json", reason };
        if every == 0 {
            return Err(refuse("every 0th answer is none; 1 looks at every answer".to_owned()));
        }
        let document = documents.read(text).map_err(|flaw| refuse(no_json(flaw)))?;
        Ok(JsonCheck { document, every, pass: 0 })
    }

    /// Whether to check the answer whose body begins now.
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

    fn judge(&mut self, received: u64, collected: &mut Option<Vec<u8>>, first_bad: &mut FirstBad) -> Result<(), Fault> {
        let body = match collected.take() {
            // A body without bytes has not called `collect`.
            None if received == 0 && self.look() => Vec::new(),
            None => return Ok(()),
            Some(body) => body,
        };
        self.document.compare(&body).map_err(|Mismatch { fault, owed }| {
            first_bad.keep(fault, || json_words(fault, owed, &body));
            Fault::BadBody(fault)
        })
    }
}

/// Describes the expected and the received JSON.
fn json_words(fault: BodyFault, owed: Option<Owed<'_>>, body: &[u8]) -> String {
    let (BodyFault::NotJson { at, .. } | BodyFault::DiffersInJson { at, .. }) = fault else { return String::new() };
    let (before, from) = body.split_at((at as usize).min(body.len()));
    let came = if from.is_empty() { "its end".to_owned() } else { around(before, from) };
    match owed {
        Some(owed) => format!("; expected {owed}, got {came}"),
        None => format!("; got {came}"),
    }
}

/// The last complete head. Answers to one request differ in little but the date, so nearly every head equals the previous one. Comparing
/// costs a tenth of parsing. It ends in an empty line, so any bytes that begin with it have it as their head.
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
