//! Programs in the shape that the page's template reads.

use serde::Serialize;
use tolok_analysis::figures::{Figure, Quantity, amount, figure};
use tolok_analysis::{Findings, ProgramComparison, ProgramFinding, ProgramSeries, TimeComparison, TimersFinding};

use super::{
    Grid, RULE, Row, Table, facts, heading, series_grids, series_heading, timers_grid, timers_heading, trials,
};
use crate::documents::run::judgement::{Sureness, p_words, simultaneous};
use crate::palette::marker;
use crate::svg::{self, Time};

/// Everything of programs.
#[derive(Serialize)]
pub(crate) struct Programs<'a> {
    rule: &'static str,
    scenarios: Vec<Scenario<'a>>,
    /// How sure they are, side by side.
    sureness: Option<Sureness>,
    series: Vec<Series<'a>>,
    timers: Vec<Timers<'a>>,
    /// Whether any two cases were compared.
    compared: bool,
}

#[derive(Serialize)]
struct Scenario<'a> {
    id: &'a str,
    title: String,
    facts: String,
    verdict: &'a str,
    has_floor: bool,
    is_compared: bool,
    legend: String,
    rows: Vec<Line>,
    notes: Vec<String>,
    pairs: Vec<Pair>,
}

/// A case in the table.
#[derive(Serialize)]
struct Line {
    marker: String,
    title: String,
    subject: String,
    notes: Vec<usize>,
    wall: WithInterval,
    against_first: WithInterval,
    verdict: &'static str,
    tier: String,
    above_floor: WithInterval,
    cpu: String,
    busy: String,
    memory_mib: String,
    floor: String,
    runs: String,
    range: String,
    trials: String,
}

#[derive(Serialize)]
struct WithInterval {
    value: String,
    interval: String,
}

#[derive(Serialize)]
struct Pair {
    a: String,
    b: String,
    wall: [String; 5],
    above: [String; 5],
}

#[derive(Serialize)]
struct Series<'a> {
    title: String,
    charts: Vec<String>,
    grids: Vec<Grid>,
    crossovers: Vec<&'a str>,
}

#[derive(Serialize)]
struct Timers<'a> {
    title: String,
    grid: Grid,
    notes: &'a [String],
}

impl<'a> Programs<'a> {
    /// None where no program was timed.
    pub(crate) fn of(findings: &'a Findings) -> Option<Self> {
        (!findings.programs.is_empty()).then(|| Self {
            rule: RULE,
            scenarios: findings.programs.iter().map(Scenario::of).collect(),
            sureness: Sureness::of_programs(&findings.programs),
            series: findings.program_series.iter().map(Series::of).collect(),
            timers: findings.timers.iter().map(Timers::of).collect(),
            compared: findings.programs.iter().any(|program| !program.comparisons.is_empty()),
        })
    }
}

impl<'a> Scenario<'a> {
    fn of(program: &'a ProgramFinding) -> Self {
        let table = Table::of(program);
        let title = |subject: &str| {
            let case = program.cases.iter().find(|case| case.subject == subject);
            case.map_or(subject, |case| case.title.as_str()).to_owned()
        };
        let pair = |pair: &ProgramComparison| Pair {
            a: title(&pair.a),
            b: title(&pair.b),
            wall: compared(Some(&pair.wall)),
            above: compared(pair.above_floor.as_ref()),
        };
        Self {
            id: &program.id,
            title: heading(program),
            facts: facts(program),
            verdict: &program.verdict,
            has_floor: table.has_floor,
            is_compared: table.is_compared(),
            legend: table.legend().join(" · "),
            notes: table.notes.numbered().map(|(_, note)| note).collect(),
            rows: table.rows.into_iter().map(Line::of).collect(),
            pairs: program.comparisons.iter().map(pair).collect(),
        }
    }
}

/// Ratio, interval for all pairs, adjusted p, blocks and verdict of two times.
fn compared(comparison: Option<&TimeComparison>) -> [String; 5] {
    let Some(comparison) = comparison else { return ["–", "–", "–", "–", ""].map(str::to_owned) };
    let ratio = match comparison.ratio.low {
        Some(_) => figure(Quantity::Ratio, &comparison.ratio).line(),
        None => amount(Quantity::Ratio, comparison.ratio.value),
    };
    let blocks = format!("{} of {}", comparison.blocks_won, comparison.blocks);
    let of_all = simultaneous(&comparison.ratio, comparison.simultaneous_low, comparison.simultaneous_high);
    [ratio, of_all, p_words(comparison.p_adjusted), blocks, comparison.verdict.words().to_owned()]
}

impl Line {
    fn of(row: Row) -> Self {
        let case = row.case;
        Self {
            marker: marker(&case.runtime),
            title: case.title.clone(),
            subject: case.subject.clone(),
            notes: row.notes,
            wall: row.wall.into(),
            against_first: row.against_first.into(),
            verdict: case.against_first.map(tolok_analysis::Verdict::words).unwrap_or_default(),
            tier: row.tier,
            above_floor: row.above_floor.into(),
            cpu: row.cpu,
            busy: row.busy,
            memory_mib: row.memory_mib,
            floor: row.floor,
            runs: row.runs,
            range: row.range,
            trials: trials(case),
        }
    }
}

impl From<Figure> for WithInterval {
    fn from(figure: Figure) -> Self {
        Self { value: figure.value, interval: figure.interval.unwrap_or_default() }
    }
}

impl<'a> Series<'a> {
    fn of(series: &'a ProgramSeries) -> Self {
        let charts = [Time::Wall, Time::AboveFloor].into_iter().filter_map(|time| svg::series(series, time));
        Self {
            title: series_heading(series),
            charts: charts.collect(),
            grids: series_grids(series),
            crossovers: series.crossovers.iter().map(|crossover| crossover.sentence.as_str()).collect(),
        }
    }
}

impl<'a> Timers<'a> {
    fn of(timers: &'a TimersFinding) -> Self {
        Self { title: timers_heading(timers), grid: timers_grid(timers), notes: &timers.notes }
    }
}
