//! Every format of invented replications.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

#[path = "edge_cases/replications.rs"]
mod replications;

use tolok_analysis::replication::ReplicationFindings;
use tolok_report::Style;
use tolok_report::data::{json, schema};
use tolok_report::replication::{html, markdown, text};

fn invented(name: &str) -> ReplicationFindings {
    replications::all().into_iter().find(|(known, _)| *known == name).unwrap().1
}

fn at_width(name: &str, width: u16) -> String {
    text(&invented(name), &Style { colour: false, width })
}

#[test]
fn in_a_terminal_of_100_columns() {
    insta::assert_snapshot!(at_width("replication", 100));
}

#[test]
fn in_a_terminal_of_64_columns() {
    insta::assert_snapshot!(at_width("replication-untrusted", 64));
}

#[test]
fn what_was_not_run_is_said() {
    insta::assert_snapshot!(at_width("replication-not-run", 100));
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(markdown(&invented("replication")));
}

#[test]
fn words_of_strangers_are_words() {
    let found = invented("replication-untrusted");
    let page = html(&found);
    assert!(!page.contains("<script") && !page.contains("<b>bold"), "a stranger's markup stands in the page");
    assert!(page.contains("&lt;script&gt;"));
    // What a terminal obeys means nothing to a browser.
    for printed in [text(&found, &Style { colour: false, width: 100 }), markdown(&found)] {
        assert!(!printed.contains('\u{1b}'), "an escape of a terminal got through");
    }
    assert!(markdown(&found).contains(r"\|pipe\| \*star\* \<b\>bold\</b\>"));
}

#[test]
fn every_claim_stands_in_every_format_with_its_reading() {
    let found = invented("replication");
    let wide = text(&found, &Style { colour: false, width: 400 });
    for (claim, printed) in found
        .claims
        .iter()
        .flat_map(|claim| [wide.clone(), markdown(&found), html(&found), json(&found)].map(|printed| (claim, printed)))
    {
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
