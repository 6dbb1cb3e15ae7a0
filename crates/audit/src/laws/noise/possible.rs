//! Checks whether a standard deviation is possible with the mean, the minimum, the maximum and the number of values.

use tolok_model::transcription::{Figure, Moment, Quantity, Row, Transcription};

use super::welch::spread;
use crate::draft::Draft;
use crate::groups::tables;
use crate::range::Range;
use crate::wording::{amount, counted};
use crate::{AuditFinding, Law};

/// One finding for each impossible row, and one for all others of a table.
pub(super) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    for (table, rows) in tables(transcription) {
        let tested: Vec<Tested> = rows.iter().filter_map(|row| test(row)).collect();
        found.extend(tested.iter().filter(|of| !of.is_possible()).map(|of| impossible(transcription, of)));
        let sound: Vec<&Tested> = tested.iter().filter(|of| of.is_possible()).collect();
        if !sound.is_empty() {
            found.push(all_possible(table, &sound));
        }
    }
    found
}

/// A row, with the bounds of its spread.
struct Tested<'a> {
    row: &'a Row,
    sd_figure: &'a Figure,
    figures: [&'a Figure; 3],
    sd: Range,
    least: f64,
    most: f64,
    /// Whether any values can have this mean, minimum and maximum.
    has_values: bool,
    /// The bounds of their mean, in seconds.
    means: Range,
}

impl Tested<'_> {
    fn is_possible(&self) -> bool {
        self.has_values && self.sd.meets(Range::between(self.least, self.most))
    }
}

fn test(row: &Row) -> Option<Tested<'_>> {
    let of = spread(row, &Quantity::Time(Moment::Mean)).filter(|of| of.mean_figure.numbers.len() == 1)?;
    let (min, max) = (row.figure(&Quantity::Time(Moment::Min))?, row.figure(&Quantity::Time(Moment::Max))?);
    let (a, b) = (Range::of(min), Range::of(max));
    if a.vague || b.vague {
        return None;
    }
    let means = means(a, b, of.runs);
    let (least, most) = ends(of.mean, a, b, of.runs);
    let figures = [of.mean_figure, min, max];
    let has_values = of.mean.meets(means);
    // If no values exist, the bounds of their deviation cross.
    Some(Tested { row, sd_figure: of.sd_figure, figures, sd: of.sd, least, most: most.max(least), has_values, means })
}

/// The bounds of the mean of n values with this minimum and maximum: all others are at one end or at the other.
fn means(min: Range, max: Range, n: f64) -> Range {
    Range::between((min.low * (n - 1.0) + max.low) / n, (max.high * (n - 1.0) + min.high) / n)
}

/// The smallest and largest standard deviation of any values within the rounding.
fn ends(mean: Range, min: Range, max: Range, n: f64) -> (f64, f64) {
    // (b − m)(m − a) grows with b and falls with a; as a function of m, it is largest in the middle.
    let m = f64::midpoint(min.low, max.high).clamp(mean.low, mean.high);
    let most = (n / (n - 1.0) * ((max.high - m) * (m - min.low)).max(0.0)).sqrt();
    // Each square is smallest where its ends are nearest. Minimised separately, they are still a bound. Two values have
    // no others.
    let above = (max.low - mean.high).max(0.0);
    let below = (mean.low - min.high).max(0.0);
    let sum = Range::between(min.low + max.low - 2.0 * mean.high, min.high + max.high - 2.0 * mean.low);
    let rest = if n > 2.0 { sum.low.max(-sum.high).max(0.0).powi(2) / (n - 2.0) } else { 0.0 };
    let least = ((above.powi(2) + below.powi(2) + rest) / n).sqrt();
    (least, most)
}

fn impossible(transcription: &Transcription, of: &Tested) -> AuditFinding {
    let unit = of.sd_figure.unit;
    let (least, most, name) = (amount(of.least, unit), amount(of.most, unit), transcription.row_name(of.row));
    if !of.has_values {
        let [low, high] = [of.means.low, of.means.high].map(|end| amount(end, unit));
        return draft(name.clone(), of)
            .arithmetic(format!("possible means: {low} to {high}; printed {}", of.figures[0].numbers[0].printed))
            .contradicted(format!(
                "No times have the printed mean, least and largest of {name}, whatever their deviation: this least and largest among so many runs allow means from {low} to {high}."
            ));
    }
    draft(name.clone(), of)
        .arithmetic(format!("possible: {least} to {most}; printed {}", of.sd_figure.numbers[0].printed))
        .contradicted(format!(
            "No times with the printed mean, least and largest of {name} have this standard deviation: it is between {least} and {most}."
        ))
}

fn all_possible(table: Option<&str>, sound: &[&Tested]) -> AuditFinding {
    let number = counted(sound.len(), "standard deviation");
    let verb = if sound.len() == 1 { "is" } else { "are" };
    let first = sound[0];
    let unit = first.sd_figure.unit;
    draft(table.unwrap_or("the table").to_owned(), first)
        .arithmetic(format!(
            "{}: possible {} to {}",
            first.row.name(None),
            amount(first.least, unit),
            amount(first.most, unit)
        ))
        .holds(format!("The {number} {verb} possible with the printed means, least and largest times and runs."))
}

fn draft(about: String, of: &Tested) -> Draft {
    let statement = "The mean, least and largest allow the standard deviation.";
    let figures = of.figures.into_iter().chain([of.sd_figure]).map(|figure| (of.row, figure));
    Draft::new(Law::Noise, about, statement).figures(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_lies_as_far_inside_as_one_value_pulls_it() {
        let found = means(Range::exact(0.0), Range::exact(1.0), 4.0);
        assert!((found.low - 0.25).abs() < 1e-8 && (found.high - 0.75).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn ends_are_those_of_values_that_reach_them() {
        let exact = Range::exact;
        // 0, 0, 1, 1 have mean 0.5 and the largest possible deviation: √(4 ÷ 3) ÷ 2.
        let (_, most) = ends(exact(0.5), exact(0.0), exact(1.0), 4.0);
        assert!((most - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
        // 0, 0.5, 0.5, 1 have the smallest, as a population.
        let (least, _) = ends(exact(0.5), exact(0.0), exact(1.0), 4.0);
        assert!((least - (0.5f64 / 4.0).sqrt()).abs() < 1e-8);
    }
}
