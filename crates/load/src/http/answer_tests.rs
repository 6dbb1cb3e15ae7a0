//! Good and broken answers, each fed whole, byte by byte, and cut in two at every offset.

use proptest::prelude::*;

use super::*;
use crate::fault::BodyFault;
use crate::options::{Expect, ExpectBody, ExpectStatus, Request};

/// The result of an answer whose stream ends after the last piece, if it was not complete before.
type Outcome = Result<Answer, Fault>;

const KEPT: Outcome = Ok(Answer { keep_alive: true, wrong_status: None });
const CLOSED: Outcome = Ok(Answer { keep_alive: false, wrong_status: None });

fn rules(method: Method, body: Option<&[u8]>) -> Rules {
    let body = body.map_or(ExpectBody::Anything, |body| ExpectBody::Exactly(body.into()));
    rules_of(method, ExpectStatus::Success, body)
}

fn rules_of(method: Method, status: ExpectStatus, body: ExpectBody) -> Rules {
    Rules::new(&Request { method, expect: Expect { status, body }, ..Request::get("/") }, 100).unwrap()
}

fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, rules: &mut Rules) -> Outcome {
    let mut reader = AnswerReader::new();
    let mut complete = None;
    for piece in pieces {
        assert!(complete.is_none() || piece.is_empty(), "the answer was complete before its last byte");
        complete = reader.feed(piece, rules)?.or(complete);
    }
    complete.map_or_else(|| reader.end_of_stream(rules), Ok)
}

/// Feeds an answer whole, byte by byte, and cut in two at every offset. Expects the same result each time.
fn check_with(method: Method, body: Option<&[u8]>, answer: &[u8], expected: Outcome) {
    let text = String::from_utf8_lossy(answer);
    let mut rules = rules(method, body);
    for split in 0..=answer.len() {
        let (front, back) = answer.split_at(split);
        assert_eq!(feed([front, back], &mut rules), expected, "{text:?} cut at {split}");
    }
    assert_eq!(feed(answer.chunks(1), &mut rules), expected, "{text:?} byte by byte");
}

fn check(answer: &str, expected: Outcome) {
    check_with(Method::Get, Some(b"hello"), answer.as_bytes(), expected);
}

/// For broken answers. Where the stream is cut affects how early the fault is detected. So only its class must be the same for every cut.
fn check_class(answer: &str, expected: Fault) {
    let answer = answer.as_bytes();
    let mut rules = rules(Method::Get, Some(b"hello"));
    for split in 0..=answer.len() {
        let (front, back) = answer.split_at(split);
        let mut reader = AnswerReader::new();
        let outcome = match reader.feed(front, &mut rules) {
            Ok(None) => reader.feed(back, &mut rules),
            // Complete although bytes follow: the connection would see them as unsolicited.
            Ok(Some(_)) if !back.is_empty() => reader.feed(back, &mut rules).and(Err(expected)),
            early => early,
        };
        let fault = outcome.and_then(|answer| answer.map_or_else(|| reader.end_of_stream(&mut rules), Ok)).unwrap_err();
        assert_eq!(fault.class(), expected.class(), "{:?} cut at {split}", String::from_utf8_lossy(answer));
    }
}

#[test]
fn good_answers_of_every_framing() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", KEPT);
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", CLOSED);
    check("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", CLOSED);
    check("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello", KEPT);
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", KEPT);
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n3\r\nllo\r\n0\r\nT: t\r\n\r\n", KEPT);
    check("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nhello", CLOSED);
    check("HTTP/1.0 200 OK\r\n\r\nhello", CLOSED);
}

#[test]
fn interim_answers_are_passed_over() {
    let real = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    check(&format!("HTTP/1.1 100 Continue\r\n\r\n{real}"), KEPT);
    check(&format!("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n{real}"), KEPT);
    check_class("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Fault::Malformed(""));
    check("HTTP/1.1 100 Continue\r\n\r\n", Err(Fault::ClosedInsideAnswer));
}

#[test]
fn interim_answers_are_counted_anew_for_every_request() {
    let answer = "HTTP/1.1 100 Continue\r\n\r\n".repeat(30) + "HTTP/1.1 204 No Content\r\n\r\n";
    let (mut rules, mut reader) = (rules(Method::Get, None), AnswerReader::new());
    for _ in 0..3 {
        assert_eq!(
            reader.feed(answer.as_bytes(), &mut rules),
            Ok(Some(Answer { keep_alive: true, wrong_status: None }))
        );
    }
}

#[test]
fn answers_without_a_body() {
    let empty = Some(&b""[..]);
    check_with(Method::Get, empty, b"HTTP/1.1 204 No Content\r\n\r\n", KEPT);
    check_with(Method::Get, empty, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", KEPT);
    check_with(Method::Get, empty, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", KEPT);
    check_with(Method::Head, Some(b"hello"), b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", KEPT);
    check_with(Method::Head, None, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", KEPT);
}

#[test]
fn a_missing_body_is_a_bad_body() {
    check("HTTP/1.1 204 No Content\r\n\r\n", Err(Fault::BadBody(BodyFault::Short { received: 0, expected: 5 })));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n0\r\n\r\n";
    check(chunked, Err(Fault::BadBody(BodyFault::Short { received: 4, expected: 5 })));
    check("HTTP/1.1 200 OK\r\n\r\nhel", Err(Fault::BadBody(BodyFault::Short { received: 3, expected: 5 })));
}

#[test]
fn every_byte_of_a_body_is_compared() {
    let length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    check_class(&format!("{length}hellO"), Fault::BadBody(BodyFault::Differs { at: 4 }));
    check_class(&format!("{length}Xello"), Fault::BadBody(BodyFault::Differs { at: 0 }));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check_class(&format!("{chunked}3\r\nhel\r\n2\r\nlO\r\n0\r\n\r\n"), Fault::BadBody(BodyFault::Differs { at: 4 }));
    check_class(&format!("{chunked}6\r\nhello!\r\n0\r\n\r\n"), Fault::BadBody(BodyFault::Long { expected: 5 }));
    check_class("HTTP/1.1 200 OK\r\n\r\nhello!", Fault::BadBody(BodyFault::Long { expected: 5 }));
    let other_length = BodyFault::Length { announced: 6, expected: 5 };
    check_class("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!", Fault::BadBody(other_length));
}

#[test]
fn the_first_differing_byte_is_named() {
    let mut rules = rules(Method::Get, Some(b"hello"));
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nheLlo";
    let fault = AnswerReader::new().feed(answer, &mut rules).unwrap_err();
    assert_eq!(fault.to_string(), "the body is not the expected one: it differs from byte 2 on");
}

#[test]
fn an_answer_with_a_wrong_status_is_read_to_its_end_whatever_its_body() {
    for (answer, keep_alive) in [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot there", true),
        ("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n", true),
        ("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nuntil the end", false),
        // Incomplete, but its status was already known to be wrong.
        ("HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nbrok", false),
    ] {
        let status = answer[9..12].parse().unwrap();
        check(answer, Ok(Answer { keep_alive, wrong_status: Some(status) }));
    }
}

#[test]
fn a_wrong_status_is_told_before_a_wrong_body() {
    check(
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        Ok(Answer { keep_alive: true, wrong_status: Some(404) }),
    );
    check("HTTP/1.1 304 Not Modified\r\n\r\n", Ok(Answer { keep_alive: true, wrong_status: Some(304) }));
    let mut rules = rules_of(Method::Get, ExpectStatus::Exactly(404), ExpectBody::Anything);
    assert_eq!(feed([&b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..]], &mut rules), KEPT);
    assert_eq!(
        feed([&b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..]], &mut rules),
        Ok(Answer { keep_alive: true, wrong_status: Some(200) })
    );
}

#[test]
fn a_stream_that_ends_early_is_closed_before_or_inside_the_answer() {
    check("", Err(Fault::ClosedBeforeAnswer));
    check("H", Err(Fault::ClosedInsideAnswer));
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", Err(Fault::ClosedInsideAnswer));
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Err(Fault::ClosedInsideAnswer));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Err(Fault::ClosedInsideAnswer));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", Err(Fault::ClosedInsideAnswer));
}

#[test]
fn what_is_not_http_is_malformed() {
    for answer in [
        "garbage",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloX",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nX",
    ] {
        check_class(answer, Fault::Malformed(""));
    }
}

#[test]
fn a_second_answer_nobody_asked_for_is_malformed() {
    let mut rules = rules(Method::Get, Some(b"hello"));
    let twice = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".repeat(2);
    assert_eq!(AnswerReader::new().feed(&twice, &mut rules), Err(Fault::Malformed("bytes after the answer")));
}

#[test]
fn heads_are_limited_to_64_kib_also_in_drops_and_also_by_interim_answers() {
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(11_000));
    let ended = format!("HTTP/1.1 200 OK\r\n{}\r\nhello", "X: y\r\n".repeat(11_000));
    let interim = format!("HTTP/1.1 103 Early Hints\r\nLink: {}\r\n\r\n", "x".repeat(3_000)).repeat(30);
    for bytes in [endless, ended, interim] {
        for size in [1, 1_000, bytes.len()] {
            let mut rules = rules(Method::Get, None);
            let outcome = feed(bytes.as_bytes().chunks(size), &mut rules);
            assert_eq!(outcome, Err(Fault::Malformed("the head is longer than 64 KiB")), "in pieces of {size}");
        }
    }
    let start = "HTTP/1.1 204 No Content\r\nX: ";
    let longest = format!("{start}{}\r\n\r\n", "x".repeat(HEAD_LIMIT_BYTES - start.len() - 4));
    for size in [1, 1_000, longest.len()] {
        assert_eq!(feed(longest.as_bytes().chunks(size), &mut rules(Method::Get, None)), KEPT);
    }
}

#[test]
fn a_connection_keeps_little_of_a_long_head_that_came_in_parts() {
    let head = format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 100\r\n\r\n", "x".repeat(60_000));
    let (mut rules, mut reader) = (rules(Method::Get, None), AnswerReader::new());
    assert_eq!(reader.feed(&head.as_bytes()[..30_000], &mut rules), Ok(None));
    assert!(reader.has_begun());
    let rest = [&head.as_bytes()[30_000..], &[b'x'; 100]].concat();
    assert_eq!(reader.feed(&rest, &mut rules), Ok(Some(Answer { keep_alive: true, wrong_status: None })));
    assert!(reader.partial_head.capacity() <= KEPT_HEAD_BYTES && !reader.has_begun());
}

/// A GET with this body as the correct one.
fn expecting(body: ExpectBody) -> Request {
    Request { expect: Expect { status: ExpectStatus::Success, body }, ..Request::get("/") }
}

#[test]
fn of_an_answer_to_head_the_announced_length_is_compared() {
    let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
    let wrong = Err(Fault::BadBody(BodyFault::Length { announced: 6, expected: 5 }));
    let of = |body| rules_of(Method::Head, ExpectStatus::Success, body);
    for body in [
        ExpectBody::Exactly(b"hello".as_slice().into()),
        ExpectBody::Length(5),
        ExpectBody::Discard { length: Some(5) },
    ] {
        let request = Request { method: Method::Head, ..expecting(body.clone()) };
        assert_eq!(request.expected_body_bytes(), None);
        let mut rules = of(body);
        assert_eq!(feed([&announced[..]], &mut rules), wrong);
        assert_eq!(feed([&b"HTTP/1.1 200 OK\r\n\r\n"[..]], &mut rules), KEPT);
    }
    let document = b"{}".to_vec();
    for body in [
        ExpectBody::Anything,
        ExpectBody::Json { document: document.into(), every: 1 },
        ExpectBody::Discard { length: None },
    ] {
        assert_eq!(feed([&announced[..]], &mut of(body)), KEPT);
    }
}

#[test]
fn of_a_known_length_only_the_number_of_bytes_counts() {
    let check = |answer: &str, expected: Outcome| {
        let mut rules = rules_of(Method::Get, ExpectStatus::Success, ExpectBody::Length(500));
        assert_eq!(expecting(ExpectBody::Length(500)).expected_body_bytes(), Some(500));
        assert_eq!(feed(answer.as_bytes().chunks(7), &mut rules), expected);
    };
    let body = |length| "x".repeat(length);
    // These rules limit bodies to 100 bytes, but the limit applies only to unknown lengths.
    check(&format!("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{}", body(500)), KEPT);
    check(&format!("HTTP/1.1 200 OK\r\n\r\n{}", body(500)), CLOSED);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (long, short) = (BodyFault::Long { expected: 500 }, BodyFault::Short { received: 499, expected: 500 });
    check(&format!("{chunked}1f5\r\n{}\r\n0\r\n\r\n", body(501)), Err(Fault::BadBody(long)));
    check(&format!("{chunked}1f3\r\n{}\r\n0\r\n\r\n", body(499)), Err(Fault::BadBody(short)));
    let announced = BodyFault::Length { announced: 501, expected: 500 };
    check("HTTP/1.1 200 OK\r\nContent-Length: 501\r\n\r\n", Err(Fault::BadBody(announced)));
}

fn json(every: u32) -> Rules {
    let document = br#"{"a":1,"b":[]}"#.to_vec();
    rules_of(Method::Get, ExpectStatus::Success, ExpectBody::Json { document: document.into(), every })
}

fn with_length(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn json_is_compared_by_its_meaning_in_every_framing() {
    let body = r#"{ "b": [ ], "a": 1.0 }"#;
    let chunked = String::from_utf8(in_chunks(body.as_bytes(), &[3, 1, 8])).unwrap();
    for (answer, expected) in [
        (with_length(body), KEPT),
        (chunked.clone().into_bytes(), KEPT),
        (format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes(), CLOSED),
    ] {
        for size in [1, 5, 1_000] {
            assert_eq!(feed(answer.chunks(size), &mut json(1)), expected);
        }
    }
    let difference = crate::fault::JsonDifference::Number;
    let fault = Err(Fault::BadBody(BodyFault::DiffersInJson { at: 12, difference }));
    assert_eq!(feed([&with_length(r#"{"b":[],"a":2}"#)[..]], &mut json(1)), fault);
    let nothing = Err(Fault::BadBody(BodyFault::NotJson { at: 0, flaw: crate::fault::JsonFlaw::EndsEarly }));
    for empty in [&with_length("")[..], b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"] {
        assert_eq!(feed([empty], &mut json(1)), nothing);
    }
}

#[test]
fn json_is_looked_at_in_the_first_answer_and_every_so_many_after_it() {
    let (mut rules, mut reader) = (json(3), AnswerReader::new());
    let looks: Vec<bool> = (0..8)
        .map(|number| {
            let answer = if number % 2 == 0 { with_length("wrong") } else { with_length("") };
            reader = AnswerReader::new();
            reader.feed(&answer, &mut rules).is_err()
        })
        .collect();
    assert_eq!(looks, [true, false, false, true, false, false, true, false]);
}

#[test]
fn an_expected_document_must_be_json_and_be_looked_at() {
    for (document, every, text) in [("{\"a\":}", 1, "no JSON at byte 5"), ("{}", 0, "1 looks at every answer")] {
        let body = ExpectBody::Json { document: document.as_bytes().into(), every };
        let expect = Expect { status: ExpectStatus::Success, body };
        let error = Rules::new(&Request { expect, ..Request::get("/") }, 100).unwrap_err();
        assert!(matches!(error, crate::error::LoadError::Option { option: "expect-json", .. }));
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn a_body_of_announced_length_may_be_thrown_away_unseen() {
    let mut rules = rules_of(Method::Get, ExpectStatus::Success, ExpectBody::Discard { length: None });
    let mut reader = AnswerReader::new();
    for _ in 0..2 {
        assert_eq!(reader.discardable(&rules), None);
        let front = b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n0123456789";
        assert_eq!(reader.feed(front, &mut rules), Ok(None));
        assert_eq!(reader.discardable(&rules), Some(80));
        assert_eq!(reader.discarded(50, &mut rules), Ok(None));
        assert_eq!(reader.feed(b"0123456789", &mut rules), Ok(None));
        assert_eq!(reader.discardable(&rules), Some(20));
        assert_eq!(reader.discarded(20, &mut rules), Ok(Some(Answer { keep_alive: true, wrong_status: None })));
    }
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n", &mut rules).unwrap();
    assert_eq!(reader.discarded(91, &mut rules), Err(Fault::Malformed("bytes after the answer")));
    assert_eq!(reader.end_of_stream(&mut rules), Err(Fault::ClosedInsideAnswer));
}

#[test]
fn nothing_else_may_be_thrown_away_unseen() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe";
    let length = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
    let discard = || ExpectBody::Discard { length: Some(5) };
    for (answer, body) in [
        (&chunked[..], discard()),
        (b"HTTP/1.1 200 OK\r\n\r\nhe", discard()),
        (b"HTTP/1.1 200 OK\r\nContent-Le", discard()),
        (length, ExpectBody::Anything),
        (length, ExpectBody::Exactly(b"hello".as_slice().into())),
    ] {
        let mut rules = rules_of(Method::Get, ExpectStatus::Success, body);
        let mut reader = AnswerReader::new();
        assert_eq!(reader.feed(answer, &mut rules), Ok(None));
        assert!(reader.has_begun());
        assert_eq!(reader.discardable(&rules), None, "{}", String::from_utf8_lossy(answer));
    }
}

#[test]
fn bodies_that_are_not_compared_are_limited() {
    let long = "x".repeat(101);
    for answer in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n{long}"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n{long}\r\n0\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\n\r\n{long}"),
    ] {
        let fault = feed([answer.as_bytes()], &mut rules(Method::Get, None)).unwrap_err();
        assert!(matches!(fault, Fault::Malformed(_)), "{fault}");
    }
    let fits = format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "x".repeat(100));
    check_with(Method::Get, None, fits.as_bytes(), KEPT);
}

#[test]
fn a_head_that_only_resembles_the_last_one_is_read_anew() {
    let mut rules = rules(Method::Get, Some(b"hello"));
    let first = b"HTTP/1.1 200 OK\r\nDate: 1\r\nContent-Length: 5\r\n\r\nhello";
    let second = b"HTTP/1.1 200 OK\r\nDate: 2\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
    for (answer, expected) in [(&first[..], KEPT), (&second[..], CLOSED), (&first[..], KEPT), (&first[..], KEPT)] {
        assert_eq!(feed([answer], &mut rules), expected);
    }
}

/// Splits `bytes` at the given offsets.
fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut offsets: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    offsets.extend([0, bytes.len()]);
    offsets.sort_unstable();
    offsets.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn in_chunks(body: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut coded = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let (mut rest, mut sizes) = (body, sizes.iter().cycle());
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        coded.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        coded.extend_from_slice(chunk);
        coded.extend_from_slice(b"\r\n");
        rest = after;
    }
    coded.extend_from_slice(b"0\r\n\r\n");
    coded
}

/// A correct response with this body and framing, after some interim answers.
fn answer_with(body: &[u8], framing: u8, sizes: &[usize], interim: usize) -> (Vec<u8>, Outcome) {
    let mut answer = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(interim);
    let (head, expected) = match framing {
        0 => (format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()), KEPT),
        1 => (format!("HTTP/1.1 200 OK\nConnection: close\nContent-Length: {}\n\n", body.len()), CLOSED),
        2 => ("HTTP/1.0 200 OK\r\nX: y\r\n\r\n".to_owned(), CLOSED),
        _ => {
            answer.extend_from_slice(&in_chunks(body, sizes));
            return (answer, KEPT);
        }
    };
    answer.extend_from_slice(head.as_bytes());
    answer.extend_from_slice(body);
    (answer, expected)
}

proptest! {
    #[test]
    fn any_framing_in_any_pieces_gives_the_body(
        body in prop::collection::vec(any::<u8>(), 0..600),
        framing in 0u8..4,
        sizes in prop::collection::vec(1usize..300, 1..8),
        interim in 0usize..4,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (answer, expected) = answer_with(&body, framing, &sizes, interim);
        let mut rules = rules(Method::Get, Some(&body));
        let pieces = cut(&answer, &cuts).into_iter().filter(|piece| !piece.is_empty());
        prop_assert_eq!(feed(pieces, &mut rules), expected);
        prop_assert_eq!(feed(answer.chunks(1), &mut rules), expected);
    }

    #[test]
    fn a_changed_answer_is_the_same_whole_and_in_pieces(
        body in prop::collection::vec(any::<u8>(), 0..60),
        framing in 0u8..4,
        interim in 0usize..2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        choice in any::<u8>(),
    ) {
        let (mut answer, _) = answer_with(&body, framing, &[7, 3], interim);
        for (at, byte) in changes {
            let at = at.index(answer.len());
            answer[at] = byte;
        }
        crate::fuzzing::answer(&[&[choice, body.len() as u8], &answer[..]].concat());
    }

    #[test]
    fn any_chunking_in_any_pieces_gives_the_body(
        body in prop::collection::vec(any::<u8>(), 0..2_000),
        sizes in prop::collection::vec(1usize..300, 1..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let answer = in_chunks(&body, &sizes);
        let mut rules = rules(Method::Get, Some(&body));
        prop_assert_eq!(feed(cut(&answer, &cuts), &mut rules), KEPT);
    }

    #[test]
    fn one_wrong_byte_is_found_wherever_it_is(
        body in prop::collection::vec(any::<u8>(), 1..2_000),
        sizes in prop::collection::vec(1usize..300, 1..8),
        wrong in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let wrong = wrong.index(body.len());
        let mut sent = body.clone();
        sent[wrong] ^= 0x20;
        let answer = in_chunks(&sent, &sizes);
        let mut rules = rules(Method::Get, Some(&body));
        let at = wrong as u64;
        prop_assert_eq!(feed(cut(&answer, &cuts), &mut rules), Err(Fault::BadBody(BodyFault::Differs { at })));
    }

    #[test]
    fn no_bytes_whatever_make_the_reader_panic(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        with_head in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let head: &[u8] = if with_head { b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" } else { b"" };
        let bytes = [head, &noise].concat();
        let mut rules = rules(Method::Get, None);
        let mut reader = AnswerReader::new();
        for piece in cut(&bytes, &cuts) {
            if !matches!(reader.feed(piece, &mut rules), Ok(None)) {
                break;
            }
        }
    }
}
