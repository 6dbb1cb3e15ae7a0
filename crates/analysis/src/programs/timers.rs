//! What several timers report about the same programs, side by side.
//!
//! Every note follows from what the records of these trials have or lack, not from what a tool is known for.

use tolok_model::{ProgramScenario, Timer};

use super::scenario::Timed;
use super::timings::COARSE_TIMER;
use crate::estimate::{median, ratio_within_blocks};
use crate::figures::{Quantity, amount, listed};
use crate::findings::{ProgramCaseFinding, TimerReading, TimersFinding};
use crate::grouping::grouped;

/// From this step on, a timer's figures need a note.
const WIDE_STEP_S: f64 = 0.001;

/// Each group of scenarios that differ only in their timers.
pub(crate) fn timers(timed: &[Timed]) -> Vec<TimersFinding> {
    let groups = grouped(timed, |one, other| is_same_but_timer(one.scenario, other.scenario));
    groups.iter().filter(|group| group.len() > 1).map(|group| of_group(group)).collect()
}

fn is_same_but_timer(one: &ProgramScenario, other: &ProgramScenario) -> bool {
    let same_work = (&one.environment, &one.workload, &one.runs) == (&other.environment, &other.workload, &other.runs);
    same_work && one.in_turns == other.in_turns
}

fn of_group(group: &[&Timed]) -> TimersFinding {
    let own = group.iter().find(|one| one.scenario.timer == Timer::Tolok);
    let first = own.unwrap_or(&group[0]);
    // tolok's own timer comes first, because the others are compared with it.
    let ordered = || own.into_iter().chain(group.iter().filter(|one| one.scenario.timer != Timer::Tolok));
    let named = first.finding.cases.iter();
    let readings = named.flat_map(|named| ordered().filter_map(move |one| reading(one, named, own.copied())));
    TimersFinding {
        workload: first.finding.workload.clone(),
        title: first.finding.title.clone(),
        environment: first.scenario.environment.clone(),
        runs: first.finding.runs.clone(),
        readings: readings.collect(),
        notes: notes(&ordered().copied().collect::<Vec<_>>()),
    }
}

/// `named` gives the title, because another scenario may omit the variant.
fn reading(one: &Timed, named: &ProgramCaseFinding, own: Option<&Timed>) -> Option<TimerReading> {
    let subject = named.subject.as_str();
    let case = one.finding.cases.iter().find(|case| case.subject == subject)?;
    let against = own.filter(|_| one.scenario.timer != Timer::Tolok);
    let over = |own: &Timed| ratio_within_blocks(one.wall_s.get(subject)?, own.wall_s.get(subject)?);
    Some(TimerReading {
        subject: case.subject.clone(),
        title: named.title.clone(),
        runtime: case.runtime.clone(),
        timer: one.finding.timer.clone(),
        scenario: one.finding.id.clone(),
        resolution_s: one.finding.timer_resolution_s,
        wall_s: case.wall_s.clone(),
        mean_s: one.mean_s.get(subject).and_then(|means| median(means.clone())),
        cpu_s: case.cpu_s.clone(),
        rss_bytes: case.rss_bytes.clone(),
        of_own: against.and_then(over).map(|found| found.ratio),
        runs: case.runs,
    })
}

fn notes(group: &[&Timed]) -> Vec<String> {
    let measured = |one: &&&Timed| one.finding.cases.iter().any(|case| case.trials_scored > 0);
    let measured: Vec<&&Timed> = group.iter().filter(measured).collect();
    // What a timer lacks in every case, with the verb for one timer and for several.
    type Lack = (fn(&ProgramCaseFinding) -> bool, [&'static str; 2], &'static str);
    const LACKS: [Lack; 4] = [
        (|case| case.rss_bytes.is_none(), ["reports", "report"], "no memory here."),
        (|case| case.cpu_s.is_none(), ["reports", "report"], "no CPU time here."),
        (
            |case| case.cpu_is_mean,
            ["reports", "report"],
            "the mean CPU time over the runs of a trial; other timers give the median.",
        ),
        (|case| case.floor_s.is_none(), ["has", "have"], "no runs without the work, so no time above the start."),
    ];
    let note = |(is_lacking, [one, several], what): &Lack| {
        let scored = |one: &Timed| one.finding.cases.iter().filter(|case| case.trials_scored > 0).all(is_lacking);
        let lacking = measured.iter().filter(|one| scored(one));
        let names: Vec<String> = lacking.map(|one| timer_title(one.scenario.timer.word()).to_owned()).collect();
        let verb = if names.len() > 1 { several } else { one };
        (!names.is_empty()).then(|| format!("{} {verb} {what}", listed(&names, "and")))
    };
    measured.iter().filter_map(|one| step(one)).chain(LACKS.iter().filter_map(note)).collect()
}

fn step(one: &Timed) -> Option<String> {
    let step_s = one.finding.timer_resolution_s.filter(|step_s| *step_s >= WIDE_STEP_S)?;
    Some(format!(
        "{} counts in steps of {}: its time of a program that takes less than {} is mostly the step. Shares of CPU from such times are left out.",
        timer_title(one.scenario.timer.word()),
        amount(Quantity::Seconds, step_s),
        amount(Quantity::Seconds, step_s / COARSE_TIMER),
    ))
}

/// The usual name of a timer.
pub fn timer_title(word: &str) -> &str {
    if word == "time" { "GNU time" } else { word }
}
