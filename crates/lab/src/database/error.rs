//! What can go wrong with a database before and while it is measured.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tolok_model::duration_words;

/// Why a database cannot be started, queried or filled.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("cannot keep a database: {}: {source}; set XDG_CACHE_HOME to a folder that you may write and that has room", path.display())]
    Files { path: PathBuf, source: io::Error },
    #[error(
        "the database in {} belongs to {owner}, and no other account can read it; delete it as {owner}, or set XDG_CACHE_HOME to a \
         folder of your own",
        path.display()
    )]
    OfAnother { path: PathBuf, owner: String },
    #[error("`{command}` {how}")]
    Command { command: String, how: String, tail: Vec<String> },
    #[error(
        "no database answers at {target} after {}; {last}; see whether it runs there and can be reached from here",
        duration_words(after.as_secs_f64())
    )]
    NotReady { target: String, after: Duration, last: String },
    #[error("the database at {target} refuses the login: {message}; check user, password and rights")]
    Refused { target: String, message: String },
    #[error("the database at {target} does not carry out `{statement}`: {message}")]
    Statement { target: String, statement: String, message: String },
    #[error("the connection to the database at {target} is lost: {message}")]
    Lost { target: String, message: String },
    #[error(
        "the database at {target} does not answer `{statement}` within {}",
        duration_words(after.as_secs_f64())
    )]
    TimedOut { target: String, statement: String, after: Duration },
    #[error(
        "the database {database} has a table `{table}` that tolok did not make; name an empty database in the address, or \
         rename the table"
    )]
    Foreign { database: String, table: String },
    #[error("the work on the database was stopped")]
    Stopped,
}

impl DatabaseError {
    /// The last lines of a failed program; empty for other errors.
    pub fn tail(&self) -> &[String] {
        match self {
            Self::Command { tail, .. } => tail,
            _ => &[],
        }
    }
}
