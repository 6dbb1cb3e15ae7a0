//! Objectives in every format.

use super::*;

#[test]
fn in_markdown() {
    let text = text(&edge_case("open-loop"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "p50 and p99", "## "));
}

#[test]
fn in_html() {
    let page = text(&edge_case("open-loop"), Format::Html);
    assert!(page.contains("! 2 objectives crossed") && page.contains("p50 and p99 from the planned instant"));
    assert_eq!(seen(&page, "The load generator passed its own checks"), "1 of 7 cases flagged");
}

#[test]
fn in_csv() {
    let text = text(&edge_case("open-loop"), Format::Csv);
    insta::assert_snapshot!(columns(&text, &["executor", "offered_rps", "requests_unsent", "objectives"]));
}

#[test]
fn without_objectives_nothing_is_said_of_them() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        assert!(!text(&ordinary().findings(), format).contains("bjectives ("), "{format:?}");
    }
}
