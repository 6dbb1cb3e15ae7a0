//! The rate of each second of a trial under load: the last as a figure, the earlier ones as a sparkline.

use tolok_analysis::figures::{self, Quantity};
use tolok_report::sparkline;
use tolok_tools::LoadSecond;

/// Number of seconds shown.
const SHOWN: usize = 12;
/// Over less than this, the rate is mostly chance.
const SHORTEST_S: f64 = 0.1;

/// Correct responses per second, second by second.
#[derive(Debug, Default)]
pub struct Rates(Vec<f64>);

impl Rates {
    /// Clears the rates for another trial, or another attempt at one.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn push(&mut self, second: &LoadSecond) {
        if second.duration_s >= SHORTEST_S {
            self.0.push(second.good as f64 / second.duration_s);
        }
    }

    /// ` 12.3k/s ▄▆██`, or an empty text before the first second.
    pub fn words(&self) -> String {
        let Some(last) = self.0.last() else { return String::new() };
        let shown = &self.0[self.0.len().saturating_sub(SHOWN)..];
        format!(" {}/s {}", figures::amount(Quantity::Number, *last), sparkline(shown, SHOWN))
    }
}

#[cfg(test)]
mod tests {
    use tolok_tools::LoadPhase;

    use super::*;

    fn second(good: u64, duration_s: f64) -> LoadSecond {
        let (phase, start_s, failed) = (LoadPhase::Measuring, 0.0, 0);
        LoadSecond { phase, start_s, duration_s, good, failed, p50_s: None, p99_s: None }
    }

    #[test]
    fn the_last_second_is_a_figure_and_those_before_it_are_marks() {
        let mut rates = Rates::default();
        assert_eq!(rates.words(), "");
        [1_000, 4_000, 8_000].iter().for_each(|good| rates.push(&second(*good, 1.0)));
        assert_eq!(rates.words(), " 8.00k/s ▁▄█");
        rates.push(&second(2_000, 0.5));
        assert_eq!(rates.words(), " 4.00k/s ▁▄█▄", "a part of a second counts by its length");
        rates.push(&second(1, 0.001));
        assert_eq!(rates.words(), " 4.00k/s ▁▄█▄", "and too small a part not at all");
        (0..40).for_each(|_| rates.push(&second(8_000, 1.0)));
        assert_eq!(rates.words(), " 8.00k/s ████████████");
        rates.clear();
        assert_eq!(rates.words(), "");
    }
}
