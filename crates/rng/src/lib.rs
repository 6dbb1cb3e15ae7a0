//! SplitMix64, the seeded generator of every crate: orders of trials, data sets, arrivals, losses on a link.
//!
//! Recorded seeds must give the same numbers in every later version, so **the streams of this crate are frozen**. General-purpose
//! crates reserve the right to change their streams, so this crate does not use any. Not for secrets.
//!
//! Source: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

#![warn(missing_docs)]

/// A generator of 64-bit words. Any seed is a good one, zero and neighbours included.
///
/// ```
/// use tolok_rng::SplitMix64;
///
/// let mut random = SplitMix64::new(1234567);
/// assert_eq!(random.next_u64(), 6457827717110365317);
/// assert!(random.below(10) < 10);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of many streams with the same seed, identified by numbers such as a purpose and a thread.
    pub fn stream<const N: usize>(seed: u64, name: [u64; N]) -> Self {
        name.into_iter()
            .fold(Self(seed), |mut random, part| Self(random.next_u64() ^ part.wrapping_mul(0xD1B5_4A32_D192_ED03)))
    }

    /// The next word, uniform over all of `u64`.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// An unbiased integer in `0..bound`. It draws again rather than favouring low numbers.
    ///
    /// # Panics
    /// If the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a bound of zero leaves nothing to draw");
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = self.next_u64();
            if drawn < fair {
                return drawn % bound;
            }
        }
    }

    /// A number in [0, 1): one of the 2⁵³ multiples of 2⁻⁵³, all equally likely.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Shuffles in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            items.swap(last, chosen);
        }
    }
}
