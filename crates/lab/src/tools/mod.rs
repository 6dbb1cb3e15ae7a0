//! Load tools: programs that put load on a subject and say what became of it.
//!
//! tolok's own engine is started as a process of its own, as any other tool would be, so that its CPU time is accounted
//! apart from the lab's and it can sit on CPUs of its own.

mod tolok;

pub use tolok::{Answers, LoadJob, RunningTool, ToolEvent, ToolReport, Waited, arguments};
