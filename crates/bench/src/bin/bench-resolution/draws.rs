//! Duels drawn from launches, and how often they were right.

use tolok_analysis::{ComparedMetric, Verdict};
use tolok_model::SplitMix64;

use crate::launches::{Judged, Launches, Pair};

/// The question for drawn duels.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub pair: Pair,
    pub by: ComparedMetric,
    pub smallest_effect: f64,
}

impl Question {
    /// The ratio that the interval should contain.
    pub fn truth(&self) -> f64 {
        match (self.pair, self.by) {
            (Pair::Equals, _) => 1.0,
            (Pair::Slower(planted), ComparedMetric::Cpu) => planted.true_cpu(),
            (Pair::Slower(planted), _) => planted.true_goodput(),
        }
    }
}

/// The outcomes of duels.
#[derive(Debug, Default, PartialEq)]
pub struct Rates {
    pub duels: u32,
    /// Duels that told the two apart; for different servers, only those that named the slower one.
    pub told: u32,
    /// Duels whose interval contains the truth.
    pub covered: u32,
    /// Half widths of the intervals.
    pub half_widths: Vec<f64>,
}

/// Draws duels of `size` launches each, without replacement within a duel. Duels share launches, so they are not independent.
pub fn draw(launches: &Launches, question: Question, size: u32, draws: u32, seed: u64) -> Rates {
    let mut rng = SplitMix64::new(seed);
    let mut all: Vec<u32> = (1..=launches.number()).collect();
    let mut rates = Rates::default();
    for _ in 0..draws {
        rng.shuffle(&mut all);
        let drawn = &all[..(size as usize).min(all.len())];
        if let Some(found) = launches.judge(question.pair, drawn, question.by, question.smallest_effect) {
            rates.count(&found, question);
        }
    }
    rates
}

/// The duels as they were run, each with its own launches.
pub fn whole(launches: &Launches, question: Question) -> Rates {
    let mut rates = Rates::default();
    for own in &launches.of_duels {
        if let Some(found) = launches.judge(question.pair, own, question.by, question.smallest_effect) {
            rates.count(&found, question);
        }
    }
    rates
}

impl Rates {
    fn count(&mut self, found: &Judged, question: Question) {
        let is_told = match question.pair {
            Pair::Equals => found.verdict.is_told_apart(),
            Pair::Slower(_) => found.verdict == Verdict::Slower,
        };
        let truth = question.truth();
        self.duels += 1;
        self.told += u32::from(is_told);
        self.covered += u32::from(found.low <= truth && truth <= found.high);
        self.half_widths.push((found.high / found.low).sqrt() - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::{BASE, SLOWER};

    #[test]
    fn the_truth_is_what_was_planted() {
        let of = |pair, by| Question { pair, by, smallest_effect: 0.01 }.truth();
        assert_eq!(of(Pair::Equals, ComparedMetric::Cpu), 1.0);
        assert_eq!(of(Pair::Slower(SLOWER[0]), ComparedMetric::Cpu), 1.03);
        assert!((of(Pair::Slower(SLOWER[0]), ComparedMetric::Goodput) - 0.970_874).abs() < 1e-6);
        assert_eq!(of(Pair::Slower(BASE), ComparedMetric::Goodput), 1.0);
    }

    #[test]
    fn only_the_right_verdict_is_a_hit() {
        let found = |verdict| Judged { verdict, value: 0.97, low: 0.96, high: 0.98 };
        let question = Question { pair: Pair::Slower(SLOWER[0]), by: ComparedMetric::Goodput, smallest_effect: 0.01 };
        let mut rates = Rates::default();
        rates.count(&found(Verdict::Slower), question);
        rates.count(&found(Verdict::Faster), question);
        assert_eq!((rates.duels, rates.told, rates.covered), (2, 1, 2));
        assert!((rates.half_widths[0] - (0.98_f64 / 0.96).sqrt() + 1.0).abs() < 1e-12);
        let equals = Question { pair: Pair::Equals, ..question };
        let mut rates = Rates::default();
        rates.count(&found(Verdict::Faster), equals);
        rates.count(&found(Verdict::CannotTell), equals);
        assert_eq!((rates.told, rates.covered), (1, 0));
    }
}
