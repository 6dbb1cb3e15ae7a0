//! Checks that a subject keeps the contract of its workloads: the same answers and the same refusals as all others.
//!
//! A subject that answers a wrong path or method as if it were right does less work than the others, so refusals are
//! part of comparability. The test suite checks every variant of every subject. A trial itself checks only the answer that
//! it is about to measure, and the load tool checks every answer in the window.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};
use tolok_load::options::{ExpectBody, Options, Request};
use tolok_model::{Body, Computed, DataBody, Database, Protocol, SplitMix64, SubjectChoice, Workload};

use crate::computed;
use crate::data_contract::{self as data, Answers, LARGEST_SEED, PathAnswer};
use crate::run::check::aborts::{Search, check_aborts};
use crate::run::check::counter::{Tally, check_burst};
use crate::run::check::crud::crud;
use crate::run::check::drawn;
use crate::run::check::started_server::{ServeError, StartedServer, words};
use crate::run::check::updates::updates;
use crate::run::database::prepared::Prepared;
use crate::run::server::probe_queue::Server;
use crate::run::session::Session;
use crate::run::stop::Stop;
use crate::subject::{Question, Rehearsal, SENT_TYPE};
use crate::upstream::Upstream;

/// Limit for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Methods that none of the workloads allows.
const WRONG_METHODS: [&str; 3] = ["POST", "PUT", "DELETE"];
/// Paths that no subject has.
const WRONG_PATHS: [&str; 3] = ["/", "/nothing-here", "/hello/world"];

/// The workloads checked in a subject, and where it differs from the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conformance {
    /// The workloads that were checked.
    pub workloads: Vec<String>,
    /// Each wrong answer to a request that is also sent under load, in a sentence; empty for a subject that can be measured.
    pub differences: Vec<String>,
    /// Each wrong answer to what is never sent under load: wrong methods, HEAD, nonsense, and clients that hang up.
    pub advice: Vec<String>,
}

/// Starts a subject once, sends it the requests of every workload that it serves, over one protocol, and those that it must refuse.
/// Leaves out workloads that need a database if there is none.
pub fn check_conformance(
    session: &Session<'_>,
    choice: &SubjectChoice,
    protocol: Protocol,
    database: Option<(&Database, &Prepared)>,
) -> Result<Conformance, ServeError> {
    let catalogue = &session.laboratory.catalogue;
    let subject = catalogue.subject(&choice.subject).ok_or_else(|| ServeError::new("no such subject"))?;
    let served = subject.workloads(&choice.variant).iter().filter_map(|name| catalogue.choose_workload(name).ok());
    let workloads: Vec<Workload> = served.filter(|workload| database.is_some() || !workload.database).collect();
    let first = workloads.first().ok_or_else(|| ServeError::new("it serves no workload"))?;
    let stop = Stop::default();
    let mut server = StartedServer::start(session, (choice, protocol), database, first, &stop)?;
    let (mut differences, mut advice) = (Vec::new(), Vec::new());
    let mut random = SplitMix64::new(seed().map_err(ServeError::new)?);
    for workload in &workloads {
        differences.extend(contract(session, &mut server, workload, &mut random));
        differences.extend(in_line(session, &mut server, workload));
        advice.extend(half_a_body(session, &mut server, workload));
    }
    // The HEAD check excludes requests with a body, and reads raw HTTP/1.1 bytes.
    let reads_bytes = protocol == Protocol::Http1;
    let single = || workloads.iter().filter(|workload| workload.is_single());
    let only_adds = |workload: &Workload| workload.body.data() == Some(DataBody::Updates);
    let asked_without_body = single().filter(|it| !it.sends_body() && !only_adds(it) && reads_bytes);
    advice.extend(asked_without_body.filter_map(|workload| body_for_head(session, &mut server, workload)));
    let listed = || workloads.iter().filter_map(|workload| session.assets.listed(workload));
    let is_listed = |path: &str| listed().any(|options| options.requests.iter().any(|request| request.path == path));
    let is_wrong = |path: &&str| single().all(|workload| workload.path != *path) && !is_listed(path);
    differences.extend(
        WRONG_PATHS
            .into_iter()
            .filter(is_wrong)
            .filter_map(|path| refusal(&mut server, Question::plain("GET", path), 404, "GET")),
    );
    advice.extend(refusals(session, &mut server, &workloads));
    if let Some((asked, _)) = database.filter(|_| reads_bytes && workloads.iter().any(is_rows)) {
        let aborts = check_aborts(&mut server, asked.pool, Search::Plain, &stop)
            .map_err(|error| ServeError::new(words(error)))?;
        advice.extend(aborts.differences());
    }
    server.stop()?;
    let workloads = workloads.iter().map(|workload| base(workload).to_owned()).collect();
    Ok(Conformance { workloads, differences, advice })
}

/// Different each time, so that answers prepared for known inputs are wrong.
fn seed() -> std::io::Result<u64> {
    let mut seed = [0; 8];
    getrandom(&mut seed, GetRandomFlags::empty())?;
    Ok(u64::from_le_bytes(seed))
}

fn is_rows(workload: &Workload) -> bool {
    workload.body == Body::Data { data: DataBody::Rows }
}

fn base(workload: &Workload) -> &str {
    workload.name.split('?').next().unwrap_or_default()
}

/// How the answers to a workload's requests differ from the contract.
fn contract(
    session: &Session<'_>,
    server: &mut StartedServer,
    workload: &Workload,
    random: &mut SplitMix64,
) -> Vec<String> {
    let owed = match &workload.body {
        Body::Data { data: DataBody::Rows } => rows(random),
        Body::Data { data: DataBody::Query } => query(random),
        Body::Data { data: DataBody::Queries } => queries(random),
        Body::Data { data: DataBody::Fortunes } => return fortunes(server, workload, random),
        Body::Data { data: DataBody::Updates } => return updates(server, workload, random).into_iter().collect(),
        Body::Data { data: DataBody::Crud } => return crud(server, workload, random).into_iter().collect(),
        Body::Data { data: DataBody::Counter } => return counter(server, workload),
        Body::Computed { compute: Computed::Compressed } => return compressed(server, workload, random),
        Body::Computed { compute: Computed::Upstream } => return upstream(server, workload, random),
        Body::Computed { compute } => computed::drawn(*compute, workload, random),
        Body::List { .. } => return iterations(session, server, workload, random),
        Body::Mixed { .. } => return in_turn(session, server, workload, random),
        Body::Generated(_) if workload.body.is_mix() => files(session, workload, random),
        Body::Data { data: DataBody::Fidelity } | Body::File(_) | Body::Generated(_) | Body::Varying(_) => {
            return one_answer(session, server, workload);
        }
    };
    let found = asked(server, workload, &owed);
    let strays = workload.body.is_mix().then(|| strays(session, server, workload));
    found.into_iter().chain(strays.into_iter().flatten()).collect()
}

/// A workload with one request: checks its answer and, if the workload is to check rules, the refusal of a violation.
fn one_answer(session: &Session<'_>, server: &mut StartedServer, workload: &Workload) -> Vec<String> {
    let (assets, name) = (&session.assets, format!("{} {}", workload.method, workload.path));
    let asked = server.ask_with_body(assets.question(workload), PATIENCE).map_err(|error| error.to_string());
    let answered = asked.and_then(|answer| assets.check(&answer, workload));
    let difference = answered.err().map(|difference| format!("{name}: {difference}"));
    let refused = assets.refused(workload).and_then(|refused| refused_with(server, refused, "what breaks a rule", 422));
    difference.into_iter().chain(refused).collect()
}

/// Sends a pipelined workload as many requests at once as its load does.
fn in_line(session: &Session<'_>, server: &mut StartedServer, workload: &Workload) -> Option<String> {
    if workload.pipeline == 1 || server.speech.http2 {
        return None;
    }
    let mut request = Request::get(session.assets.path(workload));
    request.expect.body = ExpectBody::Exactly(session.assets.body(workload).into());
    let said = match server.ask_in_line(&request, workload.pipeline, PATIENCE) {
        Ok(None) => return None,
        Ok(Some(right)) => format!("{right} right responses, and then none"),
        Err(error) => error.to_string(),
    };
    Some(format!("{} GET {} at once on one connection: {said}", workload.pipeline, request.path))
}

/// A workload whose request has a body must refuse half of one.
fn half_a_body(session: &Session<'_>, server: &mut StartedServer, workload: &Workload) -> Option<String> {
    let refused = session.assets.refused(workload)?;
    let cut = refused.body.map(|(content_type, body)| (content_type, &body[..body.len() / 2]));
    refused_with(server, Question { body: cut, ..refused }, "half a body", 400)
}

fn refused_with(server: &mut StartedServer, question: Question<'_>, what: &str, owed: u16) -> Option<String> {
    let name = format!("{} {} with {what}", question.method, question.path);
    match server.ask_with_body(question, PATIENCE) {
        Ok(answer) if answer.status == owed => None,
        Ok(answer) => Some(format!("{name}: status {} instead of {owed}", answer.status)),
        Err(error) => Some(format!("{name}: {error}")),
    }
}

/// The whole tables, their ends, and a limit that no subject could prepare for. The next two functions do the same.
fn rows(random: &mut SplitMix64) -> Vec<PathAnswer> {
    let drawn = 1 + random.below(1_000) as u32;
    let asked = [(40, 1), (40, 1_000), (40, 10_000), (50, 1), (50, 1_000), (40, drawn), (50, drawn)];
    let body = |fields, limit| data::rows_body(fields, limit).unwrap_or_default();
    asked
        .map(|(fields, limit)| PathAnswer::plain(format!("/rows?fields={fields}&limit={limit}"), body(fields, limit)))
        .into()
}

/// The parts of a mixed workload, each several times in random order: an answer must not depend on earlier requests.
fn in_turn(
    session: &Session<'_>,
    server: &mut StartedServer,
    workload: &Workload,
    random: &mut SplitMix64,
) -> Vec<String> {
    let mut parts: Vec<&Workload> = workload.parts().flat_map(|(_, part)| [part; 3]).collect();
    random.shuffle(&mut parts);
    let mut differences: Vec<String> = parts.iter().flat_map(|part| one_answer(session, server, part)).collect();
    differences.sort_unstable();
    differences.dedup();
    differences.into_iter().map(|difference| format!("among the parts of {}: {difference}", workload.name)).collect()
}

/// The requests of a file, in order, with some rows of its data.
fn iterations(
    session: &Session<'_>,
    server: &mut StartedServer,
    workload: &Workload,
    random: &mut SplitMix64,
) -> Vec<String> {
    let Some(options) = session.assets.listed(workload) else { return Vec::new() };
    let rows = options.data.as_ref().map_or(1, |data| data.rows()) as u64;
    let row = |_| random.below(rows) as usize;
    [(); 3].map(row).into_iter().filter_map(|row| iteration(server, options, row).err()).collect()
}

/// Sends the requests in turn. Fails with the first wrong answer.
fn iteration(server: &mut StartedServer, options: &Options, row: usize) -> Result<(), String> {
    let mut rehearsal = Rehearsal::new(options, row).map_err(|error| error.to_string())?;
    for place in 0..options.requests.len() {
        let request = rehearsal.request(place).clone();
        let wrong = |difference| Err(format!("{} {}: {difference}", request.method.as_str(), request.path));
        match server.ask_with_body(Question::of(&request), PATIENCE) {
            Ok(answer) => rehearsal.judge(place, &answer).or_else(wrong)?,
            Err(error) => wrong(error.to_string())?,
        }
    }
    Ok(())
}

/// The files of a mix, each once.
fn files(session: &Session<'_>, workload: &Workload, random: &mut SplitMix64) -> Vec<PathAnswer> {
    let Answers::Many(files) = session.assets.answers(workload) else { return Vec::new() };
    let mut files = files.clone();
    random.shuffle(&mut files);
    files
}

/// Compressed for clients that accept it, and uncompressed for others.
fn compressed(server: &mut StartedServer, workload: &Workload, random: &mut SplitMix64) -> Vec<String> {
    let owed = computed::drawn(Computed::Compressed, workload, random);
    let found = asked(server, workload, &owed);
    let Some(last) = owed.last().filter(|_| found.is_empty()) else { return found };
    let difference = match server.ask(&workload.method, &last.path, PATIENCE) {
        Ok(answer) if answer.header("content-encoding").is_some_and(|coding| coding != "identity") => {
            "a content encoding that was not asked for".to_owned()
        }
        Ok(answer) if answer.body == last.body => return found,
        Ok(answer) => data::difference(&last.body, &answer.body),
        Err(error) => error.to_string(),
    };
    vec![format!("{} {} without Accept-Encoding: {difference}", workload.method, last.path)]
}

/// What the upstream service answers. The subject must call it for every response.
fn upstream(server: &mut StartedServer, workload: &Workload, random: &mut SplitMix64) -> Vec<String> {
    let owed = computed::drawn(Computed::Upstream, workload, random);
    let words = |server: &StartedServer| server.upstream.as_ref().map_or(0, Upstream::asked);
    let before = words(server);
    let found = asked(server, workload, &owed);
    let (told, due) = (words(server) - before, owed.len() as u64);
    if !found.is_empty() || told >= due {
        return found;
    }
    vec![format!(
        "{}: {due} answers, for which it asked the service {told} times, so some come from a cache",
        workload.path
    )]
}

/// Texts that no subject could prepare for, and then a row that the lab changes.
fn fortunes(server: &mut StartedServer, workload: &Workload, random: &mut SplitMix64) -> Vec<String> {
    let owed = data::drawn_fortunes(&workload.path, random);
    let found = asked(server, workload, &owed);
    if !found.is_empty() {
        return found;
    }
    let ([change, restore], owed) = data::changed_fortune(&workload.path, random);
    let Some(database) = &server.database else { return Vec::new() };
    if let Err(error) = database.ask_tables(&change) {
        return vec![error.to_string()];
    }
    let found = asked(server, workload, &[owed]);
    let restored = server.database.as_ref().map(|database| database.ask_tables(&restore));
    let found = found.into_iter().map(|difference| format!("after `{change}`, {difference}"));
    found.chain(restored.and_then(Result::err).map(|error| error.to_string())).collect()
}

/// How the answers to these requests differ.
fn asked(server: &mut StartedServer, workload: &Workload, owed: &[PathAnswer]) -> Vec<String> {
    drawn::differences(workload, owed, &mut |question| {
        server.ask_with_body(question, PATIENCE).map_err(|error| error.to_string())
    })
}

/// Files that must not be served: one that does not exist, and one outside the folder.
fn strays(session: &Session<'_>, server: &mut StartedServer, workload: &Workload) -> Vec<String> {
    let list = session.assets.file(workload);
    let outside = list.as_ref().and_then(|list| list.file_name()).unwrap_or_default().to_string_lossy();
    let strays = ["none.bin".to_owned(), format!("../{outside}"), format!("%2e%2e/{outside}")];
    let paths = strays.map(|stray| format!("{}/{stray}", workload.path));
    let mut given = |path: &String| server.ask("GET", path, PATIENCE).is_ok_and(|answer| answer.status < 300);
    let given = paths.into_iter().filter(|path| given(path));
    given.map(|path| format!("GET {path}: status 200, though the workload has no such file")).collect()
}

fn query(random: &mut SplitMix64) -> Vec<PathAnswer> {
    let drawn = [(); 3].map(|()| 1 + random.below(10_000) as u32);
    let body = |id| data::query_body(id).unwrap_or_default();
    [1, 2, 9_999, 10_000]
        .into_iter()
        .chain(drawn)
        .map(|id| PathAnswer::plain(format!("/query?id={id}"), body(id)))
        .collect()
}

fn queries(random: &mut SplitMix64) -> Vec<PathAnswer> {
    let mut seed = || 1 + random.below(LARGEST_SEED) as u32;
    let asked = [(1, 1), (20, 7), (500, LARGEST_SEED as u32), (20, seed()), (20, seed())];
    asked.map(|(n, seed)| PathAnswer::plain(format!("/queries?n={n}&seed={seed}"), data::queries_body(n, seed))).into()
}

/// The response to HEAD is that to GET without its body: a body would break kept-alive connections.
fn body_for_head(session: &Session<'_>, server: &mut StartedServer, workload: &Workload) -> Option<String> {
    let path = session.assets.path(workload);
    match head(server, path) {
        Ok(said) => {
            let (head, body) = said.split_once("\r\n\r\n").unwrap_or((&said, ""));
            let status = head.split(' ').nth(1).unwrap_or_default();
            if status != "200" {
                return Some(format!("HEAD {path}: status {status} instead of 200"));
            }
            (!body.is_empty()).then(|| format!("HEAD {path}: a body of {} bytes", body.len()))
        }
        Err(error) => Some(format!("HEAD {path}: {error}")),
    }
}

/// Everything received until the connection closes.
fn head(server: &mut StartedServer, path: &str) -> std::io::Result<String> {
    let mut stream = server.trial_box.connect(server.address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let host = server.address;
    write!(stream, "HEAD {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said)?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// The counter must be exact after many concurrent increments.
fn counter(server: &mut StartedServer, workload: &Workload) -> Vec<String> {
    let asked = Server { address: server.address, speech: server.speech, stop: &Stop::default() };
    match check_burst(&mut server.trial_box, asked, Tally::Counter { path: &workload.path }) {
        Ok(burst) if burst.is_right() => Vec::new(),
        Ok(burst) => vec![format!("POST {}: {burst}", workload.path)],
        Err(error) => vec![format!("POST {}: {}", workload.path, words(error))],
    }
}

/// Lists wrong requests that are not properly refused: a wrong method needs 405 with the allowed methods, nonsensical parameters
/// need 400.
fn refusals(session: &Session<'_>, server: &mut StartedServer, workloads: &[Workload]) -> Vec<String> {
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for workload in workloads.iter().filter(|workload| workload.is_single()) {
        let path = session.assets.path(workload).split('?').next().unwrap_or_default();
        let others: &[&str] = if workload.body.data() == Some(DataBody::Crud) { &["PUT", "DELETE"] } else { &[] };
        allowed.entry(path).or_default().extend(others.iter().copied().chain([workload.method.as_str()]));
    }
    let wrong_methods = allowed.iter().flat_map(|(path, allowed)| {
        let wrong = WRONG_METHODS.into_iter().filter(|method| !allowed.contains(method));
        wrong.map(|method| (method, (*path).to_owned(), 405))
    });
    let has = |path: &str| allowed.contains_key(path);
    let nonsense = [
        ("/rows", "/rows?fields=41&limit=10", 400),
        ("/rows", "/rows?fields=40&limit=0", 400),
        ("/rows", "/rows?fields=40&limit=10001", 400),
        ("/rows", "/rows?fields=40&limit=ten", 400),
        ("/rows", "/rows", 400),
        ("/query", "/query?id=0x1", 400),
        ("/query", "/query?id=10001", 400),
        ("/queries", "/queries?n=501&seed=1", 400),
        ("/queries", "/queries?n=2&seed=0", 400),
        ("/fortunes", "/fortunes", 400),
        ("/fortunes", "/fortunes?add=", 400),
        ("/compressed", "/compressed?n=1001&seed=1", 400),
        ("/compressed", "/compressed?n=2", 400),
        ("/crud", "/crud", 400),
        ("/crud", "/crud?id=0", 400),
        ("/crud", "/crud?id=ten", 400),
        ("/react-ssr", "/react-ssr?n=1001&seed=1", 400),
        ("/react-ssr", "/react-ssr?n=2", 400),
        ("/items", "/items?n=0&seed=1", 400),
        ("/items", "/items?n=1001&seed=1", 400),
        ("/items", "/items?n=ten&seed=1", 400),
        ("/items", "/items?n=2&seed=0", 400),
        ("/items", "/items?n=2", 400),
        ("/upstream", "/upstream", 400),
        ("/upstream", "/upstream?key=ten", 400),
    ];
    let nonsense = nonsense.into_iter().filter(|(path, ..)| has(path));
    let nonsense = nonsense.map(|(_, path, expected)| ("GET", path.to_owned(), expected));
    let wrong_updates = ["/updates", "/updates?n=101&seed=1", "/updates?n=2&seed=0"];
    let wrong_updates = wrong_updates.into_iter().filter(|_| has("/updates"));
    let nonsense = nonsense.chain(wrong_updates.map(|path| ("POST", path.to_owned(), 400)));
    let wrong_rows = [r#"{"amount":"ten"}"#, r#"{"amount":"#, "{}"].into_iter().filter(|_| has("/crud"));
    let wrong_rows = wrong_rows.filter_map(|body| {
        let body = Some((SENT_TYPE, body.as_bytes()));
        refused_with(server, Question { body, ..Question::plain("PUT", "/crud?id=1") }, "no amount", 400)
    });
    let wrong_rows: Vec<String> = wrong_rows.collect();
    let asked: Vec<(&str, String, u16)> = wrong_methods.chain(nonsense).collect();
    let asked = asked.into_iter().map(|(method, path, expected)| {
        let instead = allowed.get(path.as_str()).and_then(|allowed| allowed.first()).unwrap_or(&"GET");
        refusal(server, Question::plain(method, &path), expected, instead)
    });
    asked.flatten().chain(wrong_rows).collect()
}

/// `instead` is a method that the path allows.
fn refusal(server: &mut StartedServer, asked: Question<'_>, expected: u16, instead: &str) -> Option<String> {
    let Question { method, path, .. } = asked;
    match server.ask_with_body(asked, PATIENCE) {
        Ok(answer) if answer.status != expected => {
            Some(format!("{method} {path}: status {} instead of {expected}", answer.status))
        }
        Ok(answer) if expected == 405 && answer.header("allow").is_none_or(|allowed| !allowed.contains(instead)) => {
            Some(format!("{method} {path}: 405 without saying that {instead} is allowed"))
        }
        Ok(_) => None,
        Err(error) => Some(format!("{method} {path}: {error}")),
    }
}
