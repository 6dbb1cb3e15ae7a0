//! What changes it, as Markdown.

use std::fmt::Write as _;

use tolok_analysis::{FactorPanel, Findings, VarianceFinding};

use super::{Factor, PANELS_RULE, SHARES_RULE, factors, grid, limits, rests_on, share_rows};
use crate::markdown::{escaped, lines};

/// The whole section; nothing where scenarios do not differ in a factor.
pub(crate) fn section(findings: &Findings) -> String {
    if findings.sensitivity.is_empty() && findings.variance.is_empty() {
        return String::new();
    }
    let mut text = "\n## What changes it\n".to_owned();
    if !findings.variance.is_empty() {
        _ = write!(text, "\n{SHARES_RULE}\n");
    }
    text.extend(findings.variance.iter().map(variance));
    if !findings.sensitivity.is_empty() {
        _ = write!(text, "\n{PANELS_RULE}\n");
    }
    text.extend(factors(findings).iter().map(factor));
    text
}

fn variance(finding: &VarianceFinding) -> String {
    let fixed = if finding.fixed.is_empty() { String::new() } else { format!(" · {}", finding.fixed) };
    let heading = escaped(&format!("{}{fixed}", finding.workload_title));
    let mut text = format!("\n### What matters: {heading}\n\n**{}**\n\n", escaped(&finding.sentence));
    let rows: Vec<Vec<String>> =
        share_rows(finding).iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
    text += &lines(&["factor", "share of the differences", "best over worst level"], &rows, 2);
    _ = write!(text, "\n{}\n", escaped(&rests_on(finding)));
    text
}

fn factor(factor: &Factor) -> String {
    let mut text = format!("\n### {}\n", escaped(&factor.heading()));
    text.extend(factor.panels.iter().map(|panel| self::panel(panel)));
    text
}

fn panel(panel: &FactorPanel) -> String {
    let fixed = if panel.fixed.is_empty() { String::new() } else { format!("{}: ", escaped(&panel.fixed)) };
    let mut text = format!("\n{fixed}**{}**\n\n", escaped(&panel.sentence));
    let grid = grid(panel);
    let mut headings = vec!["subject"];
    headings.extend(grid.columns.iter().map(String::as_str));
    headings.push("limited by");
    let row = |(row, limit): (&super::Row, String)| {
        let limit = limit.strip_prefix(&format!("{}: ", row.title)).unwrap_or(&limit).to_owned();
        let mut cells = vec![escaped(&row.title)];
        cells.extend(row.cells.iter().cloned());
        cells.push(escaped(&limit));
        cells
    };
    let rows: Vec<Vec<String>> = grid.rows.iter().zip(limits(panel)).map(row).collect();
    text += &lines(&headings, &rows, grid.columns.len());
    text
}
