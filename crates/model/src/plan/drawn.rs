//! What each block draws from the seed, so that no subject has the same luck in all blocks.

use tolok_rng::SplitMix64;

use super::{Case, Plan};

/// Keeps environment sizes independent of everything else drawn from the seed.
const PADDING_STREAM: u64 = 0x0e_4711;
/// Keeps build layouts independent of everything else drawn from the seed.
const LAYOUT_STREAM: u64 = 0x1a_9007;
/// The size of a page. More padding would not reach new positions within a page.
const MOST_PADDING_BYTES: u32 = 4096;

impl Plan {
    /// Extra length, in bytes, of the environment variables of a case's server or program in a block. A constant length
    /// could favour or hurt one subject. Cases that share a server share the length.
    pub fn padding_bytes(&self, case: &Case, block: u32) -> u32 {
        let first = self.cases.iter().position(|other| other.shares_server(case)).unwrap_or_default();
        let mut random = SplitMix64::stream(self.seed, [PADDING_STREAM, u64::from(block), first as u64]);
        random.below(u64::from(MOST_PADDING_BYTES) + 1) as u32
    }

    /// Seed for the order of functions in a block's builds: 1 to 2³¹ − 1, or 0 if all blocks share a build. The order
    /// affects a program's speed, which is not a merit of its source.
    pub fn layout(&self, block: u32) -> u32 {
        let mut random = SplitMix64::stream(self.seed, [LAYOUT_STREAM, u64::from(block)]);
        if self.rebuild { random.below(i32::MAX as u64) as u32 + 1 } else { 0 }
    }
}
