//! Sections on latency, seconds, cold start and failed requests.

use super::*;

/// A section of the page by its id.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    part(page, &format!("<section aria-labelledby=\"{id}\""), "</section>")
}

fn has_section(page: &str, id: &str) -> bool {
    page.contains(&format!("<section aria-labelledby=\"{id}\""))
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(part(&text(&edge_case("courses"), Format::Markdown), "\n## Latency", "\n## Resources"));
}

#[test]
fn in_a_wide_terminal() {
    let findings = edge_case("courses");
    let at_width = |width| verbose(&findings, &Style { colour: false, width });
    insta::assert_snapshot!("terminal-120", part(&at_width(120), "JSON: closed", "\n1,000 rows"));
    assert!(!at_width(80).contains("by second"), "a narrow terminal has no room");
}

#[test]
fn a_line_ends_in_the_name_of_its_subject_and_the_rest_is_shaded() {
    let page = text(&edge_case("courses"), Format::Html);
    let latency = section(&page, "latency");
    assert_eq!(latency.matches("<path class=\"same\"").count(), 3, "one in each chart");
    assert!(latency.contains(">Node ht") && latency.contains("line way-1"));
    assert!(latency.contains("percentile, closed loop") && latency.contains("percentile, open loop"));
}

#[test]
fn every_subject_has_a_column_of_seconds() {
    let page = text(&edge_case("courses"), Format::Html);
    let seconds = section(&page, "seconds");
    for words in [">correct responses/s</text>", ">CPUs busy</text>", ">memory, MiB</text>"] {
        assert_eq!(seconds.matches(words).count(), 12, "{words}");
    }
    assert_eq!(seconds.matches("ref db").count(), 1 + 2 * 4, "the key, and CPU and memory of subjects with a database");
}

/// A single trial has no band, for percentiles or for seconds.
#[test]
fn a_single_trial_has_lines_and_no_bands() {
    let page = text(&edge_case("one-trial"), Format::Html);
    let shown = [section(&page, "latency"), section(&page, "seconds")].concat();
    assert!(shown.contains(" line\"") && !shown.contains(" band\""));
}

#[test]
fn short_windows_have_no_section() {
    assert!(!has_section(&text(&edge_case("one-scenario"), Format::Html), "seconds"));
}

#[test]
fn what_was_not_measured_has_no_section() {
    for name in ["all-failed", "nothing-at-all", "programs"] {
        let page = text(&edge_case(name), Format::Html);
        let found: Vec<&str> =
            ["latency", "seconds", "cold-start"].into_iter().filter(|id| has_section(&page, id)).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

/// Several tools with the same load are compared in a section of their own.
#[test]
fn tools_are_not_compared_twice() {
    for name in ["tools", "tools-at-a-rate"] {
        assert!(!has_section(&text(&edge_case(name), Format::Html), "latency"), "{name}");
    }
}

#[test]
fn dozens_of_scenarios_stay_small_and_most_are_folded() {
    let page = text(&edge_case("many-scenarios"), Format::Html);
    assert!(page.len() < 40 * 60_000, "{} bytes for 40 scenarios", page.len());
    let open = part(section(&page, "latency"), "<h2", "<details>");
    assert_eq!(open.matches("<figure").count(), 4);
    let open = part(section(&page, "seconds"), "<h2", "<details>");
    assert_eq!(open.matches("<h3").count(), 3);
    assert_eq!(section(&page, "seconds").matches("<details>").count(), 37);
}
