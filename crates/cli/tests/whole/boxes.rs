//! Trial boxes: a private network, folder, control groups and link.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::process::{Signal, geteuid};
use rustix::thread::{Gid, Uid, UnshareFlags, set_thread_gid, set_thread_groups, set_thread_uid, unshare_unsafe};
use tolok_host::group::{Controller, Freezer, Hierarchies, Limits};
use tolok_host::isolate::{Backend, BoxError, BoxSpec, LinkBetween, LinkSpec, ProcessSpec, TrialBox, place as placed};
use tolok_testkit::{is_own_process, require, run_in_own_process, test_name};

use crate::boxed::{
    GROUND, Ground, Traces, connect, groups, keeper_of, namespaces_of, private, private_with, wait_until,
};
use crate::place::{PATIENCE, Place, TOLOK, assert_all_gone};

const CONGESTION: &str = "net.ipv4.tcp_congestion_control";
const USER: u32 = 65_534;

fn open(spec: &BoxSpec) -> TrialBox {
    TrialBox::open(Path::new(TOLOK), spec).unwrap()
}

/// Whether boxes here can have pid and network namespaces.
fn has_namespaces() -> bool {
    let mut probe = Command::new(TOLOK);
    probe.args(["namespace-probe", r#"{"pid":true,"net":true}"#]).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().unwrap().success()
}

/// Lets every user of this process's own mounts create TUN devices, as most distributions do, on machines where only root may.
fn lend_tun(folder: &Path) {
    let is_open_to_all = fs::metadata("/dev/net/tun").is_ok_and(|tun| tun.permissions().mode() & 0o006 == 0o006);
    if is_open_to_all || !has_tun() {
        return;
    }
    let node = folder.join("tun");
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, &node, FileType::CharacterDevice, mode, makedev(10, 200)).unwrap();
    // The umask has removed the permissions of others.
    fs::set_permissions(&node, fs::Permissions::from_mode(0o666)).unwrap();
    // SAFETY of the file descriptors: only this thread's mounts are unshared, and it is the only thread that continues.
    #[expect(unsafe_code, reason = "unsafe for namespaces of file descriptors; a mount namespace affects none")]
    unsafe {
        unshare_unsafe(UnshareFlags::NEWNS).unwrap();
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
    mount_bind(&node, "/dev/net/tun").unwrap();
}

fn has_tun() -> bool {
    fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok()
}

/// Starts a server in the box: the tests' own, because it needs no other files.
fn serve(trial_box: &mut TrialBox, ground: &Ground, port: u16) {
    serve_with(&Path::new(TOLOK).with_file_name("faulty-subject"), trial_box, ground, port);
}

fn serve_with(server: &Path, trial_box: &mut TrialBox, ground: &Ground, port: u16) {
    let assets = ground.path().display().to_string();
    let (address, port) = (trial_box.subject_address().to_string(), port.to_string());
    let argv = [server.to_str().unwrap(), "--host", &address, "--port", &port, "--assets", &assets];
    trial_box.start(&ground.process(&argv)).unwrap();
}

#[test]
fn a_box_without_wishes_is_processes_that_end_together() {
    require!(has_namespaces(), "no pid and network namespaces can be made here");
    let ground = Ground::new();
    let mut trial_box = open(&BoxSpec::default());
    assert_eq!(trial_box.isolation().network, "host");
    assert_eq!(trial_box.isolation().groups, None);
    assert_eq!(trial_box.isolation().fallbacks, [""; 0]);
    assert_eq!(
        (trial_box.subject_address(), trial_box.client_source()),
        ([127, 0, 0, 1].into(), [127, 0, 0, 1].into())
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    connect(&mut trial_box, listener.local_addr().unwrap());
    let traces = Traces::of(&trial_box, &ground, keeper_of(&trial_box), &[]);
    assert_eq!(traces.kinds(), ["ipc", "mnt", "pid"]);
    trial_box.stop().unwrap();
    assert_all_gone(|| traces.left());
}

#[test]
fn files_of_the_run_folder_are_inside_only_and_go_with_the_box() {
    require!(geteuid().is_root() && has_namespaces(), "only root can mount for another user");
    let ground = Ground::new();
    let mut spec = ground.spec();
    let folder = spec.run_folder.as_mut().unwrap();
    (folder.owner, folder.size_bytes) = (Some((USER, 33)), 16 << 20);
    let mut trial_box = open(&spec);
    let (file, long) = (ground.run_folder().join("etc/server.conf"), vec![7; 3 << 20]);
    trial_box.write_file(&file, b"\0binary\n\xff", 0o640).unwrap();
    trial_box.write_file(&ground.run_folder().join("long"), &long, 0o644).unwrap();
    assert_eq!(fs::read(trial_box.path_inside(&file)).unwrap(), b"\0binary\n\xff");
    assert_eq!(fs::read(trial_box.path_inside(&ground.run_folder().join("long"))).unwrap(), long);
    let seen = ground.said_by(&mut trial_box, "stat -c '%a %u %g %n' . etc etc/server.conf; stat -f -c %T .");
    assert_eq!(seen, format!("755 {USER} 33 .\n755 0 0 etc\n640 0 0 etc/server.conf\ntmpfs\n"));
    assert_eq!(fs::read_dir(ground.run_folder()).unwrap().count(), 0, "nothing is visible outside");
    let error = trial_box.write_file(&ground.run_folder().join("longer"), &[0; 17 << 20], 0o644).unwrap_err();
    assert!(matches!(&error, BoxError::File(reason) if reason.contains("No space left")), "{error}");
    let error = trial_box.write_file(&ground.path().join("outside"), b"", 0o644).unwrap_err();
    assert!(error.to_string().contains("outside the run folder"), "{error}");
    trial_box.stop().unwrap();
    fs::remove_dir(ground.run_folder()).unwrap();
}

#[test]
fn what_a_server_leaves_in_shared_memory_and_tmp_goes_with_the_box_and_what_is_there_is_reached() {
    require!(has_namespaces(), "no mount namespace can be made here");
    let folder = tempfile::Builder::new().prefix("tolok-test-tmp-").tempdir_in("/tmp").unwrap();
    let beside = tempfile::Builder::new().prefix("tolok-test-file-").tempfile_in("/tmp").unwrap();
    let link = folder.path().with_extension("link");
    symlink(folder.path(), &link).unwrap();
    let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let ground = Ground::new();
    let mut trial_box = open(&ground.spec());
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let script = format!(
        "for new in /dev/shm/{name} /tmp/{name}.new; do echo left > $new && cat $new; done; stat -c %a /dev/shm /tmp; \
         echo inside > {link}/note; echo inside > {beside}; [ -S {folder}/socket ] && echo socket",
        link = link.display(),
        beside = beside.path().display(),
        folder = folder.path().display(),
    );
    assert_eq!(ground.said_by(&mut trial_box, &script), "left\nleft\n1777\n1777\nsocket\n");
    // Files from before belong to the machine.
    assert_eq!(fs::read_to_string(folder.path().join("note")).unwrap(), "inside\n");
    assert_eq!(fs::read_to_string(beside.path()).unwrap(), "inside\n");
    let inside = trial_box.path_inside(&folder.path().join("socket"));
    let connected = UnixStream::connect(inside).is_ok() && listener.accept().is_ok();
    fs::remove_file(&link).unwrap();
    assert!(connected, "a socket in /tmp is reached from the box");
    trial_box.stop().unwrap();
    let left = [PathBuf::from("/dev/shm").join(name), folder.path().with_extension("new")];
    assert!(left.iter().all(|file| !file.exists()), "{left:?}");
}

#[test]
fn ignoring_the_stop_signal_delays_the_end_less_for_anything_but_a_database() {
    let took = |part: &str| {
        let ground = Ground::new();
        let mut trial_box = open(&BoxSpec::default());
        let stubborn = ["sh", "-c", "trap '' TERM; echo here; while :; do sleep 100000; done"];
        trial_box.start(&ProcessSpec { part: part.to_owned(), ..ground.process(&stubborn) }).unwrap();
        wait_until("it ignores the signal", || ground.log().contains("here"));
        let asked = Instant::now();
        trial_box.stop().unwrap();
        asked.elapsed()
    };
    let (subject, database) = (took("subject"), took("database"));
    assert!(subject * 2 < database, "{subject:?} and {database:?}");
}

#[test]
fn a_server_in_a_private_network_is_reached_through_the_box_alone() {
    require!(has_namespaces(), "no network namespace can be made here");
    let ground = Ground::new();
    let mut trial_box = open(&ground.spec());
    // The listener is closed again, so nothing outside listens on this port.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    serve(&mut trial_box, &ground, address.port());
    connect(&mut trial_box, address);
    assert!(TcpStream::connect(address).is_err(), "the machine must not reach it");
    assert!(trial_box.isolation().namespaces.contains(&"net".to_owned()), "{:?}", trial_box.isolation());
    let devices = fs::read_to_string(format!("/proc/{}/net/dev", trial_box.init_pid())).unwrap();
    assert!(devices.lines().skip(2).all(|line| line.trim_start().starts_with("lo:")), "{devices}");
    trial_box.stop().unwrap();
}

#[test]
fn kernel_settings_hold_inside_and_nowhere_else() {
    require!(has_namespaces(), "no network namespace can be made here");
    let read = || fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let before = read();
    // Every kernel has both, and this machine uses at most one of them.
    for wanted in ["cubic", "reno"] {
        let ground = Ground::new();
        let network = private(&[(CONGESTION, wanted), ("net.ipv4.tcp_rmem", "4096  65536 131072")], None);
        let mut trial_box = open(&BoxSpec { network, ..ground.spec() });
        assert_eq!(trial_box.isolation().sysctls[CONGESTION], wanted);
        assert_eq!(trial_box.isolation().sysctls["net.ipv4.tcp_rmem"], "4096 65536 131072");
        let inside = ground.said_by(&mut trial_box, "cat /proc/sys/net/ipv4/tcp_rmem");
        assert_eq!(inside, "4096\t65536\t131072\n");
        serve(&mut trial_box, &ground, 80);
        let (connection, _) = connect(&mut trial_box, ([127, 0, 0, 1], 80).into());
        assert_eq!(rustix::net::sockopt::tcp_congestion(&connection).unwrap(), wanted);
        assert_eq!(read(), before);
    }
}

#[test]
fn a_kernel_setting_that_cannot_be_made_is_an_error() {
    require!(has_namespaces(), "no network namespace can be made here");
    for (key, value, expect) in [
        (CONGESTION, "no-such-thing", "this kernel has "),
        ("net.ipv4.no_such_thing", "1", "a network namespace of its own has no such setting"),
        ("vm.swappiness", "1", "only the settings below net."),
    ] {
        let spec = BoxSpec { network: private(&[(key, value)], None), ..BoxSpec::default() };
        match TrialBox::open(Path::new(TOLOK), &spec) {
            Err(error @ BoxError::Sysctl { .. }) => {
                let said = error.to_string();
                assert!(
                    said.starts_with(&format!("the kernel setting {key} cannot")) && said.contains(expect),
                    "{said}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Opens a box with this link. Returns the shortest of several handshakes over it: a lower bound needs no luck.
fn handshake_over(ground: &Ground, link: LinkBetween) -> Result<Duration, BoxError> {
    let network = private(&[(CONGESTION, "cubic")], Some(link));
    let mut trial_box = TrialBox::open(Path::new(TOLOK), &BoxSpec { network, ..ground.spec() })?;
    let address = SocketAddr::from((trial_box.subject_address(), 80));
    assert_eq!(address.to_string(), "198.18.0.2:80");
    serve(&mut trial_box, ground, 80);
    let times = [(); 5].map(|()| {
        let (connection, time) = connect(&mut trial_box, address);
        assert_eq!(connection.local_addr().unwrap().ip(), trial_box.client_source());
        assert_eq!(rustix::net::sockopt::tcp_congestion(&connection).unwrap(), "cubic");
        time
    });
    let devices = fs::read_to_string(format!("/proc/{}/net/dev", trial_box.init_pid())).unwrap();
    assert!(devices.contains("tolok0:"), "{devices}");
    trial_box.stop()?;
    Ok(times.into_iter().min().unwrap())
}

#[test]
fn a_handshake_over_an_emulated_link_takes_a_round_trip() {
    require!(has_namespaces() && has_tun(), "no network namespace or no TUN device can be made here");
    for spec in [LinkSpec::default(), LinkSpec { loss: 0.0, rate_bps: Some(1e9), ..LinkSpec::default() }] {
        let ground = Ground::new();
        let link = ground.link(Backend::Emulator, LinkSpec { delay_s: 0.02, ..spec });
        let time = handshake_over(&ground, link).unwrap();
        assert!(time >= Duration::from_millis(40), "{time:?}");
        // It was stopped, not killed, so it has written its last line.
        let report = fs::read_to_string(ground.path().join("link.jsonl")).unwrap();
        let last: serde_json::Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        assert!(last["directions"][0]["packets"].as_u64().unwrap() >= 10, "{last}");
    }
}

#[test]
fn a_veth_pair_joins_client_and_subject() {
    require!(geteuid().is_root() && has_namespaces(), "no network namespace can be made here");
    let ground = Ground::new();
    let link = ground.link(Backend::Veth, LinkSpec::default());
    handshake_over(&ground, link).unwrap();
    let slow = ground.link(Backend::Veth, LinkSpec { delay_s: 0.01, ..LinkSpec::default() });
    let error = handshake_over(&ground, slow).unwrap_err();
    assert!(matches!(&error, BoxError::Link(reason) if reason.contains("emulates nothing")), "{error}");
}

/// Both outcomes are right: a kernel with netem delays packets; one without it gives an error with a remedy.
#[test]
fn netem_delays_or_names_the_emulator_instead() {
    require!(geteuid().is_root() && has_namespaces(), "no network namespace can be made here");
    let ground = Ground::new();
    let link = ground.link(Backend::Netem, LinkSpec { delay_s: 0.01, ..LinkSpec::default() });
    match handshake_over(&ground, link) {
        Ok(time) => assert!(time >= Duration::from_millis(20), "{time:?}"),
        Err(error @ BoxError::Link(_)) => {
            let said = error.to_string();
            assert!(
                said.contains("root netem delay 10000us limit 100000 failed: ") && said.contains("emulator"),
                "{said}"
            );
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn each_part_is_in_its_group_and_the_load_comes_from_the_clients_network() {
    let usable = Hierarchies::find().usable();
    require!(
        usable.contains(&Controller::Pids) && has_namespaces() && has_tun(),
        "no groups with pids, or no namespaces"
    );
    let ground = Ground::new();
    let limited = Limits { pids: Some(7), ..Limits::default() };
    let parts = [
        ("subject", limited),
        ("generator", Limits::default()),
        ("lab", Limits::default()),
        ("link", Limits::default()),
    ];
    let network = private(&[], Some(ground.link(Backend::Emulator, LinkSpec::default())));
    let mut trial_box = open(&BoxSpec { groups: Some(groups(&parts)), network, ..ground.spec() });
    let members = |trial_box: &TrialBox, part: &str| trial_box.group(part).unwrap().members().unwrap();
    let keeper = keeper_of(&trial_box);

    trial_box.start(&ground.process(&["cat", "/proc/self/cgroup", "-"])).unwrap();
    trial_box.start(&ground.process(&["sleep", "100000"])).unwrap();
    wait_until("the server has its name", || {
        let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        members(&trial_box, "subject").iter().map(name).any(|name| name == "sleep\n")
    });
    let allowed =
        ground.said_by(&mut trial_box, "for n in 1 2 3 4 5 6 7 8 9; do sleep 100000 & done; echo not refused");
    assert!(!allowed.contains("not refused"), "{allowed}");

    let own_group = fs::read_to_string("/proc/self/cgroup").unwrap();
    let mut started = ["generator", "lab"].map(|part| {
        let mut command = Command::new("cat");
        placed(&mut command, &trial_box.placement(part, &[])).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    });
    let [generator, lab] = started.each_ref().map(|child| child.id());
    assert_eq!(members(&trial_box, "generator"), [generator]);
    assert_eq!(members(&trial_box, "link").len(), 1);
    let net = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    assert_eq!(net(generator), net(keeper), "the load comes from the client's side");
    assert_ne!(net(generator), net(trial_box.init_pid()));
    let traces = Traces::of(&trial_box, &ground, keeper, &[]);
    trial_box.stop().unwrap();
    assert_eq!(traces.groups_left(), [""; 0]);
    assert!(started[0].wait().unwrap().code().is_none(), "the load was killed with the box");
    assert!(started[1].try_wait().unwrap().is_none(), "the lab was not");
    assert_eq!(fs::read_to_string(format!("/proc/{lab}/cgroup")).unwrap(), own_group, "and is in its old group");
    drop(started[1].stdin.take());
    started[1].wait().unwrap();
    assert_all_gone(|| traces.left());
}

#[test]
fn a_server_that_is_frozen_again_while_its_box_ends_ends_with_it() {
    require!(geteuid().is_root() && has_namespaces(), "only root has the kernel's freezer for sure");
    let ground = Ground::new();
    let mut trial_box = open(&BoxSpec { groups: Some(groups(&[("subject", Limits::default())])), ..ground.spec() });
    trial_box.start(&ground.process(&["sleep", "100000"])).unwrap();
    let traces = Traces::of(&trial_box, &ground, keeper_of(&trial_box), &[]);
    let (file, word) = match trial_box.group("subject").unwrap().freezer().unwrap() {
        Freezer::V1 { state } => (state, "FROZEN"),
        Freezer::V2 { freeze, .. } => (freeze, "1"),
    };
    let deadline = Instant::now() + PATIENCE;
    let freezing = std::thread::spawn(move || {
        // The group is gone when its last process is.
        while fs::write(&file, word).is_ok() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    drop(trial_box);
    freezing.join().unwrap();
    assert_all_gone(|| traces.left());
}

#[test]
fn a_limit_that_cannot_be_enforced_is_an_error() {
    require!(has_namespaces(), "no namespaces can be made here");
    let limits = Limits { cpus: vec![8_000], ..Limits::default() };
    let spec = BoxSpec { groups: Some(groups(&[("subject", limits)])), ..BoxSpec::default() };
    match TrialBox::open(Path::new(TOLOK), &spec) {
        Err(BoxError::Limit(reason)) => assert!(reason.starts_with("cannot "), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_namespaces_a_box_says_what_it_lacks_and_refuses_what_was_asked_for() {
    if !is_own_process() {
        return run_in_own_process(test_name!(), &[("TOLOK_NO_NAMESPACE", "1")]);
    }
    let ground = Ground::new();
    let mut trial_box = open(&ground.spec());
    let lacking =
        ["pid", "net", "mount", "ipc"].map(|kind| trial_box.isolation().namespaces.contains(&kind.to_owned()));
    assert_eq!((lacking, trial_box.isolation().network.as_str()), ([false; 4], "host"));
    let said = trial_box.isolation().fallbacks.join("\n");
    for words in ["No network namespace", "No pid namespace", "The run folder is an ordinary folder"] {
        assert!(said.contains(words), "{said}");
    }
    trial_box.write_file(&ground.run_folder().join("file"), b"seen", 0o644).unwrap();
    assert_eq!(fs::read(ground.run_folder().join("file")).unwrap(), b"seen");
    trial_box.stop().unwrap();
    let refused = |network| TrialBox::open(Path::new(TOLOK), &BoxSpec { network, ..ground.spec() }).unwrap_err();
    let link = ground.link(Backend::Emulator, LinkSpec::default());
    assert!(matches!(refused(private(&[], Some(link))), BoxError::Link(_)));
    assert!(matches!(refused(private(&[(CONGESTION, "cubic")], None)), BoxError::Sysctl { .. }));
}

/// A complete box for an ordinary user: in a user namespace, where that is allowed.
#[test]
fn an_ordinary_user_has_a_box_with_all_that_a_user_namespace_allows() {
    require!(geteuid().is_root(), "only root can become another user");
    if !is_own_process() {
        // Root made these files, so root must remove them.
        let (place, ground) = (Place::for_every_user(), Ground::new());
        fs::set_permissions(ground.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for path in [ground.path().to_owned(), ground.run_folder()] {
            std::os::unix::fs::chown(path, Some(USER), Some(USER)).unwrap();
        }
        let paths = [place.path(), ground.path()].map(|path| path.to_str().unwrap());
        return run_in_own_process(test_name!(), &[("TOLOK_TEST_PLACE", paths[0]), (GROUND, paths[1])]);
    }
    let [programs, ground] = ["TOLOK_TEST_PLACE", GROUND].map(|name| PathBuf::from(std::env::var_os(name).unwrap()));
    let ground = Ground::at(ground);
    lend_tun(&programs);
    set_thread_groups(&[]).unwrap();
    set_thread_gid(Gid::from_raw(USER)).unwrap();
    set_thread_uid(Uid::from_raw(USER)).unwrap();
    let tolok = programs.join("tolok");
    let probe = Command::new(&tolok).args(["namespace-probe", r#"{"pid":true,"net":true}"#]).output();
    require!(
        probe.is_ok_and(|probe| probe.stdout == b"\"user-namespace\"") && has_tun(),
        "no user namespaces, or no TUN"
    );

    let link = ground.link(Backend::Emulator, LinkSpec { delay_s: 0.005, ..LinkSpec::default() });
    let database_link = ground.database_link(Backend::Emulator, LinkSpec { delay_s: 0.005, ..LinkSpec::default() });
    let settings = [(CONGESTION, "cubic"), ("net.ipv4.tcp_slow_start_after_idle", "0")];
    let network = private_with(&settings, Some(link), Some(database_link));
    let mut trial_box = TrialBox::open(&tolok, &BoxSpec { network, ..ground.spec() }).unwrap();
    assert_eq!(trial_box.isolation().namespaces, ["user", "net", "pid", "mount", "ipc"]);
    assert_eq!(trial_box.isolation().fallbacks, [""; 0]);
    let file = ground.run_folder().join("file");
    trial_box.write_file(&file, b"inside", 0o644).unwrap();
    assert!(!file.exists());
    assert_eq!(fs::read(trial_box.path_inside(&file)).unwrap(), b"inside", "its creator may read it");
    // A port below 1024 would be refused: the box's rights are not passed on to its servers.
    serve_with(&programs.join("faulty-subject"), &mut trial_box, &ground, 8080);
    let address = SocketAddr::from((trial_box.subject_address(), 8080));
    let (_, time) = connect(&mut trial_box, address);
    assert!(time >= Duration::from_millis(10), "{time:?}");
    trial_box.start(&ground.database(&["sleep", "100000"])).unwrap();
    let database = trial_box.pids_of("database");
    let net = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    assert!(database.len() == 1 && net(database[0]) != net(trial_box.init_pid()), "{database:?}");
    trial_box.end_part("database", Signal::KILL).unwrap();
    assert_eq!(trial_box.exits().unwrap()[0].part, "database");

    let mut command = Command::new("cat");
    placed(&mut command, &trial_box.placement("generator", &[])).unwrap();
    let mut generator = command.stdin(Stdio::piped()).spawn().unwrap();
    let traces = Traces::of(&trial_box, &ground, keeper_of(&trial_box), &[generator.id()]);
    let has = |kind: &str| namespaces_of(generator.id()).iter().any(|own| own.to_string_lossy().starts_with(kind));
    assert!(has("user") && traces.kinds() == ["ipc", "mnt", "net", "pid", "user"], "{traces:?}");
    generator.kill().unwrap();
    generator.wait().unwrap();
    trial_box.stop().unwrap();
    assert_all_gone(|| traces.left());
}
