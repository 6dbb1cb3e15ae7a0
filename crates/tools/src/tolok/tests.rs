//! The engine's arguments, and the report of its record.

use std::path::PathBuf;

use tolok_load::fault::ErrorClass;
use tolok_load::options::{ConnectionPolicy, Mix, Timer};
use tolok_load::record::{
    Connections, Distribution, Drain, ErrorExample, GeneratorNode, GeneratorSummary, Ledger, PlanSummary, WarmUpLedger,
};
use tolok_model::{DataOrder, Scenario, ThinkTime};

use super::*;
use crate::jobs::{closed, job, scenario};
use crate::{LoadPhase, LoadSecond, ToolEvent};

fn load(executor: Executor) -> LoadProfile {
    LoadProfile { executor, duration_s: 10.0, warmup_s: 0.3, timeout_s: 2.5, ..closed() }
}

/// The arguments of a scenario in one line.
fn told(scenario: &Scenario) -> String {
    told_to_ask(scenario, "GET", Answers::Body("/tmp/assets/hello".into()))
}

/// The same for another method and other responses.
fn told_to_ask(scenario: &Scenario, method: &str, answers: Answers) -> String {
    arguments(&LoadJob { method, answers, ..job(scenario) }).join(" ")
}

/// The arguments of a load profile, without those that all have.
fn told_of(load: LoadProfile) -> String {
    // In an open loop the engine waits a while for responses that are pending at the end.
    let grace = if load.executor.is_open() { "1s" } else { "0s" };
    let common = format!(" --warmup=300000us --timeout=2500000us --grace={grace}");
    let told = told(&scenario(load));
    let (when, rest) =
        told.strip_prefix("load http://127.0.0.1:8080/hello ").and_then(|told| told.split_once(&common)).unwrap();
    format!("{when}{}", rest.split_once("--events").unwrap().1)
}

#[test]
fn a_job_is_told_in_the_words_of_the_command_line() {
    let expect = "load http://127.0.0.1:8080/hello --vus=64 --duration=10000000us --warmup=300000us \
                  --timeout=2500000us --grace=0s --expect-status=200 --expect-body=/tmp/assets/hello --format=json \
                  --events";
    let mut scenario = scenario(load(Executor::ConstantVus { vus: 64 }));
    assert_eq!(told(&scenario), expect);
    scenario.load.connection = Connection::PerRequest;
    assert_eq!(told(&scenario), format!("{expect} --no-keepalive"));
    scenario.load.connection = Connection::Requests(10);
    assert_eq!(told(&scenario), format!("{expect} --requests-per-connection=10"));
    scenario.load.connection = Connection::KeepAlive;
    scenario.load.pace.read_bytes_per_s = Some(65_536);
    scenario.load.pace.slow_share = Some(0.07);
    let slowly = expect.replace("--duration=10000000us", "--duration=10000000us --read-rate=65536B/s --slow-share=7%");
    assert_eq!(told(&scenario), slowly);
}

#[test]
fn a_method_and_what_answers_are_compared_with_are_told() {
    let scenario = scenario(load(Executor::ConstantVus { vus: 1 }));
    let told = |method: &str, answers| {
        let told = told_to_ask(&scenario, method, answers);
        let (start, rest) = told.split_once(" --vus=1 ").unwrap();
        let rest = rest.split_once("--expect-status=200").unwrap().1;
        format!("{start} …{}", rest.replace(" --format=json --events", " …"))
    };
    let file = || PathBuf::from("/tmp/assets/file");
    assert_eq!(told("GET", Answers::Status), "load http://127.0.0.1:8080/hello … …");
    assert_eq!(told("POST", Answers::Status), "load http://127.0.0.1:8080/hello … --method=POST …");
    let post = "load http://127.0.0.1:8080/hello … --method=POST --expect-body=/tmp/assets/file …";
    assert_eq!(told("POST", Answers::Body(file())), post);
    // Requests of a file have their own methods and paths, and are drawn at random.
    let requests = "load http://127.0.0.1:8080 … --request-file=/tmp/assets/file … --seed=7";
    assert_eq!(told("GET", Answers::Requests(Requests { file: file(), ..Requests::default() })), requests);
    let data = Some((PathBuf::from("/tmp/assets/data"), DataOrder::InOrder));
    let filled = requests.replace("file …", "file --data=/tmp/assets/data --data-order=in-order --sequence …");
    assert_eq!(told("GET", Answers::Requests(Requests { file: file(), data, sequence: true })), filled);
}

#[test]
fn every_executor_is_told_by_its_own_options() {
    let check = |executor, expect: &str| assert_eq!(told_of(load(executor)), expect);
    let stages = || vec![Stage { target: 300.0, duration_s: 10.0 }, Stage { target: 0.0, duration_s: 0.0 }];
    let arrivals = Arrivals::Uniform;
    check(Executor::RampingVus { start_vus: 0, stages: stages() }, "--vus=0 --stage=300:10000000us --stage=0:0us");
    check(Executor::PerVuIterations { vus: 2, iterations: 5 }, "--vus=2 --iterations-per-vu=5 --duration=10000000us");
    check(Executor::SharedIterations { vus: 2, iterations: 5 }, "--vus=2 --iterations=5 --duration=10000000us");
    check(
        Executor::ConstantArrivalRate { rate_rps: 2000.5, arrivals },
        "--rate=2000.5 --arrivals=uniform --duration=10000000us",
    );
    check(
        Executor::RampingArrivalRate { start_rate_rps: 10.0, stages: stages(), arrivals },
        "--rate=10 --arrivals=uniform --stage=300:10000000us --stage=0:0us",
    );
}

#[test]
fn what_is_sent_goes_with_its_type() {
    let scenario = scenario(load(Executor::ConstantVus { vus: 1 }));
    let sent = Some(("/tmp/assets/validate.request".into(), "application/json"));
    let (url, answers) = ("http://127.0.0.1:8080/validate".to_owned(), Answers::Body("/tmp/assets/validate".into()));
    let told = arguments(&LoadJob { url, method: "POST", sent, answers, ..job(&scenario) }).join(" ");
    let expect = "--method=POST --body=@/tmp/assets/validate.request --header=Content-Type: application/json \
                  --expect-body=/tmp/assets/validate";
    assert!(told.contains(expect), "{told}");
}

#[test]
fn what_is_drawn_at_random_has_the_seed_of_its_trial() {
    let rate = |arrivals, pool| {
        let executor = Executor::ConstantArrivalRate { rate_rps: 5.0, arrivals };
        told_of(LoadProfile { pool: Some(pool), ..load(executor) })
    };
    let even = "--rate=5 --arrivals=uniform --duration=10000000us --pool=unbounded";
    assert_eq!(rate(Arrivals::Uniform, Pool::Unbounded), even);
    let poisson = "--rate=5 --arrivals=poisson --duration=10000000us --pool=16 --seed=7";
    assert_eq!(rate(Arrivals::Poisson, Pool::Bounded(16)), poisson);
    let thinking = |least_s, most_s| {
        let think_time = Some(ThinkTime { least_s, most_s });
        told_of(LoadProfile { think_time, ..load(Executor::ConstantVus { vus: 1 }) })
    };
    assert_eq!(thinking(0.1, 0.1), "--vus=1 --duration=10000000us --think=100000us");
    assert_eq!(thinking(0.1, 0.2), "--vus=1 --duration=10000000us --think=100000us..200000us --seed=7");
}

#[test]
fn objectives_are_told_as_thresholds() {
    let mut scenario = scenario(load(Executor::ConstantVus { vus: 1 }));
    scenario.objectives = ["goodput >= 99.9%", "p95 < 50ms"].map(|text| Objective::parse(text).unwrap()).into();
    let expect = "--events --threshold=goodput >= 99.9% --threshold=p95 < 50ms";
    assert!(told(&scenario).ends_with(expect), "{}", told(&scenario));
    scenario.abort = true;
    assert!(told(&scenario).ends_with("--threshold=p95 < 50ms --abort"));
}

#[test]
fn events_are_json_lines_with_a_name() {
    let check = |event, line: &str| assert_eq!(serde_json::from_str::<ToolEvent>(line).ok(), event);
    let started = ToolEvent::WindowStarted { monotonic_ns: 17 };
    check(Some(started), r#"{"event":"window-started","monotonic_ns":17}"#);
    check(None, r#"{"event":"window-started"}"#);
    let (phase, start_s, duration_s, p50_s) = (LoadPhase::WarmingUp, -1.5, 1.0, Some(0.002));
    let second = LoadSecond { phase, start_s, duration_s, good: 500, failed: 1, p50_s, p99_s: None };
    let written = r#"{"event":"second","phase":"warming-up","start_s":-1.5,"duration_s":1.0,"good":500,"failed":1,"p50_s":0.002,"p99_s":null,"at_border":false}"#;
    let second = ToolEvent::Second { second, at_border: false };
    assert_eq!(serde_json::to_string(&second).unwrap(), written);
    check(Some(second), written);
    let ended = ToolEvent::WindowEnded { monotonic_ns: 18 };
    check(Some(ended), r#"{"event":"window-ended","monotonic_ns":18}"#);
    check(None, "warning: the machine is busy");
}

fn nothing_measured() -> Distribution {
    let (min_s, mean_s, max_s) = (None, None, None);
    Distribution { count: 0, min_s, mean_s, max_s, percentiles: Vec::new(), histogram: String::new() }
}

fn plan() -> PlanSummary {
    PlanSummary {
        url: "http://127.0.0.1:8080/hello".to_owned(),
        address: "127.0.0.1:8080".to_owned(),
        requests: Vec::new(),
        request_count: 1,
        iteration_requests: 1,
        body_check: "anything".to_owned(),
        data: None,
        mix: Mix::Weighted,
        executor: "constant-vus".to_owned(),
        profile: tolok_load::options::Executor::ConstantVus { vus: 10, duration: std::time::Duration::from_secs(2) },
        loop_model: LoopModel::Closed,
        vus: 10,
        pool_unbounded: false,
        think_time_s: [0.0, 0.0],
        warm_up_s: 0.5,
        window_s: 2.0,
        timeout_s: 10.0,
        connect_timeout_s: 10.0,
        grace_s: 0.0,
        connection: ConnectionPolicy::KeepAlive,
        http_version: "1.1".to_owned(),
        streams_per_connection: None,
        pipeline: None,
        source_addresses: 0,
        tls_verified: None,
        congestion_control: Some("cubic".to_owned()),
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        slow_users: None,
        expected_body_bytes: Some(1000),
        seed: 0,
    }
}

/// Two seconds in which 100 requests were sent, 90 of them with a correct response. 10 more had been sent before.
fn record() -> Record {
    let percentile = |quantile, latency_s| tolok_load::record::Percentile {
        quantile,
        latency_s,
        at_least_s: None,
        once_s: None,
        instants: None,
    };
    Record {
        format: Record::FORMAT,
        engine: "tolok-load 0.1.0".to_owned(),
        plan: plan(),
        interrupted: false,
        warm_up_s: 0.5,
        window_s: 2.0,
        window_start_monotonic_ns: 1,
        window_end_monotonic_ns: 2_000_000_001,
        goodput_rps: Some(45.0),
        parts: Vec::new(),
        clients: None,
        last_good_s: Some(1.75),
        ledger: Ledger {
            scheduled: 100,
            sent: 100,
            unsent: 0,
            good: 90,
            failed: 6,
            failed_by_class: [(ErrorClass::Timeout, 4), (ErrorClass::BadStatus, 2)].into(),
            in_flight_at_end: 4,
        },
        warm_up: WarmUpLedger {
            sent: 30,
            good: 20,
            failed: 0,
            carried_over: 10,
            carried_over_good: 8,
            carried_over_waiting: 2,
        },
        drain: Drain { abandoned: 4, ..Drain::default() },
        whole_run: tolok_load::record::WholeRun { sent: 129, good: 119 },
        response_time: Distribution {
            count: 90,
            max_s: Some(0.25),
            percentiles: vec![percentile(0.5, Some(0.1)), percentile(0.99, None)],
            histogram: "HISTOGRAM".to_owned(),
            ..nothing_measured()
        },
        service_time: nothing_measured(),
        lateness: nothing_measured(),
        queue_time: nothing_measured(),
        time_to_first_byte: nothing_measured(),
        in_flight_mean: Some(9.5),
        queue_max: 0,
        failure_time: nothing_measured(),
        punctual_time: None,
        unanswered_time: None,
        idle_users_mean: None,
        connect_time: nothing_measured(),
        timeline: Vec::new(),
        connections: Connections { opened: 12, never_answered: 1, ..Connections::default() },
        received_bytes: 99_000,
        sent_bytes: 9_000,
        error_examples: vec![
            ErrorExample { class: ErrorClass::Timeout, text: "no answer".to_owned(), at_s: 1.0 },
            ErrorExample { class: ErrorClass::BadStatus, text: "status 500".to_owned(), at_s: 1.5 },
        ],
        cpu_user_s: 0.1,
        cpu_system_s: 0.1,
        generator_busy: Some(0.1),
        generator: GeneratorSummary { timer: Timer::Sleep, threads: Vec::new(), nodes: Vec::new() },
        offered_rps: None,
        verdict: Verdict { trusted: true, reasons: Vec::new(), doubted: Vec::new() },
        thresholds: Vec::new(),
        aborted: false,
    }
}

#[test]
fn answers_to_requests_of_the_warm_up_are_work_of_the_window() {
    let report = report(record()).unwrap();
    assert_eq!(report.goodput_rps, (90.0 + 8.0) / 2.0);
    assert_eq!(report.body_bytes, 98 * 1000);
    // The ledger covers only the requests of the window, and balances.
    assert_eq!((report.ledger.good, report.ledger.unaccounted()), (90, Some(0)));
    assert_eq!((report.carried_over, report.carried_over_good, report.last_good_s), (10, 8, Some(1.75)));
    // Four have been waiting since the window, and two since the warm-up.
    assert_eq!(report.waiting_at_end, Some(6));
}

#[test]
fn failures_are_counted_by_the_stable_names_of_their_classes() {
    let report = report(record()).unwrap();
    assert_eq!(report.ledger.failed, [("bad_status".to_owned(), 2), ("timeout".to_owned(), 4)].into());
    assert_eq!((report.ledger.in_flight_at_end, report.ledger.sent), (Some(4), Some(100)));
    assert_eq!((report.ledger.connections, report.ledger.connections_unanswered), (Some(12), Some(1)));
    assert_eq!(report.examples, ["no answer", "status 500"]);
}

#[test]
fn latencies_keep_their_gaps_and_their_histogram() {
    let latency = report(record()).unwrap().latency;
    assert_eq!((latency.at(0.5), latency.at(0.99), latency.max_s), (Some(0.1), None, Some(0.25)));
    assert_eq!((latency.model.as_str(), latency.histogram.as_deref()), ("closed", Some("HISTOGRAM")));
}

#[test]
fn arrivals_without_a_connection_wait_too_and_are_accounted_for() {
    let mut record = record();
    (record.ledger.scheduled, record.ledger.unsent, record.offered_rps) = (130, 30, Some(65.0));
    let report = report(record).unwrap();
    assert_eq!((report.waiting_at_end, report.offered_rps), (Some(36), Some(65.0)));
    let ledger = report.ledger;
    assert_eq!(
        (ledger.scheduled, ledger.sent, ledger.unsent, ledger.unaccounted()),
        (Some(130), Some(100), 30, Some(0))
    );
}

#[test]
fn what_the_tool_says_against_its_figures_is_taken_over() {
    let said = |trusted, reasons| {
        let report = report(Record { verdict: Verdict { trusted, reasons, doubted: Vec::new() }, ..record() }).unwrap();
        report
            .tool_warnings
            .into_iter()
            .map(|warning| format!("{}: {}", warning.gate, warning.text))
            .collect::<Vec<_>>()
    };
    assert_eq!(said(true, vec![]), Vec::<String>::new());
    let reason: Reason = serde_json::from_str(r#"{"gate":"lateness","text":"p99 of 12 ms"}"#).unwrap();
    assert_eq!(said(false, vec![reason]), ["lateness: p99 of 12 ms"]);
    assert_eq!(said(false, vec![]), ["unknown: the load tool gave no reason"]);
}

#[test]
fn thresholds_become_objectives_in_their_canonical_form() {
    let threshold = |text: &str, outcome: &str| -> Judged {
        let written = serde_json::json!({ "text": text, "value": 0.25, "unit": "s", "outcome": outcome });
        serde_json::from_value(written).unwrap()
    };
    let mut record = record();
    record.thresholds = vec![threshold("p(95)<50ms", "crossed"), threshold("p50 < 1s", "kept")];
    record.aborted = true;
    record.interrupted = true;
    let report = report(record).unwrap();
    let found: Vec<_> = report.objectives.iter().map(|it| (it.objective.as_str(), it.value, it.outcome)).collect();
    let expect =
        [("p95 < 50ms", Some(0.25), ObjectiveOutcome::Crossed), ("p50 < 1s", Some(0.25), ObjectiveOutcome::Kept)];
    assert_eq!((found.as_slice(), report.aborted), (expect.as_slice(), true));
}

#[test]
fn what_is_no_measurement_is_refused() {
    let check = |change: fn(&mut Record), expect: &str| {
        let mut record = record();
        change(&mut record);
        assert_eq!(report(record).unwrap_err(), expect);
    };
    check(|record| record.interrupted = true, "it was interrupted");
    check(|record| record.format = 99, "its record has format 99, and 2 is known");
    check(|record| record.window_s = 0.0, "it measured no window");
}

#[test]
fn a_percentile_that_lateness_made_or_that_is_a_bound_is_not_known() {
    let mut late = record();
    late.punctual_time = Some(nothing_measured());
    late.verdict.doubted = vec![Doubt { quantile: 0.5, moved: 0.2 }];
    late.response_time.percentiles[1].at_least_s = Some(0.4);
    let report = report(late).unwrap();
    assert_eq!((report.latency.at(0.5), report.latency.at(0.99)), (None, None));
    assert_eq!(report.latency.percentiles[1].at_least_s, Some(0.4));
    let checks = report.checks.unwrap();
    assert_eq!(checks.late_percentiles, Some(vec![LatePercentile { quantile: 0.5, moved: 0.2 }]));
    assert!(report.tool_warnings.is_empty(), "the goodput does not suffer");
    assert_eq!(super::report(record()).unwrap().checks.unwrap().late_percentiles, None);
}

#[test]
fn generators_on_other_machines_say_what_they_used() {
    assert_eq!(report(record()).unwrap().generators, None);
    let mut record = record();
    let thread = |cpu_user_s| ThreadSummary {
        cpu: None,
        cpu_user_s,
        cpu_system_s: 0.5,
        spin_s: 0.0,
        run_queue_wait_s: Some(0.1),
    };
    let node = |name: &str| GeneratorNode {
        name: name.to_owned(),
        clock: Default::default(),
        clock_after: Default::default(),
    };
    (record.cpu_user_s, record.cpu_system_s) = (3.0, 1.0);
    (record.generator.threads, record.generator.nodes) = (vec![thread(1.0), thread(2.0)], vec![node("n2"), node("n3")]);
    let used = report(record).unwrap().generators.unwrap();
    assert_eq!(
        (used.cpu_s, used.user_s, used.system_s, used.busiest_thread_cpu_s),
        (4.0, Some(3.0), Some(1.0), Some(2.5))
    );
    assert_eq!((used.run_queue_wait_s, used.processes_max, used.threads_max), (0.2, 2, 2));
}
