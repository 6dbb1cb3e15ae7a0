//! The table of all figures: one row each.
//!
//! A row has a figure's name, unit and better direction, and its columns in CSV and tidy CSV. It also has how to read the figure
//! from a trial and how to combine the trials' values. [`figures!`] turns it into the finding's field, which is also the JSON key
//! and its schema, and into the code that fills the field. To add a figure, add a row.

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
