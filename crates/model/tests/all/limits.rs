//! What an untrusted study may request. Beyond each limit, one sentence names it, and nothing of that size is created.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use tolok_model::limits::{Bound, CASES, ENVIRONMENTS, LIST, SCENARIOS};
use tolok_model::{Here, Plan, Study};

use crate::examples::{catalogue, everything};

/// A study with these users and this environment.
fn study(users: &str, environment: &str) -> String {
    format!(
        "title = 'T'\nsubjects = ['go/nethttp']\nblocks = 1\nceiling = false\n[[scenario]]\nworkload = ['json', 'hello']\n\
         load = {{ executor = 'constant-vus', vus = {users}, duration = '1s' }}\n[environment]\n{environment}\n"
    )
}

/// A list with this many different values, each made from its number.
fn list(length: u64, value: impl Fn(u64) -> String) -> String {
    let values: Vec<String> = (1..=length).map(value).collect();
    format!("[{}]", values.join(", "))
}

fn users(length: u64) -> String {
    list(length, |number| number.to_string())
}

fn round_trips(length: u64) -> String {
    format!("link = {{ rtt = {} }}", list(length, |number| format!("'{number}ms'")))
}

/// Asserts that a text is refused because of this limit only.
fn assert_beyond(bound: &Bound, text: &str) {
    let problems = Study::read(text, &catalogue()).unwrap_err();
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, [bound.sentence()]);
}

#[test]
fn a_list_has_a_greatest_length() {
    assert_beyond(&LIST, &study(&users(LIST.most + 1), ""));
}

#[test]
fn a_study_has_a_greatest_number_of_scenarios_however_they_are_listed() {
    let half = SCENARIOS.most / 2;
    assert!(Study::read(&study(&users(half), ""), &catalogue()).is_ok(), "two workloads");
    assert_beyond(&SCENARIOS, &study(&users(half + 1), ""));
    let more = "[[scenario]]\nworkload = 'json'\nload = { executor = 'constant-vus', vus = 5000, duration = '1s' }\n";
    assert_beyond(&SCENARIOS, &(study(&users(half), "") + more));
}

#[test]
fn a_study_has_a_greatest_number_of_environments_however_they_are_listed() {
    assert!(Study::read(&study("8", &round_trips(ENVIRONMENTS.most)), &catalogue()).is_ok());
    assert_beyond(&ENVIRONMENTS, &study("8", &round_trips(ENVIRONMENTS.most + 1)));
    let product = format!("{}\nsubject.memory = {}", round_trips(40), list(40, |number| format!("'{number}GiB'")));
    assert_beyond(&ENVIRONMENTS, &study("8", &product));
}

#[test]
fn a_plan_has_a_greatest_number_of_cases() {
    let scenarios = study(&users(101), &round_trips(50));
    let subjects = study(&users(100), &round_trips(50)).replace("['go/nethttp']", "['go/nethttp', 'php/fpm']");
    for text in [scenarios, subjects] {
        let study = Study::read(&text, &catalogue()).unwrap();
        let here = Here { ready: &|_, _| Ok(()), ..everything() };
        let refused = Plan::expand(&study, &catalogue(), here, 1).unwrap_err();
        assert_eq!(refused.to_string(), CASES.sentence());
    }
}
