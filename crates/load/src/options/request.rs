//! What a request sends, and what its correct response is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::data::Capture;
use super::written;
use crate::http::{request, rules};

/// One request that an iteration may send.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path and query, as in the request line.
    pub path: String,
    /// Additional headers. The engine sets `Host`, `Connection` and the headers that frame the body.
    pub headers: Vec<(String, String)>,
    /// Its body; empty for none.
    #[serde(with = "written::bytes")]
    pub body: Vec<u8>,
    /// What a correct response is.
    pub expect: Expect,
    /// With [`Mix::Weighted`], how often it is chosen in proportion to the others; with [`Mix::Sequence`], how often it is
    /// sent in a row.
    pub weight: u32,
    /// Values that later requests of the iteration take from its response. With [`Mix::Sequence`] only.
    pub captures: Vec<Capture>,
    /// The part of the mix that it belongs to. The record gives each part's figures separately.
    #[serde(with = "written::name")]
    pub part: Option<Arc<str>>,
}

/// The parts that requests belong to, without duplicates, in order of first appearance.
pub(crate) fn parts(requests: &[Request]) -> Vec<&Arc<str>> {
    let mut parts: Vec<&Arc<str>> = Vec::new();
    for part in requests.iter().filter_map(|request| request.part.as_ref()) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

impl Request {
    /// A plain GET; any 2xx is a correct response.
    pub fn get(path: &str) -> Request {
        Request {
            method: Method::Get,
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            expect: Expect { status: ExpectStatus::Success, body: ExpectBody::Anything },
            weight: 1,
            captures: Vec::new(),
            part: None,
        }
    }

    /// Every reason why it cannot be sent, each as a sentence.
    pub fn problems(&self) -> Vec<String> {
        request::problems(self)
    }

    /// Length of the body of every correct response, or `None` if it may vary. Also `None` for HEAD, whose response has no body.
    pub fn expected_body_bytes(&self) -> Option<u64> {
        match &self.expect.body {
            _ if self.method == Method::Head => None,
            ExpectBody::Anything | ExpectBody::Json { .. } | ExpectBody::Gzip(_) => None,
            ExpectBody::Length(length) => Some(*length),
            ExpectBody::Exactly(body) => Some(body.len() as u64),
            ExpectBody::Discard { length } => *length,
        }
    }
}

/// Request methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// The answer has a body.
    Get,
    /// The answer has only a head; of an expected body, only the announced length is compared.
    Head,
    /// Carries a body.
    Post,
    /// Carries a body.
    Put,
    /// Carries a body.
    Patch,
    /// May carry a body.
    Delete,
    /// Requests the target's options.
    Options,
}

impl Method {
    /// The method of this name, in any case.
    pub fn named(text: &str) -> Result<Method, String> {
        match text.to_ascii_uppercase().as_str() {
            "GET" => Ok(Method::Get),
            "HEAD" => Ok(Method::Head),
            "POST" => Ok(Method::Post),
            "PUT" => Ok(Method::Put),
            "PATCH" => Ok(Method::Patch),
            "DELETE" => Ok(Method::Delete),
            "OPTIONS" => Ok(Method::Options),
            _ => Err("the methods are GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS".to_owned()),
        }
    }

    /// As in the request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Options => "OPTIONS",
        }
    }
}

/// What a correct response is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expect {
    /// Its status.
    pub status: ExpectStatus,
    /// Its body.
    pub body: ExpectBody,
}

/// Which statuses are correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpectStatus {
    /// Any 2xx.
    Success,
    /// This one only.
    Exactly(u16),
}

impl ExpectStatus {
    /// Whether an answer with this status is correct.
    pub fn accepts(self, status: u16) -> bool {
        match self {
            ExpectStatus::Success => (200..300).contains(&status),
            ExpectStatus::Exactly(expected) => status == expected,
        }
    }
}

/// Which bodies are correct.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ExpectBody {
    /// Any body within the limit; the bytes are counted and dropped.
    Anything,
    /// Any body of this length.
    Length(u64),
    /// Exactly these bytes, compared as they arrive. Many requests may share them.
    Exactly(#[serde(with = "written::bytes")] Arc<[u8]>),
    /// These bytes, packed by gzip into at most half as many. The complete answer is unpacked and compared.
    Gzip(#[serde(with = "written::bytes")] Arc<[u8]>),
    /// JSON with the same meaning as this document, whatever its key order and whitespace. Checked in a thread's first answer and every
    /// `every`th after it; the others are counted and dropped.
    Json {
        /// The document.
        #[serde(with = "written::bytes")]
        document: Arc<[u8]>,
        /// 1 checks every answer.
        every: u32,
    },
    /// Any body. Where its length is announced, the kernel drops it without copying. Only the length is checked, if one is given.
    Discard {
        /// Length of a correct body.
        length: Option<u64>,
    },
}

impl ExpectBody {
    /// Why no body can be judged by it, as a sentence.
    pub fn problem(&self) -> Option<String> {
        match self {
            ExpectBody::Json { document, .. } => rules::problem_of_json(document),
            _ => None,
        }
    }
}
