//! The ceiling: the smallest possible HTTP server for the workloads' answers on this machine. No subject can exceed it, and it shows
//! whether a load generator or a subject was the limit.
//!
//! One epoll loop per thread, all answers prepared at the start (a large body is an open file, sent with `sendfile`), no configuration, no
//! logging of requests.

mod answers;
mod counts;
mod options;
mod planted;
mod request;
mod server;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use answers::Answers;
use counts::Counts;
use options::Options;

/// The name of this build: runs with the same name were measured alongside the same ceiling.
pub const BUILD: &str = env!("TOLOK_CEILING_BUILD");

/// Serves according to the arguments after the program's name, until a signal ends the process. Errors go to standard error.
pub fn run(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let (error, code) = match options::parse(arguments) {
        Ok(options) => match serve(&options) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error, 1),
        },
        Err(error) => (error, 2),
    };
    log(&error);
    ExitCode::from(code)
}

/// Serves until a signal ends the process.
fn serve(options: &Options) -> Result<(), String> {
    server::allow_many_connections();
    let answers = Answers::read(&options.assets)?;
    let listeners = server::listen(options.host, options.port, options.threads).map_err(|errno| {
        let (host, port) = (options.host, options.port);
        format!("cannot listen on {host}:{port}: {errno}; is the port in use, and {host} an address of this machine?")
    })?;
    let port = listeners.first().map_or(options.port, |listener| listener.port);
    let (host, threads) = (options.host, options.threads);
    log(&format!("listening on {host}:{port}, {threads} threads, {}", answers.paths().join(" ")));
    let counts: Vec<Arc<Counts>> = listeners.iter().map(|_| Arc::default()).collect();
    if options.counts {
        let all = counts.clone();
        // Outside the scope below: a thread that waits for a question must not keep a failed server alive.
        thread::spawn(move || counts::tell(&all, std::io::stdin().lock(), std::io::stdout().lock()));
    }
    thread::scope(|scope| {
        let pairs = listeners.into_iter().zip(&counts);
        let threads: Vec<_> =
            pairs.map(|(one, counts)| scope.spawn(|| server::run(one, &answers, counts, options.planted))).collect();
        let results = threads.into_iter().map(|thread| thread.join().unwrap_or(Err(rustix::io::Errno::INVAL)));
        results.collect::<Result<(), _>>().map_err(|errno| format!("the event queue failed: {errno}"))
    })
}

fn log(line: &str) {
    // If standard error is closed, there is nowhere to report it.
    let _ = writeln!(std::io::stderr(), "ceiling: {line}");
}
