//! The database of a study: how it is written, what its lists expand to, and what is refused.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue_with_data, listed};
use insta::assert_snapshot;
use tolok_model::{Database, Engine, Link, Outage, Study, Wire, Workload};

fn text(workload: &str, environment: &str) -> String {
    format!(
        "title = 'T'\nsubjects = ['bun/serve']\n[[scenario]]\nworkload = {workload}\n\
         load = {{ executor = 'constant-vus', vus = 8, duration = '5s' }}\n[environment]\n{environment}"
    )
}

fn study(environment: &str) -> Study {
    Study::read(&text("'rows'", environment), &catalogue_with_data()).unwrap()
}

/// The only database of a study.
fn database(written: &str) -> Database {
    let study = study(&format!("database = {written}"));
    assert_eq!(study.environments.len(), 1);
    study.environments[0].database.clone().unwrap()
}

/// The environments of a study, one per line: id and description of the database.
fn environments(environment: &str) -> String {
    let line = |one: &tolok_model::Environment| format!("{:<30} {}", one.id, one.database.as_ref().unwrap().describe());
    study(environment).environments.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn problems_of(workload: &str, environment: &str) -> String {
    let text = text(workload, environment);
    match Study::read(&text, &catalogue_with_data()) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(&text, &problems),
    }
}

fn problems(environment: &str) -> String {
    problems_of("'rows'", environment)
}

#[test]
fn a_workload_that_needs_a_database_gets_the_default_one() {
    let asking = study("subject.cpus = [1, 2]");
    assert!(asking.environments.iter().all(|one| one.database == Some(Database::default())));
    let plain = Study::read(&text("'hello'", ""), &catalogue_with_data()).unwrap();
    assert_eq!(plain.environments[0].database, None);
    assert_eq!(database("{}"), Database::default());
    assert!(asking.environments.iter().all(|one| one.needs_groups().is_none() && one.needs_namespaces().is_none()));
}

#[test]
fn every_setting_can_be_given() {
    let found = database(
        "{ engine = 'mysql', pool = 64, link = { rtt = '20ms', rate = '1Gbit/s' }, cpus = 2, memory = '1GiB', max-connections = 100, \
         buffer-pool = '64MiB', outage = { at = '2s', for = '1s' } }",
    );
    let expected = Database {
        engine: Engine::Mysql,
        dsn: None,
        pool: 64,
        cpus: Some(2),
        memory_bytes: Some(1 << 30),
        max_connections: 100,
        buffer_pool_bytes: 64 << 20,
        link: Link { rtt_s: 0.02, rate_bps: Some(1e9), ..Link::default() },
        outage: Some(Outage { at_s: 2.0, for_s: 1.0 }),
    };
    assert_eq!(found, expected);
    assert_snapshot!(found.describe(), @"MySQL · pool of 64 · rtt 20ms, 1Gbit/s · 2 CPUs of its own · 1GiB of memory · 100 connections at most · buffer pool 64MiB · gone for 1s at 2s");
    assert_snapshot!(found.describe_all(), @"MySQL · pool of 64 · link rtt 20ms, 1Gbit/s · 2 CPUs of its own · 1GiB of memory · 100 connections at most · buffer pool 64MiB · gone for 1s at 2s");
    assert_snapshot!(Database::default().describe(), @"MariaDB · pool of 16");
    assert_snapshot!(Database::default().describe_all(), @"MariaDB · pool of 16 · no link · a CPU of its own if one is left, else the generator's · no limit of memory · 200 connections at most · buffer pool 128MiB · no outage");
}

#[test]
fn what_it_needs_of_the_machine() {
    let limited = &study("database.memory = '1GiB'").environments[0];
    assert_eq!((limited.needs_groups(), limited.needs_namespaces()), (Some("a memory limit of the database"), None));
    let distant = &study("database.rtt = '20ms'").environments[0];
    assert_eq!((distant.needs_groups(), distant.needs_namespaces()), (None, Some("a link to the database")));
    assert_eq!(distant.describe(), "1 dedicated CPU");
}

#[test]
fn lists_make_one_environment_for_each_combination() {
    assert_snapshot!(environments("subject.mode = ['dedicated', 'quota']\ndatabase = { pool = [5, 16], rtt = ['0ms', '20ms'] }"), @"
    dedicated-pool5-db-rtt-0s      MariaDB · pool of 5
    dedicated-pool5-db-rtt-20ms    MariaDB · pool of 5 · rtt 20ms
    dedicated-pool16-db-rtt-0s     MariaDB · pool of 16
    dedicated-pool16-db-rtt-20ms   MariaDB · pool of 16 · rtt 20ms
    quota-pool5-db-rtt-0s          MariaDB · pool of 5
    quota-pool5-db-rtt-20ms        MariaDB · pool of 5 · rtt 20ms
    quota-pool16-db-rtt-0s         MariaDB · pool of 16
    quota-pool16-db-rtt-20ms       MariaDB · pool of 16 · rtt 20ms
    ");
    assert_snapshot!(environments("link = ['localhost', 'lan-wifi']\ndatabase.link = ['localhost', 'cloud-db-20ms', { rtt = '5ms', backend = 'netem' }]"), @"
    localhost-db-localhost         MariaDB · pool of 16
    localhost-db-cloud-db-20ms     MariaDB · pool of 16 · cloud-db-20ms (rtt 20ms)
    localhost-db-rtt-5ms-netem     MariaDB · pool of 16 · rtt 5ms, netem
    lan-wifi-db-localhost          MariaDB · pool of 16
    lan-wifi-db-cloud-db-20ms      MariaDB · pool of 16 · cloud-db-20ms (rtt 20ms)
    lan-wifi-db-rtt-5ms-netem      MariaDB · pool of 16 · rtt 5ms, netem
    ");
    assert_snapshot!(environments("database.link = { preset = 'lan-wifi', loss = ['0%', '1%'] }"), @"
    db-loss-0                      MariaDB · pool of 16 · lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, queue 150kB)
    db-loss-1                      MariaDB · pool of 16 · lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, loss 1%, queue 150kB)
    ");
    assert_snapshot!(environments("database.pool = [5]"), @"                               MariaDB · pool of 5");
}

#[test]
fn several_engines_make_an_environment_each() {
    assert_snapshot!(environments("database = { engine = ['mariadb', 'postgres'], pool = [5, 16] }"), @"
    mariadb-pool5                  MariaDB · pool of 5
    mariadb-pool16                 MariaDB · pool of 16
    postgres-pool5                 PostgreSQL · pool of 5
    postgres-pool16                PostgreSQL · pool of 16
    ");
    let wire = |text: &str| database(text).wire(&|_| Some("postgres://me@db/shop".to_owned()));
    assert_eq!(wire("{ engine = 'mysql' }"), Wire::Mysql);
    assert_eq!(wire("{ dsn = 'mysql://me@db/shop' }"), Wire::Mysql);
    assert_eq!(wire("{ dsn = 'env:SHOP' }"), Wire::Postgres);
    assert_snapshot!(database("{ dsn = 'postgres://me:secret@db/shop' }").describe_all(), @"a server of the user's own · pool of 16 · at db:5432/shop");
    assert_snapshot!(problems("database = { engine = ['mariadb', 'mariadb'] }"), @"7:35 «'mariadb'» this value appears twice");
}

#[test]
fn a_server_that_is_there_already() {
    let named = database("{ dsn = 'mysql://me:secret@db.example/shop', pool = 500 }");
    assert_eq!((named.engine, named.dsn.as_deref()), (Engine::External, Some("mysql://me:secret@db.example/shop")));
    assert!(!named.is_private() && Database::default().is_private());
    assert_snapshot!(named.describe(), @"a server of the user's own · pool of 500");
    assert_snapshot!(named.describe_all(), @"a server of the user's own · pool of 500 · at db.example:3306/shop");
    assert_snapshot!(database("{ dsn = 'env:SHOP_DB' }").describe_all(), @"a server of the user's own · pool of 16 · at the address in $SHOP_DB");
    assert_eq!(
        problems(
            "database = { dsn = 'env:SHOP_DB', pool = [5, 16] }\nlink = 'localhost'\nnetwork.congestion = 'cubic'"
        ),
        "no problem"
    );
}

/// The lab cannot limit, move or kill what it did not start, and there is no link between the parts of such a trial.
#[test]
fn settings_of_a_private_server_are_refused_for_one_that_runs_already() {
    assert_snapshot!(problems(
        "database = { dsn = 'env:SHOP_DB', engine = 'mariadb', rtt = '20ms', cpus = 1, memory = '1GiB', max-connections = 100, \
         buffer-pool = '64MiB', outage = { at = '2s', for = '1s' } }"
    ), @"
    7:44 «'mariadb'» `engine` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `engine` or `dsn`)
    7:61 «'20ms'» `rtt` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `rtt` or `dsn`)
    7:76 «1» `cpus` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `cpus` or `dsn`)
    7:88 «'1GiB'» `memory` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `memory` or `dsn`)
    7:114 «100» `max-connections` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `max-connections` or `dsn`)
    7:133 «'64MiB'» `buffer-pool` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `buffer-pool` or `dsn`)
    7:151 «{ at = '2s', for = '1s' }» `outage` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `outage` or `dsn`)
    ");
    assert_snapshot!(problems("database = { dsn = 'env:SHOP_DB', link = 'localhost' }\nlink = ['localhost', 'lan-wifi']\nnetwork = { congestion = 'bbr' }"), @"
    7:42 «'localhost'» `link` is for a database that the lab starts itself, and `dsn` names one that is there (leave out `link` or `dsn`)
    8:8 «['localhost', 'lan-wifi']» with the `dsn` of a database all parts are in the machine's own network, where there is no link (leave it out, or let the lab start the database: without `dsn`)
    9:11 «{ congestion = 'bbr' }» with the `dsn` of a database all parts are in the machine's own network, whose settings stay as they are (leave it out, or let the lab start the database: without `dsn`)
    ");
    assert_snapshot!(problems("database.dsn = 'env:SHOP_DB'\nnetwork.sysctl = { 'net.ipv4.tcp_tw_reuse' = 1 }"), @"8:1 «network» with the `dsn` of a database all parts are in the machine's own network, whose settings stay as they are (leave it out, or let the lab start the database: without `dsn`)");
}

#[test]
fn an_invalid_address_is_refused_without_showing_its_password() {
    for wrong in [
        "sqlite://me:secret@db/shop",
        "postgres://me:secret@/shop",
        "mysql://me:secret@db:x/shop",
        "mysql://me:secret@db",
        "mysql://me:secret@db/shop?tls=1",
        "mysql://me:%secret@db/shop",
        "env:SHOP-DB",
        "env:",
        "env:1DB",
    ] {
        let text = text("'rows'", &format!("database.dsn = '{wrong}'"));
        let problems = Study::read(&text, &catalogue_with_data()).unwrap_err();
        assert_eq!(problems.len(), 1, "{wrong}: {problems:?}");
        assert!(problems[0].message.starts_with("this is not the address of a database: "), "{}", problems[0].message);
        assert!(!problems[0].message.contains("secret"));
        assert_eq!(&text[problems[0].span.clone()], format!("'{wrong}'"));
    }
    assert_snapshot!(problems("database.dsn = 'mysql://db'"), @r#"7:16 «'mysql://db'» this is not the address of a database: it names no database (for example: dsn = "mysql://user:password@host:3306/name" or the same with postgres://, or dsn = "env:NAME" for a variable that holds it)"#);
}

#[test]
fn what_makes_no_sense_is_refused_at_its_place() {
    assert_snapshot!(problems(
        "database = { engine = 'oracle', pool = [0, 64, 64, 200000], rtt = ['20ms', '1m'], link = 'lan-wify', cpus = 0, memory = 'much', \
         max-connections = 50, buffer-pool = '1MiB', outage = { at = '0s' }, size = 1 }"
    ), @r#"
    7:23 «'oracle'» unknown value `oracle` (known here: mariadb, mysql, postgres)
    7:41 «0» a pool needs at least one connection
    7:44 «64» the database accepts 50 connections, fewer than this pool may open (for example: max-connections = 64)
    7:48 «64» the database accepts 50 connections, fewer than this pool may open (for example: max-connections = 64)
    7:48 «64» this value appears twice
    7:52 «200000» at most 100,000 connections are possible
    7:67 «['20ms', '1m']» `rtt` and `link` both describe the way to the database (write it as a part of `link`: link = { rtt = "20ms", rate = "1Gbit/s" })
    7:76 «'1m'» `rtt` must be 10s at most
    7:90 «'lan-wify'» there is no link `lan-wify` (did you mean `lan-wifi`? known here: localhost, lan-wifi, wan-170ms, cloud-db-20ms, cloud-db-50ms, cloud-db-100ms)
    7:109 «0» `cpus` must be at least 1
    7:121 «'much'» `much` is not a size with its unit in quotes, such as "512MiB" or "150kB"
    7:165 «'1MiB'» `buffer-pool` must be at least 5 MiB
    7:182 «{ at = '0s' }» missing key `for` (for example: for = "1s")
    7:189 «'0s'» `at` must be longer than nothing
    7:197 «size» unknown key `size` (known here: engine, dsn, pool, rtt, link, cpus, memory, max-connections, buffer-pool, outage)
    "#);
    assert_snapshot!(problems("database = { max-connections = 5 }"), @"7:32 «5» `max-connections` must be from 10 to 100,000");
    assert_snapshot!(problems("database = { pool = 500 }"), @"7:21 «500» the database accepts 200 connections, fewer than this pool may open (for example: max-connections = 500)");
    assert_snapshot!(problems("database = { outage = { at = '-1s', for = '0s' } }"), @r#"
    7:30 «'-1s'» `-1s` is not a duration with its unit in quotes, such as "500ms" or "2s"
    7:43 «'0s'» `for` must be longer than nothing
    "#);
    assert_snapshot!(problems("database = { engine = 'external' }"), @"7:23 «'external'» unknown value `external` (known here: mariadb, mysql, postgres)");
    assert_snapshot!(problems("database = 'mariadb'"), @r#"7:12 «'mariadb'» expected a table, found the string "mariadb""#);
    assert_snapshot!(problems("database = { rtt = ['20ms', '0.02s'] }"), @"7:29 «'0.02s'» this value appears twice");
}

#[test]
fn an_outage_must_end_in_the_window() {
    assert_eq!(problems("database.outage = { at = '3s', for = '1s' }"), "no problem");
    assert_snapshot!(problems("database.outage = { at = '4s', for = '1s' }"), @"7:19 «{ at = '4s', for = '1s' }» the window of `rows-c8` is over after 5 s, before the database is back (it is back 5 s after the window began; what subjects do then needs a longer window)");
}

#[test]
fn an_outage_is_not_probed_by_writing() {
    let mut catalogue = catalogue_with_data();
    let updates = include_str!("../../../../workloads/updates/workload.toml");
    catalogue.workloads.push(Workload::read("updates", updates).unwrap());
    let text = text("'updates'", "database.outage = { at = '3s', for = '1s' }");
    let problems = Study::read(&text, &catalogue).unwrap_err();
    assert_snapshot!(listed(&text, &problems), @"7:19 «{ at = '3s', for = '1s' }» `updates-c8` writes, and an outage is probed by reading (take an outage for workloads that read, or for `counter`)");
}

#[test]
fn a_database_that_no_workload_uses_is_refused() {
    assert_snapshot!(problems_of("['hello', 'json']", "database = { pool = 5 }"), @"7:12 «{ pool = 5 }» nothing in this study asks a database (these do: query, rows)");
    assert_eq!(problems_of("['hello', 'rows?limit=5']", "database = { pool = 5 }"), "no problem");
    // The meaning of the mistyped name is unknown.
    assert_snapshot!(problems_of("['hello', 'row']", "database = { pool = 5 }"), @"4:22 «'row'» there is no workload `row` (did you mean `rows`? known here: file, hello, json, query, rows)");
}
