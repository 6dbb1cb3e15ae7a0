//! Entry point for a fuzzer: the input becomes an answer, and its verdict must not depend on how it is cut into pieces.
//!
//! The first two bytes of the input select the expectation and the cuts; the rest is the answer. The caller chooses those bytes, so a
//! corpus can use printable characters.

use super::answer::{Answer, AnswerReader, Rules};
use crate::fault::Fault;
use crate::options::{Expect, ExpectBody, ExpectStatus, Method, Request};

/// Small, so a fuzzer finds bodies that exceed it.
const BODY_LIMIT_BYTES: u64 = 200;

type Verdict = Result<Answer, Fault>;

/// Judges one answer whole, byte by byte, randomly cut, twice on the same connection, and with its body discarded. Panics if two verdicts
/// differ.
pub fn answer(data: &[u8]) {
    let Some(([choice, seed], answer)) = data.split_first_chunk() else { return };
    let request = request(*choice);
    let whole = judge([answer], &mut rules(&request));
    let check = |verdict: Verdict, how: &str| {
        assert_eq!(verdict, whole, "{how}, choice {choice:#04x}: {:?}", String::from_utf8_lossy(answer));
    };
    check(judge(answer.chunks(1), &mut rules(&request)), "byte by byte");
    for longest in [2, 7, 100] {
        check(judge(pieces(answer, *seed, longest), &mut rules(&request)), "in pieces");
    }
    // When the second answer comes, the head of the first is known.
    let mut seasoned = rules(&request);
    let first = judge([answer], &mut seasoned);
    let again = judge([answer], &mut seasoned);
    // Only some JSON answers are checked, so the second may pass where the first does not.
    if !matches!(request.expect.body, ExpectBody::Json { every: 2.., .. }) {
        check(again, "once more");
        check(judge(pieces(answer, *seed, 50), &mut seasoned), "once more in pieces");
        check(first, "first of two");
    }
    check(discard(answer, *seed, &mut rules(&request)), "thrown away");
    let twice = [answer, answer].concat();
    let at_once = in_line([twice.as_slice()], &mut rules(&request));
    let in_pieces = in_line(pieces(&twice, *seed, 9), &mut rules(&request));
    assert_eq!(in_pieces, at_once, "in line, choice {choice:#04x}: {:?}", String::from_utf8_lossy(answer));
    if let (Ok(expected), Ok([_])) = (whole, in_line([answer], &mut rules(&request)).as_deref()) {
        assert_eq!(at_once, Ok(vec![(expected, None); 2]), "in line, {:?}", String::from_utf8_lossy(answer));
    }
}

/// The answers of a connection on which they follow one another, each with the fault of its body.
fn in_line<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    rules: &mut Rules,
) -> Result<Vec<(Answer, Option<Fault>)>, Fault> {
    let (mut reader, mut found) = (AnswerReader::new(), Vec::new());
    reader.read_on();
    for piece in pieces {
        let mut at = 0;
        while at < piece.len() {
            let (taken, answer) = reader.feed_next(&piece[at..], rules)?;
            at += taken;
            found.extend(answer.map(|answer| (answer, reader.take_flaw())));
        }
    }
    Ok(found)
}

/// Decodes a byte: three bits select the body, one the method, one the status.
pub(crate) fn request(choice: u8) -> Request {
    let document = || br#"{"a":[1,2.5,"x"],"b":{"c":null,"d":true}}"#.to_vec();
    let body = match choice & 7 {
        0 => ExpectBody::Anything,
        1 => ExpectBody::Length(5),
        2 => ExpectBody::Exactly(b"hello".as_slice().into()),
        3 => ExpectBody::Exactly([].into()),
        4 => ExpectBody::Json { document: document().into(), every: 1 },
        5 => ExpectBody::Json { document: document().into(), every: 2 },
        6 => ExpectBody::Discard { length: None },
        _ => ExpectBody::Discard { length: Some(5) },
    };
    let method = if choice & 8 == 0 { Method::Get } else { Method::Head };
    let status = if choice & 16 == 0 { ExpectStatus::Success } else { ExpectStatus::Exactly(304) };
    Request { method, expect: Expect { status, body }, ..Request::get("/") }
}

pub(crate) fn rules(request: &Request) -> Rules {
    Rules::new(request, BODY_LIMIT_BYTES).expect("these requests are good")
}

/// The verdict on an answer whose stream ends after the last piece.
fn judge<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, rules: &mut Rules) -> Verdict {
    let mut reader = AnswerReader::new();
    let mut complete = None;
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        if complete.is_some() {
            return unasked();
        }
        complete = reader.feed(piece, rules)?;
        assert!(complete.is_some() != reader.has_begun(), "a complete answer must reset the reader");
    }
    complete.map_or_else(|| reader.end_of_stream(rules), Ok)
}

/// The same with a transport that discards bytes where allowed.
fn discard(mut answer: &[u8], seed: u8, rules: &mut Rules) -> Verdict {
    let mut reader = AnswerReader::new();
    let mut lengths = Lengths::new(seed, 60);
    let mut complete = None;
    while !answer.is_empty() {
        if complete.is_some() {
            return unasked();
        }
        let mut length = answer.len().min(lengths.draw());
        complete = match reader.discardable(rules) {
            Some(left) => {
                length = length.min(left);
                assert!(length > 0, "a body without bytes left must be complete");
                reader.discarded(length, rules)?
            }
            None => reader.feed(&answer[..length], rules)?,
        };
        answer = &answer[length..];
    }
    complete.map_or_else(|| reader.end_of_stream(rules), Ok)
}

/// The verdict of a reader that gets an answer and more bytes at once.
fn unasked() -> Verdict {
    Err(Fault::Malformed("bytes after the answer"))
}

pub(crate) fn pieces(mut answer: &[u8], seed: u8, longest: usize) -> impl Iterator<Item = &[u8]> {
    let mut lengths = Lengths::new(seed, longest);
    std::iter::from_fn(move || {
        let (piece, rest) = answer.split_at(answer.len().min(lengths.draw()));
        answer = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Lengths from 1 to `longest`, deterministic for each seed (xorshift, Marsaglia 2003).
struct Lengths {
    state: u32,
    longest: usize,
}

impl Lengths {
    fn new(seed: u8, longest: usize) -> Lengths {
        Lengths { state: 0x9e37_79b9 ^ u32::from(seed), longest }
    }

    fn draw(&mut self) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state as usize % self.longest + 1
    }
}

#[cfg(test)]
#[path = "fuzzing_tests.rs"]
mod tests;
