//! The tools that measure: load generators behind one trait ([`Driver`]), and what they share.
//!
//! Each runs as its own process, even tolok's own engine, so that its CPU time is accounted separately from the lab's
//! and it can have CPUs of its own. Drivers are pure: a job becomes a command line, and text becomes a report.
//!
//! - `tolok`: reports everything that a record has;
//! - `k6`: runs a script that the lab writes, which may call a user's own script;
//! - `wrk`: counts responses that came too late, and adds latencies of requests that were never sent;
//! - `ab`: HTTP/1.0 and one thread; compares lengths with that of its first response;
//! - `h2load`: with a time limit, requests on connections that the server closed are in none of its figures;
//! - `hey`: times in tenths of milliseconds, statuses of the first million responses only;
//! - `oha`: JSON; its errors include requests in flight at the end.

mod ab;
pub mod curl;
mod driver;
mod events;
mod h2load;
mod hey;
#[cfg(test)]
mod jobs;
mod k6;
mod oha;
mod output;
mod printed;
#[cfg(test)]
mod protocols;
pub mod slices;
mod tail;
pub mod timer;
mod tolok;
mod wrk;

use tolok_model::LoadTool;

pub use driver::{Answers, Borders, Driver, Invocation, LoadJob, NotUnderstood, Requests, ToolOutput, ToolReport};
pub use events::{LoadPhase, LoadSecond, ToolEvent};
pub use output::{LOG, OUTPUT_LIMIT, ReadFile, output_name, report_in, sound, tool_output};

/// The driver of a load generator.
pub fn driver(tool: LoadTool) -> &'static dyn Driver {
    match tool {
        LoadTool::Tolok => &tolok::Tolok,
        LoadTool::K6 => &k6::K6,
        LoadTool::Wrk => &wrk::Wrk,
        LoadTool::Ab => &ab::Ab,
        LoadTool::H2load => &h2load::H2load,
        LoadTool::Hey => &hey::Hey,
        LoadTool::Oha => &oha::Oha,
    }
}
