//! Steadiness: is a run long enough for the server to be steady?
//!
//! - **Series.** The slope of Theil and Sen (P. K. Sen, "Estimates of the regression coefficient based on Kendall's
//!   tau", JASA 63(324), 1968) over the last third of the readings, at least five, times the length of that third,
//!   relative to its median. If that is above 10%, and the 95% interval of the slope excludes 0, the figure still grows
//!   or falls. This contradicts nothing: the run does not show where the server settles.
//! - **Ramp.** If connections grow during the run, a figure of the whole run is a mean over many loads.
//! - **No warm-up and no series.** In runs below a minute, nothing shows whether the beginning was slower.

use tolok_model::transcription::{Figure, Row, Series, Transcription};
use tolok_stats::{Level, theil_sen};

use crate::draft::Draft;
use crate::groups::{measured, names_of_tables};
use crate::laws::LawInfo;
use crate::rows::{duration_s, rate, rate_inputs};
use crate::wording::{amount, counted, listed, noun, percent, setting, significant};
use crate::{AuditFinding, Law};

/// A figure that changes by more than this share over the last third of a run is not steady.
const STILL: f64 = 0.1;

/// The fewest readings of the last third.
const LEAST: usize = 5;

/// Longer runs, in seconds, are hardly affected by a slow beginning without warm-up.
const LONG_S: f64 = 60.0;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Steadiness",
    says: "A run is long enough for the server to be steady.",
    needs: "a rate, and its series or the length of the run",
    check,
};

/// Checks series, then rows.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = of_series(transcription);
    let served: Vec<&Row> = measured(transcription).into_iter().filter(|row| rate(row).is_some()).collect();
    found.extend(ramp(&served));
    found.extend(no_beginning(transcription, &served));
    found
}

/// A figure of a series, and its course over the last third.
struct End<'a> {
    series: &'a Series,
    figure: &'a Figure,
    /// Per second, or per reading if no times are given.
    slope: f64,
    /// Change over the last third ÷ its median.
    change: f64,
    readings: usize,
    first: f64,
    last: f64,
}

fn of_series(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    let mut steady: Vec<End> = Vec::new();
    for series in &transcription.series {
        let ends = series.figures.iter().filter_map(|figure| end(series, figure));
        let (moving, still): (Vec<End>, Vec<End>) = ends.partition(|end| end.change.abs() > STILL);
        steady.extend(still);
        if !moving.is_empty() {
            found.push(not_steady(transcription, series, &moving));
        }
    }
    if !steady.is_empty() {
        found.push(all_steady(&steady));
    }
    found
}

fn end<'a>(series: &'a Series, figure: &'a Figure) -> Option<End<'a>> {
    let n = figure.numbers.len();
    let times: Vec<f64> =
        if series.second.len() == n { series.second.clone() } else { (0..n).map(|index| index as f64).collect() };
    let from = n - (n / 3).max(LEAST).min(n);
    if n < 3 * LEAST {
        return None;
    }
    let values: Vec<f64> = figure.numbers[from..].iter().map(|number| number.value).collect();
    let found = theil_sen(&times[from..], &values, Level::P95)?;
    // A slope that may be 0 counts as 0.
    let is_sure = found.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0);
    let slope = if is_sure { found.slope } else { 0.0 };
    let length = times[n - 1] - times[from];
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let change = if median == 0.0 { 0.0 } else { slope * length / median };
    Some(End { series, figure, slope, change, readings: n - from, first: times[from], last: times[n - 1] })
}

fn not_steady(transcription: &Transcription, series: &Series, moving: &[End]) -> AuditFinding {
    let setting =
        setting(transcription, series.scenario.as_deref()).map(|text| format!(", {text}")).unwrap_or_default();
    let name = format!("{}{setting}", series.subject);
    let (per, at) = if series.second.is_empty() { ("a reading", "reading") } else { ("a second", "second") };
    let one = |end: &End| {
        let verb = if end.change > 0.0 { "grew" } else { "fell" };
        let slope = amount(round(end.slope.abs()), end.figure.unit).replace('%', " points");
        format!("the {} still {verb} by {slope} {per}", noun(&end.figure.quantity))
    };
    let grew = listed(&moving.iter().map(one).collect::<Vec<_>>());
    let arithmetic: Vec<String> = moving
        .iter()
        .map(|end| {
            let what = noun(&end.figure.quantity);
            format!("{what}: {} over the last {} readings", percent(end.change), end.readings)
        })
        .collect();
    moving
        .iter()
        .fold(
            Draft::new(Law::Steadiness, name.clone(), format!("{name} is steady in the last third of the run.")),
            |draft, end| draft.series(end.series, end.figure),
        )
        .arithmetic(arithmetic.join("; "))
        .lacks(["a longer run"])
        .cannot_tell(format!(
            "{} from {at} {} to {}: where it settles is not shown.",
            tolok_model::sentences::capital(&grew),
            significant(moving[0].first, 4),
            significant(moving[0].last, 4),
        ))
}

/// Rounds a slope to three digits.
fn round(slope: f64) -> f64 {
    if slope == 0.0 {
        return 0.0;
    }
    let unit = 10f64.powf(slope.log10().floor() - 2.0);
    (slope / unit).round() * unit
}

fn all_steady(steady: &[End]) -> AuditFinding {
    let most = steady.iter().map(|end| end.change.abs()).fold(0.0, f64::max);
    let number = counted(steady.len(), "figure");
    steady
        .iter()
        .fold(
            Draft::new(
                Law::Steadiness,
                format!("{number} over time"),
                "A figure is steady in the last third of the run.",
            ),
            |draft, end| draft.series(end.series, end.figure),
        )
        .arithmetic(format!("largest change over the last third: {}", percent(most)))
        .holds(format!(
            "{} over time change by at most {} over the last third of the run.",
            tolok_model::sentences::capital(&number),
            percent(most)
        ))
}

fn ramp(rows: &[&Row]) -> Option<AuditFinding> {
    let ramped: Vec<&Row> = rows.iter().copied().filter(|row| row.conditions.ramp == Some(true)).collect();
    (!ramped.is_empty()).then(|| {
        Draft::new(Law::Steadiness, names_of_tables(&ramped), "The load was the same during the run.")
            .inputs(rate_inputs(ramped.iter().copied()))
            .lacks(["figures of the time at full load"])
            .cannot_tell(format!(
                "The number of users grew during the runs of {}: a rate of the whole run is a mean over all loads on the way.",
                counted(ramped.len(), "row")
            ))
    })
}

/// Short runs without warm-up whose beginning is not shown by any series.
fn no_beginning(transcription: &Transcription, rows: &[&Row]) -> Option<AuditFinding> {
    let has_series = |row: &Row| {
        transcription.series.iter().any(|series| series.subject == row.subject && series.scenario == row.scenario)
    };
    let short: Vec<(&Row, f64)> = rows
        .iter()
        .filter(|row| row.conditions.warmup_s.is_none_or(|warmup_s| warmup_s == 0.0) && !has_series(row))
        .filter_map(|row| {
            duration_s(row).filter(|duration_s| *duration_s < LONG_S).map(|duration_s| (*row, duration_s))
        })
        .collect();
    let (least, most) =
        short.iter().fold((f64::INFINITY, 0.0f64), |(least, most), (_, s)| (least.min(*s), most.max(*s)));
    let lasted = if most - least < 0.5 {
        format!("{} s", significant(most.round(), 3))
    } else {
        format!("{} to {} s", significant(least, 3), significant(most, 3))
    };
    (!short.is_empty()).then(|| {
        Draft::new(
            Law::Steadiness,
            names_of_tables(&short.iter().map(|(row, _)| *row).collect::<Vec<_>>()),
            "The beginning of the runs does not weigh in their figures.",
        )
        .inputs(rate_inputs(short.iter().map(|(row, _)| *row)))
        .arithmetic(format!("length of a run: {lasted}"))
        .lacks(["a warm-up before the figures, or figures by the second"])
        .cannot_tell(format!(
            "The runs of {} lasted {lasted}; no warm-up is stated and no figures by the second show the beginning.",
            counted(short.len(), "row")
        ))
    })
}
