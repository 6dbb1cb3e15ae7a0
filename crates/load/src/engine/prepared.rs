//! Requests ready to be sent: their bytes, their rules, and templates for those with placeholders.

use std::sync::Arc;

use bytes::Bytes;

use super::slots::Filled;
use crate::error::LoadError;
use crate::http::answer::Rules;
use crate::http::request;
use crate::http::rules::Documents;
use crate::http::template::{Names, Template};
use crate::options::{Capture, Mix, Options, Protocol, Request, is_name, parts};
use crate::recording::NO_PART;
use crate::target::Target;
use crate::transport::Connection;

/// A request of the plan, ready to be sent and judged.
#[derive(Debug)]
pub(super) struct Prepared {
    pub bytes: Vec<u8>,
    /// The same with `Connection: close`, for the last request on a connection.
    pub last_bytes: Vec<u8>,
    /// The HTTP/2 form: the fields of the head, and the body.
    pub fields: Option<Box<(http::Request<()>, Bytes)>>,
    pub rules: Rules,
    /// For a request with placeholders, which is written anew for each send.
    pub template: Option<Box<Template>>,
    /// Index of its first captured value within the slot.
    pub first_capture: usize,
    /// The part of the mix that it belongs to, or [`NO_PART`].
    pub part: u16,
}

impl Prepared {
    /// Method and path, with placeholders as the user typed them.
    pub fn words(&self) -> String {
        if let Some(template) = &self.template {
            return template.words().to_owned();
        }
        let line = self.bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let words = line.strip_suffix(b" HTTP/1.1").unwrap_or(line);
        String::from_utf8_lossy(words).into_owned()
    }

    /// The bytes to send on a connection. They differ for the last request that it may carry, and for a request filled with values.
    pub fn bytes<'a>(&'a self, filled: Option<&'a Filled>, connection: &Connection, at_most: Option<u32>) -> &'a [u8] {
        let [usual, last] = match filled.filter(|_| self.template.is_some()) {
            Some(Filled { written: [usual, last], .. }) => [usual, last],
            None => [&self.bytes, &self.last_bytes],
        };
        if connection.is_last(at_most) { last } else { usual }
    }
}

/// Rejects requests that cannot be sent and expectations that cannot be met.
pub(crate) fn check(options: &Options) -> Result<(), LoadError> {
    prepare(options).map(drop)
}

/// The problems of requests sent with these options, each with the index of its request. Covers placeholders and captures.
pub fn problems_of_values(requests: &[Request], options: &Options) -> Vec<(usize, String)> {
    let options = Options { requests: requests.to_vec(), ..options.clone() };
    let reason = |error| match error {
        LoadError::Option { reason, .. } => reason,
        other => other.to_string(),
    };
    let wrong = each(&options).into_iter().filter_map(Result::err);
    wrong.map(|(place, error)| (place, reason(error))).collect()
}

pub(super) fn prepare(options: &Options) -> Result<Vec<Prepared>, LoadError> {
    each(options).into_iter().map(|prepared| prepared.map_err(|(_, error)| error)).collect()
}

/// Every request, or its index and why it cannot be prepared.
fn each(options: &Options) -> Vec<Result<Prepared, (usize, LoadError)>> {
    let mut documents = Documents::default();
    let parts = parts(&options.requests);
    let number_of = |part: &Arc<str>| parts.iter().position(|other| *other == part).map(|place| place as u16);
    let captured = match captured_names(options) {
        Ok(captured) => captured,
        Err(wrong) => return vec![Err(wrong)],
    };
    let (is_http2, mut first_capture) = (matches!(options.protocol, Protocol::Http2 { .. }), 0);
    let mut one = |request: &Request| {
        let template = template(options, request, &captured, first_capture)?;
        // With placeholders, these bytes are never sent.
        let written = template.as_ref().map_or(request, |template| template.filled());
        let prepared = Prepared {
            bytes: request::render(&options.target, written, false)?,
            last_bytes: request::render(&options.target, written, true)?,
            fields: is_http2.then(|| fields(&options.target, written).map(Box::new)).transpose()?,
            rules: Rules::sharing(request, options.body_limit_bytes, &mut documents)?,
            first_capture,
            part: request.part.as_ref().and_then(number_of).unwrap_or(NO_PART),
            template,
        };
        first_capture += request.captures.len();
        Ok(prepared)
    };
    let prepared = (0..).zip(&options.requests).map(|(place, request)| one(request).map_err(|error| (place, error)));
    prepared.collect()
}

/// The HTTP/2 form of a request: the fields of the head, and the body.
pub(super) fn fields(target: &Target, request: &Request) -> Result<(http::Request<()>, Bytes), LoadError> {
    Ok((request::in_fields(target, request)?, Bytes::copy_from_slice(&request.body)))
}

/// The names of all values that requests capture. Two values with the same name would be ambiguous.
fn captured_names(options: &Options) -> Result<Vec<String>, (usize, LoadError)> {
    let mut names: Vec<String> = Vec::new();
    let captures =
        (0..).zip(&options.requests).flat_map(|(place, request)| request.captures.iter().map(move |it| (place, it)));
    for (place, Capture { name, pointer }) in captures {
        let refuse = |reason| Err((place, LoadError::Option { option: "request-file", reason }));
        let is_column = options.data.as_ref().is_some_and(|data| data.columns.contains(name));
        if options.mix != Mix::Sequence {
            return refuse("`capture` needs --sequence, or `sequence = true` in a workload: otherwise no request follows that could be filled".to_owned());
        }
        if !is_name(name) || names.contains(name) || is_column {
            return refuse(format!(
                "`capture`: `{name}` is a name of letters, digits, `_`, `-` and `.`, which nothing else has"
            ));
        }
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return refuse(format!("`capture`: `{pointer}` is no JSON pointer, which begins with `/`, as in /user/id"));
        }
        names.push(name.clone());
    }
    Ok(names)
}

fn template(
    options: &Options,
    request: &Request,
    captured: &[String],
    known: usize,
) -> Result<Option<Box<Template>>, LoadError> {
    if options.data.is_none() && captured.is_empty() {
        return Ok(None);
    }
    let columns = options.data.as_ref().map_or([].as_slice(), |data| &data.columns);
    let template = Template::of(&options.target, request, Names { columns, captured, known })?;
    if let (Some(template), Some(data)) = (&template, &options.data) {
        template.check(data)?;
    }
    Ok(template.map(Box::new))
}
