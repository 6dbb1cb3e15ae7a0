//! The middle of a trial: puts load on the subject, samples resources, and judges the result.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_load::generators::TOKEN;
use tolok_model::{FailureKind, LoadTool, ToolUsed};

use crate::data_contract as data;
use crate::run::database::trial_database::{PART, database_failed};
use crate::run::database::watch::{DatabaseWatch, Found};
use crate::run::events::event::{Phase, TrialEvent};
use crate::run::server::diagnose::{Counted, Counters};
use crate::run::server::launch::inherited_environment;
use crate::run::server::trial::{Trial, TrialError};
use crate::run::session::Generators;
use crate::tools::{RunningTool, Tool, Waited};
use tolok_host::guard::Guard;
use tolok_host::isolate::{Placement, TrialBox};
use tolok_host::machine;
use tolok_host::sample::{
    Folders, Followed, Members, NetOf, NoUsage, Part, Sampler, Scope, SoftwareCounters, Window, WindowUsage, WireLine,
    WireWatch,
};
use tolok_store::recompute::WIRE;
use tolok_store::recompute::objectives;
use tolok_tools::{Answers, LoadJob, Requests, ToolEvent, ToolReport, driver};

/// How often resources are read when nothing else asks for it.
const SAMPLE: Duration = Duration::from_millis(100);
/// How long a box that breaks may take to say so.
const BOX_TELLS: Duration = Duration::from_millis(500);
/// How often it is asked.
const POLL: Duration = Duration::from_millis(10);
/// After its load a subject is given the time-out of its requests to answer once more, but no longer than this.
const STILL_ANSWERS_LIMIT_S: f64 = 10.0;
/// How much longer than its job a tool may take before it counts as hung.
const TOOL_SLACK: Duration = Duration::from_secs(15);

/// What load brought.
pub(in crate::run) struct Loaded {
    pub(in crate::run) report: ToolReport,
    /// Proportional set sizes of the subject, read when the window had ended.
    pub(in crate::run) pss_bytes: Option<u64>,
    pub(in crate::run) window: Window,
    /// What was counted in the window, if that was the purpose.
    pub(in crate::run) counted: Option<Counted>,
    /// What was found beside the load.
    pub(in crate::run) beside: Found,
}

/// Follows everything that has a part in a trial, by its control group where there is one. In a box in which nothing was
/// started yet, so that the kernel's counters count from the first program on.
///
/// A subject that tolok did not start is not followed: its part of the box is empty, and would be read as one that does nothing.
pub(in crate::run) fn sampler(trial_box: &TrialBox, has_subject: bool) -> Sampler {
    let init = trial_box.init_pid();
    let group = |part: &str| trial_box.group(part).cloned().map(Members::Group);
    // The machine's own interfaces carry the traffic of all programs.
    let net_of = (trial_box.isolation().network != "host").then_some(NetOf::Process(init));
    let members = group("subject").unwrap_or(Members::Below(init));
    let subject = Followed { part: Part::Subject, members, net_of };
    // CPU time that no part used counts as that of other programs.
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
    let own = [has_subject.then_some(subject), database(trial_box)].into_iter().flatten();
    let mut sampler = Sampler::new(SystemClock, Folders::default(), own.chain(followed).collect());
    if has_subject {
        sampler.count_events(Part::Subject, SoftwareCounters::attach(&scopes(trial_box)));
    }
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
pub(in crate::run) fn scopes(trial_box: &TrialBox) -> Vec<Scope> {
    let group = trial_box.group("subject").and_then(Scope::of);
    let is_alone = trial_box.isolation().database_network.is_none();
    group.into_iter().chain(is_alone.then(|| Scope::Below(trial_box.init_pid()))).collect()
}

impl Trial<'_> {
    /// Reads resources and takes what steps are due until the tool ends.
    fn follow(
        &self,
        tool: &mut RunningTool<'_>,
        readings: &mut Readings<'_, '_>,
        trial_box: &mut TrialBox,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<(), TrialError> {
        let (name, load) = (self.scenario.tool.name.word(), &self.scenario.load);
        // Most end only once the last answer has come or its time is up.
        let limit = Duration::from_secs_f64(load.warmup_s + load.duration_s + load.timeout_s) + TOOL_SLACK;
        let deadline = Instant::now() + limit;
        let (has_group, mut pid) = (trial_box.group("generator").is_some(), tool.pid());
        loop {
            let patience = readings.patience();
            let waited = tool.wait_event(patience);
            let waited = waited.map_err(|error| tool_failed(format!("cannot start {name}: {error}")))?;
            if waited == Waited::Ended {
                return Ok(());
            }
            if !has_group && tool.pid() != pid {
                pid = tool.pid();
                readings.sampler.add_process(Part::Generator, pid);
            }
            let second = match &waited {
                Waited::Event(ToolEvent::Second { second, .. }) => Some(second.clone()),
                Waited::Event(ToolEvent::GeneratorLost { generator, reason }) => {
                    return Err(self.note_lost_generator(generator, reason));
                }
                _ => None,
            };
            readings.hear(waited, patience, trial_box, emit)?;
            // After the readings that are due: a listener may take a while.
            second.into_iter().for_each(|second| emit(TrialEvent::Second(second)));
            readings.look_after_the_database(trial_box)?;
            // A subject that has ended gives no more answers, so there is nothing to wait for.
            self.nothing_has_ended(trial_box, "while load was on it")?;
            if self.stop.is_immediate() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() > deadline {
                let limit = limit.as_secs();
                return Err(tool_failed(format!("{name} did not end within {limit} s and was killed; see its output")));
            }
        }
    }

    /// Without its generator the trial has no outcome, and the block ends.
    fn note_lost_generator(&self, node: &str, why: &str) -> TrialError {
        if let Some(generators) = &self.session.generators {
            let _ = generators.lost.set((node.to_owned(), why.to_owned()));
        }
        TrialError::Stopped
    }

    /// Puts the scenario's load on the subject and reads resources all the while.
    pub(in crate::run) fn load(
        &self,
        trial_box: &mut TrialBox,
        sampler: &mut Sampler,
        counters: Option<Counters>,
        beside: Option<DatabaseWatch<'_>>,
        (address, clock): (SocketAddr, Instant),
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Loaded, TrialError> {
        let generators = self.session.generators.as_ref().map(Generators::arguments).unwrap_or_default();
        let (job, tool) = (LoadJob { generators: &generators, ..self.job(address) }, self.tool()?);
        let commands = [self.commands.clone(), tool.command_lines(&job)].concat();
        self.folder.write("command.txt", (commands.join("\n") + "\n").as_bytes())?;
        let placement = self.place_of_tool(&tool, trial_box)?;
        let name = tool.driver.tool().word();
        let not_started = |error| tool_failed(format!("cannot start {name}: {}", machine::not_started(&error)));
        // Before the first question, so that all answers are counted.
        let wire = self.referee(trial_box, address);
        let mut tool = tool.start(&job, placement, self.folder.folder()).map_err(not_started)?;
        if trial_box.group("generator").is_none() {
            let members = Members::Trees(vec![tool.pid()]);
            sampler.follow(Followed { part: Part::Generator, members, net_of: None });
        }
        emit(TrialEvent::Phase { phase: Phase::WarmingUp });
        let (began, ended, last_tick) = (None, None, Instant::now());
        let is_silent = tool.is_silent_before_window();
        let mut readings = Readings { sampler, counters, beside, wire, is_silent, clock, began, ended, last_tick };
        self.follow(&mut tool, &mut readings, trial_box, emit)?;
        // A tool that finds no one to talk to has nothing to say that is worth more than why.
        self.nothing_has_ended(trial_box, "while load was on it")?;
        let report = report_of(tool, trial_box);
        if self.scenario.tool.name != LoadTool::Tolok {
            // Neither its exit code nor its words say whether the subject is still there; and a tool that gives up because
            // no one answers is not what failed.
            let limit = Duration::from_secs_f64(self.scenario.load.timeout_s.clamp(1.0, STILL_ANSWERS_LIMIT_S));
            match self.external {
                Some(server) => self.is_there(server, address)?,
                None => self.launch.still_answers(trial_box, address, &self.workload, limit)?,
            }
        }
        let mut report = report.or_else(|failed| self.or_unreachable(failed, address))?;
        if report.objectives.is_empty() {
            report.objectives = objectives::judged(&self.scenario.objectives, &report);
        }
        let wire_lines = readings.wire_lines();
        if !wire_lines.is_empty() {
            self.folder.write_lines(WIRE, &wire_lines)?;
        }
        readings.finish(report, trial_box)
    }

    /// Where the tool runs, and what it gives up. tolok's own engine writes where the lab does; another tool has a private
    /// folder and an account of its own.
    fn place_of_tool(&self, tool: &Tool, trial_box: &mut TrialBox) -> Result<Placement, TrialError> {
        if tool.driver.tool() != LoadTool::Tolok {
            return Ok(trial_box.guarded_placement("generator", self.cpus.of_lab())?);
        }
        let placement = trial_box.placement("generator", self.cpus.of_lab());
        Ok(Placement { guard: Some(Guard::of_engine()), ..placement })
    }

    /// Lets the kernel count the answers, if they are to be counted. Where that cannot be had, there is no count, and what
    /// follows from it is not known.
    fn referee(&self, trial_box: &mut TrialBox, address: SocketAddr) -> Option<WireWatch> {
        if !self.has_referee {
            return None;
        }
        let (answers, answers_2xx) = (trial_box.packet_socket().ok()?, trial_box.packet_socket().ok()?);
        let mut watch = WireWatch::attach(answers, answers_2xx, address.port()).ok()?;
        watch.read(SystemClock.now()).ok()?;
        Some(watch)
    }

    pub(in crate::run) fn job(&self, address: SocketAddr) -> LoadJob<'_> {
        LoadJob {
            url: match self.external {
                Some(server) => format!("{}{}", server.base, self.workload.path),
                None => format!("{}://{address}{}", self.scenario.protocol.scheme(), self.workload.path),
            },
            method: &self.workload.method,
            sent: self.session.assets.sent_file(&self.workload),
            status: self.workload.status,
            answers: self.answers(),
            body_bytes: self.body_bytes(),
            scenario: self.scenario,
            cpus: self.cpus.of_lab().len(),
            seed: self.seed,
            generators: &[],
        }
    }

    /// How to recognise correct responses.
    fn answers(&self) -> Answers {
        if let Some(own) = self.own_request() {
            return self.owed(own);
        }
        let assets = &self.session.assets;
        let requests = |file| {
            let list = self.workload.list();
            let data = assets.data_file(&self.workload).zip(list.map(|list| list.data_order));
            Answers::Requests(Requests { file, data, sequence: list.is_some_and(|list| list.sequence) })
        };
        match (assets.answers(&self.workload), assets.file(&self.workload)) {
            (_, Some(file)) if !self.workload.is_single() => requests(file),
            (data::Answers::Many(_), Some(file)) => requests(file),
            (_, Some(file)) => Answers::Body(file),
            (_, None) => match self.workload.body.varying().and_then(|varying| varying.bytes) {
                Some(bytes) => Answers::Length(bytes),
                None => Answers::Status,
            },
        }
    }

    /// Length of the body that every correct response has, where all have the same.
    pub(in crate::run) fn body_bytes(&self) -> Option<u64> {
        match self.answers() {
            _ if self.own_request().is_some() => self.own_request().and_then(|own| own.body.length()),
            Answers::Body(_) => Some(self.session.assets.body(&self.workload).len() as u64),
            Answers::Length(bytes) => Some(bytes),
            Answers::Requests(_) | Answers::Status => None,
        }
    }

    /// The scenario's load generator, as a record names it.
    pub(in crate::run) fn tool_used(&self) -> Result<ToolUsed, TrialError> {
        let tool = self.tool()?;
        Ok(ToolUsed { name: tool.driver.tool().word().to_owned(), version: tool.version })
    }

    fn tool(&self) -> Result<Tool, TrialError> {
        let (name, laboratory) = (self.scenario.tool.name, self.session.laboratory);
        let driver = driver(name);
        let mut env = inherited_environment();
        let Some(program) = name.program() else {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            env.extend(self.session.generators.iter().map(|it| (TOKEN.to_owned(), it.token.clone())));
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
    beside: Option<DatabaseWatch<'b>>,
    wire: Option<WireWatch>,
    /// Whether no answer crosses the wire between the last reading before the window and the window.
    is_silent: bool,
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
    fn hear(
        &mut self,
        waited: Waited,
        patience: Duration,
        trial_box: &mut TrialBox,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<(), TrialError> {
        // Everything was read at the border that it ended with, right before.
        if matches!(waited, Waited::Event(ToolEvent::Second { at_border: true, .. })) {
            return Ok(());
        }
        let at_s = self.clock.elapsed().as_secs_f64();
        if let Some(counters) = &mut self.counters {
            counters.read();
        }
        if let (Some(wire), Waited::Event(ToolEvent::WindowStarted { monotonic_ns }), true) =
            (&mut self.wire, &waited, self.is_silent)
        {
            // The event arrives late, and packets that came in between came after it.
            wire.nothing_until(MonotonicNs(*monotonic_ns));
        }
        // A count that cannot be read is none.
        if self.wire.as_mut().is_some_and(|wire| wire.read(SystemClock.now()).is_err()) {
            self.wire = None;
        }
        match waited {
            Waited::Event(ToolEvent::WindowStarted { monotonic_ns }) => {
                let began = MonotonicNs(monotonic_ns);
                self.began = Some(began);
                self.sampler.window_starts(at_s, began);
                if let Some(beside) = &mut self.beside {
                    beside.window_started(began, trial_box)?;
                }
                emit(TrialEvent::Phase { phase: Phase::Measuring });
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
            Waited::Event(ToolEvent::Second { .. } | ToolEvent::Slices { .. } | ToolEvent::GeneratorLost { .. })
            | Waited::Nothing => {
                if self.last_tick.elapsed() >= patience.max(SAMPLE / 2) {
                    self.sampler.tick(at_s);
                    self.last_tick = Instant::now();
                }
            }
            Waited::Ended => {}
        }
        Ok(())
    }

    /// Takes what steps are due there; fails if the database has ended and should not have.
    fn look_after_the_database(&mut self, trial_box: &mut TrialBox) -> Result<(), TrialError> {
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

    /// What was counted of the answers, by the time since the window began.
    fn wire_lines(&self) -> Vec<WireLine> {
        self.wire.as_ref().zip(self.began).map(|(wire, began)| wire.lines(began)).unwrap_or_default()
    }

    fn finish(self, mut report: ToolReport, trial_box: &mut TrialBox) -> Result<Loaded, TrialError> {
        let silent = || tool_failed("the load tool did not say when its window began and ended".to_owned());
        let (began, (ended, usage, pss)) = self.began.zip(self.ended).ok_or_else(silent)?;
        let window = Window { began, ended };
        // What was used is computed from what is stored; that there is enough of it is known here.
        usage.map_err(TrialError::lab)?;
        let counted = self.counters.map(|counters| counters.counted(window));
        let wire = self.wire.and_then(|wire| wire.window(window));
        // Some tools do not report when their last correct response came; the wire count does.
        report.last_good_s = report.last_good_s.or(wire.and_then(|wire| wire.last_answer_s));
        let beside = self.beside.map(|beside| beside.finish(trial_box)).transpose()?.unwrap_or_default();
        Ok(Loaded { report, pss_bytes: pss.get(&Part::Subject).copied(), window, counted, beside })
    }
}

fn tool_failed(message: String) -> TrialError {
    TrialError::Failed(FailureKind::ToolFailed, message)
}

/// What a tool that has closed its events found.
fn report_of(tool: RunningTool<'_>, trial_box: &mut TrialBox) -> Result<ToolReport, TrialError> {
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
