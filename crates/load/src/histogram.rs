//! Histograms of durations, and the figures read from them. Readers of a record need [`decode`] and [`percentile`].
//!
//! HdrHistogram with 3 significant digits, in nanoseconds: every value is kept to within 0.1%, memory does not grow with the number of
//! values, and histograms of several runs can be added up.

use std::ops::Range;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::MonotonicNs;
use crate::record::{Distribution, Percentile};
use crate::recording::{Instants, Slowest};

/// The quantiles in a record.
pub const QUANTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// A quantile needs this many values beyond it, from as many separate instants; with fewer it is a matter of chance.
pub const VALUES_BEYOND: u64 = 10;

/// A quantile is known despite unanswered requests if their answers could not move it by more than this share.
pub const UNANSWERED_MOVES: f64 = 0.05;

/// The same for the generator's lateness: if it moves a quantile by more than this share, the quantile is not the target's.
pub const LATENESS_MOVES: f64 = 0.05;

/// Longest distinct duration; longer ones count as this long.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// A histogram that cannot be read.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum HistogramError {
    #[error("read the histogram: it is not base64 ({0}); take it unchanged from the record")]
    Base64(#[from] base64::DecodeError),
    #[error("read the histogram: it is not an HdrHistogram of version 2 ({0}); take it unchanged from the record")]
    Format(String),
    #[error("add the histograms: {0}")]
    Add(String),
}

/// An empty histogram of the kind in records.
pub fn empty() -> Histogram<u64> {
    let longest_ns = LONGEST.as_nanos() as u64;
    Histogram::new_with_bounds(1, longest_ns, 3).expect("the crate accepts these constants")
}

/// Base64 of the HdrHistogram V2 encoding, not compressed.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory cannot fail, and every count of a run fits the encoding");
    BASE64.encode(bytes)
}

/// Decodes the histogram of a record from base64.
pub fn decode(base64: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = BASE64.decode(base64)?;
    if !holds_its_payload(&bytes) {
        return Err(HistogramError::Format("it ends before its counts do".into()));
    }
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| HistogramError::Format(format!("{error:?}")))
}

/// Whether the payload is as long as the header claims. The crate allocates that much memory before it checks.
fn holds_its_payload(bytes: &[u8]) -> bool {
    const HEADER_BYTES: usize = 40;
    let length = bytes.get(4..8).and_then(|field| field.try_into().ok()).map(u32::from_be_bytes);
    length.is_some_and(|length| bytes.len() >= HEADER_BYTES + length as usize)
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

/// Whether [`VALUES_BEYOND`] of this many values lie beyond a quantile.
fn has_values_beyond(values: u64, quantile: f64) -> bool {
    // Rounded because 1000 * (1 - 0.99) is 9.999… in binary, which must not decide the rule.
    (values as f64 * (1.0 - quantile) * 1e6).round() / 1e6 >= VALUES_BEYOND as f64
}

/// A quantile in seconds, or `None` if fewer than [`VALUES_BEYOND`] values lie beyond it. A histogram cannot tell whether they are from
/// separate instants.
pub fn quantile_s(histogram: &Histogram<u64>, quantile: f64) -> Option<f64> {
    has_values_beyond(histogram.len(), quantile).then(|| seconds(histogram.value_at_quantile(quantile)))
}

/// A quantile of values and of lower bounds (`unanswered`), by the rules of [`Percentile`]. `instants` is the number of separate instants
/// beyond it, if known.
pub fn percentile(
    values: &Histogram<u64>,
    unanswered: Option<&Histogram<u64>>,
    quantile: f64,
    instants: Option<u64>,
) -> Percentile {
    let count = values.len() + unanswered.map_or(0, Histogram::len);
    let mut found = Percentile { quantile, latency_s: None, at_least_s: None, once_s: None, instants };
    if !has_values_beyond(count, quantile) {
        return found;
    }
    let (value_s, known) = bounds_s(values, unanswered, quantile);
    if !known {
        found.at_least_s = Some(value_s);
    } else if instants.is_some_and(|instants| instants < VALUES_BEYOND) {
        found.once_s = Some(value_s);
    } else {
        found.latency_s = Some(value_s);
    }
    found
}

/// The lower bound of a quantile, and whether it is known: no missing answers could raise it by more than [`UNANSWERED_MOVES`].
fn bounds_s(values: &Histogram<u64>, unanswered: Option<&Histogram<u64>>, quantile: f64) -> (f64, bool) {
    let Some(unanswered) = unanswered.filter(|unanswered| !unanswered.is_empty()) else {
        return (seconds(values.value_at_quantile(quantile)), true);
    };
    let mut all = values.clone();
    // Both have the same bounds.
    let _ = all.add(unanswered);
    let least = all.value_at_quantile(quantile);
    let among_values = quantile * all.len() as f64 / values.len() as f64;
    let most = (among_values <= 1.0).then(|| values.value_at_quantile(among_values));
    let known = most.is_some_and(|most| most as f64 <= least as f64 * (1.0 + UNANSWERED_MOVES));
    (seconds(least), known)
}

pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Values below this have a bucket each; above, each power of two is cut into half as many.
const EXACT_BELOW: u64 = 2048;
const HALF: u32 = EXACT_BELOW.ilog2() - 1;

/// Buckets of values up to [`LONGEST`].
const BUCKETS: usize = bucket(LONGEST.as_nanos() as u64) + 1;

/// The bucket of a value. The layout is that of HdrHistogram for 3 significant digits, so buckets are handed over unchanged.
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

/// Durations during counting: HdrHistogram's buckets without its conveniences, which cost half of the engine's time per request outside the
/// kernel. Adds the exact figures that buckets cannot give.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Counted", into = "Counted")]
pub(crate) struct Durations {
    buckets: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    /// The largest value since the last cut, and the largest before it.
    recent_max_ns: u64,
    earlier_max_ns: u64,
    /// Separate instants beyond each value, if counted.
    instants: Option<Box<Instants>>,
    /// Lower bounds of the missing values.
    unanswered: Option<Box<Durations>>,
}

/// Durations as a generator on another machine serialises them: the non-empty buckets and their counts. Only the collector has instants and
/// missing values.
#[derive(Serialize, Deserialize)]
struct Counted {
    buckets: Vec<(u32, u64)>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl From<Durations> for Counted {
    fn from(durations: Durations) -> Counted {
        let held = durations.used().map(|bucket| (bucket as u32, durations.buckets[bucket]));
        let buckets = held.filter(|(_, count)| *count > 0).collect();
        Counted { buckets, sum_ns: durations.sum_ns, min_ns: durations.min_ns, max_ns: durations.max_ns() }
    }
}

impl From<Counted> for Durations {
    fn from(counted: Counted) -> Durations {
        let Counted { buckets, sum_ns, min_ns, max_ns } = counted;
        let mut durations = Durations { sum_ns, min_ns, earlier_max_ns: max_ns, ..Durations::new() };
        for (bucket, count) in buckets {
            if let Some(known) = durations.buckets.get_mut(bucket as usize) {
                *known += count;
                durations.count += count;
            }
        }
        durations
    }
}

impl Durations {
    pub fn new() -> Durations {
        Durations {
            buckets: vec![0; BUCKETS].into(),
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            recent_max_ns: 0,
            earlier_max_ns: 0,
            instants: None,
            unanswered: None,
        }
    }

    /// From here on, the caller must also pass instants, with [`add_instants`](Self::add_instants).
    pub fn count_instants(&mut self) {
        self.instants = Some(Box::new(Instants::new()));
    }

    /// Adds the instants of a row that began at `start`.
    pub fn add_instants(&mut self, slowest: &Slowest, start: MonotonicNs) {
        if let Some(instants) = &mut self.instants {
            instants.take(slowest, start);
        }
    }

    /// Copies the instants that another has counted.
    pub fn set_instants_of(&mut self, other: &Durations) {
        self.instants.clone_from(&other.instants);
    }

    /// From here on, its quantiles take missing values into account.
    pub fn set_unanswered(&mut self, unanswered: Durations) {
        self.unanswered = Some(Box::new(unanswered));
    }

    /// The largest value since the last cut, or 0 without any. Starts a new cut.
    pub fn cut(&mut self) -> u64 {
        self.earlier_max_ns = self.earlier_max_ns.max(self.recent_max_ns);
        std::mem::take(&mut self.recent_max_ns)
    }

    fn max_ns(&self) -> u64 {
        self.earlier_max_ns.max(self.recent_max_ns)
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.buckets[bucket(ns.min(LONGEST.as_nanos() as u64))] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.recent_max_ns = self.recent_max_ns.max(ns);
    }

    fn used(&self) -> Range<usize> {
        if self.count == 0 {
            return 0..0;
        }
        let longest_ns = LONGEST.as_nanos() as u64;
        bucket(self.min_ns.min(longest_ns))..bucket(self.max_ns().min(longest_ns)) + 1
    }

    pub fn add(&mut self, other: &Durations) {
        let used = other.used();
        for (sum, count) in self.buckets[used.clone()].iter_mut().zip(&other.buckets[used]) {
            *sum += count;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.earlier_max_ns = self.earlier_max_ns.max(other.max_ns());
    }

    /// Forgets all values; the instants stay.
    pub fn clear(&mut self) {
        let used = self.used();
        self.buckets[used].fill(0);
        (self.count, self.sum_ns, self.min_ns) = (0, 0, u64::MAX);
        (self.recent_max_ns, self.earlier_max_ns) = (0, 0);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The histogram, as records hold it.
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
        self.percentile(quantile).latency_s
    }

    /// A quantile by the number of values only, without instants; enough for one moment of a run.
    pub fn plain_quantile_s(&self, quantile: f64) -> Option<f64> {
        quantile_s(&self.histogram(), quantile)
    }

    /// A quantile by all rules.
    pub fn percentile(&self, quantile: f64) -> Percentile {
        self.percentile_of(&self.histogram(), self.unanswered_histogram().as_ref(), quantile)
    }

    fn percentile_of(&self, values: &Histogram<u64>, unanswered: Option<&Histogram<u64>>, quantile: f64) -> Percentile {
        let found = percentile(values, unanswered, quantile, None);
        let (Some(instants), Some(value_s)) = (&self.instants, found.latency_s) else { return found };
        percentile(values, unanswered, quantile, Some(instants.beyond((value_s * 1e9) as u64)))
    }

    fn unanswered_histogram(&self) -> Option<Histogram<u64>> {
        self.unanswered.as_ref().filter(|missing| missing.count > 0).map(|missing| missing.histogram())
    }

    /// A quantile in seconds, however few values lie beyond it, and whether it is known rather than a lower bound; `None` without values.
    pub fn value_s(&self, quantile: f64) -> Option<(f64, bool)> {
        let unanswered = self.unanswered_histogram();
        let (most_s, _) = self.most_s()?;
        let (value_s, is_known) = bounds_s(&self.histogram(), unanswered.as_ref(), quantile);
        // The upper bound of the last bucket may exceed the largest value.
        Some((value_s.min(most_s), is_known))
    }

    /// The largest value in seconds, and whether it is certain: no values are missing.
    pub fn most_s(&self) -> Option<(f64, bool)> {
        let missing_s = self.unanswered.as_ref().and_then(|missing| missing.max_s());
        let most_s = self.max_s().into_iter().chain(missing_s).reduce(f64::max)?;
        Some((most_s, missing_s.is_none()))
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    pub fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.min_ns))
    }

    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.max_ns()))
    }

    pub fn summary(&self) -> Distribution {
        let histogram = self.histogram();
        let unanswered = self.unanswered_histogram();
        let percentile = |quantile| self.percentile_of(&histogram, unanswered.as_ref(), quantile);
        Distribution {
            count: self.count,
            min_s: self.min_s(),
            mean_s: self.mean_s(),
            max_s: self.max_s(),
            percentiles: QUANTILES.map(percentile).to_vec(),
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
        let mut boasting = BASE64.decode(&whole).unwrap();
        boasting[4] = 0xff; // 4 GB of counts
        assert!(matches!(decode(&BASE64.encode(boasting)), Err(HistogramError::Format(text)) if text.contains("ends")));
    }

    #[test]
    fn clearing_forgets_everything() {
        let mut durations = of([1, 2, 3]);
        durations.clear();
        assert_eq!(durations.summary(), Durations::new().summary());
    }

    /// A quantile of values of 1, 2, 3 … ms, and of others known to be at least `at_least_ms`.
    fn with_unanswered(values: u64, at_least_ms: &[u64], quantile: f64) -> Percentile {
        let mut durations = of((1..=values).map(|ms| ms * 1_000_000));
        durations.set_unanswered(of(at_least_ms.iter().map(|ms| ms * 1_000_000)));
        durations.percentile(quantile)
    }

    #[test]
    fn a_quantile_among_unanswered_requests_is_a_lower_bound() {
        // The 990th of 1,000 is one of the twenty that have waited for 2 s.
        let p99 = with_unanswered(980, &[2_000; 20], 0.99);
        assert_eq!((p99.latency_s, p99.at_least_s.map(|least_s| least_s.round())), (None, Some(2.0)));
        // Their answers would move the 90th percentile from the 900th value by at most 20 values.
        let p90 = with_unanswered(980, &[2_000; 20], 0.9);
        assert_eq!((p90.latency_s.map(|value_s| (value_s * 10.0).round()), p90.at_least_s), (Some(9.0), None));
        // Requests that had just been sent may end with any time.
        let early = with_unanswered(980, &[1; 20], 0.99);
        assert!((0.969..0.972).contains(&early.at_least_s.unwrap()), "{early:?}");
        assert_eq!(
            with_unanswered(9, &[1; 3], 0.5),
            Percentile { quantile: 0.5, latency_s: None, at_least_s: None, once_s: None, instants: None }
        );
        assert_eq!(of([1, 2]).most_s(), Some((2e-9, true)));
    }

    #[test]
    fn a_quantile_of_few_instants_is_one_of_this_run_alone() {
        let of_stalls = |stalls: u64| {
            let mut durations = of((1..=2_000).map(|_| 1_000_000).chain((0..stalls * 64).map(|_| 50_000_000)));
            let mut slowest = Slowest::default();
            (1..=stalls).for_each(|stall| slowest.note(stall as usize * 80, 50_000_000));
            durations.count_instants();
            durations.add_instants(&slowest, MonotonicNs(1_000_000_000));
            durations.percentile(0.99)
        };
        let one = of_stalls(1);
        assert_eq!((one.latency_s, one.instants), (None, Some(1)));
        assert!((0.05..0.0501).contains(&one.once_s.unwrap()));
        let ten = of_stalls(10);
        assert!((0.05..0.0501).contains(&ten.latency_s.unwrap()) && ten.once_s.is_none(), "{ten:?}");
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
