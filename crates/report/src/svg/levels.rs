//! The ratio of two cases under each level of a factor, on a logarithmic axis: ● measured with its interval, and a line for the
//! published ratio.
//!
//! The light band around 1 covers differences that do not matter.

use tolok_analysis::figures::{Quantity, figure};
use tolok_analysis::replication::{FactorFinding, FactorLevelFinding};

use super::published::{ROW, STRIP, WORDS};
use super::ratios::Axis;
use super::{Anchor, DOT, Drawing, WIDTH, fitted, short};

/// Height of the line that names the published ratio.
const FOOT: f64 = 18.0;

/// The chart; `None` if no level has a ratio.
pub(crate) fn levels(factor: &FactorFinding, smallest_effect: f64) -> Option<String> {
    let measured = || factor.levels.iter().filter_map(|level| level.ratio.as_ref());
    measured().next()?;
    let ends = || measured().flat_map(|ratio| [Some(ratio.value), ratio.low, ratio.high]).flatten();
    let published = factor.published.as_ref().map(|published| published.value);
    let axis = Axis::holding(|| ends().chain(published), smallest_effect, WIDTH - 12.0);
    let bottom = ROW * factor.levels.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + FOOT + if published.is_some() { FOOT } else { 0.0 });
    for (place, level) in factor.levels.iter().enumerate() {
        let top = ROW * place as f64;
        axis.strip(&mut drawing, top + WORDS, STRIP, smallest_effect);
        if let Some(published) = published {
            drawing.path("ceil", &format!("M{} {}v{STRIP}", short(axis.at(published)), short(top + WORDS)));
        }
        row(&mut drawing, level, &axis, top);
    }
    axis.number(&mut drawing, bottom + 12.0);
    if let Some(published) = &factor.published {
        drawing.text("m", Anchor::End, WIDTH, bottom + FOOT + 12.0, &format!("┆ {} published", published.words));
    }
    let about = format!("{}: its ratios under each level; the table beside it has the same figures", factor.name);
    Some(drawing.finish(&about))
}

fn row(drawing: &mut Drawing, level: &FactorLevelFinding, axis: &Axis, top: f64) {
    let ratio = level.ratio.as_ref();
    let words = ratio.map_or("not measured".to_owned(), |ratio| figure(Quantity::Ratio, ratio).line());
    let room = (WIDTH - words.chars().count() as f64 * 6.2 - 8.0) / 6.6;
    drawing.text("p", Anchor::Start, 0.0, top + 12.0, &fitted(&level.name, room));
    drawing.text("p b", Anchor::End, WIDTH, top + 12.0, &words);
    drawing.text("m", Anchor::Start, 0.0, top + 27.0, &fitted(&level.of, WIDTH / 6.6));
    let Some(ratio) = ratio else { return };
    let y = top + WORDS + STRIP / 2.0;
    drawing.interval(ratio, |value| axis.at(value), y);
    let class = if level.remark.is_some() { "dot unclear" } else { "dot" };
    drawing.path_at(class, axis.at(ratio.value), y, DOT);
}
