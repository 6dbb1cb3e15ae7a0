//! Reads the histograms of records: base64 of an HdrHistogram, encoded in version 2 without compression.
//!
//! Almost all counters of such a histogram are zero, and the encoding stores zeros as runs. This reader skips the runs, so it is
//! many times faster than one that fills and scans all counters.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

const COOKIE: u32 = 0x1c84_9313;
const HEADER_BYTES: usize = 40;
/// The most significant digits that the format allows.
const MOST_DIGITS: u32 = 5;

/// A range of values that the histogram does not distinguish, with at least one recorded value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub lowest: u64,
    pub highest: u64,
    /// The number of values in this bucket and in all below it.
    pub up_to: u64,
}

/// Reads the non-empty buckets, in order, or returns `None` if this is not a histogram.
pub(crate) fn buckets(base64: &str) -> Option<Vec<Bucket>> {
    let bytes = BASE64.decode(base64).ok()?;
    let (header, counters) = bytes.split_at_checked(HEADER_BYTES)?;
    let scale = Scale::of(header)?;
    let mut counters = counters.get(..u32_at(header, 4)? as usize)?;
    let mut buckets = Vec::new();
    let (mut index, mut up_to) = (0u64, 0u64);
    while !counters.is_empty() {
        match next_counter(&mut counters)? {
            zeros @ ..0 => index = index.checked_add(zeros.unsigned_abs())?,
            count => {
                if count > 0 {
                    let (lowest, highest) = scale.bounds(index)?;
                    up_to = up_to.checked_add(count.unsigned_abs())?;
                    buckets.push(Bucket { lowest, highest, up_to });
                }
                index = index.checked_add(1)?;
            }
        }
    }
    Some(buckets)
}

/// How values map to counters. The first `2 << half_bits` counters are one unit wide. Every further half of them is twice as wide
/// as the previous half.
struct Scale {
    unit_bits: u32,
    half_bits: u32,
    /// The highest value that the histogram can hold.
    most: u64,
}

impl Scale {
    fn of(header: &[u8]) -> Option<Self> {
        let (digits, least, most) = (u32_at(header, 12)?, u64_at(header, 16)?, u64_at(header, 24)?);
        let is_plain = u32_at(header, 8)? == 0 && f64::from_bits(u64_at(header, 32)?) == 1.0;
        if u32_at(header, 0)? != COOKIE || !is_plain || digits > MOST_DIGITS {
            return None;
        }
        // A counter of one unit is precise enough up to twice the power of ten.
        let half_bits = 10u32.pow(digits).next_power_of_two().ilog2();
        Some(Self { unit_bits: least.checked_ilog2()?, half_bits, most })
    }

    /// The lowest and the highest value of a counter, or `None` beyond the end of the histogram.
    fn bounds(&self, index: u64) -> Option<(u64, u64)> {
        let half = 1 << self.half_bits;
        let doublings = (index >> self.half_bits).saturating_sub(1);
        let place = if index < half { index } else { (index & (half - 1)) + half };
        let width_bits = u32::try_from(doublings).ok()?.checked_add(self.unit_bits)?;
        // The shift must not overflow the number.
        let lowest = place.checked_mul(1u64.checked_shl(width_bits)?).filter(|lowest| *lowest <= self.most)?;
        Some((lowest, lowest.checked_add((1 << width_bits) - 1)?))
    }
}

/// Reads the next number: a count, or a run of zeros as a negative length. Each byte holds seven bits, the lowest first; the
/// ninth byte holds eight.
fn next_counter(bytes: &mut &[u8]) -> Option<i64> {
    let mut number = 0;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let is_last = place == 8 || byte & 0x80 == 0;
        let bits = if place == 8 { *byte } else { byte & 0x7f };
        number |= u64::from(bits) << (7 * place);
        if is_last {
            break;
        }
    }
    // The lowest bit is the sign (zigzag encoding).
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

fn u32_at(header: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?))
}

fn u64_at(header: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(*header.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer as _, V2Serializer};
    use proptest::prelude::*;

    fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    fn is_none(bytes: &[u8]) -> bool {
        buckets(&BASE64.encode(bytes)).is_none()
    }

    proptest! {
        #[test]
        fn buckets_are_those_of_the_crate_that_writes_them(
            low in 1u64..5_000, digits in 0u8..=3, values in prop::collection::vec((0u64..3_600_000_000_000, 1u64..1 << 40), 0..50)
        ) {
            let mut histogram = Histogram::<u64>::new_with_bounds(low, 3_600_000_000_000, digits).unwrap();
            values.iter().for_each(|(value, count)| histogram.record_n(*value, *count).unwrap());
            let mut up_to = 0;
            let expected: Vec<Bucket> = histogram.iter_recorded().map(|it| {
                let value = it.value_iterated_to();
                up_to += it.count_at_value();
                Bucket { lowest: histogram.lowest_equivalent(value), highest: histogram.highest_equivalent(value), up_to }
            }).collect();
            prop_assert_eq!(buckets(&BASE64.encode(encoded(&histogram))), Some(expected));
        }
    }

    #[test]
    fn a_header_that_is_not_understood_is_refused() {
        let whole = encoded(&Histogram::<u64>::new_with_bounds(1, 1_000_000, 3).unwrap());
        assert!(!is_none(&whole));
        for (at, value) in [(3, 0x14), (11, 1), (15, 6), (23, 0), (32, 0)] {
            let mut other = whole.clone();
            other[at] = value;
            assert!(is_none(&other), "byte {at}");
        }
    }

    #[test]
    fn counters_that_end_early_or_lie_beyond_the_end_are_refused() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 1_000_000, 3).unwrap();
        histogram.record_n(1_000_000, 1 << 30).unwrap();
        let whole = encoded(&histogram);
        assert!(is_none(&whole[..whole.len() - 1]));
        let mut lower = whole;
        lower[24..32].copy_from_slice(&500_000u64.to_be_bytes());
        assert!(is_none(&lower));
    }
}
