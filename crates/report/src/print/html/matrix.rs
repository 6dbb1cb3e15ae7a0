//! A matrix as a heat map: the darker a cell, the nearer it is to the best of its column.

use super::blocks::shown;
use crate::document::{Look, Matrix, MatrixCell, MatrixColumn, MatrixRow};
use crate::svg::palette::marker;

/// Shades of a heat map, each a class of the style sheet.
const SHADES: f64 = 10.0;

/// What stands inside the table.
pub(super) fn inside(matrix: &Matrix) -> String {
    let scenario = |column: &MatrixColumn| heading(&column.heading, &column.beside);
    let cost = |cost: &String| heading(cost, &format!("of {}", matrix.costs_of));
    let columns: String = matrix.columns.iter().map(scenario).chain(matrix.costs.iter().map(cost)).collect();
    let rows: String = matrix.rows.iter().map(row).collect();
    format!("<thead><tr><td></td>{columns}</tr></thead>\n<tbody>\n{rows}</tbody>\n")
}

fn heading(words: &str, below: &str) -> String {
    format!("<th scope=\"col\" class=\"n\">{}<span class=\"range\">{}</span></th>", shown(words), shown(below))
}

fn row(row: &MatrixRow) -> String {
    let class = if row.look == Look::Muted { " class=\"ceiling\"" } else { "" };
    let notes: String = row.notes.iter().map(|number| format!("<sup>&nbsp;[{number}]</sup>")).collect();
    let (marker, name) = (marker(&row.runtime), shown(&row.name));
    let name = format!("<th scope=\"row\"><span class=\"who\">{marker}<span>{name}{notes}</span></span></th>");
    let cost = |cost: &String| format!("<td class=\"n\">{}</td>", shown(cost));
    let cells: String = row.cells.iter().map(cell).chain(row.costs.iter().map(cost)).collect();
    format!("<tr{class}>{name}{cells}</tr>\n")
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
        format!("<span class=\"range\">{}</span>", shown(&below.join(" · ")))
    };
    format!("<td class=\"n{shade}{best}\"><b>{}</b>{tier}{below}</td>", shown(&cell.value))
}
