//! The load engine: sends HTTP/1.1 requests by a schedule and records what came of them. Knows no study and no subject,
//! prints nothing, and reads no clock but the monotonic one.
//!
//! It is cut into parts that do not know each other, and one loop that composes them:
//!
//! - [`schedule`]: *when* a virtual user may send. Pure.
//! - `http`: the client's half of HTTP/1.1. Bytes in, verdicts out.
//! - `transport`: sockets and the kernel's event queue.
//! - `recording`: ledger, histograms, timeline. Takes instants as arguments.
//! - `engine`: the loop. One thread.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use tolok_load::options::{ExpectBody, Options};
//!
//! let mut options = Options::new("http://127.0.0.1:8080/json")?;
//! options.expect.body = ExpectBody::Exactly(br#"{"message":"Hello, World!"}"#.to_vec());
//! let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |event| drop(event))?;
//! assert!(record.ledger.closes());
//! # Ok::<(), tolok_load::error::LoadError>(())
//! ```

pub mod clock;
mod engine;
pub mod error;
pub mod event;
pub mod fault;
pub mod histogram;
mod http;
mod open_files;
pub mod options;
pub mod record;
mod recording;
pub mod schedule;
mod sys;
pub mod target;
mod transport;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::clock::SystemClock;
use crate::engine::{Engine, Outcome};
use crate::error::LoadError;
use crate::event::Event;
use crate::http::answer::Rules;
use crate::options::Options;
use crate::record::{LoopModel, PlanSummary, Record};
use crate::transport::Connector;

/// Loads a target and reports what happened.
///
/// Setting `stop` ends the run early in an orderly way; the record says `interrupted` then. A target that cannot be
/// reached at the start is an error; one that fails later, or never answers, is a record that says so.
pub fn run(options: &Options, stop: &AtomicBool, events: &mut dyn FnMut(Event)) -> Result<Record, LoadError> {
    check(options)?;
    let request = http::request::render(options)?;
    let address = options.target.resolve()?;
    open_files::allow(options.executor.vus())?;
    let connector = Connector::new(address, options);
    connector.probe(options.connect_timeout)?;
    let plan = plan_summary(options, address, &connector);
    let outcome = Engine::new(SystemClock, options, connector, request, events)?.run(stop)?;
    Ok(record(plan, outcome))
}

fn check(options: &Options) -> Result<(), LoadError> {
    let refuse = |option, reason: &str| Err(LoadError::Option { option, reason: reason.to_owned() });
    if options.executor.vus() == 0 {
        return refuse("vus", "a run needs at least 1 virtual user");
    }
    if options.executor.window().is_zero() {
        return refuse("duration", "the window must be longer than 0 s");
    }
    if options.timeout.is_zero() || options.connect_timeout.is_zero() {
        return refuse("timeout", "no answer comes within 0 s");
    }
    // The sums of instants in the engine saturate, so that this bound is one of sense rather than of safety.
    let day = Duration::from_secs(24 * 3600);
    if options.warm_up > day || options.executor.window() > day {
        return refuse("duration", "a phase may not be longer than a day");
    }
    Ok(())
}

fn plan_summary(options: &Options, address: SocketAddr, connector: &Connector) -> PlanSummary {
    PlanSummary {
        url: options.target.url(),
        address: address.to_string(),
        method: options.method.as_str().to_owned(),
        executor: options.executor.name().to_owned(),
        loop_model: LoopModel::Closed,
        vus: options.executor.vus(),
        warm_up_s: options.warm_up.as_secs_f64(),
        window_s: options.executor.window().as_secs_f64(),
        timeout_s: options.timeout.as_secs_f64(),
        connect_timeout_s: options.connect_timeout.as_secs_f64(),
        grace_s: options.grace_period().as_secs_f64(),
        connection: options.connection,
        source_addresses: connector.source_addresses(),
        expected_body_bytes: Rules::new(options).expected_body_bytes(),
    }
}

fn record(plan: PlanSummary, outcome: Outcome) -> Record {
    let Outcome { recorded, span, interrupted, cpu } = outcome;
    let window_s = span.window().as_secs_f64();
    let (cpu_user_s, cpu_system_s) = (cpu.user.as_secs_f64(), cpu.system.as_secs_f64());
    // Computed from the figures of the record, so that anyone who computes them again gets the same to the last bit.
    let per_window = |amount: f64| (window_s > 0.0).then(|| amount / window_s);
    Record {
        format: Record::FORMAT,
        engine: concat!("tolok-load ", env!("CARGO_PKG_VERSION")).to_owned(),
        plan,
        interrupted,
        warm_up_s: span.window_start.since(span.start).as_secs_f64(),
        window_s,
        window_start_monotonic_ns: span.window_start.0,
        window_end_monotonic_ns: span.window_end.0,
        goodput_rps: per_window((recorded.ledger.good + recorded.warm_up.carried_over_good) as f64),
        generator_busy: per_window(cpu_user_s + cpu_system_s),
        last_good_s: recorded.last_good_s,
        ledger: recorded.ledger,
        warm_up: recorded.warm_up,
        drain: recorded.drain,
        response_time: recorded.response_time,
        service_time: recorded.service_time,
        lateness: recorded.lateness,
        failure_time: recorded.failure_time,
        connect_time: recorded.connect_time,
        timeline: recorded.timeline,
        connections: recorded.connections,
        received_bytes: recorded.received_bytes,
        sent_bytes: recorded.sent_bytes,
        error_examples: recorded.error_examples,
        cpu_user_s,
        cpu_system_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MonotonicNs;
    use crate::fault::Fault;
    use crate::recording::{Attempt, Recorder};
    use crate::schedule::Span;
    use crate::sys::CpuTime;

    /// Others read this format. A change of the snapshot is a change of the format: see [`Record::FORMAT`].
    #[test]
    fn the_record_is_written_as_it_was_agreed() {
        let ms = Duration::from_millis;
        let span = Span::new(MonotonicNs(1_000_000_000), ms(500), ms(1_500));
        let mut recorder = Recorder::new(span);
        recorder.connected(span.start, span.start + ms(1));
        for number in 0..40 {
            let intended = span.start + ms(number * 50);
            let attempt = Attempt { sent: intended + ms(2), ..recorder.sent(intended, intended + ms(1)) };
            recorder.transmitted(60, attempt.sent);
            recorder.received(100, attempt.sent + ms(5));
            match number {
                20 => recorder.failed(&attempt, attempt.sent + ms(7), &Fault::BadStatus(500)),
                39 => recorder.abandoned(&attempt),
                _ => recorder.good(&attempt, attempt.sent + ms(5 + number % 3)),
            }
        }
        let mut options = Options::new("http://127.0.0.1:8080/hello").unwrap();
        options.warm_up = ms(500);
        options.executor = options::Executor::ConstantVus { vus: 1, duration: ms(1_500) };
        let address = options.target.resolve().unwrap();
        let plan = plan_summary(&options, address, &Connector::new(address, &options));
        let cpu = CpuTime { user: ms(30), system: ms(300) };
        let mut record = record(plan, Outcome { recorded: recorder.finish(), span, interrupted: false, cpu });
        record.engine = "tolok-load X.Y.Z".into();
        insta::assert_json_snapshot!(record);
    }
}
