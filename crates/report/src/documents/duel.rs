//! A duel: the ratios of every challenger, and the verdict.

use tolok_analysis::{
    ComparedMetric, Duel, DuelOutcome, DuelPair, DuelTwin, Estimate, Findings, LOSSES_EXCLUDED, Verdict, figures,
};

use crate::document::{Block, Cell, Column, Depth, Document, Look, Row, Table, Text};

/// The duel. On a terminal its sentence comes last, because a build log is read from the end; a comment begins with it.
pub fn duel(found: &Duel, depth: Depth) -> Document {
    let blocks = match depth {
        Depth::Short => ratios(found).into_iter().chain([verdict(found)]).collect(),
        Depth::Full | Depth::Page => {
            let summary = "How it was measured".into();
            let blocks =
                vec![Block::Paragraph(found.machine.as_str().into()), Block::Code(vec![found.command.clone()])];
            head(found).into_iter().chain(ratios(found)).chain([Block::Folded { summary, blocks }]).collect()
        }
    };
    Document { title: format!("{} and its challengers", found.base), blocks }
}

/// The duel within the report of its run, or nothing if the run is not a duel. A page has its sentence in the box at the top.
pub(crate) fn within(findings: &Findings, depth: Depth) -> Vec<Block> {
    let Some(found) = &findings.duel else { return Vec::new() };
    match depth {
        Depth::Short => ratios(found).into_iter().chain([verdict(found)]).collect(),
        Depth::Full => head(found).into_iter().chain(ratios(found)).collect(),
        Depth::Page => Block::section("duel", "The duel", ratios(found).to_vec()).into_iter().collect(),
    }
}

/// The verdict, as a sentence.
pub(crate) fn verdict(found: &Duel) -> Block {
    let look = match found.outcome {
        DuelOutcome::NotWorse => Look::Good,
        DuelOutcome::Worse | DuelOutcome::CannotTell => Look::Warning,
    };
    Block::Verdict(Text::of(&found.sentence, look))
}

fn head(found: &Duel) -> [Block; 2] {
    [Block::heading(2, found.outcome.words()), Block::Paragraph(found.sentence.as_str().into())]
}

fn ratios(found: &Duel) -> [Block; 2] {
    [Block::Table(table(found)), Block::paragraph(rule(found), Look::Muted)]
}

fn table(found: &Duel) -> Table {
    let [goodput, cpu] = ["correct responses per second", "CPU time per response"];
    let columns = vec![
        Column::words(format!("over {}", found.base)),
        Column::words("scenario"),
        Column::numbers(goodput).short("responses/s"),
        Column::numbers(cpu).short("CPU time"),
        Column::numbers("launches").priority(1),
        Column::words("conclusion"),
    ];
    let rows = found.pairs.iter().map(pair).chain(found.twins.iter().map(twin));
    Table::of(format!("Challengers over {}", found.base), columns, rows.collect())
}

fn pair(of: &DuelPair) -> Row {
    let look = match of.verdict {
        Verdict::Slower => Look::Warning,
        Verdict::Faster => Look::Good,
        _ => Look::Plain,
    };
    Row::of(vec![
        Cell { below: of.subject.clone(), ..of.challenger.as_str().into() },
        of.scenario.as_str().into(),
        ratio(of.goodput.as_ref()),
        ratio(of.cpu.as_ref()),
        of.launches.to_string().into(),
        Cell::from(Text::of(&of.conclusion, look)),
    ])
}

fn twin(of: &DuelTwin) -> Row {
    let cells = vec![
        "itself".into(),
        of.scenario.as_str().into(),
        ratio(of.goodput.as_ref()),
        ratio(of.cpu.as_ref()),
        Cell::default(),
        "noise check".into(),
    ];
    Row { look: Look::Muted, ..Row::of(cells) }
}

/// A duel needs a third decimal, which other tables do not show.
fn ratio(ratio: Option<&Estimate>) -> Cell {
    let Some(ratio) = ratio else { return figures::NONE.into() };
    let interval = ratio.low.zip(ratio.high).map(|(low, high)| format!("{low:.3}–{high:.3}"));
    Cell { interval, ..format!("{:.3}×", ratio.value).into() }
}

fn rule(found: &Duel) -> String {
    let judged_by = match found.judged_by {
        ComparedMetric::Cpu => "CPU time per correct response",
        _ => "correct responses per second",
    };
    let [smallest, most] = [1.0, LOSSES_EXCLUDED].map(|times| figures::small_share(times * found.smallest_effect));
    format!(
        "Judged by {judged_by}: a loss counts from {smallest}, and the duel passes once a loss of {most} is excluded. Intervals cover \
         95%."
    )
}
