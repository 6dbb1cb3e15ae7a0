//! The generated script, and the interpretation of summaries of real runs.

use tolok_model::{
    Arrivals, Connection, Executor, LatencyMark, LoadProfile, Objective, Pool, Scenario, Script, Stage, ThinkTime,
    ToolChoice,
};

use super::*;
use crate::driver::Answers;
use crate::jobs;

fn load(executor: Executor) -> LoadProfile {
    LoadProfile { executor, warmup_s: 1.0, timeout_s: 2.5, ..jobs::closed() }
}

fn users(vus: u32) -> LoadProfile {
    load(Executor::ConstantVus { vus })
}

/// 0 to 20 users within half a second, then level, then down again.
fn up_and_down() -> LoadProfile {
    let stages = [(20.0, 0.5), (20.0, 1.0), (0.0, 0.5)].map(|(target, duration_s)| Stage { target, duration_s }).into();
    load(Executor::RampingVus { start_vus: 0, stages })
}

fn arrivals(rate_rps: f64) -> LoadProfile {
    let executor = Executor::ConstantArrivalRate { rate_rps, arrivals: Arrivals::Uniform };
    LoadProfile { pool: Some(Pool::Bounded(4)), ..load(executor) }
}

fn scenario(load: LoadProfile, objectives: &[&str]) -> Scenario {
    let objectives = objectives.iter().map(|text| Objective::parse(text).unwrap()).collect();
    Scenario { tool: ToolChoice { name: LoadTool::K6, script: None }, objectives, ..jobs::scenario(load) }
}

const USERS_JS: &str = include_str!("recorded/users.js");

fn with_script(load: LoadProfile, objectives: &[&str]) -> Scenario {
    let script = Script { file: "scripts/users.js".to_owned(), text: USERS_JS.to_owned() };
    Scenario { tool: ToolChoice { name: LoadTool::K6, script: Some(script) }, ..scenario(load, objectives) }
}

fn job(scenario: &Scenario) -> LoadJob<'_> {
    LoadJob { answers: Answers::Status, body_bytes: Some(13), cpus: 1, ..jobs::job(scenario) }
}

/// The lab's script for a scenario.
fn script_of(scenario: &Scenario) -> String {
    K6.invocation(&job(scenario)).files.remove(0).1
}

/// The job that the script, and with it k6, receives.
fn told(scenario: &Scenario) -> serde_json::Value {
    let script = script_of(scenario);
    let (_, rest) = script.split_once("const job = ").unwrap();
    serde_json::from_str(rest.split_once("};\n").map(|(told, _)| format!("{told}}}")).as_deref().unwrap()).unwrap()
}

fn tool_output(output: &str, log: &str) -> ToolOutput {
    ToolOutput { stdout: output.to_owned(), stderr: log.to_owned(), ..ToolOutput::default() }
}

/// Reads a recorded run.
macro_rules! report {
    ($name:literal, $scenario:expr) => {
        K6.report(
            &tool_output(
                include_str!(concat!("recorded/", $name, ".json")),
                include_str!(concat!("recorded/", $name, ".log")),
            ),
            &job(&$scenario),
        )
        .unwrap()
    };
}

fn classes(report: &ToolReport) -> Vec<(&str, u64)> {
    report.ledger.failed.iter().map(|(class, count)| (class.as_str(), *count)).collect()
}

/// `p95 < 50ms: kept`
fn judged(report: &ToolReport) -> Vec<String> {
    let word = |record: &tolok_model::ObjectiveRecord| format!("{}: {:?}", record.objective, record.outcome);
    report.objectives.iter().map(word).collect()
}

#[test]
fn the_script_of_a_ramp_with_thresholds() {
    let mut scenario = scenario(up_and_down(), &["http_req_duration p(95)<20", "http_req_failed rate<0.01"]);
    scenario.load.think_time = Some(ThinkTime { least_s: 0.5, most_s: 1.5 });
    scenario.abort = true;
    insta::assert_snapshot!(script_of(&scenario));
}

#[test]
fn the_script_around_a_users_own() {
    let scenario = with_script(users(2), &["p95 < 1s", "failed < 1%", "failed < 10", "rate > 1/s"]);
    let invocation = K6.invocation(&job(&scenario));
    let [(name, script), of_user, _] = &invocation.files[..] else { panic!("{:?}", invocation.files) };
    assert_eq!(name, "k6.js");
    assert_eq!(*of_user, ("users.js".to_owned(), USERS_JS.to_owned()));
    insta::assert_snapshot!(script);
}

#[test]
fn k6_is_called_without_a_port_of_its_own_and_scripts_know_where_the_subject_is() {
    let own = scenario(users(2), &[]);
    let invocation = K6.invocation(&job(&own));
    let expect = "run --quiet --no-color --no-usage-report --address= --config k6-config.json k6.js";
    assert_eq!(invocation.arguments.join(" "), expect);
    let text = "tolok: the load begins".to_owned();
    assert_eq!(invocation.borders, Borders::AfterLine { text, after_s: 1.0, for_s: 2.0 });
    let mut scenario = with_script(users(2), &[]);
    scenario.tool.script.as_mut().unwrap().file = "k6.js".to_owned();
    let invocation = K6.invocation(&job(&scenario));
    let expect = "run --quiet --no-color --no-usage-report --address= --config k6-config.json -e TOLOK_URL=http://127.0.0.1:8080/hello \
                  -e TOLOK_BASE=http://127.0.0.1:8080 tolok-k6.js";
    assert_eq!(invocation.arguments.join(" "), expect);
    let names: Vec<&str> = invocation.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tolok-k6.js", "k6.js", "k6-config.json"]);
}

#[test]
fn every_executor_has_k6s_own_name_and_options() {
    let check = |load: LoadProfile, expect: serde_json::Value| {
        let mut window = told(&scenario(load.clone(), &[]))["options"]["scenarios"]["window"].take();
        let window = window.as_object_mut().unwrap();
        let common = ["executor", "gracefulStop", "startTime"].map(|name| window.remove(name).unwrap());
        assert_eq!(common, [load.executor.name(), "0s", "1s"]);
        assert_eq!(serde_json::Value::from(window.clone()), expect);
    };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let each = Executor::PerVuIterations { vus: 4, iterations: 500 };
    check(users(64), json(r#"{"vus": 64, "duration": "2s"}"#));
    check(load(each), json(r#"{"vus": 4, "iterations": 500, "maxDuration": "2s"}"#));
    let shared = Executor::SharedIterations { vus: 4, iterations: 500 };
    check(load(shared), json(r#"{"vus": 4, "iterations": 500, "maxDuration": "2s"}"#));
    let rate = |rate: u32, unit: &str| {
        json(&format!(
            r#"{{"rate": {rate}, "timeUnit": "{unit}", "duration": "2s", "preAllocatedVUs": 4, "maxVUs": 4}}"#
        ))
    };
    check(arrivals(2000.0), rate(2000, "1s"));
    check(arrivals(20.5), rate(205, "10s"));
    check(arrivals(1.0 / 3.0), rate(20, "60s"));
    let stages = vec![Stage { target: 100.0, duration_s: 1.5 }, Stage { target: 0.5, duration_s: 0.0 }];
    let ramp = Executor::RampingArrivalRate { start_rate_rps: 50.0, stages, arrivals: Arrivals::Uniform };
    let expect = r#"{"startRate": 500, "timeUnit": "10s", "preAllocatedVUs": 64, "maxVUs": 64,
        "stages": [{"target": 1000, "duration": "1500ms"}, {"target": 5, "duration": "0s"}]}"#;
    check(load(ramp), json(expect));
}

#[test]
fn the_warm_up_has_the_load_that_the_window_begins_with() {
    let warm_up = |load: LoadProfile| told(&scenario(load, &[]))["options"]["scenarios"]["warm_up"].to_string();
    let of_users = r#"{"duration":"1s","exec":"warmUp","executor":"constant-vus","gracefulStop":"0s","vus":64}"#;
    assert_eq!(warm_up(users(64)), of_users);
    let of_arrivals = warm_up(arrivals(20.0));
    assert!(of_arrivals.contains(r#""executor":"constant-arrival-rate""#), "{of_arrivals}");
    assert!(of_arrivals.contains(r#""rate":20"#), "{of_arrivals}");
    // A ramp from zero has none, but begins when the others do.
    assert_eq!(warm_up(up_and_down()), "null");
    let cold = told(&scenario(LoadProfile { warmup_s: 0.0, ..users(1) }, &[]));
    assert_eq!(cold["options"]["scenarios"].as_object().unwrap().len(), 1);
    assert_eq!(cold["options"]["scenarios"]["window"]["startTime"], serde_json::Value::Null);
}

#[test]
fn a_warm_up_that_k6_would_refuse_lasts_a_second() {
    let short = scenario(LoadProfile { warmup_s: 0.3, ..users(64) }, &[]);
    let scenarios = told(&short)["options"]["scenarios"].clone();
    assert_eq!((&scenarios["warm_up"]["duration"], &scenarios["window"]["startTime"]), (&"1s".into(), &"1s".into()));
    let Borders::AfterLine { after_s, .. } = K6.invocation(&job(&short)).borders else {
        panic!("expected borders by a line")
    };
    assert_eq!(after_s, 1.0);
    // The recorded window began a second after the load.
    assert_eq!(report!("abort-1.8.1", short).window_s, report!("abort-1.8.1", scenario(users(64), &[])).window_s);
}

#[test]
fn the_study_decides_on_connections_time_limit_and_what_a_good_answer_is() {
    let load = LoadProfile { connection: Connection::PerRequest, timeout_s: 0.0015, ..users(1) };
    let told = told(&scenario(load, &[]));
    assert_eq!(told["options"]["noConnectionReuse"], true);
    assert_eq!(told["timeout_ms"], 1.5);
    assert_eq!((&told["status"], &told["body_bytes"]), (&200.into(), &13.into()));
    assert_eq!(told["url"], "http://127.0.0.1:8080/hello");
}

/// Thresholds with conditions: `metric: conditions`.
fn thresholds(scenario: &Scenario) -> Vec<String> {
    let told = told(scenario);
    let all = told["options"]["thresholds"].as_object().unwrap().clone();
    let some = all.into_iter().filter(|(_, conditions)| !conditions.as_array().unwrap().is_empty());
    some.map(|(metric, conditions)| format!("{metric}: {conditions}")).collect()
}

#[test]
fn objectives_are_thresholds_where_k6_has_the_metric() {
    let check = |objective: &str, expect: &str| {
        assert_eq!(thresholds(&scenario(users(1), &[objective])), [expect], "{objective}");
    };
    let duration = "http_req_duration{scenario:window,expected_response:true}";
    check("p95 < 50ms", &format!("{duration}: [\"p(95)<50\"]"));
    check("service.p99.9 <= 1.5s", &format!("{duration}: [\"p(99.9)<=1500\"]"));
    check("median < 1us", &format!("{duration}: [\"med<0.001\"]"));
    check("mean > 290ms", &format!("{duration}: [\"avg>290\"]"));
    let waiting = "http_req_waiting{scenario:window,expected_response:true}";
    check("first-byte.max < 1s", &format!("{waiting}: [\"max<1000\"]"));
    check("connect.max < 1s", "http_req_connecting{scenario:window}: [\"max<1000\"]");
    check("failed < 0.1%", "tolok_failed: [\"rate<0.001\"]");
    check("failed <= 10", "tolok_failures: [\"count<=10\"]");
    check("goodput >= 99.9%", "tolok_failed: [\"rate<=0.001\"]");
    for unknown in ["connect.p95 < 1s", "lateness.p99 < 1ms", "queue.max < 1s", "failure.max < 1s", "goodput > 1/s"] {
        assert_eq!(thresholds(&scenario(users(1), &[unknown])), Vec::<String>::new(), "{unknown}");
    }
    // If every request opens its own connection, k6's connect times are all real times.
    let load = LoadProfile { connection: Connection::PerRequest, ..users(1) };
    let expect = "http_req_connecting{scenario:window}: [\"p(95)<1000\"]";
    assert_eq!(thresholds(&scenario(load, &["connect.p95 < 1s"])), [expect]);
    // With a user's script, k6 counts the failures itself.
    let expect = "http_req_failed{scenario:window}: [\"rate<0.01\"]";
    assert_eq!(thresholds(&with_script(users(1), &["failed < 1%"])), [expect]);
    let expect = "http_reqs{scenario:window,expected_response:false}: [\"count<10\"]";
    assert_eq!(thresholds(&with_script(users(1), &["failed < 10"])), [expect]);
    let abort = Scenario { abort: true, ..scenario(users(1), &["failed <= 10"]) };
    assert_eq!(thresholds(&abort), [r#"tolok_failures: [{"abortOnFail":true,"threshold":"count<=10"}]"#]);
}

const OF_USERS: [&str; 8] = [
    "p95 < 200ms",
    "goodput >= 99.9%",
    "goodput > 10/s",
    "connect.p95 < 1ms",
    "connect.max < 1s",
    "first-byte.p97.5 < 1s",
    "lateness.max < 1s",
    "failed < 10",
];

#[test]
fn a_closed_loop_by_two_versions() {
    let scenario = scenario(users(4), &OF_USERS);
    let report = report!("constant-vus-1.8.1", scenario);
    assert_eq!((report.window_s, report.ledger.good, report.goodput_rps), (2.0, 55_421, 27_710.5));
    assert_eq!((report.ledger.sent, report.ledger.scheduled, report.ledger.connections), (None, None, None));
    assert_eq!(report.body_bytes, 55_421 * 13);
    assert_eq!((report.latency.at(0.5), report.latency.at(0.999)), (Some(0.00010896), Some(3.3696277800010495e-3)));
    // Only five or six of the values lie beyond.
    assert_eq!(report.latency.at(0.9999), None);
    assert_eq!((report.latency.max_s, report.latency.model.as_str()), (Some(0.021730038), "closed"));
    assert!(report.latency.marks.is_empty() && classes(&report).is_empty() && !report.aborted);
    let expect = [
        "p95 < 200ms: Kept",
        "goodput >= 99.9%: Kept",
        "goodput > 10/s: Kept",
        "connect.p95 < 1ms: Unknown",
        "connect.max < 1s: Kept",
        "first-byte.p97.5 < 1s: Kept",
        "lateness.max < 1s: Unknown",
        "failed < 10: Kept",
    ];
    assert_eq!(judged(&report), expect);
    let values: Vec<Option<f64>> = report.objectives.iter().map(|objective| objective.value).collect();
    let connect_s = 0.23563 / 1e3;
    let [p95, goodput, rate] = [0.20559 / 1e3, 1.0, 27_710.5];
    let expect = [Some(p95), Some(goodput), Some(rate), None, Some(connect_s), Some(0.28357 / 1e3), None, Some(0.0)];
    assert_eq!(values, expect);
    let older = report!("constant-vus-0.57.0", scenario);
    assert_eq!((older.window_s, older.ledger.good), (2.0, 38_353));
    assert_eq!(judged(&older), judged(&report));
}

#[test]
fn a_ramp_whose_threshold_is_crossed() {
    let scenario = scenario(up_and_down(), &["http_req_duration p(95)<20", "http_req_failed rate<0.01"]);
    for report in [report!("ramping-vus-1.8.1", scenario), report!("ramping-vus-0.57.0", scenario)] {
        assert_eq!(judged(&report), ["p95 < 20ms: Crossed", "failed < 1%: Kept"]);
        assert!(report.objectives[0].value.unwrap() > 0.05, "the server's delay");
        assert_eq!(report.objectives[1].value, Some(0.0));
        assert_eq!((report.window_s, report.aborted), (2.0, false));
        // There are fewer than 600 values, so fewer than ten are beyond their p99.
        assert!(report.latency.at(0.95).is_some());
        assert_eq!(report.latency.at(0.99), None);
    }
}

#[test]
fn a_load_that_k6_stops_at_a_threshold_has_a_shorter_window() {
    let load = LoadProfile { duration_s: 8.0, ..users(4) };
    let report = report!("abort-1.8.1", Scenario { abort: true, ..scenario(load, &["failed < 1%"]) });
    assert!(report.aborted);
    assert_eq!((report.window_s * 1e3).round(), 997.0);
    assert_eq!((report.ledger.good, classes(&report)), (0, vec![("bad_status", 23_322)]));
    assert_eq!(judged(&report), ["failed < 1%: Crossed"]);
    assert_eq!(report.objectives[0].value, Some(1.0));
    assert_eq!(report.examples, ["status 503 is not the expected one"]);
    // There was no correct response, so there are no times, although k6 reports zero.
    assert_eq!((report.latency.max_s, report.latency.mean_s, report.latency.at(0.5)), (None, None, None));
}

#[test]
fn arrivals_without_a_free_user_are_unsent_and_count_against_the_goodput() {
    let scenario = scenario(arrivals(100.0), &["goodput >= 99.9%", "p99 < 1s", "rate > 90/s"]);
    let report = report!("arrivals-1.8.1", scenario);
    assert_eq!((report.ledger.scheduled, report.ledger.unsent, report.ledger.good), (Some(200), 127, 70));
    assert_eq!((report.offered_rps, report.goodput_rps), (Some(100.0), 35.0));
    assert_eq!((report.latency.model.as_str(), &report.latency.marks[..]), ("open", &[LatencyMark::FromSend][..]));
    // k6 reports the share of its good requests as one. Of those that were scheduled it is a third.
    assert_eq!(judged(&report), ["goodput >= 99.9%: Crossed", "p99 < 1s: Kept", "rate > 90/s: Crossed"]);
    assert_eq!(report.objectives[0].value, Some(70.0 / 197.0));
    let ramp = |stages: Vec<Stage>| {
        let executor = Executor::RampingArrivalRate { start_rate_rps: 50.0, stages, arrivals: Arrivals::Uniform };
        report!("arrivals-1.8.1", self::scenario(load(executor), &[])).ledger.scheduled
    };
    let stage = |target, duration_s| Stage { target, duration_s };
    assert_eq!(ramp(vec![stage(100.0, 1.0), stage(0.0, 0.0), stage(10.0, 1.0)]), Some(80));
}

#[test]
fn iterations_end_the_window() {
    let scenario = scenario(load(Executor::PerVuIterations { vus: 4, iterations: 500 }), &[]);
    let report = report!("per-vu-iterations-1.8.1", scenario);
    assert_eq!((report.ledger.good, (report.window_s * 1e3).round()), (2000, 83.0));
    assert!((report.goodput_rps - 2000.0 / 0.083).abs() < 1.0, "{}", report.goodput_rps);
}

#[test]
fn failures_have_the_classes_that_the_script_gave_them() {
    // One request failed, and its user was interrupted before the script could report the class.
    let killed = report!("killed-1.8.1", scenario(users(4), &[]));
    assert_eq!((killed.ledger.good, classes(&killed)), (14_521, vec![("connect", 8078), ("other", 1), ("reset", 4)]));
    assert!(killed.examples.iter().any(|words| words.contains("connection refused")), "{:?}", killed.examples);
    let short = report!("short-1.8.1", scenario(users(4), &["failed < 1%", "failed < 10"]));
    assert_eq!((short.ledger.good, classes(&short)), (0, vec![("bad_body", 27_522)]));
    // k6 considers a response of another length good, so its times are included.
    assert_eq!(short.latency.marks, [LatencyMark::WithFailures]);
    assert_eq!(judged(&short), ["failed < 1%: Crossed", "failed < 10: Crossed"]);
    assert_eq!(short.examples, ["the body has 5 bytes instead of 13"]);
}

#[test]
fn no_answer_at_all_is_nothing_good_and_no_mistake() {
    let scenario = scenario(users(4), &["p95 < 1s", "failed < 1%", "failed < 10", "goodput >= 1%"]);
    let report = report!("unanswered-1.8.1", scenario);
    assert_eq!((report.ledger.good, report.goodput_rps, report.ledger.finished()), (0, 0.0, 0));
    let expect = ["p95 < 1s: Unknown", "failed < 1%: Unknown", "failed < 10: Kept", "goodput >= 1%: Unknown"];
    assert_eq!(judged(&report), expect);
}

#[test]
fn of_a_users_script_good_is_what_k6_does_not_call_failed() {
    let scenario = with_script(users(2), &["p95 < 1s", "failed < 1%", "failed < 10", "rate > 1/s"]);
    let newer = report!("script-1.8.1", scenario);
    assert_eq!((newer.ledger.good, classes(&newer)), (22_636, vec![("other", 22_635)]));
    let expect = ["p95 < 1s: Kept", "failed < 1%: Crossed", "failed < 10: Crossed", "rate > 1/s: Kept"];
    assert_eq!(judged(&newer), expect);
    assert_eq!(newer.objectives[3].value, Some(45_271.0 / 2.0));
    assert_eq!(newer.body_bytes, 0, "the sizes of its responses are unknown");
    let older = report!("script-0.57.0", scenario);
    assert_eq!((older.ledger.good, judged(&older)), (10_314, judged(&newer)));
}

#[test]
fn what_is_not_understood_is_named() {
    let scenario = scenario(users(4), &[]);
    let output = include_str!("recorded/constant-vus-1.8.1.json");
    let reason =
        |output: &str, log: &str| K6.report(&tool_output(output, log), &job(&scenario)).unwrap_err().to_string();
    let log = "time=\"2026-01-01T00:00:00Z\" level=error msg=\"no such \\\"module\\\"\" hint=\"script\"\n";
    assert_eq!(reason("", log), "k6 gave no summary: no such \"module\"");
    assert_eq!(reason("\n", "Killed"), "k6 gave no summary");
    let other_shape = reason(r#"{"thresholds": {}}"#, "");
    assert!(other_shape.contains("missing field `metrics`"), "{other_shape}");
    let lacking = |metric: &str| reason(&output.replace(&format!("\"{metric}\""), "\"x\""), "");
    assert_eq!(lacking("http_reqs{scenario:window}"), "k6's summary lacks http_reqs{scenario:window}: count");
    assert_eq!(
        lacking("http_req_failed{scenario:window}"),
        "k6's summary lacks http_req_failed{scenario:window}: passes"
    );
    assert_eq!(lacking("tolok_ended_ms"), "k6's summary lacks tolok_ended_ms: value");
}

#[test]
fn a_script_whose_answers_k6_does_not_judge_is_not_understood() {
    let scenario = with_script(users(4), &[]);
    let unjudged = include_str!("recorded/unanswered-1.8.1.json").replace("\"count\":0", "\"count\":9");
    let reason = K6.report(&tool_output(&unjudged, ""), &job(&scenario)).unwrap_err().to_string();
    assert_eq!(reason, "k6 finished 9 requests and judged none: the script has no response callback");
}

#[test]
fn no_part_of_a_summary_is_taken_for_a_whole_one() {
    let scenario = scenario(users(4), &OF_USERS);
    let output = include_str!("recorded/constant-vus-1.8.1.json");
    let log = include_str!("recorded/killed-1.8.1.log");
    for end in 0..output.trim_end().len() {
        assert!(K6.report(&tool_output(&output[..end], log), &job(&scenario)).is_err(), "{end}");
    }
    for end in (0..log.len()).filter(|end| log.is_char_boundary(*end)) {
        assert!(K6.report(&tool_output(output, &log[..end]), &job(&scenario)).is_ok(), "{end}");
    }
}

#[test]
fn a_figure_that_is_no_number_is_absent() {
    let scenario = scenario(users(4), &["p95 < 200ms"]);
    let output = include_str!("recorded/constant-vus-1.8.1.json");
    let output = output.replace("\"p(95)\":0.20559", "\"p(95)\":null");
    let report = K6.report(&tool_output(&output, ""), &job(&scenario)).unwrap();
    assert_eq!((report.latency.at(0.95), report.objectives[0].value), (None, None));
    assert_eq!(judged(&report), ["p95 < 200ms: Unknown"]);
}
