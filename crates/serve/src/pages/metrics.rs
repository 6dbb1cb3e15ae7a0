//! Active runs in Prometheus' text format, for a team's existing dashboards.

use std::fmt::Write;

use tolok_analysis::Findings;
use tolok_store::RunFolder;

use crate::library::{Found, Library, State};
use crate::live::Live;

/// A figure of a run or of each of its cases: its name with the unit, and its meaning.
const RUN_FIGURES: [(&str, &str); 3] = [
    ("tolok_run_trials_planned", "Trials that the run has planned."),
    ("tolok_run_trials_done", "Trials that have a record."),
    ("tolok_run_left_seconds", "Estimated time to the end."),
];
const CASE_FIGURES: [(&str, &str); 2] = [
    (
        "tolok_case_goodput_per_second",
        "Correct responses per second so far. Nothing is judged before the run has ended.",
    ),
    ("tolok_case_latency_p99_seconds", "99th percentile of response times so far."),
];

/// A sample of a figure: its labels and its value.
type Line = (String, f64);

/// The figures of all active runs.
pub fn metrics(library: &Library) -> String {
    let (mut of_runs, mut of_cases): ([Vec<Line>; 3], [Vec<Line>; 2]) = Default::default();
    // Other runs are not read: there may be thousands.
    for found in library.all().into_iter().filter(|found| RunFolder::is_at_work(&found.path)) {
        // An unreadable run does not count as active.
        let Ok(card) = library.card(&found) else { continue };
        let live = Live::read(&found.path);
        if !matches!(library.state(&found, &card, live.as_ref()), Ok(State::Running)) {
            continue;
        }
        let labels = format!("run=\"{}\",title=\"{}\"", escaped(&found.id), escaped(&card.title));
        let left_s = live.and_then(|live| live.left_s);
        let values = [Some(card.planned as f64), Some(card.done as f64), left_s];
        for (lines, value) in of_runs.iter_mut().zip(values) {
            lines.extend(value.map(|value| (labels.clone(), value)));
        }
        if let Ok(analysed) = library.analysed(&found) {
            cases(&found, &analysed.findings, &mut of_cases);
        }
    }
    let mut text = String::new();
    for ((name, help), lines) in RUN_FIGURES.iter().zip(&of_runs).chain(CASE_FIGURES.iter().zip(&of_cases)) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (labels, value) in lines {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text
}

fn cases(found: &Found, findings: &Findings, lines: &mut [Vec<Line>; 2]) {
    for scenario in &findings.scenarios {
        for case in scenario.cases.iter().chain(&scenario.ceiling) {
            let [run, id, subject] = [&found.id, &scenario.id, &case.subject].map(|text| escaped(text));
            let labels = format!("run=\"{run}\",scenario=\"{id}\",subject=\"{subject}\"");
            let values = [
                case.shown_goodput_rps().map(|goodput| goodput.value),
                case.latency_p99_s.as_ref().map(|p99| p99.value),
            ];
            for (lines, value) in lines.iter_mut().zip(values) {
                lines.extend(value.map(|value| (labels.clone(), value)));
            }
        }
    }
}

/// Escapes a text for use as a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_end_its_label() {
        assert_eq!(escaped("a \"b\" \\ c\nd"), r#"a \"b\" \\ c\nd"#);
    }

    #[test]
    fn a_folder_without_runs_has_all_names_and_no_figures() {
        let folder = tempfile::tempdir().unwrap();
        let text = metrics(&Library::new(folder.path().to_owned()));
        assert_eq!(text.lines().filter(|line| line.starts_with("# TYPE ")).count(), 5);
        assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
    }
}
