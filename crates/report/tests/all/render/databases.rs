//! Databases in every format.

use super::*;

#[test]
fn in_a_narrow_terminal() {
    let style = Style { colour: false, width: 64 };
    let text = verbose(&edge_case("database"), &style);
    insta::assert_snapshot!(part(&text, "1,000 rows of 40", "20 queries"));
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(part(&text(&edge_case("database"), Format::Markdown), "## 1,000 rows", "\n## "));
}

#[test]
fn in_html() {
    let page = text(&edge_case("database"), Format::Html);
    assert!(
        page.contains("! times shortened to 10%")
            && page.contains("<p class=\"warn\">! Times shortened to 10%, and to no less than 100 ms")
    );
}

#[test]
fn in_csv() {
    let csv = |name: &str, names: &[&str]| columns(&text(&edge_case(name), Format::Csv), names);
    let limits = ["scenario", "subject", "scale", "bottleneck", "bottleneck_sentence", "goodput_below_rps"];
    let asked = ["database", "database_version", "database_shares_cpus_with", "database_rtt_s", "rows_per_answer"];
    let rows = ["rows_per_s", "subject_cpu_s_per_row", "database_cpu_s_per_row", "database_busy", "flags"];
    let pool = ["pool_size", "pool_wait_s_mean", "database_refused_connections", "database_link_lateness_s_max"];
    let counter = ["counter_asked", "counter_grew", "counter_wrong_answers", "counter_worst"];
    let outage = ["outage_gone_at_s", "outage_back_at_s", "outage_statuses", "outage_never_answered_error"];
    let mut found: Vec<String> =
        [&limits[..], &asked, &rows, &pool, &counter].map(|names| csv("database", names)).to_vec();
    found.push(csv("outage", &outage));
    insta::assert_snapshot!(found.join("\n\n"));
}

#[test]
fn in_json() {
    let document: serde_json::Value = serde_json::from_str(&text(&edge_case("database"), Format::Json)).expect("JSON");
    let [hello, rows] = [&document["scenarios"][0], &document["scenarios"][1]];
    assert_eq!(
        (&hello["database"], &hello["cases"][0]["database"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    let case = &rows["cases"][0];
    let parts = serde_json::json!({
        "scale": document["run"]["scale"],
        "asked": rows["database"],
        "case": { "bottleneck": case["bottleneck"], "database": case["database"] },
    });
    insta::assert_snapshot!(in_short(parts));
}

/// Database columns appear only in scenarios with a database.
#[test]
fn a_scenario_that_asks_none_shows_nothing_of_it() {
    let found = edge_case("database");
    let page = text(&found, Format::Html);
    let hello = part(&page, "<h3>Hello <span", "<h3>1,000 rows");
    assert!(!hello.contains("database") && !hello.contains("rows/s"), "{hello}");
    let terminal = verbose(&found, &Style::default());
    let hello = part(&terminal, "Hello:", "1,000 rows");
    assert!(!hello.contains("database") && !hello.contains("rows/s"), "{hello}");
    let ordinary = text(&ordinary().findings(), Format::Markdown);
    assert!(!ordinary.contains("rows/s") && !ordinary.contains("The database meanwhile"));
}

#[test]
fn every_format_for_people_names_the_bottleneck_and_that_one_cpu_was_shared() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(&edge_case("database"), format).replace("\n    ", " ");
        for words in ["ottleneck", "ran on the same CPU 1 and used 92% together", "like the generator"] {
            assert!(text.replace("\n  ", " ").contains(words), "{format:?} lacks {words}");
        }
    }
}

#[test]
fn a_case_without_answers_has_a_word_or_a_bound_and_never_zero() {
    let mut run = invented::InventedRun::new(5);
    run.scenario("json-c64", "json", "JSON", 64).steady(invented::GO, 30_000.0);
    run.change(|_, trial| (trial.goodput_rps, trial.ledger.good) = (0.0, 0));
    let found = run.findings();
    assert!(verbose(&found, &Style::default()).contains("<0.500"), "one answer in a window of 2 s");
    assert!(text(&found, Format::Markdown).contains("| \\<0.500 |"));
    assert!(text(&found, Format::Html).contains("&lt;0.500"));
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        assert!(text(&edge_case("database"), format).contains("hung"), "{format:?}");
    }
}

#[test]
fn checks_look_at_counters_and_at_what_the_database_refused() {
    let page = text(&edge_case("database"), Format::Html);
    for rule in
        ["The database had CPUs of its own", "Every counter was exactly right", "The database refused no connection"]
    {
        assert!(failed_checks(&page).contains(&rule.to_owned()), "{rule}");
        assert!(!text(&ordinary().findings(), Format::Html).contains(rule), "{rule}");
    }
}

#[test]
fn a_ceiling_out_of_sight_does_not_squeeze_the_bars() {
    let page = text(&edge_case("database"), Format::Html);
    let chart = part(&page, "1,000 rows of 40 fields: correct responses per second", "</svg>");
    assert!(chart.contains("machine limit 2.37k, beyond the scale") && !chart.contains("class=\"ceil\""), "{chart}");
}
