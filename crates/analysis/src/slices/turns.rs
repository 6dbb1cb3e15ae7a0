//! The finding on programs whose runs alternated: their design, what limits their ratios, and the benefit of more runs.

use tolok_model::{ProgramScenario, ProgramTiming};

use super::Comparand;
use super::spread::{launches_in_words, median_pair, over_first, ratios_sentence};
use crate::estimate::middle;
use crate::figures::{counted, in_column, listed};
use crate::findings::{ProgramCaseFinding, TurnsFinding};
use crate::programs::timings::{Timings, cpu_in_turns, wall_in_turns};

/// The finding on the turns of a scenario with these ranked cases, or `None` if it has none.
pub(crate) fn turns_finding(
    scenario: &ProgramScenario,
    ranked: &[(&ProgramCaseFinding, &Timings<'_>)],
) -> Option<TurnsFinding> {
    let found: Vec<&ProgramTiming> = ranked.iter().flat_map(|(_, timings)| timings.trials()).collect();
    let runs_per_case = found.iter().filter_map(|timing| Some(timing.turns.as_ref()?.places.len())).max()?;
    let launches = ranked.iter().map(|(_, timings)| timings.scored.len()).max().unwrap_or(0);
    let of_all = |of: fn(&ProgramTiming) -> f64| {
        middle(&found.iter().map(|timing| of(timing) / timing.window_s).collect::<Vec<f64>>()).unwrap_or_default()
    };
    let walls: Vec<Comparand> = ranked.iter().map(|(_, timings)| wall_in_turns(timings)).collect();
    let cpu: Vec<(String, Comparand)> =
        ranked.iter().map(|(case, timings)| (case.title.clone(), cpu_in_turns(timings))).collect();
    let spread = median_pair(&walls);
    let mut finding = TurnsFinding {
        launches: launches as u32,
        runs_per_case: runs_per_case as u32,
        foreign_cpus: of_all(|timing| timing.host.foreign_cpu_s),
        stolen_cpus: of_all(|timing| timing.host.steal_s),
        within_sd: spread.map(|spread| spread.within),
        between_sd: spread.map(|spread| spread.between),
        half_width: spread.map(|spread| spread.half_width(launches, 1.0)),
        half_width_of_twice_the_launches: spread.map(|spread| spread.half_width(2 * launches, 1.0)),
        half_width_of_twice_the_length: spread.map(|spread| spread.half_width(launches, 2.0)),
        cpu: over_first(&cpu),
        sentences: Vec::new(),
    };
    let cut_short = cut_short(scenario, ranked);
    let how = format!(
        "Turns: {}, each with {}{} of each case, in a random order and its mirror.",
        launches_in_words(finding.launches),
        if cut_short.is_some() { "up to " } else { "" },
        counted(runs_per_case as u64, "run"),
    );
    finding.sentences = [
        Some(how),
        spread.map(|spread| spread.sentence(launches)),
        cut_short,
        ratios_sentence("CPU time per run", &finding.cpu),
        Some(format!(
            "Other programs used {} CPUs meanwhile, and the hypervisor took {}.",
            in_column(finding.foreign_cpus),
            in_column(finding.stolen_cpus),
        )),
    ]
    .into_iter()
    .flatten()
    .collect();
    Some(finding)
}

/// The cases that ran out of time before their last run.
fn cut_short(scenario: &ProgramScenario, ranked: &[(&ProgramCaseFinding, &Timings<'_>)]) -> Option<String> {
    let fewest = |timings: &Timings<'_>| {
        timings.trials().filter_map(|timing| Some(timing.turns.as_ref()?.places.len())).min().unwrap_or(0)
    };
    let short = |(case, timings): &(&ProgramCaseFinding, &Timings<'_>)| {
        let runs = fewest(timings) as u64;
        (runs < u64::from(scenario.runs.runs)).then(|| format!("{} after {}", case.title, counted(runs, "run")))
    };
    let short: Vec<String> = ranked.iter().filter_map(short).collect();
    (!short.is_empty()).then(|| {
        format!("The limit at-most stopped {}; pairs are compared by the turns that both took.", listed(&short, "and"))
    })
}
