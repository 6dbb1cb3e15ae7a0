//! The reference page of all figures.

use super::database::{DATABASE, DATABASE_OF_TRIALS};
use super::program::{PROGRAM, PROGRAM_TRIALS};
use super::resources::{RESOURCES, RESOURCES_OF_TRIALS};
use super::server::{SERVER, SERVER_TRIALS};
use super::table::{Column, Figure, Rows, TrialFigure};
use crate::findings::estimate::Better;

const LEGEND: &str = "\
↑ more is better, ↓ less is better. A column of CSV has the figure's name unless the table gives another; ± adds its interval as \
`_low` and `_high`. Trials become one figure by their *median*, *sum*, *maximum* or *minimum*; *pooled* computes it from all \
clean trials together, *by round* from the ratios within each round (`block` in files). Shares run from 0 to 1.\n\n";

/// The reference page of all figures.
pub fn figures_page() -> String {
    let tables = [
        LEGEND.to_owned(),
        section("Servers", "Keys of a case in JSON.", SERVER),
        section("What a server used", "Keys of `resources` of a case.", RESOURCES),
        section("Databases", "Keys of `database` of a case.", DATABASE),
        section("Programs", "Keys of a program's case.", PROGRAM),
    ]
    .concat();
    let metrics = metrics(&tables);
    tables + &metrics
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

/// The metrics of tidy CSV. Those that a table above explains are only named.
fn metrics(above: &str) -> String {
    let (known, new): (Vec<_>, Vec<_>) =
        trial_figures().into_iter().partition(|(name, ..)| above.contains(&format!("\n| `{name}`")));
    let known: Vec<String> = known.into_iter().map(|(name, ..)| format!("`{name}`")).collect();
    let unit = |unit: &str| if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let rows: String = new.into_iter().map(|(name, of, help)| format!("- `{name}`{}: {help}\n", unit(of))).collect();
    format!("## Single trials\n\nMetrics of tidy CSV. As above, but of one trial: {}. And:\n\n{rows}", known.join(", "))
}

fn section<F>(title: &str, where_: &str, rows: Rows<Figure<F>>) -> String {
    let rows: String = rows.iter().copied().flatten().map(row).collect();
    format!("## {title}\n\n{where_}\n\n| figure | unit | trials | meaning |\n|---|---|---|---|\n{rows}\n")
}

fn row<F>(figure: &Figure<F>) -> String {
    let better = figure.better.map_or("", |better| if better == Better::Higher { "↑" } else { "↓" });
    let named = |name: &str| if name == figure.id { String::new() } else { format!(" (CSV `{name}`)") };
    let column = match figure.column {
        Column::None => " (JSON only)".to_owned(),
        Column::Value(name) | Column::Last(name) => named(name),
        Column::Interval(name) => named(name) + " ±",
    };
    let unit = [figure.unit.word(), better].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
    format!("| `{}`{column} | {unit} | {} | {} |\n", figure.id, over(figure.over), figure.help.trim())
}

/// The word for the function that makes one figure of the trials.
fn over(function: &'static str) -> &'static str {
    match function {
        "middle" | "middle_of_known" => "median",
        "most" | "highest" => "maximum",
        "lowest" => "minimum",
        "sum_of_runs" => "sum",
        "whole" => "pooled",
        "later" => "by round",
        word => word,
    }
}
