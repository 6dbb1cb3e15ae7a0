//! The highest rate that keeps all thresholds: many short open-loop runs, each at a rate chosen from the earlier results.
//!
//! A search climbs by a factor until a rate fails. Then it bisects the ratio between the highest kept rate and the lowest failed one, until
//! they are close enough. Near the limit one search depends on chance, so it is repeated. Every repeat begins at the same rate, well below
//! where the first search ended, and climbs in smaller steps. A repeat that began where the one before ended would inherit its luck. The
//! result is the median of the searches, with the range that all of them span.

mod search;

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::event::Event;
use crate::fault::ErrorClass;
use crate::options::{Executor, Options};
use crate::record::Record;
use crate::threshold::{Judged, KeptOrCrossed, Metric};
use crate::verdict::{Gate, Reason};
use crate::{Judgement, run_with};
pub use search::Bracket;
use search::Search;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The first rate to try.
    pub start_rps: f64,
    /// The highest rate to try.
    pub most_rps: f64,
    /// The search ends when the kept and the failed rate are this close, as a share.
    pub precision: f64,
    /// Number of searches.
    pub repeats: u32,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { start_rps: 100.0, most_rps: 10_000_000.0, precision: 0.05, repeats: 5 }
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Version of this format; see [`Capacity::FORMAT`].
    pub format: u32,
    /// The target as a URL.
    pub url: String,
    /// The thresholds to keep.
    pub thresholds: Vec<String>,
    /// Median over the searches of the highest kept rate; null if a search kept none or was interrupted.
    pub capacity_rps: Option<f64>,
    /// The lowest rate that a search kept as its highest; the lower end of the range.
    pub low_rps: Option<f64>,
    /// The highest rate at which a search failed; the upper end. Null if the target was not the limit of every search.
    pub high_rps: Option<f64>,
    /// Probability that the range contains the median of all possible searches: 1 - 2 / 2^n for n searches.
    pub range_confidence: Option<f64>,
    /// What limited the rate.
    pub limit: Limit,
    /// The result of each search.
    pub searches: Vec<Bracket>,
    /// Every run, in order.
    pub probes: Vec<Probe>,
    /// The search was interrupted.
    pub interrupted: bool,
    /// Why the result cannot be trusted; absent if it can. Only the caller knows, so the search leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Reason>,
}

impl Capacity {
    /// The version that this crate writes.
    pub const FORMAT: u32 = 1;
}

/// What limited the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Thresholds were crossed.
    Target,
    /// The generator reached its limit: the capacity is at least this high.
    Generator,
    /// The highest allowed rate was kept: the capacity is at least this high.
    HighestRate,
    /// Not even the lowest rate was kept.
    Nothing,
    /// The search was interrupted.
    Interrupted,
}

/// One run of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Number of the search, from 0.
    pub search: u32,
    /// The offered rate.
    pub rate_rps: f64,
    /// Whether the rate was kept.
    pub outcome: ProbeOutcome,
    /// Correct responses per second.
    pub goodput_rps: Option<f64>,
    /// The thresholds and their figures.
    pub thresholds: Vec<Judged>,
    /// What was wrong with the run, as sentences.
    pub reasons: Vec<String>,
}

/// Whether a rate was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeOutcome {
    /// All thresholds held.
    Kept,
    /// The target did not keep up.
    Crossed,
    /// The generator did not keep up.
    GeneratorLimited,
}

/// A moment of a search.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A run at this rate begins.
    Trying {
        /// Number of the search, from 0.
        search: u32,
        /// Requests a second.
        rate_rps: f64,
    },
    /// An event of the current run.
    Running(Event),
    /// A run has ended.
    Tried(&'a Probe),
}

/// The largest number of runs in one search. Each halves the remaining range, so only a target with erratic results gets near it.
const MOST_PROBES: usize = 64;

/// Repeats begin at the rate at which the first search ended, divided by this.
const REPEATS_BEGIN_BELOW: f64 = 1.5;

/// Searches for the highest rate. The executor of `options` gives the length of each run and the spacing of arrivals; its rate is ignored.
pub fn find(
    options: &Options,
    judgement: &Judgement,
    plan: &Plan,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Capacity, LoadError> {
    let Executor::ConstantArrivalRate { duration, arrivals, .. } = options.executor else {
        let reason = "a search needs arrivals at a constant rate".to_owned();
        return Err(LoadError::Option { option: "capacity", reason });
    };
    let mut options = options.clone();
    let mut finding = Finding::new(options.target.url(), judgement);
    let mut start = (plan.start_rps, search::FIRST_STEP);
    for number in 0..plan.repeats {
        let mut search = Search::new(start.0, start.1, plan);
        while let Some(rate_rps) = search.next().filter(|_| finding.probes_of(number) < MOST_PROBES) {
            progress(Progress::Trying { search: number, rate_rps });
            options.executor = Executor::ConstantArrivalRate { rate_rps, duration, arrivals };
            let record = run_with(&options, judgement, stop, &mut |event| progress(Progress::Running(event)))?;
            if record.interrupted {
                return Ok(finding.finish(true));
            }
            let probe = probe(number, rate_rps, judgement, &record);
            search.tried(rate_rps, probe.outcome == ProbeOutcome::Kept);
            progress(Progress::Tried(&probe));
            finding.probes.push(probe);
        }
        let bracket = search.bracket();
        if number == 0 {
            start = (bracket.kept_rps.unwrap_or(plan.start_rps) / REPEATS_BEGIN_BELOW, search::STEP_OF_REPEATS);
        }
        finding.searches.push(bracket);
        if bracket.kept_rps.is_none() {
            break;
        }
    }
    Ok(finding.finish(false))
}

fn probe(search: u32, rate_rps: f64, judgement: &Judgement, record: &Record) -> Probe {
    let has = |gates: &[Gate]| record.verdict.reasons.iter().any(|reason| gates.contains(&reason.gate));
    let on_failures = |metric| matches!(metric, Metric::GoodputShare | Metric::FailedShare | Metric::FailedCount);
    let tolerates_failures = judgement.thresholds.iter().any(|threshold| on_failures(threshold.metric));
    let failed = record.ledger.failed + record.drain.failed;
    let local = record.ledger.failed_by_class.contains_key(&ErrorClass::Local);
    let not_kept = record.thresholds.iter().any(|judged| judged.outcome != KeptOrCrossed::Kept);
    // Lateness is part of the response time, so a late generator may have crossed the threshold itself.
    let late = |judged: &Judged| judged.outcome == KeptOrCrossed::Unknown && judged.value.is_some() && !judged.at_least;
    let outcome = if has(&[Gate::GeneratorBusy]) || local || record.thresholds.iter().any(late) {
        ProbeOutcome::GeneratorLimited
    } else if not_kept
        || has(&[Gate::OfferedRate, Gate::NoAnswers, Gate::Ledger])
        || (failed > 0 && !tolerates_failures)
    {
        ProbeOutcome::Crossed
    } else {
        ProbeOutcome::Kept
    };
    let mut reasons: Vec<String> = record.verdict.reasons.iter().map(|reason| reason.text.clone()).collect();
    if failed > 0 && !tolerates_failures {
        reasons.push(format!("{failed} requests failed, and no threshold says how many may"));
    }
    Probe { search, rate_rps, outcome, goodput_rps: record.goodput_rps, thresholds: record.thresholds.clone(), reasons }
}

/// What has been found so far.
struct Finding {
    url: String,
    thresholds: Vec<String>,
    searches: Vec<Bracket>,
    probes: Vec<Probe>,
}

impl Finding {
    fn new(url: String, judgement: &Judgement) -> Finding {
        let thresholds = judgement.thresholds.iter().map(|threshold| threshold.text.clone()).collect();
        Finding { url, thresholds, searches: Vec::new(), probes: Vec::new() }
    }

    fn probes_of(&self, search: u32) -> usize {
        self.probes.iter().filter(|probe| probe.search == search).count()
    }

    fn limit(&self) -> Limit {
        let generator = self.probes.iter().any(|probe| probe.outcome == ProbeOutcome::GeneratorLimited);
        if generator {
            Limit::Generator
        } else if self.searches.iter().any(|search| search.kept_rps.is_none()) || self.searches.is_empty() {
            Limit::Nothing
        } else if self.searches.iter().any(|search| search.crossed_rps.is_none()) {
            Limit::HighestRate
        } else {
            Limit::Target
        }
    }

    fn finish(self, interrupted: bool) -> Capacity {
        let limit = if interrupted { Limit::Interrupted } else { self.limit() };
        let mut kept: Vec<f64> = self.searches.iter().filter_map(|search| search.kept_rps).collect();
        kept.sort_by(f64::total_cmp);
        let all_kept = !kept.is_empty() && kept.len() == self.searches.len() && !interrupted;
        let crossed: Option<Vec<f64>> = self.searches.iter().map(|search| search.crossed_rps).collect();
        let high_rps =
            crossed.map(|crossed| crossed.into_iter().fold(0.0, f64::max)).filter(|_| limit == Limit::Target);
        let range_confidence = (all_kept && kept.len() > 1).then(|| 1.0 - 2.0f64.powi(1 - kept.len() as i32));
        Capacity {
            format: Capacity::FORMAT,
            url: self.url,
            thresholds: self.thresholds,
            capacity_rps: if all_kept { Some(median(&kept)) } else { None },
            low_rps: if all_kept { kept.first().copied() } else { None },
            high_rps: high_rps.filter(|_| all_kept),
            range_confidence,
            limit,
            searches: self.searches,
            probes: self.probes,
            interrupted,
            doubt: None,
        }
    }
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(searches: &[(Option<f64>, Option<f64>)]) -> Finding {
        let bracket = |(kept_rps, crossed_rps): &(Option<f64>, Option<f64>)| Bracket {
            kept_rps: *kept_rps,
            crossed_rps: *crossed_rps,
        };
        let searches = searches.iter().map(bracket).collect();
        Finding { searches, ..Finding::new("http://localhost/".into(), &Judgement::default()) }
    }

    #[test]
    fn the_range_spans_what_the_searches_found() {
        let found =
            finding(&[(Some(100.0), Some(105.0)), (Some(90.0), Some(94.0)), (Some(98.0), Some(110.0))]).finish(false);
        assert_eq!((found.capacity_rps, found.low_rps, found.high_rps), (Some(98.0), Some(90.0), Some(110.0)));
        assert_eq!((found.range_confidence, found.limit), (Some(0.75), Limit::Target));
    }

    #[test]
    fn without_a_rate_that_failed_there_is_no_upper_end() {
        let found = finding(&[(Some(100.0), None)]).finish(false);
        assert_eq!((found.capacity_rps, found.high_rps, found.limit), (Some(100.0), None, Limit::HighestRate));
        assert_eq!(found.range_confidence, None);
    }

    #[test]
    fn a_target_that_keeps_nothing_has_no_capacity() {
        let found = finding(&[(None, Some(1.0))]).finish(false);
        assert_eq!((found.capacity_rps, found.low_rps, found.limit), (None, None, Limit::Nothing));
    }

    #[test]
    fn an_interrupted_search_says_nothing() {
        let found = finding(&[(Some(100.0), Some(105.0))]).finish(true);
        assert_eq!((found.capacity_rps, found.interrupted), (None, true));
    }
}
