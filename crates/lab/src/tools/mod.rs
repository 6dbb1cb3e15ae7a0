//! The tools that measure: load generators behind one trait ([`Driver`]), and what is common to running them.

mod driver;
mod tolok;

pub use driver::{Answers, Borders, Driver, Invocation, LoadJob, NotUnderstood, Said, ToolReport};
pub use tolok::{RunningTool, ToolEvent, Waited, arguments};
