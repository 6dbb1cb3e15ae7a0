//! What stands behind the headline figures: tables of resources, links and diagnoses, shared by HTML and Markdown.
//!
//! A column in which no case has anything is left out, and so is a table without columns.

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount, count, counted, in_column, small_share};
use tolok_analysis::{CaseFinding, DiagnosisFinding, LinkDirectionUse, LinkUse, ResourcesFinding, ScenarioFinding};

use crate::documents::run::gates;
use crate::documents::run::surroundings::cases;
use crate::palette::marker;
use crate::printable::printable;

const MICROS: f64 = 1e6;
const MIB: f64 = 1024.0 * 1024.0;

/// A table of cases.
#[derive(Debug, Serialize)]
pub(crate) struct Grid {
    pub(crate) title: &'static str,
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Line>,
}

/// A case in it.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    /// Its runtime's marker, as a drawing.
    marker: String,
    pub(crate) title: String,
    pub(crate) is_ceiling: bool,
    pub(crate) cells: Vec<String>,
}

/// A column: its heading, and what stands in it for a case.
pub(crate) type Column<T> = (&'static str, fn(&T) -> Option<String>);

const CPU: [Column<CaseFinding>; 9] = [
    ("user, µs", |case| scaled(case.resources.user_s_per_good, MICROS)),
    ("system, µs", |case| scaled(case.resources.system_s_per_good, MICROS)),
    ("waited for a CPU, µs", |case| scaled(case.resources.run_queue_wait_s_per_good, MICROS)),
    ("timeslices", |case| scaled(case.resources.timeslices_per_good, 1.0)),
    ("context switches", |case| scaled(case.resources.context_switches_per_good, 1.0)),
    ("migrations, per 1,000", |case| scaled(case.resources.migrations_per_good, 1e3)),
    ("page faults, per 1,000", |case| scaled(case.resources.page_faults_per_good, 1e3)),
    ("throttled periods", |case| throttled(&case.resources)),
    ("stopped by the quota, in all", |case| Some(amount(Quantity::Seconds, case.resources.throttling?.throttled_s))),
];

const MEMORY: [Column<CaseFinding>; 5] = [
    ("anonymous + kernel, MiB", |case| scaled(case.resources.anonymous_and_kernel_bytes, 1.0 / MIB)),
    ("PSS, MiB", |case| scaled(case.resources.pss_bytes, 1.0 / MIB)),
    ("sum of RSS, MiB", |case| scaled(case.resources.rss_sum_bytes, 1.0 / MIB)),
    ("peak with page cache, MiB", |case| scaled(case.resources.peak_bytes, 1.0 / MIB)),
    ("peak of the limit", |case| case.resources.peak_of_limit.map(small_share)),
];

const TRAFFIC: [Column<CaseFinding>; 4] = [
    ("received, bytes", |case| scaled(case.resources.received_bytes_per_good, 1.0)),
    ("sent, bytes", |case| scaled(case.resources.sent_bytes_per_good, 1.0)),
    ("read from disks, bytes", |case| scaled(case.resources.disk_read_bytes_per_good, 1.0)),
    ("written to disks, bytes", |case| scaled(case.resources.disk_written_bytes_per_good, 1.0)),
];

const MACHINE: [Column<CaseFinding>; 7] = [
    ("used by others", |case| case.foreign_busy.map(small_share)),
    ("taken by the hypervisor", |case| case.stolen.map(small_share)),
    ("CPU pressure", |case| case.resources.cpu_pressure.map(small_share)),
    ("memory pressure", |case| case.resources.memory_pressure.map(small_share)),
    ("disk pressure", |case| case.resources.io_pressure.map(small_share)),
    ("tasks that could run at once", |case| scaled(case.resources.runnable_max, 1.0)),
    ("CPU clock, GHz", |case| clock(&case.resources)),
];

const LINK: [Column<CaseFinding>; 10] = [
    ("to subject: packets", |case| Some(count(case.link.as_ref()?.to_subject.packets))),
    ("to subject: of the rate", |case| case.link.as_ref()?.to_subject.rate_offered.map(small_share)),
    ("to client: packets", |case| Some(count(case.link.as_ref()?.to_client.packets))),
    ("to client: of the rate", |case| case.link.as_ref()?.to_client.rate_offered.map(small_share)),
    ("dropped, queue full", |case| Some(both(case, |it| it.dropped_queue))),
    ("lost as asked", |case| Some(both(case, |it| it.dropped_loss)).filter(|_| case.link.is_some())),
    ("late, on average", |case| Some(latest(case.link.as_ref()?, |it| it.lateness_s_mean))),
    ("late, at most", |case| Some(latest(case.link.as_ref()?, |it| it.lateness_s_max))),
    ("emulator’s CPU", |case| case.link.as_ref()?.emulator_busy.map(small_share)),
    ("real-time priority", |case| Some(if case.link.as_ref()?.realtime { "yes" } else { "no" }.to_owned())),
];

const DIAGNOSIS: [Column<DiagnosisFinding>; 10] = [
    ("speed while counted", |it| it.of_scored.map(|share| amount(Quantity::Ratio, share))),
    ("instructions", |it| number(it.instructions_per_good)),
    ("cycles", |it| number(it.cycles_per_good)),
    ("instructions per cycle", |it| scaled(it.instructions_per_cycle, 1.0)),
    ("branch misses", |it| number(it.branch_misses_per_good)),
    ("cache misses", |it| number(it.cache_misses_per_good)),
    ("system calls", |it| number(it.syscalls_per_good)),
    ("garbage collections, in all", |it| it.collections.map(count)),
    ("stopped by them, of the time", |it| it.pause_share.map(small_share)),
    ("longest stop", |it| it.pause_s_max.map(|pause_s| amount(Quantity::Seconds, pause_s))),
];

/// What the subjects of a scenario used.
pub(crate) fn resources(scenario: &ScenarioFinding) -> Vec<Grid> {
    let tables = [
        grid("CPU time and scheduling, for each good answer", scenario, &CPU),
        grid("Memory", scenario, &MEMORY),
        grid("Network and disks, for each good answer", scenario, &TRAFFIC),
        grid("The whole machine meanwhile", scenario, &MACHINE),
        gates::demands(scenario),
    ];
    tables.into_iter().flatten().collect()
}

/// Where the CPU time of a scenario was read, and what pressure is.
pub(crate) fn sources(scenario: &ScenarioFinding) -> String {
    let has = |word: &str| cases(scenario).any(|case| case.resources.cpu_source.as_deref() == Some(word));
    let cpu = match (has("group"), has("threads"), has("both")) {
        (true, false, false) => "CPU time was read from control groups, which lose nothing.",
        (false, true, false) => "CPU time was summed over threads: what short-lived processes used is lost.",
        (false, false, false) => "No CPU time was read.",
        _ => {
            "CPU time was read from control groups in some trials, and summed over threads in others, which lose some."
        }
    };
    // What is sent over a loopback is received on it as well.
    let over_loopback = scenario.link.is_none() && cases(scenario).any(|it| it.resources.sent_bytes_per_good.is_some());
    let both = if over_loopback { " Over the loopback, bytes received and sent are those of both ends." } else { "" };
    format!("{cpu}{both} Pressure is the share of the window in which some task of the machine waited.")
}

/// How the emulated link did for each case.
pub(crate) fn link(scenario: &ScenarioFinding) -> Option<Grid> {
    let is_emulated = cases(scenario).any(|case| case.link.is_some());
    grid("The link, over all scored trials", scenario, &LINK).filter(|_| is_emulated)
}

/// What was counted in unscored trials.
pub(crate) fn diagnosis(scenario: &ScenarioFinding) -> Option<Grid> {
    let counted: Vec<&DiagnosisFinding> =
        scenario.unscored_diagnoses.iter().filter(|diagnosis| diagnosis.failure.is_none()).collect();
    let runtime = |diagnosis: &DiagnosisFinding| {
        cases(scenario).find(|case| case.case == diagnosis.case).map_or("", |case| case.runtime.as_str())
    };
    let heads: Vec<(String, String, bool)> =
        counted.iter().map(|it| (marker(runtime(it)), it.title.clone(), false)).collect();
    filled("Unscored, for each good answer", heads, &counted, &DIAGNOSIS)
}

/// What could not be diagnosed, a sentence each.
pub(crate) fn undiagnosed(scenario: &ScenarioFinding) -> Vec<String> {
    let sentence = |title: &str, text: &str| format!("{title}: {}", printable(text));
    let of = |diagnosis: &DiagnosisFinding| {
        let lacks = diagnosis.failure.iter().chain(&diagnosis.unavailable);
        lacks.map(|text| sentence(&diagnosis.title, text)).collect::<Vec<_>>()
    };
    scenario.unscored_diagnoses.iter().flat_map(of).collect()
}

/// A diagnosis in a line, for a terminal.
pub(crate) fn diagnosis_line(diagnosis: &DiagnosisFinding) -> String {
    if let Some(failure) = &diagnosis.failure {
        return format!("{}: {}", diagnosis.title, printable(failure));
    }
    let per_answer = [(diagnosis.instructions_per_good, "instructions"), (diagnosis.syscalls_per_good, "system calls")];
    let mut parts: Vec<String> =
        per_answer.iter().filter_map(|(value, noun)| Some(format!("{} {noun}", number(*value)?))).collect();
    parts.extend(diagnosis.instructions_per_cycle.map(|it| format!("{} instructions per cycle", in_column(it))));
    parts.extend(diagnosis.collections.map(|collections| {
        let share = diagnosis.pause_share.map(|share| format!(" ({} of the time)", small_share(share)));
        format!("{}{}", counted(collections, "garbage collection"), share.unwrap_or_default())
    }));
    parts.extend(diagnosis.of_scored.map(|share| format!("at {} its scored speed", amount(Quantity::Ratio, share))));
    if parts.is_empty() {
        parts.push("nothing could be counted".to_owned());
    }
    format!("{}: {}", diagnosis.title, parts.join(", "))
}

/// Share of the periods in which a quota stopped the subject.
pub(crate) fn throttled(resources: &ResourcesFinding) -> Option<String> {
    resources.throttling.map(|throttling| small_share(throttling.share))
}

pub(crate) fn grid(title: &'static str, scenario: &ScenarioFinding, columns: &[Column<CaseFinding>]) -> Option<Grid> {
    let competing = scenario.cases.iter().map(|case| (case, false));
    let all: Vec<(&CaseFinding, bool)> = competing.chain(scenario.ceiling.iter().map(|case| (case, true))).collect();
    let heads = all.iter().map(|(case, is_ceiling)| (marker(&case.runtime), case.title.clone(), *is_ceiling)).collect();
    let cases: Vec<&CaseFinding> = all.iter().map(|(case, _)| *case).collect();
    filled(title, heads, &cases, columns)
}

fn filled<T>(
    title: &'static str,
    heads: Vec<(String, String, bool)>,
    of: &[&T],
    columns: &[Column<T>],
) -> Option<Grid> {
    let has_any = |column: &&Column<T>| of.iter().any(|one| column.1(one).is_some());
    let shown: Vec<&Column<T>> = columns.iter().filter(has_any).collect();
    let cells = |one: &T| shown.iter().map(|column| column.1(one).unwrap_or_else(|| NONE.to_owned())).collect();
    let rows = heads.into_iter().zip(of);
    let rows = rows.map(|((marker, title, is_ceiling), one)| Line { marker, title, is_ceiling, cells: cells(one) });
    (!shown.is_empty()).then(|| Grid {
        title,
        columns: shown.iter().map(|(heading, _)| *heading).collect(),
        rows: rows.collect(),
    })
}

/// The lowest and the highest that was seen.
fn clock(resources: &ResourcesFinding) -> Option<String> {
    let (low, high) = resources.frequency_hz_min.zip(resources.frequency_hz_max)?;
    let [low, high] = [low, high].map(|clock_hz| in_column(clock_hz / 1e9));
    Some(if low == high { low } else { format!("{low}–{high}") })
}

fn scaled(value: Option<f64>, unit: f64) -> Option<String> {
    value.map(|value| in_column(value * unit))
}

fn number(value: Option<f64>) -> Option<String> {
    value.map(|value| amount(Quantity::Number, value))
}

/// A count of both directions together.
fn both(case: &CaseFinding, of: fn(&LinkDirectionUse) -> u64) -> String {
    case.link.as_ref().map_or(NONE.to_owned(), |link| count(link.directions().into_iter().map(of).sum()))
}

/// The worse of the two directions.
fn latest(link: &LinkUse, of: fn(&LinkDirectionUse) -> f64) -> String {
    amount(Quantity::Seconds, link.directions().into_iter().map(of).fold(0.0, f64::max))
}
