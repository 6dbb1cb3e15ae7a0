//! Random numbers, identical on every machine for the same seed.

use tolok_rng::SplitMix64;

/// A random stream, with the distributions that schedules need.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// A separate stream for each `purpose` and `thread` of a seed.
    pub fn new(seed: u64, purpose: u64, thread: u64) -> Random {
        Random(SplitMix64::stream(seed, [purpose, thread]))
    }

    /// Uniform between 0 and 1, both exclusive.
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform from 0 to `below` - 1.
    pub fn below(&mut self, below: u64) -> u64 {
        // The high half of the product. Its bias of below/2^64 is far too small to be visible in any run.
        ((u128::from(self.0.next_u64()) * u128::from(below)) >> 64) as u64
    }

    /// Exponential with mean 1: the gap between arrivals of a Poisson process of rate 1.
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_each_purpose_its_own() {
        let draw = |seed, purpose, thread| Random::new(seed, purpose, thread).0.next_u64();
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let different = [draw(1, 2, 3), draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4), draw(1, 3, 2)];
        assert!((1..different.len()).all(|at| !different[..at].contains(&different[at])));
    }

    /// The expected values come from an independent program.
    #[test]
    fn streams_are_frozen() {
        let stream = || Random::new(2026, 3, 1);
        let (mut units, mut integers, mut gaps) = (stream(), stream(), stream());
        assert_eq!([0; 3].map(|_| units.unit()), [0.963047414251154, 0.15492666924619564, 0.14500383281011747]);
        assert_eq!([0; 4].map(|_| integers.below(1_000_000)), [963047, 154926, 145003, 822733]);
        let drawn = [0; 3].map(|_| gaps.exponential());
        assert_eq!(drawn, [0.03765263241355592, 1.8648033756482274, 1.930995103737689]);
    }

    #[test]
    fn numbers_have_the_moments_of_their_distributions() {
        let mut random = Random::new(7, 0, 0);
        let n = 200_000;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let exponential: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
        let (first, second) = (mean(&exponential), mean(&exponential.iter().map(|x| x * x).collect::<Vec<_>>()));
        assert!((first - 1.0).abs() < 0.02 && (second - 2.0).abs() < 0.06, "{first} {second}");
        let below: Vec<f64> = (0..n).map(|_| random.below(10) as f64).collect();
        assert!((mean(&below) - 4.5).abs() < 0.05 && below.iter().all(|x| *x < 10.0));
        assert!((0..n).all(|_| (f64::MIN_POSITIVE..1.0).contains(&random.unit())));
    }
}
