//! The schema of the JSON report is checked in, so that its readers can rely on it.

use tolok_analysis::replication::ReplicationFindings;
use tolok_analysis::{Duel, Findings, RunComparison, RunHistory};
use tolok_audit::Audit;
use tolok_report::data::schema;

#[test]
fn the_schema_in_the_repository_is_the_one_of_the_code() {
    check("report", &schema::<Findings>());
}

#[test]
fn the_schema_of_comparisons_is_the_one_of_the_code() {
    check("compare", &schema::<RunComparison>());
}

#[test]
fn the_schema_of_duels_is_the_one_of_the_code() {
    check("duel", &schema::<Duel>());
}

#[test]
fn the_schema_of_replications_is_the_one_of_the_code() {
    check("replication-report", &schema::<ReplicationFindings>());
}

#[test]
fn the_schema_of_histories_is_the_one_of_the_code() {
    check("history", &schema::<RunHistory>());
}

#[test]
fn the_schema_of_audits_is_the_one_of_the_code() {
    check("audit", &schema::<Vec<Audit>>());
}

fn check(name: &str, schema: &serde_json::Value) {
    let path = format!("{}/../../schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let generated = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("TOLOK_WRITE_SCHEMAS").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == generated, "regenerate it: TOLOK_WRITE_SCHEMAS=1 cargo test -p tolok-report schema");
}
