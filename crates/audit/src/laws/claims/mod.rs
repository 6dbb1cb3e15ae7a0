//! Claims: compares what a text says about its figures with the rows that it means.
//!
//! Each side is an interval. A printed figure x whose last digit has the unit u represents \[x − u/2, x + u/2\]. One
//! marked as *about* represents 5% more. A whole number in a text that ends in zeros is read as rounded there, to at
//! most 5%. For a list of repetitions, the mean counts.
//!
//! - **Ratio** a ÷ b: \[a₋ ÷ b₊, a₊ ÷ b₋\], where a₋, a₊ are the ends of a. **Difference** a − b: \[a₋ − b₊, a₊ − b₋\].
//!   Each pair of rows must meet the text's interval; one that cannot contradicts.
//! - **Value**: each figure must meet it. A range of several figures must begin at the lowest and end at the highest of
//!   them, of either the means or all repetitions, each end to 5%. A range of one figure must contain it.
//! - **Extreme** and **order**: contradicted in a setting where the other's interval is entirely on the wrong side. If
//!   intervals overlap, the printed digits cannot tell. The law of noise checks whether a difference is more than
//!   noise.
//! - **Tables**: figures that are printed twice, in two tables, for the same subject, setting and conditions.
//!
//! A text that says "usually" or similar is contradicted only if more than half of the cases transcribed from it
//! differ.
//!
//! Therefore no rounding of true values for which a claim holds, and no reading of *about* up to 5%, can make the claim
//! contradicted. Source: R. E. Moore, *Interval Analysis*, Prentice-Hall, 1966 (the arithmetic).

mod compare;
mod order;
mod tables;
mod value;

use tolok_model::transcription::{Assertion, Claim, Figure, Quantity, Row, Selector, Transcription};

use crate::draft::Draft;
use crate::laws::LawInfo;
use crate::wording::noun;
use crate::{AuditFinding, AuditVerdict, Input, Law};

/// A row with one of its figures.
type Entry<'a> = (&'a Row, &'a Figure);

pub(super) const LAW: LawInfo = LawInfo {
    title: "Text against table",
    says: "The text’s figures, ratios, orders and differences match the table.",
    needs: "claims of the text: `[[claim]]` in a transcription",
    check,
};

/// Checks every claim, and compares tables.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut claims: Vec<AuditFinding> = transcription.claims.iter().map(|claim| judge(transcription, claim)).collect();
    let notes = weigh_hedges(&transcription.claims, &mut claims);
    let told = by_flaw(transcription, claims, notes);
    told.into_iter().chain(tables::check(transcription)).collect()
}

/// Merges contradicted claims that one correction would fix: those of one sentence of the text, those with the same
/// assertion, and those that put the same subject at the same end.
fn by_flaw(
    transcription: &Transcription,
    findings: Vec<AuditFinding>,
    notes: Vec<Option<String>>,
) -> Vec<AuditFinding> {
    let claims = &transcription.claims;
    let is_same_end = |a: &Claim, b: &Claim| {
        order::end(transcription, a).is_some_and(|end| order::end(transcription, b) == Some(end))
    };
    let is_same_sentence = |a: &Claim, b: &Claim| !a.raw.is_empty() && a.raw == b.raw;
    let is_same =
        |a: &Claim, b: &Claim| is_same_sentence(a, b) || asserts_same(a, b) || is_about_same(a, b) || is_same_end(a, b);
    let mut told: Vec<(&Claim, AuditFinding, Option<String>)> = Vec::new();
    for ((claim, finding), note) in claims.iter().zip(findings).zip(notes) {
        let is_against = finding.verdict == AuditVerdict::Contradicted;
        let earlier =
            told.iter_mut().find(|(first, of, _)| is_against && of.verdict == finding.verdict && is_same(first, claim));
        match earlier {
            Some((_, one, _)) => join(one, finding),
            None => told.push((claim, finding, note)),
        }
    }
    let with_note = |(_, mut finding, note): (&Claim, AuditFinding, Option<String>)| {
        finding.sentence.extend(note);
        finding
    };
    told.into_iter().map(with_note).collect()
}

/// Whether two claims assert the same about the same figures.
fn asserts_same(a: &Claim, b: &Claim) -> bool {
    !matches!(a.asserts, Assertion::Untestable { .. }) && a.asserts == b.asserts
}

/// Whether two claims give a value of the same figures, perhaps with different rounding or ends.
fn is_about_same(a: &Claim, b: &Claim) -> bool {
    let of = |claim: &Claim| match &claim.asserts {
        Assertion::Value { quantity, at, .. } => Some((quantity.clone(), at.clone())),
        _ => None,
    };
    of(a).is_some_and(|one| of(b) == Some(one))
}

/// Merges a finding into an earlier one of the same flaw.
fn join(one: &mut AuditFinding, other: AuditFinding) {
    let add = |text: &mut String, separator: &str, more: &str| {
        if !more.is_empty() && !text.contains(more) {
            text.push_str(separator);
            text.push_str(more);
        }
    };
    add(&mut one.about, "; ", &other.about);
    add(&mut one.statement, " ", &other.statement);
    add(&mut one.arithmetic, "; ", &other.arithmetic);
    add(&mut one.sentence, " ", &other.sentence);
    let new: Vec<Input> = other.inputs.into_iter().filter(|input| !one.inputs.contains(input)).collect();
    one.inputs.extend(new);
    one.inference = one.inference.take().or(other.inference);
}

fn judge(transcription: &Transcription, claim: &Claim) -> AuditFinding {
    match &claim.asserts {
        Assertion::Ratio { quantity, a, b, is } => compare::ratio(transcription, claim, quantity, (a, b), is),
        Assertion::Difference { quantity, unit, a, b, is } => {
            compare::difference(transcription, claim, (quantity, *unit), (a, b), is)
        }
        Assertion::Value { quantity, unit, at, is } => value::value(transcription, claim, (quantity, *unit), at, is),
        Assertion::Extreme { quantity, at, subject, extreme } => {
            order::extreme(transcription, claim, quantity, at, (subject, *extreme))
        }
        Assertion::Order { quantity, at, subjects } => order::order(transcription, claim, quantity, at, subjects),
        Assertion::Untestable { why } => draft(claim, format!("The text is right: {}.", claim.says))
            .lacks(["a figure that could settle what the text says".to_owned()])
            .cannot_tell(format!("No figure of the source can settle this: {why}.")),
    }
}

/// Words by which a text admits exceptions.
const HEDGES: [&str; 9] =
    ["usually", "typically", "mostly", "generally", "often", "tends to", "biasanya", "umumnya", "cenderung"];

/// A text that allows exceptions ("usually") is contradicted only if more than half of the cases transcribed from it
/// differ. A single case never contradicts. Returns what to add to each sentence.
fn weigh_hedges(claims: &[Claim], findings: &mut [AuditFinding]) -> Vec<Option<String>> {
    let mut notes = vec![None; findings.len()];
    let judged: Vec<AuditVerdict> = findings.iter().map(|finding| finding.verdict).collect();
    for ((claim, finding), note) in claims.iter().zip(findings).zip(&mut notes) {
        let text = claim.raw.join(" ").to_lowercase();
        let hedge = HEDGES.iter().find(|hedge| text.contains(**hedge));
        let (AuditVerdict::Contradicted, Some(hedge)) = (finding.verdict, hedge) else { continue };
        let cases = claims.iter().zip(&judged).filter(|(other, _)| other.raw == claim.raw).map(|(_, verdict)| *verdict);
        let cases: Vec<AuditVerdict> = cases.collect();
        let otherwise = cases.iter().filter(|verdict| **verdict == AuditVerdict::Contradicted).count();
        if otherwise * 2 > cases.len() && cases.len() > 1 {
            *note =
                Some(format!(" The text says “{hedge}”, but {otherwise} of its {} cases are otherwise.", cases.len()));
        } else {
            finding.verdict = AuditVerdict::CannotTell;
            *note = Some(format!(" The text says “{hedge}”, which allows for exceptions."));
        }
    }
    notes
}

/// Starts a finding about a claim.
fn draft(claim: &Claim, statement: String) -> Draft {
    let place = claim.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    Draft::new(Law::Claims, format!("{}{place}", claim.says), statement)
}

/// A claim whose rows are missing. If its figure is printed only over time, the text does not say which reading or mean
/// it is about.
fn without_rows(
    transcription: &Transcription,
    claim: &Claim,
    statement: String,
    (quantity, of): (&Quantity, &[&Selector]),
) -> AuditFinding {
    let what = noun(quantity);
    let over_time = of
        .iter()
        .flat_map(|selector| transcription.series_of(selector))
        .any(|series| series.figures.iter().any(|figure| figure.quantity == *quantity));
    let draft = draft(claim, statement);
    if over_time {
        return draft.lacks([format!("one {what} for the whole run")]).cannot_tell(format!(
            "The {what} is printed by the second only, and the text does not say which seconds it means."
        ));
    }
    draft
        .lacks([format!("the {what} of what the text names")])
        .cannot_tell("The tables lack the figures for this sentence of the text.")
}
