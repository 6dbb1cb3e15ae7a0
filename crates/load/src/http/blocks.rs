//! Compares long bodies by blocks.
//!
//! A byte-by-byte comparison moves the expected body through the processor's cache with every response. Two bodies of half a megabyte do
//! not fit there together, so the comparison costs more than a third of receiving. Sums of the blocks of the expected body do fit. Each
//! whole block that arrives is summed, and only the edges of a piece are compared with the bytes themselves.
//!
//! The sum is NH, the inner hash of UMAC (RFC 4418, §5.2): it adds words and key words in pairs, multiplies the pairs, and adds the
//! products. Every thread of a run draws its own key. A block with any difference has the right sum with a probability of at most 1 in 2^32
//! (Black, Halevi, Krawczyk, Krovetz, Rogaway 1999). Only a block with a wrong sum is compared byte by byte, to find the difference.
#![allow(unsafe_code, reason = "vector instructions load through pointers and need a processor that has them")]

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Bytes per block. Short enough to leave few bytes at the edges of a piece; long enough that the sums take little memory.
const BLOCK_BYTES: usize = 4096;

/// Shorter bodies stay in the cache together with the received bytes.
const WORTH_IT_BYTES: usize = 128 * 1024;

/// Words in a block and in the key.
const WORDS: usize = BLOCK_BYTES / 4;

/// An expected body with the sums of its blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    body: Arc<[u8]>,
    key: Box<[u32; WORDS]>,
    /// One per whole block.
    sums: Vec<u64>,
    sum: Sum,
}

impl Blocks {
    /// The blocks of a body, if it is long and the processor can sum them faster than compare them.
    pub fn of(body: &Arc<[u8]>) -> Option<Blocks> {
        let sum = fastest().filter(|_| body.len() >= WORTH_IT_BYTES)?;
        let drawn = RandomState::new();
        let key: Box<[u32; WORDS]> = Box::new(std::array::from_fn(|word| drawn.hash_one(word) as u32));
        let (blocks, _) = body.as_chunks::<BLOCK_BYTES>();
        let sums = blocks.iter().map(|block| sum(block, &key)).collect();
        Some(Blocks { body: Arc::clone(body), key, sums, sum })
    }

    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether `piece` equals the body from byte `at` on.
    pub fn agrees(&self, at: usize, piece: &[u8]) -> bool {
        let Some(expected) = at.checked_add(piece.len()).and_then(|end| self.body.get(at..end)) else { return false };
        // The edge up to the next block border, whole blocks, and the remainder after the last one.
        let edge = (at.next_multiple_of(BLOCK_BYTES) - at).min(piece.len());
        let (first, rest) = piece.split_at(edge);
        let (whole, last) = rest.as_chunks::<BLOCK_BYTES>();
        let number = (at + edge) / BLOCK_BYTES;
        first == &expected[..edge]
            && last == &expected[piece.len() - last.len()..]
            && whole
                .iter()
                .zip(&self.sums[number.min(self.sums.len())..])
                .all(|(block, right)| (self.sum)(block, &self.key) == *right)
    }
}

/// Sums a block.
type Sum = fn(&[u8; BLOCK_BYTES], &[u32; WORDS]) -> u64;

/// This processor's fastest sum that is faster than comparing, or `None`.
#[cfg(target_arch = "x86_64")]
fn fastest() -> Option<Sum> {
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F.
        return Some(|block, key| unsafe { vectors::sum_512(block, key) });
    }
    // SAFETY: the processor has AVX2.
    is_x86_feature_detected!("avx2").then_some(|block, key| unsafe { vectors::sum_256(block, key) })
}

#[cfg(not(target_arch = "x86_64"))]
fn fastest() -> Option<Sum> {
    None
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;

    use super::{BLOCK_BYTES, WORDS};

    /// Independent sums, so no addition waits for the previous one.
    const ABREAST: usize = 4;

    // A product uses the even word of each pair; shifting moves the odd word into its place.

    #[target_feature(enable = "avx512f")]
    pub fn sum_512(block: &[u8; BLOCK_BYTES], key: &[u32; WORDS]) -> u64 {
        let mut sums = [_mm512_setzero_si512(); ABREAST];
        for step in (0..BLOCK_BYTES).step_by(ABREAST * 64) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let at = step + lane * 64;
                // SAFETY: `at` is a multiple of 64 below 4096, and block and key are 4096 bytes long each; the loads need no alignment.
                let (words, key) = unsafe {
                    let key = key.as_ptr().cast::<u8>().add(at);
                    (_mm512_loadu_si512(block.as_ptr().add(at).cast()), _mm512_loadu_si512(key.cast()))
                };
                let keyed = _mm512_add_epi32(words, key);
                *sum = _mm512_add_epi64(*sum, _mm512_mul_epu32(keyed, _mm512_srli_epi64::<32>(keyed)));
            }
        }
        sums.iter().fold(0u64, |sum, lane| sum.wrapping_add(_mm512_reduce_add_epi64(*lane) as u64))
    }

    #[target_feature(enable = "avx2")]
    pub fn sum_256(block: &[u8; BLOCK_BYTES], key: &[u32; WORDS]) -> u64 {
        let mut sums = [_mm256_setzero_si256(); ABREAST];
        for step in (0..BLOCK_BYTES).step_by(ABREAST * 32) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let at = step + lane * 32;
                // SAFETY: as above, with multiples of 32.
                let (words, key) = unsafe {
                    let key = key.as_ptr().cast::<u8>().add(at);
                    (_mm256_loadu_si256(block.as_ptr().add(at).cast()), _mm256_loadu_si256(key.cast()))
                };
                let keyed = _mm256_add_epi32(words, key);
                *sum = _mm256_add_epi64(*sum, _mm256_mul_epu32(keyed, _mm256_srli_epi64::<32>(keyed)));
            }
        }
        let sum = _mm256_add_epi64(_mm256_add_epi64(sums[0], sums[1]), _mm256_add_epi64(sums[2], sums[3]));
        let (low, high) = (_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let sum = _mm_add_epi64(low, high);
        (_mm_cvtsi128_si64(sum) as u64).wrapping_add(_mm_extract_epi64::<1>(sum) as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(bytes: usize) -> Vec<u8> {
        let noise = RandomState::new();
        (0..bytes).map(|at| noise.hash_one(at) as u8).collect()
    }

    /// A body of blocks plus a remainder, or `None` where summing is not faster than comparing.
    fn blocks() -> Option<(Vec<u8>, Blocks)> {
        let body = body(WORTH_IT_BYTES + 1_234);
        Blocks::of(&body.as_slice().into()).map(|blocks| (body, blocks))
    }

    /// The sum, directly from its definition.
    fn plain_sum(block: &[u8; BLOCK_BYTES], key: &[u32; WORDS]) -> u64 {
        let (words, _) = block.as_chunks::<4>();
        let keyed: Vec<u64> =
            words.iter().zip(key).map(|(word, key)| u64::from(u32::from_le_bytes(*word).wrapping_add(*key))).collect();
        keyed.chunks_exact(2).fold(0u64, |sum, pair| sum.wrapping_add(pair[0].wrapping_mul(pair[1])))
    }

    /// All sums that this processor supports, including the slower ones.
    #[cfg(target_arch = "x86_64")]
    fn ways() -> Vec<Sum> {
        // SAFETY: the processor has AVX2.
        let narrow: Sum = |block, key| unsafe { vectors::sum_256(block, key) };
        fastest().into_iter().chain(is_x86_feature_detected!("avx2").then_some(narrow)).collect()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn ways() -> Vec<Sum> {
        Vec::new()
    }

    #[test]
    fn short_bodies_are_compared_as_they_are() {
        assert!(Blocks::of(&body(WORTH_IT_BYTES - 1).into()).is_none());
    }

    #[test]
    fn the_sum_is_the_one_of_its_definition() {
        let key: [u32; WORDS] = std::array::from_fn(|word| (word as u32).wrapping_mul(0x9E37_79B9));
        let mut block = [0; BLOCK_BYTES];
        block.copy_from_slice(&body(BLOCK_BYTES));
        for sum in ways() {
            assert_eq!(sum(&block, &key), plain_sum(&block, &key));
        }
        // One nonzero pair: (3 + 10) * (5 + 20).
        let (mut block, mut key) = ([0; BLOCK_BYTES], [0; WORDS]);
        (block[0], block[4], key[0], key[1]) = (3, 5, 10, 20);
        assert_eq!(plain_sum(&block, &key), 13 * 25);
    }

    #[test]
    fn every_single_wrong_byte_is_seen() {
        let Some((body, blocks)) = blocks() else { return };
        for at in (0..body.len()).step_by(61).chain([0, 4095, 4096, body.len() - 1]) {
            let mut wrong = body.clone();
            wrong[at] ^= 1 << (at % 8);
            assert!(!blocks.agrees(0, &wrong), "byte {at}");
        }
        assert!(blocks.agrees(0, &body));
    }

    #[test]
    fn a_piece_beyond_the_end_does_not_agree() {
        let Some((body, blocks)) = blocks() else { return };
        assert!(!blocks.agrees(body.len() - 5, b"abcdef"));
        assert!(!blocks.agrees(usize::MAX, b"abcdef"));
        assert!(blocks.agrees(body.len(), b""));
    }

    proptest! {
        #[test]
        fn pieces_of_any_length_at_any_place_agree_and_changed_ones_do_not(
            from in 0usize..WORTH_IT_BYTES,
            length in 1usize..40_000,
            change: prop::sample::Index,
        ) {
            let Some((body, blocks)) = blocks() else { return Ok(()) };
            let piece = &body[from..(from + length).min(body.len())];
            prop_assert!(blocks.agrees(from, piece));
            let mut changed = piece.to_vec();
            *change.get_mut(&mut changed) ^= 0x40;
            prop_assert!(!blocks.agrees(from, &changed));
        }
    }
}
