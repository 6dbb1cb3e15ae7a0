//! Records of trials, including those from before a field existed.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use tolok_model::{LedgerCounts, Measurement};

/// A measurement as stored by the first version of tolok.
const FIRST: &str = r#"{
    "cold_start_s": 0.02, "window_s": 2.0, "goodput_rps": 45.0, "body_bytes": 900,
    "ledger": {
        "sent": 100, "good": 90, "failed": { "timeout": 4, "reset": 2 }, "in_flight_at_end": 4,
        "connections": 12, "connections_unanswered": 1
    },
    "latency": { "loop": "closed", "percentiles": [{ "quantile": 0.5, "latency_s": 0.1 }], "max_s": 0.3, "histogram": "" },
    "subject": {
        "cpu_s": 1.9, "run_queue_wait_s": 0.0, "processes_max": 1, "threads_max": 4, "rss_sum_bytes_max": 9, "pss_bytes": 8
    },
    "generator": {
        "cpu_s": 0.9, "run_queue_wait_s": 0.0, "processes_max": 1, "threads_max": 1, "rss_sum_bytes_max": 9, "pss_bytes": null
    },
    "host": { "foreign_cpu_s": 0.0, "steal_s": 0.0, "load_average": 0.4 }
}"#;

#[test]
fn a_record_of_the_first_version_is_read_without_what_it_does_not_have() {
    let read: Measurement = serde_json::from_str(FIRST).unwrap();
    assert_eq!((read.ledger.scheduled, read.ledger.unsent, read.ledger.unaccounted()), (None, 0, Some(0)));
    assert_eq!((read.offered_rps, read.aborted), (None, false));
    assert!(read.tool_warnings.is_empty() && read.objectives.is_empty());
    let stored = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Measurement>(&stored).unwrap(), read);
}

#[test]
fn every_request_is_accounted_for_or_counted_as_lost() {
    let ledger = |scheduled, sent, unsent, good| LedgerCounts {
        scheduled,
        sent: Some(sent),
        unsent,
        good,
        failed: [("timeout".to_owned(), 2)].into(),
        in_flight_at_end: Some(3),
        ..LedgerCounts::default()
    };
    assert_eq!(ledger(Some(20), 15, 5, 10).unaccounted(), Some(0));
    assert_eq!(ledger(None, 15, 0, 10).unaccounted(), Some(0));
    assert_eq!(ledger(Some(20), 15, 5, 9).unaccounted(), Some(1), "sent, and nothing became of it");
    assert_eq!(ledger(Some(20), 15, 5, 12).unaccounted(), Some(2), "more answers than requests");
    assert_eq!(ledger(Some(22), 15, 5, 10).unaccounted(), Some(2), "scheduled, and neither sent nor waiting");
}
