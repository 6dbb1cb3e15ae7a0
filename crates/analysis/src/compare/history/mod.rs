//! Runs of one study over time: each figure as a series, and where its level changes.
//!
//! Each run gives one value of a series, the mean logarithm of a figure over its trials. A level changes where dividing the
//! series explains it much better than chance does ([`tolok_stats::changepoints`]: the exact optimum of a Gaussian likelihood
//! with a penalty for each change, found by PELT). A level needs two runs, so a single odd run makes none. All series of a
//! history are judged together: the penalty grows by 2 · ln of their number, which is Bonferroni's correction for a likelihood
//! ratio.
//!
//! Runs whose conditions differ from the newest run's are left out and listed. tolok does not know the cause of a change. It
//! lists the versions that differ where the change begins.

mod findings;

pub use findings::{FigureSeries, HISTORY_SCHEMA, HistoryPoint, LeftOutRun, LevelChange, RunHistory};

use tolok_stats::{LEAST_SEGMENT, Sample, changepoint_penalty, changepoints, least_step, scatter_around_levels};

use super::changes::changes;
use super::conditions::{Both, conditions};
use super::findings::Difference;
use super::matching::{Match, matches};
use super::measuring::mean_logarithm;
use super::metric::ComparedMetric;
use super::views::{self, CaseView, ScenarioView};
use super::{CompareRequest, ComparedRun, side};
use crate::estimate::size;
use crate::figures::{Quantity, amount, counted, figure};
use crate::findings::{Better, Estimate};

/// Fewer runs cannot show a level on both sides of a change.
pub const FEWEST_RUNS: usize = 2 * LEAST_SEGMENT;
/// Changes that the sentence names.
const NAMED: usize = 3;

/// Runs that are part of a history, in the order in which they began. Scenarios are matched with those of the last run.
struct Kept<'a> {
    runs: Vec<&'a ComparedRun<'a>>,
    views: Vec<Vec<ScenarioView<'a>>>,
    /// For each run: how its scenarios match those of the last run.
    matches: Vec<Vec<Match>>,
}

/// The history of the runs, or `Err` if fewer than [`FEWEST_RUNS`] of them belong together.
///
/// This is a pure function without random numbers: the same records give the same history, in any order of the runs.
pub fn history(runs: &[ComparedRun], request: &CompareRequest) -> Result<RunHistory, Vec<LeftOutRun>> {
    let mut all: Vec<&ComparedRun> = runs.iter().collect();
    all.sort_by_key(|run| (&run.records.run.started_at, &run.records.run.id));
    all.dedup_by_key(|run| &run.records.run.id);
    let Some(newest) = all.last().copied() else { return Err(Vec::new()) };
    let of_newest = views::scenarios(newest);
    let mut left_out = Vec::new();
    let mut kept = Kept { runs: Vec::new(), views: Vec::new(), matches: Vec::new() };
    for run in all {
        let view = views::scenarios(run);
        let matched = matches(&view, &of_newest);
        let both = Both { runs: [run, newest], scenarios: [&view, &of_newest], matches: &matched };
        let found = conditions(&both);
        if matched.is_empty() || (!found.is_empty() && !request.allow_differences) {
            left_out.push(LeftOutRun { id: run.records.run.id.clone(), conditions: found });
            continue;
        }
        kept.runs.push(run);
        kept.views.push(view);
        kept.matches.push(matched);
    }
    if kept.runs.len() < FEWEST_RUNS {
        return Err(left_out);
    }
    let threshold = request.threshold.unwrap_or(newest.records.plan.smallest_effect);
    let mut found = RunHistory {
        schema_version: HISTORY_SCHEMA,
        sentence: String::new(),
        threshold,
        runs: kept.runs.iter().map(|run| side(run)).collect(),
        left_out,
        series: series(&kept, &request.metrics, threshold),
        cautions: Vec::new(),
    };
    found.sentence = sentence(&found);
    found.cautions = cautions(&found);
    Ok(found)
}

/// Every figure of the newest run, over all runs.
fn series(kept: &Kept, asked: &[ComparedMetric], threshold: f64) -> Vec<FigureSeries> {
    let mut all = Vec::new();
    for (place, scenario) in kept.views.last().into_iter().flatten().enumerate() {
        let cases = scenario.cases.iter().map(|case| (case, false)).chain(scenario.ceiling.iter().map(|it| (it, true)));
        for (case, is_ceiling) in cases {
            for (metric, is_main) in ComparedMetric::of(scenario.kind, asked) {
                all.push(one(kept, (place, scenario), (case, is_ceiling), (metric, is_main)));
            }
        }
    }
    let values: Vec<Vec<f64>> = all.iter().map(|(_, values)| values.clone()).collect();
    let changes = level_changes(&values);
    let together = penalty_together(&values);
    let with_changes = |((mut series, values), changes): ((FigureSeries, Vec<f64>), Vec<usize>)| {
        series.changes = levels(kept, &series, &values, &changes, threshold);
        if series.not_judged.is_none() {
            let step = least_step(values.len(), changepoint_penalty(values.len()) + together);
            series.smallest_visible = scatter_around_levels(&values, &changes).map(|scatter| (step * scatter).exp_m1());
        }
        series
    };
    all.into_iter().zip(changes).map(with_changes).collect()
}

/// A series without its changes, and the values that are searched for changes.
fn one(
    kept: &Kept,
    (place, scenario): (usize, &ScenarioView),
    (case, is_ceiling): (&CaseView, bool),
    (metric, is_main): (ComparedMetric, bool),
) -> (FigureSeries, Vec<f64>) {
    let of_run = |run: usize| -> Option<(HistoryPoint, f64)> {
        let (own, _) = kept.matches[run].iter().find(|(_, newest)| *newest == place)?;
        let view = &kept.views[run][*own];
        let known =
            if is_ceiling { view.ceiling.as_ref() } else { view.cases.iter().find(|it| it.subject == case.subject) };
        let known = known.filter(|known| known.ranked || is_ceiling)?;
        let estimate: &Estimate = known.figure(metric)?;
        let value = mean_logarithm(&estimate.trials)?;
        Some((HistoryPoint { run, value: Estimate { trials: Vec::new(), ..estimate.clone() } }, value))
    };
    let (points, values): (Vec<HistoryPoint>, Vec<f64>) = (0..kept.runs.len()).filter_map(of_run).unzip();
    let too_few = (points.len() < FEWEST_RUNS)
        .then(|| format!("ranked in {}; a change of level needs {FEWEST_RUNS}", counted(points.len() as u64, "run")));
    let series = FigureSeries {
        scenario: scenario.id.to_owned(),
        scenario_title: scenario.title.to_owned(),
        kind: scenario.kind,
        subject: case.subject.to_owned(),
        title: case.title.to_owned(),
        runtime: case.runtime.to_owned(),
        is_ceiling,
        metric,
        unit: metric.unit(),
        better: metric.better(),
        is_main,
        points,
        changes: Vec::new(),
        smallest_visible: None,
        not_judged: too_few,
    };
    (series, values)
}

/// Where the levels of series change, all judged together: for each, the indexes at which a new level begins.
fn level_changes(all: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let together = penalty_together(all);
    let of = |series: &Vec<f64>| changepoints(series, changepoint_penalty(series.len()) + together).unwrap_or_default();
    all.iter().map(of).collect()
}

/// The increase of the penalty of a change that comes from judging all these series together.
fn penalty_together(all: &[Vec<f64>]) -> f64 {
    2.0 * (all.iter().filter(|series| series.len() >= FEWEST_RUNS).count().max(1) as f64).ln()
}

/// The changes of a series with their sizes.
fn levels(kept: &Kept, series: &FigureSeries, values: &[f64], changes: &[usize], threshold: f64) -> Vec<LevelChange> {
    let ends: Vec<usize> = [0].into_iter().chain(changes.iter().copied()).chain([values.len()]).collect();
    let level = |part: &[usize]| {
        let own = &values[part[0]..part[1]];
        own.iter().sum::<f64>() / own.len() as f64
    };
    let levels: Vec<f64> = ends.windows(2).map(level).collect();
    let change = |(&at, pair): (&usize, &[f64])| {
        let ratio = (pair[1] - pair[0]).exp();
        let is_higher_worse = series.better == Better::Lower;
        LevelChange {
            run: series.points[at].run,
            ratio,
            is_worse: (size(ratio) >= threshold).then_some((ratio > 1.0) == is_higher_worse),
            differences: between(kept, series.points[at - 1].run, series.points[at].run),
        }
    };
    changes.iter().zip(levels.windows(2)).map(change).collect()
}

fn between(kept: &Kept, before: usize, after: usize) -> Vec<Difference> {
    let matched = matches(&kept.views[before], &kept.views[after]);
    let both = Both {
        runs: [kept.runs[before], kept.runs[after]],
        scenarios: [&kept.views[before], &kept.views[after]],
        matches: &matched,
    };
    changes(&both)
}

fn sentence(found: &RunHistory) -> String {
    let judged = found.series.iter().filter(|series| series.not_judged.is_none() && !series.is_ceiling);
    [Some(changes_found(found, judged.clone().count())), too_scattered(found, judged)]
        .into_iter()
        .flatten()
        .collect::<Vec<String>>()
        .join(" ")
}

/// How many series scatter too much to show a change that matters, and the change that their median could show.
fn too_scattered<'a>(found: &RunHistory, judged: impl Iterator<Item = &'a FigureSeries>) -> Option<String> {
    let blind = |series: &FigureSeries| series.smallest_visible.filter(|least| *least > found.threshold);
    let least: Vec<f64> = judged.filter_map(blind).collect();
    let typical = amount(Quantity::Share, Sample::new(&least).ok()?.median());
    let figures = counted(least.len() as u64, "figure");
    let scatter = if least.len() == 1 { "scatters" } else { "scatter" };
    Some(format!("{figures} {scatter} too much to show changes below about {typical}."))
}

fn changes_found(found: &RunHistory, judged: usize) -> String {
    let (figures, runs) = (counted(judged as u64, "figure"), counted(found.runs.len() as u64, "run"));
    if judged == 0 {
        return format!(
            "Cannot tell: of {runs}, no figure is ranked in {FEWEST_RUNS} or more. `tolok report RUN` says why a case is not ranked."
        );
    }
    let mut changes: Vec<(&FigureSeries, &LevelChange)> =
        found.series.iter().flat_map(|series| series.changes.iter().map(move |change| (series, change))).collect();
    changes.retain(|(series, change)| !series.is_ceiling && change.is_worse.is_some());
    if changes.is_empty() {
        let least = amount(Quantity::Share, found.threshold);
        return format!("Over {runs}, no change of {least} or more was found in {figures}.");
    }
    let size_of = |change: &LevelChange| size(change.ratio);
    changes.sort_by(|a, b| size_of(b.1).total_cmp(&size_of(a.1)));
    let words = |(series, change): &(&FigureSeries, &LevelChange)| {
        let way = if change.is_worse == Some(true) { "worse" } else { "better" };
        format!(
            "{} in {}, {} {} from {} on ({way})",
            series.title,
            series.scenario,
            series.metric.title(series.kind),
            figure(Quantity::Ratio, &Estimate { value: change.ratio, low: None, high: None, trials: Vec::new() })
                .line(),
            found.runs[change.run].id
        )
    };
    let named: Vec<String> = changes.iter().take(NAMED).map(words).collect();
    let more = changes.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let number = counted(changes.len() as u64, "change");
    format!("{number} of level in {figures} over {runs}: {}{more}.", named.join("; "))
}

fn cautions(found: &RunHistory) -> Vec<String> {
    let mut all = Vec::new();
    let of_machine = found.series.iter().filter(|series| series.is_ceiling && series.is_main);
    let moved: Vec<&str> =
        of_machine.flat_map(|series| &series.changes).map(|change| found.runs[change.run].id.as_str()).collect();
    all.extend((!moved.is_empty()).then(|| {
        format!(
            "The level of the ceiling changed as well (from {} on). What changes with it is the machine, or the ceiling’s own build.",
            crate::grouping::each_once(moved.iter().map(|id| (*id).to_owned())).join(" and ")
        )
    }));
    let are = if found.left_out.len() == 1 { "is" } else { "are" };
    let left_out = counted(found.left_out.len() as u64, "run");
    all.extend((!found.left_out.is_empty()).then(|| {
        format!("{left_out} {are} left out: the conditions are not those of the newest run, or no case is shared.")
    }));
    all.push(
        "A change of level says when, not why. The versions that differ where it begins are listed. To confirm a change, \
         compare several runs of each version, or use tolok duel."
            .to_owned(),
    );
    all
}

#[cfg(test)]
mod tests;
