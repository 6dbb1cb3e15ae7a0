//! The checked-in JSON Schemas match the types that read the files.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::schema;

use std::path::PathBuf;

use schema::of_file;
use schemars::schema_for;
use serde_json::Value;
use tolok_model::fidelity::FidelityReport;
use tolok_model::refusal::LoadRefusal;
use tolok_model::transcription::TranscriptionFile;
use tolok_model::{ReplicationFile, StudyFile, SubjectFile, Verification, WorkloadFile};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(format!("{name}.schema.json"))
}

/// Compares the file with the generated schema. With `TOLOK_WRITE_SCHEMAS` set, writes it instead.
fn check(name: &str, generated: &Value) {
    if std::env::var_os("TOLOK_WRITE_SCHEMAS").is_some() {
        let text = serde_json::to_string_pretty(generated).unwrap();
        std::fs::write(file(name), format!("{text}\n")).unwrap();
        return;
    }
    let text = std::fs::read_to_string(file(name)).unwrap_or_default();
    // Compares values rather than texts, because the order of keys depends on serde_json features that other crates
    // enable.
    let found: Option<Value> = serde_json::from_str(&text).ok();
    assert!(
        found.as_ref() == Some(generated),
        "schemas/{name}.schema.json is out of date; regenerate it with\n\
         TOLOK_WRITE_SCHEMAS=1 cargo test -p tolok-model schemas",
    );
}

fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// The required keys of each alternative.
fn alternatives(several: &Value) -> Vec<Vec<&str>> {
    several.as_array().unwrap().iter().map(required).collect()
}

#[test]
fn schemas_of_studies_are_up_to_date() {
    check("study", &of_file::<StudyFile>());
}

#[test]
fn schemas_of_subjects_are_up_to_date() {
    check("subject", &of_file::<SubjectFile>());
}

#[test]
fn schemas_of_workloads_are_up_to_date() {
    check("workload", &of_file::<WorkloadFile>());
}

#[test]
fn schemas_of_replications_are_up_to_date() {
    check("replication", &of_file::<ReplicationFile>());
}

#[test]
fn schemas_of_transcriptions_are_up_to_date() {
    check("transcription", &of_file::<TranscriptionFile>());
}

#[test]
fn schemas_of_fidelity_reports_are_up_to_date() {
    check("fidelity", &schema_for!(FidelityReport).to_value());
}

#[test]
fn schemas_of_verifications_are_up_to_date() {
    check("verify", &schema_for!(Verification).to_value());
}

#[test]
fn schemas_of_refusals_are_up_to_date() {
    check("load-refusal", &schema_for!(LoadRefusal).to_value());
}

#[test]
fn schemas_demand_what_reading_demands() {
    let study = of_file::<StudyFile>();
    assert_eq!(required(&study), ["title", "subjects"]);
    assert_eq!(alternatives(&study["anyOf"]), [["scenario"], ["program"]]);
    assert_eq!(required(&study["definitions"]["ScenarioFile"]), ["workload", "load"]);
    assert_eq!(required(&study["definitions"]["LoadFile"]), ["executor"]);
    assert_eq!(required(&study["definitions"]["StageFile"]), ["target", "duration"]);
    let subject = of_file::<SubjectFile>();
    assert_eq!(required(&subject), ["title", "runtime", "workloads"]);
    assert_eq!(alternatives(&subject["oneOf"]), [["process"], ["program"]]);
    assert_eq!(required(&subject["definitions"]["ProcessFile"]), ["name", "command"]);
    assert_eq!(required(&subject["definitions"]["ParameterFile"]), ["default"]);
    let replication = of_file::<ReplicationFile>();
    assert_eq!(required(&replication), ["source", "part"]);
    assert_eq!(required(&replication["definitions"]["PartFile"]), ["name", "study", "says"]);
    assert_eq!(required(&replication["definitions"]["FactorFile"]), ["name", "meaning", "figure", "level"]);
    let workload = of_file::<WorkloadFile>();
    assert_eq!(required(&workload), ["title"]);
    let kinds = [vec!["request", "answer"], vec!["program"], vec!["part"], vec!["requests"]];
    assert_eq!(alternatives(&workload["oneOf"]), kinds);
    assert_eq!(required(&workload["definitions"]["AnswerFile"]), ["content-type", "body"]);
    let transcription = of_file::<TranscriptionFile>();
    assert_eq!(required(&transcription), ["title"]);
    assert_eq!(alternatives(&transcription["anyOf"]), [["row"], ["series"]]);
    assert_eq!(required(&transcription["definitions"]["Row"]), ["subject"]);
    assert_eq!(required(&transcription["definitions"]["Setting"]), ["name"]);
    assert_eq!(required(&transcription["definitions"]["Claim"]), ["id", "says"]);
}

#[test]
fn schemas_refuse_unknown_keys_everywhere_and_never_speak_of_null() {
    for schema in [
        of_file::<StudyFile>(),
        of_file::<SubjectFile>(),
        of_file::<WorkloadFile>(),
        of_file::<ReplicationFile>(),
        of_file::<TranscriptionFile>(),
    ] {
        let tables = schema["definitions"].as_object().unwrap().values().chain([&schema]);
        for table in tables.filter(|table| table["type"] == "object") {
            assert_eq!(table["additionalProperties"], false, "{table}");
        }
        assert!(!schema.to_string().contains("null"), "{schema}");
    }
}
