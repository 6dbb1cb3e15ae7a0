//! Compares published ratios with measured ones.

use tolok_model::sentences::capital;
use tolok_model::{Case, PublishedMetric, PublishedRatio};

use crate::compare::ComparedMetric;
use crate::contest::{Contest, Pair};
use crate::estimate::{least_trials, size};
use crate::figures::{Quantity, amount, counted, figure};
use crate::findings::{Better, CaseFinding, Estimate, PublishedFinding, PublishedReading, ScenarioFinding, Verdict};
use crate::records::Records;

/// Every published ratio of the plan, in its order.
pub(crate) fn published(records: &Records, scenarios: &[ScenarioFinding]) -> Vec<PublishedFinding> {
    records.plan.published.iter().map(|said| finding(records, scenarios, said)).collect()
}

fn finding(records: &Records, scenarios: &[ScenarioFinding], said: &PublishedRatio) -> PublishedFinding {
    let scenario = scenarios.iter().find(|scenario| scenario.id == said.scenario);
    let measured = measured(records, scenario, said);
    let smallest_effect = records.plan.smallest_effect;
    let (reading, why) = match &measured {
        Err(why) => (PublishedReading::CannotTell, why.clone()),
        Ok(pair) => told(said.ratio, pair, smallest_effect),
    };
    let [a, b] = [&said.a, &said.b].map(|label| title(records, scenario, label));
    let pair = measured.ok();
    let blocks = pair.as_ref().map_or(0, |pair| pair.blocks);
    let mut finding = PublishedFinding {
        source: said.source.clone(),
        place: said.place.clone(),
        scenario: said.scenario.clone(),
        metric: said.metric.word().to_owned(),
        metric_words: metric_words(said.metric, scenario),
        a,
        b,
        published: said.ratio,
        measured: pair.map(|pair| pair.ratio),
        blocks,
        reading,
        sentence: String::new(),
    };
    finding.sentence = sentence(&finding, metric(said.metric).better(), &why);
    finding
}

/// The pair, or why there is none.
fn measured(records: &Records, scenario: Option<&ScenarioFinding>, said: &PublishedRatio) -> Result<Pair, String> {
    let scenario = scenario.ok_or_else(|| format!("this run has no scenario {}", said.scenario))?;
    for label in [&said.a, &said.b] {
        let case = scenario.cases.iter().find(|case| case.subject == *label);
        let case = case.ok_or_else(|| left_out(records, scenario, label))?;
        if let Some(why) = unusable(case, metric(said.metric)) {
            return Err(why);
        }
    }
    let contest = Contest::of(records, scenario, metric(said.metric));
    let place = |label: &String| contest.cases.iter().position(|case| case.subject == *label);
    let pair = place(&said.a).zip(place(&said.b)).and_then(|(a, b)| contest.pair(a, b));
    pair.ok_or_else(|| "the two share no round".to_owned())
}

/// Why a subject has no case in the scenario.
fn left_out(records: &Records, scenario: &ScenarioFinding, label: &str) -> String {
    let id = |text: &str| text.split([':', '?']).next().unwrap_or_default().to_owned();
    let skipped =
        records.plan.skipped.iter().find(|skipped| skipped.subject == label || id(&skipped.subject) == id(label));
    match skipped {
        Some(skipped) => format!("{label} was left out: {}", skipped.reason.trim_end_matches('.')),
        None => format!("{label} has no case in {}", scenario.id),
    }
}

fn unusable(case: &CaseFinding, metric: ComparedMetric) -> Option<String> {
    let flag = case.flags.iter().find(|flag| flag.voids_rank);
    match (case.ranked, flag) {
        (false, Some(flag)) => Some(format!("{} is not ranked: {}", case.title, flag.message.trim_end_matches('.'))),
        (false, None) => Some(format!("{} is not ranked: it has no correct response in a clean trial", case.title)),
        (true, _) if metric.of_server(case).is_none() => {
            Some(format!("{} has no such figure in every trial", case.title))
        }
        (true, _) => None,
    }
}

/// The reading, with a reason if it needs one.
fn told(published: f64, pair: &Pair, smallest_effect: f64) -> (PublishedReading, String) {
    let reading = reading(&Said::exactly(published), &pair.ratio, pair.verdict, smallest_effect);
    let blocks = || counted(u64::from(pair.blocks), "common round");
    let why = match (reading, pair.ratio.low) {
        (PublishedReading::CannotTell, None) => {
            format!("{}, and an interval needs {}", blocks(), least_trials())
        }
        (PublishedReading::CannotTell, Some(_)) => UNSURE.to_owned(),
        _ => String::new(),
    };
    (reading, why)
}

/// Why a ratio with an interval decides nothing.
pub(crate) const UNSURE: &str =
    "the measured interval is too wide, or the difference is no larger than that of the noise check";

/// A published ratio with its known precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Said {
    /// The ratio; the middle if it is a range.
    pub(crate) value: f64,
    /// Lower bound of the published ratio: 0 if only an upper bound was published.
    pub(crate) low: f64,
    /// Upper bound of the published ratio: infinite if only a lower bound was published.
    pub(crate) high: f64,
}

impl Said {
    pub(crate) fn exactly(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Whether it claims that there is no difference that matters.
    fn is_nothing(&self, smallest_effect: f64) -> bool {
        let is_closed = self.low > 0.0 && self.high.is_finite();
        is_closed && size(self.value) < smallest_effect
    }

    /// Whether it claims that the first is larger. With a single bound, the side of the bound decides.
    pub(crate) fn says_more(&self) -> bool {
        match (self.low > 0.0, self.high.is_finite()) {
            (true, false) => true,
            (false, true) => false,
            _ => self.value > 1.0,
        }
    }
}

/// The reading of a measured ratio against a published one, by the rules of [`PublishedReading`]. `verdict` is *faster* or
/// *slower* if the two were told apart. A published range must only overlap the widened interval.
pub(crate) fn reading(said: &Said, ratio: &Estimate, verdict: Verdict, smallest_effect: f64) -> PublishedReading {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return PublishedReading::CannotTell };
    let (low, high) = (low / (1.0 + smallest_effect), high * (1.0 + smallest_effect));
    match verdict {
        Verdict::CannotTell => PublishedReading::CannotTell,
        _ if said.low <= high && said.high >= low => PublishedReading::Reproduced,
        verdict if verdict.is_told_apart() => match () {
            () if said.is_nothing(smallest_effect) => PublishedReading::Difference,
            () if said.says_more() == (ratio.value > 1.0) => PublishedReading::SameDirection,
            () => PublishedReading::Reversed,
        },
        _ if said.is_nothing(smallest_effect) => PublishedReading::Reproduced,
        _ => PublishedReading::NoDifference,
    }
}

/// `JSON, goodput: Bun.serve over Go net/http was published as 1.50× and measured as 1.15× (1.12–1.18): same direction, Bun.serve
/// is ahead.`
fn sentence(finding: &PublishedFinding, better: Better, why: &str) -> String {
    let PublishedFinding { a, b, reading, .. } = finding;
    let published = amount(Quantity::Ratio, finding.published);
    let what = format!("{} of {a} over {b} in {}", finding.metric_words, finding.scenario);
    let measured = match &finding.measured {
        Some(measured) => format!("measured as {}", figure(Quantity::Ratio, measured).line()),
        None => "not measured".to_owned(),
    };
    let is_a_ahead = |ratio: f64| (ratio > 1.0) == (better == Better::Higher);
    let ahead = |ratio: f64| if is_a_ahead(ratio) { a } else { b };
    let value = finding.measured.as_ref().map_or(1.0, |measured| measured.value);
    let more = match reading {
        PublishedReading::CannotTell => format!(", as {why}"),
        PublishedReading::SameDirection => format!(", {} is ahead by another ratio", ahead(value)),
        PublishedReading::Reversed => format!(", {} is ahead and not {}", ahead(value), ahead(finding.published)),
        PublishedReading::Difference => {
            format!(", {} is ahead where no difference that matters was published", ahead(value))
        }
        PublishedReading::NoDifference => ", none was found where one was published".to_owned(),
        PublishedReading::Reproduced | PublishedReading::Supported => String::new(),
    };
    capital(&format!("{what} was published as {published} and {measured}: {}{more}.", reading.words()))
}

fn metric(published: PublishedMetric) -> ComparedMetric {
    match published {
        PublishedMetric::Goodput => ComparedMetric::Goodput,
        PublishedMetric::LatencyP50 => ComparedMetric::P50,
        PublishedMetric::LatencyP99 => ComparedMetric::P99,
        PublishedMetric::Cpu => ComparedMetric::Cpu,
        PublishedMetric::Memory => ComparedMetric::Memory,
        PublishedMetric::ColdStart => ComparedMetric::ColdStart,
    }
}

/// Times of a closed loop are marked as such.
fn metric_words(published: PublishedMetric, scenario: Option<&ScenarioFinding>) -> String {
    let is_open = scenario.is_some_and(|scenario| scenario.loop_model == "open");
    let kind = if is_open { crate::ScenarioKind::Open } else { crate::ScenarioKind::Closed };
    metric(published).title(kind).to_owned()
}

/// The title of a subject, even if it has no case.
fn title(records: &Records, scenario: Option<&ScenarioFinding>, label: &str) -> String {
    if let Some(case) = scenario.and_then(|scenario| scenario.cases.iter().find(|case| case.subject == label)) {
        return case.title.clone();
    }
    let is_own = |case: &&Case| case.subject.label == label;
    let known = records.plan.cases.iter().find(is_own).map(|case| records.names.title(&case.subject, false));
    known.unwrap_or_else(|| label.to_owned())
}
