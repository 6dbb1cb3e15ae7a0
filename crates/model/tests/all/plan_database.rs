//! How a study with a database becomes cases, and what is skipped if something is missing.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue_with_data, everything};
use insta::assert_snapshot;
use tolok_model::{Database, Environment, Here, Plan, PlanError, Study, Subject, Wire};

fn study(subjects: &str, workloads: &str, environment: &str) -> Study {
    let text = format!(
        "title = 'T'\nsubjects = {subjects}\nblocks = 1\naa-pair = false\n[[scenario]]\nworkload = {workloads}\n\
         load = {{ executor = 'constant-vus', vus = 8, duration = '2s', warmup = '1s' }}\n[environment]\n{environment}"
    );
    Study::read(&text, &catalogue_with_data()).unwrap()
}

fn expand(study: &Study, here: Here<'_>) -> Result<Plan, PlanError> {
    Plan::expand(study, &catalogue_with_data(), here, 1)
}

/// Scenarios with their environments, cases, and what is skipped.
fn check(study: &Study, here: Here<'_>) -> String {
    let plan = match expand(study, here) {
        Ok(plan) => plan,
        Err(error) => return format!("{error}: {error:?}"),
    };
    assert!(plan.scenarios.iter().all(|scenario| plan.environment(scenario).is_some()));
    let scenarios = plan.scenarios.iter().map(|one| format!("{} in {:?}", one.id, one.environment));
    let cases = plan.cases.iter().map(|case| format!("  {}", case.id));
    let skipped = plan.skipped.iter().map(|one| format!("without {}: {}", one.subject, one.reason));
    scenarios.chain(cases).chain(skipped).collect::<Vec<_>>().join("\n")
}

/// Like PHP without its extension for MySQL.
fn no_extension(subject: &Subject, variant: &str, _: &Database) -> Result<(), String> {
    let missing: Vec<&str> =
        subject.needs_for(variant, Some(Wire::Mysql)).filter(|name| *name == "pdo_mysql").collect();
    if missing.is_empty() { Ok(()) } else { Err("pdo_mysql is missing: tolok setup php".to_owned()) }
}

#[test]
fn workloads_without_a_database_run_once_for_all_database_settings() {
    let study = study("['bun/serve']", "['hello', 'rows']", "subject.cpus = [1, 2]\ndatabase.pool = [5, 16]");
    assert_snapshot!(check(&study, everything()), @r#"
    hello-c8-1cpu in "1cpu-pool5"
    hello-c8-2cpu in "2cpu-pool5"
    rows-c8-1cpu-pool5 in "1cpu-pool5"
    rows-c8-1cpu-pool16 in "1cpu-pool16"
    rows-c8-2cpu-pool5 in "2cpu-pool5"
    rows-c8-2cpu-pool16 in "2cpu-pool16"
      hello-c8-1cpu--bun-serve-default
      hello-c8-1cpu--rust-ceiling-default
      hello-c8-2cpu--bun-serve-default
      hello-c8-2cpu--rust-ceiling-default
      rows-c8-1cpu-pool5--bun-serve-default
      rows-c8-1cpu-pool5--rust-ceiling-default
      rows-c8-1cpu-pool16--bun-serve-default
      rows-c8-1cpu-pool16--rust-ceiling-default
      rows-c8-2cpu-pool5--bun-serve-default
      rows-c8-2cpu-pool5--rust-ceiling-default
      rows-c8-2cpu-pool16--bun-serve-default
      rows-c8-2cpu-pool16--rust-ceiling-default
    "#);
    let plan = expand(&study, everything()).unwrap();
    assert_eq!(plan.environments.len(), 4);
    let stored = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
}

/// Only the link to the database is unavailable, so everything without it is measured.
#[test]
fn an_environment_whose_database_is_unavailable_runs_workloads_without_one() {
    let study = study("['bun/serve']", "['hello', 'rows']", "subject.cpus = [1, 64]\ndatabase.rtt = ['20ms', '0ms']");
    let fits = |environment: &Environment| match environment.needs_namespaces() {
        Some(what) => Err(format!("{what} cannot be had")),
        None if environment.subject.cpus > 2.0 => Err("2 CPUs may be used here".to_owned()),
        None => Ok(()),
    };
    assert_snapshot!(check(&study, Here { fits: &fits, ..everything() }), @r#"
    hello-c8-1cpu in "1cpu-db-rtt-20ms"
    rows-c8-1cpu-db-rtt-0s in "1cpu-db-rtt-0s"
      hello-c8-1cpu--bun-serve-default
      hello-c8-1cpu--rust-ceiling-default
      rows-c8-1cpu-db-rtt-0s--bun-serve-default
      rows-c8-1cpu-db-rtt-0s--rust-ceiling-default
    without environment [64 dedicated CPUs]: 2 CPUs may be used here
    without database [MariaDB · pool of 16 · rtt 20ms]: a link to the database cannot be had
    "#);
}

#[test]
fn a_subject_that_lacks_a_database_driver_keeps_its_other_workloads() {
    let study = study("['bun/serve', 'php/fpm']", "['hello', 'rows', 'query']", "");
    let here = Here { ready_for_database: &no_extension, ..everything() };
    assert_snapshot!(check(&study, here), @r#"
    hello-c8 in ""
    rows-c8 in ""
    query-c8 in ""
      hello-c8--bun-serve-default
      hello-c8--php-fpm-pool
      hello-c8--rust-ceiling-default
      rows-c8--bun-serve-default
      rows-c8--rust-ceiling-default
      query-c8--bun-serve-default
    without php/fpm: for workloads that ask a database, pdo_mysql is missing: tolok setup php
    "#);
}

#[test]
fn a_ceiling_without_a_database_driver_is_measured_with_the_other_workloads() {
    let no_ceiling = |subject: &Subject, _: &str, _: &Database| match subject.id.as_str() {
        "rust/ceiling" => Err("libmysqlclient is missing".to_owned()),
        _ => Ok(()),
    };
    let study = study("['bun/serve']", "['hello', 'rows']", "");
    assert_snapshot!(check(&study, Here { ready_for_database: &no_ceiling, ..everything() }), @r#"
    hello-c8 in ""
    rows-c8 in ""
      hello-c8--bun-serve-default
      hello-c8--rust-ceiling-default
      rows-c8--bun-serve-default
    without rust/ceiling: for workloads that ask a database, libmysqlclient is missing
    "#);
}

#[test]
fn if_no_subject_has_a_database_driver_none_is_ready() {
    let study = study("['php/fpm']", "['rows', 'query']", "");
    let here = Here { ready_for_database: &no_extension, ..everything() };
    assert_snapshot!(check(&study, here), @r#"none of the study's subjects is ready on this machine: NothingReady([Skipped { subject: "php/fpm", reason: "for workloads that ask a database, pdo_mysql is missing: tolok setup php", database_only: true, scenarios: [] }])"#);
}

#[test]
fn an_unavailable_database_leaves_the_workloads_that_need_none() {
    let no_mysql = |_: &Environment, database: &Database| match database.engine {
        tolok_model::Engine::Mysql => Err("mysql is missing: install it by hand".to_owned()),
        _ => Ok(()),
    };
    let here = Here { database: &no_mysql, ..everything() };
    let environment = "subject.cpus = [1, 2]\ndatabase = { engine = 'mysql' }";
    let mixed = study("['bun/serve', 'php/fpm']", "['hello', 'rows']", environment);
    assert_snapshot!(check(&mixed, here), @r#"
    hello-c8-1cpu in "1cpu"
    hello-c8-2cpu in "2cpu"
      hello-c8-1cpu--bun-serve-default
      hello-c8-1cpu--php-fpm-pool
      hello-c8-1cpu--rust-ceiling-default
      hello-c8-2cpu--bun-serve-default
      hello-c8-2cpu--php-fpm-pool
      hello-c8-2cpu--rust-ceiling-default
    without database [MySQL · pool of 16]: mysql is missing: install it by hand
    "#);
    let plan = expand(&mixed, here).unwrap();
    assert!(plan.environments.iter().all(|one| one.database.is_none()));
    assert_eq!(plan.skipped[0].scenarios, ["rows-c8-1cpu", "rows-c8-2cpu"], "scenarios that need it are left out");
    let only = study("['bun/serve']", "'rows'", environment);
    assert_snapshot!(check(&only, here), @r#"everything in the study needs a database, and this machine has none: NoDatabase([Skipped { subject: "database [MySQL · pool of 16]", reason: "mysql is missing: install it by hand", database_only: false, scenarios: ["rows-c8-1cpu", "rows-c8-2cpu"] }])"#);
    assert!(matches!(expand(&only, here), Err(PlanError::NoDatabase(missing)) if missing.len() == 1));
}

#[test]
fn one_of_several_databases_may_be_missing() {
    let near_only = |_: &Environment, database: &Database| match database.link.is_local() {
        true => Ok(()),
        false => Err("no links here".to_owned()),
    };
    let study = study("['bun/serve']", "['hello', 'rows']", "database.rtt = ['20ms', '0ms']");
    assert_snapshot!(check(&study, Here { database: &near_only, ..everything() }), @r#"
    hello-c8 in "db-rtt-20ms"
    rows-c8-db-rtt-0s in "db-rtt-0s"
      hello-c8--bun-serve-default
      hello-c8--rust-ceiling-default
      rows-c8-db-rtt-0s--bun-serve-default
      rows-c8-db-rtt-0s--rust-ceiling-default
    without database [MariaDB · pool of 16 · rtt 20ms]: no links here
    "#);
}

#[test]
fn programs_for_databases_are_named_apart() {
    let text = "title = 'T'\nruntime = 'node'\nworkloads = ['hello', 'rows']\nneeds = ['node']\ndatabase-needs = ['mysql2']\n\
                default = 'one'\nprocess = [{ name = 's', command = ['s'] }]\n[variant.one]\n[variant.cluster]\nneeds = ['pm2']\n\
                database-needs = ['mysql2-pool']";
    let subject = Subject::read("node/http", text).unwrap();
    let needs =
        |variant: &str, database: bool| subject.needs_for(variant, database.then_some(Wire::Mysql)).collect::<Vec<_>>();
    assert_eq!(needs("one", false), ["node"]);
    assert_eq!(needs("one", true), ["node", "mysql2"]);
    assert_eq!(needs("cluster", false), ["node", "pm2"]);
    assert_eq!(needs("cluster", true), ["node", "pm2", "mysql2", "mysql2-pool"]);
    assert_eq!(subject.needs("cluster").collect::<Vec<_>>(), needs("cluster", false));
    let all: std::collections::BTreeSet<&str> = subject.all_needs().collect();
    assert_eq!(all, ["mysql2", "mysql2-pool", "node", "pm2"].into());
}

#[test]
fn a_private_database_takes_its_time() {
    let estimate = |environment: &str, case: &str| {
        let plan = expand(&study("['bun/serve']", "['hello', 'rows']", environment), everything()).unwrap();
        plan.trial_estimate_s(case)
    };
    assert!((estimate("", "rows-c8--bun-serve-default") - 3.85).abs() < 1e-9);
    assert!((estimate("", "hello-c8--bun-serve-default") - 3.25).abs() < 1e-9);
    assert!((estimate("database.dsn = 'env:DB'", "rows-c8--bun-serve-default") - 3.25).abs() < 1e-9);
}

#[test]
fn a_subject_asks_the_databases_that_it_names() {
    let text = "title = 'T'\nruntime = 'node'\nworkloads = ['rows']\nneeds = ['node']\ndatabase-needs = ['mysql2']\n\
                postgres-needs = ['pg']\ndatabases = ['mariadb', 'postgres']\ndefault = 'both'\n\
                process = [{ name = 's', command = ['s'] }]\n\
                [variant.both]\n[variant.old]\ndatabases = ['mysql']\n[variant.cursor]\npostgres-needs = ['pg-cursor']";
    let subject = Subject::read("node/http", text).unwrap();
    let asked = |variant: &str| [Wire::Mysql, Wire::Postgres].map(|wire| subject.asks(variant, wire));
    assert_eq!([asked("both"), asked("old")], [[true, true], [true, false]]);
    let needs = |variant: &str, wire| subject.needs_for(variant, Some(wire)).collect::<Vec<_>>();
    assert_eq!(needs("cursor", Wire::Postgres), ["node", "pg", "pg-cursor"]);
    assert_eq!(needs("cursor", Wire::Mysql), ["node", "mysql2"]);
    assert!(subject.all_needs().any(|name| name == "pg-cursor"));
}

#[test]
fn a_subject_without_a_driver_for_one_engine_is_measured_with_the_other() {
    let study = study("['bun/serve', 'php/fpm']", "['rows']", "database.engine = ['mariadb', 'postgres']");
    let no_postgres = |subject: &Subject, _: &str, database: &Database| match subject.id.as_str() {
        "php/fpm" if database.wire(&|_| None) == Wire::Postgres => Err("it has no driver for PostgreSQL".to_owned()),
        _ => Ok(()),
    };
    assert_snapshot!(check(&study, Here { ready_for_database: &no_postgres, ..everything() }), @r#"
    rows-c8-mariadb in "mariadb"
    rows-c8-postgres in "postgres"
      rows-c8-mariadb--bun-serve-default
      rows-c8-mariadb--php-fpm-pool
      rows-c8-mariadb--rust-ceiling-default
      rows-c8-postgres--bun-serve-default
      rows-c8-postgres--rust-ceiling-default
    without php/fpm: for workloads that ask a database, it has no driver for PostgreSQL
    "#);
}
