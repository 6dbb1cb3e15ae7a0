//! The finding on a scenario's slices: their design, what limits their precision, and the benefit of more.

use tolok_model::{Judge, Measurement, Scenario, SliceDesign, SliceFigures, SliceRow, duration_words};
use tolok_stats::{Sample, mean_interval};

use super::lengths::{self, lengths};
use super::spread::{Spread, launches_in_words, median_pair, over_first, pairs, ratios_sentence};
use super::warming::warming;
use super::{Comparand, OfSlice, cpu_per_good, good_per_cpu_second, goodput};
use crate::estimate::{LEVEL, least_trials, middle};
use crate::figures::{counted, small_share};
use crate::findings::{CaseFinding, Estimate, SliceRatio, SlicesFinding};
use crate::observations::{Observations, per_answer};
use crate::servers::comparand;

/// If more than one in twenty of a case's responses takes longer than the lead-in, its windows begin half empty.
const OUTLASTING: f64 = 0.95;

/// A ranked case and its observations, the best first.
pub(crate) type Ranked<'f, 'o> = (&'f CaseFinding, &'o Observations<'o>);

/// The finding on the slices of a scenario, or `None` without slices.
pub(crate) fn slices_finding(scenario: &Scenario, ranked: &[Ranked<'_, '_>], judge: Judge) -> Option<SlicesFinding> {
    let design = scenario.slices?;
    let found: Vec<(&Measurement, &SliceFigures)> = ranked
        .iter()
        .flat_map(|(_, observations)| observations.trials())
        .filter_map(|trial| Some((trial, trial.slices.as_deref()?)))
        .collect();
    let (_, first) = *found.first()?;
    let launches = ranked.iter().map(|(_, observations)| observations.scored.len()).max().unwrap_or(0);
    let of_all = |of: fn(&(&Measurement, &SliceFigures)) -> f64| {
        middle(&found.iter().map(of).collect::<Vec<f64>>()).unwrap_or_default()
    };
    let sum = |of: fn(&SliceFigures) -> u64| found.iter().map(|(_, slices)| of(slices)).sum::<u64>();
    let comparands: Vec<Comparand> = ranked.iter().map(|(_, observed)| comparand(observed, judge)).collect();
    let spread = median_pair(&comparands);
    let (cpu, goodput) = match judge {
        Judge::Goodput => (ratios_by(ranked, Judge::Cpu), Vec::new()),
        Judge::Cpu => (Vec::new(), ratios_by(ranked, Judge::Goodput)),
    };
    let mut finding = SlicesFinding {
        launches: launches as u32,
        slices_per_case: first.rows.len() as u32,
        window_s: design.window_s,
        lead_in_s: design.lead_in_s,
        measured_share: of_all(|(_, slices)| slices.measured_share),
        frozen: found.iter().all(|(_, slices)| slices.frozen),
        foreign_cpus: of_all(|(trial, _)| trial.host.foreign_cpu_s / trial.window_s),
        stolen_cpus: of_all(|(trial, _)| trial.host.steal_s / trial.window_s),
        not_drained: sum(|slices| u64::from(slices.not_drained)),
        not_frozen: sum(|slices| u64::from(slices.not_frozen)),
        within_sd: spread.map(|spread| spread.within),
        between_sd: spread.map(|spread| spread.between),
        half_width: spread.map(|spread| spread.half_width(launches, 1.0)),
        half_width_of_twice_the_launches: spread.map(|spread| spread.half_width(2 * launches, 1.0)),
        half_width_of_twice_the_length: spread.map(|spread| spread.half_width(launches, 2.0)),
        longer_windows: longer_windows(ranked, judge),
        lengths: lengths(design, &found.iter().map(|(_, slices)| *slices).collect::<Vec<_>>()),
        cpu,
        goodput,
        sentences: Vec::new(),
        cautions: Vec::new(),
    };
    finding.sentences = sentences(&finding, spread);
    finding.cautions = cautions(design, ranked, &finding);
    finding
        .cautions
        .extend(warming(&comparands).into_iter().map(|(place, factor)| still_warming(ranked[place].0, factor)));
    Some(finding)
}

/// The factor by which ratios change in windows of double length, for the median pair by that change. `None` without such
/// windows, or with too few launches.
fn longer_windows(ranked: &[Ranked<'_, '_>], judge: Judge) -> Option<Estimate> {
    let of: OfSlice = match judge {
        Judge::Goodput => goodput,
        Judge::Cpu => good_per_cpu_second,
    };
    let part = |observations: &Observations, is_double: bool| {
        let shortest = |trial: &Measurement| {
            let rows = trial.slices.iter().flat_map(|slices| &slices.rows);
            rows.map(|row| row.window_s).fold(f64::INFINITY, f64::min)
        };
        let shortest_s = observations.trials().map(shortest).fold(f64::INFINITY, f64::min);
        let is_meant = move |row: &SliceRow| (row.window_s > 1.5 * shortest_s) == is_double;
        Comparand::among(observations, observations.goodput_by_block(), of, is_meant)
    };
    let both: Vec<[Comparand; 2]> =
        ranked.iter().map(|(_, observations)| [false, true].map(|is_double| part(observations, is_double))).collect();
    let change = |(a, b): (usize, usize)| {
        let [usual, double] = [0, 1].map(|length: usize| both[a][length].over(&both[b][length]));
        let (usual, double) = (usual?, double?);
        let of_block = |number: &u32| {
            let at = |ratio: &crate::estimate::BlockRatio| {
                let place = ratio.numbers.iter().position(|known| known == number)?;
                ratio.ratio.trials.get(place).map(|value| value.ln())
            };
            Some(at(&double)? - at(&usual)?)
        };
        let changes: Vec<f64> = usual.numbers.iter().filter_map(of_block).collect();
        let sample = Sample::new(&changes).ok().filter(|sample| sample.len() >= least_trials() as usize)?;
        let interval = mean_interval(&sample, LEVEL)?;
        let trials = changes.iter().map(|change| change.exp()).collect();
        Some(Estimate {
            value: sample.mean().exp(),
            low: Some(interval.low.exp()),
            high: Some(interval.high.exp()),
            trials,
        })
    };
    let mut changes: Vec<Estimate> = pairs(ranked.len()).filter_map(change).collect();
    changes.sort_by(|left, right| left.value.ln().abs().total_cmp(&right.value.ln().abs()));
    let middle = changes.len() / 2;
    (!changes.is_empty()).then(|| changes.swap_remove(middle))
}

/// A response of each ranked case, over that of the first.
fn ratios_by(ranked: &[Ranked<'_, '_>], response: Judge) -> Vec<SliceRatio> {
    let of = |(case, observations): &Ranked<'_, '_>| {
        let comparand = match response {
            Judge::Goodput => comparand(observations, Judge::Goodput),
            Judge::Cpu => Comparand::of(observations, observations.by_block(per_answer), cpu_per_good),
        };
        (case.title.clone(), comparand)
    };
    over_first(&ranked.iter().map(of).collect::<Vec<_>>())
}

fn sentences(found: &SlicesFinding, spread: Option<Spread>) -> Vec<String> {
    let mut said = vec![format!(
        "Slices: {}, each with {} of {} for each case, after a lead-in of {}; windows were open {} of the time.",
        launches_in_words(found.launches),
        counted(u64::from(found.slices_per_case), "window"),
        duration_words(found.window_s),
        duration_words(found.lead_in_s),
        small_share(found.measured_share),
    )];
    said.extend(spread.map(|spread| spread.sentence(found.launches as usize)));
    if let Some(Estimate { value, low: Some(low), high: Some(high), .. }) = &found.longer_windows {
        let sure = if *low <= 1.0 && 1.0 <= *high { "no clear effect" } else { "so the length of a slice matters" };
        said.push(format!(
            "Windows twice as long change a ratio by {value:.3}× ({low:.3}–{high:.3}) in the pair with the median change: {sure}."
        ));
    }
    said.extend(lengths::sentence(found));
    said.extend(ratios_sentence("CPU time per correct response", &found.cpu));
    said.extend(ratios_sentence("Correct responses per second", &found.goodput));
    said.push("Memory is that of all of a server's workloads, and latency that of a closed loop in slices.".to_owned());
    said
}

/// What readers must know before quoting figures from slices.
fn cautions(design: SliceDesign, ranked: &[Ranked<'_, '_>], found: &SlicesFinding) -> Vec<String> {
    let mut said = Vec::new();
    if !found.frozen {
        said.push(
            "Nothing could be frozen, so servers that were not asked may have worked at the cost of the one that was."
                .to_owned(),
        );
    }
    said.extend(outlasting(design, ranked));
    if found.not_drained > 0 {
        let slices = counted(found.not_drained, "slice");
        said.push(format!("{slices} ended with requests that were still unanswered."));
    }
    if found.not_frozen > 0 {
        let slices = counted(found.not_frozen, "slice");
        said.push(format!("In {slices} a server did not come to rest when it was frozen."));
    }
    said
}

fn still_warming(case: &CaseFinding, factor: f64) -> String {
    format!(
        "{} was still warming up: it was {factor:.2}× as fast in the last turn of a launch as in the first. Lengthen `warmup`.",
        case.title
    )
}

/// If responses take longer than the lead-in, no response arrives at the beginning of a window.
fn outlasting(design: SliceDesign, ranked: &[Ranked<'_, '_>]) -> Option<String> {
    let slowest = |(case, observations): &Ranked<'_, '_>| {
        let of = |time: fn(&Measurement) -> Option<f64>| {
            middle(&observations.trials().filter_map(time).collect::<Vec<f64>>())
        };
        let beyond = of(|trial| trial.latency.at(OUTLASTING)).map(|time_s| (time_s, "for one in twenty"));
        // With few responses, there is a mean but no percentiles.
        let (time_s, which) = beyond.or_else(|| Some((of(|trial| trial.latency.mean_s)?, "on average")))?;
        Some((time_s, which, case.title.clone()))
    };
    let (time_s, which, title) = ranked.iter().filter_map(slowest).max_by(|left, right| left.0.total_cmp(&right.0))?;
    (time_s > design.lead_in_s).then(|| {
        format!(
            "Responses outlast the lead-in: {title} takes {} {which}, and the lead-in is {}. Lengthen `slices.lead-in` and \
             `slices.window`.",
            duration_words((time_s * 1e3).round() / 1e3),
            duration_words(design.lead_in_s),
        )
    })
}
