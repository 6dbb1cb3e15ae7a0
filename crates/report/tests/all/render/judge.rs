//! A study judged by CPU time shows that wherever it ranks.

use super::*;

#[test]
fn its_matrix_shows_cpu_time() {
    insta::assert_snapshot!(render(&edge_case("by-cpu"), Format::Terminal, &Style::default()));
}

#[test]
fn no_format_calls_the_most_efficient_fastest() {
    let findings = edge_case("by-cpu");
    let glance = render(&findings, Format::Terminal, &Style::default());
    let others = [Format::Terminal, Format::Markdown, Format::Html, Format::Card, Format::Latex];
    for text in others.map(|format| text(&findings, format)).iter().chain([&glance]) {
        assert!(!text.contains("is fastest") && !text.contains("the fastest"), "{text}");
    }
    let page = text(&findings, Format::Html);
    assert!(page.contains("Bun.serve is most CPU-efficient"), "{page}");
    assert!(page.contains("Differences from the most CPU-efficient"), "{page}");
}

#[test]
fn the_bars_of_its_card_are_cpu_times() {
    let card = text(&edge_case("by-cpu"), Format::Card);
    assert!(card.contains("CPU time per correct response") && card.contains(">16.0"), "{card}");
}
