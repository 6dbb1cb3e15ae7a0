//! Requests with their correct responses, in the load engine's format: one JSON object per line.

use std::borrow::Cow;

use serde::Serialize;
use tolok_model::{DataBody, Workload};

use super::assets::{DRAWN_TYPE, SENT_TYPE};
use crate::data_contract::{Asked, PathAnswer};

/// One request.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
    #[serde(skip_serializing_if = "is_one")]
    weight: u32,
    method: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Headers<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_gzip: Option<String>,
}

fn is_one(weight: &u32) -> bool {
    *weight == 1
}

#[derive(Debug, Clone, Serialize)]
struct Headers<'a> {
    #[serde(rename = "Content-Type", skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    #[serde(rename = "Accept-Encoding", skip_serializing_if = "Option::is_none")]
    accept_encoding: Option<&'a str>,
}

fn headers(content_type: Option<&str>, gzip: bool) -> Option<Headers<'_>> {
    let accept_encoding = gzip.then_some("gzip");
    (content_type.is_some() || gzip).then_some(Headers { content_type, accept_encoding })
}

impl<'a> Line<'a> {
    /// The request of a workload that has only one, with its body. `owed` is the file with the response's body.
    pub(super) fn single(workload: &'a Workload, sent: Option<(&'a str, &'a [u8])>, owed: Option<String>) -> Self {
        let varying = workload.body.varying().and_then(|varying| varying.bytes);
        Self {
            part: None,
            weight: 1,
            method: &workload.method,
            path: &workload.path,
            headers: headers(sent.map(|(content_type, _)| content_type), workload.accepts_gzip()),
            body: sent.map(|(_, body)| String::from_utf8_lossy(body)),
            expect_status: None,
            expect_length: varying.filter(|_| owed.is_none()),
            expect_body: owed,
            expect_gzip: None,
        }
    }

    /// One of the many requests of a workload.
    pub(super) fn drawn(workload: &'a Workload, answer: &'a PathAnswer, owed: String) -> Self {
        let sent_type = if answer.asked.is_some() { SENT_TYPE } else { DRAWN_TYPE };
        let sent = answer.sent.as_deref().map(|sent| (sent_type, sent));
        let line = Self { path: &answer.path, weight: answer.weight, ..Self::single(workload, sent, Some(owed)) };
        match workload.body.data() {
            // Amounts depend on earlier requests, but always have as many digits.
            Some(DataBody::Updates) => {
                Self { expect_body: None, expect_length: Some(answer.body.len() as u64), ..line }
            }
            Some(DataBody::Crud) => line.of_its_kind(answer),
            _ if workload.accepts_gzip() => Self { expect_body: None, expect_gzip: line.expect_body, ..line },
            _ => line,
        }
    }

    /// The same with its own method and status. Amounts depend on earlier requests, as above.
    fn of_its_kind(self, answer: &'a PathAnswer) -> Self {
        let Some(Asked { part, method, status }) = answer.asked else { return self };
        let length = answer.body.len() as u64;
        Self {
            part: Some(part),
            method,
            expect_status: Some(status),
            expect_body: None,
            expect_length: (length > 0).then_some(length),
            ..self
        }
    }

    /// The same as a request of a part; all requests of the part together weigh `share`.
    fn of(self, part: &'a Workload, share: u64, all: u64) -> Self {
        let weight = (u64::from(self.weight) * share / all) as u32;
        Self { part: Some(&part.name), weight, expect_status: Some(part.status), ..self }
    }
}

/// The requests of a mixed workload. Those of each part weigh as much as the part. Weights must be integers, so they
/// are multiplied until each part's own sum divides its weight.
pub(super) fn mixed<'a>(parts: Vec<(u32, &'a Workload, Vec<Line<'a>>)>) -> Vec<Line<'a>> {
    let sum = |lines: &[Line<'_>]| lines.iter().map(|line| u64::from(line.weight)).sum::<u64>().max(1);
    let whole = parts.iter().map(|(_, _, lines)| sum(lines)).fold(1, least_common_multiple);
    let weighed = parts.into_iter().flat_map(|(weight, part, lines)| {
        let all = sum(&lines);
        lines.into_iter().map(move |line| line.of(part, u64::from(weight) * whole, all))
    });
    let mut lines: Vec<Line<'_>> = weighed.collect();
    let divisor = lines.iter().map(|line| u64::from(line.weight)).fold(0, greatest_common_divisor).max(1);
    lines.iter_mut().for_each(|line| line.weight = (u64::from(line.weight) / divisor) as u32);
    lines
}

/// The text of the file.
pub(super) fn text(lines: &[Line<'_>]) -> String {
    let line = |line: &Line<'_>| serde_json::to_string(line).expect("strings always serialise") + "\n";
    lines.iter().map(line).collect()
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    a / greatest_common_divisor(a, b) * b
}
