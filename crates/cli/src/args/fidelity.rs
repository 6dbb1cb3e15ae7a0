//! Options of `tolok fidelity`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use tolok_model::Engine;

use super::values::whole;

/// Options of `tolok fidelity`.
#[derive(Debug, ClapArgs)]
pub struct FidelityArgs {
    /// Subjects, named as in a study: `bun/serve:mysql2`, `bun/serve:*`, `*` [default: `*`, all variants of all subjects
    /// that serve the workload `fidelity`].
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    /// Which database to start.
    #[arg(long, default_value = "mariadb", value_name = "ENGINE")]
    pub engine: EngineName,
    /// Use a database server that already runs: `mysql://user:password@host:3306/name`, the same with `postgres://`, or
    /// `env:NAME` for a variable with such an address, which keeps the password out of the command line.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "engine")]
    pub dsn: Option<String>,
    /// Connections of each subject.
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = whole::<u32>(2..=150))]
    pub pool: u32,
    /// Skip the test that aborts 1,000 requests to find leaked connections. It takes some seconds per subject.
    #[arg(long)]
    pub no_aborts: bool,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: FidelityFormat,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A database that tolok can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
    /// PostgreSQL.
    Postgres,
}

impl EngineName {
    /// Its name in the model.
    pub fn engine(self) -> Engine {
        match self {
            Self::Mariadb => Engine::Mariadb,
            Self::Mysql => Engine::Mysql,
            Self::Postgres => Engine::Postgres,
        }
    }
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FidelityFormat {
    /// For the terminal.
    Text,
    /// Tables for a pull request or a document.
    Md,
    /// For programs.
    Json,
}
