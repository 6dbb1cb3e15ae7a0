//! Findings on several tools that loaded the same server, and on what a tool does not report.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

mod verdicts;

use crate::invented::tools::{at_its_limit, count_on_wire, seven_tools, tools_at_a_rate};
use crate::invented::{CEILING, GO, InventedRun, fail_requests};
use tolok_analysis::{CaseFinding, ToolRow, ToolsFinding};
use tolok_model::{
    Arrivals, Connection, Executor, FailureKind, LatencyMark, LoadTool, Measurement, Script, ToolChoice, ToolWarning,
};

/// Go under load from tolok, with a wire count.
fn by_tolok() -> InventedRun {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64", "hello", "Hello", 64).steady(GO, 43_900.0).change(|_, it| count_on_wire(it));
    run
}

/// Go under load from tolok, and from another tool whose trials are changed.
fn and_by(tool: LoadTool, change: impl Fn(u32, &mut Measurement)) -> InventedRun {
    let mut run = by_tolok();
    run.by_tool(tool).steady(GO, 43_700.0).change(change);
    run
}

fn only(run: &InventedRun) -> ToolsFinding {
    let mut found = run.findings().tools;
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// The row of the second tool.
fn second(run: &InventedRun) -> ToolRow {
    only(run).rows.remove(1)
}

/// The case of the last scenario.
fn last_case(run: &InventedRun) -> CaseFinding {
    run.findings().scenarios.pop().unwrap().cases.remove(0)
}

fn kinds(case: &CaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

mod groups {
    use super::*;

    #[test]
    fn one_for_each_subject_in_the_order_of_the_study_and_the_ceiling_last() {
        let found = seven_tools().findings().tools;
        let subjects: Vec<(&str, bool)> = found.iter().map(|it| (it.subject_title.as_str(), it.is_ceiling)).collect();
        assert_eq!(subjects, [("Go net/http", false), ("Minimal server", true)]);
        let tools: Vec<String> = found[0].rows.iter().map(ToolRow::words).collect();
        let names = ["tolok", "k6 1.8.1", "wrk 4.1.0", "ab 2.3", "h2load 1.52.0", "hey 0.1.5", "oha"];
        assert_eq!(tools, names, "a tool that failed has no version");
        assert_eq!(
            (found[0].load.as_str(), found[0].environment.as_str()),
            ("closed loop, 64 virtual users, keep-alive, 2 s", "")
        );
    }

    #[test]
    fn scenarios_that_differ_in_more_than_their_tools_are_not_put_side_by_side() {
        let mut run = and_by(LoadTool::Wrk, |_, _| ());
        assert_eq!(run.findings().tools.len(), 1);
        run.plan.scenarios[1].load.connection = Connection::PerRequest;
        assert_eq!(run.findings().tools.len(), 0);
        assert_eq!(by_tolok().findings().tools.len(), 0, "a single tool is not compared");
    }

    #[test]
    fn a_scenario_says_which_tool_asked() {
        let scenarios = and_by(LoadTool::Wrk, |_, _| ()).findings().scenarios;
        let tools: Vec<(&str, bool)> = scenarios.iter().map(|it| (it.tool.as_str(), it.is_own_tool)).collect();
        assert_eq!(tools, [("tolok", true), ("wrk 4.1.0", false)]);
        assert_eq!(scenarios[1].latency_marks, [LatencyMark::BackFilled]);
    }

    #[test]
    fn two_versions_in_one_run_are_both_named() {
        let run = and_by(LoadTool::Wrk, |block, it| {
            let tool = it.tool.as_mut().unwrap();
            tool.version = if block == 3 { "4.2.0" } else { "4.1.0" }.to_owned();
        });
        assert_eq!(second(&run).words(), "wrk 4.1.0 or 4.2.0");
    }
}

mod figures {
    use super::*;

    #[test]
    fn the_wire_is_compared_by_counts_and_shown_over_the_tools_own_window() {
        let row = second(&and_by(LoadTool::Wrk, |_, it| {
            (it.goodput_rps, it.ledger.good) = (40_000.0, 80_000);
            let wire = it.wire.as_mut().unwrap();
            (wire.answers, wire.answers_2xx) = (80_100, 80_040);
        }));
        assert_eq!(row.wire_rps.unwrap().value, 40_020.0, "80,040 answers in the 2 s of the tool");
        assert_eq!(row.counted_of_wire.unwrap().value, 80_000.0 / 80_040.0);
        let cost = row.subject_cpu_s_per_wire.unwrap().value;
        assert!((cost - 0.985 * 2.0 / 80_100.0).abs() < 1e-15, "responses of any status cost the server CPU time");
    }

    #[test]
    fn cost_and_rate_are_put_beside_toloks_within_blocks() {
        let found = only(&and_by(LoadTool::K6, |_, it| it.generator.cpu_s *= 8.0));
        let (own, k6) = (&found.rows[0], &found.rows[1]);
        assert!(own.goodput_of_own.is_none() && own.generator_cpu_of_own.is_none());
        let ratio = k6.generator_cpu_of_own.as_ref().unwrap();
        assert_eq!(ratio.trials.len(), 5);
        assert!((7.5..8.5).contains(&ratio.value), "{ratio:?}");
        assert!(k6.goodput_of_own.as_ref().unwrap().low.is_some());
    }

    #[test]
    fn without_tolok_among_the_tools_nothing_is_relative_to_it() {
        let mut run = InventedRun::new(5);
        run.scenario("hello-c64", "hello", "Hello", 64);
        run.plan.scenarios[0].tool = ToolChoice { name: LoadTool::Ab, script: None };
        run.steady(GO, 39_000.0).by_tool(LoadTool::Wrk).steady(GO, 43_700.0);
        let found = only(&run);
        assert!(found.rows.iter().all(|row| row.goodput_of_own.is_none() && row.generator_cpu_of_own.is_none()));
        assert!(found.verdict.starts_with("2 tools loaded the same server: they differ by 1"), "{}", found.verdict);
    }

    #[test]
    fn what_the_tool_does_not_tell_is_absent_and_named() {
        let row = second(&and_by(LoadTool::H2load, |_, it| (it.latency.mean_s, it.latency.max_s) = (None, None)));
        assert!(row.latency_p50_s.is_none() && row.latency_mean_s.is_none() && row.little.is_none());
        let untold = [
            "what became of every request",
            "whether bodies were right",
            "mean latency",
            "p50",
            "p99",
            "longest latency",
            "the distribution of latencies",
        ];
        assert_eq!(row.does_not_tell, untold);
        assert_eq!(
            only(&by_tolok_and_few_answers()).rows[1].does_not_tell,
            untold[..2].iter().chain(&untold[6..]).copied().collect::<Vec<_>>()
        );
    }

    /// Too few responses for any percentile, which is not a lack of the tool.
    fn by_tolok_and_few_answers() -> InventedRun {
        let mut run = InventedRun::new(5);
        run.scenario("hello-c1", "hello", "Hello", 1).case(GO, &[7.0; 5]);
        run.by_tool(LoadTool::Oha).case(GO, &[7.0; 5]);
        run
    }

    #[test]
    fn littles_law_is_for_closed_loops_that_keep_their_connections() {
        let of = |change: fn(&mut InventedRun)| {
            let mut run = and_by(LoadTool::Oha, |_, _| ());
            change(&mut run);
            second(&run).little.map(|little| (little.value * 100.0).round() / 100.0)
        };
        assert_eq!(of(|_| ()), Some(1.0));
        let per_request = |run: &mut InventedRun| {
            run.plan.scenarios.iter_mut().for_each(|it| it.load.connection = Connection::PerRequest);
        };
        assert_eq!(of(per_request), None);
        assert_eq!(tools_at_a_rate().findings().tools[0].rows[1].little, None);
    }

    /// 64 connections × (2 s + the wait of each before it) is the most time that responses of a window can have taken.
    #[test]
    fn one_long_answer_on_each_connection_may_have_begun_before_the_window() {
        let trials = |of_mean: f64, max_s: f64| {
            second(&and_by(LoadTool::Oha, |_, it| {
                it.latency.mean_s = it.latency.mean_s.map(|mean_s| mean_s * of_mean);
                it.latency.max_s = Some(max_s);
            }))
            .trials_against_little
        };
        assert_eq!([trials(1.04, 0.0), trials(1.06, 0.0)], [0, 5]);
        assert_eq!([trials(1.5, 1.0), trials(1.6, 1.0)], [0, 5]);
    }
}

mod flags {
    use super::*;

    fn contradicted(by: i64, failed: u64) -> CaseFinding {
        last_case(&and_by(LoadTool::Wrk, |block, it| {
            let (goodput_rps, good) = (11_877.0 / 2.0, 11_877 - failed);
            (it.goodput_rps, it.ledger.good) = (goodput_rps, good);
            it.ledger.failed.insert("bad_body".to_owned(), failed);
            let wire = it.wire.as_mut().unwrap();
            wire.answers_2xx = if block == 2 { (11_877 - by) as u64 } else { 11_877 };
        }))
    }

    #[test]
    fn a_count_that_the_wire_contradicts_voids_the_rank() {
        let case = contradicted(2_877, 0);
        assert!(!case.ranked);
        let flag = case.flags.iter().find(|flag| flag.kind == "wire-contradicts").unwrap();
        let message = "in 1 of 5 trials the wire contradicts the tool; in the worst it counted 11,877 correct responses, and 9,000 \
                       crossed the wire";
        assert_eq!((flag.message.as_str(), flag.voids_rank), (message, true));
    }

    #[test]
    fn one_answer_for_each_connection_and_one_in_a_hundred_are_tolerated() {
        let is_flagged = |by: i64| kinds(&contradicted(by, 0)).contains(&"wire-contradicts");
        assert_eq!(
            [64, 117, 120].map(is_flagged),
            [false, false, true],
            "1% of 11,757 is 117, more than the connections"
        );
        assert_eq!([-64, -119, -121].map(is_flagged), [false, false, true]);
    }

    #[test]
    fn over_a_link_that_loses_packets_an_answer_may_cross_twice() {
        let of = |loss: f64| {
            let mut run = and_by(LoadTool::Wrk, |_, it| {
                (it.goodput_rps, it.ledger.good) = (5_000.0, 10_000);
                it.wire.as_mut().unwrap().answers_2xx = 10_250;
            });
            run.plan.environments[0].link.loss = loss;
            kinds(&last_case(&run)).contains(&"wire-contradicts")
        };
        assert_eq!([0.0, 0.02].map(of), [true, false]);
    }

    #[test]
    fn a_tool_may_lack_what_came_after_its_window_in_the_life_of_its_process() {
        let of = |window_s: f64, answers_2xx: u64| {
            let run = and_by(LoadTool::Wrk, |_, it| {
                (it.goodput_rps, it.ledger.good) = (5_000.0, 10_000);
                let wire = it.wire.as_mut().unwrap();
                (wire.answers_2xx, wire.window_s) = (answers_2xx, window_s);
            });
            kinds(&last_case(&run)).contains(&"wire-contradicts")
        };
        // Its own window is 2 s. A window that is 2 % longer explains 2 % more on the wire, but not fewer.
        assert_eq!([of(2.0, 10_250), of(2.04, 10_250), of(2.04, 10_350), of(2.04, 9_800)], [true, false, true, true]);
    }

    #[test]
    fn an_answer_that_the_tool_calls_bad_may_have_crossed_the_wire_as_a_good_one() {
        assert!(!kinds(&contradicted(0, 900)).contains(&"wire-contradicts"));
        assert!(kinds(&contradicted(-900, 300)).contains(&"wire-contradicts"));
    }

    #[test]
    fn tolok_keeps_answers_to_the_warm_up_apart_and_the_wire_does_not() {
        let mut run = by_tolok();
        run.change(|_, it| {
            it.ledger.good -= 5_000;
            it.ledger.sent = it.ledger.sent.map(|sent| sent - 5_000);
            it.ledger.scheduled = it.ledger.scheduled.map(|scheduled| scheduled - 5_000);
            count_on_wire(it);
            it.wire.as_mut().unwrap().answers_2xx = (it.goodput_rps * it.window_s) as u64;
        });
        assert_eq!(kinds(&last_case(&run)), Vec::<&str>::new());
    }

    #[test]
    fn what_cannot_be_checked_is_said_and_voids_nothing() {
        let message = |run: &InventedRun| {
            let case = last_case(run);
            let flag = case.flags.iter().find(|flag| flag.kind == "tool-tells-little").cloned();
            flag.map(|flag| (flag.message, flag.voids_rank))
        };
        let closed = "not checked, because wrk does not report: whether every request is accounted for and whether connections waited \
                      in vain";
        assert_eq!(message(&and_by(LoadTool::Wrk, |_, _| ())), Some((closed.to_owned(), false)));
        let open = "not checked, because oha does not report: whether every request is accounted for and whether requests left on \
                    time";
        assert_eq!(message(&tools_at_a_rate()), Some((open.to_owned(), false)));
        assert_eq!(message(&by_tolok()), None);
    }

    #[test]
    fn a_tool_that_tells_less_raises_no_other_flag() {
        for tool in LoadTool::ALL.into_iter().filter(|tool| *tool != LoadTool::Tolok) {
            assert_eq!(kinds(&last_case(&and_by(tool, |_, _| ()))), ["tool-tells-little"], "{tool:?}");
        }
        let open = tools_at_a_rate().findings().scenarios.pop().unwrap().cases.remove(0);
        assert_eq!((kinds(&open), open.requests_unaccounted), (vec!["tool-tells-little"], None));
    }

    #[test]
    fn k6_drops_what_others_let_wait() {
        let scenario = tools_at_a_rate().findings().scenarios.remove(1);
        let flag = scenario.cases[0].flags.iter().find(|flag| flag.kind == "backlog").unwrap();
        let message = "k6 dropped up to 8% of the scheduled requests in a trial, because no virtual user was free; they are in no percentile";
        assert_eq!(flag.message, message);
    }
}

mod notes {
    use super::*;

    fn of(tool: LoadTool, change: impl Fn(u32, &mut Measurement)) -> Vec<String> {
        second(&and_by(tool, change)).notes
    }

    #[test]
    fn only_what_bears_on_a_row_stands_beside_it() {
        for tool in [LoadTool::K6, LoadTool::H2load, LoadTool::Hey, LoadTool::Oha] {
            assert_eq!(of(tool, |_, _| ()), Vec::<String>::new(), "{tool:?} without any problem");
        }
        let coarse = "Its times come in coarse steps (whole milliseconds, or tenths), so short ones say little.";
        assert_eq!(of(LoadTool::H2load, |_, it| it.latency.marks = vec![LatencyMark::Coarse]), [coarse]);
    }

    #[test]
    fn what_a_tool_costs_is_said_where_it_costs_twice_as_much() {
        let of = |tool, factor: f64| of(tool, move |_, it| it.generator.cpu_s *= factor);
        assert_eq!(of(LoadTool::Hey, 1.9), Vec::<String>::new());
        let [k6] = of(LoadTool::K6, 8.0).try_into().unwrap();
        assert!(
            k6.starts_with("It spends ") && k6.ends_with(") of what tolok spends: its users are JavaScript."),
            "with the interval of the ratio: {k6}"
        );
    }

    #[test]
    fn ab_speaks_another_protocol_and_computes_its_mean() {
        let notes = of(LoadTool::Ab, |_, it| it.latency.marks = vec![LatencyMark::DerivedMean]);
        let words = [
            "It uses HTTP/1.0, which is other work for a server than the HTTP/1.1 of the others.",
            "Its mean is computed as connections over rate, so it can never contradict its rate.",
        ];
        assert_eq!(notes, words);
    }

    #[test]
    fn what_wrk_never_counts_is_said_where_tolok_saw_it() {
        let saw = |change: fn(&mut Measurement)| {
            let mut run = by_tolok();
            run.change(|_, it| change(it));
            run.by_tool(LoadTool::Wrk).steady(GO, 43_700.0).change(|_, it| it.latency.marks.clear());
            second(&run).notes
        };
        assert_eq!(saw(|_| ()), Vec::<String>::new());
        let counts = "It counts a request when its response comes, so it misses requests that never get one";
        let waiting = saw(|it| it.ledger.connections_unanswered = Some(25));
        assert_eq!(waiting, [format!("{counts}; tolok saw up to 25 connections without a response.")]);
        let timeouts = saw(|it| _ = it.ledger.failed.insert("timeout".to_owned(), 3));
        assert_eq!(timeouts, [format!("{counts}; tolok saw 15 time-outs.")]);
    }

    #[test]
    fn back_filled_latencies_are_named_and_held_against_littles_law() {
        let notes = of(LoadTool::Wrk, |_, it| {
            (it.goodput_rps, it.latency.mean_s, it.latency.max_s) = (40_000.0, Some(0.005), Some(0.006));
        });
        let words = [
            "After the run it adds samples for requests that it should have sent, so its mean and percentiles include times that were never measured.",
            "Its mean cannot come from real responses: at its rate 200 requests would have waited at once, on 64 connections.",
        ];
        assert_eq!(notes, words);
    }

    #[test]
    fn in_a_closed_loop_a_latency_that_begins_at_sending_leaves_out_little() {
        let run = and_by(LoadTool::K6, |_, it| it.latency.marks = vec![LatencyMark::FromSend]);
        let note = "Its latencies begin when a request is sent, and not when its user became free.";
        assert_eq!(second(&run).notes, [note]);
        let mut per_request = run.clone();
        per_request.plan.scenarios.iter_mut().for_each(|it| it.load.connection = Connection::PerRequest);
        assert_eq!(
            second(&per_request).notes,
            ["Its latencies begin when a request is sent, when its connection is open already."]
        );
        assert!(!run.findings().cautions.iter().any(|caution| caution.contains("latency from sending")));
    }

    #[test]
    fn failures_among_the_latencies_matter_where_there_are_any() {
        let with = |failed| {
            of(LoadTool::Oha, move |_, it| {
                it.latency.marks = vec![LatencyMark::WithFailures];
                fail_requests(it, failed);
            })
        };
        assert_eq!(with(0), Vec::<String>::new());
        assert_eq!(with(2), ["Its latencies include those of 10 failed requests."]);
    }

    #[test]
    fn at_a_rate_it_matters_when_a_latency_begins_and_what_was_delivered() {
        let found = only(&tools_at_a_rate());
        assert_eq!(found.rows[0].notes, Vec::<String>::new());
        let k6 = [
            "Its latencies begin when a request is sent: it drops an arrival if no virtual user is free, and no latency includes that wait.",
            "It delivered 1.84k of the 2.00k a second that the study asks for, which tolok did deliver, and left 1,600 requests \
             out.",
        ];
        assert_eq!(found.rows[1].notes, k6);
        let oha = "Its latencies begin when a request was due only because it runs with --latency-correction.";
        assert_eq!(found.rows[3].notes, [oha]);
    }

    #[test]
    fn a_rate_that_nobody_delivers_is_the_servers() {
        let mut run = InventedRun::new(5);
        let executor = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Uniform };
        run.scenario_with("hello-r2000", "hello", "Hello", executor, &[]).case(GO, &[900.0; 5]);
        run.by_tool(LoadTool::Oha).case(GO, &[910.0; 5]).change(|_, it| it.latency.marks.clear());
        let oha = "Its latencies begin when a request was due only because it runs with --latency-correction.";
        assert_eq!(second(&run).notes, [oha]);
    }

    #[test]
    fn a_script_of_ones_own_need_not_ask_for_the_same() {
        let mut run = and_by(LoadTool::K6, |_, _| ());
        run.plan.scenarios[1].tool.script = Some(Script { file: "users.js".to_owned(), text: String::new() });
        let found = only(&run);
        assert_eq!(
            found.rows[1].notes,
            ["Its users run users.js, which may send other requests than the other tools."]
        );
        assert_eq!(found.rows[1].words(), "k6 1.8.1 with users.js");
        assert!(found.verdict.contains("only tolok has a valid rate"), "{}", found.verdict);
        assert!(found.verdict.contains("Not compared: k6 (a script of its own)."), "{}", found.verdict);
    }
}

mod cautions {
    use super::*;

    fn with(run: &InventedRun, words: &str) -> Vec<String> {
        run.findings().cautions.into_iter().filter(|caution| caution.contains(words)).collect()
    }

    #[test]
    fn latencies_that_begin_at_sending_are_not_called_those_of_an_open_loop() {
        let run = tools_at_a_rate();
        let open = with(&run, "(open loop)");
        assert!(open[0].starts_with("In hello-r2000 and hello-r2000-oha requests started by the clock"), "{open:?}");
        let sent = "In hello-r2000-k6 and hello-r2000-hey the tool measures latency from sending: a request that had to wait before looks as fast as one that did not.";
        assert_eq!(with(&run, "latency from sending"), [sent]);
    }

    #[test]
    fn samples_that_were_added_are_named() {
        let added = "In hello-c64-wrk the tool adds samples after the run, so some latencies were never measured. Do not compare them with another tool’s.";
        assert_eq!(with(&and_by(LoadTool::Wrk, |_, _| ()), "adds samples"), [added]);
        assert_eq!(with(&by_tolok(), "adds samples"), Vec::<String>::new());
    }
}
