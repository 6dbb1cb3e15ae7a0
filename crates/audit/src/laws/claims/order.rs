//! Checks which subject is first, which is last, and in which order they come.

use tolok_model::transcription::{Assertion, Claim, Extreme, Quantity, Row, Selector, Transcription};

use super::{Entry, draft, without_rows};
use crate::groups::{Group, groups};
use crate::range::Range;
use crate::wording::{noun, quoted};
use crate::{AuditFinding, AuditVerdict};

/// The result for one setting.
struct Outcome {
    verdict: AuditVerdict,
    /// `10,000 rows: go 19.3/s, php 3.5/s, bun 2.75/s`.
    arithmetic: String,
    /// `10,000 rows (Table 4): bun 2.75/s is below php 3.5/s`, for the pairs in the wrong order.
    against: Vec<String>,
}

/// Checks that one subject has the highest or lowest figure in every setting.
pub(super) fn extreme(
    transcription: &Transcription,
    claim: &Claim,
    quantity: &Quantity,
    at: &Selector,
    (subject, extreme): (&str, Extreme),
) -> AuditFinding {
    let which = if extreme == Extreme::Highest { "highest" } else { "lowest" };
    let statement = format!("{subject} has the {which} {} under every setting in question.", noun(quantity));
    judge(transcription, claim, quantity, at, statement, &|group| {
        let others = names(group).into_iter().filter(|name| *name != subject);
        match extreme {
            Extreme::Highest => others.map(|other| (subject.to_owned(), other.to_owned())).collect(),
            Extreme::Lowest => others.map(|other| (other.to_owned(), subject.to_owned())).collect(),
        }
    })
}

/// Checks that the subjects come in this order in every setting.
pub(super) fn order(
    transcription: &Transcription,
    claim: &Claim,
    quantity: &Quantity,
    at: &Selector,
    subjects: &[String],
) -> AuditFinding {
    let what = noun(quantity);
    let statement = format!("By {what}, from the highest: {}, under every setting in question.", subjects.join(", "));
    judge(transcription, claim, quantity, at, statement, &|group| {
        let there = names(group);
        let present: Vec<&String> = subjects.iter().filter(|subject| there.contains(&subject.as_str())).collect();
        present.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    })
}

/// The subject that a claim puts first or last. For an order, it is the last one, if no setting contradicts the order
/// of the others.
pub(super) fn end<'a>(transcription: &Transcription, claim: &'a Claim) -> Option<(&'a Quantity, &'a str, Extreme)> {
    match &claim.asserts {
        Assertion::Extreme { quantity, subject, extreme, .. } => Some((quantity, subject, *extreme)),
        Assertion::Order { quantity, at, subjects } => {
            let (last, others) = subjects.split_last()?;
            let rest = order(transcription, claim, quantity, at, others);
            (rest.verdict != AuditVerdict::Contradicted).then_some((quantity, last, Extreme::Lowest))
        }
        _ => None,
    }
}

/// Checks the pairs (above, below) that a claim asserts against every setting that has them.
fn judge(
    transcription: &Transcription,
    claim: &Claim,
    quantity: &Quantity,
    at: &Selector,
    statement: String,
    pairs_of: &dyn Fn(&Group) -> Vec<(String, String)>,
) -> AuditFinding {
    let everyone = Selector { subject: None, ..at.clone() };
    let rows: Vec<&Row> = transcription.rows_of(&everyone).filter(|row| row.figure(quantity).is_some()).collect();
    let settings = settings(&rows, quantity, pairs_of);
    let outcomes: Vec<Outcome> =
        settings.iter().map(|group| outcome(transcription, group, quantity, &pairs_of(group))).collect();
    if outcomes.is_empty() {
        return without_rows(transcription, claim, statement, (quantity, &[&everyone]));
    }
    let entries = settings.iter().flat_map(|group| group.rows.iter());
    let entries = entries.filter_map(|row| row.figure(quantity).map(|figure| (*row, figure)));
    let verdict = AuditVerdict::of_all(outcomes.iter().map(|outcome| outcome.verdict));
    draft(claim, statement)
        .figures(entries)
        .arithmetic(outcomes.iter().map(|outcome| outcome.arithmetic.clone()).collect::<Vec<_>>().join("; "))
        .found(verdict, sentence(verdict, &outcomes))
}

fn sentence(verdict: AuditVerdict, outcomes: &[Outcome]) -> String {
    let of_verdict: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.verdict == verdict).collect();
    let number = of_verdict.len();
    let all = outcomes.len();
    let settings = |number: usize| if number == 1 { "setting" } else { "settings" };
    match verdict {
        AuditVerdict::Holds if all == 1 => "The printed figures come in this order.".to_owned(),
        AuditVerdict::Holds => format!("The printed figures come in this order under all {all} settings."),
        AuditVerdict::Contradicted => {
            let against: Vec<String> = of_verdict.iter().flat_map(|outcome| outcome.against.clone()).collect();
            let where_ = if all == 1 { String::new() } else { format!("Under {number} of {all} {}: ", settings(all)) };
            format!("{where_}{}.", against.join("; "))
        }
        AuditVerdict::CannotTell if all == 1 => "The printed figures are too close to tell.".to_owned(),
        AuditVerdict::CannotTell | AuditVerdict::FewerUsers => {
            format!("The printed figures are too close to tell under {number} of {all} {}.", settings(all))
        }
    }
}

/// The settings to check: groups of one table. If no table has both sides, the settings of all tables together. Figures
/// that are printed twice count once.
fn settings<'a>(
    rows: &[&'a Row],
    quantity: &Quantity,
    pairs_of: &dyn Fn(&Group) -> Vec<(String, String)>,
) -> Vec<Group<'a>> {
    let of_one_table: Vec<Group> =
        groups(rows.iter().copied()).into_iter().filter(|group| !pairs_of(group).is_empty()).collect();
    let mut found: Vec<Group> = Vec::new();
    for group in of_one_table {
        let seen = found.iter().any(|other| other.scenario == group.scenario && same(other, &group, quantity));
        if !seen {
            found.push(group);
        }
    }
    if !found.is_empty() {
        return found;
    }
    let mut across: Vec<Group> = Vec::new();
    for &row in rows {
        match across.iter_mut().find(|group| group.scenario == row.scenario.as_deref()) {
            Some(group) => group.rows.push(row),
            None => across.push(Group { table: None, scenario: row.scenario.as_deref(), rows: vec![row] }),
        }
    }
    across.into_iter().filter(|group| !pairs_of(group).is_empty()).collect()
}

/// Whether two groups print the same figures.
fn same(a: &Group, b: &Group, quantity: &Quantity) -> bool {
    names(b).into_iter().all(|name| match (range_of(a, quantity, name), range_of(b, quantity, name)) {
        (Some(one), Some(other)) => one.meets(other),
        _ => false,
    })
}

fn names<'a>(group: &Group<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &group.rows {
        if !names.contains(&row.subject.as_str()) {
            names.push(&row.subject);
        }
    }
    names
}

fn outcome(transcription: &Transcription, group: &Group, quantity: &Quantity, pairs: &[(String, String)]) -> Outcome {
    let place = group.name(transcription);
    let verdicts =
        pairs.iter().map(|(above, below)| match (range_of(group, quantity, above), range_of(group, quantity, below)) {
            (Some(above), Some(below)) if below.is_above(above) => AuditVerdict::Contradicted,
            (Some(above), Some(below)) if above.low >= below.high => AuditVerdict::Holds,
            _ => AuditVerdict::CannotTell,
        });
    let verdicts: Vec<AuditVerdict> = verdicts.collect();
    let printed = |name: &str| entries(group, quantity, name).map(|(_, figure)| quoted(figure)).collect::<Vec<_>>();
    let one = |name: &str| format!("{name} {}", printed(name).join(" / "));
    let wrong = pairs.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == AuditVerdict::Contradicted);
    let against = wrong.map(|((above, below), _)| format!("{} is below {}, {place}", one(above), one(below))).collect();
    let all: Vec<String> = names(group).into_iter().map(one).collect();
    Outcome { verdict: AuditVerdict::of_all(verdicts), arithmetic: format!("{place}: {}", all.join(", ")), against }
}

fn entries<'a, 'b>(
    group: &'b Group<'a>,
    quantity: &'b Quantity,
    name: &'b str,
) -> impl Iterator<Item = Entry<'a>> + 'b {
    let rows = group.rows.iter().filter(move |row| row.subject == name);
    rows.filter_map(move |row| row.figure(quantity).map(|figure| (*row, figure)))
}

/// The figures of a subject in a group, from the lowest to the highest.
fn range_of(group: &Group, quantity: &Quantity, name: &str) -> Option<Range> {
    let all = entries(group, quantity, name).map(|(_, figure)| Range::of(figure));
    all.reduce(Range::hull)
}
