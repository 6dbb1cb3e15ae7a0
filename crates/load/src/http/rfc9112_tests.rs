//! RFC 9112 from the client's side, section by section: a table of answers and their verdicts. Every answer is fed whole, byte by byte, and
//! cut in two at every offset; the verdict must be the same.

use super::super::head::{Framing, Head};
use super::*;
use crate::options::{Expect, ExpectBody, ExpectStatus, Request};

/// The expected verdict.
#[derive(Debug)]
enum Is {
    /// Good: its status, its framing, whether the connection is kept, and its body.
    Good(u16, Framing, bool, &'static str),
    /// Invalid, and why.
    Malformed(&'static str),
    /// Valid so far, but the stream ended.
    Cut,
}

use Framing::{Chunked as ByChunks, Length, NoBody, NoBodyOf, UntilClose};
use Is::{Cut, Good, Malformed};

const KEEP: bool = true;
const CLOSE: bool = false;

/// Judges the pieces of an answer whose stream ends after them. Also returns the rules, which hold the parsed head.
fn judge<'a>(method: Method, is: &Is, pieces: impl Iterator<Item = &'a [u8]>) -> (Result<Answer, Fault>, Rules) {
    let (status, body) = match is {
        Good(status, _, _, body) => (ExpectStatus::Exactly(*status), ExpectBody::Exactly(body.as_bytes().into())),
        Malformed(_) | Cut => (ExpectStatus::Success, ExpectBody::Anything),
    };
    let request = Request { method, expect: Expect { status, body }, ..Request::get("/") };
    let mut rules = Rules::new(&request, 1_000).unwrap();
    let mut reader = AnswerReader::new();
    let mut complete = None;
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        if complete.is_some() {
            // The fault of a complete answer with bytes after it.
            return (Err(Fault::Malformed("bytes after the answer")), rules);
        }
        match reader.feed(piece, &mut rules) {
            Ok(answer) => complete = answer,
            Err(fault) => return (Err(fault), rules),
        }
    }
    (complete.map_or_else(|| reader.end_of_stream(&mut rules), Ok), rules)
}

fn check_pieces<'a>(method: Method, answer: &[u8], is: &Is, pieces: impl Iterator<Item = &'a [u8]>, how: &str) {
    let (verdict, rules) = judge(method, is, pieces);
    let text = format!("{:?} {how}", String::from_utf8_lossy(answer));
    match is {
        Good(status, framing, keep_alive, _) => {
            assert_eq!(verdict, Ok(Answer { keep_alive: *keep_alive, wrong_status: None }), "{text}");
            let head = (0..answer.len()).find_map(|at| rules.last_head.of(&answer[at..])).map(|(head, _)| head);
            let expected = Head { status: *status, framing: *framing, keep_alive: *keep_alive };
            assert_eq!(head, Some(expected), "{text}");
        }
        Malformed(reason) => assert_eq!(verdict, Err(Fault::Malformed(reason)), "{text}"),
        Cut => assert_eq!(verdict, Err(Fault::ClosedInsideAnswer), "{text}"),
    }
}

fn check(method: Method, table: &[(&str, Is)]) {
    for (answer, is) in table {
        let answer = answer.as_bytes();
        check_pieces(method, answer, is, [answer].into_iter(), "whole");
        check_pieces(method, answer, is, answer.chunks(1), "byte by byte");
        for split in 1..answer.len() {
            let (front, back) = answer.split_at(split);
            check_pieces(method, answer, is, [front, back].into_iter(), &format!("cut at {split}"));
        }
    }
}

const NO_HTTP: Is = Malformed("it does not begin with HTTP/1.");
const NO_STATUS: Is = Malformed("the status line has no status of three digits");
const NO_NAME: Is = Malformed("a header name holds a character that no name may hold");
const CONTROL: Is = Malformed("a header value holds a control character");

#[test]
fn section_2_messages_and_versions() {
    check(
        Method::Get,
        &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Good(200, Length(2), KEEP, "ok")),
            // §2.2: a lone LF may end a line; a lone CR does not. An empty line before an answer is not part of it.
            ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", Good(200, Length(2), KEEP, "ok")),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok", Good(200, Length(2), KEEP, "ok")),
            ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", NO_HTTP),
            ("HTTP/1.1 200 OK\r\nA: b\rContent-Length: 2\r\n\r\nok", CONTROL),
            ("HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n", CONTROL),
            // §2.3: the name is in capitals; the version has two digits.
            ("http/1.1 200 OK\r\n\r\n", NO_HTTP),
            ("HTTP/2 200\r\n\r\n", NO_HTTP),
            ("HTTP/1.\r\n\r\n", Malformed("the status line is too short")),
            ("HTTP/1.2 200 OK\r\n\r\n", Malformed("the status line does not begin with HTTP/1.0 or HTTP/1.1")),
            ("HTTP/1.11 200 OK\r\n\r\n", NO_STATUS),
            ("ICY 200 OK\r\n\r\n", NO_HTTP),
            ("hello", NO_HTTP),
        ],
    );
}

#[test]
fn section_4_status_lines() {
    check(
        Method::Get,
        &[
            ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", Good(200, Length(0), KEEP, "")),
            ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", Good(200, Length(0), KEEP, "")),
            ("HTTP/1.1 404 Nicht da: \u{e4}\t!\r\nContent-Length: 0\r\n\r\n", Good(404, Length(0), KEEP, "")),
            ("HTTP/1.1 299 X\r\nContent-Length: 0\r\n\r\n", Good(299, Length(0), KEEP, "")),
            ("HTTP/1.1  200 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1\t200 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1 20 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1 2000 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1 099 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1 +20 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1 OK\r\n\r\n", NO_STATUS),
            ("HTTP/1.1\r\n\r\n", NO_STATUS),
            ("HTTP/1.1 200 O\0K\r\n\r\n", Malformed("the status line holds a control character")),
        ],
    );
}

#[test]
fn section_5_fields() {
    check(
        Method::Get,
        &[
            ("HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:2\r\n\r\nok", Good(200, Length(2), KEEP, "ok")),
            ("HTTP/1.1 200 OK\r\nContent-Length: \t 2 \t\r\nEmpty:\r\n\r\nok", Good(200, Length(2), KEEP, "ok")),
            (
                "HTTP/1.1 200 OK\r\nX!#$%&'*+-.^_`|~9: a\tb\u{fc}\r\nContent-Length: 0\r\n\r\n",
                Good(200, Length(0), KEEP, ""),
            ),
            // §5.1: a blank before the colon. §5.2: folded lines.
            ("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", NO_NAME),
            ("HTTP/1.1 200 OK\r\nX: a\r\n b: c\r\n\r\n", NO_NAME),
            ("HTTP/1.1 200 OK\r\nX: a\r\n\tb: c\r\n\r\n", NO_NAME),
            ("HTTP/1.1 200 OK\r\n X: a\r\n\r\n", NO_NAME),
            ("HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n", Malformed("a header line has no colon")),
            ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Malformed("a header line has no colon")),
            ("HTTP/1.1 200 OK\r\n: x\r\n\r\n", NO_NAME),
            ("HTTP/1.1 200 OK\r\nX\u{fc}: x\r\n\r\n", NO_NAME),
            ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", CONTROL),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2", Cut),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", Cut),
            ("H", Cut),
        ],
    );
}

#[test]
fn section_6_lengths_of_bodies() {
    const CODING: Is = Malformed("a Transfer-Encoding other than chunked");
    const NUMBER: Is = Malformed("Content-Length is not a number");
    check(
        Method::Get,
        &[
            // §6.3 (1): no body, whatever the head contains.
            ("HTTP/1.1 204 No Content\r\n\r\n", Good(204, NoBody, KEEP, "")),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Good(204, NoBody, KEEP, "")),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Good(304, NoBody, KEEP, "")),
            ("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", Good(304, NoBody, KEEP, "")),
            ("HTTP/1.1 204 No Content\r\n\r\n0\r\n\r\n", Malformed("bytes after the answer")),
            // (3): two framings are invalid.
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                Malformed("both Content-Length and Transfer-Encoding"),
            ),
            // (4): codings.
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                Good(200, ByChunks, KEEP, "ok"),
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding:  CHUNKED \r\n\r\n0\r\n\r\n", Good(200, ByChunks, KEEP, "")),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", CODING),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n", CODING),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n", CODING),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", CODING),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", CODING),
            (
                "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                Malformed("Transfer-Encoding in an HTTP/1.0 answer"),
            ),
            // (5): invalid or contradictory lengths.
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 02\r\n\r\nok",
                Good(200, Length(2), KEEP, "ok"),
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
                Malformed("two Content-Lengths contradict each other"),
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok",
                Malformed("two Content-Lengths contradict each other"),
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n\r\nok", NUMBER),
            ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", NUMBER),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", NUMBER),
            ("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", NUMBER),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok", NUMBER),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2 2\r\n\r\nok", NUMBER),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
                Malformed("Content-Length is too large a number"),
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
                Malformed("the body announced is longer than the limit"),
            ),
            // (6): exactly the announced bytes must come.
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", Cut),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n", Malformed("bytes after the answer")),
            // (8): otherwise the end of the connection ends the body.
            ("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nok", Good(200, UntilClose, CLOSE, "ok")),
            ("HTTP/1.1 200 OK\r\n\r\n", Good(200, UntilClose, CLOSE, "")),
            ("HTTP/1.0 200 OK\r\n\r\nok", Good(200, UntilClose, CLOSE, "ok")),
        ],
    );
}

#[test]
fn section_6_answers_to_head() {
    check(
        Method::Head,
        &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", Good(200, NoBodyOf(2), KEEP, "ok")),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Good(200, NoBody, KEEP, "ok")),
            ("HTTP/1.1 200 OK\r\n\r\n", Good(200, NoBody, KEEP, "ok")),
            ("HTTP/1.0 200 OK\r\n\r\n", Good(200, NoBody, CLOSE, "ok")),
            ("HTTP/1.1 204 No Content\r\n\r\n", Good(204, NoBody, KEEP, "")),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Malformed("bytes after the answer")),
        ],
    );
}

#[test]
fn section_7_chunked_coding() {
    let answers = |table: Vec<(&'static str, Is)>| {
        for (coded, is) in table {
            let answer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{coded}");
            check(Method::Get, &[(&answer, is)]);
        }
    };
    answers(vec![
        ("00A\r\n0123456789\r\n1\r\nx\r\n00\r\n\r\n", Good(200, ByChunks, KEEP, "0123456789x")),
        // §7.1.1: extensions are ignored.
        ("2;a;b=c;d=\"e;f\"\r\nok\r\n0;g\r\n\r\n", Good(200, ByChunks, KEEP, "ok")),
        ("2 \t;a\r\nok\r\n0 \r\n\r\n", Good(200, ByChunks, KEEP, "ok")),
        ("2 a\r\nok\r\n", Malformed("something other than an extension follows a chunk size")),
        ("2;a\n", Malformed("a chunk line ends without CR")),
        ("2;a\rb", Malformed("a lone CR in a chunk line")),
        ("2;\0\r\n", Malformed("a control character in a chunk extension or a trailer")),
        // §7.1.2: trailers are fields.
        ("0\r\nX-Sum: 1\r\nY:\r\n\r\n", Good(200, ByChunks, KEEP, "")),
        ("0\r\nX\r\n\r\n", Malformed("a trailer's name is missing or holds a character that no name may hold")),
        (
            "0\r\nX: a\r\n b\r\n\r\n",
            Malformed("a trailer's name is missing or holds a character that no name may hold"),
        ),
        ("0\r\nX: a\n", Malformed("a trailer ends without CR")),
        ("0\r\nX: \x7f\r\n", Malformed("a control character in a chunk extension or a trailer")),
        // §7.1: sizes and line ends.
        ("\r\n", Malformed("a chunk has no size")),
        ("0x2\r\nok\r\n", Malformed("a chunk size is not a hexadecimal number")),
        ("00000000000000002\r\nok\r\n", Malformed("a chunk size is too large a number")),
        ("2\nok\r\n", Malformed("a chunk size is not a hexadecimal number")),
        ("2\r\nok!\r\n", Malformed("chunk data goes on after its size")),
        ("2\r\nok\n", Malformed("chunk data goes on after its size")),
        ("0\r\n\r\n\r\n", Malformed("bytes after the answer")),
        // §8: incomplete.
        ("2\r\nok\r\n0\r\n", Cut),
        ("2\r\nok\r\n", Cut),
        ("2\r\no", Cut),
        ("", Cut),
    ]);
}

#[test]
fn section_9_connections() {
    check(
        Method::Get,
        &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", Good(200, Length(0), CLOSE, "")),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nconnection: X,\tClose ,y\r\n\r\n",
                Good(200, Length(0), CLOSE, ""),
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: closed\r\n\r\n", Good(200, Length(0), KEEP, "")),
            (
                "HTTP/1.1 200 OK\r\nConnection: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                Good(200, Length(0), CLOSE, ""),
            ),
            ("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", Good(204, NoBody, CLOSE, "")),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", Good(200, Length(0), CLOSE, "")),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", Good(200, Length(0), KEEP, "")),
            (
                "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: close, keep-alive\r\n\r\n",
                Good(200, Length(0), CLOSE, ""),
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=5\r\n\r\n", Good(200, Length(0), CLOSE, "")),
            ("HTTP/1.0 204 No Content\r\nConnection: keep-alive\r\n\r\n", Good(204, NoBody, KEEP, "")),
        ],
    );
}

#[test]
fn interim_answers_are_none() {
    check(
        Method::Get,
        &[
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                Good(200, Length(2), KEEP, "ok"),
            ),
            (
                "HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nLink: </a>\r\nConnection: close\r\n\r\nHTTP/1.1 204 N\r\n\r\n",
                Good(204, NoBody, KEEP, ""),
            ),
            ("HTTP/1.1 199 X\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", Good(200, UntilClose, CLOSE, "")),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Malformed("it switches to another protocol")),
            ("HTTP/1.1 100 Continue\r\n\r\n", Cut),
            ("HTTP/1.1 100 Continue\r\n\r\nhello", NO_HTTP),
        ],
    );
    let many = |count| "HTTP/1.1 100 Continue\r\n\r\n".repeat(count) + "HTTP/1.1 204 No Content\r\n\r\n";
    check(
        Method::Get,
        &[(&many(32), Good(204, NoBody, KEEP, "")), (&many(33), Malformed("more than 32 interim answers"))],
    );
}
