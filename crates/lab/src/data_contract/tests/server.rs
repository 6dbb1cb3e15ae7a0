//! The script in a real server, compared with values that the server alone computes, without the code under test.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tolok_model::Wire;
use tolok_testkit::require;

use crate::data_contract::columns::{Column, Rows};
use crate::data_contract::content::Content;
use crate::data_contract::{Purpose, load_script, queries_body, query_body, rows_body, table_comment};
use crate::database::{ServerCommands, mariadb_command};
use crate::toolbox::{Program, ProgramState, Toolbox};

/// Anything that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A private server; killed when the test ends in any way.
struct Server<'a> {
    child: Child,
    commands: ServerCommands,
    program: &'a Program,
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(words: &[String], program: &Program) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).envs(&program.env).stdin(Stdio::null());
    command
}

impl<'a> Server<'a> {
    fn start(program: &'a Program, folder: &Path) -> Self {
        let commands = mariadb_command(program, folder);
        let installed = command(&commands.install, program).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let log = folder.join("log");
        let mut child = command(&commands.server, program).stderr(File::create(&log).unwrap()).spawn().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while UnixStream::connect(&commands.socket).is_err() {
            let said = || fs::read_to_string(&log).unwrap_or_default();
            assert_eq!(child.try_wait().unwrap(), None, "{}", said());
            assert!(Instant::now() < deadline, "{}", said());
            std::thread::yield_now();
        }
        Self { child, commands, program }
    }

    /// What the client prints for statements on its standard input.
    fn run(&self, options: &[&str], statements: &[u8]) -> Vec<u8> {
        let mut client = command(&self.commands.client, self.program);
        client.args(["--batch", "--skip-column-names", "--raw", "--default-character-set=utf8mb4"]).args(options);
        let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        client.stdin.take().unwrap().write_all(statements).unwrap();
        let output = client.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn ask(&self, statement: &str) -> String {
        String::from_utf8(self.run(&["tolok"], statement.as_bytes())).unwrap()
    }
}

/// An SQL expression that makes the canonical JSON of a row in the server, including escapes and quotes.
fn json_of_row(table: Rows) -> String {
    let value = |column: &Column| {
        let name = column.name;
        let is_text = matches!(
            column.content,
            Content::Text(_) | Content::Decimal { .. } | Content::Day { .. } | Content::Moment { .. }
        );
        let quoted = format!(r#"CONCAT('"', REPLACE(REPLACE({name}, '\\', '\\\\'), '"', '\\"'), '"')"#);
        let value = if is_text { quoted } else { name.to_owned() };
        format!(r#"CONCAT('"{name}":', COALESCE({value}, 'null'))"#)
    };
    let fields: Vec<String> = table.columns().map(value).collect();
    format!("CONCAT('{{', CONCAT_WS(',', {}), '}}')", fields.join(", "))
}

/// The content of a table as the server prints it, one row per line.
fn rows_of(server: &Server<'_>, table: Rows, end: &str) -> String {
    server.ask(&format!("SELECT {} FROM {}_text {end};", json_of_row(table), table.name()))
}

#[track_caller]
fn assert_same(body: &[u8], lines: &str) {
    let told = format!("[{}]", lines.trim_end_matches('\n').replace('\n', ","));
    let body = std::str::from_utf8(body).unwrap();
    let at = body.bytes().zip(told.bytes()).position(|(one, other)| one != other);
    let around =
        |text: &str| at.map(|at| String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60)..at + 9]).into_owned());
    assert!(body == told, "{} and {} bytes: {:?} and {:?}", body.len(), told.len(), around(body), around(&told));
}

#[test]
fn a_server_holds_what_the_bodies_say() {
    let state = Toolbox::open_default().unwrap().detect("mariadb").unwrap();
    let ProgramState::Ready(program) = state else {
        require!(false, "there is no MariaDB; `tolok setup mariadb` fetches it");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&program, folder.path());
    let mut script = Vec::new();
    load_script(&mut script, Purpose::Private, Wire::Mysql).unwrap();
    server.run(&[], &script);

    for (table, fields) in Rows::ALL.into_iter().zip([40, 50]) {
        assert_same(&rows_body(fields, 10_000).unwrap(), &rows_of(&server, table, "ORDER BY id"));
    }
    assert_same(&rows_body(40, 3).unwrap(), &rows_of(&server, Rows::Narrow, "ORDER BY id LIMIT 3"));
    let one = rows_of(&server, Rows::Narrow, "WHERE id = 17");
    assert_eq!(query_body(17).unwrap(), one.trim_end().as_bytes());
    // 16807, 282475249 and 1622650073 follow from the seed 1.
    let keys = [6_808, 5_250, 74].map(|key| rows_of(&server, Rows::Narrow, &format!("WHERE id = {key}")));
    assert_same(&queries_body(3, 1), &keys.concat());

    assert_eq!(server.ask("SELECT id, value FROM counter;"), "1\t0\n");
    let comments = "SELECT DISTINCT table_comment FROM information_schema.tables WHERE table_schema = 'tolok' AND \
                    table_type = 'BASE TABLE';";
    assert_eq!(server.ask(comments), format!("{}\n", table_comment(Wire::Mysql)));
    check_fidelity(&server);
    check_account(&server);
    check_external(&server);
}

/// Fidelity values in the server's own format, without a driver in between.
fn check_fidelity(server: &Server<'_>) {
    let ask = |statement: &str| server.ask(&format!("SET time_zone='+00:00'; SELECT {statement};"));
    assert_eq!(
        ask(
            "bigint_signed, bigint_unsigned, decimal_, int_, time_, timestamp_, year_, zero_date FROM fidelity WHERE id = 3"
        ),
        "9223372036854775807\t18446744073709551615\t99999999999999999999.9999999999\t2147483647\t838:59:59\t\
         2038-01-19 03:14:07\t2155\t0000-00-00\n"
    );
    assert_eq!(
        ask("HEX(text_), HEX(blob_), json_, datetime_ FROM fidelity WHERE id = 5"),
        format!(
            "{}\t0080C328\t{{\"b\": 0.1, \"aa\": null}}\t1969-12-31 23:59:59.000001\n",
            hex(r#"<a href="/x?y&z">\'</a>"#)
        )
    );
    assert_eq!(ask("HEX(text_) FROM fidelity WHERE id = 7"), format!("{}\n", hex("NUL\0, tab\t, line\n, slash/")));
    assert_eq!(ask("HEX(text_), HEX(blob_) FROM fidelity WHERE id = 4"), "\t\n");
    assert_eq!(
        ask("double_ = 935265.5303724789e0, CAST(float_ AS DOUBLE) FROM fidelity WHERE id = 6"),
        "1\t84.28500366210938\n"
    );
    assert_eq!(ask("CAST(float_ AS DOUBLE), float_ FROM fidelity WHERE id = 7"), "8388609\t8388610\n");
    assert_eq!(ask("COUNT(*), COUNT(int_), COUNT(zero_date), SUM(zero_date = 0) FROM fidelity"), "8\t7\t7\t6\n");
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}

/// The account of the subjects can read and write only its own database.
fn check_account(server: &Server<'_>) {
    let login = ["--user=tolok", "--password=tolok", "tolok"];
    let said = server.run(&login, b"UPDATE counter SET value = value + 1; SELECT value FROM counter; SHOW DATABASES;");
    assert_eq!(String::from_utf8(said).unwrap(), "1\ninformation_schema\ntolok\n");
}

/// A user's own database takes the same tables. Existing tables stop the script.
fn check_external(server: &Server<'_>) {
    let mut script = Vec::new();
    load_script(&mut script, Purpose::External, Wire::Mysql).unwrap();
    server.run(&[], b"CREATE DATABASE theirs CHARACTER SET latin1;");
    server.run(&["theirs"], &script);
    let sums =
        "CHECKSUM TABLE tolok.rows40, theirs.rows40, tolok.rows50, theirs.rows50, tolok.fidelity, theirs.fidelity;";
    let sums = server.ask(sums);
    let sums: Vec<&str> = sums.lines().map(|line| line.split_once('\t').unwrap().1).collect();
    assert!(sums.len() == 6 && sums.chunks(2).all(|pair| pair[0] == pair[1]), "{sums:?}");

    let again = folder_of(&server.commands).join("again.sql");
    fs::write(&again, &script).unwrap();
    let mut client = command(&server.commands.client, server.program);
    let refused = client.arg("theirs").stdin(File::open(&again).unwrap()).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("already exists"), "{said}");
}

fn folder_of(commands: &ServerCommands) -> &Path {
    commands.socket.parent().unwrap()
}
