//! A private PostgreSQL: its commands, its client program, and its counters.
//!
//! The server refuses to run as root, so root starts it under an unprivileged account. Statements are counted by
//! pg_stat_statements, from Debian's package, because the built-in counters are up to a second late.

use std::path::Path;
use std::process::{Command, Stdio};

use super::client::Target;
use super::commands::part;
use super::rows::{Complaint, Rows};
use super::status::StatusReading;
use crate::toolbox::Program;
use tolok_model::DatabaseAddress;

/// The port of a server that is off the network; it is a part of its socket's name.
pub(super) const QUIET_PORT: u16 = 5432;
/// The database of the lab's connection. It differs from the subjects', so that statements can be told apart.
const OWN_DATABASE: &str = "postgres";
/// Limit for connecting, in seconds.
const CONNECT_LIMIT_S: &str = "10";
/// Accounts that can create a server's files if the lab is root: initdb requires an account with a name.
pub(super) const NAMED_ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

pub(super) fn install(program: &Program, data: &Path) -> Vec<String> {
    let mut words = vec![part(program, "initdb"), format!("--pgdata={}", data.display())];
    let options = [
        "--username=postgres",
        // Sort by bytes, as in the tables of the other engines.
        "--encoding=UTF8",
        "--locale=C",
        // Nobody else can reach the folder of the socket, and on the network there is no password yet.
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        // The whole template is synced to the disk later.
        "--no-sync",
        "--no-instructions",
    ];
    words.extend(options.map(str::to_owned));
    words
}

/// The server of `data`, with its socket in `folder`, without network options.
pub(super) fn server(program: &Program, data: &Path, folder: &Path) -> Vec<String> {
    let mut words = vec![program.path.display().to_string(), "-D".to_owned(), data.display().to_string()];
    words.extend(set("unix_socket_directories", folder.display()));
    words.extend(set("unix_socket_permissions", "0700"));
    // The write-ahead log may take 1 GiB by default, too large for a folder in memory.
    words.extend(set("max_wal_size", "64MB"));
    words.extend(set("min_wal_size", "32MB"));
    // The server writes moments in this zone. By default it is the machine's.
    words.extend(set("timezone", "UTC"));
    // The other ways to share memory depend on the box's limits.
    words.extend(set("dynamic_shared_memory_type", "mmap"));
    if !part(program, "statements").is_empty() {
        words.extend(set("shared_preload_libraries", "pg_stat_statements"));
    }
    words
}

pub(super) fn without_network() -> [String; 4] {
    let [[a, b], [c, d]] = [set("listen_addresses", ""), set("port", QUIET_PORT)];
    [a, b, c, d]
}

/// Options for a server that is measured beside a subject.
pub(super) fn options(at: std::net::SocketAddrV4, settings: &super::Settings) -> Vec<String> {
    let settings = [
        set("listen_addresses", at.ip()),
        set("port", at.port()),
        // One more for the lab, so that the subject gets all that the study allows.
        set("max_connections", settings.max_connections + 1),
        set("superuser_reserved_connections", 1),
        set("shared_buffers", format_args!("{}kB", settings.buffer_pool_bytes >> 10)),
    ];
    settings.into_iter().flatten().collect()
}

fn set(name: &str, value: impl std::fmt::Display) -> [String; 2] {
    ["-c".to_owned(), format!("{name}={value}")]
}

/// The client program, which reads statements from standard input. A `script` stops at the first that fails.
pub(super) fn client(program: &Program, target: &Target, script: bool) -> Command {
    let mut command = Command::new(part(program, "client"));
    command.args(["--no-psqlrc", "--no-password", "--quiet", "--no-align", "--tuples-only"]);
    command.args(["--field-separator=\t", "--pset=null=NULL", "--set=VERBOSITY=verbose"]);
    if script {
        command.arg("--set=ON_ERROR_STOP=1");
    }
    let inherited = std::env::vars_os().map(|(name, _)| name);
    for name in inherited.filter(|name| name.as_encoded_bytes().starts_with(b"PG")) {
        command.env_remove(name);
    }
    // Its messages are parsed, so they must be in English.
    command.env("LC_ALL", "C").env("PGCONNECT_TIMEOUT", CONNECT_LIMIT_S).env("PGCLIENTENCODING", "UTF8");
    command.env("PGSERVICEFILE", "/dev/null").env("PGPASSFILE", "/dev/null");
    match target {
        Target::Socket { path } => {
            let folder = path.parent().unwrap_or(Path::new("/"));
            let port = path.extension().and_then(|port| port.to_str()).unwrap_or_default();
            command.arg(format!("--host={}", folder.display())).arg(format!("--port={port}"));
            command.arg("--username=postgres").arg(format!("--dbname={OWN_DATABASE}"));
        }
        Target::Network(DatabaseAddress { host, port, name, user, password, .. }) => {
            command.arg(format!("--host={host}")).arg(format!("--port={port}"));
            // A name with an equals sign would be read as a list of options.
            command.arg(format!("--username={user}")).env("PGDATABASE", name);
            // Every user can read a command line, but only the owner can read the environment.
            command.env("PGPASSWORD", password);
        }
    }
    command.envs(&program.env).stdin(Stdio::piped());
    command
}

/// The last error in psql's standard error output.
pub(super) fn complaint(printed: &[u8]) -> Option<Complaint> {
    const REFUSALS: [&str; 4] =
        ["authentication failed", "does not exist", "no pg_hba.conf entry", "permission denied for database"];
    const NOT_NOW: [&str; 4] = ["too many clients", "connection slots are reserved", "starting up", "shutting down"];
    let text = String::from_utf8_lossy(printed);
    let is_complaint = |line: &&str| {
        ["ERROR:", "FATAL:", "psql: error:", "server closed the connection", "connection to server was lost"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let line = text.lines().rfind(is_complaint)?;
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let line = line.to_owned();
    Some(match () {
        () if line.starts_with("ERROR:") => Complaint::Other(line),
        () if says(&NOT_NOW) => Complaint::NotNow(line),
        () if says(&REFUSALS) => Complaint::Other(line),
        () => Complaint::NoServer(line),
    })
}

/// The statements that read the lab's own connection, and then the server's work for others. With `counts`, that includes
/// statements.
pub(super) fn questions(counts: bool) -> [String; 2] {
    let others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'psql'";
    let mut all = format!(
        "SELECT 'Uptime', floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::bigint UNION ALL \
         SELECT 'Connected', count(*) {others} UNION ALL SELECT 'Running', count(*) {others} AND state = 'active'"
    );
    if counts {
        // Without the texts of statements, which are in a file.
        let counted = format!(
            "FROM pg_stat_statements(false) WHERE dbid <> (SELECT oid FROM pg_database WHERE datname = '{OWN_DATABASE}')"
        );
        for (name, column) in [("Statements", "calls"), ("Rows", "rows")] {
            all += &format!(" UNION ALL SELECT '{name}', coalesce(sum({column}), 0)::bigint {counted}");
        }
    }
    ["SELECT 'Session', pg_backend_pid()".to_owned(), all]
}

/// A reading from the answers of the two statements.
pub(super) fn reading(own: &Rows, all: &Rows) -> StatusReading {
    let figure = |rows: &Rows, name: &str| {
        let row = rows.iter().find(|row| row.first().is_some_and(|field| field.as_deref() == Some(name)))?;
        row.get(1)?.as_ref()?.parse::<u64>().ok()
    };
    StatusReading {
        session: figure(own, "Session").unwrap_or_default(),
        uptime_s: figure(all, "Uptime"),
        queries: figure(all, "Statements"),
        connected: figure(all, "Connected"),
        running: figure(all, "Running"),
        rows: figure(all, "Rows"),
        ..StatusReading::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_psql_complains_of_is_told_apart() {
        let kind = |text: &str| complaint(text.as_bytes());
        let text = |text: &str| text.to_owned();
        let missing =
            "ERROR:  42P01: relation \"nowhere\" does not exist\nLINE 1: SELECT\nLOCATION:  parserOpenTable\n";
        let expect = text("ERROR:  42P01: relation \"nowhere\" does not exist");
        assert_eq!(kind(missing), Some(Complaint::Other(expect)));
        let early =
            "psql: error: connection to server on socket \"/x\" failed: FATAL:  the database system is starting up\n";
        assert_eq!(kind(early), Some(Complaint::NotNow(text(early.trim()))));
        let denied =
            "psql: error: connection to server at \"x\" failed: FATAL:  password authentication failed for user\n";
        assert_eq!(kind(denied), Some(Complaint::Other(text(denied.trim()))));
        let nobody =
            "psql: error: connection to server at \"x\", port 1 failed: Connection refused\n\tIs the server running?\n";
        assert!(matches!(kind(nobody), Some(Complaint::NoServer(_))));
        let lost = "server closed the connection unexpectedly\n\tThis probably means\nconnection to server was lost\n";
        assert_eq!(kind(lost), Some(Complaint::NoServer(text("connection to server was lost"))));
        assert_eq!(kind("NOTICE:  all is well\n"), None);
    }

    #[test]
    fn a_reading_has_what_was_counted_and_nothing_else() {
        let rows = |pairs: &[(&str, &str)]| -> Rows {
            pairs.iter().map(|(name, value)| vec![Some((*name).to_owned()), Some((*value).to_owned())]).collect()
        };
        let all = rows(&[("Uptime", "7"), ("Connected", "16"), ("Running", "3")]);
        let seen = reading(&rows(&[("Session", "42")]), &all);
        let (uptime_s, connected, running) = (Some(7), Some(16), Some(3));
        assert_eq!(seen, StatusReading { session: 42, uptime_s, connected, running, ..StatusReading::default() });
        assert!(
            !questions(false)[1].contains("pg_stat_statements") && questions(true)[1].contains("pg_stat_statements")
        );
    }
}
