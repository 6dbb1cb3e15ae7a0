//! The protocol between load generator and subject.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::load::profile::{Connection, LoadProfile};
use crate::reading::several::Several;
use crate::reading::table::Spanned;
use crate::reading::text::{Reading, Span};
use crate::reading::wording::words;
use crate::tool::LoadTool;

/// The protocol between load generator and subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP/1.1 without TLS.
    #[default]
    Http1,
    /// HTTP/1.1 with TLS.
    Https,
    /// HTTP/2 with TLS.
    H2,
    /// HTTP/2 without TLS, with prior knowledge.
    H2c,
}

words!(Protocol { Http1: "http1", Https: "https", H2: "h2", H2c: "h2c" });

impl Protocol {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub fn is_encrypted(self) -> bool {
        matches!(self, Self::Https | Self::H2)
    }

    pub fn is_http2(self) -> bool {
        matches!(self, Self::H2 | Self::H2c)
    }

    /// The scheme of its URLs.
    pub fn scheme(self) -> &'static str {
        if self.is_encrypted() { "https" } else { "http" }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Https => "HTTP/1.1 with TLS",
            Self::H2 => "HTTP/2 with TLS",
            Self::H2c => "HTTP/2 without TLS",
        }
    }
}

/// A protocol, and how many users, or pool connections, share a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over {
    pub(crate) protocol: Protocol,
    pub(crate) streams: u32,
    /// How many requests its workload pipelines on an HTTP/1.1 connection.
    pipeline: u32,
}

/// The protocols of a scenario, and how many requests share a connection over HTTP/2.
#[derive(Debug)]
pub(crate) struct Spoken {
    protocols: Vec<Protocol>,
    streams: u32,
    at: Option<Span>,
    scenario: Span,
}

impl Spoken {
    pub(crate) fn read(
        protocols: Option<Spanned<Several<Protocol>>>,
        streams: Option<Spanned<u32>>,
        scenario: &Span,
        reading: &mut Reading,
    ) -> Self {
        let at = protocols.as_ref().map(Spanned::span);
        let mut known: Vec<Protocol> = Vec::new();
        for listed in protocols.map(|listed| listed.into_inner().0).unwrap_or_default() {
            let (span, protocol) = (listed.span(), listed.into_inner());
            if known.contains(&protocol) {
                reading.note(span, format!("protocol `{}` is listed twice", protocol.word()), None);
            } else {
                known.push(protocol);
            }
        }
        match &at {
            Some(at) if known.is_empty() && !reading.is_damaged(scenario, "protocol") => {
                reading.note(at.clone(), "no protocol is listed", "for example: protocol = [\"http1\", \"h2\"]");
            }
            Some(_) => {}
            None => known.push(Protocol::default()),
        }
        if let Some(streams) = &streams {
            reading.note_if(*streams.get_ref() == 0, streams.span(), "`streams` must be at least 1", None);
            if !known.is_empty() && !known.iter().any(|protocol| protocol.is_http2()) {
                let help = "only requests of HTTP/2 share a connection: protocol = \"h2\"";
                reading.note(streams.span(), "over HTTP/1.1 a connection has one request at a time", help);
            }
        }
        Self { protocols: known, streams: streams.map_or(1, Spanned::into_inner), at, scenario: scenario.clone() }
    }

    pub(crate) fn len(&self) -> usize {
        self.protocols.len()
    }

    /// The combinations for a workload that pipelines this many requests.
    pub(crate) fn each(&self, pipeline: u32) -> impl Iterator<Item = Over> {
        let streams = move |protocol: Protocol| if protocol.is_http2() { self.streams } else { pipeline };
        self.protocols.iter().map(move |protocol| Over { protocol: *protocol, streams: streams(*protocol), pipeline })
    }

    /// Checks that `tool` can put `load` on a subject over a protocol, and reports the reason if not.
    pub(crate) fn check(
        &self,
        over: Over,
        (tool, span): (LoadTool, &Option<Span>),
        load: &LoadProfile,
        reading: &mut Reading,
    ) -> bool {
        let Some(refusal) = over.refuses(tool, load) else { return true };
        let span = span.as_ref().or(self.at.as_ref()).unwrap_or(&self.scenario);
        reading.note(span.clone(), refusal, "leave it out here, or give it a [[scenario]] of its own");
        false
    }
}

impl Over {
    /// A suffix that distinguishes scenarios by protocol; empty for HTTP/1.1.
    pub(crate) fn suffix(self) -> String {
        match self {
            Self { protocol: Protocol::Http1, .. } => String::new(),
            Self { protocol, streams, .. } if streams == 1 || !protocol.is_http2() => format!("-{}", protocol.word()),
            Self { protocol, streams, .. } => format!("-{}-streams{streams}", protocol.word()),
        }
    }

    /// Why a tool cannot put this load on a subject, if it cannot; a sentence without its full stop.
    fn refuses(self, tool: LoadTool, load: &LoadProfile) -> Option<String> {
        let (Self { protocol, streams, pipeline }, word) = (self, tool.word());
        if pipeline > 1 {
            return refuses_pipeline(protocol, tool, load);
        }
        if !protocol.is_http2() {
            return None;
        }
        let at_once = load.connections_max().unwrap_or(1);
        let refusal = match tool {
            LoadTool::Tolok if load.pace.is_unlimited() => return None,
            LoadTool::Tolok => {
                "requests of HTTP/2 share a connection, so none has a `read-rate` or `write-rate`".to_owned()
            }
            LoadTool::Wrk | LoadTool::Ab => format!("{word} does not speak HTTP/2; tolok, h2load, oha and k6 do"),
            LoadTool::Hey => "hey sends all requests of HTTP/2 over one connection; h2load and oha do not".to_owned(),
            _ if load.connection != Connection::KeepAlive => format!("{word} keeps its connections of HTTP/2"),
            LoadTool::K6 if protocol == Protocol::H2c => "k6 speaks HTTP/2 with TLS only".to_owned(),
            LoadTool::K6 if streams > 1 => "each user of k6 has a connection of its own, so `streams` is 1".to_owned(),
            _ if !at_once.is_multiple_of(streams.max(1)) => {
                format!(
                    "{word} has equally many requests on each connection, and {at_once} is no multiple of {streams}"
                )
            }
            _ => return None,
        };
        Some(refusal)
    }
}

/// Why requests cannot be pipelined, if they cannot.
fn refuses_pipeline(protocol: Protocol, tool: LoadTool, load: &LoadProfile) -> Option<String> {
    let refusal = match tool {
        _ if protocol.is_http2() => "the workload pipelines requests of HTTP/1.1; HTTP/2 has `streams` instead",
        LoadTool::Tolok if load.connection != Connection::KeepAlive => {
            "the workload pipelines requests, for which connections stay open"
        }
        LoadTool::Tolok if load.pace.is_unlimited() => return None,
        LoadTool::Tolok => "requests in line share a connection, so none has a `read-rate` or `write-rate`",
        _ => "the workload pipelines requests, which only tolok's own load engine does here",
    };
    Some(refusal.to_owned())
}

/// With 1, the default, each connection carries one request at a time, and the value is not stored.
pub(crate) fn is_one(streams: &u32) -> bool {
    *streams == 1
}

pub(crate) fn one() -> u32 {
    1
}
