//! Judges whether a window is a valid measurement: it has correct responses, and the subject did not fall silent.

use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_model::{FailureKind, Scenario};

use crate::run::server::trial::TrialError;
use tolok_tools::ToolReport;

/// A subject may have hung if it gives no correct response up to the end of the window for this long, and for at least the given
/// share of the window.
const SILENCE: Duration = Duration::from_millis(500);
const SILENT_SHARE: f64 = 1.0 / 3.0;

/// A window without a correct response to its own requests is a failure, classified by its errors. So is a window in which the subject
/// fell silent.
pub(in crate::run) fn judge(report: &ToolReport, scenario: &Scenario) -> Result<(), TrialError> {
    match report.ledger.good {
        // If responses take longer than the window, those in it belong to warm-up requests.
        0 if report.carried_over_good > 0 && report.ledger.failed_total() == 0 => still_answering(report, scenario),
        0 => Err(nothing_good(report)),
        // A window cut off by a crossed objective may end in silence, and records its own reason.
        _ if report.aborted => Ok(()),
        _ => still_answering(report, scenario),
    }
}

fn nothing_good(report: &ToolReport) -> TrialError {
    let (sent, carried_over) = (report.ledger.sent, report.carried_over);
    // With errors, the warm-up was so bad that all users were pausing after dead connections; the tool is not at fault.
    if sent == Some(0) && carried_over == 0 && report.examples.is_empty() {
        return TrialError::Failed(FailureKind::ToolFailed, "the load tool sent nothing".to_owned());
    }
    let failed = |class: ErrorClass| report.ledger.failed.get(class.name()).copied().unwrap_or_default();
    let wrong: u64 = [ErrorClass::BadStatus, ErrorClass::BadBody, ErrorClass::Malformed].map(failed).iter().sum();
    let reason = if wrong > 0 {
        FailureKind::WrongAnswer
    } else if failed(ErrorClass::Local) > 0 {
        FailureKind::ToolFailed
    } else {
        FailureKind::Hung
    };
    let carried = match carried_over {
        0 => String::new(),
        _ => format!(" (and {} of {carried_over} carried over from the warm-up)", report.carried_over_good),
    };
    let examples = examples(report);
    let requests = match (sent, report.ledger.finished()) {
        (Some(sent), _) => format!("{sent} requests were sent, none was answered correctly"),
        // Not every tool reports how many requests it sent.
        (None, 0) => "no response came in the window".to_owned(),
        (None, ended) => format!("{ended} requests ended, none was answered correctly"),
    };
    TrialError::Failed(reason, format!("{requests}{carried}{examples}"))
}

/// Fails if every user was left waiting for longer than a slow subject would explain. A time-out longer than the rest of the window
/// does not detect this, and the rate of the first part would count for the whole.
/// A slow subject is silent for up to one response time, so the longest time seen is tolerated as well.
fn still_answering(report: &ToolReport, scenario: &Scenario) -> Result<(), TrialError> {
    let load = &scenario.load;
    // If the tool does not report who was waiting, users with pauses may all have been pausing.
    let may_pause = scenario.tool.script.is_some() || load.think_time.is_some();
    let last_good_s = match report.last_good_s {
        _ if report.waiting_at_end.is_none() && may_pause => return Ok(()),
        // Neither the tool nor the wire count knows when the last response came.
        None if report.waiting_at_end.is_none() => return Ok(()),
        last => last.unwrap_or_default(),
    };
    let tolerated_s =
        SILENCE.as_secs_f64().max(report.window_s * SILENT_SHARE).max(report.latency.max_s.unwrap_or_default());
    let all_wait = load
        .waiting_if_silent(tolerated_s)
        .is_some_and(|waiting| report.waiting_at_end.is_none_or(|all| all >= waiting));
    if !all_wait || report.window_s - last_good_s <= tolerated_s {
        return Ok(());
    }
    let message = format!(
        "no correct response came after the first {last_good_s:.3} s of the window of {:.3} s, and {} at its end{}",
        report.window_s,
        if load.executor.is_open() { "requests were waiting" } else { "every user was waiting" },
        examples(report)
    );
    Err(TrialError::Failed(FailureKind::Hung, message))
}

/// Examples of errors as the end of a sentence; empty if there are none.
fn examples(report: &ToolReport) -> String {
    if report.examples.is_empty() { String::new() } else { format!(": {}", report.examples.join("; ")) }
}

#[cfg(test)]
mod tests {
    use tolok_model::{
        Arrivals, Connection, Executor, Latency, LedgerCounts, LoadProfile, LoadTool, Pool, Script, Stage, ThinkTime,
        ToolChoice,
    };

    use super::*;

    /// Four users, or arrivals over four connections, for 9 s.
    fn load(executor: Executor) -> LoadProfile {
        LoadProfile {
            pool: executor.is_open().then_some(Pool::Bounded(4)),
            executor,
            duration_s: 9.0,
            warmup_s: 0.0,
            connection: Connection::KeepAlive,
            timeout_s: 10.0,
            think_time: None,
            pace: tolok_model::Pace::default(),
        }
    }

    fn four_users() -> LoadProfile {
        load(Executor::ConstantVus { vus: 4 })
    }

    fn scenario(load: &LoadProfile) -> Scenario {
        Scenario {
            id: String::new(),
            environment: String::new(),
            workload: "hello".to_owned(),
            database: false,
            load: load.clone(),
            protocol: tolok_model::Protocol::Http1,
            streams: 1,
            tool: ToolChoice::default(),
            objectives: Vec::new(),
            abort: false,
            slices: None,
        }
    }

    fn report(good: u64, failed: &[(&str, u64)], examples: &[&str]) -> ToolReport {
        let failed = failed.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect();
        ToolReport {
            generators: None,
            window_s: 1.0,
            goodput_rps: good as f64,
            body_bytes: 0,
            last_good_s: (good > 0).then_some(0.999),
            waiting_at_end: Some(4),
            carried_over: 0,
            carried_over_good: 0,
            sent_in_all: Some(9),
            answered_in_all: Some(good),
            ledger: LedgerCounts { sent: Some(9), good, failed, ..LedgerCounts::default() },
            latency: Latency {
                model: "closed".to_owned(),
                percentiles: Vec::new(),
                mean_s: None,
                max_s: None,
                histogram: None,
                marks: Vec::new(),
            },
            parts: Vec::new(),
            clients: None,
            offered_rps: None,
            tool_warnings: Vec::new(),
            objectives: Vec::new(),
            aborted: false,
            examples: examples.iter().map(|example| (*example).to_owned()).collect(),
            checks: None,
            series: None,
            timeline: Vec::new(),
        }
    }

    #[test]
    fn a_window_without_a_good_answer_is_a_failure_of_a_kind() {
        let check = |failed: &[(&str, u64)], examples: &[&str], reason, tail: &str| {
            let Err(TrialError::Failed(kind, message)) = judge(&report(0, failed, examples), &scenario(&four_users()))
            else {
                panic!("it failed")
            };
            assert_eq!(kind, reason);
            assert_eq!(message, format!("9 requests were sent, none was answered correctly{tail}"));
        };
        check(&[("bad_status", 1), ("timeout", 8)], &["status 500"], FailureKind::WrongAnswer, ": status 500");
        check(&[("bad_body", 9)], &[], FailureKind::WrongAnswer, "");
        check(&[("malformed", 9)], &[], FailureKind::WrongAnswer, "");
        check(&[("timeout", 9)], &["a", "b"], FailureKind::Hung, ": a; b");
        check(&[], &[], FailureKind::Hung, "");
        check(&[("local", 9)], &["no free port"], FailureKind::ToolFailed, ": no free port");
    }

    #[test]
    fn one_good_answer_is_a_measurement() {
        assert_eq!(judged(&report(1, &[("timeout", 8)], &[])), None);
    }

    /// The judgement of a report, in words.
    fn judged(report: &ToolReport) -> Option<(FailureKind, String)> {
        judged_under(report, &four_users())
    }

    fn judged_under(report: &ToolReport, load: &LoadProfile) -> Option<(FailureKind, String)> {
        judged_in(report, &scenario(load))
    }

    fn judged_in(report: &ToolReport, scenario: &Scenario) -> Option<(FailureKind, String)> {
        match judge(report, scenario) {
            Ok(()) => None,
            Err(TrialError::Failed(kind, message)) => Some((kind, message)),
            Err(_) => panic!("judging cannot fail otherwise"),
        }
    }

    #[test]
    fn answers_to_the_warm_up_do_not_hide_that_none_came_to_the_window() {
        let carried = ToolReport { goodput_rps: 3.0, carried_over: 4, carried_over_good: 3, ..report(0, &[], &[]) };
        let silent = ToolReport { last_good_s: Some(0.1), ..carried };
        let message = "no correct response came after the first 0.100 s of the window of 1.000 s, and every user was waiting at its end";
        assert_eq!(judged(&silent), Some((FailureKind::Hung, message.to_owned())));
        let failing = ToolReport { ledger: report(0, &[("timeout", 9)], &[]).ledger, ..silent };
        let message = "9 requests were sent, none was answered correctly (and 3 of 4 carried over from the warm-up)";
        assert_eq!(judged(&failing), Some((FailureKind::Hung, message.to_owned())));
    }

    #[test]
    fn answers_that_take_longer_than_the_window_are_answers() {
        let carried = ToolReport { goodput_rps: 3.0, carried_over: 4, carried_over_good: 3, ..report(0, &[], &[]) };
        assert_eq!(judged(&ToolReport { last_good_s: Some(0.9), ..carried }), None);
    }

    /// The report of a tool that knows neither what it sent nor when the last response came.
    fn of_another_tool(good: u64, last_good_s: Option<f64>) -> ToolReport {
        let ledger = LedgerCounts { sent: None, ..report(good, &[], &[]).ledger };
        ToolReport { window_s: 9.0, waiting_at_end: None, last_good_s, ledger, ..report(good, &[], &[]) }
    }

    #[test]
    fn a_tool_that_knows_less_is_judged_by_the_wire_or_not_at_all() {
        let message = "no response came in the window";
        assert_eq!(judged(&of_another_tool(0, None)), Some((FailureKind::Hung, message.to_owned())));
        assert_eq!(judged(&of_another_tool(500, None)), None);
        assert_eq!(judged(&of_another_tool(500, Some(8.9))), None);
        assert_eq!(judged(&of_another_tool(500, Some(1.0))).unwrap().0, FailureKind::Hung);
    }

    #[test]
    fn users_that_may_pause_are_not_taken_for_users_that_wait() {
        let silent = of_another_tool(500, Some(1.0));
        let pausing = LoadProfile { think_time: Some(ThinkTime { least_s: 8.0, most_s: 8.0 }), ..four_users() };
        assert_eq!(judged_under(&silent, &pausing), None);
        let script = Some(Script { file: "users.js".to_owned(), text: String::new() });
        let tool = ToolChoice { name: LoadTool::K6, script };
        assert_eq!(judged_in(&silent, &Scenario { tool, ..scenario(&four_users()) }), None);
        // A tool that reports who was waiting is trusted.
        assert!(judged_under(&silent_since(1.0), &pausing).is_some());
    }

    #[test]
    fn a_tool_that_sent_nothing_is_what_failed() {
        let mut idle = report(0, &[], &[]);
        idle.ledger.sent = Some(0);
        assert_eq!(judged(&idle), Some((FailureKind::ToolFailed, "the load tool sent nothing".to_owned())));
        // A user that has waited since the warm-up cannot send, and a refused user pauses.
        let kind = |report| judged(&report).unwrap().0;
        let waiting = ToolReport { carried_over: 4, ..report(0, &[], &[]) };
        assert_eq!(kind(ToolReport { ledger: LedgerCounts::default(), ..waiting }), FailureKind::Hung);
        let refused = report(0, &[], &["connection refused"]);
        assert_eq!(kind(ToolReport { ledger: LedgerCounts::default(), ..refused }), FailureKind::Hung);
    }

    /// A window of 9 s whose last correct response came at `last_good_s`.
    fn silent_since(last_good_s: f64) -> ToolReport {
        ToolReport { window_s: 9.0, last_good_s: Some(last_good_s), ..report(500, &[], &[]) }
    }

    #[test]
    fn a_subject_that_falls_silent_in_the_window_hung() {
        let message = "no correct response came after the first 5.990 s of the window of 9.000 s, and every user was waiting at \
                       its end";
        assert_eq!(judged(&silent_since(5.99)), Some((FailureKind::Hung, message.to_owned())));
        let with_example = ToolReport { examples: vec!["no answer".to_owned()], ..silent_since(5.99) };
        assert_eq!(judged(&with_example), Some((FailureKind::Hung, format!("{message}: no answer"))));
        // Tolerated: a third of the window, or half a second if the window is short.
        assert_eq!(judged(&silent_since(6.01)), None);
        let short = |last_good_s| ToolReport { window_s: 0.75, ..silent_since(last_good_s) };
        assert_eq!(judged(&short(0.26)), None);
        assert!(judged(&short(0.24)).is_some());
    }

    #[test]
    fn a_subject_that_is_slow_has_not_fallen_silent() {
        let slowest = |max_s| {
            let report = silent_since(4.0);
            ToolReport { latency: Latency { max_s: Some(max_s), ..report.latency.clone() }, ..report }
        };
        assert_eq!(judged(&slowest(5.0)), None);
        assert!(judged(&slowest(4.9)).is_some());
    }

    #[test]
    fn a_subject_has_not_fallen_silent_unless_every_user_waits_for_it() {
        let some_pause = ToolReport { waiting_at_end: Some(3), ..silent_since(1.0) };
        assert_eq!(judged(&some_pause), None);
    }

    #[test]
    fn of_arrivals_by_the_clock_enough_must_wait_to_mean_silence() {
        let arrivals = |rate_rps| load(Executor::ConstantArrivalRate { rate_rps, arrivals: Arrivals::Uniform });
        let message = "no correct response came after the first 5.000 s of the window of 9.000 s, and requests were waiting at \
                       its end";
        let silent = silent_since(5.0);
        assert_eq!(judged_under(&silent, &arrivals(100.0)), Some((FailureKind::Hung, message.to_owned())));
        assert_eq!(judged_under(&ToolReport { waiting_at_end: Some(3), ..silent_since(5.0) }, &arrivals(100.0)), None);
        // At one request in ten seconds, no response is due in the last three.
        assert_eq!(judged_under(&silent, &arrivals(0.1)), None);
        let stages = vec![Stage { target: 0.0, duration_s: 5.0 }, Stage { target: 0.0, duration_s: 4.0 }];
        let over = load(Executor::RampingVus { start_vus: 9, stages });
        assert_eq!(judged_under(&silent, &over), None, "a ramp that has come down to 0 sends nothing");
    }

    #[test]
    fn a_window_that_was_cut_off_at_an_objective_is_a_measurement() {
        assert_eq!(judged(&ToolReport { aborted: true, ..silent_since(1.0) }), None);
        assert!(judged(&ToolReport { aborted: true, ..report(0, &[], &[]) }).is_some());
    }
}
