//! Requests = throughput × time.
//!
//! X is C ÷ T by definition, so the requests of a run divided by its throughput are the seconds that it took. A tool stops a little
//! late, and k6 lets requests under way end for up to 30 s (`gracefulStop`): the run may seem 2 % shorter, and longer by 2 % and
//! half a second, with k6 by 30 s besides. Requests of a stated warm-up may be among the printed ones. Where one of the two is given for each repetition and the other once, the one may be any
//! of the repetitions, their mean or their median.

use tolok_model::transcription::{Quantity, Row, Transcription};

use crate::draft::{Draft, Lacks};
use crate::finding::AuditFinding;
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Known};
use crate::{tools, wording};

/// By how much a run may differ from its stated length, as a share.
const TOLERANCE: f64 = 0.02;

/// What a tool needs to stop.
const STOP_S: f64 = 0.5;

pub(super) const LAW: LawInfo =
    LawInfo { title: "Totals", says: "Requests of a run = throughput × its length.", check };

/// Holds the printed requests of a row against its throughput and length.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut lacks = Lacks::new(Law::Totals, "Requests = throughput × length of the run.");
    let mut findings = Vec::new();
    for row in &transcription.rows {
        let requests = rows::known(row, &Quantity::Requests);
        let throughput = rows::known(row, &Quantity::Throughput).filter(|known| known.value > 0.0);
        let (Some(requests), Some(throughput)) = (requests, throughput) else { continue };
        match row.conditions.duration_s {
            Some(duration_s) => {
                let (requests, throughput) =
                    (spanning(row, requests, &Quantity::Requests), spanning(row, throughput, &Quantity::Throughput));
                findings.push(judged(transcription, row, duration_s, requests.over(throughput)));
            }
            None => lacks.note(row.table.as_ref(), "how long a run took", throughput.inputs),
        }
    }
    findings.extend(lacks.findings(transcription));
    findings
}

/// The same with every repetition.
fn spanning(row: &Row, known: Known, quantity: &Quantity) -> Known {
    let range = row.figure(quantity).map_or(known.range, Range::spanning);
    Known { range, ..known }
}

/// What follows for a row of which all three are printed; `run` is its requests over its throughput.
fn judged(transcription: &Transcription, row: &Row, duration_s: f64, run: Known) -> AuditFinding {
    let grace_s = tools::grace_s(&row.conditions);
    // Requests of the warm-up may be among those that are printed.
    let warmup_s = row.conditions.warmup_s.unwrap_or(0.0);
    let most_s = (duration_s + warmup_s) * (1.0 + TOLERANCE) + STOP_S + grace_s;
    let allowed = Range::between(duration_s * (1.0 - TOLERANCE), most_s);
    let (stated, implied) = (wording::seconds(duration_s), wording::run_seconds(run.value));
    let [requests, throughput] = [Quantity::Requests, Quantity::Throughput]
        .map(|quantity| row.figure(&quantity).map(wording::quoted).unwrap_or_default());
    let draft = Draft::new(Law::Totals, transcription.row_name(row), "Requests = throughput × length of the run.")
        .inputs(run.inputs)
        .condition(row, "length of the run", stated.clone())
        .arithmetic(format!("{requests} ÷ {throughput} = {implied}; stated {stated}"));
    if run.range.meets(allowed) {
        return draft.holds(format!("{requests} requests at {throughput} take {implied}, as stated."));
    }
    draft.contradicted(format!(
        "{requests} requests at {throughput} take {implied} and not the {stated} stated: requests, throughput and length are not of \
         the same run."
    ))
}
