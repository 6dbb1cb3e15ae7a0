//! Running a load tool.

mod running;

pub use running::{RunningTool, Tool, Waited};
pub use tolok_tools::*;
