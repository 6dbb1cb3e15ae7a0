//! A published comparison beside its replication.

mod series;
mod story;
mod words;

use std::collections::BTreeSet;

use tolok_analysis::PublishedReading;
use tolok_analysis::figures::counted;
use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, FactorLevelFinding, PartFinding, PartRecommendation, ReplicatedFigure,
    ReplicatedRatio, ReplicatedRow, ReplicationFindings,
};

use crate::document::{Block, Cell, Chart, Column, Depth, Document, Fact, Heading, Key, List, Look, Row, Table, Text};
use crate::svg;
use series::series;
use story::{Untold, judged, name, story, untold};
use words::{
    RULE, SIZES, advice, beside, explains, machines, measured, measured_figure, of_level, part, picks, published,
    remark, sign, source, verdict,
};

/// A chart's light band covers ratios closer to 1 than this.
const SMALLEST_EFFECT: f64 = 0.03;
/// The most ratios drawn on a page; the table has all.
const MOST_DRAWN: usize = 16;
/// The marks of the chart of ratios.
const PUBLISHED: &str =
    "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path class=\"dot open\" d=\"M6 1L11 6L6 11L1 6z\"/></svg>";
const MEASURED: &str =
    "<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><circle class=\"dot\" cx=\"6\" cy=\"6\" r=\"4\"/></svg>";

/// The replication. A terminal shows what was measured; the other forms also show everything that was published.
pub fn replication(found: &ReplicationFindings, depth: Depth) -> Document {
    let sections = [
        Block::section("claims", "Claims that could be judged", claims(&judged(found), depth)),
        Block::section("untold", "Undecided claims", untold(found).iter().map(of_reason).collect()),
        Block::section("factors", "What explains it", factors(&found.factors, depth)),
        Block::section("recommendations", "Recommendations", recommendations(found, depth)),
        Block::section("ratios", "Ratios that the tables imply", ratios(&found.ratios, depth)),
        Block::section("series", "Second by second", series(&found.series, depth)),
        Block::section("figures", "Figures", figures(&found.rows, depth)),
        Block::section("runs", "Runs", runs(&found.parts, depth)),
    ];
    let mut blocks = head(found, depth);
    blocks.extend(sections.into_iter().flatten());
    if depth == Depth::Page {
        blocks.extend(Block::section("again", "Run it again", again(&found.key)));
    }
    Document { title: format!("{}, measured again", found.title), blocks }
}

fn head(found: &ReplicationFindings, depth: Depth) -> Vec<Block> {
    let mut blocks = vec![Block::heading(1, found.title.as_str())];
    if depth == Depth::Page {
        blocks.push(Block::Paragraph("Published, and measured again.".into()));
    }
    blocks.push(Block::paragraph(source(found), Look::Muted));
    blocks.extend(machines(found).into_iter().map(|machine| Block::paragraph(machine, Look::Muted)));
    let restated = match found.restated {
        0 => String::new(),
        restated => format!(" {} only repeat figures of the tables.", counted(restated as u64, "other statement")),
    };
    let verdict = Block::Verdict(Text::of(verdict(found), Look::Strong).and(restated, Look::Muted));
    let facts = story(found).into_iter().flat_map(|(label, lines)| {
        // Only the first line has the label.
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        labels.zip(lines).map(|(label, line)| Fact::of(label, line))
    });
    let head = vec![verdict, Block::Facts(facts.collect())];
    blocks.push(Block::Section { id: "verdict".to_owned(), blocks: head });
    blocks.extend(found.note.as_deref().map(|note| Block::Paragraph(note.trim().into())));
    blocks
}

fn claims(judged: &[&ClaimFinding], depth: Depth) -> Vec<Block> {
    if judged.is_empty() {
        return Vec::new();
    }
    let mut blocks: Vec<Block> = match depth {
        Depth::Short => judged.iter().flat_map(|claim| claim_in_lines(claim)).collect(),
        _ => vec![Block::Table(claims_in_a_table(judged))],
    };
    blocks.push(Block::paragraph(RULE, Look::Muted));
    blocks
}

fn claim_in_lines(claim: &ClaimFinding) -> Vec<Block> {
    let look = if claim.reading == PublishedReading::Reversed { Look::Warning } else { Look::Plain };
    let heading = format!("{} {}: {}", sign(claim.reading), claim.reading.words(), says(claim));
    let explanation = claim.explanation.as_deref().unwrap_or_default();
    vec![
        Block::heading(4, Text::of(heading, look)),
        Block::Paragraph(beside(claim).into()),
        Block::paragraph(explanation, Look::Muted),
    ]
}

fn claims_in_a_table(judged: &[&ClaimFinding]) -> Table {
    let row = |claim: &&ClaimFinding| {
        let look = match claim.reading {
            PublishedReading::Reproduced | PublishedReading::Supported => Look::Good,
            PublishedReading::Reversed => Look::Warning,
            _ => Look::Strong,
        };
        let reading = Text::of(format!("{} {}", sign(claim.reading), claim.reading.words()), look);
        let explanation = claim.explanation.as_deref().unwrap_or_default();
        let said = format!("{}{}", says(claim), quoted(claim));
        Row::of(vec![said.into(), beside(claim).into(), reading.into(), explanation.into()])
    };
    Table::of(
        "Claims",
        ["the source says", "published and measured", "reading", "explanation"].map(Column::words).to_vec(),
        judged.iter().map(row).collect(),
    )
}

fn says(claim: &ClaimFinding) -> String {
    let place = claim.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    format!("{}{place}", claim.says)
}

/// The source's own words.
fn quoted(claim: &ClaimFinding) -> String {
    if claim.raw.is_empty() { String::new() } else { format!(": “{}”", claim.raw.join(" … ")) }
}

/// Claims that cannot be judged for the same reason.
fn of_reason(one: &Untold) -> Block {
    let number = Text::of(counted(one.claims.len() as u64, "claim"), Look::Strong);
    let items = one.claims.iter().map(|claim| format!("{}: {}", says(claim), beside(claim)).into()).collect();
    let summary = number.and(format!(": {}", one.reason), Look::Plain);
    Block::Folded { summary, blocks: vec![Block::List(List { sign: "-", items })] }
}

fn factors(factors: &[FactorFinding], depth: Depth) -> Vec<Block> {
    if factors.is_empty() {
        return Vec::new();
    }
    let axis = " It stands on a logarithmic axis. Whisker: 95% interval. Dashed: as published.";
    let axis = if depth == Depth::Page { axis } else { "" };
    let note = format!("The same ratio with only one thing changed.{axis}");
    let mut blocks = vec![Block::paragraph(note, Look::Muted)];
    blocks.extend(factors.iter().flat_map(factor));
    blocks
}

fn factor(factor: &FactorFinding) -> Vec<Block> {
    let heading = format!("{}: {}", name(factor), explains(factor));
    let row = |level: &FactorLevelFinding| {
        Row::of(vec![level.name.as_str().into(), level.of.as_str().into(), of_level(level).into()])
    };
    let table = Table::of(
        format!("{}: the ratio under each level", name(factor)),
        vec![Column::words("level"), Column::words("ratio of"), Column::numbers(factor.words.as_str())],
        factor.levels.iter().map(row).collect(),
    );
    let chart = svg::levels(factor, SMALLEST_EFFECT).map(Chart::of);
    let remarks = factor.levels.iter().filter(|level| level.remark.is_some());
    let remarks = remarks.map(|level| format!("{}: {}", level.name, remark(level)).into()).collect();
    let published = factor.published.as_ref().map(|it| format!("Published: {}. ", it.words)).unwrap_or_default();
    let conclusion = Block::paragraph(format!("{published}{}", factor.conclusion), Look::Muted);
    let mut blocks = vec![Block::heading(3, heading)];
    blocks.extend(chart.map(|chart| Block::Charts(vec![chart])));
    blocks.push(Block::Table(table));
    blocks.extend(Block::list(remarks));
    blocks.push(conclusion);
    blocks
}

fn recommendations(found: &ReplicationFindings, depth: Depth) -> Vec<Block> {
    let (taken, untold) = advice(found);
    let mut blocks = Vec::new();
    match depth {
        Depth::Short => blocks.extend(taken.iter().flat_map(|one| advice_in_lines(one))),
        _ if taken.is_empty() => {}
        _ => blocks.push(Block::Table(advice_in_a_table(&taken))),
    }
    let untold = Block::list(untold.into_iter().map(Text::from).collect());
    let summary = || "Needs without a recommendation".into();
    blocks.extend(untold.map(|list| Block::Folded { summary: summary(), blocks: vec![list] }));
    if depth == Depth::Page && !blocks.is_empty() {
        let note = "Declared rules choose from what was measured. Each row gives the evidence, its strength, and what would overturn it.";
        blocks.insert(0, Block::paragraph(note, Look::Muted));
    }
    blocks
}

fn advice_in_lines(one: &PartRecommendation) -> [Block; 2] {
    let PartRecommendation { part, recommendation: what } = one;
    let heading = format!("{} ({part}): {} ({})", what.need, picks(what), what.strength.word());
    let facts = [("evidence", &what.because), ("overturned by", &what.changes_if)];
    let facts = facts.map(|(label, words)| Fact::of(label, words.as_str()));
    [Block::heading(4, heading), Block::Facts(facts.to_vec())]
}

fn advice_in_a_table(taken: &[&PartRecommendation]) -> Table {
    let row = |one: &&PartRecommendation| {
        let PartRecommendation { part, recommendation: what } = one;
        Row::of(vec![
            format!("{} ({part})", what.need).into(),
            Text::of(picks(what), Look::Strong).into(),
            what.because.as_str().into(),
            what.strength.word().into(),
            what.changes_if.as_str().into(),
        ])
    };
    Table::of(
        "Needs and who meets them",
        ["need", "take", "evidence", "strength", "what would overturn it"].map(Column::words).to_vec(),
        taken.iter().map(row).collect(),
    )
}

fn ratios(ratios: &[ReplicatedRatio], depth: Depth) -> Vec<Block> {
    if ratios.is_empty() {
        return Vec::new();
    }
    let row = |one: &ReplicatedRatio| {
        let why = one.why.as_ref().filter(|_| depth != Depth::Short).map(|why| format!(": {why}"));
        Row::of(vec![
            format!("{} ÷ {}, {}, {}", one.a, one.b, one.words, one.setting).into(),
            published(one).into(),
            measured(one),
            format!("{}{}", one.reading.words(), why.unwrap_or_default()).into(),
        ])
    };
    let table = Table::of(
        "Ratios",
        vec![
            Column::words("ratio"),
            Column::numbers("published"),
            Column::numbers("measured"),
            Column::words("reading"),
        ],
        ratios.iter().map(row).collect(),
    );
    let mut blocks = Vec::new();
    if depth == Depth::Page {
        let note = "The first subject’s figure over the second’s, on a logarithmic axis: as published, and as measured within rounds. Whisker: 95% interval.";
        let key = [(PUBLISHED, "published"), (MEASURED, "measured")];
        let key = key.map(|(svg, words)| Key { svg: svg.to_owned(), words: words.to_owned() });
        let svg = svg::published(&ratios[..ratios.len().min(MOST_DRAWN)], SMALLEST_EFFECT);
        let charts = Block::Charts(vec![Chart::of(svg)]);
        blocks.extend([Block::paragraph(note, Look::Muted), Block::Key(key.to_vec()), charts]);
    }
    blocks.push(Block::Table(table));
    blocks
}

/// Published sizes beside measured ones. A terminal shows only those that were measured.
fn figures(rows: &[ReplicatedRow], depth: Depth) -> Vec<Block> {
    let all = rows.iter().flat_map(|row| row.figures.iter().map(move |figure| (row, figure)));
    let shown = all.filter(|(_, figure)| depth != Depth::Short || figure.measured.is_some());
    let rows_shown: Vec<Row> = shown.map(|(row, figure)| figure_row(row, figure, depth)).collect();
    if rows_shown.is_empty() {
        return Vec::new();
    }
    let mut columns =
        vec![Column::words("row"), Column::words("of"), Column::numbers("published"), Column::numbers("measured")];
    if depth != Depth::Short {
        columns.push(Column::words("measured as"));
    }
    let caption = "Figures, published and measured";
    let table = Table::of(caption, columns, rows_shown);
    let mut blocks = vec![Block::paragraph(SIZES, Look::Muted), Block::Table(table)];
    if depth == Depth::Short {
        let absent: BTreeSet<&String> = rows.iter().filter_map(|row| row.stands_for_it.as_ref().err()).collect();
        let absent = Block::list(absent.into_iter().map(Text::from).collect());
        let heading = || Block::heading(3, "Rows without a counterpart");
        blocks.extend(absent.into_iter().flat_map(|list| [heading(), list]));
    }
    blocks
}

fn figure_row(row: &ReplicatedRow, figure: &ReplicatedFigure, depth: Depth) -> Row {
    let setting = if row.setting.is_empty() { String::new() } else { format!(", {}", row.setting) };
    let table = row.table.as_ref().filter(|_| depth != Depth::Short).map(|table| format!(" ({table})"));
    let name = format!("{}{setting}{}", row.subject, table.unwrap_or_default());
    let mut cells: Vec<Cell> = [&name, &figure.words, &figure.published].map(|it| it.as_str().into()).to_vec();
    cells.push(measured_figure(figure).into());
    if depth != Depth::Short {
        let stands = row.stands_for_it.as_ref().map_or_else(|why| format!("nothing: {why}"), Clone::clone);
        cells.push(stands.into());
    }
    Row::of(cells)
}

fn runs(parts: &[PartFinding], depth: Depth) -> Vec<Block> {
    let item = |one: &PartFinding| match depth {
        Depth::Short => part(one).into(),
        _ => format!("{}. {}", part(one), one.says).into(),
    };
    let left_out =
        parts.iter().flat_map(|part| part.left_out.iter().map(|what| format!("{}: {what}", part.name).into()));
    let left_out: Vec<Text> = left_out.collect();
    let mut blocks: Vec<Block> = Block::list(parts.iter().map(item).collect()).into_iter().collect();
    if !left_out.is_empty() {
        let heading = Heading { rank: 3, text: "Skipped".into(), beside: String::new() };
        blocks.extend([Block::Heading(heading), Block::List(List { sign: "!", items: left_out })]);
    }
    blocks
}

fn again(key: &str) -> Vec<Block> {
    let note = Text::from("Each part is a run of its own: ")
        .and("tolok report RUN", Look::Code)
        .and(" shows all of its figures, and ", Look::Plain)
        .and("tolok verify RUN", Look::Code)
        .and(" recomputes them from its raw data.", Look::Plain);
    vec![Block::Code(vec![format!("tolok replicate {key}")]), Block::Paragraph(note)]
}
