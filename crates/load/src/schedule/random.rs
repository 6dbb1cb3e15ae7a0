//! Numbers drawn at random, the same for the same seed on every machine.

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three multiplications a number, any seed is a good one.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// A stream of its own for each `purpose` and `thread` under one seed.
    pub fn new(seed: u64, purpose: u64, thread: u64) -> Random {
        let mut random = Random { state: seed };
        for part in [purpose, thread] {
            random.state = random.next() ^ part.wrapping_mul(0xD1B5_4A32_D192_ED03);
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Evenly between 0 and 1, never either of them.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Evenly from 0 to `below` - 1.
    pub fn below(&mut self, below: u64) -> u64 {
        // The high half of the product; its bias of below/2^64 is far beyond what any run could show.
        ((u128::from(self.next()) * u128::from(below)) >> 64) as u64
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
        let draw = |seed, purpose, thread| Random::new(seed, purpose, thread).next();
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let different = [draw(1, 2, 3), draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4), draw(1, 3, 2)];
        assert!((1..different.len()).all(|at| !different[..at].contains(&different[at])));
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
