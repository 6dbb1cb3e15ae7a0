//! The middle of a trial: load is put on the subject, resources are read meanwhile, and the result is judged.

use std::time::{Duration, Instant};

use tolok_load::fault::ErrorClass;
use tolok_model::{FailureKind, HostWindow, Measurement};

use super::event::{Phase, RunEvent};
use super::trial::{Setback, Trial};
use crate::isolate::TrialBox;
use crate::sample::{Sampler, WindowUsage};
use crate::tools::{LoadJob, RunningTool, ToolEvent, ToolReport, Waited, arguments};

/// How often resources are read when nothing else asks for it.
const SAMPLE: Duration = Duration::from_secs(1);
/// How much longer than its job a tool may take before it counts as hung.
const TOOL_SLACK: Duration = Duration::from_secs(15);

impl Trial<'_> {
    /// Puts the scenario's load on the subject, and reads resources as the window opens, each second, and as it closes.
    pub(super) fn load(
        &self,
        trial_box: &mut TrialBox,
        sampler: &mut Sampler,
        port: u16,
        clock: Instant,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(ToolReport, WindowUsage), Setback> {
        let job = self.job(port);
        let commands = [self.commands.clone(), vec![format!("tolok {}", arguments(&job).join(" "))]].concat();
        self.folder.write("command.txt", (commands.join("\n") + "\n").as_bytes())?;
        let tool = self.start_tool(&job)?;
        sampler.follow_generator(tool.pid());
        emit(RunEvent::Phase { phase: Phase::WarmingUp });
        let limit = Duration::from_secs_f64(job.load.warmup_s + job.load.duration_s) + TOOL_SLACK;
        let deadline = Instant::now() + limit;
        let mut usage = None;
        loop {
            let waited = tool.wait_event(SAMPLE);
            let at_s = clock.elapsed().as_secs_f64();
            match waited {
                Waited::Event(ToolEvent::WindowStarted) => {
                    sampler.window_starts(at_s);
                    emit(RunEvent::Phase { phase: Phase::Measuring });
                }
                Waited::Event(ToolEvent::WindowEnded) => usage = sampler.window_ends(at_s),
                Waited::Event(ToolEvent::Second) | Waited::Nothing => sampler.read(at_s),
                Waited::Ended => break,
            }
            // A subject that has ended gives no more answers, so there is nothing to wait for.
            self.nothing_has_ended(trial_box, "while load was on it")?;
            if self.stop.is_immediate() {
                return Err(Setback::Stopped);
            }
            if Instant::now() > deadline {
                let message = format!("the load tool did not end within {} s", limit.as_secs());
                return Err(Setback::Failed(FailureKind::ToolFailed, message));
            }
        }
        let tool_failed = |message| Setback::Failed(FailureKind::ToolFailed, message);
        let report = tool.finish().map_err(tool_failed)?;
        let silent = || tool_failed("the load tool did not say when its window began and ended".to_owned());
        Ok((report, usage.ok_or_else(silent)?))
    }

    fn job(&self, port: u16) -> LoadJob<'_> {
        LoadJob {
            url: format!("http://127.0.0.1:{port}{}", self.workload.path),
            status: self.workload.status,
            body: self.session.assets.file(self.workload),
            load: &self.scenario.load,
        }
    }

    fn start_tool(&self, job: &LoadJob<'_>) -> Result<RunningTool, Setback> {
        let tolok = &self.session.laboratory.tolok;
        let started = RunningTool::start(tolok, job, &self.session.cpus.generator, self.folder.path());
        started
            .map_err(|error| Setback::Failed(FailureKind::ToolFailed, format!("cannot start the load tool: {error}")))
    }
}

/// A window without a single good answer is a failure, and the classes of its errors say which.
pub(super) fn judge(report: &ToolReport) -> Result<(), Setback> {
    if report.goodput_rps > 0.0 {
        return Ok(());
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
    let examples = if report.examples.is_empty() { String::new() } else { format!(": {}", report.examples.join("; ")) };
    let sent = report.ledger.sent;
    Err(Setback::Failed(reason, format!("{sent} requests were sent, none was answered as it should{examples}")))
}

pub(super) fn measurement(report: ToolReport, usage: WindowUsage, cold_start_s: f64, load_average: f64) -> Measurement {
    let foreign_cpu_s = usage.host.busy_s - usage.subject.cpu_s - usage.generator.cpu_s;
    Measurement {
        cold_start_s,
        window_s: report.window_s,
        goodput_rps: report.goodput_rps,
        body_bytes: report.body_bytes,
        ledger: report.ledger,
        latency: report.latency,
        // The machine counts in hundredths of a second, the parts in nanoseconds: a small difference is no time at all.
        host: HostWindow { foreign_cpu_s: foreign_cpu_s.max(0.0), steal_s: usage.host.steal_s, load_average },
        subject: usage.subject,
        generator: usage.generator,
    }
}

#[cfg(test)]
mod tests {
    use tolok_model::{Latency, LedgerCounts, Resources};

    use super::*;
    use crate::sample::HostTimes;

    fn report(goodput_rps: f64, failed: &[(&str, u64)], examples: &[&str]) -> ToolReport {
        let failed = failed.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect();
        ToolReport {
            window_s: 1.0,
            goodput_rps,
            body_bytes: 0,
            ledger: LedgerCounts { sent: 9, failed, ..LedgerCounts::default() },
            latency: Latency {
                model: "closed".to_owned(),
                percentiles: Vec::new(),
                max_s: 0.0,
                histogram: String::new(),
            },
            examples: examples.iter().map(|example| (*example).to_owned()).collect(),
            timeline: Vec::new(),
        }
    }

    #[test]
    fn a_window_without_a_good_answer_is_a_failure_of_a_kind() {
        let check = |failed: &[(&str, u64)], examples: &[&str], reason, tail: &str| {
            let Err(Setback::Failed(kind, message)) = judge(&report(0.0, failed, examples)) else {
                panic!("it failed")
            };
            assert_eq!(kind, reason);
            assert_eq!(message, format!("9 requests were sent, none was answered as it should{tail}"));
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
        assert!(judge(&report(0.1, &[("timeout", 8)], &[])).is_ok());
    }

    #[test]
    fn what_neither_part_used_is_foreign_and_never_negative() {
        let used = |cpu_s| Resources { cpu_s, ..Resources::default() };
        let foreign = |busy_s| {
            let host = HostTimes { busy_s, steal_s: 0.2 };
            let usage = WindowUsage { subject: used(1.0), generator: used(0.5), host };
            measurement(report(1.0, &[], &[]), usage, 0.1, 2.5).host
        };
        assert_eq!(foreign(1.75), HostWindow { foreign_cpu_s: 0.25, steal_s: 0.2, load_average: 2.5 });
        assert_eq!(foreign(1.49).foreign_cpu_s, 0.0);
    }
}
