//! Published ratios beside measured ones.

use tolok_analysis::figures::{NONE, Quantity, amount, figure};
use tolok_analysis::{Findings, PublishedFinding};

use super::charts::{key, same};
use super::columns::cell;
use super::{muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Depth, Look, Row, Table, Text};
use crate::svg;

/// The most rows on a terminal.
const MOST_IN_TERMINAL: usize = 8;
/// How to read the words.
pub(crate) const RULE: &str = "Reproduced: the published ratio lies in the measured 95% interval, widened by the smallest effect, or both show no difference that matters. Same direction: the same subject leads, by another ratio. No difference: one was published, none was found. A difference: one was found, none that matters was published. Reversed: the other subject leads. Cannot tell: the figure or its interval is missing, or the interval is too wide. Another machine, version or load is no error of the source.";

/// The section: a table, and a sentence on each ratio.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    if findings.published.is_empty() {
        return Vec::new();
    }
    let mut blocks = if depth == Depth::Page { chart(findings) } else { Vec::new() };
    let headings = ["ratio", "published", "measured", "reading", "of", "scenario", "source"];
    let column = |heading: &str| match heading {
        "published" | "measured" => Column::numbers(heading),
        words => Column::words(words),
    };
    blocks.push(Block::Table(Table::of(
        "Published and measured ratios",
        headings.map(column).to_vec(),
        findings.published.iter().map(row).collect(),
    )));
    blocks.extend(Block::list(findings.published.iter().map(|finding| finding.sentence.as_str().into()).collect()));
    blocks.extend(paragraph(RULE));
    section("published", "Published and measured", blocks)
}

fn row(finding: &PublishedFinding) -> Row {
    let place = finding.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
    let cells = vec![
        format!("{} over {}", finding.a, finding.b).into(),
        amount(Quantity::Ratio, finding.published).into(),
        finding.measured.as_ref().map_or(NONE.into(), |measured| cell(figure(Quantity::Ratio, measured))),
        Text::of(finding.reading.words(), Look::Strong).into(),
        finding.metric_words.as_str().into(),
        finding.scenario.as_str().into(),
        Cell::from(format!("{}{place}", finding.source)),
    ];
    Row::of(cells)
}

fn chart(findings: &Findings) -> Vec<Block> {
    let note = muted(
        "The first subject’s figure over the second’s, on a logarithmic axis: as published, and as this run measured within rounds. Whisker: 95% interval.",
    );
    let keys = [
        key("<path class=\"dot open\" d=\"M6 1L11 6L6 11L1 6z\"/>", "published"),
        key("<circle class=\"dot\" cx=\"6\" cy=\"6\" r=\"4\"/>", "measured"),
        same(findings),
    ];
    let svg = svg::published(&findings.published, findings.run.smallest_effect);
    let charts = Block::Charts(vec![Chart::of(svg)]);
    note.into_iter().chain([Block::Key(keys.to_vec()), charts]).collect()
}

/// A sentence each, for a terminal.
pub(crate) fn short_lines(findings: &Findings) -> Vec<String> {
    let line = |finding: &PublishedFinding| {
        let place = finding.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        format!("{}{place}: {}", finding.source, finding.sentence)
    };
    let mut found: Vec<String> = findings.published.iter().take(MOST_IN_TERMINAL).map(line).collect();
    let rest = findings.published.len() - found.len();
    found.extend((rest > 0).then(|| format!("and {rest} more, in the HTML and Markdown reports")));
    found
}
