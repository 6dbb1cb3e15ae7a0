//! The faulty subject as a process: correct except for exactly one fault.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};

use tempfile::TempDir;

struct Subject {
    process: Child,
    log: BufReader<ChildStderr>,
    _assets: TempDir,
}

impl Subject {
    fn start(fault: &str) -> Subject {
        Subject::start_with(fault, &[])
    }

    fn start_with(fault: &str, more: &[&str]) -> Subject {
        let assets = tempfile::tempdir().unwrap();
        fs::write(assets.path().join("hello"), "<p>hello</p>").unwrap();
        fs::write(assets.path().join("file-534k.png"), [137, 80, 78, 71]).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_faulty-subject"))
            .args(more)
            .args(["--port", "0", "--fault", fault, "--assets"])
            .arg(assets.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(process.stderr.take().unwrap());
        Subject { process, log, _assets: assets }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.log.read_line(&mut line).unwrap();
        line.trim_start_matches("faulty-subject: ").trim_end().to_owned()
    }

    fn listening(fault: &str) -> (Subject, String) {
        Subject::listening_with(fault, &[])
    }

    fn listening_with(fault: &str, more: &[&str]) -> (Subject, String) {
        let mut subject = Subject::start_with(fault, more);
        let address = subject.line().trim_start_matches("listening on ").to_owned();
        (subject, address)
    }

    fn exit_code(&mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // It may have ended already, which is what some tests are about.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn without_a_fault_it_keeps_the_contract() {
    let (_subject, address) = Subject::listening("none");
    let hello = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n";
    assert_eq!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n"), format!("{hello}<p>hello</p>"));
    assert_eq!(ask(&address, "HEAD /hello HTTP/1.1\r\n\r\n"), hello);
    assert!(ask(&address, "GET /file-534k.png HTTP/1.1\r\n\r\n").contains("Content-Type: image/png\r\n"));
    assert!(ask(&address, "GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(&address, "POST /hello HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(ask(&address, "GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n").contains("\r\nConnection: close\r\n"));
}

#[test]
fn it_ends_at_the_start_in_two_ways() {
    let mut subject = Subject::start("exit-at-start");
    assert_eq!(subject.exit_code(), Some(4));
    let mut subject = Subject::start("refuse-port");
    assert_eq!(
        (subject.exit_code(), subject.line()),
        (Some(1), "cannot listen on port 0: address already in use".into())
    );
}

#[test]
fn it_crashes_when_it_has_answered_so_many_requests() {
    let (mut subject, address) = Subject::listening("crash-after=2");
    for _ in 0..2 {
        assert!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n").ends_with("<p>hello</p>"));
    }
    assert_eq!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n"), "");
    assert_eq!(subject.exit_code(), Some(3));
    assert_eq!(subject.line(), "crashes after 2 requests, as it was told");
}

#[test]
fn a_wrong_body_has_the_right_length() {
    let (_subject, address) = Subject::listening("wrong-body");
    let answer = ask(&address, "GET /hello HTTP/1.1\r\n\r\n");
    assert!(answer.contains("Content-Length: 12\r\n") && answer.ends_with("<p>hello</p?"), "{answer}");
}

#[test]
fn hanging_ends_with_the_client_and_without_an_answer() {
    let (_subject, address) = Subject::listening("hang");
    assert_eq!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n"), "");
}

/// A field of `/proc/PID/status`, without its unit.
fn status(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    let value = line.trim_start_matches(':').split_whitespace().next().unwrap();
    u64::from_str_radix(value, if field.starts_with("Sig") { 16 } else { 10 }).unwrap()
}

/// The session id of a process; 0 if its leader is outside this container.
fn session(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(") ").unwrap();
    after_name.split(' ').nth(3).unwrap().parse().unwrap()
}

#[test]
fn it_listens_where_it_is_told_to() {
    let (_subject, address) = Subject::listening_with("none", &["--host", "127.0.0.77"]);
    assert!(address.starts_with("127.0.0.77:"), "{address}");
    assert!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n").ends_with("<p>hello</p>"));
}

#[test]
fn every_request_leaks_four_mebibytes_of_touched_memory() {
    let (subject, address) = Subject::listening("leak");
    let resident_kib = || status(subject.process.id(), "RssAnon");
    let before = resident_kib();
    for _ in 0..10 {
        assert!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n").ends_with("<p>hello</p>"));
    }
    let grown_kib = resident_kib() - before;
    assert!((40 << 10..50 << 10).contains(&grown_kib), "{grown_kib} KiB");
}

/// Processes left behind by a subject; killed when the test ends in any way.
struct Stayed(Vec<u32>);

impl Drop for Stayed {
    fn drop(&mut self) {
        for pid in &self.0 {
            let pid = rustix::process::Pid::from_raw(*pid as i32).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

#[test]
fn its_children_and_its_daemon_outlive_it_and_ignore_what_servers_are_stopped_with() {
    let mut subject = Subject::start("fork");
    let (mut stay, mut listening) = (Stayed(Vec::new()), false);
    while stay.0.len() < 3 || !listening {
        let line = subject.line();
        listening |= line.starts_with("listening on ");
        stay.0.extend(line.strip_suffix(" stays").map(|pid| pid.parse::<u32>().unwrap()));
    }
    let own = subject.process.id();
    let (children, daemons): (Vec<u32>, Vec<u32>) = stay.0.iter().partition(|pid| status(**pid, "PPid") == own.into());
    assert_eq!((children.len(), daemons.len()), (2, 1), "the daemon is not the subject's child");
    assert_ne!(session(daemons[0]), session(own));
    for pid in &stay.0 {
        for signal in [1, 2, 15] {
            assert!(status(*pid, "SigIgn") & (1 << (signal - 1)) != 0, "{pid} does not ignore signal {signal}");
        }
    }
    subject.process.kill().unwrap();
    subject.process.wait().unwrap();
    for pid in &stay.0 {
        assert!(fs::exists(format!("/proc/{pid}")).unwrap(), "{pid} went with the subject");
    }
}

#[test]
fn a_spinning_subject_answers_and_uses_a_cpu_while_idle() {
    let (subject, address) = Subject::listening("spin");
    assert!(ask(&address, "GET /hello HTTP/1.1\r\n\r\n").ends_with("<p>hello</p>"));
    let cpu_ns = || -> u64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", subject.process.id())).unwrap();
        let own = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        tasks.flatten().filter_map(|task| own(task).split(' ').next()?.parse::<u64>().ok()).sum()
    };
    // Even on a busy machine, it gets some CPU time, and nothing else here uses any.
    let enough = cpu_ns() + 50_000_000;
    while cpu_ns() < enough {
        std::thread::yield_now();
    }
}

#[test]
fn an_unknown_fault_is_refused() {
    let mut subject = Subject::start("crash-after=soon");
    assert_eq!(subject.exit_code(), Some(2));
    assert!(subject.line().starts_with("unknown fault crash-after=soon; usage:"));
}
