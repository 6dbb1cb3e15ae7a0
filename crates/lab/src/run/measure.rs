//! The middle of a trial: load is put on the subject, resources are read meanwhile, and the result is judged.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tolok_load::clock::{MonotonicNs, SystemClock};
use tolok_load::fault::ErrorClass;
use tolok_model::{FailureKind, LoadProfile, LoadTool, ToolUsed};

use super::beside::{Beside, Found};
use super::diagnose::{Counted, Counters};
use super::event::{Phase, RunEvent};
use super::launch::inherited_environment;
use super::objectives;
use super::trial::{Setback, Trial};
use super::trial_database::{PART, database_failed};
use crate::data;
use crate::isolate::TrialBox;
use crate::sample::{
    Folders, Followed, Members, NetOf, NoUsage, Part, Sampler, Scope, SoftwareCounters, Window, WindowUsage,
};
use crate::tools::{Answers, LoadJob, RunningTool, Tool, ToolEvent, ToolReport, Waited, driver};

/// How often resources are read when nothing else asks for it.
const SAMPLE: Duration = Duration::from_millis(100);
/// A subject that gives no good answer for this long up to the end of the window, and for the given share of it, may have
/// fallen silent for good.
const SILENCE: Duration = Duration::from_millis(500);
const SILENT_SHARE: f64 = 1.0 / 3.0;
/// How long a box that breaks may take to say so.
const BOX_TELLS: Duration = Duration::from_millis(500);
/// How often it is asked.
const POLL: Duration = Duration::from_millis(10);
/// How much longer than its job a tool may take before it counts as hung.
const TOOL_SLACK: Duration = Duration::from_secs(15);

/// What load brought.
pub(super) struct Loaded {
    pub(super) report: ToolReport,
    pub(super) usage: WindowUsage,
    /// Proportional set sizes of the subject, read when the window had ended.
    pub(super) pss_bytes: Option<u64>,
    pub(super) window: Window,
    /// What was counted in the window, if that was the purpose.
    pub(super) counted: Option<Counted>,
    /// What was found beside the load.
    pub(super) beside: Found,
}

/// Follows everything that has a part in a trial, by its control group where there is one. In a box in which nothing was
/// started yet, so that the kernel's counters count from the first program on.
pub(super) fn sampler(trial_box: &TrialBox) -> Sampler {
    let init = trial_box.init_pid();
    let group = |part: &str| trial_box.group(part).cloned().map(Members::Group);
    // What passes through the machine's own interfaces is everybody's.
    let net_of = (trial_box.isolation().network != "host").then_some(NetOf::Process(init));
    let members = group("subject").unwrap_or(Members::Below(init));
    let subject = Followed { part: Part::Subject, members, net_of };
    // What none of them used counts as somebody else's.
    let process = |pid: Option<u32>| pid.map(Members::Process);
    let others = [
        (Part::Generator, group("generator")),
        // Two links share a control group, and each is a process that starts no other.
        (Part::Link, process(trial_box.link_pid())),
        (Part::DatabaseLink, process(trial_box.database_link_pid())),
        (Part::Lab, group("lab").or(process(Some(std::process::id())))),
    ];
    let followed =
        others.into_iter().filter_map(|(part, members)| Some(Followed { part, members: members?, net_of: None }));
    let own = [Some(subject), database(trial_box)].into_iter().flatten();
    let mut sampler = Sampler::new(SystemClock, Folders::default(), own.chain(followed).collect());
    sampler.count_events(Part::Subject, SoftwareCounters::attach(&scopes(trial_box)));
    if let Some(scope) = trial_box.group("database").and_then(Scope::of) {
        sampler.count_events(Part::Database, SoftwareCounters::attach(&[scope]));
    }
    sampler
}

/// The database as a part that is followed, if it is one. Where it has no control group, the processes of it that are started
/// later must be added.
fn database(trial_box: &TrialBox) -> Option<Followed> {
    trial_box.isolation().database_network.as_ref()?;
    let group = trial_box.group("database").cloned().map(Members::Group);
    let members = group.unwrap_or_else(|| Members::Trees(trial_box.pids_of("database")));
    let net_of = trial_box.has_database_network().then_some(NetOf::Members);
    Some(Followed { part: Part::Database, members, net_of })
}

/// Where the kernel can count what the subject does: in its control group, else below the first process of the box, unless
/// there are others of the box below it.
pub(super) fn scopes(trial_box: &TrialBox) -> Vec<Scope> {
    let group = trial_box.group("subject").and_then(Scope::of);
    let is_alone = trial_box.isolation().database_network.is_none();
    group.into_iter().chain(is_alone.then(|| Scope::Below(trial_box.init_pid()))).collect()
}

impl Trial<'_> {
    /// Puts the scenario's load on the subject and reads resources all the while.
    pub(super) fn load(
        &self,
        trial_box: &mut TrialBox,
        sampler: &mut Sampler,
        counters: Option<Counters>,
        beside: Option<Beside<'_>>,
        (address, clock): (SocketAddr, Instant),
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Loaded, Setback> {
        let (job, tool) = (self.job(address), self.tool()?);
        let commands = [self.commands.clone(), tool.command_lines(&job)].concat();
        self.folder.write("command.txt", (commands.join("\n") + "\n").as_bytes())?;
        let placement = trial_box.placement("generator", &self.cpus.generator);
        let name = tool.driver.tool().word();
        let not_started = |error| tool_failed(format!("cannot start {name}: {error}"));
        let mut tool = tool.start(&job, placement, self.folder.path()).map_err(not_started)?;
        let (has_group, mut pid) = (trial_box.group("generator").is_some(), tool.pid());
        if !has_group {
            sampler.follow(Followed { part: Part::Generator, members: Members::Trees(vec![pid]), net_of: None });
        }
        emit(RunEvent::Phase { phase: Phase::WarmingUp });
        let load = &self.scenario.load;
        let limit = Duration::from_secs_f64(load.warmup_s + load.duration_s) + TOOL_SLACK;
        let deadline = Instant::now() + limit;
        let (began, ended, last_tick) = (None, None, Instant::now());
        let mut readings = Readings { sampler, counters, beside, clock, began, ended, last_tick };
        loop {
            let patience = readings.patience();
            let waited = tool.wait_event(patience).map_err(not_started)?;
            if waited == Waited::Ended {
                break;
            }
            if !has_group && tool.pid() != pid {
                pid = tool.pid();
                readings.sampler.add_process(Part::Generator, pid);
            }
            readings.hear(waited, patience, trial_box, emit);
            readings.look_after_the_database(trial_box)?;
            // A subject that has ended gives no more answers, so there is nothing to wait for.
            self.nothing_has_ended(trial_box, "while load was on it")?;
            if self.stop.is_immediate() {
                return Err(Setback::Stopped);
            }
            if Instant::now() > deadline {
                let limit = limit.as_secs();
                return Err(tool_failed(format!("{name} did not end within {limit} s and was killed; see its output")));
            }
        }
        // A tool that finds nobody to talk to has nothing to say that is worth more than why.
        self.nothing_has_ended(trial_box, "while load was on it")?;
        let mut report = report_of(tool, trial_box)?;
        if report.objectives.is_empty() {
            report.objectives = objectives::judged(&self.scenario.objectives, &report);
        }
        if self.scenario.tool.name != LoadTool::Tolok {
            // Its exit code says nothing of the subject.
            self.launch.still_answers(trial_box, address, &self.workload)?;
        }
        readings.finish(report, trial_box)
    }

    fn job(&self, address: SocketAddr) -> LoadJob<'_> {
        LoadJob {
            url: format!("http://{address}{}", self.workload.path),
            method: &self.workload.method,
            status: self.workload.status,
            answers: self.answers(),
            body_bytes: self.body_bytes(),
            scenario: self.scenario,
            cpus: self.cpus.generator.len(),
            seed: self.seed,
        }
    }

    /// What good answers are told by.
    fn answers(&self) -> Answers {
        let assets = &self.session.assets;
        match (assets.answers(&self.workload), assets.file(&self.workload)) {
            (data::Answers::Many(_), Some(file)) => Answers::Requests(file),
            (_, Some(file)) => Answers::Body(file),
            (_, None) => Answers::Status,
        }
    }

    /// Length of the body that every good answer has, where all have the same.
    fn body_bytes(&self) -> Option<u64> {
        match self.answers() {
            Answers::Body(_) => Some(self.session.assets.body(&self.workload).len() as u64),
            Answers::Requests(_) | Answers::Status => None,
        }
    }

    /// The scenario's load generator, as a record names it.
    pub(super) fn tool_used(&self) -> Result<ToolUsed, Setback> {
        let tool = self.tool()?;
        Ok(ToolUsed { name: tool.driver.tool().word().to_owned(), version: tool.version })
    }

    /// The scenario's load generator.
    fn tool(&self) -> Result<Tool, Setback> {
        let (name, laboratory) = (self.scenario.tool.name, self.session.laboratory);
        let driver = driver(name);
        let mut env = inherited_environment();
        let Some(program) = name.program() else {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            return Ok(Tool { driver, program: laboratory.tolok.clone(), version, env });
        };
        let missing = || tool_failed(format!("{program} is not on this machine any more: tolok setup {program}"));
        let found = laboratory.programs.get(program).ok_or_else(missing)?;
        env.extend(found.env.clone());
        Ok(Tool { driver, program: found.path.clone(), version: found.version.clone(), env })
    }
}

/// What is read and done while load is on.
struct Readings<'s, 'b> {
    sampler: &'s mut Sampler,
    counters: Option<Counters>,
    beside: Option<Beside<'b>>,
    /// Since when the samples' times count.
    clock: Instant,
    began: Option<MonotonicNs>,
    ended: Option<WindowEnd>,
    last_tick: Instant,
}

/// When the window ended, what was used in it, and proportional set sizes right after it.
type WindowEnd = (MonotonicNs, Result<WindowUsage, NoUsage>, BTreeMap<Part, u64>);

impl Readings<'_, '_> {
    /// How long nothing may be heard of the tool until something is due.
    fn patience(&self) -> Duration {
        self.beside.as_ref().map_or(SAMPLE, |beside| beside.patience(SAMPLE))
    }

    /// Reads what is due after the tool was waited for.
    fn hear(&mut self, waited: Waited, patience: Duration, trial_box: &mut TrialBox, emit: &mut dyn FnMut(RunEvent)) {
        let at_s = self.clock.elapsed().as_secs_f64();
        if let Some(counters) = &mut self.counters {
            counters.read();
        }
        match waited {
            Waited::Event(ToolEvent::WindowStarted { monotonic_ns }) => {
                let began = MonotonicNs(monotonic_ns);
                self.began = Some(began);
                self.sampler.window_starts(at_s, began);
                if let Some(beside) = &mut self.beside {
                    beside.window_started(began, trial_box);
                }
                emit(RunEvent::Phase { phase: Phase::Measuring });
            }
            Waited::Event(ToolEvent::WindowEnded { monotonic_ns }) => {
                let ended = MonotonicNs(monotonic_ns);
                let usage = self.sampler.window_ends(at_s, ended);
                if let Some(beside) = &mut self.beside {
                    beside.window_ended(trial_box);
                }
                self.ended = Some((ended, usage, self.sampler.after_load()));
            }
            // While something may happen at any moment, the tool is waited for in shorter steps than are worth a reading.
            Waited::Event(ToolEvent::Second) | Waited::Nothing => {
                if self.last_tick.elapsed() >= patience.max(SAMPLE / 2) {
                    self.sampler.tick(at_s);
                    self.last_tick = Instant::now();
                }
            }
            Waited::Ended => {}
        }
    }

    /// Takes what steps are due there; fails if the database has ended and should not have.
    fn look_after_the_database(&mut self, trial_box: &mut TrialBox) -> Result<(), Setback> {
        let Some(beside) = &mut self.beside else { return Ok(()) };
        if beside.step(trial_box)? {
            // Where it has a group, the group has its new processes already.
            trial_box.pids_of(PART).into_iter().for_each(|pid| self.sampler.add_process(Part::Database, pid));
        }
        match beside.database_has_ended(trial_box)? {
            Some(how) => Err(database_failed(format!("{how} while load was on the subject"))),
            None => Ok(()),
        }
    }

    fn finish(self, report: ToolReport, trial_box: &mut TrialBox) -> Result<Loaded, Setback> {
        let silent = || tool_failed("the load tool did not say when its window began and ended".to_owned());
        let (began, (ended, usage, pss)) = self.began.zip(self.ended).ok_or_else(silent)?;
        let (window, usage) = (Window { began, ended }, usage.map_err(Setback::lab)?);
        let counted = self.counters.map(|counters| counters.counted(window));
        let beside = self.beside.map(|beside| beside.finish(trial_box)).transpose()?.unwrap_or_default();
        Ok(Loaded { report, usage, pss_bytes: pss.get(&Part::Subject).copied(), window, counted, beside })
    }
}

fn tool_failed(message: String) -> Setback {
    Setback::Failed(FailureKind::ToolFailed, message)
}

/// What a tool that has closed its events found.
fn report_of(tool: RunningTool<'_>, trial_box: &mut TrialBox) -> Result<ToolReport, Setback> {
    match tool.finish() {
        Ok(report) => Ok(report),
        Err(message) => {
            // A box that breaks takes the tool with it, and tells so a moment later.
            let deadline = Instant::now() + BOX_TELLS;
            while Instant::now() < deadline {
                trial_box.exits()?;
                std::thread::sleep(POLL);
            }
            Err(tool_failed(message))
        }
    }
}

/// A window without a single good answer to its own requests is a failure, and the classes of its errors say which. So is
/// one in which the subject fell silent.
pub(super) fn judge(report: &ToolReport, load: &LoadProfile) -> Result<(), Setback> {
    match report.ledger.good {
        // Where answers take longer than the window, those that come in it were asked for in the warm-up.
        0 if report.carried_over_good > 0 && report.ledger.failed_total() == 0 => still_answering(report, load),
        0 => Err(nothing_good(report)),
        // A window that was cut off where an objective was crossed may well end in silence, and says why it ended.
        _ if report.aborted => Ok(()),
        _ => still_answering(report, load),
    }
}

fn nothing_good(report: &ToolReport) -> Setback {
    let (sent, carried_over) = (report.ledger.sent.unwrap_or(report.ledger.finished()), report.carried_over);
    // Errors tell of a warm-up so bad that all users were pausing after dead connections; that is no fault of the tool.
    if sent == 0 && carried_over == 0 && report.examples.is_empty() {
        return Setback::Failed(FailureKind::ToolFailed, "the load tool sent nothing".to_owned());
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
    Setback::Failed(reason, format!("{sent} requests were sent, none was answered as it should{carried}{examples}"))
}

/// Fails if everybody who could wait was left waiting, and for longer than a slow subject would explain. The time-out does not find that
/// out where it is longer than the rest of the window, and the rate of the first part would pass for that of the whole.
/// A subject whose answers take long is silent for up to the length of one, so the longest seen is waited for as well.
fn still_answering(report: &ToolReport, load: &LoadProfile) -> Result<(), Setback> {
    let last_good_s = report.last_good_s.unwrap_or_default();
    let tolerated_s =
        SILENCE.as_secs_f64().max(report.window_s * SILENT_SHARE).max(report.latency.max_s.unwrap_or_default());
    let all_wait = load
        .waiting_if_silent(tolerated_s)
        .is_some_and(|waiting| report.waiting_at_end.is_none_or(|all| all >= waiting));
    if !all_wait || report.window_s - last_good_s <= tolerated_s {
        return Ok(());
    }
    let message = format!(
        "no good answer came after the first {last_good_s:.3} s of the window of {:.3} s, and {} at its end{}",
        report.window_s,
        if load.executor.is_open() { "requests were waiting" } else { "every user was waiting" },
        examples(report)
    );
    Err(Setback::Failed(FailureKind::Hung, message))
}

/// What went wrong, as the end of a sentence; nothing where nothing is known.
fn examples(report: &ToolReport) -> String {
    if report.examples.is_empty() { String::new() } else { format!(": {}", report.examples.join("; ")) }
}

#[cfg(test)]
mod tests {
    use tolok_model::{Arrivals, Connection, Executor, Latency, LedgerCounts, Pool, Stage};

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
        }
    }

    fn four_users() -> LoadProfile {
        load(Executor::ConstantVus { vus: 4 })
    }

    fn report(good: u64, failed: &[(&str, u64)], examples: &[&str]) -> ToolReport {
        let failed = failed.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect();
        ToolReport {
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
            offered_rps: None,
            doubts: Vec::new(),
            objectives: Vec::new(),
            aborted: false,
            examples: examples.iter().map(|example| (*example).to_owned()).collect(),
            timeline: Vec::new(),
        }
    }

    #[test]
    fn a_window_without_a_good_answer_is_a_failure_of_a_kind() {
        let check = |failed: &[(&str, u64)], examples: &[&str], reason, tail: &str| {
            let Err(Setback::Failed(kind, message)) = judge(&report(0, failed, examples), &four_users()) else {
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
        assert!(judge(&report(1, &[("timeout", 8)], &[]), &four_users()).is_ok());
    }

    /// What a report is judged to be, in words.
    fn judged(report: &ToolReport) -> Option<(FailureKind, String)> {
        judged_under(report, &four_users())
    }

    fn judged_under(report: &ToolReport, load: &LoadProfile) -> Option<(FailureKind, String)> {
        match judge(report, load) {
            Ok(()) => None,
            Err(Setback::Failed(kind, message)) => Some((kind, message)),
            Err(_) => panic!("judging neither writes nor stops"),
        }
    }

    #[test]
    fn answers_to_the_warm_up_do_not_hide_that_none_came_to_the_window() {
        let carried = ToolReport { goodput_rps: 3.0, carried_over: 4, carried_over_good: 3, ..report(0, &[], &[]) };
        let silent = ToolReport { last_good_s: Some(0.1), ..carried };
        let message = "no good answer came after the first 0.100 s of the window of 1.000 s, and every user was waiting at its end";
        assert_eq!(judged(&silent), Some((FailureKind::Hung, message.to_owned())));
        let failing = ToolReport { ledger: report(0, &[("timeout", 9)], &[]).ledger, ..silent };
        let message = "9 requests were sent, none was answered as it should (and 3 of 4 carried over from the warm-up)";
        assert_eq!(judged(&failing), Some((FailureKind::Hung, message.to_owned())));
    }

    #[test]
    fn answers_that_take_longer_than_the_window_are_answers() {
        let carried = ToolReport { goodput_rps: 3.0, carried_over: 4, carried_over_good: 3, ..report(0, &[], &[]) };
        assert_eq!(judged(&ToolReport { last_good_s: Some(0.9), ..carried }), None);
    }

    #[test]
    fn a_tool_that_sent_nothing_is_what_failed() {
        let mut idle = report(0, &[], &[]);
        idle.ledger.sent = Some(0);
        assert_eq!(judged(&idle), Some((FailureKind::ToolFailed, "the load tool sent nothing".to_owned())));
        // Whoever waits since the warm-up cannot send; and whoever was refused then pauses.
        let kind = |report| judged(&report).unwrap().0;
        let waiting = ToolReport { carried_over: 4, ..report(0, &[], &[]) };
        assert_eq!(kind(ToolReport { ledger: LedgerCounts::default(), ..waiting }), FailureKind::Hung);
        let refused = report(0, &[], &["connection refused"]);
        assert_eq!(kind(ToolReport { ledger: LedgerCounts::default(), ..refused }), FailureKind::Hung);
    }

    /// A window of 9 s of which the last good answer came at `last_good_s`.
    fn silent_since(last_good_s: f64) -> ToolReport {
        ToolReport { window_s: 9.0, last_good_s: Some(last_good_s), ..report(500, &[], &[]) }
    }

    #[test]
    fn a_subject_that_falls_silent_in_the_window_hung() {
        let message = "no good answer came after the first 5.990 s of the window of 9.000 s, and every user was waiting at \
                       its end";
        assert_eq!(judged(&silent_since(5.99)), Some((FailureKind::Hung, message.to_owned())));
        let with_example = ToolReport { examples: vec!["no answer".to_owned()], ..silent_since(5.99) };
        assert_eq!(judged(&with_example), Some((FailureKind::Hung, format!("{message}: no answer"))));
        // A third of the window is tolerated, and half a second of a short one.
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
        let message = "no good answer came after the first 5.000 s of the window of 9.000 s, and requests were waiting at \
                       its end";
        let silent = silent_since(5.0);
        assert_eq!(judged_under(&silent, &arrivals(100.0)), Some((FailureKind::Hung, message.to_owned())));
        assert_eq!(judged_under(&ToolReport { waiting_at_end: Some(3), ..silent_since(5.0) }, &arrivals(100.0)), None);
        // One request in ten seconds: nobody can expect an answer in the last three.
        assert_eq!(judged_under(&silent, &arrivals(0.1)), None);
        let stages = vec![Stage { target: 0.0, duration_s: 5.0 }, Stage { target: 0.0, duration_s: 4.0 }];
        let over = load(Executor::RampingVus { start_vus: 9, stages });
        assert_eq!(judged_under(&silent, &over), None, "a ramp that has come down to 0 asks for nothing");
    }

    #[test]
    fn a_window_that_was_cut_off_at_an_objective_is_a_measurement() {
        assert_eq!(judged(&ToolReport { aborted: true, ..silent_since(1.0) }), None);
        assert!(judged(&ToolReport { aborted: true, ..report(0, &[], &[]) }).is_some());
    }
}
