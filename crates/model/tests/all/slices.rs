//! How a study in slices becomes launches and an order of slices.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue_with_data, everything};
use insta::assert_snapshot;
use tolok_model::{Judge, Plan, PlannedSlice, SliceDesign, Study};

const STUDY: &str = "title = 'T'\nquestion = 'Q?'\nsubjects = ['go/nethttp', 'bun/serve']\nblocks = 2\ndesign = 'slices'\n\
    [[scenario]]\nworkload = ['hello', 'json']\nload = { executor = 'constant-vus', vus = 8, duration = '1s' }\n";

fn plan(text: &str) -> Plan {
    let study = Study::read(text, &catalogue_with_data()).unwrap();
    Plan::expand(&study, &catalogue_with_data(), everything(), 7).unwrap()
}

fn problems(text: &str) -> String {
    let problems = Study::read(text, &catalogue_with_data()).unwrap_err();
    problems
        .iter()
        .map(|problem| format!("{}\n  {}\n", problem.message, problem.help.as_deref().unwrap_or("-")))
        .collect()
}

#[test]
fn a_block_is_one_launch_of_all_cases_that_share_servers() {
    let plan = plan(STUDY);
    let launches: Vec<Option<u32>> = plan.trials.iter().map(|trial| trial.launch).collect();
    // Two scenarios with two subjects, the ceiling and the noise check's second entry.
    assert_eq!(launches, [[Some(1); 8], [Some(2); 8]].concat());
    assert_eq!(plan.launch(2).map(|trial| trial.block).collect::<Vec<_>>(), [2; 8]);
}

#[test]
fn each_case_has_two_slices_a_round_and_the_second_half_mirrors_the_first() {
    let plan = plan(STUDY);
    let slices = plan.slices_of(1);
    for scenario in &plan.scenarios {
        let own = |round: u32, half: u32| -> Vec<&str> {
            let is_own = |slice: &&PlannedSlice| plan.case(&slice.case).unwrap().scenario == scenario.id;
            let of = slices.iter().filter(is_own).filter(|slice| (slice.round, slice.half) == (round, half));
            of.map(|slice| slice.case.as_str()).collect()
        };
        for round in 1..=4 {
            let (first, mut second) = (own(round, 1), own(round, 2));
            second.reverse();
            assert_eq!(first, second);
            assert_eq!(first.len(), 4, "two subjects, the ceiling, and the twin");
        }
    }
    assert_eq!(slices.len(), 2 * 4 * 4 * 2, "scenarios, rounds, cases, halves");
}

#[test]
fn scenarios_that_share_servers_enter_the_same_subject_twice() {
    let plan = plan(&STUDY.replace("blocks = 2", "blocks = 4"));
    let twins = |launch: u32| -> Vec<&str> {
        let cases = plan.launch(launch).filter_map(|trial| plan.case(&trial.case));
        cases.filter(|case| case.twin_of.is_some()).map(|case| case.subject.subject.as_str()).collect()
    };
    for launch in 1..=4 {
        let of_launch = twins(launch);
        assert!(of_launch.len() == 2 && of_launch[0] == of_launch[1], "{of_launch:?}");
    }
    assert_ne!(twins(1), twins(2));
    assert_ne!(twins(3), twins(4));
}

#[test]
fn every_fourth_round_has_windows_of_double_length() {
    let design = SliceDesign::default();
    assert_eq!([1, 3, 4, 5, 8].map(|round| design.window_s_of(round)), [0.1, 0.1, 0.2, 0.1, 0.2]);
    // 0.2 + 0.2 + 0.2 + 0.4 s make one second for each case.
    assert_eq!([0.05, 0.6, 1.0, 2.0].map(|duration_s| design.rounds(duration_s)), [1, 3, 4, 8]);
}

#[test]
fn the_seed_gives_the_order_and_every_launch_has_its_own() {
    let orders: Vec<Vec<PlannedSlice>> =
        vec![plan(STUDY).slices_of(1), plan(STUDY).slices_of(1), plan(STUDY).slices_of(2)];
    assert_eq!(orders[0], orders[1]);
    assert_ne!(orders[1], orders[2]);
    assert_eq!(plan(STUDY).order_by_seed(), plan(STUDY).trials);
}

#[test]
fn a_budget_buys_as_many_launches_as_fit_and_some_to_spare() {
    let blocks =
        |budget: &str| plan(&STUDY.replace("blocks = 2", &format!("blocks = {{ budget = '{budget}' }}"))).blocks;
    let launch_s = plan(STUDY).estimate_s() / 2.0;
    assert_eq!(blocks("1s"), 5, "fewer rounds have no interval");
    assert_eq!(blocks("3m"), (180.0 * 1.25 / launch_s) as u32);
    let of = |budget: &str| plan(&STUDY.replace("blocks = 2", &format!("blocks = {{ budget = '{budget}' }}")));
    assert_eq!((of("3m").estimate_s(), of("3m").beyond_budget_s()), (180.0, None));
    let least_s = 5.0 * launch_s;
    assert!((of("1s").estimate_s() - least_s).abs() < 1e-9, "the first five take place all the same");
    assert!(of("1s").beyond_budget_s().is_some_and(|beyond_s| (beyond_s - least_s).abs() < 1e-9));
}

#[test]
fn the_warm_up_of_a_server_is_divided_among_its_cases() {
    let warm = |text: &str| {
        let plan = plan(&text.replace("duration = '1s'", "duration = '1s', warmup = '500ms'"));
        plan.cases.iter().map(|case| plan.warm_up_s(case)).collect::<Vec<f64>>()
    };
    // The noise check's second entry has its own server, whose two cases also share a warm-up.
    assert!(warm(STUDY).iter().all(|warm_up_s| (warm_up_s - 0.25).abs() < 1e-9), "{:?}", warm(STUDY));
    let trials = STUDY.replace("design = 'slices'\n", "");
    assert!(warm(&trials).iter().all(|warm_up_s| *warm_up_s == 0.5), "each trial has its own server");
    let alone = STUDY.replace("['hello', 'json']", "'hello'");
    assert!(warm(&alone).iter().all(|warm_up_s| *warm_up_s == 0.5));
    let cold = STUDY.replace("duration = '1s'", "duration = '1s', warmup = '0s'");
    let cold = plan(&cold);
    assert!(cold.cases.iter().all(|case| cold.warm_up_s(case) == 0.0), "no warm-up stays none");
}

#[test]
fn a_launch_takes_its_start_its_warm_ups_and_its_slices() {
    let plan = plan(STUDY);
    // Four servers and eight cases. Each case has half a warm-up and four rounds: 1 s of windows, and eight lead-ins
    // with what follows a slice.
    let expected_s = 0.4 + 4.0 * 0.05 + 8.0 * (0.15 + 1.0 + 8.0 * (0.02 * 1.35 + 0.001));
    assert!((plan.estimate_s() - 2.0 * expected_s).abs() < 1e-9, "{} and not {}", plan.estimate_s(), 2.0 * expected_s);
}

#[test]
fn a_study_says_which_response_judges() {
    assert_eq!(plan(STUDY).judge, Judge::Goodput);
    let written = serde_json::to_string(&plan(STUDY)).unwrap();
    assert!(!written.contains("judge"), "plans of earlier versions stay what they were: {written}");
    assert_eq!(plan(&format!("judge = 'cpu'\n{STUDY}")).judge, Judge::Cpu);
    let wrong = problems(&format!("judge = 'memory'\n{STUDY}"));
    assert!(wrong.contains("memory"), "{wrong}");
}

#[test]
fn a_launch_ends_where_the_database_begins() {
    let plan = plan(&STUDY.replace("'json']", "'rows']"));
    let launches: std::collections::BTreeSet<(Option<u32>, bool)> = plan
        .trials
        .iter()
        .map(|trial| (trial.launch, plan.scenario(&plan.case(&trial.case).unwrap().scenario).unwrap().database))
        .collect();
    assert_eq!(launches.len(), 4, "each of two blocks has a launch with the database and one without: {launches:?}");
}

#[test]
fn a_study_without_a_design_has_trials_and_a_scenario_may_have_its_own() {
    let trials = plan(&STUDY.replace("design = 'slices'\n", ""));
    assert!(trials.trials.iter().all(|trial| trial.launch.is_none()));
    let written = serde_json::to_string(&trials).unwrap();
    assert!(!written.contains("launch") && !written.contains("slices"), "{written}");
    let mixed = format!(
        "{STUDY}[[scenario]]\nworkload = 'hello'\ndesign = 'trials'\n\
         load = {{ executor = 'constant-arrival-rate', rate = 100, duration = '1s' }}\n"
    );
    let mixed = plan(&mixed);
    assert_eq!(mixed.trials.iter().filter(|trial| trial.launch.is_none()).count(), 2 * 4);
}

#[test]
fn lengths_are_read() {
    let text = format!("{STUDY}slices = {{ window = '50ms' }}\n[slices]\nlead-in = '10ms'\n");
    let plan = plan(&text);
    assert_eq!(plan.scenarios[0].slices, Some(SliceDesign { window_s: 0.05, lead_in_s: 0.01 }));
}

#[test]
fn what_cannot_be_sliced_is_refused_with_what_to_do() {
    let open = STUDY.replace("executor = 'constant-vus', vus = 8", "executor = 'constant-arrival-rate', rate = 100");
    let short = format!("{STUDY}slices = {{ window = '1ms' }}\n");
    let quota = format!("{STUDY}[environment]\nsubject.cpus = 0.5\nsubject.mode = 'quota'\n");
    let objective = format!("{STUDY}objective = 'p95 < 50ms'\n");
    let all = [open, short, quota, objective];
    assert_snapshot!(all.map(|text| problems(&text)).concat(), @r#"
    `hello-r100` cannot be sliced: slices need the executor `constant-vus`
      `design = "trials"` in this [[scenario]] gives each case a window of its own
    `json-r100` cannot be sliced: slices need the executor `constant-vus`
      `design = "trials"` in this [[scenario]] gives each case a window of its own
    `window` must be at least 10ms
      -
    nothing can be sliced in this environment: a quota is given out in periods of 100 ms, which slices cut apart
      `design = "trials"` gives each case a window of its own
    `hello-c8` cannot be sliced: an `objective` holds for a whole window, and slices have none
      `design = "trials"` in this [[scenario]] gives each case a window of its own
    `json-c8` cannot be sliced: an `objective` holds for a whole window, and slices have none
      `design = "trials"` in this [[scenario]] gives each case a window of its own
    "#);
}
