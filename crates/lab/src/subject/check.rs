//! Checks whether a response is the one that a workload owes.

use std::io::Read;

use flate2::bufread::GzDecoder;
use tolok_model::{Body, Compared, DataBody, VaryingBody, Workload};

use crate::data_contract::{difference, is_json, shape_difference, with_plain_quotes};
use tolok_load::ask::Answer;

/// Compares a response with the contract of a workload, and describes the difference. `body` is the correct one, or one of the
/// required shape. It is ignored if any response is accepted.
pub fn check(answer: &Answer, workload: &Workload, body: &[u8]) -> Result<(), String> {
    // If one request represents several workloads, it is that of the first.
    let workload = workload.first_part();
    if answer.status != workload.status {
        let sent = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]).into_owned();
        return Err(format!("status {} instead of {}: {sent:?}", answer.status, workload.status));
    }
    let given = answer.header("content-type").unwrap_or("none");
    let essence = given.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(&workload.content_type) {
        return Err(format!("content type {given} instead of {}", workload.content_type));
    }
    if let Body::Data { data: DataBody::Counter | DataBody::Fidelity } = workload.body {
        let not_json = || format!("a body of {} bytes that is no JSON", answer.body.len());
        return is_json(&answer.body).then_some(()).ok_or_else(not_json);
    }
    if let Body::Varying(varying) = &workload.body {
        return check_varying(&answer.body, varying, body);
    }
    if let Body::Data { data: DataBody::Updates | DataBody::Crud } = workload.body {
        // In a warm server, the amounts depend on earlier requests, but have as many digits.
        let length = || format!("a body of {} bytes instead of {}", answer.body.len(), body.len());
        let is_long_enough = answer.body.len() == body.len();
        return shape_difference(body, &answer.body).or_else(|| (!is_long_enough).then(length)).map_or(Ok(()), Err);
    }
    if workload.body == (Body::Data { data: DataBody::Fortunes }) {
        let (given, owed) = (with_plain_quotes(&answer.body), with_plain_quotes(body));
        let differs = || Err(difference(owed.as_bytes(), given.as_bytes()));
        return if given == owed { Ok(()) } else { differs() };
    }
    if workload.accepts_gzip() {
        return check_packed(answer, body);
    }
    if answer.body == body { Ok(()) } else { Err(difference(body, &answer.body)) }
}

/// Compares the content of a compressed body.
fn check_packed(answer: &Answer, owed: &[u8]) -> Result<(), String> {
    let coding = answer.header("content-encoding").unwrap_or("none");
    if coding != "gzip" {
        return Err(format!("content encoding {coding} instead of gzip"));
    }
    let mut holds = Vec::new();
    let most = owed.len() as u64 + 1;
    let unpacked = GzDecoder::new(answer.body.as_slice()).take(most).read_to_end(&mut holds);
    unpacked.map_err(|error| format!("a body of {} bytes that is no gzip: {error}", answer.body.len()))?;
    if holds != owed {
        return Err(format!("unpacked, {}", difference(owed, &holds)));
    }
    let (packed, holds) = (answer.body.len(), holds.len());
    let bulky = || format!("a packed body of {packed} bytes, more than half of the {holds} that it holds");
    (packed * 2 <= holds).then_some(()).ok_or_else(bulky)
}

/// Compares the constant part of a body.
fn check_varying(given: &[u8], varying: &VaryingBody, example: &[u8]) -> Result<(), String> {
    let length = given.len() as u64;
    if let Some(bytes) = varying.bytes.filter(|bytes| *bytes != length) {
        return Err(format!("a body of {length} bytes instead of {bytes}"));
    }
    let of_shape = varying.compared == Compared::Shape;
    of_shape.then(|| shape_difference(example, given)).flatten().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(body: Body) -> Workload {
        Workload {
            name: "json".to_owned(),
            title: "JSON".to_owned(),
            summary: String::new(),
            method: "GET".to_owned(),
            path: "/json".to_owned(),
            sent: None,
            status: 200,
            content_type: "application/json".to_owned(),
            body,
            database: false,
            pipeline: 1,
            parameters: Default::default(),
            values: Default::default(),
            folder: None,
        }
    }

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Answer { status, headers, body: body.as_bytes().to_vec() }
    }

    fn verdict(status: u16, content_type: &str, body: &str) -> Result<(), String> {
        let workload = workload(Body::File("body.json".to_owned()));
        check(&answer(status, content_type, body), &workload, br#"{"message":"Hello, World!"}"#)
    }

    #[test]
    fn an_answer_is_as_owed_whatever_the_letters_and_parameters_of_its_type() {
        for content_type in ["application/json", "Application/JSON; charset=utf-8", "application/json ;q=1"] {
            assert_eq!(verdict(200, content_type, r#"{"message":"Hello, World!"}"#), Ok(()));
        }
    }

    #[test]
    fn a_wrong_answer_is_told_by_what_is_wrong_first() {
        let check = |verdict: Result<(), String>, expect: &str| assert_eq!(verdict, Err(expect.to_owned()));
        check(verdict(500, "text/html", "oh no"), r#"status 500 instead of 200: "oh no""#);
        check(verdict(200, "text/html", ""), "content type text/html instead of application/json");
        check(
            verdict(200, "application/json", r#"{"message":"Hello, world!"}"#),
            r#"field `message`: "Hello, world!" instead of "Hello, World!""#,
        );
        check(
            verdict(200, "application/json", r#"{"message":"#),
            r#"a body of 11 bytes instead of 27, different from byte 11 on: "" instead of "\"Hello, World!\"}""#,
        );
        let workload = workload(Body::File("body.json".to_owned()));
        let without_type = Answer { status: 200, headers: Vec::new(), body: Vec::new() };
        let verdict = super::check(&without_type, &workload, b"");
        check(verdict, "content type none instead of application/json");
    }

    #[test]
    fn of_a_body_that_differs_as_much_is_compared_as_stays() {
        let check = |compared, bytes, body| {
            let varying = Body::Varying(VaryingBody { compared, file: None, bytes });
            check(&answer(200, "application/json", body), &workload(varying), br#"{"id":1}"#)
        };
        assert_eq!(check(Compared::Shape, None, r#"{"id":234}"#), Ok(()));
        assert!(check(Compared::Shape, None, r#"{"id":"a"}"#).unwrap_err().contains("a string instead of a number"));
        let long = "a body of 10 bytes instead of 8".to_owned();
        assert_eq!(check(Compared::Shape, Some(8), r#"{"id":234}"#), Err(long.clone()));
        assert_eq!(check(Compared::Length, Some(8), r#"{"id":234}"#), Err(long));
        assert_eq!(check(Compared::Length, Some(8), "anything"), Ok(()));
        assert_eq!(check(Compared::Nothing, None, "oh no"), Ok(()));
    }

    #[test]
    fn where_any_answer_will_do_it_still_has_to_be_json() {
        for data in [DataBody::Counter, DataBody::Fidelity] {
            let workload = workload(Body::Data { data });
            let verdict = |status, content_type, body| check(&answer(status, content_type, body), &workload, b"");
            for body in ["17", "[]", r#"[{"id":1}]"#] {
                assert_eq!(verdict(200, "application/json", body), Ok(()));
            }
            for body in ["", "17 ,", "[{\"id\":1}", "<p>"] {
                let expect = format!("a body of {} bytes that is no JSON", body.len());
                assert_eq!(verdict(200, "application/json", body), Err(expect));
            }
            let expect = "content type text/html instead of application/json";
            assert_eq!(verdict(200, "text/html", "17"), Err(expect.to_owned()));
            assert_eq!(verdict(503, "text/plain", "gone"), Err("status 503 instead of 200: \"gone\"".to_owned()));
        }
    }
}
