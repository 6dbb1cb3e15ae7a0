//! The files in the folder of a run.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tolok_host::sample::{Part, ReadBack, Window};
use tolok_load::clock::MonotonicNs;
use tolok_model::manifest::Manifest;
use tolok_model::{Plan, RunRecord, TrialRecord};
use tolok_tools::ToolEvent;
use tolok_tools::slices::StoredSlice;

use crate::text;

/// Reads a value, and checks that it is the same after being written and read again.
fn read<T: Serialize + DeserializeOwned>(text: &str) -> Option<T> {
    let read: T = serde_json::from_str(text).ok()?;
    let written = serde_json::to_string(&read).expect("it serialises");
    let again: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error} in {written}"));
    let twice = serde_json::to_string(&again).expect("it serialises again");
    assert_eq!(written, twice);
    Some(read)
}

pub fn run(data: &[u8]) {
    text(data).and_then(read::<RunRecord>);
}

pub fn plan(data: &[u8]) {
    if let Some(plan) = text(data).and_then(read::<Plan>) {
        // The message states what is wrong.
        assert!(plan.is_bounded().err().is_none_or(|why| !why.is_empty()));
    }
}

pub fn trial(data: &[u8]) {
    text(data).and_then(read::<TrialRecord>);
}

pub fn manifest(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let manifest = Manifest::read(text);
    for (folder, (number, line)) in manifest.standing() {
        assert_eq!((manifest.line(number), line.folder.as_str()), (Some(line), folder));
    }
    for fault in &manifest.faults {
        assert!(manifest.line(fault.line).is_some(), "{fault:?} of {text:?}");
    }
    assert_eq!(manifest.fingerprint().is_some(), !manifest.lines.is_empty());
}

/// Lines of the engine, of slices, and of the emulated link.
pub fn events(data: &[u8]) {
    let Some(text) = text(data) else { return };
    for line in text.lines() {
        read::<ToolEvent>(line);
        read::<StoredSlice>(line);
    }
    let _ = tolok_link::read_report(text);
}

pub fn samples(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(samples) = ReadBack::read(text, 0) else { return };
    let window = Window { began: MonotonicNs(500_000_000), ended: MonotonicNs(2_500_000_000) };
    let _ = samples.usage(window, 2.0);
    for part in [Part::Subject, Part::Generator, Part::Database, Part::Link, Part::DatabaseLink, Part::Lab] {
        let _ = samples.by_second(part, window);
    }
}

pub fn histogram(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(histogram) = tolok_load::histogram::decode(text) else { return };
    let written = tolok_load::histogram::encode(&histogram);
    let again = tolok_load::histogram::decode(&written).expect("it was just written");
    assert!(again == histogram, "{text} is another histogram when it is written again");
    let _ = tolok_load::histogram::merge([text, written.as_str()]);
}
