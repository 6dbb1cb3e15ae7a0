//! What a `subject.toml` contains, what can be wrong with it, and what a choice of variant and parameters means.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use std::collections::BTreeMap;

use examples::{catalogue, listed, values};
use insta::assert_snapshot;
use tolok_model::{GcLog, ParameterValue, Role, Subject, SubjectDiagnosis};

fn check(text: &str) -> String {
    match Subject::read("go/nethttp", text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(text, &problems),
    }
}

#[test]
fn a_subject_without_variants_has_one_called_default() {
    let subject = catalogue().subject("go/nethttp").unwrap().clone();
    assert_eq!(subject.default_variant, "default");
    assert_eq!(subject.workloads("default"), ["hello", "json", "file"]);
    assert_eq!(subject.role, Role::Subject);
    assert_eq!(subject.choose(None, &BTreeMap::new()).unwrap().label, "go/nethttp:default");
}

#[test]
fn the_variant_sets_parameters_and_the_study_has_the_last_word() {
    let php = catalogue().subject("php/fpm").unwrap().clone();
    let check = |variant, overrides: &[(&str, ParameterValue)]| {
        let overrides = overrides.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        match php.choose(variant, &overrides) {
            Ok(choice) => format!("{}: {}", choice.label, values(&choice)),
            Err(message) => message,
        }
    };
    assert_eq!(check(None, &[]), "php/fpm:pool: mode=static pool=16");
    assert_eq!(check(Some("jit"), &[]), "php/fpm:jit: mode=static pool=8");
    let four = ParameterValue::Integer(4);
    assert_eq!(check(Some("jit"), &[("pool", four.clone())]), "php/fpm:jit?pool=4: mode=static pool=4");
    assert_eq!(check(Some("jit"), &[("mode", four)]), "php/fpm:jit?mode=4: mode=4 pool=8");
    let many = ParameterValue::Text("many".to_owned());
    assert_eq!(check(None, &[("pool", many.clone())]), "parameter `pool` is a whole number, not `many`");
    assert_eq!(
        check(None, &[("poll", many)]),
        "`php/fpm` has no parameter `poll`; did you mean `pool`? (it has mode, pool)"
    );
}

#[test]
fn a_number_given_for_a_text_parameter_becomes_text() {
    let php = catalogue().subject("php/fpm").unwrap().clone();
    let choice = php.choose(None, &BTreeMap::from([("mode".to_owned(), ParameterValue::Integer(4))])).unwrap();
    assert_eq!(choice.parameters["mode"], ParameterValue::Text("4".to_owned()));
}

#[test]
fn a_parameter_that_lists_its_values_takes_no_other() {
    let read = |parameter: &str| Subject::read("go/nethttp", &format!("{SERVER}[parameter.json]\n{parameter}"));
    let subject = read("default = 'encoder'\none-of = ['encoder', 'prerendered']").unwrap();
    let choose = |value: &str| {
        subject.choose(None, &BTreeMap::from([("json".to_owned(), ParameterValue::Text(value.to_owned()))]))
    };
    assert_eq!(choose("prerendered").unwrap().label, "go/nethttp:default?json=prerendered");
    assert_eq!(choose("foo").unwrap_err(), "parameter `json` is encoder or prerendered, not `foo`");
    for (wrong, what) in [
        ("default = 'x'\none-of = ['encoder']", "parameter `json` is encoder, not `x`"),
        ("default = 'x'\none-of = []", "no value is listed"),
    ] {
        let problems = read(wrong).unwrap_err();
        assert!(problems.iter().any(|problem| problem.message == what), "{problems:?}");
    }
}

#[test]
fn listed_values_are_of_the_type_of_the_default() {
    let text = |parameter: &str| format!("{SERVER}[parameter.pool]\n{parameter}\n");
    assert_snapshot!(check(&text("default = 4\none-of = ['a', 4, 'b']")), @"
    7:11 «'a'» parameter `pool` is a whole number, not `a` (values of `one-of` have the default's type)
    7:19 «'b'» parameter `pool` is a whole number, not `b` (values of `one-of` have the default's type)
    ");
    // A word may look like a number.
    let subject = Subject::read("go/nethttp", &text("default = '8'\none-of = [8, 'all']")).unwrap();
    let listed = ["8", "all"].map(|word| ParameterValue::Text(word.to_owned()));
    assert_eq!(subject.parameters["pool"].one_of, listed);
}

const SERVER: &str = "\
title     = 'Go net/http'
runtime   = 'go'
workloads = ['hello']
process   = [{ name = 'server', command = ['server'] }]
";

#[test]
fn a_diagnosis_says_what_is_added_and_how_garbage_collections_are_told() {
    let read = |diagnosis: &str| Subject::read("go/nethttp", &format!("{SERVER}{diagnosis}")).unwrap().diagnosis;
    assert_eq!(read(""), SubjectDiagnosis::default());
    let go = read("[diagnosis]\ngc-log = 'go'\nenv = { GODEBUG = 'gctrace=1' }");
    assert_eq!(go.gc_log, Some(GcLog::Go));
    assert_eq!(go.env, BTreeMap::from([("GODEBUG".to_owned(), "gctrace=1".to_owned())]));
    assert_eq!(read("[diagnosis]\ngc-log = 'v8'").gc_log, Some(GcLog::V8));
}

#[test]
fn a_format_of_garbage_collections_that_nobody_reads_is_refused() {
    let check = |diagnosis: &str| check(&format!("{SERVER}{diagnosis}"));
    assert_snapshot!(check("[diagnosis]\ngc-log = 'jsc'"), @"6:10 «'jsc'» unknown value `jsc` (known here: go, v8)");
    assert_snapshot!(check("[diagnosis]\ngc_log = 'go'"), @"6:1 «gc_log» unknown key `gc_log` (did you mean `gc-log`? known here: gc-log, env)");
    assert_snapshot!(check("diagnosis = true"), @"5:13 «true» expected a table, found `true`");
}

#[test]
fn an_empty_subject_lacks_everything_that_is_required() {
    assert_snapshot!(check("summary = 'a server'\n[[process]]\n[[file]]\n[build]\n[parameter.pool]\n"), @r#"
    1:1 «summary = 'a server'» missing key `title` (for example: title = "Go net/http")
    1:1 «summary = 'a server'» missing key `runtime` (for example: runtime = "go")
    1:1 «summary = 'a server'» missing key `workloads` (for example: workloads = ["hello"])
    2:1 «[[process]]» missing key `name` (for example: name = "server")
    2:1 «[[process]]» missing key `command` (for example: command = ["{{ build }}/server", "-port", "{{ port }}"])
    3:1 «[[file]]» missing key `from` (for example: from = "nginx.conf")
    3:1 «[[file]]» missing key `to` (for example: to = "nginx.conf")
    4:1 «[build]» missing key `command` (for example: command = ["{{ build }}/server", "-port", "{{ port }}"])
    5:1 «[parameter.pool]» missing key `default` (for example: default = 16)
    "#);
    assert_snapshot!(check("title = 'T'\nruntime = 'go'\nworkloads = []\nprocess = []\n"), @r"
    1:1 «title = 'T'» no process is given (for example: [[process]] with a `name` and a `command`)
    3:13 «[]» no workload is listed
    ");
}

#[test]
fn many_mistakes_are_many_problems() {
    let text = r#"title = "Go"
runtime = 3
role = "celing"
workloads = ["hello", "json"]
default = "encodr"

[build]
comand = ["go", "build"]

[[file]]
from = "../secret"
to = "/etc/passwd"

[[process]]
name = "server"
command = []
stop = "SIGTERM"

[[process]]
name = "server"
command = ["x", 8080]

[parameter.json]
default = true

[parameter.pool]
default = 16

[variant.encoder]
set = { jsn = "encoder", pool = "all" }
workloads = ["jsn"]

[variant."two words"]
hepl = "x"
"#;
    assert_snapshot!(check(text), @r#"
    2:11 «3» expected a string, found the number 3
    3:8 «"celing"» unknown value `celing` (did you mean `ceiling`? known here: subject, framework, ceiling)
    5:11 «"encodr"» there is no variant `encodr` (did you mean `encoder`? known here: encoder, two words)
    8:1 «comand» unknown key `comand` (did you mean `command`? known here: command, env, inputs)
    11:8 «"../secret"» `../secret` does not stay in its folder (give a relative path without `..`)
    12:6 «"/etc/passwd"» `/etc/passwd` does not stay in its folder (give a relative path without `..`)
    16:11 «[]» the command is empty (for example: command = ["{{ build }}/server", "-port", "{{ port }}"])
    17:8 «"SIGTERM"» `SIGTERM` is not a signal to stop with (did you mean `TERM`? known here: TERM, INT, QUIT, WINCH)
    19:1 «[[process]]» two processes have the name `server`
    21:17 «8080» expected a string, found the number 8080
    24:11 «true» expected a whole number or a string, found `true`
    30:9 «jsn» there is no parameter `jsn` (did you mean `json`? known here: json, pool)
    30:33 «"all"» parameter `pool` is a whole number, not `all`
    31:14 «"jsn"» the subject does not serve `jsn` (did you mean `json`? known here: hello, json)
    33:10 «"two words"» `two words` cannot be written in a study (use letters, digits, `-`, `_` and `.`)
    34:1 «hepl» unknown key `hepl` (did you mean `help`? known here: help, set, needs, database-needs, postgres-needs, databases, workloads, protocols, less-work)
    "#);
}

#[test]
fn with_several_variants_one_must_be_the_default() {
    let text = "title = 'T'\nruntime = 'go'\nworkloads = ['hello']\nprocess = [{ name = 's', command = ['s'] }]\n";
    assert_eq!(check(&format!("{text}[variant.one]\n")), "no problem");
    assert_snapshot!(check(&format!("{text}[variant.one]\n[variant.two]\n")), @r#"1:1 «title = 'T'» missing key `default` (for example: default = "one")"#);
}
