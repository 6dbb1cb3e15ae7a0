//! Invented replications in every format.

use crate::edge_cases::replications;
use crate::outline::{DEPTHS, outline};
use tolok_analysis::replication::ReplicationFindings;
use tolok_report::Style;
use tolok_report::data::{json, schema};
use tolok_report::document::{Depth, Document};
use tolok_report::documents::replication;
use tolok_report::print::{html, markdown, terminal};

fn invented(name: &str) -> ReplicationFindings {
    replications::all().into_iter().find(|(known, _)| *known == name).unwrap().1
}

pub fn every_document() -> Vec<Document> {
    let found = invented("replication");
    DEPTHS.map(|depth| replication(&found, depth)).into()
}

#[test]
fn on_a_page() {
    insta::assert_snapshot!(outline(&replication(&invented("replication"), Depth::Page)));
}

#[test]
fn on_a_terminal() {
    insta::assert_snapshot!(outline(&replication(&invented("replication"), Depth::Short)));
}

#[test]
fn what_was_not_run_is_said() {
    let text = outline(&replication(&invented("replication-not-run"), Depth::Short));
    assert!(text.contains(": not run"), "{text}");
    assert!(text.contains("No verdict on "), "{text}");
}

#[test]
fn text_of_strangers_is_neither_markup_nor_control_codes() {
    let found = invented("replication-untrusted");
    let page = html(&replication(&found, Depth::Page));
    assert!(!page.contains("<script") && !page.contains("<b>bold"), "a stranger's markup got into the page");
    assert!(page.contains("&lt;script&gt;"));
    // Terminal escapes must not reach any format.
    let comment = markdown(&replication(&found, Depth::Full));
    for printed in [&terminal(&replication(&found, Depth::Short), &Style::default()), &comment] {
        assert!(!printed.contains('\u{1b}'), "an escape of a terminal got through");
    }
    assert!(comment.contains(r"\|pipe\| \*star\* \<b\>bold\</b\>"));
}

#[test]
fn every_claim_stands_in_every_format_with_its_reading() {
    let found = invented("replication");
    let short = terminal(&replication(&found, Depth::Short), &Style { colour: false, width: 400 });
    let formats =
        [short, markdown(&replication(&found, Depth::Full)), html(&replication(&found, Depth::Page)), json(&found)];
    for (claim, printed) in found.claims.iter().flat_map(|claim| formats.iter().map(move |printed| (claim, printed))) {
        assert!(printed.contains(&claim.says), "{}", claim.says);
        assert!(
            printed.contains(claim.reading.words())
                || printed.contains("cannot-tell")
                || printed.contains("same-direction")
        );
    }
}

#[test]
fn the_json_reads_as_what_the_schema_says() {
    let written: serde_json::Value = serde_json::from_str(&json(&invented("replication"))).unwrap();
    let schema = schema::<ReplicationFindings>();
    let required = schema["required"].as_array().unwrap();
    assert!(required.len() > 8);
    for key in required {
        assert!(written.get(key.as_str().unwrap()).is_some(), "{key}");
    }
}
