//! The factors of a study.

use super::*;

#[test]
fn in_a_terminal() {
    let text = verbose(&edge_case("factors"), &Style::default());
    insta::assert_snapshot!(part(&text, "What changes it", "1,000 rows of 40 fields · pool5-rtt0ms: closed"));
}

#[test]
fn one_factor_in_a_narrow_terminal() {
    let text = verbose(&edge_case("one-factor"), &Style { colour: false, width: 64 });
    insta::assert_snapshot!(part(&text, "What changes it", "1,000 rows of 40 fields · pool16-rtt0ms"));
}

#[test]
fn in_markdown() {
    let text = text(&edge_case("one-factor"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "## What changes it", "## 1,000 rows of 40 fields · "));
}

#[test]
fn in_csv() {
    let columns = columns(
        &text(&edge_case("one-factor"), Format::Csv),
        &[
            "role",
            "scenario",
            "workload",
            "subject",
            "goodput_rps",
            "factor",
            "factor_unit",
            "factor_value",
            "of_lowest",
            "of_lowest_low",
            "bottleneck",
            "faster_above",
            "crossing_at",
            "crossing_at_low",
            "crossing_at_high",
            "crossing_sure",
            "share",
            "share_low",
            "share_high",
            "range_ratio",
        ],
    );
    let lines: Vec<&str> = columns.lines().filter(|line| !line.starts_with("subject")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn in_json() {
    let found = edge_case("one-factor");
    insta::assert_json_snapshot!((
        &found.sensitivity[0].levels,
        &found.sensitivity[0].lines[0],
        &found.sensitivity[0].crossovers,
        &found.variance
    ));
}

/// With many scenarios, bottlenecks are compared as words in a table, and their figures are folded away.
#[test]
fn bottlenecks_of_many_scenarios_stand_in_a_table() {
    let many = text(&edge_case("factors"), Format::Html);
    let table = part(&many, "<h2 id=\"limits\"", "<summary>The figures that say so</summary>");
    assert!(table.contains("aria-label=\"Bottlenecks\""), "{table}");
    let few = text(&edge_case("one-factor"), Format::Html);
    assert!(few.contains("<h2 id=\"limits\"") && !few.contains("The figures that say so"));
}
