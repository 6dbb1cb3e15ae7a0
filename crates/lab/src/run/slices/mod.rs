//! A launch: the servers of several scenarios in one box, loaded in slices.
//!
//! Each of its cases still has a folder and a record of its own. A fault of one server is an outcome of its cases, and
//! the others continue.

mod load;
mod servers;

use std::path::Path;

use tolok_host::group::Group;
use tolok_host::isolate::TrialBox;
use tolok_host::sample::{WindowUsage, pss_bytes, threads_of};
use tolok_load::process_cpu::tree;
use tolok_load::slices::{SliceLine, SlicesRecord, TargetRecord};
use tolok_model::{
    Case, CpuSource, DatabaseWindow, Failure, FailureKind, HostWindow, LoadTool, Measurement, MemoryUse, Outcome, Plan,
    PlannedSlice, RECORD_FORMAT, RawServer, RawSlices, RawWindow,
};
use tolok_store::StoreError;
use tolok_store::recompute::{
    DATABASE_LINK_REPORT, LINK_REPORT, RAW_WINDOW, SLICES, TrialInputs, measurement_of, sliced_report,
};
use tolok_tools::slices::StoredSlice;
use tolok_tools::{driver, output_name};

use self::load::Given;
use self::servers::Server;
use crate::run::database::trial_database::{DATABASE_LOG, TrialDatabase};
use crate::run::events::event::{Phase, TrialEvent};
use crate::run::server::judge::judge;
use crate::run::server::trial::{Finished, Trial, TrialError, load_average};
use crate::run::server::upstream_part::start_upstream;
use crate::run::session::capabilities::BoxRequest;
use crate::run::session::cgroup_membership::CgroupMembership;
use crate::upstream::Upstream;

/// A case of a launch: its trial, or why it has none.
pub(in crate::run) struct LaunchCase<'a> {
    pub(in crate::run) case: &'a Case,
    pub(in crate::run) trial: Result<Trial<'a>, Failure>,
}

/// The contents of a launch.
pub(in crate::run) struct Launch<'a> {
    pub(in crate::run) plan: &'a Plan,
    /// Its number.
    pub(in crate::run) number: u32,
    pub(in crate::run) cases: Vec<LaunchCase<'a>>,
}

/// The results of a case when the box was closed.
struct Slices {
    lines: Vec<StoredSlice>,
    record: TargetRecord,
    raw: RawSlices,
    refused_tasks: Option<u64>,
    pss_bytes: Option<u64>,
}

impl<'a> Launch<'a> {
    /// Runs the launch. Returns the result of each case in order, or `None` if it was stopped.
    pub(in crate::run) fn run(mut self, emit: &mut dyn FnMut(TrialEvent)) -> Result<Option<Vec<Finished>>, StoreError> {
        if self.cases.iter().all(|case| case.trial.is_err()) {
            return Ok(Some(self.cases.into_iter().map(finished).collect()));
        }
        match self.boxed(emit) {
            Ok(outcomes) => {
                let cases = self.cases.into_iter().zip(outcomes);
                Ok(Some(cases.map(|(case, outcome)| with_outcome(case, outcome)).collect()))
            }
            // A failure of the shared part goes into every record.
            Err(error) => self.all_failed(error),
        }
    }

    fn all_failed(self, error: TrialError) -> Result<Option<Vec<Finished>>, StoreError> {
        let (reason, message) = match error {
            TrialError::Failed(reason, message) => (reason, message),
            TrialError::Store(error) => return Err(error),
            TrialError::Stopped => return Ok(None),
        };
        let mut all = Vec::new();
        for case in self.cases {
            let failure = match &case.trial {
                Err(failure) => Some(failure.clone()),
                Ok(trial) => trial.failure(TrialError::Failed(reason, message.clone()))?,
            };
            let Some(failure) = failure else { return Ok(None) };
            all.push(with_outcome(case, Outcome::Failed(failure)));
        }
        Ok(Some(all))
    }

    /// The trials that can run, with their places.
    fn trials(&self) -> impl Iterator<Item = (usize, &Trial<'a>)> {
        self.cases.iter().enumerate().filter_map(|(place, case)| Some((place, case.trial.as_ref().ok()?)))
    }

    /// From an empty box to the end of every process. Returns the outcome of each case.
    fn boxed(&mut self, emit: &mut dyn FnMut(TrialEvent)) -> Result<Vec<Outcome>, TrialError> {
        emit(TrialEvent::Phase { phase: Phase::Starting });
        let mut servers = servers::of(&self.cases);
        let load_average = load_average();
        let (_, first) = self.trials().next().ok_or_else(|| TrialError::lab("the launch has no cases"))?;
        let session = first.session;
        let unwritable = |source| StoreError::Write { path: std::env::temp_dir(), source };
        let scratch = session.trial_scratch().map_err(unwritable)?;
        let [report, database_report] = [LINK_REPORT, DATABASE_LINK_REPORT].map(|name| first.folder.path().join(name));
        let spec = session.capabilities.spec(&BoxRequest {
            environment: first.environment,
            cpus: first.cpus,
            servers: servers.len(),
            database: first.scenario.database,
            external: false,
            apart: false,
            seed: first.seed,
            report: &report,
            database_report: &database_report,
            run_folder: Some((scratch.path(), session.owner())),
            guard: Some(session.guard()),
            session: session.folder(),
        });
        for (_, trial) in self.trials() {
            trial.folder.write("subject.log", b"")?;
        }
        if first.database.is_some() {
            first.folder.write(DATABASE_LOG, b"")?;
        }
        let mut trial_box = TrialBox::open(&session.laboratory.tolok, &spec)?;
        let isolation = trial_box.isolation().clone();
        for case in &mut self.cases {
            if let Ok(trial) = &mut case.trial {
                trial.isolation = Some(isolation.clone());
            }
        }
        let found = {
            let (_, first) = self.trials().next().ok_or_else(|| TrialError::lab("the launch has no cases"))?;
            let _guest = CgroupMembership::enter(first.session.capabilities, &trial_box);
            let mut database = first.start_database(&mut trial_box, scratch.path())?;
            let upstream = start_upstream(&mut trial_box, self.trials().map(|(_, trial)| &trial.workload))?;
            let beside = (database.as_ref(), upstream.as_ref().map(Upstream::address));
            self.start_servers(&mut servers, &mut trial_box, beside, scratch.path())?;
            self.measured(&servers, &mut trial_box, database.as_mut(), emit)?
        };
        emit(TrialEvent::Phase { phase: Phase::Stopping });
        trial_box.stop()?;
        self.share_logs(&servers)?;
        self.outcomes(servers, found, load_average)
    }

    /// Puts load on all running servers, and reads what they used.
    fn measured(
        &self,
        servers: &[Server],
        trial_box: &mut TrialBox,
        database: Option<&mut TrialDatabase>,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Measured, TrialError> {
        let order: Vec<PlannedSlice> = self.plan.slices_of(self.number);
        let version = database.as_ref().map(|database| database.version.clone());
        let given = Given { launch: self, servers, order: &order };
        let Some(loaded) = load::load(&given, trial_box, database, emit)? else {
            return Ok(Measured { version, ..Measured::default() });
        };
        let groups = servers.iter().map(|server| Used::of(server, trial_box)).collect();
        let crashes = servers.iter().map(|server| server.crash(trial_box)).collect::<Result<_, TrialError>>()?;
        Ok(Measured { loaded: Some(loaded), groups, crashes, version })
    }

    /// The log of a server that several cases share goes into the folder of each.
    fn share_logs(&self, servers: &[Server]) -> Result<(), TrialError> {
        let log = |place: usize| self.cases[place].trial.as_ref().ok().map(|trial| trial.folder);
        for server in servers {
            let Some(own) = server.cases.first().and_then(|place| log(*place)) else { continue };
            for other in server.cases.iter().skip(1).filter_map(|place| log(*place)) {
                own.share_subject_log(other)?;
            }
        }
        Ok(())
    }

    /// The outcome of each case, from the readings and the files made from them.
    fn outcomes(
        &self,
        servers: Vec<Server>,
        mut found: Measured,
        load_average: f64,
    ) -> Result<Vec<Outcome>, TrialError> {
        let mut outcomes = Vec::new();
        for (place, case) in self.cases.iter().enumerate() {
            let trial = match &case.trial {
                Ok(trial) => trial,
                Err(failure) => {
                    outcomes.push(Outcome::Failed(failure.clone()));
                    continue;
                }
            };
            let at = servers.iter().position(|server| server.cases.contains(&place));
            let server = at.map(|at| (at, &servers[at]));
            let measured = match server.ok_or_else(|| TrialError::lab("the case has no server")) {
                Err(error) => Err(error),
                Ok((at, server)) => match server.failure(place).or(found.crash(at)) {
                    Some((reason, message)) => Err(TrialError::Failed(reason, message)),
                    None => found
                        .slices_of(self, at, place)
                        .and_then(|slices| self.measurement(trial, slices, &found, load_average)),
                },
            };
            outcomes.push(match measured {
                Ok(measurement) => Outcome::Completed(Box::new(measurement)),
                Err(error) => match trial.failure(error).map_err(TrialError::Store)? {
                    Some(failure) => Outcome::Failed(failure),
                    None => return Err(TrialError::Stopped),
                },
            });
        }
        Ok(outcomes)
    }

    /// Writes the files of a case and makes its figures from them.
    fn measurement(
        &self,
        trial: &Trial<'_>,
        slices: Slices,
        found: &Measured,
        load_average: f64,
    ) -> Result<Measurement, TrialError> {
        let Some(loaded) = &found.loaded else { return Err(TrialError::lab("nothing was measured")) };
        let folder = trial.folder;
        folder.write_lines(SLICES, &slices.lines)?;
        folder.write_json(output_name(driver(LoadTool::Tolok)), &slices.record)?;
        let typed = [trial.commands.clone(), vec![loaded.typed(&slices.record.name)]].concat();
        folder.write("command.txt", (typed.join("\n") + "\n").as_bytes())?;
        judge(&sliced_report(folder.folder()).map_err(TrialError::lab)?, trial.scenario)?;
        let database = found.version.clone().filter(|_| trial.database.is_some());
        let server = RawServer {
            status: trial.workload.status,
            body_bytes: trial.body_bytes(),
            mean_body_bytes: trial.mean_body_bytes(),
            refused_tasks: slices.refused_tasks,
            pss_bytes: slices.pss_bytes,
            database: database.map(|version| DatabaseWindow { version, ..DatabaseWindow::default() }),
            slices: Some(slices.raw),
            ..RawServer::default()
        };
        let raw = RawWindow {
            format: RECORD_FORMAT,
            clock_zero_ns: 0,
            began_ns: loaded.record.began_monotonic_ns,
            ended_ns: loaded.record.ended_monotonic_ns,
            tool: trial.tool_used()?,
            machine_cpus: trial.session.logical_cpus as u32,
            load_average,
            padding_bytes: trial.padding_bytes(),
            server: Some(server),
            turns: None,
        };
        folder.write_json(RAW_WINDOW, &raw)?;
        let given = TrialInputs {
            scenario: trial.scenario,
            environment: trial.environment,
            cpus: trial.cpus,
            isolation: trial.isolation.as_ref(),
        };
        measurement_of(folder.folder(), &given, &raw).map_err(TrialError::lab)
    }
}

/// What the load engine left, and the machine's usage meanwhile.
struct Loaded {
    record: SlicesRecord,
    lines: Vec<SliceLine>,
    /// The actual order: without cases whose server did not start.
    order: Vec<PlannedSlice>,
    /// The arguments of each target, by case name.
    arguments: Vec<(String, String)>,
    host: HostWindow,
    frozen: bool,
}

impl Loaded {
    /// The command line for the load of this case alone.
    fn typed(&self, case: &str) -> String {
        let own = self.arguments.iter().find(|(name, _)| name == case).map_or("", |(_, arguments)| arguments.as_str());
        format!("tolok load --slices: {own}")
    }
}

/// The results after the load, while the box was still open.
#[derive(Default)]
struct Measured {
    loaded: Option<Loaded>,
    /// By server.
    groups: Vec<Used>,
    /// By server: how one of its processes ended.
    crashes: Vec<Option<String>>,
    version: Option<String>,
}

impl Measured {
    /// Why the cases of a server failed, if one of its processes ended.
    fn crash(&self, server: usize) -> Option<(FailureKind, String)> {
        let message = self.crashes.get(server)?.clone()?;
        let killed = self.groups.get(server).and_then(|used| used.memory).is_some_and(|memory| memory.oom_kills > 0);
        Some((if killed { FailureKind::OutOfMemory } else { FailureKind::Crashed }, message))
    }

    /// The slices of a case, extracted from those of the launch.
    fn slices_of(&mut self, launch: &Launch<'_>, at: usize, place: usize) -> Result<Slices, TrialError> {
        let case = launch.cases[place].case;
        let loaded = self.loaded.as_ref().ok_or_else(|| TrialError::lab("nothing was measured"))?;
        let record = loaded.record.targets.iter().find(|target| target.name == case.id).cloned();
        let record = record.ok_or_else(|| TrialError::lab("the load engine reports nothing for the case"))?;
        let own = loaded.lines.iter().zip(&loaded.order).filter(|(_, planned)| planned.case == case.id);
        let stored = |(line, planned): (&SliceLine, &PlannedSlice)| StoredSlice {
            round: planned.round,
            half: planned.half,
            line: line.clone(),
        };
        let span_ns = loaded.record.ended_monotonic_ns.saturating_sub(loaded.record.began_monotonic_ns);
        let span_s = span_ns as f64 / 1e9;
        let measured_s: f64 = loaded.lines.iter().map(|line| line.window_s).sum();
        let used = self.groups.get(at).cloned().unwrap_or_default();
        Ok(Slices {
            lines: own.map(stored).collect(),
            record,
            raw: RawSlices {
                launch: launch.number,
                span_s,
                measured_share: if span_s > 0.0 { measured_s / span_s } else { 0.0 },
                frozen: loaded.frozen,
                host: loaded.host.clone(),
                processes: used.processes,
                threads: used.threads,
                memory: used.memory,
                cpu_source: used.cpu_source,
            },
            refused_tasks: used.refused_tasks,
            pss_bytes: used.pss_bytes,
        })
    }
}

/// What a server had used by the end of a launch.
#[derive(Debug, Clone, Default)]
struct Used {
    cpu_source: CpuSource,
    memory: Option<MemoryUse>,
    pss_bytes: Option<u64>,
    processes: u32,
    threads: u32,
    refused_tasks: Option<u64>,
}

impl Used {
    fn of(server: &Server, trial_box: &TrialBox) -> Self {
        match trial_box.group(&server.part) {
            Some(group) => Self::of_group(group),
            None => Self::of_processes(&trial_box.pids_of(&server.part)),
        }
    }

    fn of_group(group: &Group) -> Self {
        let read = group.reader().read();
        let memory = read.memory.map(|memory| MemoryUse {
            anonymous_and_kernel_bytes_max: memory.anonymous_bytes + memory.kernel_bytes,
            usage_bytes_max: memory.usage_bytes,
            peak_bytes: memory.peak_bytes,
            oom_kills: memory.oom_kills,
        });
        Self {
            cpu_source: if group.cpu_file().is_some() { CpuSource::Group } else { CpuSource::Threads },
            memory,
            processes: group.members().map(|members| members.len() as u32).unwrap_or_default(),
            threads: group.threads().map(|threads| threads.len() as u32).unwrap_or_default(),
            refused_tasks: read.refused_tasks,
            ..Self::default()
        }
    }

    fn of_processes(roots: &[u32]) -> Self {
        let proc = Path::new("/proc");
        let pids = tree(proc, roots).unwrap_or_default();
        Self {
            pss_bytes: pss_bytes(proc, &pids),
            processes: pids.len() as u32,
            threads: pids.iter().map(|pid| threads_of(proc, *pid).len() as u32).sum(),
            ..Self::default()
        }
    }
}

fn host_of(usage: Option<WindowUsage>) -> HostWindow {
    usage.map(|usage| usage.host).unwrap_or_default()
}

fn finished(case: LaunchCase<'_>) -> Finished {
    match case.trial {
        Err(failure) => Finished::failed(failure),
        Ok(trial) => Finished {
            commands: trial.commands,
            attempts: 1,
            isolation: trial.isolation,
            outcome: Outcome::Failed(Failure {
                reason: FailureKind::LabFailed,
                message: "it was not run".to_owned(),
                log_tail: Vec::new(),
            }),
        },
    }
}

fn with_outcome(case: LaunchCase<'_>, outcome: Outcome) -> Finished {
    Finished { outcome, ..finished(case) }
}
