//! Running a load tool.

mod running;

pub use running::{RunningTool, Tool, Waited};
