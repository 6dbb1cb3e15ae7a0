//! What was not tested.

use tolok_analysis::Findings;
use tolok_analysis::figures::listed;
use tolok_model::sentences::capital;

use super::{muted, section};
use crate::document::{Block, Column, Depth, Row, Table, Text};

/// The most in the one line of a terminal.
const MOST_IN_A_LINE: usize = 6;
/// The most on the page; one or two more are not worth folding away.
const MOST_SHOWN: usize = 8;
/// Shown if this version cannot test it.
const NO_WAY: &str = "not with this version";

/// The section. A page folds away all but the most important.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let row = |untested: &tolok_analysis::Untested| {
        let how = Text::with_code(untested.how.as_deref().unwrap_or(NO_WAY));
        let cells = vec![capital(&untested.what).into(), untested.because.as_str().into(), how.into()];
        Row::of(cells)
    };
    let mut rows: Vec<Row> = findings.untested.iter().map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let folds = depth == Depth::Page && rows.len() > MOST_SHOWN + 2;
    let rest = if folds { rows.split_off(MOST_SHOWN) } else { Vec::new() };
    let note = muted(
        "The figures above say nothing about these. The list follows from this run’s plan and records; it omits what the study varies.",
    );
    let mut blocks: Vec<Block> = note.filter(|_| depth == Depth::Page).into_iter().collect();
    blocks.push(table("What was not tested", rows));
    if !rest.is_empty() {
        let summary = format!("{} more", rest.len()).into();
        blocks.push(Block::Folded { summary, blocks: vec![table("What else was not tested", rest)] });
    }
    section("untested", "Not tested", blocks)
}

fn table(caption: &str, rows: Vec<Row>) -> Block {
    let columns = ["what", "why not", "what would test it"].map(Column::words).to_vec();
    Block::Table(Table::of(caption, columns, rows))
}

/// All of it in a line; `None` if there is nothing.
pub(crate) fn line(findings: &Findings) -> Option<String> {
    let all: Vec<String> = findings.untested.iter().map(|untested| untested.what.clone()).collect();
    let named = &all[..all.len().min(MOST_IN_A_LINE)];
    match all.len() - named.len() {
        _ if all.is_empty() => None,
        0 => Some(format!("Not tested: {}; see the report.", listed(named, "and"))),
        more => Some(format!("Not tested: {} and {more} more; see the report.", named.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Look;

    #[test]
    fn code_stands_between_backticks() {
        let expected =
            Text::of("vus = [1, 2]", Look::Code).and(", or ", Look::Plain).and("studies/core.toml", Look::Code);
        assert_eq!(Text::with_code("`vus = [1, 2]`, or `studies/core.toml`"), expected);
    }
}
