//! Claims about CPU use, checked as CPU time.
//!
//! A share of CPU is CPU time per second of a run. A source may conclude from shares that one subject needs several
//! times the CPU of another. That is about cost only if both took equally long or served equally much. If time or
//! throughput is printed, the law computes the same ratio for CPU times: (share a · time a) ÷ (share b · time b), or
//! (CPUs a ÷ throughput a) ÷ (CPUs b ÷ throughput b).
//!
//! If that ratio has another size, the claim may still be right about CPU in use, so the law cannot tell. The claim is
//! contradicted only if figures of the same rows show that the other subject needs more.

use tolok_model::transcription::{Assertion, Claim, Mark, Number, Quantity, Row, Selector, Transcription};

use super::program_cpu;
use crate::draft::Draft;
use crate::finding::AuditFinding;
use crate::laws::Law;
use crate::range::Range;
use crate::rows::{self, Companions, Known};
use crate::wording;

/// Checks each claimed ratio of CPU shares against the ratio of CPU times, setting by setting.
pub(super) fn check<'a>(transcription: &'a Transcription, companions: &Companions<'a>) -> Vec<AuditFinding> {
    let of_claim = |claim: &Claim| match &claim.asserts {
        Assertion::Ratio { quantity: Quantity::Cpu(moment), a, b, is } => {
            let rows = pairs(transcription, &Quantity::Cpu(*moment), a, b);
            let ratio = |pair| judged((transcription, companions), claim, pair, (claimed_range(is), &is.printed));
            rows.into_iter().filter_map(ratio).collect()
        }
        _ => Vec::new(),
    };
    transcription.claims.iter().flat_map(of_claim).collect()
}

/// The rows that two selectors mean, by setting, where each selector means one row.
fn pairs<'a>(
    transcription: &'a Transcription,
    quantity: &Quantity,
    a: &Selector,
    b: &Selector,
) -> Vec<(&'a Row, &'a Row)> {
    let of = |selector: &Selector| -> Vec<&'a Row> {
        let rows = transcription.rows.iter().filter(|row| selector.means(row) && row.figure(quantity).is_some());
        rows.collect()
    };
    let (all_a, all_b) = (of(a), of(b));
    let partner = |row: &&'a Row| {
        let mut same = all_b.iter().filter(|other| other.scenario == row.scenario);
        let only = same.next()?;
        same.next().is_none().then_some((*row, *only))
    };
    all_a.iter().filter_map(partner).collect()
}

/// The CPU time that a row is about: of a program's run, or of a request.
fn cpu_time<'a>(companions: &Companions<'a>, row: &'a Row) -> Option<Known> {
    let of_request = || {
        let (figure, _) = rows::cpu_figure(row)?;
        let throughput = rows::throughput(row).filter(|known| known.value > 0.0)?;
        rows::cpus_in_use(row, figure).ok().map(|cpus| cpus.over(throughput))
    };
    program_cpu(companions, row).or_else(of_request)
}

/// The conclusion for one pair of rows.
fn judged<'a>(
    (transcription, companions): (&Transcription, &Companions<'a>),
    claim: &Claim,
    (a, b): (&'a Row, &'a Row),
    is: (Range, &str),
) -> Option<AuditFinding> {
    let is_program = [a, b].iter().all(|row| program_cpu(companions, row).is_some());
    let has_time = |row: &Row| row.figures.iter().any(|figure| matches!(figure.quantity, Quantity::Time(_)));
    let is_of_one_row = !is_program || has_time(a) && has_time(b);
    let (what, term) =
        if is_program { (" time", "share × time") } else { (" time for an answer", "CPUs ÷ throughput") };
    let (of_a, of_b) = (cpu_time(companions, a)?, cpu_time(companions, b)?);
    let (time_a, time_b) = (wording::seconds(of_a.value), wording::seconds(of_b.value));
    let ratio = of_a.over(of_b);
    let (times, (claimed, printed)) = (wording::number(ratio.value), is);
    let printed = printed.replace("..", " to ");
    let about = format!("{} against {} (claim {})", transcription.row_name(a), b.subject, claim.id);
    let statement = format!("In CPU time, {} needs {printed} times as much as {}.", a.subject, b.subject);
    let draft = Draft::new(Law::CpuTime, about, statement)
        .inputs(ratio.inputs)
        .inputs([crate::finding::Input { name: claim.says.clone(), printed: printed.clone(), line: claim.line }])
        .arithmetic(format!("{term}: {time_a} ÷ {time_b} = {times}; claimed {printed}"));
    if ratio.range.meets(claimed) {
        return Some(draft.holds(format!("In CPU time the ratio is {times}, as claimed of CPU in use.")));
    }
    let sentence = format!(
        "{} needs {time_a} of CPU{what} and {} {time_b}: {times} times as much, where {printed} is claimed of CPU in use.",
        a.subject, b.subject
    );
    let one = Range::exact(1.0);
    let is_turned =
        ratio.range.is_above(one) && one.is_above(claimed) || one.is_above(ratio.range) && claimed.is_above(one);
    Some(match (is_of_one_row, is_turned) {
        (true, true) => draft.contradicted(sentence),
        (true, false) => {
            draft.lacks(["whether the claim is of CPU in use or of CPU for the same work"]).cannot_tell(sentence)
        }
        (false, _) => draft.lacks(["CPU time and time of the same runs"]).cannot_tell(sentence),
    })
}

/// The values that a claimed number allows. A range in the text is taken as given.
fn claimed_range(number: &Number) -> Range {
    match number.mark {
        Mark::Between { low, high } => Range::between(low, high),
        _ => Range::of_number(number),
    }
}
