//! Slow and fast clients in one load.

use tolok_analysis::Findings;
use tolok_model::{ClientFigures, Clients, Latency, Measurement, Percentile};

use super::*;
use crate::invented::{BUN, GO, InventedRun};

/// Two equally fast servers; one lets slow clients occupy its workers, so that fast ones wait.
fn slow_and_fast() -> Findings {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64-slow20-read64KiB", "hello", "Hello", 64);
    for (server, of_fast) in [(GO, 0.9), (BUN, 0.1)] {
        run.steady(server, 40_000.0).change(|_, trial| {
            let clients = |trial: &Measurement, users, share: f64, p50_s| ClientFigures {
                users,
                goodput_rps: trial.goodput_rps * share,
                sent: 5_000,
                good: 5_000,
                failed: 0,
                latency: Latency {
                    percentiles: vec![Percentile::new(0.5, Some(p50_s)), Percentile::new(0.99, Some(4.0 * p50_s))],
                    ..trial.latency.clone()
                },
            };
            let fast = clients(trial, 51, of_fast, 0.001 / of_fast);
            let slow = clients(trial, 13, 1.0 - of_fast, 2.0);
            trial.clients = Some(Box::new(Clients { fast, slow }));
        });
    }
    with_six_digits(run.findings())
}

#[test]
fn cases_are_compared_by_the_fast_ones() {
    let text = verbose(&slow_and_fast(), &Style { colour: false, width: 100 });
    let of_clients = text.lines().skip_while(|line| !line.contains("by the fast clients")).take(9);
    insta::assert_snapshot!(of_clients.collect::<Vec<_>>().join("\n"));
    let findings = slow_and_fast();
    assert!(
        findings.scenarios[0].verdict.contains("faster than Bun.serve: 8.91×"),
        "{}",
        findings.scenarios[0].verdict
    );
}

#[test]
fn slow_clients_have_columns_of_their_own() {
    let text = text(&slow_and_fast(), Format::Csv);
    let names = ["subject", "goodput_rps", "slow_goodput_rps", "slow_latency_p50_s", "slow_latency_p99_s"];
    insta::assert_snapshot!(columns(&text, &names));
}
