//! Findings on a scenario's cases together and on the run itself, and their error rates.

use crate::invented::judgement::Noise;
use crate::invented::programs::{BUN_QUEUE, GO_QUEUE};
use crate::invented::{APACHE, BUN, CEILING, FPM, GO, InventedRun, NODE, SWOOLE};
use tolok_analysis::{Findings, ScenarioFinding, Verdict, blocks_settled};
use tolok_model::{FailureKind, Stopping, Timer};

const SERVERS: [crate::invented::Server; 6] = [GO, BUN, NODE, FPM, APACHE, SWOOLE];
const BLOCKS: u32 = 10;

fn run(blocks: u32) -> InventedRun {
    let mut run = InventedRun::new(blocks);
    run.scenario("json-c64", "json", "JSON", 64);
    run
}

fn scenario(run: &InventedRun) -> ScenarioFinding {
    run.findings().scenarios.remove(0)
}

fn tiers(scenario: &ScenarioFinding) -> Vec<&str> {
    scenario.cases.iter().map(|case| case.tier.as_deref().unwrap_or("–")).collect()
}

fn says_a_difference(scenario: &ScenarioFinding) -> bool {
    scenario.comparisons.iter().any(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower))
}

/// A scenario of servers with these true goodputs and 1.5 % of noise.
fn noisy(noise: &mut Noise, goodputs_rps: &[f64]) -> ScenarioFinding {
    let mut run = run(BLOCKS);
    for (server, goodput_rps) in SERVERS.into_iter().zip(goodputs_rps) {
        run.case(server, &noise.blocks(*goodput_rps, BLOCKS));
    }
    scenario(&run)
}

mod simulations {
    use super::*;

    const NOISE: f64 = 0.015;

    /// Each scenario has 15 pairs. With unadjusted 95 % intervals, 40 % of such scenarios would show a difference. With the
    /// adjustment 4.4 % do, according to a simulation of 40,000.
    #[test]
    fn of_six_identical_servers_at_most_one_scenario_in_twenty_says_any_difference() {
        let wrong = |noise: f64, scenarios: usize| {
            let mut noise = Noise::new(17, noise);
            (0..scenarios).filter(|_| says_a_difference(&noisy(&mut noise, &[40_000.0; 6]))).count()
        };
        // With little noise, a difference that is found is too small to matter.
        assert_eq!(wrong(NOISE, 40), 0);
        // With more noise, that guard does not help, and only the adjustment for all pairs limits errors.
        let found = wrong(0.06, 200);
        assert!((1..=10).contains(&found), "{found} of 200");
    }

    /// How often a server that is slower by this share is found to be slower, and how often the interval covers the true ratio.
    fn found(slower: f64) -> (usize, usize) {
        let (mut noise, mut told, mut covered) = (Noise::new(11, NOISE), 0, 0);
        let mut rates = [40_000.0; 6];
        rates[5] /= 1.0 + slower;
        for _ in 0..100 {
            let scenario = noisy(&mut noise, &rates);
            let of_slow = scenario.comparisons.iter().filter(|pair| pair.b == SWOOLE.label);
            let verdicts: Vec<Verdict> = of_slow.clone().map(|pair| pair.verdict).collect();
            assert_eq!(verdicts.len(), 5, "the slowed case is last");
            told += verdicts.iter().filter(|verdict| **verdict == Verdict::Faster).count();
            let covers = |low: Option<f64>, high: Option<f64>| low < Some(1.0 + slower) && Some(1.0 + slower) < high;
            covered += of_slow.filter(|pair| covers(pair.ratio.low, pair.ratio.high)).count();
        }
        (told, covered)
    }

    #[test]
    fn a_server_slowed_by_a_fifth_is_always_found() {
        let (told, covered) = found(0.20);
        assert_eq!(told, 500);
        assert!((460..=490).contains(&covered), "{covered} of 500");
    }

    #[test]
    fn a_server_slowed_by_a_twentieth_is_found_in_most_runs() {
        let (told, covered) = found(0.05);
        assert!(told > 450, "{told} of 500");
        assert!((460..=490).contains(&covered), "{covered} of 500");
    }
}

mod tiers {
    use super::*;

    #[test]
    fn those_that_cannot_be_told_apart_share_a_letter() {
        let mut noise = Noise::new(3, 0.01);
        let found = noisy(&mut noise, &[40_000.0, 40_000.0, 20_000.0, 20_000.0, 5_000.0]);
        assert_eq!(super::tiers(&found), ["a", "a", "b", "b", "c"]);
    }

    #[test]
    fn a_case_in_the_middle_can_share_with_both_of_its_neighbours() {
        let mut noise = Noise::new(6, 0.03);
        let found = noisy(&mut noise, &[41_200.0, 40_000.0, 38_800.0]);
        assert_eq!(super::tiers(&found), ["a", "ab", "b"]);
    }

    #[test]
    fn who_is_not_ranked_has_no_tier_and_no_pair() {
        let mut run = run(5);
        run.steady(GO, 40_000.0).steady(BUN, 20_000.0).steady(NODE, 30_000.0);
        run.change(|_, trial| crate::invented::fail_requests(trial, 5_000));
        let found = scenario(&run);
        assert_eq!((super::tiers(&found), found.comparisons.len()), (vec!["a", "b", "–"], 1));
    }

    /// A case's ratio must be that of its pair.
    #[test]
    fn the_verdict_beside_a_case_is_that_of_its_pair_with_the_first() {
        let mut noise = Noise::new(9, 0.03);
        for _ in 0..20 {
            let found = noisy(&mut noise, &[41_000.0, 40_000.0, 39_000.0, 38_000.0, 37_000.0, 36_000.0]);
            for case in &found.cases[1..] {
                let pair = found.comparisons.iter().find(|it| it.a == found.cases[0].subject && it.b == case.subject);
                let turned = match pair.unwrap().verdict {
                    Verdict::Faster => Verdict::Slower,
                    Verdict::Slower => Verdict::Faster,
                    other => other,
                };
                assert_eq!(case.against_first, Some(turned));
            }
        }
    }
}

mod noise_floor {
    use super::*;

    fn entered_twice(times: &[f64]) -> InventedRun {
        let mut run = run(6);
        run.steady(CEILING, 80_000.0).case(GO, &[40_000.0; 6]).again(times).case(BUN, &[38_500.0; 6]);
        run.case(NODE, &[20_000.0; 6]);
        run
    }

    #[test]
    fn a_pair_that_is_level_with_itself_says_how_far_apart_it_came_out() {
        let found = entered_twice(&[1.01, 0.99, 1.0, 1.02, 1.0, 0.99]).findings();
        let floor = found.scenarios[0].noise_floor.as_ref().unwrap();
        assert_eq!((floor.subject.as_str(), floor.blocks, floor.verdict), (GO.label, 6, Verdict::Equivalent));
        assert!((floor.size - 0.0016).abs() < 1e-4, "{floor:?}");
        let sentence = "Go net/http, entered twice, differed by 0.16% (1.00×, 0.99–1.01): no difference found.";
        assert_eq!(floor.sentence, sentence);
        assert!(!found.cautions.iter().any(|caution| caution.contains("itself")));
    }

    #[test]
    fn the_second_half_of_a_pair_never_competes() {
        let found = scenario(&entered_twice(&[1.3; 6]));
        assert_eq!((found.cases.len(), found.comparisons.len()), (3, 3));
        assert_eq!(found.cases[0].goodput_rps.as_ref().unwrap().value, 40_000.0);
    }

    #[test]
    fn told_apart_from_itself_is_the_first_caution_and_smaller_differences_are_not_believed() {
        let found = entered_twice(&[1.06, 1.07, 1.05, 1.06, 1.06, 1.07]).findings();
        let caution = "In json-c64 Go net/http, entered twice, differed from itself by 6.2% (1.06×, 1.05–1.07): this run finds differences where there are none, so trust none of that size or less.";
        assert_eq!(found.cautions[0], caution);
        let [bun, node] = [BUN, NODE].map(|server| {
            found.scenarios[0].comparisons.iter().find(|pair| pair.a == GO.label && pair.b == server.label).unwrap()
        });
        assert!(bun.p_adjusted.unwrap() < 0.05 && bun.verdict == Verdict::CannotTell, "{bun:?}");
        assert_eq!(node.verdict, Verdict::Faster);
        let verdict = &found.scenarios[0].verdict;
        assert!(verdict.contains("1.039–1.039; no more than a server differs from itself)"), "{verdict}");
    }

    /// Three servers with 1 % of noise. Two of them are entered twice in turn, at this multiple of their speed.
    fn in_turn(times: f64) -> InventedRun {
        let (mut run, mut noise) = (run(6), Noise::new(5, 0.01));
        for (server, goodput_rps) in [(GO, 40_000.0), (BUN, 38_000.0), (NODE, 20_000.0)] {
            run.case(server, &noise.blocks(goodput_rps, 6));
        }
        let slower = times.recip();
        run.again_in(GO.label, &[(1, times), (3, slower), (5, times)]);
        run.again_in(BUN.label, &[(2, slower), (4, times), (6, slower)]);
        run
    }

    #[test]
    fn cases_that_are_entered_twice_in_turn_are_judged_together() {
        let found = in_turn(1.01).findings();
        let floor = found.scenarios[0].noise_floor.as_ref().unwrap();
        assert_eq!((floor.blocks, floor.widening, floor.pairs.len()), (6, 1.0, 2));
        assert_eq!(
            floor.pairs.iter().map(|pair| (pair.subject.as_str(), pair.blocks)).collect::<Vec<_>>(),
            [(GO.label, 3), (BUN.label, 3)]
        );
        assert!((floor.pairs[0].ratio.value - 1.01f64.powf(1.0 / 3.0)).abs() < 1e-9);
        assert!((floor.ratio.value - 1.0).abs() < 1e-9 && (floor.scatter.unwrap() - 0.01).abs() < 1e-9, "{floor:?}");
        assert!(
            floor.sentence.starts_with("each of 2 subjects in turn, entered twice, differed by"),
            "{}",
            floor.sentence
        );
        assert_eq!(found.scenarios[0].cases.len(), 3, "second halves of pairs are not listed");
        assert!(!found.cautions.iter().any(|caution| caution.contains("noise check")));
    }

    #[test]
    fn equals_that_scatter_more_than_the_cases_widen_every_interval() {
        let [usual, wild] = [1.01, 1.3].map(|times| in_turn(times).findings());
        let floor = wild.scenarios[0].noise_floor.as_ref().unwrap();
        assert!(floor.widening > 5.0, "{floor:?}");
        assert!(wild.cautions[0].starts_with("In json-c64 the noise check failed: "), "{}", wild.cautions[0]);
        let width = |found: &Findings| {
            let ratio = &found.scenarios[0].comparisons[0].ratio;
            (ratio.high.unwrap() / ratio.low.unwrap()).ln()
        };
        assert!((width(&wild) / width(&usual) - floor.widening).abs() < 1e-6);
        let verdict = |found: &Findings| found.scenarios[0].comparisons[0].verdict;
        assert_eq!((verdict(&usual), verdict(&wild)), (Verdict::Faster, Verdict::CannotTell));
    }

    #[test]
    fn too_few_blocks_say_so() {
        let mut run = run(2);
        run.case(GO, &[40_000.0; 2]).again(&[1.1; 2]).case(BUN, &[20_000.0; 2]);
        let floor = scenario(&run).noise_floor.unwrap();
        assert_eq!(floor.verdict, Verdict::CannotTell);
        assert!(floor.sentence.ends_with("(1.10×): too few rounds to judge."), "{}", floor.sentence);
    }

    #[test]
    fn a_study_without_a_pair_has_none() {
        let mut run = run(5);
        assert_eq!(scenario(run.steady(GO, 40_000.0).steady(BUN, 20_000.0)).noise_floor, None);
    }

    #[test]
    fn of_programs_it_is_of_their_wall_times() {
        let mut run = InventedRun::new(6);
        run.program("queue-n1000", "queue?n=1000", "A queue", Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2).again(&[1.10, 1.11, 1.09, 1.10, 1.10, 1.11]).steadily(BUN_QUEUE, 0.21);
        let found = run.findings();
        let program = &found.programs[0];
        let floor = program.noise_floor.as_ref().unwrap();
        assert_eq!(floor.verdict, Verdict::Slower, "it took more time");
        assert!(found.cautions[0].starts_with("In queue-n1000 Go queue, entered twice, differed from itself by 10%"));
        assert_eq!((program.cases.len(), program.comparisons[0].wall.verdict), (2, Verdict::CannotTell));
        assert_eq!(program.cases.iter().map(|case| case.tier.as_deref()).collect::<Vec<_>>(), [Some("a"), Some("a")]);
        assert!(program.power.is_some());
    }
}

mod power {
    use super::*;

    #[test]
    fn a_run_says_how_many_blocks_it_would_have_taken() {
        let mut noise = Noise::new(4, 0.06);
        let note = noisy(&mut noise, &[40_000.0; 6]).power.unwrap();
        assert!(note.blocks_needed.unwrap() > BLOCKS && note.blocks_needed <= note.blocks_needed_worst);
        assert!(note.smallest_found > 0.03 && (note.effect, note.power) == (0.06, 0.8));
        assert!(note.sentence.contains(" or more. Detecting 6% would take about "), "{}", note.sentence);
    }

    #[test]
    fn a_single_case_has_nothing_to_find() {
        assert_eq!(scenario(run(5).steady(GO, 9_000.0)).power, None);
    }
}

mod stopping {
    use super::*;
    use tolok_analysis::Records;

    const RULE: Stopping = Stopping { until: 0.03, at_least: 6 };

    /// Blocks that scatter widely at first, and then hardly at all.
    fn calming(blocks: u32, recorded: u32) -> InventedRun {
        let mut run = run(blocks);
        run.plan.stopping = Some(RULE);
        let go: Vec<f64> = (0..blocks)
            .map(|block| if block < 4 { [40e3, 43e3, 38e3, 41e3][block as usize] } else { 40.5e3 })
            .collect();
        run.case(GO, &go).case(BUN, &vec![20e3; blocks as usize]);
        run.trials.retain(|trial| trial.block <= recorded);
        run
    }

    fn settled(run: &InventedRun) -> Option<u32> {
        let InventedRun { run, plan, names, trials, diagnoses } = run;
        blocks_settled(&Records { run, plan, names, trials, diagnoses, records_sha256: None })
    }

    fn said(findings: &Findings) -> &str {
        findings.run.stopping.as_deref().expect("the rule's outcome is reported")
    }

    #[test]
    fn it_is_met_at_the_first_block_after_which_every_ratio_is_sure_enough() {
        let met = settled(&calming(20, 20)).unwrap();
        assert!((7..20).contains(&met), "{met}");
        for recorded in 1..20 {
            assert_eq!(settled(&calming(20, recorded)), (recorded >= met).then_some(met), "after {recorded} rounds");
        }
    }

    /// Swapping the two, or scaling one of them, changes which is ahead and by how much, but not when the run ends.
    #[test]
    fn it_does_not_look_at_which_is_ahead_or_by_how_much() {
        let met = settled(&calming(20, 20));
        for times in [0.01, 0.5, 1.0, 2.0, 100.0] {
            let mut run = calming(20, 20);
            run.change(|_, trial| {
                trial.goodput_rps *= times;
                // The same number of users then waits longer.
                trial.latency.mean_s = trial.latency.mean_s.map(|mean_s| mean_s / times);
            });
            assert_eq!(settled(&run), met, "{times} times");
        }
    }

    #[test]
    fn steady_blocks_end_it_at_the_least_number() {
        let mut run = run(20);
        run.plan.stopping = Some(RULE);
        run.case(GO, &[40e3; 20]).case(BUN, &[20e3; 20]);
        assert_eq!(settled(&run), Some(6));
        run.plan.stopping = Some(Stopping { at_least: 2, ..RULE });
        assert_eq!(settled(&run), Some(5), "fewer rounds have no interval");
        run.plan.stopping = None;
        assert_eq!(settled(&run), None);
        assert_eq!(run.findings().run.stopping, None);
    }

    #[test]
    fn a_budget_ends_it_before_the_block_that_would_exceed_it() {
        let mut run = run(20);
        run.case(GO, &[40e3; 20]).case(BUN, &[20e3; 20]);
        run.trials.iter_mut().for_each(|trial| trial.took_s = 3.0);
        // A block consists of two trials, so it takes 6 s.
        for (budget_s, blocks) in [(1.0, Some(5)), (47.9, Some(7)), (48.0, Some(8)), (200.0, None)] {
            run.plan.budget_s = Some(budget_s);
            assert_eq!(settled(&run), blocks, "in {budget_s} s");
        }
        run.plan.budget_s = Some(48.0);
        run.trials.retain(|trial| trial.block <= 8);
        let findings = run.findings();
        assert_eq!((findings.run.blocks, findings.trials_missing), (8, 0));
        assert!(said(&findings).contains("before the round that would exceed 48 s"), "{}", said(&findings));
        // The trials of a launch share one time.
        run.plan.trials.iter_mut().for_each(|trial| trial.launch = Some(trial.block));
        run.plan.budget_s = Some(24.0);
        assert_eq!(settled(&run), Some(8));
    }

    #[test]
    fn a_block_that_is_not_whole_does_not_count() {
        let met = settled(&calming(20, 20)).unwrap();
        let mut run = calming(20, met);
        run.trials.pop();
        assert_eq!(settled(&run), None);
    }

    #[test]
    fn trials_of_later_blocks_are_not_missing() {
        let met = settled(&calming(20, 20)).unwrap();
        let found = calming(20, met).findings();
        assert_eq!((found.run.blocks, found.trials_missing), (met, 0));
        let case = &found.scenarios[0].cases[0];
        assert_eq!((case.trials_planned, case.trials_scored), (met, met));
        assert!(!found.cautions.iter().any(|caution| caution.contains("missing")));
        let sentence =
            format!("Planned: 6 to 20 rounds, ending once every ratio is known to ±3%. It ended after {met} rounds.");
        assert_eq!(said(&found), sentence);
    }

    #[test]
    fn a_run_that_was_stopped_before_that_has_missing_trials() {
        let found = calming(20, 6).findings();
        assert_eq!((found.run.blocks, found.trials_missing), (20, 28));
        assert!(said(&found).ends_with(". The run was stopped after 6 rounds, before that."), "{}", said(&found));
    }

    #[test]
    fn what_never_settles_runs_to_the_end_and_says_so() {
        let mut run = run(8);
        run.plan.stopping = Some(RULE);
        run.case(GO, &[40e3, 20e3, 40e3, 20e3, 40e3, 20e3, 40e3, 20e3]).case(BUN, &[20e3; 8]);
        let found = run.findings();
        assert_eq!((found.run.blocks, found.trials_missing), (8, 0));
        assert!(
            said(&found).ends_with(". All 8 rounds ran, and Go net/http over Bun.serve in JSON is known to ±36% only."),
            "{}",
            said(&found)
        );
    }

    /// The two share no block, so their ratio is unknown.
    #[test]
    fn a_pair_without_an_interval_is_not_settled() {
        let mut run = run(6);
        run.plan.stopping = Some(RULE);
        run.case(GO, &[40e3; 6]).case(BUN, &[20e3; 6]);
        (1..=6).for_each(|block| _ = run.fail(block, FailureKind::Hung, "no answer"));
        assert_eq!(settled(&run), Some(6), "unranked cases have no ratio");
        let mut run = calming(6, 6);
        run.case(NODE, &[9e3; 6]);
        (2..=6).for_each(|block| _ = run.fail(block, FailureKind::Hung, "no answer"));
        assert_eq!(settled(&run), None);
    }

    #[test]
    fn a_case_that_others_disturbed_is_waited_for() {
        let mut run = run(6);
        run.plan.stopping = Some(RULE);
        run.case(GO, &[40e3; 6]).case(BUN, &[20e3; 6]);
        assert_eq!(settled(&run), Some(6));
        (1..=6).for_each(|block| _ = run.disturb(block, "foreign-cpu", 0.2, "other programs used 20 % of the CPUs"));
        assert_eq!(settled(&run), None, "its next trials may be quiet");
    }

    #[test]
    fn where_nothing_competes_no_ratio_can_be_sure() {
        let mut run = run(8);
        run.plan.stopping = Some(RULE);
        run.case(GO, &[40e3; 8]);
        assert_eq!(settled(&run), None);
        assert!(said(&run.findings()).ends_with(". All 8 rounds ran without that."));
    }

    #[test]
    fn programs_settle_by_their_wall_times() {
        let mut run = InventedRun::new(12);
        run.plan.stopping = Some(RULE);
        run.program("queue-n1000", "queue?n=1000", "A queue", Timer::Tolok);
        run.steadily(GO_QUEUE, 0.2).wavering(BUN_QUEUE, 0.3);
        assert_eq!(settled(&run), Some(6));
    }
}

mod outlier_blocks {
    use super::*;

    const LIKE: [f64; 10] =
        [9_980.0, 10_010.0, 9_990.0, 10_030.0, 10_000.0, 9_970.0, 10_020.0, 9_960.0, 10_040.0, 10_000.0];

    /// Go had half of its goodput in the fourth block, which affects both of its pairs.
    fn go_was_slow_once() -> Findings {
        let mut run = run(10);
        let mut go = LIKE.map(|goodput_rps| 2.0 * goodput_rps);
        go[3] /= 2.0;
        run.case(GO, &go).case(BUN, &LIKE).case(NODE, &LIKE.map(|goodput_rps| 30_000.0 - 2.0 * goodput_rps));
        run.findings()
    }

    #[test]
    fn a_block_that_the_interval_leans_on_is_said_once_a_scenario() {
        let findings = go_was_slow_once();
        let outliers: Vec<&[u32]> =
            findings.scenarios[0].comparisons.iter().map(|pair| pair.outlier_blocks.as_slice()).collect();
        assert_eq!(outliers, [[4].as_slice(), &[4], &[]]);
        let said: Vec<&String> = findings.cautions.iter().filter(|caution| caution.contains("far from")).collect();
        assert_eq!(
            said,
            [
                "In round 4 of json-c64, Go net/http against Bun.serve was 1.000×, far from the other rounds (2.000–2.000). The interval of their ratio depends on it: look at both trials before you quote it. 2 of 3 pairs have such a round."
            ]
        );
    }

    #[test]
    fn blocks_that_are_alike_are_not_spoken_of() {
        let mut run = run(10);
        run.steady(GO, 20_000.0).steady(BUN, 10_000.0);
        assert!(run.findings().cautions.iter().all(|caution| !caution.contains("far from")));
    }
}
