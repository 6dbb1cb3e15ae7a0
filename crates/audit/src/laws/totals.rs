//! Requests = throughput × time.
//!
//! X is C ÷ T by definition, so the requests of a run divided by its throughput are its length in seconds. A tool stops
//! a little late, and k6 lets requests in flight finish for up to 30 s (`gracefulStop`). The run may therefore seem 2%
//! shorter, or longer by 2% and half a second, with k6 by another 30 s. The printed requests may include those of a
//! stated warm-up.
//!
//! If one of the two is given for each repetition but the other once, the latter may be any of the repetitions, their
//! mean or their median. If only correct responses are counted, they are only some of all. They can show that a run was
//! longer than stated, but never that it was shorter.

use tolok_model::transcription::{Quantity, Row, Transcription};

use crate::draft::{Draft, Lacks, OfRow, crowds_folded};
use crate::finding::AuditFinding;
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Known};
use crate::{tools, wording};

/// How much a run may differ from its stated length, as a share.
const TOLERANCE: f64 = 0.02;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Totals",
    says: "Requests of a run = throughput × its length.",
    needs: "the number of requests, throughput, and the length of the run",
    check,
};

/// Checks the printed requests of a row against its throughput and length.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut lacks = Lacks::new(Law::Totals, "Requests = throughput × length of the run.");
    let mut findings = Vec::new();
    for row in &transcription.rows {
        let Some((counted, count)) = counted(row) else { continue };
        let Some(throughput) = rows::known(row, &Quantity::Throughput).filter(|known| known.value > 0.0) else {
            continue;
        };
        match row.conditions.duration_s {
            Some(duration_s) => {
                let (count, throughput) =
                    (spanning(row, count, &counted), spanning(row, throughput, &Quantity::Throughput));
                let run = count.over(throughput);
                let closeness = run.value / duration_s;
                let finding = judged(transcription, row, duration_s, &counted, run);
                // What is wrong with the length of one run of a setting is wrong with the others too.
                let table = Some(format!("{:?} {:?}", row.table, row.scenario));
                findings.extend(finding.map(|finding| OfRow { table, closeness, finding }));
            }
            // Missing data is reported only for all requests, not for correct responses alone.
            None if counted == Quantity::Requests => {
                lacks.note(row.table.as_ref(), "how long a run took", throughput.inputs);
            }
            None => {}
        }
    }
    crowds_folded(findings).into_iter().chain(lacks.findings(transcription)).collect()
}

/// The requests of a row, or else its correct responses.
fn counted(row: &Row) -> Option<(Quantity, Known)> {
    [Quantity::Requests, Quantity::Successes].into_iter().find_map(|quantity| {
        let known = rows::known(row, &quantity)?;
        Some((quantity, known))
    })
}

/// A quantity with a range that spans every repetition.
fn spanning(row: &Row, known: Known, quantity: &Quantity) -> Known {
    let range = row.figure(quantity).map_or(known.range, Range::spanning);
    Known { range, ..known }
}

/// The conclusion for a row with all three figures. `run` is the count divided by the throughput.
fn judged(
    transcription: &Transcription,
    row: &Row,
    duration_s: f64,
    counted: &Quantity,
    run: Known,
) -> Option<AuditFinding> {
    // The printed requests may include those of the warm-up.
    let most_s = tools::longest_run_s(&row.conditions, duration_s, TOLERANCE);
    let is_all = *counted == Quantity::Requests;
    let allowed = Range::between(if is_all { duration_s * (1.0 - TOLERANCE) } else { 0.0 }, most_s);
    let (stated, implied) = (wording::seconds(duration_s), wording::run_seconds(run.value));
    let [count, throughput] =
        [counted, &Quantity::Throughput].map(|quantity| row.figure(quantity).map(wording::quoted).unwrap_or_default());
    let (what, statement) = match is_all {
        true => ("requests", "Requests = throughput × length of the run."),
        false => ("correct responses", "There are no more correct responses than throughput × length of the run."),
    };
    let draft = Draft::new(Law::Totals, transcription.row_name(row), statement)
        .inputs(run.inputs)
        .condition(row, "length of the run", stated.clone())
        .arithmetic(format!("{count} ÷ {throughput} = {implied}; stated {stated}"));
    if run.range.meets(allowed) {
        return is_all.then(|| draft.holds(format!("{count} requests at {throughput} take {implied}, as stated.")));
    }
    Some(draft.contradicted(format!(
        "{count} {what} at {throughput} take {implied} and not the {stated} stated: {what}, throughput and length are not of the \
         same run."
    )))
}
