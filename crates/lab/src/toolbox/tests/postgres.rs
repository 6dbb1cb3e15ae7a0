//! PostgreSQL: found where its packages put it, the newest of several versions, with its parts.

use super::*;

#[test]
fn postgres_is_the_newest_server_of_its_packages_with_its_client_and_its_counters() {
    let lab = Lab::new();
    let place = |version: &str, file: &str| format!("system/usr/lib/postgresql/{version}/{file}");
    for version in ["9.6", "15", "16"] {
        lab.program(&place(version, "bin/postgres"), &format!("echo 'postgres (PostgreSQL) {version}.1 (Debian)'"));
    }
    let reason = lab.missing("postgres").0;
    assert!(reason.contains("16/bin/postgres 16.1 is here, without initdb"), "{reason}");
    lab.program(&place("16", "bin/initdb"), "exit 0");
    lab.program(&place("16", "bin/psql"), "exit 0");
    let postgres = lab.ready("postgres");
    assert_eq!((postgres.version.as_str(), postgres.source), ("16.1", Source::System));
    assert!(postgres.extras["client"].ends_with("16/bin/psql") && postgres.extras["statements"].is_empty());
    lab.write(&place("16", "lib/pg_stat_statements.so"), "");
    assert!(lab.ready("postgres").extras["statements"].ends_with("16/lib/pg_stat_statements.so"));
}
