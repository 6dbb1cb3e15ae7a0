//! Published ratios beside measured ones, on a logarithmic axis: ◇ published, ● measured with its interval.
//!
//! The light band around 1 covers differences that do not matter.

use tolok_analysis::figures::{Quantity, amount, figure};
use tolok_analysis::replication::ReplicatedRatio;
use tolok_analysis::{Estimate, PublishedFinding, PublishedReading};

use super::ratios::Axis;
use super::{Anchor, DOT, Drawing, WIDTH, fitted, short};

/// Height of a row: two lines of words, and the axis.
pub(super) const ROW: f64 = 52.0;
/// Height of everything above the axis in a row.
pub(super) const WORDS: f64 = 33.0;
/// Height of the axis in a row.
pub(super) const STRIP: f64 = 14.0;
const DIAMOND: &str = "M0 -5L5 0L0 5L-5 0z";

/// A published ratio and the measured one.
pub(crate) struct Beside<'a> {
    a: &'a str,
    b: &'a str,
    /// Its metric and scenario.
    of: String,
    published: f64,
    measured: Option<&'a Estimate>,
    reading: PublishedReading,
}

impl<'a> From<&'a PublishedFinding> for Beside<'a> {
    fn from(one: &'a PublishedFinding) -> Self {
        let of = format!("{}, {}", one.metric_words, one.scenario);
        let PublishedFinding { a, b, published, measured, reading, .. } = one;
        Self { a, b, of, published: *published, measured: measured.as_ref(), reading: *reading }
    }
}

impl<'a> From<&'a ReplicatedRatio> for Beside<'a> {
    fn from(one: &'a ReplicatedRatio) -> Self {
        let of = format!("{}, {}", one.words, one.setting);
        let ReplicatedRatio { a, b, published, measured, reading, .. } = one;
        Self { a, b, of, published: *published, measured: measured.as_ref(), reading: *reading }
    }
}

/// All ratios, one below the other.
pub(crate) fn published<'a, T>(all: &'a [T], smallest_effect: f64) -> String
where
    Beside<'a>: From<&'a T>,
{
    let all: Vec<Beside> = all.iter().map(Beside::from).collect();
    let values = || {
        all.iter().flat_map(|one| {
            let measured = one.measured.into_iter().flat_map(|it| [Some(it.value), it.low, it.high]).flatten();
            std::iter::once(one.published).chain(measured)
        })
    };
    let axis = Axis::holding(values, smallest_effect, WIDTH - 12.0);
    let bottom = ROW * all.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 18.0);
    for (place, one) in all.iter().enumerate() {
        let top = ROW * place as f64;
        axis.strip(&mut drawing, top + WORDS, STRIP, smallest_effect);
        row(&mut drawing, one, &axis, top);
    }
    axis.number(&mut drawing, bottom + 12.0);
    drawing.finish("Published ratios beside measured ones; the table below has the same figures")
}

fn row(drawing: &mut Drawing, one: &Beside, axis: &Axis, top: f64) {
    let reading = one.reading.words();
    let room = (WIDTH - reading.chars().count() as f64 * 6.6 - 8.0) / 6.3;
    let title = |title: &str| fitted(title, (room - 6.0) / 2.0);
    drawing.text("p", Anchor::Start, 0.0, top + 12.0, &format!("{} over {}", title(one.a), title(one.b)));
    drawing.text("p b", Anchor::End, WIDTH, top + 12.0, reading);
    let measured = one.measured.map(|measured| figure(Quantity::Ratio, measured).line());
    let figures = match &measured {
        Some(measured) => format!("◇ {}  ● {measured}", amount(Quantity::Ratio, one.published)),
        None => format!("◇ {}", amount(Quantity::Ratio, one.published)),
    };
    let room = (WIDTH - figures.chars().count() as f64 * 6.2 - 8.0) / 6.1;
    drawing.text("m", Anchor::Start, 0.0, top + 27.0, &fitted(&one.of, room));
    drawing.text("m", Anchor::End, WIDTH, top + 27.0, &figures);
    let y = top + WORDS + STRIP / 2.0;
    let published = axis.at(one.published);
    if let Some(measured) = one.measured {
        let at = axis.at(measured.value);
        drawing.path("lead", &format!("M{} {}H{}", short(published), short(y), short(at)));
        drawing.interval(measured, |value| axis.at(value), y);
        let class = if one.reading == PublishedReading::CannotTell { "dot unclear" } else { "dot" };
        drawing.path_at(class, at, y, DOT);
    }
    drawing.path_at("dot open", published, y, DIAMOND);
}
