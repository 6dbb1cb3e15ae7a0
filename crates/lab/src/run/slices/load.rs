//! The load of a launch: the engine's job, and the readings during it.

use std::fs;
use std::time::{Duration, Instant};

use tolok_host::group::{CpuFile, Freezer, Group};
use tolok_host::guard::Guard;
use tolok_host::isolate::{Placement, TrialBox};
use tolok_host::machine;
use tolok_host::sample::WindowUsage;
use tolok_load::clock::MonotonicNs;
use tolok_load::slices::{self as engine, CpuAccount, SlicedServer, SlicedTarget, SlicesJob, Turn};
use tolok_model::{FailureKind, LoadTool, PlannedSlice};
use tolok_store::Folder;
use tolok_tools::slices::target;
use tolok_tools::{Invocation, LoadJob, ToolEvent, driver};

use super::servers::Server;
use super::{Launch, Loaded, host_of};
use crate::run::database::trial_database::{PART, TrialDatabase, database_failed};
use crate::run::events::event::{Phase, TrialEvent};
use crate::run::server::launch::inherited_environment;
use crate::run::server::measure::sampler;
use crate::run::server::trial::{Trial, TrialError};
use crate::tools::{RunningSlices, Tool, Waited};

/// How long to wait at most for responses in flight at the end of a slice.
const DRAIN_LIMIT_S: f64 = 2.0;
/// How often to check the box while the engine works. These readings enter no figure.
const LOOK: Duration = Duration::from_millis(500);
/// How much longer than its job the engine may take before it counts as hung.
const SLACK: Duration = Duration::from_secs(30);

/// The servers to load, and the order.
pub(super) struct Given<'l, 'a> {
    pub(super) launch: &'l Launch<'a>,
    pub(super) servers: &'l [Server],
    pub(super) order: &'l [PlannedSlice],
}

/// Thaws the box on every way out, because frozen processes neither answer nor end.
struct Thawed<'b>(&'b TrialBox);

impl Drop for Thawed<'_> {
    fn drop(&mut self) {
        self.0.thaw();
    }
}

/// Puts load on all cases whose server runs. Returns `None` if none does.
pub(super) fn load(
    given: &Given<'_, '_>,
    trial_box: &mut TrialBox,
    mut database: Option<&mut TrialDatabase>,
    emit: &mut dyn FnMut(TrialEvent),
) -> Result<Option<Loaded>, TrialError> {
    let Some((job, order)) = given.job(trial_box) else { return Ok(None) };
    let (_, first) = given.launch.trials().next().ok_or_else(|| TrialError::lab("the launch has no cases"))?;
    // The lab's own requests would be charged to the server under load.
    if let Some(database) = &mut database {
        database.stop_watching();
    }
    let scratch = first.session.trial_scratch().map_err(TrialError::lab)?;
    let [job_file, lines_file] = ["slices.json", "slices.jsonl"].map(|name| scratch.path().join(name));
    let text = serde_json::to_string(&job).map_err(TrialError::lab)?;
    fs::write(&job_file, text).map_err(TrialError::lab)?;
    let arguments = ["load", "--slices"].map(str::to_owned).into_iter().chain([
        job_file.display().to_string(),
        "--slices-out".to_owned(),
        lines_file.display().to_string(),
        "--format=json".to_owned(),
        "--events".to_owned(),
    ]);
    let tool = Tool {
        driver: driver(LoadTool::Tolok),
        program: first.session.laboratory.tolok.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        env: inherited_environment(),
    };
    let invocation =
        Invocation { arguments: arguments.collect(), borders: tolok_tools::Borders::Told, ..Invocation::default() };
    let placement = trial_box.placement("generator", &first.cpus.generator);
    let placement = Placement { guard: Some(Guard::of_engine()), ..placement };
    emit(TrialEvent::Phase { phase: Phase::WarmingUp });
    let mut usage = None;
    let record = {
        let not_started = |error| failed(format!("cannot start the load engine: {}", machine::not_started(&error)));
        let mut running =
            RunningSlices::start(&tool, &invocation, &placement, &Folder::at(scratch.path())).map_err(not_started)?;
        let followed = follow(first, &job, &mut running, trial_box, database, emit);
        let ended = match followed {
            Ok(found) => {
                usage = found;
                running.finish().map_err(failed)
            }
            Err(error) => {
                drop(running);
                Err(error)
            }
        };
        drop(Thawed(trial_box));
        ended?
    };
    if record.interrupted {
        return Err(TrialError::Stopped);
    }
    let text = fs::read_to_string(&lines_file).map_err(TrialError::lab)?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>().map_err(TrialError::lab)?;
    let frozen = job.servers.iter().all(|server| server.freezer.is_some());
    let arguments = job.targets.iter().map(|target| (target.name.clone(), target.arguments.join(" "))).collect();
    Ok(Some(Loaded { record, lines, order, arguments, host: host_of(usage), frozen }))
}

/// Checks the box until the engine ends. Returns the machine's usage from the first slice to the last.
fn follow(
    first: &Trial<'_>,
    job: &SlicesJob,
    running: &mut RunningSlices,
    trial_box: &mut TrialBox,
    mut database: Option<&mut TrialDatabase>,
    emit: &mut dyn FnMut(TrialEvent),
) -> Result<Option<WindowUsage>, TrialError> {
    let mut sampler = sampler(trial_box, true);
    let began = Instant::now();
    let longest: f64 = job.order.iter().map(|turn| turn.lead_in_s + turn.window_s + job.drain_limit_s).sum();
    let warm_up = first.scenario.load.warmup_s + job.drain_limit_s;
    let limit = Duration::from_secs_f64(longest + warm_up * job.targets.len() as f64) + SLACK;
    let mut usage = None;
    loop {
        let waited = running.wait_event(LOOK);
        let waited = waited.map_err(|error| failed(format!("the load engine cannot be heard: {error}")))?;
        let at_s = began.elapsed().as_secs_f64();
        match waited {
            Waited::Event(ToolEvent::WindowStarted { monotonic_ns }) => {
                sampler.window_starts(at_s, MonotonicNs(monotonic_ns));
                emit(TrialEvent::Phase { phase: Phase::Measuring });
            }
            Waited::Event(ToolEvent::WindowEnded { monotonic_ns }) => {
                // Without enough readings, the rest of the machine is unknown.
                usage = sampler.window_ends(at_s, MonotonicNs(monotonic_ns)).ok();
            }
            Waited::Event(ToolEvent::Slices { done, of }) => emit(TrialEvent::Slices { done, of }),
            Waited::Event(ToolEvent::Second { .. } | ToolEvent::GeneratorLost { .. }) | Waited::Nothing => {
                sampler.tick(at_s);
            }
            Waited::Ended => return Ok(usage),
        }
        if let Some(how) = database.as_mut().map(|database| database.has_ended(trial_box)).transpose()?.flatten() {
            return Err(database_failed(format!("{how} while load was on the subjects")));
        }
        trial_box.exits()?;
        if first.stop.is_immediate() {
            return Err(TrialError::Stopped);
        }
        if began.elapsed() > limit {
            return Err(failed(format!("the load engine did not end within {} s and was killed", limit.as_secs())));
        }
    }
}

impl Given<'_, '_> {
    /// The engine's job, and the order without cases that cannot be loaded.
    fn job(&self, trial_box: &TrialBox) -> Option<(SlicesJob, Vec<PlannedSlice>)> {
        let running: Vec<(&Server, std::net::SocketAddr)> =
            self.servers.iter().filter_map(|server| Some((server, server.address?))).collect();
        let mut targets: Vec<SlicedTarget> = Vec::new();
        for (at, (server, address)) in running.iter().enumerate() {
            for place in server.cases.iter().filter(|place| server.failure(**place).is_none()) {
                let case = &self.launch.cases[*place];
                let Ok(trial) = &case.trial else { continue };
                let mut scenario = trial.scenario.clone();
                scenario.load.warmup_s = self.launch.plan.warm_up_s(case.case);
                let job = LoadJob { scenario: &scenario, ..trial.job(*address) };
                targets.push(target(&job, &case.case.id, at));
            }
        }
        let sliced = |(server, _): &(&Server, std::net::SocketAddr)| {
            let group = trial_box.group(&server.part);
            SlicedServer {
                name: server.part.clone(),
                freezer: group.and_then(Group::freezer).map(freezer),
                cpu: Some(cpu_account(trial_box, &server.part)),
            }
        };
        let place_of = |case: &str| targets.iter().position(|target| target.name == case);
        let order: Vec<PlannedSlice> =
            self.order.iter().filter(|slice| place_of(&slice.case).is_some()).cloned().collect();
        let turn = |slice: &PlannedSlice| {
            let case = self.launch.plan.case(&slice.case)?;
            let design = self.launch.plan.scenario(&case.scenario)?.slices?;
            Some(Turn { target: place_of(&slice.case)?, lead_in_s: design.lead_in_s, window_s: slice.window_s })
        };
        let turns: Vec<Turn> = order.iter().filter_map(turn).collect();
        let has_database = self.launch.trials().any(|(_, trial)| trial.database.is_some());
        let job = SlicesJob {
            format: SlicesJob::FORMAT,
            drain_limit_s: DRAIN_LIMIT_S,
            servers: running.iter().map(sliced).collect(),
            database_cpu: has_database.then(|| cpu_account(trial_box, PART)),
            targets,
            order: turns,
        };
        (!job.order.is_empty()).then_some((job, order))
    }
}

fn freezer(files: Freezer) -> engine::FreezerFiles {
    match files {
        Freezer::V1 { state } => engine::FreezerFiles::V1 { state },
        Freezer::V2 { freeze, events } => engine::FreezerFiles::V2 { freeze, events },
    }
}

/// What counts the CPU time of a part: its control group, or else its processes.
fn cpu_account(trial_box: &TrialBox, part: &str) -> CpuAccount {
    match trial_box.group(part).and_then(Group::cpu_file) {
        Some(CpuFile::Cpuacct(file)) => CpuAccount::Cpuacct(file),
        Some(CpuFile::CpuStat(file)) => CpuAccount::CpuStat(file),
        None => CpuAccount::Processes(trial_box.pids_of(part)),
    }
}

fn failed(message: String) -> TrialError {
    TrialError::Failed(FailureKind::ToolFailed, message)
}
