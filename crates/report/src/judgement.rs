//! How sure a scenario's comparisons are: its A/A pair, how many blocks they would need, and pairs in words.

use tolok_analysis::figures::{Quantity, figure};
use tolok_analysis::{Estimate, Findings, NoiseFloor, PowerNote, Verdict};

/// What the letters of a column are.
pub(crate) const TIER: &str = "tier: those that share a letter could not be told apart";

/// A line beneath a scenario's table.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Line {
    /// What it is about.
    pub(crate) word: &'static str,
    pub(crate) text: String,
    /// Whether it speaks against the whole table.
    pub(crate) is_warning: bool,
}

/// The A/A pair of a scenario, and what its blocks can show; nothing where it has neither.
pub(crate) fn lines(floor: Option<&NoiseFloor>, power: Option<&PowerNote>) -> Vec<Line> {
    let of_floor = floor.map(|floor| {
        let is_warning = matches!(floor.verdict, Verdict::Faster | Verdict::Slower);
        Line { word: "A/A pair", text: floor.sentence.clone(), is_warning }
    });
    let of_power = power.map(|power| Line { word: "Blocks", text: power.sentence.clone(), is_warning: false });
    of_floor.into_iter().chain(of_power).collect()
}

/// The rule by which the run might end before its last block, and what came of it; nothing without one.
pub(crate) fn stopping(findings: &Findings) -> String {
    findings.run.stopping.clone().unwrap_or_default()
}

/// The interval that holds for all pairs together, beside a ratio; a dash where there is none.
pub(crate) fn simultaneous(ratio: &Estimate, low: Option<f64>, high: Option<f64>) -> String {
    let of_all = Estimate { value: ratio.value, low, high, trials: Vec::new() };
    figure(Quantity::Ratio, &of_all).interval.unwrap_or_else(|| "–".to_owned())
}

/// An adjusted p in words; a dash where there is none.
pub(crate) fn p_words(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(tiny) if tiny < 0.001 => "<0.001".to_owned(),
        Some(small) if small < 0.1 => format!("{small:.3}"),
        Some(large) => format!("{large:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_is_never_rounded_to_nothing() {
        let check = |p: Option<f64>, words: &str| assert_eq!(p_words(p), words);
        check(None, "–");
        check(Some(0.0), "<0.001");
        check(Some(0.0123), "0.012");
        check(Some(0.049_9), "0.050");
        check(Some(0.3), "0.30");
        check(Some(1.0), "1.00");
    }
}
