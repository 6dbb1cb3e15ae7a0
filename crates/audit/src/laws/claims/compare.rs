//! One figure against another: ratios and differences.

use tolok_model::transcription::{Claim, Mark, Moment, Number, Quantity, Row, Selector, Transcription, Unit};

use super::{Entry, draft, without_rows};
use crate::range::{ABOUT, Range};
use crate::rows::Elsewhere;
use crate::wording::{amount, listed, noun, precise, printed, quoted, setting};
use crate::{AuditFinding, AuditVerdict};

/// The result for one pair of figures.
struct Outcome<'a> {
    a: Entry<'a>,
    b: Entry<'a>,
    verdict: AuditVerdict,
    /// `19.3 / 2.75 = 7.018`.
    arithmetic: String,
    /// `7.018`.
    result: String,
    /// `go to bun, 10,000 rows`.
    name: String,
}

/// Checks a ratio: `7 times as many`.
pub(super) fn ratio(
    transcription: &Transcription,
    claim: &Claim,
    quantity: &Quantity,
    (a, b): (&Selector, &Selector),
    is: &Number,
) -> AuditFinding {
    let what = noun(quantity);
    let sides = format!("{} ÷ that of {}", side(transcription, a, b), side(transcription, b, a));
    let statement = format!("The {what} of {sides} is {}.", printed(is));
    let pairs = pairs(transcription, quantity, a, b);
    let said = tie(is).unwrap_or_else(|| Range::of_text(is, 1.0));
    let outcomes: Vec<Outcome> = pairs
        .into_iter()
        .map(|(a, b)| {
            let ratio = Range::of(a.1).over(Range::of(b.1));
            let result = precise(a.1.value() / b.1.value());
            let arithmetic = format!("{} / {} = {result}", quoted(a.1), quoted(b.1));
            let verdict = ratio.agrees(said);
            Outcome { verdict, arithmetic, result, name: name(transcription, a.0, b.0), a, b }
        })
        .collect();
    let inference = if matches!(quantity, Quantity::Cpu(_)) { cpu_time(transcription, &outcomes) } else { None };
    if outcomes.is_empty() {
        return without_rows(transcription, claim, statement, (quantity, &[a, b]));
    }
    conclude(claim, statement, is, &outcomes, inference)
}

/// "As many as" means equal figures; "about as many" allows 5%.
fn tie(is: &Number) -> Option<Range> {
    let one = Range::exact(1.0);
    match is.mark {
        Mark::Plain if is.value == 1.0 && is.decimals == 0 => Some(one),
        Mark::About if is.value == 1.0 && is.decimals == 0 => Some(one.widened(ABOUT)),
        _ => None,
    }
}

/// Checks a difference: `55% more`.
pub(super) fn difference(
    transcription: &Transcription,
    claim: &Claim,
    (quantity, unit): (&Quantity, Unit),
    (a, b): (&Selector, &Selector),
    is: &Number,
) -> AuditFinding {
    let what = noun(quantity);
    let sides = format!("{} minus that of {}", side(transcription, a, b), side(transcription, b, a));
    let statement = format!("The {what} of {sides} is {}.", printed(is));
    let said = Range::of_text(is, unit.factor());
    let outcomes: Vec<Outcome> = pairs(transcription, quantity, a, b)
        .into_iter()
        .map(|(a, b)| {
            let difference = Range::of(a.1).less(Range::of(b.1));
            let result = amount(a.1.value() - b.1.value(), unit);
            let arithmetic = format!("{} − {} = {result}", amount(a.1.value(), unit), amount(b.1.value(), unit));
            let verdict = difference.agrees(said);
            Outcome { verdict, arithmetic, result, name: name(transcription, a.0, b.0), a, b }
        })
        .collect();
    if outcomes.is_empty() {
        return without_rows(transcription, claim, statement, (quantity, &[a, b]));
    }
    conclude(claim, statement, is, &outcomes, None)
}

fn conclude(
    claim: &Claim,
    statement: String,
    is: &Number,
    outcomes: &[Outcome],
    inference: Option<String>,
) -> AuditFinding {
    let verdict = AuditVerdict::of_all(outcomes.iter().map(|outcome| outcome.verdict));
    let of_verdict = |verdict| outcomes.iter().filter(move |outcome| outcome.verdict == verdict);
    let named = |outcome: &Outcome| format!("{} for {}", outcome.result, outcome.name);
    let results = listed(&of_verdict(verdict).map(named).collect::<Vec<_>>());
    let sentence = match verdict {
        AuditVerdict::Holds => format!("The figures give {results}, as the text says ({}).", printed(is)),
        AuditVerdict::Contradicted => {
            let others = of_verdict(AuditVerdict::Holds).map(named).collect::<Vec<_>>();
            let rest =
                if others.is_empty() { String::new() } else { format!(" It is {}, as stated.", listed(&others)) };
            format!("The text {} {}; the figures give {results}.{rest}", says(claim, is), printed(is))
        }
        AuditVerdict::CannotTell | AuditVerdict::FewerUsers => {
            format!("The figures are not exact enough to tell {} from other numbers.", printed(is))
        }
    };
    let arithmetic: Vec<String> =
        outcomes.iter().map(|outcome| format!("{}: {}", outcome.name, outcome.arithmetic)).collect();
    draft(claim, statement)
        .claim(claim, &is.printed)
        .figures(outcomes.iter().flat_map(|outcome| [outcome.a, outcome.b]))
        .arithmetic(arithmetic.join("; "))
        .inferring(inference)
        .found(verdict, sentence)
}

/// A number that the source does not print is the transcriber's reading, so it is not attributed to the text.
fn says(claim: &Claim, is: &Number) -> &'static str {
    let has = |raw: &String| {
        // Ignores any grouping of thousands.
        let raw = raw.replace(['.', ',', ' '], "");
        is.printed.split(|sign: char| !sign.is_ascii_digit()).all(|digits| raw.contains(digits))
    };
    let is_quoted = claim.raw.is_empty() || claim.raw.iter().any(has);
    if is_quoted { "says" } else { "was transcribed as saying" }
}

/// The pairs that two selectors mean. Whatever neither selector fixes is the same on both sides. If a row has partners
/// in its own table, only those count.
fn pairs<'a>(
    transcription: &'a Transcription,
    quantity: &Quantity,
    a: &'a Selector,
    b: &'a Selector,
) -> Vec<(Entry<'a>, Entry<'a>)> {
    let entries = |selector| -> Vec<Entry<'a>> {
        transcription.rows_of(selector).filter_map(|row| row.figure(quantity).map(|figure| (row, figure))).collect()
    };
    let (above, below) = (entries(a), entries(b));
    let mut found = Vec::new();
    for entry in above {
        let partners: Vec<&Entry> = below
            .iter()
            .filter(|(row, _)| !std::ptr::eq(*row, entry.0))
            .filter(|(row, _)| a.subject != b.subject || row.subject == entry.0.subject)
            .filter(|(row, _)| a.scenarios != b.scenarios || row.scenario == entry.0.scenario)
            .collect();
        let own: Vec<&Entry> = partners.iter().copied().filter(|(row, _)| row.table == entry.0.table).collect();
        let partners = if own.is_empty() { partners } else { own };
        found.extend(partners.into_iter().map(|partner| (entry, *partner)));
    }
    found
}

/// One side of a comparison, in words: what it fixes, and how it differs from the other.
fn side(transcription: &Transcription, this: &Selector, other: &Selector) -> String {
    let settings: Vec<String> = this.scenarios.iter().filter_map(|name| setting(transcription, Some(name))).collect();
    let settings = (this.scenarios != other.scenarios && !settings.is_empty()).then(|| listed(&settings));
    match (&this.subject, settings) {
        (Some(subject), Some(settings)) => format!("{subject} under {settings}"),
        (Some(subject), None) => subject.clone(),
        (None, Some(settings)) => format!("each subject under {settings}"),
        (None, None) => "each subject".to_owned(),
    }
}

/// Two rows, in words.
fn name(transcription: &Transcription, a: &Row, b: &Row) -> String {
    let (of_a, of_b) = (setting(transcription, a.scenario.as_deref()), setting(transcription, b.scenario.as_deref()));
    match (a.subject == b.subject, of_a == of_b) {
        (false, true) => format!("{} and {}{}", a.subject, b.subject, in_brackets(of_a)),
        (true, false) => format!("{}{} and{}", a.subject, in_brackets(of_a), in_brackets(of_b)),
        _ => format!("{}{} and {}{}", a.subject, in_brackets(of_a), b.subject, in_brackets(of_b)),
    }
}

fn in_brackets(setting: Option<String>) -> String {
    setting.map(|setting| format!(" ({setting})")).unwrap_or_default()
}

/// A share of CPU is not work. If times are printed, this adds the CPU time of each side: share × time.
fn cpu_time(transcription: &Transcription, outcomes: &[Outcome]) -> Option<String> {
    let elsewhere = Elsewhere::of(transcription);
    let times = [Quantity::Time(Moment::Mean), Quantity::Time(Moment::Whole)];
    let one = |(row, figure): Entry| {
        let (_, time) = elsewhere.find(row, &times)?;
        Some((figure.value() * time.value(), time.unit))
    };
    let all: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| {
            let ((a, unit), (b, _)) = (one(outcome.a)?, one(outcome.b)?);
            let (a_text, b_text) = (amount(a, unit), amount(b, unit));
            Some(format!("{} for {} ({a_text} and {b_text})", precise(a / b), outcome.name))
        })
        .collect();
    let list = listed(&all);
    (!all.is_empty()).then(|| {
        format!("CPU time (share of a CPU × time of the run) differs by a factor of {list}: a lower share over a longer run saves less work than it seems.")
    })
}
