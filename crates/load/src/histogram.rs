//! Histograms of durations, and the figures read from them. For readers of a record: see [`decode`] and
//! [`percentiles`].
//!
//! HdrHistogram with 3 significant digits: every value is kept to within 0.1 %, memory does not grow with the number of
//! values, and histograms of several runs can be added up. Values are nanoseconds.

use std::ops::Range;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use thiserror::Error;

use crate::record::{Distribution, Percentile};

/// The quantiles a record gives.
pub const QUANTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// A quantile needs this many values beyond it; with fewer it is luck.
pub const VALUES_BEYOND: u64 = 10;

/// Longest duration told apart; longer ones count as this long.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// A histogram that cannot be read.
#[derive(Debug, Error)]
pub enum HistogramError {
    /// Not base64.
    #[error("read the histogram: it is not base64 ({0}); take it unchanged from the record")]
    Base64(#[from] base64::DecodeError),
    /// Base64 of something else.
    #[error("read the histogram: it is not an HdrHistogram of version 2 ({0}); take it unchanged from the record")]
    Format(String),
    /// Histograms that cannot be added.
    #[error("add the histograms: {0}")]
    Add(String),
}

/// An empty histogram of the kind records hold.
pub fn empty() -> Histogram<u64> {
    let longest_ns = LONGEST.as_nanos() as u64;
    Histogram::new_with_bounds(1, longest_ns, 3).expect("bounds and digits are constants that the crate accepts")
}

/// Base64 of the HdrHistogram V2 encoding, not compressed.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory cannot fail, and every count of a run fits the encoding");
    BASE64.encode(bytes)
}

/// The histogram of a record, back from base64.
pub fn decode(base64: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = BASE64.decode(base64)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| HistogramError::Format(format!("{error:?}")))
}

/// Adds up the histograms of several records.
pub fn merge<'a>(encoded: impl IntoIterator<Item = &'a str>) -> Result<Histogram<u64>, HistogramError> {
    let mut sum = empty();
    sum.auto(true);
    for one in encoded {
        sum.add(decode(one)?).map_err(|error| HistogramError::Add(error.to_string()))?;
    }
    Ok(sum)
}

/// A quantile in seconds, or nothing when fewer than [`VALUES_BEYOND`] values lie beyond it.
pub fn quantile_s(histogram: &Histogram<u64>, quantile: f64) -> Option<f64> {
    // Rounded because 1000 * (1 - 0.99) is 9.999… in binary, and a rule must not hang on that.
    let beyond = histogram.len() as f64 * (1.0 - quantile);
    let legal = (beyond * 1e6).round() / 1e6 >= VALUES_BEYOND as f64;
    legal.then(|| seconds(histogram.value_at_quantile(quantile)))
}

/// All of [`QUANTILES`], by the same rule.
pub fn percentiles(histogram: &Histogram<u64>) -> Vec<Percentile> {
    QUANTILES.map(|quantile| Percentile { quantile, latency_s: quantile_s(histogram, quantile) }).to_vec()
}

pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Values below this have a bucket of their own; above, each power of two is cut into half as many.
const EXACT_BELOW: u64 = 2048;
const HALF: u32 = EXACT_BELOW.ilog2() - 1;

/// Buckets of values up to [`LONGEST`].
const BUCKETS: usize = bucket(LONGEST.as_nanos() as u64) + 1;

/// The bucket of a value. The layout is HdrHistogram's for 3 significant digits, so that buckets can be handed over as they
/// are.
const fn bucket(value: u64) -> usize {
    let shift = (EXACT_BELOW - 1).leading_zeros() - (value | (EXACT_BELOW - 1)).leading_zeros();
    ((shift as usize) << HALF) + (value >> shift) as usize
}

/// The smallest value of a bucket.
const fn value_of(bucket: usize) -> u64 {
    if bucket < EXACT_BELOW as usize {
        return bucket as u64;
    }
    let shift = (bucket >> HALF) - 1;
    ((bucket - (shift << HALF)) as u64) << shift
}

/// Durations that are being counted: HdrHistogram's buckets without its conveniences, which cost half of what the engine
/// spends on a request outside the kernel, and with the exact figures that buckets cannot give.
#[derive(Debug, Clone)]
pub(crate) struct Durations {
    buckets: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Durations {
    pub fn new() -> Durations {
        Durations { buckets: vec![0; BUCKETS].into(), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.buckets[bucket(ns.min(LONGEST.as_nanos() as u64))] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn used(&self) -> Range<usize> {
        if self.count == 0 {
            return 0..0;
        }
        let longest_ns = LONGEST.as_nanos() as u64;
        bucket(self.min_ns.min(longest_ns))..bucket(self.max_ns.min(longest_ns)) + 1
    }

    pub fn add(&mut self, other: &Durations) {
        let used = other.used();
        for (sum, count) in self.buckets[used.clone()].iter_mut().zip(&other.buckets[used]) {
            *sum += count;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    pub fn clear(&mut self) {
        let used = self.used();
        self.buckets[used].fill(0);
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The histogram that records hold.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = empty();
        for bucket in self.used() {
            let count = self.buckets[bucket];
            if count > 0 {
                histogram.saturating_record_n(value_of(bucket), count);
            }
        }
        histogram
    }

    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        quantile_s(&self.histogram(), quantile)
    }

    /// A quantile in seconds, however few values lie beyond it, or `None` without values.
    pub fn value_s(&self, quantile: f64) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.histogram().value_at_quantile(quantile)))
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    pub fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.min_ns))
    }

    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.max_ns))
    }

    pub fn summary(&self) -> Distribution {
        let histogram = self.histogram();
        Distribution {
            count: self.count,
            min_s: self.min_s(),
            mean_s: self.mean_s(),
            max_s: self.max_s(),
            percentiles: percentiles(&histogram),
            histogram: encode(&histogram),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Durations {
        let mut durations = Durations::new();
        values.into_iter().for_each(|ns| durations.record(ns));
        durations
    }

    #[test]
    fn a_quantile_needs_ten_values_beyond_it() {
        let check = |count: u64, quantile: f64, legal: bool| {
            let given = of((1..=count).map(|ms| ms * 1_000_000)).quantile_s(quantile);
            assert_eq!(given.is_some(), legal, "{quantile} of {count}");
        };
        check(19, 0.5, false);
        check(20, 0.5, true);
        check(999, 0.99, false);
        check(1_000, 0.99, true);
        check(9_999, 0.999, false);
        check(10_000, 0.999, true);
        check(0, 0.5, false);
    }

    #[test]
    fn a_summary_has_exact_extremes_and_mean() {
        let summary = of([1_000_000, 2_000_000, 9_000_001]).summary();
        assert_eq!((summary.count, summary.min_s, summary.max_s), (3, Some(0.001), Some(0.009_000_001)));
        assert_eq!(summary.mean_s, Some(12_000_001.0 / 3.0 / 1e9));
        assert_eq!(summary.percentiles.len(), QUANTILES.len());
        assert!(summary.percentiles.iter().all(|percentile| percentile.latency_s.is_none()));
    }

    #[test]
    fn no_values_give_no_figures() {
        let summary = Durations::new().summary();
        assert_eq!((summary.count, summary.min_s, summary.mean_s, summary.max_s), (0, None, None, None));
        assert!(decode(&summary.histogram).unwrap().is_empty());
    }

    #[test]
    fn durations_beyond_an_hour_are_kept_as_an_hour() {
        let summary = of([7_200_000_000_000]).summary();
        assert_eq!(decode(&summary.histogram).unwrap().len(), 1);
        assert_eq!(summary.max_s, Some(7200.0));
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        assert!(matches!(decode("not base64!"), Err(HistogramError::Base64(_))));
        assert!(matches!(decode("aGVsbG8="), Err(HistogramError::Format(_))));
        let whole = of([5, 6, 7]).summary().histogram;
        assert!(matches!(decode(&whole[..whole.len() - 4]), Err(HistogramError::Format(_))));
    }

    #[test]
    fn clearing_forgets_everything() {
        let mut durations = of([1, 2, 3]);
        durations.clear();
        assert_eq!(durations.summary(), Durations::new().summary());
    }

    proptest! {
        #[test]
        fn buckets_are_those_of_hdrhistogram(ns in prop_oneof![0u64..10_000, 0u64..LONGEST.as_nanos() as u64]) {
            let mut of_the_crate = empty();
            of_the_crate.record(ns).unwrap();
            prop_assert_eq!(of([ns]).histogram(), of_the_crate);
            prop_assert!(value_of(bucket(ns)) <= ns && bucket(value_of(bucket(ns))) == bucket(ns));
        }

        #[test]
        fn histograms_survive_base64_and_merge(
            one in prop::collection::vec(0u64..60_000_000_000, 0..200),
            two in prop::collection::vec(0u64..60_000_000_000, 0..200),
        ) {
            let (first, second) = (of(one.iter().copied()), of(two.iter().copied()));
            let both = of(one.iter().chain(&two).copied());
            let encoded = [encode(&first.histogram()), encode(&second.histogram())];
            prop_assert_eq!(decode(&encoded[0]).unwrap(), first.histogram());
            prop_assert_eq!(&merge(encoded.iter().map(String::as_str)).unwrap(), &both.histogram());
            let mut added = first;
            added.add(&second);
            prop_assert_eq!(added.summary(), both.summary());
        }

        #[test]
        fn a_quantile_is_within_a_thousandth_of_the_truth(mut values in prop::collection::vec(1u64..60_000_000_000, 100..400)) {
            let given = of(values.iter().copied()).quantile_s(0.9).unwrap();
            values.sort_unstable();
            let rank = (values.len() as f64 * 0.9).ceil() as usize;
            let truth = values[rank - 1] as f64 / 1e9;
            prop_assert!((given - truth).abs() <= truth * 1e-3 + 1e-9, "{given} against {truth}");
        }
    }
}
