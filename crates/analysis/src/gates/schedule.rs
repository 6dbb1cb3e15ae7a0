//! For open loops: whether the generator sent all due requests, and on time.

use tolok_model::{LatePercentile, LoadTool, Measurement};

use super::{Judged, Seen, warning};
use crate::case_inputs::CaseInputs;
use crate::figures::{Quantity, amount, small_share};

/// Up to this share of the scheduled requests may still wait when the window ends. tolok's own tool uses the same limit.
pub const UNSENT_TOLERATED: f64 = 0.001;
/// A percentile that the generator's lateness moves by more than this share is left out. tolok's own tool uses the same limit.
pub const MOVED_TOLERATED: f64 = 0.05;
/// Lateness beyond this share of a response time affects it noticeably. tolok's own tool uses the same limit.
pub const LATENESS_TOLERATED: f64 = 0.10;

pub(super) fn offered_rate(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    if let Some(warned) = warning("offered-rate", trial, inputs) {
        return warned;
    }
    let ledger = &trial.ledger;
    let scheduled = ledger.scheduled.or(ledger.sent.map(|sent| sent + ledger.unsent));
    let Some(scheduled) = scheduled.filter(|_| trial.offered_rps.is_some()) else {
        return Judged::Unknown("the tool does not report what rate it offered".to_owned());
    };
    let unsent = ledger.unsent as f64 / scheduled.max(1) as f64;
    let text = format!("{} of the scheduled requests were not sent", small_share(unsent));
    let seen = Seen::number(text, unsent, UNSENT_TOLERATED);
    // The tool decides whether this bars the case. The flag `backlog` gives the number of waiting requests.
    if unsent <= UNSENT_TOLERATED { Judged::Passed(seen) } else { Judged::Failed(seen, None) }
}

/// Follows the rule of tolok's own tool: how much lateness moves each percentile. A percentile that moves too much is left out;
/// the others and the goodput are unaffected. Records older than this rule hold the lateness itself.
pub(super) fn lateness(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    if let Some(warned) = warning("lateness", trial, inputs) {
        return warned;
    }
    let checks = trial.checks.as_ref();
    if let Some(late) = checks.and_then(|checks| checks.late_percentiles.as_ref()) {
        return moved(late);
    }
    let told = checks.and_then(|checks| checks.lateness_p99_s).zip(trial.latency.at(0.5));
    let Some((late_s, median_s)) = told.filter(|(_, median_s)| *median_s > 0.0) else {
        let who = if inputs.scenario.tool.name == LoadTool::Tolok { "the record" } else { "the tool" };
        return Judged::Unknown(format!("{who} does not report how late requests left"));
    };
    let share = late_s / median_s;
    let is_felt = |late_s: f64, of_s: f64| late_s > LATENESS_TOLERATED * of_s;
    let tail = trial.latency.at(0.99).is_none_or(|p99_s| is_felt(late_s, p99_s));
    let median = checks.and_then(|checks| checks.lateness_p50_s).is_some_and(|late_s| is_felt(late_s, median_s));
    let text = format!(
        "99% of the requests left within {} of when they could, {} of the median latency",
        amount(Quantity::Seconds, late_s),
        small_share(share)
    );
    if share <= LATENESS_TOLERATED {
        return Judged::Passed(Seen::number(text, share, LATENESS_TOLERATED));
    }
    match tail || median {
        true => Judged::Failed(Seen::number(text, share, LATENESS_TOLERATED), None),
        false => Judged::Passed(Seen::words(format!("{text}, which is little beside the 99th percentile"))),
    }
}

fn moved(late: &[LatePercentile]) -> Judged {
    let Some(worst) = late.iter().max_by(|one, other| one.moved.total_cmp(&other.moved)) else {
        return Judged::Passed(Seen::words("the generator's lateness moved no percentile by more than 5%".to_owned()));
    };
    let names: Vec<String> = late.iter().map(|it| format!("p{}", it.quantile * 100.0)).collect();
    let text = format!(
        "the generator's lateness moved {} by up to {}, so they are not given",
        names.join(", "),
        small_share(worst.moved)
    );
    Judged::Failed(Seen::number(text, worst.moved, MOVED_TOLERATED), None)
}
