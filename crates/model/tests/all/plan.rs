//! How a study becomes cases and trials.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use std::collections::BTreeSet;

use examples::{catalogue, everything, values};
use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::{
    AaPair, Here, Objective, Plan, PlanError, Pool, Ready, Role, Skipped, Stopping, Study, Subject, ThinkTime,
};

fn study(subjects: &str, workloads: &str) -> Study {
    let text = format!(
        "title = 'T'\nquestion = 'Q?'\nsubjects = {subjects}\nblocks = 3\naa-pair = false\n[[scenario]]\nworkload = {workloads}\n\
         load = {{ executor = 'constant-vus', vus = [8, 64], duration = '2s', warmup = '1s' }}\n"
    );
    Study::read(&text, &catalogue()).unwrap()
}

fn all_ready(_: &Subject, _: &str) -> Result<(), String> {
    Ok(())
}

/// A machine that can do everything with the subjects that are ready.
fn here(ready: Ready<'_>) -> Here<'_> {
    Here { ready, ..everything() }
}

fn plan_of(study: &Study, seed: u64) -> Plan {
    Plan::expand(study, &catalogue(), here(&all_ready), seed).unwrap()
}

/// The cases of a plan, one per line, with `^` before ceilings, and what is skipped.
fn check(subjects: &str, workloads: &str, ready: Ready<'_>) -> String {
    let plan = match Plan::expand(&study(subjects, workloads), &catalogue(), here(ready), 1) {
        Ok(plan) => plan,
        Err(error) => return format!("{error}: {error:?}"),
    };
    let cases = plan.cases.iter().map(|case| {
        let mark = if case.role == Role::Ceiling { "^ " } else { "" };
        format!("{mark}{} {}", case.id, values(&case.subject)).trim_end().to_owned()
    });
    let skipped = plan.skipped.iter().map(|Skipped { subject, reason, .. }| format!("without {subject}: {reason}"));
    cases.chain(skipped).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_scenario_has_every_subject_and_the_ceiling_once() {
    assert_snapshot!(check("['go/nethttp', 'php/fpm']", "['hello', 'json']", &all_ready), @r"
    hello-c8--go-nethttp-default
    hello-c8--php-fpm-pool mode=static pool=16
    ^ hello-c8--rust-ceiling-default
    hello-c64--go-nethttp-default
    hello-c64--php-fpm-pool mode=static pool=16
    ^ hello-c64--rust-ceiling-default
    json-c8--go-nethttp-default
    json-c8--php-fpm-pool mode=static pool=16
    ^ json-c8--rust-ceiling-default
    json-c64--go-nethttp-default
    json-c64--php-fpm-pool mode=static pool=16
    ^ json-c64--rust-ceiling-default
    ");
}

#[test]
fn a_star_means_the_default_variant_of_each_subject_but_not_the_ceiling() {
    assert_snapshot!(check("['*']", "'hello'", &all_ready), @r"
    hello-c8--bun-serve-default
    hello-c8--go-nethttp-default
    hello-c8--php-fpm-pool mode=static pool=16
    ^ hello-c8--rust-ceiling-default
    hello-c64--bun-serve-default
    hello-c64--go-nethttp-default
    hello-c64--php-fpm-pool mode=static pool=16
    ^ hello-c64--rust-ceiling-default
    ");
}

#[test]
fn a_star_behind_a_subject_means_all_its_variants_each_with_its_own_workloads() {
    assert_snapshot!(check("['php/fpm:*']", "['hello', 'json']", &all_ready), @r"
    hello-c8--php-fpm-pool mode=static pool=16
    ^ hello-c8--rust-ceiling-default
    hello-c64--php-fpm-pool mode=static pool=16
    ^ hello-c64--rust-ceiling-default
    json-c8--php-fpm-jit mode=static pool=8
    json-c8--php-fpm-pool mode=static pool=16
    ^ json-c8--rust-ceiling-default
    json-c64--php-fpm-jit mode=static pool=8
    json-c64--php-fpm-pool mode=static pool=16
    ^ json-c64--rust-ceiling-default
    ");
}

#[test]
fn parameters_make_a_case_of_their_own() {
    assert_snapshot!(check("['php/fpm:jit', 'php/fpm:jit?pool=4&mode=ondemand']", "'json'", &all_ready), @r"
    json-c8--php-fpm-jit mode=static pool=8
    json-c8--php-fpm-jit-mode-ondemand-pool-4 mode=ondemand pool=4
    ^ json-c8--rust-ceiling-default
    json-c64--php-fpm-jit mode=static pool=8
    json-c64--php-fpm-jit-mode-ondemand-pool-4 mode=ondemand pool=4
    ^ json-c64--rust-ceiling-default
    ");
}

#[test]
fn a_subject_named_twice_in_different_words_runs_once() {
    assert_snapshot!(check("['*', 'go/nethttp', 'php/fpm:*', 'php/fpm:jit']", "'json'", &all_ready), @r"
    json-c8--bun-serve-default
    json-c8--go-nethttp-default
    json-c8--php-fpm-pool mode=static pool=16
    json-c8--php-fpm-jit mode=static pool=8
    ^ json-c8--rust-ceiling-default
    json-c64--bun-serve-default
    json-c64--go-nethttp-default
    json-c64--php-fpm-pool mode=static pool=16
    json-c64--php-fpm-jit mode=static pool=8
    ^ json-c64--rust-ceiling-default
    ");
}

#[test]
fn a_ceiling_that_is_listed_competes_and_is_not_added_again() {
    assert_snapshot!(check("['go/nethttp', 'rust/ceiling']", "'hello'", &all_ready), @r"
    hello-c8--go-nethttp-default
    hello-c8--rust-ceiling-default
    hello-c64--go-nethttp-default
    hello-c64--rust-ceiling-default
    ");
}

#[test]
fn the_ceiling_can_be_left_out() {
    let without = Study { ceiling: false, ..study("['go/nethttp']", "'hello'") };
    assert!(plan_of(&without, 1).cases.iter().all(|case| case.role == Role::Subject));
}

#[test]
fn what_is_not_ready_is_left_out_once_with_its_reason() {
    let no_php = |subject: &Subject, _: &str| match subject.runtime.as_str() {
        "php/fpm" | "go/nethttp" | "bun/serve" => Ok(()),
        "php-fpm" => Err("php-fpm is missing; run `tolok setup php-fpm`".to_owned()),
        _ => Err("it cannot be built".to_owned()),
    };
    assert_snapshot!(check("['*', 'php/fpm:jit', 'php/fpm:pool']", "'hello'", &no_php), @r"
    hello-c8--bun-serve-default
    hello-c8--go-nethttp-default
    hello-c64--bun-serve-default
    hello-c64--go-nethttp-default
    without php/fpm: php-fpm is missing; run `tolok setup php-fpm`
    without rust/ceiling: it cannot be built
    ");
}

#[test]
fn a_variant_can_need_more_than_its_subject() {
    let no_jit = |_: &Subject, variant: &str| if variant == "jit" { Err("no jit".to_owned()) } else { Ok(()) };
    assert_snapshot!(check("['php/fpm', 'php/fpm:jit']", "'json'", &no_jit), @r"
    json-c8--php-fpm-pool mode=static pool=16
    ^ json-c8--rust-ceiling-default
    json-c64--php-fpm-pool mode=static pool=16
    ^ json-c64--rust-ceiling-default
    without php/fpm:jit: no jit
    ");
}

#[test]
fn a_subject_that_serves_none_of_the_workloads_is_left_out_with_that_reason() {
    assert_snapshot!(check("['go/nethttp', 'php/fpm:jit']", "'file'", &all_ready), @r"
    file-c8--go-nethttp-default
    ^ file-c8--rust-ceiling-default
    file-c64--go-nethttp-default
    ^ file-c64--rust-ceiling-default
    without php/fpm:jit: it serves none of the study's workloads (it serves json)
    ");
}

#[test]
fn without_subjects_there_is_no_plan() {
    let nobody = |_: &Subject, _: &str| Err("not here".to_owned());
    assert_snapshot!(check("['go/nethttp']", "'hello'", &nobody), @r#"none of the study's subjects is ready on this machine: NothingReady([Skipped { subject: "go/nethttp", reason: "not here", database_only: false, scenarios: [] }])"#);
    assert_snapshot!(check("['php/fpm']", "'file'", &all_ready), @r#"none of the study's subjects serves any of its workloads; `workloads` of a subject.toml names what it serves, and `tolok list subjects` what all of them do: NothingToDo([Skipped { subject: "php/fpm:pool", reason: "it serves none of the study's workloads (it serves hello, json)", database_only: false, scenarios: [] }])"#);
    let error = Plan::expand(&study("['*']", "'hello'"), &catalogue(), here(&nobody), 1).unwrap_err();
    assert!(matches!(error, PlanError::NothingReady(skipped) if skipped.len() == 3));
}

#[test]
fn each_block_runs_every_case_once_in_an_order_of_its_own() {
    let plan = plan_of(&study("['*']", "['hello', 'json']"), 7);
    let all: BTreeSet<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(all.len(), 16, "4 scenarios, 3 subjects and the ceiling, no name twice");
    let blocks: Vec<Vec<&str>> = plan
        .trials
        .chunk_by(|left, right| left.block == right.block)
        .map(|block| block.iter().map(|trial| trial.case.as_str()).collect())
        .collect();
    assert_eq!(blocks.len(), 3);
    for block in &blocks {
        assert_eq!(block.len(), 16);
        assert_eq!(block.iter().copied().collect::<BTreeSet<_>>(), all);
    }
    assert_ne!(blocks[0], blocks[1]);
    assert_ne!(blocks[1], blocks[2]);
    let numbers: Vec<u32> = plan.trials.iter().map(|trial| trial.number).collect();
    assert_eq!(numbers, (1..=48).collect::<Vec<u32>>());
}

#[test]
fn the_seed_decides_the_order_and_nothing_else() {
    let study = study("['*']", "'json'");
    assert_eq!(plan_of(&study, 7), plan_of(&study, 7));
    let (seven, eight) = (plan_of(&study, 7), plan_of(&study, 8));
    assert_ne!(seven.trials, eight.trials);
    assert_eq!(seven.cases, eight.cases);
}

#[test]
fn the_order_for_a_seed_stays_the_same_in_every_version() {
    // A recorded seed must always give the recorded order, so this list may never change.
    let plan = plan_of(&study("['go/nethttp', 'bun/serve']", "'json'"), 83850);
    let order: Vec<&str> = plan.trials.iter().map(|trial| trial.case.as_str()).collect();
    assert_snapshot!(order.join("\n"), @r"
    json-c64--go-nethttp-default
    json-c64--bun-serve-default
    json-c64--rust-ceiling-default
    json-c8--go-nethttp-default
    json-c8--rust-ceiling-default
    json-c8--bun-serve-default
    json-c64--bun-serve-default
    json-c8--go-nethttp-default
    json-c8--bun-serve-default
    json-c8--rust-ceiling-default
    json-c64--rust-ceiling-default
    json-c64--go-nethttp-default
    json-c8--rust-ceiling-default
    json-c8--go-nethttp-default
    json-c64--bun-serve-default
    json-c8--bun-serve-default
    json-c64--go-nethttp-default
    json-c64--rust-ceiling-default
    ");
}

#[test]
fn the_fingerprint_changes_with_everything_that_is_fixed_beforehand() {
    let original = study("['go/nethttp', 'php/fpm']", "'json'");
    let fingerprint = |study: &Study, seed| plan_of(study, seed).hash();
    type Change<'a> = &'a dyn Fn(&mut Study);
    let changes: [(&str, Change<'_>); 23] = [
        ("budget", &|study| study.budget_s = Some(60.0)),
        ("stopping rule", &|study| study.stopping = Some(Stopping { until: 0.03, at_least: 5 })),
        ("A/A pair", &|study| study.aa_pair = AaPair::First),
        ("blocks", &|study| study.blocks = 4),
        ("smallest effect", &|study| study.smallest_effect = 0.05),
        ("ceiling", &|study| study.ceiling = false),
        ("subjects", &|study| drop(study.subjects.pop())),
        ("scenarios", &|study| drop(study.scenarios.pop())),
        ("duration", &|study| study.scenarios[0].load.duration_s = 3.0),
        ("warm-up", &|study| study.scenarios[0].load.warmup_s = 3.0),
        ("timeout", &|study| study.scenarios[0].load.timeout_s = 3.0),
        ("connection", &|study| study.scenarios[0].load.connection = tolok_model::Connection::PerRequest),
        ("pool", &|study| study.scenarios[0].load.pool = Some(Pool::Unbounded)),
        ("think time", &|study| study.scenarios[0].load.think_time = Some(ThinkTime { least_s: 0.0, most_s: 1.0 })),
        ("pace", &|study| study.scenarios[0].load.pace.read_bytes_per_s = Some(65_536)),
        ("objective", &|study| study.scenarios[0].objectives.push(Objective::parse("p95 < 1s").unwrap())),
        ("abort", &|study| study.scenarios[0].abort = true),
        ("subject's CPUs", &|study| study.environments[0].subject.cpus = 2.0),
        ("memory", &|study| study.environments[0].subject.memory_bytes = Some(512 << 20)),
        ("link", &|study| study.environments[0].link.rtt_s = 0.02),
        ("congestion control", &|study| study.environments[0].network.congestion = "bbr".to_owned()),
        ("re-runs", &|study| study.reruns = 3),
        ("generator's CPUs", &|study| study.environments[0].generator.cpus = 2.0),
    ];
    let mut seen = BTreeSet::from([fingerprint(&original, 1), fingerprint(&original, 2)]);
    assert_eq!(seen.len(), 2, "the seed");
    for (what, change) in changes {
        let mut changed = original.clone();
        change(&mut changed);
        assert!(seen.insert(fingerprint(&changed, 1)), "{what}");
    }
    let parameter = study("['go/nethttp', 'php/fpm?pool=17']", "'json'");
    assert!(seen.insert(fingerprint(&parameter, 1)), "a parameter");
    assert!(!seen.insert(fingerprint(&original, 1)), "the same study has the same fingerprint");
    assert!(seen.iter().all(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())));
}

#[test]
fn a_stored_plan_is_read_back_with_its_fingerprint() {
    let plan = plan_of(&study("['*', 'php/fpm:jit?pool=4']", "['hello', 'file']"), 7);
    let stored = serde_json::to_string_pretty(&plan).unwrap();
    let read: Plan = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, plan);
    assert_eq!(read.hash(), plan.hash());
}

/// A run continues only under the plan that it began with. What a later version adds must therefore not be written
/// unless it is used.
#[test]
fn a_plan_without_anything_new_keeps_the_fingerprint_that_it_had() {
    // Everything but the format number, which is part of it.
    let plan = Plan { format: 2, ..plan_of(&study("['go/nethttp', 'php/fpm']", "'json'"), 7) };
    assert_snapshot!(plan.hash(), @"8ff7473b999bf1ba9e22c1a28fb1f84b5cbd4bf06cd287dbb6152ec9975a9837");
    let stored = serde_json::to_string(&plan.scenarios[0].load).unwrap();
    assert_snapshot!(stored, @r#"{"executor":{"name":"constant-vus","vus":8},"duration_s":2.0,"warmup_s":1.0,"connection":"keep-alive","timeout_s":10.0}"#);
}

#[test]
fn a_plan_as_it_is_stored() {
    let study = Study { blocks: 1, ..study("['php/fpm:jit?pool=4']", "'json'") };
    assert_json_snapshot!(plan_of(&study, 7));
}

#[test]
fn the_estimate_counts_warm_up_window_and_what_a_trial_takes_besides() {
    let plan = plan_of(&study("['go/nethttp']", "'json'"), 7);
    let case = plan.cases[0].id.clone();
    assert!((plan.trial_estimate_s(&case) - 3.25).abs() < 1e-9);
    // 2 scenarios, the subject and the ceiling, 3 blocks.
    assert!((plan.estimate_s() - 12.0 * 3.25).abs() < 1e-9);
    assert_eq!(plan.scenario("json-c64").unwrap().load.describe(), "closed loop, 64 virtual users, keep-alive, 2 s");
}

/// The twins of a plan, each with the case that it repeats.
fn twins(plan: &Plan) -> Vec<(&str, &str)> {
    let twin = |case: &'_ tolok_model::Case| Some((case.id.clone(), case.twin_of.clone()?));
    let ids: Vec<(String, String)> = plan.cases.iter().filter_map(twin).collect();
    let find = |id: &str| plan.case(id).map(|case| case.id.as_str()).unwrap();
    ids.iter().map(|(twin, of)| (find(twin), find(of))).collect()
}

#[test]
fn the_first_subject_of_each_scenario_is_entered_twice_if_the_study_says_so() {
    let study = Study { aa_pair: AaPair::First, ..study("['php/fpm', 'go/nethttp']", "'json'") };
    let plan = plan_of(&study, 7);
    let again = [
        ("json-c8--php-fpm-pool--again", "json-c8--php-fpm-pool"),
        ("json-c64--php-fpm-pool--again", "json-c64--php-fpm-pool"),
    ];
    assert_eq!(twins(&plan), again);
    let twin = plan.case(again[0].0).unwrap();
    assert!(!twin.competes() && twin.subject == plan.case(again[0].1).unwrap().subject);
    // It runs like any other case: once in each block.
    assert_eq!(plan.trials.iter().filter(|trial| trial.case == twin.id).count(), 3);
}

#[test]
fn subjects_take_turns_at_being_entered_twice() {
    let study =
        Study { aa_pair: AaPair::Rotating, blocks: 6, ..study("['php/fpm', 'go/nethttp', 'bun/serve']", "'json'") };
    let plan = plan_of(&study, 7);
    for scenario in &plan.scenarios {
        let is_own = |id: &str| plan.case(id).filter(|case| case.scenario == scenario.id && case.twin_of.is_some());
        let in_turn: Vec<&str> =
            plan.trials.iter().filter_map(|trial| Some(is_own(&trial.case)?.subject.subject.as_str())).collect();
        assert_eq!(in_turn.len(), 6, "one in each block");
        for three in in_turn.chunks(3) {
            let mut three = three.to_vec();
            three.sort_unstable();
            assert_eq!(
                three,
                ["bun/serve", "go/nethttp", "php/fpm"],
                "no subject is entered twice before all had a turn"
            );
        }
    }
    let of_block = |block: u32| plan.trials.iter().filter(move |trial| trial.block == block).count();
    assert!((1..=6).all(|block| of_block(block) == 2 * (3 + 1 + 1)), "no block takes longer for it");
    assert_eq!(plan.order_by_seed(), plan.trials);
    assert_ne!(plan_of(&study, 8).trials, plan.trials);
}

#[test]
fn the_size_of_environments_is_drawn_from_the_seed_by_block_and_server() {
    let plan = plan_of(&study("['go/nethttp', 'bun/serve']", "'json'"), 7);
    let sizes: Vec<u32> =
        plan.cases.iter().flat_map(|case| [1, 2].map(|block| plan.padding_bytes(case, block))).collect();
    assert!(sizes.iter().all(|size| *size <= 4096));
    // Two scenarios, which share servers; two subjects and the ceiling.
    assert_eq!(sizes.iter().collect::<std::collections::BTreeSet<_>>().len(), 2 * 3, "{sizes:?}");
    assert_ne!(
        plan.padding_bytes(&plan.cases[0], 1),
        plan_of(&study("['go/nethttp', 'bun/serve']", "'json'"), 8).padding_bytes(&plan.cases[0], 1)
    );
}

#[test]
fn a_block_has_a_layout_of_its_own_if_subjects_are_built_for_each() {
    let mut plan = plan_of(&study("['go/nethttp']", "'json'"), 7);
    assert_eq!([1, 2].map(|block| plan.layout(block)), [0, 0]);
    plan.rebuild = true;
    let layouts: std::collections::BTreeSet<u32> = (1..=50).map(|block| plan.layout(block)).collect();
    assert_eq!(layouts.len(), 50);
    assert!(layouts.iter().all(|layout| (1..=i32::MAX as u32).contains(layout)), "{layouts:?}");
    let other = Plan { seed: 8, ..plan.clone() };
    assert_ne!(plan.layout(1), other.layout(1));
}

#[test]
fn a_subject_that_is_alone_has_nothing_to_be_compared_with_and_no_twin() {
    let study = Study { aa_pair: AaPair::Rotating, ..study("['go/nethttp']", "'json'") };
    assert_eq!(twins(&plan_of(&study, 7)), []);
}

#[test]
fn labels_that_make_the_same_folder_name_still_make_two_cases() {
    let mut catalogue = catalogue();
    let mut twin = catalogue.subject("go/nethttp").unwrap().clone();
    twin.id = "go-nethttp".to_owned();
    catalogue.subjects.push(twin);
    let text = "title = 'T'\nsubjects = ['go/nethttp', 'go-nethttp']\nceiling = false\naa-pair = false\n[[scenario]]\n\
                workload = 'json'\nload = { executor = 'constant-vus', vus = 8, duration = '1s' }";
    let study = Study::read(text, &catalogue).unwrap();
    let plan = Plan::expand(&study, &catalogue, here(&all_ready), 1).unwrap();
    let ids: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["json-c8--go-nethttp-default", "json-c8--go-nethttp-default-2"]);
}

/// As with `plan --blocks 100000000`.
#[test]
fn a_plan_of_more_trials_than_tolok_takes_is_refused_before_they_are_listed() {
    let study = Study { blocks: 100_000_000, ..study("['go/nethttp']", "'hello'") };
    let refused = Plan::expand(&study, &catalogue(), here(&all_ready), 1).unwrap_err();
    assert!(refused.to_string().contains("at most 1,000,000 trials"), "{refused}");
    let mut plan = plan_of(&Study { blocks: 1, ..study }, 1);
    let most = 1_000_000 / plan.cases.len() as u32;
    plan.blocks = most;
    assert_eq!(plan.is_bounded(), Ok(()));
    plan.blocks = most + 1;
    assert!(plan.is_bounded().is_err(), "a stored plan has the same limit");
}

#[test]
fn a_mixed_workload_is_for_subjects_that_serve_all_its_parts() {
    let mut catalogue = catalogue();
    let text = "title = 'M'\n[[part]]\nworkload = 'json'\n[[part]]\nworkload = 'file'\nweight = 2";
    catalogue.workloads.push(tolok_model::Workload::read("mine", text).unwrap());
    catalogue.settle_mixed().unwrap();
    let study = |tool: &str| {
        let text = format!(
            "title = 'T'\nsubjects = ['go/nethttp', 'php/fpm']\nblocks = 1\naa-pair = false\n[[scenario]]\nworkload = 'mine'\n\
             tool = '{tool}'\nload = {{ executor = 'constant-vus', vus = 8, duration = '2s', warmup = '1s' }}\n"
        );
        Study::read(&text, &catalogue)
    };
    let plan = Plan::expand(&study("tolok").unwrap(), &catalogue, here(&all_ready), 1).unwrap();
    let ids: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["mine-c8--go-nethttp-default", "mine-c8--rust-ceiling-default"]);
    assert_eq!(plan.skipped, [Skipped::new("php/fpm:pool", "of `mine` it does not serve file")]);
    let refused = study("wrk").unwrap_err();
    assert_eq!(refused[0].message, "wrk asks for one path, and `mine` draws its requests");
}
