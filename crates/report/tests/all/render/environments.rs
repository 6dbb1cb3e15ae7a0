//! Limits, links and unavailable isolation, in every format.

use super::*;

#[test]
fn in_markdown() {
    let text = text(&edge_case("boxed"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "## Resources", "## Machine and versions"));
}

#[test]
fn in_csv() {
    let text = text(&edge_case("boxed"), Format::Csv);
    let limits =
        ["scenario", "subject", "environment", "cpu_mode", "memory_limit_bytes", "memory_source", "cpu_source"];
    let trials =
        ["trials_planned", "trials_scored", "trials_disturbed", "reruns", "throttled_periods", "quota_periods"];
    let link =
        ["link_backend", "congestion", "link_packets_to_client", "link_lateness_s_max", "link_rate_offered_to_client"];
    let unscored = ["unscored_of_scored", "unscored_instructions_per_good", "flags"];
    let found = [&limits[..], &trials, &link, &unscored].map(|names| columns(&text, names));
    insta::assert_snapshot!(found.join("\n\n"));
}

#[test]
fn in_json() {
    let document: serde_json::Value = serde_json::from_str(&text(&edge_case("boxed"), Format::Json)).expect("JSON");
    let [first, second] = [&document["scenarios"][0], &document["scenarios"][1]];
    let parts = serde_json::json!({
        "environment": second["environment"],
        "link": second["link"],
        "case": { "link": second["cases"][0]["link"], "resources": second["cases"][0]["resources"] },
        "disturbed": first["cases"][0]["disturbed"],
        "unscored_diagnoses": first["unscored_diagnoses"],
        "isolation": document["isolation"],
    });
    insta::assert_snapshot!(in_short(parts));
}

#[test]
fn what_was_counted_unscored_is_marked_so_in_every_format() {
    // Observations, a paper's tables, a card and test cases contain nothing unscored.
    let has_none = |format: &Format| matches!(format, Format::Tidy | Format::Latex | Format::Card | Format::Junit);
    for format in Format::ALL.into_iter().filter(|format| !has_none(format)) {
        let [with, without] = ["boxed", "ordinary"].map(|name| text(&edge_case(name), format));
        // Its instructions per response, as each format writes them.
        let figure = if matches!(format, Format::Csv | Format::Json) { "52000" } else { "52.0k" };
        let before = with.find(figure).unwrap_or_else(|| panic!("{format:?} has no {figure}"));
        assert!(with[..before].to_lowercase().contains("unscored"), "{format:?}");
        assert!(matches!(format, Format::Csv | Format::Json) || !without.contains("nscored"), "{format:?}");
    }
}

#[test]
fn a_column_of_throttled_periods_stands_only_where_there_is_a_quota() {
    let page = text(&edge_case("boxed"), Format::Html);
    let tables: Vec<&str> = page.split("aria-label=\"Figures of ").skip(1).collect();
    assert_eq!(tables.len(), 2);
    let has_column = |table: &str| table.split("</thead>").next().is_some_and(|head| head.contains("throttled"));
    assert_eq!(tables.iter().map(|table| has_column(table)).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn every_table_heads_its_memory_by_what_it_is() {
    for (name, words) in [("ordinary", "anonymous + kernel"), ("unprivileged", "PSS")] {
        let found = edge_case(name);
        let terminal = verbose(&found, &Style::default()).replace("\n  ", " ");
        assert!(terminal.contains(&format!("MiB {words}")), "{name}");
        assert!(text(&found, Format::Markdown).contains(&format!("| memory ({words}), MiB |")), "{name}");
        assert!(text(&found, Format::Html).contains(&format!("memory ({words}), MiB</th>")), "{name}");
    }
}

#[test]
fn what_could_not_be_had_is_said_by_every_format_that_people_read() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(&edge_case("unprivileged"), format).replace("\n    ", " ");
        assert!(text.to_lowercase().contains("no control groups, so resources are counted less exactly"), "{format:?}");
    }
}
