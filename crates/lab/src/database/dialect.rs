//! What differs between the families of database programs: a server's commands, and the conversation with it.

use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::client::Target;
use super::instance::{self, Settings};
use super::rows::{self, Complaint, Rows};
use super::status::{self, StatusReading};
use super::{clients, mariadb, mysql, postgres};
use crate::data_contract::ENUM_NAME;
use crate::toolbox::Program;

/// The family of the programs.
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

    /// The command of a server on `data`, without network options.
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

    /// The path of a server's socket. It is some 15 characters longer than `folder`'s path; the kernel allows 107 in all.
    pub(super) fn socket(self, folder: &Path, port: u16) -> PathBuf {
        match self {
            Self::Mariadb | Self::Mysql => folder.join("db.sock"),
            Self::Postgres => folder.join(format!(".s.PGSQL.{port}")),
        }
    }

    /// Options of a server that is measured beside a subject. `first` is the file that it reads before it accepts logins.
    pub(super) fn network(self, at: SocketAddrV4, settings: &Settings, first: &Path) -> Vec<String> {
        match self {
            Self::Mariadb | Self::Mysql => {
                let mut words = instance::options(self, at, settings);
                words.push(format!("--init-file={}", first.display()));
                words
            }
            Self::Postgres => {
                let mut words = postgres::options(at, settings);
                words.extend(["-c".to_owned(), format!("hba_file={}", first.display())]);
                words
            }
        }
    }

    /// The file with the server's process number. A killed server leaves it behind.
    pub(super) fn pid_file(self, folder: &Path, data: &Path) -> PathBuf {
        match self {
            Self::Mariadb | Self::Mysql => folder.join("db.pid"),
            Self::Postgres => data.join("postmaster.pid"),
        }
    }

    /// The signal on which the server closes its connections and exits, without waiting for clients, and its name.
    pub(super) fn stop_signal(self) -> (Signal, &'static str) {
        match self {
            Self::Mariadb | Self::Mysql => (Signal::TERM, "TERM"),
            Self::Postgres => (Signal::INT, "INT"),
        }
    }

    /// Whether the server refuses to run as root.
    pub(super) fn refuses_root(self) -> bool {
        self == Self::Postgres
    }
}

/// The conversation with a server through its client program.
impl Dialect {
    /// The client program, which reads statements and goes on after an error.
    pub(super) fn client(self, program: &Program, target: &Target) -> Command {
        let options = ["--batch", "--skip-column-names", "--unbuffered", "--force", "--skip-reconnect"];
        match self {
            Self::Mariadb | Self::Mysql => clients::command(self, program, target, &options),
            Self::Postgres => postgres::client(program, target, false),
        }
    }

    /// The client program, which reads a script and stops at the first error.
    pub(super) fn script_client(self, program: &Program, target: &Target) -> Command {
        match self {
            Self::Mariadb | Self::Mysql => clients::command(self, program, target, &["--batch"]),
            Self::Postgres => postgres::client(program, target, true),
        }
    }

    /// The rows that the client printed.
    pub(super) fn rows(self, printed: &[u8]) -> Rows {
        match self {
            Self::Mariadb | Self::Mysql => rows::rows(printed),
            Self::Postgres => rows::plain_rows(printed),
        }
    }

    /// The last error that the client printed.
    pub(super) fn complaint(self, printed: &[u8]) -> Option<Complaint> {
        match self {
            Self::Mariadb | Self::Mysql => rows::complaint(printed),
            Self::Postgres => postgres::complaint(printed),
        }
    }

    /// The statement that reads the server's version.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Mariadb | Self::Mysql => "SELECT VERSION(), CONNECTION_ID()",
            Self::Postgres => "SELECT current_setting('server_version')",
        }
    }

    /// The statements that read the figures of the lab's own connection, and then the server's.
    pub(super) fn status(self, version: &str, counts_statements: bool) -> [String; 2] {
        match self {
            Self::Mariadb | Self::Mysql => status::questions(version),
            Self::Postgres => postgres::questions(counts_statements),
        }
    }

    /// A reading from the results of the statements of `status`.
    pub(super) fn reading(self, own: &Rows, all: &Rows) -> StatusReading {
        match self {
            Self::Mariadb | Self::Mysql => status::reading(own, all),
            Self::Postgres => postgres::reading(own, all),
        }
    }

    /// The statement that reads the name of the database.
    pub(super) fn database(self) -> &'static str {
        match self {
            Self::Mariadb | Self::Mysql => "SELECT DATABASE()",
            Self::Postgres => "SELECT current_database()",
        }
    }

    /// The statement that reads the name, the kind (`VIEW` or another) and the comment of those tables and views that exist.
    pub(super) fn tables(self, names: &[&str]) -> String {
        let question = match self {
            Self::Mariadb | Self::Mysql => {
                "SELECT table_name, table_type, table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND \
                 table_name IN"
            }
            Self::Postgres => {
                "SELECT relname, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, obj_description(oid, 'pg_class') FROM pg_class \
                 WHERE relnamespace = current_schema()::regnamespace AND relname IN"
            }
        };
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        format!("{question} ({})", names.join(", "))
    }

    /// The statement that drops one of our tables and the type that belongs to it.
    pub(super) fn drop_table(self, name: &str) -> String {
        match self {
            Self::Postgres if name == "fidelity" => {
                format!("BEGIN; DROP TABLE fidelity; DROP TYPE IF EXISTS {ENUM_NAME}; COMMIT")
            }
            Self::Mariadb | Self::Mysql | Self::Postgres => format!("DROP TABLE {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_its_own_type_along() {
        let with_type = "BEGIN; DROP TABLE fidelity; DROP TYPE IF EXISTS fidelity_enum; COMMIT";
        assert_eq!(Dialect::Postgres.drop_table("fidelity"), with_type);
        assert_eq!(Dialect::Postgres.drop_table("stock"), "DROP TABLE stock");
        assert_eq!(Dialect::Mariadb.drop_table("fidelity"), "DROP TABLE fidelity");
    }
}
