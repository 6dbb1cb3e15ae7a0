//! Where two lines cross between two values of a factor.
//!
//! Between the two values, the logarithm of each goodput is linear in the logarithm of the factor, and so is the logarithm of
//! their ratio. A factor that is 0 somewhere has no logarithm there, so the line is over the factor itself. The log ratio is the
//! mean over the blocks that measured both at both values. The two are equal where it is 0.

use super::resampling::{Draws, Resampling};

/// The scale on which lines between two values are straight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Logarithmic,
    Even,
}

/// Where two lines cross, in the unit of the factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossing {
    pub(crate) at: f64,
    /// `None` if it reaches beyond the two values.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// The crossing of A and B between two values, from ln(A / B) at the lower and at the higher one, block by block. `None` if the
/// mean has the same sign at both.
pub(crate) fn crossing(
    between: (f64, f64),
    scale: Scale,
    blocks: &[[f64; 2]],
    resampling: &mut Resampling,
) -> Option<Crossing> {
    let every = vec![1.0; blocks.len()];
    let [below, above] = means(blocks, &every);
    if below * above >= 0.0 {
        return None;
    }
    let at = |way: f64| along(between, scale, way);
    let ends = resampling.of(blocks.len()).map(|draws| ends(blocks, below.signum(), &draws));
    let within = |way: f64| (0.0..=1.0).contains(&way).then(|| at(way));
    Some(Crossing {
        at: at(below / (below - above)),
        low: ends.and_then(|[low, _]| within(low)),
        high: ends.and_then(|[_, high]| within(high)),
    })
}

/// The ends of the interval, as fractions of the way from the lower value to the higher; infinite if it reaches beyond them.
fn ends(blocks: &[[f64; 2]], sign: f64, draws: &Draws) -> [f64; 2] {
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    for counts in draws.each() {
        let [below, above] = means(blocks, counts).map(|mean| mean * sign);
        let (low, high) = match (below > 0.0, above < 0.0) {
            (true, true) => (below / (below - above), below / (below - above)),
            // The same subject is faster at both ends: the lines cross beyond them, if at all.
            (true, false) => (f64::INFINITY, f64::INFINITY),
            (false, true) => (f64::NEG_INFINITY, f64::NEG_INFINITY),
            // The order is reversed. This resample says nothing about this crossing, so it widens the interval on both sides.
            (false, false) => (f64::NEG_INFINITY, f64::INFINITY),
        };
        lows.push(low);
        highs.push(high);
    }
    [draws.low(&mut lows), draws.high(&mut highs)]
}

fn means(blocks: &[[f64; 2]], counts: &[f64]) -> [f64; 2] {
    let sums = blocks
        .iter()
        .zip(counts)
        .fold([0.0; 2], |sums, (block, count)| [sums[0] + block[0] * count, sums[1] + block[1] * count]);
    sums.map(|sum| sum / blocks.len() as f64)
}

/// The value at this fraction of the way between two.
fn along((low, high): (f64, f64), scale: Scale, way: f64) -> f64 {
    match scale {
        Scale::Logarithmic => low * (high / low).powf(way),
        Scale::Even => low + (high - low) * way,
    }
}

#[cfg(test)]
mod tests {
    use tolok_stats::Rng;

    use super::*;
    use crate::normal::normal;

    fn blocks(number: usize, below: f64, above: f64, scatter: f64, seed: u64) -> Vec<[f64; 2]> {
        let mut rng = Rng::seeded(seed);
        let mut drawn = || normal(|| rng.unit());
        (0..number).map(|_| [below + scatter * drawn(), above + scatter * drawn()]).collect()
    }

    #[test]
    fn halfway_is_the_geometric_mean_or_the_middle() {
        let even = [[0.5, -0.5]; 3];
        let at = |between, scale| crossing(between, scale, &even, &mut Resampling::default()).unwrap().at;
        assert!((at((4.0, 100.0), Scale::Logarithmic) - 20.0).abs() < 1e-9);
        assert!((at((0.0, 0.1), Scale::Even) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn lines_that_do_not_change_sides_do_not_cross() {
        assert_eq!(crossing((1.0, 2.0), Scale::Logarithmic, &[[0.5, 0.1]; 6], &mut Resampling::default()), None);
        assert_eq!(crossing((1.0, 2.0), Scale::Logarithmic, &[[-0.5, -0.1]; 6], &mut Resampling::default()), None);
    }

    #[test]
    fn a_clear_crossing_has_an_interval_and_a_vague_one_has_none() {
        let mut resampling = Resampling::default();
        let clear =
            crossing((16.0, 64.0), Scale::Logarithmic, &blocks(6, 0.4, -0.4, 0.02, 1), &mut resampling).unwrap();
        let (low, high) = (clear.low.unwrap(), clear.high.unwrap());
        assert!(low < clear.at && clear.at < high && high / low < 1.2, "{clear:?}");
        let vague = blocks(6, 0.02, -0.02, 0.3, 3);
        let vague = crossing((16.0, 64.0), Scale::Logarithmic, &vague, &mut resampling);
        assert!(vague.is_none_or(|it| it.low.is_none() && it.high.is_none()), "{vague:?}");
    }

    #[test]
    fn exchanging_the_two_moves_nothing() {
        let forth = blocks(8, 0.3, -0.2, 0.05, 5);
        let back: Vec<[f64; 2]> = forth.iter().map(|both| both.map(|ratio| -ratio)).collect();
        let at = |blocks| crossing((0.02, 0.1), Scale::Even, blocks, &mut Resampling::default());
        assert_eq!(at(&forth), at(&back));
    }

    #[test]
    fn four_blocks_have_a_crossing_and_no_interval() {
        let found = crossing((1.0, 10.0), Scale::Logarithmic, &[[0.3, -0.3]; 4], &mut Resampling::default()).unwrap();
        assert_eq!((found.low, found.high), (None, None));
    }

    /// Intervals of 300 crossings with a known place cover it as often as they claim.
    #[test]
    fn an_interval_covers_what_it_says() {
        let mut resampling = Resampling::default();
        for (number, least) in [(5, 0.91), (10, 0.92)] {
            let covers = |seed: &u64| {
                let found = crossing(
                    (1.0, 100.0),
                    Scale::Logarithmic,
                    &blocks(number, 0.4, -0.4, 0.15, *seed),
                    &mut resampling,
                );
                found.is_some_and(|it| it.low.is_none_or(|low| low <= 10.0) && it.high.is_none_or(|high| 10.0 <= high))
            };
            let covered = (0..150).filter(covers).count() as f64 / 150.0;
            assert!((least..=0.99).contains(&covered), "{number} rounds: {covered}");
        }
    }
}
