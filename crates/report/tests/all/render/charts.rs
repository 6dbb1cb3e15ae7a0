//! Charts as files of their own.

use std::collections::BTreeSet;

use tolok_report::charts::figures;
use tolok_report::figures::Quantity;

use super::*;

#[test]
fn every_chart_of_a_page_is_a_figure() {
    for (name, findings) in every_edge_case() {
        let page = text(findings, Format::Html);
        let figures = figures(findings);
        let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
        // A new chart of the page must be added to `charts::all` too.
        assert_eq!(page.matches("role=\"img\"").count(), figures.len(), "{name}: {names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{name}: {names:?}");
    }
}

#[test]
fn a_figure_needs_nothing_but_itself() {
    for (name, findings) in every_edge_case() {
        for figure in figures(findings) {
            let svg = &figure.svg;
            for foreign in ["class=", "var(", "<style", "href", "script"] {
                // Titles are between tags, so they are not checked.
                let inside = svg.split('<').map(|part| part.split('>').next().unwrap_or_default());
                assert!(!inside.into_iter().any(|tag| tag.contains(foreign)), "{name}, {}: {foreign}", figure.name);
            }
            // A column of seconds is one of several side by side.
            let width = if figure.name.starts_with("seconds-") { "width=\"40mm\"" } else { "width=\"88mm\"" };
            assert!(svg.contains(width) && svg.contains("font-family="), "{name}, {}", figure.name);
            assert_eq!(ill_formed(svg), None, "{name}, {}", figure.name);
            assert!(figure.caption.contains("n = ") || figure.name.starts_with("shares"), "{name}: {}", figure.caption);
            assert!(figure.caption.contains("interval") || figure.caption.contains("Whisker"), "{}", figure.caption);
        }
    }
}

/// Everything drawn has an explicit colour, or explicitly none.
#[test]
fn a_ratio_has_one_interval_in_the_chart_and_in_the_table_beside_it() {
    let findings = edge_case("ordinary");
    let scenario = &findings.scenarios[0];
    let pair = scenario.comparisons.iter().find(|pair| pair.a == scenario.cases[0].subject).unwrap();
    assert_ne!(pair.simultaneous_low, pair.ratio.low, "that of all pairs together is another one");
    let words = tolok_report::figures::figure(Quantity::Ratio, &pair.ratio).line();
    let drawn = figures(&findings).into_iter().filter(|figure| figure.name.starts_with("differences"));
    assert!(drawn.map(|figure| figure.svg).any(|svg| svg.contains(&words)), "{words}");
    assert!(text(&findings, Format::Html).matches(&words).count() > 1, "{words}");
}

#[test]
fn nothing_is_drawn_in_the_colour_that_happens_to_be_the_default() {
    for (name, findings) in every_edge_case() {
        for figure in figures(findings) {
            let drawn =
                figure.svg.lines().filter(|line| ["<path", "<rect", "<text"].iter().any(|tag| line.starts_with(tag)));
            for line in drawn {
                assert!(line.contains(" fill=") || line.contains(" stroke="), "{name}, {}: {line}", figure.name);
            }
        }
    }
}

#[test]
fn a_figure_of_throughput() {
    let figure = figures(&edge_case("one-scenario")).swap_remove(0);
    insta::assert_snapshot!(format!("{}\n{}\n{}\n{}", figure.name, figure.title, figure.caption, figure.svg));
}

/// Why a text is not well-formed XML, or `None`.
fn ill_formed(text: &str) -> Option<String> {
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    let mut open = Vec::new();
    for part in body.split('<').skip(1) {
        let Some((tag, between)) = part.split_once('>') else { return Some(format!("<{part} does not end")) };
        if between.contains('>') || between.split('&').skip(1).any(|entity| !is_entity(entity)) {
            return Some(format!("{between:?} is not escaped"));
        }
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) if open.pop() != Some(name) => return Some(format!("{name} ends and is not open")),
            (false, false) => open.push(name),
            _ => {}
        }
        if tag.matches('"').count() % 2 == 1 {
            return Some(format!("a quotation in <{tag}> does not end"));
        }
        let mut names: Vec<&str> = tag.split("=\"").filter_map(|part| part.rsplit([' ', '"']).next()).collect();
        names.pop();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        if names.len() < all {
            return Some(format!("an attribute stands twice in <{tag}>"));
        }
    }
    open.last().map(|name| format!("{name} is not closed"))
}

fn is_entity(text: &str) -> bool {
    ["amp;", "lt;", "gt;", "quot;"].iter().any(|entity| text.starts_with(entity))
}
