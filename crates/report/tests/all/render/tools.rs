//! Each tool's report, in every format.

use super::*;

const FOR_PEOPLE: [Format; 3] = [Format::Terminal, Format::Markdown, Format::Html];

fn at_width(width: u16) -> String {
    let text = verbose(&edge_case("tools"), &Style { colour: false, width });
    part(&text, "What each tool says", "\nHello: closed loop").to_owned()
}

#[test]
fn in_a_terminal() {
    insta::assert_snapshot!("in_a_terminal_at_64_columns", at_width(64));
}

#[test]
fn in_markdown() {
    let text = text(&edge_case("tools"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "## What each tool says", "\n## Hello\n"));
}

#[test]
fn in_csv() {
    let text = text(&edge_case("tools"), Format::Csv);
    let said = ["scenario", "subject", "tool", "tool_versions", "wire_rps", "counted_of_wire", "latency_marks"];
    let cost = ["tool", "generator_cpu_s_per_good", "generator_cpu_of_own_tool", "subject_cpu_s_per_wire"];
    let little = ["tool", "latency_mean_s", "latency_max_s", "little", "trials_against_little", "flags"];
    let found = [&said[..], &cost, &little].map(|names| columns(&text, names));
    insta::assert_snapshot!(found.join("\n\n"));
}

#[test]
fn in_json() {
    let document: serde_json::Value = serde_json::from_str(&text(&edge_case("tools"), Format::Json)).expect("JSON");
    let schema = schema::<Findings>();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    let go = &document["tools"][0];
    assert_eq!(keys(go), keys(&schema["$defs"]["ToolsFinding"]["properties"]));
    assert_eq!(keys(&go["rows"][0]), keys(&schema["$defs"]["ToolRow"]["properties"]));
    insta::assert_snapshot!(in_short(serde_json::json!({ "wrk": go["rows"][2] })));
}

#[test]
fn every_scenario_of_another_tool_is_headed_by_it() {
    for format in FOR_PEOPLE {
        let text = text(&edge_case("tools"), format);
        assert!(text.contains("Hello · by wrk 4.1.0") && text.contains("Hello · by k6 1.8.1"), "{format:?}");
        assert!(!text.contains("Hello · by tolok"), "{format:?}");
    }
}

/// The comparison of tools is what the study is about, so it comes before the scenarios.
#[test]
fn the_tools_come_before_their_scenarios() {
    for format in FOR_PEOPLE {
        let text = text(&edge_case("tools"), format);
        let place = |words: &str| text.rfind(words).unwrap_or_else(|| panic!("{format:?} has {words}"));
        assert!(place("What each tool says") < place("Bottlenecks"), "{format:?}");
    }
}

#[test]
fn scenarios_of_one_subject_share_a_table_and_lose_no_case() {
    let findings = edge_case("tools-at-a-rate");
    for format in FOR_PEOPLE {
        let text = text(&findings, format).replace("&#x2f;", "/");
        for tool in ["tolok", "k6", "hey", "oha"] {
            assert!(text.contains(&format!("Go net/http by {tool}")), "{format:?} {tool}");
        }
        assert!(!text.contains("there is nothing to compare it with") && !text.contains("Hello · by k6"), "{format:?}");
        assert!(text.contains("Go net/http by k6: k6 dropped up to 8%"), "{format:?}");
    }
    let csv = text(&findings, Format::Csv);
    assert_eq!(csv.lines().count(), 1 + findings.scenarios.len(), "a line for each case");
}

/// With several subjects, they are compared within the scenarios of one tool.
#[test]
fn scenarios_of_several_subjects_stay_apart() {
    let text = verbose(&edge_case("tools"), &Style::default());
    assert!(!text.contains("Go net/http by "), "{text}");
    assert!(part(&text, "Hello · by wrk 4.1.0:", "Bottlenecks").contains("ceiling: Minimal server"));
}

#[test]
fn what_holds_in_several_tables_is_said_once() {
    for format in FOR_PEOPLE {
        let text = text(&edge_case("tools"), format);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words.matches("After the run it adds samples").count(), 1, "{format:?}");
        assert!(!words.contains("not checked, because wrk does not report"), "{format:?}");
        assert!(words.contains("Not checked, because the tool does not report it: whether"), "{format:?}");
    }
}

/// `ab 2.3 (apache2-utils 2.4.71)` is too long for a table or a scenario's heading.
#[test]
fn the_package_of_a_tool_is_named_once() {
    let mut findings = edge_case("tools-at-a-rate");
    for row in findings.tools.iter_mut().flat_map(|tools| &mut tools.rows).filter(|row| row.tool == "hey") {
        row.versions = vec!["0.1.5 (of a package)".to_owned()];
    }
    for format in FOR_PEOPLE {
        let text = text(&findings, format);
        assert!(text.contains("In full: hey 0.1.5 (of a package)."), "{format:?}");
        assert_eq!(text.matches("(of a package)").count(), 1, "{format:?}");
    }
}

#[test]
fn a_wire_that_nobody_counted_is_not_spoken_of_as_referee() {
    let [with, without] = ["tools", "tools-at-a-rate"].map(|name| text(&edge_case(name), Format::Html));
    assert!(with.contains("the referee") && with.contains("what crossed the wire</text>"));
    assert!(!without.contains("the referee") && !without.contains("what crossed the wire</text>"));
    assert!(!without.contains("counted, of the wire"), "nor is there a column");
}

#[test]
fn a_study_of_one_tool_says_nothing_of_tools() {
    for format in FOR_PEOPLE {
        assert!(!text(&ordinary().findings(), format).contains("What each tool says"), "{format:?}");
    }
}

#[test]
fn percentiles_are_headed_by_when_the_tool_begins_to_count() {
    let page = text(&edge_case("tools-at-a-rate"), Format::Html);
    assert_eq!(page.matches("p50 and p99 in the open loop as each tool measures them").count(), 1, "one table for all");
    let mut alone = edge_case("tools-at-a-rate");
    alone.tools.clear();
    let page = text(&alone, Format::Html);
    assert_eq!(page.matches("p50 and p99 from the planned instant").count(), 2, "tolok and oha");
    assert_eq!(page.matches("p50 and p99 from the moment of sending").count(), 2, "k6 and hey");
    assert!(text(&edge_case("tools"), Format::Html).contains("in a closed loop, with samples that the tool added"));
}

#[test]
fn what_no_tool_tells_is_not_called_accounted_for() {
    let page = text(&edge_case("tools"), Format::Html);
    let seen = part(&page, "<th scope=\"row\">Every request is accounted for", "</tr>");
    let expected = "2 of 13 cases passed; unknown for 11 cases: the tool does not report what became of every request";
    assert!(seen.contains(expected), "{seen}");
}

#[test]
fn a_wire_that_contradicts_is_a_check_that_failed() {
    let mut run = invented::tools::seven_tools();
    let Some(tolok_model::Outcome::Completed(trial)) = run.trials.get_mut(7).map(|trial| &mut trial.outcome) else {
        panic!("a trial of Go by tolok")
    };
    trial.wire.as_mut().expect("counted").answers_2xx -= 20_000;
    let page = text(&run.findings(), Format::Html);
    let rule = "Each tool counted what crossed the wire";
    assert!(failed_checks(&page).contains(&rule.to_owned()));
    assert_eq!(seen(&page, rule), "1 of 14 cases flagged");
    assert!(!failed_checks(&text(&edge_case("tools"), Format::Html)).contains(&rule.to_owned()));
}
