//! The report for a terminal: what was done on the left, who does it on the right.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, TableStyle, Width};
use tolok_model::fidelity::FidelityReport;

use super::lines::{Line, STARS, failures, has_stars, left_out, sections, subtitle, types};
use crate::printable::printable;
use crate::terminal::wrapped;

/// Less would be one word a line.
const NARROWEST: u16 = 64;
/// Before everything that belongs to a heading.
const INDENT: &str = "  ";
/// The mark of what is lost or goes wrong, and the blank behind it.
const MARK: u16 = 2;
/// Between the two columns.
const GAP: u16 = 2;

/// The report in lines of at most `width` columns, without colours.
pub fn text(report: &FidelityReport, width: u16) -> String {
    let width = width.max(NARROWEST);
    let (types, sections) = (types(report), sections(report));
    let all = types.iter().flat_map(|it| &it.lines).chain(sections.iter().flat_map(|it| &it.lines));
    let inner = width - INDENT.len() as u16;
    // Where all is said in few words, the names stand nearer.
    let widest = all.map(|line| line.what.chars().count()).max().unwrap_or_default();
    let column = u16::try_from(widest).unwrap_or(u16::MAX).min((inner - MARK) * 3 / 5);
    let mut text = format!("What drivers make of types\n{}", filled(&subtitle(report), "", width));
    for found in &types {
        text += &format!("\n{}  {}\n", found.name, printable(&found.awkward));
        text += &grid(&found.lines, inner, column);
    }
    for section in &sections {
        text += &format!("\n{}\n", section.heading);
        text += &filled(&section.note, INDENT, width);
        text += &grid(&section.lines, inner, column);
    }
    for (heading, lines) in [("Failed", failures(report)), ("Left out", left_out(report))] {
        if !lines.is_empty() {
            text += &format!("\n{heading}\n");
        }
        text.extend(lines.iter().map(|line| filled(line, INDENT, width)));
    }
    let is_bad = types.iter().flat_map(|it| &it.lines).any(|line| line.is_bad);
    let legend = [is_bad.then_some("! lost, rounded or altered"), has_stars(report).then_some(STARS)];
    let legend: Vec<&str> = legend.into_iter().flatten().collect();
    if legend.is_empty() { text } else { text + "\n" + &filled(&legend.join(" · ").replace('`', ""), "", width) }
}

/// Lines behind an indent, the later ones a little further in.
fn filled(words: &str, indent: &str, width: u16) -> String {
    let lines = wrapped(words, usize::from(width) - indent.len(), INDENT.len()).into_iter().enumerate();
    lines.map(|(place, line)| format!("{indent}{}{line}\n", if place == 0 { "" } else { INDENT })).collect()
}

fn grid(lines: &[Line], width: u16, column: u16) -> String {
    let mut grid = Table::new();
    grid.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    for line in lines {
        let mark = if line.is_bad { "!" } else { "" };
        grid.add_row([mark.to_owned(), printable(&line.what), printable(&line.who)]);
    }
    let widths = [MARK, column + GAP, width - MARK - column - GAP];
    for (place, (column, width)) in grid.column_iter_mut().zip(widths).enumerate() {
        column.set_padding((0, if place == 1 { GAP } else { 0 }));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    grid.lines().map(|line| format!("{}\n", format!("{INDENT}{line}").trim_end())).collect()
}
