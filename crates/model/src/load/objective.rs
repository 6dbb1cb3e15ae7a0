//! Objectives: conditions on a trial, such as `p95 < 50ms`. k6 calls them thresholds.
//!
//! ```text
//! [PART.]METRIC COMPARISON VALUE
//!
//! PART        response (default), service, lateness, queue, connect, first-byte, failure
//! METRIC      of a part: pN (p50, p99, p99.9), mean, median, max, min            VALUE  a duration: 50ms
//!             without a part: goodput                                             VALUE  1000/s, or 99.9% of the requests
//!                             rate                                                VALUE  1000/s
//!                             failed                                              VALUE  0.1% of the requests, or a number
//! COMPARISON  <  <=  >  >=
//! ```
//!
//! k6's spelling works as well: `http_req_duration p(95)<200`, `http_req_failed rate<0.01`.
//!
//! The [`Display`](fmt::Display) form is canonical: it parses to the same objective, and two objectives are equal if
//! their texts are equal.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::reading::wording::{closest, suggestion, words};
use crate::units::{parse_rate, percent_words};

/// A condition on a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Objective {
    /// The time that it limits, or `None` for goodput, rate and failed, which count requests.
    pub part: Option<Part>,
    pub metric: Metric,
    /// How the figure compares with the value.
    pub comparison: Relation,
    /// In base units.
    pub value: Limit,
}

/// A time that every request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From the intended start to the last byte.
    Response,
    /// From the time the request was handed to the kernel to the last byte.
    Service,
    /// From the intended start to the engine's action.
    Lateness,
    /// Waiting for a pool connection.
    Queue,
    /// Establishing a connection.
    Connect,
    /// From the time the request was handed to the kernel to the first byte.
    FirstByte,
    /// From the intended start to the failure, for failed requests.
    Failure,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// The value below which this share (0 to 1) of all values is.
    Quantile(f64),
    Mean,
    Max,
    Min,
    /// Correct responses, per second or as a share of the scheduled requests.
    Goodput,
    /// Responses per second, correct or not.
    Rate,
    /// Failed requests, as a share of finished requests or as a number.
    Failed,
}

/// How a figure compares with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// The value of an objective, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    Seconds(f64),
    /// A fraction from 0 to 1.
    Share(f64),
    PerSecond(f64),
    Count(u64),
}

/// Why a text is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// There is no `<`, `<=`, `>` or `>=` in it.
    #[error("`{0}` compares nothing")]
    NoComparison(String),
    /// It has another operator instead of one of the four.
    #[error("`{0}` is no comparison that an objective has")]
    UnknownComparison(String),
    /// The word before the dot is not a part.
    #[error("there is no part `{0}`")]
    UnknownPart(String),
    #[error("there is no metric `{0}`")]
    UnknownMetric(String),
    #[error("`{0}` is a distribution, and one figure of it is needed")]
    NoFigure(String),
    /// A part precedes a metric that does not take one.
    #[error("`{0}` counts requests and is no time, so it has no part")]
    HasNoPart(String),
    /// The number after `p` is not between 0 and 100.
    #[error("`{0}` is no percentile")]
    NoPercentile(String),
    #[error("`{metric}` is compared with nothing")]
    NoValue {
        /// The metric as written.
        metric: String,
        expected: &'static str,
    },
    /// The metric does not take values of this kind.
    #[error("`{value}` is no value of `{metric}`")]
    WrongValue {
        /// The metric as written.
        metric: String,
        /// The value as written.
        value: String,
        expected: &'static str,
    },
}

const EXAMPLES: &str = "for example: p95 < 50ms, service.p99 <= 1s, goodput >= 99.9%, failed < 0.1%";
const COMPARISONS: [&str; 4] = ["<", "<=", ">", ">="];
const METRICS: [&str; 12] =
    ["p50", "p90", "p95", "p99", "p99.9", "mean", "median", "max", "min", "goodput", "rate", "failed"];
const A_DURATION: &str = "write a duration with its unit, such as 50ms or 1.5s";
const A_RATE: &str = "write a number per second, minute or hour, such as 1000/s";
const A_RATE_OR_SHARE: &str =
    "write 1000/s for correct responses a second, or 99.9% for a share of the scheduled requests";
const A_SHARE_OR_COUNT: &str = "write 0.1% for a share of the finished requests, or a whole number for so many of them";
const OF_K6: [&str; 5] =
    ["http_req_duration", "http_req_waiting", "http_req_connecting", "http_req_failed", "http_reqs"];

impl ObjectiveError {
    pub fn help(&self) -> String {
        match self {
            Self::NoComparison(_) => EXAMPLES.to_owned(),
            Self::UnknownComparison(written) => suggestion(written, &COMPARISONS),
            Self::UnknownPart(written) => suggestion(written, &Part::ALL.map(Part::word)),
            Self::UnknownMetric(written) if OF_K6.iter().any(|name| written.starts_with(&format!("{name} "))) => {
                "http_req_failed and http_reqs have `rate`, the others have p(95), avg, med, max and min".to_owned()
            }
            Self::UnknownMetric(written) if written.contains('_') => suggestion(written, &OF_K6),
            Self::UnknownMetric(written) => suggestion(written, &METRICS),
            Self::NoFigure(name) if name.contains('_') => format!("for example: {name} p(95)"),
            Self::NoFigure(part) => format!("for example: {part}.p95, {part}.mean or {part}.max"),
            Self::HasNoPart(metric) => format!("write `{metric}` alone"),
            Self::NoPercentile(_) => "p1 to p99.999 are; for the ends write `min` or `max`".to_owned(),
            Self::WrongValue { expected, .. } | Self::NoValue { expected, .. } => (*expected).to_owned(),
        }
    }
}

impl Objective {
    /// Whether it may end a trial early, because once crossed it stays crossed. A lower bound may still be met later,
    /// and so may a rate.
    pub fn can_end_a_trial(&self) -> bool {
        let upper = matches!(self.comparison, Relation::Below | Relation::AtMost);
        match self.metric {
            Metric::Quantile(_) | Metric::Mean | Metric::Max | Metric::Failed => upper,
            Metric::Min => !upper,
            Metric::Goodput => !upper && matches!(self.value, Limit::Share(_)),
            Metric::Rate => false,
        }
    }

    /// Parses an objective, in our spelling or k6's.
    pub fn parse(text: &str) -> Result<Self, ObjectiveError> {
        let is_sign = |letter: char| matches!(letter, '<' | '>' | '=' | '!' | '≤' | '≥');
        let start = text.find(is_sign).ok_or_else(|| ObjectiveError::NoComparison(text.trim().to_owned()))?;
        let rest = &text[start..];
        let sign = &rest[..rest.find(|letter| !is_sign(letter)).unwrap_or(rest.len())];
        let comparison = Relation::parse(sign)?;
        let subject = Subject::parse(text[..start].trim())?;
        let value = subject.limit(rest[sign.len()..].trim())?;
        Ok(Self { part: subject.part, metric: subject.metric, comparison, value })
    }

    /// Whether it holds for a figure of `measured`, in the unit of its value.
    pub fn holds(&self, measured: f64) -> bool {
        let limit = self.value.number();
        match self.comparison {
            Relation::Below => measured < limit,
            Relation::AtMost => measured <= limit,
            Relation::Above => measured > limit,
            Relation::AtLeast => measured >= limit,
        }
    }
}

impl Limit {
    pub fn number(self) -> f64 {
        match self {
            Self::Seconds(number) | Self::Share(number) | Self::PerSecond(number) => number,
            Self::Count(number) => number as f64,
        }
    }

    /// Its unit in records; shares and counts of requests have the unit 1.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Seconds(_) => "s",
            Self::Share(_) | Self::Count(_) => "1",
            Self::PerSecond(_) => "per_s",
        }
    }
}

words!(Part {
    Response: "response",
    Service: "service",
    Lateness: "lateness",
    Queue: "queue",
    Connect: "connect",
    FirstByte: "first-byte",
    Failure: "failure",
});

impl Part {
    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word() == word)
    }
}

impl Metric {
    /// Whether it is a statistic of times. These have a part, and a value in seconds.
    pub fn is_time(self) -> bool {
        !matches!(self, Self::Goodput | Self::Rate | Self::Failed)
    }

    /// Parses a metric by our name or k6's.
    fn parse(word: &str) -> Result<Self, ObjectiveError> {
        let unknown = || ObjectiveError::UnknownMetric(word.to_owned());
        match word {
            "mean" | "avg" => Ok(Self::Mean),
            "median" | "med" => Ok(Self::Quantile(0.5)),
            "max" => Ok(Self::Max),
            "min" => Ok(Self::Min),
            "goodput" => Ok(Self::Goodput),
            "rate" => Ok(Self::Rate),
            "failed" => Ok(Self::Failed),
            _ => {
                let number = word.strip_prefix('p').ok_or_else(unknown)?;
                let number = number.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(number);
                let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                let percent: f64 = number.parse().ok().filter(|_| is_number).ok_or_else(unknown)?;
                let is_inside = percent > 0.0 && percent < 100.0;
                is_inside
                    .then(|| Self::Quantile(from_percent(percent)))
                    .ok_or_else(|| ObjectiveError::NoPercentile(word.to_owned()))
            }
        }
    }
}

impl Relation {
    pub fn sign(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether smaller figures are better.
    pub fn wants_little(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }

    fn parse(sign: &str) -> Result<Self, ObjectiveError> {
        match sign {
            "<" => Ok(Self::Below),
            "<=" | "≤" => Ok(Self::AtMost),
            ">" => Ok(Self::Above),
            ">=" | "≥" => Ok(Self::AtLeast),
            _ => Err(ObjectiveError::UnknownComparison(sign.to_owned())),
        }
    }
}

struct Subject {
    written: String,
    part: Option<Part>,
    metric: Metric,
    /// k6 writes bare numbers: milliseconds, and shares from 0 to 1.
    is_of_k6: bool,
}

impl Subject {
    fn parse(written: &str) -> Result<Self, ObjectiveError> {
        if let Some((name, figure)) = written.split_once([' ', ':'])
            && !figure.trim().is_empty()
        {
            return Self::of_k6(written, name, figure.trim_start_matches([' ', ':']).trim());
        }
        let unknown = || ObjectiveError::UnknownMetric(written.to_owned());
        let (part, figure) = match written.split_once('.') {
            _ if Part::parse(written).is_some() || OF_K6.contains(&written) => {
                return Err(ObjectiveError::NoFigure(written.to_owned()));
            }
            Some((part, figure)) if Part::parse(part).is_some() => (Part::parse(part), figure),
            // The dot in p99.9 does not separate a part.
            Some((part, figure)) if Metric::parse(written).is_err() && Metric::parse(figure).is_ok() => {
                return Err(ObjectiveError::UnknownPart(part.to_owned()));
            }
            _ if written.is_empty() => return Err(unknown()),
            _ => (None, written),
        };
        let metric = Metric::parse(figure)?;
        if !metric.is_time() && part.is_some() {
            return Err(ObjectiveError::HasNoPart(figure.to_owned()));
        }
        let part = part.or(metric.is_time().then_some(Part::Response));
        Ok(Self { written: written.to_owned(), part, metric, is_of_k6: false })
    }

    /// Parses `http_req_duration p(95)` and similar. We map k6's duration to the response time. k6 omits the time a
    /// request waited for its turn, so a bound on the response time also bounds k6's figure.
    fn of_k6(written: &str, name: &str, figure: &str) -> Result<Self, ObjectiveError> {
        let subject = |part, metric| Self { written: written.to_owned(), part, metric, is_of_k6: true };
        let part = match name {
            "http_req_duration" => Part::Response,
            "http_req_waiting" => Part::FirstByte,
            "http_req_connecting" => Part::Connect,
            "http_req_failed" if figure == "rate" => return Ok(subject(None, Metric::Failed)),
            "http_reqs" if figure == "rate" => return Ok(subject(None, Metric::Rate)),
            "http_req_failed" | "http_reqs" => {
                return Err(ObjectiveError::UnknownMetric(format!("{name} {figure}")));
            }
            _ if closest(name, &OF_K6).is_some() || name.contains('_') => {
                return Err(ObjectiveError::UnknownMetric(name.to_owned()));
            }
            _ => return Err(ObjectiveError::UnknownMetric(written.to_owned())),
        };
        match Metric::parse(figure)? {
            metric if metric.is_time() => Ok(subject(Some(part), metric)),
            _ => Err(ObjectiveError::UnknownMetric(format!("{name} {figure}"))),
        }
    }

    /// Parses the value on the right.
    fn limit(&self, value: &str) -> Result<Limit, ObjectiveError> {
        let bare: Option<f64> = value.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let bare_of_k6 = bare.filter(|_| self.is_of_k6);
        let (found, expected) = match self.metric {
            Metric::Goodput => (rate(value).or_else(|| share(value)), A_RATE_OR_SHARE),
            Metric::Rate => (rate(value).or(bare_of_k6.map(Limit::PerSecond)), A_RATE),
            Metric::Failed => {
                let of_k6 = bare_of_k6.filter(|share| *share <= 1.0).map(Limit::Share);
                let count = || value.parse().ok().map(Limit::Count);
                (share(value).or(of_k6).or_else(count), A_SHARE_OR_COUNT)
            }
            _ => (duration(value).or(bare_of_k6.map(|ms| Limit::Seconds(ms / 1e3))), A_DURATION),
        };
        let (metric, value) = (self.written.clone(), value.to_owned());
        found.ok_or(match value.is_empty() {
            true => ObjectiveError::NoValue { metric, expected },
            false => ObjectiveError::WrongValue { metric, value, expected },
        })
    }
}

fn duration(text: &str) -> Option<Limit> {
    // A bare 0 needs no unit in humantime, but is unlikely to be intended here.
    let duration = humantime::parse_duration(text).ok().filter(|duration| !duration.is_zero())?;
    Some(Limit::Seconds(duration.as_secs_f64()))
}

fn rate(text: &str) -> Option<Limit> {
    text.contains('/').then(|| parse_rate(text)).flatten().map(Limit::PerSecond)
}

fn share(text: &str) -> Option<Limit> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (0.0..=100.0).contains(&percent).then(|| Limit::Share(from_percent(percent)))
}

/// Rounds, so that 99.9 becomes 0.999, not 0.9990000000000001.
fn from_percent(percent: f64) -> f64 {
    (percent * 1e8).round() / 1e10
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(Part::Response) | None => {}
            Some(part) => write!(formatter, "{}.", part.word())?,
        }
        write!(formatter, "{} {} {}", self.metric, self.comparison.sign(), self.value)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Quantile(quantile) => return write!(formatter, "p{}", percent_words(*quantile)),
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Min => "min",
            Self::Goodput => "goodput",
            Self::Rate => "rate",
            Self::Failed => "failed",
        };
        formatter.write_str(word)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => {
                // Via nanoseconds, because 0.05 s is not exactly 50 ms in floating point.
                let duration = Duration::from_nanos((seconds * 1e9).round() as u64);
                write!(formatter, "{}", humantime::format_duration(duration))
            }
            Self::Share(share) => write!(formatter, "{}%", percent_words(*share)),
            Self::PerSecond(rate) => write!(formatter, "{rate}/s"),
            Self::Count(number) => write!(formatter, "{number}"),
        }
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> Self {
        objective.to_string()
    }
}

impl TryFrom<String> for Objective {
    type Error = ObjectiveError;

    fn try_from(text: String) -> Result<Self, ObjectiveError> {
        Self::parse(&text)
    }
}
