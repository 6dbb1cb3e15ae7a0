//! The database as a part of a box: its own network behind a link, its own group, an end and a restart.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Signal, geteuid};
use tolok_host::group::{Controller, Hierarchies, Limits};
use tolok_host::isolate::{Backend, BoxError, BoxSpec, LinkSpec, TrialBox};
use tolok_host::sample::{Folders, Followed, Members, NetOf, Part, Sampler, descendants};
use tolok_lab::run;
use tolok_load::clock::{Clock, SystemClock};
use tolok_model::{CpuMap, Database, Engine, Environment, Link, LinkBackend};
use tolok_testkit::{is_own_process, require, run_in_own_process, test_name};

use crate::boxed::{Ground, Traces, groups, keeper_of, private, private_with, wait_until};
use crate::place::{TOLOK, assert_all_gone, shared_turn};

const CONGESTION: &str = "net.ipv4.tcp_congestion_control";
const PORT: u16 = 3306;

fn open(spec: &BoxSpec) -> TrialBox {
    TrialBox::open(Path::new(TOLOK), spec).unwrap()
}

fn can_have_links() -> bool {
    let has_tun = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok();
    geteuid().is_root() && has_tun
}

fn can_have_groups() -> bool {
    let usable = Hierarchies::find().usable();
    geteuid().is_root() && usable.contains(&Controller::Pids) && usable.contains(&Controller::Memory)
}

fn members(trial_box: &TrialBox, part: &str) -> Vec<u32> {
    trial_box.group(part).unwrap().members().unwrap()
}

fn network_of(pid: u32) -> PathBuf {
    fs::read_link(format!("/proc/{pid}/ns/net")).unwrap()
}

/// Starts a server at the address where the subject expects the database.
fn serve(trial_box: &mut TrialBox, ground: &Ground) {
    let server = Path::new(TOLOK).with_file_name("faulty-subject");
    let assets = ground.path().display().to_string();
    let (address, port) = (trial_box.database_address().to_string(), PORT.to_string());
    let argv = [server.to_str().unwrap(), "--host", &address, "--port", &port, "--assets", &assets];
    trial_box.start(&ground.database(&argv)).unwrap();
}

/// Makes the subject connect until it succeeds, and then five times more. Returns the shortest handshake.
fn handshake_from_the_subject(trial_box: &mut TrialBox, ground: &Ground) -> Duration {
    let at = format!("/dev/tcp/{}/{PORT}", trial_box.database_address());
    let script = format!(
        "until (exec 3<>{at}) 2>/dev/null; do :; done\n\
         for n in 1 2 3 4 5; do a=$EPOCHREALTIME; exec 3<>{at} || exit 1; b=$EPOCHREALTIME; exec 3>&-; echo $((${{b/./}} - ${{a/./}})); done"
    );
    let said = ground.said_by(trial_box, &format!("exec bash -c '{script}'"));
    let times: Vec<u64> = said.lines().map(|line| line.parse().unwrap_or_else(|_| panic!("{said}"))).collect();
    assert_eq!(times.len(), 5, "{said}");
    Duration::from_micros(times.into_iter().min().unwrap())
}

/// Packets that a link passed to the subject and from it, from the last line of its report.
fn packets_in(report: &Path) -> [u64; 2] {
    let report = fs::read_to_string(report).unwrap();
    let last: serde_json::Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
    [0, 1].map(|direction| last["directions"][direction]["packets"].as_u64().unwrap())
}

fn has_bash() -> bool {
    Path::new("/bin/bash").exists() || Path::new("/usr/bin/bash").exists()
}

#[test]
fn a_database_behind_a_link_is_a_round_trip_away_from_the_subject() {
    require!(can_have_links() && can_have_groups() && has_bash(), "no groups, no TUN device, or no bash");
    let ground = Ground::new();
    let parts = ["subject", "database", "link"].map(|part| (part, Limits::default()));
    let [near, far] = [0.001, 0.02].map(|delay_s| LinkSpec { delay_s, ..LinkSpec::default() });
    let network = private_with(
        &[(CONGESTION, "reno"), ("net.ipv4.tcp_rmem", "4096 65536 131072")],
        Some(ground.link(Backend::Emulator, near)),
        Some(ground.database_link(Backend::Emulator, far)),
    );
    let mut trial_box = open(&BoxSpec { groups: Some(groups(&parts)), network, ..ground.spec() });
    let isolation = trial_box.isolation();
    assert_eq!((isolation.network.as_str(), isolation.database_network.as_deref()), ("emulator", Some("emulator")));
    assert_eq!(trial_box.database_address().to_string(), "198.18.0.5");
    let emulators = [trial_box.link_pid(), trial_box.database_link_pid()].map(Option::unwrap);
    assert_eq!(BTreeSet::from_iter(members(&trial_box, "link")), BTreeSet::from(emulators));

    // Its settings are those of all the box's namespaces.
    let asked = "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_congestion_control /proc/net/dev";
    let log = ground.database(&["sh", "-c", asked]).log;
    trial_box.start(&ground.database(&["sh", "-c", asked])).unwrap();
    wait_until("it has told", || trial_box.exits().unwrap().len() == 1);
    let told = fs::read_to_string(&log).unwrap();
    assert!(told.starts_with("4096\t65536\t131072\nreno\n"), "{told}");
    assert!(told.contains("tolok0:") && !told.contains("tolok1:"), "{told}");
    assert_eq!(trial_box.exits().unwrap()[0].part, "database");

    serve(&mut trial_box, &ground);
    let time = handshake_from_the_subject(&mut trial_box, &ground);
    assert!(time >= Duration::from_millis(40), "{time:?}");
    let server = trial_box.pids_of("database");
    assert_eq!(members(&trial_box, "database"), server);
    let namespaces = [server[0], trial_box.init_pid(), keeper_of(&trial_box)].map(network_of);
    assert_eq!(BTreeSet::from(namespaces).len(), 3, "client, subject and database are apart");
    let address = (trial_box.database_address(), PORT).into();
    assert!(trial_box.connect(address, Duration::from_secs(1)).is_err(), "the client must not reach it");

    let traces = Traces::of(&trial_box, &ground, keeper_of(&trial_box), &[]);
    trial_box.stop().unwrap();
    assert_all_gone(|| traces.left());
    let [front, back] = ["link.jsonl", "database-link.jsonl"].map(|name| packets_in(&ground.path().join(name)));
    // Each of the six handshakes sends two packets from the subject and one to it. The other link is unused.
    assert!(back[0] >= 6 && back[1] >= 12, "{back:?}");
    assert_eq!(front, [0; 2]);
}

#[test]
fn a_link_of_the_database_alone_and_one_of_the_kernels() {
    require!(can_have_links() && has_bash(), "no TUN device, or no bash");
    for (backend, delay_s) in [(Backend::Emulator, 0.005), (Backend::Veth, 0.0)] {
        let ground = Ground::new();
        let link = ground.database_link(backend, LinkSpec { delay_s, ..LinkSpec::default() });
        let network = private_with(&[(CONGESTION, "cubic")], None, Some(link));
        let mut trial_box = open(&BoxSpec { network, ..ground.spec() });
        let isolation = trial_box.isolation();
        let between = (isolation.network.as_str(), isolation.database_network.as_deref());
        assert_eq!(between, ("private", Some(backend.name())));
        assert_eq!((trial_box.subject_address(), trial_box.link_pid()), ([127, 0, 0, 1].into(), None));
        assert_eq!(trial_box.database_link_pid().is_some(), backend == Backend::Emulator);
        serve(&mut trial_box, &ground);
        let time = handshake_from_the_subject(&mut trial_box, &ground);
        assert!(time >= Duration::from_secs_f64(2.0 * delay_s), "{time:?}");
        trial_box.stop().unwrap();
    }
    let ground = Ground::new();
    let slow = ground.database_link(Backend::Veth, LinkSpec { delay_s: 0.01, ..LinkSpec::default() });
    let spec = BoxSpec { network: private_with(&[], None, Some(slow)), ..ground.spec() };
    let refused = TrialBox::open(Path::new(TOLOK), &spec).unwrap_err().to_string();
    assert!(refused.starts_with("the link between subject and database cannot be made: a veth pair"), "{refused}");
}

#[test]
fn without_a_link_the_database_is_in_the_network_of_the_subject() {
    require!(can_have_groups() && has_bash(), "no groups, or no bash");
    let ground = Ground::new();
    let limits = Limits { memory_bytes: Some(64 << 20), ..Limits::default() };
    let parts = [("subject", Limits::default()), ("database", limits)];
    let mut trial_box = open(&BoxSpec { groups: Some(groups(&parts)), network: private(&[], None), ..ground.spec() });
    assert_eq!(trial_box.isolation().database_network.as_deref(), Some("private"));
    assert_eq!(
        (trial_box.database_address().to_string().as_str(), trial_box.has_database_network()),
        ("127.0.0.1", false)
    );
    serve(&mut trial_box, &ground);
    handshake_from_the_subject(&mut trial_box, &ground);
    let server = trial_box.pids_of("database");
    assert_eq!((members(&trial_box, "database"), network_of(server[0])), (server, network_of(trial_box.init_pid())));
    // More than its limit, in the private folder, which counts towards it.
    let fill = "dd if=/dev/zero of=large bs=1M count=100 2>/dev/null; echo written";
    trial_box.start(&ground.database(&["sh", "-c", &format!("exec >&-; {fill}")])).unwrap();
    wait_until("the limit is met", || {
        let reading = trial_box.group("database").unwrap().reader().read();
        reading.memory.is_some_and(|memory| memory.oom_kills > 0)
    });
    trial_box.stop().unwrap();
}

/// A server that ignores all signals that it can, with a child in another session.
const STUBBORN: &str = "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; sleep 100001; true' & sleep 100002; true";

/// Kills the database twice and asks it to end once. The subject sees nothing else.
fn the_database_ends_and_begins_again(spec: &BoxSpec, ground: &Ground) {
    let mut trial_box = open(spec);
    trial_box.start(&ground.process(&["sleep", "100000"])).unwrap();
    let below = |trial_box: &TrialBox| descendants(Path::new("/proc"), trial_box.init_pid());
    for round in 1..=2 {
        trial_box.start(&ground.database(&["sh", "-c", STUBBORN])).unwrap();
        wait_until("the whole tree is there", || below(&trial_box).len() == 5);
        assert_eq!(trial_box.pids_of("database").len(), 1);
        trial_box.end_part("database", Signal::KILL).unwrap();
        assert_eq!(trial_box.pids_of("database"), [0; 0]);
        let exits = trial_box.exits().unwrap();
        assert_eq!(exits.len(), round);
        assert!(exits.iter().all(|exit| exit.part == "database" && exit.how == "signal 9"), "{exits:?}");
        wait_until("nobody is left but the subject", || below(&trial_box) == trial_box.pids_of("subject"));
    }
    trial_box
        .start(&ground.database(&["sh", "-c", "trap 'exit 3' TERM; echo here; while :; do sleep 0.01; done"]))
        .unwrap();
    let log = ground.path().join("database.log");
    wait_until("it can be asked", || fs::read_to_string(&log).unwrap().contains("here"));
    trial_box.end_part("database", Signal::TERM).unwrap();
    let last = trial_box.exits().unwrap().last().unwrap().clone();
    assert_eq!((last.part.as_str(), last.how.as_str()), ("database", "exit code 3"));
    // Without a database process there is nothing to end.
    trial_box.end_part("database", Signal::KILL).unwrap();
    assert_eq!(trial_box.exits().unwrap().len(), 3);
    trial_box.stop().unwrap();
}

#[test]
fn a_database_with_a_group_is_ended_and_started_again() {
    require!(can_have_groups(), "control groups cannot be made here");
    let ground = Ground::new();
    let parts = ["subject", "database"].map(|part| (part, Limits::default()));
    the_database_ends_and_begins_again(&BoxSpec { groups: Some(groups(&parts)), ..ground.spec() }, &ground);
}

#[test]
fn a_database_without_a_group_is_ended_and_started_again() {
    let ground = Ground::new();
    the_database_ends_and_begins_again(&ground.spec(), &ground);
}

#[test]
fn a_database_in_a_box_without_namespaces_is_ended_and_started_again() {
    if !is_own_process() {
        return run_in_own_process(test_name!(), &[("TOLOK_NO_NAMESPACE", "1")]);
    }
    let ground = Ground::new();
    the_database_ends_and_begins_again(&ground.spec(), &ground);
    let link = ground.database_link(Backend::Emulator, LinkSpec::default());
    let refused =
        TrialBox::open(Path::new(TOLOK), &BoxSpec { network: private_with(&[], None, Some(link)), ..ground.spec() });
    let Err(BoxError::Link(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.starts_with("subject and database cannot be made: no network namespace"), "{reason}");
}

#[test]
fn a_database_comes_back_in_its_network_and_what_it_used_stays_counted() {
    require!(can_have_links() && can_have_groups() && has_bash(), "no groups, no TUN device, or no bash");
    let ground = Ground::new();
    let parts = ["subject", "database", "link"].map(|part| (part, Limits::default()));
    let link = ground.database_link(Backend::Emulator, LinkSpec::default());
    let network = private_with(&[], None, Some(link));
    let mut trial_box = open(&BoxSpec { groups: Some(groups(&parts)), network, ..ground.spec() });
    let followed = Followed {
        part: Part::Database,
        members: Members::Group(trial_box.group("database").unwrap().clone()),
        net_of: Some(NetOf::Members),
    };
    let emulator = trial_box.database_link_pid().map(Members::Process).unwrap();
    let emulator = Followed { part: Part::DatabaseLink, members: emulator, net_of: None };
    serve(&mut trial_box, &ground);
    let network_before = network_of(trial_box.pids_of("database")[0]);
    let mut sampler = Sampler::new(SystemClock, Folders::default(), vec![followed, emulator]);
    let began = SystemClock.now();
    sampler.window_starts(0.0, began);
    handshake_from_the_subject(&mut trial_box, &ground);
    sampler.tick(1.0);
    trial_box.end_part("database", Signal::KILL).unwrap();
    sampler.tick(2.0);
    serve(&mut trial_box, &ground);
    handshake_from_the_subject(&mut trial_box, &ground);
    assert_eq!(network_of(trial_box.pids_of("database")[0]), network_before);
    let usage = sampler.window_ends(3.0, SystemClock.now()).unwrap();
    let used = usage.part(Part::Database);
    let network = used.network.unwrap();
    // At least ten handshakes, with at least three packets of 40 bytes from each side.
    assert!(network.received_bytes > 10 * 120 && network.sent_bytes > 10 * 80, "{network:?}");
    assert!(used.cpu_s > 0.0 && used.memory.unwrap().peak_bytes > Some(0), "{used:?}");
    assert!(usage.part(Part::DatabaseLink).cpu_s > 0.0, "{usage:?}");
    trial_box.stop().unwrap();
}

#[test]
fn what_an_environment_asks_of_its_database_is_tried_out() {
    require!(can_have_links() && can_have_groups(), "no groups or no TUN device");
    // It cleans up after dead sessions, which other tests examine.
    let _turn = shared_turn();
    let ground = run::Capabilities::prepare();
    let cpus = CpuMap { subject: vec![0], generator: vec![0], ..CpuMap::default() };
    let tried = |cpus: &CpuMap, database: Database| {
        let environment = Environment { database: Some(database), ..Environment::default() };
        ground.try_out(Path::new(TOLOK), &environment, cpus)
    };
    let distant = |backend| Link { rtt_s: 0.02, backend, ..Link::default() };
    let usual = Database::default;
    let possible = Database { memory_bytes: Some(1 << 30), link: distant(LinkBackend::Auto), ..usual() };
    assert_eq!(tried(&cpus, possible.clone()), Ok(()));
    let refused = tried(&cpus, Database { link: distant(LinkBackend::Veth), ..usual() }).unwrap_err();
    assert!(refused.starts_with("the link between subject and database cannot be made: a veth pair"), "{refused}");
    let refused = tried(&CpuMap { database: vec![8_000], ..cpus.clone() }, possible.clone()).unwrap_err();
    assert!(refused.starts_with("a limit cannot be enforced: "), "{refused}");
    let refused = tried(&cpus, Database { engine: Engine::External, ..possible }).unwrap_err();
    assert!(refused.starts_with("it asks for a link to the database, and a database server of your own"), "{refused}");
    assert_eq!(tried(&cpus, Database { engine: Engine::External, ..usual() }), Ok(()));
}
