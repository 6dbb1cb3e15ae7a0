use std::time::Duration;

use tolok_load::options::{ConnectionPolicy, Executor};
use tolok_load::record::{ClientRecord, ClientRecords, LoopModel};
use tolok_load::verdict::{Gate, Reason};

use super::super::tests::{flawless, record};
use super::*;

fn plain(record: &Record, width: u16) -> String {
    text(record, Style { colour: false, width })
}

fn first_lines(record: &Record) -> String {
    plain(record, 120).lines().take(3).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_open_loop_with_failures_and_thresholds() {
    let mut record = record();
    record.verdict.trusted = false;
    for (gate, text) in [
        (Gate::OfferedRate, "the offered rate was missed: 10 of 11000 requests still waited when the window ended"),
        (Gate::GeneratorBusy, "the generator was 97% busy: these figures are its limit as much as the server's"),
    ] {
        record.verdict.reasons.push(Reason { gate, text: text.to_owned() });
    }
    insta::assert_snapshot!("open-80", plain(&record, 80));
    insta::assert_snapshot!("open-120", plain(&record, 120));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [80, 100] {
        let text = plain(&record(), width);
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= usize::from(width), "{widest}");
    }
}

/// A flawless closed loop.
fn closed() -> Record {
    let mut record = flawless();
    record.plan.executor = "constant-vus".to_owned();
    record.plan.profile = Executor::ConstantVus { vus: 64, duration: Duration::from_millis(5500) };
    (record.plan.loop_model, record.plan.vus, record.offered_rps) = (LoopModel::Closed, 64, None);
    (record.ledger.unsent, record.ledger.scheduled) = (0, record.ledger.sent);
    (record.drain.abandoned, record.drain.never_sent, record.drain.good) = (0, 0, 10);
    (record.queue_time.count, record.failure_time.count) = (0, 0);
    record
}

#[test]
fn a_closed_loop_without_a_flaw() {
    insta::assert_snapshot!("closed-80", plain(&closed(), 80));
}

#[test]
fn what_matters_has_its_colour() {
    let mut record = record();
    let colours = |record: &Record| text(record, Style { colour: true, width: 80 });
    assert!(colours(&record).contains("\x1b[32m✓\x1b[0m"));
    record.verdict.trusted = false;
    record.verdict.reasons = vec![Reason { gate: Gate::Ledger, text: "requests were lost".to_owned() }];
    let text = colours(&record);
    assert!(text.ends_with("\x1b[33m✗ NOT TRUSTED:\x1b[0m requests were lost\n"), "{text:?}");
}

#[test]
fn the_first_lines_say_what_was_done() {
    let mut record = closed();
    record.plan.connection = ConnectionPolicy::Requests { requests_per_connection: 10 };
    record.plan.think_time_s = [0.3, 0.3];
    record.plan.body_check = "exactly".to_owned();
    insta::assert_snapshot!(first_lines(&record), @"
    GET http://127.0.0.1:8080/json
      constant-vus (closed loop): 64 users · a connection for 10 requests · pauses of 0.3 s · every body compared · 5.5 s
      after 1 s of warm-up
    ");
}

#[test]
fn with_http2_connections_and_streams_are_told_apart() {
    let mut record = closed();
    record.plan.http_version = "2".to_owned();
    record.plan.streams_per_connection = Some(10);
    assert!(first_lines(&record).contains("64 users · HTTP/2, 10 streams a connection · keep-alive"));
    let mut open = self::record();
    open.plan.streams_per_connection = Some(10);
    assert!(first_lines(&open).contains(" streams · HTTP/2, 10 streams a connection"), "{}", first_lines(&open));
}

#[test]
fn signs_say_what_a_percentile_is_worth() {
    let mut record = record();
    let percentiles = &mut record.response_time.percentiles;
    for percentile in percentiles.iter_mut() {
        (percentile.latency_s, percentile.at_least_s, percentile.once_s) = match percentile.quantile {
            0.5 => (Some(0.000_05), None, None),
            0.9 => (None, None, Some(0.000_06)),
            0.99 => (None, Some(0.4), None),
            _ => (None, None, None),
        };
    }
    record.verdict.doubted = vec![tolok_load::verdict::Doubt { quantile: 0.5, moved: 0.08 }];
    let shown = plain(&record, 120);
    let row = shown.lines().find(|line| line.trim_start().starts_with("response")).unwrap();
    let row: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(row[1..9], ["50.0", "µs!", "(60.0", "µs)", "≥", "400", "ms", "–"]);
    for words in ["≥: at least that", "in parentheses: fewer than ten", "made it larger: p50 by 8%"] {
        let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(words), "{words:?} is missing:\n{shown}");
    }
}

#[test]
fn slow_and_fast_clients_have_a_table_of_their_own() {
    let mut record = flawless();
    let clients = |users, goodput_rps, sent| ClientRecord {
        users,
        goodput_rps: Some(goodput_rps),
        sent,
        good: sent,
        failed: 0,
        response_time: record.response_time.clone(),
    };
    record.clients = Some(ClientRecords { fast: clients(51, 9_000.5, 9_001), slow: clients(13, 2.5, 3) });
    let text = plain(&record, 100);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("correct/s ")).take(3).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    clients  users  correct/s   sent   good  failed     p50     p99      max
    fast        51      9,000  9,001  9,001       0  104 µs  402 µs  3.40 ms
    slow        13        2.5      3      3       0  104 µs  402 µs  3.40 ms
    ");
}

#[test]
fn the_parts_of_a_mix_have_a_table_of_their_own() {
    let mut record = flawless();
    assert!(!plain(&record, 100).contains("drawn"), "without parts there is none");
    let part = |part: &str, asked_share, sent| PartRecord {
        part: part.to_owned(),
        asked_share,
        sent_share: Some(sent as f64 / 10_000.0),
        sent,
        good: sent,
        failed: 0,
        response_time: record.response_time.clone(),
    };
    record.parts = vec![part("list", 0.75, 7_434), part("form", 0.25, 2_566)];
    let text = plain(&record, 100);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("drawn")).take(3).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    part  asked  drawn   sent   good  failed     p50     p99
    list    75%    74%  7,434  7,434       0  104 µs  402 µs
    form    25%    26%  2,566  2,566       0  104 µs  402 µs
    ");
}
