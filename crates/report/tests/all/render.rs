//! Invented findings in every format.

mod advice;
mod brief;
mod card;
mod charts;
mod checks;
mod clients;
mod courses;
mod databases;
mod environments;
mod factors;
mod frame;
mod hostile;
mod html;
mod judge;
mod judgement;
mod latex;
mod layout;
mod mixed;
mod objectives;
mod programs;
mod schema_of_json;
mod terminal;
mod tidy;
mod tools;

use std::sync::OnceLock;

use crate::edge_cases;
use crate::invented::{self, ordinary, with_six_digits};
use tolok_analysis::Findings;
use tolok_report::data::schema;
use tolok_report::document::Depth;
use tolok_report::{Format, Style, documents, render, verbose};

/// The complete text of a format; for a terminal that is the verbose report.
fn text(findings: &Findings, format: Format) -> String {
    match format {
        Format::Terminal => verbose(findings, &Style::default()),
        _ => render(findings, format, &Style::default()),
    }
}

/// All edge cases, made once.
fn every_edge_case() -> &'static [(&'static str, Findings)] {
    static ALL: OnceLock<Vec<(&str, Findings)>> = OnceLock::new();
    ALL.get_or_init(edge_cases::all)
}

fn edge_case(name: &str) -> Findings {
    let found = every_edge_case().iter().find(|(known, _)| *known == name);
    with_six_digits(found.unwrap_or_else(|| panic!("there is no edge case {name}")).1.clone())
}

#[test]
fn a_report_pins_the_raw_data_that_it_is_of() {
    let mut findings = ordinary().findings();
    let hash = "5d0c7f6b9f1e3a48266f0d8c1b7a9e5d3f2c4b6a8091e7d5c3b1a2f4e6d8c0b9";
    assert!(!text(&findings, Format::Markdown).contains("tolok verify"), "older runs have no hash");
    findings.run.records_sha256 = Some(hash.to_owned());
    for format in [Format::Markdown, Format::Html, Format::Json] {
        assert!(text(&findings, format).contains(hash), "{format:?}");
    }
}

/// A page as text: everything but its charts.
#[test]
fn page() {
    let page = documents::run(&edge_case("one-scenario"), Depth::Page);
    insta::assert_snapshot!(tolok_report::print::markdown(&page));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(text(&ordinary().findings(), Format::Markdown));
}

/// The part of a page that begins with `from` and ends before `to`.
fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).expect("its beginning is there");
    let length = page[start..].find(to).expect("its end is there");
    &page[start..start + length]
}

/// The rules of a page's failed checks.
fn failed_checks(page: &str) -> Vec<String> {
    let rules = page.split("<th scope=\"row\">").filter_map(|rest| rest.split_once("</th><td>"));
    let failed = rules.filter(|(_, held)| held.starts_with("<b class=\"warn\">! no"));
    failed.map(|(rule, _)| rule.to_owned()).collect()
}

/// What a page shows as found by a check.
fn seen<'a>(page: &'a str, rule: &str) -> &'a str {
    let cells = part(page, &format!("<th scope=\"row\">{rule}</th>"), "</tr>");
    cells.rsplit("<td").next().unwrap_or_default().split(['>', '<']).nth(1).unwrap_or_default()
}

/// A JSON document with one element of each list.
fn in_short(mut document: serde_json::Value) -> String {
    fn shorten(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Array(items) => {
                items.truncate(1);
                items.iter_mut().for_each(shorten);
            }
            serde_json::Value::Object(fields) => fields.values_mut().for_each(shorten),
            _ => {}
        }
    }
    shorten(&mut document);
    serde_json::to_string_pretty(&document).expect("text")
}

/// Some columns of a CSV file, by name.
fn columns(csv: &str, names: &[&str]) -> String {
    let fields = |line: &str| {
        let (mut fields, mut is_quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => fields.push(String::new()),
                _ => fields.last_mut().expect("there is one from the start").push(letter),
            }
        }
        fields
    };
    let heading = fields(csv.lines().next().expect("a heading"));
    let place = |name: &&str| heading.iter().position(|known| known == name).unwrap_or_else(|| panic!("no {name}"));
    let places: Vec<usize> = names.iter().map(place).collect();
    let line = |line| {
        let fields = fields(line);
        assert_eq!(fields.len(), heading.len(), "{fields:?}");
        places.iter().map(|place| fields[*place].clone()).collect::<Vec<_>>().join(" | ")
    };
    csv.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn markdown_tables_have_the_same_number_of_cells_in_every_row() {
    for (name, findings) in every_edge_case() {
        let text = text(findings, Format::Markdown);
        let cells = |row: &str| row.replace("\\|", "").matches('|').count();
        let tables = text.split("\n\n").filter(|block| block.trim_start().starts_with('|'));
        for table in tables {
            let number = cells(table.trim_start().lines().next().unwrap());
            for row in table.trim().lines() {
                assert_eq!(cells(row), number, "{name}: {row}");
            }
        }
    }
}

#[test]
fn csv() {
    insta::assert_snapshot!(text(&with_six_digits(ordinary().findings()), Format::Csv));
}

#[test]
fn json_has_what_the_schema_requires_and_nothing_else() {
    let schema = schema::<Findings>();
    for (name, findings) in every_edge_case() {
        let document: serde_json::Value = serde_json::from_str(&text(findings, Format::Json)).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
        let mut expected = keys(&schema["properties"]);
        expected.retain(|key| key != "duel" || findings.duel.is_some());
        assert_eq!(keys(&document), expected, "{name}");
        assert_eq!(keys(&document["run"]), keys(&schema["$defs"]["RunFacts"]["properties"]), "{name}");
        for case in document["scenarios"].as_array().unwrap().iter().flat_map(|it| it["cases"].as_array().unwrap()) {
            assert_eq!(keys(case), keys(&schema["$defs"]["CaseFinding"]["properties"]), "{name}");
            assert_eq!(keys(&case["resources"]), keys(&schema["$defs"]["ResourcesFinding"]["properties"]), "{name}");
        }
        for scenario in document["scenarios"].as_array().unwrap() {
            let mut expected = keys(&schema["$defs"]["ScenarioFinding"]["properties"]);
            expected.retain(|key| key != "judged_by" || *name == "by-cpu");
            assert_eq!(keys(scenario), expected, "{name}");
            let environment = &schema["$defs"]["EnvironmentFinding"]["properties"];
            assert_eq!(keys(&scenario["environment"]), keys(environment), "{name}");
        }
        for program in document["programs"].as_array().unwrap() {
            assert_eq!(keys(program), keys(&schema["$defs"]["ProgramFinding"]["properties"]), "{name}");
            for case in program["cases"].as_array().unwrap() {
                assert_eq!(keys(case), keys(&schema["$defs"]["ProgramCaseFinding"]["properties"]), "{name}");
            }
        }
        assert_eq!(keys(&document["isolation"]), keys(&schema["$defs"]["IsolationFinding"]["properties"]), "{name}");
    }
}

#[test]
fn a_percentile_that_is_a_lower_bound_has_its_sign_in_tables() {
    let mut findings = edge_case("open-loop");
    let case = &mut findings.scenarios[0].cases[1];
    (case.figures.latency_p99_s, case.figures.latency_p99_at_least_s) = (None, Some(0.4));
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let shown = text(&findings, format);
        assert!(shown.contains("≥ 400") && shown.contains("≥ lower bound"), "{shown}");
    }
}
