//! The commands of a private server, for each family of database programs.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::{mariadb, mysql, postgres};
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

/// The family of the programs, which differ in some options and in how system tables are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Mariadb,
    Mysql,
    Postgres,
}

impl Dialect {
    pub(super) fn of(program: &Program) -> Self {
        match program.name.as_str() {
            "mysql" => Self::Mysql,
            "postgres" => Self::Postgres,
            _ => Self::Mariadb,
        }
    }

    /// The command that creates the system tables in `data`.
    pub(super) fn install(self, program: &Program, data: &Path) -> Vec<String> {
        match self {
            Self::Mariadb => mariadb::install(program, data),
            Self::Mysql => mysql::install(program, data),
            Self::Postgres => postgres::install(program, data),
        }
    }

    /// The server of `data`, without network options.
    pub(super) fn server(self, program: &Program, data: &Path, folder: &Path) -> Vec<String> {
        let mut words = match self {
            Self::Mariadb => mariadb::server(program, data),
            Self::Mysql => mysql::server(program, data),
            Self::Postgres => return postgres::server(program, data, folder),
        };
        words.extend([
            format!("--socket={}", self.socket(folder, 0).display()),
            format!("--pid-file={}", folder.join("db.pid").display()),
            format!("--tmpdir={}", folder.display()),
            // MySQL keeps a binary log by default, MariaDB does not; nothing is replicated here.
            "--skip-log-bin".to_owned(),
            // MariaDB's default is Latin 1, which would garble the text of clients that do not set a character set.
            "--character-set-server=utf8mb4".to_owned(),
        ]);
        if rustix::process::geteuid().is_root() {
            words.push("--user=root".to_owned());
        }
        words
    }

    /// Options that keep a server off the network.
    pub(super) fn without_network(self) -> Vec<String> {
        match self {
            Self::Mariadb | Self::Mysql => vec!["--skip-networking".to_owned()],
            Self::Postgres => postgres::without_network().to_vec(),
        }
    }

    /// The socket of a server in that folder with that network port. It is some 15 characters longer than the folder; the
    /// kernel allows 107.
    pub(super) fn socket(self, folder: &Path, port: u16) -> PathBuf {
        match self {
            Self::Mariadb | Self::Mysql => folder.join("db.sock"),
            Self::Postgres => folder.join(format!(".s.PGSQL.{port}")),
        }
    }

    /// The signal on which the server closes its connections and exits, without waiting for clients.
    pub(super) fn stop_signal(self) -> Signal {
        if self == Self::Postgres { Signal::INT } else { Signal::TERM }
    }

    /// The client program of MariaDB and MySQL with the options that every use needs. `--no-defaults` must come first.
    pub(super) fn client(self, program: &Program) -> Vec<String> {
        let mut words = vec![part(program, "client"), "--no-defaults".to_owned()];
        // Otherwise a server could request any file that the client can read.
        words.push("--local-infile=0".to_owned());
        // The server's login method may be a plugin, which an unpacked installation does not find without this.
        words.extend(Some(part(program, "plugins")).filter(|folder| !folder.is_empty()).map(plugin_folder));
        if self == Self::Mysql {
            // Without TLS, the password is encrypted with the server's public key, which the client must request.
            words.push("--get-server-public-key".to_owned());
        }
        words
    }
}

fn plugin_folder(folder: String) -> String {
    format!("--plugin-dir={folder}")
}

/// The commands of a MariaDB or MySQL in `folder` that is off the network.
pub(super) fn private(program: &Program, folder: &Path) -> ServerCommands {
    let dialect = Dialect::of(program);
    let data = folder.join("data");
    let mut server = dialect.server(program, &data, folder);
    server.extend(dialect.without_network());
    let mut client = dialect.client(program);
    let socket = dialect.socket(folder, 0);
    client.extend([format!("--socket={}", socket.display()), "--user=root".to_owned()]);
    ServerCommands { install: dialect.install(program, &data), server, client, socket }
}

/// One of the program's extras; empty if there is none of that name.
pub(super) fn part(program: &Program, name: &str) -> String {
    program.extras.get(name).cloned().unwrap_or_default()
}
