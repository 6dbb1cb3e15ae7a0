//! Mixed workloads in every format.

use tolok_analysis::Findings;
use tolok_model::{PartFigures, Percentile};

use super::*;
use crate::invented::{BUN, GO, InventedRun};

/// Two servers with three parts; the last part has too few responses for a p99.
fn mixed() -> Findings {
    let mut run = InventedRun::new(5);
    run.scenario("mixed-c64", "mixed", "Mixed", 64);
    let part = |part: &str, asked_share: f64, sent: u64, slower: f64| PartFigures {
        part: part.to_owned(),
        asked_share,
        sent,
        good: sent - 1,
        failed: 1,
        percentiles: vec![
            Percentile::new(0.5, Some(0.001 * slower)),
            Percentile::new(0.99, (sent > 1_000).then_some(0.004 * slower)),
        ],
    };
    for (server, slower) in [(GO, 1.0), (BUN, 0.5)] {
        run.steady(server, 40_000.0).change(|block, trial| {
            let slower = slower * (1.0 + 0.01 * f64::from(block));
            trial.parts = vec![
                part("items?n=20", 0.5, 5_000, slower),
                part("query", 0.3, 3_050, 3.0 * slower),
                part("validate", 0.2, 900, slower),
            ];
        });
    }
    with_six_digits(run.findings())
}

#[test]
fn in_a_terminal() {
    let text = verbose(&mixed(), &Style { colour: false, width: 100 });
    insta::assert_snapshot!(
        text.lines().skip_while(|line| !line.contains("mixture")).take(11).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn in_json() {
    let document: serde_json::Value = serde_json::from_str(&text(&mixed(), Format::Json)).expect("JSON");
    let parts = &document["scenarios"][0]["cases"][0]["parts"];
    assert_eq!(parts[1]["part"], "query");
    assert_eq!((&parts[1]["sent"], &parts[1]["good"]), (&serde_json::json!(15_250), &serde_json::json!(15_245)));
    assert!(parts[1]["latency_p99_s"]["value"].is_f64() && parts[2]["latency_p99_s"].is_null(), "{parts}");
}

#[test]
fn a_workload_that_is_not_mixed_has_no_parts() {
    let findings = ordinary().findings();
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        assert!(!text(&findings, format).contains("a mixture"), "{format:?}");
    }
}
