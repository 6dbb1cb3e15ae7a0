//! What must hold in every trial: each gate passed, failed, and unknown.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

mod steady_state;

use crate::invented::{GO, InventedRun, carry};
use tolok_analysis::{CaseFinding, GateFinding, GateOutcome};
use tolok_model::{
    Arrivals, Connection, Environment, Executor, LatePercentile, Link, LoadChecks, LoadTool, Measurement, SecondSeries,
    ThinkTime, Throttling, ToolChoice, ToolWarning, WireCount,
};

const CLOSED: Executor = Executor::ConstantVus { vus: 64 };
const OPEN: Executor = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Uniform };

/// A sound case of six trials with 64 users, or connections, and 2,000 responses per second.
fn run_of(executor: Executor) -> InventedRun {
    let mut run = InventedRun::new(6);
    run.scenario_with("hello-x", "hello", "Hello", executor, &[]).case(GO, &[2_000.0; 6]);
    run
}

fn case_of(run: &InventedRun) -> CaseFinding {
    run.findings().scenarios.remove(0).cases.remove(0)
}

fn changed(executor: Executor, change: impl Fn(u32, &mut Measurement)) -> CaseFinding {
    case_of(run_of(executor).change(change))
}

fn gate(case: &CaseFinding, word: &str) -> GateFinding {
    case.gates.iter().find(|gate| gate.gate == word).unwrap_or_else(|| panic!("no {word}")).clone()
}

fn kinds(case: &CaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

/// A gate's outcome, and its message with plain spaces.
fn told(case: &CaseFinding, word: &str) -> (GateOutcome, String) {
    let gate = gate(case, word);
    (gate.outcome, gate.message.replace('\u{a0}', " "))
}

/// Checks that a failed gate bars its case, and that a flag states this.
fn barred(case: &CaseFinding, word: &str, flag: &str) {
    let gate = gate(case, word);
    assert_eq!((gate.outcome, gate.bars, case.ranked), (GateOutcome::Failed, true, false), "{}", gate.message);
    assert!(case.flags.iter().any(|it| it.kind == flag && it.voids_rank), "{:?}", case.flags);
}

fn warning(word: &str) -> Vec<ToolWarning> {
    vec![ToolWarning { gate: word.to_owned(), text: format!("{word} it was.") }]
}

/// The self-checks of tolok's own tool in a sound trial.
fn sound_checks() -> LoadChecks {
    LoadChecks {
        in_flight_mean: Some(64.0),
        service_mean_s: Some(0.032),
        lateness_p50_s: Some(0.000_01),
        lateness_p99_s: Some(0.000_1),
        late_percentiles: None,
        busiest_thread: Some(0.6),
        body_check: Some("exactly".to_owned()),
    }
}

#[test]
fn gates_come_in_a_fixed_order_and_only_those_that_are_asked() {
    let words = |case: CaseFinding| case.figures.gates.into_iter().map(|gate| gate.gate).collect::<Vec<_>>();
    let closed = "ledger little utilisation body-samples generator-headroom disturbance steady-state";
    assert_eq!(words(changed(CLOSED, |_, _| ())).join(" "), closed);
    let open =
        "ledger little utilisation body-samples generator-headroom offered-rate lateness disturbance steady-state";
    assert_eq!(words(changed(OPEN, |_, _| ())).join(" "), open);
    let ramp = Executor::RampingVus { start_vus: 64, stages: Vec::new() };
    assert!(!words(changed(ramp, |_, _| ())).contains(&"steady-state".to_owned()));
}

/// Old records lack self-checks: the gates are then unknown, and never pass.
#[test]
fn what_is_not_recorded_is_unknown_and_bars_nothing() {
    let case = changed(OPEN, |_, _| ());
    for word in ["little", "body-samples", "generator-headroom", "lateness", "steady-state"] {
        let gate = gate(&case, word);
        assert_eq!((gate.outcome, gate.trials_unknown, gate.bars), (GateOutcome::Unknown, 6, false), "{word}");
        assert!(!gate.message.is_empty());
    }
    assert!(case.ranked);
}

mod ledger {
    use super::*;

    #[test]
    fn passes_where_every_request_is_accounted_for() {
        let found = told(&changed(CLOSED, |_, _| ()), "ledger");
        assert_eq!(found, (GateOutcome::Passed, "every request is accounted for".to_owned()));
    }

    #[test]
    fn fails_with_the_flag_that_there_is() {
        let case = changed(CLOSED, |block, trial| trial.ledger.good -= u64::from(block == 2) * 3);
        barred(&case, "ledger", "ledger-open");
        let found = gate(&case, "ledger");
        assert_eq!((found.trials_failed, found.trials_passed, found.worst), (vec![2], 5, Some(3.0)));
        assert_eq!(found.message, "in 1 of 6 trials 3 requests not accounted for");
        let warned =
            changed(CLOSED, |block, trial| trial.tool_warnings = if block == 1 { warning("ledger") } else { vec![] });
        barred(&warned, "ledger", "not-trusted");
    }

    #[test]
    fn is_unknown_where_the_tool_does_not_tell() {
        let case = changed(CLOSED, |_, trial| trial.ledger.sent = None);
        assert_eq!(gate(&case, "ledger").outcome, GateOutcome::Unknown);
    }
}

mod little {
    use super::*;

    /// Multiplies the mean response time, as if a clock jumped.
    fn stretched(by: f64) -> impl Fn(u32, &mut Measurement) {
        move |_, trial| trial.latency.mean_s = trial.latency.mean_s.map(|mean_s| mean_s * by)
    }

    /// All responses take the same time, so the ends of the window explain very little.
    fn even(trial: &mut Measurement, mean_s: f64) {
        trial.latency.percentiles.clear();
        (trial.latency.mean_s, trial.latency.max_s) = (Some(mean_s), Some(mean_s));
    }

    #[test]
    fn holds_where_users_are_rate_times_time() {
        let found = told(&changed(CLOSED, |_, _| ()), "little");
        assert_eq!(found, (GateOutcome::Passed, "64.0 users, and rate × time gives 64.0".to_owned()));
    }

    #[test]
    fn fails_where_time_is_lost_or_added() {
        let lost = changed(CLOSED, |_, trial| {
            even(trial, 0.032);
            stretched(0.9)(0, trial);
        });
        barred(&lost, "little", "little");
        let message = "in 6 of 6 trials Little’s law does not hold: 64.0 users, and rate × time gives 57.6: 10% apart, and 3% can be explained";
        assert_eq!(told(&lost, "little").1, message);
        assert_eq!(kinds(&lost), ["little"]);
        barred(&changed(CLOSED, stretched(1.2)), "little", "little");
    }

    #[test]
    fn names_the_programs_that_kept_the_cpu_from_the_generator() {
        let hindered = |foreign: f64| {
            let case = changed(CLOSED, move |_, trial| {
                even(trial, 0.032);
                stretched(0.9)(0, trial);
                // The process has two more threads, which only wait for messages.
                trial.generator.threads_max = 3;
                trial.generator.run_queue_wait_s = 0.38 * trial.window_s;
                trial.host.foreign_cpu_s = foreign * trial.window_s;
            });
            told(&case, "little").1
        };
        let quiet = hindered(0.0);
        let begin = "in 6 of 6 trials Little’s law does not hold, probably because ";
        assert!(
            quiet.starts_with(&format!("{begin}the generator waited 38% of the time for a CPU: 64.0 users")),
            "{quiet}"
        );
        let busy = hindered(1.9);
        assert!(
            busy.starts_with(&format!("{begin}other programs took the CPU, and the generator waited 38%")),
            "{busy}"
        );
    }

    #[test]
    fn fails_where_the_tool_itself_says_so_and_that_is_one_flag() {
        let case = changed(OPEN, |_, trial| trial.tool_warnings = warning("little"));
        barred(&case, "little", "not-trusted");
        assert_eq!(kinds(&case), ["not-trusted"]);
    }

    /// At each end of a window of 2 s, 64 responses of half a second each are under way.
    #[test]
    fn what_crosses_the_ends_of_the_window_is_tolerated() {
        let with = |mean_s: f64, goodput_rps: f64| {
            changed(CLOSED, move |_, trial| {
                even(trial, mean_s);
                trial.goodput_rps = goodput_rps;
            })
        };
        assert_eq!(gate(&with(0.5, 100.0), "little").outcome, GateOutcome::Passed, "22% off, and the ends explain 25%");
        assert_eq!(gate(&with(0.5, 95.0), "little").outcome, GateOutcome::Failed);
        assert_eq!(gate(&with(0.032, 2_000.0 * 1.029), "little").outcome, GateOutcome::Passed);
        assert_eq!(gate(&with(0.032, 2_000.0 * 1.031), "little").outcome, GateOutcome::Failed);
    }

    /// A few long responses weigh more at the ends than in the mean.
    #[test]
    fn long_answers_that_are_rare_are_at_the_ends_more_often() {
        let case = changed(CLOSED, |_, trial| {
            even(trial, 0.03);
            trial.latency.max_s = Some(0.5);
            trial.latency.percentiles = [(0.9, 0.02), (0.99, 0.5)]
                .map(|(quantile, at_s)| tolok_model::Percentile::new(quantile, Some(at_s)))
                .into();
        });
        let found = gate(&case, "little");
        assert_eq!(found.outcome, GateOutcome::Passed, "{}", found.message);
        // E[R²] ≤ 0.9 · 0.02² + 0.1 · 0.5², over the mean, over the window.
        let expected = (0.9 * 0.02_f64.powi(2) + 0.1 * 0.5_f64.powi(2)) / 0.03 / 2.0;
        assert!((found.limit.unwrap() / expected - 1.0).abs() < 1e-9, "{:?}", found.limit);
    }

    #[test]
    fn pauses_of_users_count_and_so_does_who_was_never_answered() {
        let mut run = run_of(CLOSED);
        run.plan.scenarios[0].load.think_time = Some(ThinkTime { least_s: 0.006, most_s: 0.010 });
        run.change(|_, trial| even(trial, 0.024));
        assert_eq!(gate(&case_of(&run), "little").outcome, GateOutcome::Passed);
        let starved = |unanswered: u64| {
            changed(CLOSED, move |_, trial| {
                even(trial, 0.006);
                trial.ledger.connections_unanswered = Some(unanswered);
            })
        };
        assert_eq!(gate(&starved(52), "little").outcome, GateOutcome::Passed, "12 connections were served");
        assert_eq!(gate(&starved(30), "little").outcome, GateOutcome::Failed);
    }

    #[test]
    fn an_open_loop_counts_what_is_in_flight() {
        let with = |in_flight: f64| {
            changed(OPEN, move |_, trial| {
                even(trial, 0.032);
                trial.checks = Some(LoadChecks { in_flight_mean: Some(in_flight), ..sound_checks() });
            })
        };
        assert_eq!(told(&with(63.0), "little").1, "63.0 requests in flight, and rate × time gives 64.0: 1.6% apart");
        assert_eq!(gate(&with(63.0), "little").outcome, GateOutcome::Passed);
        barred(&with(60.0), "little", "little");
    }

    #[test]
    fn is_unknown_where_the_law_cannot_be_asked() {
        let reason = |change: &dyn Fn(&mut Measurement)| {
            let (outcome, reason) = told(&changed(CLOSED, |_, trial| change(trial)), "little");
            assert_eq!(outcome, GateOutcome::Unknown, "{reason}");
            reason
        };
        assert_eq!(reason(&|trial| trial.window_s = 0.9), "the window is too short");
        assert_eq!(reason(&|trial| trial.goodput_rps = 40.0), "there were too few responses");
        assert_eq!(reason(&|trial| trial.latency.mean_s = None), "the mean latency is not reported");
        let failing = reason(&|trial| crate::invented::fail_requests(trial, 50));
        assert_eq!(failing, "too many requests failed, and how long those took is unknown");
        let iterations = Executor::SharedIterations { vus: 64, iterations: 4_000 };
        assert_eq!(told(&changed(iterations, |_, _| ()), "little").1, "the load has more than one level");
        let mut run = run_of(OPEN);
        run.plan.scenarios[0].load.connection = Connection::PerRequest;
        assert_eq!(gate(&case_of(&run), "little").outcome, GateOutcome::Unknown);
    }

    #[test]
    fn other_tools_are_not_asked() {
        let mut run = InventedRun::new(6);
        run.scenario("hello-c64", "hello", "Hello", 64);
        run.plan.scenarios[0].tool = ToolChoice { name: LoadTool::Wrk, script: None };
        run.case(GO, &[2_000.0; 6]);
        assert_eq!(gate(&case_of(&run), "little").outcome, GateOutcome::Unknown);
    }
}

mod utilisation {
    use super::*;

    #[test]
    fn no_part_uses_more_cpu_time_than_there_is() {
        let case =
            changed(CLOSED, |_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 1.02 * trial.window_s);
        let found = gate(&case, "utilisation");
        assert_eq!(
            (found.outcome, found.worst.map(|worst| (worst * 1e6).round())),
            (GateOutcome::Passed, Some(1.02e6))
        );
        // 50 ms are 2.5 % of a window of 2 s, and 0.5 % of one of 10 s.
        let used = |share: f64, window_s: f64| {
            let case = changed(CLOSED, move |_, trial| {
                (trial.window_s, trial.subject.as_mut().expect("tolok started it").cpu_s) =
                    (window_s, share * window_s);
            });
            gate(&case, "utilisation").outcome
        };
        assert_eq!((used(1.04, 2.0), used(1.05, 2.0)), (GateOutcome::Passed, GateOutcome::Failed));
        assert_eq!((used(1.02, 10.0), used(1.03, 10.0)), (GateOutcome::Passed, GateOutcome::Failed));
        let case = changed(CLOSED, |block, trial| {
            trial.subject.as_mut().expect("tolok started it").cpu_s *= if block == 4 { 1.4 } else { 1.0 }
        });
        barred(&case, "utilisation", "utilisation");
        let message =
            "in 1 of 6 trials the subject used 138% of the CPU time that it was given, so the account of it is wrong";
        assert_eq!(told(&case, "utilisation").1, message);
    }

    #[test]
    fn a_thread_has_one_cpu_and_a_quota_one_period_more() {
        let case = changed(CLOSED, |_, trial| trial.generator.busiest_thread_cpu_s = Some(1.1 * trial.window_s));
        assert!(told(&case, "utilisation").1.contains("the generator’s busiest thread used 110%"));
        let mut run = InventedRun::new(6);
        let quota = tolok_model::Limits { mode: tolok_model::CpuMode::Quota, cpus: 0.5, ..Default::default() };
        run.environment(Environment { subject: quota, ..Environment::default() });
        run.scenario("hello-c64", "hello", "Hello", 64).case(GO, &[2_000.0; 6]);
        run.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.5 * (trial.window_s + 0.1));
        assert_eq!(gate(&case_of(&run), "utilisation").outcome, GateOutcome::Passed);
        run.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.55 * trial.window_s);
        assert_eq!(gate(&case_of(&run), "utilisation").outcome, GateOutcome::Failed);
    }

    #[test]
    fn a_short_window_is_not_judged() {
        let case = changed(CLOSED, |_, trial| trial.window_s = 0.5);
        assert_eq!(told(&case, "utilisation"), (GateOutcome::Unknown, "the window is too short".to_owned()));
    }
}

mod link_bytes {
    use super::*;

    /// 2,000 responses per second of this many bytes, over a link of 8 Mbit/s, which lets 1 MB through.
    fn over_a_link(bytes: u64, change: impl Fn(&mut Measurement)) -> CaseFinding {
        let mut run = InventedRun::new(6);
        run.environment(Environment {
            link: Link { rate_bps: Some(8e6), ..Link::default() },
            ..Environment::default()
        });
        run.scenario("hello-c64", "hello", "Hello", 64).case(GO, &[2_000.0; 6]);
        run.change(|_, trial| {
            trial.body_bytes = 4_000 * bytes;
            change(trial);
        });
        case_of(&run)
    }

    #[test]
    fn what_arrives_was_let_through() {
        let found = gate(&over_a_link(480, |_| ()), "link-bytes");
        assert_eq!((found.outcome, found.worst), (GateOutcome::Passed, Some(0.96)));
        let case = over_a_link(600, |_| ());
        barred(&case, "link-bytes", "link-bytes");
        assert_eq!(
            told(&case, "link-bytes").1,
            "in 6 of 6 trials the bodies were 120% of what the link lets through, more than is possible"
        );
    }

    #[test]
    fn what_arrives_was_carried() {
        assert_eq!(
            gate(&over_a_link(300, |trial| carry(trial, 400.0, 0.000_1)), "link-bytes").outcome,
            GateOutcome::Passed
        );
        let case = over_a_link(300, |trial| carry(trial, 200.0, 0.000_1));
        assert!(told(&case, "link-bytes").1.contains("the bodies were 150% of what the link’s emulator carried"));
        barred(&case, "link-bytes", "link-bytes");
    }

    /// With 64 users, 64 bodies of 4,000 bytes may have begun before the window, whether or not the tool reports its connections.
    #[test]
    fn a_body_that_began_before_the_window_counts_though_the_tool_tells_of_no_connection() {
        let untold = |trial: &mut Measurement| trial.ledger.connections = None;
        assert_eq!(gate(&over_a_link(515, untold), "link-bytes").outcome, GateOutcome::Passed);
        // Each request has its own connection: the tool counts all of them, and 64 were open at a time.
        let each = |trial: &mut Measurement| trial.ledger.connections = Some(4_000);
        assert_eq!(gate(&over_a_link(600, each), "link-bytes").outcome, GateOutcome::Failed);
    }

    #[test]
    fn without_a_count_of_bytes_it_cannot_be_told() {
        assert_eq!(gate(&over_a_link(0, |_| ()), "link-bytes").outcome, GateOutcome::Unknown);
    }
}

mod body_samples {
    use super::*;

    fn with(check: Option<&str>, change: impl Fn(&mut Measurement)) -> CaseFinding {
        changed(CLOSED, |_, trial| {
            trial.checks = Some(LoadChecks { body_check: check.map(str::to_owned), ..sound_checks() });
            change(trial);
        })
    }

    #[test]
    fn pass_only_if_bodies_were_looked_at() {
        let outcome = |check| told(&with(Some(check), |_| ()), "body-samples");
        assert_eq!(outcome("exactly"), (GateOutcome::Passed, "every body was compared byte for byte".to_owned()));
        assert_eq!(outcome("length").0, GateOutcome::Passed);
        assert_eq!(outcome("json").0, GateOutcome::Passed);
        assert_eq!(outcome("mixed").0, GateOutcome::Unknown);
        assert_eq!(gate(&with(None, |_| ()), "body-samples").outcome, GateOutcome::Unknown);
    }

    #[test]
    fn unseen_bodies_fail_and_bar_nothing() {
        for check in ["anything", "discard", "none"] {
            let case = with(Some(check), |_| ());
            let found = gate(&case, "body-samples");
            assert_eq!((found.outcome, found.bars, case.ranked), (GateOutcome::Failed, false, true), "{check}");
            assert_eq!(kinds(&case), Vec::<&str>::new());
        }
    }

    #[test]
    fn numbers_that_are_counted_need_no_comparison() {
        let case = with(Some("anything"), |trial| trial.counter = Some(tolok_model::CounterCheck::default()));
        assert_eq!(gate(&case, "body-samples").outcome, GateOutcome::Passed);
    }

    #[test]
    fn the_wire_speaks_for_tools_that_look_at_nothing_and_against_those_that_count_wrong() {
        let wire = |answers: u64| WireCount { answers, answers_2xx: answers, window_s: 2.0, last_answer_s: None };
        let of_wrk = |answers: Option<u64>| {
            let mut run = InventedRun::new(6);
            run.scenario("hello-c64", "hello", "Hello", 64);
            run.plan.scenarios[0].tool = ToolChoice { name: LoadTool::Wrk, script: None };
            run.case(GO, &[2_000.0; 6]).change(move |_, trial| trial.wire = answers.map(wire));
            case_of(&run)
        };
        assert_eq!(gate(&of_wrk(Some(4_000)), "body-samples").outcome, GateOutcome::Passed);
        assert_eq!(gate(&of_wrk(None), "body-samples").outcome, GateOutcome::Unknown);
        let case = of_wrk(Some(2_000));
        barred(&case, "body-samples", "wire-contradicts");
        assert_eq!(kinds(&case).iter().filter(|kind| **kind == "wire-contradicts").count(), 1);
    }
}

mod generator_headroom {
    use super::*;

    fn busy(generator: f64, subject: f64) -> impl Fn(u32, &mut Measurement) {
        move |_, trial| {
            trial.generator.cpu_s = generator * trial.window_s;
            trial.subject.as_mut().expect("tolok started it").cpu_s = subject * trial.window_s;
        }
    }

    #[test]
    fn is_that_of_the_flag_in_a_closed_loop() {
        let case = changed(CLOSED, busy(0.5, 0.6));
        assert_eq!(
            told(&case, "generator-headroom").1,
            "the generator used 50% of its CPUs, the subject 60% of its own"
        );
        assert_eq!(gate(&case, "generator-headroom").outcome, GateOutcome::Passed);
        let bound = changed(CLOSED, busy(0.95, 0.6));
        barred(&bound, "generator-headroom", "generator-bound");
        assert_eq!(kinds(&bound), ["generator-bound"], "one rule raises one flag");
        assert_eq!(gate(&changed(CLOSED, busy(0.95, 0.96)), "generator-headroom").outcome, GateOutcome::Passed);
    }

    /// The medians decide, as for the flag: a single trial is reported, but bars nothing.
    #[test]
    fn one_trial_at_the_limit_fails_and_bars_nothing() {
        let case = changed(CLOSED, |block, trial| busy(if block == 3 { 0.95 } else { 0.5 }, 0.6)(block, trial));
        let found = gate(&case, "generator-headroom");
        assert_eq!((found.outcome, found.trials_failed, found.bars), (GateOutcome::Failed, vec![3], false));
        assert!(case.ranked && case.flags.is_empty());
    }

    #[test]
    fn a_generator_that_its_quota_stops_is_at_its_limit_however_little_it_used() {
        let stopped = |periods: u64| {
            changed(CLOSED, move |block, trial| {
                busy(0.5, 0.6)(block, trial);
                let throttled_s = 0.01 * periods as f64;
                trial.generator.throttling = Some(Throttling { periods: 20, throttled_periods: periods, throttled_s });
            })
        };
        barred(&stopped(8), "generator-headroom", "generator-bound");
        let message = stopped(8).flags[0].message.clone();
        assert!(
            message.starts_with("the generator was the limit: its quota stopped it in 48 of 120 periods; it used 50%"),
            "{message}"
        );
        let bottleneck = stopped(8).figures.bottleneck.unwrap();
        assert_eq!(bottleneck.kind, tolok_analysis::BottleneckKind::Generator);
        assert!(
            bottleneck
                .sentence
                .contains("50% of its CPU, and its quota stopped it in 48 of 120 periods; the subject 60%")
        );
        assert_eq!(gate(&stopped(1), "generator-headroom").outcome, GateOutcome::Passed);
    }

    #[test]
    fn where_requests_start_by_the_clock_the_busiest_thread_or_the_tool_decides() {
        let thread = |busy: f64| {
            changed(OPEN, move |_, trial| {
                trial.checks = Some(LoadChecks { busiest_thread: Some(busy), ..sound_checks() })
            })
        };
        assert_eq!(gate(&thread(0.85), "generator-headroom").outcome, GateOutcome::Passed);
        barred(&thread(0.86), "generator-headroom", "generator-bound");
        let case = changed(OPEN, |_, trial| trial.tool_warnings = warning("generator-busy"));
        barred(&case, "generator-headroom", "not-trusted");
        assert_eq!(kinds(&case), ["not-trusted"]);
    }
}

mod schedules {
    use super::*;

    #[test]
    fn the_offered_rate_was_sent() {
        let unsent = |requests: u64| {
            changed(OPEN, move |_, trial| {
                trial.ledger.unsent = requests;
                trial.ledger.scheduled = trial.ledger.sent.map(|sent| sent + requests);
            })
        };
        assert_eq!(gate(&unsent(4), "offered-rate").outcome, GateOutcome::Passed);
        let found = gate(&unsent(20), "offered-rate");
        assert_eq!((found.outcome, found.bars), (GateOutcome::Failed, false), "only the tool's own warning bars");
        barred(&changed(OPEN, |_, trial| trial.tool_warnings = warning("offered-rate")), "offered-rate", "not-trusted");
        let untold = changed(OPEN, |_, trial| trial.offered_rps = None);
        assert_eq!(gate(&untold, "offered-rate").outcome, GateOutcome::Unknown);
    }

    /// In the invented trials, the median latency is 29.1 ms, and the 99th percentile 83.2 ms.
    #[test]
    fn requests_left_in_time() {
        let late = |p50_s: f64, p99_s: f64| {
            changed(OPEN, move |_, trial| {
                trial.checks =
                    Some(LoadChecks { lateness_p50_s: Some(p50_s), lateness_p99_s: Some(p99_s), ..sound_checks() });
            })
        };
        let (outcome, message) = told(&late(0.000_1, 0.002_9), "lateness");
        assert_eq!(outcome, GateOutcome::Passed);
        assert_eq!(message, "99% of the requests left within 2.90 ms of when they could, 10% of the median latency");
        assert_eq!(gate(&late(0.000_1, 0.008), "lateness").outcome, GateOutcome::Passed, "the tail is not affected");
        assert_eq!(gate(&late(0.003, 0.008), "lateness").outcome, GateOutcome::Failed, "the median does");
        assert_eq!(gate(&late(0.000_1, 0.009), "lateness").outcome, GateOutcome::Failed, "the tail does");
        barred(&changed(OPEN, |_, trial| trial.tool_warnings = warning("lateness")), "lateness", "not-trusted");
    }

    #[test]
    fn a_percentile_that_missing_answers_hide_is_a_lower_bound_and_no_number() {
        let hidden = |trials: u32| {
            let case = changed(OPEN, move |block, trial| {
                let p99 = trial.latency.percentiles.iter_mut().find(|it| it.quantile == 0.99).unwrap();
                if block <= trials {
                    (p99.latency_s, p99.at_least_s) = (None, Some(0.4));
                }
            });
            (case.latency_p99_s.is_some(), case.latency_p99_at_least_s)
        };
        assert_eq!(hidden(0), (true, None));
        let (known, least_s) = hidden(1);
        assert!(!known && (0.05..0.1).contains(&least_s.unwrap()), "{least_s:?}");
        assert_eq!(hidden(6), (false, Some(0.4)));
    }

    #[test]
    fn lateness_costs_the_percentiles_that_it_moves_and_not_the_rank() {
        let moved = |late: &'static [(f64, f64)]| {
            changed(OPEN, move |_, trial| {
                let late = late.iter().map(|(quantile, moved)| LatePercentile { quantile: *quantile, moved: *moved });
                trial.checks = Some(LoadChecks { late_percentiles: Some(late.collect()), ..sound_checks() });
            })
        };
        assert_eq!(gate(&moved(&[]), "lateness").outcome, GateOutcome::Passed);
        let found = gate(&moved(&[(0.99, 0.06), (0.999, 0.4)]), "lateness");
        assert_eq!((found.outcome, found.bars), (GateOutcome::Failed, false));
        let message = "in 6 of 6 trials the generator's lateness moved p99, p99.9 by up to 40%, so they are not given";
        assert_eq!(told(&moved(&[(0.99, 0.06), (0.999, 0.4)]), "lateness").1, message);
    }
}

#[test]
fn a_disturbed_trial_fails_and_bars_if_none_is_left() {
    let mut run = run_of(CLOSED);
    assert_eq!(told(&case_of(&run), "disturbance"), (GateOutcome::Passed, "nothing disturbed it".to_owned()));
    run.disturb(2, "steal", 0.02, "the hypervisor took 2%.");
    let found = gate(&case_of(&run), "disturbance");
    assert_eq!((found.outcome, found.trials_failed, found.bars), (GateOutcome::Failed, vec![2], false));
    assert_eq!(found.message, "in 1 of 6 trials: the hypervisor took 2%");
    (1..=6).for_each(|block| _ = run.disturb(block, "steal", 0.02, "the hypervisor took 2 %"));
    let case = case_of(&run);
    barred(&case, "disturbance", "disturbed");
    assert_eq!(case.gates.len(), 1, "no other trial is left to be judged");
}

/// A barring gate without a voiding flag would mean two contradictory rules.
#[test]
fn every_gate_that_bars_has_a_flag_that_voids() {
    let changes: [fn(u32, &mut Measurement); 5] = [
        |_, trial| trial.ledger.good -= 1,
        |_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s *= 2.0,
        |_, trial| trial.latency.mean_s = Some(0.3),
        |_, trial| trial.generator.cpu_s = trial.window_s,
        |_, trial| trial.tool_warnings = warning("lateness"),
    ];
    for executor in [CLOSED, OPEN] {
        for change in changes {
            let case = changed(executor.clone(), change);
            let barring = case.gates.iter().filter(|gate| gate.bars).count();
            let voiding = case.flags.iter().filter(|flag| flag.voids_rank).count();
            assert!(barring == 0 || (voiding > 0 && !case.ranked), "{:?}", case.gates);
        }
    }
}
