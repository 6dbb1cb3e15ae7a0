use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::{Pid, WaitId, WaitIdOptions, test_kill_process, waitid};
use tempfile::TempDir;

use super::*;
use crate::timer::job::{Fault, Task};

/// A job of shell scripts in a folder of its own.
struct Shell {
    folder: TempDir,
    job: TimerJob,
}

fn task(script: &str, output: &str) -> Task {
    Task { argv: ["/bin/sh", "-c", script].map(str::to_owned).into(), output: output.to_owned() }
}

impl Shell {
    /// Runs `script`, whose expected output is `output`, as often as requested, without a floor.
    fn new(script: &str, output: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let job = TimerJob {
            work: task(script, output),
            floor: None,
            env: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            cwd: folder.path().to_owned(),
            log: path("log"),
            report: path("report.json"),
            warmup_runs: 0,
            runs: 1,
            at_most_s: 60.0,
            timeout_s: 60.0,
            turns: None,
        };
        Self { folder, job }
    }

    fn with(mut self, change: impl FnOnce(&mut TimerJob)) -> Self {
        change(&mut self.job);
        self
    }

    fn run(&self) -> TimerReport {
        run(&self.job, &crate::timer::log(&self.job).unwrap()).unwrap()
    }

    /// The fault of a job whose first run fails.
    fn fault(&self) -> Fault {
        let report = self.run();
        assert_eq!(report.runs, []);
        report.fault.unwrap().fault
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[test]
fn every_run_has_its_floor_beside_it_before_it_and_after_it_in_turns() {
    let shell = Shell::new("echo work >> order; echo 42", "42\n").with(|job| {
        job.floor = Some(task("echo floor >> order; echo 0", "0\n"));
        (job.warmup_runs, job.runs) = (1, 3);
    });
    let report = shell.run();
    assert_eq!(report.fault, None);
    let order = std::fs::read_to_string(shell.path().join("order")).unwrap();
    let expect = ["floor", "work", "floor", "work", "work", "floor", "floor", "work"];
    assert_eq!(order.lines().collect::<Vec<_>>(), expect);
    let told: Vec<_> = report.runs.iter().map(|run| (run.warm_up, run.floor)).collect();
    assert_eq!(told[..2], [(true, true), (true, false)]);
    assert_eq!(told[2..].iter().map(|(_, floor)| *floor).collect::<Vec<_>>(), [true, false, false, true, true, false]);
    assert!(told[2..].iter().all(|(warm_up, _)| !warm_up));
    // A run begins when the previous one has ended.
    let ended_ns = |run: &TimedRun| run.began_ns + (run.wall_s * 1e9) as u64;
    assert!(report.runs.windows(2).all(|pair| ended_ns(&pair[0]) <= pair[1].began_ns));
}

#[test]
fn no_run_is_begun_when_the_time_is_up_but_one_is_made_in_any_case() {
    let made = |change: fn(&mut TimerJob)| Shell::new("echo", "\n").with(change).run().runs.len();
    assert_eq!(made(|job| (job.runs, job.at_most_s) = (5, 0.0)), 1);
    assert_eq!(made(|job| (job.runs, job.at_most_s) = (5, 60.0)), 5);
    assert_eq!(made(|job| (job.runs, job.warmup_runs, job.at_most_s) = (0, 2, 0.0)), 2);
}

#[test]
fn an_exit_code_and_a_signal_are_told_and_nothing_is_run_after_them() {
    assert_eq!(Shell::new("exit 3", "").fault(), Fault::Exited { code: 3 });
    assert_eq!(Shell::new("kill -SEGV $$", "").fault(), Fault::Killed { signal: 11 });
    // The Rust runtime ignores SIGPIPE, and exec keeps ignored signals ignored unless the timer resets them.
    assert_eq!(Shell::new("kill -PIPE $$", "").fault(), Fault::Killed { signal: 13 });
    let third = "echo >> made; [ $(wc -l < made) -lt 3 ]";
    let report = Shell::new(third, "").with(|job| job.runs = 5).run();
    let FaultyRun { number, floor, fault } = report.fault.unwrap();
    assert_eq!((report.runs.len(), number, floor, fault), (2, 3, false, Fault::Exited { code: 1 }));
}

#[test]
fn why_a_program_was_not_started_is_told_with_its_path_and_the_kernels_words() {
    let check = |program: &str, words: &str| {
        let task = Task { argv: vec![program.to_owned()], output: String::new() };
        let shell = Shell::new("", "")
            .with(|job| (job.work, job.env) = (task, [("PATH".to_owned(), "/etc".to_owned())].into()));
        assert_eq!(shell.fault(), Fault::NotStarted { reason: words.to_owned() });
    };
    let gone = "cannot execute /nonexistent/queue: No such file or directory (os error 2)";
    check("/nonexistent/queue", gone);
    check("/etc/passwd", "cannot execute /etc/passwd: Permission denied (os error 13)");
    check("queue", "queue is in no folder of its PATH, which is /etc");
}

#[test]
fn a_wrong_output_is_shown_beside_the_one_that_is_owed() {
    let wrong = Fault::WrongOutput { came: "\"41\\n\"".to_owned(), owed: "\"42\\n\"".to_owned() };
    assert_eq!(Shell::new("echo 41", "42\n").fault(), wrong);
    let of_floor = Shell::new("echo 42", "42\n").with(|job| job.floor = Some(task("echo 42", "0\n"))).run();
    assert!(of_floor.fault.unwrap().floor);
}

#[test]
fn standard_error_is_kept_and_is_no_output() {
    let shell = Shell::new("echo 42; for i in 1 2 3; do echo line $i >&2; done; exit 1", "42\n");
    assert_eq!(shell.fault(), Fault::Exited { code: 1 });
    assert_eq!(std::fs::read_to_string(&shell.job.log).unwrap(), "line 1\nline 2\nline 3\n");
}

#[test]
fn a_run_has_the_environment_that_it_is_given_and_no_input() {
    let own = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned()), ("N".to_owned(), "7".to_owned())]);
    let script = "echo $N ${CARGO_MANIFEST_DIR:-none}; cat; pwd -P";
    let shell = Shell::new(script, "").with(|job| job.env = own);
    let folder = std::fs::canonicalize(shell.path()).unwrap();
    let shell = shell.with(|job| job.work.output = format!("7 none\n{}\n", folder.display()));
    assert_eq!(shell.run().fault, None);
}

#[test]
fn a_run_that_takes_too_long_is_ended_with_all_that_it_started() {
    // A child in the group, an orphan in the group, and a process in a session of its own.
    let script = "touch pids; sleep 1000 & echo $! > pids; (sleep 1000 & echo $! >> pids); \
                  setsid sh -c 'echo $$ >> pids; exec sleep 1000' & while [ $(wc -l < pids) -lt 3 ]; do :; done; \
                  echo $$ >> pids; wait";
    // On a busy machine it may take a while until the shell has written them all.
    let pids = [1.0, 4.0, 16.0, 64.0].into_iter().find_map(|timeout_s| {
        let shell = Shell::new(script, "").with(|job| job.timeout_s = timeout_s);
        assert_eq!(shell.fault(), Fault::Hung);
        let pids = std::fs::read_to_string(shell.path().join("pids")).unwrap_or_default();
        let pids: Vec<i32> = pids.lines().map(|pid| pid.parse().unwrap()).collect();
        (pids.len() == 4).then_some(pids)
    });
    let pids = pids.expect("the shell did not reach its end");
    let deadline = Instant::now() + std::time::Duration::from_secs(20);
    let is_gone = |pid: i32| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A killed process that its new parent has not reaped yet counts as gone.
        state.is_empty() || state.rsplit(')').next().unwrap().trim_start().starts_with('Z')
    };
    while !pids.iter().all(|pid| is_gone(*pid)) && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(pids.iter().all(|pid| is_gone(*pid)), "{pids:?}");
}

#[test]
fn what_a_run_leaves_behind_is_ended_before_the_next_one() {
    let shell = Shell::new("sleep 1000 & echo $! > left", "");
    assert_eq!(shell.run().fault, None);
    let left: i32 = std::fs::read_to_string(shell.path().join("left")).unwrap().trim().parse().unwrap();
    let deadline = Instant::now() + std::time::Duration::from_secs(20);
    let state = || std::fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
    while !(state().is_empty() || state().contains(") Z")) && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(state().is_empty() || state().contains(") Z"), "{}", state());
}

#[test]
fn a_run_that_ended_is_waited_for() {
    let shell = Shell::new("echo $$ > pid; exit 1", "");
    assert_eq!(shell.fault(), Fault::Exited { code: 1 });
    let pid: i32 = std::fs::read_to_string(shell.path().join("pid")).unwrap().trim().parse().unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    assert!(test_kill_process(pid).is_err(), "a zombie can still be sent a signal");
    assert!(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG).is_err());
}

#[test]
fn a_busy_program_uses_more_cpu_time_than_a_sleeping_one_whatever_their_wall_times() {
    let once = |script: &str| Shell::new(script, "").run().runs[0];
    // In a child, whose time belongs to the run, because the shell waits for it.
    let works = once("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'");
    let sleeps = once("sleep 0.2");
    let cpu_s = |run: TimedRun| run.user_s + run.system_s;
    assert!(cpu_s(works) > cpu_s(sleeps), "{works:?} {sleeps:?}");
    assert!(sleeps.wall_s >= 0.2, "{sleeps:?}");
    assert!(works.wall_s > 0.0);
}

#[test]
fn the_largest_of_its_processes_is_the_memory_of_a_run() {
    // `tail` keeps what it has read until its end, and zeroes contain no line end.
    let once = |mib: u64| {
        let script = format!("head -c {} /dev/zero | tail -n 1 | wc -c > /dev/null", mib << 20);
        Shell::new(&script, "").run().runs[0].rss_bytes_max.unwrap()
    };
    // More than this process with all its tests may use, because the kernel does not report less.
    let (smaller, larger) = (once(256), once(320));
    assert!(smaller > 256 << 20 && larger > 320 << 20, "{smaller} {larger}");
    let more = larger - smaller;
    // A system that is short of memory reads less of it ahead, so the difference is only near 64 MiB.
    assert!((44 << 20..84 << 20).contains(&more), "{more}");
}

#[test]
fn memory_that_may_be_the_mark_handed_on_by_exec_is_not_told() {
    let told = |rss_kib: u64, mark_kib: u64| told_bytes(rss_kib << 10, mark_kib << 10).map(|bytes| bytes >> 10);
    assert_eq!([told(900, 900), told(964, 900)], [None, None]);
    assert_eq!([told(968, 900), told(2068, 900)], [Some(968), Some(2068)]);
}
