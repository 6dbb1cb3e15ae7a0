//! Response times at every percentile that the trials support.
//!
//! The points are evenly spaced on the log scale of the share beyond, eight to a factor of ten. They end where any trial has
//! fewer than 10 responses beyond. A point is the median of the trials' own quantiles. Histograms of several trials are never
//! added up, because a trial is the unit of replication.

use tolok_model::{Limit, Measurement, Metric, Part, Scenario};

use crate::estimate::middle;
use crate::findings::{CurvePoint, LatencyCurve, SlowAnswers};
use crate::histogram::{self, Bucket};
use crate::observations::Observations;

/// Shares beyond the points within a factor of ten, in ten thousandths. The median has its own point.
const STEPS: [u64; 9] = [10_000, 7_499, 5_623, 5_000, 4_217, 3_162, 2_371, 1_778, 1_334];
/// The step that is a point in the first factor of ten only.
const MEDIAN: u64 = 5_000;
/// Factors of ten to cover: no window has more responses.
const DECADES: u32 = 12;
/// With fewer responses beyond it, a quantile is down to chance.
const ANSWERS_BEYOND: f64 = 10.0;
/// Fewer percentiles than this do not make a curve.
const FEWEST_PERCENTILES: usize = 3;
/// Later than this is slow, unless an objective defines it.
const SLOW_S: f64 = 1.0;

/// The curve of a case and its slow responses. The curve comes from histograms, or else from the percentiles that a tool reports.
/// The slow responses come from histograms alone. Both are `None` if a histogram cannot be read.
pub(crate) fn latencies(
    observations: &Observations,
    scenario: &Scenario,
) -> (Option<LatencyCurve>, Option<SlowAnswers>) {
    let trials = || observations.trials();
    if observations.scored.is_empty() {
        return (None, None);
    }
    if trials().any(|trial| trial.compared_latency().histogram.is_none()) {
        return (of_percentiles(observations), None);
    }
    let texts = trials().filter_map(|trial| trial.compared_latency().histogram.as_deref());
    let Some(trials) = texts.map(Answers::read).collect::<Option<Vec<Answers>>>() else { return (None, None) };
    (of_histograms(&trials), slow(&trials, bound_s(scenario)))
}

/// The responses of one trial, by duration.
struct Answers {
    /// In nanoseconds.
    buckets: Vec<Bucket>,
    total: u64,
}

impl Answers {
    /// Reads a histogram in the records' format, or returns `None` if it is not one.
    fn read(base64: &str) -> Option<Self> {
        let buckets = histogram::buckets(base64)?;
        let total = buckets.last().map_or(0, |last| last.up_to);
        Some(Self { buckets, total })
    }

    /// The time that this share of the responses did not exceed, in seconds, or `None` without responses.
    fn quantile_s(&self, quantile: f64) -> Option<f64> {
        // Rounded first, because 1000 * 0.9 may be slightly more than 900 in binary.
        let rank = (quantile * self.total as f64 * 1e6).round() / 1e6;
        let rank = (rank.ceil() as u64).max(1);
        let place = self.buckets.partition_point(|bucket| bucket.up_to < rank);
        self.buckets.get(place).map(|bucket| bucket.highest as f64 / 1e9)
    }

    fn later_than(&self, bound_s: f64) -> u64 {
        let bound_ns = (bound_s * 1e9).round() as u64;
        // The bucket that contains the bound counts as in time: its responses differ from the bound by at most a thousandth.
        let in_time = self.buckets.partition_point(|bucket| bucket.lowest <= bound_ns);
        self.total - in_time.checked_sub(1).map_or(0, |last| self.buckets[last].up_to)
    }

    /// Whether enough responses lie beyond a quantile.
    fn reach(&self, quantile: f64) -> bool {
        let beyond = self.total as f64 * (1.0 - quantile);
        (beyond * 1e6).round() / 1e6 >= ANSWERS_BEYOND
    }
}

fn of_histograms(trials: &[Answers]) -> Option<LatencyCurve> {
    let within = |quantile: &f64| trials.iter().all(|trial| trial.reach(*quantile));
    let at = |quantile| point(quantile, trials.iter().map(|trial| trial.quantile_s(quantile)).collect::<Option<_>>()?);
    let points: Vec<CurvePoint> = quantiles().take_while(within).map_while(at).collect();
    let answers = trials.iter().map(|trial| trial.total).sum();
    // A curve that ends before the median would show only fast responses.
    let reaches_median = points.last().is_some_and(|last| last.quantile >= 0.5);
    reaches_median.then_some(LatencyCurve { points, trials: trials.len() as u32, answers })
}

/// The percentiles that every trial has.
fn of_percentiles(observations: &Observations) -> Option<LatencyCurve> {
    let trials: Vec<&Measurement> = observations.trials().collect();
    let mut quantiles: Vec<f64> = trials.first()?.compared_latency().percentiles.iter().map(|it| it.quantile).collect();
    // The longest response has no place on the scale.
    quantiles.retain(|quantile| (0.0..1.0).contains(quantile));
    quantiles.sort_by(f64::total_cmp);
    quantiles.dedup();
    let at = |quantile: &f64| {
        point(*quantile, trials.iter().map(|trial| trial.compared_latency().at(*quantile)).collect::<Option<_>>()?)
    };
    let points: Vec<CurvePoint> = quantiles.iter().filter_map(at).collect();
    let answers = trials.iter().map(|trial| trial.ledger.good).sum();
    (points.len() >= FEWEST_PERCENTILES).then_some(LatencyCurve { points, trials: trials.len() as u32, answers })
}

fn point(quantile: f64, latencies_s: Vec<f64>) -> Option<CurvePoint> {
    Some(CurvePoint {
        quantile,
        latency_s: middle(&latencies_s)?,
        low_s: latencies_s.iter().copied().reduce(f64::min)?,
        high_s: latencies_s.iter().copied().reduce(f64::max)?,
    })
}

/// All quantiles from 0 that a curve can have.
fn quantiles() -> impl Iterator<Item = f64> {
    (0..DECADES).flat_map(|decade| {
        let whole = 10_000 * 10u64.pow(decade);
        let steps = STEPS.into_iter().filter(move |step| *step != MEDIAN || decade == 0);
        // A single division, so 99% is the same number here as everywhere else.
        steps.map(move |step| (whole - step) as f64 / whole as f64)
    })
}

fn slow(trials: &[Answers], bound_s: f64) -> Option<SlowAnswers> {
    let total: u64 = trials.iter().map(|trial| trial.total).sum();
    let answers: u64 = trials.iter().map(|trial| trial.later_than(bound_s)).sum();
    (total > 0).then(|| SlowAnswers { bound_s, answers, share: answers as f64 / total as f64 })
}

/// When a response is late: the highest bound of the scenario's objectives on single response times.
fn bound_s(scenario: &Scenario) -> f64 {
    let bounds = scenario.objectives.iter().filter_map(|objective| match (objective.part, objective.metric) {
        (Some(Part::Response), Metric::Quantile(_) | Metric::Max) if objective.comparison.wants_little() => {
            if let Limit::Seconds(bound_s) = objective.value {
                Some(bound_s)
            } else {
                None
            }
        }
        _ => None,
    });
    bounds.reduce(f64::max).unwrap_or(SLOW_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD as BASE64;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};

    /// A histogram of these times in milliseconds, in the records' format.
    fn encoded(times_ms: impl IntoIterator<Item = u64>) -> String {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        times_ms.into_iter().for_each(|ms| histogram.record(ms * 1_000_000).unwrap());
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        BASE64.encode(bytes)
    }

    fn is_near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 1e-3
    }

    #[test]
    fn a_curve_ends_where_ten_answers_are_left() {
        let trial = Answers::read(&encoded(1..=1_000)).unwrap();
        let curve = of_histograms(&[trial]).unwrap();
        assert_eq!((curve.points[0].quantile, curve.points.last().unwrap().quantile), (0.0, 0.99));
        assert_eq!(curve.points.len(), 18, "eight per decade, the median and the end");
        let at = |quantile: f64| curve.points.iter().find(|point| point.quantile == quantile).unwrap().latency_s;
        assert!(is_near(at(0.0), 0.001) && is_near(at(0.5), 0.5) && is_near(at(0.9), 0.9) && is_near(at(0.99), 0.99));
    }

    #[test]
    fn too_few_answers_for_a_median_make_no_curve() {
        let of = |answers: u64| of_histograms(&[Answers::read(&encoded(1..=answers)).unwrap()]);
        assert!(of(12).is_none() && of(20).is_some());
    }

    #[test]
    fn a_point_is_the_median_of_the_trials_and_its_band_their_range() {
        let trials: Vec<Answers> =
            [10, 30, 20].map(|ms| Answers::read(&encoded(std::iter::repeat_n(ms, 100))).unwrap()).into();
        let curve = of_histograms(&trials).unwrap();
        let last = curve.points.last().unwrap();
        assert_eq!((curve.trials, curve.answers, last.quantile), (3, 300, 0.9));
        assert!(is_near(last.latency_s, 0.02) && is_near(last.low_s, 0.01) && is_near(last.high_s, 0.03));
    }

    #[test]
    fn quantiles_are_those_of_the_histogram() {
        let text = encoded((1..=20_000).map(|number| number * number % 9_973));
        let trial = Answers::read(&text).unwrap();
        let bytes = BASE64.decode(&text).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        for quantile in quantiles().take(30).skip(1) {
            let expected = histogram.value_at_quantile(quantile) as f64 / 1e9;
            assert_eq!(trial.quantile_s(quantile), Some(expected), "at {quantile}");
        }
    }

    #[test]
    fn late_is_what_lies_above_the_bound() {
        let trial = Answers::read(&encoded([5, 999, 1_000, 1_010, 2_000])).unwrap();
        assert_eq!([0.004, 1.0, 1.5, 3.0].map(|bound_s| trial.later_than(bound_s)), [5, 2, 1, 0]);
    }

    #[test]
    fn what_is_no_histogram_is_none() {
        for text in ["", "no base64!", "AAAA", &encoded([1])[..20]] {
            assert!(Answers::read(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn an_empty_histogram_has_no_curve() {
        let trial = Answers::read(&encoded([])).unwrap();
        assert_eq!(trial.quantile_s(0.5), None);
        assert!(of_histograms(&[trial]).is_none());
    }
}
