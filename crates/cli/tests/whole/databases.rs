//! Studies whose workloads use a database: a private one, one that misbehaves, and the user's own.

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tolok_lab::database::{ServerCommands, mariadb_command};
use tolok_lab::toolbox::{Program, ProgramState, Toolbox};
use tolok_testkit::require;

use crate::place::{PATIENCE, Place, Said, Started, assert_all_gone, assert_done, processes, repository, shared_turn};

/// A place with the repository's subjects and one study of them.
pub fn place(subjects: &str, workload: &str, load: &str, environment: &str) -> Place {
    let place = Place::new();
    for folder in fs::read_dir(repository().join("subjects")).unwrap().flatten().filter(|it| it.path().is_dir()) {
        let name = folder.file_name();
        std::os::unix::fs::symlink(folder.path(), place.path().join("subjects").join(name)).unwrap();
    }
    let study = format!(
        "title = 'Try'\nsubjects = {subjects}\nblocks = 1\nseed = 7\nreruns = 0\nceiling = false\naa-pair = false\n[[scenario]]\n\
         workload = {workload}\nload = {{ executor = 'constant-vus', {load} }}\n[environment]\n{environment}\n"
    );
    fs::write(place.path().join("studies/try.toml"), study).unwrap();
    place
}

pub fn run(place: &Place, options: &[&str]) -> (Said, Vec<Value>) {
    let said = place.tolok(&[&["run", "try"], options].concat());
    let records = place.records();
    assert_all_gone(|| place.processes());
    (said, records)
}

pub fn mariadb() -> Option<Program> {
    match Toolbox::open_default().unwrap().detect("mariadb").unwrap() {
        ProgramState::Ready(program) => Some(program),
        _ => None,
    }
}

/// Skips a test, with a message, if there is no MariaDB.
macro_rules! require_mariadb {
    () => {
        require!($crate::databases::mariadb().is_some(), "there is no MariaDB; `tolok setup mariadb` fetches it")
    };
}
pub(crate) use require_mariadb;

#[test]
fn a_trial_with_a_database_records_what_it_did() {
    require_mariadb!();
    let _turn = shared_turn();
    let place = place(
        "['go/nethttp', 'node/http']",
        "['rows?limit=1000', 'hello']",
        "vus = 8, duration = '1s', warmup = '300ms'",
        "database = { pool = 4 }",
    );
    let (said, records) = run(&place, &[]);
    assert_done(said.code, &said.progress);
    assert_eq!(records.len(), 4, "{}", said.progress);
    let (with, without): (Vec<&Value>, Vec<&Value>) =
        records.iter().partition(|record| record["case"].as_str().unwrap().starts_with("rows"));
    assert!(without.iter().all(|record| record["outcome"]["database"].is_null()), "hello uses no database");
    for record in with {
        let database = &record["outcome"]["database"];
        assert!(database["version"].as_str().unwrap().contains("MariaDB"), "{database}");
        let good = record["outcome"]["ledger"]["good"].as_u64().unwrap();
        // Responses in flight at the borders of the window are counted on only one side.
        assert!(good > 0 && database["queries"].as_u64().unwrap() + 16 >= good, "{good} answers, {database}");
        // MariaDB counts a connection that a client dropped until it notices, and the pool has opened another by then.
        let most = 4 + database["connections_opened"].as_u64().unwrap();
        assert!((1..=most).contains(&database["connections_max"].as_u64().unwrap()), "a pool of 4: {database}");
        assert_eq!(database["refused_connections"], 0);
        let cpu_s = |part: &Value| part["cpu_s"].as_f64().unwrap();
        assert!(cpu_s(&database["resources"]) > 0.0 && cpu_s(&record["outcome"]["subject"]) > 0.0);
        let pool = &record["outcome"]["pool"];
        assert_eq!(pool["size"], 4, "{pool}");
        assert!(pool["waits"].as_u64().unwrap() > 0, "8 users wait for 4 connections: {pool}");
    }
}

#[test]
fn a_number_that_many_increment_is_right_in_the_end() {
    require_mariadb!();
    let _turn = shared_turn();
    let load = "vus = 8, duration = '1s', warmup = '100ms'";
    let place = place("['go/nethttp', 'node/http:cluster']", "'counter'", load, "database = { pool = 8 }");
    let (said, records) = run(&place, &[]);
    assert_done(said.code, &said.progress);
    assert_eq!(records.len(), 2);
    for record in records {
        let check = &record["outcome"]["counter"];
        let number = |name: &str| check[name].as_u64().unwrap();
        assert_eq!((number("grew"), number("wrong_answers")), (number("asked"), 0), "{check}");
        assert!((number("load_least")..=number("load_most")).contains(&number("load")), "{check}");
        assert!(number("load_least") > 0, "{check}");
    }
}

#[test]
fn a_database_that_refuses_connections_is_to_blame_for_it() {
    require_mariadb!();
    let _turn = shared_turn();
    // Each of 14 processes has at least one connection, however small the pool is.
    let place = place(
        "['node/http:cluster?workers=14']",
        "'query'",
        // Long enough for most processes to start, even on a busy machine.
        "vus = 64, duration = '3s', warmup = '1s'",
        "database = { pool = 2, max-connections = 10 }",
    );
    let (said, records) = run(&place, &[]);
    let outcome = &records[0]["outcome"];
    let refused = match outcome["kind"].as_str() {
        Some("failed") => {
            assert_eq!(outcome["reason"], "database-failed", "{outcome}");
            assert!(said.output.contains("max-connections"), "the remedy is named: {}", said.output);
            outcome["message"].as_str().unwrap().contains("as many as it accepts")
        }
        // Some of its processes could connect.
        _ => outcome["database"]["refused_connections"].as_u64().unwrap() > 0,
    };
    assert!(refused, "{outcome}");
}

/// Pids of the database servers of this place's trials.
pub fn servers(place: &Place) -> Vec<Pid> {
    let needle = place.path().display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if line.starts_with('/')
            && (line.contains("mariadbd") || line.contains("bin/postgres"))
            && line.contains(&needle)
        {
            found.extend(Pid::from_raw(pid));
        }
    }
    found
}

#[test]
fn a_database_that_dies_under_load_is_to_blame_and_not_the_subject() {
    require_mariadb!();
    let _turn = shared_turn();
    let load = "vus = 4, duration = '20s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::KILL).finish();
    assert_blames_the_database(&place, (code, &said), "the database ended with signal 9");
}

/// Waits until the subject is under load.
fn wait_for_load(place: &Place) {
    let deadline = Instant::now() + PATIENCE;
    let is_under_load = || {
        let trials = place.path().join("runs");
        let folder = fs::read_dir(trials).ok().and_then(|mut it| it.next()).and_then(Result::ok);
        let folder = folder.and_then(|run| fs::read_dir(run.path().join("trials")).ok()?.next()?.ok());
        folder.is_some_and(|trial| trial.path().join("tool.json").exists())
    };
    while !is_under_load() {
        assert!(Instant::now() < deadline, "the subject got no load");
        std::thread::yield_now();
    }
}

/// A run whose database gets a signal as soon as the subject is under load.
pub fn struck_under_load(place: &Place, signal: Signal) -> Started {
    // The run's temporary folder is inside this place, which distinguishes its server from others.
    let mut command = place.command(&["run", "try"]);
    command.env("TMPDIR", place.path());
    let started = Started::of(command);
    wait_for_load(place);
    let servers = servers(place);
    assert!(!servers.is_empty(), "no server of this place is running");
    servers.iter().for_each(|server| kill_process(*server, signal).unwrap());
    started
}

/// Asserts that the first trial failed because of its database, with this message, and that nothing of the run remains.
pub fn assert_blames_the_database(place: &Place, (code, said): (Option<i32>, &str), words: &str) -> Value {
    assert_eq!(code, Some(5), "{said}");
    let outcome = place.records()[0]["outcome"].clone();
    assert_eq!(outcome["reason"], "database-failed", "{outcome}");
    assert!(outcome["message"].as_str().unwrap().contains(words), "{outcome}");
    assert_all_gone(|| place.processes());
    outcome
}

#[test]
fn a_database_that_does_not_answer_is_to_blame_and_not_the_subject() {
    require_mariadb!();
    let _turn = shared_turn();
    let load = "vus = 4, duration = '4s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::STOP).finish();
    assert_blames_the_database(&place, (code, &said), "the database does not answer");
}

#[test]
fn a_trial_whose_database_does_not_answer_can_be_stopped_at_once() {
    require_mariadb!();
    let _turn = shared_turn();
    let load = "vus = 4, duration = '600s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::STOP).stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert_all_gone(|| place.processes());
    assert!(servers(&place).is_empty(), "a stopped server is killed as well");
}

#[test]
fn a_server_of_the_users_own_that_goes_away_is_to_blame_and_not_the_subject() {
    require_mariadb!();
    let _turn = shared_turn();
    let mut server = OwnServer::start(mariadb().unwrap());
    // Other tests search all command lines for their passwords, so this one must differ from theirs.
    server.ask("create database shop; create user 'me'@'%' identified by 'h1dden'; grant all on shop.* to 'me'@'%'");
    let load = "vus = 4, duration = '20s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { dsn = 'env:TOLOK_TEST_DSN', pool = 4 }");
    // Without the address, nothing is measured and no trial is lost.
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(6), "{}", said.progress);
    assert!(said.progress.contains("the variable TOLOK_TEST_DSN is not set"), "{}", said.progress);
    let mut command = place.command(&["run", "try"]);
    command.env("TOLOK_TEST_DSN", format!("mysql://me:h1dden@127.0.0.1:{}/shop", server.port));
    let started = Started::of(command);
    wait_for_load(&place);
    server.child.kill().unwrap();
    let (said, code) = started.finish();
    let outcome = assert_blames_the_database(&place, (code, &said), "the connection to the database at 127.0.0.1");
    assert!(!outcome.to_string().contains("h1dden"), "{outcome}");
}

/// The user's own server, on a loopback port.
struct OwnServer {
    child: Child,
    commands: ServerCommands,
    program: Program,
    port: u16,
    _folder: tempfile::TempDir,
}

impl OwnServer {
    fn start(program: Program) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let commands = mariadb_command(&program, folder.path());
        let installed = command(&commands.install, &program).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server: Vec<String> =
            commands.server.iter().filter(|word| *word != "--skip-networking").cloned().collect();
        server.extend([format!("--port={port}"), "--bind-address=127.0.0.1".to_owned()]);
        let child = command(&server, &program).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let own = Self { child, commands, program, port, _folder: folder };
        let deadline = Instant::now() + PATIENCE;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            assert!(Instant::now() < deadline, "the server does not listen");
        }
        own
    }

    fn ask(&self, statements: &str) -> String {
        let mut client = command(&self.commands.client, &self.program);
        let asked = client.args(["--batch", "--skip-column-names", "--execute", statements]).output().unwrap();
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        String::from_utf8(asked.stdout).unwrap()
    }
}

/// Runs `act`, and reads the command lines of all processes meanwhile.
fn watched<T>(act: impl FnOnce() -> T) -> (T, BTreeSet<String>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (mut shown, mut looks) = (BTreeSet::new(), 0);
            while !is_over.load(Ordering::Relaxed) {
                shown.extend(processes());
                looks += 1;
            }
            assert!(looks > 1);
            shown
        });
        let done = act();
        is_over.store(true, Ordering::Relaxed);
        (done, watch.join().unwrap())
    })
}

/// Files below a folder that contain a word. Compressed files are not unpacked.
fn files_with(word: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| !path.is_symlink()) {
        if entry.is_dir() {
            found.extend(files_with(word, &entry));
        } else if fs::read(&entry).unwrap().windows(word.len()).any(|bytes| bytes == word.as_bytes()) {
            found.push(entry.display().to_string());
        }
    }
    found
}

impl Drop for OwnServer {
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

/// The subject writes its password into its log, the only place that has it afterwards.
#[test]
fn every_trial_has_a_password_of_its_own_that_nothing_else_tells() {
    require_mariadb!();
    let _turn = shared_turn();
    let load = "vus = 2, duration = '1s', warmup = '0s'";
    let place = place("['test/telling']", "'query'", load, "database = { pool = 2 }");
    let sources = repository().join("subjects/go/nethttp");
    let text = fs::read_to_string(sources.join("subject.toml")).unwrap();
    let server = "\"{{ build }}/server\", \"-host\"";
    assert!(text.contains(server), "{text}");
    let telling = format!("'sh', '-c', 'echo $DATABASE_PASSWORD; exec \"$0\" \"$@\"', {server}");
    let place = place.with_subject("telling", &text.replace(server, &telling));
    let folder = place.path().join("subjects/test/telling");
    assert!(Command::new("cp").arg("-rn").args([sources.join("."), folder]).status().unwrap().success());
    let ((said, records), shown) = watched(|| run(&place, &["--blocks", "2"]));
    assert_done(said.code, &said.progress);
    assert_eq!(records.len(), 2);
    let trials = fs::read_dir(place.run_folder().join("trials")).unwrap();
    let logs: Vec<_> = trials.map(|trial| trial.unwrap().path().join("subject.log")).collect();
    let passwords: BTreeSet<String> =
        logs.iter().map(|log| fs::read_to_string(log).unwrap().lines().next().unwrap().to_owned()).collect();
    assert_eq!(passwords.len(), 2, "{passwords:?}");
    for password in &passwords {
        assert!(password.len() == 32 && password.chars().all(|digit| digit.is_ascii_hexdigit()), "{password}");
        assert!(!shown.iter().any(|line| line.contains(password)), "every user can read command lines");
        assert!(!said.progress.contains(password) && !said.output.contains(password), "{}", said.progress);
        assert_eq!(files_with(password, place.path()).len(), 1, "a log");
    }
}

#[test]
fn a_server_of_the_users_own_is_asked_and_its_tables_are_left_alone() {
    require_mariadb!();
    let _turn = shared_turn();
    let server = OwnServer::start(mariadb().unwrap());
    server.ask(
        "create database shop; create user 'me'@'%' identified by 's3cret/+'; grant all on shop.* to 'me'@'%'; \
         create table shop.orders (id int primary key); insert into shop.orders values (1), (2)",
    );
    let load = "vus = 4, duration = '1s', warmup = '100ms'";
    let environment = "database = { dsn = 'env:TOLOK_TEST_DSN', pool = 4 }";
    let place = place("['go/nethttp']", "'rows?limit=1000'", load, environment);
    let dsn = format!("mysql://me:s3cret%2F%2B@127.0.0.1:{}/shop", server.port);
    let again = || {
        let mut command = place.command(&["run", "try"]);
        command.env("TOLOK_TEST_DSN", &dsn).env("OTHER_KEY", "s3cret-key");
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let ((code, said), shown) = watched(again);
    assert_done(code, &said);
    // Neither the address nor its password, in any spelling, nor the other variable.
    assert!(!shown.iter().any(|line| line.contains("s3cret")), "every user can read command lines: {shown:?}");
    assert!(!said.contains("s3cret"), "{said}");
    assert_eq!(files_with("s3cret", &place.path().join("runs")), [""; 0]);
    let outcome = &place.records()[0]["outcome"];
    assert!(outcome["ledger"]["good"].as_u64().unwrap() > 0, "{outcome}");
    assert!(outcome["database"]["resources"].is_null(), "its CPU time cannot be read: {outcome}");
    assert!(outcome["database"]["queries"].as_u64().unwrap() > 0, "{outcome}");
    assert_eq!(server.ask("select count(*) from shop.orders; select count(*) from shop.rows40"), "2\n10000\n");

    // A table of that name that is not tolok's must not be dropped.
    server.ask("drop table shop.rows50; create table shop.rows50 (mine int); insert into shop.rows50 values (7)");
    fs::remove_dir_all(place.run_folder()).unwrap();
    let (code, said) = again();
    assert_eq!(code, Some(5), "{said}");
    let outcome = &place.records()[0]["outcome"];
    assert_eq!(outcome["reason"], "database-failed", "{outcome}");
    assert!(outcome["message"].as_str().unwrap().contains("rows50"), "{outcome}");
    assert_eq!(server.ask("select mine from shop.rows50"), "7\n");
}

#[test]
fn a_scale_shortens_every_window_and_is_recorded() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("server", "none").with_study("['test/server']", 1, "4s");
    let said = place.tolok(&["run", "try", "--scale", "0.25"]);
    assert_done(said.code, &said.progress);
    let plan: Value = serde_json::from_str(&fs::read_to_string(place.run_folder().join("plan.json")).unwrap()).unwrap();
    assert_eq!((plan["scale"].as_f64(), plan["scenarios"][0]["load"]["duration_s"].as_f64()), (Some(0.25), Some(1.0)));
    let window_s = place.records()[0]["outcome"]["window_s"].as_f64().unwrap();
    assert!((0.8..4.0).contains(&window_s), "{window_s}");
    assert!(said.output.contains("25"), "the report says so: {}", said.output);
}
