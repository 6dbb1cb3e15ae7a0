//! Every kind of event in its serialised form.

use tolok_model::{Failure, FailureKind, HostWindow, LedgerCounts, MemoryUse, ProgramRun, Resources, ToolUsed};

use super::*;
use crate::run::events::event::Phase;
use tolok_tools::LoadPhase;

fn lines(events: &[RunEvent]) -> String {
    let line = |(place, event): (usize, &RunEvent)| {
        serde_json::to_string(&EventLine::of(event, place as f64 + 0.123_456)).unwrap() + "\n"
    };
    events.iter().enumerate().map(line).collect()
}

fn in_trial(event: TrialEvent) -> RunEvent {
    RunEvent::InTrial { trial: Some(12), event }
}

fn planned() -> PlannedTrial {
    PlannedTrial { number: 12, block: 2, case: "json-c64--go-nethttp-encoder".to_owned(), launch: None }
}

fn finished(outcome: Outcome) -> RunEvent {
    let (trial, subject, scenario) = (planned(), "go/nethttp".to_owned(), "json-c64".to_owned());
    RunEvent::TrialFinished { trial, subject, scenario, outcome, left_s: 80.1 }
}

fn measured() -> Outcome {
    let memory = MemoryUse { anonymous_and_kernel_bytes_max: 12 << 20, ..MemoryUse::default() };
    let subject = Resources { cpu_s: 2.0, memory: Some(memory), ..Resources::default() };
    let percentile = |quantile: f64, latency_s: Option<f64>| json!({ "quantile": quantile, "latency_s": latency_s });
    let measurement = json!({
        "cold_start_s": 0.1, "window_s": 2.0, "goodput_rps": 20_000.0, "body_bytes": 1, "ledger": LedgerCounts::default(),
        "latency": { "loop": "closed", "percentiles": [percentile(0.5, Some(0.0012)), percentile(0.99, None)] },
        "subject": subject, "generator": Resources::default(), "host": HostWindow::default()
    });
    Outcome::Completed(Box::new(serde_json::from_value(measurement).unwrap()))
}

fn timed() -> Outcome {
    let run = |wall_s| ProgramRun { wall_s, ..ProgramRun::default() };
    Outcome::Timed(Box::new(ProgramTiming {
        timer: ToolUsed { name: "tolok".to_owned(), version: "1".to_owned() },
        resolution_s: 1e-9,
        runs: vec![run(0.003), run(0.001), run(0.002)],
        warmup_runs: 1,
        window_s: 1.0,
        ..ProgramTiming::default()
    }))
}

fn failed() -> Outcome {
    let message = "it ended with exit status 1".to_owned();
    Outcome::Failed(Failure { reason: FailureKind::DidNotStart, message, log_tail: Vec::new() })
}

fn second() -> TrialEvent {
    TrialEvent::Second(LoadSecond {
        phase: LoadPhase::WarmingUp,
        start_s: -1.0,
        duration_s: 1.0,
        good: 1234,
        failed: 0,
        p50_s: Some(0.0012),
        p99_s: None,
    })
}

#[test]
fn every_kind_of_event_is_one_line() {
    let (subject, scenario) = ("go/nethttp".to_owned(), "json-c64".to_owned());
    let (build, data) = (Preparation::Build(subject.clone()), Preparation::Data("MariaDB".to_owned()));
    let busy = vec!["another process used 0.6 CPUs".to_owned()];
    let events = [
        RunEvent::RunStarted {
            run: "2026-11-21-100000-example-000007".to_owned(),
            folder: "/home/me/runs/2026-11-21-100000-example-000007".into(),
            title: "Example".to_owned(),
            pid: 4711,
            trials: 110,
            finished: 0,
            estimate_s: 120.5,
        },
        RunEvent::PreparationStarted { what: build.clone(), number: 1, of: 2 },
        RunEvent::PreparationEnded { what: build, took_s: 12.5, failure: None },
        RunEvent::PreparationStarted { what: data.clone(), number: 1, of: 1 },
        RunEvent::PreparationEnded { what: data, took_s: 3.25, failure: Some("no room".to_owned()) },
        RunEvent::Waiting { reasons: busy.clone(), at_most_s: 10.0 },
        RunEvent::TrialStarted { trial: planned(), subject: subject.clone(), scenario: scenario.clone() },
        in_trial(TrialEvent::Phase { phase: Phase::Starting }),
        in_trial(TrialEvent::Phase { phase: Phase::WarmingUp }),
        in_trial(second()),
        in_trial(TrialEvent::Disturbed { reasons: busy, again: true }),
        finished(measured()),
        finished(timed()),
        finished(failed()),
        RunEvent::Diagnosing { subject: subject.clone(), scenario: scenario.clone() },
        RunEvent::InTrial { trial: None, event: TrialEvent::Phase { phase: Phase::Measuring } },
        RunEvent::Diagnosed { subject, scenario, failure: None },
        RunEvent::Standing { words: "1.02× (0.99–1.05)".to_owned() },
        RunEvent::Settled { blocks: 7, at_most: 30 },
        RunEvent::RunEnded { missing: 0, failed: 1 },
    ];
    insta::assert_snapshot!(lines(&events));
}
