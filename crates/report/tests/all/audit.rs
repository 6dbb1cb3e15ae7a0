//! Invented audits in every format.

use crate::audits;
use crate::outline::{DEPTHS, outline};
use tolok_audit::Audit;
use tolok_report::Style;
use tolok_report::data::{json, schema};
use tolok_report::document::{Depth, Document};
use tolok_report::documents::audit;
use tolok_report::print::{html, markdown, terminal};

fn case(name: &str) -> Vec<Audit> {
    let mut all = audits::all().into_iter();
    all.find(|(known, _)| *known == name).unwrap_or_else(|| panic!("there is no {name}")).1
}

pub fn every_document() -> Vec<Document> {
    audits::all().iter().flat_map(|(_, audits)| DEPTHS.map(|depth| audit(audits, false, depth))).collect()
}

fn document(name: &str, is_brief: bool, depth: Depth) -> String {
    outline(&audit(&case(name), is_brief, depth))
}

#[test]
fn each_count_of_several_tables_stands_under_its_verdict() {
    let text = terminal(&audit(&case("audit-several"), true, Depth::Short), &Style { colour: false, width: 100 });
    let words: Vec<&str> = text.lines().find(|line| line.contains("undecided")).unwrap().split("  ").collect();
    let words: Vec<&str> = words.into_iter().map(str::trim).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["table", "contradicted", "fewer users", "undecided", "hold"]);
}

#[test]
fn an_ordinary_audit_on_a_page() {
    insta::assert_snapshot!(document("audit-ordinary", false, Depth::Page));
}

#[test]
fn several_on_a_terminal() {
    insta::assert_snapshot!(document("audit-several", false, Depth::Short));
}

#[test]
fn in_short_only_what_is_contradicted_stands() {
    for depth in [Depth::Short, Depth::Full, Depth::Page] {
        let brief = document("audit-ordinary", true, depth);
        assert!(brief.contains("What is contradicted") && !brief.contains("What is undecided"), "{brief}");
    }
}

#[test]
fn where_nothing_could_be_checked_that_is_said() {
    let text = document("audit-empty", false, Depth::Short);
    assert!(text.contains("Nothing could be checked: no law covers the figures of the transcription."), "{text}");
}

#[test]
fn long_names_are_cut_where_the_line_ends() {
    let text = terminal(&audit(&case("audit-huge-names"), true, Depth::Short), &Style { colour: false, width: 80 });
    insta::assert_snapshot!(text);
}

#[test]
fn untrusted_text_stays_text() {
    let audits = case("audit-untrusted");
    insta::assert_snapshot!(markdown(&audit(&audits, true, Depth::Full)));
    let shown = terminal(&audit(&audits, false, Depth::Short), &Style::default());
    assert!(!shown.contains('\u{1b}'), "an escape of a terminal got through: {shown:?}");
}

#[test]
fn untrusted_text_in_html_stays_text() {
    let page = html(&audit(&case("audit-untrusted"), false, Depth::Page));
    assert!(!page.contains("<script>"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
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
            let text = terminal(&audit(&audits, false, Depth::Short), &Style { colour: false, width });
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or("");
            assert!(widest.chars().count() <= usize::from(width), "{name} at {width}: {widest:?}");
        }
    }
}

#[test]
fn colour_adds_codes_and_nothing_else() {
    let document = audit(&case("audit-several"), false, Depth::Short);
    let [coloured, plain] = [true, false].map(|colour| terminal(&document, &Style { colour, width: 100 }));
    assert!(coloured.contains("\u{1b}[33m") && coloured.contains("\u{1b}[32m"));
    let codes = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[33m"];
    assert_eq!(codes.iter().fold(coloured, |text, code| text.replace(code, "")), plain);
}
