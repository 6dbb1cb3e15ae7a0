//! Numbers drawn at random, the same for the same seed on every machine.

/// SplitMix64 (Steele, Lea, Flood, 2014): one addition and two multiplications a number, and any seed is a good one.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A stream of its own for each `stream` under one seed.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut seeding = Random(seed);
        Random(seeding.next() ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Evenly from 0 to just below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs for seed 1234567, as published with the reference implementation.
        let mut random = Random(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(drawn, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn each_stream_has_its_own_numbers_and_they_lie_below_one() {
        let draw = |seed, stream| Random::new(seed, stream).unit();
        assert_eq!(draw(1, 0), draw(1, 0));
        assert!(draw(1, 0) != draw(1, 1) && draw(1, 0) != draw(2, 0));
        let mut random = Random::new(7, 0);
        let drawn: Vec<f64> = (0..10_000).map(|_| random.unit()).collect();
        assert!(drawn.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
