//! Bodies packed by gzip (RFC 1952), compared after unpacking.

use std::io::Read;

use flate2::bufread::GzDecoder;

use super::evidence::FirstBad;
use super::rules::difference;
use crate::fault::{BodyFault, Fault};

/// Bytes unpacked at a time.
const PIECE_BYTES: usize = 16 * 1024;

/// Judges a complete packed body by its content. It must be at most half as long as its content: gzip can also store data uncompressed.
pub(super) fn judge(packed: &[u8], owed: &[u8], first_bad: &mut FirstBad) -> Result<(), Fault> {
    let mut decoder = GzDecoder::new(packed);
    let (mut piece, mut at) = ([0; PIECE_BYTES], 0);
    loop {
        let length = decoder.read(&mut piece).map_err(|_| Fault::BadBody(BodyFault::NotGzip))?;
        let (came, end) = (&piece[..length], at + length);
        match owed.get(at..end) {
            _ if length == 0 => break,
            Some(expected) if expected == came => at = end,
            _ => return Err(difference(owed, at as u64, came, first_bad)),
        }
    }
    let fault = match () {
        () if at < owed.len() => BodyFault::Short { received: at as u64, expected: owed.len() as u64 },
        () if !decoder.into_inner().is_empty() => BodyFault::NotGzip,
        () if packed.len() * 2 > owed.len() => {
            BodyFault::Bulky { packed: packed.len() as u64, holds: owed.len() as u64 }
        }
        () => return Ok(()),
    };
    Err(Fault::BadBody(fault))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::http::answer::{AnswerReader, Rules};
    use crate::options::{Expect, ExpectBody, ExpectStatus, Request};

    fn packed(body: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    /// The result of an answer with this body, in pieces of `pieces` bytes.
    fn judged(owed: &[u8], body: &[u8], pieces: usize) -> Result<(), Fault> {
        let expect = Expect { status: ExpectStatus::Success, body: ExpectBody::Gzip(owed.into()) };
        let mut rules = Rules::new(&Request { expect, ..Request::get("/") }, 1 << 20).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let answer = [head.as_bytes(), body].concat();
        let (mut reader, mut complete) = (AnswerReader::new(), None);
        for piece in answer.chunks(pieces) {
            complete = reader.feed(piece, &mut rules)?;
        }
        assert!(complete.is_some());
        Ok(())
    }

    #[test]
    fn a_packed_body_is_good_by_what_it_holds() {
        let owed = b"hello, hello, hello, world".repeat(2_000);
        for (level, pieces) in [(1, 7), (6, 1_000), (9, 1 << 20)] {
            assert_eq!(judged(&owed, &packed(&owed, level), pieces), Ok(()));
        }
    }

    #[test]
    fn a_body_that_is_not_packed_or_holds_something_else_is_bad() {
        let owed = b"hello, hello, hello, world".repeat(2_000);
        let check = |body: &[u8], fault| {
            for pieces in [100, 1 << 20] {
                assert_eq!(judged(&owed, body, pieces), Err(Fault::BadBody(fault)));
            }
        };
        check(&owed, BodyFault::NotGzip);
        check(b"", BodyFault::NotGzip);
        let (whole, length) = (packed(&owed, 6), owed.len() as u64);
        check(&whole[..whole.len() - 9], BodyFault::NotGzip);
        check(&[&whole[..], b"more"].concat(), BodyFault::NotGzip);
        let mut broken = whole.clone();
        *broken.last_mut().unwrap() ^= 1;
        check(&broken, BodyFault::NotGzip);
        let stored = packed(&owed, 0);
        check(&stored, BodyFault::Bulky { packed: stored.len() as u64, holds: length });
        check(&packed(&owed[..40_000], 6), BodyFault::Short { received: 40_000, expected: length });
        check(&packed(&[&owed[..], b"!"].concat(), 6), BodyFault::Long { expected: length });
        let mut other = owed.clone();
        other[30_000] ^= 1;
        check(&packed(&other, 6), BodyFault::Differs { at: 30_000 });
    }
}
