//! Thresholds on a run's figures, judged at the end, and once a second if they may end the run early.

use serde::{Deserialize, Serialize};

use crate::histogram::{Durations, VALUES_BEYOND};
use crate::recording::Times;

/// A condition on one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// As the user wrote it.
    pub text: String,
    /// The figure.
    pub metric: Metric,
    /// How to compare it.
    pub comparison: Comparison,
    /// In seconds, answers a second, a share between 0 and 1, or a number.
    pub limit: f64,
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// A quantile (0 to 1) of a distribution.
    Quantile(Part, f64),
    /// The mean of a distribution.
    Mean(Part),
    /// The smallest value of a distribution.
    Min(Part),
    /// The largest value of a distribution.
    Max(Part),
    /// Correct responses per second in the window.
    GoodputRate,
    /// Correct responses as a share of the requests that ended or were never sent.
    GoodputShare,
    /// Good and failed answers per second in the window.
    Rate,
    /// Failures as a share of the requests that ended.
    FailedShare,
    /// Number of failures.
    FailedCount,
}

/// A distribution of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From the intended start.
    Response,
    /// From sending.
    Service,
    /// The generator's own delay.
    Lateness,
    /// Waiting for a connection from the pool.
    Queue,
    /// Establishing a connection.
    Connect,
    /// From sending to the first byte.
    FirstByte,
    /// Failed requests, from the intended start.
    Failure,
}

/// How a figure is compared with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// <
    Below,
    /// <=
    AtMost,
    /// >
    Above,
    /// >=
    AtLeast,
}

impl Comparison {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Below => value < limit,
            Comparison::AtMost => value <= limit,
            Comparison::Above => value > limit,
            Comparison::AtLeast => value >= limit,
        }
    }
}

/// The result of a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The threshold as the user wrote it.
    pub text: String,
    /// The figure; null if there is none.
    pub value: Option<f64>,
    /// Whether the true figure is larger, because decisive requests had no answer when the run ended; absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Its unit.
    pub unit: Unit,
    /// Whether it was kept.
    pub outcome: KeptOrCrossed,
}

/// Unit of a judged figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// A share or a number.
    #[serde(rename = "1")]
    One,
    /// Per second.
    #[serde(rename = "per_s")]
    PerSecond,
}

/// Whether a threshold held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptOrCrossed {
    /// The figure satisfies the condition.
    Kept,
    /// The figure violates it.
    Crossed,
    /// There is no such figure, or it cannot be decided: because of missing answers, or because of the generator's lateness.
    Unknown,
}

/// The figures of a run, or of one in progress.
#[derive(Debug)]
pub(crate) struct Figures<'a> {
    pub window_s: f64,
    pub good_in_window: u64,
    pub failed_in_window: u64,
    /// Including the drain.
    pub good: u64,
    pub failed: u64,
    pub never_sent: u64,
    pub times: &'a Times,
}

impl Figures<'_> {
    fn part(&self, part: Part) -> &Durations {
        match part {
            Part::Response => &self.times.response,
            Part::Service => &self.times.service,
            Part::Lateness => &self.times.lateness,
            Part::Queue => &self.times.queue,
            Part::Connect => &self.times.connect,
            Part::FirstByte => &self.times.first_byte,
            Part::Failure => &self.times.failure,
        }
    }

    /// A figure, and whether it is known rather than a lower bound.
    fn value(&self, metric: Metric) -> Option<(f64, bool)> {
        match metric {
            // However few values there are: one answer in a hundred is enough to cross a limit.
            Metric::Quantile(part, quantile) => self.part(part).value_s(quantile),
            Metric::Max(part) => self.part(part).most_s(),
            _ => self.known(metric).map(|value| (value, true)),
        }
    }

    /// A quantile, mean or maximum of response times without the generator's lateness, if known.
    fn punctual(&self, metric: Metric) -> Option<f64> {
        let punctual = &self.times.punctual;
        match metric {
            Metric::Quantile(Part::Response, quantile) => punctual.value_s(quantile).map(|(value_s, _)| value_s),
            Metric::Mean(Part::Response) => punctual.mean_s(),
            Metric::Max(Part::Response) => punctual.max_s(),
            _ => None,
        }
    }

    fn known(&self, metric: Metric) -> Option<f64> {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let rate = |count: u64| (self.window_s > 0.0).then(|| count as f64 / self.window_s);
        match metric {
            Metric::Quantile(..) | Metric::Max(_) => None,
            Metric::Mean(part) => self.part(part).mean_s(),
            Metric::Min(part) => self.part(part).min_s(),
            Metric::GoodputRate => rate(self.good_in_window),
            Metric::Rate => rate(self.good_in_window + self.failed_in_window),
            Metric::GoodputShare => share(self.good, self.good + self.failed + self.never_sent),
            Metric::FailedShare => share(self.failed, self.good + self.failed),
            Metric::FailedCount => Some(self.failed as f64),
        }
    }
}

impl Threshold {
    pub(crate) fn judge(&self, figures: &Figures<'_>) -> Judged {
        let found = figures.value(self.metric);
        let outcome = |value| match self.comparison.holds(value, self.limit) {
            true => KeptOrCrossed::Kept,
            false => KeptOrCrossed::Crossed,
        };
        let outcome = found.map_or(KeptOrCrossed::Unknown, |(value, is_known)| {
            // Missing answers may take any time, and the generator's lateness may have added to the figure.
            let longest = if is_known { value } else { f64::INFINITY };
            let least = figures.punctual(self.metric).map_or(value, |punctual_s| value.min(punctual_s));
            if outcome(least) == outcome(longest) { outcome(value) } else { KeptOrCrossed::Unknown }
        });
        let at_least = found.is_some_and(|(_, is_known)| !is_known);
        Judged { text: self.text.clone(), value: found.map(|(value, _)| value), at_least, unit: self.unit(), outcome }
    }

    fn unit(&self) -> Unit {
        match self.metric {
            Metric::Quantile(..) | Metric::Mean(_) | Metric::Min(_) | Metric::Max(_) => Unit::Seconds,
            Metric::GoodputRate | Metric::Rate => Unit::PerSecond,
            Metric::GoodputShare | Metric::FailedShare | Metric::FailedCount => Unit::One,
        }
    }

    /// The number of answers needed for ten to be beyond a high percentile; with fewer it is a matter of chance. 1 for other figures.
    pub fn answers_needed(&self) -> u64 {
        match self.metric {
            Metric::Quantile(_, quantile) if quantile < 1.0 => (VALUES_BEYOND as f64 / (1.0 - quantile)).round() as u64,
            _ => 1,
        }
    }

    /// Whether the threshold can end a run in progress: it limits a figure on the side to which it worsens. On the other side the figure
    /// may still recover, and so may a rate.
    pub fn can_end_a_run(&self) -> bool {
        let upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        match self.metric {
            Metric::Quantile(..) | Metric::Mean(_) | Metric::Max(_) | Metric::FailedShare | Metric::FailedCount => {
                upper
            }
            Metric::Min(_) | Metric::GoodputShare => !upper,
            Metric::GoodputRate | Metric::Rate => false,
        }
    }

    /// Whether a run in progress can end: the threshold is crossed, and by more than a few values at its start.
    pub(crate) fn ends(&self, figures: &Figures<'_>) -> bool {
        let settled = match self.metric {
            // The rule for printed percentiles.
            Metric::Quantile(part, quantile) => figures.part(part).quantile_s(quantile).is_some(),
            Metric::Mean(part) => figures.part(part).count() >= FEWEST_OUTCOMES,
            Metric::FailedShare | Metric::GoodputShare => figures.good + figures.failed >= FEWEST_OUTCOMES,
            // Later values cannot undo these.
            Metric::Max(_) | Metric::Min(_) | Metric::FailedCount => true,
            Metric::GoodputRate | Metric::Rate => false,
        };
        settled && self.can_end_a_run() && self.judge(figures).outcome == KeptOrCrossed::Crossed
    }
}

/// A mean or share of fewer outcomes does not end a run.
const FEWEST_OUTCOMES: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn durations(ms: impl IntoIterator<Item = u64>) -> Durations {
        let mut durations = Durations::new();
        ms.into_iter().for_each(|ms| durations.record(ms * 1_000_000));
        durations
    }

    fn threshold(metric: Metric, comparison: Comparison, limit: f64) -> Threshold {
        Threshold { text: "as written".into(), metric, comparison, limit }
    }

    fn judge(metric: Metric, comparison: Comparison, limit: f64) -> (Option<f64>, KeptOrCrossed) {
        let times = Times {
            response: durations(1..=100),
            service: durations(1..=50),
            failure: durations(1..=50),
            ..Times::new()
        };
        let figures = Figures {
            window_s: 2.0,
            good_in_window: 90,
            failed_in_window: 10,
            good: 95,
            failed: 15,
            never_sent: 90,
            times: &times,
        };
        let judged = threshold(metric, comparison, limit).judge(&figures);
        assert_eq!(judged.text, "as written");
        (judged.value, judged.outcome)
    }

    #[test]
    fn figures_are_compared_with_their_limits() {
        use Comparison::*;
        use KeptOrCrossed::*;
        let (value, outcome) = judge(Metric::Quantile(Part::Response, 0.5), Below, 0.051);
        assert!((value.unwrap() - 0.05).abs() < 1e-4 && outcome == Kept);
        assert_eq!(judge(Metric::Max(Part::Response), AtMost, 0.1), (Some(0.1), Kept));
        assert_eq!(judge(Metric::Max(Part::Response), Below, 0.1), (Some(0.1), Crossed));
        assert_eq!(judge(Metric::Min(Part::Failure), Above, 0.001), (Some(0.001), Crossed));
        assert_eq!(judge(Metric::Mean(Part::Service), AtLeast, 0.0255), (Some(0.0255), Kept));
        assert_eq!(judge(Metric::Mean(Part::Connect), Below, 1.0), (None, Unknown));
        assert_eq!(judge(Metric::GoodputRate, AtLeast, 45.0), (Some(45.0), Kept));
        assert_eq!(judge(Metric::Rate, Above, 50.0), (Some(50.0), Crossed));
        assert_eq!(judge(Metric::GoodputShare, AtLeast, 0.5), (Some(0.475), Crossed));
        assert_eq!(judge(Metric::FailedShare, Below, 0.2), (Some(15.0 / 110.0), Kept));
        assert_eq!(judge(Metric::FailedCount, AtMost, 14.0), (Some(15.0), Crossed));
    }

    #[test]
    fn a_high_percentile_of_few_values_does_not_exceed_the_largest() {
        let mut response = Durations::new();
        response.record(77_960_001);
        let most_s = response.max_s().unwrap();
        assert!(response.histogram().value_at_quantile(0.99) as f64 / 1e9 > most_s, "the bucket is wider");
        let times = Times { response, ..Times::new() };
        let figures = Figures {
            window_s: 1.0,
            good_in_window: 1,
            failed_in_window: 0,
            good: 1,
            failed: 0,
            never_sent: 0,
            times: &times,
        };
        let p99 = threshold(Metric::Quantile(Part::Response, 0.99), Comparison::Below, 1e-6).judge(&figures);
        assert_eq!(p99.value, Some(most_s));
    }

    /// Whether a run ends after `good` correct responses of 1, 2, 3 … ms, as many first bytes, and `failed` failures.
    fn ends(metric: Metric, comparison: Comparison, limit: f64, good: u64, failed: u64) -> bool {
        let times = Times { response: durations(1..=good), first_byte: durations(1..=good), ..Times::new() };
        let figures = Figures {
            window_s: 1.0,
            good_in_window: good,
            failed_in_window: failed,
            good,
            failed,
            never_sent: 0,
            times: &times,
        };
        threshold(metric, comparison, limit).ends(&figures)
    }

    #[test]
    fn a_run_ends_with_what_is_crossed_by_more_than_a_handful() {
        use Comparison::*;
        for part in [Part::Response, Part::FirstByte] {
            let p99 = Metric::Quantile(part, 0.99);
            assert!(
                ends(p99, Below, 0.5, 1_000, 0) && !ends(p99, Below, 0.5, 999, 0) && !ends(p99, Below, 2.0, 1_000, 0)
            );
            assert!(ends(Metric::Mean(part), Below, 0.01, 100, 0) && !ends(Metric::Mean(part), Below, 0.01, 99, 500));
        }
        assert!(ends(Metric::GoodputShare, Above, 1.0, 100, 0) && !ends(Metric::GoodputShare, Above, 1.0, 99, 0));
        assert!(ends(Metric::FailedShare, Below, 0.1, 90, 10) && !ends(Metric::FailedShare, Below, 0.1, 80, 10));
        assert!(!ends(Metric::Mean(Part::Queue), Below, 0.01, 1_000, 0), "no request has waited");
    }

    #[test]
    fn one_value_ends_a_run_if_no_later_one_can_undo_the_crossing() {
        use Comparison::*;
        assert!(ends(Metric::Max(Part::Response), Below, 0.001, 1, 0));
        assert!(ends(Metric::Min(Part::FirstByte), Above, 0.001, 1, 0));
        assert!(ends(Metric::FailedCount, AtMost, 2.0, 0, 3) && !ends(Metric::FailedCount, AtMost, 3.0, 0, 3));
    }

    #[test]
    fn a_threshold_that_may_still_recover_does_not_end_the_run() {
        use Comparison::*;
        let p99 = Metric::Quantile(Part::Response, 0.99);
        for (metric, comparison, limit) in [
            (p99, Above, 2.0),
            (Metric::Max(Part::Response), Above, 2.0),
            (Metric::Min(Part::Response), Below, 0.0),
            (Metric::GoodputShare, Below, 0.4),
            (Metric::FailedCount, AtLeast, 50.0),
            (Metric::GoodputRate, Above, 1e9),
            (Metric::Rate, Below, 1.0),
        ] {
            assert_eq!(judge(metric, comparison, limit).1, KeptOrCrossed::Crossed, "{metric:?}");
            assert!(!ends(metric, comparison, limit, 1_000, 0), "{metric:?}");
            assert!(!threshold(metric, comparison, limit).can_end_a_run(), "{metric:?}");
        }
    }
}
