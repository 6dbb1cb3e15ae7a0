//! Limits other than computing or queueing: links, memory, the offered rate, and windows that show no limit.

use tolok_model::Measurement;
use tolok_model::sentences::sentence;

use super::{KEEPS_UP, busy, found, said};
use crate::case_inputs::CaseInputs;
use crate::estimate::{geometric_mean, middle};
use crate::figures::{Quantity, amount, small_share};
use crate::findings::{Bottleneck, BottleneckKind, LinkUse};
use crate::flag::{LINK_FULL, MEMORY_LIMIT_NEAR};
use crate::gates::is_mostly_unsteady;
use crate::observations::goodput;
use crate::steadiness;

/// A goodput counts as scattered if its interval is wider than this to either side, as a ratio.
pub const NOISY_HALF_WIDTH: f64 = 0.10;

/// A window during which the database was down has two halves and no single limit.
pub(super) fn outage(inputs: &CaseInputs) -> Option<Bottleneck> {
    inputs.asked?.outage_at_s?;
    said(BottleneckKind::NoneFound, "the database was gone for a part of the window".to_owned())
}

pub(super) fn offered_rate(inputs: &CaseInputs) -> Option<Bottleneck> {
    let kept = |trial: &Measurement| Some(trial.goodput_rps / trial.offered_rps?);
    let kept = middle(&inputs.observations.every(kept)).filter(|kept| *kept >= KEEPS_UP)?;
    let offered = middle(&inputs.observations.every(|trial| trial.offered_rps))?;
    let (kept, offered) = (small_share(kept.min(1.0)), amount(Quantity::Number, offered));
    found(BottleneckKind::OfferedRate, "It answered", format!("{kept} of the {offered} requests offered per second"))
}

pub(super) fn link(inputs: &CaseInputs) -> Option<Bottleneck> {
    let environment = &inputs.around.environment;
    let answers_bps = middle(&inputs.observations.every(|trial| Some(8.0 * trial.body_bytes as f64 / trial.window_s)));
    let rows_bps = inputs.database().and_then(|database| database.sent_bytes_per_s).map(|bytes| 8.0 * bytes);
    // The load offered to the link emulator. Without emulator figures, at least the bytes that arrived.
    let used = |rate_bps: Option<f64>, link: Option<&LinkUse>, seen_bps: Option<f64>| {
        let rate_bps = rate_bps?;
        let offered = link.and_then(LinkUse::rate_offered);
        let used = offered.or(seen_bps.map(|seen_bps| seen_bps / rate_bps)).filter(|used| *used >= LINK_FULL)?;
        Some(format!("{} of its {}bit/s", small_share(used), amount(Quantity::Number, rate_bps)))
    };
    if let Some(evidence) = used(environment.link.rate_bps, inputs.figures.link.as_ref(), answers_bps) {
        return found(BottleneckKind::Link, "The link between client and subject was offered", evidence);
    }
    let database_rate_bps = environment.database.as_ref().and_then(|database| database.link.rate_bps);
    let database_link = inputs.database().and_then(|database| database.link.as_ref());
    let evidence = used(database_rate_bps.filter(|_| inputs.asked.is_some()), database_link, rows_bps)?;
    found(BottleneckKind::Link, "The link between subject and database was offered", evidence)
}

pub(super) fn memory(inputs: &CaseInputs) -> Option<Bottleneck> {
    let near = |peak: Option<f64>| peak.filter(|share| *share >= MEMORY_LIMIT_NEAR).map(small_share);
    let evidence = |peak: String| format!("{peak} of its limit, page cache included; {}", inputs.idle());
    if let Some(peak) = near(inputs.figures.resources.peak_of_limit) {
        return found(BottleneckKind::Memory, "The subject’s memory came to", evidence(peak));
    }
    let peak = near(inputs.database().and_then(|database| database.peak_of_limit))?;
    found(BottleneckKind::Memory, "The database’s memory came to", evidence(peak))
}

/// Follows the same rule as the gate: a window without a steady level has no single limit.
pub(super) fn not_steady(inputs: &CaseInputs) -> Option<Bottleneck> {
    let steady = inputs.steady.filter(|steady| is_mostly_unsteady(steady))?;
    said(BottleneckKind::NotSteady, format!("{}; {}", steadiness::words(steady), inputs.idle()))
}

/// The trials differ this much and nothing is at its limit, so the cause differs between trials.
pub(super) fn noisy(inputs: &CaseInputs) -> Option<Bottleneck> {
    let rate = geometric_mean(&inputs.observations.every(goodput))?;
    let (low, high) = rate.low.zip(rate.high)?;
    let half_width = (high / low).sqrt() - 1.0;
    let evidence = || {
        let [low, high] = [low, high].map(|rate_rps| amount(Quantity::Number, rate_rps));
        format!("the interval of its goodput runs from {low} to {high} a second; {}", inputs.idle())
    };
    (half_width > NOISY_HALF_WIDTH).then(|| said(BottleneckKind::Noisy, evidence()))?
}

pub(super) fn none_found(inputs: &CaseInputs) -> Bottleneck {
    if inputs.is_external() {
        return unknown(inputs);
    }
    let evidence = inputs.idle();
    Bottleneck { kind: BottleneckKind::NoneFound, sentence: sentence(&evidence), evidence }
}

/// For a server that tolok did not start, only the generator can be ruled out.
fn unknown(inputs: &CaseInputs) -> Bottleneck {
    let generator = busy(inputs.figures.generator_busy);
    let evidence =
        format!("not the generator, which used {generator} of its CPUs; the rest does not show from outside");
    let sentence = format!(
        "The generator, which used {generator} of its CPUs, was not the limit; the rest does not show from outside."
    );
    Bottleneck { kind: BottleneckKind::NoneFound, evidence, sentence }
}
