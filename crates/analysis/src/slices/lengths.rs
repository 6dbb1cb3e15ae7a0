//! Finds the best window length from short counts in the warm-ups.
//!
//! Longer windows average out more of the fast noise, but are further apart in the slow noise. The Allan deviation at a length is
//! how much neighbouring counts of that length differ. The number of windows in a given time also depends on the overhead of
//! each. So the variance of a ratio is proportional to that of neighbours, times the length of a window plus its overhead.

use tolok_model::{SliceDesign, SliceFigures, duration_words};
use tolok_stats::{SD_OF_MAD, Sample};

use crate::figures::small_share;
use crate::findings::{SliceLengths, SlicesFinding};

const COUNT_S: f64 = 0.01;
/// The lengths to compare, in counts.
const LENGTHS: [usize; 9] = [2, 3, 5, 10, 15, 20, 30, 40, 50];
/// The first of this many parts of a warm-up is left out, because most of the warming happens there.
const PARTS: usize = 4;
/// How much more ratios must scatter before another length is recommended. With few neighbours, a deviation is uncertain by a
/// tenth.
const CLEARLY_MORE: f64 = 0.1;
/// Fewer non-overlapping neighbours say nothing about a length.
const FEWEST_NEIGHBOURS: usize = 30;

/// The comparison of lengths, or `None` if the warm-ups are too short for the study's own length.
pub(super) fn lengths(design: SliceDesign, launches: &[&SliceFigures]) -> Option<SliceLengths> {
    let series: Vec<&[u32]> = launches.iter().map(|slices| settled(&slices.warm_up_by_10ms)).collect();
    let shares: Vec<f64> = launches.iter().map(|slices| slices.measured_share).collect();
    let share = Sample::new(&shares).ok()?.median();
    let beside_s = if share > 0.0 { design.window_s * (1.0 / share - 1.0) } else { design.lead_in_s };
    let known: Vec<(f64, f64)> = LENGTHS
        .iter()
        .filter_map(|counts| Some((*counts as f64 * COUNT_S, allan_deviation(&series, *counts)?)))
        .collect();
    let scatter = |(window_s, deviation): (f64, f64)| deviation * (window_s + beside_s).sqrt();
    let own = known.iter().copied().find(|(window_s, _)| (window_s - design.window_s).abs() < COUNT_S / 2.0)?;
    let best = known.iter().copied().min_by(|left, right| scatter(*left).total_cmp(&scatter(*right)))?;
    Some(SliceLengths {
        best_window_s: best.0,
        longest_s: known.last()?.0,
        excess: scatter(own) / scatter(best) - 1.0,
        allan_deviation: own.1,
    })
}

fn settled(counts: &[u32]) -> &[u32] {
    &counts[counts.len() / PARTS..]
}

/// How much neighbours of `counts` counts differ, as a share of them. It uses all positions of the neighbours, including
/// overlapping ones (Howe, Allan and Barnes 1981). It is robust, because a stall is not a property of a length.
fn allan_deviation(series: &[&[u32]], counts: usize) -> Option<f64> {
    let apart: usize = series.iter().map(|series| (series.len() / counts).saturating_sub(1)).sum();
    let relative = |series: &&[u32]| -> Vec<f64> {
        let sum = |counts: &[u32]| counts.iter().map(|count| f64::from(*count)).sum::<f64>();
        let pairs = series.windows(2 * counts).map(|pair| [sum(&pair[..counts]), sum(&pair[counts..])]);
        let pairs = pairs.filter(|[left, right]| left + right > 0.0);
        pairs.map(|[left, right]| (right - left).abs() * 2.0 / (left + right)).collect()
    };
    let differences: Vec<f64> = series.iter().flat_map(relative).collect();
    let sample = Sample::new(&differences).ok().filter(|_| apart >= FEWEST_NEIGHBOURS)?;
    // The difference of two has twice the variance of one.
    Some(sample.median() * SD_OF_MAD / std::f64::consts::SQRT_2).filter(|deviation| *deviation > 0.0)
}

pub(super) fn sentence(found: &SlicesFinding) -> Option<String> {
    let SliceLengths { best_window_s, longest_s, excess, allan_deviation } = found.lengths?;
    let [own, best, longest] = [found.window_s, best_window_s, longest_s].map(duration_words);
    let than = match excess < CLEARLY_MORE {
        true => format!("no other length up to {longest} would scatter ratios clearly less"),
        false => {
            format!(
                "of lengths up to {longest}, {best} would scatter ratios least, and {own} {} more",
                small_share(excess)
            )
        }
    };
    Some(format!("Neighbouring windows of {own} differ by {} (Allan deviation); {than}.", small_share(allan_deviation)))
}

#[cfg(test)]
mod tests {
    use tolok_model::SplitMix64;

    use super::*;

    /// Counts of 1,000 with white noise of this share, and a level that drifts by this share with each count.
    fn counts(noise: f64, drift: f64) -> Vec<u32> {
        let mut random = SplitMix64::new(7);
        let mut uniform = move || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let mut level = 1_000.0;
        let next = |_| {
            level *= 1.0 + drift * uniform();
            (level * (1.0 + noise * uniform())).round() as u32
        };
        (0..40_000).map(next).collect()
    }

    fn found(warm_up_by_10ms: Vec<u32>) -> Option<SliceLengths> {
        let figures = SliceFigures { measured_share: 0.8, warm_up_by_10ms, ..SliceFigures::default() };
        lengths(SliceDesign::default(), &[&figures])
    }

    #[test]
    fn where_noise_is_fast_long_windows_are_better_and_where_it_is_slow_short_ones() {
        let fast = found(counts(0.2, 0.0)).unwrap();
        assert!(fast.best_window_s >= 0.3 && fast.excess > 0.05, "{fast:?}");
        let slow = found(counts(0.0, 0.02)).unwrap();
        assert!(slow.best_window_s <= 0.03 && slow.excess > 0.1, "{slow:?}");
    }

    #[test]
    fn the_allan_deviation_of_white_noise_falls_with_the_root_of_the_length() {
        let counts = counts(0.2, 0.0);
        let series: Vec<&[u32]> = vec![&counts];
        // Uniform noise has a standard deviation of its width over √12.
        let expected = |length: f64| 0.2 / 12f64.sqrt() / length.sqrt();
        for length in [10, 20] {
            let deviation = allan_deviation(&series, length).unwrap();
            let expected = expected(length as f64);
            assert!((deviation / expected - 1.0).abs() < 0.15, "{length}: {deviation} and not {expected}");
        }
    }

    #[test]
    fn a_warm_up_that_is_too_short_tells_nothing() {
        assert_eq!(lengths(SliceDesign::default(), &[&SliceFigures::default()]), None);
        assert_eq!(allan_deviation(&[&[10; 40]], 10), None, "three neighbours are too few");
    }
}
