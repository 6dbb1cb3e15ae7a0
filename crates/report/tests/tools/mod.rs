//! What each tool says, in every format.

use super::*;

const FOR_PEOPLE: [Format; 3] = [Format::Terminal, Format::Markdown, Format::Html];

fn at_width(width: u16) -> String {
    let text = render(&edge_case("tools"), Format::Terminal, &Style { colour: false, width });
    part(&text, "What each tool says", "Failed trials").to_owned()
}

#[test]
fn in_a_terminal() {
    insta::assert_snapshot!("in_a_terminal_at_100_columns", at_width(100));
    insta::assert_snapshot!("in_a_terminal_at_64_columns", at_width(64));
}

#[test]
fn in_markdown() {
    let text = text(&edge_case("tools"), Format::Markdown);
    insta::assert_snapshot!(part(&text, "## What each tool says", "## Failed trials"));
}

#[test]
fn in_html() {
    let page = text(&edge_case("tools"), Format::Html);
    insta::assert_snapshot!(part(
        &page,
        "<section aria-labelledby=\"tools\"",
        "<section aria-labelledby=\"resources\""
    ));
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
    let schema = schema();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    let go = &document["tools"][0];
    assert_eq!(keys(go), keys(&schema["$defs"]["ToolsFinding"]["properties"]));
    assert_eq!(keys(&go["rows"][0]), keys(&schema["$defs"]["ToolRow"]["properties"]));
    insta::assert_snapshot!(serde_json::to_string_pretty(&serde_json::json!({ "wrk": go["rows"][2] })).expect("text"));
}

#[test]
fn every_scenario_of_another_tool_is_headed_by_it() {
    for format in FOR_PEOPLE {
        let text = text(&edge_case("tools"), format);
        assert!(text.contains("Hello · by wrk 4.1.0") && text.contains("Hello · by k6 1.8.1"), "{format:?}");
        assert!(!text.contains("Hello · by tolok"), "{format:?}");
    }
}

#[test]
fn a_wire_that_nobody_counted_is_not_spoken_of_as_referee() {
    let [with, without] = ["tools", "tools-at-a-rate"].map(|name| text(&edge_case(name), Format::Html));
    assert!(with.contains("is referee") && with.contains("what crossed the wire</text>"));
    assert!(!without.contains("is referee") && !without.contains("what crossed the wire</text>"));
    assert!(!without.contains("counted, of the wire"), "nor has it a column");
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
    assert_eq!(page.matches("p99 ms, from the planned instant").count(), 2, "tolok and oha");
    assert_eq!(page.matches("p99 ms, from the moment of sending").count(), 2, "k6 and hey");
    assert!(text(&edge_case("tools"), Format::Html).contains("p99 ms, closed loop, with samples that the tool added"));
}

#[test]
fn what_no_tool_tells_is_not_called_accounted_for() {
    let page = text(&edge_case("tools"), Format::Html);
    let seen = part(&page, "<th scope=\"row\">Every request is accounted for", "</tr>");
    assert!(seen.contains("none of 14 cases flagged; of 11 cases the tool does not tell"), "{seen}");
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
    assert!(page.contains(&format!("! no</td><th scope=\"row\">{rule}</th><td>1 of 14 cases flagged")));
    assert!(text(&edge_case("tools"), Format::Html).contains(&format!("✓ yes</td><th scope=\"row\">{rule}")));
}
