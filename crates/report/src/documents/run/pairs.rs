//! Every pair of compared cases, folded away on a page.

use tolok_analysis::figures::{Quantity, amount, figure};
use tolok_analysis::{Comparison, Findings, PairComparison, ProgramComparison, ProgramFinding, ScenarioFinding};

use super::judgement::{p_words, simultaneous};
use super::muted;
use crate::document::{Block, Cell, Column, Row, Table};

/// Pairs of servers, or `None` if none were compared.
pub(crate) fn of_servers(findings: &Findings) -> Option<Block> {
    let of = |scenario| {
        let pair = move |pair| row_of_servers(scenario, pair);
        scenario.comparisons.iter().map(pair)
    };
    let note = muted(
        "The interval and the p of all pairs are corrected for the number of pairs in a scenario. An adjusted p below 0.05 means that chance alone rarely makes so clear a difference.",
    );
    let numbers = [
        "ratio, its own interval",
        "interval of all pairs together",
        "adjusted p",
        "rounds won by the first",
        "verdict on the first",
    ];
    let rows = findings.scenarios.iter().flat_map(of).collect();
    folded("All pairs", note, &numbers, rows)
}

/// Pairs of programs, or `None` if none were compared.
pub(crate) fn of_programs(findings: &Findings) -> Option<Block> {
    let of = |program| {
        let pair = move |pair| row_of_programs(program, pair);
        program.comparisons.iter().map(pair)
    };
    let numbers = [
        "time of the first over that of the second, its own interval",
        "interval of all pairs together",
        "adjusted p",
        "rounds in which the first took less",
        "verdict on the first",
        "above the start",
        "of all pairs together",
        "adjusted p",
        "blocks",
        "verdict",
    ];
    let rows = findings.programs.iter().flat_map(of).collect();
    folded("All pairs of programs", None, &numbers, rows)
}

fn folded(title: &str, note: Option<Block>, numbers: &[&str], rows: Vec<Row>) -> Option<Block> {
    let words = ["scenario", "first", "second"].map(Column::words);
    let column = |heading: &&str| match heading.starts_with("verdict") {
        true => Column::words(*heading),
        false => Column::numbers(*heading),
    };
    let columns = words.into_iter().chain(numbers.iter().map(column)).collect();
    let is_any = !rows.is_empty();
    let table = Block::Table(Table::of(title, columns, rows));
    is_any.then(|| Block::Folded { summary: title.into(), blocks: note.into_iter().chain([table]).collect() })
}

fn row_of_servers(scenario: &ScenarioFinding, pair: &Comparison) -> Row {
    let title = |subject: &str| {
        let case = scenario.cases.iter().find(|case| case.subject == subject);
        case.map_or(subject, |case| case.title.as_str()).to_owned()
    };
    let cells = [
        scenario.id.clone(),
        title(&pair.a),
        title(&pair.b),
        figure(Quantity::Ratio, &pair.ratio).line(),
        simultaneous(&pair.ratio, pair.simultaneous_low, pair.simultaneous_high),
        p_words(pair.p_adjusted),
        format!("{} of {}", pair.blocks_won, pair.blocks),
        pair.verdict.words().to_owned(),
    ];
    Row::of(cells.map(Cell::from).to_vec())
}

fn row_of_programs(program: &ProgramFinding, pair: &ProgramComparison) -> Row {
    let title = |subject: &str| {
        let case = program.cases.iter().find(|case| case.subject == subject);
        case.map_or(subject, |case| case.title.as_str()).to_owned()
    };
    let names = [program.id.clone(), title(&pair.a), title(&pair.b)];
    let times = [compared(Some(&pair.wall)), compared(pair.above_floor.as_ref())].concat();
    Row::of(names.into_iter().chain(times).map(Cell::from).collect())
}

/// Ratio, simultaneous interval, adjusted p, blocks and verdict of two times.
fn compared(comparison: Option<&PairComparison>) -> [String; 5] {
    let Some(comparison) = comparison else { return ["–", "–", "–", "–", ""].map(str::to_owned) };
    let ratio = match comparison.ratio.low {
        Some(_) => figure(Quantity::Ratio, &comparison.ratio).line(),
        None => amount(Quantity::Ratio, comparison.ratio.value),
    };
    let blocks = format!("{} of {}", comparison.blocks_won, comparison.blocks);
    let of_all = simultaneous(&comparison.ratio, comparison.simultaneous_low, comparison.simultaneous_high);
    [ratio, of_all, p_words(comparison.p_adjusted), blocks, comparison.verdict.words().to_owned()]
}
