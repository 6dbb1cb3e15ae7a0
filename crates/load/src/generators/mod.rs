//! Several generators as one: the threads of a run are on other machines.
//!
//! ```text
//! run_on  --orders-->  serve, on each generator's machine  --> threads
//!         <--messages of threads--
//! ```
//!
//! A thread's share of users and arrivals depends only on its number and the number of threads. So threads of several machines split a load
//! exactly as threads of one machine do. The same collector adds up their messages: there is one histogram, and percentiles are never
//! averaged.
//!
//! Every machine has its own clock. Before the run, each is asked for its time; the shortest round trip gives its offset ([`clocks`]). All
//! start at the same instant. After the run they are asked again.

pub mod clocks;
mod part;
mod protocol;
mod team;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::error::LoadError;
use crate::event::Event;
use crate::options::Options;
use crate::record::Record;
use crate::schedule::Span;
use crate::stop::Stop;
use crate::threads::{Collected, Collecting};
use crate::threshold::Threshold;
use crate::{Judgement, connector, engine, summary};
pub use part::{admits, serve};
use protocol::Order;
use team::Team;

/// Interval of both sides' heartbeats.
const BEAT: Duration = Duration::from_secs(1);
/// A generator that is silent for this long is lost.
const SILENCE_LIMIT: Duration = Duration::from_secs(3);
/// Time from the start order to the start, and from a stop request to the end. Longer than a message takes to arrive.
const LEAD: Duration = Duration::from_millis(300);
/// How often to check for messages.
const LOOK: Duration = Duration::from_millis(50);

/// The environment variable with the token.
pub const TOKEN: &str = "TOLOK_GENERATOR_TOKEN";

/// A generator on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// The name of the machine.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Loads a target from other machines, as [`run_with`](crate::run_with) does from this one. Each runs as many threads as the options
/// specify. `token` authenticates this process to the generators.
pub fn run_on(
    generators: &[Generator],
    token: &str,
    (options, judgement): (&Options, &Judgement),
    stop: &AtomicBool,
    events: &mut dyn FnMut(Event),
) -> Result<Record, LoadError> {
    options.check_for(options.generator.threads.saturating_mul(generators.len() as u32))?;
    engine::check(options)?;
    let connector = connector(options)?;
    let mut team = Team::gather(generators, token)?;
    let congestion_control = team.prepare(options)?;
    let before = team.exchange_clocks()?;
    let stop = Stop::new(stop, LEAD);
    let abort_on: &[Threshold] = if judgement.abort { &judgement.thresholds } else { &[] };
    let collected = collect(&mut team, options, &stop, abort_on, events)?;
    let after = team.exchange_clocks()?;
    let plan = summary::plan(options, &connector, congestion_control);
    let mut record = summary::record(options, plan, &judgement.thresholds, collected);
    record.generator.nodes = team.nodes(&before, &after);
    Ok(record)
}

/// Starts all generators at the same instant, and collects the messages of their threads.
fn collect(
    team: &mut Team,
    options: &Options,
    stop: &Stop<'_>,
    abort_on: &[Threshold],
    events: &mut dyn FnMut(Event),
) -> Result<Collected, LoadError> {
    let span = Span::new(SystemClock.now() + LEAD, options.warm_up, options.executor.window());
    team.order(|clock| Order::Start { at: clock.there(span.start) });
    let mut collecting = Collecting::new(span, team.threads(), options.second_histograms, stop, abort_on);
    if !options.warm_up.is_zero() {
        events(Event::WarmupStarted);
    }
    let mut is_told_to_stop = false;
    while !collecting.is_over() {
        if let Some((thread, message)) = team.hear(LOOK)? {
            collecting.take(thread, message, events);
        }
        if let Some(at) = stop.instant(SystemClock.now()).filter(|_| !is_told_to_stop) {
            team.order(|clock| Order::StopAt { at: clock.there(at) });
            is_told_to_stop = true;
        }
    }
    collecting.finish(span)
}
