//! Published and measured figures in words.

use tolok_model::transcription::{Figure, Mark, Moment, Number, Quantity, Transcription, Unit};

use super::gauge::Scale;
use crate::figures::{Quantity as Kind, figure, in_column};
use crate::findings::Estimate;
use crate::published::Said;

/// The most that are named with their figures.
const MOST_NAMED: usize = 4;
/// The uncertainty of a number with `~`, as a share of it.
pub(super) const ABOUT: f64 = 0.05;

/// `Kamarudin and others, 2026`
pub(super) fn source(transcription: &Transcription) -> String {
    let year = transcription.year.map(|year| year.to_string());
    [transcription.authors.clone(), year].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) fn quantity(published: &Quantity) -> String {
    let of = |what: &str, at: Moment| match moment(at) {
        Some(moment) => format!("{moment} {what}"),
        None => what.to_owned(),
    };
    match published {
        Quantity::Throughput => "throughput".to_owned(),
        Quantity::Goodput => "goodput".to_owned(),
        Quantity::Requests => "requests".to_owned(),
        Quantity::Offered => "offered rate".to_owned(),
        Quantity::Successes => "correct responses".to_owned(),
        Quantity::Failures => "failed requests".to_owned(),
        Quantity::Timeouts => "time-outs".to_owned(),
        Quantity::ErrorRate => "error rate".to_owned(),
        Quantity::HttpFailRate => "HTTP fail rate".to_owned(),
        Quantity::Latency(at) => of("latency", *at),
        Quantity::Time(at) => of("time", *at),
        Quantity::Runs => "runs".to_owned(),
        Quantity::Bandwidth => "bandwidth".to_owned(),
        Quantity::Transferred => "bytes of a run".to_owned(),
        Quantity::Body => "body".to_owned(),
        Quantity::Memory(at) => of("memory", *at),
        Quantity::Cpu(at) => of("CPU", *at),
        Quantity::CpuPerRequest => "CPU per request".to_owned(),
        Quantity::Other(name) => name.clone(),
    }
}

pub(super) fn measure(measured: &Quantity) -> String {
    match measured {
        Quantity::Goodput => "correct responses per second".to_owned(),
        Quantity::ErrorRate => "share of requests that failed".to_owned(),
        Quantity::Timeouts => "share of requests that timed out".to_owned(),
        Quantity::Cpu(_) => "CPU in use".to_owned(),
        Quantity::CpuPerRequest => "CPU time per response".to_owned(),
        Quantity::Body => "size of a response".to_owned(),
        other => quantity(other),
    }
}

fn moment(at: Moment) -> Option<String> {
    Some(match at {
        Moment::Whole => return None,
        Moment::Mean => "mean".to_owned(),
        Moment::Sd => "standard deviation of".to_owned(),
        Moment::Min => "least".to_owned(),
        Moment::Max => "largest".to_owned(),
        Moment::Percentile(hundredths) => format!("p{}", f64::from(hundredths) / 100.0),
    })
}

/// The suffix of a number, including a leading space if it needs one.
pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        // Reports write percentages without a space.
        Unit::Percent => "%",
        other => other.suffix(),
    }
}

/// A figure as printed, with its unit: `19.30/s`, `9133, 8946`.
pub(super) fn printed(figure: &Figure) -> String {
    let numbers: Vec<String> = figure.numbers.iter().map(number).collect();
    format!("{}{}", numbers.join(", "), unit(figure.unit))
}

/// A number as printed, with its mark in the usual form: `430–490`.
pub(super) fn number(number: &Number) -> String {
    number.printed.replace("..", "–")
}

/// A measured figure in the source's unit: `19.3/s (18.9–19.8/s)`.
pub(super) fn in_unit(estimate: &Estimate, of: Unit) -> String {
    let show = |value: f64| in_column(value / of.factor());
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            let unit = unit(of);
            format!("{}{unit} ({}–{}{unit})", show(estimate.value), show(low), show(high))
        }
        _ => format!("{}{}", show(estimate.value), unit(of)),
    }
}

/// A measured ratio, or a difference of shares: `1.92× (1.85–1.99)`, `12.3 (11.0–13.6) percentage points more`.
pub(super) fn compared(found: &Estimate, scale: Scale) -> String {
    if scale == Scale::Ratio {
        return figure(Kind::Ratio, found).line();
    }
    if found.value == 0.0 && [found.low, found.high].into_iter().flatten().all(|end| end == 0.0) {
        return "0 percentage points apart".to_owned();
    }
    let is_more = found.value >= 0.0;
    let signed = |value: f64| in_column(if is_more { value } else { -value } * 100.0);
    let ends = found.low.zip(found.high).map(|(low, high)| if is_more { (low, high) } else { (high, low) });
    let interval = ends.map(|(low, high)| format!(" ({} to {})", signed(low), signed(high))).unwrap_or_default();
    let more = if is_more { "more" } else { "less" };
    format!("{}{interval} percentage points {more}", signed(found.value))
}

/// The possible values of a number, in base units: its rounding, the uncertainty of `~`, or its range. A bound that the source
/// states explicitly was not rounded.
pub(super) fn meant(number: &Number) -> Said {
    let Number { value, half_unit, .. } = *number;
    let (low, high) = match number.mark {
        Mark::Plain => (value - half_unit, value + half_unit),
        Mark::About => (value - (ABOUT * value).max(half_unit), value + (ABOUT * value).max(half_unit)),
        Mark::AtLeast => (value, f64::INFINITY),
        Mark::AtMost => (0.0, value),
        Mark::Between { low, high } => (low, high),
    };
    Said { value, low: low.max(0.0), high }
}

/// The same for a figure, which may have a number for each repetition.
pub(super) fn meant_by(figure: &Figure) -> Said {
    let all: Vec<Said> = figure.numbers.iter().map(meant).collect();
    let mean = |of: fn(&Said) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    Said { value: mean(|it| it.value), low: mean(|it| it.low), high: mean(|it| it.high) }
}

/// The ratio of two figures with the uncertainty of both, or `None` if there is none.
pub(super) fn ratio_of(a: &Figure, b: &Figure) -> Option<Said> {
    let (a, b) = (meant_by(a), meant_by(b));
    let is_sound = a.value > 0.0 && b.value > 0.0 && a.value.is_finite() && b.value.is_finite();
    let over = |above: f64, below: f64| if below > 0.0 { above / below } else { f64::INFINITY };
    is_sound.then(|| Said { value: a.value / b.value, low: over(a.low, b.high), high: over(a.high, b.low) })
}

/// Each name with its figure. If all figures are equal, the figure and their number. `None` without any.
pub(super) fn named(all: &[(String, String)], noun: &str) -> Option<String> {
    let (_, first) = all.first()?;
    if all.len() > 1 && all.iter().all(|(_, figure)| figure == first) {
        return Some(format!("{first} in each of {} {noun}", all.len()));
    }
    let mut named: Vec<String> =
        all.iter().take(MOST_NAMED).map(|(name, figure)| format!("{name}: {figure}")).collect();
    let rest = all.len().saturating_sub(MOST_NAMED);
    named.extend((rest > 0).then(|| format!("{rest} more")));
    Some(named.join("; "))
}
