//! Factors of an invented study, from its records.

use crate::invented::factors::distances;
use crate::invented::{BUN, FPM, GO, InventedRun, NODE, fail_requests};
use tolok_analysis::{FactorPanel, Findings, VarianceFinding};
use tolok_model::{Arrivals, Environment, Executor, FailureKind, Limits, Link};

fn panel<'a>(findings: &'a Findings, factor: &str, fixed: &str) -> &'a FactorPanel {
    let is_meant = |panel: &&FactorPanel| panel.factor == factor && panel.fixed == fixed;
    findings.sensitivity.iter().find(is_meant).unwrap_or_else(|| {
        let known: Vec<(&str, &str)> =
            findings.sensitivity.iter().map(|it| (it.factor.as_str(), it.fixed.as_str())).collect();
        panic!("no {factor} with {fixed:?} among {known:?}")
    })
}

fn shares(finding: &VarianceFinding) -> Vec<(&str, f64)> {
    finding.shares.iter().map(|share| (share.factor.as_str(), share.share.value)).collect()
}

#[test]
fn scenarios_that_differ_in_one_factor_stand_beside_each_other() {
    let findings = distances(6, &[16, 64], &[5, 16], &[0, 20, 100]).findings();
    let mut found: Vec<(&str, &str, usize)> =
        findings.sensitivity.iter().map(|it| (it.factor.as_str(), it.fixed.as_str(), it.levels.len())).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("connections", "0 ms to the database · pool of 16", 2),
            ("connections", "0 ms to the database · pool of 5", 2),
            ("connections", "100 ms to the database · pool of 16", 2),
            ("connections", "100 ms to the database · pool of 5", 2),
            ("connections", "20 ms to the database · pool of 16", 2),
            ("connections", "20 ms to the database · pool of 5", 2),
            ("database-rtt", "pool of 16 · 16 users", 3),
            ("database-rtt", "pool of 16 · 64 users", 3),
            ("database-rtt", "pool of 5 · 16 users", 3),
            ("database-rtt", "pool of 5 · 64 users", 3),
            ("pool", "0 ms to the database · 16 users", 2),
            ("pool", "0 ms to the database · 64 users", 2),
            ("pool", "100 ms to the database · 16 users", 2),
            ("pool", "100 ms to the database · 64 users", 2),
            ("pool", "20 ms to the database · 16 users", 2),
            ("pool", "20 ms to the database · 64 users", 2),
        ]
    );
}

#[test]
fn a_panel_has_every_subject_at_every_level() {
    let findings = distances(6, &[16], &[16], &[0, 20, 100]).findings();
    let panel = panel(&findings, "database-rtt", "");
    assert_eq!((panel.title.as_str(), panel.unit.as_str()), ("round-trip time to the database", "s"));
    assert_eq!(
        (panel.workload.as_str(), panel.workload_title.as_str()),
        ("rows?fields=40&limit=1000", "1,000 rows of 40 fields")
    );
    let labels: Vec<(f64, &str)> = panel.levels.iter().map(|level| (level.value, level.label.as_str())).collect();
    assert_eq!(labels, [(0.0, "0 ms"), (0.02, "20 ms"), (0.1, "100 ms")]);
    assert_eq!(panel.lines.len(), 5);
    for line in &panel.lines {
        assert_eq!(line.points.len(), 3);
        assert!(line.points[0].of_lowest.is_none());
        let far = line.points[2].of_lowest.as_ref().unwrap();
        assert!(far.value < 1.0 && far.low.unwrap() <= far.value && far.high.unwrap() < 1.0, "{}: {far:?}", line.title);
        assert!(line.points[2].limited_by.is_some());
    }
    let bun = panel
        .crossovers
        .iter()
        .find(|it| it.faster_below == "bun/serve:default" && it.faster_above == "go/nethttp:encoder");
    let bun = bun.expect("the crossover of Bun and Go");
    assert!(bun.sure && (0.0..=0.1).contains(&bun.at), "{bun:?}");
    assert!(bun.at_low.unwrap() < bun.at && bun.at < bun.at_high.unwrap());
    insta::assert_snapshot!(panel.sentence, @"Going from 0 ms to 100 ms of round trip to the database cuts throughput to between 44% (Bun.serve) and 93% (Node http). Bun.serve and Go net/http change places at about 39 ms (37–41), PHP Swoole and Node http at about 49 ms (46–53), Bun.serve and Node http at about 78 ms (77–79).");
}

#[test]
fn a_grid_says_which_factor_matters_how_much() {
    let findings = distances(6, &[16, 64], &[5, 16], &[0, 20, 100]).findings();
    let [finding] = findings.variance.as_slice() else { panic!("{:?}", findings.variance) };
    assert_eq!((finding.cases, finding.blocks, finding.filled), (60, 6, 0));
    let shares = shares(finding);
    let names: Vec<&str> = shares.iter().map(|(factor, _)| *factor).collect();
    assert_eq!(names, ["database-rtt", "subject", "pool", "connections", "interactions", "residual"]);
    assert!((shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
    let rtt = &finding.shares[0];
    assert!(rtt.share.low.unwrap() < rtt.share.value && rtt.share.value < rtt.share.high.unwrap());
    assert!(rtt.range_ratio.unwrap() > 2.0 && finding.shares[4].range_ratio.is_none());
    assert!(
        finding.shares[4..].iter().all(|rest| rest.share.low.is_none()),
        "interactions and residual have no interval"
    );
    insta::assert_snapshot!(finding.sentence, @"The round-trip time to the database makes up 45.3% (45.0–45.5%) of the differences, the subject 19.4% (19.3–19.6%): 2.3 times as much; factors together, beyond each alone, 20%.");
}

#[test]
fn the_same_records_give_the_same_intervals() {
    let run = distances(6, &[16], &[5, 16], &[0, 20, 100]);
    let mut shuffled = run.clone();
    shuffled.trials.reverse();
    let (found, again) = (run.findings(), shuffled.findings());
    assert_eq!((found.sensitivity, found.variance), (again.sensitivity, again.variance));
}

#[test]
fn a_subject_that_lacks_a_combination_is_left_out_and_said() {
    let mut run = distances(6, &[16], &[5, 16], &[0, 20]);
    run.change(|_, trial| fail_requests(trial, 100));
    let findings = run.findings();
    assert_eq!(findings.variance[0].left_out, ["php/swoole:default"]);
    assert_eq!(findings.variance[0].cases, 16);
    let last = panel(&findings, "database-rtt", "pool of 16");
    assert!(last.lines.iter().all(|line| line.subject != "php/swoole:default"), "it has a figure at one level only");
}

#[test]
fn a_trial_that_is_missing_costs_neither_its_subject_nor_its_block() {
    let mut run = distances(6, &[16], &[5, 16], &[0, 20]);
    run.fail(2, FailureKind::DidNotStart, "it did not start");
    let finding = &run.findings().variance[0];
    assert_eq!((finding.blocks, finding.filled, finding.left_out.len()), (6, 1, 0));
}

#[test]
fn few_blocks_have_shares_and_no_intervals() {
    let findings = distances(3, &[16], &[5, 16], &[0, 20]).findings();
    let finding = &findings.variance[0];
    assert!(finding.shares.iter().all(|share| share.share.low.is_none() && share.share.value >= 0.0));
    assert!(finding.sentence.ends_with("; there are too few rounds for intervals."), "{}", finding.sentence);
    assert!(findings.sensitivity.iter().flat_map(|it| &it.crossovers).all(|it| it.at_low.is_none() && !it.sure));
}

#[test]
fn a_link_whose_parts_are_not_combined_is_one_factor() {
    let mut run = InventedRun::new(5);
    for (id, link) in [
        ("near", Link::default()),
        ("wifi", Link::preset("lan-wifi").unwrap()),
        ("cloud", Link::preset("cloud-db-20ms").unwrap()),
        ("wan", Link::preset("wan-170ms").unwrap()),
    ] {
        let rate = if id == "wan" { 400.0 } else { 9_000.0 };
        run.environment(Environment { id: id.to_owned(), link, ..Environment::default() });
        run.scenario(&format!("json-c64-{id}"), "json", "JSON", 64).steady(GO, rate * 1.4).steady(NODE, rate);
    }
    let findings = run.findings();
    let [panel] = findings.sensitivity.as_slice() else { panic!("{:?}", findings.sensitivity) };
    let labels: Vec<&str> = panel.levels.iter().map(|level| level.label.as_str()).collect();
    assert_eq!(
        (panel.factor.as_str(), labels),
        ("link-rtt", vec!["0 ms", "20 ms", "170 ms"]),
        "Wi-Fi differs in more than the RTT"
    );
    assert_eq!(shares(&findings.variance[0])[0].0, "link");
    assert_eq!(findings.variance[0].cases, 8);
}

#[test]
fn parameters_of_a_workload_are_factors_and_cpu_modes_are_none() {
    let mut run = InventedRun::new(5);
    for (id, mode) in [("own", tolok_model::CpuMode::Dedicated), ("quota", tolok_model::CpuMode::Quota)] {
        let subject = Limits { mode, ..Limits::default() };
        run.environment(Environment { id: id.to_owned(), subject, ..Environment::default() });
        for (limit, rate) in [(10, 9_000.0), (1_000, 300.0)] {
            let workload = format!("rows?fields=40&limit={limit}");
            run.scenario(&format!("rows-{limit}-{id}"), &workload, &format!("{limit} rows"), 64);
            run.steady(GO, rate).steady(FPM, rate / 2.0);
        }
    }
    let findings = run.findings();
    let panels: Vec<(&str, &str, &str)> =
        findings.sensitivity.iter().map(|it| (it.factor.as_str(), it.workload.as_str(), it.fixed.as_str())).collect();
    assert_eq!(
        panels,
        [("parameter:limit", "rows?fields=40", "dedicated CPUs"), ("parameter:limit", "rows?fields=40", "a quota")]
    );
    let apart: Vec<&str> = findings.variance.iter().map(|finding| finding.fixed.as_str()).collect();
    assert_eq!(apart, ["dedicated CPUs", "a quota"]);
}

#[test]
fn rates_that_are_offered_have_a_panel_and_no_shares() {
    let mut run = InventedRun::new(5);
    for rate_rps in [1_000.0, 5_000.0] {
        let executor = Executor::ConstantArrivalRate { rate_rps, arrivals: Arrivals::Poisson };
        run.scenario_with(&format!("hello-r{rate_rps}"), "hello", "Hello", executor, &[]);
        run.steady(GO, rate_rps).steady(BUN, rate_rps * 0.99);
    }
    let findings = run.findings();
    assert_eq!(findings.sensitivity[0].factor, "offered-rate");
    assert_eq!(findings.sensitivity[0].unit, "per_s");
    assert!(findings.variance.is_empty());
}

#[test]
fn a_study_of_one_scenario_has_nothing_of_this() {
    let mut run = InventedRun::new(5);
    run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0).steady(BUN, 39_600.0);
    let findings = run.findings();
    assert!(findings.sensitivity.is_empty() && findings.variance.is_empty());
}
