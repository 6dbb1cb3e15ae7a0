//! Compares two runs like `tolok compare`.

use serde::Serialize;
use tolok_analysis::{CompareRefusal, CompareRequest, ComparedRun, UnmatchedCase, compare_runs};
use tolok_report::document::Depth;
use tolok_report::documents::{self, difference};
use tolok_report::print::piece;

use super::{Refusal, address, encoded, page};
use crate::library::Library;

#[derive(Serialize)]
struct Compare {
    content: String,
    before: Side,
    after: Side,
    swapped: String,
    overlaid: String,
    command: String,
}

#[derive(Serialize)]
struct Side {
    id: String,
    address: String,
}

/// The page that compares two runs.
pub fn compare(library: &Library, before: &str, after: &str, allows_differences: bool) -> Result<String, Refusal> {
    let [before, after] = [before, after].map(|id| {
        let found = library.find(id).ok_or_else(|| Refusal::no_run(id))?;
        let analysed = library.analysed(&found).map_err(|error| Refusal::unreadable(id, &error))?;
        Ok((found, analysed))
    });
    let ((before, of_before), (after, of_after)) = (before?, after?);
    let request = CompareRequest { allow_differences: allows_differences, ..CompareRequest::default() };
    let records = [of_before.records(), of_after.records()];
    let sides = [
        ComparedRun { records: &records[0], findings: &of_before.findings },
        ComparedRun { records: &records[1], findings: &of_after.findings },
    ];
    let place = |before: &str, after: &str| format!("/compare?a={}&b={}", encoded(before), encoded(after));
    let found = compare_runs(&sides[..1], &sides[1..], &request)
        .map_err(|refusal| refused(&refusal, place(&before.id, &after.id)))?;
    let allowed = if allows_differences { "&allow-differences=yes" } else { "" };
    let option = if allows_differences { " --allow-differences" } else { "" };
    let side = |id: &str| Side { id: id.to_owned(), address: address(id) };
    Ok(page(
        "compare.html",
        &Compare {
            content: piece(&documents::compare(&found, false, Depth::Page)),
            before: side(&before.id),
            after: side(&after.id),
            swapped: format!("{}{allowed}", place(&after.id, &before.id)),
            overlaid: format!("/overlay?run={}&run={}", encoded(&before.id), encoded(&after.id)),
            command: format!("tolok compare {} {}{option}", before.id, after.id),
        },
    ))
}

/// Two chosen runs, the one that began first before the other.
pub fn in_order(library: &Library, chosen: &[String]) -> Result<[String; 2], Refusal> {
    let [one, other] = chosen else {
        let reason = format!(
            "A comparison takes two runs, and {} were chosen. To see more at once, overlay them.",
            chosen.len()
        );
        return Err(Refusal::of_question("Choose two runs", vec![reason]));
    };
    let began = |id: &str| {
        let found = library.find(id).ok_or_else(|| Refusal::no_run(id))?;
        let card = library.card(&found).map_err(|error| Refusal::unreadable(id, &error))?;
        Ok::<String, Refusal>(card.started_at.clone())
    };
    let (one, other) = (one.clone(), other.clone());
    Ok(if began(&one)? <= began(&other)? { [one, other] } else { [other, one] })
}

/// A refusal is not a result: the request itself has to change.
fn refused(refusal: &CompareRefusal, place: String) -> Refusal {
    let of_question = |title: &str, reason: String| Refusal::of_question(title, vec![reason]);
    match refusal {
        CompareRefusal::SameRun { .. } | CompareRefusal::TooFewRuns => {
            of_question("This is one run", "Comparing a run with itself shows nothing. Choose another one.".to_owned())
        }
        CompareRefusal::NoSuchFigure => {
            of_question("Nothing to judge by", "No scenario of these runs has a figure that is judged.".to_owned())
        }
        CompareRefusal::NothingInCommon { before, after } => Refusal::of_question(
            "The runs have no case in common",
            vec![
                "No subject of one appears under the same scenario in the other.".to_owned(),
                format!("Before: {}.", UnmatchedCase::listed(before)),
                format!("After: {}.", UnmatchedCase::listed(after)),
                "Run the same study, or one that shares scenarios and subjects with it, twice.".to_owned(),
            ],
        ),
        CompareRefusal::Conditions(differences) => {
            let why = "They were made under different conditions, so a difference may not come from the programs:";
            let reasons = std::iter::once(why.to_owned()).chain(differences.iter().map(difference)).collect();
            Refusal::of_question("These runs are not compared", reasons)
                .or("Compare them anyway, with a mark on the result", format!("{place}&allow-differences=yes"))
        }
    }
}
