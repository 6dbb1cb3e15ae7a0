//! Invented audits in every format.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

mod audits;

use tolok_audit::{Audit, Law};
use tolok_report::Style;
use tolok_report::audit::{html, markdown, text};
use tolok_report::data::{json, schema};

fn case(name: &str) -> Vec<Audit> {
    let mut all = audits::all().into_iter();
    all.find(|(known, _)| *known == name).unwrap_or_else(|| panic!("there is no {name}")).1
}

fn at_width(name: &str, width: u16) -> String {
    text(&case(name), &Style { colour: false, width }, false)
}

/// A page without its style sheet.
fn page(name: &str) -> String {
    let page = html(&case(name), false);
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    format!("{head}<style>…</style>{body}")
}

#[test]
fn an_ordinary_audit_at_80_columns() {
    insta::assert_snapshot!(at_width("audit-ordinary", 80));
}

#[test]
fn an_ordinary_audit_at_120_columns() {
    insta::assert_snapshot!(at_width("audit-ordinary", 120));
}

#[test]
fn in_short_only_what_is_contradicted_stands() {
    let short = text(&case("audit-ordinary"), &Style::default(), true);
    insta::assert_snapshot!(short);
    assert!(!html(&case("audit-ordinary"), true).contains("cannot-tell\""));
    assert!(!markdown(&case("audit-ordinary"), true).contains("What cannot be told"));
}

#[test]
fn where_nothing_could_be_checked_that_is_said() {
    insta::assert_snapshot!(at_width("audit-empty", 80));
}

#[test]
fn a_sound_table() {
    insta::assert_snapshot!(at_width("audit-all-hold", 80));
}

#[test]
fn several_tables_have_a_line_each_first() {
    insta::assert_snapshot!(at_width("audit-several", 100));
}

#[test]
fn long_names_are_cut_where_the_line_ends() {
    insta::assert_snapshot!(at_width("audit-huge-names", 80));
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(markdown(&case("audit-ordinary"), false));
}

#[test]
fn several_in_markdown() {
    insta::assert_snapshot!(markdown(&case("audit-several"), true));
}

#[test]
fn untrusted_text_in_markdown_and_on_a_terminal_stays_text() {
    let audits = case("audit-untrusted");
    insta::assert_snapshot!(markdown(&audits, false));
    insta::assert_snapshot!("untrusted_text_on_a_terminal", at_width("audit-untrusted", 100));
}

#[test]
fn in_html() {
    insta::assert_snapshot!(page("audit-ordinary"));
}

#[test]
fn several_in_html() {
    insta::assert_snapshot!(page("audit-several"));
}

#[test]
fn untrusted_text_in_html_stays_text() {
    let page = page("audit-untrusted");
    assert!(!page.contains("<script>"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"), "{page}");
}

#[test]
fn in_json() {
    let mut audits = case("audit-ordinary");
    audits[0].findings.truncate(2);
    insta::assert_snapshot!(json(&audits));
}

#[test]
fn json_has_every_property_that_the_schema_requires() {
    let value: serde_json::Value = serde_json::from_str(&json(&case("audit-several"))).unwrap();
    let schema = schema::<Vec<Audit>>();
    for name in schema["$defs"]["Audit"]["required"].as_array().unwrap() {
        assert!(value[2].get(name.as_str().unwrap()).is_some(), "{name}");
    }
}

#[test]
fn no_line_is_wider_than_asked() {
    for (name, audits) in audits::all() {
        for width in [64, 80, 100, 140] {
            let text = text(&audits, &Style { colour: false, width }, false);
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or("");
            assert!(widest.chars().count() <= usize::from(width), "{name} at {width}: {widest:?}");
        }
    }
}

#[test]
fn colour_adds_codes_and_nothing_else() {
    let audits = case("audit-several");
    let coloured = text(&audits, &Style { colour: true, width: 100 }, false);
    assert!(coloured.contains("\u{1b}[33m") && coloured.contains("\u{1b}[32m"));
    let codes = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[33m"];
    let plain = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(plain, at_width("audit-several", 100));
}

#[test]
fn the_document_says_what_each_law_says() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/audit.md")).unwrap();
    for law in Law::ALL {
        assert!(document.contains(&format!("| {} | {} |", law.title(), law.says())), "{law:?}");
    }
}
