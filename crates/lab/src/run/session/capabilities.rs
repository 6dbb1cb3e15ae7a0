//! What this machine can offer a trial, and the box that a trial's environment requires.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tolok_link::LinkSpec;
use tolok_model::{CpuMap, CpuMode, Database, Engine, Environment, Link, LinkBackend, USUAL_CONGESTION};

use crate::run::session::scratch::Scratch;
use tolok_host::group::{self, Controller, Delegation, Hierarchies, LeafCgroup, Limits, Surroundings, delegation};
use tolok_host::isolate::session_folder::sweep;
use tolok_host::isolate::{
    Backend, BoxSpec, GroupsSpec, GuardSpec, LinkBetween, NetworkSpec, RunFolder, TrialBox, wait_within,
};

/// What the groups of a trial count and limit, if the machine supports it.
const WANTED: [Controller; 8] = Controller::ALL;
/// The most that the private folder of a trial may hold: logs, sockets, temporary files, and the data of its database.
const RUN_FOLDER_BYTES: u64 = 1 << 30;
/// CPU weights of the parts; the kernel's maximum is 10,000. They matter only where parts share CPUs. There, a delayed link would be
/// measured as slowness of the subject.
const WEIGHTS: [(&str, u32); 5] =
    [("subject", 100), ("generator", 100), ("lab", 100), ("link", 1000), ("database", 100)];
/// Added to a trial's seed for the link of its database, so that its two links draw different random numbers.
const DATABASE_LINK: u64 = 1 << 32;
/// How long systemd may take to create a group; it takes milliseconds.
const SYSTEMD_LIMIT: Duration = Duration::from_secs(5);
/// Set in every trial, even if the study does not name it, if the machine allows it.
const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// What this machine can offer a trial, determined once, before the first trial.
#[derive(Debug)]
pub struct Capabilities {
    hierarchies: Hierarchies,
    /// What dead sessions left and tolok could not remove, in words.
    pub leftovers: Vec<String>,
    /// Allows groups below the process's own; undone on drop.
    _leaf_cgroup: Option<LeafCgroup>,
}

/// Starts this program again, with the same arguments, in a control group that it may divide, if systemd offers one to
/// a user who has none. Returns if that would gain nothing.
pub fn start_again_in_an_own_group() {
    let hierarchies = Hierarchies::find();
    let has_room = LeafCgroup::settle(&hierarchies);
    let wanted = delegation(&hierarchies, &Surroundings::find());
    // Undo this before another program replaces this one.
    drop(has_room);
    let Delegation::ReexecUnder(words) = wanted else { return };
    let Some((program, options)) = words.split_first() else { return };
    let Ok(own) = std::env::current_exe() else { return };
    if !gives_a_group(program, options) {
        return;
    }
    // `exec` returns only if it fails. Then this process continues, and the trials report what they lack.
    let _ = Command::new(program).args(options).arg(own).args(std::env::args_os().skip(1)).exec();
}

/// Tries with a program that does nothing: after `exec`, a refusal by systemd would be the end of this program.
fn gives_a_group(program: &str, options: &[String]) -> bool {
    let mut command = Command::new(program);
    command.args(options).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut tried) = command.spawn() else { return false };
    match wait_within(&mut tried, SYSTEMD_LIMIT) {
        Ok(Some(status)) => status.success(),
        _ => {
            let _ = tried.kill();
            let _ = tried.wait();
            false
        }
    }
}

impl Capabilities {
    /// Removes control groups and folders of dead sessions, and determines what the machine can do.
    pub fn prepare() -> Self {
        let hierarchies = Hierarchies::find();
        let leftovers = group::sweep(&hierarchies);
        sweep(&std::env::temp_dir());
        let leaf_cgroup = LeafCgroup::settle(&hierarchies).ok();
        Self { hierarchies, leftovers, _leaf_cgroup: leaf_cgroup }
    }

    /// The control groups that this process is in.
    pub(in crate::run) fn hierarchies(&self) -> &Hierarchies {
        &self.hierarchies
    }

    /// Checks whether this machine can provide an environment, by opening such a box. The error says why not, and what to do.
    /// Optional features are provided if possible, so an environment without requirements needs no test.
    pub fn try_out(&self, program: &Path, environment: &Environment, cpus: &CpuMap) -> Result<(), String> {
        if let Some(asked) = beside_an_external_database(environment) {
            return Err(format!(
                "it asks for {asked}, and a database server of your own is reached over the machine's network alone: leave \
                 that out, or let tolok start the database (engine = \"mariadb\" or \"mysql\")"
            ));
        }
        let of_database = own_database(environment, true).is_some_and(asks_for_something);
        if environment.needs_groups().is_none() && environment.needs_namespaces().is_none() && !of_database {
            return Ok(());
        }
        // A session folder, so that the next session removes it if this one is interrupted.
        let folder = Scratch::make(&std::env::temp_dir());
        let folder = folder.map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let [report, database_report] = ["link.jsonl", "database-link.jsonl"].map(|name| folder.path().join(name));
        let spec = self.spec(&BoxRequest {
            environment,
            cpus,
            servers: 0,
            database: true,
            external: false,
            apart: false,
            seed: 0,
            report: &report,
            database_report: &database_report,
            run_folder: None,
            guard: None,
            session: folder.path(),
        });
        let trial_box = TrialBox::open(program, &spec).map_err(|error| error.to_string())?;
        trial_box.stop().map_err(|error| error.to_string())
    }

    /// The box of a trial, which isolates its parts.
    pub(in crate::run) fn spec(&self, wish: &BoxRequest<'_>) -> BoxSpec {
        BoxSpec {
            groups: Some(Self::groups(wish)),
            network: network(wish),
            guard: wish.guard.clone(),
            session_folder: Some(wish.session.to_owned()),
            run_folder: wish.run_folder.map(|(path, owner)| RunFolder {
                path: path.to_owned(),
                size_bytes: RUN_FOLDER_BYTES,
                owner,
            }),
        }
    }

    /// If no groups can be made, the box reports that, or refuses an environment that needs them.
    fn groups(wish: &BoxRequest<'_>) -> GroupsSpec {
        let BoxRequest { environment, cpus, .. } = wish;
        let database = own_database(environment, wish.database);
        let of_subject = limits(&environment.subject, &cpus.subject);
        // Each of several servers has the limits of a subject, and they share its CPUs.
        let (of_all, of_each) = match wish.servers {
            0 => (of_subject, Limits::default()),
            _ => (
                Limits { memory_bytes: None, pids: None, ..of_subject.clone() },
                Limits { cpus: Vec::new(), quota_cpus: None, ..of_subject },
            ),
        };
        let asked = |part: &str| match part {
            "subject" => of_all.clone(),
            "link" if !cpus.link.is_empty() => Limits { cpus: cpus.link.clone(), ..Limits::default() },
            "generator" => limits(&environment.generator, cpus.of_lab()),
            "database" => Limits {
                cpus: if cpus.database.is_empty() { cpus.of_lab().to_vec() } else { cpus.database.clone() },
                memory_bytes: database.and_then(|database| database.memory_bytes),
                ..Limits::default()
            },
            _ => Limits { cpus: cpus.of_lab().to_vec(), ..Limits::default() },
        };
        let part = |(name, weight): (&str, u32)| (name.to_owned(), Limits { weight: Some(weight), ..asked(name) });
        // All controllers, so that the box reports those that the machine lacks.
        let parts = WEIGHTS.into_iter().filter(|(name, _)| *name != "database" || database.is_some());
        let servers = (1..=wish.servers).map(|server| (server_part(server), of_each.clone()));
        GroupsSpec { parts: parts.map(part).chain(servers).collect(), controllers: WANTED.into() }
    }
}

/// The part of the box for a server of a launch, counted from 1.
pub(in crate::run) fn server_part(server: usize) -> String {
    format!("subject/{server}")
}

/// What a trial's box must offer.
#[derive(Debug, Clone)]
pub(in crate::run) struct BoxRequest<'a> {
    pub(in crate::run) environment: &'a Environment,
    pub(in crate::run) cpus: &'a CpuMap,
    /// How many servers the box holds, each with a control group of its own; 0 for a single one in the subject's group.
    pub(in crate::run) servers: usize,
    /// Whether the environment's database is a part of the trial, because its workload uses one.
    pub(in crate::run) database: bool,
    /// Whether the subject is outside the box: a server that runs already.
    pub(in crate::run) external: bool,
    /// Whether load comes from other machines, which can reach only the machine's own network.
    pub(in crate::run) apart: bool,
    /// Seed for the random numbers of its links.
    pub(in crate::run) seed: u64,
    /// Where an emulated link between client and subject writes its report.
    pub(in crate::run) report: &'a Path,
    /// The same for the link between subject and database.
    pub(in crate::run) database_report: &'a Path,
    /// The private folder, and who owns it if not the lab.
    pub(in crate::run) run_folder: Option<(&'a Path, Option<(u32, u32)>)>,
    /// What keeps its programs away from the rest of the machine.
    pub(in crate::run) guard: Option<GuardSpec>,
    /// The private folder of the session.
    pub(in crate::run) session: &'a Path,
}

/// The database of an environment, if its trials start one.
fn own_database(environment: &Environment, asked: bool) -> Option<&Database> {
    environment.database.as_ref().filter(|database| asked && database.engine != Engine::External)
}

/// Whether the database's settings need groups or namespaces.
fn asks_for_something(database: &Database) -> bool {
    database.memory_bytes.is_some() || !database.link.is_local()
}

/// What the environment requires that is impossible with an existing database server.
fn beside_an_external_database(environment: &Environment) -> Option<&'static str> {
    let database = environment.database.as_ref().filter(|database| database.engine == Engine::External)?;
    let of_database = (!database.link.is_local()).then_some("a link to the database");
    of_database.or(environment.needs_namespaces())
}

fn limits(asked: &tolok_model::Limits, cpus: &[u32]) -> Limits {
    Limits {
        cpus: cpus.to_vec(),
        quota_cpus: (asked.mode == CpuMode::Quota).then_some(asked.cpus),
        memory_bytes: asked.memory_bytes,
        pids: asked.pids,
        weight: None,
    }
}

fn network(wish: &BoxRequest<'_>) -> NetworkSpec {
    let &BoxRequest { environment, cpus, seed, .. } = wish;
    let database = environment.database.as_ref().filter(|_| wish.database);
    if wish.external || wish.apart || database.is_some_and(|database| database.engine == Engine::External) {
        // A user's own server, and a generator elsewhere, cannot be reached from a namespace of ours.
        return NetworkSpec::Host;
    }
    let mut sysctls: BTreeMap<String, String> = environment.network.sysctls.clone();
    let congestion = &environment.network.congestion;
    sysctls.insert(CONGESTION.to_owned(), congestion.clone());
    // Only what the study requires is a reason to refuse the environment.
    let dispensable = (congestion == USUAL_CONGESTION).then(|| CONGESTION.to_owned()).into_iter().collect();
    let between = |link: &Link, seed, report: &Path| LinkBetween {
        spec: link_spec(link, seed),
        backend: match link.backend {
            LinkBackend::Auto | LinkBackend::Emulator => Backend::Emulator,
            LinkBackend::Netem => Backend::Netem,
            LinkBackend::Veth => Backend::Veth,
        },
        cpus: cpus.link.clone(),
        report: report.to_owned(),
    };
    let link = Some(&environment.link).filter(|link| !link.is_local());
    let link = link.map(|link| between(link, seed, wish.report));
    let database_link = database.map(|database| &database.link).filter(|link| !link.is_local());
    let database_link = database_link.map(|link| between(link, seed.wrapping_add(DATABASE_LINK), wish.database_report));
    NetworkSpec::Private { sysctls, dispensable, link, database_link }
}

/// A study gives round-trip times; the emulator takes one-way times.
fn link_spec(link: &Link, seed: u64) -> LinkSpec {
    LinkSpec {
        delay_s: link.rtt_s / 2.0,
        jitter_s: link.jitter_s / 2.0,
        rate_bps: link.rate_bps,
        loss: link.loss,
        queue_bytes: link.queue_bytes,
        seed: link.seed.unwrap_or(seed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus() -> CpuMap {
        CpuMap { subject: vec![0], generator: vec![1], link: vec![1], ..CpuMap::default() }
    }

    fn wish<'a>(environment: &'a Environment, cpus: &'a CpuMap) -> BoxRequest<'a> {
        let [report, database_report] = ["link", "database-link"].map(Path::new);
        BoxRequest {
            environment,
            cpus,
            servers: 0,
            database: true,
            external: false,
            apart: false,
            seed: 1,
            report,
            database_report,
            run_folder: None,
            guard: None,
            session: Path::new("session"),
        }
    }

    fn with_database(change: impl FnOnce(&mut Database)) -> Environment {
        let mut database = Database::default();
        change(&mut database);
        Environment { database: Some(database), ..Environment::default() }
    }

    #[test]
    fn a_database_is_in_the_box_of_a_trial_that_asks_it() {
        let environment = with_database(|database| {
            (database.memory_bytes, database.link.rtt_s) = (Some(1 << 30), 0.02);
        });
        let cpus = CpuMap { database: vec![2], ..cpus() };
        let asking = wish(&environment, &cpus);
        let limits = &Capabilities::groups(&asking).parts["database"];
        assert_eq!((&limits.cpus, limits.memory_bytes, limits.weight), (&vec![2], Some(1 << 30), Some(100)));
        let NetworkSpec::Private { link: None, database_link: Some(link), .. } = network(&asking) else { panic!() };
        assert_eq!((link.spec.delay_s, link.spec.seed, link.report), (0.01, 1 + (1 << 32), "database-link".into()));
        let not_asking = BoxRequest { database: false, ..asking.clone() };
        assert!(!Capabilities::groups(&not_asking).parts.contains_key("database"));
        assert!(matches!(network(&not_asking), NetworkSpec::Private { database_link: None, .. }));
        // Without CPUs of its own, a database has the generator's.
        let without = with_database(|_| {});
        assert_eq!(Capabilities::groups(&wish(&without, &self::cpus())).parts["database"].cpus, [1]);
        assert!(matches!(network(&wish(&without, &cpus)), NetworkSpec::Private { database_link: None, .. }));
    }

    #[test]
    fn a_database_that_is_there_already_is_reached_over_the_machines_network() {
        let external = with_database(|database| database.engine = Engine::External);
        let cpus = cpus();
        assert!(matches!(network(&wish(&external, &cpus)), NetworkSpec::Host));
        assert!(matches!(
            network(&BoxRequest { database: false, ..wish(&external, &cpus) }),
            NetworkSpec::Private { .. }
        ));
        assert!(!Capabilities::groups(&wish(&external, &cpus)).parts.contains_key("database"));
        let refused = |change: &dyn Fn(&mut Environment)| {
            let mut environment = external.clone();
            change(&mut environment);
            beside_an_external_database(&environment)
        };
        assert_eq!(refused(&|_| {}), None);
        assert_eq!(refused(&|environment| environment.link.rtt_s = 0.02), Some("a link"));
        let slow = |environment: &mut Environment| {
            environment.database.as_mut().unwrap().link = Link { rtt_s: 0.02, ..Link::default() };
        };
        assert_eq!(refused(&slow), Some("a link to the database"));
        let own = |environment: &mut Environment| {
            slow(environment);
            environment.database.as_mut().unwrap().engine = Engine::Mariadb;
        };
        assert_eq!(refused(&own), None);
    }

    #[test]
    fn half_of_a_round_trip_is_each_way() {
        let wifi = Link::preset("lan-wifi").unwrap();
        let spec = link_spec(&wifi, 7);
        assert_eq!((spec.delay_s, spec.jitter_s, spec.rate_bps, spec.seed), (0.001, 0.0015, Some(54e6), 7));
        assert_eq!(link_spec(&Link { seed: Some(3), ..wifi }, 7).seed, 3);
    }

    #[test]
    fn the_loopback_needs_no_link() {
        let of = |link| network(&wish(&Environment { link, ..Environment::default() }, &cpus()));
        let has_link = |spec| matches!(spec, NetworkSpec::Private { link: Some(_), database_link: None, .. });
        assert!(!has_link(of(Link::default())));
        assert!(has_link(of(Link { backend: LinkBackend::Veth, ..Link::default() })));
        assert!(has_link(of(Link::preset("wan-170ms").unwrap())));
    }

    #[test]
    fn a_systemd_that_refuses_or_is_not_there_gives_no_group() {
        let options = |script: &str| ["-c", script].map(str::to_owned);
        assert!(gives_a_group("sh", &options("exec \"$0\"")));
        assert!(!gives_a_group("sh", &options("echo 'Failed to connect to bus' >&2; exit 1")));
        assert!(!gives_a_group("/nonexistent/systemd-run", &[]));
    }

    #[test]
    fn a_box_is_asked_for_all_controllers_so_that_it_says_which_are_missing() {
        let groups = Capabilities::groups(&wish(&Environment::default(), &cpus()));
        assert_eq!(groups.controllers, Controller::ALL.into());
        assert!(!groups.parts.contains_key("database"));
        assert_eq!((&groups.parts["subject"].cpus, &groups.parts["lab"].cpus), (&vec![0], &vec![1]));
    }

    #[test]
    fn of_several_servers_each_has_the_limits_of_a_subject() {
        let subject =
            tolok_model::Limits { memory_bytes: Some(1 << 20), pids: Some(9), ..Environment::default().subject };
        let (environment, cpus) = (Environment { subject, ..Environment::default() }, cpus());
        let parts = Capabilities::groups(&BoxRequest { servers: 2, ..wish(&environment, &cpus) }).parts;
        assert_eq!((&parts["subject"].cpus, parts["subject"].memory_bytes), (&vec![0], None));
        for server in ["subject/1", "subject/2"] {
            assert_eq!(
                (parts[server].memory_bytes, parts[server].pids, parts[server].weight),
                (Some(1 << 20), Some(9), None)
            );
        }
        assert!(!parts.contains_key("subject/3"));
    }

    #[test]
    fn a_quota_is_a_limit_and_dedicated_cpus_are_a_set() {
        let asked = |mode| tolok_model::Limits { mode, cpus: 1.5, memory_bytes: Some(1 << 20), pids: Some(9) };
        let quota = limits(&asked(CpuMode::Quota), &[0, 1]);
        assert_eq!(
            (quota.quota_cpus, quota.cpus, quota.memory_bytes, quota.pids),
            (Some(1.5), vec![0, 1], Some(1 << 20), Some(9))
        );
        assert_eq!(limits(&asked(CpuMode::Dedicated), &[0]).quota_cpus, None);
    }
}
