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

/// How often resources are sampled without another occasion.
const SAMPLE: Duration = Duration::from_millis(100);
/// How long a broken box may take to report.
const BOX_TELLS: Duration = Duration::from_millis(500);
/// How often the box is checked in that time.
const POLL: Duration = Duration::from_millis(10);
/// After the load, a subject gets its request time-out to answer once more, but no longer than this.
const STILL_ANSWERS_LIMIT_S: f64 = 10.0;
/// How much longer than its job a tool may take before it counts as hung.
const TOOL_SLACK: Duration = Duration::from_secs(15);

/// What the load phase found.
pub(in crate::run) struct Loaded {
    pub(in crate::run) report: ToolReport,
    /// Proportional set size of the subject, read at the end of the window.
    pub(in crate::run) pss_bytes: Option<u64>,
    pub(in crate::run) window: Window,
    /// The counts of the window in a diagnosis.
    pub(in crate::run) counted: Option<Counted>,
    /// What the watch beside the load found.
    pub(in crate::run) beside: Found,
}

/// Follows all parts of a trial, by control group if there is one. Call it before anything is started in the box,
/// so that the kernel's counters cover the first program too.
///
/// A subject that tolok did not start is not followed: its part of the box is empty, and would look idle.
pub(in crate::run) fn sampler(trial_box: &TrialBox, has_subject: bool) -> Sampler {
    let init = trial_box.init_pid();
    let group = |part: &str| trial_box.group(part).cloned().map(Members::Group);
    // The machine's own interfaces carry the traffic of all programs.
    let net_of = (trial_box.isolation().network != "host").then_some(NetOf::Process(init));
    let members = group("subject").unwrap_or(Members::Below(init));
    let subject = Followed { part: Part::Subject, members, net_of };
    // CPU time that no part accounts for counts as other programs'.
    let process = |pid: Option<u32>| pid.map(Members::Process);
    let others = [
        (Part::Generator, group("generator")),
        // Two links share a control group. Each is a single process without children.
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

/// The database as a followed part, if it is one. Without a control group, its later processes must be added by hand.
fn database(trial_box: &TrialBox) -> Option<Followed> {
    trial_box.isolation().database_network.as_ref()?;
    let group = trial_box.group("database").cloned().map(Members::Group);
    let members = group.unwrap_or_else(|| Members::Trees(trial_box.pids_of("database")));
    let net_of = trial_box.has_database_network().then_some(NetOf::Members);
    Some(Followed { part: Part::Database, members, net_of })
}

/// Where the kernel can count the subject: in its control group, or else below the first process of the box, unless
/// other parts are below it too.
pub(in crate::run) fn scopes(trial_box: &TrialBox) -> Vec<Scope> {
    let group = trial_box.group("subject").and_then(Scope::of);
    let is_alone = trial_box.isolation().database_network.is_none();
    group.into_iter().chain(is_alone.then(|| Scope::Below(trial_box.init_pid()))).collect()
}

impl Trial<'_> {
    /// Samples resources and takes the due steps until the tool ends.
    fn follow(
        &self,
        tool: &mut RunningTool<'_>,
        readings: &mut Readings<'_, '_>,
        trial_box: &mut TrialBox,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<(), TrialError> {
        let (name, load) = (self.scenario.tool.name.word(), &self.scenario.load);
        // Most tools end only after the last response or its time-out.
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
            // Only after the due readings, because a listener may take a while.
            second.into_iter().for_each(|second| emit(TrialEvent::Second(second)));
            readings.look_after_the_database(trial_box)?;
            // A subject that has ended cannot answer, so waiting is useless.
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

    /// Puts the scenario's load on the subject, and samples resources meanwhile.
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
        // Attached before the first request, so that all responses are counted.
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
        // A subject that has ended explains more than the tool's message.
        self.nothing_has_ended(trial_box, "while load was on it")?;
        let report = report_of(tool, trial_box);
        if self.scenario.tool.name != LoadTool::Tolok {
            // Neither the tool's exit code nor its output shows whether the subject is still alive. A tool that gives up on a
            // silent subject is not to blame.
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

    /// Where the tool runs, and which rights it gives up. tolok's own engine writes where the lab does; another tool has a private
    /// folder and its own account.
    fn place_of_tool(&self, tool: &Tool, trial_box: &mut TrialBox) -> Result<Placement, TrialError> {
        if tool.driver.tool() != LoadTool::Tolok {
            return Ok(trial_box.guarded_placement("generator", self.cpus.of_lab())?);
        }
        let placement = trial_box.placement("generator", self.cpus.of_lab());
        Ok(Placement { guard: Some(Guard::of_engine()), ..placement })
    }

    /// Lets the kernel count the responses, if they need counting. If it cannot, the count and what depends on it are unknown.
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

    /// Length of the body of correct responses, if all have the same.
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

/// What is read and done during the load.
struct Readings<'s, 'b> {
    sampler: &'s mut Sampler,
    counters: Option<Counters>,
    beside: Option<DatabaseWatch<'b>>,
    wire: Option<WireWatch>,
    /// Whether no response crosses the wire between the last reading before the window and the window.
    is_silent: bool,
    /// The origin of the samples' times.
    clock: Instant,
    began: Option<MonotonicNs>,
    ended: Option<WindowEnd>,
    last_tick: Instant,
}

/// When the window ended, its resource usage, and proportional set sizes right after it.
type WindowEnd = (MonotonicNs, Result<WindowUsage, NoUsage>, BTreeMap<Part, u64>);

impl Readings<'_, '_> {
    /// How long to wait for the tool before something else is due.
    fn patience(&self) -> Duration {
        self.beside.as_ref().map_or(SAMPLE, |beside| beside.patience(SAMPLE))
    }

    /// Takes the readings that are due after a wait for the tool.
    fn hear(
        &mut self,
        waited: Waited,
        patience: Duration,
        trial_box: &mut TrialBox,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<(), TrialError> {
        // The event that ended at this border was read just before.
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
            // The event arrives late; packets since then came after the border.
            wire.nothing_until(MonotonicNs(*monotonic_ns));
        }
        // Drop a count that cannot be read.
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
            // With an outage, the waits are shorter than a sampling interval, so not each of them is sampled.
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

    /// Takes the steps that are due. Fails if the database has ended unexpectedly.
    fn look_after_the_database(&mut self, trial_box: &mut TrialBox) -> Result<(), TrialError> {
        let Some(beside) = &mut self.beside else { return Ok(()) };
        if beside.step(trial_box)? {
            // A control group includes new processes by itself.
            trial_box.pids_of(PART).into_iter().for_each(|pid| self.sampler.add_process(Part::Database, pid));
        }
        match beside.database_has_ended(trial_box)? {
            Some(how) => Err(database_failed(format!("{how} while load was on the subject"))),
            None => Ok(()),
        }
    }

    /// The counted responses, by time since the beginning of the window.
    fn wire_lines(&self) -> Vec<WireLine> {
        self.wire.as_ref().zip(self.began).map(|(wire, began)| wire.lines(began)).unwrap_or_default()
    }

    fn finish(self, mut report: ToolReport, trial_box: &mut TrialBox) -> Result<Loaded, TrialError> {
        let silent = || tool_failed("the load tool did not say when its window began and ended".to_owned());
        let (began, (ended, usage, pss)) = self.began.zip(self.ended).ok_or_else(silent)?;
        let window = Window { began, ended };
        // Usage is computed later from stored samples; here it is only checked that there are enough.
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

/// The report of a tool that has closed its events.
fn report_of(tool: RunningTool<'_>, trial_box: &mut TrialBox) -> Result<ToolReport, TrialError> {
    match tool.finish() {
        Ok(report) => Ok(report),
        Err(message) => {
            // A broken box takes the tool down, and reports that a moment later.
            let deadline = Instant::now() + BOX_TELLS;
            while Instant::now() < deadline {
                trial_box.exits()?;
                std::thread::sleep(POLL);
            }
            Err(tool_failed(message))
        }
    }
}
