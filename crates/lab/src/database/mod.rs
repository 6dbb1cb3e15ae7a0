//! Databases for subjects: private servers started from data that were loaded once, and a user's own servers.
//!
//! A [`DatabaseStore`] keeps a [`Template`] for each engine, version and data: files that a trial copies into its private
//! folder and serves from there as an [`Instance`], without a system service or a system account. A [`Client`]
//! is the engine's own client program. It loads data, checks readiness, and reads a server's counters, from which
//! [`StatusSeries`] makes the figures of a window. [`prepare_external`] loads the data into a server that is
//! addressed by a [`tolok_model::DatabaseAddress`].
//!
//! This module does not define the data: they come as a function that writes statements.

mod client;
mod clients;
mod commands;
mod dialect;
mod error;
mod external;
mod instance;
mod load;
mod mariadb;
mod mysql;
mod pipes;
mod postgres;
mod rows;
mod status;
mod store;
mod template;

pub use client::{Client, Target};
pub use commands::ServerCommands;
pub use error::DatabaseError;
pub use external::prepare_external;
pub use instance::{Instance, Settings};
pub use load::Script;
pub use mariadb::mariadb_command;
pub(crate) use rows::Rows;
pub use status::{StatusReading, StatusSeries};
pub use store::DatabaseStore;
pub use template::Template;

#[cfg(test)]
mod tests;
