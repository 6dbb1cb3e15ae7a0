//! What can go wrong with a database before and while it is measured.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a database cannot be had, asked or filled.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// A file or folder failed.
    #[error("cannot keep a database: {}: {source}; set XDG_CACHE_HOME to a folder that you may write and that has room", path.display())]
    Files { path: PathBuf, source: io::Error },
    /// A program of the database's failed.
    #[error("`{command}` {how}")]
    Command {
        /// As it was run.
        command: String,
        /// How it ended.
        how: String,
        /// Its last lines.
        tail: Vec<String>,
    },
    /// No one answered in time.
    #[error(
        "no database answers at {target} after {after:?}; {last}; see whether it runs there and can be reached from here"
    )]
    NotReady {
        target: String,
        /// How long it was waited for.
        after: Duration,
        /// What was seen last.
        last: String,
    },
    /// The server is there and lets no one in, or not this account.
    #[error("the database at {target} refuses the login: {message}; check user, password and rights")]
    Refused {
        target: String,
        /// What it said.
        message: String,
    },
    /// It did not carry out a statement.
    #[error("the database at {target} does not carry out `{statement}`: {message}")]
    Statement {
        target: String,
        /// The beginning of the statement.
        statement: String,
        /// What it said.
        message: String,
    },
    /// It is gone, or its client is.
    #[error("the connection to the database at {target} is lost: {message}")]
    Lost {
        target: String,
        /// What is known.
        message: String,
    },
    /// It did not answer in time; the connection cannot be used any more.
    #[error("the database at {target} does not answer `{statement}` within {after:?}")]
    TimedOut {
        target: String,
        /// The beginning of the statement.
        statement: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The user's database holds something that is not ours.
    #[error(
        "the database {database} has a table `{table}` that tolok did not make; name an empty database in the address, or \
         rename the table"
    )]
    Foreign {
        /// The database's name.
        database: String,
        table: String,
    },
    /// It is not wanted any more.
    #[error("the work on the database was stopped")]
    Stopped,
}

impl DatabaseError {
    /// The last lines of a program that failed; none of anything else.
    pub fn tail(&self) -> &[String] {
        match self {
            Self::Command { tail, .. } => tail,
            _ => &[],
        }
    }
}
