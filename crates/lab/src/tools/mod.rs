//! The tools that measure: load generators behind one trait ([`Driver`]), and what is common to running them.
//!
//! Each is started as a process of its own, tolok's own engine as well, so that its CPU time is accounted apart from the lab's
//! and it can sit on CPUs of its own. Drivers are pure: a job becomes a command line, and text becomes a report.

mod driver;
mod running;
mod tolok;

use tolok_model::LoadTool;

pub use driver::{Answers, Borders, Driver, Invocation, LoadJob, NotUnderstood, Said, ToolReport};
pub use running::{RunningTool, Tool, ToolEvent, Waited};

/// How a load generator is driven.
pub fn driver(tool: LoadTool) -> &'static dyn Driver {
    match tool {
        LoadTool::Tolok => &tolok::Tolok,
        _ => &tolok::Tolok,
    }
}
