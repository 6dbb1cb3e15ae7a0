//! A comparison for a terminal or a log.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, TableStyle};
use tolok_analysis::figures::counted;
use tolok_analysis::{CompareOutcome, Difference, RunComparison, ScenarioChange};

use super::lines::{Line, difference, heading, legend, lines, of_machine, side};
use crate::Style;
use crate::printable::printable;
use crate::terminal::{GAP, INDENT, Look, Page, figure_cells, widest, wrapped};

/// Columns that a subject's name should have at least.
const NAME: usize = 12;

/// The comparison in lines, with main figures and what changed beside them, or with all figures.
pub fn text(found: &RunComparison, style: &Style, is_all: bool) -> String {
    let mut page = Page::new(style);
    head(&mut page, found);
    let all = lines(found, is_all);
    for scenario in &found.scenarios {
        let own: Vec<&Line> = all.iter().filter(|line| std::ptr::eq(line.scenario, scenario)).collect();
        section(&mut page, scenario, &own);
    }
    page.text.push('\n');
    page.paragraph(INDENT, &legend(found), Look::Dim);
    let hidden = found.figures().count() - all.len();
    if hidden > 0 {
        let further = counted(hidden as u64, "further figure");
        page.paragraph(INDENT, &format!("{further}, of which no change was told: --verbose"), Look::Dim);
    }
    page.list("Conditions that differ", "!", found.conditions.iter().map(difference).collect());
    page.list("What else differs", "-", found.changes.iter().map(difference).collect());
    page.list("Before relying on this", "!", found.cautions.clone());
    page.text
}

fn head(page: &mut Page, found: &RunComparison) {
    let look = if found.outcome == CompareOutcome::NoRegression { Look::Bold } else { Look::Warning };
    page.paragraph("", &found.sentence, look);
    page.paragraph("", &format!("before: {}", side(&found.before)), Look::Dim);
    page.paragraph("", &format!("after: {}", side(&found.after)), Look::Dim);
    page.paragraph("", &found.after.machine, Look::Dim);
}

fn section(page: &mut Page, scenario: &ScenarioChange, own: &[&Line]) {
    page.text.push('\n');
    page.paragraph("", &heading(scenario), Look::Bold);
    page.paragraph(INDENT, &format!("{} · {}", scenario.environment, scenario.tool), Look::Dim);
    page.text.push('\n');
    let inner = page.width - INDENT.len();
    for (place, line) in table(own, inner).iter().enumerate() {
        page.line(format!("{INDENT}{line}").trim_end(), if place == 0 { Look::Dim } else { Look::Plain });
    }
    for reason in reasons(own) {
        page.paragraph(INDENT, &format!("? {reason}"), Look::Plain);
    }
    for known in of_machine(scenario) {
        page.paragraph(INDENT, &known, Look::Dim);
    }
}

/// The table, without the figures of each run and with intervals beneath the ratios where it would be too wide.
fn table(own: &[&Line], width: usize) -> Vec<String> {
    let subjects = subjects(own);
    let fits = |columns: &[Column]| {
        let taken: usize = columns.iter().map(|it| widest(&it.cells).max(it.heading.chars().count())).sum();
        widest(&subjects).min(NAME) + taken + columns.len() * usize::from(GAP) <= width
    };
    let wide = columns(own, true);
    let columns = if fits(&wide) { wide } else { columns(own, false) };
    grid(&subjects, &columns, width)
}

struct Column {
    heading: &'static str,
    cells: Vec<String>,
    is_number: bool,
}

fn columns(own: &[&Line], is_wide: bool) -> Vec<Column> {
    let column = |heading, is_number, cell: &dyn Fn(&Line) -> String| Column {
        heading,
        cells: own.iter().map(|line| cell(line)).collect(),
        is_number,
    };
    let ratios: Vec<_> = own.iter().map(|line| (line.ratio(), "")).collect();
    let mut all = vec![column("figure", false, &|line| line.metric().to_owned())];
    if is_wide {
        all.push(column("before", true, &|line| line.before()));
        all.push(column("after", true, &|line| line.after()));
    }
    all.push(Column { heading: "after ÷ before", cells: figure_cells(is_wide, &ratios), is_number: true });
    all.push(column("verdict", false, &|line| line.verdict().to_owned()));
    all
}

/// Each case is named once, on its first line.
fn subjects(own: &[&Line]) -> Vec<String> {
    let is_first = |place: usize| place == 0 || own[place - 1].case.subject != own[place].case.subject;
    let name =
        |(place, line): (usize, &&Line)| if is_first(place) { printable(&line.case.title) } else { String::new() };
    own.iter().enumerate().map(name).collect()
}

fn grid(subjects: &[String], columns: &[Column], width: usize) -> Vec<String> {
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    grid.set_header(std::iter::once("subject").chain(columns.iter().map(|column| column.heading)));
    for (place, subject) in subjects.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cells[place].clone());
        grid.add_row(std::iter::once(subject.clone()).chain(cells).map(Cell::new));
    }
    for (place, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if place == columns.len() { 0 } else { GAP }));
        if place > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if place > 0 && columns[place - 1].is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.lines().collect()
}

/// Why nothing can be told: `Bun.serve, goodput, memory: no larger than …`, each reason of a case once.
fn reasons(own: &[&Line]) -> Vec<String> {
    let mut all: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for line in own {
        let Some(reason) = line.reason() else { continue };
        let title = line.case.title.as_str();
        match all.iter_mut().find(|(known, of, _)| *known == title && *of == reason) {
            Some((_, _, metrics)) => metrics.push(line.metric()),
            None => all.push((title, reason, vec![line.metric()])),
        }
    }
    all.iter().map(|(title, reason, metrics)| format!("{title}, {}: {reason}", metrics.join(", "))).collect()
}

/// Conditions that differ, for a refusal: one below the other, with both values.
pub fn conditions(differences: &[Difference], width: u16) -> String {
    let width = usize::from(width).max(40);
    let lines = differences.iter().flat_map(|one| {
        let lines = wrapped(&difference(one), width - 2 * INDENT.len(), INDENT.len());
        let indented = |(place, line): (usize, String)| match place {
            0 => format!("{INDENT}{line}\n"),
            _ => format!("{INDENT}{INDENT}{line}\n"),
        };
        lines.into_iter().enumerate().map(indented).collect::<Vec<String>>()
    });
    lines.collect()
}
