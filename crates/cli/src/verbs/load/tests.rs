//! The exit code for a record, and what each format shows. The record is invented; its sums are consistent.

use tolok_load::fault::ErrorClass;
use tolok_load::record::Record;
use tolok_load::threshold::KeptOrCrossed;
use tolok_load::verdict::{Gate, Reason};

use super::*;
use crate::args::LoadFormat;

/// An open loop with some failures, a threshold of every outcome, and two threads.
pub fn record() -> Record {
    serde_json::from_str(include_str!("tests/record.json")).unwrap()
}

/// The same record without failures and thresholds.
pub fn flawless() -> Record {
    let mut record = record();
    record.ledger.failed_by_class.clear();
    record.ledger.good += record.ledger.failed;
    record.ledger.failed = 0;
    record.error_examples.clear();
    record.thresholds.clear();
    record
}

/// The exit code after a flawless run with one change and these thresholds.
fn leaves(change: impl FnOnce(&mut Record), thresholds: &[(&str, KeptOrCrossed)]) -> Exit {
    let mut changed = flawless();
    change(&mut changed);
    let kept = record().thresholds[0].clone();
    changed.thresholds = thresholds
        .iter()
        .map(|(text, outcome)| tolok_load::threshold::Judged {
            text: (*text).to_owned(),
            outcome: *outcome,
            ..kept.clone()
        })
        .collect();
    let set: Vec<Threshold> = thresholds.iter().map(|(text, _)| crate::args::threshold(text).unwrap()).collect();
    exit_of(&changed, &set)
}

fn fail(record: &mut Record) {
    record.ledger.failed = 1;
    record.ledger.failed_by_class.insert(ErrorClass::Timeout, 1);
}

fn distrust(record: &mut Record) {
    record.verdict.trusted = false;
    record.verdict.reasons = vec![Reason { gate: Gate::Ledger, text: "requests were lost".to_owned() }];
}

#[test]
fn the_code_says_what_the_figures_are_worth_before_what_they_say() {
    use KeptOrCrossed::{Crossed, Kept, Unknown};
    assert_eq!(leaves(|_| {}, &[]), Exit::Done);
    assert_eq!(leaves(|_| {}, &[("p99 < 1s", Kept)]), Exit::Done);
    assert_eq!(leaves(|_| {}, &[("p99 < 1s", Kept), ("max < 1s", Crossed)]), Exit::ThresholdCrossed);
    assert_eq!(leaves(|_| {}, &[("connect.p99 < 1s", Unknown)]), Exit::ThresholdCrossed);
    assert_eq!(leaves(fail, &[]), Exit::GateFailed);
    assert_eq!(leaves(fail, &[("p99 < 1s", Crossed)]), Exit::GateFailed);
    assert_eq!(leaves(fail, &[("failed < 1%", Kept)]), Exit::Done);
    assert_eq!(leaves(fail, &[("failed < 1", Crossed)]), Exit::ThresholdCrossed);
    assert_eq!(leaves(fail, &[("goodput > 1/s", Kept)]), Exit::Done);
    assert_eq!(leaves(|record| record.drain.failed = 1, &[]), Exit::GateFailed);
    assert_eq!(leaves(distrust, &[]), Exit::GateFailed);
    assert_eq!(leaves(distrust, &[("max < 1s", Crossed)]), Exit::GateFailed);
    assert_eq!(leaves(|record| record.interrupted = true, &[("max < 1s", Crossed)]), Exit::Interrupted);
}

#[test]
fn without_a_good_answer_nothing_is_done_whatever_the_thresholds_say() {
    let silence = |record: &mut Record| {
        (record.ledger.good, record.drain.good, record.warm_up.carried_over_good) = (0, 0, 0);
        fail(record);
    };
    assert_eq!(leaves(silence, &[("failed < 2", KeptOrCrossed::Kept)]), Exit::GateFailed);
}

#[test]
fn markdown_is_fit_for_an_issue() {
    let mut record = record();
    distrust(&mut record);
    insta::assert_snapshot!("markdown", document::in_markdown(&record));
}

#[test]
fn csv_has_a_line_for_each_second() {
    insta::assert_snapshot!("csv", csv::csv(&record()));
}

#[test]
fn json_is_the_whole_record() {
    let text = shown(&record(), LoadFormat::Json, false).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record());
}

#[test]
fn a_file_gets_no_colours() {
    assert!(shown(&record(), LoadFormat::Text, false).unwrap().contains('\x1b'));
    assert!(!shown(&record(), LoadFormat::Text, true).unwrap().contains('\x1b'));
}

#[test]
fn thresholds_are_test_cases() {
    let mut record = record();
    record.thresholds[0].text = "p99 < 1s & \"more\"".to_owned();
    let text = shown(&record, LoadFormat::Junit, true).unwrap();
    assert!(text.contains("name=\"p99 &lt; 1s &amp; &quot;more&quot;\""), "{text}");
    let failed = record.thresholds.iter().filter(|judged| judged.outcome != KeptOrCrossed::Kept).count();
    let failed = failed + usize::from(!record.verdict.trusted);
    assert_eq!(text.matches("<failure ").count(), failed);
    assert!(text.contains(&format!("tests=\"{}\" failures=\"{failed}\"", record.thresholds.len() + 1)), "{text}");
    distrust(&mut record);
    assert!(shown(&record, LoadFormat::Junit, true).unwrap().contains("<failure message=\"requests were lost\"/>"));
}
