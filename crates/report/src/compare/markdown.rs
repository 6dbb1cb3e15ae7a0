//! A comparison as a comment on a pull request: the verdict, the figures that matter, and the rest folded away.

use tolok_analysis::figures::{Figure, counted};
use tolok_analysis::{Change, Difference, RunComparison};
use tolok_model::sentences::capital;

use super::lines::{Line, heading, legend, lines, of_machine, side};
use crate::markdown::{escaped, lines as table};

/// The comparison as GitHub and GitLab show it.
pub fn markdown(found: &RunComparison) -> String {
    let (head, rest) = found.sentence.split_once(": ").unwrap_or((&found.sentence, ""));
    let mut text = format!("## {}\n\n{}\n", escaped(head), escaped(&capital(rest)));
    text += &format!("\nbefore: {}  \nafter: {}\n", escaped(&side(&found.before)), escaped(&side(&found.after)));
    if !found.conditions.is_empty() {
        text += &format!(
            "\n**The conditions differ**, and the comparison was made nevertheless:\n\n{}",
            differences(&found.conditions)
        );
    }
    let (short, all) = (lines(found, false), lines(found, true));
    text += &format!("\n{}\n{}.\n", figures(&short), escaped(&legend(found)));
    if all.len() > short.len() {
        text += &folded(&format!("All {}", counted(all.len() as u64, "figure")), &figures(&all));
    }
    text += &folded("The machine, scenario by scenario", &machine(found));
    if !found.changes.is_empty() {
        text += &folded(&format!("What else differs ({})", found.changes.len()), &differences(&found.changes));
    }
    let cautions: String = found.cautions.iter().map(|caution| format!("- {}\n", escaped(caution))).collect();
    text + &folded("Before relying on this", &cautions)
}

fn figures(lines: &[Line]) -> String {
    let row = |line: &Line| {
        let verdict = match line.figure.verdict {
            Some(Change::Regression) => "**regression**".to_owned(),
            _ => line.verdict().to_owned(),
        };
        let reason = line.reason().map(|reason| format!(": {}", escaped(reason))).unwrap_or_default();
        vec![
            escaped(&line.scenario.id),
            escaped(&line.case.title),
            line.metric().to_owned(),
            line.before(),
            line.after(),
            Figure::line(&line.ratio()),
            format!("{verdict}{reason}"),
        ]
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let headings = ["scenario", "subject", "figure", "before", "after", "after ÷ before", "verdict"];
    in_columns(&headings, &rows)
}

/// Numbers stand on the right from the fourth column to the one before the last.
fn in_columns(headings: &[&str], rows: &[Vec<String>]) -> String {
    let plain = table(headings, rows, 0);
    let rule = format!("|{}", "---|".repeat(headings.len()));
    plain.replacen(&rule, "|---|---|---|--:|--:|--:|---|", 1)
}

fn differences(all: &[Difference]) -> String {
    let row = |one: &Difference| {
        let of = if one.scenarios.is_empty() { String::new() } else { format!(" ({})", one.scenarios.join(", ")) };
        [format!("{}{of}", one.what), one.before.clone(), one.after.clone()].map(|cell| escaped(&cell)).to_vec()
    };
    table(&["what", "before", "after"], &all.iter().map(row).collect::<Vec<_>>(), 0)
}

fn machine(found: &RunComparison) -> String {
    let scenario = |scenario: &tolok_analysis::ScenarioChange| {
        let known: String = of_machine(scenario).iter().map(|text| format!("  - {}\n", escaped(text))).collect();
        let place = format!("{}; {} · {}", heading(scenario), scenario.environment, scenario.tool);
        format!("- {}\n{known}", escaped(&place))
    };
    let machine = format!("{}.\n\n", escaped(&found.after.machine));
    machine + &found.scenarios.iter().map(scenario).collect::<String>()
}

/// Text that is shown when it is asked for. The blank lines are what lets Markdown stand in HTML.
fn folded(summary: &str, text: &str) -> String {
    format!("\n<details><summary>{summary}</summary>\n\n{text}\n</details>\n")
}
