//! Runs tools that are lines of shell.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;

use tolok_model::{Connection, Executor, LoadProfile, Scenario, ToolChoice};

use super::*;
use tolok_tools::{Answers, NotUnderstood, ToolOutput};

/// Long enough for any busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tool that is a shell: its arguments are shell code, and its report is a number of correct responses.
struct Shell {
    warm_up: Option<&'static str>,
    measured: &'static str,
    borders: Borders,
}

impl Driver for Shell {
    fn tool(&self) -> LoadTool {
        LoadTool::Wrk
    }

    fn invocation(&self, _: &LoadJob<'_>) -> Invocation {
        let line = |text: &str| vec!["-c".to_owned(), text.to_owned()];
        Invocation {
            files: vec![("script".to_owned(), "7".to_owned())],
            warm_up: self.warm_up.map(line),
            arguments: line(self.measured),
            env: [("GIVEN".to_owned(), "yes".to_owned())].into(),
            borders: self.borders.clone(),
        }
    }

    fn report(&self, output: &ToolOutput, _: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let good: u64 = output.stdout.trim().parse().map_err(|_| NotUnderstood("no number of answers".to_owned()))?;
        let ledger = tolok_model::LedgerCounts { good, ..Default::default() };
        Ok(ToolReport { window_s: 2.0, goodput_rps: good as f64 / 2.0, ledger, ..ToolReport::default() })
    }
}

fn scenario() -> &'static Scenario {
    static SCENARIO: OnceLock<Scenario> = OnceLock::new();
    SCENARIO.get_or_init(|| Scenario {
        id: "hello-c1".to_owned(),
        environment: String::new(),
        workload: "hello".to_owned(),
        database: false,
        load: LoadProfile {
            executor: Executor::ConstantVus { vus: 1 },
            duration_s: 2.0,
            warmup_s: 0.0,
            connection: Connection::KeepAlive,
            timeout_s: 1.0,
            pool: None,
            think_time: None,
            pace: tolok_model::Pace::default(),
        },
        protocol: tolok_model::Protocol::Http1,
        streams: 1,
        tool: ToolChoice::default(),
        objectives: Vec::new(),
        abort: false,
        slices: None,
    })
}

fn job() -> &'static LoadJob<'static> {
    static JOB: OnceLock<LoadJob<'static>> = OnceLock::new();
    JOB.get_or_init(|| LoadJob {
        url: "http://127.0.0.1:1/".to_owned(),
        method: "GET",
        sent: None,
        status: 200,
        answers: Answers::Status,
        body_bytes: None,
        scenario: scenario(),
        cpus: 1,
        seed: 1,
        generators: &[],
    })
}

fn start(shell: Shell, folder: &Path) -> RunningTool<'static> {
    let path = std::env::var("PATH").unwrap_or_default();
    let env = [("PATH".to_owned(), path)].into();
    let driver: &'static dyn Driver = Box::leak(Box::new(shell));
    let tool = Tool { driver, program: "/bin/sh".into(), version: "1.0".to_owned(), env };
    tool.start(job(), Placement::default(), &tolok_store::Folder::at(folder)).unwrap()
}

fn shell(measured: &'static str) -> Shell {
    Shell { warm_up: None, measured, borders: Borders::Process }
}

/// All its events until it ends.
fn heard(tool: &mut RunningTool<'_>) -> Vec<ToolEvent> {
    let mut events = Vec::new();
    loop {
        match tool.wait_event(PATIENCE).unwrap() {
            Waited::Event(event) => events.push(event),
            Waited::Nothing => {}
            Waited::Ended => return events,
        }
    }
}

fn borders(events: &[ToolEvent]) -> (u64, u64) {
    match events {
        [ToolEvent::WindowStarted { monotonic_ns: began }, ToolEvent::WindowEnded { monotonic_ns: ended }] => {
            (*began, *ended)
        }
        other => panic!("no window: {other:?}"),
    }
}

#[test]
fn the_window_of_a_tool_without_borders_of_its_own_is_the_life_of_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let before = SystemClock.now().0;
    let mut tool = start(shell("echo 90; echo a word >&2"), folder.path());
    let (began, ended) = borders(&heard(&mut tool));
    assert!(before <= began && began < ended && ended <= SystemClock.now().0);
    assert_eq!(tool.finish().unwrap().ledger.good, 90);
    assert_eq!(std::fs::read_to_string(folder.path().join("tool.log")).unwrap(), "a word\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("tool.out")).unwrap(), "90\n");
}

#[test]
fn a_warm_up_is_a_process_of_its_own_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let warm_up = Some("echo 1000; echo warm >&2; echo x > warmed-up; exit 3");
    let mut tool = start(Shell { warm_up, ..shell("cat warmed-up > seen; cat script") }, folder.path());
    let first = tool.pid();
    while tool.wait_event(PATIENCE).unwrap() != Waited::Nothing {}
    assert_eq!(tool.pid(), first, "the measured run starts only after the end of the warm-up was reported");
    borders(&heard(&mut tool));
    assert_ne!(tool.pid(), first);
    assert_eq!(tool.finish().unwrap().ledger.good, 7, "the file that the driver wrote");
    assert_eq!(std::fs::read_to_string(folder.path().join("tool.log")).unwrap(), "");
    assert!(folder.path().join("seen").exists(), "the warm-up came first, in the same folder");
}

#[test]
fn a_window_may_begin_so_long_after_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let line = Borders::AfterLine { text: "ready to go".to_owned(), after_s: 0.001, for_s: 0.002 };
    let measured = "echo 'time=12:00 msg=\"ready to go\"' >&2; read never < /dev/zero; echo 5";
    // It reads endless zeros and would never end; the end of its window does not depend on it.
    let mut tool = start(Shell { borders: line, ..shell(measured) }, folder.path());
    let mut events = Vec::new();
    while events.len() < 2 {
        if let Waited::Event(event) = tool.wait_event(PATIENCE).unwrap() {
            events.push(event);
        }
    }
    let (began, ended) = borders(&events);
    assert_eq!(ended - began, 2_000_000);
}

#[test]
fn a_tool_that_ends_early_ends_its_window_and_one_that_never_began_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let line = |after_s| Borders::AfterLine { text: "go".to_owned(), after_s, for_s: 1e6 };
    let mut early = start(Shell { borders: line(0.0), ..shell("echo go >&2; echo 5") }, folder.path());
    let (began, ended) = borders(&heard(&mut early));
    assert!(ended - began < 1_000_000_000_000_000);
    let mut silent = start(Shell { borders: line(1e6), ..shell("echo go >&2; echo 5") }, folder.path());
    assert_eq!(heard(&mut silent), []);
}

#[test]
fn events_of_a_tool_that_tells_them_are_no_part_of_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let measured = r#"echo '{"event":"window-started","monotonic_ns":1}' >&2
        echo 'a word to people' >&2
        echo '{"event":"window-ended","monotonic_ns":2}' >&2
        echo 90"#;
    let mut tool = start(Shell { borders: Borders::Told, ..shell(measured) }, folder.path());
    assert_eq!(borders(&heard(&mut tool)), (1, 2));
    assert_eq!(std::fs::read_to_string(folder.path().join("tool.log")).unwrap(), "a word to people\n");
}

#[test]
fn what_is_not_understood_is_quoted_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let check = |measured: &'static str, expect: &str| {
        let mut tool = start(shell(measured), folder.path());
        heard(&mut tool);
        let all = "; all that it wrote is in tool.out and tool.log";
        assert_eq!(tool.finish().unwrap_err(), format!("wrk 1.0 was not understood{expect}{all}"));
    };
    check(
        "echo 'cannot connect' >&2; exit 2",
        " (it ended with exit status: 2): no number of answers; it said: cannot connect",
    );
    check("exit 3", " (it ended with exit status: 3): no number of answers");
    check("echo many", ": no number of answers");
    assert_eq!(std::fs::read_to_string(folder.path().join("tool.out")).unwrap(), "many\n");
}

#[test]
fn a_tool_that_is_given_up_is_killed_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut tool = start(shell("sleep 1000 & echo $! > child; wait"), folder.path());
    let child = loop {
        match std::fs::read_to_string(folder.path().join("child")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => drop(tool.wait_event(Duration::from_millis(1)).unwrap()),
        }
    };
    let (pid, child) = (tool.pid(), open_process(&child));
    drop(tool);
    assert!(!Path::new("/proc").join(pid.to_string()).exists());
    assert!(readable_before(&child, Instant::now() + PATIENCE).unwrap(), "it still runs");
}

/// A descriptor that becomes readable once the process has ended.
fn open_process(pid: &str) -> OwnedFd {
    pidfd_open(Pid::from_raw(pid.parse().unwrap()).unwrap(), PidfdFlags::empty()).unwrap()
}

#[test]
fn what_a_tool_leaves_behind_when_it_ends_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut tool = start(shell("sleep 1000 > /dev/null 2>&1 & echo $! > child; echo 5"), folder.path());
    heard(&mut tool);
    let child = open_process(std::fs::read_to_string(folder.path().join("child")).unwrap().trim());
    assert_eq!(tool.finish().unwrap().ledger.good, 5);
    assert!(readable_before(&child, Instant::now() + PATIENCE).unwrap(), "it still runs");
}

#[test]
fn neither_the_output_nor_the_log_of_a_tool_fills_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let tool = start(shell("read never < /dev/zero"), folder.path());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", tool.pid())).unwrap();
    let of_files = limits.lines().find(|line| line.starts_with("Max file size")).unwrap();
    assert!(of_files.contains(&OUTPUT_LIMIT.to_string()), "{of_files}");
    drop(tool);
    let talks = format!("head -c {} /dev/zero >&2; echo ok >&2; echo 5", OUTPUT_LIMIT + 1);
    let mut tool = start(shell(Box::leak(talks.into_boxed_str())), folder.path());
    heard(&mut tool);
    assert_eq!(tool.finish().unwrap().ledger.good, 5, "its output is still read to the end");
    assert_eq!(std::fs::metadata(folder.path().join("tool.log")).unwrap().len(), OUTPUT_LIMIT);
}

#[test]
fn what_is_no_text_is_kept_as_it_is_and_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut tool = start(shell(r"printf 'a\377b' >&2; printf '\377'"), folder.path());
    heard(&mut tool);
    let expect = "wrk 1.0 was not understood: no number of answers; it said: a\u{fffd}b; all that it wrote is in tool.out and tool.log";
    assert_eq!(tool.finish().unwrap_err(), expect);
    assert_eq!(std::fs::read(folder.path().join("tool.log")).unwrap(), b"a\xffb");
    assert_eq!(std::fs::read(folder.path().join("tool.out")).unwrap(), b"\xff");
}

#[test]
fn a_tool_inherits_nothing_but_what_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut tool = start(shell("echo ${GIVEN:-no} ${CARGO_MANIFEST_DIR:-nothing} > env; echo 1"), folder.path());
    heard(&mut tool);
    assert_eq!(std::fs::read_to_string(folder.path().join("env")).unwrap(), "yes nothing\n");
}

#[test]
fn figures_that_are_none_are_refused() {
    let check = |report: ToolReport, expect: &str| assert_eq!(sound(report).unwrap_err(), expect);
    check(ToolReport::default(), "it measured no window");
    check(ToolReport { window_s: f64::NAN, ..ToolReport::default() }, "it measured no window");
    let infinite = ToolReport { window_s: 1.0, goodput_rps: f64::INFINITY, ..ToolReport::default() };
    check(infinite, "its figures are no numbers");
}
