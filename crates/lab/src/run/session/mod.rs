//! What all trials of a run share: paths, programs, response bodies, CPUs.

pub(in crate::run) mod account;
pub(in crate::run) mod affinity;
pub(in crate::run) mod apart;
pub(in crate::run) mod capabilities;
mod certificate;
pub(in crate::run) mod cgroup_membership;
pub(in crate::run) mod scratch;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tolok_model::{Catalogue, CpuMap, Plan, ProgramWorkload, Protocol, Subject, SubjectChoice, Workload};

use crate::database::DatabaseStore;
use crate::home::{Home, runs_folder};
use crate::run::block::protocol::GeneratorAlive;
use crate::run::session::account::Account;
use crate::run::session::apart::{accounts, homes, is_for_runs_alone, other_sessions, shown};
use crate::run::session::capabilities::Capabilities;
use crate::run::session::certificate::make_certificate;
use crate::run::session::scratch::Scratch;
use crate::subject::{AssetError, Assets, BuildError, BuildJob, BuildNames, Builds, ProgramNames};
use crate::subject::{DatabaseNames, TemplateNames, TlsNames, program_names};
use crate::toolbox::{Program, without_version};
use tolok_host::guard::Accounts;
use tolok_host::isolate::GuardSpec;
use tolok_host::machine::{Machine, format_cpu_list};

/// The laboratory: what this machine has, for every study.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Laboratory {
    /// Where subjects, workloads and studies are.
    pub home: Home,
    pub catalogue: Catalogue,
    /// The toolbox programs that are installed.
    pub programs: BTreeMap<String, Program>,
    pub builds: Builds,
    /// Databases whose data are loaded.
    pub databases: DatabaseStore,
    /// The tolok binary, for the keeper and the load tool.
    pub tolok: PathBuf,
}

/// What all trials of one run share.
#[derive(Debug)]
pub struct Session<'a> {
    pub laboratory: &'a Laboratory,
    /// What this machine can offer a trial.
    pub capabilities: &'a Capabilities,
    /// CPUs of the parts, by the id of the environment.
    pub cpus: BTreeMap<String, CpuMap>,
    /// All CPUs of the machine.
    pub(in crate::run) logical_cpus: usize,
    pub assets: Assets,
    /// The certificate of subjects in encrypted scenarios.
    tls: TlsNames,
    /// The accounts of the parts, if they must not be root.
    accounts: Option<Accounts>,
    /// The account that servers switch to themselves, if they must be started as root.
    account: Option<Account>,
    /// Folders of runs, which are hidden from programs.
    runs: Vec<PathBuf>,
    /// Private folder of this session.
    scratch: Scratch,
    /// The nodes that generate its load, if this machine does not.
    pub(in crate::run) generators: Option<Generators>,
}

/// Nodes that generate load for the servers on this one.
#[derive(Debug)]
pub(in crate::run) struct Generators {
    /// The address at which they reach this node.
    pub(in crate::run) server: IpAddr,
    /// The secret by which they recognise this block.
    pub(in crate::run) token: String,
    pub(in crate::run) nodes: Vec<GeneratorAlive>,
    /// The node that was lost, and why; this ends the block.
    pub(in crate::run) lost: OnceLock<(String, String)>,
}

impl Generators {
    /// The nodes as arguments of the load engine.
    pub(in crate::run) fn arguments(&self) -> Vec<String> {
        self.nodes.iter().map(|node| format!("{}={}", node.name, node.address)).collect()
    }
}

/// Where a subject is started, and how.
#[derive(Debug, Clone)]
pub(in crate::run) struct Place<'a> {
    pub(in crate::run) address: SocketAddr,
    /// The protocol that it must speak there.
    pub(in crate::run) protocol: Protocol,
    pub(in crate::run) run: &'a Path,
    pub(in crate::run) cpus: &'a [u32],
    /// Whether to enable its diagnostics, which cost time: never in a scored trial.
    pub(in crate::run) diagnosing: bool,
    /// How it reaches its database; the default if it has none.
    pub(in crate::run) database: DatabaseNames,
    /// The address of the upstream service, if it calls one.
    pub(in crate::run) upstream: Option<SocketAddr>,
}

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("cannot prepare a private folder in {}: {source}; set TMPDIR to a folder that you may write and that has room", parent.display())]
    Scratch { parent: PathBuf, source: io::Error },
    /// The response bodies cannot be written.
    #[error(transparent)]
    Assets(#[from] AssetError),
}

impl<'a> Session<'a> {
    /// Makes the private folder and writes the correct responses of `workloads` to it.
    pub fn begin(
        laboratory: &'a Laboratory,
        capabilities: &'a Capabilities,
        cpus: BTreeMap<String, CpuMap>,
        workloads: &[Workload],
    ) -> Result<Self, SessionError> {
        let parent = std::env::temp_dir();
        let failed = |source| SessionError::Scratch { parent: parent.clone(), source };
        let scratch = Scratch::make(&parent).map_err(failed)?;
        let folder = scratch.folder("assets").map_err(failed)?;
        let assets = Assets::lay_out(folder, &laboratory.home, workloads)?;
        let tls = make_certificate(&scratch.folder("tls").map_err(failed)?).map_err(failed)?;
        let accounts = accounts(laboratory);
        let account = (rustix::process::geteuid().is_root() && accounts.is_none()).then(Account::unprivileged);
        let (logical_cpus, runs) = (logical_cpus(), vec![runs_folder()]);
        let generators = None;
        Ok(Self {
            laboratory,
            capabilities,
            cpus,
            logical_cpus,
            assets,
            tls,
            accounts,
            account,
            runs,
            scratch,
            generators,
        })
    }

    /// The same session, with results in this folder of a run.
    pub(in crate::run) fn with_results(mut self, run: &Path) -> Self {
        self.runs.push(run.to_owned());
        self.runs.extend(run.parent().filter(|runs| is_for_runs_alone(runs)).map(Path::to_owned));
        self
    }

    /// The same session, with load from other nodes.
    pub(in crate::run) fn with_generators(self, generators: Option<Generators>) -> Self {
        Self { generators, ..self }
    }

    /// What isolates the programs of a box from the rest of the machine.
    pub(in crate::run) fn guard(&self) -> GuardSpec {
        let mut shown = shown(self.laboratory);
        shown.push(self.folder().to_owned());
        let hidden = homes().into_iter().chain(self.runs.clone()).chain(other_sessions(self.folder())).collect();
        GuardSpec { accounts: self.accounts, shown, hidden }
    }

    /// CPUs of any environment, for what is not measured.
    pub(in crate::run) fn any_cpus(&self) -> CpuMap {
        self.cpus.values().next().cloned().unwrap_or_default()
    }

    /// The account, as numbers, that owns what a trial's servers write, or `None` if this process is not root.
    pub(in crate::run) fn owner(&self) -> Option<(u32, u32)> {
        let own = self.accounts.map(|accounts| (accounts.subject, accounts.subject));
        own.or_else(|| self.account.as_ref().map(Account::ids))
    }

    /// The private folder, which the keeper of a box removes if this process is killed.
    pub(in crate::run) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// A new private folder for one attempt at a trial.
    pub fn trial_scratch(&self) -> io::Result<TempDir> {
        self.scratch.trial(self.owner())
    }

    /// The values that the templates of the subject's processes can use at a place.
    pub(in crate::run) fn names(
        &self,
        choice: &SubjectChoice,
        subject: &Subject,
        build: &Path,
        place: &Place<'_>,
    ) -> TemplateNames {
        let (user, group) = match &self.account {
            Some(account) => (account.user.clone(), account.group.clone()),
            None => (String::new(), String::new()),
        };
        TemplateNames {
            host: place.address.ip().to_string(),
            port: place.address.port(),
            protocol: place.protocol.word().to_owned(),
            tls: self.tls.clone(),
            run: place.run.display().to_string(),
            subject: self.laboratory.home.sources_of(subject).display().to_string(),
            build: build.display().to_string(),
            assets: self.assets.folder().display().to_string(),
            tolok: self.laboratory.tolok.display().to_string(),
            ceiling: tolok_ceiling::BUILD.to_owned(),
            cpus: place.cpus.len(),
            cpu_list: format_cpu_list(place.cpus),
            root: self.account.is_some(),
            user,
            group,
            diagnosing: place.diagnosing,
            database: place.database.clone(),
            upstream: place.upstream.map(|address| address.to_string()).unwrap_or_default(),
            parameter: choice.parameters.clone(),
            program: self.program_names(choice, subject),
        }
    }

    /// Facts of the programs that the chosen subject needs. Templates also name programs that only database workloads need;
    /// if such a program is missing, its facts are empty.
    fn program_names(&self, choice: &SubjectChoice, subject: &Subject) -> ProgramNames {
        let needed: Vec<&str> = subject.needs_for_any(&choice.variant).collect();
        let nothing = || ["path", "prefix", "version"].map(|fact| (fact.to_owned(), String::new())).into();
        let mut names: ProgramNames = needed.iter().map(|name| ((*name).to_owned(), nothing())).collect();
        names.extend(names_of(&self.laboratory.ready(needed.into_iter())));
        names
    }

    /// The environment that the programs of the chosen subject need.
    pub fn program_env(&self, choice: &SubjectChoice, subject: &Subject) -> BTreeMap<String, String> {
        env_of(&self.laboratory.ready(subject.needs_for_any(&choice.variant)))
    }
}

/// All CPUs of the machine, including those that this process may not use.
fn logical_cpus() -> usize {
    Machine::read().topology.cpus.len().max(1)
}

fn env_of(programs: &BTreeMap<String, &Program>) -> BTreeMap<String, String> {
    programs.values().flat_map(|program| program.env.clone()).collect()
}

fn names_of(programs: &BTreeMap<String, &Program>) -> ProgramNames {
    // A template names a program without its version.
    let name = |name: &str| without_version(name).to_owned();
    programs.iter().map(|(known, program)| (name(known), program_names(program))).collect()
}

impl Laboratory {
    /// The same laboratory, restricted to what a plan uses of the catalogue.
    pub(in crate::run) fn for_plan(&self, plan: &Plan) -> Self {
        let is_chosen = |subject: &&Subject| plan.cases.iter().any(|case| case.subject.subject == subject.id);
        let subjects = self.catalogue.subjects.iter().filter(is_chosen).cloned().collect();
        let workloads = plan.scenarios.iter().filter_map(|scenario| self.catalogue.workload(&scenario.workload));
        let workloads = workloads.map(|workload| (&workload.name, workload)).collect::<BTreeMap<_, _>>();
        let workloads = workloads.into_values().cloned().collect();
        Self { catalogue: Catalogue { subjects, workloads, programs: self.catalogue.programs.clone() }, ..self.clone() }
    }

    /// The workloads that the scenarios of a plan name. What is gone from the checkout fails only its own trials.
    pub fn workloads_of(&self, plan: &Plan) -> Vec<Workload> {
        let named: BTreeSet<&str> = plan.scenarios.iter().map(|scenario| scenario.workload.as_str()).collect();
        named.into_iter().filter_map(|name| self.catalogue.choose_workload(name).ok()).collect()
    }

    /// The workloads of a plan's programs.
    pub fn program_workloads_of(&self, plan: &Plan) -> Vec<ProgramWorkload> {
        let named: BTreeSet<&str> = plan.programs.iter().map(|program| program.workload.as_str()).collect();
        named.into_iter().filter_map(|name| self.catalogue.choose_program(name).ok()).collect()
    }

    /// Builds `subject` if necessary, and returns the folder of its build. Calls `begins` if there is anything to do, and checks
    /// `is_wanted` meanwhile.
    pub fn build(
        &self,
        subject: &Subject,
        begins: &mut dyn FnMut(),
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<PathBuf, BuildError> {
        if subject.external.is_some() {
            // It has nothing to build and no sources.
            return Ok(PathBuf::new());
        }
        let folder = self.build_folder(subject)?;
        if subject.build.is_some() && !self.builds.is_built(&folder) {
            begins();
            self.build_in(&folder, subject, 0, is_wanted)?;
        }
        Ok(folder)
    }

    /// Builds a subject in a folder, with the order of its functions drawn from `layout`, or the usual one for 0.
    pub(in crate::run) fn build_in(
        &self,
        folder: &Path,
        subject: &Subject,
        layout: u32,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), BuildError> {
        let sources = self.home.sources_of(subject);
        let needed = self.needed_to_build(subject);
        let names = BuildNames {
            subject: sources.display().to_string(),
            build: folder.display().to_string(),
            layout,
            program: names_of(&needed),
        };
        let job = BuildJob { subject, sources: &sources, names: &names, env: &env_of(&needed) };
        self.builds.build(&job, is_wanted)
    }

    /// Whether a subject must be built before it can start. If this cannot be determined, the build itself reports why.
    pub(in crate::run) fn must_be_built(&self, subject: &Subject) -> bool {
        subject.build.is_some() && self.build_folder(subject).is_ok_and(|folder| !self.builds.is_built(&folder))
    }

    /// Where the build of a subject is, or will be.
    fn build_folder(&self, subject: &Subject) -> Result<PathBuf, BuildError> {
        let sources = self.home.sources_of(subject);
        let needed = self.needed_to_build(subject);
        let versions: Vec<String> =
            needed.values().map(|program| format!("{} {}", program.name, program.version)).collect();
        self.builds.folder(subject, &sources, &versions)
    }

    /// A build is the same for all variants, so it may use what any of them needs.
    fn needed_to_build(&self, subject: &Subject) -> BTreeMap<String, &Program> {
        self.ready(subject.needs.iter().map(String::as_str))
    }

    /// Those of the programs that are installed, in the order of their names.
    fn ready<'n>(&self, names: impl Iterator<Item = &'n str>) -> BTreeMap<String, &Program> {
        names.filter_map(|name| Some((name.to_owned(), self.programs.get(name)?))).collect()
    }
    /// The programs that the subjects of a plan use.
    pub fn programs_of(&self, plan: &Plan) -> Vec<&Program> {
        let chosen = plan.cases.iter().map(|case| &case.subject);
        let subjects = chosen.filter_map(|choice| Some((self.catalogue.subject(&choice.subject)?, &choice.variant)));
        let of_subjects = subjects.flat_map(|(subject, variant)| subject.needs(variant));
        let tools = plan.scenarios.iter().filter_map(|scenario| scenario.tool.name.program());
        let timers = plan.programs.iter().filter_map(|program| program.timer.program());
        let needed: BTreeSet<&str> = of_subjects.chain(tools).chain(timers).collect();
        needed.into_iter().filter_map(|name| self.programs.get(name)).collect()
    }
}
