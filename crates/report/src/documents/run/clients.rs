//! Slow and fast clients in one load.

use tolok_analysis::figures::{NONE, Quantity, figure};
use tolok_analysis::{CaseFinding, Estimate, ScenarioFinding};

use super::columns::{cell, named, with_ceiling};
use super::muted;
use crate::document::{Block, Cell, Column, Row, Table};

const COMPARED: &str = "Cases are compared by the fast clients. Rates of correct responses and response times elsewhere are those of the fast ones.";

/// A table of all cases with fast and slow clients side by side. Empty unless the load has both.
pub(crate) fn blocks(scenario: &ScenarioFinding) -> Vec<Block> {
    let has_both = |case: &CaseFinding| case.slow_goodput_rps.is_some();
    if !scenario.cases.iter().chain(&scenario.ceiling).any(has_both) {
        return Vec::new();
    }
    let row = |(case, is_ceiling): (&CaseFinding, bool)| {
        let mut row = named(&case.title, &case.runtime, is_ceiling);
        row.cells.extend(cells(case));
        row
    };
    let numbers = ["fast/s", "p50", "p99", "slow/s", "p50 of slow", "p99 of slow"].map(Column::numbers);
    let table = Table {
        caption: format!("Clients, {}", scenario.id),
        title: "Fast and slow clients".to_owned(),
        columns: std::iter::once(Column::words("subject")).chain(numbers).collect(),
        rows: with_ceiling(scenario).map(row).collect::<Vec<Row>>(),
    };
    muted(COMPARED).into_iter().chain([Block::Table(table)]).collect()
}

fn cells(case: &CaseFinding) -> [Cell; 6] {
    let shown = |quantity, it: &Option<Estimate>| it.as_ref().map_or(NONE.into(), |it| cell(figure(quantity, it)));
    let [rate, time] = [Quantity::Number, Quantity::Seconds];
    [
        shown(rate, &case.goodput_rps),
        shown(time, &case.latency_p50_s),
        shown(time, &case.latency_p99_s),
        shown(rate, &case.slow_goodput_rps),
        shown(time, &case.slow_latency_p50_s),
        shown(time, &case.slow_latency_p99_s),
    ]
}
