//! Jobs and outputs for tests of drivers.

use tolok_model::{Connection, Executor, LoadProfile, Scenario, ToolChoice};

use super::driver::{Answers, Driver, LoadJob, NotUnderstood, ToolOutput, ToolReport};

/// Eight users for two seconds.
pub(super) fn closed() -> LoadProfile {
    LoadProfile {
        executor: Executor::ConstantVus { vus: 8 },
        duration_s: 2.0,
        warmup_s: 0.0,
        connection: Connection::KeepAlive,
        timeout_s: 1.0,
        pool: None,
        think_time: None,
        pace: tolok_model::Pace::default(),
    }
}

pub(super) fn scenario(load: LoadProfile) -> Scenario {
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
}

/// A job whose correct responses have status 200 and 12 bytes.
pub(super) fn job(scenario: &Scenario) -> LoadJob<'_> {
    LoadJob {
        url: "http://127.0.0.1:8080/hello".to_owned(),
        method: "GET",
        sent: None,
        status: 200,
        answers: Answers::Body("hello".into()),
        body_bytes: Some(12),
        scenario,
        cpus: 2,
        seed: 7,
        generators: &[],
    }
}

/// The command lines of a load: the warm-up's, if there is one, and the one that counts.
pub(super) fn called(driver: &dyn Driver, load: LoadProfile) -> (Option<String>, String) {
    let scenario = scenario(load);
    let invocation = driver.invocation(&job(&scenario));
    (invocation.warm_up.map(|arguments| arguments.join(" ")), invocation.arguments.join(" "))
}

pub(super) fn tool_output(output: &str) -> ToolOutput {
    ToolOutput { stdout: output.to_owned(), ..ToolOutput::default() }
}

/// The report of an output of a closed loop.
pub(super) fn understood(driver: &dyn Driver, output: &str) -> Result<ToolReport, NotUnderstood> {
    driver.report(&tool_output(output), &job(&scenario(closed())))
}

/// Why an output is not understood.
pub(super) fn refused(driver: &dyn Driver, output: &str) -> String {
    understood(driver, output).expect_err("it should not be understood").0
}

/// Tests that no truncated output makes the driver panic, or results in another report than the whole.
pub(super) fn every_beginning_is_refused_or_says_the_same(driver: &dyn Driver, output: &str) {
    let whole = understood(driver, output).expect("the output is complete");
    for (at, _) in output.char_indices() {
        if let Ok(report) = understood(driver, &output[..at]) {
            assert_eq!(format!("{report:?}"), format!("{whole:?}"), "cut off at {at}");
        }
    }
}

/// Failures as pairs.
pub(super) fn failures(report: &ToolReport) -> Vec<(&str, u64)> {
    report.ledger.failed.iter().map(|(class, number)| (class.as_str(), *number)).collect()
}

pub(super) fn latency_s(report: &ToolReport, quantile: f64) -> Option<f64> {
    report.latency.at(quantile)
}
