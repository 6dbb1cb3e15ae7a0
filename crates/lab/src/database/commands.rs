//! The commands of a private server.

use std::path::{Path, PathBuf};

use super::clients;
use super::dialect::Dialect;
use crate::toolbox::Program;

/// The commands of one instance. All of them need the program's own `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommands {
    /// Creates the system tables, and ends.
    pub install: Vec<String>,
    /// The server: stays in the foreground, logs to standard error, and exits cleanly on TERM.
    pub server: Vec<String>,
    /// The client, logged in as the database's `root`: reads statements from standard input.
    pub client: Vec<String>,
    /// The socket, the only place where the server listens.
    pub socket: PathBuf,
}

/// The commands of a MariaDB or MySQL in `folder` that is off the network.
pub(super) fn private(program: &Program, folder: &Path) -> ServerCommands {
    let dialect = Dialect::of(program);
    let data = folder.join("data");
    let mut server = dialect.server(program, &data, folder);
    server.extend(dialect.without_network());
    let mut client = clients::words(dialect, program);
    let socket = dialect.socket(folder, 0);
    client.extend([format!("--socket={}", socket.display()), "--user=root".to_owned()]);
    ServerCommands { install: dialect.install(program, &data), server, client, socket }
}

/// One of the program's extras; empty if there is none of that name.
pub(super) fn part(program: &Program, name: &str) -> String {
    program.extras.get(name).cloned().unwrap_or_default()
}
