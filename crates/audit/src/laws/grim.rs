//! GRIM: means of whole numbers.
//!
//! The mean of n whole numbers is k ÷ n for a whole k. A mean m printed with d decimals is possible only if some k ÷ n
//! rounds to it: |k ÷ n − m| ≤ ½ · 10⁻ᵈ. This is informative only while 1 ÷ n is wider than one unit of the last digit;
//! of all numbers with d decimals, the share n ÷ 10ᵈ fits. Source: N. J. L. Brown and J. A. J. Heathers, "The GRIM
//! test: a simple technique detects numerous anomalies in the reporting of results in psychology", *Social
//! Psychological and Personality Science* 8(4), 2017.
//!
//! - **Counts** (requests, failures, time-outs) are whole. A printed mean that no k ÷ n yields, neither rounded nor
//!   truncated after its last digit, is contradicted: it is not the mean of so many counts.
//! - **Other readings** have an unknown step, so they cannot be contradicted. But all means of a column may
//!   be k · s ÷ n for the same step s = 1, 0.1, 0.01, … of their unit. If at most 5 in 100 such columns would be so by
//!   chance, the stated number of repetitions is confirmed. Numbers without decimals always fit and are no evidence;
//!   equal ones count once.

use std::collections::BTreeSet;

use tolok_model::transcription::{Figure, Mark, Number, Quantity, Row, Series, Transcription, Unit};

use crate::draft::Draft;
use crate::laws::LawInfo;
use crate::wording::{chance, counted, listed, noun, significant};
use crate::{AuditFinding, Input, Law};

/// A column is reported only if it would fit by chance at most this often.
const CHANCE: f64 = 0.05;

/// Steps of readings to try: powers of ten.
const STEPS: [f64; 3] = [1.0, 0.1, 0.01];

/// A printed mean, in its printed unit.
#[derive(Clone)]
struct Mean {
    value: f64,
    decimals: u32,
    input: Input,
    of: String,
}

/// The means of one key with the same number of repetitions.
struct Column {
    key: String,
    quantity: Quantity,
    unit: Unit,
    repetitions: u64,
    means: Vec<Mean>,
}

pub(super) const LAW: LawInfo = LawInfo {
    title: "Granularity of means (GRIM)",
    says: "The mean of n whole numbers is a multiple of 1/n.",
    needs: "the number of repetitions, and means over them",
    check,
};

/// Whether there are means of a stated number of repetitions. Those without telling decimals have no finding.
pub(super) fn has_columns(transcription: &Transcription) -> bool {
    columns(transcription).iter().any(|column| !column.means.is_empty())
}

/// Tests every column of means with decimals.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    columns(transcription)
        .iter()
        .flat_map(|column| match column.quantity {
            Quantity::Requests | Quantity::Failures | Quantity::Timeouts => counts(column),
            _ => readings(column).into_iter().collect(),
        })
        .collect()
}

fn columns(transcription: &Transcription) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for row in &transcription.rows {
        for figure in row.figures.iter().filter(|figure| figure.numbers.len() == 1) {
            let means = vec![mean(figure, &figure.numbers[0], Input::of_row(row, figure), name(transcription, row))];
            add(&mut columns, row.conditions.repetitions, figure, means);
        }
    }
    for series in &transcription.series {
        for figure in &series.figures {
            let of = |number: &Number| mean(figure, number, input(series, figure, number), series.subject.clone());
            add(&mut columns, series.conditions.repetitions, figure, figure.numbers.iter().map(of).collect());
        }
    }
    columns
}

fn name(transcription: &Transcription, row: &Row) -> String {
    transcription.row_name(row)
}

fn input(series: &Series, figure: &Figure, number: &Number) -> Input {
    Input { printed: number.printed.clone(), ..Input::of_series(series, figure) }
}

/// Only plain numbers have decimals that can be tested.
fn mean(figure: &Figure, number: &Number, input: Input, of: String) -> Option<Mean> {
    let plain = number.mark == Mark::Plain;
    plain.then(|| Mean { value: number.value / figure.unit.factor(), decimals: number.decimals, input, of })
}

fn add(columns: &mut Vec<Column>, repetitions: Option<u64>, figure: &Figure, means: Vec<Option<Mean>>) {
    let Some(repetitions) = repetitions.filter(|repetitions| *repetitions >= 2) else { return };
    let means = means.into_iter().flatten();
    match columns.iter_mut().find(|column| column.key == figure.key && column.repetitions == repetitions) {
        Some(column) => column.means.extend(means),
        None => columns.push(Column {
            key: figure.key.clone(),
            quantity: figure.quantity.clone(),
            unit: figure.unit,
            repetitions,
            means: means.collect(),
        }),
    }
}

/// Whether some k · step ÷ n is between `below` under the value and `above` over it.
fn fits(value: f64, step: f64, repetitions: u64, below: f64, above: f64) -> bool {
    let spacing = step / repetitions as f64;
    // The largest multiple that is not too high. The slack only covers the last bits of f64.
    let slack = 1e-9 * (1.0 + value.abs());
    let nearest = ((value + above + slack) / spacing).floor() * spacing;
    nearest >= value - below - slack
}

/// Whether numbers with this many decimals are finer than the means could be.
fn is_telling(step: f64, repetitions: u64, decimals: u32) -> bool {
    share(step, repetitions, decimals) < 1.0 - 1e-9
}

/// Share of the numbers with this many decimals that fit.
fn share(step: f64, repetitions: u64, decimals: u32) -> f64 {
    repetitions as f64 / (step * unit(decimals).recip())
}

/// One unit of the last digit.
fn unit(decimals: u32) -> f64 {
    10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX))
}

fn counts(column: &Column) -> Vec<AuditFinding> {
    let n = column.repetitions;
    let telling = column.means.iter().filter(|mean| is_telling(1.0, n, mean.decimals));
    let (fitting, not): (Vec<&Mean>, Vec<&Mean>) = telling.partition(|mean| {
        let unit = unit(mean.decimals);
        // A truncated number represents all values below the next one. Any other multiple is at least 1/n of a unit
        // away.
        fits(mean.value, 1.0, n, unit / 2.0, unit * (1.0 - 0.5 / n as f64))
    });
    let mut found: Vec<AuditFinding> = not.into_iter().map(|mean| impossible(column, mean)).collect();
    if !fitting.is_empty() {
        let what = noun(&column.quantity);
        let statement = format!("Each {what} is the mean of {n} whole numbers.");
        let number = counted(fitting.len(), "printed mean");
        let verb = if fitting.len() == 1 { "is a multiple" } else { "are multiples" };
        let draft =
            fitting.iter().fold(Draft::new(Law::Grim, what, statement), |draft, mean| draft.with(mean.input.clone()));
        let sentence = format!("The {number} {verb} of 1/{n}, as means of {n} whole numbers are.");
        found.push(draft.arithmetic(format!("k / {n} for a whole k")).holds(sentence));
    }
    found
}

fn impossible(column: &Column, mean: &Mean) -> AuditFinding {
    let (n, what) = (column.repetitions, noun(&column.quantity));
    let below = (mean.value * n as f64).floor();
    let digits = mean.decimals as usize;
    let near = [below, below + 1.0].map(|k| format!("{k} / {n} = {:.digits$}", k / n as f64));
    Draft::new(Law::Grim, format!("{what} of {}", mean.of), format!("The {what} is the mean of {n} whole numbers."))
        .with(mean.input.clone())
        .arithmetic(format!("{} and {}; printed {}", near[0], near[1], mean.input.printed))
        .contradicted(format!(
            "{} is not the mean of {n} whole numbers: the nearest are {:.digits$} and {:.digits$}.",
            mean.input.printed,
            below / n as f64,
            (below + 1.0) / n as f64,
        ))
}

fn readings(column: &Column) -> Option<AuditFinding> {
    let n = column.repetitions;
    let decimals = column.means.iter().map(|mean| mean.decimals).max().filter(|decimals| *decimals > 0)?;
    let half = unit(decimals) / 2.0;
    let all_fit = |step: &f64| column.means.iter().all(|mean| fits(mean.value, *step, n, half, half));
    let step = STEPS.into_iter().find(|step| is_telling(*step, n, decimals) && all_fit(step))?;
    let evidence: BTreeSet<u64> = column
        .means
        .iter()
        .filter(|mean| mean.decimals > 0 && mean.value != 0.0)
        .map(|mean| mean.value.to_bits())
        .collect();
    let log10 = evidence.len() as f64 * share(step, n, decimals).log10();
    if log10 > CHANCE.log10() {
        return None;
    }
    let what = noun(&column.quantity);
    let step_text = format!("{}{}", significant(step, 2), column.unit.suffix());
    let ends: Vec<&Mean> = column.means.iter().filter(|mean| mean.decimals > 0).take(3).collect();
    let draft = Draft::new(
        Law::Grim,
        what.clone(),
        format!("Each {what} is a mean of {n} readings, and these are in steps of {step_text}."),
    );
    let draft = ends.iter().fold(draft, |draft, mean| draft.with(mean.input.clone()));
    let shown: Vec<String> = ends
        .iter()
        .map(|mean| {
            format!("{} · {n} = {}", mean.input.printed, significant((mean.value * n as f64 / step).round() * step, 6))
        })
        .collect();
    let number = counted(column.means.len(), "printed mean");
    let sentence = format!(
        "{} fit{} {n} readings in steps of {step_text}, as many as the source says; numbers at random would do so in {}.",
        if column.means.len() == 1 { format!("The {number}") } else { format!("All {number}") },
        if column.means.len() == 1 { "s" } else { "" },
        chance(log10),
    );
    let draft = draft.inferring(Some(format!("The readings were most probably taken in steps of {step_text}.")));
    Some(draft.arithmetic(listed(&shown)).holds(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_fit_three_and_not_four() {
        assert!(fits(49.33, 1.0, 3, 0.005, 0.005) && fits(50.67, 1.0, 3, 0.005, 0.005));
        assert!(!fits(49.33, 1.0, 4, 0.005, 0.005) && !fits(49.34, 1.0, 3, 0.005, 0.005));
    }

    #[test]
    fn a_number_that_is_cut_off_fits_only_with_room_above() {
        assert!(!fits(2.66, 1.0, 3, 0.005, 0.005) && fits(2.66, 1.0, 3, 0.005, 0.01));
    }

    #[test]
    fn coarse_numbers_tell_nothing() {
        assert!(is_telling(1.0, 5, 1) && is_telling(0.1, 5, 2));
        assert!(!is_telling(1.0, 10, 1) && !is_telling(1.0, 5, 0) && !is_telling(0.1, 5, 1));
    }
}
