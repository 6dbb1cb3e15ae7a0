//! The reference page of all figures.

use super::database::{DATABASE, DATABASE_OF_TRIALS};
use super::program::{PROGRAM, PROGRAM_TRIALS};
use super::resources::{RESOURCES, RESOURCES_OF_TRIALS};
use super::server::{SERVER, SERVER_TRIALS};
use super::table::{Column, Figure, Rows, TrialFigure};
use crate::findings::estimate::Better;

/// The reference page of all figures.
pub fn figures_page() -> String {
    [
        section("Servers", "Keys of a case in JSON.", SERVER),
        section("What a server used", "Keys of `resources` of a case.", RESOURCES),
        section("Databases", "Keys of `database` of a case.", DATABASE),
        section("Programs", "Keys of a program's case.", PROGRAM),
        metrics(),
    ]
    .concat()
}

/// The name, the unit and the meaning of every figure of single trials.
fn trial_figures() -> Vec<(&'static str, &'static str, &'static str)> {
    fn all<T>(rows: Rows<TrialFigure<T>>) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        rows.iter().copied().flatten().map(|row| (row.name, row.unit.word(), row.help.trim()))
    }
    let servers = all(SERVER_TRIALS).chain(all(RESOURCES_OF_TRIALS)).chain(all(DATABASE_OF_TRIALS));
    servers.chain(all(PROGRAM_TRIALS)).collect()
}

/// The unit of a metric in tidy CSV; empty for a plain number.
pub fn trial_unit(metric: &str) -> &'static str {
    trial_figures().into_iter().find(|(name, ..)| *name == metric).map_or("", |(_, unit, _)| unit)
}

fn metrics() -> String {
    let row = |(name, unit, help): (&str, &str, &str)| format!("| `{name}` | {unit} | {help} |\n");
    let rows: String = trial_figures().into_iter().map(row).collect();
    format!("## Single trials\n\nMetrics of tidy CSV.\n\n| metric | unit | meaning |\n|---|---|---|\n{rows}")
}

fn section<F>(title: &str, where_: &str, rows: Rows<Figure<F>>) -> String {
    let rows: String = rows.iter().copied().flatten().map(row).collect();
    format!(
        "## {title}\n\n{where_}\n\n| figure | unit | better | over trials | CSV | meaning |\n|---|---|---|---|---|---|\n{rows}\n"
    )
}

fn row<F>(figure: &Figure<F>) -> String {
    let better = figure.better.map_or("", |better| if better == Better::Higher { "higher" } else { "lower" });
    let column = match figure.column {
        Column::None => String::new(),
        Column::Value(name) | Column::Last(name) => format!("`{name}`"),
        Column::Interval(name) => format!("`{name}`, `_low`, `_high`"),
    };
    format!(
        "| `{}` | {} | {better} | {} | {column} | {} |\n",
        figure.id,
        figure.unit.word(),
        figure.over,
        figure.help.trim()
    )
}
