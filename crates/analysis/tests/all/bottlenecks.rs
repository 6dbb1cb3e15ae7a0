//! What limited cases without a database, and what their responses take of each resource.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::invented::{APACHE, GO, InventedRun, ask, carry};
use tolok_analysis::{BottleneckKind, CaseFinding, ServiceDemand};
use tolok_model::{
    Arrivals, Database, Environment, Executor, Limits, Link, LoadChecks, Measurement, Outage, SecondSeries,
};

const CLOSED: Executor = Executor::ConstantVus { vus: 64 };
const OPEN: Executor = Executor::ConstantArrivalRate { rate_rps: 4_000.0, arrivals: Arrivals::Uniform };

/// No part is busy: the subject uses 30% and the generator 20% of its CPU.
fn idle(trial: &mut Measurement) {
    trial.subject.as_mut().expect("tolok started it").cpu_s = 0.3 * trial.window_s;
    trial.generator.cpu_s = 0.2 * trial.window_s;
}

fn run_of(executor: Executor, goodput_rps: &[f64]) -> InventedRun {
    let mut run = InventedRun::new(6);
    run.scenario_with("hello-x", "hello", "Hello", executor, &[]).case(GO, goodput_rps).change(|_, trial| idle(trial));
    run
}

fn case_of(run: &InventedRun) -> CaseFinding {
    run.findings().scenarios.remove(0).cases.remove(0)
}

fn limit(run: &InventedRun) -> (BottleneckKind, String) {
    let found = case_of(run).figures.bottleneck.unwrap();
    (found.kind, found.sentence.replace('\u{a0}', " "))
}

fn check(run: &InventedRun, kind: BottleneckKind, sentence: &str) {
    assert_eq!(limit(run), (kind, sentence.to_owned()));
}

const IDLE: &str = "the subject used 30%, the generator 20% of their CPUs.";

#[test]
fn one_busy_thread_is_named_with_what_it_used() {
    let with = |thread: Option<f64>, cpus: f64| {
        let mut run = InventedRun::new(6);
        run.environment(Environment { subject: Limits { cpus: 4.0, ..Limits::default() }, ..Environment::default() });
        run.run.cpus.get_mut("").unwrap().subject = vec![2, 3, 4, 5];
        run.scenario("hello-c64", "hello", "Hello", 64).case(APACHE, &[2_000.0; 6]).change(move |_, trial| {
            trial.subject.as_mut().expect("tolok started it").cpu_s = cpus * trial.window_s;
            trial.subject.as_mut().expect("tolok started it").busiest_thread_cpu_s =
                thread.map(|share| share * trial.window_s);
        });
        run
    };
    let sentence = "The subject’s busiest thread used 97% of a CPU, and the subject 1.31 of its 4 CPUs.";
    check(&with(Some(0.97), 1.31), BottleneckKind::OneThread, sentence);
    assert_eq!(limit(&with(Some(0.94), 1.0)).0, BottleneckKind::NoneFound, "the busiest thread had time left");
    assert_eq!(limit(&with(Some(0.97), 3.8)).0, BottleneckKind::SubjectCpu, "all of them are busy");
    assert_eq!(limit(&with(None, 1.0)).0, BottleneckKind::NoneFound, "twelve processes, and no reading of threads");
}

#[test]
fn a_thread_of_a_subject_with_one_cpu_is_the_subject() {
    let mut run = run_of(CLOSED, &[2_000.0; 6]);
    run.change(|_, trial| {
        trial.subject.as_mut().expect("tolok started it").cpu_s = 0.97 * trial.window_s;
        trial.subject.as_mut().expect("tolok started it").busiest_thread_cpu_s = Some(0.97 * trial.window_s);
    });
    assert_eq!(limit(&run).0, BottleneckKind::SubjectCpu);
}

#[test]
fn connections_that_nobody_serves_name_the_workers() {
    let with = |unanswered: u64| {
        let mut run = InventedRun::new(6);
        run.scenario("hello-c64", "hello", "Hello", 64).case(APACHE, &[2_000.0; 6]);
        run.change(move |_, trial| {
            idle(trial);
            trial.ledger.connections_unanswered = Some(unanswered);
        });
        run
    };
    let sentence = format!("12 of 64 connections were served by 12 processes, and 52 had no answer; {IDLE}");
    check(&with(52), BottleneckKind::Workers, &sentence);
    assert_eq!(limit(&with(51)).0, BottleneckKind::NoneFound, "13 were served by 12 processes: not one each");
    assert_eq!(limit(&with(5)).0, BottleneckKind::NoneFound);
}

#[test]
fn what_cannot_be_sent_in_an_open_loop_is_a_backlog() {
    let with = |unsent: u64| {
        let mut run = run_of(OPEN, &[3_000.0; 6]);
        run.change(move |_, trial| {
            trial.ledger.unsent = unsent;
            trial.ledger.scheduled = trial.ledger.sent.map(|sent| sent + unsent);
        });
        run
    };
    let sentence =
        format!("25% of the scheduled requests still waited for one of 64 connections when the window ended; {IDLE}");
    check(&with(2_000), BottleneckKind::Backlog, &sentence);
    assert_eq!(limit(&with(20)).0, BottleneckKind::NoneFound);
    let mut busy = with(2_000);
    busy.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.95 * trial.window_s);
    assert_eq!(limit(&busy).0, BottleneckKind::SubjectCpu, "the waiting connections wait for the CPU");
}

#[test]
fn clients_that_read_slowly_are_named_before_what_waits_for_them() {
    let with = |executor: Executor, answer_s: f64| {
        let mut run = run_of(executor, &[100.0; 6]);
        run.plan.scenarios[0].load.pace.read_bytes_per_s = Some(65_536);
        run.change(move |_, trial| {
            trial.body_bytes = (65_536.0 * trial.goodput_rps * trial.window_s) as u64;
            trial.latency.mean_s = Some(answer_s);
            trial.checks = Some(LoadChecks { service_mean_s: Some(answer_s), ..LoadChecks::default() });
            trial.ledger.unsent = 500;
        });
        run
    };
    let sentence = format!("At 64 KiB/s a client needs 1.00 s to read a response, which took 1.25 s in all; {IDLE}");
    check(&with(CLOSED, 1.25), BottleneckKind::ClientPace, &sentence);
    assert_eq!(
        limit(&with(OPEN, 1.25)).0,
        BottleneckKind::ClientPace,
        "they hold the connections that others wait for"
    );
    assert_eq!(
        limit(&with(CLOSED, 2.5)).0,
        BottleneckKind::NoneFound,
        "most of the time was not spent on slow clients"
    );
    let mut busy = with(CLOSED, 1.25);
    busy.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.95 * trial.window_s);
    assert_eq!(limit(&busy).0, BottleneckKind::SubjectCpu);
}

#[test]
fn trials_that_differ_widely_without_a_reason_are_noisy() {
    let rates = [1_000.0, 1_100.0, 1_500.0, 1_600.0, 1_900.0, 2_000.0];
    let sentence = format!("The interval of its goodput runs from 1.09k to 1.98k a second; {IDLE}");
    check(&run_of(CLOSED, &rates), BottleneckKind::Noisy, &sentence);
    assert_eq!(
        limit(&run_of(CLOSED, &[1_000.0, 1_010.0, 1_020.0, 1_030.0, 1_040.0, 1_050.0])).0,
        BottleneckKind::NoneFound
    );
    let mut busy = run_of(CLOSED, &rates);
    busy.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.95 * trial.window_s);
    assert_eq!(limit(&busy).0, BottleneckKind::SubjectCpu);
}

#[test]
fn a_window_without_one_level_has_no_one_limit() {
    let mut run = run_of(CLOSED, &[2_000.0; 6]);
    run.change(|block, trial| {
        let level = |second: u64| if block > 2 && second < 8 { 3_000 } else { 2_000 };
        let good = (0..20).map(|second| level(second) + second % 3).collect();
        trial.series = Some(SecondSeries { good, ..SecondSeries::default() });
    });
    let sentence = format!("Of 6 trials 4 became slower and stayed so and 2 had one level throughout; {IDLE}");
    check(&run, BottleneckKind::NotSteady, &sentence);
}

mod demands {
    use super::*;

    fn of<'a>(case: &'a CaseFinding, resource: &str) -> &'a ServiceDemand {
        case.demands.iter().find(|demand| demand.resource == resource).unwrap_or_else(|| panic!("no {resource}"))
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
    }

    /// 2,000 responses per second take 30% of the subject's CPU and 20% of the generator's.
    #[test]
    fn the_scarcest_comes_first_and_says_how_many_answers_it_allows() {
        let case = case_of(&run_of(CLOSED, &[2_000.0; 6]));
        let words: Vec<&str> = case.demands.iter().map(|demand| demand.resource.as_str()).collect();
        assert_eq!(words, ["subject-cpu", "generator-cpu"]);
        let subject = of(&case, "subject-cpu");
        close(subject.demand_s.value, 0.3 / 2_000.0);
        close(subject.most_rps, 2_000.0 / 0.3);
        assert_eq!((subject.servers, (subject.utilisation * 1e3).round()), (1.0, 300.0));
        assert_eq!(subject.demand_s.trials.len(), 6);
        close(of(&case, "generator-cpu").most_rps, 10_000.0);
    }

    /// A case that exceeds the limit of its scarcest resource would mean an accounting error.
    #[test]
    fn goodput_is_within_the_bound() {
        let mut run = InventedRun::new(6);
        run.scenario("hello-c64", "hello", "Hello", 64).steady(GO, 9_000.0).steady(APACHE, 4_000.0);
        for case in &run.findings().scenarios[0].cases {
            let goodput = case.goodput_rps.as_ref().unwrap().value;
            assert!(goodput <= case.demands[0].most_rps, "{goodput} {:?}", case.demands[0]);
        }
    }

    #[test]
    fn links_are_counted_by_bytes() {
        let mut run = InventedRun::new(6);
        run.environment(Environment {
            link: Link { rate_bps: Some(8e6), ..Link::default() },
            ..Environment::default()
        });
        run.scenario("hello-c64", "hello", "Hello", 64).case(GO, &[2_000.0; 6]);
        run.change(|_, trial| {
            idle(trial);
            trial.body_bytes = 4_000 * 100;
        });
        let case = case_of(&run);
        close(of(&case, "link").demand_s.value, 100.0 / 1e6);
        close(of(&case, "link").most_rps, 10_000.0);
        run.change(|_, trial| carry(trial, 400.0, 0.000_1));
        let case = case_of(&run);
        close(of(&case, "link").most_rps, 2_500.0);
        assert_eq!(case.demands[0].resource, "link", "the emulator carried 80% of the rate");
    }

    #[test]
    fn a_pool_is_taken_by_what_runs_and_what_is_on_the_way() {
        let with = |outage: Option<Outage>| {
            let link = Link { rtt_s: 0.02, ..Link::default() };
            let database = Database { link, pool: 16, outage, ..Database::default() };
            let mut run = InventedRun::new(6);
            run.environment(Environment { database: Some(database), ..Environment::default() });
            run.asking("rows-c64", "rows?fields=40&limit=1000", "Rows", 64).case(GO, &[100.0; 6]);
            run.change(|_, trial| ask(trial, 0.4, 1, 960_000));
            case_of(&run)
        };
        let case = with(None);
        // 2.4 statements run at a time, and 100 per second spend 20 ms each under way.
        close(of(&case, "pool").demand_s.value, (2.4 + 2.0) / 100.0);
        close(of(&case, "pool").most_rps, 16.0 / 0.044);
        close(of(&case, "database-cpu").most_rps, 250.0);
        assert!(
            with(Some(Outage { at_s: 0.5, for_s: 0.5 })).demands.is_empty(),
            "with an outage, there is no single demand"
        );
    }

    #[test]
    fn what_one_trial_does_not_tell_is_no_demand() {
        let mut run = run_of(CLOSED, &[2_000.0; 6]);
        run.change(|block, trial| trial.goodput_rps = if block == 3 { 0.0 } else { trial.goodput_rps });
        assert!(case_of(&run).demands.is_empty(), "there is nothing to divide by");
    }

    #[test]
    fn a_generator_that_waits_by_the_clock_has_none() {
        let mut run = run_of(OPEN, &[3_000.0; 6]);
        run.change(|_, trial| trial.checks = Some(LoadChecks::default()));
        let case = case_of(&run);
        assert!(case.demands.iter().all(|demand| demand.resource != "generator-cpu"));
    }
}
