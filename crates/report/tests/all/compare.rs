//! Comparisons of invented runs in every format.

use crate::invented::two_runs::{
    compared, compared_sides, drifted, elsewhere, over_time, ragged, regressed, several, unchanged, with_six_digits,
};
use crate::invented::{InventedRun, with_six_digits as with_six_digits_of_findings};
use crate::outline::{DEPTHS, outline};
use tolok_analysis::{CompareRefusal, CompareRequest, Difference, RunComparison, RunHistory};
use tolok_report::Style;
use tolok_report::data::{comparison as csv, history as csv_over_time, json, schema};
use tolok_report::document::{Depth, Document};
use tolok_report::documents::{compare, conditions, history, overlay};
use tolok_report::print::{markdown, piece, terminal};

fn found(runs: &(InventedRun, InventedRun)) -> RunComparison {
    let request = CompareRequest { allow_differences: true, ..CompareRequest::default() };
    with_six_digits(compared(runs, &request).unwrap())
}

pub fn every_document() -> Vec<Document> {
    let found = found(&regressed());
    let (history_of, differences) = (eight_days(), differences());
    let of_all =
        |depth| [compare(&found, false, depth), compare(&found, true, depth), history(&history_of, false, depth)];
    DEPTHS.into_iter().flat_map(of_all).chain([conditions(&differences)]).collect()
}

fn document(runs: &(InventedRun, InventedRun), depth: Depth) -> String {
    outline(&compare(&found(runs), false, depth))
}

#[test]
fn a_change_of_a_pair_on_a_page() {
    insta::assert_snapshot!(document(&regressed(), Depth::Page));
}

#[test]
fn several_runs_of_each_on_a_terminal() {
    let sides = [several(3, 0.01, 1.0, 1), several(3, 0.01, 0.85, 4)];
    let found = compared_sides(sides.each_ref().map(Vec::as_slice), &CompareRequest::default()).unwrap();
    insta::assert_snapshot!(outline(&compare(&with_six_digits(found), false, Depth::Short)));
}

/// Eight runs; from the fifth on, Go is slower by an eighth and has another build. One more run has another scale.
fn eight_days() -> RunHistory {
    let mut runs = [several(4, 0.008, 1.0, 1), several(5, 0.008, 0.88, 5)].concat();
    runs[7].plan.scale = 0.5;
    over_time(&runs, &CompareRequest::default()).unwrap()
}

#[test]
fn a_history_on_a_terminal() {
    insta::assert_snapshot!(outline(&history(&eight_days(), false, Depth::Short)));
}

#[test]
fn a_history_on_a_page_has_charts_and_folds_all_figures_away() {
    let found = eight_days();
    let page = piece(&history(&found, false, Depth::Page));
    let charts: Vec<&str> = page.split("<figure").skip(1).collect();
    assert_eq!(charts.len(), 7, "main figures and CPU time of three scenarios");
    let marks = |chart: &str| chart.matches("a new level from 2026-11-25-api-000005 on").count();
    let all: Vec<usize> = charts.iter().map(|chart| marks(chart)).collect();
    let told: usize = found.series.iter().map(|series| series.changes.len()).sum();
    assert!(all.iter().sum::<usize>() >= 4 && all.iter().sum::<usize>() <= told, "{all:?} of {told}");
    assert!(page.contains("<summary>All 31 figures</summary>"), "{page}");
}

#[test]
fn a_history_in_csv_says_at_which_runs_a_level_begins() {
    let text = csv_over_time(&eight_days());
    let begins: Vec<&str> = text.lines().filter(|line| line.ends_with(",2,true")).collect();
    let is_go = |line: &&str| line.starts_with("2026-11-25-api-000005,") && line.contains("go/nethttp");
    assert!(begins.iter().any(is_go), "{begins:?}");
    let columns = text.lines().next().unwrap().split(',').count();
    assert!(text.lines().all(|line| line.split(',').count() == columns), "{text}");
}

#[test]
fn what_may_not_be_ranked_in_a_comment() {
    insta::assert_snapshot!(document(&ragged(), Depth::Full));
}

#[test]
fn other_conditions_on_a_terminal() {
    insta::assert_snapshot!(document(&elsewhere(), Depth::Short));
}

#[test]
fn a_machine_that_shifted() {
    let printed = terminal(&compare(&found(&drifted()), false, Depth::Short), &Style::default());
    assert!(printed.contains("shift of the machine, by the ceiling Minimal server"), "{printed}");
}

#[test]
fn verbose_has_every_figure() {
    let found = found(&unchanged());
    let [short, all] = [false, true].map(|is_all| terminal(&compare(&found, is_all, Depth::Short), &Style::default()));
    assert!(short.contains("without a clear change: --verbose") && !all.contains("--verbose"), "{all}");
    assert!(all.lines().count() > short.lines().count());
}

#[test]
fn in_csv() {
    insta::assert_snapshot!(csv(&found(&ragged())).replace("\r\n", "\n"));
}

#[test]
fn csv_has_as_many_fields_in_every_line_as_names_of_columns() {
    // Fields may be quoted, but none of these runs has a quote inside a field.
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
fn json_has_every_property_that_the_schema_requires() {
    let value: serde_json::Value = serde_json::from_str(&json(&found(&regressed()))).unwrap();
    for name in schema::<RunComparison>()["required"].as_array().unwrap() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{name}");
    }
}

fn differences() -> Vec<Difference> {
    match compared(&elsewhere(), &CompareRequest::default()) {
        Err(CompareRefusal::Conditions(differences)) => differences,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_lists_all_conditions_with_both_values() {
    insta::assert_snapshot!(outline(&conditions(&differences())));
}

#[test]
fn no_line_is_wider_than_asked() {
    for runs in [regressed(), drifted(), elsewhere(), ragged()] {
        let document = compare(&found(&runs), true, Depth::Short);
        for width in [64, 80, 100, 140] {
            let text = terminal(&document, &Style { colour: false, width });
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or("");
            assert!(widest.chars().count() <= usize::from(width), "at {width}: {widest:?}");
        }
    }
}

#[test]
fn a_comment_folds_away_what_is_not_the_verdict() {
    let comment = markdown(&compare(&found(&regressed()), false, Depth::Full));
    assert!(comment.starts_with("## Changed between these two runs\n\n6 figures are worse by 3% or more"), "{comment}");
    assert!(comment.contains("<details><summary>All 23 figures</summary>"), "{comment}");
}

#[test]
fn what_a_server_is_called_stays_text() {
    let (before, mut after) = regressed();
    after.run.programs[0].version = "<script>alert(1)</script>".to_owned();
    let page = piece(&compare(&found(&(before, after)), false, Depth::Page));
    assert!(!page.contains("<script>") && page.contains("&lt;script&gt;alert(1)"), "{page}");
}

#[test]
fn several_runs_over_each_other() {
    let (before, mut after) = regressed();
    after.plan.scenarios[1].load.duration_s = 10.0;
    let findings = [before, after].map(|run| with_six_digits_of_findings(run.findings()));
    insta::assert_snapshot!(piece(&overlay(&findings.each_ref())));
}

#[test]
fn runs_without_a_common_scenario_are_not_laid_over_each_other() {
    let (before, mut after) = regressed();
    after.plan.scenarios.iter_mut().for_each(|scenario| scenario.load.duration_s = 10.0);
    let findings = [before, after].map(|run| run.findings());
    let page = piece(&overlay(&findings.each_ref()));
    assert!(page.contains("These runs share no scenario"), "{page}");
    assert!(!page.contains("<svg viewBox=\"0 0 352"), "{page}");
}
