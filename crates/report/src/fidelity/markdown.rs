//! The report as tables that GitHub shows.

use tolok_model::fidelity::FidelityReport;
use tolok_model::sentences::capital;

use super::lines::{Line, STARS, failures, has_stars, left_out, sections, subtitle, types};
use crate::markdown::{escaped, lines, list};

/// The report for a pull request or a document.
pub fn markdown(report: &FidelityReport) -> String {
    let mut text = format!("# What drivers make of types\n\n{}\n", escaped(&subtitle(report)));
    let rows: Vec<Vec<String>> = types(report)
        .iter()
        .flat_map(|found| {
            let name = [found.name.to_owned(), format!("`{}`", code(&found.awkward))];
            found.lines.iter().enumerate().map(move |(place, line)| {
                // A type is named once, above all that become of it.
                let [name, awkward] = if place == 0 { name.clone() } else { Default::default() };
                vec![name, awkward, what(line), escaped(&line.who)]
            })
        })
        .collect();
    if !rows.is_empty() {
        text += &format!("\n{}", lines(&["type", "such as", "what becomes of it", "by"], &rows, 0));
    }
    for section in sections(report) {
        let rows: Vec<Vec<String>> = section.lines.iter().map(|line| vec![what(line), escaped(&line.who)]).collect();
        text += &format!("\n## {}\n\n{}.\n\n", section.heading, capital(&section.note));
        text += &lines(&["what comes of it", "by"], &rows, 0);
    }
    let escaped_all = |lines: Vec<String>| lines.iter().map(|line| escaped(line)).collect::<Vec<_>>();
    text += &list("Failed", &escaped_all(failures(report)));
    text += &list("Left out", &escaped_all(left_out(report)));
    if has_stars(report) { text + &format!("\n{STARS}.\n") } else { text }
}

/// What is lost or goes wrong stands out.
fn what(line: &Line) -> String {
    let words = escaped(&line.what);
    if line.is_bad { format!("**{words}**") } else { words }
}

/// Within backticks, only the bar of a table must be escaped; what ends them is left out.
fn code(text: &str) -> String {
    text.replace('`', "").replace('|', "\\|")
}
