//! Open files: as many connections as requested, or a clear reason why not. Every test here has its own process, because the file limit and
//! the memory belong to the whole process.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tolok_load::event::Event;
use tolok_load::fault::ErrorClass;
use tolok_load::options::{Executor, Options, Pool, ThinkTime};
use tolok_load::record::Record;
use tolok_load::verdict::Gate;
use tolok_testkit::{EventServer, Pattern, Reply, ScriptedServer};
use tolok_testkit::{is_own_process, require, run_in_own_process, test_name};

use crate::stage::{BODY, ENDLESS, MS, check_account, options, rate, run};

/// The variable with the URL of the parent process's server.
const URL: &str = "TOLOK_LOAD_TEST_URL";

fn limit_files(files: u64) {
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: Some(files) }).unwrap();
}

#[test]
fn more_connections_than_files_are_refused_with_what_to_do() {
    if !is_own_process() {
        return run_in_own_process(test_name!(), &[]);
    }
    let server = ScriptedServer::answering(BODY);
    limit_files(200);
    let check = |change: &dyn Fn(&mut Options)| {
        let mut options = options(&server);
        change(&mut options);
        let text = tolok_load::run(&options, &Default::default(), &mut |_| {}).unwrap_err().to_string();
        assert!(text.contains("limit of this process is 200") && text.contains("ulimit -n 1064"), "{text}");
    };
    check(&|options| options.executor = Executor::ConstantVus { vus: 1_000, duration: MS });
    check(&|options| (options.executor, options.pool) = (rate(1.0, MS), Pool::Bounded(1_000)));
    assert_eq!(server.requests(), 0);
}

#[test]
fn files_that_run_out_inside_a_run_are_the_generators_fault() {
    if !is_own_process() {
        let server = ScriptedServer::start(|_| Reply::never());
        return run_in_own_process(test_name!(), &[(URL, &server.url("/"))]);
    }
    let mut options = Options::new(&std::env::var(URL).unwrap()).unwrap();
    // No request is answered, so no file becomes free before the first timeout.
    options.executor = Executor::PerVuIterations { vus: 100, iterations: 1, max_duration: ENDLESS };
    options.timeout = Duration::from_secs(1);
    limit_files(200);
    // The program around the engine has more files open than the engine reserves for others.
    let others: Vec<File> = (0..150).map(|_| File::open("/dev/null").unwrap()).collect();
    let record = run(&options);
    drop(others);
    // 150 and a few more of the 200 files are in use.
    let failed = record.connections.failed;
    assert!((50..100).contains(&failed), "{:?}", record.ledger);
    let expected = [(ErrorClass::Local, failed), (ErrorClass::Timeout, 100 - failed)];
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from(expected));
    let text = &record.error_examples.iter().find(|example| example.class == ErrorClass::Local).unwrap().text;
    assert!(text.contains("the generator's own machine could not open a socket"), "{text}");
    assert!(record.verdict.reasons.iter().any(|reason| reason.gate == Gate::LocalErrors));
}

#[test]
fn an_unbounded_pool_is_bounded_by_the_files_there_are() {
    if !is_own_process() {
        let stalls = Pattern::Stalls { first: MS * 20, every: Duration::from_secs(3600), length: MS * 300 };
        let server = EventServer::start(BODY, stalls);
        return run_in_own_process(test_name!(), &[(URL, &server.url("/"))]);
    }
    let mut options = Options::new(&std::env::var(URL).unwrap()).unwrap();
    (options.executor, options.pool) = (rate(1_000.0, MS * 300), Pool::Unbounded { at_most: None });
    limit_files(164);
    let record = run(&options);
    // 64 files remain for others.
    assert_eq!((record.connections.opened, record.ledger.failed), (100, 0));
    assert_eq!((record.ledger.good + record.drain.good, record.ledger.scheduled), (300, 300));
    assert!(record.queue_max > 0);
}

/// Peak memory of this process, from the kernel.
fn rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn ten_thousand_connections_fit_into_64_mib() {
    let files = getrlimit(Resource::Nofile).maximum;
    require!(files.is_none_or(|files| files >= 10_100), "a process may have no more than {files:?} files open");
    if !is_own_process() {
        // Neither process may have more files than connections, so the server stays in this one.
        let most = Rlimit { current: files, maximum: files };
        setrlimit(Resource::Nofile, most).unwrap();
        let server = EventServer::start(BODY, Pattern::AtOnce);
        run_in_own_process(test_name!(), &[(URL, &server.url("/"))]);
        let log = server.finish();
        // The initial probe may still have been open when the first connection arrived.
        let (most_open, answers) = (log.most_open, log.answers.len());
        return assert!((10_000..=10_001).contains(&most_open) && answers == 10_000, "{most_open} {answers}");
    }
    let mut options = Options::new(&std::env::var(URL).unwrap()).unwrap();
    // Every user sends one request and then pauses until the run ends, which is when all are answered.
    options.executor = Executor::ConstantVus { vus: 10_000, duration: ENDLESS * 2 };
    options.think_time = ThinkTime { least: ENDLESS, most: ENDLESS };
    options.connect_timeout = Duration::from_secs(60);
    let (stop, mut good) = (AtomicBool::new(false), 0);
    let record = tolok_load::run(&options, &stop, &mut |event| {
        if let Event::Second(row) = event {
            good += row.good;
            stop.store(good == 10_000, Ordering::Relaxed);
        }
    })
    .unwrap();
    check_account(&record);
    let Record { ledger, connections, error_examples, .. } = &record;
    assert_eq!((connections.opened, ledger.good, ledger.failed), (10_000, 10_000, 0), "{error_examples:?}");
    let used = rss_bytes();
    assert!(used < 64 << 20, "{} MiB", used >> 20);
}
