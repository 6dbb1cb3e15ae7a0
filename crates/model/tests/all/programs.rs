//! Programs that are not servers: their workloads, the subjects that do them, and studies that time them.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue, everything, listed};
use insta::assert_snapshot;
use tolok_model::{Catalogue, Here, Plan, PlannedTurn, ProgramWorkload, Scale, Study, Subject, Timer};

const QUEUE: &str = r#"title = "Queue"
[program]
arguments = ["sync", "{{ n }}"]
floor = ["sync", "0"]
output = "{{ n * (n + 1) // 2 }}\n"
floor-output = "0\n"
[parameter.n]
default = 1000
least = 1
most = 10000000
"#;

const GO: &str = r#"title = "Go"
runtime = "go"
workloads = ["queue"]
program = { command = ["{{ build }}/queue"] }
"#;

/// Servers and their workloads, and a program with its own.
fn with_programs() -> Catalogue {
    let mut catalogue = catalogue();
    catalogue.programs.push(ProgramWorkload::read("queue", QUEUE).unwrap());
    catalogue.subjects.push(Subject::read("go/queue", GO).unwrap());
    catalogue
}

fn text(program: &str) -> String {
    format!("title = 'T'\nsubjects = ['go/queue']\nblocks = 2\n[[program]]\n{program}\n")
}

fn study(program: &str) -> Study {
    Study::read(&text(program), &with_programs()).unwrap()
}

fn problems(program: &str) -> String {
    let text = text(program);
    listed(&text, &Study::read(&text, &with_programs()).unwrap_err())
}

#[test]
fn a_program_is_timed_by_itself_or_by_several_timers() {
    let study = study(
        "workload = ['queue?n=10', 'queue']\nruns = 20\nwarmup-runs = 0\nat-most = '2s'\ntimer = ['tolok', 'hyperfine', 'time']",
    );
    let ids: Vec<&str> = study.programs.iter().map(|program| program.id.as_str()).collect();
    assert_eq!(ids, ["queue-n10", "queue-n10-hyperfine", "queue-n10-time", "queue", "queue-hyperfine", "queue-time"]);
    assert_eq!(study.programs[0].runs.describe(), "20 runs, at most 2 s");
    assert_eq!((study.programs[1].timer, study.programs[1].workload.as_str()), (Timer::Hyperfine, "queue?n=10"));
}

#[test]
fn the_defaults_are_ten_runs_after_one_that_does_not_count() {
    let runs = study("workload = 'queue'").programs.remove(0).runs;
    assert_eq!(runs.describe(), "10 runs after 1 warm-up run, at most 10 s");
    assert_eq!(runs.timeout_s, 60.0);
}

#[test]
fn mistakes_are_said_at_their_places() {
    assert_snapshot!(problems("workload = 'hello'"), @r#"
    5:12 «'hello'» `hello` is a workload for servers, not for programs (name it in a [[scenario]])
    "#);
    assert_snapshot!(problems("workload = 'queue?n=0'"), @r#"
    5:12 «'queue?n=0'» `n` is a number from 1 to 10,000,000, not 0
    "#);
    assert_snapshot!(problems("workload = 'queue?m=1'"), @r#"
    5:12 «'queue?m=1'» `queue` has no parameter `m` (known here: n)
    "#);
    assert_snapshot!(problems("runs = 5"), @r#"
    4:1 «[[program]]» missing key `workload` (for example: workload = "queue-sync?n=1000")
    "#);
    assert_snapshot!(problems("workload = 'queue'\nruns = 0\nat-most = '0s'\ntimer = ['hyperfin', 'time', 'time']"), @"
    6:8 «0» `runs` must be at least 1
    7:11 «'0s'» `at-most` must be longer than nothing
    8:10 «'hyperfin'» there is no timer `hyperfin` (did you mean `hyperfine`? known here: tolok, hyperfine, time)
    8:30 «'time'» timer `time` is listed twice
    ");
    assert_snapshot!(problems("workload = ['queue?n=5', 'queue?n=5']"), @"4:1 «[[program]]» program `queue-n5` appears twice (they are told apart by workload and timer)");
    assert_snapshot!(problems("workload = 'queue'\nload = 1"), @"6:1 «load» unknown key `load` (known here: workload, runs, warmup-runs, at-most, timeout, timer, design)");
    let swapped = "title = 'T'\nsubjects = ['go/queue']\n[[scenario]]\nworkload = 'queue'\nload = { executor = 'constant-vus', vus = 8, duration = '1s' }\n";
    assert_snapshot!(listed(swapped, &Study::read(swapped, &with_programs()).unwrap_err()), @"4:12 «'queue'» `queue` is a workload for programs, not for servers (name it in a [[program]])");
}

#[test]
fn a_chosen_workload_has_its_values_and_a_title_that_says_them() {
    let chosen = with_programs().choose_program("queue?n=1000000").unwrap();
    assert_eq!((chosen.title.as_str(), chosen.values["n"]), ("Queue, n = 1,000,000", 1_000_000));
}

#[test]
fn a_workload_is_of_servers_or_of_programs() {
    assert!(ProgramWorkload::is_meant(QUEUE));
    let of_servers = "title = 'H'\nrequest.path = '/h'\nanswer = { content-type = 'text/plain', body = 'b' }\n";
    assert!(!ProgramWorkload::is_meant(of_servers));
    let read = |text: &str| match ProgramWorkload::read("queue", text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(text, &problems),
    };
    assert_snapshot!(read(&QUEUE.replace("floor = [\"sync\", \"0\"]\n", "")), @r#"2:1 «[program]» missing key `floor` (for example: floor = ["sync", "0"])"#);
    assert_snapshot!(read(&QUEUE.replace("[program]", "database = true\n[program]")), @"2:12 «true» programs have no database (leave `database` out)");
}

#[test]
fn a_subject_is_a_program_or_has_processes() {
    let read = |text: &str| match Subject::read("go/queue", text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(text, &problems),
    };
    assert_snapshot!(read(&GO.replace("{ command = [\"{{ build }}/queue\"] }", "{ command = [] }")), @r#"4:23 «[]» the command is empty (for example: command = ["{{ build }}/queue"])"#);
    assert_snapshot!(read(&format!("{GO}[[process]]\nname = 'server'\ncommand = ['server']\n")), @r#"4:11 «{ command = ["{{ build }}/queue"] }» a subject is a `program` or has processes, not both (leave one of them out)"#);
}

#[test]
fn a_plan_has_a_case_for_each_program_and_each_subject_that_does_its_work() {
    let plan =
        Plan::expand(&study("workload = ['queue?n=10', 'queue?n=100']"), &with_programs(), everything(), 7).unwrap();
    let cases: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(cases, ["queue-n10--go-queue-default", "queue-n100--go-queue-default"]);
    assert_eq!((plan.trials.len(), plan.scenarios.len()), (4, 0));
    assert_eq!(plan.program("queue-n10").unwrap().workload, "queue?n=10");
    assert_eq!(plan.environments.len(), 1);
    assert!(plan.skipped.is_empty(), "{:?}", plan.skipped);
}

#[test]
fn environments_make_a_program_scenario_each() {
    let text = text("workload = 'queue'").replace("blocks = 2", "blocks = 2\nenvironment.subject.cpus = [1, 2]");
    let plan = Plan::expand(&Study::read(&text, &with_programs()).unwrap(), &with_programs(), everything(), 7).unwrap();
    let ids: Vec<&str> = plan.programs.iter().map(|program| program.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().all(|id| id.starts_with("queue-")) && ids[0] != ids[1], "{ids:?}");
    assert_eq!(plan.program_environment(&plan.programs[1]).unwrap().subject.cpus, 2.0);
}

#[test]
fn a_timer_that_is_missing_is_left_out() {
    let missing = |name: &str| if name == "gnu_time" { Err("no time".to_owned()) } else { Ok(()) };
    let here = Here { tool: &missing, ..everything() };
    let plan =
        Plan::expand(&study("workload = 'queue'\ntimer = ['tolok', 'time']"), &with_programs(), here, 7).unwrap();
    assert_eq!(plan.programs.len(), 1);
    assert_eq!((plan.skipped[0].subject.as_str(), plan.skipped[0].reason.as_str()), ("tool [gnu_time]", "no time"));
}

#[test]
fn a_shorter_study_has_fewer_runs_and_less_time_for_them() {
    let scaled = study("workload = 'queue'\nruns = 20\nat-most = '4s'").scaled(Scale::new(0.1).unwrap());
    assert_eq!((scaled.programs[0].runs.runs, scaled.programs[0].runs.at_most_s), (2, 0.4));
}

/// A study of two programs in slices.
fn in_slices(program: &str) -> String {
    let text = text(program).replace("['go/queue']", "['go/queue', 'bun/queue']");
    text.replace("blocks = 2", "blocks = 2\ndesign = 'slices'")
}

fn with_two_programs() -> Catalogue {
    let mut catalogue = with_programs();
    catalogue.subjects.push(Subject::read("bun/queue", &GO.replace("Go", "Bun")).unwrap());
    catalogue
}

fn plan_in_slices(program: &str) -> Plan {
    let study = Study::read(&in_slices(program), &with_two_programs()).unwrap();
    Plan::expand(&study, &with_two_programs(), everything(), 7).unwrap()
}

#[test]
fn in_slices_a_launch_has_all_cases_of_one_program_scenario() {
    let plan = plan_in_slices("workload = ['queue?n=10', 'queue?n=100']");
    // Two subjects and the noise check's second entry.
    assert_eq!(plan.trials.len(), 2 * 2 * 3);
    for launch in 1..=4 {
        let scenarios: std::collections::BTreeSet<&str> =
            plan.launch(launch).map(|trial| plan.case(&trial.case).unwrap().scenario.as_str()).collect();
        assert_eq!((plan.launch(launch).count(), scenarios.len()), (3, 1), "{launch}");
    }
    assert_eq!(plan.order_by_seed(), plan.trials);
    assert_eq!(plan.programs[0].describe(), "10 runs after 1 warm-up run, at most 10 s per launch, in turns");
}

#[test]
fn each_case_has_as_many_turns_as_runs_and_the_second_half_of_a_round_mirrors_the_first() {
    let plan = plan_in_slices("workload = 'queue'\nruns = 5");
    let turns = plan.turns_of(1);
    let of = |round: u32, half: u32| -> Vec<&str> {
        let is_meant = |turn: &&PlannedTurn| (turn.round, turn.half) == (round, half);
        turns.iter().filter(is_meant).map(|turn| turn.case.as_str()).collect()
    };
    for round in 1..=2 {
        let mut mirrored = of(round, 2);
        mirrored.reverse();
        assert_eq!((of(round, 1), mirrored.len()), (mirrored.clone(), 3));
    }
    // The fifth run has no mirror.
    assert_eq!((of(3, 1).len(), of(3, 2).len(), turns.len()), (3, 0, 15));
    assert_ne!(turns, plan.turns_of(2), "every launch has an order of its own");
}

#[test]
fn what_cannot_take_turns_is_refused_and_may_have_trials() {
    let refused = |program: &str| {
        let text = in_slices(program);
        listed(&text, &Study::read(&text, &with_two_programs()).unwrap_err())
    };
    assert_snapshot!(refused("workload = 'queue'\ntimer = ['tolok', 'hyperfine']"), @r#"7:9 «['tolok', 'hyperfine']» `queue-hyperfine` cannot take turns: only tolok's own timer can (`design = "trials"` in this [[program]] gives each case trials of its own)"#);
    assert_snapshot!(refused("workload = 'queue'\n[environment]\nsubject.cpus = 0.5\nsubject.mode = 'quota'"), @r#"4:10 «'slices'» nothing can be sliced in this environment: a quota is given out in periods of 100 ms, which slices cut apart (`design = "trials"` gives each case a window of its own)"#);
    let plan = plan_in_slices("workload = 'queue'\ntimer = ['tolok', 'hyperfine']\ndesign = 'trials'");
    assert!(plan.trials.iter().all(|trial| trial.launch.is_none()));
    let written = serde_json::to_string(&plan).unwrap();
    assert!(!written.contains("in_turns") && !written.contains("launch"), "{written}");
}
