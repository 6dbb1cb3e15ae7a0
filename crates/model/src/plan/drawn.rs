//! What each block draws from the seed, so that no subject has the same luck in all of them.

use tolok_rng::SplitMix64;

use super::{Case, Plan};

/// Keeps the sizes of environments apart from all else that the seed gives.
const PADDING_STREAM: u64 = 0x0e_4711;
/// Keeps the layouts of builds apart from all else that the seed gives.
const LAYOUT_STREAM: u64 = 0x1a_9007;
/// The size of a page: more would move nothing to another place within one.
const MOST_PADDING_BYTES: u32 = 4096;

impl Plan {
    /// How much longer the environment of a case's server or program is made in a block: a size that was always the same would be a
    /// drawback or an advantage of one subject. Cases that share a server share it.
    pub fn padding_bytes(&self, case: &Case, block: u32) -> u32 {
        let first = self.cases.iter().position(|other| other.shares_server(case)).unwrap_or_default();
        let mut random = SplitMix64::stream(self.seed, [PADDING_STREAM, u64::from(block), first as u64]);
        random.below(u64::from(MOST_PADDING_BYTES) + 1) as u32
    }

    /// What the order of functions in the builds of a block is drawn from: 1 to 2³¹ − 1, or 0 where all blocks share a build. The order
    /// makes a program faster or slower, and is no merit of its source.
    pub fn layout(&self, block: u32) -> u32 {
        let mut random = SplitMix64::stream(self.seed, [LAYOUT_STREAM, u64::from(block)]);
        if self.rebuild { random.below(i32::MAX as u64) as u32 + 1 } else { 0 }
    }
}
