//! Recommendations on invented runs.

use crate::invented::factors::distances;
use crate::invented::judgement::Noise;
use crate::invented::{APACHE, BUN, CEILING, FPM, GO, InventedRun, NODE, SWOOLE, Server, fail_requests};
use tolok_analysis::{Findings, Recommendation, Strength, VariantSetup, Verdict};
use tolok_model::{Arrivals, Executor, FailureKind};

/// A run whose figures can be quoted: ten blocks, windows of 20 s.
fn quotable() -> InventedRun {
    let mut run = InventedRun::new(10);
    scenario(&mut run, "json");
    run
}

fn scenario(run: &mut InventedRun, workload: &str) {
    run.scenario(&format!("{workload}-c64"), workload, &workload.to_uppercase(), 64);
    run.plan.scenarios.last_mut().expect("it was just added").load.duration_s = 20.0;
}

fn of<'a>(findings: &'a Findings, rule: &str) -> Vec<&'a Recommendation> {
    findings.recommendations.iter().filter(|one| one.rule == rule).collect()
}

/// The picks for the most correct responses per second, and their strength.
fn most_answers(run: &InventedRun) -> (Vec<String>, Strength) {
    let findings = run.findings();
    let rows = of(&findings, "most-answers");
    assert_eq!(rows.len(), 1);
    (rows[0].picks.clone(), rows[0].strength)
}

fn titles(servers: &[Server]) -> Vec<String> {
    servers.iter().map(|server| server.title.to_owned()).collect()
}

#[test]
fn one_that_is_far_ahead_in_a_quotable_run_is_strong() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0).steady(NODE, 17_000.0);
    assert_eq!(most_answers(&run), (titles(&[BUN]), Strength::Strong));
    let findings = run.findings();
    let row = of(&findings, "most-answers")[0];
    assert!(row.because.contains("1.3") && row.because.contains("ahead in 10 of 10 rounds"), "{}", row.because);
    assert_eq!(row.scenarios, ["json-c64"]);
    assert!(row.need.ends_with(": JSON") && row.changes_if.starts_with("Nothing that this run knows of"), "{row:?}");
}

#[test]
fn a_reference_is_never_taken_however_far_it_is_ahead() {
    let mut run = quotable();
    run.steady(APACHE, 50_000.0).steady(BUN, 40_000.0).steady(GO, 30_000.0);
    scenario(&mut run, "hello");
    run.steady(APACHE, 60_000.0).steady(BUN, 41_000.0).steady(GO, 30_000.0);
    assert_eq!(most_answers(&run), (titles(&[APACHE]), Strength::Strong), "as long as it does the same work");
    let apache = run.names.subjects.get_mut("php/apache").expect("it was added");
    let setup = VariantSetup { help: String::new(), less_work: Some("its answers are files".to_owned()) };
    apache.setup.variants = [("default".to_owned(), setup)].into();
    assert_eq!(most_answers(&run), (titles(&[BUN]), Strength::Strong));
    let findings = run.findings();
    assert!(findings.recommendations.iter().all(|row| !row.picks.contains(&APACHE.title.to_owned())), "{findings:?}");
    let everything = of(&findings, "one-for-everything")[0];
    assert!(everything.picks == titles(&[BUN]) && everything.because.contains("Bun.serve 100%"), "{everything:?}");
}

/// One of the three properties is missing: far, clear, sound.
#[test]
fn what_is_lacking_takes_strength_away() {
    let mut near = quotable();
    near.steady(GO, 30_000.0).steady(BUN, 32_000.0);
    assert_eq!(most_answers(&near), (titles(&[BUN]), Strength::Moderate));
    let mut tied = quotable();
    tied.steady(GO, 40_000.0).steady(BUN, 40_000.0).steady(NODE, 17_000.0);
    let (mut picks, strength) = most_answers(&tied);
    picks.sort();
    assert_eq!((picks, strength), (titles(&[BUN, GO]), Strength::Moderate));
    let mut short = quotable();
    short.plan.scenarios[0].load.duration_s = 2.0;
    short.steady(GO, 30_000.0).steady(BUN, 40_000.0);
    assert_eq!(most_answers(&short), (titles(&[BUN]), Strength::Moderate));
    let changes_if = of(&short.findings(), "most-answers")[0].changes_if.clone();
    assert!(changes_if.ends_with("; for more certainty: windows of 10 s or more (now 2 s)."), "{changes_if}");
    let mut both = quotable();
    both.plan.scenarios[0].load.duration_s = 2.0;
    both.steady(GO, 30_000.0).steady(BUN, 32_000.0);
    assert_eq!(most_answers(&both), (titles(&[BUN]), Strength::Weak));
}

#[test]
fn an_unranked_case_is_never_picked() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(NODE, 17_000.0).steady(BUN, 40_000.0);
    run.change(|_, trial| fail_requests(trial, 100_000));
    let findings = run.findings();
    assert!(!findings.recommendations.is_empty());
    assert!(findings.recommendations.iter().all(|one| !one.picks.contains(&BUN.title.to_owned())));
    assert_eq!(most_answers(&run).0, titles(&[GO]));
}

/// A case with one trial too few to be told apart from the first must not be picked beside it.
#[test]
fn a_case_with_too_few_blocks_is_named_and_not_picked() {
    let mut run = InventedRun::new(5);
    scenario(&mut run, "json");
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0).steady(FPM, 5_000.0);
    run.fail(2, FailureKind::DidNotStart, "it did not start");
    let findings = run.findings();
    let row = of(&findings, "most-answers")[0];
    assert_eq!(row.picks, titles(&[BUN]));
    assert!(row.because.contains("PHP-FPM + nginx has too few common rounds for a verdict"), "{}", row.because);
    assert!(row.strength > Strength::Strong);
}

#[test]
fn where_nothing_can_be_told_nobody_is_taken_and_it_is_said_what_would_tell() {
    let mut run = InventedRun::new(2);
    scenario(&mut run, "json");
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0);
    let findings = run.findings();
    let row = of(&findings, "most-answers")[0];
    assert_eq!((row.picks.len(), row.strength), (0, Strength::None));
    assert_eq!(row.because, "2 common rounds, and an interval needs 5.");
    assert!(row.changes_if.starts_with("5 rounds or more"), "{}", row.changes_if);

    let mut wide = InventedRun::new(6);
    scenario(&mut wide, "json");
    wide.case(GO, &[10.0, 20.0, 12.0, 19.0, 9.0, 30.0]).case(BUN, &[20.0, 9.0, 18.0, 10.0, 21.0, 11.0]);
    let findings = wide.findings();
    let row = of(&findings, "most-answers")[0];
    assert_eq!(row.strength, Strength::None);
    assert!(row.changes_if.contains("rounds, enough to detect a difference of 6%"), "{}", row.changes_if);
}

#[test]
fn a_single_subject_is_recommended_for_nothing() {
    let mut run = quotable();
    run.steady(CEILING, 60_000.0).steady(GO, 30_000.0);
    assert!(run.findings().recommendations.is_empty());
}

#[test]
fn scenarios_of_which_the_same_is_said_share_a_row() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0);
    scenario(&mut run, "hello");
    run.steady(GO, 40_000.0).steady(BUN, 50_000.0);
    scenario(&mut run, "file");
    run.steady(GO, 5_000.0).steady(BUN, 4_000.0);
    let findings = run.findings();
    let rows = of(&findings, "most-answers");
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0].picks, &rows[0].scenarios),
        (&titles(&[BUN]), &vec!["json-c64".to_owned(), "hello-c64".to_owned()])
    );
    assert!(
        rows[0].need.ends_with("JSON and HELLO") && rows[0].because.contains("the closest, hello-c64"),
        "{:?}",
        rows[0]
    );
    assert_eq!(rows[1].picks, titles(&[GO]));
}

/// Bun is 1.3 times as fast in one of them and half as fast in the other. Go is never far behind, but it is behind.
#[test]
fn who_is_slower_in_any_scenario_is_no_all_rounder() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0).steady(NODE, 12_000.0);
    scenario(&mut run, "file");
    run.steady(GO, 5_000.0).steady(BUN, 2_500.0).steady(NODE, 4_800.0);
    let findings = run.findings();
    let [row] = of(&findings, "one-for-everything")[..] else { panic!("one row") };
    assert_eq!((row.picks.len(), row.strength), (0, Strength::None));
    let words = "Go net/http 75% (in json-c64), the closest, is slower than Bun.serve in json-c64.";
    assert_eq!(row.because, words);
}

/// Bun leads in one of them and is level with Go in the other.
#[test]
fn the_best_all_rounder_is_slower_than_nobody() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0).steady(NODE, 12_000.0);
    scenario(&mut run, "file");
    run.steady(GO, 5_000.0).steady(BUN, 5_000.0).steady(NODE, 2_500.0);
    let findings = run.findings();
    let [row] = of(&findings, "one-for-everything")[..] else { panic!("one row") };
    assert_eq!((&row.picks, row.strength), (&titles(&[BUN]), Strength::Strong));
    assert!(row.because.contains("the next, Go net/http 75% (in json-c64)"), "{}", row.because);
}

/// Invented runs of four servers in three scenarios, whose order differs by chance.
#[test]
fn no_all_rounder_is_told_slower_by_any_verdict() {
    const SERVERS: [Server; 4] = [GO, BUN, NODE, FPM];
    let (mut picked, mut none) = (0, 0);
    for seed in 0..40 {
        let mut noise = Noise::new(seed, 0.03);
        let mut run = quotable();
        for (place, workload) in ["json", "hello", "file"].into_iter().enumerate() {
            if place > 0 {
                scenario(&mut run, workload);
            }
            for (rank, server) in SERVERS.into_iter().enumerate() {
                let level = 40_000.0 * (1.0 - 0.02 * ((rank * (place + 1) + seed as usize) % 4) as f64);
                run.case(server, &noise.blocks(level, 10));
            }
        }
        let findings = run.findings();
        let [row] = of(&findings, "one-for-everything")[..] else { panic!("one row") };
        let slower = findings.scenarios.iter().flat_map(|scenario| {
            let title =
                |subject: &str| scenario.cases.iter().find(|case| case.subject == subject).map(|it| it.title.clone());
            scenario.comparisons.iter().filter_map(move |pair| match pair.verdict {
                Verdict::Faster => title(&pair.b),
                Verdict::Slower => title(&pair.a),
                _ => None,
            })
        });
        let slower: Vec<String> = slower.collect();
        assert!(row.picks.iter().all(|pick| !slower.contains(pick)), "{row:?}");
        *(if row.picks.is_empty() { &mut none } else { &mut picked }) += 1;
    }
    assert!(picked > 0 && none > 0, "{picked} with a pick, {none} without");
}

/// Smaller is better, and another case may be the best.
#[test]
fn costs_are_compared_the_other_way_round() {
    let mut run = quotable();
    run.steady(GO, 30_000.0)
        .change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s *= 0.5)
        .steady(BUN, 40_000.0);
    let findings = run.findings();
    let cpu = of(&findings, "least-cpu")[0];
    assert_eq!(cpu.picks, titles(&[GO]));
    assert!(cpu.because.contains("the next, Bun.serve, takes 1."), "{}", cpu.because);
    assert_eq!(of(&findings, "least-memory")[0].picks, titles(&[GO]));
}

#[test]
fn a_percentile_is_of_a_rate_or_of_so_many_users() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0);
    let at = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Poisson };
    run.scenario_with("hello-r2000", "hello", "Hello", at, &["p95 < 50ms"]);
    run.steady(GO, 2_000.0).steady(BUN, 2_000.0);
    let findings = run.findings();
    assert_eq!(of(&findings, "shortest-p99")[0].scenarios, ["hello-r2000"]);
    let closed = of(&findings, "shortest-p99-of-users")[0];
    assert_eq!(closed.scenarios, ["json-c64"]);
    assert!(closed.changes_if.starts_with("A given request rate"), "{}", closed.changes_if);
    let goodput: Vec<&String> = of(&findings, "most-answers").iter().flat_map(|one| &one.scenarios).collect();
    assert_eq!(goodput, ["json-c64"], "in an open loop, goodput cannot exceed the offered rate");
    let keeps = of(&findings, "keeps-objectives")[0];
    assert_eq!(keeps.picks.len(), 2);
    assert!(keeps.because.starts_with("Kept p95 < 50ms in each of 10 trials"), "{}", keeps.because);
}

#[test]
fn a_flip_that_the_run_has_seen_would_change_it() {
    let findings = distances(6, &[16], &[16], &[0, 20, 100]).findings();
    let rows = of(&findings, "most-answers");
    let near = rows.iter().find(|one| one.scenarios.iter().any(|id| id.ends_with("rtt0ms"))).unwrap();
    assert_eq!(near.picks, titles(&[BUN]));
    let words = "ound-trip time to the database above about";
    assert!(
        near.changes_if.contains(words) && near.changes_if.contains("is ahead of Bun.serve"),
        "{}",
        near.changes_if
    );
}

/// Both servers that overtake Bun at a distance do less work, so neither can replace it.
#[test]
fn a_reference_that_comes_ahead_changes_nothing() {
    let mut run = distances(6, &[16], &[16], &[0, 20, 100]);
    for (subject, variant) in [("go/nethttp", "encoder"), ("node/http", "single")] {
        let setup = VariantSetup { help: String::new(), less_work: Some("its answers are files".to_owned()) };
        run.names.subjects.get_mut(subject).expect("it was added").setup.variants =
            [(variant.to_owned(), setup)].into();
    }
    let findings = run.findings();
    let panels = &findings.sensitivity;
    let is_seen = |it: &str| panels.iter().flat_map(|panel| &panel.crossovers).any(|flip| flip.faster_above == it);
    assert!(is_seen(GO.label), "the panel still shows the crossing: {panels:?}");
    for row in of(&findings, "most-answers") {
        assert!(!row.changes_if.contains("is ahead of Bun.serve"), "{}", row.changes_if);
    }
}

/// If a run tells a subject apart from itself, no recommendation is strong.
#[test]
fn an_a_a_pair_that_was_told_apart_takes_strength_away() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).again(&[1.06, 1.07, 1.05, 1.06, 1.06, 1.07, 1.05, 1.06, 1.07, 1.06]).steady(BUN, 45_000.0);
    assert_eq!(most_answers(&run), (titles(&[BUN]), Strength::Moderate));
    assert!(of(&run.findings(), "most-answers")[0].changes_if.contains("quieter machine"));
}

/// Six equals in three scenarios: over 60 runs, no rule gives any of them a strong recommendation, and a single pick is very
/// rare.
#[test]
fn equals_have_no_strong_pick() {
    const SERVERS: [Server; 6] = [GO, BUN, NODE, FPM, APACHE, SWOOLE];
    let (mut rows, mut alone) = (0, 0);
    for (seed, sd) in (0..60).map(|seed| (seed, if seed % 2 == 0 { 0.015 } else { 0.06 })) {
        let mut noise = Noise::new(seed, sd);
        let mut run = quotable();
        for workload in ["json", "hello", "file"] {
            if workload != "json" {
                scenario(&mut run, workload);
            }
            for server in SERVERS {
                // Memory and start-up differ between the invented servers, but must be equal here.
                run.case(Server { memory_mib: 40.0, ..server }, &noise.blocks(40_000.0, 10));
                run.change(|_, trial| trial.cold_start_s = Some(0.05));
            }
        }
        for one in &run.findings().recommendations {
            assert_ne!(one.strength, Strength::Strong, "{one:?}");
            rows += 1;
            alone += usize::from(one.picks.len() == 1);
        }
    }
    assert!(rows > 300 && alone * 20 <= rows, "{alone} of {rows}");
}

#[test]
fn who_lets_users_wait_all_the_while_has_no_shortest_p99() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).change(|_, trial| {
        trial.ledger.connections_unanswered = Some(58);
        trial.latency.percentiles.iter_mut().for_each(|it| it.latency_s = it.latency_s.map(|time_s| time_s * 0.1));
    });
    run.steady(BUN, 40_000.0).steady(NODE, 20_000.0);
    let findings = run.findings();
    let shortest = of(&findings, "shortest-p99-of-users")[0];
    assert!(!shortest.picks.iter().any(|pick| titles(&[GO]).contains(pick)), "{:?}", shortest.picks);
}

/// A run of responses with these numbers of rows.
fn answers_of(rows: &[u32], figures: &dyn Fn(u32) -> [f64; 3]) -> InventedRun {
    let mut run = InventedRun::new(10);
    for rows in rows {
        let workload = format!("rows?limit={rows}");
        run.scenario(&format!("rows-{rows}"), &workload, &format!("{rows} rows"), 64);
        run.plan.scenarios.last_mut().expect("it was just added").load.duration_s = 20.0;
        for (server, rps) in [GO, BUN, FPM].into_iter().zip(figures(*rows)) {
            run.steady(server, rps);
        }
    }
    run
}

#[test]
fn heavy_answers_and_light_ones_may_be_for_different_runtimes() {
    let run = answers_of(&[500, 10_000], &|rows| if rows > 5_000 { [900.0, 300.0, 400.0] } else { [4e3, 9e3, 2e3] });
    let findings = run.findings();
    assert_eq!(of(&findings, "many-rows")[0].picks, titles(&[GO]));
    assert_eq!(of(&findings, "few-rows")[0].picks, titles(&[BUN]));
    let both = of(&findings, "each-its-own")[0];
    assert_eq!(both.picks, ["Go net/http (many rows)", "Bun.serve (few rows)"]);
    assert_eq!((both.strength, both.scenarios.len()), (Strength::Strong, 2));
    assert!(both.because.starts_with("Each its own: for more than 5,000 rows Go net/http ("), "{}", both.because);
    let same = answers_of(&[500, 10_000, 20_000], &|_| [900.0, 300.0, 400.0]).findings();
    assert_eq!(of(&same, "each-its-own")[0].picks, titles(&[GO]));
    assert!(of(&same, "each-its-own")[0].because.starts_with("One is enough: "));
}

/// For a single number of rows, the other rules suffice.
#[test]
fn rows_are_no_need_where_all_answers_have_as_many() {
    let findings = answers_of(&[10_000], &|_| [900.0, 300.0, 400.0]).findings();
    assert!(of(&findings, "many-rows").is_empty() && of(&findings, "each-its-own").is_empty());
    let light = answers_of(&[10, 1_000], &|_| [900.0, 300.0, 400.0]).findings();
    assert!(of(&light, "many-rows").is_empty() && of(&light, "each-its-own").is_empty());
    assert_eq!(of(&light, "few-rows")[0].picks, titles(&[GO]));
}

/// Bun has the highest goodput, but takes four times as much memory as Go.
#[test]
fn a_small_machine_is_for_the_one_with_most_answers_for_its_memory() {
    let mut run = quotable();
    run.steady(GO, 30_000.0).steady(BUN, 40_000.0).steady(NODE, 17_000.0);
    let findings = run.findings();
    let row = of(&findings, "small-machine")[0];
    assert_eq!((&row.picks, row.strength), (&titles(&[GO]), Strength::Strong));
    assert!(
        row.because.contains("/s for each MiB; 3.") && row.because.contains("the next, Bun.serve"),
        "{}",
        row.because
    );
    assert!(row.changes_if.ends_with("memory is not scarce."), "{}", row.changes_if);
}
