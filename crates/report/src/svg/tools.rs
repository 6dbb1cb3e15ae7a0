//! Dots with their intervals: each tool's report of one server, and the wire count.

use tolok_analysis::figures::{NONE, Quantity, figure};
use tolok_analysis::{ToolRow, ToolsFinding};

use super::bars::Scale;
use super::{Anchor, DOT, Drawing, HEAD, LETTER, ROW, WIDTH, fitted, highest};
use crate::wording::LOWER_BOUND;

/// Width of the figure at the right edge.
const VALUE_COLUMN: f64 = 60.0;

/// Correct responses per second by each tool, with a dashed stroke at the wire count.
pub(crate) fn tools(finding: &ToolsFinding, heading: &str) -> String {
    let said = finding.rows.iter().flat_map(|row| [&row.goodput_rps, &row.wire_rps]);
    let most = said.flatten().map(highest).fold(0.0, f64::max);
    let scale = Scale { most, from: 5.0, to: WIDTH - 6.0 };
    let has_wire = finding.rows.iter().any(|row| row.wire_rps.is_some());
    let foot = if has_wire { 18.0 } else { 2.0 };
    let mut drawing = Drawing::new(WIDTH, HEAD + ROW * finding.rows.len() as f64 + foot);
    drawing.heading(heading, &finding.load);
    drawing.text("m", Anchor::End, WIDTH, HEAD - 4.0, "correct responses/s");
    for (place, row) in finding.rows.iter().enumerate() {
        line(&mut drawing, row, &scale, HEAD + ROW * place as f64);
    }
    if has_wire {
        let bottom = HEAD + ROW * finding.rows.len() as f64 + 12.0;
        drawing.path("ceil", &format!("M5 {:.1}v12", bottom - 10.0));
        drawing.text("m", Anchor::Start, 13.0, bottom, "what crossed the wire");
    }
    drawing.finish(&format!("{heading}: what each tool says; the table below has the same figures"))
}

fn line(drawing: &mut Drawing, row: &ToolRow, scale: &Scale, top: f64) {
    let name = fitted(&row.short_words(), (WIDTH - VALUE_COLUMN) / LETTER);
    drawing.text("l", Anchor::Start, 0.0, top + 13.0, &name);
    let y = top + 24.0;
    drawing.path("grid-line", &format!("M{:.1} {y:.1}H{:.1}", scale.at(0.0), scale.at(scale.most)));
    let Some(goodput) = &row.goodput_rps else {
        drawing.text("m", Anchor::End, WIDTH, top + 13.0, row.failures.first().map_or(NONE, String::as_str));
        return;
    };
    let bound = if row.is_limit { LOWER_BOUND } else { "" };
    let value = format!("{bound}{}", figure(Quantity::Number, goodput).value);
    drawing.text("l", Anchor::End, WIDTH, top + 13.0, &value);
    if let Some(wire) = &row.wire_rps {
        drawing.path("ceil", &format!("M{:.1} {:.1}v14", scale.at(wire.value), y - 7.0));
    }
    drawing.interval(goodput, |value| scale.at(value), y);
    drawing.path_at(if row.is_limit { "dot open" } else { "dot" }, scale.at(goodput.value), y, DOT);
}
