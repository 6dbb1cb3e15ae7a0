//! The tools that measure: load generators behind one trait ([`Driver`]), and what is common to running them.
//!
//! Each is started as a process of its own, tolok's own engine as well, so that its CPU time is accounted apart from the lab's
//! and it can sit on CPUs of its own. Drivers are pure: a job becomes a command line, and text becomes a report.
//!
//! - `tolok`: tells everything that a record has;
//! - `k6`: by a script that the lab writes, or with what users do from one of the user's own;
//! - `wrk`: answers that came too late are among those it counts, and it adds latencies of requests that were never sent;
//! - `ab`: HTTP/1.0 and one thread; lengths are compared with that of its first answer;
//! - `h2load`: requests of a connection that the server closed are in no figure of a run for a time;
//! - `hey`: times in tenths of milliseconds, statuses of the first million answers only;
//! - `oha`: JSON; requests in flight at the end stand among its errors.

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

/// How a load generator is driven.
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
