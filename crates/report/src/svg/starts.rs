//! Time from the start of subjects to their first correct response.

use tolok_analysis::figures::{Quantity, amount};

use super::bars::Scale;
use super::{Anchor, Drawing, HEAD, LETTER, ROW, WIDTH, fitted};
use crate::svg::palette::look;

const BAR: f64 = 9.0;

/// The starts of one subject.
pub(crate) struct Start<'a> {
    pub(crate) title: String,
    pub(crate) runtime: &'a str,
    pub(crate) middle_s: f64,
    pub(crate) low_s: f64,
    pub(crate) high_s: f64,
}

/// Bars from zero, with the interquartile range of the starts.
pub(crate) fn starts(heading: &str, below: &str, starts: &[Start]) -> String {
    let most = starts.iter().map(|start| start.high_s).fold(0.0, f64::max);
    let scale = Scale { most, from: 0.0, to: WIDTH - 2.0 };
    let mut drawing = Drawing::new(WIDTH, HEAD - 8.0 + ROW * starts.len() as f64);
    drawing.heading(heading, below);
    for (place, start) in starts.iter().enumerate() {
        let top = HEAD - 12.0 + ROW * place as f64;
        let value = amount(Quantity::Seconds, start.middle_s);
        look(start.runtime).draw(&mut drawing, 5.0, top + 9.0);
        drawing.text("l", Anchor::Start, 16.0, top + 13.0, &fitted(&start.title, (WIDTH - 86.0) / LETTER));
        drawing.text("v", Anchor::End, WIDTH, top + 13.0, &value);
        let y = top + 21.0;
        let class = format!("{} bar", look(start.runtime).class);
        let title = format!("{}: {value}", start.title);
        drawing.bar(&class, [scale.from, y, scale.at(start.middle_s) - scale.from, BAR], &title);
        if start.high_s > start.low_s {
            drawing.whisker(scale.at(start.low_s), scale.at(start.high_s), y + BAR / 2.0);
        }
    }
    drawing.finish(&format!("{heading}: time to the first correct response; the table below has the same figures"))
}
