//! Findings on executors, on load tools that warn about their own figures, and on objectives.

use crate::invented::{BUN, GO, InventedRun};
use tolok_analysis::CaseFinding;
use tolok_model::{Arrivals, Executor, FailureKind, Measurement, ObjectiveOutcome, Stage, ThinkTime, ToolWarning};

fn kinds(case: &CaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

mod loops {
    use super::*;

    const AT_2000: Executor = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Poisson };

    fn up_to(target: f64) -> Executor {
        Executor::RampingVus { start_vus: 0, stages: vec![Stage { target, duration_s: 2.0 }] }
    }

    /// A run of one scenario under `executor`, in which Go and Bun keep up.
    fn both_keep_up(executor: Executor) -> InventedRun {
        let mut run = InventedRun::new(5);
        run.scenario_with("hello-x", "hello", "Hello", executor, &[]);
        run.case(GO, &[1_990.0, 2_000.0, 2_005.0, 1_995.0, 2_001.0]);
        run.case(BUN, &[1_990.0, 2_000.0, 2_004.0, 1_995.0, 2_001.0]);
        run
    }

    fn cautions_with(run: &InventedRun, words: &[&str]) -> Vec<String> {
        let cautions = run.findings().cautions;
        cautions.into_iter().filter(|caution| words.iter().any(|word| caution.contains(word))).collect()
    }

    #[test]
    fn keeping_up_with_the_same_rate_is_no_tie() {
        let scenario = both_keep_up(AT_2000).findings().scenarios.remove(0);
        assert_eq!((scenario.executor.as_str(), scenario.loop_model.as_str()), ("constant-arrival-rate", "open"));
        let load = "open loop, 2000/s as a Poisson process, 64 connections, keep-alive, 2 s";
        assert_eq!(scenario.load, load);
        let sentence = "Go net/http is equivalent within 3% to Bun.serve (1.000×, 0.9998–1.0004). This compares correct responses per second, which cannot exceed the offered rate; servers that keep up differ in response time.";
        assert_eq!(scenario.verdict, sentence);
        assert_eq!(scenario.cases[0].offered_rps.as_ref().unwrap().value, 2_000.0);
    }

    #[test]
    fn each_loop_has_a_caution_of_its_own() {
        let words = ["closed loop", "open loop", "changed within"];
        let closed = "Latencies come from a closed loop at full load: a slow answer delays the next request, so \
                      these percentiles look better than at a fixed request rate.";
        assert_eq!(cautions_with(&both_keep_up(Executor::ConstantVus { vus: 4 }), &words), [closed]);
        let open = "Requests started by the clock (open loop): response times begin at the planned instant and include the wait for a free connection. Goodput cannot exceed the offered rate.";
        assert_eq!(cautions_with(&both_keep_up(AT_2000), &words), [open]);
        let ramp = "The load changed within the window: every figure mixes its levels, and a percentile mostly shows the highest. The timeline.jsonl of each trial has its seconds.";
        assert_eq!(cautions_with(&both_keep_up(up_to(9.0)), &words), [closed, ramp]);
    }

    #[test]
    fn what_holds_for_some_scenarios_names_them() {
        let mut run = both_keep_up(AT_2000);
        run.scenario("hello-c64", "hello", "Hello", 64).steady(GO, 9_000.0);
        run.plan.scenarios[1].load.think_time = Some(ThinkTime { least_s: 0.1, most_s: 0.1 });
        let found = cautions_with(&run, &["closed loop", "open loop"]);
        assert!(found[0].starts_with("Latencies of hello-c64 come from a closed loop: a slow answer"), "{found:?}");
        assert!(found[1].starts_with("In hello-x requests started by the clock (open loop)"), "{found:?}");
    }

    #[test]
    fn what_was_tested_is_not_among_what_was_not() {
        let has = |executor, what: &str| both_keep_up(executor).findings().untested.iter().any(|it| it.what == what);
        for (executor, rate, changes) in
            [(Executor::ConstantVus { vus: 4 }, true, true), (AT_2000, false, true), (up_to(9.0), true, false)]
        {
            assert_eq!(has(executor.clone(), "a given request rate"), rate, "{executor:?}");
            assert_eq!(has(executor.clone(), "load that changes"), changes, "{executor:?}");
        }
    }

    #[test]
    fn a_window_that_ends_with_its_requests_is_as_long_as_it_was() {
        let mut run = both_keep_up(Executor::SharedIterations { vus: 4, iterations: 4_000 });
        run.plan.scenarios[0].load.duration_s = 60.0;
        assert_eq!(
            cautions_with(&run, &["windows of"]),
            ["A try-out, not a result to publish: windows of 2 s (10 s or more are needed)."]
        );
        run.trials.clear();
        assert_eq!(cautions_with(&run, &["windows of"]), Vec::<String>::new());
    }

    #[test]
    fn connections_that_wait_are_those_of_the_pool_or_the_users_of_a_ramp() {
        let said = |executor| {
            let mut run = both_keep_up(executor);
            run.change(|_, trial| trial.ledger.connections_unanswered = Some(50));
            let case = run.findings().scenarios[0].cases.iter().find(|case| case.runtime == "bun").unwrap().clone();
            case.flags.first().map(|flag| flag.message[..32].to_owned())
        };
        assert_eq!(said(AT_2000).as_deref(), Some("up to 50 of 64 connections still"));
        assert_eq!(said(up_to(80.0)).as_deref(), Some("up to 50 of 80 connections still"));
        assert_eq!(said(up_to(600.0)), None);
    }
}

mod trust {
    use super::*;

    fn warning(gate: &str, text: &str) -> ToolWarning {
        ToolWarning { gate: gate.to_owned(), text: text.to_owned() }
    }

    fn changed_under(executor: Executor, change: impl Fn(u32, &mut Measurement)) -> CaseFinding {
        let mut run = InventedRun::new(5);
        run.scenario_with("hello-x", "hello", "Hello", executor, &["p95 < 1s"]).steady(GO, 2_000.0).change(change);
        run.findings().scenarios.remove(0).cases.remove(0)
    }

    const OPEN: Executor = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Uniform };
    const CLOSED: Executor = Executor::ConstantVus { vus: 64 };

    #[test]
    fn one_trial_that_the_tool_does_not_stand_by_bars_the_case_and_keeps_its_data() {
        let case = changed_under(OPEN, |block, trial| {
            if block > 3 {
                trial.tool_warnings = vec![warning("lateness", "p99 was 12 ms."), warning("little", "off by 9%")];
            }
        });
        assert_eq!((kinds(&case), case.ranked, case.trials_measured), (vec!["not-trusted"], false, 5));
        assert_eq!(
            case.flags[0].message,
            "in 2 of 5 trials the load tool's figures cannot be trusted, it says: lateness (p99 was 12 ms) and little (off by \
             9%)"
        );
        assert!(case.goodput_rps.is_some());
        assert_eq!(case.objectives[0].outcome, ObjectiveOutcome::Unknown, "kept in three trials only");
    }

    #[test]
    fn a_busy_generator_is_judged_by_the_tool_where_requests_start_by_the_clock() {
        let busy = |trial: &mut Measurement| {
            trial.generator.cpu_s = 0.99 * trial.window_s;
            trial.subject.as_mut().expect("tolok started it").cpu_s = 0.4 * trial.window_s;
        };
        // The generator may spin for precision. This is not a limit unless the tool warns.
        assert_eq!(kinds(&changed_under(OPEN, |_, trial| busy(trial))), Vec::<&str>::new());
        let said = |_, trial: &mut Measurement| {
            busy(trial);
            trial.tool_warnings = vec![warning("generator-busy", "99 %")];
        };
        assert_eq!(kinds(&changed_under(OPEN, said)), ["not-trusted"]);
        assert_eq!(kinds(&changed_under(CLOSED, said)), ["generator-bound"]);
        // The tool cannot see that the subject was at its limit as well.
        let both = |_, trial: &mut Measurement| trial.tool_warnings = vec![warning("generator-busy", "99%")];
        assert_eq!(kinds(&changed_under(CLOSED, both)), Vec::<&str>::new());
    }

    #[test]
    fn a_window_that_was_cut_off_is_not_compared() {
        let case = changed_under(CLOSED, |block, trial| trial.aborted = block == 2);
        assert_eq!((kinds(&case), case.ranked), (vec!["aborted"], false));
        assert!(case.flags[0].message.starts_with("1 of 5 trials stopped at the first crossed objective"));
    }

    #[test]
    fn requests_that_never_left_are_spoken_of() {
        let unsent = |requests: u64| {
            changed_under(OPEN, move |block, trial| {
                trial.ledger.unsent = if block == 2 { requests } else { 0 };
                trial.ledger.scheduled = trial.ledger.sent.map(|sent| sent + trial.ledger.unsent);
            })
        };
        let case = unsent(4_000);
        assert_eq!((kinds(&case), case.ranked, case.requests_unsent), (vec!["backlog"], true, 4_000));
        assert!(
            case.flags[0].message.contains("% of the scheduled requests still waited"),
            "{}",
            case.flags[0].message
        );
        assert_eq!(kinds(&unsent(20)), Vec::<&str>::new());
    }

    #[test]
    fn a_schedule_that_does_not_add_up_is_an_open_ledger() {
        let case = changed_under(OPEN, |_, trial| trial.ledger.scheduled = trial.ledger.scheduled.map(|all| all + 7));
        assert_eq!(kinds(&case), ["ledger-open"]);
        assert!(case.flags[0].message.starts_with("35 requests not accounted for"));
    }
}

mod objectives {
    use super::*;

    /// The outcome, the trials that kept it, and the worst figure of a case whose five trials have these means in milliseconds.
    fn outcome(objective: &str, means_ms: [f64; 5]) -> (ObjectiveOutcome, u32, Option<f64>) {
        let mut run = InventedRun::new(5);
        run.scenario_with("hello-c64", "hello", "Hello", Executor::ConstantVus { vus: 64 }, &[objective]);
        run.case(GO, &means_ms.map(|mean_ms| 64_000.0 / mean_ms));
        let case = run.findings().scenarios.remove(0).cases.remove(0);
        let found = &case.objectives[0];
        (found.outcome, found.trials_crossed, found.worst.map(|worst| (worst * 1e6).round() / 1e6))
    }

    #[test]
    fn an_objective_is_crossed_if_it_is_crossed_in_any_trial() {
        assert_eq!(outcome("p95 < 50ms", [1.0, 2.0, 40.0, 4.0, 5.0]), (ObjectiveOutcome::Kept, 0, Some(0.04)));
        assert_eq!(outcome("p95 < 50ms", [1.0, 2.0, 50.0, 4.0, 5.0]), (ObjectiveOutcome::Crossed, 1, Some(0.05)));
        assert_eq!(outcome("p95 > 3ms", [1.0, 2.0, 50.0, 4.0, 5.0]), (ObjectiveOutcome::Crossed, 2, Some(0.001)));
    }

    #[test]
    fn what_failed_or_has_no_figure_keeps_nothing() {
        let with = |change: &dyn Fn(&mut InventedRun)| {
            let mut run = InventedRun::new(5);
            run.scenario_with("hello-c64", "hello", "Hello", Executor::ConstantVus { vus: 64 }, &["p95 < 1s"]);
            run.steady(GO, 20_000.0);
            change(&mut run);
            run.findings().scenarios.remove(0).cases.remove(0).objectives.remove(0)
        };
        assert_eq!(with(&|_| ()).outcome, ObjectiveOutcome::Kept);
        let failed = with(&|run| _ = run.fail(3, FailureKind::Crashed, "it ended"));
        assert_eq!((failed.outcome, failed.trials_kept), (ObjectiveOutcome::Unknown, 4));
        let no_figure = |block, trial: &mut Measurement| {
            if block == 3 {
                trial.objectives[0].outcome = ObjectiveOutcome::Unknown;
            }
        };
        assert_eq!(with(&|run| _ = run.change(no_figure)).outcome, ObjectiveOutcome::Unknown);
        assert_eq!(with(&|run| run.trials.clear()).outcome, ObjectiveOutcome::Unknown);
        assert_eq!(with(&|run| _ = run.change(|_, trial| trial.objectives.clear())).outcome, ObjectiveOutcome::Unknown);
    }
}
