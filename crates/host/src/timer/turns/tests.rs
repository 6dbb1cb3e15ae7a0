use std::thread::JoinHandle;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::timer::job::{Fault, Task};

/// A timer that runs in a thread, and the lab's ends of its FIFOs.
struct Timer {
    folder: TempDir,
    given: Option<File>,
    taken: File,
    at_work: JoinHandle<io::Result<TimerReport>>,
}

fn task(script: &str, output: &str) -> Task {
    Task { argv: ["/bin/sh", "-c", script].map(str::to_owned).into(), output: output.to_owned() }
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

impl Timer {
    fn start(script: &str, change: impl FnOnce(&mut TimerJob)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let turns = Turns { given: path("given"), taken: path("taken") };
        fifo(&turns.given);
        fifo(&turns.taken);
        // Opening to read and write does not wait.
        let open = |path: &Path| OpenOptions::new().read(true).write(true).open(path).unwrap();
        let (given, taken) = (open(&turns.given), open(&turns.taken));
        let mut job = TimerJob {
            work: task(script, "42\n"),
            floor: Some(task("echo floor >> order; echo 0", "0\n")),
            env: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            cwd: folder.path().to_owned(),
            log: path("log"),
            report: path("report.json"),
            warmup_runs: 1,
            runs: 3,
            at_most_s: 60.0,
            timeout_s: 60.0,
            turns: Some(turns.clone()),
        };
        change(&mut job);
        let at_work = std::thread::spawn(move || run(&job, &crate::timer::log(&job)?, super::open(&turns)?));
        Self { folder, given: Some(given), taken, at_work }
    }

    fn turn(&mut self, turn: Turn) -> Option<Came> {
        self.given.as_mut().unwrap().write_all(&[turn as u8]).unwrap();
        let mut came = [0];
        self.taken.read_exact(&mut came).unwrap();
        Came::read(came[0])
    }

    fn order(&self) -> Vec<String> {
        let order = std::fs::read_to_string(self.folder.path().join("order")).unwrap_or_default();
        order.lines().map(str::to_owned).collect()
    }

    /// Closes the FIFO for turns, and reads the report.
    fn report(mut self) -> TimerReport {
        self.given = None;
        self.at_work.join().unwrap().unwrap()
    }
}

const WORK: &str = "echo work >> order; echo 42";

#[test]
fn a_run_and_its_floor_are_made_at_each_turn_and_none_before() {
    let mut timer = Timer::start(WORK, |_| {});
    assert_eq!(timer.turn(Turn::WarmUp), Some(Came::Made));
    assert_eq!(timer.order(), ["floor", "work"]);
    assert_eq!(timer.turn(Turn::Counts), Some(Came::Made));
    assert_eq!(timer.order()[2..], ["floor", "work"]);
    assert_eq!(timer.turn(Turn::Counts), Some(Came::Made));
    assert_eq!(timer.order()[4..], ["work", "floor"], "mirrored order");
    assert_eq!(timer.turn(Turn::Counts), Some(Came::Last), "the job has three runs");
    let report = timer.report();
    assert_eq!((report.runs.len(), &report.fault), (8, &None));
    assert_eq!(report.runs.iter().filter(|run| run.warm_up).count(), 2);
}

#[test]
fn a_timer_without_turns_ends_and_reports_what_it_has() {
    assert_eq!(Timer::start(WORK, |_| {}).report(), TimerReport::default());
    let mut timer = Timer::start(WORK, |_| {});
    timer.turn(Turn::Counts);
    assert_eq!(timer.report().runs.len(), 2);
}

#[test]
fn a_run_that_fails_is_the_last() {
    let mut timer = Timer::start("exit 3", |_| {});
    assert_eq!(timer.turn(Turn::WarmUp), Some(Came::Fault));
    let fault = timer.report().fault.unwrap();
    assert_eq!((fault.number, fault.floor, fault.fault), (2, false, Fault::Exited { code: 3 }));
}

#[test]
fn the_time_for_all_runs_ends_them_and_warm_up_is_not_of_it() {
    let mut timer = Timer::start(WORK, |job| job.at_most_s = 1e-9);
    assert_eq!(timer.turn(Turn::WarmUp), Some(Came::Made));
    assert_eq!(timer.turn(Turn::Counts), Some(Came::Last), "at least one run is made");
}
