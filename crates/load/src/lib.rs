//! The load engine: sends HTTP/1.1 or HTTP/2 requests by a schedule and records what became of them. It is independent of studies and
//! subjects, prints nothing, and measures with the monotonic clock only.
//!
//! Its parts, and the loop that composes them:
//!
//! - `schedule`: *when* requests start. Pure.
//! - `http`: the client's half of HTTP/1.1. Bytes in, verdicts out.
//! - `transport`: sockets and the kernel's event queue.
//! - `recording`: ledger, histograms, timeline. Takes instants as arguments.
//! - `engine`: the loop of one thread.
//! - `threads`: several such loops, and the sum of what they record.
//! - [`generators`]: threads of other machines.
//! - [`verdict`] and [`threshold`]: judge the figures. Pure.
//! - [`process_cpu`]: CPU time of processes without a control group.
//! - [`slices`]: several servers, loaded in turn for a tenth of a second each.
//! - [`capacity`]: many runs, to find the highest rate that keeps all thresholds.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use tolok_load::options::{ExpectBody, Options};
//!
//! let mut options = Options::new("http://127.0.0.1:8080/json")?;
//! options.requests[0].expect.body = ExpectBody::Exactly(br#"{"message":"Hello, World!"}"#.as_slice().into());
//! let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |event| drop(event))?;
//! assert!(record.ledger.closes());
//! # Ok::<(), tolok_load::error::LoadError>(())
//! ```

#![warn(missing_docs)]

pub mod ask;
pub mod capacity;
pub mod clock;
mod engine;
pub mod error;
pub mod event;
pub mod fault;
pub mod generators;
pub mod histogram;
mod http;
pub mod open_files;
pub mod options;
pub mod process_cpu;
pub mod record;
mod recording;
pub mod schedule;
pub mod slices;
mod stop;
mod summary;
mod sys;
pub mod target;
mod threads;
pub mod threshold;
mod transport;
pub mod verdict;

#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
#[allow(missing_docs, reason = "entry points for the fuzzer only")]
pub mod fuzzing {
    pub use crate::http::fuzzing::answer;
    pub use crate::transport::h2::fuzzing::frames;
}

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use crate::error::LoadError;
use crate::event::Event;
use crate::options::{Executor, Options, Pool};
use crate::record::Record;
use crate::stop::Stop;
use crate::threshold::Threshold;
use crate::transport::{Address, Connector, TlsClient};

/// Loads a target and reports what happened.
///
/// Setting `stop` ends the run early and in order; the record is then marked `interrupted`. A target that cannot be reached at the start is
/// an error. A target that fails later, or never answers, yields a record.
pub fn run(options: &Options, stop: &AtomicBool, events: &mut dyn FnMut(Event)) -> Result<Record, LoadError> {
    run_with(options, &Judgement::default(), stop, events)
}

/// What a run is judged by.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// Conditions on its figures.
    pub thresholds: Vec<Threshold>,
    /// Whether to end the run as soon as one is crossed for good.
    pub abort: bool,
}

/// Like [`run`], judged by thresholds.
pub fn run_with(
    options: &Options,
    judgement: &Judgement,
    stop: &AtomicBool,
    events: &mut dyn FnMut(Event),
) -> Result<Record, LoadError> {
    let Prepared { connector, congestion_control, most_connections, most_lingering } = prepare(options)?;
    // With one thread, no other thread needs time to notice a stop.
    let lead =
        if options.generator.threads == 1 { Duration::ZERO } else { engine::STOP_LATENCY + Duration::from_millis(20) };
    let stop = Stop::new(stop, lead);
    let iterations = match options.executor {
        Executor::SharedIterations { iterations, .. } => iterations,
        _ => 0,
    };
    let iterations = Arc::new(AtomicU64::new(iterations));
    let run = engine::Run {
        options,
        connector: &connector,
        stop: &stop,
        iterations: &iterations,
        most_connections,
        most_lingering,
    };
    let abort_on: &[Threshold] = if judgement.abort { &judgement.thresholds } else { &[] };
    let collected = threads::run(&run, abort_on, events)?;
    let plan = summary::plan(options, &connector, congestion_control);
    Ok(summary::record(options, plan, &judgement.thresholds, collected))
}

/// What a run needs of this machine.
struct Prepared {
    connector: Connector,
    congestion_control: Option<String>,
    most_connections: u32,
    most_lingering: u32,
}

/// Checks the options, makes room for connections, and checks that the target is reachable.
fn prepare(options: &Options) -> Result<Prepared, LoadError> {
    options.check()?;
    engine::check(options)?;
    let (most_connections, most_lingering) = room_for_connections(options)?;
    let connector = connector(options)?;
    let congestion_control = connector.probe(options.connect_timeout)?;
    Ok(Prepared { connector, congestion_control, most_connections, most_lingering })
}

fn connector(options: &Options) -> Result<Connector, LoadError> {
    let address = match &options.generator.unix_socket {
        Some(path) => Address::Unix(path.clone()),
        None => Address::Inet(options.target.resolve()?),
    };
    Ok(Connector::new(address, options).with_tls(TlsClient::of(options)?))
}

/// Makes sure the process may open as many connections as the options require. Returns how many it may open, and how many per thread may
/// wait to be closed.
fn room_for_connections(options: &Options) -> Result<(u32, u32), LoadError> {
    let threads = options.generator.threads;
    let aside = engine::MOST_LINGERING.saturating_mul(threads);
    let places = match (options.executor.is_open(), options.pool) {
        (false, _) => options.executor.vus(),
        (true, Pool::Bounded(connections)) => connections,
        (true, Pool::Unbounded { .. }) => {
            let (most, aside) = open_files::allow_most(aside);
            return Ok((most, aside / threads));
        }
    };
    // The last connection of each thread may be shared by fewer users.
    let needed = match options.protocol.users_per_connection() {
        1 => places,
        streams => places.div_ceil(streams).saturating_add(threads),
    };
    Ok((places, open_files::allow(needed, aside)? / threads))
}
