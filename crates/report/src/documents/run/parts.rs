//! The parts of a mixed workload.

use tolok_analysis::figures::{NONE, Quantity, count, figure, share};
use tolok_analysis::{CaseFinding, Estimate, MixedPartFinding, ScenarioFinding};

use super::columns::{cell, named};
use super::{muted, paragraph};
use crate::document::{Block, Cell, Column, Depth, Row, Table};
use crate::printable::printable;

/// What percentiles of a mixture mean.
const MIXTURE: &str =
    "Percentiles of the whole are those of a mixture: few slow parts decide its p99. These are the parts.";

/// A table of all cases and their parts. Empty unless the workload is mixed.
pub(crate) fn blocks(scenario: &ScenarioFinding, depth: Depth) -> Vec<Block> {
    let rows: Vec<Row> = scenario.cases.iter().chain(&scenario.ceiling).flat_map(rows).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let numbers = ["asked", "drawn", "sent", "correct", "failed", "p50", "p99"].map(Column::numbers);
    let table = Table {
        caption: format!("Parts, {}", scenario.id),
        title: "The parts".to_owned(),
        columns: ["subject", "part"].map(Column::words).into_iter().chain(numbers).collect(),
        rows,
    };
    let said = if depth == Depth::Full { paragraph(MIXTURE) } else { muted(MIXTURE) };
    said.into_iter().chain([Block::Table(table)]).collect()
}

/// A row for each part. Each has the name of the case, so that it can be read alone.
fn rows(case: &CaseFinding) -> Vec<Row> {
    let row = |part: &MixedPartFinding| {
        let mut row = named(&case.title, &case.runtime, false);
        row.cells.extend(cells(part));
        row
    };
    case.parts.iter().map(row).collect()
}

fn cells(part: &MixedPartFinding) -> Vec<Cell> {
    let drawn = part.sent_share.map_or_else(|| NONE.to_owned(), share);
    let counts = [part.sent, part.good, part.failed].map(count);
    let words = [printable(&part.part), share(part.asked_share), drawn].into_iter().chain(counts);
    let time = |time: &Option<Estimate>| time.as_ref().map_or(NONE.into(), |it| cell(figure(Quantity::Seconds, it)));
    words.map(Cell::from).chain([time(&part.latency_p50_s), time(&part.latency_p99_s)]).collect()
}
