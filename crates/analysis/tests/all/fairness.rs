//! Whether subjects had the same resources, and what a run did not test, on invented runs.

use crate::invented::{APACHE, BUN, CEILING, FPM, GO, InventedRun, NODE, Server};
use tolok_analysis::{FairnessLedger, Names, ParameterSetup, ProcessSetup, SubjectSetup, VariantSetup};
use tolok_model::{
    Connection, CpuMode, Database, Environment, Executor, ExternalServer, LatencyMark, Limits, Link, LoadChecks,
    NetworkBytes, Outage, ParameterValue, Percentile, PoolWindow,
};

const ONE_PROCESS_FPM: Server = Server { processes: 1, ..FPM };

fn json(blocks: u32) -> InventedRun {
    let mut run = InventedRun::new(blocks);
    run.scenario("json-c64", "json", "JSON", 64);
    run
}

fn says(sentences: &[String], words: &str) -> bool {
    sentences.iter().any(|sentence| sentence.contains(words))
}

/// Sends this many bytes per response.
fn send(run: &mut InventedRun, bytes: u64) -> &mut InventedRun {
    run.change(|_, trial| {
        let answers = (trial.goodput_rps * trial.window_s) as u64;
        trial.subject.as_mut().expect("tolok started it").network =
            Some(NetworkBytes { received_bytes: answers * 90, sent_bytes: answers * bytes });
    })
}

mod ledger {
    use super::*;

    fn of(run: &InventedRun) -> FairnessLedger {
        run.findings().fairness
    }

    #[test]
    fn equal_subjects_have_nothing_unequal() {
        let ledger = of(json(5).steady(CEILING, 60_000.0).steady(GO, 34_000.0).steady(BUN, 39_000.0));
        assert_eq!(ledger.unequal, [""; 0]);
        assert!(says(&ledger.equal, "All were given the same: 1 dedicated CPU, and no limit of memory."));
        assert!(says(&ledger.equal, "Every figure rests on all of its trials"));
        assert!(says(&ledger.unknown, "did not record how these are set up: Go net/http and Bun.serve"));
        let titles: Vec<(&str, bool)> = ledger.rows.iter().map(|row| (row.title.as_str(), row.is_ceiling)).collect();
        assert_eq!(titles, [("Go net/http", false), ("Bun.serve", false), ("Minimal server", true)]);
    }

    #[test]
    fn one_subject_alone_is_not_compared() {
        let ledger = of(json(5).steady(GO, 34_000.0));
        assert_eq!((ledger.unequal.len(), ledger.equal.len(), ledger.rows.len()), (0, 1, 1));
    }

    #[test]
    fn of_a_server_that_runs_already_no_limits_are_claimed() {
        let mut run = json(5);
        run.steady(GO, 34_000.0).steady(BUN, 39_000.0);
        let subject = run.plan.cases.last().expect("Bun has a case").subject.subject.clone();
        let base = "http://127.0.0.1:3000".to_owned();
        run.plan.brought.servers.push(ExternalServer { subject, base, own: None, pid: None });
        let findings = run.findings();
        let ledger = findings.fairness;
        assert!(says(
            &ledger.equal,
            "All that tolok started were given the same: 1 dedicated CPU, and no limit of memory."
        ));
        assert!(says(&ledger.unknown, "that tolok did not start: Bun.serve."), "{:?}", ledger.unknown);
        assert_eq!(ledger.rows[1].given, ["not known: not started by tolok"]);
        let because: Vec<String> = findings.untested.into_iter().map(|untested| untested.because).collect();
        assert!(
            says(&because, "Every subject that tolok started had 1 CPU") && !says(&because, "loopback"),
            "{because:?}"
        );
    }

    #[test]
    fn many_processes_on_one_cpu_are_named_with_their_number() {
        let ledger = of(json(5).steady(GO, 34_000.0).steady(FPM, 5_000.0).steady(APACHE, 7_000.0));
        assert!(says(
            &ledger.unequal,
            "On 1 CPU, PHP-FPM + nginx (up to 11 processes, 55 threads) and Apache + mod_php (up to 12 processes, 60 threads) \
             had many more processes or threads than can run at a time; the others had 1."
        ));
    }

    #[test]
    fn with_several_cpus_who_used_one_thread_is_named() {
        let mut run = InventedRun::new(5);
        let subject = Limits { cpus: 2.0, ..Limits::default() };
        run.environment(Environment { subject, ..Environment::default() });
        run.scenario("json-c64", "json", "JSON", 64);
        let thread = |run: &mut InventedRun, share: f64| {
            run.change(|_, trial| {
                trial.subject.as_mut().expect("tolok started it").busiest_thread_cpu_s =
                    Some(share * trial.subject.as_mut().expect("tolok started it").cpu_s)
            });
        };
        run.steady(GO, 60_000.0);
        thread(&mut run, 0.4);
        run.steady(NODE, 17_000.0);
        thread(&mut run, 0.97);
        assert!(says(&of(&run).unequal, "one thread did nearly all of the work of Node http (97%)"));
    }

    #[test]
    fn headers_show_in_bytes_on_the_wire() {
        let mut run = json(5);
        send(run.steady(GO, 34_000.0), 283);
        send(run.steady(NODE, 17_000.0), 332);
        assert!(says(
            &of(&run).unequal,
            "in json-c64 from 283\u{a0}B (Go net/http) to 332\u{a0}B (Node http), 17% more"
        ));
        let mut run = json(5);
        send(run.steady(GO, 34_000.0), 283);
        send(run.steady(NODE, 17_000.0), 290);
        let ledger = of(&run);
        assert!(
            ledger.unequal.is_empty()
                && says(&ledger.equal, "the same number of bytes on the wire for all, within 5%, in 1"),
            "{ledger:?}"
        );
    }

    #[test]
    fn bodies_are_judged_only_where_every_byte_was_compared() {
        let checked = |check: &str, bytes: u64| {
            let mut run = json(5);
            let check = |trial: &mut tolok_model::Measurement| {
                trial.checks = Some(LoadChecks { body_check: Some(check.to_owned()), ..LoadChecks::default() });
            };
            run.steady(GO, 34_000.0).change(|_, trial| check(trial));
            run.steady(BUN, 39_000.0).change(|_, trial| check(trial)).change(|_, trial| {
                trial.body_bytes = (trial.goodput_rps * trial.window_s) as u64 * bytes;
            });
            of(&run)
        };
        assert!(says(&checked("exactly", 27).equal, "All sent bodies of the same length in 1 scenario"));
        assert!(says(&checked("exactly", 40).unequal, "so something is wrong"));
        assert!(!says(&checked("length", 40).unequal, "Bodies") && !says(&checked("length", 27).equal, "Bodies"));
    }

    #[test]
    fn connections_that_a_server_closes_are_found() {
        let mut run = json(5);
        run.steady(GO, 34_000.0).steady(APACHE, 7_000.0).change(|_, trial| {
            trial.ledger.connections = Some(trial.ledger.good / 100);
        });
        assert!(says(&of(&run).unequal, "closed by Apache + mod_php after 100 answers"), "{:?}", of(&run).unequal);
    }

    #[test]
    fn subjects_that_are_missing_somewhere_or_lack_trials_are_named() {
        let mut run = json(5);
        run.steady(GO, 34_000.0).steady(BUN, 39_000.0);
        run.fail(2, tolok_model::FailureKind::DidNotStart, "it did not start");
        run.scenario("hello-c64", "hello", "Hello", 64).steady(GO, 40_000.0);
        let ledger = of(&run);
        assert!(says(&ledger.unequal, "Bun.serve in 1 of 2 scenarios"));
        assert!(says(&ledger.unequal, "Figures do not rest on all trials: Bun.serve on 4 of 5."));
    }

    #[test]
    fn a_quota_for_some_only_is_named_first() {
        let limits = |mode| Limits { mode, ..Limits::default() };
        let mut run = InventedRun::new(5);
        let dedicated = limits(CpuMode::Dedicated);
        run.environment(Environment { id: "a".into(), subject: dedicated, ..Environment::default() });
        run.scenario("json-a", "json", "JSON", 64).steady(GO, 34_000.0).steady(BUN, 39_000.0);
        run.environment(Environment { id: "b".into(), subject: limits(CpuMode::Quota), ..Environment::default() });
        run.scenario("json-b", "json", "JSON", 64).steady(BUN, 12_000.0);
        let ledger = of(&run);
        assert_eq!(ledger.unequal[0], "Go net/http with dedicated CPUs only: do not compare figures of the two.");
        assert!(says(&ledger.equal, "one of: 1 dedicated CPU; a quota of 1 CPU"));
    }

    #[test]
    fn a_pool_of_another_size_than_was_meant_is_named() {
        let asking = |size: u32| {
            let mut run = InventedRun::new(5);
            run.environment(Environment { database: Some(Database::default()), ..Environment::default() });
            run.asking("rows-c64", "rows", "Rows", 64);
            let ask = |trial: &mut tolok_model::Measurement, size| {
                crate::invented::ask(trial, 0.3, 1, 9_600);
                trial.pool = Some(PoolWindow { size, ..PoolWindow::default() });
            };
            run.steady(GO, 400.0).change(|_, trial| ask(trial, 16));
            run.steady(BUN, 300.0).change(|_, trial| ask(trial, size));
            of(&run)
        };
        assert!(says(&asking(16).equal, "All could open the same number of connections to the database: 16."));
        assert!(says(&asking(10).unequal, "connections to the database: Bun.serve 10 of 16."));
        assert!(says(&asking(16).unknown, "With a database, the bytes of responses cannot be separated"));
    }

    /// A PHP-FPM whose setup the run stored.
    fn declared(server: Server, less_work: Option<&str>) -> InventedRun {
        let mut run = json(5);
        run.steady(GO, 34_000.0).steady(server, 5_000.0);
        let php = run.names.subjects.get_mut("php/fpm").expect("it was added");
        php.setup = SubjectSetup {
            summary: "PHP-FPM with nginx in front".to_owned(),
            variants: [(
                "default".to_owned(),
                VariantSetup { help: "compiled scripts are kept".to_owned(), less_work: less_work.map(str::to_owned) },
            )]
            .into(),
            parameters: [("pool", "16", "PHP-FPM processes"), ("jit", "off", "opcache.jit")]
                .map(|(name, default, help)| {
                    (name.to_owned(), ParameterSetup { default: default.to_owned(), help: help.to_owned() })
                })
                .into(),
            processes: vec![ProcessSetup {
                name: "php-fpm".to_owned(),
                command: vec!["{{ program.php_fpm.path }}".to_owned(), "-n".to_owned()],
                env: [("ROWS".to_owned(), "{{ parameter.rows }}".to_owned())].into(),
            }],
            files: vec!["fpm.conf".to_owned(), "htdocs/index.php".to_owned()],
        };
        for case in run.plan.cases.iter_mut().filter(|case| case.subject.subject == "php/fpm") {
            let parameters = [("pool", ParameterValue::Integer(32)), ("jit", ParameterValue::Text("off".to_owned()))];
            case.subject.parameters = parameters.map(|(name, value)| (name.to_owned(), value)).into();
        }
        run
    }

    #[test]
    fn settings_are_declared_and_those_of_workers_judged() {
        let ledger = of(&declared(FPM, None));
        let row = ledger.rows.iter().find(|row| row.runtime == "php-fpm").expect("a row");
        assert_eq!(row.setup.as_deref(), Some("PHP-FPM with nginx in front; compiled scripts are kept"));
        let parameters: Vec<(&str, &str, Option<bool>)> =
            row.parameters.iter().map(|it| (it.name.as_str(), it.value.as_str(), it.is_changed)).collect();
        assert_eq!(parameters, [("jit", "off", Some(false)), ("pool", "32", Some(true))]);
        assert_eq!(row.declared[0].command[0], "{{ program.php_fpm.path }}");
        assert!(says(&ledger.unequal, "is a setting of PHP-FPM + nginx (pool = 32); none is known for the others"));
        assert!(says(&ledger.unknown, "does not hold the files of settings (fpm.conf)"));
        let alone = of(&declared(ONE_PROCESS_FPM, None));
        assert!(!says(&alone.unequal, "is a setting of"), "a setting has no effect with one process");
    }

    #[test]
    fn less_work_comes_from_the_subjects_own_file() {
        let ledger = of(&declared(ONE_PROCESS_FPM, Some("answers are files")));
        assert_eq!(
            ledger.unequal[0],
            "PHP-FPM + nginx (answers are files) does less work per request: a reference, not a competitor."
        );
    }

    #[test]
    fn names_of_older_runs_are_read_and_say_nothing_of_setups() {
        let text = r#"{ "subjects": { "go/nethttp": { "title": "Go", "runtime": "go", "default_variant": "encoder" } },
                        "workloads": {} }"#;
        let names: Names = serde_json::from_str(text).expect("names of an older run");
        assert_eq!(names.subjects["go/nethttp"].setup, SubjectSetup::default());
        let written = serde_json::to_string(&names).expect("text");
        assert!(!written.contains("setup"), "the default must not be written: {written}");
    }
}

mod untested {
    use super::*;

    fn whats(run: &InventedRun) -> Vec<String> {
        run.findings().untested.into_iter().map(|untested| untested.what).collect()
    }

    fn has(run: &InventedRun, what: &str) -> bool {
        whats(run).iter().any(|known| known.contains(what))
    }

    #[test]
    fn an_ordinary_run_over_the_loopback() {
        let found = whats(json(5).steady(GO, 34_000.0).steady(BUN, 39_000.0));
        assert_eq!(
            found[..6],
            [
                "a network between client and server",
                "a given request rate",
                "TLS, HTTP/2 and HTTP/3",
                "a database",
                "behaviour beyond 2 s",
                "other numbers of users"
            ]
        );
        assert!(found.contains(&"response times beyond p99.9".to_owned()), "{found:?}");
        assert_eq!(found.last().map(String::as_str), Some("another machine"));
    }

    #[test]
    fn a_factor_that_the_study_varies_is_not_listed() {
        let mut run = json(5);
        run.steady(GO, 34_000.0);
        for what in [
            "other numbers of users",
            "a connection for each request",
            "more CPUs",
            "scarce memory",
            "a share of a CPU",
        ] {
            assert!(has(&run, what), "{what}");
        }
        run.scenario("json-c256", "json", "JSON", 256).steady(GO, 30_000.0);
        run.plan.scenarios[1].load.connection = Connection::PerRequest;
        let subject = Limits { mode: CpuMode::Quota, cpus: 2.0, memory_bytes: Some(512 << 20), pids: None };
        run.plan.environments.push(Environment { id: "two".into(), subject, ..Environment::default() });
        for what in [
            "other numbers of users",
            "a connection for each request",
            "more CPUs",
            "scarce memory",
            "a share of a CPU",
        ] {
            assert!(!has(&run, what), "{what}");
        }
    }

    #[test]
    fn a_mixture_with_forms_is_among_the_workloads_that_send_bodies() {
        let mut run = json(5);
        run.steady(GO, 34_000.0);
        assert!(has(&run, "writing and uploads"));
        run.scenario("mixed-c64", "mixed", "Mixed", 64).steady(GO, 9_000.0);
        assert!(!has(&run, "writing and uploads"));
    }

    #[test]
    fn open_loops_and_links_change_what_is_not_tested() {
        let mut run = InventedRun::new(5);
        let link = Link { loss: 0.01, ..Link::preset("lan-wifi").expect("a preset") };
        run.environment(Environment { link, ..Environment::default() });
        let rate = Executor::ConstantArrivalRate { rate_rps: 500.0, arrivals: Default::default() };
        run.scenario_with("json-r500", "json", "JSON", rate, &[]).steady(GO, 500.0);
        for (what, expected) in [
            ("a network between", false),
            ("a real network", true),
            ("packet loss", false),
            ("a given request rate", false),
            ("how much a server can do", true),
        ] {
            assert_eq!(has(&run, what), expected, "{what}");
        }
    }

    #[test]
    fn a_database_brings_questions_of_its_own() {
        let database = |database| {
            let mut run = InventedRun::new(5);
            run.environment(Environment { database: Some(database), ..Environment::default() });
            run.asking("counter-c64", "counter", "A counter", 64).steady(GO, 400.0);
            run
        };
        let mut run = database(Database::default());
        let all = ["other numbers of connections", "other distances", "another database", "a database that goes away"];
        all.iter().for_each(|what| assert!(has(&run, what), "{what}"));
        assert!(!has(&run, "writing and uploads"), "a counter is a write");
        let link = Link { rtt_s: 0.02, ..Link::default() };
        let far = Database { pool: 4, link, outage: Some(Outage { at_s: 0.5, for_s: 0.5 }), ..Database::default() };
        run.environment(Environment { id: "far".into(), database: Some(far), ..Environment::default() });
        run.asking("counter-c64-far", "counter", "A counter", 64).steady(GO, 40.0);
        let left: Vec<bool> = all.iter().map(|what| has(&run, what)).collect();
        assert_eq!(left, [false, false, true, false]);
    }

    #[test]
    fn percentiles_end_where_samples_do() {
        let mut run = json(5);
        run.steady(GO, 34_000.0).steady(BUN, 39_000.0).change(|block, trial| {
            let latency_s = (block > 1).then_some(0.004);
            trial.latency.percentiles = [(0.5, Some(0.001)), (0.99, latency_s)]
                .map(|(quantile, latency_s)| Percentile::new(quantile, latency_s))
                .into();
            trial.latency.marks = vec![LatencyMark::Coarse];
        });
        let findings = run.findings();
        let found = findings.untested.iter().find(|it| it.what.starts_with("response times")).expect("it is listed");
        assert_eq!(
            found.because,
            "p99.9 is the highest of the usual percentiles with 10 responses of a trial beyond it, and p50 in the trials with the fewest."
        );
    }

    #[test]
    fn what_was_left_out_is_not_tested_either() {
        assert!(has(json(5).steady(GO, 34_000.0).skip("php/fpm", "php is missing"), "what was left out (php/fpm)"));
    }

    #[test]
    fn programs_alone_have_a_list_of_their_own() {
        use crate::invented::programs::{BUN_QUEUE, GO_QUEUE};
        let mut run = InventedRun::new(5);
        run.program("queue-n100", "queue?n=100", "A queue", tolok_model::Timer::Tolok);
        run.timed(GO_QUEUE, &[0.02; 5]).timed(BUN_QUEUE, &[0.01; 5]);
        let found = whats(&run);
        assert_eq!(found[0], "other sizes of the input");
        assert!(
            !has(&run, "TLS") && has(&run, "several programs at once") && has(&run, "another machine"),
            "{found:?}"
        );
    }
}
