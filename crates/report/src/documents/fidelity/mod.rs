//! How drivers represent types, and how they handle connections and aborted requests.
//!
//! Drivers with the same behaviour share a row, so that twenty variants stay readable.

mod lines;
mod who;

use tolok_model::fidelity::FidelityReport;
use tolok_model::sentences::capital;

use crate::document::{Block, Column, Depth, Document, Look, Row, Table, Text};
use lines::{Line, STARS, Type, failures, has_stars, left_out, sections, subtitle, types};

/// The report: a table for each type on a terminal, elsewhere one for all of them.
pub fn fidelity(report: &FidelityReport, depth: Depth) -> Document {
    let title = "What drivers make of types";
    let types = types(report);
    let mut blocks = vec![Block::heading(1, title), Block::paragraph(subtitle(report), Look::Muted)];
    match depth {
        Depth::Short => blocks.extend(types.iter().flat_map(of_type)),
        _ if types.is_empty() => {}
        _ => blocks.push(Block::Table(all_types(&types))),
    }
    for section in sections(report) {
        let note = format!("{}.", capital(&section.note));
        let table = table(section.heading, ["what comes of it", "by"], &section.lines);
        blocks.extend([Block::heading(2, section.heading), Block::Paragraph(note.into()), Block::Table(table)]);
    }
    for (heading, items) in [("Failed", failures(report)), ("Skipped", left_out(report))] {
        let list = Block::list(items.into_iter().map(Text::from).collect());
        blocks.extend(list.into_iter().flat_map(|list| [Block::heading(2, heading), list]));
    }
    let is_bad = depth == Depth::Short && types.iter().flat_map(|it| &it.lines).any(|line| line.is_bad);
    let legend = [is_bad.then_some("! lost, rounded or altered"), has_stars(report).then_some(STARS)];
    let legend: Vec<String> = legend.into_iter().flatten().map(str::to_owned).collect();
    blocks.push(Block::Section { id: "legend".to_owned(), blocks: vec![Block::Legend(legend)] });
    Document { title: title.to_owned(), blocks }
}

fn of_type(found: &Type) -> [Block; 2] {
    let heading = Text::of(found.name, Look::Strong).and(format!("  {}", found.awkward), Look::Plain);
    [Block::heading(2, heading), Block::Table(table(found.name, ["", ""], &found.lines))]
}

fn table(caption: &str, headings: [&str; 2], lines: &[Line]) -> Table {
    let row = |line: &Line| Row {
        look: if line.is_bad { Look::Warning } else { Look::Plain },
        cells: vec![line.what.as_str().into(), line.who.as_str().into()],
        runtime: None,
    };
    Table::of(caption, headings.map(Column::words).to_vec(), lines.iter().map(row).collect())
}

/// Only the first row of a type names it.
fn all_types(types: &[Type]) -> Table {
    let row = |found: &Type, place: usize, line: &Line| {
        let (name, awkward) = if place == 0 { (found.name, found.awkward.as_str()) } else { ("", "") };
        let what = Text::of(&line.what, if line.is_bad { Look::Strong } else { Look::Plain });
        Row::of(vec![name.into(), Text::of(awkward, Look::Code).into(), what.into(), line.who.as_str().into()])
    };
    let rows = |found| {
        let found: &Type = found;
        found.lines.iter().enumerate().map(move |(place, line)| row(found, place, line))
    };
    Table::of(
        "Types",
        ["type", "such as", "what becomes of it", "by"].map(Column::words).to_vec(),
        types.iter().flat_map(rows).collect(),
    )
}
