//! The result of `tolok verify`: every check, with its first difference.

use tolok_analysis::figures::{count, counted};
use tolok_model::{Check, CheckOutcome, Verification};

use crate::document::{Block, Cell, Column, Document, Look, Row, Table, Text};

/// The checks, what could not be checked, and the overall verdict.
pub fn verification(found: &Verification) -> Document {
    let version = if found.tolok_version.is_empty() { "unknown" } else { found.tolok_version.as_str() };
    let made_by = format!("made by tolok {version}, verified by tolok {}", found.verified_by);
    let mut blocks = vec![Block::heading(1, found.run.as_str()), Block::Paragraph(made_by.into())];
    blocks.extend(found.records_sha256.iter().map(|hash| Block::Paragraph(format!("records {hash}").into())));
    let section = |id: &str, blocks: Vec<Block>| Block::Section { id: id.to_owned(), blocks };
    blocks.push(section("checks", vec![Block::Table(checks(&found.checks))]));
    let missing = found.not_recomputable.iter().map(|one| format!("{}: {}", one.what, one.why).into()).collect();
    let missing = Block::list(missing).map(|list| vec![Block::heading(2, "Not recomputable"), list]);
    blocks.extend(missing.map(|missing| section("not-recomputable", missing)));
    blocks.push(Block::Verdict(verdict(found)));
    Document { title: format!("Verification of {}", found.run), blocks }
}

fn verdict(found: &Verification) -> Text {
    let number = |outcome| found.checks.iter().filter(|check| check.outcome == outcome).count();
    let (differing, made) = (number(CheckOutcome::Differs), number(CheckOutcome::Equal));
    if differing > 0 {
        let of = counted(found.checks.len() as u64, "check");
        return Text::of(format!("NOT VERIFIED: {differing} of {of} found a difference."), Look::Warning);
    }
    let rest = match found.checks.len() - made {
        0 => String::new(),
        unmade => format!(" {} could not be made.", counted(unmade as u64, "other check")),
    };
    format!("Verified: {} found no difference.{rest}", counted(made as u64, "check")).into()
}

fn checks(checks: &[Check]) -> Table {
    Table::of("Checks", vec![Column::words(""); 3], checks.iter().flat_map(of_check).collect())
}

/// A row for a check, and rows below it for its first difference and its notes.
fn of_check(check: &Check) -> Vec<Row> {
    let (mark, look) = match check.outcome {
        CheckOutcome::Equal => ("ok", Look::Plain),
        CheckOutcome::Differs => ("DIFFERS", Look::Warning),
        CheckOutcome::NotChecked => ("not made", Look::Plain),
    };
    let said = match check.differences_total {
        0 => check.said.clone(),
        1 if check.compared == 0 => "nothing could be compared:".to_owned(),
        total => format!("{} in {} compared; the first:", counted(total, "difference"), count(check.compared)),
    };
    let row = |cells: [Text; 3]| Row::of(cells.map(Cell::from).to_vec());
    let difference = check.differences.first().map(|difference| {
        [format!("{}: {}", difference.file, difference.said), format!("what to do: {}", difference.advice)]
    });
    let notes = check.notes.iter().map(|note| format!("note: {note}"));
    let below = difference.into_iter().flatten().chain(notes).map(|words| row(["".into(), "".into(), words.into()]));
    let head = row([Text::of(mark, look), check.name.as_str().into(), said.into()]);
    std::iter::once(head).chain(below).collect()
}
