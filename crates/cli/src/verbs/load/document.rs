//! A record as a document, independent of the output format.

use std::fmt::Write;

use tolok_analysis::figures::{NONE, Quantity, amount, count, counted, share, significant};
use tolok_load::options::{ConnectionPolicy, Timer};
use tolok_load::record::{ClientRecord, ClientRecords, Distribution, LoopModel, PartRecord, Record, ThreadSummary};
use tolok_load::schedule::Phase;
use tolok_load::threshold::{Judged, KeptOrCrossed, Unit};
use tolok_load::verdict::{Doubt, WAIT_SHARE};
use tolok_report::document::{Block, Cell, Column, Document, Fact, List, Look, Row, Table, Text};
use tolok_report::print::{Style, markdown, terminal};
use tolok_report::sparkline;

use super::plan_words::{done, rate, title};
use super::style::{TIE, columns, tied};

/// The label of response times.
const RESPONSE: &str = "response";
/// Columns before the text of a fact.
const INDENT: usize = 15;
/// Quantiles of the table.
const SHOWN: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// A sparkline of fewer seconds shows nothing useful.
const FEWEST_SECONDS: usize = 5;
/// Longer lines of prose are hard to read.
const WIDEST: u16 = 120;

/// The record in lines of at most `width` columns, as far as words can be broken.
pub fn text(record: &Record, style: Style) -> String {
    printed(&document(record, usize::from(style.width.min(WIDEST))), style)
}

/// A document in lines that are short enough to read.
pub fn printed(document: &Document, style: Style) -> String {
    // Users who search the text type ordinary spaces.
    terminal(document, &Style { width: style.width.min(WIDEST), ..style }).replace(TIE, " ")
}

/// The record for an issue or a README.
pub fn in_markdown(record: &Record) -> String {
    markdown(&document(record, usize::from(WIDEST))).replace(TIE, " ")
}

/// The whole record. `width` affects only the length of the sparkline.
fn document(record: &Record, width: usize) -> Document {
    let title = title(&record.plan);
    let section = |id: &str, blocks| Block::Section { id: id.to_owned(), blocks };
    let mut blocks = vec![section(
        "record",
        vec![
            Block::heading(2, title.as_str()),
            section("plan", vec![Block::Paragraph(tied(&done(record).join(&format!("{TIE}· "))).into())]),
            Block::Facts(rates(record, width)),
            section("times", vec![Block::Table(times(record))]),
        ]
        .into_iter()
        .chain((!record.parts.is_empty()).then(|| section("parts", vec![Block::Table(parts(record))])))
        .chain(clients(record).map(|clients| section("clients", vec![Block::Table(clients)])))
        .chain([Block::Facts([account(record), resources(record), judged(record)].concat())])
        .collect(),
    )];
    blocks.extend(verdict(record));
    Document { title, blocks }
}

fn fact(label: &str, words: impl Into<Text>) -> Fact {
    Fact { label: label.to_owned(), words: words.into() }
}

fn rates(record: &Record, width: usize) -> Vec<Fact> {
    let goodput = record.goodput_rps.map_or_else(|| NONE.to_owned(), |rps| significant(rps, 4));
    let offered = record.offered_rps.map(|offered| format!(" of {} offered", rate(offered)));
    let words = format!("{TIE}correct responses/s{}", offered.unwrap_or_default());
    let mut facts = vec![fact("goodput", Text::of(goodput, Look::Strong).and(words, Look::Plain))];
    let measured: Vec<f64> = (record.timeline.iter())
        .filter(|row| row.phase == Phase::Measure && row.duration_s > 0.05)
        .map(|row| row.good as f64 / row.duration_s)
        .collect();
    if measured.len() < FEWEST_SECONDS {
        return facts;
    }
    let (least, most) =
        measured.iter().fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    let range = format!("{} to {}", significant(least, 4), rate(most));
    let marks = sparkline(&measured, width.saturating_sub(INDENT + 2 + columns(&range)).min(60));
    facts.push(fact("each second", format!("{marks}{TIE} {range}").as_str()));
    facts
}

/// One row for each kind of time, and one column for each of its figures.
fn times(record: &Record) -> Table {
    let row = |(name, distribution): (&str, &Distribution)| {
        let doubted: &[Doubt] = if name == RESPONSE { &record.verdict.doubted } else { &[] };
        let figures = figures_of(distribution, doubted);
        let cells = std::iter::once(name.to_owned()).chain(figures).chain([count(distribution.count)]);
        Row { cells: cells.map(Cell::from).collect(), ..Row::default() }
    };
    let numbers = ["p50", "p90", "p99", "p99.9", "max", "values"].map(Column::numbers);
    Table {
        caption: "Times".to_owned(),
        columns: std::iter::once(Column::words("time")).chain(numbers).collect(),
        rows: distributions(record).into_iter().map(row).collect(),
        ..Table::default()
    }
}

/// One row for each part of a mix.
fn parts(record: &Record) -> Table {
    let row = |part: &PartRecord| {
        let [p50, _, p99, ..] = figures_of(&part.response_time, &[]);
        let drawn = part.sent_share.map_or_else(|| NONE.to_owned(), share);
        let counts = [part.sent, part.good, part.failed].map(count);
        let cells = [part.part.clone(), share(part.asked_share), drawn].into_iter().chain(counts);
        Row { cells: cells.chain([p50, p99]).map(Cell::from).collect(), ..Row::default() }
    };
    let numbers = ["asked", "drawn", "sent", "good", "failed", "p50", "p99"].map(Column::numbers);
    Table {
        caption: "Parts".to_owned(),
        columns: std::iter::once(Column::words("part")).chain(numbers).collect(),
        rows: record.parts.iter().map(row).collect(),
        ..Table::default()
    }
}

/// Fast and slow clients, if a run has both.
fn clients(record: &Record) -> Option<Table> {
    let ClientRecords { fast, slow } = record.clients.as_ref()?;
    let row = |(name, clients): (&str, &ClientRecord)| {
        let [p50, _, p99, _, max, ..] = figures_of(&clients.response_time, &[]);
        let goodput = clients.goodput_rps.map_or_else(|| NONE.to_owned(), |rps| significant(rps, 4));
        let counts = [clients.sent, clients.good, clients.failed].map(count);
        let cells = [name.to_owned(), count(u64::from(clients.users)), goodput].into_iter().chain(counts);
        Row { cells: cells.chain([p50, p99, max]).map(Cell::from).collect(), ..Row::default() }
    };
    let numbers = ["users", "correct/s", "sent", "good", "failed", "p50", "p99", "max"].map(Column::numbers);
    Some(Table {
        caption: "Clients".to_owned(),
        columns: std::iter::once(Column::words("clients")).chain(numbers).collect(),
        rows: [("fast", fast), ("slow", slow)].map(row).into(),
        ..Table::default()
    })
}

/// The distributions that have values, with their names, in the order of a request's life.
fn distributions(record: &Record) -> Vec<(&'static str, &Distribution)> {
    let all = [
        (RESPONSE, &record.response_time),
        ("service", &record.service_time),
        ("queue", &record.queue_time),
        ("lateness", &record.lateness),
        ("connect", &record.connect_time),
        ("first byte", &record.time_to_first_byte),
        ("failure", &record.failure_time),
    ];
    all.into_iter().filter(|(_, distribution)| distribution.count > 0).collect()
}

/// The quantiles of the table, and the maximum. A quantile with fewer than ten values beyond it is left out. Marks show how
/// reliable a quantile is.
fn figures_of(distribution: &Distribution, doubted: &[Doubt]) -> [String; 5] {
    let none = || NONE.to_owned();
    // A bucket's upper bound may exceed the exact maximum, which would only confuse readers.
    let shown = |value: f64| amount(Quantity::Seconds, distribution.max_s.map_or(value, |max| value.min(max)));
    let find = |wanted: f64| {
        let is_it = |quantile: f64| (quantile - wanted).abs() < 1e-9;
        let found = distribution.percentiles.iter().find(|one| is_it(one.quantile));
        let mark = if doubted.iter().any(|doubt| is_it(doubt.quantile)) { "!" } else { "" };
        match found.map(|one| (one.latency_s, one.at_least_s, one.once_s)) {
            Some((Some(value), _, _)) => shown(value) + mark,
            Some((_, Some(least), _)) => format!("≥ {}{mark}", amount(Quantity::Seconds, least)),
            Some((_, _, Some(once))) => format!("({}){mark}", shown(once)),
            _ => none(),
        }
    };
    let [p50, p90, p99, p999] = SHOWN.map(find);
    [p50, p90, p99, p999, distribution.max_s.map_or_else(none, |max_s| amount(Quantity::Seconds, max_s))]
}

/// Explains the marks of percentiles that occur.
fn signs(record: &Record) -> Vec<Text> {
    let all = distributions(record);
    let shown = || all.iter().flat_map(|(_, it)| &it.percentiles).filter(|it| SHOWN.contains(&it.quantile));
    let mut signs = Vec::new();
    if shown().any(|it| it.at_least_s.is_some()) {
        let unanswered = record.unanswered_time.as_ref().map_or(0, |it| it.count);
        let requests = counted(unanswered, "request");
        signs.push(format!("≥: at least that, as {requests} had no answer when the run ended"));
    }
    if shown().any(|it| it.once_s.is_some()) {
        signs.push(
            "in parentheses: fewer than ten separate instants are beyond it; one stall may have caused it".to_owned(),
        );
    }
    let doubted = record.verdict.doubted.iter().filter(|doubt| SHOWN.contains(&doubt.quantile));
    let doubted: Vec<String> = doubted.map(|it| format!("p{} by {}", it.quantile * 100.0, share(it.moved))).collect();
    if !doubted.is_empty() {
        signs.push(format!(
            "!: the generator's own lateness made it larger: {}; give it a CPU of its own (--cpus) or a lower rate",
            doubted.join(", ")
        ));
    }
    signs.iter().map(|sign| tied(sign).into()).collect()
}

/// The account of all requests.
fn account(record: &Record) -> Vec<Fact> {
    let (total, parts) = ledger(record);
    let sum = format!("{total} = {}", parts.join(&format!(" +{TIE}")));
    let mut facts = vec![fact("requests", tied(&sum))];
    facts.extend(after_the_window(record).map(|after| fact("", tied(&after))));
    let carried = record.warm_up.carried_over_good;
    // A user's first response in the window is often to a warm-up request. Only a noticeable share is worth a line.
    if carried * 100 > record.ledger.good {
        let words = format!(
            "{} more correct responses were to requests of the warm-up; they are in the goodput",
            count(carried)
        );
        facts.push(fact("", tied(&words)));
    }
    facts.extend(failures(record));
    facts
}

/// The ledger at the end of the window, as a sum: the total and its parts.
fn ledger(record: &Record) -> (String, Vec<String>) {
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

/// What happened to the requests that were open at the end of the window.
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

fn failures(record: &Record) -> Vec<Fact> {
    let ledger = &record.ledger;
    let finished = ledger.good + ledger.failed;
    let mut facts = Vec::new();
    if ledger.failed > 0 {
        let share = share(ledger.failed as f64 / finished as f64);
        let words = format!("{} of {} finished requests ({share})", count(ledger.failed), count(finished));
        facts.push(fact("failed", Text::of(tied(&words), Look::Warning)));
    }
    facts.extend(failure_lines(record).iter().map(|line| fact("", tied(line))));
    facts
}

/// The failures by class, each with its first example.
fn failure_lines(record: &Record) -> Vec<String> {
    let line = |(class, number): (&tolok_load::fault::ErrorClass, &u64)| {
        let example = record.error_examples.iter().find(|example| example.class == *class);
        let words = example.map(|example| format!(": {} (first at {:.1} s)", example.text, example.at_s));
        format!("{} {}{}", count(*number), class.name(), words.unwrap_or_default())
    };
    record.ledger.failed_by_class.iter().map(line).collect()
}

/// The resources that generated the load.
fn resources(record: &Record) -> Vec<Fact> {
    let mut facts = Vec::new();
    let is_shown = record.plan.loop_model == LoopModel::Open || record.idle_users_mean.is_some();
    if let Some(in_flight) = record.in_flight_mean.filter(|_| is_shown) {
        let users = record.idle_users_mean.map(|_| format!(" of {}", counted(u64::from(record.plan.vus), "user")));
        let mut words = format!("{}{} on average", significant(in_flight, 4), users.unwrap_or_default());
        if record.queue_max > 0 {
            let _ = write!(words, "; at most {} waiting", counted(record.queue_max, "arrival"));
        }
        facts.push(fact("in flight", tied(&words)));
    }
    let window_s = record.window_s.max(f64::MIN_POSITIVE);
    let traffic = format!(
        "{} received ({}/s), {} sent",
        amount(Quantity::Bytes, record.received_bytes as f64),
        amount(Quantity::Bytes, record.received_bytes as f64 / window_s),
        amount(Quantity::Bytes, record.sent_bytes as f64)
    );
    facts.extend([
        fact("connections", tied(&connections(record))),
        fact("bytes", tied(&traffic)),
        fact("generator", tied(&generator(record))),
    ]);
    let wait =
        record.generator.threads.iter().filter_map(|thread| thread.run_queue_wait_s).fold(0.0, f64::max) / window_s;
    if wait > WAIT_SHARE {
        let words = format!("waited for a CPU {} of the time: something else had it", share(wait));
        facts.push(fact("", Text::of(tied(&words), Look::Warning)));
    }
    facts
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

/// Whether connections were to be kept, but the target closed nearly all of them: many more connections than users, for hardly more
/// requests.
fn closes_what_was_to_be_kept(record: &Record) -> bool {
    let (opened, finished) = (record.connections.opened_in_window, record.ledger.good + record.ledger.failed);
    let kept = matches!(record.plan.connection, ConnectionPolicy::KeepAlive);
    kept && record.plan.vus > 0
        && opened > 4 * u64::from(record.plan.vus)
        && opened * 2 > finished
        && record.ledger.good * 2 > finished
}

/// The threads, how busy they were, and the generator's cost per request.
fn generator(record: &Record) -> String {
    let threads = &record.generator.threads;
    let mut words = counted(threads.len() as u64, "thread");
    let cpus: Vec<String> = threads.iter().filter_map(|thread| Some(thread.cpu?.to_string())).collect();
    if !cpus.is_empty() {
        let _ = write!(words, " on CPU {}", cpus.join(","));
    }
    if let Some(busy) = record.generator_busy {
        let _ = write!(words, ", {}{} busy", if threads.len() > 1 { "the busiest " } else { "" }, share(busy));
    }
    let spin_s: f64 = threads.iter().map(|thread| thread.spin_s).sum();
    let worked_s: f64 = threads.iter().map(ThreadSummary::worked_s).sum();
    if record.ledger.sent > 0 {
        let _ = write!(words, ", {} of CPU a request", amount(Quantity::Seconds, worked_s / record.ledger.sent as f64));
    }
    let name = match record.generator.timer {
        Timer::Sleep => "sleep",
        Timer::Hybrid => "hybrid",
        Timer::Spin => "spin",
    };
    let _ = write!(words, ", {name} timer");
    if spin_s > 0.0 && record.window_s > 0.0 {
        let share = share(spin_s / record.window_s);
        let _ = write!(words, " (looking at the clock took {share} of a CPU more)");
    }
    words
}

fn judged(record: &Record) -> Vec<Fact> {
    let thresholds = &record.thresholds;
    let widest = thresholds.iter().map(|judged| columns(&judged.text)).max().unwrap_or_default();
    let line = |(place, judged): (usize, &Judged)| {
        let (look, mark) = match judged.outcome {
            KeptOrCrossed::Kept => (Look::Good, "✓"),
            KeptOrCrossed::Crossed => (Look::Warning, "✗"),
            KeptOrCrossed::Unknown => (Look::Warning, "?"),
        };
        // Ties instead of spaces keep each on one line, with the figures aligned.
        let words = format!("{TIE}{:<widest$}{TIE}{TIE}", judged.text).replace(' ', &TIE.to_string());
        let figure = format!("{}{}", seen(judged), too_few(judged, record)).replace(' ', &TIE.to_string());
        let label = if place == 0 { "thresholds" } else { "" };
        fact(label, Text::of(mark, look).and(words, Look::Plain).and(figure, look))
    };
    thresholds.iter().enumerate().map(line).collect()
}

/// A note on a quantile of few responses: it is near their maximum, but may be judged all the same.
fn too_few(judged: &Judged, record: &Record) -> String {
    let needed = crate::args::threshold(&judged.text).map_or(0, |threshold| threshold.answers_needed());
    let values = record.ledger.good;
    if judged.value.is_none() || needed <= values {
        return String::new();
    }
    format!(" of {}, {} needed for a firm figure", counted(values, "response"), count(needed))
}

/// The figure that a threshold was compared with.
pub fn seen(judged: &Judged) -> String {
    match (judged.value, judged.unit) {
        (None, _) => "there is no such figure".to_owned(),
        (Some(value), Unit::Seconds) if judged.at_least => format!("≥ {}", amount(Quantity::Seconds, value)),
        (Some(value), Unit::Seconds) => amount(Quantity::Seconds, value),
        (Some(value), Unit::PerSecond) => rate(value),
        (Some(value), Unit::One) if judged.text.trim_end().ends_with('%') => share(value),
        (Some(value), Unit::One) if value.fract() == 0.0 => count(value as u64),
        (Some(value), Unit::One) => share(value),
    }
}

/// Caveats to know before quoting a figure; the most serious comes last, where it is read.
fn verdict(record: &Record) -> Vec<Block> {
    let mut lists: Vec<(&'static str, Vec<Text>)> = Vec::new();
    lists.push(("!", signs(record)));
    let is_closed = record.plan.loop_model == LoopModel::Closed && record.ledger.sent > 0;
    lists.push(("!", is_closed.then(|| closed_loop(record).into()).into_iter().collect()));
    let trusted = match record.verdict.doubted.is_empty() {
        true => "trusted: the generator and its ledger passed all checks",
        false => "trusted except for the percentiles with an exclamation mark: all checks passed",
    };
    lists.push(("✓", record.verdict.trusted.then(|| Text::from(trusted)).into_iter().collect()));
    lists.push(("!", unjudged_failures(record).map(Text::from).into_iter().collect()));
    let missed = record.thresholds.iter().filter(|judged| judged.outcome != KeptOrCrossed::Kept).count();
    let all = counted(record.thresholds.len() as u64, "threshold");
    let missed = (missed > 0).then(|| Text::of(format!("{missed} of {all} not kept"), Look::Warning));
    let reasons = record.verdict.reasons.iter();
    let reasons =
        reasons.map(|it| Text::of("NOT TRUSTED:", Look::Warning).and(format!(" {}", tied(&it.text)), Look::Plain));
    lists.push(("✗", missed.into_iter().chain(reasons).collect()));
    let lists = lists.into_iter().filter(|(_, items)| !items.is_empty());
    lists.map(|(sign, items)| Block::List(List { sign, items })).collect()
}

/// Reports failures that no threshold covers.
fn unjudged_failures(record: &Record) -> Option<String> {
    let failed = record.ledger.failed + record.drain.failed;
    if failed == 0 || record.thresholds.iter().any(speaks_of_failures) {
        return None;
    }
    let after = match record.drain.failed {
        0 => String::new(),
        after => format!(" ({} of them after the window)", count(after)),
    };
    let failed = counted(failed, "request") + " failed";
    Some(tied(&format!("{failed}{after}, and no threshold covers failures: code 5")))
}

fn speaks_of_failures(judged: &Judged) -> bool {
    ["fail", "goodput"].iter().any(|word| judged.text.contains(word))
}

/// The limitation of a closed loop.
fn closed_loop(record: &Record) -> String {
    let users = u64::from(record.plan.vus);
    tied(&format!(
        "closed loop: a slow response delays the next request, so these percentiles hold for {} only",
        counted(users, "user")
    ))
}

#[cfg(test)]
mod tests;
