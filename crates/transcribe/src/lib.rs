//! Turns what people have into a transcription: outputs of load generators (text or JSON), result files of public
//! benchmarks, and tables of saved pages.
//!
//! Digits stay as printed. What is not understood is reported with its line, never guessed. A format is recognised by
//! its content, not by its file name. This crate is pure: no I/O, no clock.

mod block;
mod digits;
mod json;
mod outputs;
mod pages;
mod repetitions;
mod results;
mod row;
mod writing;

pub use outputs::{Outputs, TOOLS, outputs};
pub use pages::{PageRow, PageTable, from_transcription, page_tables, read_page_table};
pub use repetitions::merge_repetitions;
pub use results::RESULTS;
pub use row::{Figure, Remark, Row, Setting};
pub use writing::{rows_in_toml, setting_in_toml, transcription};
