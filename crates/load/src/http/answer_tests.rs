//! Good and broken answers, each fed whole, byte by byte, and cut in two at every offset.

use proptest::prelude::*;

use super::*;
use crate::options::Expect;

/// What came of an answer whose stream ended after the last piece, if it was not complete before.
type Outcome = Result<Answer, Fault>;

const KEPT: Outcome = Ok(Answer { keep_alive: true });
const CLOSED: Outcome = Ok(Answer { keep_alive: false });

fn rules(method: Method, body: Option<&[u8]>) -> Rules {
    let mut options = Options::new("http://127.0.0.1:1/").unwrap();
    options.method = method;
    options.body_limit_bytes = 100;
    options.expect = Expect {
        status: ExpectStatus::Success,
        body: body.map_or(ExpectBody::Anything, |body| ExpectBody::Exactly(body.to_vec())),
    };
    Rules::new(&options)
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

/// Feeds an answer in every way there is to cut it in two, whole, and byte by byte, and expects the same each time.
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

/// For what is broken: the outcome depends on where the stream is cut only in how early it is seen, so the class must be
/// the same for every cut that does not make another fault of it.
fn check_class(answer: &str, expected: Fault) {
    let answer = answer.as_bytes();
    let mut rules = rules(Method::Get, Some(b"hello"));
    for split in 0..=answer.len() {
        let (front, back) = answer.split_at(split);
        let mut reader = AnswerReader::new();
        let outcome = match reader.feed(front, &mut rules) {
            Ok(None) => reader.feed(back, &mut rules),
            // Complete although more follows: the connection would see unasked bytes with its next answer.
            Ok(Some(_)) if !back.is_empty() => reader.feed(back, &mut rules).and(Err(expected)),
            early => early,
        };
        let fault = outcome.and_then(|answer| answer.map_or_else(|| reader.end_of_stream(&rules), Ok)).unwrap_err();
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
fn a_bad_status_is_told_before_a_bad_body() {
    check("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Err(Fault::BadStatus(404)));
    check("HTTP/1.1 304 Not Modified\r\n\r\n", Err(Fault::BadStatus(304)));
    let mut options = Options::new("http://127.0.0.1:1/").unwrap();
    options.expect.status = ExpectStatus::Exactly(404);
    let mut rules = Rules::new(&options);
    assert_eq!(feed([&b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..]], &mut rules), KEPT);
    assert_eq!(feed([&b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..]], &mut rules), Err(Fault::BadStatus(200)));
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
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(11_000)).into_bytes();
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(2_700);
    for bytes in [endless, interim] {
        for size in [1, 1_000, bytes.len()] {
            let mut rules = rules(Method::Get, None);
            assert_eq!(
                feed(bytes.chunks(size), &mut rules),
                Err(Fault::Malformed("the head is longer than 64 KiB")),
                "in pieces of {size}"
            );
        }
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

/// Cuts `bytes` at the given offsets.
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

proptest! {
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
