//! Responses on the wire: the kernel's count for a server in a box and its client.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use rustix::thread::{CapabilitySet, Gid, Uid, capabilities, set_thread_gid, set_thread_groups, set_thread_uid};
use tolok_host::isolate::{Backend, BoxSpec, LinkBetween, LinkSpec, TrialBox};
use tolok_host::sample::{Window, WireWatch};
use tolok_load::clock::MonotonicNs;
use tolok_testkit::{is_own_process, require, run_in_own_process, test_name};

use crate::boxed::{GROUND, Ground, connect, keeper_of, private};
use crate::place::{Place, TOLOK};

/// Makes the test below act as the server at this address, in its box.
const SERVE: &str = "TOLOK_TEST_SERVE";
const SERVES: &str = "wire::answers_in_a_network_without_a_link_count_once";
const PORT: u16 = 8_080;
const LARGE_BYTES: usize = 534_000;
const SECOND: Duration = Duration::from_secs(1);

/// Whether this process may capture packets in networks that it creates.
fn may_see_packets() -> bool {
    let wanted = CapabilitySet::NET_RAW | CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    let mut probe = Command::new(TOLOK);
    probe.args(["namespace-probe", r#"{"pid":true,"net":true}"#]).stdout(Stdio::null()).stderr(Stdio::null());
    capabilities(None).unwrap().effective.contains(wanted) && probe.status().unwrap().success()
}

/// Responds until it is killed.
fn serve(address: &str) {
    for connection in TcpListener::bind(address).unwrap().incoming() {
        std::thread::spawn(|| converse(connection.unwrap()));
    }
}

fn converse(mut connection: TcpStream) {
    connection.set_nodelay(true).unwrap();
    let mut lines = BufReader::new(connection.try_clone().unwrap()).lines().map_while(Result::ok);
    while let Some(request) = lines.next() {
        lines.by_ref().find(|line| line.is_empty()).unwrap();
        let (status, body, is_apart) = match request.split(' ').nth(1).unwrap() {
            "/refused" => (503, "busy".to_owned(), false),
            "/apart" => (200, "a body that comes later".to_owned(), true),
            "/large" => (200, "x".repeat(LARGE_BYTES), false),
            _ => (200, "ok".to_owned(), false),
        };
        let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n\r\n", body.len());
        let parts = if is_apart { vec![head, body] } else { vec![head + &body] };
        parts.iter().for_each(|part| connection.write_all(part.as_bytes()).unwrap());
    }
}

/// Sends one request and reads the whole response. Returns the length of its body.
fn ask(connection: &mut TcpStream, path: &str) -> usize {
    connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: box\r\n\r\n").as_bytes()).unwrap();
    let mut answer = BufReader::new(connection);
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        assert!(answer.read_line(&mut line).unwrap() > 0, "the server has hung up");
        let value = line.to_ascii_lowercase().strip_prefix("content-length: ").map(|value| value.trim().to_owned());
        length = value.map_or(length, |value| value.parse().unwrap());
    }
    answer.read_exact(&mut vec![0; length]).unwrap();
    length
}

/// A box with a server, and a watch whose time advances only when the test moves it.
struct Watched {
    trial_box: TrialBox,
    watch: WireWatch,
    now: MonotonicNs,
}

impl Watched {
    /// Requests before the watch begins do not count.
    fn open(ground: &Ground, link: Option<LinkBetween>) -> Self {
        let spec = BoxSpec { network: private(&[], link), ..ground.spec() };
        let mut trial_box = TrialBox::open(Path::new(TOLOK), &spec).unwrap();
        let program = std::env::current_exe().unwrap();
        let mut server = ground.process(&[program.to_str().unwrap(), "--exact", SERVES, "--nocapture"]);
        server.env.insert(SERVE.to_owned(), SocketAddr::from((trial_box.subject_address(), PORT)).to_string());
        trial_box.start(&server).unwrap();
        ask(&mut connect_to(&mut trial_box), "/ok");
        Self { watch: watch(&mut trial_box, PORT), trial_box, now: MonotonicNs(0) }
    }

    fn ask_all(&mut self, connection: &mut TcpStream, asked: &[(&str, usize)]) {
        for (path, times) in asked {
            (0..*times).for_each(|_| assert_eq!(ask(connection, path) == LARGE_BYTES, *path == "/large"));
        }
    }

    /// Advances the time, and reads at once: everything that the client has received is counted.
    fn read_after(&mut self, time: Duration) {
        self.now = self.now + time;
        self.watch.read(self.now).unwrap();
    }

    /// Retransmitted segments: each may have reached the client twice.
    fn sent_again(&self) -> u64 {
        let table = fs::read_to_string(format!("/proc/{}/net/snmp", self.trial_box.init_pid())).unwrap();
        let tcp: Vec<&str> = table.lines().filter(|line| line.starts_with("Tcp:")).collect();
        let place = tcp[0].split(' ').position(|name| name == "RetransSegs").unwrap();
        tcp[1].split(' ').nth(place).unwrap().parse().unwrap()
    }
}

/// A watch that has just begun, after its first reading.
fn watch(trial_box: &mut TrialBox, port: u16) -> WireWatch {
    let sockets = [(); 2].map(|()| trial_box.packet_socket().unwrap());
    let [answers, answers_2xx] = sockets;
    let mut watch = WireWatch::attach(answers, answers_2xx, port).unwrap();
    watch.read(MonotonicNs(0)).unwrap();
    watch
}

fn connect_to(trial_box: &mut TrialBox) -> TcpStream {
    let address = SocketAddr::from((trial_box.subject_address(), PORT));
    connect(trial_box, address).0
}

/// Sends requests over one connection and over many, and checks the count. It must be exact, except for retransmissions, which
/// occur when the machine stalls.
fn assert_exact(link: Option<LinkBetween>, ground: &Ground) {
    let mut watched = Watched::open(ground, link);
    let mut kept = connect_to(&mut watched.trial_box);
    watched.ask_all(&mut kept, &[("/ok", 200), ("/refused", 30), ("/apart", 20), ("/large", 5), ("/ok", 10)]);
    for path in [["/ok"; 3], ["/refused", "/apart", "/large"]].concat().repeat(5) {
        let mut new = connect_to(&mut watched.trial_box);
        watched.ask_all(&mut new, &[(path, 1)]);
    }
    let (asked, refused) = (265 + 30, 30 + 5);
    watched.read_after(SECOND);
    let count = watched.watch.window(Window { began: MonotonicNs(0), ended: watched.now }).unwrap();
    let again = watched.sent_again();
    let holds = |counted: u64, expected: u64| (expected..=expected + again).contains(&counted);
    assert!(holds(count.answers, asked) && holds(count.answers_2xx, asked - refused), "{count:?}, {again} sent again");
    drop(watched.watch);
    watched.trial_box.stop().unwrap();
}

#[test]
fn answers_in_a_network_without_a_link_count_once() {
    if let Ok(address) = std::env::var(SERVE) {
        return serve(&address);
    }
    require!(may_see_packets(), "no packet socket (CAP_NET_RAW) or no network namespace can be had here");
    assert_exact(None, &Ground::new());
}

#[test]
fn answers_over_a_veth_pair_count_once() {
    require!(may_see_packets(), "no packet socket (CAP_NET_RAW) or no network namespace can be had here");
    let ground = Ground::new();
    assert_exact(Some(ground.link(Backend::Veth, LinkSpec::default())), &ground);
}

#[test]
fn answers_over_an_emulated_link_count_once_in_pieces_and_in_packets() {
    let has_tun = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok();
    require!(may_see_packets() && has_tun, "no packet socket (CAP_NET_RAW), network namespace or TUN can be had here");
    for rate_bps in [None, Some(1e9)] {
        let ground = Ground::new();
        // Long enough for the largest response, to avoid retransmissions.
        let queue_bytes = rate_bps.map(|_| 8 << 20);
        let spec = LinkSpec { delay_s: 0.0005, rate_bps, queue_bytes, ..LinkSpec::default() };
        assert_exact(Some(ground.link(Backend::Emulator, spec)), &ground);
    }
}

#[test]
fn the_last_answer_tells_when_a_subject_died() {
    require!(may_see_packets(), "no packet socket (CAP_NET_RAW) or no network namespace can be had here");
    let ground = Ground::new();
    let mut watched = Watched::open(&ground, None);
    let mut kept = connect_to(&mut watched.trial_box);
    for _ in 0..3 {
        watched.ask_all(&mut kept, &[("/ok", 40)]);
        watched.read_after(SECOND);
    }
    let died = watched.now;
    watched.trial_box.end_part("subject", Signal::KILL).unwrap();
    assert_eq!(kept.read(&mut [0]).map_err(|error| error.kind()).unwrap_or(0), 0, "the process is dead");
    for _ in 0..4 {
        watched.read_after(SECOND);
    }
    let count = watched.watch.window(Window { began: MonotonicNs(0), ended: watched.now }).unwrap();
    assert!(count.answers >= 120 && count.answers <= 120 + watched.sent_again(), "{count:?}");
    assert_eq!(count.last_answer_s, Some(3.0));
    // A window that began after its death has none.
    let dead = watched.watch.window(Window { began: died, ended: watched.now }).unwrap();
    assert_eq!((dead.answers, dead.last_answer_s), (0, None));
}

#[test]
fn a_box_that_has_ended_gives_no_packet_socket() {
    require!(may_see_packets(), "no packet socket (CAP_NET_RAW) or no network namespace can be had here");
    let ground = Ground::new();
    let mut trial_box = TrialBox::open(Path::new(TOLOK), &ground.spec()).unwrap();
    kill_process(Pid::from_raw(keeper_of(&trial_box) as i32).unwrap(), Signal::KILL).unwrap();
    let error = trial_box.packet_socket().unwrap_err().to_string();
    assert!(error.contains("the box of the trial"), "{error}");
}

/// In a user namespace there is a count. Without one, the report states what is missing, and the box works as before.
#[test]
fn an_ordinary_user_has_a_count_where_user_namespaces_are_allowed() {
    require!(geteuid().is_root(), "only root can become another user");
    const USER: u32 = 65_534;
    if !is_own_process() {
        // Root made these files, so root must remove them.
        let (place, ground) = (Place::for_every_user(), Ground::new());
        fs::set_permissions(ground.path(), Permissions::from_mode(0o755)).unwrap();
        fs::write(ground.path().join("hello"), "hello").unwrap();
        for path in [ground.path().to_owned(), ground.run_folder()] {
            std::os::unix::fs::chown(path, Some(USER), Some(USER)).unwrap();
        }
        let [programs, own] = [place.path(), ground.path()].map(|path| path.to_str().unwrap());
        let variables = [("TOLOK_TEST_PLACE", programs), (GROUND, own)];
        run_in_own_process(test_name!(), &variables);
        return run_in_own_process(test_name!(), &[&variables[..], &[("TOLOK_NO_NAMESPACE", "1")]].concat());
    }
    let [programs, ground] = ["TOLOK_TEST_PLACE", GROUND].map(|name| PathBuf::from(std::env::var_os(name).unwrap()));
    let ground = Ground::at(ground);
    set_thread_groups(&[]).unwrap();
    set_thread_gid(Gid::from_raw(USER)).unwrap();
    set_thread_uid(Uid::from_raw(USER)).unwrap();
    let mut trial_box = TrialBox::open(&programs.join("tolok"), &ground.spec()).unwrap();
    // The listener is closed again, so nothing listens on this port.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (server, assets) = (programs.join("faulty-subject"), ground.path().display().to_string());
    let argv = [server.to_str().unwrap(), "--port", &port.to_string(), "--assets", &assets];
    trial_box.start(&ground.process(&argv)).unwrap();
    let (mut connection, _) = connect(&mut trial_box, ([127, 0, 0, 1], port).into());
    if trial_box.isolation().namespaces.contains(&"user".to_owned()) {
        let mut watch = watch(&mut trial_box, port);
        (0..7).for_each(|_| assert_eq!(ask(&mut connection, "/hello"), 5));
        watch.read(MonotonicNs(1)).unwrap();
        let last = *watch.lines(MonotonicNs(0)).last().unwrap();
        assert!(last.answers >= 7 && last.answers == last.answers_2xx, "{last:?}");
    } else {
        let error = trial_box.packet_socket().unwrap_err().to_string();
        assert!(error.contains("CAP_NET_RAW"), "{error}");
        assert_eq!(ask(&mut connection, "/hello"), 5);
        connect(&mut trial_box, ([127, 0, 0, 1], port).into());
    }
    trial_box.stop().unwrap();
}
