//! Findings on scenarios whose subjects use a database.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::invented::{BUN, GO, InventedRun, ask};
use tolok_analysis::{BottleneckKind, CaseFinding, DatabaseUse, Findings};
use tolok_model::{
    CounterCheck, Database, Environment, Executor, FailureKind, Limits, Link, LinkDirection, LinkWindow, Measurement,
    Outage, OutageRecord, PoolWindow,
};

const ROWS: &str = "rows?fields=40&limit=1000";

/// A run of six blocks in which Go returns 1,000 rows, 120 times per second.
fn run_with(environment: Environment, vus: u32, change: impl Fn(u32, &mut Measurement)) -> InventedRun {
    let mut run = InventedRun::new(6);
    run.environment(environment).asking("rows-c64", ROWS, "1,000 rows of 40 fields", vus).steady(GO, 120.0);
    run.change(|_, trial| ask(trial, 0.4, 1, 960_000)).change(change);
    run
}

fn ordinary() -> Environment {
    Environment { database: Some(Database::default()), ..Environment::default() }
}

fn only_case(run: &InventedRun) -> CaseFinding {
    run.findings().scenarios.remove(0).cases.remove(0)
}

fn changed(change: impl Fn(u32, &mut Measurement)) -> CaseFinding {
    only_case(&run_with(ordinary(), 64, change))
}

fn used(change: impl Fn(u32, &mut Measurement)) -> DatabaseUse {
    changed(change).figures.database.unwrap()
}

fn kinds(case: &CaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

fn message(case: &CaseFinding, kind: &str) -> String {
    case.flags.iter().find(|flag| flag.kind == kind).unwrap_or_else(|| panic!("no {kind}")).message.clone()
}

mod figures {
    use super::*;

    #[test]
    fn cost_is_counted_for_each_answer_and_for_each_row() {
        let case = changed(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.9 * trial.window_s);
        let database = case.figures.database.unwrap();
        let per_answer = |estimate: &Option<tolok_analysis::Estimate>| estimate.as_ref().unwrap().value;
        let goodput = case.figures.goodput_rps.unwrap().value;
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        close(per_answer(&database.rows_per_s), goodput * 1_000.0);
        close(per_answer(&database.cpu_s_per_good), 0.4 / goodput);
        close(per_answer(&database.cpu_s_per_row), 0.4 / goodput / 1_000.0);
        close(per_answer(&database.subject_cpu_s_per_row), 0.9 / goodput / 1_000.0);
        close(per_answer(&case.figures.body_bytes_per_s), goodput * 960_000.0);
        close(database.queries_per_good.unwrap(), 1.0);
        assert_eq!(database.busy, Some(0.4));
        assert_eq!((database.connections_max, database.running_max), (Some(16), Some(6)));
        assert_eq!(database.memory_bytes.unwrap().value, 171.0 * 1024.0 * 1024.0);
    }

    #[test]
    fn what_is_not_told_is_no_figure() {
        let database = used(|_, trial| (trial.database, trial.pool) = (None, None));
        assert_eq!((database.busy, database.queries_per_s, database.pool), (None, None, None));
        assert_eq!((database.cpu_s_per_row, database.refused_connections), (None, None));
        assert!(database.rows_per_s.is_some(), "rows follow from the responses");
    }

    #[test]
    fn one_trial_without_a_reading_leaves_no_median() {
        let database = used(|block, trial| {
            if block == 2 {
                trial.database.as_mut().unwrap().resources = None;
            }
        });
        assert_eq!((database.cpu_s_per_good, database.memory_bytes), (None, None));
        assert!(database.queries_per_s.is_some());
    }

    #[test]
    fn waits_are_summed_before_they_are_divided() {
        let database = used(|block, trial| {
            let waits = if block == 1 { 30 } else { 0 };
            trial.pool = Some(PoolWindow { size: 8, waits: Some(waits), wait_s: Some(waits as f64 * 0.002) });
        });
        let pool = database.pool.unwrap();
        assert_eq!((pool.size, (pool.wait_s_mean.unwrap() * 1e6).round()), (8, 2_000.0));
        let waits = pool.waits_per_good.unwrap();
        assert!((waits - 30.0 / (6.0 * 240.0)).abs() < 0.001, "{waits}");
    }

    #[test]
    fn waits_as_long_as_the_window_have_no_mean() {
        // Two waits began in the window of 2 s, and waits from the warm-up ended in it.
        let database = used(|_, trial| {
            trial.pool = Some(PoolWindow { size: 8, waits: Some(2), wait_s: Some(20.0) });
        });
        assert_eq!(database.pool.unwrap().wait_s_mean, None);
    }

    #[test]
    fn a_scenario_that_asks_no_database_has_nothing_of_it() {
        let mut run = InventedRun::new(6);
        run.environment(ordinary()).scenario("hello-c64", "hello", "Hello", 64).steady(GO, 30_000.0);
        run.asking("rows-c64", ROWS, "1,000 rows of 40 fields", 64).steady(GO, 120.0);
        let found = run.findings().scenarios;
        assert!(found[0].database.is_none() && found[0].cases[0].database.is_none());
        assert_eq!(found[0].environment.words, "1 dedicated CPU");
        assert_eq!(found[1].environment.words, "1 dedicated CPU · MariaDB · pool of 16");
        assert!(found[1].database.is_some());
    }

    #[test]
    fn a_scenario_says_which_database_it_asks_and_on_whose_cpus() {
        let link = Link { rtt_s: 0.02, ..Link::default() };
        let environment =
            Environment { database: Some(Database { link, pool: 5, ..Database::default() }), ..ordinary() };
        let found = run_with(environment, 64, |_, _| ()).findings();
        let database = found.scenarios[0].database.as_ref().unwrap();
        assert_eq!(database.words, "MariaDB · pool of 5 · rtt 20ms");
        assert_eq!((database.rtt_s, database.rows_per_answer), (0.02, Some(1_000)));
        assert_eq!(
            (database.on_cpus.as_slice(), &database.shares_cpus_with[..]),
            (&[1][..], &["generator".to_owned()][..])
        );
        assert_eq!(database.versions, ["10.11.19-MariaDB"]);
        let caution = found.cautions.iter().find(|caution| caution.contains("shared a CPU")).unwrap();
        assert!(caution.starts_with("The database shared a CPU with the generator"), "{caution}");
        assert!(!found.cautions.last().unwrap().contains("a database"), "it was tested");
    }
}

mod flags {
    use super::*;

    #[test]
    fn refused_connections_are_spoken_of() {
        let case = changed(|block, trial| {
            trial.database.as_mut().unwrap().refused_connections = Some(if block == 4 { 14 } else { 0 });
        });
        assert_eq!((kinds(&case), case.ranked), (vec!["database-refused"], true));
        let expected = "the database refused up to 14 connections in a trial, because it accepts 200 at most";
        assert_eq!(message(&case, "database-refused"), expected);
    }

    #[test]
    fn waits_are_spoken_of_from_one_in_ten_answers_on() {
        let waiting = |waits_per_answer: f64| {
            changed(move |_, trial| {
                let waits = (trial.goodput_rps * trial.window_s * waits_per_answer).round();
                trial.pool = Some(PoolWindow { size: 16, waits: Some(waits as u64), wait_s: Some(waits * 0.0021) });
            })
        };
        assert_eq!(kinds(&waiting(0.09)), Vec::<&str>::new());
        let case = waiting(2.0);
        assert_eq!((kinds(&case), case.ranked), (vec!["pool-waits"], true));
        let found = message(&case, "pool-waits").replace('\u{a0}', " ");
        assert_eq!(
            found,
            "its requests waited for one of 16 connections to the database: 2.00 waits per response, 2.10 ms each"
        );
    }

    fn counting(block_with: CounterCheck) -> CaseFinding {
        changed(move |block, trial| {
            let sound =
                CounterCheck { asked: 100, grew: 100, load: 240, load_least: 230, load_most: 300, wrong_answers: 0 };
            trial.counter = Some(if block == 3 { block_with.clone() } else { sound });
        })
    }

    #[test]
    fn a_wrong_counter_is_never_compared() {
        let right =
            CounterCheck { asked: 100, grew: 100, load: 240, load_least: 230, load_most: 300, wrong_answers: 0 };
        let case = counting(right.clone());
        assert_eq!((kinds(&case), case.ranked), (vec![], true));
        let check = |wrong: CounterCheck, by: &str| {
            let case = counting(wrong);
            assert_eq!((kinds(&case), case.ranked), (vec!["counter-wrong"], false));
            let expected = format!("its counter was wrong in 1 of 6 trials; the worst: {by}");
            assert_eq!(message(&case, "counter-wrong"), expected);
        };
        check(CounterCheck { grew: 98, ..right.clone() }, "of 100 increments at once 2 were lost");
        check(CounterCheck { wrong_answers: 1, ..right.clone() }, "1 number came more than once or out of range");
        let by = "under load it grew by 200, and 230 to 300 were asked for: 30 were lost";
        check(CounterCheck { load: 200, ..right }, by);
    }

    /// A disturbance does not excuse a wrong count.
    #[test]
    fn a_wrong_counter_counts_in_a_disturbed_trial_as_well() {
        let mut run = run_with(ordinary(), 64, |block, trial| {
            let grew = if block == 2 { 99 } else { 100 };
            trial.counter = Some(CounterCheck { asked: 100, grew, ..CounterCheck::default() });
        });
        run.disturb(2, "steal", 0.02, "the hypervisor took 2%");
        let case = only_case(&run);
        assert_eq!((kinds(&case), case.ranked), (vec!["counter-wrong", "disturbed"], false));
        assert_eq!(case.figures.database.unwrap().counter.unwrap().wrong, 1);
    }

    #[test]
    fn the_databases_failure_is_not_the_subjects() {
        let mut run = run_with(ordinary(), 64, |_, _| ());
        run.fail(2, FailureKind::DatabaseFailed, "it ended with signal 9");
        let case = only_case(&run);
        let expected = "1 of 6 trials failed: database failed (the database’s failure, and not the subject’s)";
        assert_eq!(message(&case, "failed-trials"), expected);
        assert_eq!(case.failures[0].message, "the database’s failure, and not the subject’s: it ended with signal 9");
    }

    #[test]
    fn whoever_hung_has_no_figure_and_not_zero() {
        let mut run = run_with(ordinary(), 64, |_, _| ());
        (1..=6).for_each(|block| _ = run.fail(block, FailureKind::Hung, "64 requests were sent"));
        let case = only_case(&run);
        let expected = "6 of 6 trials failed: hung (too slow or silent for a figure in a window of 2 s; that is not 0)";
        assert_eq!(message(&case, "failed-trials"), expected);
        assert_eq!(
            (case.figures.goodput_rps, case.figures.goodput_below_rps, case.figures.bottleneck),
            (None, None, None)
        );
    }

    #[test]
    fn without_a_single_answer_there_is_a_bound() {
        let case = changed(|_, trial| (trial.goodput_rps, trial.ledger.good) = (0.0, 0));
        assert_eq!((case.figures.goodput_rps, case.figures.goodput_below_rps, case.ranked), (None, Some(0.5), false));
        assert_eq!(changed(|_, _| ()).goodput_below_rps, None);
    }
}

mod outages {
    use super::*;

    fn with_outage(record: impl Fn(u32) -> OutageRecord) -> CaseFinding {
        let outage = Some(Outage { at_s: 0.5, for_s: 0.5 });
        let environment = Environment { database: Some(Database { outage, ..Database::default() }), ..ordinary() };
        let change =
            |block: u32, trial: &mut Measurement| trial.database.as_mut().unwrap().outage = Some(record(block));
        only_case(&run_with(environment, 64, change))
    }

    fn behaving(block: u32) -> OutageRecord {
        OutageRecord {
            began_s: 0.5,
            ended_s: Some(1.1),
            first_error_s: Some(0.52),
            error_status: Some(if block == 1 { 500 } else { 503 }),
            longest_silence_s: 0.01 * f64::from(block),
            recovered_s: Some(1.1 + 0.02 * f64::from(block)),
        }
    }

    #[test]
    fn times_run_from_what_happened_to_the_database() {
        let case = with_outage(behaving);
        assert_eq!((kinds(&case), case.ranked), (vec!["outage"], false));
        let found = case.figures.database.unwrap().outage.unwrap();
        let millis = |seconds: Option<f64>| seconds.map(|seconds| (seconds * 1e3).round());
        assert_eq!((found.trials, found.gone_at_s, found.back_at_s), (6, 0.5, Some(1.1)));
        assert_eq!((millis(found.first_error_after_s), found.error_statuses), (Some(20.0), vec![500, 503]));
        assert_eq!((millis(Some(found.longest_silence_s)), millis(found.recovered_after_s)), (Some(35.0), Some(70.0)));
        assert_eq!((found.longest_silence_s_max, found.failing), (0.06, None));
    }

    #[test]
    fn a_subject_that_never_answers_5xx_or_never_recovers_is_said_so() {
        let case = with_outage(|block| OutageRecord {
            first_error_s: None,
            error_status: None,
            recovered_s: (block > 2).then_some(1.5),
            ..behaving(block)
        });
        let found = case.figures.database.unwrap().outage.unwrap();
        assert_eq!((found.never_answered_error, found.never_recovered), (6, 2));
        let failing = "never answered with a status from 500 on and never recovered in 2 of 6 trials";
        assert_eq!((found.first_error_after_s, found.failing.unwrap().as_str()), (None, failing));
        let bottleneck = case.figures.bottleneck.unwrap();
        assert_eq!(bottleneck.sentence, "The database was gone for a part of the window.");
    }
}

mod bottlenecks {
    use super::*;

    fn limit(run: &InventedRun) -> (BottleneckKind, String) {
        let found = only_case(run).figures.bottleneck.unwrap();
        (found.kind, found.sentence.replace('\u{a0}', " "))
    }

    /// Sets the shares of their CPUs that subject, database and generator use.
    fn busy(shares: [f64; 3]) -> impl Fn(u32, &mut Measurement) {
        move |_, trial| {
            let [subject, database, generator] = shares.map(|share| share * trial.window_s);
            trial.subject.as_mut().expect("tolok started it").cpu_s = subject;
            trial.database.as_mut().unwrap().resources.as_mut().unwrap().cpu_s = database;
            trial.generator.cpu_s = generator;
        }
    }

    fn check(run: InventedRun, kind: BottleneckKind, sentence: &str) {
        assert_eq!(limit(&run), (kind, sentence.to_owned()));
    }

    /// The sentence of a run whose database shares the generator's CPU.
    fn beside(sentence: &str) -> String {
        format!("{sentence} Database and generator ran on the same CPU.")
    }

    /// A run whose database has its own CPU.
    fn apart(shares: [f64; 3]) -> InventedRun {
        let mut run = run_with(ordinary(), 64, busy(shares));
        run.run.cpus.get_mut("").unwrap().database = vec![2];
        run
    }

    #[test]
    fn a_part_that_uses_its_cpu_up_is_the_limit() {
        let sentence = "The generator used 95% of its CPU; the subject 60% of its own CPU.";
        check(apart([0.6, 0.4, 0.95]), BottleneckKind::Generator, sentence);
        let sentence = "The database used 96% of its CPU; the subject 60% of its own CPU.";
        check(apart([0.6, 0.96, 0.4]), BottleneckKind::DatabaseCpu, sentence);
        let sentence = "The subject used 98% of its CPU; the database used 40%.";
        check(apart([0.98, 0.4, 0.4]), BottleneckKind::SubjectCpu, sentence);
    }

    #[test]
    fn of_two_that_are_at_their_limit_it_is_the_busier_one() {
        assert_eq!(limit(&apart([0.92, 0.97, 0.4])).0, BottleneckKind::DatabaseCpu);
        assert_eq!(limit(&apart([0.97, 0.92, 0.4])).0, BottleneckKind::SubjectCpu);
        assert_eq!(limit(&apart([0.97, 0.4, 0.99])).0, BottleneckKind::SubjectCpu);
    }

    #[test]
    fn database_and_generator_on_one_cpu_are_named_as_such() {
        let sentence =
            "Database and generator ran on the same CPU 1 and used 95% together: the database 63%, the generator 32%.";
        check(run_with(ordinary(), 64, busy([0.5, 0.63, 0.32])), BottleneckKind::SharedCpu, sentence);
        let sentence = "The database used 91% of its CPU, although the generator ran on the same CPU and used 7% of it; the subject 50% of its own CPU.";
        let found = limit(&run_with(ordinary(), 64, busy([0.5, 0.91, 0.07])));
        assert_eq!((found.0, found.1.as_str()), (BottleneckKind::DatabaseCpu, sentence));
        let sentence = "The generator used 92% of its CPU, although the database ran on the same CPU and used 6% of it; the subject 50% of its own CPU.";
        let found = limit(&run_with(ordinary(), 64, busy([0.5, 0.06, 0.92])));
        assert_eq!((found.0, found.1.as_str()), (BottleneckKind::Generator, sentence));
        assert_eq!(limit(&apart([0.5, 0.63, 0.32])).0, BottleneckKind::NoneFound, "not if each has its own CPUs");
    }

    #[test]
    fn one_process_with_several_cpus_that_uses_about_one_has_one_thread() {
        let several = Environment { subject: Limits { cpus: 4.0, ..Limits::default() }, ..ordinary() };
        let with = |cpus: f64, processes: u32| {
            let mut run = run_with(several.clone(), 64, busy([cpus, 0.2, 0.2]));
            run.change(|_, trial| trial.subject.as_mut().expect("tolok started it").processes_max = processes);
            run.run.cpus.get_mut("").unwrap().subject = vec![2, 3, 4, 5];
            run
        };
        let sentence = "The subject, which is one process, used 1.02 of its 4 CPUs, about what one thread can.";
        check(with(1.02, 1), BottleneckKind::OneThread, &beside(sentence));
        assert_eq!(limit(&with(1.02, 8)).0, BottleneckKind::NoneFound, "eight processes have eight threads");
        assert_eq!(limit(&with(2.1, 1)).0, BottleneckKind::NoneFound);
    }

    #[test]
    fn requests_that_wait_for_a_connection_name_the_pool() {
        let mut run = apart([0.3, 0.2, 0.1]);
        run.change(|_, trial| {
            let waits = (trial.goodput_rps * trial.window_s).round();
            trial.pool = Some(PoolWindow { size: 16, waits: Some(waits as u64), wait_s: Some(waits * 0.0021) });
        });
        let sentence = "There were 1.00 waits per response for one of its 16 connections, 2.10 ms each; the subject used 30%, \
                        the database 20%, the generator 10% of their CPUs.";
        check(run, BottleneckKind::Pool, sentence);
    }

    #[test]
    fn a_pool_that_is_always_taken_is_the_limit_although_nobody_counts_waits() {
        let taken = |vus: u32| {
            let mut run = run_with(ordinary(), vus, busy([0.3, 0.2, 0.1]));
            run.change(|_, trial| {
                trial.pool = None;
                trial.database.as_mut().unwrap().running_mean = Some(15.2);
            });
            run
        };
        let sentence = "Its 16 connections were taken by statements for 95% of the time at least; the subject used 30%, the \
                        database 20%, the generator 10% of their CPUs.";
        check(taken(64), BottleneckKind::Pool, &beside(sentence));
        assert_eq!(limit(&taken(16)).0, BottleneckKind::NoneFound, "each user had a connection");
    }

    #[test]
    fn round_trips_that_take_all_connections_name_the_pool() {
        let link = Link { rtt_s: 0.02, ..Link::default() };
        let near = Database { link, pool: 5, ..Database::default() };
        let mut run = run_with(Environment { database: Some(near), ..ordinary() }, 64, busy([0.3, 0.2, 0.1]));
        run.change(|_, trial| {
            let queries = 240.0 * trial.window_s;
            trial.pool = None;
            let database = trial.database.as_mut().unwrap();
            (database.queries, database.running_mean) = (Some(queries as u64), None);
        });
        let found = limit(&run);
        assert_eq!(found.0, BottleneckKind::Pool);
        assert!(
            found.1.starts_with("Its 5 connections were taken by round trips for 96% of the time at least; "),
            "{}",
            found.1
        );
    }

    /// A link of 20 ms to the database, an unreported pool of 4, and statements that also take time to run.
    fn pool_of_four(queries_per_s: f64, running: f64, vus: u32) -> InventedRun {
        let link = Link { rtt_s: 0.02, ..Link::default() };
        let far = Database { link, pool: 4, ..Database::default() };
        let mut run = run_with(Environment { database: Some(far), ..ordinary() }, vus, busy([0.3, 0.2, 0.1]));
        run.change(|_, trial| {
            trial.pool = None;
            let database = trial.database.as_mut().unwrap();
            database.queries = Some((queries_per_s * trial.window_s) as u64);
            database.running_mean = Some(running);
        });
        run
    }

    #[test]
    fn what_runs_and_what_is_on_the_way_take_connections_together() {
        // 140 statements per second of 20 ms occupy 2.8 of 4 connections, and 1 runs a statement: 95%.
        let found = limit(&pool_of_four(140.0, 1.0, 64));
        let sentence =
            "Its 4 connections were taken by statements and their round trips for 95% of the time at least; ";
        assert!(found.0 == BottleneckKind::Pool && found.1.starts_with(sentence), "{found:?}");
    }

    /// Nothing shows that a subject holds a connection while it computes. But 64 requests are in it, and it has 4 connections.
    #[test]
    fn a_small_pool_in_a_crowded_subject_is_the_limit_although_part_of_its_work_is_unseen() {
        let found = limit(&pool_of_four(100.0, 0.4, 64));
        let sentence = "By Little’s law 64.0 requests were in the subject at a time, and its 4 connections were taken for 60% of \
                        the time at least; ";
        assert!(found.0 == BottleneckKind::Pool && found.1.starts_with(sentence), "{found:?}");
        assert_eq!(limit(&pool_of_four(60.0, 0.4, 64)).0, BottleneckKind::NoneFound, "mostly free");
        assert_eq!(limit(&pool_of_four(100.0, 0.4, 4)).0, BottleneckKind::Latency, "each user had one");
    }

    /// As in PHP-FPM: a process that computes or queries serves no other request.
    #[test]
    fn processes_with_a_connection_each_are_workers() {
        let with = |processes: u32, running: f64| {
            let mut run = run_with(ordinary(), 64, busy([0.6, 0.4, 0.1]));
            run.change(move |_, trial| {
                trial.subject.as_mut().expect("tolok started it").processes_max = processes;
                trial.pool = Some(PoolWindow { size: 4, waits: None, wait_s: None });
                trial.database.as_mut().unwrap().running_mean = Some(running);
            });
            limit(&run)
        };
        let found = with(6, 3.0);
        let sentence = "Its 4 processes with a connection each computed or asked for 90% of the time, and by Little’s law 64.0 \
                        requests were in the subject at a time; ";
        assert!(found.0 == BottleneckKind::Workers && found.1.starts_with(sentence), "{found:?}");
        assert_eq!(with(1, 3.0).0, BottleneckKind::Pool, "one process shares its connections");
        assert_eq!(with(6, 3.8).0, BottleneckKind::Pool, "the connections alone are always taken");
        assert_eq!(with(6, 1.2).0, BottleneckKind::NoneFound, "mostly idle");
    }

    #[test]
    fn a_link_that_carries_all_it_can_is_the_limit() {
        let rate = |bps: f64| Link { rate_bps: Some(bps), ..Link::default() };
        // 120 responses per second of 960,000 bytes are 922 Mbit/s.
        let run = run_with(Environment { link: rate(1e9), ..ordinary() }, 64, busy([0.3, 0.2, 0.1]));
        let found = limit(&run);
        assert_eq!(found.0, BottleneckKind::Link);
        assert!(found.1.starts_with("The link between client and subject was offered 9"), "{}", found.1);
        let database = Database { link: rate(850e6), ..Database::default() };
        let mut run = run_with(Environment { database: Some(database), ..ordinary() }, 64, busy([0.3, 0.2, 0.1]));
        assert!(limit(&run).1.starts_with("The link between subject and database was offered 9"));
        run.change(|_, trial| {
            let to_client = LinkDirection { bytes: 1_000, ..LinkDirection::default() };
            let link = LinkWindow { to_client, ..LinkWindow::default() };
            trial.database.as_mut().unwrap().link = Some(link);
        });
        assert_eq!(limit(&run).0, BottleneckKind::NoneFound, "the emulator's count decides");
    }

    #[test]
    fn memory_at_its_limit_is_named_where_nothing_is_busy() {
        let environment =
            Environment { subject: Limits { memory_bytes: Some(64 << 20), ..Limits::default() }, ..ordinary() };
        let mut run = run_with(environment, 64, busy([0.3, 0.2, 0.1]));
        run.change(|_, trial| {
            trial.subject.as_mut().expect("tolok started it").memory.as_mut().unwrap().peak_bytes = Some(64 << 20)
        });
        let sentence = "The subject’s memory came to 100% of its limit, page cache included; the subject used 30%, the \
                        database 20%, the generator 10% of their CPUs.";
        check(run, BottleneckKind::Memory, &beside(sentence));
    }

    #[test]
    fn users_of_a_closed_loop_who_wait_for_round_trips_are_limited_by_latency() {
        let link = Link { rtt_s: 0.1, ..Link::default() };
        let database = Database { link, pool: 200, ..Database::default() };
        let run = run_with(Environment { database: Some(database), ..ordinary() }, 16, |block, trial| {
            busy([0.3, 0.2, 0.1])(block, trial);
            trial.pool = None;
        });
        let found = limit(&run);
        assert_eq!(found.0, BottleneckKind::Latency);
        assert!(found.1.starts_with("There were 100 ms of round trips in a median response of 12"), "{}", found.1);
        let sentence = "There was one user, who waits while one part after the other works; the subject used 30%, the \
                        database 20%, the generator 10% of their CPUs.";
        check(run_with(ordinary(), 1, busy([0.3, 0.2, 0.1])), BottleneckKind::Latency, &beside(sentence));
    }

    #[test]
    fn an_open_loop_that_keeps_up_is_limited_by_what_was_offered() {
        let arrivals = tolok_model::Arrivals::Uniform;
        let mut run = InventedRun::new(6);
        let executor = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals };
        run.scenario_with("hello-r2000", "hello", "Hello", executor, &[]).case(GO, &[2_000.0; 6]);
        run.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.95 * trial.window_s);
        check(run, BottleneckKind::OfferedRate, "It answered 100% of the 2.00k requests offered per second.");
    }

    #[test]
    fn where_nothing_is_found_the_figures_are_given_and_what_is_unknown() {
        let sentence = "The subject used 70%, the database 60%, the generator 20% of their CPUs.";
        check(apart([0.7, 0.6, 0.2]), BottleneckKind::NoneFound, sentence);
        let mut run = apart([0.7, 0.6, 0.2]);
        run.change(|_, trial| trial.database.as_mut().unwrap().resources = None);
        let sentence = "The subject used 70%, the generator 20% of their CPUs; what the database used is not known.";
        check(run, BottleneckKind::NoneFound, sentence);
    }
}

#[test]
fn a_scaled_run_says_so_and_bars_nothing() {
    let mut run = run_with(ordinary(), 64, |_, _| ());
    assert_eq!(run.findings().run.scaled(), None);
    run.plan.scale = 0.1;
    let found: Findings = run.findings();
    let sentence = "Times shortened to 10%, and to no less than 100 ms: warm-ups and measurements were not as long as the study says.";
    assert_eq!(found.run.scaled().as_deref(), Some(sentence));
    assert!(found.scenarios[0].cases[0].ranked);
    run.plan.scale = 2.5;
    assert!(run.findings().run.scaled().unwrap().starts_with("Times lengthened to 250%:"));
}

#[test]
fn workloads_with_values_have_titles_of_their_own() {
    let mut run = run_with(ordinary(), 64, |_, _| ());
    run.asking("rows-2", "rows?fields=50&limit=20", "20 rows of 50 fields", 64).steady(BUN, 900.0);
    let titles: Vec<String> = run.findings().scenarios.into_iter().map(|scenario| scenario.title).collect();
    assert_eq!(titles, ["1,000 rows of 40 fields", "20 rows of 50 fields"]);
}
