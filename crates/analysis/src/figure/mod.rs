//! The table of all figures: one row each.
//!
//! A row says what a figure is called, how a trial is read for it, how the values of the trials become one, its unit, which
//! way it is better, and which columns of CSV and tidy CSV hold it. [`figures!`] makes the field of the finding from it, which is
//! also the key in JSON and its schema, and the code that fills the field. To add a figure, add a row.

pub(crate) mod database;
pub(crate) mod program;
pub(crate) mod resources;
pub(crate) mod server;
pub(crate) mod table;
mod trials;

pub use database::DATABASE;
pub use program::PROGRAM;
pub use resources::RESOURCES;
pub use server::SERVER;
pub use table::{Column, Figure, Rows, Unit, Value};
pub use trials::{trial_figures, trial_unit};
