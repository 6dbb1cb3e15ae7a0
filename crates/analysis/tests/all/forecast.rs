//! Forecasts from a run's service demands. A queueing network computes the invented runs, so the right answers are known.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::invented::{GO, InventedRun};
use crate::predictable::{RATED, small, with_database, with_users};
use tolok_analysis::Records;
use tolok_analysis::forecast::{Forecast, ForecastQuestion, SubjectForecast, forecast};
use tolok_model::{CpuMap, Environment, Limits, ThinkTime};

fn ask(run: &InventedRun, question: &ForecastQuestion) -> Result<Forecast, String> {
    let InventedRun { run, plan, names, trials, diagnoses } = run;
    forecast(&Records { run, plan, names, trials, diagnoses, records_sha256: None }, question)
}

fn only(run: &InventedRun, question: &ForecastQuestion) -> SubjectForecast {
    ask(run, question).unwrap().subjects.remove(0)
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn each_scenario_is_predicted_from_the_others() {
    let found = only(&with_users(&[1, 4, 16, 64]), &ForecastQuestion::of_users(256));
    let validation = found.validation.unwrap();
    let scenarios: Vec<&str> = validation.held_out.iter().map(|held_out| held_out.scenario.as_str()).collect();
    assert_eq!(scenarios, ["hello-c1", "hello-c4", "hello-c16", "hello-c64"]);
    // Without the scenario with one user, who never waits, the time between the parts is unknown: the largest error is here.
    let [alone, others @ ..] = validation.held_out.as_slice() else { panic!("{validation:?}") };
    assert_eq!(alone.throughput_error, validation.throughput_error_worst);
    assert!(
        others.iter().all(|found| found.throughput_error < 0.03 && found.response_error.unwrap() < 0.03),
        "{others:?}"
    );
    assert!(validation.throughput_error_median <= validation.throughput_error_worst);
}

#[test]
fn a_million_users_get_what_the_subject_can_do_and_wait_for_the_rest() {
    let question = ForecastQuestion { think_s: Some(10.0), ..ForecastQuestion::of_users(1_000_000) };
    let found = only(&with_users(&[1, 4, 16, 64]), &question);
    let prediction = found.prediction.unwrap();
    close(prediction.throughput_rps.value, 1.0 / crate::predictable::SUBJECT_S, 0.03);
    close(prediction.response_mean_s.value, 1e6 / prediction.throughput_rps.value - 10.0, 1e-6);
    assert_eq!(prediction.bottleneck, "subject-cpu");
    close(prediction.users_at_knee, 10.0 * prediction.most_rps, 0.001);
    assert!(found.remarks[0].starts_with("1,000,000 users are far beyond the 64 users that were measured"));
    assert!(found.remarks[1].starts_with("No user waits"), "{:?}", found.remarks);
}

#[test]
fn the_interval_holds_at_least_the_errors_nearby() {
    let found = only(&with_users(&[1, 4, 16, 64]), &ForecastQuestion::of_users(32));
    let (prediction, validation) = (found.prediction.unwrap(), found.validation.unwrap());
    let throughput = prediction.throughput_rps;
    for near in &validation.held_out[2..] {
        assert!(throughput.low <= throughput.value / (1.0 + near.throughput_error));
        assert!(throughput.high >= throughput.value * (1.0 + near.throughput_error));
    }
    // The error for a single user says nothing about 32 users.
    assert!(throughput.high < throughput.value * (1.0 + validation.throughput_error_worst));
}

#[test]
fn intervals_of_users_who_pause_agree_with_each_other_and_with_the_pause() {
    let run = with_users(&[1, 4, 16, 64]);
    let ask = |users| {
        let question = ForecastQuestion { think_s: Some(10.0), ..ForecastQuestion::of_users(users) };
        only(&run, &question).prediction.unwrap()
    };
    // Beyond the knee, R = N / X − Z at both ends: a small error in throughput is a large one in waiting.
    let beyond = ask(500_000);
    let response_s = |rps: f64| 500_000.0 / rps - 10.0;
    let (throughput, response) = (beyond.throughput_rps, beyond.response_mean_s);
    assert!(response.low <= response_s(throughput.high) + 1e-6, "{beyond:?}");
    assert!(response.high >= response_s(throughput.low) - 1e-6, "{beyond:?}");
    // Below the knee, each user sends at most one request per pause.
    let below = ask(1_000).throughput_rps;
    assert!(below.high <= 100.0 && below.low > 99.0, "{below:?}");
}

#[test]
fn a_run_that_was_sure_enough_early_is_drawn_from_the_blocks_that_it_has() {
    let mut run = with_users(&[1, 4, 16, 64]);
    let whole = only(&run, &ForecastQuestion::of_users(100));
    run.plan.blocks = 1_000;
    assert_eq!(only(&run, &ForecastQuestion::of_users(100)), whole);
}

#[test]
fn where_every_scenario_filled_a_cpu_the_time_between_is_not_known() {
    let is_said = |users: &[u32]| {
        let remarks = only(&with_users(users), &ForecastQuestion::of_users(32)).remarks;
        remarks.iter().any(|remark| remark.contains("the time between the parts is unknown"))
    };
    assert!(is_said(&[16, 64]) && !is_said(&[1, 16, 64]));
}

#[test]
fn instances_and_an_objective() {
    let run = with_users(&[1, 4, 16, 64]);
    let of_users =
        ForecastQuestion { think_s: Some(1.0), mean_below_s: Some(0.002), ..ForecastQuestion::of_users(200_000) };
    let needed = only(&run, &of_users).prediction.unwrap().instances_needed.unwrap();
    let instances = needed.instances.unwrap();
    let mean_s = |instances| {
        let question = ForecastQuestion { instances, ..of_users.clone() };
        only(&run, &question).prediction.unwrap().response_mean_s.value
    };
    assert!(mean_s(instances) < 0.002 && mean_s(instances - 1) >= 0.002);
    assert!((4..12).contains(&instances), "{instances}");

    let too_short = ForecastQuestion { mean_below_s: Some(1e-6), ..of_users };
    assert_eq!(only(&run, &too_short).prediction.unwrap().instances_needed.unwrap().instances, None);
}

#[test]
fn a_pool_and_a_way_to_the_database_are_told_from_other_pools_and_ways() {
    let run = with_database(&[5, 16, 64], &[0.0, 0.02, 0.1]);
    let found =
        only(&run, &ForecastQuestion { pool: Some(32), database_rtt_s: Some(0.05), ..ForecastQuestion::of_users(64) });
    let validation = found.validation.unwrap();
    assert_eq!(validation.held_out.len(), 18);
    assert!(validation.throughput_error_median < 0.02 && validation.throughput_error_worst < 0.10, "{validation:?}");
    let prediction = found.prediction.unwrap();
    close(prediction.throughput_rps.value, crate::predictable::with_database_rps(64, 32, 0.05), 0.03);
    assert_eq!(prediction.bottleneck, "pool");
    let resources: Vec<&str> = prediction.resources.iter().map(|resource| resource.resource.as_str()).collect();
    assert_eq!(resources, ["subject-cpu", "database-cpu", "pool", "database-link"]);
    assert!(found.remarks.iter().any(|remark| remark.contains("CPUs that the generator used as well")));
}

#[test]
fn many_instances_find_the_database_full() {
    let run = with_database(&[5, 16, 64], &[0.0, 0.02, 0.1]);
    let question = ForecastQuestion { instances: 50, database_rtt_s: Some(0.0), ..ForecastQuestion::of_users(100_000) };
    let prediction = only(&run, &question).prediction.unwrap();
    assert_eq!(prediction.bottleneck, "database-cpu");
    close(prediction.throughput_rps.value, 1.0 / crate::predictable::DATABASE_S, 0.03);

    // Connections without users are not used, however busy the database is.
    let question = ForecastQuestion { pool: Some(1_000_000), ..question };
    let resources = only(&run, &question).prediction.unwrap().resources;
    let pool = resources.iter().find(|resource| resource.resource == "pool").unwrap();
    assert!(pool.utilisation.unwrap() < 0.01, "{pool:?}");
}

#[test]
fn one_scenario_is_too_few() {
    let found = only(&with_users(&[64]), &ForecastQuestion::of_users(100));
    assert_eq!((found.validation, found.prediction), (None, None));
    let refused = found.refused.unwrap();
    assert!(
        refused.starts_with("the run has 1 scenario to calibrate from, and a check of predictions needs 2"),
        "{refused}"
    );
    assert!(refused.contains("vus = [1, 16, 64]"));
}

#[test]
fn a_subject_that_no_network_describes_is_refused() {
    // It becomes slower with more users, while its CPU is idle: a lock, which demands do not describe.
    let mut run = InventedRun::new(5);
    for (users, rps) in [(1, 9_000.0), (4, 6_000.0), (16, 1_500.0), (64, 300.0)] {
        run.scenario(&format!("hello-c{users}"), "hello", "Hello", users).steady(GO, rps);
        run.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.3 * trial.window_s);
    }
    let found = ask(&run, &ForecastQuestion::of_users(100)).unwrap();
    assert!(found.is_all_refused());
    let subject = &found.subjects[0];
    assert!(subject.refused.as_ref().unwrap().contains("more than the 20% allowed"), "{subject:?}");
    assert!(subject.validation.is_some(), "the validation is still reported");
}

#[test]
fn what_cannot_be_calibrated_from_is_left_out_and_said() {
    let mut run = with_users(&[1, 16, 64]);
    run.scenario("hello-c256", "hello", "Hello", 256).steady(GO, 40_000.0);
    run.change(|_, trial| {
        (trial.generator.cpu_s, trial.subject.as_mut().expect("tolok started it").cpu_s) =
            (0.99 * trial.window_s, 0.7 * trial.window_s)
    });
    let found = only(&run, &ForecastQuestion::of_users(100));
    assert_eq!(found.calibrated_from, ["hello-c1", "hello-c16", "hello-c64"]);
    assert_eq!(found.remarks, ["1 scenario told nothing for this: the generator was the limit."]);
}

#[test]
fn a_scenario_with_slow_clients_tells_nothing_for_others() {
    let mut run = with_users(&[1, 16, 64]);
    run.scenario("hello-c256", "hello", "Hello", 256).steady(GO, 40_000.0);
    let slow = run.plan.scenarios.last_mut().unwrap();
    (slow.load.pace.read_bytes_per_s, slow.load.pace.slow_share) = (Some(64_000), Some(0.2));
    let found = only(&run, &ForecastQuestion::of_users(100));
    assert_eq!(found.calibrated_from, ["hello-c1", "hello-c16", "hello-c64"]);
    assert_eq!(found.remarks, ["1 scenario told nothing for this: its clients read or wrote slowly."]);
}

#[test]
fn scenarios_of_few_trials_are_named() {
    let mut run = with_users(&[1, 16, 64]);
    for block in 1..=3 {
        run.disturb(block, "foreign-cpu", 0.2, "other programs used 20 % of the machine's CPUs");
    }
    let remarks = only(&run, &ForecastQuestion::of_users(100)).remarks;
    assert!(remarks[0].starts_with("1 of 3 scenarios have fewer than 5 clean trials"), "{remarks:?}");
}

#[test]
fn what_kept_every_scenario_from_being_used_is_said_where_nothing_is_predicted() {
    let mut run = with_users(&[16]);
    (1..=6).for_each(|block| _ = run.disturb(block, "foreign-cpu", 0.2, "other programs used 20 % of the CPUs"));
    run.scenario("hello-c64", "hello", "Hello", 64).steady(GO, 40_000.0);
    (1..=6).for_each(|block| _ = run.disturb(block, "foreign-cpu", 0.2, "other programs used 20 % of the CPUs"));
    let found = only(&run, &ForecastQuestion::of_users(100));
    assert!(found.refused.unwrap().starts_with("the run has 0 of 2 scenarios to calibrate from"));
    assert_eq!(found.remarks, ["2 scenarios told nothing for this: no trial was scored."]);
}

#[test]
fn a_subject_that_works_on_one_thread_has_one_server() {
    let several = |busiest: f64| {
        let mut run = InventedRun::new(5);
        run.environment(Environment { subject: Limits { cpus: 4.0, ..Limits::default() }, ..Environment::default() });
        let cpus = CpuMap { subject: vec![0, 1, 2, 3], generator: vec![4], ..CpuMap::default() };
        run.run.cpus.insert(String::new(), cpus);
        for users in [1, 16] {
            run.scenario(&format!("hello-c{users}"), "hello", "Hello", users).steady(GO, 20_000.0);
            run.change(|_, trial| {
                trial.subject.as_mut().expect("tolok started it").cpu_s = 1.02 * trial.window_s;
                trial.subject.as_mut().expect("tolok started it").busiest_thread_cpu_s =
                    Some(busiest * trial.subject.as_mut().expect("tolok started it").cpu_s);
            });
        }
        only(&run, &ForecastQuestion::of_users(100)).conditions.subject_cpus
    };
    assert_eq!((several(0.93), several(0.3)), (1.0, 4.0));
}

#[test]
fn users_who_pause_are_calibrated_from_as_well() {
    let mut run = with_users(&[1, 16, 64]);
    run.scenario("hello-c64-think1s", "hello", "Hello", 64).steady(GO, 63.9);
    run.plan.scenarios.last_mut().unwrap().load.think_time = Some(ThinkTime { least_s: 0.5, most_s: 1.5 });
    run.change(|_, trial| {
        trial.subject.as_mut().expect("tolok started it").cpu_s =
            crate::predictable::SUBJECT_S * trial.goodput_rps * trial.window_s;
        trial.latency.mean_s = None;
    });
    let found = only(&run, &ForecastQuestion::of_users(100));
    let held_out = &found.validation.unwrap().held_out[3];
    assert!(held_out.throughput_error < 0.03, "{held_out:?}");
    assert_eq!((held_out.measured_response_s, held_out.response_error), (None, None));
}

#[test]
fn who_is_not_there_is_answered_with_who_is() {
    let run = with_users(&[1, 4]);
    let ask_for = |subject: &str, workload: &str| {
        let (subject, workload) = (Some(subject.to_owned()), Some(workload.to_owned()));
        ask(&run, &ForecastQuestion { subject, workload, ..ForecastQuestion::of_users(1) })
    };
    assert!(ask_for("go/nethttp", "hello").is_ok() && ask_for("go/nethttp:encoder", "hello").is_ok());
    assert_eq!(
        ask_for("go/net", "hello").unwrap_err(),
        "the run has no subject `go/net` and workload `hello`; it has the subjects go/nethttp:encoder, and the workloads hello"
    );
}

#[test]
fn a_pool_means_nothing_to_a_workload_without_a_database() {
    let found = only(&with_users(&[1, 4]), &ForecastQuestion { pool: Some(5), ..ForecastQuestion::of_users(1) });
    assert!(found.refused.unwrap().starts_with("its workload uses no database"));
}

#[test]
fn the_same_records_give_the_same_forecast_whatever_their_order() {
    let mut run = with_users(&[1, 4, 16]);
    let question = ForecastQuestion::of_users(RATED);
    let before = ask(&run, &question).unwrap();
    run.trials.reverse();
    assert_eq!(ask(&run, &question).unwrap(), before);
}

/// All files of a run folder that a forecast reads, with their text.
fn files(run: &InventedRun) -> Vec<(String, String)> {
    fn text(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap() + "\n"
    }
    let mut files = vec![
        ("run.json".to_owned(), text(&run.run)),
        ("plan.json".to_owned(), text(&run.plan)),
        ("names.json".to_owned(), text(&serde_json::json!({ "format": run.run.format, "content": run.names }))),
    ];
    for trial in &run.trials {
        let folder = format!("{:04}-{}-b{}", trial.number, trial.case, trial.block);
        files.push((format!("trials/{folder}/trial.json"), text(trial)));
    }
    files
}

#[test]
fn the_run_of_the_transcripts_is_the_small_one() {
    let run = small();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/whole/transcripts/forecast.in/runs");
    let folder = std::path::Path::new(folder).join(&run.run.id);
    for (name, text) in files(&run) {
        let path = folder.join(name);
        if std::env::var_os("TOLOK_WRITE_RUNS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "regenerate it: TOLOK_WRITE_RUNS=1 cargo test -p tolok-analysis forecast");
    }
}
