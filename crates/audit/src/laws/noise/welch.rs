//! Welch's test from printed figures.

use tolok_model::transcription::{Figure, Mark, Moment, Quantity, Row, Transcription};
use tolok_stats::{holm, student_t_cdf};

use crate::draft::Draft;
use crate::groups::{Group, groups, measured};
use crate::range::Range;
use crate::wording::{amount, noun, percent, quoted, significant};
use crate::{AuditFinding, Law};

/// A difference with a larger p, adjusted for all pairs of the source, counts as noise.
const P: f64 = 0.05;

/// Neighbours within this share of each other are close.
const CLOSE: f64 = 0.05;

/// Mean, standard deviation and number of runs of one subject.
#[derive(Clone)]
pub(super) struct Spread<'a> {
    pub(super) row: &'a Row,
    pub(super) mean_figure: &'a Figure,
    pub(super) mean: Range,
    pub(super) sd: Range,
    pub(super) sd_figure: &'a Figure,
    pub(super) runs: f64,
}

/// Two tested subjects.
struct Pair<'a> {
    a: Spread<'a>,
    b: Spread<'a>,
    group: usize,
    /// As printed.
    t: f64,
    df: f64,
    p_printed: f64,
    /// With the rounding that makes the difference smallest.
    p: f64,
}

/// The compared quantities: times of programs, and counts or rates listed by repetition. Counts and rates of one row
/// are the same measurement, so only the first quantity of a row counts.
const COMPARED: [Quantity; 4] =
    [Quantity::Time(Moment::Mean), Quantity::Throughput, Quantity::Goodput, Quantity::Requests];

/// If a setting has more rows, only neighbours are tested.
const MOST_PAIRED: usize = 200;

/// The figure of a quantity, unless the row has an earlier one of [`COMPARED`].
fn compared<'a>(row: &'a Row, quantity: &Quantity) -> Option<&'a Figure> {
    let first = COMPARED.iter().find(|compared| row.figure(compared).is_some())?;
    row.figure(quantity).filter(|_| first == quantity)
}

/// Tests every pair of subjects in a setting that have a spread.
pub(super) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let groups = groups(&transcription.rows);
    let mut pairs: Vec<Pair> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        for quantity in &COMPARED {
            pairs.extend(pairs_of(group, index, quantity));
        }
    }
    let adjusted = holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
    let tested = pairs.len();
    let judged = pairs.iter().zip(adjusted);
    judged.map(|(pair, p)| judge(transcription, &groups[pair.group], pair, p, tested)).collect()
}

fn pairs_of<'a>(group: &Group<'a>, index: usize, quantity: &Quantity) -> Vec<Pair<'a>> {
    let mut spreads: Vec<Spread> = group.rows.iter().filter_map(|row| spread(row, quantity)).collect();
    let mut reach = spreads.len();
    if spreads.len() > MOST_PAIRED {
        // Nobody reads so many pairs, and only neighbours are in doubt.
        spreads.sort_by(|a, b| a.mean_figure.value().total_cmp(&b.mean_figure.value()));
        reach = 1;
    }
    let mut pairs = Vec::new();
    for (first, a) in spreads.iter().enumerate() {
        let others = spreads[first + 1..].iter().take(reach).filter(|b| b.row.subject != a.row.subject);
        pairs.extend(others.filter_map(|b| pair(a.clone(), b.clone(), index)));
    }
    pairs
}

/// The spread of a list of repetitions, or of a mean with its standard deviation and number of runs.
pub(super) fn spread<'a>(row: &'a Row, quantity: &Quantity) -> Option<Spread<'a>> {
    let figure = compared(row, quantity)?;
    let mean = Range::of(figure);
    let n = figure.numbers.len();
    if n >= 2 {
        let value = figure.value();
        let variance = figure.numbers.iter().map(|number| (number.value - value).powi(2)).sum::<f64>() / (n - 1) as f64;
        // Rounding moves each value by at most half a unit. It moves their deviation by at most √(n ÷ (n − 1)) times that.
        let half = figure.half_unit() * (n as f64 / (n - 1) as f64).sqrt();
        let sd = Range::between((variance.sqrt() - half).max(0.0), variance.sqrt() + half);
        return plain(figure).then_some(Spread {
            row,
            mean_figure: figure,
            mean,
            sd,
            sd_figure: figure,
            runs: n as f64,
        });
    }
    let sd_figure = row.figure(&Quantity::Time(Moment::Sd)).filter(|_| matches!(quantity, Quantity::Time(_)))?;
    let runs = row.figure(&Quantity::Runs).map(Figure::value);
    let runs = runs.or(row.conditions.repetitions.map(|runs| runs as f64)).filter(|runs| *runs >= 2.0)?;
    let sd = Range::of(sd_figure);
    (plain(figure) && plain(sd_figure)).then_some(Spread { row, mean_figure: figure, mean, sd, sd_figure, runs })
}

fn plain(figure: &Figure) -> bool {
    figure.numbers.iter().all(|number| matches!(number.mark, Mark::Plain))
}

fn pair<'a>(a: Spread<'a>, b: Spread<'a>, group: usize) -> Option<Pair<'a>> {
    let printed =
        welch(a.mean_figure.value() - b.mean_figure.value(), (a.sd.middle(), a.runs), (b.sd.middle(), b.runs))?;
    let gap = (a.mean.low - b.mean.high).max(b.mean.low - a.mean.high).max(0.0);
    let cautious = welch(gap, (a.sd.high, a.runs), (b.sd.high, b.runs))?;
    Some(Pair { a, b, group, t: printed.0, df: printed.1, p_printed: printed.2, p: cautious.2 })
}

/// t, degrees of freedom and two-sided p.
fn welch(difference: f64, (sd_a, n_a): (f64, f64), (sd_b, n_b): (f64, f64)) -> Option<(f64, f64, f64)> {
    let (of_a, of_b) = (sd_a * sd_a / n_a, sd_b * sd_b / n_b);
    let both = of_a + of_b;
    if both.is_nan() || both <= 0.0 {
        return None;
    }
    let (share_a, share_b) = (of_a / both, of_b / both);
    let df = 1.0 / (share_a * share_a / (n_a - 1.0) + share_b * share_b / (n_b - 1.0));
    let t = difference / both.sqrt();
    Some((t, df, 2.0 * student_t_cdf(-t.abs(), df)))
}

fn judge(transcription: &Transcription, group: &Group, pair: &Pair, p: f64, tested: usize) -> AuditFinding {
    let (a, b) = (&pair.a, &pair.b);
    let what = noun(&a.mean_figure.quantity);
    let place = group.name(transcription);
    let (x, y) = (&a.row.subject, &b.row.subject);
    let about = format!("{x} and {y}, {place}");
    let unit = a.mean_figure.unit;
    let (larger, smaller) =
        (a.mean_figure.value().max(b.mean_figure.value()), a.mean_figure.value().min(b.mean_figure.value()));
    let apart = if smaller > 0.0 {
        format!(", {} more than the other", percent(larger / smaller - 1.0))
    } else {
        String::new()
    };
    let arithmetic = format!(
        "{} − {} = {}; t = {}, {} degrees of freedom, p {}{}",
        amount(a.mean_figure.value(), unit),
        amount(b.mean_figure.value(), unit),
        amount(a.mean_figure.value() - b.mean_figure.value(), unit),
        significant(pair.t, 3),
        significant(pair.df, 3),
        p_words(pair.p_printed),
        if tested > 1 {
            format!(", adjusted for {tested} pairs (Holm) and rounding: p {}", p_words(p))
        } else {
            String::new()
        },
    );
    let draft =
        Draft::new(Law::Noise, about, format!("The {what} of {x} and {y} differ by more than the spread of the runs."));
    let draft =
        [a, b].into_iter().fold(draft, |draft, of| draft.figure(of.row, of.mean_figure).figure(of.row, of.sd_figure));
    if p < P {
        return draft
            .arithmetic(arithmetic)
            .holds(format!("The difference between {x} and {y} is larger than the spread of the runs explains."));
    }
    let higher = if a.mean_figure.value() >= b.mean_figure.value() { x } else { y };
    draft.arithmetic(arithmetic).cannot_tell(format!(
        "{higher} has the higher {what}{apart}, but runs that spread this much can differ by that much by chance (adjusted p {}).",
        p_words(p)
    ))
}

fn p_words(p: f64) -> String {
    if p < 1e-4 { "below 0.0001".to_owned() } else { format!("= {}", significant(p, 2)) }
}

/// Pairs of close neighbours, at least one of them without a spread.
pub(super) fn without_spread(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    for group in groups(measured(transcription)) {
        for quantity in &COMPARED {
            found.extend(neighbours(transcription, &group, quantity));
        }
    }
    found
}

fn neighbours(transcription: &Transcription, group: &Group, quantity: &Quantity) -> Vec<AuditFinding> {
    let mut rows: Vec<(&Row, &Figure)> =
        group.rows.iter().filter_map(|row| compared(row, quantity).map(|figure| (*row, figure))).collect();
    rows.sort_by(|a, b| b.1.value().total_cmp(&a.1.value()));
    let close = |pair: &&[(&Row, &Figure)]| {
        let ((a, high), (b, low)) = (pair[0], pair[1]);
        let no_spread = spread(a, quantity).is_none() || spread(b, quantity).is_none();
        let gap = 1.0 - low.value() / high.value();
        a.subject != b.subject && no_spread && high.value() > 0.0 && gap <= CLOSE
    };
    rows.windows(2).filter(close).map(|pair| too_close(transcription, group, pair[0], pair[1])).collect()
}

fn too_close(
    transcription: &Transcription,
    group: &Group,
    (a, high): (&Row, &Figure),
    (b, low): (&Row, &Figure),
) -> AuditFinding {
    let place = group.name(transcription);
    let (x, y, what) = (&a.subject, &b.subject, noun(&high.quantity));
    let gap = percent(1.0 - low.value() / high.value());
    let runs = match a.conditions.repetitions {
        Some(runs) if runs >= 2 => format!("means of {runs} runs without a spread"),
        Some(_) => "single runs".to_owned(),
        None => "figures without a spread".to_owned(),
    };
    Draft::new(
        Law::Noise,
        format!("{x} and {y}, {place}"),
        format!("The {what} of {x} and {y} differ by more than the spread of the runs."),
    )
    .figure(a, high)
    .figure(b, low)
    .arithmetic(format!("1 − {} / {} = {gap}", quoted(low), quoted(high)))
    .lacks(["the spread of the runs"])
    .cannot_tell(format!("{x} and {y} are {gap} apart; these are {runs}, so their order is not shown."))
}
