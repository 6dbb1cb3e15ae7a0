//! A matrix as a heat map: the darker a cell, the closer to the best of its column.

use std::ops::Range;

use super::blocks::shown;
use crate::document::{Look, Matrix, MatrixCell, MatrixColumn, MatrixRow};
use crate::svg::palette::marker;

/// Shades of a heat map, each a class of the style sheet.
const SHADES: f64 = 10.0;
/// The most scenarios that fit side by side on paper.
const SCENARIOS: usize = 9;

/// The matrix in as few tables as fit on paper. The last one has the costs.
pub(super) fn tables(matrix: &Matrix) -> String {
    let number = matrix.columns.len().div_ceil(SCENARIOS).max(1);
    let size = matrix.columns.len().div_ceil(number);
    let table = |place: usize| {
        let first = place * size;
        let costs = if place + 1 == number { 0..matrix.costs.len() } else { 0..0 };
        table(matrix, first..(first + size).min(matrix.columns.len()), costs)
    };
    (0..number).map(table).collect()
}

fn table(matrix: &Matrix, scenarios: Range<usize>, costs: Range<usize>) -> String {
    let scenario = |column: &MatrixColumn| heading(&column.heading, &column.beside);
    let cost = |cost: &String| heading(cost, &format!("of {}", matrix.costs_of));
    let headings: String = matrix.columns[scenarios.clone()]
        .iter()
        .map(scenario)
        .chain(matrix.costs[costs.clone()].iter().map(cost))
        .collect();
    let rows: String = matrix.rows.iter().map(|of| row(of, &scenarios, &costs)).collect();
    format!("<table class=\"heat\">\n<thead><tr><td></td>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn heading(words: &str, below: &str) -> String {
    format!("<th scope=\"col\" class=\"n\">{}<span class=\"range\">{}</span></th>", shown(words), shown(below))
}

fn row(row: &MatrixRow, scenarios: &Range<usize>, costs: &Range<usize>) -> String {
    let class = if row.look == Look::Muted { " class=\"ceiling\"" } else { "" };
    let notes: String = row.notes.iter().map(|number| format!("<sup>&nbsp;[{number}]</sup>")).collect();
    let (marker, name) = (marker(&row.runtime), shown(&row.name));
    let name = format!("<th scope=\"row\"><span class=\"who\">{marker}<span>{name}{notes}</span></span></th>");
    let cost = |cost: &String| format!("<td class=\"n\">{}</td>", shown(cost));
    let cells: String = among(&row.cells, scenarios).map(cell).chain(among(&row.costs, costs).map(cost)).collect();
    format!("<tr{class}>{name}{cells}</tr>\n")
}

/// The cells in those columns; a row may have none.
fn among<'a, T>(cells: &'a [T], columns: &Range<usize>) -> impl Iterator<Item = &'a T> {
    cells.iter().skip(columns.start).take(columns.len())
}

fn cell(cell: &MatrixCell) -> String {
    let shade =
        cell.share.map(|share| format!(" heat-{}", (share * SHADES).ceil().clamp(1.0, SHADES))).unwrap_or_default();
    let best = if cell.is_best { " best" } else { "" };
    let tier = if cell.tier.is_empty() { String::new() } else { format!(" <i>{}</i>", shown(&cell.tier)) };
    let below: Vec<&str> = [cell.ratio.as_str(), cell.below.as_str()].into_iter().filter(|it| !it.is_empty()).collect();
    let below = if below.is_empty() {
        String::new()
    } else {
        format!("<span class=\"range\">{}</span>", shown(&below.join("\u{a0}· ")))
    };
    format!("<td class=\"n{shade}{best}\"><b>{}</b>{tier}{below}</td>", shown(&cell.value))
}
