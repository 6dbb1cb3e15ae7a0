//! Details behind the headline figures: tables of resources, links and diagnoses.
//!
//! Empty columns and tables without columns are left out.

use tolok_analysis::figures::{NONE, Quantity, amount, count, counted, in_column, small_share};
use tolok_analysis::{CaseFinding, DiagnosisFinding, LinkDirectionUse, LinkUse, ResourcesFinding, ScenarioFinding};

use super::columns::{Filled, filled, named, of_cases};
use super::surroundings::{asked, cases};
use super::{gates, muted, paragraph, section};
use crate::document::{Block, Depth, Heading, Look, Text};
use crate::wording::heading;

const MICROS: f64 = 1e6;
const MIB: f64 = 1024.0 * 1024.0;

const CPU: [Filled<CaseFinding>; 9] = [
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

const MEMORY: [Filled<CaseFinding>; 5] = [
    ("anonymous + kernel, MiB", |case| scaled(case.resources.anonymous_and_kernel_bytes, 1.0 / MIB)),
    ("PSS, MiB", |case| scaled(case.resources.pss_bytes, 1.0 / MIB)),
    ("sum of RSS, MiB", |case| scaled(case.resources.rss_sum_bytes, 1.0 / MIB)),
    ("peak with page cache, MiB", |case| scaled(case.resources.peak_bytes, 1.0 / MIB)),
    ("peak of the limit", |case| case.resources.peak_of_limit.map(small_share)),
];

const TRAFFIC: [Filled<CaseFinding>; 5] = [
    ("body, bytes", |case| scaled(case.body_bytes_per_good.as_ref().map(|it| it.value), 1.0)),
    ("received, bytes", |case| scaled(case.resources.received_bytes_per_good, 1.0)),
    ("sent, bytes", |case| scaled(case.resources.sent_bytes_per_good, 1.0)),
    ("read from disks, bytes", |case| scaled(case.resources.disk_read_bytes_per_good, 1.0)),
    ("written to disks, bytes", |case| scaled(case.resources.disk_written_bytes_per_good, 1.0)),
];

const MACHINE: [Filled<CaseFinding>; 7] = [
    ("used by others", |case| case.foreign_busy.map(small_share)),
    ("taken by the hypervisor", |case| case.stolen.map(small_share)),
    ("CPU pressure", |case| case.resources.cpu_pressure.map(small_share)),
    ("memory pressure", |case| case.resources.memory_pressure.map(small_share)),
    ("disk pressure", |case| case.resources.io_pressure.map(small_share)),
    ("tasks that could run at once", |case| scaled(case.resources.runnable_max, 1.0)),
    ("CPU clock, GHz", |case| clock(&case.resources)),
];

const LINK: [Filled<CaseFinding>; 10] = [
    ("to subject: packets", |case| Some(count(case.link.as_ref()?.to_subject.packets))),
    ("to subject: of the rate", |case| case.link.as_ref()?.to_subject.rate_offered.map(small_share)),
    ("to client: packets", |case| Some(count(case.link.as_ref()?.to_client.packets))),
    ("to client: of the rate", |case| case.link.as_ref()?.to_client.rate_offered.map(small_share)),
    ("dropped, queue full", |case| Some(both(case, |it| it.dropped_queue))),
    ("lost on purpose", |case| Some(both(case, |it| it.dropped_loss)).filter(|_| case.link.is_some())),
    ("late, on average", |case| Some(latest(case.link.as_ref()?, |it| it.lateness_s_mean))),
    ("late, at most", |case| Some(latest(case.link.as_ref()?, |it| it.lateness_s_max))),
    ("emulator’s CPU", |case| case.link.as_ref()?.emulator_busy.map(small_share)),
    ("real-time priority", |case| Some(if case.link.as_ref()?.realtime { "yes" } else { "no" }.to_owned())),
];

const DIAGNOSIS: [Filled<DiagnosisFinding>; 10] = [
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

/// Resources, links and diagnoses, a section each.
pub(crate) fn blocks(scenarios: &[&ScenarioFinding], depth: Depth) -> Vec<Block> {
    let is_page = depth == Depth::Page;
    let of = |what: fn(&ScenarioFinding, Depth) -> Vec<Block>, folds: bool| -> Vec<Block> {
        let parts = scenarios.iter().map(|scenario| (scenario, what(scenario, depth)));
        let parts = parts.filter(|(_, blocks)| !blocks.is_empty());
        parts.flat_map(|(scenario, blocks)| part(scenario, blocks, depth, folds && scenarios.len() > 1)).collect()
    };
    let noted = |note: &str, mut blocks: Vec<Block>| {
        if is_page && !blocks.is_empty() {
            blocks.splice(0..0, muted(note));
        }
        blocks
    };
    let unscored = if is_page { "Diagnosis, unscored" } else { UNSCORED };
    [
        section("resources", "Resources", noted(RESOURCES_NOTE, of(resources, true))),
        section("links", "Links", noted(LINKS_NOTE, of(link, false))),
        section("diagnosis", unscored, noted(DIAGNOSIS_NOTE, of(diagnosis, false))),
    ]
    .concat()
}

const UNSCORED: &str = "Unscored diagnosis: no result, because counting slows the subject down";
const RESOURCES_NOTE: &str = "Details behind CPU time and memory. Medians over the clean trials; peaks are the highest of all trials, and quota stops are totals.";
const LINKS_NOTE: &str = "Each link is emulated packet by packet on this machine. The emulator’s own lateness is part of every latency. “Of the rate” is what reached the link over what it lets through; near 100% the link is the limit.";
const DIAGNOSIS_NOTE: &str = "What each subject did for a response, counted in one extra trial. Counting slows the subject down, so nothing here is a result or part of a figure above. Speed while counted: the goodput of that trial over the median of the scored trials.";

/// The blocks about one scenario, with its name. A page may fold them.
fn part(scenario: &ScenarioFinding, mut blocks: Vec<Block>, depth: Depth, folds: bool) -> Vec<Block> {
    let place = format!("{}; {}", scenario.load, scenario.environment.words);
    match depth {
        Depth::Page if folds => {
            let summary = Text::of(heading(scenario), Look::Strong).and(format!(" {place}"), Look::Muted);
            vec![Block::Folded { summary, blocks }]
        }
        Depth::Page => {
            let title = Heading { rank: 3, text: heading(scenario).into(), beside: place };
            blocks.insert(0, Block::Heading(title));
            blocks
        }
        _ => {
            blocks.splice(0..0, [Block::heading(3, heading(scenario)), Block::Paragraph(format!("{place}.").into())]);
            blocks
        }
    }
}

/// What the subjects of a scenario used.
fn resources(scenario: &ScenarioFinding, _: Depth) -> Vec<Block> {
    let tables = [
        of_cases("CPU time and scheduling, for each correct response", scenario, &CPU),
        of_cases("Memory", scenario, &MEMORY),
        of_cases("Network and disks, for each correct response", scenario, &TRAFFIC),
        of_cases("The whole machine meanwhile", scenario, &MACHINE),
        gates::demands(scenario),
    ];
    let mut blocks: Vec<Block> = tables.into_iter().flatten().collect();
    if !blocks.is_empty() {
        blocks.extend(paragraph(sources(scenario)));
    }
    blocks
}

/// How the CPU time of a scenario was measured, and what pressure is.
fn sources(scenario: &ScenarioFinding) -> String {
    let has = |word: &str| cases(scenario).any(|case| case.resources.cpu_source.as_deref() == Some(word));
    let cpu = match (has("group"), has("threads"), has("both")) {
        (true, false, false) => "CPU time was read from control groups, which miss nothing.",
        (false, true, false) => "CPU time was summed over threads, which misses short-lived processes.",
        (false, false, false) => "No CPU time was read.",
        _ => {
            "CPU time was read from control groups in some trials, and summed over threads in others, which misses some."
        }
    };
    // Over loopback, everything sent is received on the same interface.
    let over_loopback = scenario.link.is_none() && cases(scenario).any(|it| it.resources.sent_bytes_per_good.is_some());
    let both = if over_loopback { " Over loopback, bytes received and sent include both ends." } else { "" };
    format!("{cpu}{both} Pressure: the share of the window in which some task of the machine waited.")
}

/// How the emulated link performed for each case.
fn link(scenario: &ScenarioFinding, depth: Depth) -> Vec<Block> {
    let is_emulated = cases(scenario).any(|case| case.link.is_some());
    let table = of_cases("The link, over all clean trials", scenario, &LINK).filter(|_| is_emulated);
    let nothing = || muted("Nothing was counted on this link.").filter(|_| depth == Depth::Page);
    let asked = scenario.link.as_ref().and_then(|link| paragraph(format!("Asked for: {}.", asked(link))));
    asked.map(|asked| std::iter::once(asked).chain(table.or_else(nothing)).collect()).unwrap_or_default()
}

/// What was counted in unscored trials.
fn diagnosis(scenario: &ScenarioFinding, _: Depth) -> Vec<Block> {
    let runtime = |diagnosis: &DiagnosisFinding| {
        cases(scenario).find(|case| case.case == diagnosis.case).map_or("", |case| case.runtime.as_str())
    };
    let counted = scenario.unscored_diagnoses.iter().filter(|diagnosis| diagnosis.failure.is_none());
    let rows = counted.map(|diagnosis| (named(&diagnosis.title, runtime(diagnosis), false), diagnosis)).collect();
    let table = filled("Unscored, for each correct response", &scenario.id, rows, &DIAGNOSIS);
    table.into_iter().chain(Block::list(undiagnosed(scenario))).collect()
}

/// Diagnoses in a terminal, a line each.
pub(crate) fn short_diagnoses(scenario: &ScenarioFinding) -> Vec<Block> {
    let lines = scenario.unscored_diagnoses.iter().map(|diagnosis| Text::of(diagnosis_line(diagnosis), Look::Muted));
    let Some(list) = Block::list(lines.collect()) else { return Vec::new() };
    let title = muted("Unscored: counted for each response while the counting slowed it down");
    title.into_iter().chain([list]).collect()
}

/// What could not be diagnosed, a sentence each.
fn undiagnosed(scenario: &ScenarioFinding) -> Vec<Text> {
    let sentence = |title: &str, text: &str| Text::from(format!("{title}: {text}"));
    let of = |diagnosis: &DiagnosisFinding| {
        let lacks = diagnosis.failure.iter().chain(&diagnosis.unavailable);
        lacks.map(|text| sentence(&diagnosis.title, text)).collect::<Vec<_>>()
    };
    scenario.unscored_diagnoses.iter().flat_map(of).collect()
}

fn diagnosis_line(diagnosis: &DiagnosisFinding) -> String {
    if let Some(failure) = &diagnosis.failure {
        return format!("{}: {}", diagnosis.title, failure);
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

/// The lowest and the highest frequency seen.
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
