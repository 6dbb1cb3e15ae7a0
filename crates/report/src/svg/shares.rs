//! The share of the differences that each factor explains: one bar each, with its interval.

use tolok_analysis::{VarianceFinding, VarianceShare};

use super::{Anchor, Drawing, HEAD, LETTER, ROW, WIDTH, fitted};
use crate::wording::share_words;

/// The bars of a workload.
pub(crate) fn shares(finding: &VarianceFinding) -> String {
    let mut drawing = Drawing::new(WIDTH, HEAD + ROW * finding.shares.len() as f64);
    let heading = if finding.fixed.is_empty() { &finding.workload_title } else { &finding.fixed };
    drawing.heading(heading, "share of all differences in correct responses/s");
    for (place, share) in finding.shares.iter().enumerate() {
        row(&mut drawing, share, HEAD + ROW * place as f64);
    }
    drawing.finish(&format!("{}; the table below has the same figures", finding.sentence.trim_end_matches('.')))
}

fn row(drawing: &mut Drawing, share: &VarianceShare, y: f64) {
    let words = share_words(&share.share);
    let room = WIDTH / LETTER - words.chars().count() as f64 - 2.0;
    drawing.text("l", Anchor::Start, 0.0, y + 9.0, &fitted(&share.title, room));
    drawing.text("v", Anchor::End, WIDTH, y + 9.0, &words);
    let is_rest = matches!(share.factor.as_str(), "interactions" | "residual");
    let at = |share: f64| share.clamp(0.0, 1.0) * WIDTH;
    let class = if is_rest { "share rest" } else { "share" };
    drawing.bar("same", [0.0, y + 14.0, WIDTH, 9.0], "");
    drawing.bar(class, [0.0, y + 14.0, at(share.share.value), 9.0], &format!("{}: {words}", share.title));
    drawing.interval(&share.share, at, y + 18.5);
}
