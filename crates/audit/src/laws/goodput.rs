//! Which subject serves most, if only correct responses count?
//!
//! Correct responses per second = X · (1 − f). Here f is the share of requests that failed: of HTTP failures if these
//! are printed, else of errors, else failures ÷ requests. The formula applies only if X also counts failed answers, as
//! it does for all common load generators; for other tools, the law cannot tell.
//!
//! The winner flips if the subject with the highest throughput has fewer correct responses than one with lower
//! throughput. All rounding is in the former's favour for the first figure, and in the latter's favour for the second.

use tolok_model::transcription::{Row, Transcription};

use crate::draft::{Draft, Lacks};
use crate::finding::AuditFinding;
use crate::groups::{self, Group};
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Known};
use crate::{tools, wording};

/// One subject of a group.
struct Served<'a> {
    row: &'a Row,
    throughput: Known,
    failed: Known,
    good: Range,
}

impl Served<'_> {
    /// The best single value of its correct responses per second.
    fn good_value(&self) -> f64 {
        self.throughput.value * (1.0 - self.failed.value)
    }
}

pub(super) const LAW: LawInfo = LawInfo {
    title: "Goodput",
    says: "Correct responses decide who serves more, not responses: throughput × (1 − failed share).",
    needs: "throughput of two subjects, and how many of their requests failed",
    check,
};

/// Compares the subjects of each table and setting by correct responses.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut lacks = Lacks::new(Law::Goodput, "The subject with the most answers also has the most correct ones.");
    let mut findings = Vec::new();
    for group in groups::comparable(transcription) {
        let with_throughput: Vec<(&Row, Known)> =
            group.rows.iter().filter_map(|&row| rows::throughput(row).map(|known| (row, known))).collect();
        if with_throughput.len() < 2 {
            continue;
        }
        let mut served = Vec::new();
        for (row, throughput) in with_throughput {
            match rows::failed_share(row) {
                // A failed share above 100% is impossible; the law of percentages reports it.
                Some(failed) if failed.value > 1.0 => {}
                Some(failed) => {
                    let good = throughput.range.times(failed.range.complement());
                    served.push(Served { row, throughput, failed, good });
                }
                None => lacks.note(row.table.as_ref(), "how many requests failed", throughput.inputs),
            }
        }
        findings.extend(judged(transcription, &group, &served));
    }
    findings.extend(lacks.findings(transcription));
    findings
}

/// The conclusion for one group, if two of its subjects can be compared.
fn judged(transcription: &Transcription, group: &Group, served: &[Served]) -> Option<AuditFinding> {
    let by_throughput = |a: &&Served, b: &&Served| a.throughput.value.total_cmp(&b.throughput.value);
    let by_good = |a: &&Served, b: &&Served| a.good_value().total_cmp(&b.good_value());
    let most = served.iter().max_by(by_throughput)?;
    let best = served.iter().max_by(by_good)?;
    if served.len() < 2 {
        return None;
    }
    let draft = draft(transcription, group, served);
    let good = |one: &Served| wording::per_second(one.good_value());
    let flips = best.good.is_above(most.good) && most.throughput.range.is_above(best.throughput.range);
    if !flips {
        let sentence = match most.failed.value {
            0.0 => format!("{} gives the most answers, and none of them failed.", most.row.subject),
            failed => format!(
                "{} gives the most answers, and the most good ones, though {} of its answers failed.",
                most.row.subject,
                wording::percent(failed)
            ),
        };
        return Some(draft.holds(sentence));
    }
    let sentence = format!(
        "{} gives the most answers ({}), but {} of them failed: it gives {} that are good, and {} gives {}.",
        most.row.subject,
        wording::per_second(most.throughput.value),
        wording::percent(most.failed.value),
        good(most),
        best.row.subject,
        good(best),
    );
    let conditions = &most.row.conditions;
    Some(if tools::is_ab(conditions) {
        draft
            .lacks(["how many of the failures are answers of another length, which ab counts as failed"])
            .cannot_tell(sentence)
    } else if tools::counts_failed_answers(conditions) {
        draft.contradicted(format!("{sentence} {} counts failed answers in its rate.", tools::name(conditions)))
    } else {
        draft.lacks(["whether throughput counts failed answers"]).cannot_tell(sentence)
    })
}

/// Starts the finding of a group.
fn draft(transcription: &Transcription, group: &Group, served: &[Served]) -> Draft {
    let term = |one: &Served| {
        let (x, failed) = (wording::per_second(one.throughput.value), wording::percent(one.failed.value));
        format!("{}: {x} × (1 − {failed}) = {}", one.row.subject, wording::per_second(one.good_value()))
    };
    let terms: Vec<String> = served.iter().map(term).collect();
    let inputs = served.iter().flat_map(|one| one.throughput.inputs.iter().chain(&one.failed.inputs)).cloned();
    Draft::new(
        Law::Goodput,
        group.name(transcription),
        "The subject with the most answers also has the most correct ones.",
    )
    .inputs(inputs.collect::<Vec<_>>())
    .arithmetic(terms.join("; "))
}
