//! Findings of invented runs.

use crate::invented::{
    APACHE, BUN, CEILING, FPM, GO, InventedRun, NODE, NODE_CLUSTER, fail_requests, ordinary, with_six_digits,
};
use proptest::prelude::*;
use serde_json::Value;
use tolok_analysis::{CaseFinding, ScenarioFinding, VariantSetup, Verdict};
use tolok_model::{FailureKind, Measurement, SplitMix64};

/// One scenario with the given cases, and its finding.
fn one_scenario(blocks: u32, fill: impl FnOnce(&mut InventedRun)) -> ScenarioFinding {
    let mut run = InventedRun::new(blocks);
    fill(run.scenario("json-c64", "json", "JSON", 64));
    run.findings().scenarios.remove(0)
}

fn kinds(case: &CaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

/// The single case of a scenario after a change to each of its trials.
fn changed(change: impl Fn(u32, &mut Measurement)) -> CaseFinding {
    one_scenario(5, |run| _ = run.steady(GO, 30_000.0).change(change)).cases.remove(0)
}

/// Every name and the shape of every list, with the first items of each. The tests of the rules and the reports of stored runs
/// cover the other items.
#[test]
fn an_ordinary_run() {
    let findings = with_six_digits(ordinary().findings());
    insta::assert_json_snapshot!(condensed(serde_json::to_value(findings).unwrap()));
}

/// The first item of each list of objects, and the number of others. Lists of plain values become one line.
fn condensed(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, condensed(value))).collect(),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let (first, more) = (items[0].clone(), items.len() - 1);
            Value::Array(
                [condensed(first)].into_iter().chain((more > 0).then(|| format!("and {more} more").into())).collect(),
            )
        }
        Value::Array(items) => format!("{}", Value::Array(items)).into(),
        plain => plain,
    }
}

mod verdicts {
    use super::*;

    /// Checks the sentence for a scenario of five blocks.
    fn check(fill: impl FnOnce(&mut InventedRun), sentence: &str) {
        assert_eq!(one_scenario(5, fill).verdict, sentence);
    }

    fn bun_above_go_above_node(run: &mut InventedRun) {
        run.steady(GO, 20_000.0).steady(BUN, 40_000.0).steady(NODE, 9_000.0);
    }

    fn go_beside_bun(run: &mut InventedRun) {
        run.case(GO, &[40_000.0, 41_000.0, 40_500.0, 40_200.0, 40_900.0]);
        run.case(BUN, &[40_300.0, 40_700.0, 40_100.0, 40_600.0, 40_400.0]);
    }

    #[test]
    fn a_clear_difference_names_the_next() {
        let sentence =
            "Bun.serve is fastest: 2.02× the runner-up, Go net/http (95% CI 1.97–2.08), ahead in all 5 rounds.";
        check(bun_above_go_above_node, sentence);
    }

    /// Go declares that it does less work.
    #[test]
    fn a_reference_is_never_the_next_nor_the_first() {
        let with_reference = |goodput_rps: f64, sentence: &str| {
            let fill = |run: &mut InventedRun| {
                run.steady(GO, goodput_rps).steady(BUN, 40_000.0).steady(NODE, 9_000.0);
                let setup = VariantSetup { help: String::new(), less_work: Some("its answers are files".to_owned()) };
                let go = run.names.subjects.get_mut("go/nethttp").expect("it was added");
                go.setup.variants = [("encoder".to_owned(), setup)].into();
            };
            let verdict = one_scenario(5, fill).verdict;
            assert!(
                verdict.starts_with("Bun.serve is faster than Node http: 4.") && verdict.ends_with(sentence),
                "{verdict}"
            );
        };
        let sentence = "ahead in all 5 rounds. Go net/http is a reference, not a competitor.";
        with_reference(20_000.0, sentence);
        with_reference(60_000.0, sentence);
    }

    #[test]
    fn two_cases_need_no_next() {
        check(
            |run| _ = run.steady(GO, 20_000.0).steady(BUN, 40_000.0),
            "Bun.serve is faster than Go net/http: 2.02× (95% CI 1.95–2.10), ahead in all 5 rounds.",
        );
    }

    #[test]
    fn a_tie_is_said_before_those_behind_it() {
        let fill = |run: &mut InventedRun| {
            go_beside_bun(run);
            run.steady(NODE, 9_000.0);
        };
        check(
            fill,
            "Go net/http is equivalent within 3% to Bun.serve (1.00×, 0.98–1.02); both are faster than Node http: at least 4.55× (95% CI 4.44–4.66).",
        );
    }

    #[test]
    fn three_that_tie_are_all_named() {
        let fill = |run: &mut InventedRun| {
            go_beside_bun(run);
            run.case(APACHE, &[40_500.0, 40_100.0, 40_300.0, 40_900.0, 40_200.0]);
            run.steady(NODE, 9_000.0).steady(FPM, 2_000.0);
        };
        check(
            fill,
            "Go net/http is equivalent within 3% to Bun.serve and Apache + mod_php; all of them are faster than Node http: at least 4.46× (95% CI 4.38–4.55).",
        );
    }

    #[test]
    fn a_wide_interval_cannot_tell() {
        let fill = |run: &mut InventedRun| {
            run.case(GO, &[40_000.0, 20_000.0, 50_000.0, 30_000.0, 45_000.0]);
            run.case(BUN, &[30_000.0, 40_000.0, 25_000.0, 35_000.0, 38_000.0]).steady(NODE, 9_000.0);
        };
        check(
            fill,
            "No clear difference between Go net/http and Bun.serve (1.06×, 0.64–1.76); Go net/http beats Node http: 3.96× (95% CI 2.40–6.52).",
        );
    }

    #[test]
    fn of_many_that_cannot_be_told_apart_only_the_names_are_given() {
        let wild = [9_000.0, 50_000.0, 20_000.0, 70_000.0, 30_000.0];
        let turned =
            |by: usize| (0..5).map(|block| wild[(block + by) % 5] * (1.0 + by as f64 / 100.0)).collect::<Vec<_>>();
        let fill = |run: &mut InventedRun| {
            for (by, server) in [GO, BUN, NODE, APACHE, FPM].into_iter().enumerate() {
                run.case(server, &turned(by));
            }
        };
        check(fill, "No clear winner: the 5 overlap.");
    }

    #[test]
    fn too_few_blocks_tell_nothing() {
        let scenario = one_scenario(3, bun_above_go_above_node);
        let sentence = "Not enough data: 3 rounds, 5 needed.";
        assert_eq!(scenario.verdict, sentence);
        assert!(scenario.comparisons.iter().all(|comparison| comparison.verdict == Verdict::CannotTell));
        assert!(scenario.cases.iter().all(|case| case.ranked && kinds(case) == ["too-few-trials"]));
    }

    /// Block 6 is by far the fastest, and Go has no trial in it: its median is lower, although it wins every common block.
    #[test]
    fn a_missing_trial_in_a_fast_block_puts_no_case_behind() {
        let scenario = one_scenario(6, |run| {
            run.case(BUN, &[10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0, 60_000.0]);
            run.case(GO, &[11_000.0, 22_000.0, 33_000.0, 44_000.0, 55_000.0, 66_000.0]);
            run.fail(6, FailureKind::Crashed, "the server ended with signal 11").steady(NODE, 900.0);
        });
        let sentence = "No clear difference between Go net/http and Bun.serve (1.03×, 0.60–1.76); Go net/http beats Node http: 33.9× (95% CI 16.9–68.0).";
        assert_eq!(scenario.verdict, sentence);
    }

    #[test]
    fn cases_without_a_common_block_are_not_told_apart() {
        let scenario = one_scenario(2, |run| {
            run.case(GO, &[40_000.0, 40_000.0]).fail(1, FailureKind::Hung, "no answer in the window");
            run.case(BUN, &[20_000.0, 20_000.0]).fail(2, FailureKind::Hung, "no answer in the window");
        });
        assert_eq!(scenario.verdict, "No clear difference between Go net/http and Bun.serve (no common round).");
        assert_eq!(scenario.cases[1].against_first, Some(Verdict::CannotTell));
    }

    #[test]
    fn one_case_has_nothing_beside_it() {
        let sentence =
            "Go net/http serves 19.9k (19.5–20.4k) correct responses per second; there is nothing to compare it with.";
        check(|run| _ = run.steady(GO, 20_000.0), sentence);
    }

    #[test]
    fn without_a_single_measured_trial_nothing_is_ranked() {
        let fill = |run: &mut InventedRun| {
            run.steady(GO, 20_000.0);
            for block in 1..=5 {
                run.fail(block, FailureKind::BuildFailed, "go build ended with status 1");
            }
        };
        check(fill, "No result. Not ranked: Go net/http (build failed).");
    }
}

mod flags {
    use super::*;

    #[test]
    fn a_generator_at_its_limit_makes_a_figure_a_lower_bound() {
        let case = changed(|_, trial| {
            trial.subject.as_mut().expect("tolok started it").cpu_s = 0.7 * trial.window_s;
            trial.generator.cpu_s = 0.95 * trial.window_s;
        });
        assert_eq!((kinds(&case), case.ranked), (vec!["generator-bound"], false));
        assert_eq!(
            case.flags[0].message,
            "the generator was the limit: it used 95% of its CPUs, the subject 70% of its own; the figure is a lower bound"
        );
    }

    #[test]
    fn a_subject_at_its_limit_too_is_no_reason_to_doubt() {
        let case = changed(|_, trial| trial.generator.cpu_s = 0.95 * trial.window_s);
        assert_eq!((kinds(&case), case.ranked), (vec![], true));
    }

    #[test]
    fn connections_that_wait_for_their_first_answer_are_spoken_of() {
        let case = changed(|_, trial| trial.ledger.connections_unanswered = Some(58));
        assert_eq!((kinds(&case), case.ranked), (vec!["connections-waiting"], true));
        assert!(case.flags[0].message.starts_with("up to 58 of 64 connections still waited"), "{:?}", case.flags);
        let few = changed(|_, trial| trial.ledger.connections_unanswered = Some(6));
        assert_eq!(kinds(&few), Vec::<&str>::new());
    }

    #[test]
    fn errors_void_the_rank_only_above_one_per_cent() {
        let few = changed(|_, trial| fail_requests(trial, 590));
        assert_eq!((kinds(&few), few.ranked), (vec!["errors"], true));
        let many = changed(|_, trial| fail_requests(trial, 610));
        assert_eq!((kinds(&many), many.ranked), (vec!["errors"], false));
        assert_eq!(many.errors, [("reset".to_owned(), 3_050)]);
        assert_eq!(many.flags[0].message, "3,050 requests failed, 1% of those sent");
    }

    #[test]
    fn answers_to_the_warm_up_alone_are_a_figure_and_no_rank() {
        let case = changed(|block, trial| {
            if block == 2 {
                // All requests of the window are still under way at its end.
                trial.ledger.in_flight_at_end =
                    trial.ledger.in_flight_at_end.map(|waiting| waiting + trial.ledger.good);
                trial.ledger.good = 0;
            }
        });
        assert!(case.goodput_rps.is_some() && !case.ranked);
        assert_eq!(kinds(&case), ["window-too-short"]);
        let words = "in 1 of 5 measured trials only requests sent during warm-up were answered";
        assert!(case.flags[0].message.starts_with(words), "{}", case.flags[0].message);
    }

    #[test]
    fn zero_good_answers_are_no_figure_and_not_zero() {
        let case = changed(|block, trial| {
            if block == 2 {
                trial.goodput_rps = 0.0;
                fail_requests(trial, trial.ledger.good);
            }
        });
        assert_eq!((case.goodput_rps.clone(), case.ranked), (None, false));
        assert_eq!(kinds(&case), ["no-good-answers", "errors"]);
        assert_eq!(
            case.flags[0].message,
            "1 of 5 measured trials had no correct response: too slow or broken for a figure; that is not 0"
        );
    }

    #[test]
    fn an_open_ledger_voids_the_rank() {
        let case =
            changed(|block, trial| trial.ledger.sent = trial.ledger.sent.map(|sent| sent + u64::from(block == 4) * 3));
        assert_eq!((kinds(&case), case.ranked), (vec!["ledger-open"], false));
        assert_eq!(case.flags[0].message, "3 requests not accounted for in 1 of 5 trials: a fault of the tool");
    }

    #[test]
    fn failed_trials_are_counted_with_their_reasons() {
        let scenario = one_scenario(6, |run| {
            run.steady(GO, 20_000.0);
            run.fail(2, FailureKind::Crashed, "the server ended with signal 11");
            run.fail(5, FailureKind::Hung, "no answer in the window");
        });
        let case = &scenario.cases[0];
        assert_eq!((kinds(case), case.ranked), (vec!["failed-trials", "too-few-trials"], true));
        assert_eq!((case.trials_planned, case.trials_measured, case.failures.len()), (6, 4, 2));
        assert_eq!(
            case.flags[0].message,
            "2 of 6 trials failed: crashed and hung (too slow or silent for a figure in a window of 2 s; that is not 0)"
        );
    }

    #[test]
    fn what_voids_the_rank_is_said_first() {
        let scenario = one_scenario(6, |run| {
            run.steady(GO, 20_000.0).change(|_, trial| fail_requests(trial, 900));
            run.fail(2, FailureKind::Crashed, "the server ended with signal 11");
        });
        assert_eq!(kinds(&scenario.cases[0]), ["errors", "failed-trials"]);
    }

    #[test]
    fn shared_cpus_are_said_and_void_nothing() {
        let mut run = InventedRun::new(5);
        run.run.cpus.get_mut("").unwrap().shared = true;
        let findings = run.scenario("json-c64", "json", "JSON", 64).steady(GO, 30_000.0).findings();
        let case = &findings.scenarios[0].cases[0];
        assert_eq!((kinds(case), case.ranked), (vec!["shared-cpus"], true));
        assert!(findings.cautions.iter().any(|caution| caution.contains("shared their CPUs")));
    }
}

#[test]
fn a_percentile_that_one_trial_lacks_is_left_out() {
    let case = changed(|block, trial| {
        if block == 3 {
            trial.latency.percentiles[2].latency_s = None;
        }
    });
    assert!(case.latency_p50_s.is_some() && case.latency_p99_s.is_none());
}

#[test]
fn the_ceiling_stands_apart_and_never_competes() {
    let scenario = one_scenario(5, |run| _ = run.steady(CEILING, 60_000.0).steady(GO, 30_000.0));
    let ceiling = scenario.ceiling.unwrap();
    assert_eq!((ceiling.ranked, ceiling.figures.of_ceiling, scenario.cases.len()), (false, None, 1));
    let share = scenario.cases[0].of_ceiling.as_ref().unwrap();
    assert!((0.48..0.52).contains(&share.value) && share.low.is_some());
}

#[test]
fn unranked_cases_come_last_and_have_no_ratio_to_the_first() {
    let scenario = one_scenario(5, |run| {
        run.steady(GO, 50_000.0)
            .change(|_, trial| fail_requests(trial, 5_000))
            .steady(BUN, 20_000.0)
            .steady(NODE, 30_000.0);
    });
    let order: Vec<(&str, bool)> = scenario.cases.iter().map(|case| (case.runtime.as_str(), case.ranked)).collect();
    assert_eq!(order, [("node", true), ("bun", true), ("go", false)]);
    assert_eq!((&scenario.cases[2].of_first, scenario.cases[2].against_first), (&None, None));
    assert_eq!(scenario.cases[0].of_first.as_ref().unwrap().value, 1.0);
    assert_eq!(scenario.comparisons.len(), 1);
}

#[test]
fn variants_of_one_subject_are_told_apart_by_name() {
    let scenario =
        one_scenario(5, |run| _ = run.steady(NODE, 30_000.0).steady(NODE_CLUSTER, 20_000.0).steady(GO, 9_000.0));
    let titles: Vec<&str> = scenario.cases.iter().map(|case| case.title.as_str()).collect();
    assert_eq!(titles, ["Node http (single)", "Node http (cluster)", "Go net/http"]);
}

#[test]
fn a_case_above_the_ceiling_makes_both_doubtful() {
    let said = |goodput_rps: f64| {
        let mut run = InventedRun::new(5);
        run.scenario("json-c64", "json", "JSON", 64).steady(CEILING, 60_000.0).steady(GO, goodput_rps);
        run.findings().cautions.into_iter().find(|caution| caution.contains("ceiling"))
    };
    assert_eq!(said(59_000.0), None);
    let sentence = "Above the ceiling of json-c64: Go net/http (131%). One of the two was disturbed, or the generator limited the ceiling.";
    assert_eq!(said(78_000.0).as_deref(), Some(sentence));
}

#[test]
fn the_gravest_caution_stands_first_because_reports_fold_the_others() {
    let mut run = InventedRun::new(5);
    run.scenario("json-c64", "json", "JSON", 64).steady(CEILING, 60_000.0).steady(GO, 78_000.0);
    run.run.machine.remarks = vec!["virtual machine".to_owned()];
    let cautions = run.findings().cautions;
    assert!(cautions[0].starts_with("Above the ceiling of json-c64"), "{cautions:?}");
    assert!(cautions[1].contains("5 rounds"), "{cautions:?}");
    assert_eq!(cautions.last().map(String::as_str), Some("Virtual machine."));
}

#[test]
fn remarks_on_the_machine_stand_among_sentences() {
    let mut run = ordinary();
    run.run.machine.remarks = vec!["tasks waited for a CPU in 95 % of the last 10 s".to_owned()];
    let sentence = "Tasks waited for a CPU in 95 % of the last 10 s.".to_owned();
    assert!(run.findings().cautions.contains(&sentence));
}

#[test]
fn few_blocks_are_cautioned_against() {
    let said = |blocks: u32| {
        let findings = InventedRun::new(blocks).scenario("json-c64", "json", "JSON", 64).steady(GO, 9_000.0).findings();
        findings.cautions.into_iter().find(|caution| caution.contains("round"))
    };
    assert_eq!(said(1).as_deref(), Some("1 round gives no interval (5 are needed), so no difference can be shown."));
    assert!(said(5).is_some_and(|caution| caution.contains("93.75%")));
    assert_eq!(said(9).as_deref(), Some("A try-out, not a result to publish: 9 rounds (10 or more are needed)."));
    assert_eq!(said(10), None);
}

#[test]
fn trials_without_a_record_are_missing_not_failed() {
    let mut run = ordinary();
    run.trials.truncate(50);
    let findings = run.findings();
    assert_eq!(findings.trials_missing as usize, run.plan.trials.len() - 50);
    assert_eq!(findings.cautions[0], "45 of 95 planned trials missing: the run was stopped before its end.");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_trials_changes_nothing(seed: u64) {
        let run = ordinary();
        let mut shuffled = run.clone();
        SplitMix64::new(seed).shuffle(&mut shuffled.trials);
        prop_assert_eq!(run.findings(), shuffled.findings());
    }
}
