//! A workload: a request, and its correct response.

pub(crate) mod computed;
pub(crate) mod data;
pub(crate) mod file;
pub(crate) mod list;
pub(crate) mod mixed;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::protocol::{is_one, one};
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Problem, ROOT, Reading, Span};
use crate::workload::computed::Computed;
use crate::workload::data::{DataBody, Refusal, WorkloadParameter, read_parameters};
use crate::workload::file::{
    AnswerFile, BodyFile, ComputedBodyFile, DataBodyFile, GeneratedBodyFile, RequestFile, VaryingBodyFile, WorkloadFile,
};
use crate::workload::list::RequestList;
use crate::workload::mixed::MixedPart;

/// The most requests pipelined on a connection.
const MOST_IN_LINE: u32 = 1_000;

/// Where the bytes of an answer come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// A file in the workload's folder.
    File(String),
    /// Bytes that the lab generates, the same everywhere.
    Generated(GeneratedBody),
    /// Contents of the lab's database tables.
    Data { data: DataBody },
    /// Computed from the request alone.
    Computed { compute: Computed },
    /// It differs from response to response.
    Varying(VaryingBody),
    /// Each of its parts has its own.
    Mixed { mixed: Vec<MixedPart> },
    /// Each request of a file has its own.
    List { list: RequestList },
}

/// A body that differs from response to response, and what of it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VaryingBody {
    pub compared: Compared,
    /// A file in the workload's folder with a sample body, whose shape is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The length of every body, if all have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// What is compared of a body that differs from response to response. Status and type are always compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Names and kinds of its JSON values, before each window. Under load, its length, if `bytes` gives it.
    Shape,
    /// Its length.
    Length,
    /// Nothing.
    Nothing,
}

/// A body that the lab generates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratedBody {
    pub generate: GeneratedKind,
    /// Exact length of the body in bytes, or of the largest.
    pub bytes: usize,
    pub seed: u64,
}

/// The kinds of body that the lab can generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratedKind {
    /// A PNG picture of noise, which cannot be compressed.
    Png,
    /// Ten files of noise, two of each size: `bytes`, a quarter of it, a sixteenth and so on. The load requests each
    /// size twice as often as the next larger one.
    Mix,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentBody {
    /// A file in the workload's folder.
    pub file: String,
    pub content_type: String,
    /// A file beside it whose bytes, sent instead, must be answered with 422.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A request, and its correct response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    pub name: String,
    pub title: String,
    pub summary: String,
    pub method: String,
    /// The request's path, with its leading slash and query.
    pub path: String,
    /// The request's body, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<SentBody>,
    pub status: u16,
    pub content_type: String,
    pub body: Body,
    /// Whether its trials have a database.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub database: bool,
    /// Simultaneous requests on one HTTP/1.1 connection.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub pipeline: u32,
    /// What a study can set: `rows?limit=1000`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, WorkloadParameter>,
    /// The values of the parameters, including defaults, once a study has chosen it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, u32>,
    /// Its folder, if it is outside the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<WorkloadFolder>,
}

/// A workload outside the checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadFolder {
    pub workload: String,
    pub folder: String,
    /// Fingerprint of all its files except those for people (`*.md`).
    pub sha256: String,
}

impl Workload {
    /// Whether its requests have a body.
    pub fn sends_body(&self) -> bool {
        self.sent.is_some() || self.body.sends_drawn()
    }

    /// Whether a server must query the upstream service.
    pub fn asks_upstream(&self) -> bool {
        self.body == Body::Computed { compute: Computed::Upstream }
    }

    /// Whether its requests accept gzip, and its responses must be compressed.
    pub fn accepts_gzip(&self) -> bool {
        self.body == Body::Computed { compute: Computed::Compressed }
    }

    /// Reads the text of a `workload.toml` in the folder `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let (mut file, mut reading) = Reading::read::<WorkloadFile>(text);
        let title = reading.require(file.title.take(), &ROOT, "title", "title = \"Hello\"");
        if let Some(list) = file.requests.take() {
            let read = list::read(name, title, list, file, &mut reading);
            return read.filter(|_| !reading.has_problems()).ok_or_else(|| reading.into_problems());
        }
        if !file.part.is_empty() {
            let read = mixed::read(name, title, file, &mut reading);
            return read.filter(|_| !reading.has_problems()).ok_or_else(|| reading.into_problems());
        }
        let request = reading.require(file.request, &ROOT, "request", "[request] with path = \"/hello\"");
        let answer = reading.require(file.answer, &ROOT, "answer", "[answer] with content-type and body");
        let request = request.and_then(|request| read_request(request, &mut reading));
        let body_span = answer.as_ref().and_then(|answer| answer.entries.body.as_ref()).map(Spanned::span);
        let answer = answer.and_then(|answer| read_answer(answer, &mut reading));
        if let Some(program) = file.program {
            let help = "a workload has `request` and `answer`, or `program`";
            reading.note(program.span, "a workload for servers has no `program`", help);
        }
        let pipeline = file.pipeline.as_ref().map_or(1, |pipeline| {
            let is_depth = (1..=MOST_IN_LINE).contains(pipeline.get_ref());
            let message = format!("`pipeline` is a whole number from 1 to {MOST_IN_LINE}");
            reading.note_if(!is_depth, pipeline.span(), message, None);
            *pipeline.get_ref()
        });
        let database = file.database.as_ref().is_some_and(|database| *database.get_ref());
        let body = answer.as_ref().map(|(_, _, body)| body).zip(body_span);
        if let Some((_, span)) = body
            .as_ref()
            .filter(|(body, _)| body.data().is_some() && !database && !reading.is_damaged(&ROOT, "database"))
        {
            let help = "add `database = true` at the top";
            reading.note(span.clone(), "an answer that follows from `data` needs a database", help);
        }
        if let Some((request, (body, span))) = request.as_ref().zip(body.as_ref()) {
            check_request(request, body, span, &mut reading);
        }
        let parameters = read_parameters(file.parameter, body, &mut reading);
        match (title, request, answer) {
            (Some(title), Some((method, path, sent)), Some((status, content_type, body)))
                if !reading.has_problems() =>
            {
                let summary = file.summary.unwrap_or_default();
                let (name, values, folder) = (name.to_owned(), BTreeMap::new(), None);
                Ok(Self {
                    name,
                    title,
                    summary,
                    method,
                    path,
                    sent,
                    status,
                    content_type,
                    body,
                    database,
                    pipeline,
                    parameters,
                    values,
                    folder,
                })
            }
            _ => Err(reading.into_problems()),
        }
    }

    /// The body's file name among the assets. It is the path without its leading slash if that is a valid file name, so
    /// that servers find it. All other names contain `@`, which no such path has.
    pub fn asset(&self) -> String {
        let path = self.path.trim_start_matches('/');
        let path = if self.values.is_empty() { path } else { path.split('?').next().unwrap_or_default() };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if path.bytes().all(is_plain) && path.bytes().any(|byte| byte != b'.') {
            path.to_owned()
        } else {
            format!("answer@{}", self.name)
        }
    }
}

impl Body {
    /// The kind of answer, if it follows from the database's tables.
    pub fn data(&self) -> Option<DataBody> {
        match self {
            Self::Data { data } => Some(*data),
            _ => None,
        }
    }

    /// Whether it is one of several bodies, each with its own path.
    pub fn is_mix(&self) -> bool {
        matches!(self, Self::Generated(GeneratedBody { generate: GeneratedKind::Mix, .. }))
    }

    /// Whether the response depends on a request body that tolok draws.
    pub fn sends_drawn(&self) -> bool {
        matches!(self, Self::Computed { compute } if compute.sends_body())
    }

    /// The parameters that it depends on, sorted.
    fn parameters(&self) -> &'static [&'static str] {
        match self {
            Self::Data { data } => data.parameters(),
            Self::Computed { compute } => compute.parameters(),
            Self::File(_) | Self::Generated(_) | Self::Varying(_) | Self::Mixed { .. } | Self::List { .. } => &[],
        }
    }

    /// Checks that such an answer exists. Each value is already valid on its own.
    fn check(&self, values: &BTreeMap<String, u32>) -> Result<(), Refusal> {
        self.data().map_or(Ok(()), |data| data.check(values))
    }

    /// What is compared of it, if it differs from response to response.
    pub fn varying(&self) -> Option<&VaryingBody> {
        match self {
            Self::Varying(varying) => Some(varying),
            _ => None,
        }
    }
}

/// Refuses a request that already has what tolok adds to it.
fn check_request((method, path, sent): &Asked, body: &Body, span: &Span, reading: &mut Reading) {
    let is_segment =
        |path: &str| path.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if body.is_mix() && !(path.len() > 1 && is_segment(path)) {
        let help = "letters, digits, - and _, as in `/static`: tolok adds the names of the files";
        reading.note(span.clone(), format!("`{path}` is not the folder of a mix"), help);
    }
    let how = match body {
        Body::Data { .. } => "follow from `data`",
        Body::Computed { .. } => "be computed",
        _ => return,
    };
    if path.contains('?') {
        let help = "take the query out of `path`: tolok adds the parameters";
        reading.note(span.clone(), format!("the answer to a path with a query cannot {how}"), help);
    }
    if body.sends_drawn() && method != "POST" {
        reading.note(span.clone(), "only `POST` has a body, of which the answer is computed", "add method = \"POST\"");
    }
    if matches!(body, Body::Computed { .. }) && sent.is_some() {
        let help = "leave `body` out of the request: tolok draws what it sends";
        reading.note(span.clone(), "the answer to a body in a file cannot be computed", help);
    }
}

type Asked = (String, String, Option<SentBody>);

fn read_request(request: Table<RequestFile>, reading: &mut Reading) -> Option<Asked> {
    let Table { span, entries: mut request } = request;
    let sent = read_sent(&mut request, &span, reading);
    let method = request.method.map_or_else(|| "GET".to_owned(), |method| read_method(method, reading));
    let path = reading.require(request.path, &span, "path", "path = \"/hello\"")?;
    if !is_path(path.get_ref()) {
        let help = "a slash, then what a URL may have after the host, as in `/api/users?page=2`; other characters are encoded, such as a blank as %20";
        reading.note(path.span(), format!("`{}` is not the path of a request", path.get_ref()), help);
    }
    Some((method, path.into_inner(), sent))
}

/// Whether it needs no quoting in a request, a command line or a script. A URL's fragment is never sent, so it is not
/// accepted.
fn is_path(text: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%/?".contains(&byte);
    text.starts_with('/') && text.bytes().all(may_stand)
}

/// Reads the body of a request: a file, and its settings.
fn read_sent(request: &mut RequestFile, span: &Span, reading: &mut Reading) -> Option<SentBody> {
    let (body, refused) = (request.body.take(), request.refused.take());
    let content_type = request.content_type.take();
    for (key, place) in [("refused", refused.as_ref()), ("content-type", content_type.as_ref())] {
        if let Some(place) = place.filter(|_| body.is_none()) {
            reading.note(place.span(), format!("a request without `body` has no `{key}`"), None);
        }
    }
    let body = body?;
    if request.method.as_ref().is_none_or(|method| method.get_ref() != "POST") {
        reading.note(body.span(), "only `POST` has a body", "add method = \"POST\"");
    }
    [Some(&body), refused.as_ref()]
        .into_iter()
        .flatten()
        .for_each(|name| file_here(name.get_ref(), name.span(), reading));
    let content_type = reading.require(content_type, span, "content-type", "content-type = \"application/json\"")?;
    let (file, content_type) = (body.into_inner(), content_type.into_inner());
    Some(SentBody { file, content_type, refused: refused.map(Spanned::into_inner) })
}

pub(crate) fn file_here(name: &str, span: Span, reading: &mut Reading) {
    if name.is_empty() || name.contains('/') {
        let help = "it must lie beside this one, as in `body.html`";
        reading.note(span, format!("`{name}` is not the name of a file here"), help);
    }
}

fn read_method(method: Spanned<String>, reading: &mut Reading) -> String {
    let name = method.get_ref();
    if !matches!(name.as_str(), "GET" | "POST") {
        let help = "this version sends `GET` and `POST`";
        reading.note(method.span(), format!("workloads cannot use the method `{name}`"), help);
    }
    method.into_inner()
}

fn read_answer(answer: Table<AnswerFile>, reading: &mut Reading) -> Option<(u16, String, Body)> {
    let Table { span, entries: answer } = answer;
    if let Some(status) = answer.status.as_ref().filter(|status| !(200..=599).contains(status.get_ref())) {
        reading.note(status.span(), format!("{} is not the status of an answer", status.get_ref()), None);
    }
    let content_type = reading.require(answer.content_type, &span, "content-type", "content-type = \"text/html\"");
    let body = reading.require(answer.body, &span, "body", "body = \"body.html\"");
    let body = body.and_then(|body| read_body(body, reading));
    Some((answer.status.map_or(200, Spanned::into_inner), content_type?, body?))
}

fn read_body(body: Spanned<BodyFile>, reading: &mut Reading) -> Option<Body> {
    let span = body.span();
    match body.into_inner() {
        BodyFile::File(name) => {
            file_here(&name, span, reading);
            Some(Body::File(name))
        }
        BodyFile::Generated(generated) => read_generated(generated, &span, reading).map(Body::Generated),
        BodyFile::Data(DataBodyFile { data }) => Some(Body::Data { data }),
        BodyFile::Computed(ComputedBodyFile { compute }) => Some(Body::Computed { compute }),
        BodyFile::Varying(varying) => read_varying(varying, &span, reading).map(Body::Varying),
    }
}

fn read_varying(varying: VaryingBodyFile, span: &Span, reading: &mut Reading) -> Option<VaryingBody> {
    let VaryingBodyFile { compared, file, bytes } = varying;
    let missing = match compared {
        Compared::Shape if file.is_none() => Some(("file", "file = \"body.json\", a body whose shape is expected")),
        Compared::Length if bytes.is_none() => Some(("bytes", "bytes = 532")),
        _ => None,
    };
    if let Some((key, example)) = missing {
        reading.require(None::<()>, span, key, example)?;
    }
    if let Some(name) = &file {
        file_here(name, span.clone(), reading);
    }
    let too_much = match compared {
        Compared::Shape => None,
        Compared::Length => file.is_some().then_some("only `shape` has a `file`"),
        Compared::Nothing => (file.is_some() || bytes.is_some()).then_some("`nothing` has no `file` and no `bytes`"),
    };
    if let Some(too_much) = too_much {
        reading.note(span.clone(), too_much, "take it out, or compare the `shape`");
    }
    Some(VaryingBody { compared, file, bytes: bytes.map(|bytes| bytes as u64) })
}

fn read_generated(file: GeneratedBodyFile, span: &Span, reading: &mut Reading) -> Option<GeneratedBody> {
    // It was meant to follow from the database's tables, or to be computed.
    if reading.is_damaged(span, "data") || reading.is_damaged(span, "compute") {
        return None;
    }
    let generate = reading.require(file.generate, span, "generate", "generate = \"png\"");
    let bytes = reading.require(file.bytes, span, "bytes", "bytes = 546816");
    let seed = reading.require(file.seed, span, "seed", "seed = 534");
    Some(GeneratedBody { generate: generate?, bytes: bytes?, seed: seed? })
}
