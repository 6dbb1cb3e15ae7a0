//! Runs a load tool.

mod running;

pub use running::{RunningSlices, RunningTool, Tool, Waited};
