//! Published figures, as a study writes them.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::catalogue;
use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::{Here, Plan, PublishedMetric, Study};

const STUDY: &str = r#"title = "T"
subjects = ["go/nethttp", "bun/serve", "php/fpm:jit"]
[[scenario]]
workload = ["hello", "json"]
load = { executor = "constant-vus", vus = 8, duration = "1s" }
[[scenario]]
workload = "json"
load = { executor = "constant-vus", vus = 64, duration = "1s" }
[[published]]
"#;

fn read(published: &str) -> Result<Study, String> {
    let text = format!("{STUDY}{published}");
    Study::read(&text, &catalogue()).map_err(|problems| {
        let line = |problem: &tolok_model::Problem| {
            let (line, column) = problem.line_column(&text);
            let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{line}:{column} «{}» {}{help}", &text[problem.span.clone()], problem.message)
        };
        problems.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

fn problems(published: &str) -> String {
    read(published).err().unwrap_or_else(|| "no problem".to_owned())
}

#[test]
fn a_ratio_or_two_values_stand_for_the_same() {
    let ratio = "source = 'S'\nplace = 'Table 5'\nscenario = 'json-c64'\nmetric = 'latency-p99'\n\
                 a = 'bun/serve'\nb = 'php/fpm:jit'\nratio = 1.25";
    let values = "[[published]]\nsource = 'S'\nscenario = 'hello'\na = 'bun/serve'\nb = 'go/nethttp'\n\
                  a-value = 50000\nb-value = 40000.0";
    let study = read(&format!("{ratio}\n{values}")).unwrap();
    assert_json_snapshot!(study.published, @r#"
    [
      {
        "source": "S",
        "place": "Table 5",
        "scenario": "json-c64",
        "metric": "latency-p99",
        "a": "bun/serve:default",
        "b": "php/fpm:jit",
        "ratio": 1.25
      },
      {
        "source": "S",
        "scenario": "hello-c8",
        "metric": "goodput",
        "a": "bun/serve:default",
        "b": "go/nethttp:default",
        "ratio": 1.25
      }
    ]
    "#);
    assert_eq!(study.published[1].metric, PublishedMetric::Goodput);
}

#[test]
fn names_are_checked_against_the_study() {
    let with = |from: &str, to: &str| {
        let sound = "source = 'S'\nscenario = 'json-c64'\na = 'bun/serve'\nb = 'go/nethttp'\nratio = 2";
        assert!(sound.contains(from));
        problems(&sound.replace(from, to))
    };
    assert_eq!(with("ratio = 2", "ratio = 2.5"), "no problem");
    assert_snapshot!(with("json-c64", "json-c46"), @"11:12 «'json-c46'» the study has no scenario `json-c46` (did you mean `json-c64`? known here: hello-c8, json-c8, json-c64)");
    assert_snapshot!(with("json-c64", "json"), @"11:12 «'json'» the workload `json` is in 2 scenarios (name one of them: json-c8, json-c64)");
    assert_snapshot!(with("bun/serve", "bun/srve"), @"12:5 «'bun/srve'» there is no subject `bun/srve` (did you mean `bun/serve`? known here: bun/serve, go/nethttp, php/fpm, rust/ceiling)");
    assert_snapshot!(with("bun/serve", "php/fpm"), @"12:5 «'php/fpm'» the study does not list `php/fpm` (it has go/nethttp:default, bun/serve:default, php/fpm:jit)");
    assert_snapshot!(with("bun/serve", "*"), @"12:5 «'*'» `*` is more than one subject (for example: \"go/nethttp\" or \"php/fpm:jit\")");
    assert_snapshot!(with("bun/serve", "go/nethttp"), @"13:5 «'go/nethttp'» a subject is compared with itself (name two subjects)");
    assert_snapshot!(with("ratio", "raito"), @"14:1 «raito» unknown key `raito` (did you mean `ratio`? known here: source, place, scenario, metric, a, b, ratio, a-value, b-value)");
    assert_snapshot!(with("ratio = 2", "ratio = 2\nmetric = 'goodputs'"), @"15:10 «'goodputs'» unknown value `goodputs` (did you mean `goodput`? known here: goodput, latency-p50, latency-p99, cpu, memory, cold-start)");
}

#[test]
fn a_ratio_is_given_once_and_is_more_than_nothing() {
    let with = |ratio: &str| {
        problems(&format!("source = 'S'\nscenario = 'json-c64'\na = 'bun/serve'\nb = 'go/nethttp'\n{ratio}"))
    };
    assert_snapshot!(with(""), @"9:1 «[[published]]» no ratio is given (for example: ratio = 1.3, or a-value = 52000 and b-value = 40000)");
    assert_snapshot!(with("a-value = 3"), @"9:1 «[[published]]» no ratio is given (for example: ratio = 1.3, or a-value = 52000 and b-value = 40000)");
    assert_snapshot!(with("ratio = 1\na-value = 3"), @"14:9 «1» the ratio is given twice (leave out `ratio`, or `a-value` and `b-value`)");
    assert_snapshot!(with("ratio = -1.5"), @"14:9 «-1.5» `ratio` must be more than 0");
    assert_snapshot!(with("a-value = 0\nb-value = inf"), @r"
    14:11 «0» `a-value` must be more than 0
    15:11 «inf» `b-value` must be more than 0
    ");
    assert_snapshot!(with("ratio = '2'"), @r#"14:9 «'2'» expected a number, found the string "2""#);
}

#[test]
fn all_missing_keys_are_reported_at_once() {
    assert_snapshot!(problems("ratio = 2"), @r#"
    9:1 «[[published]]» missing key `source` (for example: source = "a blog, 2026")
    9:1 «[[published]]» missing key `scenario` (for example: scenario = "json-c64")
    9:1 «[[published]]» missing key `a` (for example: a = "go/nethttp")
    9:1 «[[published]]» missing key `b` (for example: b = "bun/serve")
    "#);
}

#[test]
fn it_is_fixed_in_the_plan_and_plans_without_any_hash_as_before() {
    let here = Here {
        ready: &|_, _| Ok(()),
        ready_for_database: &|_, _, _| Ok(()),
        fits: &|_| Ok(()),
        tool: &|_| Ok(()),
        database: &|_, _| Ok(()),
    };
    let plan = |study: &Study| Plan::expand(study, &catalogue(), here, 7).unwrap();
    let one = "source = 'S'\nscenario = 'hello'\na = 'bun/serve'\nb = 'go/nethttp'\nratio = 2";
    let (study, other) = (read(one).unwrap(), read(&one.replace("= 2", "= 3")).unwrap());
    assert_eq!(plan(&study).published, study.published);
    assert_ne!(plan(&study).hash(), plan(&other).hash());
    let without = Study { published: Vec::new(), ..study };
    assert!(!serde_json::to_string(&plan(&without)).unwrap().contains("published"));
}
