//! Every format of comparisons of invented runs.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;

use invented::two_runs::{compared, drifted, elsewhere, ragged, regressed, unchanged, with_six_digits};
use invented::{InventedRun, with_six_digits as with_six_digits_of_findings};
use tolok_analysis::{CompareRefusal, CompareRequest, RunComparison};
use tolok_report::Style;
use tolok_report::compare::{conditions, html, markdown, text};
use tolok_report::data::{comparison as csv, json, schema};
use tolok_report::overlay;

fn found(runs: &(InventedRun, InventedRun)) -> RunComparison {
    let request = CompareRequest { allow_differences: true, ..CompareRequest::default() };
    with_six_digits(compared(runs, &request).unwrap())
}

fn at_width(runs: &(InventedRun, InventedRun), width: u16, is_all: bool) -> String {
    text(&found(runs), &Style { colour: false, width }, is_all)
}

#[test]
fn a_regression_at_100_columns() {
    insta::assert_snapshot!(at_width(&regressed(), 100, false));
}

#[test]
fn a_regression_at_64_columns() {
    insta::assert_snapshot!(at_width(&regressed(), 64, false));
}

#[test]
fn all_figures_of_two_runs_of_the_same() {
    insta::assert_snapshot!(at_width(&unchanged(), 100, true));
}

#[test]
fn a_machine_that_shifted() {
    insta::assert_snapshot!(at_width(&drifted(), 100, false));
}

#[test]
fn other_conditions_that_were_allowed() {
    insta::assert_snapshot!(at_width(&elsewhere(), 100, false));
}

#[test]
fn what_may_not_be_ranked() {
    insta::assert_snapshot!(at_width(&ragged(), 80, false));
}

#[test]
fn a_comment_on_a_pull_request() {
    insta::assert_snapshot!(markdown(&found(&regressed())));
}

#[test]
fn a_comment_with_what_cannot_be_told() {
    insta::assert_snapshot!(markdown(&found(&ragged())));
}

#[test]
fn in_csv() {
    insta::assert_snapshot!(csv(&found(&ragged())).replace("\r\n", "\n"));
}

#[test]
fn csv_has_as_many_fields_in_every_line_as_names_of_columns() {
    // What no field of these runs has in it is a quote.
    let fields = |line: &str| {
        let mut is_quoted = false;
        line.chars()
            .filter(|letter| {
                is_quoted ^= *letter == '"';
                *letter == ',' && !is_quoted
            })
            .count()
    };
    for runs in [regressed(), ragged()] {
        let text = csv(&found(&runs));
        let mut lines = text.lines();
        let columns = fields(lines.next().unwrap());
        assert!(lines.all(|line| fields(line) == columns));
    }
}

#[test]
fn in_json() {
    let mut found = found(&ragged());
    found.scenarios[0].cases.truncate(1);
    insta::assert_snapshot!(json(&found));
}

#[test]
fn json_has_every_property_that_the_schema_requires() {
    let value: serde_json::Value = serde_json::from_str(&json(&found(&regressed()))).unwrap();
    for name in schema::<RunComparison>()["required"].as_array().unwrap() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{name}");
    }
}

#[test]
fn a_refusal_lists_all_conditions_with_both_values() {
    let Err(CompareRefusal::Conditions(differences)) = compared(&elsewhere(), &CompareRequest::default()) else {
        panic!("not refused")
    };
    insta::assert_snapshot!(conditions(&differences, 80));
}

#[test]
fn no_line_is_wider_than_asked() {
    for runs in [regressed(), drifted(), elsewhere(), ragged()] {
        for width in [64, 80, 100, 140] {
            let text = at_width(&runs, width, true);
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or("");
            assert!(widest.chars().count() <= usize::from(width), "at {width}: {widest:?}");
        }
    }
}

#[test]
fn colour_adds_codes_and_nothing_else() {
    let found = found(&regressed());
    let coloured = text(&found, &Style { colour: true, width: 100 }, false);
    assert!(coloured.contains("\u{1b}[33m"));
    let codes = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m"];
    let plain = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(plain, text(&found, &Style { colour: false, width: 100 }, false));
}

#[test]
fn a_piece_of_a_page() {
    insta::assert_snapshot!(html(&found(&elsewhere())));
}

#[test]
fn what_a_server_is_called_stays_text() {
    let (before, mut after) = regressed();
    after.run.programs[0].version = "<script>alert(1)</script>".to_owned();
    let page = html(&found(&(before, after)));
    assert!(!page.contains("<script>") && page.contains("&lt;script&gt;alert(1)"), "{page}");
}

#[test]
fn several_runs_over_each_other() {
    let (before, mut after) = regressed();
    after.plan.scenarios[1].load.duration_s = 10.0;
    let findings = [before, after].map(|run| with_six_digits_of_findings(run.findings()));
    insta::assert_snapshot!(overlay::html(&findings.each_ref()));
}

#[test]
fn runs_without_a_common_scenario_are_not_laid_over_each_other() {
    let (before, mut after) = regressed();
    after.plan.scenarios.iter_mut().for_each(|scenario| scenario.load.duration_s = 10.0);
    let findings = [before, after].map(|run| run.findings());
    let page = overlay::html(&findings.each_ref());
    assert!(page.contains("These runs share no scenario"), "{page}");
    assert!(!page.contains("<svg viewBox=\"0 0 352"), "{page}");
}
