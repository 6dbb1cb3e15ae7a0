//! Complete answers for [`ask`](crate::ask), with the engine's parsers of heads and chunks.

use super::chunked::{Chunked, Piece};
use super::head::{self, Framing, Reason};
use crate::ask::Answer;
use crate::options::Method;

/// The answer in `received`, or `None` while it is incomplete. `is_closed` means that no more bytes will come.
pub(crate) fn read(mut received: &[u8], is_head: bool, is_closed: bool) -> Result<Option<Answer>, Reason> {
    loop {
        if !head::may_begin_answer(received) {
            return Err("no status line");
        }
        let Some(end) = head::find_end(received, 0) else { return Ok(None) };
        let (text, rest) = received.split_at(end);
        let head = head::parse(text, if is_head { Method::Head } else { Method::Get })?;
        // Skips an interim answer before the real one.
        if (100..200).contains(&head.status) {
            received = rest;
            continue;
        }
        let body = body(head.framing, rest, is_closed)?;
        return Ok(body.map(|body| Answer { status: head.status, headers: headers(text), body }));
    }
}

fn body(framing: Framing, sent: &[u8], is_closed: bool) -> Result<Option<Vec<u8>>, Reason> {
    match framing {
        Framing::NoBody | Framing::NoBodyOf(_) => Ok(Some(Vec::new())),
        Framing::Length(length) if sent.len() as u64 > length => Err("more bytes than announced"),
        Framing::Length(length) => Ok((sent.len() as u64 == length).then(|| sent.to_vec())),
        Framing::Chunked => without_chunks(sent),
        Framing::UntilClose => Ok(is_closed.then(|| sent.to_vec())),
    }
}

/// The decoded body, or `None` until its last chunk and the trailers have arrived.
fn without_chunks(mut coded: &[u8]) -> Result<Option<Vec<u8>>, Reason> {
    let (mut chunks, mut body) = (Chunked::new(), Vec::new());
    while !coded.is_empty() {
        let (is_data, length) = match chunks.next(coded)? {
            Piece::End(_) => return Ok(Some(body)),
            Piece::Data(length) => (true, length),
            Piece::Framing(length) => (false, length),
        };
        let (piece, rest) = coded.split_at(length);
        if is_data {
            body.extend(piece);
        }
        coded = rest;
    }
    Ok(None)
}

/// The headers of a head, with names in lowercase.
fn headers(head: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(head);
    let fields = text.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect()
}
