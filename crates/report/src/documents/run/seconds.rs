//! What happened in each second.

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount, counted};
use tolok_analysis::{Band, CaseFinding, Findings, ScenarioFinding, SecondsFinding};

use crate::documents::run::sections::{is_of_tools, sections};
use crate::documents::run::surroundings::heading;
use crate::markdown::{escaped, lines};
use crate::svg::{self, Part, Scales};

/// Scenarios whose charts are not folded away.
const SHOWN: usize = 3;
/// More subjects than this are not drawn in one scenario.
const MOST_CASES: usize = 12;
/// Of a scenario, or of all, without two whole seconds.
const TOO_SHORT: &str = "a window of less than two whole seconds shows nothing second by second, and a load tool that tells \
                         totals alone shows nothing either. Ask for longer windows (the duration of the scenario’s load: 10 s \
                         or more), and measure with tolok’s own tool.";

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Seconds {
    /// Scenarios that are shown at once.
    shown: Vec<Scenario>,
    folded: Vec<Scenario>,
    has_warm_up: bool,
    /// What the chart of the long tail shows; none where no subject has one.
    tail: Option<String>,
    /// What is drawn beside the subject, as a piece of its line and in words.
    parts: Vec<(String, &'static str)>,
    /// That there is nothing to show of some scenarios or of all, and what to do.
    missing: Option<String>,
}

/// The columns of a scenario.
#[derive(Serialize)]
struct Scenario {
    title: String,
    load: String,
    id: String,
    columns: Vec<String>,
    /// That not all of its subjects are drawn.
    left_out: Option<String>,
}

impl Seconds {
    /// The section; none where no trial was scored.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        let sections = sections(findings);
        let all: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).filter(|it| !is_of_tools(it)).collect();
        let measured: Vec<&ScenarioFinding> = all.into_iter().filter(|it| is_measured(it)).collect();
        let mut shown: Vec<Scenario> = measured.iter().filter_map(|scenario| Scenario::of(scenario)).collect();
        let missing = missing(&measured, shown.len());
        let folded = shown.split_off(SHOWN.min(shown.len()));
        let any =
            |is: &dyn Fn(&SecondsFinding) -> bool| measured.iter().any(|it| cases(it).any(|(_, seconds)| is(seconds)));
        let parts = [
            any(&|it| !it.generator_cpus.is_empty())
                .then(|| (svg::stroke(Part::Generator.class()), "CPU of the generator")),
            any(&|it| !it.database_cpus.is_empty())
                .then(|| (svg::stroke(Part::Database.class()), "the database: its CPU and its memory")),
            any(&|it| !it.failed_rps.is_empty())
                .then(|| (svg::stroke(Part::Failed.class()), "failed requests/s, below the good")),
        ];
        (!measured.is_empty()).then(|| Self {
            shown,
            folded,
            has_warm_up: any(&|it| it.start_s.iter().any(|start_s| *start_s < 0.0)),
            tail: about_tails(&measured),
            parts: parts.into_iter().flatten().collect(),
            missing,
        })
    }
}

/// How long the spans are, and why a second is none.
fn about_tails(measured: &[&ScenarioFinding]) -> Option<String> {
    let spans = measured.iter().flat_map(|it| cases(it)).filter_map(|(_, seconds)| Some(seconds.tail.as_ref()?.span_s));
    let (shortest, longest) = spans.clone().reduce(f64::min).zip(spans.reduce(f64::max))?;
    let long = if shortest < longest { format!("{shortest} to {longest}") } else { format!("{longest}") };
    Some(format!("p99.9 over time is that of spans of {long} s, as short as each has 10,000 answers."))
}

fn is_measured(scenario: &ScenarioFinding) -> bool {
    scenario.cases.iter().any(|case| case.trials_scored > 0)
}

/// In words, how many scenarios have no seconds; none if all have.
fn missing(measured: &[&ScenarioFinding], shown: usize) -> Option<String> {
    match measured.len() - shown {
        0 => None,
        _ if shown == 0 => Some(format!("Nothing to show: {TOO_SHORT}")),
        number => Some(format!("Of {} nothing is shown: {TOO_SHORT}", counted(number as u64, "scenario"))),
    }
}

/// The cases that have seconds.
fn cases(scenario: &ScenarioFinding) -> impl Iterator<Item = (&CaseFinding, &SecondsFinding)> + Clone {
    scenario.cases.iter().filter_map(|case| Some((case, case.seconds.as_ref()?)))
}

/// The chart of each case that is drawn, on the same scales.
pub(crate) fn charts(scenario: &ScenarioFinding) -> Vec<(&CaseFinding, String)> {
    let scales = Scales::of(cases(scenario).map(|(_, seconds)| seconds));
    let drawn = cases(scenario).take(MOST_CASES);
    drawn.map(|(case, seconds)| (case, svg::seconds(case, seconds, &scales))).collect()
}

impl Scenario {
    fn of(scenario: &ScenarioFinding) -> Option<Self> {
        let number = cases(scenario).count();
        (number > 0).then(|| Self {
            title: heading(scenario),
            load: scenario.load.clone(),
            id: scenario.id.clone(),
            columns: charts(scenario).into_iter().map(|(_, chart)| chart).collect(),
            left_out: (number > MOST_CASES)
                .then(|| format!("{} more are not drawn.", counted((number - MOST_CASES) as u64, "subject"))),
        })
    }
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show. A table of every second would be
/// too long to read, so there is only what a reader looks for in the charts.
pub(crate) fn markdown(findings: &Findings) -> String {
    let sections = sections(findings);
    let mut rows: Vec<Vec<String>> = sections
        .iter()
        .filter(|section| !is_of_tools(section))
        .flat_map(|section| cases(section).map(|(case, seconds)| row(section, case, seconds)).collect::<Vec<_>>())
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let measured: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).filter(|it| !is_of_tools(it)).collect();
    let tail = about_tails(&measured);
    let mut headings = vec!["scenario", "subject", "good answers in a second", "CPUs busy", "memory"];
    headings.extend(tail.is_some().then_some("p99.9 of a span"));
    rows.iter_mut().for_each(|row| row.truncate(headings.len()));
    let about = tail.map(|tail| format!(" {tail}")).unwrap_or_default();
    format!(
        "\n## Second by second\n\nLowest and highest second of the window, each the median of the trials.{about}\n\n{}",
        lines(&headings, &rows, 0)
    )
}

fn row(scenario: &ScenarioFinding, case: &CaseFinding, seconds: &SecondsFinding) -> Vec<String> {
    let range = |quantity: Quantity, bands: &[Band]| {
        let window = seconds.start_s.iter().zip(bands).filter(|(start_s, _)| **start_s >= 0.0);
        ends(quantity, window.map(|(_, band)| band))
    };
    let tail =
        seconds.tail.as_ref().map_or(NONE.to_owned(), |tail| ends(Quantity::Seconds, tail.latency_p999_s.iter()));
    vec![
        format!("`{}`", scenario.id),
        escaped(&case.title),
        range(Quantity::Number, &seconds.good_rps),
        range(Quantity::Number, &seconds.subject_cpus),
        range(Quantity::Bytes, &seconds.subject_memory_bytes),
        tail,
    ]
}

/// `0.9 ms to 1.2 ms`
fn ends<'a>(quantity: Quantity, bands: impl Iterator<Item = &'a Band> + Clone) -> String {
    let values = || bands.clone().filter_map(|band| band.value);
    let ends = values().reduce(f64::min).zip(values().reduce(f64::max));
    ends.map_or(NONE.to_owned(), |(low, high)| {
        let [low, high] = [low, high].map(|value| amount(quantity, value));
        if low == high { low } else { format!("{low} to {high}") }
    })
}
