//! What this machine lets a trial have, and the box that a trial's environment asks for.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tolok_link::LinkSpec;
use tolok_model::{CpuMap, CpuMode, Environment, Link, LinkBackend, USUAL_CONGESTION};

use super::scratch::Scratch;
use crate::group::{self, Controller, Delegation, Hierarchies, Limits, Residence, Surroundings, delegation};
use crate::isolate::{Backend, BoxSpec, GroupsSpec, LinkBetween, NetworkSpec, RunFolder, TrialBox, wait_within};

/// What the groups of a trial count and limit, as far as the machine offers it.
const WANTED: [Controller; 8] = Controller::ALL;
/// The private folder of a trial holds at most this much: room for logs, sockets and temporary files, not for data sets.
const RUN_FOLDER_BYTES: u64 = 1 << 30;
/// Weights of the parts among each other, of 10,000. Where they have CPUs of their own, weights decide nothing; where they share
/// them, a link that comes late would be measured as the subject's slowness.
const WEIGHTS: [(&str, u32); 4] = [("subject", 100), ("generator", 100), ("lab", 100), ("link", 1000)];
/// How long systemd may take to give a group; it takes milliseconds.
const SYSTEMD_LIMIT: Duration = Duration::from_secs(5);
/// A trial has this setting even if the study does not name it, as far as the machine allows.
const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// What this machine lets a trial have: found out once, before the first trial.
#[derive(Debug)]
pub struct Ground {
    hierarchies: Hierarchies,
    /// What dead sessions left and could not be removed, in words.
    pub leftovers: Vec<String>,
    /// Makes room for groups below the own one; undone when the ground is left.
    _residence: Option<Residence>,
}

/// Starts this program again, with the same arguments, in a control group that it may divide, where systemd gives one to
/// a user who has none. Returns where there is nothing to be gained by it.
pub fn start_again_in_an_own_group() {
    let hierarchies = Hierarchies::find();
    let has_room = Residence::settle(&hierarchies);
    let wanted = delegation(&hierarchies, &Surroundings::find());
    // Before another program takes the place of this one, everything is put back.
    drop(has_room);
    let Delegation::ReexecUnder(words) = wanted else { return };
    let Some((program, options)) = words.split_first() else { return };
    let Ok(own) = std::env::current_exe() else { return };
    if !gives_a_group(program, options) {
        return;
    }
    // It returns only if it fails, and then this process goes on as it is: the trials say what they lack.
    let _ = Command::new(program).args(options).arg(own).args(std::env::args_os().skip(1)).exec();
}

/// Tries with a program that does nothing: once this one has given its place away, a systemd that refuses would be the end.
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

impl Ground {
    /// Sweeps up after dead sessions and finds out what can be had.
    pub fn prepare() -> Self {
        let hierarchies = Hierarchies::find();
        let leftovers = group::sweep(&hierarchies);
        let residence = Residence::settle(&hierarchies).ok();
        Self { hierarchies, leftovers, _residence: residence }
    }

    /// The control groups that this process is in.
    pub(super) fn hierarchies(&self) -> &Hierarchies {
        &self.hierarchies
    }

    /// Whether an environment can be had here, by opening a box as it asks for; the error says why not, and what to do. What
    /// an environment does not ask for is had as far as it can be, so there is nothing to try where it asks for nothing.
    pub fn try_out(&self, program: &Path, environment: &Environment, cpus: &CpuMap) -> Result<(), String> {
        let asks = environment.needs_groups().is_some() || environment.needs_namespaces().is_some();
        if !asks {
            return Ok(());
        }
        // A session's, so that the next one sweeps it up if this is interrupted.
        let folder = Scratch::make(&std::env::temp_dir());
        let folder = folder.map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let spec = self.spec(environment, cpus, 0, &folder.path().join("link.jsonl"), None);
        let trial_box = TrialBox::open(program, &spec).map_err(|error| error.to_string())?;
        trial_box.stop().map_err(|error| error.to_string())
    }

    /// The box of a trial: what holds its parts apart. `report` is the file in which an emulated link writes what it did;
    /// `seed` is that of its dice.
    pub(super) fn spec(
        &self,
        environment: &Environment,
        cpus: &CpuMap,
        seed: u64,
        report: &Path,
        run_folder: Option<(&Path, Option<(u32, u32)>)>,
    ) -> BoxSpec {
        BoxSpec {
            groups: Some(Self::groups(environment, cpus)),
            network: network(environment, cpus, seed, report),
            run_folder: run_folder.map(|(path, owner)| RunFolder {
                path: path.to_owned(),
                size_bytes: RUN_FOLDER_BYTES,
                owner,
            }),
        }
    }

    /// Where none can be made, the box says so, or refuses what the environment needs of them.
    fn groups(environment: &Environment, cpus: &CpuMap) -> GroupsSpec {
        let asked = |part: &str| match part {
            "subject" => limits(&environment.subject, &cpus.subject),
            "link" if !cpus.link.is_empty() => Limits { cpus: cpus.link.clone(), ..Limits::default() },
            "generator" => limits(&environment.generator, &cpus.generator),
            _ => Limits { cpus: cpus.generator.clone(), ..Limits::default() },
        };
        let part = |(name, weight): (&str, u32)| (name.to_owned(), Limits { weight: Some(weight), ..asked(name) });
        // All of them, so that the box says which the machine lacks.
        GroupsSpec { parts: WEIGHTS.into_iter().map(part).collect(), controllers: WANTED.into() }
    }
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

fn network(environment: &Environment, cpus: &CpuMap, seed: u64, report: &Path) -> NetworkSpec {
    let mut sysctls: BTreeMap<String, String> = environment.network.sysctls.clone();
    let congestion = &environment.network.congestion;
    sysctls.insert(CONGESTION.to_owned(), congestion.clone());
    // What the study did not ask for is no reason to refuse it.
    let dispensable = (congestion == USUAL_CONGESTION).then(|| CONGESTION.to_owned()).into_iter().collect();
    let link = &environment.link;
    let between = || LinkBetween {
        spec: link_spec(link, seed),
        backend: match link.backend {
            LinkBackend::Auto | LinkBackend::Emulator => Backend::Emulator,
            LinkBackend::Netem => Backend::Netem,
            LinkBackend::Veth => Backend::Veth,
        },
        cpus: cpus.link.clone(),
        report: report.to_owned(),
    };
    NetworkSpec::Private { sysctls, dispensable, link: (!link.is_local()).then(between) }
}

/// A study gives times of a round trip, the emulator takes those of one way.
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

    #[test]
    fn half_of_a_round_trip_is_each_way() {
        let wifi = Link::preset("lan-wifi").unwrap();
        let spec = link_spec(&wifi, 7);
        assert_eq!((spec.delay_s, spec.jitter_s, spec.rate_bps, spec.seed), (0.001, 0.0015, Some(54e6), 7));
        assert_eq!(link_spec(&Link { seed: Some(3), ..wifi }, 7).seed, 3);
    }

    #[test]
    fn the_loopback_needs_no_link() {
        let of = |link| network(&Environment { link, ..Environment::default() }, &cpus(), 1, Path::new("report"));
        let has_link = |spec| matches!(spec, NetworkSpec::Private { link: Some(_), .. });
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
        let groups = Ground::groups(&Environment::default(), &cpus());
        assert_eq!(groups.controllers, Controller::ALL.into());
        assert_eq!((&groups.parts["subject"].cpus, &groups.parts["lab"].cpus), (&vec![0], &vec![1]));
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
