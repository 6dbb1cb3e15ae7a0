//! The progress of an active run when the page is rendered. The script continues from there.

use std::collections::BTreeMap;

use serde::Serialize;
use tolok_analysis::Findings;
use tolok_analysis::figures::{NONE, Quantity, amount};
use tolok_model::{Case, Outcome, Role, TrialRecord};
use tolok_report::marker;

use super::standing::{Contender, Measure, Standing};
use super::time_left;
use crate::library::{Analysed, Card, State};
use crate::live::{Doing, Live};

/// The progress of a run, its current activity, and the results of its trials so far.
#[derive(Serialize)]
pub struct AtWork {
    /// The URL of its events.
    events: String,
    /// Whether it has events or may still get some.
    has_events: bool,
    status: String,
    phase: String,
    done: usize,
    planned: usize,
    left: String,
    scenarios: Vec<Scenario>,
}

#[derive(Serialize)]
struct Scenario {
    id: String,
    title: String,
    load: String,
    is_of_programs: bool,
    rows: Vec<Row>,
    /// The order so far, while the run is active.
    standing: Option<Standing>,
}

/// A case and its trials so far.
#[derive(Serialize)]
struct Row {
    case: String,
    marker: String,
    /// The CSS class that sets the colour.
    class: String,
    title: String,
    done: usize,
    planned: usize,
    failed: usize,
    /// The median of its main figure.
    median: String,
    p99: String,
    /// Number, goodput and p99 of each trial, for the script.
    trials: String,
}

/// The names and figures of a case in the findings.
struct Known<'a> {
    title: &'a str,
    runtime: &'a str,
    median: Option<String>,
    p99: Option<String>,
}

impl AtWork {
    pub fn of(address: &str, card: &Card, analysed: &Analysed, live: Option<&Live>, state: &State) -> Self {
        let known = known(&analysed.findings);
        let is_running = *state == State::Running;
        let title = |case: &str| known.get(case).map_or(case, |known| known.title).to_owned();
        let (status, phase) = words(live, is_running, card.planned, &title);
        let left_s = live.and_then(|live| live.left_s).filter(|_| is_running);
        Self {
            events: format!("{address}events"),
            has_events: is_running || live.is_some(),
            status,
            phase,
            done: card.done,
            planned: card.planned,
            left: left_s.map(|left_s| format!("about {} left", time_left(left_s))).unwrap_or_default(),
            scenarios: scenarios(analysed, &known, is_running),
        }
    }
}

/// The current activity as a sentence, and the phase of the trial.
fn words(live: Option<&Live>, is_running: bool, planned: usize, title: &dyn Fn(&str) -> String) -> (String, String) {
    let doing = live.map(|live| &live.doing);
    let status = match doing {
        _ if !is_running => "No trial is being run.".to_owned(),
        None => "It is running, but reports no events.".to_owned(),
        Some(Doing::Beginning | Doing::Ended) => "It begins.".to_owned(),
        Some(Doing::Preparing(what)) => format!("{what}."),
        Some(Doing::Trial { trial, case, .. }) => format!("Trial {trial} of {planned}: {}.", title(case)),
        Some(Doing::Diagnosing) => "All trials are done; each case runs once more, unscored.".to_owned(),
    };
    let phase = match doing {
        Some(Doing::Trial { phase: Some(phase), .. }) if is_running => phase.clone(),
        _ => String::new(),
    };
    (status, phase)
}

fn known(findings: &Findings) -> BTreeMap<&str, Known<'_>> {
    let of_servers = findings.scenarios.iter().flat_map(|scenario| scenario.cases.iter().chain(&scenario.ceiling));
    let of_servers = of_servers.map(|case| {
        let median = case.shown_goodput_rps().map(|goodput| amount(Quantity::Number, goodput.value));
        let p99 = case.latency_p99_s.as_ref().map(|p99| amount(Quantity::Seconds, p99.value));
        (case.case.as_str(), Known { title: &case.title, runtime: &case.runtime, median, p99 })
    });
    let of_programs = findings.programs.iter().flat_map(|program| &program.cases).map(|case| {
        let median = case.shown_wall_s().map(|wall| amount(Quantity::Seconds, wall.value));
        (case.case.as_str(), Known { title: &case.title, runtime: &case.runtime, median, p99: None })
    });
    of_servers.chain(of_programs).collect()
}

/// The cases in the order of the study; this is not a ranking.
fn scenarios(analysed: &Analysed, known: &BTreeMap<&str, Known<'_>>, is_running: bool) -> Vec<Scenario> {
    let (plan, findings) = (&analysed.stored.plan, &analysed.findings);
    let of_servers = findings.scenarios.iter().map(|it| (&it.id, &it.title, &it.load, Measure::of(it.judged_by)));
    let of_programs = findings.programs.iter().map(|it| (&it.id, &it.title, &it.runs, Measure::WallTime));
    let scenario = |(id, title, load, measure): (&String, &String, &String, Measure)| {
        // If the second halves of A/A pairs take turns, they are not cases to follow.
        let planned = |case: &Case| plan.trials.iter().filter(|trial| trial.case == case.id).count();
        let is_always_in = |case: &&Case| case.twin_of.is_none() || planned(case) == plan.blocks as usize;
        let cases = plan.cases.iter().filter(|case| case.scenario == *id).filter(is_always_in);
        let rows = cases.map(|case| Row::of(case, analysed, known)).collect();
        let competing = plan.cases.iter().filter(|case| case.scenario == *id && case.competes());
        let contenders = competing.map(|case| contender(case, analysed, known));
        let standing = is_running.then(|| Standing::of(measure, contenders.collect()));
        let [id, title, load] = [id, title, load].map(Clone::clone);
        Scenario { id, title, load, is_of_programs: measure == Measure::WallTime, rows, standing }
    };
    of_servers.chain(of_programs).map(scenario).collect()
}

fn contender<'a>(case: &'a Case, analysed: &'a Analysed, known: &BTreeMap<&str, Known<'_>>) -> Contender<'a> {
    let Row { marker, class, title, planned, .. } = Row::of(case, analysed, known);
    let trials = analysed.stored.trials.iter().filter(|trial| trial.case == case.id).collect();
    Contender { case: &case.id, marker, class, title, planned, trials }
}

impl Row {
    fn of(case: &Case, analysed: &Analysed, known: &BTreeMap<&str, Known<'_>>) -> Self {
        let stored = &analysed.stored;
        let found = known.get(case.id.as_str());
        // The second half of an A/A pair is not a case in the findings.
        let named = found.or_else(|| known.get(case.twin_of.as_deref()?));
        let title = named.map_or(case.subject.label.as_str(), |named| named.title);
        let runtime = named.map_or("", |named| named.runtime);
        let trials: Vec<&TrialRecord> = stored.trials.iter().filter(|trial| trial.case == case.id).collect();
        let is_failed = |trial: &&&TrialRecord| matches!(trial.outcome, Outcome::Failed(_));
        Self {
            case: case.id.clone(),
            marker: marker(runtime),
            class: format!("r-{}", if runtime.is_empty() { "other" } else { runtime }),
            title: match (case.role, &case.twin_of) {
                (Role::Ceiling, _) => format!("ceiling: {title}"),
                (_, Some(_)) => format!("{title}, entered twice"),
                _ => title.to_owned(),
            },
            done: trials.len(),
            planned: stored.plan.trials.iter().filter(|trial| trial.case == case.id).count(),
            failed: trials.iter().filter(is_failed).count(),
            median: found.and_then(|found| found.median.clone()).unwrap_or_else(|| NONE.to_owned()),
            p99: found.and_then(|found| found.p99.clone()).unwrap_or_else(|| NONE.to_owned()),
            trials: for_script(&trials),
        }
    }
}

/// `[[3,34210.5,0.0049],[17,null,null]]`: number, goodput and p99 of each trial.
fn for_script(trials: &[&TrialRecord]) -> String {
    let figures = |trial: &&TrialRecord| {
        // No figure includes disturbed trials.
        let measured = match &trial.outcome {
            Outcome::Completed(measured) if measured.disturbances.is_empty() => measured,
            _ => return (trial.number, None, None),
        };
        let p99 = measured.latency.percentiles.iter().find(|percentile| percentile.quantile == 0.99);
        (trial.number, Some(measured.goodput_rps), p99.and_then(|p99| p99.latency_s))
    };
    serde_json::to_string(&trials.iter().map(figures).collect::<Vec<_>>()).unwrap_or_default()
}
