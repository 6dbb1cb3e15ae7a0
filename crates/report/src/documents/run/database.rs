//! The figures of a scenario's database: its tables, a narrow one for a terminal, and the outage in words.

use tolok_analysis::figures::{NONE, Quantity, amount, count, counted, in_column, listed, small_share};
use tolok_analysis::{CaseFinding, DatabaseUse, Estimate, LinkUse, OutageFinding, PoolUse, ScenarioFinding};

use super::columns::{Filled, falling, named, of_cases, with_ceiling};
use super::muted;
use super::surroundings::{cases, cpus};
use crate::document::{Block, Cell, Column, Depth, Look, Table, Text};

const MICROS: f64 = 1e6;
const MIB: f64 = 1024.0 * 1024.0;

const DATA: [Filled<CaseFinding>; 8] = [
    ("rows/s", |case| number(&of(case)?.rows_per_s)),
    ("bodies, MiB/s", |case| scaled(case.body_bytes_per_s.as_ref(), 1.0 / MIB)),
    ("subject’s CPU, µs a row", |case| scaled(of(case)?.subject_cpu_s_per_row.as_ref(), MICROS)),
    ("subject’s memory, most in the window, MiB", |case| scaled(case.shown_memory_bytes(), 1.0 / MIB)),
    ("its peak with page cache, MiB", |case| case.resources.peak_bytes.map(|bytes| in_column(bytes / MIB))),
    ("pool", |case| Some(count(u64::from(pool(case)?.size)))),
    ("waits for a connection, for each response", |case| pool(case)?.waits_per_good.map(in_column)),
    ("mean wait", |case| pool(case)?.wait_s_mean.map(|wait_s| amount(Quantity::Seconds, wait_s))),
];

const SERVER: [Filled<CaseFinding>; 11] = [
    ("CPU, µs per response", |case| scaled(of(case)?.cpu_s_per_good.as_ref(), MICROS)),
    ("CPU, µs a row", |case| scaled(of(case)?.cpu_s_per_row.as_ref(), MICROS)),
    ("of its CPUs", |case| of(case)?.busy.map(small_share)),
    ("memory / peak, MiB", |case| {
        pair(
            scaled(of(case)?.memory_bytes.as_ref(), 1.0 / MIB),
            of(case)?.peak_bytes.map(|bytes| in_column(bytes / MIB)),
        )
    }),
    ("statements/s", |case| of(case)?.queries_per_s.map(|queries| amount(Quantity::Number, queries))),
    ("statements a response", |case| of(case)?.queries_per_good.map(in_column)),
    ("sent, MiB/s", |case| of(case)?.sent_bytes_per_s.map(|bytes| in_column(bytes / MIB))),
    ("connections: most / opened", |case| {
        pair(of(case)?.connections_max.map(count), of(case)?.connections_opened.map(in_column))
    }),
    ("running threads: mean / most", |case| {
        pair(of(case)?.running_mean.map(in_column), of(case)?.running_max.map(count))
    }),
    ("refused, most in a trial", |case| of(case)?.refused_connections.map(count)),
    ("its link late: mean / most", |case| of(case)?.link.as_ref().map(lateness)),
];

const COUNTER: [Filled<CaseFinding>; 5] = [
    ("trials", |case| Some(count(u64::from(of(case)?.counter.as_ref()?.trials)))),
    ("wrong", |case| Some(count(u64::from(of(case)?.counter.as_ref()?.wrong)))),
    ("increments asked for at once", |case| Some(count(of(case)?.counter.as_ref()?.asked))),
    ("it grew by", |case| Some(count(of(case)?.counter.as_ref()?.grew))),
    ("wrong answers", |case| Some(count(of(case)?.counter.as_ref()?.wrong_answers))),
];

const OUTAGE: [Filled<CaseFinding>; 8] = [
    ("trials", |case| Some(count(u64::from(outage(case)?.trials)))),
    ("gone at", |case| Some(amount(Quantity::Seconds, outage(case)?.gone_at_s))),
    ("back at", |case| outage(case).map(|it| or_never(it.back_at_s, it.never_back, it.trials))),
    ("first 5xx after it was gone", |case| {
        outage(case).map(|it| or_never(it.first_error_after_s, it.never_answered_error, it.trials))
    }),
    ("status", |case| Some(statuses(outage(case)?)).filter(|statuses| !statuses.is_empty())),
    ("longest silence, median", |case| Some(amount(Quantity::Seconds, outage(case)?.longest_silence_s))),
    ("in the worst trial", |case| Some(amount(Quantity::Seconds, outage(case)?.longest_silence_s_max))),
    ("recovered after it was back", |case| {
        outage(case).map(|it| or_never(it.recovered_after_s, it.never_recovered, it.trials))
    }),
];

/// The figures of a scenario's database, and the effect of its outage on the subjects.
pub(crate) fn blocks(scenario: &ScenarioFinding, depth: Depth) -> Vec<Block> {
    if depth == Depth::Short {
        return short(scenario);
    }
    let mut blocks = tables(scenario);
    let failing = failing(scenario).into_iter().map(|text| Text::of(text, Look::Warning)).collect();
    blocks.extend(Block::list(failing));
    blocks
}

/// All tables of a scenario that uses a database.
fn tables(scenario: &ScenarioFinding) -> Vec<Block> {
    let has = |what: fn(&CaseFinding) -> bool| cases(scenario).any(what);
    if scenario.database.is_none() || !has(|case| of(case).is_some()) {
        return Vec::new();
    }
    let counter = has(|case| of(case).is_some_and(|it| it.counter.is_some()));
    let tables = [
        of_cases("Rows, bytes, memory, pool", scenario, &DATA),
        of_cases("The database meanwhile", scenario, &SERVER),
        of_cases("The counter, over all measured trials", scenario, &COUNTER).filter(|_| counter),
        of_cases("The database taken away", scenario, &OUTAGE).filter(|_| has(|case| outage(case).is_some())),
    ];
    tables.into_iter().flatten().collect()
}

/// A column of the short table, its cell, and its meaning if the heading does not explain it.
type Short = (&'static str, fn(&CaseFinding) -> Option<String>, &'static str);

/// The most important first.
const SHORT: [Short; 10] = [
    ("rows/s", |case| number(&of(case)?.rows_per_s), "rows in correct responses"),
    ("MiB/s", |case| scaled(case.body_bytes_per_s.as_ref(), 1.0 / MIB), "MiB of their bodies"),
    ("µs/row", |case| scaled(of(case)?.subject_cpu_s_per_row.as_ref(), MICROS), "µs/row: CPU of the subject"),
    ("db µs/row", |case| scaled(of(case)?.cpu_s_per_row.as_ref(), MICROS), "db: of the database"),
    ("db µs", |case| scaled(of(case)?.cpu_s_per_good.as_ref(), MICROS), "db µs: of the database, for each response"),
    (
        "peak MiB",
        |case| case.resources.peak_bytes.map(|bytes| in_column(bytes / MIB)),
        "peak: most memory since the start, page cache included",
    ),
    ("db MiB", |case| scaled(of(case)?.memory_bytes.as_ref(), 1.0 / MIB), "db MiB: anonymous + kernel"),
    ("statements", |case| of(case)?.queries_per_good.map(in_column), "statements: for each response"),
    ("running", |case| of(case)?.running_mean.map(in_column), "running: threads with a statement, mean"),
    ("waits", |case| pool(case)?.waits_per_good.map(in_column), "waits: for a connection, for each response"),
];

/// One table, whose last columns are dropped first, and the outage in words.
fn short(scenario: &ScenarioFinding) -> Vec<Block> {
    let is_known =
        |(_, cell, _): &&Short| scenario.database.is_some() && cases(scenario).any(|case| cell(case).is_some());
    let shown: Vec<&Short> = SHORT.iter().filter(is_known).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let column = |(place, (heading, _, meaning)): (usize, &&Short)| {
        Column::numbers(*heading).meaning(*meaning).priority(falling(place))
    };
    let row = |(case, is_ceiling): (&CaseFinding, bool)| {
        let mut row = named(&case.title, &case.runtime, is_ceiling);
        let cells = shown.iter().map(|(_, cell, _)| Cell::from(cell(case).unwrap_or_else(|| NONE.to_owned())));
        row.cells.extend(cells);
        row
    };
    let mut blocks = vec![Block::Table(Table::of(
        format!("The database of {}", scenario.id),
        std::iter::once(Column::words("subject")).chain(shown.iter().enumerate().map(column)).collect(),
        with_ceiling(scenario).map(row).collect(),
    ))];
    if let Some(gone) = gone(scenario) {
        let look = |is_failing| if is_failing { Look::Warning } else { Look::Plain };
        blocks.extend(muted(gone));
        let items = outage_lines(scenario).into_iter().map(|(line, is_failing)| Text::of(line, look(is_failing)));
        blocks.extend(Block::list(items.collect()));
    }
    blocks
}

/// How each subject handled an outage, in a line, and whether it failed a requirement.
fn outage_lines(scenario: &ScenarioFinding) -> Vec<(String, bool)> {
    let line = |case: &CaseFinding| {
        let outage = outage(case)?;
        let silence = amount(Quantity::Seconds, outage.longest_silence_s);
        let error = outage.first_error_after_s.map(|after_s| {
            format!("first answered {} {} after it was gone", statuses(outage), amount(Quantity::Seconds, after_s))
        });
        let recovered = outage.recovered_after_s.map(|after_s| {
            format!("gave correct responses again {} after it was back", amount(Quantity::Seconds, after_s))
        });
        let said = [error, Some(format!("was silent for up to {silence}")), recovered, outage.failing.clone()];
        let said: Vec<String> = said.into_iter().flatten().collect();
        Some((format!("{}: {}", case.title, said.join("; ")), outage.failing.is_some()))
    };
    scenario.cases.iter().filter_map(line).collect()
}

/// Requirements that the subjects failed in an outage, a sentence each.
fn failing(scenario: &ScenarioFinding) -> Vec<String> {
    let sentence = |case: &CaseFinding| Some(format!("{} {}.", case.title, outage(case)?.failing.as_ref()?));
    scenario.cases.iter().filter_map(sentence).collect()
}

/// When the database was down, in the median trial of any case.
fn gone(scenario: &ScenarioFinding) -> Option<String> {
    let outage = scenario.cases.iter().find_map(outage)?;
    let seconds = |seconds: f64| amount(Quantity::Seconds, seconds);
    let back = outage.back_at_s.map_or("and did not come back".to_owned(), |at| format!("back at {}", seconds(at)));
    Some(format!(
        "The database was gone at {}, {back}; medians over {}",
        seconds(outage.gone_at_s),
        counted(u64::from(outage.trials), "round")
    ))
}

/// `database: MariaDB, on CPU 1 like the generator · pool of 16 · version 10.11.19-MariaDB`
pub(crate) fn words(scenario: &ScenarioFinding) -> Option<String> {
    let database = scenario.database.as_ref()?;
    let (engine, rest) = database.words.split_once(" · ").unwrap_or((&database.words, ""));
    let like = match database.shares_cpus_with.as_slice() {
        [] => String::new(),
        others => format!(" like the {}", listed(others, "and the")),
    };
    let on =
        if database.on_cpus.is_empty() { String::new() } else { format!(", on {}{like}", cpus(&database.on_cpus)) };
    let version = (!database.versions.is_empty()).then(|| format!("version {}", listed(&database.versions, "or")));
    let parts =
        [Some(format!("database: {engine}{on}")), Some(rest.to_owned()).filter(|rest| !rest.is_empty()), version];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

fn of(case: &CaseFinding) -> Option<&DatabaseUse> {
    case.database.as_ref()
}

fn pool(case: &CaseFinding) -> Option<PoolUse> {
    of(case)?.pool
}

fn outage(case: &CaseFinding) -> Option<&OutageFinding> {
    of(case)?.outage.as_ref()
}

fn statuses(outage: &OutageFinding) -> String {
    let statuses: Vec<String> = outage.error_statuses.iter().map(u16::to_string).collect();
    listed(&statuses, "or")
}

/// A time, and the number of trials that never reached it.
fn or_never(after_s: Option<f64>, never: u32, trials: u32) -> String {
    match after_s.map(|after_s| amount(Quantity::Seconds, after_s)) {
        None => "never".to_owned(),
        Some(after) if never == 0 => after,
        Some(after) => format!("{after}; never in {never} of {trials}"),
    }
}

/// Two figures in one cell; `None` if both are missing.
fn pair(left: Option<String>, right: Option<String>) -> Option<String> {
    let is_any = left.is_some() || right.is_some();
    let [left, right] = [left, right].map(|figure| figure.unwrap_or_else(|| NONE.to_owned()));
    is_any.then(|| format!("{left} / {right}"))
}

/// The worse of the two directions.
fn lateness(link: &LinkUse) -> String {
    let worst = |of: fn(&tolok_analysis::LinkDirectionUse) -> f64| {
        amount(Quantity::Seconds, link.directions().into_iter().map(of).fold(0.0, f64::max))
    };
    format!("{} / {}", worst(|it| it.lateness_s_mean), worst(|it| it.lateness_s_max))
}

fn scaled(estimate: Option<&Estimate>, unit: f64) -> Option<String> {
    estimate.map(|estimate| in_column(estimate.value * unit))
}

fn number(estimate: &Option<Estimate>) -> Option<String> {
    estimate.as_ref().map(|estimate| amount(Quantity::Number, estimate.value))
}
