//! Published ratios beside measured ones, and recommendations.

use super::*;

/// From the heading to the next of the same rank.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let from = page.split_once(heading).map(|(_, rest)| rest).unwrap_or_default();
    from.split("\n## ").next().unwrap_or_default()
}

#[test]
fn in_markdown() {
    let page = text(&edge_case("published"), Format::Markdown);
    insta::assert_snapshot!("published_in_markdown", section(&page, "\n## Published and measured\n"));
    insta::assert_snapshot!("recommendations_in_markdown", section(&page, "\n## Recommendations\n"));
}

#[test]
fn every_published_ratio_has_both_marks_and_its_word() {
    let page = text(&edge_case("published"), Format::Html);
    let chart = page.split("Published ratios beside measured ones").nth(1).unwrap_or_default();
    let chart = chart.split("</svg>").next().unwrap_or_default();
    assert_eq!(chart.matches("M0 -5L5 0L0 5L-5 0z").count(), 7, "a diamond for each published ratio");
    assert_eq!(chart.matches("M-4 0a4 4 0 1 0 8 0").count(), 5, "a dot for each measured ratio");
    for word in ["reproduced", "same direction", "no difference", "a difference", "reversed", "cannot tell"] {
        assert!(chart.contains(word), "{word}");
    }
}

/// A study of many scenarios shows a short table; the rest is folded.
#[test]
fn a_large_study_shows_a_dozen_rows() {
    let findings = edge_case("factors");
    let page = text(&findings, Format::Html);
    let table = page.split(r#"aria-label="Needs and who meets them""#).nth(1).unwrap_or_default();
    let shown = table.split("</table>").next().unwrap_or_default().matches("<tr><th scope=\"row\">").count();
    assert!((1..=12).contains(&shown), "{shown}");
    assert_eq!(findings.recommendations.len() > 12, page.contains("Needs and who meets them, further rows"));
}

#[test]
fn a_run_with_nothing_to_compare_has_neither() {
    for format in [Format::Html, Format::Markdown, Format::Terminal] {
        let page = text(&edge_case("one-subject"), format);
        assert!(!page.contains("Recommendations") && !page.contains("Published and measured"), "{format:?}");
    }
}
