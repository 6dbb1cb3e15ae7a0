//! A server that runs already: whether tolok may load it, whether it is reachable, and its contract.

use std::net::SocketAddr;
use std::time::Duration;

use tolok_load::error::LoadError;
use tolok_load::options::Options;
use tolok_load::target::Target;
use tolok_model::manifest::sha256;
use tolok_model::{Compared, EXTERNAL, ExternalServer, OwedBody, OwnRequest, VaryingBody, Workload};

use crate::data_contract::{Answers, is_json, shape_difference};
use crate::home::Home;
use crate::request_list;
use crate::subject::{
    Answer, AssetError, DRAWN_TYPE, ProbeError, ProbeTarget, Question, Rehearsal, ask_by_name, body_sent,
};

/// A server that does not answer within this time is unreachable.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a URL cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    #[error("failed to {0}")]
    Url(LoadError),
    #[error("failed to {source}")]
    NoHost { url: String, source: LoadError },
    #[error("{url} is encrypted, and --url takes http:// only; to put load on it alone: tolok load {url}")]
    Secure { url: String },
    #[error(
        "{url} has a query, and the paths of the study's workloads are put behind it; give host and port, or leave the study out"
    )]
    Query { url: String },
    #[error("{url} is encrypted, and studies use plain HTTP; give the address of the server behind the encryption")]
    NotRecorded { url: String },
    #[error("{url} gave no answer: {source}. Is the server up, and is this its address?")]
    Silent { url: String, source: ProbeError },
    #[error("{url} answers with status {status}; give the path of something that it serves")]
    Refused { url: String, status: u16 },
    #[error(
        "{url} answers with status {first} once and {then} the next time; give the path of something that it always serves"
    )]
    Unsteady { url: String, first: u16, then: u16 },
    #[error("{url} answers without a Content-Type, which a workload compares; let the server send one")]
    Untyped { url: String },
    /// The body of the request cannot be read.
    #[error(transparent)]
    Sent(#[from] AssetError),
}

/// The server of a URL, named `name` or after its host and port. `has_study` tells whether a study names the requests.
pub fn external_server(name: Option<&str>, url: &str, has_study: bool) -> Result<ExternalServer, UrlError> {
    let target = Target::parse(url).map_err(UrlError::Url)?;
    if target.is_secure() {
        return Err(UrlError::Secure { url: url.to_owned() });
    }
    let name = name.map_or_else(|| target.authority(), str::to_owned);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    // A colon would start a variant, and a question mark a parameter.
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let root = format!("http://{}", target.authority());
    let (base, own) = if has_study {
        if target.path().contains('?') {
            return Err(UrlError::Query { url: url.to_owned() });
        }
        (format!("{root}{}", target.path().trim_end_matches('/')), None)
    } else {
        let path = target.path().to_owned();
        (root, Some(OwnRequest { path, status: 200, content_type: String::new(), body: OwedBody::Nothing }))
    };
    Ok(ExternalServer { subject: format!("{EXTERNAL}/{name}"), base, own, pid: None })
}

/// Whether it listens on this machine's loopback. Fails if its host has no address.
pub fn is_on_this_machine(server: &ExternalServer) -> Result<bool, UrlError> {
    Ok(address(&server.base)?.ip().is_loopback())
}

/// Sends the request of the server's own URL three times, and records what the server owes from then on.
pub fn ask_three_times(mut server: ExternalServer) -> Result<ExternalServer, UrlError> {
    let Some(own) = &server.own else { return Ok(server) };
    let url = format!("{}{}", server.base, own.path);
    let [first, others @ ..] = &three_answers(&url, None)?;
    let bytes = first.body.len() as u64;
    let body = if others.iter().all(|answer| answer.body == first.body) {
        OwedBody::Bytes { bytes, sha256: sha256(&first.body) }
    } else if is_of_one_length(first, others) {
        OwedBody::Length { bytes }
    } else {
        OwedBody::Nothing
    };
    let content_type = first.header("content-type").unwrap_or_default().to_owned();
    server.own = Some(OwnRequest { path: own.path.clone(), status: first.status, content_type, body });
    Ok(server)
}

/// A server's response, in the form of a workload's contract.
#[derive(Debug)]
pub struct RecordedAnswer {
    /// The server without a path: `http://127.0.0.1:3000`.
    pub server: String,
    /// The path of the request with its query.
    pub path: String,
    pub status: u16,
    /// Type and subtype, without parameters.
    pub content_type: String,
    /// The body of the first of three responses.
    pub body: Vec<u8>,
    /// What three bodies had in common, or `None` if they were equal.
    pub varying: Option<VaryingBody>,
}

impl RecordedAnswer {
    /// Which part of each response is compared from then on, in a sentence.
    pub fn words(&self) -> &'static str {
        match self.varying.as_ref().map(|varying| varying.compared) {
            None => "Three responses were the same, so every byte of the body is compared.",
            Some(Compared::Shape) => {
                "Three bodies differed, but had the same fields and kinds of values. These are compared before each window; \
                 under load, the status is."
            }
            Some(Compared::Length) => {
                "Three bodies differed, but had one length, so status, type and length are compared."
            }
            Some(Compared::Nothing) => "Three bodies had different lengths, so only status and type are compared.",
        }
    }
}

/// Sends the request of a URL three times, with a body if there is one. `file` names the file of a body by its content type.
pub fn record(url: &str, sent: Option<(&str, &[u8])>, file: fn(&str) -> String) -> Result<RecordedAnswer, UrlError> {
    let target = Target::parse(url).map_err(UrlError::Url)?;
    if target.is_secure() {
        return Err(UrlError::NotRecorded { url: url.to_owned() });
    }
    let [first, others @ ..] = three_answers(url, sent)?;
    let given = first.header("content-type").and_then(|given| given.split(';').next()).map(str::trim);
    let content_type =
        given.filter(|given| !given.is_empty()).ok_or_else(|| UrlError::Untyped { url: url.to_owned() })?;
    let content_type = content_type.to_ascii_lowercase();
    let is_alike = |answer: &Answer| shape_difference(&first.body, &answer.body).is_none();
    let varying = if others.iter().all(|answer| answer.body == first.body) {
        None
    } else if is_json(&first.body) && others.iter().all(is_alike) {
        // JSON with varying values will vary in length sooner or later.
        Some(VaryingBody { compared: Compared::Shape, file: Some(file(&content_type)), bytes: None })
    } else {
        let length = is_of_one_length(&first, &others).then_some(first.body.len() as u64);
        let compared = if length.is_some() { Compared::Length } else { Compared::Nothing };
        Some(VaryingBody { compared, file: None, bytes: length })
    };
    let (server, path) = (format!("http://{}", target.authority()), target.path().to_owned());
    Ok(RecordedAnswer { server, path, status: first.status, content_type, body: first.body, varying })
}

fn is_of_one_length(first: &Answer, others: &[Answer]) -> bool {
    others.iter().all(|answer| answer.body.len() == first.body.len())
}

/// The answers to three equal requests. All must have the same successful status.
fn three_answers(url: &str, sent: Option<(&str, &[u8])>) -> Result<[Answer; 3], UrlError> {
    let method = if sent.is_some() { "POST" } else { "GET" };
    let ask = || ask(url, method, sent);
    let answers = [ask()?, ask()?, ask()?];
    let [first, others @ ..] = &answers;
    let url = || url.to_owned();
    if let Some(other) = others.iter().find(|answer| answer.status != first.status) {
        return Err(UrlError::Unsteady { url: url(), first: first.status, then: other.status });
    }
    if !(200..300).contains(&first.status) {
        return Err(UrlError::Refused { url: url(), status: first.status });
    }
    Ok(answers)
}

/// Whether the server serves a workload's path: it answers with the correct status. Its trials check the rest. Otherwise
/// describes the answer.
pub fn serves(server: &ExternalServer, workload: &Workload, home: &Home) -> Result<Result<(), String>, UrlError> {
    for (_, part) in workload.parts() {
        if let Err(says) = serves(server, part, home)? {
            return Ok(Err(says));
        }
    }
    if workload.is_mixed() {
        return Ok(Ok(()));
    }
    if let Some((options, _)) = request_list::of(home, workload).map_err(AssetError::from)? {
        return serves_first(server, &options);
    }
    let first = match Answers::of(workload).map_err(AssetError::from)? {
        Some(Answers::Many(answers)) => answers.into_iter().next(),
        Some(Answers::One { .. } | Answers::Any { .. }) | None => None,
    };
    let (path, drawn) = first.map_or((workload.path.clone(), None), |first| (first.path, first.sent));
    let sent = body_sent(home, workload)?.or(drawn.map(|body| (DRAWN_TYPE.to_owned(), body)));
    let sent = sent.as_ref().map(|(content_type, body)| (content_type.as_str(), body.as_slice()));
    let answer = ask(&format!("{}{path}", server.base), &workload.method, sent)?;
    let (status, owed) = (answer.status, workload.status);
    let says = || format!("it answers {path} with status {status} instead of {owed}");
    Ok(if status == owed { Ok(()) } else { Err(says()) })
}

/// The same for the first request of a file.
fn serves_first(server: &ExternalServer, options: &Options) -> Result<Result<(), String>, UrlError> {
    let mut rehearsal = Rehearsal::new(options, 0).map_err(UrlError::Url)?;
    let first = rehearsal.request(0).clone();
    let url = format!("{}{}", server.base, first.path);
    let path = Target::parse(&url).map_err(UrlError::Url)?.path().to_owned();
    let answer = ask_for(&url, Question { path: &path, ..Question::of(&first) })?;
    let is_owed = options.requests[0].expect.status.accepts(answer.status);
    let says = || format!("it answers {} with status {}", first.path, answer.status);
    Ok(if is_owed { Ok(()) } else { Err(says()) })
}

/// Compares an answer with the one recorded before the run, and describes the difference.
pub fn differs(answer: &Answer, own: &OwnRequest) -> Result<(), String> {
    if answer.status != own.status {
        return Err(format!("status {} instead of {}, which it was before the run", answer.status, own.status));
    }
    let length = answer.body.len() as u64;
    if let Some(bytes) = own.body.length().filter(|bytes| *bytes != length) {
        return Err(format!("a body of {length} bytes instead of {bytes}, which it had before the run"));
    }
    match &own.body {
        OwedBody::Bytes { sha256: owed, .. } if *owed != sha256(&answer.body) => {
            Err("another body of the same length than before the run".to_owned())
        }
        _ => Ok(()),
    }
}

fn address(url: &str) -> Result<SocketAddr, UrlError> {
    let target = Target::parse(url).map_err(UrlError::Url)?;
    target.resolve().map_err(|source| UrlError::NoHost { url: url.to_owned(), source })
}

fn ask(url: &str, method: &str, body: Option<(&str, &[u8])>) -> Result<Answer, UrlError> {
    let target = Target::parse(url).map_err(UrlError::Url)?;
    ask_for(url, Question { body, ..Question::plain(method, target.path()) })
}

fn ask_for(url: &str, question: Question<'_>) -> Result<Answer, UrlError> {
    let (target, address) = (Target::parse(url).map_err(UrlError::Url)?, address(url)?);
    let answer = ask_by_name(ProbeTarget::directly(address), &target.authority(), question, PATIENCE, &|| true);
    answer.map_err(|source| UrlError::Silent { url: url.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_url_is_a_server_with_what_it_names_or_the_base_of_a_study_s_paths() {
        let own = external_server(None, "http://localhost:3000/a?b=1", false).unwrap();
        assert_eq!((own.subject.as_str(), own.base.as_str()), ("external/localhost-3000", "http://localhost:3000"));
        assert_eq!(own.own.unwrap().path, "/a?b=1");
        let named = external_server(Some("mine"), "http://localhost:3000/api/", true).unwrap();
        assert_eq!((named.subject.as_str(), named.base.as_str()), ("external/mine", "http://localhost:3000/api"));
        assert_eq!(named.own, None);
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_what_to_do() {
        let said = |url: &str, has_study| external_server(None, url, has_study).unwrap_err().to_string();
        assert!(said("https://localhost/", false).contains("tolok load https://localhost/"));
        assert!(said("http://localhost/?a=1", true).contains("leave the study out"));
        assert!(
            said("localhost:3000", true)
                .ends_with("it starts with neither http:// nor https://; write http://localhost:3000")
        );
    }

    #[test]
    fn an_answer_is_held_against_as_much_as_was_the_same_before() {
        let own = |body| OwnRequest { path: "/".to_owned(), status: 200, content_type: String::new(), body };
        let bytes = own(OwedBody::Bytes { bytes: 2, sha256: sha256(b"ab") });
        assert_eq!(differs(&answer(200, "ab"), &bytes), Ok(()));
        assert!(differs(&answer(200, "ba"), &bytes).unwrap_err().contains("another body"));
        assert!(differs(&answer(200, "abc"), &bytes).unwrap_err().contains("3 bytes instead of 2"));
        assert!(differs(&answer(503, "ab"), &bytes).unwrap_err().contains("503"));
        assert_eq!(differs(&answer(200, "ba"), &own(OwedBody::Length { bytes: 2 })), Ok(()));
        assert_eq!(differs(&answer(200, "abc"), &own(OwedBody::Nothing)), Ok(()));
    }
}
