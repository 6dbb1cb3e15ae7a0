//! What the engine is told, and what is made of its record.

use tolok_load::fault::ErrorClass;
use tolok_load::options::ConnectionPolicy;
use tolok_load::record::{Connections, Distribution, Drain, ErrorExample, Ledger, PlanSummary, WarmUpLedger};

use super::*;

#[test]
fn a_job_is_told_in_the_words_of_the_command_line() {
    let mut load = LoadProfile {
        executor: Executor::ConstantVus { vus: 64 },
        duration_s: 10.0,
        warmup_s: 0.3,
        connection: Connection::KeepAlive,
        timeout_s: 2.5,
    };
    let told = |load: &LoadProfile| {
        let url = "http://127.0.0.1:8080/hello".to_owned();
        arguments(&LoadJob { url, status: 200, body: "/tmp/assets/hello".into(), load }).join(" ")
    };
    let expect = "load http://127.0.0.1:8080/hello --vus=64 --duration=10000000us --warmup=300000us \
                  --timeout=2500000us --grace=0s --expect-status=200 --expect-body=/tmp/assets/hello --format=json \
                  --events";
    assert_eq!(told(&load), expect);
    load.connection = Connection::PerRequest;
    assert_eq!(told(&load), format!("{expect} --no-keepalive"));
}

#[test]
fn events_are_json_lines_with_a_name() {
    let check = |event, line: &str| assert_eq!(serde_json::from_str::<ToolEvent>(line).ok(), event);
    let started = ToolEvent::WindowStarted { monotonic_ns: 17 };
    check(Some(started), r#"{"event":"window-started","monotonic_ns":17}"#);
    check(None, r#"{"event":"window-started"}"#);
    check(Some(ToolEvent::Second), r#"{"event":"second"}"#);
    let ended = ToolEvent::WindowEnded { monotonic_ns: 18 };
    check(Some(ended), r#"{"event":"window-ended","monotonic_ns":18}"#);
    check(None, "warning: the machine is busy");
}

fn nothing_measured() -> Distribution {
    let (min_s, mean_s, max_s) = (None, None, None);
    Distribution { count: 0, min_s, mean_s, max_s, percentiles: Vec::new(), histogram: String::new() }
}

/// Two seconds in which 100 requests were sent, 90 of them well answered; 10 more had been sent before.
fn record() -> Record {
    let percentile = |quantile, latency_s| tolok_load::record::Percentile { quantile, latency_s };
    Record {
        format: Record::FORMAT,
        engine: "tolok-load 0.1.0".to_owned(),
        plan: PlanSummary {
            url: "http://127.0.0.1:8080/hello".to_owned(),
            address: "127.0.0.1:8080".to_owned(),
            method: "GET".to_owned(),
            executor: "constant-vus".to_owned(),
            loop_model: LoopModel::Closed,
            vus: 10,
            warm_up_s: 0.5,
            window_s: 2.0,
            timeout_s: 10.0,
            connect_timeout_s: 10.0,
            grace_s: 0.0,
            connection: ConnectionPolicy::KeepAlive,
            source_addresses: 0,
            expected_body_bytes: Some(1000),
        },
        interrupted: false,
        warm_up_s: 0.5,
        window_s: 2.0,
        window_start_monotonic_ns: 1,
        window_end_monotonic_ns: 2_000_000_001,
        goodput_rps: Some(45.0),
        last_good_s: Some(1.75),
        ledger: Ledger {
            scheduled: 100,
            sent: 100,
            good: 90,
            failed: 6,
            failed_by_class: [(ErrorClass::Timeout, 4), (ErrorClass::BadStatus, 2)].into(),
            in_flight_at_end: 4,
        },
        warm_up: WarmUpLedger {
            sent: 30,
            good: 20,
            failed: 0,
            carried_over: 10,
            carried_over_good: 8,
            carried_over_waiting: 2,
        },
        drain: Drain { good: 0, failed: 0, abandoned: 4 },
        response_time: Distribution {
            count: 90,
            max_s: Some(0.25),
            percentiles: vec![percentile(0.5, Some(0.1)), percentile(0.99, None)],
            histogram: "HISTOGRAM".to_owned(),
            ..nothing_measured()
        },
        service_time: nothing_measured(),
        lateness: nothing_measured(),
        failure_time: nothing_measured(),
        connect_time: nothing_measured(),
        timeline: Vec::new(),
        connections: Connections { opened: 12, never_answered: 1, ..Connections::default() },
        received_bytes: 99_000,
        sent_bytes: 9_000,
        error_examples: vec![
            ErrorExample { class: ErrorClass::Timeout, text: "no answer".to_owned(), at_s: 1.0 },
            ErrorExample { class: ErrorClass::BadStatus, text: "status 500".to_owned(), at_s: 1.5 },
        ],
        cpu_user_s: 0.1,
        cpu_system_s: 0.1,
        generator_busy: Some(0.1),
    }
}

#[test]
fn answers_to_requests_of_the_warm_up_are_work_of_the_window() {
    let report = report(record()).unwrap();
    assert_eq!(report.goodput_rps, (90.0 + 8.0) / 2.0);
    assert_eq!(report.body_bytes, 98 * 1000);
    // The ledger is of the requests of the window alone, and closes.
    assert_eq!((report.ledger.good, report.ledger.balance()), (90, 0));
    assert_eq!((report.carried_over, report.carried_over_good, report.last_good_s), (10, 8, Some(1.75)));
    // Four wait since the window and two since the warm-up.
    assert_eq!((report.waiting_at_end, report.users), (6, 10));
}

#[test]
fn failures_are_counted_by_the_stable_names_of_their_classes() {
    let report = report(record()).unwrap();
    assert_eq!(report.ledger.failed, [("bad_status".to_owned(), 2), ("timeout".to_owned(), 4)].into());
    assert_eq!((report.ledger.in_flight_at_end, report.ledger.sent), (4, 100));
    assert_eq!((report.ledger.connections, report.ledger.connections_unanswered), (12, 1));
    assert_eq!(report.examples, ["no answer", "status 500"]);
}

#[test]
fn latencies_keep_their_gaps_and_their_histogram() {
    let latency = report(record()).unwrap().latency;
    assert_eq!((latency.at(0.5), latency.at(0.99), latency.max_s), (Some(0.1), None, 0.25));
    assert_eq!((latency.model.as_str(), latency.histogram.as_str()), ("closed", "HISTOGRAM"));
}

#[test]
fn what_is_no_measurement_is_refused() {
    let check = |change: fn(&mut Record), expect: &str| {
        let mut record = record();
        change(&mut record);
        assert_eq!(report(record).unwrap_err(), expect);
    };
    check(|record| record.interrupted = true, "the load tool was interrupted");
    check(|record| record.format = 99, "the load tool's record has format 99, and 1 is known");
    check(|record| record.window_s = 0.0, "the load tool measured no window");
}

/// A tool that is a line of shell; it gets the arguments of the job and does not care.
fn tool(folder: &Path, shell: &str) -> RunningTool {
    let program = folder.join("tool.sh");
    // Written by another process: a file that this one had open for writing might be busy when it is to be run, because a
    // child of another test can still hold it.
    let write = "printf '#!/bin/sh\n%s\n' \"$1\" > \"$2\" && chmod +x \"$2\"";
    let written = Command::new("/bin/sh").args(["-c", write, "sh", shell]).arg(&program).status().unwrap();
    assert!(written.success());
    let load = LoadProfile {
        executor: Executor::ConstantVus { vus: 1 },
        duration_s: 1.0,
        warmup_s: 0.0,
        connection: Connection::KeepAlive,
        timeout_s: 1.0,
    };
    let job = LoadJob { url: "http://127.0.0.1:1/".to_owned(), status: 200, body: "/dev/null".into(), load: &load };
    RunningTool::start(&program, &job, &[], folder).unwrap()
}

/// Everything that it tells until it ends.
fn heard(tool: &RunningTool) -> Vec<ToolEvent> {
    std::iter::from_fn(|| match tool.wait_event(Duration::from_secs(60)) {
        Waited::Event(event) => Some(event),
        Waited::Nothing => panic!("the tool hangs"),
        Waited::Ended => None,
    })
    .collect()
}

#[test]
fn a_tool_tells_events_logs_the_rest_and_leaves_its_record() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("record"), serde_json::to_string(&record()).unwrap()).unwrap();
    let shell = r#"echo '{"event":"window-started","monotonic_ns":1}' >&2
        echo 'a word to people' >&2
        echo '{"event":"window-ended","monotonic_ns":2}' >&2
        cat "$(dirname "$0")/record""#;
    let tool = tool(folder.path(), shell);
    let expect = [ToolEvent::WindowStarted { monotonic_ns: 1 }, ToolEvent::WindowEnded { monotonic_ns: 2 }];
    assert_eq!(heard(&tool), expect);
    assert_eq!(tool.finish().unwrap().ledger.good, 90);
    assert_eq!(std::fs::read_to_string(folder.path().join("tool.log")).unwrap(), "a word to people\n");
}

#[test]
fn a_tool_that_fails_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let check = |shell: &str, expect: &str| {
        let tool = tool(folder.path(), shell);
        assert_eq!(heard(&tool), []);
        assert_eq!(tool.finish().unwrap_err(), expect);
    };
    check("echo 'error: cannot connect' >&2; exit 2", "the load tool ended with exit status: 2: error: cannot connect");
    check("exit 3", "the load tool ended with exit status: 3");
    check("exit 0", "the load tool gave no record: EOF while parsing a value at line 1 column 0");
}

#[test]
fn a_tool_that_is_given_up_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let tool = tool(folder.path(), "exec sleep 1000");
    let pid = tool.pid();
    assert_eq!(tool.wait_event(Duration::ZERO), Waited::Nothing);
    drop(tool);
    assert!(!Path::new("/proc").join(pid.to_string()).exists());
}
