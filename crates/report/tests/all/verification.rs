//! The output of `tolok verify` for invented checks.

use tolok_model::{Check, CheckOutcome, Difference, NotRecomputable, VERIFICATION_SCHEMA, Verification};
use tolok_report::Style;
use tolok_report::document::Document;
use tolok_report::documents::verification;
use tolok_report::print::terminal;

fn printed(checks: Vec<Check>) -> String {
    terminal(&verification(&found(checks)), &Style { colour: false, width: 80 })
}

pub fn every_document() -> Vec<Document> {
    let mut figures = Check::new("figures").saying("all equal");
    figures.differs(difference());
    vec![verification(&found([checks(), vec![figures]].concat()))]
}

fn found(checks: Vec<Check>) -> Verification {
    Verification {
        schema_version: VERIFICATION_SCHEMA,
        run: "2026-11-21-quick-7f3a".to_owned(),
        tolok_version: "0.1.0".to_owned(),
        verified_by: "0.1.0".to_owned(),
        records_sha256: Some("9b1f0c7d5e3a4826".to_owned()),
        is_equal: checks.iter().all(|check| check.outcome != CheckOutcome::Differs),
        checks,
        not_recomputable: vec![NotRecomputable { what: "took_s".to_owned(), why: "noted once".to_owned() }],
    }
}

fn difference() -> Difference {
    Difference {
        file: "trials/0003-json-c64--go-nethttp-b1/trial.json".to_owned(),
        at: Some("outcome.goodput_rps".to_owned()),
        stored: Some(51_234.5.into()),
        recomputed: Some(31_234.5.into()),
        said: "outcome.goodput_rps is 51234.5 there, and 31234.5 by tool.json".to_owned(),
        advice: "take the file from a copy of the run that verifies".to_owned(),
    }
}

fn checks() -> Vec<Check> {
    let mut files = Check::new("files").saying("182 files, 14.2 MiB: each has the recorded length and SHA-256");
    files.notes.push("trials/0002 entered late".to_owned());
    vec![files, Check::not_made("report.md", "it is not there")]
}

#[test]
fn equal_checks_are_a_list_and_name_what_could_not_be_checked() {
    insta::assert_snapshot!(printed(checks()));
}

#[test]
fn a_difference_is_named_with_both_values_and_what_to_do() {
    let mut figures = Check::new("figures").saying("all equal");
    figures.compared = 1_512;
    figures.differs(difference());
    figures.differs(difference());
    insta::assert_snapshot!(printed([checks(), vec![figures]].concat()));
}
