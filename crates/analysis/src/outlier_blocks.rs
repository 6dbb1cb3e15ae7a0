//! Blocks in which the ratio of a pair is far from that in the others.
//!
//! Student's interval of a ratio covers less than its level if only one of the two has rare extreme trials (docs/coverage.md). A
//! caution names such a block, but every figure still includes it.
//!
//! A block is far if its log ratio is more than 5 + 800 ÷ n² robust standard deviations (1.4826 times the median absolute
//! deviation) from the pair's median, for n blocks: 13 for 10 blocks, 7 for 20. A fixed limit fails, because with few blocks the
//! robust deviation itself is uncertain: with 5 deviations, 41% of scenarios of six cases with lognormal noise would name a block
//! at n = 10. With this rule 0.9% do at n = 6, 1.0% at 10, 1.9% at 20 and 2.3% at 30 (40,000 scenarios each).

use std::collections::BTreeMap;

use tolok_stats::SD_OF_MAD;

use crate::estimate::{BlockRatio, middle};
use crate::figures::{Quantity, counted, figure};
use crate::findings::{CaseFinding, Estimate, PairComparison, ProgramFinding, ScenarioFinding};

/// With fewer common blocks, none counts as far, because their spread is too uncertain.
pub const FEWEST_BLOCKS_FOR_OUTLIERS: usize = 6;
/// Ratios are assumed to scatter by at least this share.
const LEAST_SCATTER: f64 = 0.005;

/// Numbers of the blocks whose ratio is far from the others.
pub(crate) fn outlier_blocks(pair: &BlockRatio) -> Vec<u32> {
    let (n, logarithms) = (pair.ratio.trials.len(), logarithms(&pair.ratio));
    let Some(median) = middle(&logarithms).filter(|_| n >= FEWEST_BLOCKS_FOR_OUTLIERS) else { return Vec::new() };
    let off: Vec<f64> = logarithms.iter().map(|logarithm| (logarithm - median).abs()).collect();
    let least = LEAST_SCATTER.max(pair.step.ln_1p());
    let scatter = (SD_OF_MAD * middle(&off).unwrap_or_default()).max(least);
    let is_far = |off: f64| off > (5.0 + 800.0 / (n * n) as f64) * scatter;
    pair.numbers.iter().zip(off).filter(|(_, off)| is_far(*off)).map(|(number, _)| *number).collect()
}

/// For each scenario with such blocks, the farthest one, and the number of pairs that have any.
pub(crate) fn cautions(scenarios: &[ScenarioFinding], programs: &[&ProgramFinding]) -> Vec<String> {
    let of_servers = scenarios.iter().filter_map(|it| {
        let pairs = it.comparisons.iter().map(|pair| ([&pair.a, &pair.b], &pair.by));
        caution(&it.id, &titles(&it.cases), &pairs.collect::<Vec<Pair>>())
    });
    let of_programs = programs.iter().filter_map(|it| {
        let pairs = it.comparisons.iter().map(|pair| ([&pair.a, &pair.b], &pair.wall));
        caution(&it.id, &titles(&it.cases), &pairs.collect::<Vec<Pair>>())
    });
    of_servers.chain(of_programs).collect()
}

type Pair<'a> = ([&'a String; 2], &'a PairComparison);

fn titles<F>(cases: &[CaseFinding<F>]) -> Titles<'_> {
    cases.iter().map(|case| (case.subject.as_str(), case.title.as_str())).collect()
}

type Titles<'a> = BTreeMap<&'a str, &'a str>;

fn caution(scenario: &str, titles: &Titles, pairs: &[Pair]) -> Option<String> {
    let all = counted(pairs.len() as u64, "pair");
    let far: Vec<(&Pair, Far)> = pairs.iter().filter_map(|pair| Some((pair, far(pair.1)?))).collect();
    let (pair, worst) = far.iter().reduce(|worst, next| if next.1.off > worst.1.off { next } else { worst })?;
    let others = match far.len() {
        1 => String::new(),
        some => format!(" {some} of {all} have such a round."),
    };
    let [a, b] = pair.0.map(|name| titles.get(name.as_str()).copied().unwrap_or(name));
    let [value, low, high] = [worst.value, worst.low, worst.high];
    let words = figure(Quantity::Ratio, &Estimate { value, low: Some(low), high: Some(high), trials: Vec::new() });
    Some(format!(
        "In round {} of {scenario}, {a} against {b} was {}, far from the other rounds ({}). The interval of their ratio depends on it: look at both trials before you quote it.{others}",
        worst.block,
        words.value,
        words.interval.unwrap_or_default(),
    ))
}

/// The farthest block of a pair.
struct Far {
    block: u32,
    /// Distance from the pair's median, as a logarithm.
    off: f64,
    value: f64,
    /// The range of the blocks that are not far.
    low: f64,
    high: f64,
}

fn far(pair: &PairComparison) -> Option<Far> {
    let logarithms = logarithms(&pair.ratio);
    let median = middle(&logarithms)?;
    let off = |logarithm: f64| (logarithm - median).abs();
    let mut places: Vec<usize> = (0..logarithms.len()).collect();
    places.sort_by(|left, right| off(logarithms[*right]).total_cmp(&off(logarithms[*left])));
    // Every far block is farther from the median than all others.
    let (outliers, others) = places.split_at_checked(pair.outlier_blocks.len())?;
    let farthest = *outliers.first()?;
    // Blocks and ratios are in the same order.
    let block = *pair.outlier_blocks.get(outliers.iter().filter(|place| **place < farthest).count())?;
    let others = || others.iter().map(|place| pair.ratio.trials[*place]);
    let (low, high) = others().reduce(f64::min).zip(others().reduce(f64::max))?;
    Some(Far { block, off: off(logarithms[farthest]), value: pair.ratio.trials[farthest], low, high })
}

fn logarithms(ratio: &Estimate) -> Vec<f64> {
    ratio.trials.iter().map(|ratio| ratio.ln()).collect()
}

#[cfg(test)]
mod tests {
    use tolok_model::SplitMix64;

    use super::*;
    use crate::estimate::ratio_within_blocks;
    use crate::findings::Better;
    use crate::normal::normal;
    use crate::verdict::{Rule, judge};

    fn pair(ratios: &[Option<f64>]) -> BlockRatio {
        ratio_within_blocks(ratios, &vec![Some(1.0); ratios.len()]).unwrap()
    }

    /// Nine blocks that differ by about a per cent, and one with about half the ratio.
    fn wild() -> BlockRatio {
        pair(&[0.98, 1.00, 1.01, 0.52, 0.99, 1.00, 1.01, 0.98, 1.00, 0.99].map(Some))
    }

    #[test]
    fn a_block_far_from_the_others_is_known_by_its_number() {
        assert_eq!(outlier_blocks(&wild()), [4]);
        let mut with_a_gap = [0.98, 1.00, 1.01, 1.00, 0.99, 1.00, 0.52, 1.01].map(Some);
        with_a_gap[1] = None;
        assert_eq!(outlier_blocks(&pair(&with_a_gap)), [7], "numbers count the run's rounds, not those that both have");
        assert_eq!(outlier_blocks(&wild().read_in_steps([0.2, 0.2])), [0; 0], "within two steps of the timer");
    }

    #[test]
    fn equal_blocks_make_no_outlier_of_one_that_differs_by_a_trifle() {
        assert_eq!(outlier_blocks(&pair(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.06].map(Some))), [0; 0]);
        assert_eq!(outlier_blocks(&pair(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.08].map(Some))), [10]);
    }

    #[test]
    fn of_five_blocks_none_is_far() {
        assert_eq!(outlier_blocks(&pair(&[1.0, 1.0, 1.0, 1.0, 9.0].map(Some))), [0; 0]);
        assert_eq!(outlier_blocks(&pair(&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0].map(Some))), [6]);
    }

    /// Six cases with only lognormal noise of 2%, in ten blocks.
    #[test]
    fn plain_noise_rarely_makes_an_outlier() {
        let mut random = SplitMix64::new(11);
        let mut drawn = || normal(|| random.unit());
        let mut scenario_has_one = || {
            let mut case = || -> Vec<Option<f64>> { (0..10).map(|_| Some((0.02 * drawn()).exp())).collect() };
            let cases: Vec<_> = (0..6).map(|_| case()).collect();
            let pairs = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
            pairs
                .filter_map(|(a, b)| ratio_within_blocks(&cases[a], &cases[b]))
                .any(|it| !outlier_blocks(&it).is_empty())
        };
        let found = (0..500).filter(|_| scenario_has_one()).count();
        assert!(found <= 10, "{found} of 500");
    }

    #[test]
    fn the_farthest_of_several_outliers_is_named() {
        let two = pair(&[0.98, 1.00, 1.01, 0.52, 0.99, 1.00, 4.0, 0.98, 1.00, 0.99, 1.01, 1.0].map(Some));
        let blocks = outlier_blocks(&two);
        assert_eq!(blocks, [4, 7]);
        let rule = Rule::of(0.03);
        let found = judge(vec![two], rule).remove(0).finding(Better::Higher);
        let [go, bun, node] = ["go", "bun", "node"].map(str::to_owned);
        let titles = [("go", "Go"), ("bun", "Bun")].into();
        let said = caution("json-c64", &titles, &[([&go, &bun], &found), ([&go, &node], &found)]).unwrap();
        assert_eq!(
            said,
            "In round 7 of json-c64, Go against Bun was 4.00×, far from the other rounds (0.98–1.01). The interval of their \
             ratio depends on it: look at both trials before you quote it. 2 of 2 pairs have such a round."
        );
    }
}
