//! Generates the pages of docs/reference from the tables of figures, flags and gates.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::PathBuf;

use tolok_analysis::figure::{Column, DATABASE, Figure, PROGRAM, RESOURCES, Rows, SERVER, trial_figures};
use tolok_analysis::{Better, FlagKind, gates_page};

const LEGEND: &str = "\
Parentheses hold the unit, the better direction (↑ more, ↓ less), and how trials become one figure: by their median, unless it is \
named. *Pooled* computes it from all clean trials together, *by round* from the ratios within each round (`block` in files). A \
column of CSV has the figure's name unless this page gives another; ± adds its interval as `_low` and `_high`. Shares run from 0 to \
1.\n\n";

const HOW: &str = "TOLOK_WRITE_REFERENCE=1 cargo test -p tolok-analysis reference";

/// Compares a page with what is generated; with `TOLOK_WRITE_REFERENCE` set, writes it instead.
fn check(name: &str, head: &str, body: &str) {
    let generated = format!("{head}\n\n<!-- Generated, as CONTRIBUTING.md says -->\n\n{}\n", body.trim_end());
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(format!("{name}.md"));
    if std::env::var_os("TOLOK_WRITE_REFERENCE").is_some() {
        std::fs::write(file, generated).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == generated, "docs/reference/{name}.md is out of date; regenerate it with\n{HOW}");
}

/// The reference page of all figures.
fn figures_page() -> String {
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

/// The metrics of tidy CSV. Metrics that a table above explains are only named.
fn metrics(above: &str) -> String {
    let (known, new): (Vec<_>, Vec<_>) =
        trial_figures().into_iter().partition(|(name, ..)| above.contains(&format!("\n- `{name}`")));
    let known: Vec<String> = known.into_iter().map(|(name, ..)| format!("`{name}`")).collect();
    let unit = |unit: &str| if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let rows: String = new.into_iter().map(|(name, of, help)| format!("- `{name}`{}: {help}\n", unit(of))).collect();
    format!("## Single trials\n\nMetrics of tidy CSV. As above, but of one trial: {}. And:\n\n{rows}", known.join(", "))
}

fn section<F>(title: &str, where_: &str, rows: Rows<Figure<F>>) -> String {
    let rows: String = rows.iter().copied().flatten().map(row).collect();
    format!("## {title}\n\n{where_}\n\n{rows}\n")
}

fn row<F>(figure: &Figure<F>) -> String {
    let better = figure.better.map_or("", |better| if better == Better::Higher { "↑" } else { "↓" });
    let named = |name: &str| if name == figure.id { String::new() } else { format!(", CSV `{name}`") };
    let column = match figure.column {
        Column::None => ", JSON only".to_owned(),
        Column::Value(name) | Column::Last(name) => named(name),
        Column::Interval(name) => named(name) + " ±",
    };
    let unit = [figure.unit.word(), better].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
    let kind =
        [unit.as_str(), over(figure.over)].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ");
    let kind = if kind.is_empty() { kind } else { format!(" ({kind})") };
    format!("- `{}`{column}{kind}: {}\n", figure.id, figure.help.trim())
}

/// The word for the function that combines the trials; empty for the median.
fn over(function: &'static str) -> &'static str {
    match function {
        "median" | "middle" | "middle_of_known" => "",
        "most" | "highest" => "maximum",
        "lowest" => "minimum",
        "sum_of_runs" => "sum",
        "whole" => "pooled",
        "later" => "by round",
        word => word,
    }
}

/// Flags that bar a case from the ranking, unconditionally or not, then the others.
fn flags_page() -> String {
    let row = |kind: &&FlagKind| match kind.voids().words() {
        "yes" | "no" => format!("- `{kind}`: {}\n", kind.why()),
        condition => format!("- `{kind}` ({condition}): {}\n", kind.why()),
    };
    let (ranked, barred): (Vec<&FlagKind>, Vec<&FlagKind>) =
        FlagKind::ALL.iter().partition(|kind| kind.voids().words() == "no");
    let rows = |kinds: Vec<&FlagKind>| kinds.iter().map(row).collect::<String>();
    format!("## The case is not ranked\n\n{}\n## The case stays ranked\n\n{}", rows(barred), rows(ranked))
}

#[test]
fn reference_of_figures_is_up_to_date() {
    check("figures", "# Figures", &figures_page());
}

#[test]
fn reference_of_flags_is_up_to_date() {
    check("flags", "# Flags\n\nA flag says what to know about a case before believing its figures.", &flags_page());
}

#[test]
fn reference_of_gates_is_up_to_date() {
    check("gates", "# Gates\n\nA gate must hold in every trial before its figures are believed.", &gates_page());
}
