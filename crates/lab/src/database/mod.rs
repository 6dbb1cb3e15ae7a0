//! Databases: private instances, each with a folder of its own, no service and no account of the system.

mod mariadb;

pub use mariadb::{MariadbCommands, mariadb_command};
