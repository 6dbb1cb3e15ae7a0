//! A row per observation.

use tolok_analysis::TrialOutcome;

use super::*;

#[test]
fn rows_of_servers() {
    let text = text(&edge_case("two-blocks"), Format::Tidy);
    insta::assert_snapshot!(text.replace("\r\n", "\n").lines().take(40).collect::<Vec<_>>().join("\n"));
}

#[test]
fn rows_of_programs() {
    let text = text(&edge_case("programs-at-odds"), Format::Tidy);
    let names = ["scenario", "subject", "variant", "block", "trial", "metric", "value", "unit", "scored", "reason"];
    let rows = columns(&text, &names);
    let shown = |row: &&str| row.contains("wall_s") || row.starts_with("scenario");
    insta::assert_snapshot!(rows.lines().filter(shown).collect::<Vec<_>>().join("\n"));
}

/// The report's figures follow from the rows alone.
#[test]
fn medians_can_be_made_again_from_the_rows() {
    for (name, findings) in every_edge_case() {
        let rows = columns(&text(findings, Format::Tidy), &["scenario", "label", "role", "metric", "scored", "value"]);
        for scenario in &findings.scenarios {
            for case in &scenario.cases {
                let Some(goodput) = &case.goodput_rps else { continue };
                let wanted =
                    format!("{} | {} | subject | goodput_rps | true | ", scenario.id, case.title.replace('"', ""));
                let values = rows.lines().filter_map(|row| row.strip_prefix(&wanted));
                let values: Vec<f64> = values.map(|value| value.parse().unwrap()).collect();
                assert_eq!(values, goodput.trials, "{name}: {wanted}");
            }
        }
    }
}

#[test]
fn no_trial_is_a_gap() {
    for (name, findings) in every_edge_case() {
        let of_servers = findings.scenarios.iter().flat_map(|scenario| &scenario.cases);
        let of_servers = of_servers.map(|case| (case.trials.as_slice(), case.trials_scored, case.failures.len()));
        let of_programs = findings.programs.iter().flat_map(|program| &program.cases);
        let of_programs = of_programs.map(|case| (case.trials.as_slice(), case.trials_scored, case.failures.len()));
        for (trials, scored, failed) in of_servers.chain(of_programs) {
            let count = |outcome| trials.iter().filter(|trial| trial.outcome == outcome).count();
            assert_eq!(count(TrialOutcome::Scored), scored as usize, "{name}");
            assert_eq!(count(TrialOutcome::Failed), failed, "{name}");
            assert!(
                trials.iter().all(|trial| trial.figures.is_empty() == (trial.outcome == TrialOutcome::Failed)),
                "{name}"
            );
        }
    }
}

#[test]
fn every_row_has_a_unit() {
    for (name, findings) in every_edge_case() {
        let rows = columns(&text(findings, Format::Tidy), &["metric", "unit"]);
        assert!(rows.lines().all(|row| !row.ends_with("| ")), "{name}");
    }
}
