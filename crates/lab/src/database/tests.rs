//! Templates, instances and clients with real servers.

mod server;

use std::cell::Cell;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tolok_load::clock::MonotonicNs;
use tolok_model::{DatabaseAddress, Engine};
use tolok_testkit::require;

use self::server::{PASSWORD, PATIENCE, SHA256, Served, external_script, network, program, script, template};
use super::*;
use crate::toolbox::Program;
use tolok_host::sample::Window;

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn bytes_below(folder: &Path) -> u64 {
    let bytes = |entry: fs::DirEntry| match entry.metadata().unwrap() {
        metadata if metadata.is_dir() => bytes_below(&entry.path()),
        metadata => metadata.blocks() * 512,
    };
    fs::read_dir(folder).unwrap().map(|entry| bytes(entry.unwrap())).sum()
}

/// Another user of the machine knows the address and the account names, which are the same in every template.
fn others_are_kept_out(served: &Served, program: &Program) {
    let (known, mut root) = (network(served, "tolok"), network(served, ""));
    "root".clone_into(&mut root.user);
    for address in [known, root] {
        let error = Client::login(program, &Target::Network(address), PATIENCE, &|| true).unwrap_err();
        assert!(matches!(&error, DatabaseError::Refused { message, .. } if message.contains("(28000)")), "{error}");
    }
    if rustix::process::geteuid().is_root() {
        assert!(!served.shows_its_socket_to_others());
    }
}

/// Everything that a trial does with a database.
fn a_database_is_copied_served_asked_and_killed(engine: Engine) {
    let program = program(engine).unwrap();
    let (_store, template) = template(engine, &program);
    // The memory that an instance takes at its start.
    let bytes = bytes_below(&template.folder);
    assert!(bytes < 200 << 20, "{bytes}");
    let mut served = Served::start(&template, 10);
    let mut root = served.login().unwrap();
    assert!(program.version.starts_with(root.version().split('-').next().unwrap()), "{}", root.version());

    let dsn = network(&served, PASSWORD);
    let mut subject = Client::login(&program, &Target::Network(dsn.clone()), PATIENCE, &|| true).unwrap();
    assert_eq!(subject.rows("SELECT id, what FROM rows40 ORDER BY id").unwrap()[1], [text("2"), text("naïve")]);
    let fields = subject.rows(r"SELECT NULL, 'a\tb\nc\\d', CONCAT('x', CHAR(0), 'y'), ''").unwrap();
    assert_eq!(fields, [[None, text("a\tb\nc\\d"), text("x\0y"), text("")]]);
    let wrong = subject.rows("SELECT * FROM nowhere").unwrap_err().to_string();
    assert!(wrong.contains("`SELECT * FROM nowhere`") && wrong.contains("ERROR 1146"), "{wrong}");
    assert_eq!(subject.rows("SELECT 1").unwrap(), [[text("1")]], "queries work after an error");
    others_are_kept_out(&served, &program);

    no_file_of_the_client_is_read(&mut root);
    what_the_subject_does_is_counted(&mut root, &mut subject);
    connections_are_refused(&program, &dsn, &mut root);

    served.kill();
    let started = Instant::now();
    let lost = root.rows("SELECT SLEEP(100)").unwrap_err();
    assert!(matches!(lost, DatabaseError::Lost { .. }), "{lost}");
    assert!(matches!(root.rows("SELECT 1"), Err(DatabaseError::Lost { .. })), "and stays so");
    assert!(started.elapsed() < PATIENCE / 2, "it did not wait for the lost server");
    served.restart();
    let mut again = served.login().unwrap();
    assert_eq!(again.rows("SELECT COUNT(*) FROM tolok.rows40").unwrap(), [[text("3")]]);
}

/// A server may request any file that its client can read. tolok's client sends none.
fn no_file_of_the_client_is_read(root: &mut Client) {
    let own = tempfile::NamedTempFile::new().unwrap();
    fs::write(own.path(), "9\ta secret\n").unwrap();
    let statement = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE tolok.rows40 (id, what)", own.path().display());
    let refused = root.rows(&statement).unwrap_err().to_string();
    assert!(
        refused.contains("ERROR 4166") || refused.contains("ERROR 3948") || refused.contains("ERROR 2068"),
        "{refused}"
    );
    assert_eq!(root.rows("SELECT COUNT(*) FROM tolok.rows40").unwrap(), [[text("3")]]);
}

/// A reading once the server is idle: clients get their answers a moment before that.
fn settled(root: &mut Client, connected: u64) -> StatusReading {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let reading = root.status().unwrap();
        if (reading.connected, reading.running) == (Some(connected), Some(0)) {
            return reading;
        }
        assert!(Instant::now() < deadline, "{reading:?}");
    }
}

fn what_the_subject_does_is_counted(root: &mut Client, subject: &mut Client) {
    let mut series = StatusSeries::default();
    let before = settled(root, 1);
    series.push(MonotonicNs(0), before);
    series.push(MonotonicNs(1), settled(root, 1));
    // Each with the mark after its answer: 20 statements; 30 rows of the table, and 10 marks.
    (0..10).for_each(|_| drop(subject.rows("SELECT * FROM rows40").unwrap()));
    series.push(MonotonicNs(2), settled(root, 1));
    let window = |began, ended| Window { began: MonotonicNs(began), ended: MonotonicNs(ended) };
    let idle = series.window(window(0, 1), root.version());
    let seen = series.window(window(1, 2), root.version());
    assert_eq!((idle.queries, idle.connections_opened), (Some(0), Some(0)), "the lab is not counted");
    assert_eq!((seen.queries, seen.connections_opened), (Some(20), Some(0)));
    assert_eq!((seen.connections_max, seen.running_max), (Some(1), Some(0)));
    let counts_sent_rows = root.version().contains("MariaDB");
    assert_eq!(seen.rows_sent, Some(if counts_sent_rows { 40 } else { 30 }));
    let (idle, sent) = (idle.sent_bytes.unwrap(), seen.sent_bytes.unwrap());
    assert!(idle < 100 && (500..10_000).contains(&sent), "{idle} {sent}");
    assert_eq!(before.refused, Some(0));
}

/// The server accepts 10 connections besides the lab's.
fn connections_are_refused(program: &Program, dsn: &DatabaseAddress, root: &mut Client) {
    let target = Target::Network(dsn.clone());
    let held: Vec<Client> = (1..10).map(|_| Client::login(program, &target, PATIENCE, &|| true).unwrap()).collect();
    let attempts = Cell::new(0);
    let twice = || attempts.replace(attempts.get() + 1) < 2;
    let error = Client::login(program, &target, PATIENCE, &twice).unwrap_err();
    assert!(matches!(error, DatabaseError::Stopped), "{error}");
    assert_eq!(settled(root, 10).refused, Some(2));
    drop(held);
}

#[test]
fn a_mariadb_is_copied_served_asked_and_killed() {
    require!(program(Engine::Mariadb).is_some(), "there is no MariaDB; `tolok setup mariadb` fetches it");
    a_database_is_copied_served_asked_and_killed(Engine::Mariadb);
}

#[test]
fn a_mysql_is_copied_served_asked_and_killed() {
    require!(program(Engine::Mysql).is_some(), "there is no MySQL; `tolok setup mysql` fetches it");
    a_database_is_copied_served_asked_and_killed(Engine::Mysql);
}

#[test]
fn a_template_is_made_once_and_only_if_its_data_can_be_loaded() {
    let program = program(Engine::Mariadb);
    require!(program.is_some(), "there is no MariaDB; `tolok setup mariadb` fetches it");
    let program = program.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = DatabaseStore::new(folder.path().join("databases"));
    let begun = Cell::new(0);
    let make = |load: Script<'_>| {
        store.template(Engine::Mariadb, &program, load, SHA256, &mut || begun.set(begun.get() + 1), &|| true)
    };
    let error = make(&|out| out.write_all(b"CREATE DATABASE shop;\nnonsense;\nCREATE DATABASE other;\n")).unwrap_err();
    let DatabaseError::Command { tail, .. } = &error else { panic!("{error}") };
    assert!(tail.iter().any(|line| line.contains("ERROR 1064")), "{tail:?}");
    let error = make(&|_| Err(io::Error::other("there are no data"))).unwrap_err();
    assert!(error.to_string().contains("there are no data"), "{error}");

    let template = make(&script).unwrap();
    let again = make(&|_| panic!("it is there already")).unwrap();
    assert_eq!((begun.get(), &again.folder), (3, &template.folder));
    let mut left: Vec<_> =
        fs::read_dir(folder.path().join("databases")).unwrap().map(|it| it.unwrap().path()).collect();
    left.sort();
    assert_eq!(left, [template.folder.clone(), template.folder.with_added_extension("lock")]);
}

#[test]
fn data_in_a_server_of_the_users_own_are_reused_replaced_and_never_taken_from_others() {
    let program = program(Engine::Mariadb);
    require!(program.is_some(), "there is no MariaDB; `tolok setup mariadb` fetches it");
    let program = program.unwrap();
    let (_store, template) = template(Engine::Mariadb, &program);
    let mut served = Served::start(&template, 10);
    let mut root = served.login().unwrap();
    for statement in [
        "CREATE DATABASE shop",
        "CREATE USER 'ann'@'%' IDENTIFIED BY 'p@ss/\\'\"\\\\#'",
        "GRANT ALL PRIVILEGES ON shop.* TO 'ann'@'%'",
    ] {
        root.rows(statement).unwrap();
    }
    let ann = network(&served, "p@ss/'\"\\#");
    let dsn = DatabaseAddress { user: "ann".into(), name: "shop".into(), ..ann };
    let mut client = Client::login(&program, &Target::Network(dsn), PATIENCE, &|| true).unwrap();
    let loads = Cell::new(0);
    let prepare = |client: &mut Client, sha256: &str| {
        let load = |out: &mut dyn io::Write| {
            loads.set(loads.get() + 1);
            external_script(out, &sha256[..12])
        };
        prepare_external(client, &load, sha256, &|| true).map(|()| loads.get())
    };
    assert_eq!(prepare(&mut client, SHA256).unwrap(), 1);
    assert_eq!(prepare(&mut client, SHA256).unwrap(), 1, "the tables are reused");
    assert_eq!(prepare(&mut client, &"b".repeat(64)).unwrap(), 2, "other data replace them");
    client.rows("DROP TABLE counter").unwrap();
    assert_eq!(prepare(&mut client, &"b".repeat(64)).unwrap(), 3, "the last load was interrupted");
    client.rows("ALTER TABLE rows50 COMMENT 'mine'").unwrap();
    let error = prepare(&mut client, SHA256).unwrap_err().to_string();
    assert!(error.contains("the database shop has a table `rows50` that tolok did not make"), "{error}");
    assert_eq!(client.rows("SELECT COUNT(*) FROM rows40").unwrap(), [[text("1")]], "nothing was dropped");
}

#[test]
fn a_server_that_takes_connections_and_says_nothing_is_left_as_soon_as_nobody_wants_it() {
    let program = program(Engine::Mariadb);
    require!(program.is_some(), "there is no MariaDB; `tolok setup mariadb` fetches it");
    // The kernel completes connections for a listener that never accepts them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("mysql://ann:secret@{}/shop", silent.local_addr().unwrap());
    let target = Target::Network(DatabaseAddress::parse(&address).unwrap());
    let looks = Cell::new(0);
    let is_wanted = || looks.replace(looks.get() + 1) < 2;
    let error = Client::login(&program.unwrap(), &target, PATIENCE, &is_wanted).unwrap_err();
    assert!(matches!(error, DatabaseError::Stopped), "{error}");
    assert!(looks.get() < 10, "it looked {} times", looks.get());
}

#[test]
fn a_server_that_is_not_there_is_waited_for_as_long_as_wanted() {
    let program = program(Engine::Mariadb);
    require!(program.is_some(), "there is no MariaDB; `tolok setup mariadb` fetches it");
    let program = program.unwrap();
    let target = Target::Socket { path: "/nonexistent/db.sock".into() };
    let error = Client::login(&program, &target, Duration::from_millis(1), &|| true).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/db.sock after 1 ms; its socket is not there"), "{error}");
    assert!(matches!(Client::login(&program, &target, PATIENCE, &|| false), Err(DatabaseError::Stopped)));
}
