//! Duels of invented runs.

use crate::invented::slices::jitter;
use crate::invented::{BUN, GO, InventedRun, NODE};
use crate::outline::DEPTHS;
use tolok_analysis::{Duel, Records, duel};
use tolok_report::Style;
use tolok_report::document::{Depth, Document};
use tolok_report::documents::duel as document;
use tolok_report::print::{markdown, terminal};

/// Three servers in eight launches; the second is slower than the first, and the third has no clear difference from it.
fn found(challengers: usize) -> Duel {
    let mut run = InventedRun::new(8);
    run.scenario("json-c64", "json", "JSON", 64).in_slices();
    run.plan.smallest_effect = 0.01;
    run.sliced(GO, 40_000.0, 20e-6, &jitter(1, 1.0)).sliced(BUN, 38_600.0, 20.8e-6, &jitter(2, 1.0));
    if challengers > 1 {
        run.sliced(NODE, 39_800.0, 20.1e-6, &jitter(3, 60.0));
    }
    let InventedRun { run: record, plan, names, trials, diagnoses } = &run;
    let records = Records { run: record, plan, names, trials, diagnoses, records_sha256: None };
    duel(&records, &run.findings())
}

pub fn every_document() -> Vec<Document> {
    let found = found(2);
    DEPTHS.map(|depth| document(&found, depth)).into()
}

#[test]
fn several_challengers_on_a_terminal() {
    insta::assert_snapshot!(terminal(&document(&found(2), Depth::Short), &Style::default()));
}

#[test]
fn one_challenger_in_a_comment() {
    insta::assert_snapshot!(markdown(&document(&found(1), Depth::Full)));
}
