//! Checks minimum, mean, percentiles and maximum of one distribution, and which means they allow.
//!
//! For the n values behind a row, whatever their distribution:
//!
//! - the minimum, the percentiles in their order, and the maximum never decrease, and the mean is between the ends;
//! - at least a share q of the values is at most the q-percentile, so with percentiles p1 ≤ … ≤ pk at the shares q1 < … < qk,
//!   q1·min + (q2 − q1)·p1 + … + (1 − qk)·pk ≤ mean ≤ q1·p1 + (q2 − q1)·p2 + … + (1 − qk)·max.
//!   With p95 alone: mean ≤ 0.95·p95 + 0.05·max, and mean ≥ 0.95·min + 0.05·p95 (Markov's inequality is the case of min = 0);
//! - sd² ≤ (max − mean)·(mean − min)·n ÷ (n − 1) (Bhatia and Davis 2000), and over n runs no value is further from the mean than
//!   sd·(n − 1) ÷ √n (Samuelson 1968).
//!
//! Ordered pairs stay ordered if figures are means or medians over repetitions. The sums hold for means only: if the
//! source states repetitions and prints one figure, a broken sum is undecided. There are several ways to compute
//! percentiles of few values, so sums get [`SLACK`]. In the submodule [`in_flight`], the bound of the mean is compared
//! with the number of users: if all N were waiting, N ÷ X cannot be above it.

pub(super) mod in_flight;

use tolok_model::transcription::{Figure, Moment, Quantity, Row, Transcription};

use crate::draft::{Draft, OfRow, folded};
use crate::finding::AuditFinding;
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::wording;

/// Tolerance for different ways to compute percentiles and to summarise repetitions, as a share.
const SLACK: f64 = 0.03;

/// The quantity of a moment of a distribution.
type Of = fn(Moment) -> Quantity;

/// Kinds of distributions, each with its word for sentences.
const KINDS: &[(&str, Of)] = &[
    ("response time", Quantity::Latency),
    ("time", Quantity::Time),
    ("memory", Quantity::Memory),
    ("CPU in use", Quantity::Cpu),
];

pub(super) const LAW: LawInfo = LawInfo {
    title: "Order of means and percentiles",
    says: "A mean cannot exceed the percentiles above it, percentiles grow, and all lie between minimum and maximum.",
    needs: "at least two of minimum, mean, percentiles and maximum",
    check,
};

/// Checks the figures of each distribution against each other.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let of_kind = |(word, of): &(&str, Of)| {
        let of_row = |row: &Row| {
            let finding = Shape::of(row, *of).judged(transcription, row, word)?;
            Some(OfRow { table: row.table.clone(), closeness: 0.0, finding })
        };
        folded(transcription.rows.iter().filter_map(of_row).collect())
    };
    KINDS.iter().flat_map(of_kind).chain(in_flight::check(transcription)).collect()
}

/// What a row prints of one distribution.
struct Shape<'a> {
    /// Minimum, percentiles and maximum: the share of values up to each, and the figure; by share.
    ladder: Vec<(f64, &'a Figure)>,
    mean: Option<&'a Figure>,
    sd: Option<&'a Figure>,
    runs: Option<f64>,
}

impl<'a> Shape<'a> {
    fn of(row: &'a Row, of: Of) -> Self {
        let share = |figure: &&'a Figure| {
            let moments = [(Moment::Min, 0.0), (Moment::Max, 1.0)];
            let end = moments.iter().find(|(moment, _)| figure.quantity == of(*moment)).map(|(_, share)| *share);
            let percentile = match figure.quantity {
                Quantity::Latency(Moment::Percentile(hundredths)) | Quantity::Time(Moment::Percentile(hundredths))
                    if figure.quantity == of(Moment::Percentile(hundredths)) =>
                {
                    Some(f64::from(hundredths) / 10_000.0)
                }
                _ => None,
            };
            end.or(percentile)
        };
        let mut ladder: Vec<(f64, &Figure)> =
            row.figures.iter().filter_map(|figure| share(&figure).map(|share| (share, figure))).collect();
        ladder.sort_by(|a, b| a.0.total_cmp(&b.0));
        let runs = (of(Moment::Mean) == Quantity::Time(Moment::Mean)).then(|| row.figure(&Quantity::Runs)).flatten();
        Self {
            ladder,
            mean: row.figure(&of(Moment::Mean)),
            sd: row.figure(&of(Moment::Sd)),
            runs: runs.map(Figure::value),
        }
    }

    /// The finding of a distribution, if at least two of its figures can be compared.
    fn judged(&self, transcription: &Transcription, row: &Row, word: &str) -> Option<AuditFinding> {
        if self.ladder.len() + usize::from(self.mean.is_some()) < 2 {
            return None;
        }
        let draft = self.draft(transcription, row, word);
        let order: Vec<String> = self.falls().into_iter().chain(self.mean_is_outside()).collect();
        let sums: Vec<String> = self.mean_is_off().into_iter().chain(self.sd_is_off()).collect();
        let are_sums_sure = !self.sums_up(row);
        let broken = [order.clone(), sums].concat();
        if broken.is_empty() {
            return Some(draft.holds(format!("The figures of {word} can be those of one distribution.")));
        }
        let sentence = format!(
            "{}: these are not figures of one distribution of {word}",
            tolok_model::sentences::capital(&broken.join("; "))
        );
        Some(match order.is_empty() && !are_sums_sure {
            true => draft
                .lacks(["whether the figures are means or medians over the runs"])
                .cannot_tell(format!("{sentence}, unless they are medians over runs that differ.")),
            false => draft.contradicted(format!("{sentence}.")),
        })
    }

    fn draft(&self, transcription: &Transcription, row: &Row, word: &str) -> Draft {
        let mut parts: Vec<String> = self.ladder.iter().map(|(share, figure)| named(*share, figure)).collect();
        parts.extend(self.mean.map(|mean| format!("mean {}", wording::quoted(mean))));
        parts.extend(self.sd.map(|sd| format!("sd {}", wording::quoted(sd))));
        let figures = self.ladder.iter().map(|(_, figure)| *figure).chain(self.mean).chain(self.sd);
        let statement = format!(
            "The figures of {word} are those of one distribution: minimum, mean, percentiles and maximum in order."
        );
        let draft = Draft::new(Law::Order, transcription.row_name(row), statement).arithmetic(parts.join(", "));
        figures.fold(draft, |draft, figure| draft.figure(row, figure))
    }

    /// Neighbours on the ladder that decrease.
    fn falls(&self) -> Vec<String> {
        let pairs = self.ladder.windows(2).filter_map(|pair| match pair {
            [(low_share, low), (high_share, high)] if Range::of(low).is_above(Range::of(high)) => {
                Some(format!("{} is above {}", named(*low_share, low), named(*high_share, high)))
            }
            _ => None,
        });
        pairs.collect()
    }

    /// Whether one figure summarises several runs in an unknown way.
    fn sums_up(&self, row: &Row) -> bool {
        let is_one = self.mean.is_some_and(|mean| mean.numbers.len() == 1);
        is_one && row.conditions.repetitions.is_some_and(|runs| runs > 1)
    }

    /// A mean beyond the minimum or maximum.
    fn mean_is_outside(&self) -> Option<String> {
        let figure = self.mean?;
        let (mean, text) = (Range::of(figure), wording::quoted(figure));
        let ends =
            [self.ladder.first(), self.ladder.last()].map(|end| end.filter(|(share, _)| [0.0, 1.0].contains(share)));
        match ends {
            [Some((0.0, min)), _] if Range::of(min).is_above(mean) => {
                Some(format!("the mean of {text} is below the minimum of {}", wording::quoted(min)))
            }
            [_, Some((1.0, max))] if mean.is_above(Range::of(max)) => {
                Some(format!("the mean of {text} is above the maximum of {}", wording::quoted(max)))
            }
            _ => None,
        }
    }

    /// A mean between minimum and maximum that the ladder does not allow.
    fn mean_is_off(&self) -> Option<String> {
        let figure = self.mean.filter(|_| self.mean_is_outside().is_none())?;
        let (mean, text) = (Range::of(figure), wording::quoted(figure));
        if let Some(most) = self.largest_mean(None).filter(|most| mean.low > most * (1.0 + SLACK)) {
            return Some(format!(
                "the mean of {text} is above the {} that percentiles and maximum allow",
                self.in_unit(most)
            ));
        }
        let least = self.smallest_mean();
        (mean.high < least * (1.0 - SLACK))
            .then(|| format!("the mean of {text} is below the {} that the percentiles alone make", self.in_unit(least)))
    }

    /// A standard deviation that the other figures do not allow.
    fn sd_is_off(&self) -> Option<String> {
        let (mean, sd) = (Range::of(self.mean?), Range::of(self.sd?));
        let end =
            |wanted: f64| self.ladder.iter().find(|(share, _)| *share == wanted).map(|(_, figure)| Range::of(figure));
        let text = wording::quoted(self.sd?);
        let n = self.runs.unwrap_or(f64::INFINITY);
        if let (Some(min), Some(max)) = (end(0.0), end(1.0)) {
            let sample = if n.is_finite() && n > 1.0 { n / (n - 1.0) } else { 1.0 };
            let most = ((max.high - mean.low).max(0.0) * (mean.high - min.low).max(0.0) * sample).sqrt();
            if sd.low > most * (1.0 + SLACK) {
                return Some(format!(
                    "the sd of {text} is above the {} that minimum, mean and maximum allow",
                    self.in_unit(most)
                ));
            }
        }
        if n.is_finite() && n > 1.0 {
            let reach = sd.high * (n - 1.0) / n.sqrt() * (1.0 + SLACK);
            let above = end(1.0).map_or(0.0, |max| max.low - mean.high);
            let below = end(0.0).map_or(0.0, |min| mean.low - min.high);
            if above.max(below) > reach {
                return Some(format!(
                    "with an sd of {text}, none of {n} runs can be {} from the mean",
                    self.in_unit(above.max(below))
                ));
            }
        }
        None
    }

    /// The largest mean that the ladder allows. `longest` is an upper bound to use if no maximum is printed.
    fn largest_mean(&self, longest: Option<f64>) -> Option<f64> {
        let (mut sum, mut below) = (0.0, 0.0);
        for (share, figure) in self.ladder.iter().filter(|(share, _)| *share > 0.0) {
            sum += (share - below) * Range::of(figure).high;
            below = *share;
        }
        let rest = 1.0 - below;
        if rest <= 0.0 { Some(sum) } else { longest.map(|longest| sum + rest * longest) }
    }

    /// The smallest mean that the ladder allows: each step counts with its lower value.
    fn smallest_mean(&self) -> f64 {
        let (mut sum, mut below, mut value) = (0.0, 0.0, 0.0);
        for (share, figure) in &self.ladder {
            sum += (share - below) * value;
            (below, value) = (*share, Range::of(figure).low);
        }
        sum + (1.0 - below) * value
    }

    /// Formats a computed value in the same kind of unit as the row's figures.
    fn in_unit(&self, value: f64) -> String {
        match self.mean.map(|mean| &mean.quantity) {
            Some(Quantity::Memory(_)) => wording::bytes(value),
            Some(Quantity::Cpu(_)) => wording::number(value),
            _ => wording::seconds(value),
        }
    }
}

/// `p95 18 s`, `maximum 2000.00 ms`.
fn named(share: f64, figure: &Figure) -> String {
    let name = match share {
        0.0 => "minimum".to_owned(),
        1.0 => "maximum".to_owned(),
        share => format!("p{}", wording::percentile(share)),
    };
    format!("{name} {}", wording::quoted(figure))
}
