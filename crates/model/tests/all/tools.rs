//! Load generators of a study: what can be named, what each refuses, and what happens if one is missing.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue, catalogue_with_data, everything, listed};
use insta::assert_snapshot;
use tolok_model::{Here, LoadTool, Plan, PlanError, Study, Workload};

const CONSTANT: &str = "{ executor = 'constant-vus', vus = 8, duration = '1s' }";

fn text(tool: &str, load: &str, more: &str) -> String {
    format!(
        "title = 'T'\nsubjects = ['bun/serve']\nceiling = false\n[[scenario]]\nworkload = 'hello'\nload = {load}\ntool = {tool}\n{more}\n"
    )
}

fn study(tool: &str, load: &str) -> Study {
    Study::read(&text(tool, load, ""), &catalogue()).unwrap()
}

/// The problems of a study whose scenario uses this tool.
fn problems(tool: &str, load: &str, more: &str) -> String {
    let text = text(tool, load, more);
    listed(&text, &Study::read(&text, &catalogue()).unwrap_err())
}

fn ids(study: &Study) -> Vec<&str> {
    study.scenarios.iter().map(|scenario| scenario.id.as_str()).collect()
}

#[test]
fn a_scenario_has_toloks_own_tool_unless_it_names_another() {
    assert_eq!(ids(&study("'tolok'", CONSTANT)), ["hello-c8"]);
    assert_eq!(ids(&study("'wrk'", CONSTANT)), ["hello-c8-wrk"]);
    let all = study("['tolok', 'k6', 'wrk', 'ab', 'h2load', 'hey', 'oha']", CONSTANT);
    let expect =
        ["hello-c8", "hello-c8-k6", "hello-c8-wrk", "hello-c8-ab", "hello-c8-h2load", "hello-c8-hey", "hello-c8-oha"];
    assert_eq!(ids(&all), expect);
    assert!(all.scenarios[0].differs_in_tool_only(&all.scenarios[1]));
    let script = study("{ name = 'k6', script = 'scripts/my users.js' }", CONSTANT);
    assert_eq!(ids(&script), ["hello-c8-k6-my-users"]);
    let named = script.scenarios[0].tool.script.clone().unwrap();
    assert_eq!(
        (named.file.as_str(), named.text.as_str()),
        ("scripts/my users.js", ""),
        "a caller that may read files fills it in"
    );
}

#[test]
fn a_tool_that_is_not_the_usual_one_is_a_part_of_the_plan_and_the_usual_one_leaves_no_trace() {
    let written = |tool| serde_json::to_value(&study(tool, CONSTANT).scenarios[0]).unwrap();
    assert_eq!(written("'wrk'")["tool"], serde_json::json!({ "name": "wrk" }));
    assert_eq!(written("'tolok'").get("tool"), None, "the default must not change earlier plans' fingerprints");
}

#[test]
fn mistakes_in_a_tool_are_said_at_their_places() {
    assert_snapshot!(problems("'wrc'", CONSTANT, ""), @"7:8 «'wrc'» there is no tool `wrc` (did you mean `wrk`? known here: tolok, k6, wrk, ab, h2load, hey, oha)");
    assert_snapshot!(problems("'hyperfine'", CONSTANT, ""), @"7:8 «'hyperfine'» there is no tool `hyperfine` (it times programs: name it in a [[program]])");
    assert_snapshot!(problems("['wrk', 'wrk']", CONSTANT, ""), @"7:16 «'wrk'» tool `wrk` is listed twice");
    assert_snapshot!(problems("[]", CONSTANT, ""), @r#"7:8 «[]» no tool is listed (for example: tool = ["tolok", "wrk"])"#);
    assert_snapshot!(problems("{ name = 'wrk', script = 'x.lua' }", CONSTANT, ""), @"7:8 «{ name = 'wrk', script = 'x.lua' }» `wrk` is driven without a script (only k6 runs one)");
    assert_snapshot!(problems("{ name = 'k6', skript = 'x.js' }", CONSTANT, ""), @"7:23 «skript» unknown key `skript` (did you mean `script`? known here: name, script)");
    assert_snapshot!(problems("7", CONSTANT, ""), @r#"7:8 «7» expected the name of a tool, or a table such as { name = "k6", script = "users.js" }, found the number 7"#);
    assert_snapshot!(problems("['tolok', 'k6', 'wrk']", CONSTANT, "objective = 'failed < 1%'\nabort = true"), @"7:24 «'wrk'» wrk cannot stop at an objective (tolok and k6 can: leave out `abort`, or the tool)");
}

#[test]
fn what_a_tool_cannot_do_is_refused_before_anything_runs() {
    let rate = "{ executor = 'constant-arrival-rate', rate = '100/s', duration = '1s' }";
    assert_snapshot!(problems("['tolok', 'k6', 'wrk', 'ab', 'h2load', 'hey', 'oha']", rate, ""), @"
    7:24 «'wrk'» wrk has no executor `constant-arrival-rate`; it has constant-vus (leave it out here, or give it a [[scenario]] of its own)
    7:31 «'ab'» ab has no executor `constant-arrival-rate`; it has constant-vus, shared-iterations (leave it out here, or give it a [[scenario]] of its own)
    ");
    let ramp = "{ executor = 'ramping-vus', stages = [{ target = 9, duration = '1s' }] }";
    assert_snapshot!(problems("['tolok', 'k6', 'wrk', 'oha']", ramp, ""), @"
    7:24 «'wrk'» wrk has no executor `ramping-vus`; it has constant-vus (leave it out here, or give it a [[scenario]] of its own)
    7:31 «'oha'» oha has no executor `ramping-vus`; it has constant-vus, shared-iterations, constant-arrival-rate (leave it out here, or give it a [[scenario]] of its own)
    ");
    let poisson = "{ executor = 'constant-arrival-rate', rate = '100/s', duration = '1s', arrivals = 'poisson' }";
    assert_snapshot!(problems("['k6', 'oha']", poisson, ""), @"
    7:9 «'k6'» k6 spaces arrivals evenly only (leave it out here, or give it a [[scenario]] of its own)
    7:15 «'oha'» oha spaces arrivals evenly only (leave it out here, or give it a [[scenario]] of its own)
    ");
    let unbounded = "{ executor = 'constant-arrival-rate', rate = '100/s', duration = '1s', pool = 'unbounded' }";
    assert_snapshot!(problems("'k6'", unbounded, ""), @"7:8 «'k6'» k6 needs a number of connections as `pool` (leave it out here, or give it a [[scenario]] of its own)");
    let reuse = "{ executor = 'constant-vus', vus = 8, duration = '1s', requests-per-connection = 5 }";
    assert_snapshot!(problems("'wrk'", reuse, ""), @"7:8 «'wrk'» wrk cannot close a connection after a number of requests (leave it out here, or give it a [[scenario]] of its own)");
    let closing = "{ executor = 'constant-vus', vus = 8, duration = '1s', connection = 'per-request' }";
    assert_snapshot!(problems("['wrk', 'h2load']", closing, ""), @"7:16 «'h2load'» h2load keeps its connections (leave it out here, or give it a [[scenario]] of its own)");
    let impatient = "{ executor = 'constant-vus', vus = 8, duration = '1s', timeout = '500ms' }";
    assert_snapshot!(problems("['oha', 'hey']", impatient, ""), @"7:16 «'hey'» hey takes time-outs of whole seconds only, and `timeout` is 500ms (leave it out here, or give it a [[scenario]] of its own)");
    let slow = "{ executor = 'constant-vus', vus = 8, duration = '1s', read-rate = '64KiB/s' }";
    assert_snapshot!(problems("['tolok', 'k6', 'wrk']", slow, ""), @"
    7:18 «'k6'» k6 has no `read-rate`; tolok has (leave it out here, or give it a [[scenario]] of its own)
    7:24 «'wrk'» wrk has no `read-rate`; tolok has (leave it out here, or give it a [[scenario]] of its own)
    ");
    let pause = "{ executor = 'constant-vus', vus = 8, duration = '1s', think-time = '5ms' }";
    assert_snapshot!(problems("['k6', 'ab']", pause, ""), @"7:15 «'ab'» ab has no `think-time` (leave it out here, or give it a [[scenario]] of its own)");
}

#[test]
fn a_workload_that_draws_its_requests_is_for_toloks_own_tool_or_a_script() {
    let catalogue = catalogue_with_data();
    let of = |tool: &str| {
        let text = text(tool, CONSTANT, "").replace("'hello'", "['rows', 'query']");
        Study::read(&text, &catalogue).map(|study| study.scenarios.len()).map_err(|problems| listed(&text, &problems))
    };
    assert_eq!(of("'tolok'"), Ok(2));
    assert_eq!(of("{ name = 'k6', script = 'users.js' }"), Ok(2));
    assert_snapshot!(of("'wrk'").unwrap_err(), @"7:8 «'wrk'» wrk asks for one path, and `query` draws its requests (leave it out here, or give it a [[scenario]] of its own)");
}

fn without_wrk(name: &str) -> Result<(), String> {
    if name == "wrk" { Err("wrk is missing: tolok setup wrk".to_owned()) } else { Ok(()) }
}

#[test]
fn a_tool_that_is_missing_is_left_out_with_its_reason_once() {
    let here = Here { tool: &without_wrk, ..everything() };
    let several = study("['tolok', 'wrk', 'ab']", "{ executor = 'constant-vus', vus = [8, 64], duration = '1s' }");
    let plan = Plan::expand(&several, &catalogue(), here, 1).unwrap();
    let tools: Vec<LoadTool> = plan.scenarios.iter().map(|scenario| scenario.tool.name).collect();
    assert_eq!(tools, [LoadTool::Tolok, LoadTool::Ab, LoadTool::Tolok, LoadTool::Ab]);
    let left_out: Vec<String> = plan.skipped.iter().map(|one| format!("{}: {}", one.subject, one.reason)).collect();
    assert_eq!(left_out, ["tool [wrk]: wrk is missing: tolok setup wrk"]);
    let error = Plan::expand(&study("'wrk'", CONSTANT), &catalogue(), here, 1).unwrap_err();
    assert!(matches!(error, PlanError::NoTool(left_out) if left_out.len() == 1));
}

#[test]
fn a_counter_is_for_the_tool_that_tells_all_that_it_sent() {
    let mut catalogue = catalogue_with_data();
    let counter = "title = 'Counter'\ndatabase = true\nrequest.path = '/counter'\n\
                   answer = { content-type = 'application/json', body.data = 'counter' }";
    catalogue.workloads.push(Workload::read("counter", counter).unwrap());
    let of = |tool: &str| {
        let text = text(tool, CONSTANT, "").replace("'hello'", "'counter'");
        Study::read(&text, &catalogue).map(|study| study.scenarios.len()).map_err(|problems| listed(&text, &problems))
    };
    assert_eq!(of("'tolok'"), Ok(1));
    let wrk = of("'wrk'").unwrap_err();
    assert!(
        wrk.contains("wrk does not report how many requests it sent in all, and `counter` is checked by that"),
        "{wrk}"
    );
    let script = of("{ name = 'k6', script = 'users.js' }").unwrap_err();
    assert!(script.contains("k6 does not report how many requests it sent in all"), "{script}");
}

#[test]
fn a_script_has_a_name_that_its_copy_in_a_trial_can_have() {
    let of = |file: &str| {
        let text = text(&format!("{{ name = 'k6', script = \"{file}\" }}"), CONSTANT, "");
        Study::read(&text, &catalogue()).map(|study| study.scenarios.len()).map_err(|problems| listed(&text, &problems))
    };
    for file in ["users.js", "../shop/my users.ts", "/abs/olute/k6.mjs", "größe.js"] {
        assert_eq!(of(file), Ok(1), "{file}");
    }
    for file in ["", "..", "users/", ".js", "tool.log", "trial.json"] {
        assert!(of(file).unwrap_err().contains("is no script of k6's"), "{file}");
    }
    assert!(of("it's.js").unwrap_err().contains("has a sign other than letters"));
}

#[test]
fn a_window_that_a_tool_would_lengthen_is_refused() {
    let of = |tool: &str, times: &str| {
        let load = format!("{{ executor = 'constant-vus', vus = 8, {times} }}");
        let text = text(tool, &load, "");
        Study::read(&text, &catalogue()).map(|study| study.scenarios.len()).map_err(|problems| listed(&text, &problems))
    };
    assert_eq!(of("['tolok', 'k6', 'h2load', 'hey', 'oha']", "duration = '1500ms', warmup = '0s'"), Ok(5));
    assert_eq!(of("['tolok', 'h2load', 'hey', 'oha']", "duration = '200ms', warmup = '100ms'"), Ok(4));
    assert_eq!(of("['k6', 'wrk', 'ab']", "duration = '1s', warmup = '300ms'"), Ok(3), "a warm-up may last longer");
    let wrk = of("'wrk'", "duration = '1500ms', warmup = '1s'").unwrap_err();
    assert!(wrk.contains("wrk takes whole seconds only, and `duration` is 1s 500ms"), "{wrk}");
    let k6 = of("'k6'", "duration = '500ms', warmup = '0s'").unwrap_err();
    assert!(k6.contains("k6 takes a second at least, and `duration` is 500ms"), "{k6}");
    let ramp = "{ executor = 'ramping-vus', warmup = '0s', stages = [{ target = 9, duration = '500ms' }] }";
    assert_eq!(study("'k6'", ramp).scenarios.len(), 1, "stages of a ramp may be shorter");
}

#[test]
fn a_study_made_shorter_stays_one_that_its_tools_can_run_for_the_same_time() {
    let scaled = |tool: &str, factor: &str| -> Vec<(f64, f64)> {
        let study = study(tool, "{ executor = 'constant-vus', vus = 8, duration = '13s', warmup = '2s' }");
        let scaled = study.scaled(factor.parse().unwrap());
        scaled.scenarios.iter().map(|scenario| (scenario.load.warmup_s, scenario.load.duration_s)).collect()
    };
    assert_eq!(scaled("['tolok', 'wrk', 'k6']", "0.1"), [(0.2, 2.0); 3]);
    assert_eq!(scaled("['tolok', 'k6']", "0.1"), [(0.2, 1.3); 2]);
    assert_eq!(scaled("['tolok', 'oha']", "0.1"), [(0.2, 1.3); 2]);
    // 0.7 times 10 is slightly more than 7 in floating point.
    let ten = study("'ab'", "{ executor = 'constant-vus', vus = 8, duration = '10s', warmup = '0s' }");
    let load = &ten.scaled("0.7".parse().unwrap()).scenarios[0].load;
    assert_eq!((load.warmup_s, load.duration_s), (0.0, 7.0));
}
