//! Sentences that compare tools.

use super::*;

fn verdict(run: &InventedRun) -> String {
    only(run).verdict
}

const CHECKED: &str = "What each counted agrees with what crossed the wire.";

/// The same rate in every block, so the sentence has round figures.
fn at(rate: f64, tool: LoadTool, other: f64) -> InventedRun {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64", "hello", "Hello", 64).case(GO, &[rate; 5]).change(|_, it| count_on_wire(it));
    run.by_tool(tool).case(GO, &[other; 5]);
    run
}

#[test]
fn tools_that_agree_where_the_server_was_the_limit() {
    let sentence = format!(
        "2 tools loaded the same server: they agree within 3% on the rate (tolok over wrk: 1.020×, 1.020–1.020 within rounds), where the server was the limit. {CHECKED} A response cost the server 19.3 µs of CPU time whichever tool asked, within 3% (wrk over tolok: 1.020×, 1.020–1.020 within rounds)."
    );
    assert_eq!(verdict(&at(51_000.0, LoadTool::Wrk, 50_000.0)).replace('\u{a0}', " "), sentence);
}

#[test]
fn tools_that_differ_are_named_with_what_they_say() {
    let mut run = at(50_000.0, LoadTool::Ab, 40_000.0);
    run.change(|_, it| it.subject.as_mut().expect("tolok started it").cpu_s = 0.7 * it.window_s);
    let sentence = format!(
        "2 tools loaded the same server: they differ by 25% on the rate (tolok says 50.00k, ab says 40.00k: 1.250×, \
         1.250–1.250 within rounds). {CHECKED} A response cost the server from 17.5 µs of CPU time (ab asked) to 19.7 µs \
         (tolok): 1.126×, 1.126–1.126 within rounds."
    );
    assert_eq!(verdict(&run).replace('\u{a0}', " "), sentence, "ab left some of the server's CPU unused");
}

/// Their medians are 25 % apart, as those of ab and tolok above, but their blocks show no difference.
#[test]
fn tools_whose_blocks_scatter_are_not_said_to_differ() {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64", "hello", "Hello", 64).case(GO, &[50_000.0, 30_000.0, 70_000.0, 25_000.0, 60_000.0]);
    run.by_tool(LoadTool::Wrk).case(GO, &[40_000.0, 60_000.0, 20_000.0, 55_000.0, 30_000.0]);
    let said = verdict(&run);
    assert!(said.contains("they show no clear difference on the rate (tolok over wrk: 1.15×, 0.38–3.43"), "{said}");
    let few = verdict(&{
        let mut run = InventedRun::new(2);
        run.scenario("hello-c64", "hello", "Hello", 64).case(GO, &[50_000.0; 2]);
        run.by_tool(LoadTool::Wrk).case(GO, &[40_000.0; 2]);
        run
    });
    let words = "show no clear difference on the rate (tolok over wrk: 2 common rounds, and an interval needs 5)";
    assert!(few.contains(words), "{few}");
}

#[test]
fn a_tool_that_was_itself_the_limit_stands_beside_the_one_that_was_not() {
    let mut run = at(50_000.0, LoadTool::K6, 10_000.0);
    run.change(|_, it| at_its_limit(it, 0.3));
    let sentence = format!(
        "2 tools loaded the same server: only tolok has a valid rate, 50.00k a second. k6 was itself the limit, with 98% of \
         its CPU time used: it says 0.2000× (0.2000–0.2000) of the rate that tolok says. {CHECKED}"
    );
    assert_eq!(verdict(&run), sentence);
    run.by_tool(LoadTool::Hey).case(GO, &[12_000.0; 5]).change(|_, it| at_its_limit(it, 0.3));
    let limit = "k6 and hey were themselves the limit, with 98% of their CPU time used by each: they say 0.2000× \
                 (0.2000–0.2000) and 0.2400× (0.2400–0.2400) of the rate that tolok says.";
    assert!(verdict(&run).contains(limit), "{}", verdict(&run));
}

#[test]
fn where_no_tool_could_keep_up_no_rate_stands() {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64", "hello", "Hello", 64).case(CEILING, &[9_000.0; 5]);
    let ceiling = tolok_model::Role::Subject;
    run.plan.cases.last_mut().unwrap().role = ceiling;
    run.change(|_, it| at_its_limit(it, 0.3));
    run.by_tool(LoadTool::Hey).case(CEILING, &[8_000.0; 5]).change(|_, it| at_its_limit(it, 0.3));
    run.plan.cases.last_mut().unwrap().role = ceiling;
    let sentence = "2 tools loaded the same server, and none has a valid rate. tolok and hey were themselves the limit, \
                    with 98% of their CPU time used by each.";
    assert!(verdict(&run).starts_with(sentence), "{}", verdict(&run));
}

#[test]
fn a_tool_that_the_wire_contradicts_is_not_compared() {
    let mut run = at(50_000.0, LoadTool::Wrk, 60_000.0);
    run.change(|block, it| it.wire.as_mut().unwrap().answers_2xx = if block == 1 { 100_000 } else { 120_000 });
    let sentence = "2 tools loaded the same server: only tolok has a valid rate, 50.00k a second. The wire contradicts wrk (in \
                    the worst trial it counted 120.0% of the correct responses that crossed it).";
    assert!(verdict(&run).starts_with(sentence), "{}", verdict(&run));
}

#[test]
fn a_mean_that_no_connections_had_time_for_is_named() {
    let mut run = at(50_000.0, LoadTool::Wrk, 50_000.0);
    run.change(|_, it| (it.latency.mean_s, it.latency.max_s) = (Some(0.005), Some(0.005)));
    let sentence = "One mean latency is not from real responses: that of wrk (at its rate 250 requests would have waited at once, on 64 connections).";
    assert!(verdict(&run).contains(sentence), "{}", verdict(&run));
}

#[test]
fn without_a_wire_nothing_is_checked_and_the_tools_own_count_is_what_there_is() {
    let mut run = at(51_000.0, LoadTool::Wrk, 50_000.0);
    run.trials.iter_mut().for_each(|trial| {
        let tolok_model::Outcome::Completed(it) = &mut trial.outcome else { return };
        it.wire = None;
    });
    let found = only(&run);
    assert!(found.verdict.contains("Nothing was counted on the wire, so their counts are unchecked."));
    assert!(!found.is_cost_per_wire() && found.subject_cpu_s(&found.rows[1]).is_some());
    assert!(found.rows.iter().all(|row| row.wire_rps.is_none() && row.counted_of_wire.is_none()));
}

#[test]
fn a_wire_that_was_counted_for_some_checks_only_those() {
    let mut run = at(51_000.0, LoadTool::Wrk, 50_000.0);
    run.change(|_, it| it.wire = None);
    let sentence = "What they counted agrees with what crossed the wire, but for wrk, where it was not counted.";
    assert!(verdict(&run).contains(sentence), "{}", verdict(&run));
}

#[test]
fn a_tool_whose_trials_all_failed_has_a_row_without_figures() {
    let mut run = at(51_000.0, LoadTool::Oha, 50_000.0);
    (1..=5).for_each(|block| _ = run.fail(block, FailureKind::ToolFailed, "it said nothing"));
    let found = only(&run);
    let sentence = "Only tolok has a figure here, so there is nothing to compare it with. What it counted agrees with what \
                    crossed the wire. Without a figure: oha (tool failed).";
    assert_eq!(found.verdict, sentence);
    let row = &found.rows[1];
    assert_eq!((row.trials_scored, row.failures.as_slice()), (0, ["tool failed".to_owned()].as_slice()));
    assert!(row.goodput_rps.is_none() && row.notes.is_empty() && row.does_not_tell.is_empty());
    run.plan.scenarios.rotate_right(1);
    assert_eq!(only(&run).rows[0].tool, "oha", "the order is that of the study");
}

#[test]
fn where_nothing_was_measured_nothing_is_said_of_counts() {
    let mut run = at(51_000.0, LoadTool::Oha, 50_000.0);
    run.trials.clear();
    assert_eq!(
        verdict(&run),
        "No tool has a figure here. Without a figure: tolok (not measured) and oha (not measured)."
    );
}

#[test]
fn another_flag_that_voids_a_rank_is_named() {
    let mut run = at(51_000.0, LoadTool::K6, 50_000.0);
    let warning = ToolWarning { gate: "thresholds".to_owned(), text: "it said so".to_owned() };
    run.change(|_, it| it.tool_warnings = vec![warning.clone()]);
    assert!(verdict(&run).contains("Not compared: k6 (not-trusted)."), "{}", verdict(&run));
}

#[test]
fn at_a_rate_their_latencies_are_put_side_by_side() {
    let sentence = "4 tools loaded the same server: they differ by 9.3% on the rate (tolok says 2.000k, hey says 1.830k: 1.093×, 1.093–1.093 within rounds). Nothing was counted on the wire, so their counts are unchecked. A response cost the server from 60.0 µs of CPU time (tolok asked) to 65.6 µs (hey): 1.093×, 1.093–1.093 within rounds. Their p99 runs from 12.8 ms (hey) to 453 ms (oha).";
    assert_eq!(verdict(&tools_at_a_rate()).replace('\u{a0}', " "), sentence);
}
