//! What is said of pairs: tiers, the A/A pair, power, the rule for stopping.

use super::*;

#[test]
fn in_markdown() {
    let text = text(&edge_case("aa-told-apart"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "# Which", "## Resources"));
}

#[test]
fn in_html() {
    let page = text(&edge_case("aa-told-apart"), Format::Html);
    insta::assert_snapshot!("pairs_in_html", part(&page, "<details>\n<summary>All pairs</summary>", "</details>"));
    insta::assert_snapshot!(
        "programs_in_html",
        part(&page, "<h2 id=\"programs\"", "<section aria-labelledby=\"failures\"")
    );
    assert!(page.contains("<br>The run was to end once every ratio was sure to 5.0% to either side"));
    assert!(
        page.contains("<li class=\"warn\">! <b>A&#x2f;A pair</b>: Go net&#x2f;http, entered twice, was told apart")
    );
    let differences = part(&page, "goodput of the first over that of the second", "</svg>");
    assert!(differences.contains("<rect class=\"same\"") && differences.contains("<path class=\"all\""));
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
    insta::assert_snapshot!(serde_json::to_string_pretty(&parts).expect("text"));
}
