//! Outputs of load generators and timers.

use std::sync::LazyLock;

use tolok_model::{Connection, Executor, LoadProfile, LoadTool, Pace, Scenario, ToolChoice};
use tolok_tools::timer::{gnu_time_runs, hyperfine_report};
use tolok_tools::{Answers, LoadJob, ToolOutput, driver, sound};

static SCENARIO: LazyLock<Scenario> = LazyLock::new(|| {
    let load = LoadProfile {
        executor: Executor::ConstantVus { vus: 8 },
        duration_s: 2.0,
        warmup_s: 0.0,
        connection: Connection::KeepAlive,
        timeout_s: 1.0,
        pool: None,
        think_time: None,
        pace: Pace::default(),
    };
    Scenario {
        id: load.id(),
        environment: String::new(),
        workload: "hello".to_owned(),
        database: false,
        load,
        protocol: tolok_model::Protocol::Http1,
        streams: 1,
        tool: ToolChoice::default(),
        objectives: Vec::new(),
        abort: false,
        slices: None,
    }
});

/// The output of a tool. Both streams get the same text, since drivers take from each only what belongs there.
fn report(tool: LoadTool, data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let job = LoadJob {
        url: "http://127.0.0.1:8080/hello".to_owned(),
        method: "GET",
        sent: None,
        status: 200,
        answers: Answers::Body("hello".into()),
        body_bytes: Some(12),
        scenario: &SCENARIO,
        cpus: 2,
        seed: 7,
        generators: &[],
    };
    let output = ToolOutput { stdout: text.clone(), stderr: text.clone(), beside: text };
    let Ok(report) = driver(tool).report(&output, &job) else { return };
    let Ok(report) = sound(report) else { return };
    let rate = report.goodput_rps;
    assert!(rate.is_finite() && rate >= 0.0, "a sound report with {rate} responses/s");
}

pub fn k6(data: &[u8]) {
    report(LoadTool::K6, data);
}

pub fn wrk(data: &[u8]) {
    report(LoadTool::Wrk, data);
}

pub fn ab(data: &[u8]) {
    report(LoadTool::Ab, data);
}

pub fn h2load(data: &[u8]) {
    report(LoadTool::H2load, data);
}

pub fn hey(data: &[u8]) {
    report(LoadTool::Hey, data);
}

pub fn oha(data: &[u8]) {
    report(LoadTool::Oha, data);
}

pub fn tolok(data: &[u8]) {
    report(LoadTool::Tolok, data);
}

/// hyperfine's JSON, and the lines of GNU time.
pub fn timers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = hyperfine_report(&text);
    let _ = gnu_time_runs(&text, "1.9");
}
