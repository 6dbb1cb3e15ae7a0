//! A study reports all its problems at once, each at its place.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue, listed};
use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::Study;

const SOUND: &str = r#"title = "T"
subjects = ["go/nethttp"]
[[scenario]]
workload = "hello"
load = { executor = "constant-vus", vus = 8, duration = "1s" }
"#;

/// The problems of a study.
fn check(text: &str) -> String {
    match Study::read(text, &catalogue()) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(text, &problems),
    }
}

/// The problems of the sound study after replacing one of its parts.
fn check_with(part: &str, replacement: &str) -> String {
    assert!(SOUND.contains(part), "{part} is not part of the sound study");
    check(&SOUND.replace(part, replacement))
}

#[test]
fn a_key_of_the_study_below_a_table_is_told_where_it_belongs() {
    let said = check(&format!("{SOUND}\nblocks = 5\n"));
    let said = said.lines().find(|line| line.contains("unknown key `blocks`")).unwrap_or_default().to_owned();
    assert!(said.contains("it belongs to the whole study: write it above the first `[[scenario]]`"), "{said}");
}

#[test]
fn defaults_are_filled_in() {
    let study = Study::read(SOUND, &catalogue()).unwrap();
    assert_json_snapshot!(study);
}

#[test]
fn every_key_can_be_given() {
    let text = r#"
title = "T"
question = "Q?"
subjects = ["*", "php/fpm:*", "php/fpm:jit?pool=4&mode=7"]
blocks = 3
seed = 9
smallest-effect = "7%"
ceiling = false
[[scenario]]
workload = ["hello", "json"]
[scenario.load]
executor = "constant-vus"
vus = [8, 64]
duration = "1m 30s"
warmup = "0s"
connection = "per-request"
timeout = "2.5s"
[environment]
subject.cpus = 2
generator.cpus = 3
"#;
    let study = Study::read(text, &catalogue()).unwrap();
    let ids: Vec<&str> = study.scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
    assert_eq!(ids, ["hello-c8-per-request", "hello-c64-per-request", "json-c8-per-request", "json-c64-per-request"]);
    assert_json_snapshot!((&study.subjects, &study.scenarios[3], &study.environments));
    assert!((study.smallest_effect - 0.07).abs() < 1e-12);
    assert_eq!((study.blocks, study.seed, study.ceiling), (3, Some(9), false));
}

#[test]
fn many_mistakes_are_many_problems() {
    let text = r#"#:schema ../schemas/study.schema.json
titel = "T"
blokcs = 5
seed = "tomorrow"
subjects = ["go/nethtp", "bun/serve", "php/fpm:jitt", "php/fpm?pol=3", "php/fpm:jit?pool=many", "php/fpm:*?pool=3"]

[[scenario]]
workload = ["helo", "json"]
load = { executor = "ramping-vus", vus = 0, duration = 5, timeout = "0s" }
objective = ["p95 < 50", "goodputt >= 1%"]

[[scenario]]
workload = "json"
load = { vus = [1, -1], connection = "keepalive" }

[environment]
subject.cpus = 0
"#;
    assert_snapshot!(check(text), @r#"
    2:1 «titel» unknown key `titel` (did you mean `title`? known here: title, question, subjects, blocks, seed, smallest-effect, judge, ceiling, aa-pair, scenario, program, published, reruns, design, slices, environment)
    3:1 «blokcs» unknown key `blokcs` (did you mean `blocks`? known here: title, question, subjects, blocks, seed, smallest-effect, judge, ceiling, aa-pair, scenario, program, published, reruns, design, slices, environment)
    4:8 «"tomorrow"» expected a whole number, found the string "tomorrow"
    5:13 «"go/nethtp"» there is no subject `go/nethtp` (did you mean `go/nethttp`? known here: bun/serve, go/nethttp, php/fpm, rust/ceiling)
    5:39 «"php/fpm:jitt"» `php/fpm` has no variant `jitt`; did you mean `jit`? (it has jit, pool)
    5:55 «"php/fpm?pol=3"» `php/fpm` has no parameter `pol`; did you mean `pool`? (it has mode, pool)
    5:72 «"php/fpm:jit?pool=many"» parameter `pool` is a whole number, not `many`
    5:97 «"php/fpm:*?pool=3"» parameters cannot be set for all variants at once (name one variant instead of `*`)
    8:13 «"helo"» there is no workload `helo` (did you mean `hello`? known here: file, hello, json)
    9:8 «{ executor = "ramping-vus", vus = 0, duration = 5, timeout = "0s" }» missing key `stages` (for example: stages = [{ target = 250, duration = "10s" }])
    9:42 «0» `ramping-vus` has no `vus` (`vus` belongs to constant-vus, per-vu-iterations, shared-iterations)
    9:42 «0» at least one virtual user is needed
    9:56 «5» expected a duration with its unit in quotes, such as "500ms" or "2s", found the number 5
    9:69 «"0s"» `timeout` must be longer than nothing
    10:14 «"p95 < 50"» `50` is no value of `p95` (write a duration with its unit, such as 50ms or 1.5s)
    10:26 «"goodputt >= 1%"» there is no metric `goodputt` (did you mean `goodput`? known here: p50, p90, p95, p99, p99.9, mean, median, max, min, goodput, rate, failed)
    14:8 «{ vus = [1, -1], connection = "keepalive" }» missing key `executor` (for example: executor = "constant-vus")
    14:20 «-1» expected a whole number from 0 to 4,294,967,295, found the number -1
    14:38 «"keepalive"» unknown value `keepalive` (did you mean `keep-alive`? known here: keep-alive, per-request)
    17:16 «0» dedicated `cpus` must be a whole number, at least 1 (a share of a CPU is a quota: mode = "quota")
    "#);
}

#[test]
fn names_get_a_suggestion() {
    assert_snapshot!(check_with("go/nethttp", "go/net-http"), @r#"2:13 «"go/net-http"» there is no subject `go/net-http` (did you mean `go/nethttp`? known here: bun/serve, go/nethttp, php/fpm, rust/ceiling)"#);
    assert_snapshot!(check_with("\"hello\"", "\"jsn\""), @r#"4:12 «"jsn"» there is no workload `jsn` (did you mean `json`? known here: file, hello, json)"#);
    assert_snapshot!(check_with("go/nethttp", "php/fpm:jti"), @r#"2:13 «"php/fpm:jti"» `php/fpm` has no variant `jti`; did you mean `jit`? (it has jit, pool)"#);
    assert_snapshot!(check_with("go/nethttp", "go/nethttp?pool=1"), @r#"2:13 «"go/nethttp?pool=1"» `go/nethttp` has no parameter `pool` (it has none)"#);
    assert_snapshot!(check_with("go/nethttp", "perl/plack"), @r#"2:13 «"perl/plack"» there is no subject `perl/plack` (known here: bun/serve, go/nethttp, php/fpm, rust/ceiling)"#);
}

#[test]
fn k6s_unsupported_executor_is_distinguished_from_typos() {
    assert_snapshot!(check_with("constant-vus", "externally-controlled"), @r#"5:21 «"externally-controlled"» k6's executor `externally-controlled` is interactive and cannot be used in a study (known here: constant-vus, ramping-vus, per-vu-iterations, shared-iterations, constant-arrival-rate, ramping-arrival-rate)"#);
    assert_snapshot!(check_with("constant-vus", "constant-vu"), @r#"5:21 «"constant-vu"» there is no executor `constant-vu` (did you mean `constant-vus`? known here: constant-vus, ramping-vus, per-vu-iterations, shared-iterations, constant-arrival-rate, ramping-arrival-rate)"#);
    assert_snapshot!(check_with("\"constant-vus\"", "5"), @r"5:21 «5» expected a string, found the number 5");
}

#[test]
fn values_with_units_say_how_they_are_written() {
    assert_snapshot!(check_with("\"1s\"", "\"1\""), @r#"5:57 «"1"» `1` is not a duration with its unit in quotes, such as "500ms" or "2s""#);
    assert_snapshot!(check_with("\"1s\"", "5s"), @r#"5:57 «5s» this is no number, and a string needs quotes (write `"5s"`)"#);
    assert_snapshot!(check_with("title = \"T\"", "title = \"T\"\nsmallest-effect = \"three\""), @r#"2:19 «"three"» `three` is not a share in quotes, such as "3%""#);
    assert_snapshot!(check_with("title = \"T\"", "title = \"T\"\nsmallest-effect = 0.03"), @r#"2:19 «0.03» expected a share in quotes, such as "3%", found the number 0.03"#);
    assert_snapshot!(check_with("title = \"T\"", "title = \"T\"\nsmallest-effect = \"100%\""), @r#"2:19 «"100%"» `smallest-effect` must be less than 100%"#);
}

#[test]
fn numbers_have_limits() {
    assert_snapshot!(check_with("vus = 8", "vus = [0, 8, 28001]"), @r"
    5:44 «0» at least one virtual user is needed
    5:50 «28001» at most 28,000 virtual users are possible (each needs a local port of its own, and Linux has about that many)
    ");
    assert_snapshot!(check_with("vus = 8", "vus = 5000000000"), @r"5:43 «5000000000» expected a whole number from 0 to 4,294,967,295, found the number 5000000000");
    assert_snapshot!(check_with("title = \"T\"", "title = \"T\"\nblocks = 0"), @r"2:10 «0» `blocks` must be at least 1");
}

#[test]
fn empty_lists_are_not_missing_keys() {
    assert_snapshot!(check_with("[\"go/nethttp\"]", "[]"), @r"2:12 «[]» no subject is listed (`*` means every subject that is ready here)");
    assert_snapshot!(check_with("\"hello\"", "[]"), @r"4:12 «[]» no workload is listed");
    assert_snapshot!(check_with("vus = 8", "vus = []"), @r"5:43 «[]» no number of virtual users is listed");
}

#[test]
fn what_was_wrong_is_not_also_missing_or_empty() {
    assert_snapshot!(check_with("[\"go/nethttp\"]", "[1]"), @r"2:13 «1» expected a string, found the number 1");
    assert_snapshot!(check_with("\"hello\"", "[true]"), @r"4:13 «true» expected a string, found `true`");
    assert_snapshot!(check_with("vus = 8", "vus = ['x']"), @r#"5:44 «'x'» expected a whole number, found the string "x""#);
    assert_snapshot!(check_with("load = {", "load = 3 # {"), @r"5:8 «3» expected a table, found the number 3");
    assert_snapshot!(check("title = 'T'\nsubjects = ['*']\nscenario = 3\n"), @r"3:12 «3» expected a list, found the number 3");
}

#[test]
fn duplicates_are_reported() {
    assert_snapshot!(check_with("[\"go/nethttp\"]", "[\"php/fpm\", \"php/fpm:pool\"]"), @r#"2:24 «"php/fpm:pool"» `php/fpm:pool` is listed twice (without a variant, a subject means its default variant)"#);
    assert_snapshot!(check_with("\"hello\"", "[\"hello\", \"hello\"]"), @"3:1 «[[scenario]]» scenario `hello-c8` appears twice (scenarios are told apart by workload, executor, users or rates, connections, protocol, and tool)");
    assert_snapshot!(check_with("go/nethttp", "php/fpm?pool=1&pool=2"), @r#"2:13 «"php/fpm?pool=1&pool=2"» parameter `pool` is set twice; leave one of them out"#);
    assert_snapshot!(check_with("go/nethttp", "php/fpm?pool"), @r#"2:13 «"php/fpm?pool"» `pool` is not of the form parameter=value, such as pool=32"#);
}

#[test]
fn an_empty_study_lacks_everything_that_is_required() {
    assert_snapshot!(check("# my study\n"), @r#"
    1:1 «# my study» missing key `title` (for example: title = "Large answers: which runtime?")
    1:1 «# my study» missing key `subjects` (for example: subjects = ["go/nethttp", "bun/serve"])
    1:1 «# my study» no scenario is given (for example: [[scenario]] with `workload = "hello"` and a `load`)
    "#);
    assert_snapshot!(check(
        "title = 'T'\nsubjects = ['*']\n[[scenario]]\n[[scenario]]\nworkload = 'json'\nload = {}\n"
    ), @r#"
    3:1 «[[scenario]]» missing key `workload` (for example: workload = ["hello", "json"])
    3:1 «[[scenario]]» missing key `load` (for example: load = { executor = "constant-vus", vus = 64, duration = "10s" })
    6:8 «{}» missing key `executor` (for example: executor = "constant-vus")
    "#);
}

#[test]
fn blocks_are_a_number_or_a_rule_with_a_number_that_is_never_exceeded() {
    let read = |blocks: &str| {
        let text = SOUND.replace("title = ", &format!("{blocks}\ntitle = "));
        let study = Study::read(&text, &catalogue()).unwrap();
        (study.blocks, study.stopping.map(|rule| (rule.until, rule.at_least)), study.budget_s)
    };
    assert_eq!(read(""), (10, None, None));
    assert_eq!(read("blocks = 7"), (7, None, None));
    assert_eq!(read("blocks = { until = '3%', at-most = 30 }"), (30, Some((0.03, 5)), None));
    assert_eq!(read("blocks = { until = '2.5%', at-least = 8, at-most = 8 }"), (8, Some((0.025, 8)), None));
    assert_eq!(read("blocks = { budget = '3m', at-most = 40 }"), (40, None, Some(180.0)));
    assert_eq!(read("blocks = { until = '3%', budget = '3m' }").1, Some((0.03, 5)));
}

#[test]
fn a_rule_for_blocks_that_cannot_be_kept_is_refused() {
    let with_blocks = |blocks: &str| check_with("title = ", &format!("blocks = {blocks}\ntitle = "));
    assert_snapshot!(with_blocks("0"), @"1:10 «0» `blocks` must be at least 1");
    assert_snapshot!(with_blocks("{ until = '0%', at-least = 4, at-most = 3 }"), @r"
    1:10 «{ until = '0%', at-least = 4, at-most = 3 }» `until` must lie between 0% and 100%
    1:10 «{ until = '0%', at-least = 4, at-most = 3 }» `at-least` must be 5 or more: fewer blocks have no interval
    1:10 «{ until = '0%', at-least = 4, at-most = 3 }» `at-most` is 3; it must be 4 or more, which is `at-least`
    ");
    assert_snapshot!(with_blocks("{ until = '3%' }"), @"1:10 «{ until = '3%' }» `until` needs `at-most`, or it might never end");
    assert_snapshot!(with_blocks("{ at-least = 7, budget = '0s' }"), @r"
    1:10 «{ at-least = 7, budget = '0s' }» `at-least` belongs to `until`
    1:10 «{ at-least = 7, budget = '0s' }» `budget` must be longer than 0s
    ");
    assert_snapshot!(with_blocks("{ at-most = 7 }"), @"1:10 «{ at-most = 7 }» `blocks` needs `until` or `budget`");
    assert_snapshot!(with_blocks("{ until = '3%', at-most = 30, more = 1 }"), @"1:40 «more» unknown key `more` (known here: until, budget, at-least, at-most)");
    assert_snapshot!(with_blocks("'ten'"), @r#"1:10 «'ten'» expected a number, or a table such as { until = "3%", at-most = 30 } or { budget = "3m" }, found the string "ten""#);
    assert_snapshot!(with_blocks("-1"), @r#"1:10 «-1» expected a number, or a table such as { until = "3%", at-most = 30 } or { budget = "3m" }, found the number -1"#);
}
