//! The requests of a run, sent by the caller one after another and without a clock, to check whether a server answers them.

use super::prepared::{Prepared, prepare};
use crate::ask::Answer;
use crate::error::LoadError;
use crate::http::template::Values;
use crate::options::{Method, Options, Request};

/// One iteration of the requests, with the values of one row and the captured values.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    options: &'a Options,
    prepared: Vec<Prepared>,
    row: usize,
    captured: Vec<String>,
}

impl<'a> Rehearsal<'a> {
    /// Takes the options of the run and a row of their data.
    pub fn new(options: &'a Options, row: usize) -> Result<Self, LoadError> {
        Ok(Self { options, prepared: prepare(options)?, row, captured: Vec::new() })
    }

    /// A request, filled with its values.
    pub fn request(&mut self, place: usize) -> &Request {
        let Self { options, prepared, row, captured } = self;
        match &mut prepared[place].template {
            Some(template) => template.fill(Values { data: options.data.as_deref(), row: *row, captured }),
            None => &options.requests[place],
        }
    }

    /// Compares a request's answer with its expectation, and captures values for later requests. The error describes the difference.
    pub fn judge(&mut self, place: usize, answer: &Answer) -> Result<(), String> {
        let Request { expect, method, .. } = &self.options.requests[place];
        if !expect.status.accepts(answer.status) {
            let sent = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]).into_owned();
            return Err(format!("status {}: {sent:?}", answer.status));
        }
        if *method == Method::Head {
            return Ok(());
        }
        let Prepared { rules, first_capture, .. } = &mut self.prepared[place];
        let judged = rules.judge_whole(&answer.body);
        judged.map_err(|fault| format!("{fault}{}", rules.words_on(&fault).unwrap_or_default()))?;
        self.captured.truncate(*first_capture);
        self.captured.extend(rules.captured().iter().cloned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::options::{Capture, Data, DataOrder, ExpectBody, Mix};

    fn options() -> Options {
        let mut options = Options::new("http://h/").unwrap();
        let values = ["1", "2"].map(Box::from).to_vec();
        options.data = Some(Arc::new(Data { columns: vec!["id".to_owned()], values, order: DataOrder::Random }));
        options.mix = Mix::Sequence;
        let capture = Capture { name: "token".to_owned(), pointer: "/token".to_owned() };
        let mut second = Request::get("/b/{{token}}");
        second.expect.body = ExpectBody::Exactly(b"hello".as_slice().into());
        options.requests = vec![Request { captures: vec![capture], ..Request::get("/a/{{id}}") }, second];
        options
    }

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_later_request_has_what_an_earlier_answer_held() {
        let options = options();
        let mut rehearsal = Rehearsal::new(&options, 1).unwrap();
        assert_eq!(rehearsal.request(0).path, "/a/2");
        rehearsal.judge(0, &answer(200, r#"{"token":"x y"}"#)).unwrap();
        assert_eq!(rehearsal.request(1).path, "/b/x%20y");
        rehearsal.judge(1, &answer(200, "hello")).unwrap();
    }

    #[test]
    fn what_differs_is_said() {
        let options = options();
        let mut rehearsal = Rehearsal::new(&options, 0).unwrap();
        let mut wrong = |place, status, body| rehearsal.judge(place, &answer(status, body)).unwrap_err();
        assert_eq!(wrong(0, 500, "no"), "status 500: \"no\"");
        assert!(wrong(0, 200, "{}").contains("to be captured"), "{}", wrong(0, 200, "{}"));
        for body in ["hellO", "hell", "hello!", ""] {
            assert!(wrong(1, 200, body).contains("body"), "{}", wrong(1, 200, body));
        }
    }
}
