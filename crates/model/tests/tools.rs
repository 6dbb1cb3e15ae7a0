//! Load generators of a study: what can be named, what each refuses, and what becomes of one that is missing.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

mod examples;

use examples::{catalogue, catalogue_with_data, everything, listed};
use insta::assert_snapshot;
use tolok_model::{Here, LoadTool, Plan, PlanError, Study};

const CONSTANT: &str = "{ executor = 'constant-vus', vus = 8, duration = '1s' }";

fn text(tool: &str, load: &str, more: &str) -> String {
    format!(
        "title = 'T'\nsubjects = ['bun/serve']\nceiling = false\n[[scenario]]\nworkload = 'hello'\nload = {load}\ntool = {tool}\n{more}\n"
    )
}

fn study(tool: &str, load: &str) -> Study {
    Study::read(&text(tool, load, ""), &catalogue()).unwrap()
}

/// The problems of a study whose scenario has this tool.
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
        "whoever may read files fills it in"
    );
}

#[test]
fn a_tool_that_is_not_the_usual_one_is_a_part_of_the_plan_and_the_usual_one_leaves_no_trace() {
    let written = |tool| serde_json::to_value(&study(tool, CONSTANT).scenarios[0]).unwrap();
    assert_eq!(written("'wrk'")["tool"], serde_json::json!({ "name": "wrk" }));
    assert_eq!(written("'tolok'").get("tool"), None, "so that plans from before have the same fingerprint");
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
