//! The commands of a private server, by the family that its programs belong to.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::{mariadb, mysql, postgres};
use crate::toolbox::Program;

/// The commands of one instance. All of them need the program's own `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommands {
    /// Makes the system tables; ends when they are made.
    pub install: Vec<String>,
    /// The server; stays in the foreground, logs to standard error and ends well on TERM.
    pub server: Vec<String>,
    /// The client, logged in as the database's `root`; takes statements from standard input.
    pub client: Vec<String>,
    /// Where the server listens, and nowhere else.
    pub socket: PathBuf,
}

/// Which server's programs these are: they differ in some options, and in how system tables are made.
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

    /// What makes the system tables in `data`.
    pub(super) fn install(self, program: &Program, data: &Path) -> Vec<String> {
        match self {
            Self::Mariadb => mariadb::install(program, data),
            Self::Mysql => mysql::install(program, data),
            Self::Postgres => postgres::install(program, data),
        }
    }

    /// The server of `data`, without a word about the network.
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
            // MySQL keeps one by default, MariaDB does not; no one replicates from here.
            "--skip-log-bin".to_owned(),
            // MariaDB's own default is Latin 1, which would turn the text of clients that do not say theirs into noise.
            "--character-set-server=utf8mb4".to_owned(),
        ]);
        if rustix::process::geteuid().is_root() {
            words.push("--user=root".to_owned());
        }
        words
    }

    /// What keeps a server from the network.
    pub(super) fn without_network(self) -> Vec<String> {
        match self {
            Self::Mariadb | Self::Mysql => vec!["--skip-networking".to_owned()],
            Self::Postgres => postgres::without_network().to_vec(),
        }
    }

    /// Where a server in that folder listens beside that port of the network: some 15 characters more than the folder, and the
    /// kernel allows 107.
    pub(super) fn socket(self, folder: &Path, port: u16) -> PathBuf {
        match self {
            Self::Mariadb | Self::Mysql => folder.join("db.sock"),
            Self::Postgres => folder.join(format!(".s.PGSQL.{port}")),
        }
    }

    /// The signal on which the server ends its connections and itself, without waiting for clients to go.
    pub(super) fn stop_signal(self) -> Signal {
        if self == Self::Postgres { Signal::INT } else { Signal::TERM }
    }

    /// The client program of MariaDB and MySQL with what every use of it needs; `--no-defaults` has to be the first option.
    pub(super) fn client(self, program: &Program) -> Vec<String> {
        let mut words = vec![part(program, "client"), "--no-defaults".to_owned()];
        // A server may ask the client for any file that it can read.
        words.push("--local-infile=0".to_owned());
        // The way of logging in that the server asks for may be a plugin, which an unpacked tree does not find by itself.
        words.extend(Some(part(program, "plugins")).filter(|folder| !folder.is_empty()).map(plugin_folder));
        if self == Self::Mysql {
            // Without TLS, the password travels under the server's public key, which has to be asked for.
            words.push("--get-server-public-key".to_owned());
        }
        words
    }
}

fn plugin_folder(folder: String) -> String {
    format!("--plugin-dir={folder}")
}

/// The commands of a MariaDB or MySQL in `folder` that no network reaches.
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

/// One of the program's extras; empty where it has none of that name.
pub(super) fn part(program: &Program, name: &str) -> String {
    program.extras.get(name).cloned().unwrap_or_default()
}
