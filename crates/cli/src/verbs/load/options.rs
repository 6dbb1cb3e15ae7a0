//! Converts the command line to the engine's options.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::thread::sched_getaffinity;
use tolok_lab::bounded;
use tolok_lab::request_list::{Defaults, read_data, read_requests};
use tolok_load::Judgement;
use tolok_load::options::{
    ConnectionPolicy, Expect, ExpectBody, ExpectStatus, Generator, Method, Mix, Options, Pace, Pool, Protocol, Request,
    Sources, Tls, without_blanks_in_braces,
};
use tolok_load::threshold::Threshold;
use tolok_model::limits::BODY;

use super::schedule::{Schedule, schedule};
use crate::args::{BodyText, LoadArgs, LoadFormat, Threads};
use crate::exit::{CliError, Exit};
use crate::output::check_place;

/// What to measure, and how to judge it.
#[derive(Debug)]
pub struct Asked {
    /// The engine's options.
    pub options: Options,
    /// The thresholds to keep.
    pub judgement: Judgement,
}

/// Converts the command line to the engine's options; every contradiction is reported in one sentence.
pub fn asked(args: &LoadArgs) -> Result<Asked, CliError> {
    let refuse = |sentence: String| CliError::new(Exit::Usage, sentence);
    let Schedule { executor, pool, think_time } = schedule(args).map_err(refuse)?;
    refuse_contradictions(args).map_err(refuse)?;
    // Checked before the load, because afterwards the result would be lost.
    check_place(args.output.as_deref())?;
    let mut options = Options::new(&without_blanks_in_braces(&args.url))?;
    options.data = args.data.as_deref().map(|file| read_data(file, args.data_order)).transpose()?.map(Arc::new);
    options.mix = if args.sequence { Mix::Sequence } else { Mix::Weighted };
    options.requests = requests(args, &options)?;
    options.think_time = think_time;
    options.warm_up = args.warmup.unwrap_or_default();
    options.timeout = args.timeout;
    options.connect_timeout = args.connect_timeout.unwrap_or(Duration::from_secs(5).min(args.timeout));
    options.grace = args.grace;
    options.seed = args.seed;
    if args.http2 {
        options.protocol = Protocol::Http2 { streams_per_connection: args.streams.unwrap_or(1) };
    }
    if let Some(requests_in_flight) = args.pipeline {
        options.protocol = Protocol::Pipelined { requests_in_flight };
    }
    options.connection = match (args.no_keepalive, args.requests_per_connection) {
        (true, _) => ConnectionPolicy::PerRequest,
        (false, Some(requests_per_connection)) => ConnectionPolicy::Requests { requests_per_connection },
        (false, None) => ConnectionPolicy::KeepAlive,
    };
    options.tls = Tls { verify: !args.insecure, ca_file: args.ca_file.clone(), server_name: args.server_name.clone() };
    options.sources = args.source_addresses.clone().unwrap_or(Sources::Rotated(Sources::DEFAULT_ADDRESSES));
    options.pace =
        Pace { read_bytes_per_s: args.read_rate, write_bytes_per_s: args.write_rate, slow_share: args.slow_share };
    let places = match pool {
        _ if !executor.is_open() => executor.vus(),
        Pool::Bounded(connections) => connections,
        Pool::Unbounded { at_most } => at_most.unwrap_or(u32::MAX),
    };
    options.generator = Generator {
        threads: threads(args, places),
        cpus: args.cpus.clone().map(|list| list.0).unwrap_or_default(),
        timer: args.timer,
        congestion_control: args.congestion.clone(),
        unix_socket: args.unix_socket.clone(),
    };
    (options.executor, options.pool) = (executor, pool);
    Ok(Asked { options, judgement: Judgement { thresholds: args.thresholds.clone(), abort: args.abort } })
}

/// Refuses contradictions outside the schedule.
fn refuse_contradictions(args: &LoadArgs) -> Result<(), String> {
    let bodies = [args.expect_body.is_some(), args.expect_length.is_some(), args.expect_json.is_some()];
    let carries = |method: Method| matches!(method, Method::Post | Method::Put | Method::Patch);
    let some_carries = args.requests.iter().map(|request| request.method).chain(args.method).any(carries);
    let longer = args.connect_timeout.filter(|timeout| *timeout > args.timeout);
    let sentences = [
        (
            (args.insecure || args.ca_file.is_some() || args.server_name.is_some())
                && !args.url.starts_with("https://"),
            "--insecure, --ca-file and --server-name are for encrypted targets; the URL must begin with https://",
        ),
        (
            args.insecure && args.ca_file.is_some(),
            "--insecure accepts any certificate, so --ca-file has nothing to say; give one of them",
        ),
        (
            args.no_keepalive && args.requests_per_connection.is_some(),
            "--no-keepalive and --requests-per-connection exclude each other: the first means 1 request",
        ),
        (longer.is_some(), "--connect-timeout is longer than --timeout, which includes connecting"),
        (
            bodies.iter().filter(|given| **given).count() > 1,
            "--expect-body, --expect-length and --expect-json exclude each other; give one of them",
        ),
        (
            args.discard && (args.expect_body.is_some() || args.expect_json.is_some()),
            "--discard throws bodies away unread, so they can be compared with --expect-length only",
        ),
        (
            args.check_every.is_some() && args.expect_json.is_none() && args.request_file.is_none(),
            "--check-every needs --expect-json",
        ),
        (
            args.request_file.is_some() && (!args.requests.is_empty() || args.method.is_some() || args.body.is_some()),
            "--request-file excludes --request, --method and --body: every line is a request with all that belongs to it",
        ),
        (
            args.method.is_some() && !args.requests.is_empty(),
            "--method and --request exclude each other: every --request has its own method",
        ),
        (
            args.sequence && args.requests.is_empty() && args.request_file.is_none(),
            "--sequence needs the requests of it: --request 'WEIGHT METHOD PATH', or --request-file",
        ),
        (args.body.is_some() && !some_carries, "--body needs a request that carries one: -m POST, -m PUT or -m PATCH"),
        (
            args.unix_socket.is_some() && args.congestion.is_some(),
            "--unix-socket and --congestion exclude each other: only TCP has congestion control",
        ),
        (
            args.http2 && (args.read_rate.is_some() || args.write_rate.is_some()),
            "--http2 excludes --read-rate and --write-rate: several requests may share a connection, so none has a pace of its own",
        ),
        (
            args.http2 && args.discard,
            "--http2 excludes --discard: bodies come in frames, which the kernel cannot throw away; without it they are \
             counted and not compared",
        ),
        (
            args.capacity && args.format == LoadFormat::Junit,
            "--capacity excludes --format junit: it searches for where thresholds are crossed, so none is a test",
        ),
        (args.abort && args.thresholds.is_empty(), "--abort needs --threshold, whose crossing ends the run"),
        (
            args.abort && !args.thresholds.iter().any(Threshold::can_end_a_run),
            "--abort needs a --threshold that can end a run: an upper limit (p99 < 50ms, failed < 1%), goodput as a share, or min >",
        ),
    ];
    match sentences.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, sentence)) => Err(sentence.to_owned()),
        None => Ok(()),
    }
}

fn requests(args: &LoadArgs, options: &Options) -> Result<Vec<Request>, CliError> {
    let (expect, path) = (expect(args)?, options.target.path());
    if path != "/" && (!args.requests.is_empty() || args.request_file.is_some()) {
        let sentence = match args.request_file {
            Some(_) => {
                format!("the URL's path {path} and --request-file exclude each other: every line has its own path")
            }
            None => format!("the URL's path {path} and --request exclude each other: every --request has its own path"),
        };
        return Err(CliError::new(Exit::Usage, sentence));
    }
    if let Some(file) = &args.request_file {
        let check_every = args.check_every.unwrap_or(1);
        let defaults = Defaults { headers: args.headers.clone(), expect, check_every };
        return Ok(read_requests(file, &defaults, options)?.requests);
    }
    let body = match &args.body {
        None => Vec::new(),
        Some(body) => body_bytes(body)?,
    };
    let request = |method: Method, path: String, weight: u32| Request {
        method,
        path,
        headers: args.headers.clone(),
        body: if matches!(method, Method::Post | Method::Put | Method::Patch) { body.clone() } else { Vec::new() },
        expect: expect.clone(),
        weight,
        captures: Vec::new(),
        part: None,
    };
    if args.requests.is_empty() {
        return Ok(vec![request(args.method.unwrap_or(Method::Get), path.to_owned(), 1)]);
    }
    Ok(args.requests.iter().map(|one| request(one.method, one.path.clone(), one.weight)).collect())
}

fn expect(args: &LoadArgs) -> Result<Expect, CliError> {
    let body = if let Some(file) = &args.expect_body {
        ExpectBody::Exactly(read(file, "the expected body")?.into())
    } else if let Some(file) = &args.expect_json {
        ExpectBody::Json { document: read(file, "the expected JSON")?.into(), every: args.check_every.unwrap_or(1) }
    } else if args.discard {
        ExpectBody::Discard { length: args.expect_length }
    } else {
        args.expect_length.map_or(ExpectBody::Anything, ExpectBody::Length)
    };
    Ok(Expect { status: args.expect_status.map_or(ExpectStatus::Success, ExpectStatus::Exactly), body })
}

/// The body of a request.
pub fn body_bytes(body: &BodyText) -> Result<Vec<u8>, CliError> {
    match body {
        BodyText::Text(text) => Ok(text.clone().into_bytes()),
        BodyText::File(file) => read(file, "the request body"),
    }
}

fn read(file: &Path, what: &str) -> Result<Vec<u8>, CliError> {
    bounded::read(file, &BODY).map_err(|error| unreadable(what, file, &error))
}

fn unreadable(what: &str, file: &Path, error: &io::Error) -> CliError {
    let remedy = match error.kind() {
        // The error itself contains the remedy.
        io::ErrorKind::FileTooLarge => "",
        _ => ". Check the path and its permissions",
    };
    CliError::usage(format!("cannot read {what} {}: {error}{remedy}", file.display()))
}

/// The number of threads. If the user did not set it, it is at most the number of places for requests.
fn threads(args: &LoadArgs, places: u32) -> u32 {
    let cpus = match &args.cpus {
        Some(list) => Some(list.0.len() as u32),
        None if args.threads == Some(Threads::Auto) => sched_getaffinity(None).ok().map(|cpus| cpus.count()),
        None => None,
    };
    match args.threads {
        Some(Threads::Count(threads)) => threads,
        Some(Threads::Auto) | None => cpus.unwrap_or(1).min(places).max(1),
    }
}

#[cfg(test)]
mod tests;
