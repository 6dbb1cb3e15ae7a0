//! Judgements on pairs: tiers, the noise check, power, the rule for stopping.

use super::*;

#[test]
fn in_markdown() {
    let text = text(&edge_case("aa-told-apart"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "# Which", "## Resources"));
}

#[test]
fn in_html() {
    let page = text(&edge_case("aa-told-apart"), Format::Html);
    assert!(page.contains("<br>Planned: 6 to 20 rounds, ending once every ratio is known to ±5%"));
    assert!(page.contains("All pairs of programs") && page.contains("Noise and resolution"));
    let differences = part(&page, "aria-label=\"JSON: ratios within rounds", "</svg>");
    assert!(differences.contains("<rect class=\"same\"") && differences.contains("<path class=\"ci\""));
}

#[test]
fn in_csv() {
    let text = text(&edge_case("aa-told-apart"), Format::Csv);
    let names = [
        "scenario",
        "role",
        "subject",
        "against_first",
        "tier",
        "aa_ratio",
        "aa_ratio_low",
        "aa_verdict",
        "blocks_needed",
    ];
    insta::assert_snapshot!(columns(&text, &names));
    let heading = text.lines().next().expect("a heading");
    assert!(heading.contains(",tier,aa_ratio,aa_ratio_low,aa_ratio_high,aa_verdict,blocks_needed,"), "{heading}");
}

#[test]
fn in_json() {
    let document: serde_json::Value =
        serde_json::from_str(&text(&edge_case("aa-told-apart"), Format::Json)).expect("JSON");
    let [server, program] = [&document["scenarios"][0], &document["programs"][0]];
    let parts = serde_json::json!({
        "stopping": document["run"]["stopping"],
        "noise_floor": server["noise_floor"],
        "power": server["power"],
        "comparison": server["comparisons"][1],
        "program": { "noise_floor": program["noise_floor"]["verdict"], "power": program["power"]["blocks_needed"] },
        "time": program["comparisons"][0]["wall"],
        "caution": document["cautions"][0],
    });
    insta::assert_snapshot!(in_short(parts));
}

#[test]
fn a_terminal_has_a_line_each_and_explains_their_words_once() {
    let text = verbose(&ordinary().findings(), &Style { width: 64, ..Style::default() });
    let power: Vec<&str> = text.lines().filter(|line| line.starts_with("  Resolution: ")).collect();
    assert_eq!(power.len(), 3, "{text}");
    for once in ["tier: same letter, no clear difference", "p99 in a closed loop", "generator: 1 dedicated CPU"] {
        assert_eq!(text.matches(once).count(), 1, "{once}");
    }
}

/// Two tables of closed loops with an open loop between them: the third must not be read like the second.
#[test]
fn what_a_column_means_is_said_again_where_another_table_meant_something_else() {
    let text = verbose(&edge_case("open-loop"), &Style::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: Vec<&str> = text.match_indices("p50 and p99").map(|(at, _)| &text[at..at + 16]).collect();
    assert_eq!(said, ["p50 and p99 from", "p50 and p99 in a"], "once for both open loops, and once for the closed one");
}
