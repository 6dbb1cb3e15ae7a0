//! The record in words, for the terminal.

use std::fmt::Write;

use tolok_load::options::{ConnectionPolicy, Timer};
use tolok_load::record::{Distribution, LoopModel, Record, ThreadSummary};
use tolok_load::schedule::Phase;
use tolok_load::threshold::{Judged, KeptOrCrossed, Unit};
use tolok_report::sparkline;

use super::figures::{bytes, count, number, percent, plural, time};
use super::plan_words::{done, title};
use super::style::{ALARM, CAUTION, FAINT, FINE, STRONG, TIE, columns, paint, wrap};

/// Where the text behind a label begins.
const INDENT: usize = 15;
/// Quantiles of the table.
pub const SHOWN: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// A sparkline of fewer seconds says nothing.
const FEWEST_SECONDS: usize = 5;
/// Prose is hard to read in longer lines.
const WIDEST: usize = 120;

/// The whole record, in lines of at most `width` columns where words can be broken.
pub fn describe(record: &Record, width: u16) -> String {
    let mut page = Page { text: String::new(), width: usize::from(width).min(WIDEST) };
    page.prose(&paint(STRONG, &title(&record.plan)), 0);
    page.prose(&done(record).join(&format!("{TIE}· ")), 0);
    page.text.push('\n');
    rates(&mut page, record);
    page.text.push('\n');
    table(&mut page, record);
    account(&mut page, record);
    resources(&mut page, record);
    judged(&mut page, &record.thresholds);
    page.text.push('\n');
    verdict(&mut page, record);
    page.text
}

/// A text that grows by lines.
struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn prose(&mut self, text: &str, indent: usize) {
        let _ = writeln!(self.text, "{}", wrap(text, self.width, indent));
    }

    /// A line with its label; one without a label belongs to the line above.
    fn labelled(&mut self, label: &str, text: &str) {
        let _ = write!(self.text, "  {label:<width$}", width = INDENT - 2);
        self.prose(text, INDENT);
    }

    /// A sentence behind a word or a sign.
    fn said(&mut self, sign: &str, text: &str) {
        let _ = write!(self.text, "{sign} ");
        self.prose(text, 2);
    }
}

fn rates(page: &mut Page, record: &Record) {
    let goodput = record.goodput_rps.map_or_else(|| "–".to_owned(), number);
    let mut words = format!("{} good answers/s", paint(STRONG, &goodput));
    if let Some(offered) = record.offered_rps {
        let _ = write!(words, " of {}/s offered", number(offered));
    }
    page.labelled("goodput", &words);
    let measured: Vec<f64> = (record.timeline.iter())
        .filter(|row| row.phase == Phase::Measure && row.duration_s > 0.05)
        .map(|row| row.good as f64 / row.duration_s)
        .collect();
    if measured.len() < FEWEST_SECONDS {
        return;
    }
    let (least, most) =
        measured.iter().fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    let range = format!("{} to {}/s", number(least), number(most));
    let marks = sparkline(&measured, page.width.saturating_sub(INDENT + 2 + columns(&range)).min(60));
    page.labelled("each second", &format!("{marks}  {range}"));
}

/// One row for each kind of time, and one column for each figure of it.
fn table(page: &mut Page, record: &Record) {
    let mut header = format!("  {:<11}", "time");
    for name in ["p50", "p90", "p99", "p99.9", "max"] {
        let _ = write!(header, "{name:>10}");
    }
    let _ = writeln!(page.text, "{}", paint(FAINT, &format!("{header}{:>13}", "values")));
    for (name, distribution) in distributions(record) {
        let mut row = format!("  {name:<11}");
        for value in figures_of(distribution) {
            let _ = write!(row, "{:>10}", value.map_or_else(|| "–".to_owned(), time));
        }
        let _ = writeln!(page.text, "{row}{:>13}", count(distribution.count));
    }
    page.text.push('\n');
}

/// The sets of times that have values, by their names, in the order of a request's life.
pub fn distributions(record: &Record) -> Vec<(&'static str, &Distribution)> {
    let all = [
        ("response", &record.response_time),
        ("service", &record.service_time),
        ("queue", &record.queue_time),
        ("lateness", &record.lateness),
        ("connect", &record.connect_time),
        ("first byte", &record.time_to_first_byte),
        ("failure", &record.failure_time),
    ];
    all.into_iter().filter(|(_, distribution)| distribution.count > 0).collect()
}

/// The quantiles of the table, and the maximum. Where fewer than ten values lie beyond there is none.
pub fn figures_of(distribution: &Distribution) -> [Option<f64>; 5] {
    let find = |wanted: f64| {
        let found = distribution.percentiles.iter().find(|one| (one.quantile - wanted).abs() < 1e-9);
        // An upper end of a bucket beyond the maximum, which is exact, would only puzzle.
        found.and_then(|one| one.latency_s).map(|value| distribution.max_s.map_or(value, |max| value.min(max)))
    };
    let [p50, p90, p99, p999] = SHOWN.map(find);
    [p50, p90, p99, p999, distribution.max_s]
}

/// What became of every request.
fn account(page: &mut Page, record: &Record) {
    let (total, parts) = ledger(record);
    page.labelled("requests", &format!("{total} = {}", parts.join(&format!(" +{TIE}"))));
    if let Some(after) = after_the_window(record) {
        page.labelled("", &after);
    }
    let carried = record.warm_up.carried_over_good;
    // A user's first answer in the window is often one to the warm-up; only a share that is seen needs a word.
    if carried * 100 > record.ledger.good {
        let words =
            format!("{} more good answers were to requests of the warm-up; they are in the goodput", count(carried));
        page.labelled("", &words);
    }
    failures(page, record);
}

/// The account at the end of the window, as a sum: the total and its parts.
pub fn ledger(record: &Record) -> (String, Vec<String>) {
    let ledger = &record.ledger;
    let part = |number: u64, word: &str| format!("{} {word}", count(number));
    let mut parts =
        vec![part(ledger.good, "good"), part(ledger.failed, "failed"), part(ledger.in_flight_at_end, "in flight")];
    match record.plan.loop_model {
        LoopModel::Closed if ledger.unsent == 0 => (part(ledger.sent, "sent"), parts),
        _ => {
            parts.push(part(ledger.unsent, "unsent"));
            (part(ledger.scheduled, "scheduled"), parts)
        }
    }
}

/// What became of the requests that the end of the window cut off.
fn after_the_window(record: &Record) -> Option<String> {
    let drain = &record.drain;
    let parts = [
        (drain.good, "good"),
        (drain.failed, "failed"),
        (drain.abandoned, "given up"),
        (drain.never_sent, "never sent"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{} {word}", count(*number)))
        .collect();
    let cut_off = record.ledger.in_flight_at_end + record.ledger.unsent;
    (cut_off > 0).then(|| format!("after the window: {}", words.join(" + ")))
}

fn failures(page: &mut Page, record: &Record) {
    let ledger = &record.ledger;
    let finished = ledger.good + ledger.failed;
    if ledger.failed > 0 {
        let share = percent(ledger.failed as f64 / finished as f64);
        let words = format!("{} of {} finished requests ({share})", count(ledger.failed), count(finished));
        page.labelled("failed", &paint(ALARM, &words));
    }
    for line in failure_lines(record) {
        page.labelled("", &line);
    }
}

/// The failures by class, each with its first example.
pub fn failure_lines(record: &Record) -> Vec<String> {
    let line = |(class, number): (&tolok_load::fault::ErrorClass, &u64)| {
        let example = record.error_examples.iter().find(|example| example.class == *class);
        let words = example.map(|example| format!(": {} (first at {:.1} s)", example.text, example.at_s));
        format!("{} {}{}", count(*number), class.name(), words.unwrap_or_default())
    };
    record.ledger.failed_by_class.iter().map(line).collect()
}

/// What was used to make the load.
fn resources(page: &mut Page, record: &Record) {
    if let Some(in_flight) = record.in_flight_mean.filter(|_| record.plan.loop_model == LoopModel::Open) {
        let mut words = format!("{} on average", number(in_flight));
        if record.queue_max > 0 {
            let _ = write!(words, "; at most {} waiting", plural(record.queue_max, "arrival", "arrivals"));
        }
        page.labelled("in flight", &words);
    }
    page.labelled("connections", &connections(record));
    let window_s = record.window_s.max(f64::MIN_POSITIVE);
    let words = format!(
        "{} received ({}/s), {} sent",
        bytes(record.received_bytes as f64),
        bytes(record.received_bytes as f64 / window_s),
        bytes(record.sent_bytes as f64)
    );
    page.labelled("bytes", &words);
    page.labelled("generator", &generator(record));
    let wait =
        record.generator.threads.iter().filter_map(|thread| thread.run_queue_wait_s).fold(0.0, f64::max) / window_s;
    if wait > 0.01 {
        let words = format!("waited for a CPU {} of the time: something else had it", percent(wait));
        page.labelled("", &paint(CAUTION, &words));
    }
}

fn connections(record: &Record) -> String {
    let connections = &record.connections;
    let mut words = format!(
        "{} opened ({} in the window), {} failed, {} never answered",
        count(connections.opened),
        count(connections.opened_in_window),
        count(connections.failed),
        count(connections.never_answered)
    );
    if connections.not_closed_by_target > 0 {
        let _ = write!(words, ", {} announced to close and left open", count(connections.not_closed_by_target));
    }
    if closes_what_was_to_be_kept(record) {
        words += "; the server does not keep them, so the figures are those of a connection for every few requests";
    }
    if connections.unasked_bytes > 0 {
        let _ = write!(words, ", {} bytes came unasked", count(connections.unasked_bytes));
    }
    words
}

/// Whether connections were to be kept, and the target had nearly each of them opened anew for another request: many more than there
/// were users, for hardly more requests.
fn closes_what_was_to_be_kept(record: &Record) -> bool {
    let (opened, finished) = (record.connections.opened_in_window, record.ledger.good + record.ledger.failed);
    let kept = matches!(record.plan.connection, ConnectionPolicy::KeepAlive);
    kept && record.plan.vus > 0
        && opened > 4 * u64::from(record.plan.vus)
        && opened * 2 > finished
        && record.ledger.good * 2 > finished
}

/// Threads, how busy, and what a request costs the generator.
pub fn generator(record: &Record) -> String {
    let threads = &record.generator.threads;
    let mut words = plural(threads.len() as u64, "thread", "threads");
    let cpus: Vec<String> = threads.iter().filter_map(|thread| Some(thread.cpu?.to_string())).collect();
    if !cpus.is_empty() {
        let _ = write!(words, " on CPU {}", cpus.join(","));
    }
    if let Some(busy) = record.generator_busy {
        let _ = write!(words, ", {}{} busy", if threads.len() > 1 { "the busiest " } else { "" }, percent(busy));
    }
    let spin_s: f64 = threads.iter().map(|thread| thread.spin_s).sum();
    let worked_s: f64 = threads.iter().map(ThreadSummary::worked_s).sum();
    if record.ledger.sent > 0 {
        let _ = write!(words, ", {} of CPU a request", time(worked_s / record.ledger.sent as f64));
    }
    let name = match record.generator.timer {
        Timer::Sleep => "sleep",
        Timer::Hybrid => "hybrid",
        Timer::Spin => "spin",
    };
    let _ = write!(words, ", {name} timer");
    if spin_s > 0.0 && record.window_s > 0.0 {
        let share = percent(spin_s / record.window_s);
        let _ = write!(words, " (looking at the clock took {share} of a CPU more)");
    }
    words
}

fn judged(page: &mut Page, thresholds: &[Judged]) {
    let widest = thresholds.iter().map(|judged| columns(&judged.text)).max().unwrap_or_default();
    for (at, judged) in thresholds.iter().enumerate() {
        let (style, mark) = match judged.outcome {
            KeptOrCrossed::Kept => (FINE, "✓"),
            KeptOrCrossed::Crossed => (ALARM, "✗"),
            KeptOrCrossed::Unknown => (ALARM, "?"),
        };
        let label = if at == 0 { "thresholds" } else { "" };
        // Padded by hand: wrapping must not touch the columns.
        let _ = writeln!(
            page.text,
            "  {label:<13}{} {:<widest$}  {}",
            paint(style, mark),
            judged.text,
            paint(style, &seen(judged))
        );
    }
}

/// The figure that a threshold was held against.
pub fn seen(judged: &Judged) -> String {
    match (judged.value, judged.unit) {
        (None, _) => "there is no such figure".to_owned(),
        (Some(value), Unit::Seconds) => time(value),
        (Some(value), Unit::PerSecond) => format!("{}/s", number(value)),
        (Some(value), Unit::One) if judged.text.trim_end().ends_with('%') => percent(value),
        (Some(value), Unit::One) if value.fract() == 0.0 => count(value as u64),
        (Some(value), Unit::One) => percent(value),
    }
}

/// What must be known before a figure is quoted; the gravest last, where it is read.
fn verdict(page: &mut Page, record: &Record) {
    if record.plan.loop_model == LoopModel::Closed && record.ledger.sent > 0 {
        page.said(&paint(CAUTION, "!"), &closed_loop(record));
    }
    if record.verdict.trusted {
        page.said(&paint(FINE, "✓"), "trusted: all checks of the generator and of its account are passed");
    }
    let failed = record.ledger.failed + record.drain.failed;
    if failed > 0 && !record.thresholds.iter().any(speaks_of_failures) {
        let after = match record.drain.failed {
            0 => String::new(),
            after => format!(" ({} of them after the window)", count(after)),
        };
        let words = format!(
            "{}{after}, and no threshold says how many may: code 5",
            plural(failed, "request failed", "requests failed")
        );
        page.said(&paint(CAUTION, "!"), &words);
    }
    let missed = record.thresholds.iter().filter(|judged| judged.outcome != KeptOrCrossed::Kept).count();
    if missed > 0 {
        let words =
            format!("{} of {} not kept", missed, plural(record.thresholds.len() as u64, "threshold", "thresholds"));
        page.said(&paint(ALARM, "✗"), &paint(ALARM, &words));
    }
    for reason in &record.verdict.reasons {
        page.said(&paint(ALARM, "✗"), &format!("{} {}", paint(ALARM, "NOT TRUSTED:"), reason.text));
    }
}

fn speaks_of_failures(judged: &Judged) -> bool {
    ["fail", "goodput"].iter().any(|word| judged.text.contains(word))
}

/// The limit of what a closed loop can say.
pub fn closed_loop(record: &Record) -> String {
    let users = u64::from(record.plan.vus);
    format!(
        "closed loop: a slow answer delays the next request, so these percentiles hold for {} only",
        plural(users, "user", "users")
    )
}

#[cfg(test)]
mod tests;
