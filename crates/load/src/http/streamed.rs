//! One answer whose head and body arrive separately, as in HTTP/2 frames. It is judged while it arrives, by the same rules as an HTTP/1.1
//! answer.

use super::answer::{Answer, Rules};
use super::head::{Framing, Head};
use crate::fault::Fault;
use crate::options::Method;

/// The received part of an answer.
#[derive(Debug, Default)]
pub(crate) struct StreamedAnswer {
    body_bytes: u64,
    /// The status, if unexpected. The body is then only counted.
    wrong_status: Option<u16>,
    /// The received part of a body that is checked once complete.
    collected: Option<Vec<u8>>,
}

impl StreamedAnswer {
    /// Processes the head. It may announce a length, and may be the whole answer. Returns the answer if it is complete.
    pub fn head(
        &mut self,
        status: u16,
        announced: Option<u64>,
        ends: bool,
        rules: &mut Rules,
    ) -> Result<Option<Answer>, Fault> {
        let to_head = rules.method == Method::Head;
        let framing = match announced {
            Some(bytes) if to_head => Framing::NoBodyOf(bytes),
            Some(bytes) if !ends => Framing::Length(bytes),
            _ => Framing::NoBody,
        };
        if rules.accepts_status(status) {
            rules.judge_length(&Head { status, framing, keep_alive: true })?;
        } else {
            self.wrong_status = Some(status);
        }
        match ends {
            true if to_head => Ok(Some(self.rest())),
            true => self.end(rules).map(Some),
            false => Ok(None),
        }
    }

    /// Processes a piece of the body.
    pub fn body(&mut self, piece: &[u8], rules: &mut Rules) -> Result<(), Fault> {
        if self.wrong_status.is_none() {
            rules.judge_body(self.body_bytes, piece, &mut self.collected)?;
        }
        self.body_bytes += piece.len() as u64;
        Ok(())
    }

    /// Processes the end of the answer.
    pub fn end(&mut self, rules: &mut Rules) -> Result<Answer, Fault> {
        if self.wrong_status.is_none() && rules.method != Method::Head {
            rules.judge_end(self.body_bytes, &mut self.collected)?;
        }
        Ok(self.rest())
    }

    fn rest(&self) -> Answer {
        Answer { keep_alive: true, wrong_status: self.wrong_status }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{BodyFault, ErrorClass};
    use crate::options::{Expect, ExpectBody, ExpectStatus, Request};

    fn rules(method: Method, body: ExpectBody) -> Rules {
        let expect = Expect { status: ExpectStatus::Success, body };
        Rules::new(&Request { method, expect, ..Request::get("/") }, 10).unwrap()
    }

    fn judged(rules: &mut Rules, status: u16, announced: Option<u64>, pieces: &[&[u8]]) -> Result<Option<u16>, Fault> {
        let mut answer = StreamedAnswer::default();
        if let Some(complete) = answer.head(status, announced, pieces.is_empty(), rules)? {
            return Ok(complete.wrong_status);
        }
        pieces.iter().try_for_each(|piece| answer.body(piece, rules))?;
        answer.end(rules).map(|complete| complete.wrong_status)
    }

    #[test]
    fn a_body_is_judged_piece_by_piece() {
        let mut exactly = rules(Method::Get, ExpectBody::Exactly(b"hello".as_slice().into()));
        assert_eq!(judged(&mut exactly, 200, Some(5), &[b"he", b"llo"]), Ok(None));
        assert_eq!(judged(&mut exactly, 200, None, &[b"hello"]), Ok(None));
        let differs = Fault::BadBody(BodyFault::Differs { at: 3 });
        assert_eq!(judged(&mut exactly, 200, None, &[b"he", b"lp!"]), Err(differs));
        let short = Fault::BadBody(BodyFault::Short { received: 2, expected: 5 });
        assert_eq!(judged(&mut exactly, 200, None, &[b"he"]), Err(short));
        let short = Fault::BadBody(BodyFault::Short { received: 0, expected: 5 });
        assert_eq!(judged(&mut exactly, 204, None, &[]), Err(short));
        let length = Fault::BadBody(BodyFault::Length { announced: 6, expected: 5 });
        assert_eq!(judged(&mut exactly, 200, Some(6), &[b"hello!"]), Err(length));
    }

    #[test]
    fn a_wrong_status_is_an_answer_whose_body_nobody_looks_at() {
        let mut exactly = rules(Method::Get, ExpectBody::Exactly(b"hello".as_slice().into()));
        assert_eq!(judged(&mut exactly, 500, Some(4), &[b"oops"]), Ok(Some(500)));
        assert_eq!(judged(&mut exactly, 404, None, &[]), Ok(Some(404)));
    }

    #[test]
    fn of_the_answer_to_head_the_announced_length_is_compared() {
        let mut head = rules(Method::Head, ExpectBody::Length(5));
        assert_eq!(judged(&mut head, 200, Some(5), &[]), Ok(None));
        assert_eq!(judged(&mut head, 200, None, &[]), Ok(None));
        assert!(judged(&mut head, 200, Some(6), &[]).is_err());
    }

    #[test]
    fn a_body_longer_than_the_limit_is_malformed() {
        let mut anything = rules(Method::Get, ExpectBody::Anything);
        assert_eq!(judged(&mut anything, 200, None, &[b"12345", b"67890"]), Ok(None));
        let fault = judged(&mut anything, 200, None, &[b"12345", b"67890", b"1"]).unwrap_err();
        assert_eq!(fault.class(), ErrorClass::Malformed);
    }
}
