//! Programs as Markdown.

use std::fmt::Write as _;

use tolok_analysis::{Findings, ProgramFinding, ProgramSeries, TimersFinding};

use super::{
    Grid, RULE, Row, Table, facts, heading, series_grids, series_heading, timers_grid, timers_heading, trials,
};
use crate::markdown::{escaped, lines};

/// All sections of programs; nothing where there are none.
pub(crate) fn sections(findings: &Findings) -> String {
    let mut text = String::new();
    text.extend(findings.program_series.iter().map(series));
    text.extend(findings.programs.iter().map(program));
    text.extend(findings.timers.iter().map(timers));
    if !findings.programs.is_empty() {
        _ = write!(text, "\n{RULE}\n");
    }
    text
}

fn program(program: &ProgramFinding) -> String {
    let table = Table::of(program);
    let mut text = format!("\n## {}\n\n{}.\n", escaped(&heading(program)), escaped(&facts(program)));
    _ = write!(text, "\n**{}**\n\n", escaped(&program.verdict));
    let mut headings = vec!["subject", "wall", "vs first"];
    headings.extend(table.is_compared().then_some("tier"));
    headings.extend(table.has_floor.then_some("above the start"));
    headings.extend(["CPU", "CPUs used", "max RSS, MiB"]);
    headings.extend(table.has_floor.then_some("start"));
    headings.extend(["runs", "fastest to slowest run", "trials", "notes"]);
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| cells(&table, row)).collect();
    text += &lines(&headings, &rows, headings.len() - 2);
    _ = write!(text, "\n{}\n", table.legend().join(" · "));
    if table.notes.numbered().next().is_some() {
        text.push('\n');
    }
    for (number, note) in table.notes.numbered() {
        _ = writeln!(text, "{number}. {}", escaped(&note));
    }
    text
}

/// The table of a scenario alone, without notes and ranges.
pub(crate) fn table(program: &ProgramFinding) -> String {
    let table = Table::of(program);
    let mut headings = vec!["subject", "wall", "vs first"];
    headings.extend(table.is_compared().then_some("tier"));
    headings.extend(table.has_floor.then_some("above the start"));
    headings.extend(["CPU", "CPUs used", "max RSS, MiB"]);
    let row = |row: &Row| cells(&table, row).into_iter().take(headings.len()).collect::<Vec<String>>();
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    format!("{}\n<sub>{}</sub>\n", lines(&headings, &rows, headings.len() - 1), table.legend().join(" · "))
}

fn cells(table: &Table, row: &Row) -> Vec<String> {
    let against_first = format!("{} {}", row.against_first.line(), row.mark);
    let notes: Vec<String> = row.notes.iter().map(usize::to_string).collect();
    let mut cells = vec![escaped(&row.case.title), row.wall.line(), against_first.trim_end().to_owned()];
    cells.extend(table.is_compared().then(|| row.tier.clone()));
    cells.extend(table.has_floor.then(|| row.above_floor.line()));
    cells.extend([&row.cpu, &row.busy, &row.memory_mib].map(String::clone));
    cells.extend(table.has_floor.then(|| row.floor.clone()));
    cells.extend([row.runs.clone(), row.range.clone(), trials(row.case), notes.join(", ")]);
    cells
}

fn series(series: &ProgramSeries) -> String {
    let mut text = format!("\n## {}\n", escaped(&series_heading(series)));
    text.extend(series_grids(series).iter().map(grid));
    if !series.crossovers.is_empty() {
        text.push('\n');
    }
    text.extend(series.crossovers.iter().map(|crossover| format!("- {}\n", escaped(&crossover.sentence))));
    text
}

fn timers(timers: &TimersFinding) -> String {
    let mut text = format!("\n## Timers: {}\n", escaped(&timers_heading(timers)));
    text += &grid(&timers_grid(timers));
    if !timers.notes.is_empty() {
        text.push('\n');
    }
    text.extend(timers.notes.iter().map(|note| format!("- {}\n", escaped(note))));
    text
}

fn grid(grid: &Grid) -> String {
    let mut headings = vec!["subject"];
    headings.extend(grid.columns.iter().map(String::as_str));
    let row = |row: &super::GridRow| {
        let mut cells = vec![escaped(&row.title)];
        cells.extend(row.cells.iter().cloned());
        cells
    };
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    format!("\n{}:\n\n{}", grid.title, lines(&headings, &rows, grid.columns.len()))
}
