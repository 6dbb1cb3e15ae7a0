//! Ctrl-C and `kill -9`: nothing finished is lost, nothing keeps running, and the run can be resumed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{PATIENCE, Place, Said, Started, assert_all_gone, assert_done, shared_turn};

const TRIALS: usize = 6;

/// A place whose only subject is recognisable by its command line, with a study of six short trials.
fn place() -> Place {
    Place::new().with_faulty("good", "none").with_study("['test/good']", TRIALS as u32, "1s")
}

/// Starts the study and waits until its first trial is finished, so that the second one is running.
fn under_way(place: &Place) -> Started {
    let mut command = place.command(&["run", "try"]);
    command.env("TMPDIR", temporary(place));
    let mut started = Started::of(command);
    started.wait_for("1/6 ");
    started
}

/// The temporary folder of that run.
pub fn temporary(place: &Place) -> PathBuf {
    let folder = place.path().join("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn left_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path().display().to_string()).collect()
}

/// The processes of one tolok that hold a box, from `/proc`: the block, its keeper, and the keeper's init.
pub struct Boxed {
    pub block: u32,
    pub keeper: u32,
    pub init: u32,
}

impl Boxed {
    pub fn pids(&self) -> [u32; 3] {
        [self.block, self.keeper, self.init]
    }
}

pub fn box_of(tolok: u32) -> Boxed {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let found = children(tolok, "block").into_iter().find_map(|block| {
            let keeper = *children(block, "keeper").first()?;
            Some(Boxed { block, keeper, init: *children(keeper, "init").first()? })
        });
        if let Some(found) = found {
            return found;
        }
    }
    panic!("tolok {tolok} opens no box");
}

fn children(parent: u32, verb: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let stat = read("stat");
        let of_parent = stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(1)?.parse().ok());
        of_parent == Some(parent) && read("cmdline").split('\0').nth(1) == Some(verb)
    })
    .collect()
}

/// After an interruption: finished trials are complete, nothing runs, and `resume` runs exactly the rest.
fn assert_can_go_on(place: &Place) {
    assert_all_gone(|| place.processes());
    let before = place.records();
    assert!(!before.is_empty() && before.len() < TRIALS, "{} records", before.len());
    let said = place.tolok(&["resume", "latest"]);
    assert_done(said.code, &said.progress);
    let after = place.records();
    assert_eq!(after.len(), TRIALS, "{}", said.progress);
    assert_eq!(after[..before.len()], before[..], "finished trials are not touched");
    assert!(after.iter().all(|record| record["outcome"]["kind"] == "completed"), "{}", said.progress);
    assert!(place.run_folder().join("report.html").is_file());
    assert_all_gone(|| place.processes());
}

#[test]
fn kill_9_of_the_lab_leaves_nothing_running_and_the_run_can_go_on() {
    let _turn = shared_turn();
    let place = place();
    let started = under_way(&place);
    box_of(started.child.id());
    assert!(!left_in(&temporary(&place)).is_empty(), "a session works in a folder of its own");
    started.signal(Signal::KILL);
    started.finish();
    assert_all_gone(|| left_in(&temporary(&place)));
    assert_can_go_on(&place);
}

#[test]
fn kill_9_of_everything_called_tolok_leaves_nothing_running() {
    let _turn = shared_turn();
    let place = place();
    let started = under_way(&place);
    let boxed = box_of(started.child.id());
    started.signal(Signal::KILL);
    boxed.pids().into_iter().for_each(kill_9);
    started.finish();
    // No process was left to remove its folder. The next tolok does, even if it is not a run.
    assert_all_gone(|| place.processes());
    assert_eq!(left_in(&temporary(&place)).len(), 1);
    let mut doctor = place.command(&["doctor"]);
    let said = Said::of(doctor.env("TMPDIR", temporary(&place)).output().unwrap());
    assert_eq!((said.code, left_in(&temporary(&place))), (Some(0), Vec::new()), "{}", said.progress);
    assert_can_go_on(&place);
}

/// The process may have ended with its parent.
fn kill_9(pid: u32) {
    let _ = kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL);
}

#[test]
fn kill_9_of_a_box_or_a_block_costs_one_trial_and_the_study_goes_on() {
    let victims: [fn(&Boxed) -> u32; 3] = [|boxed| boxed.keeper, |boxed| boxed.init, |boxed| boxed.block];
    for victim in victims {
        let _turn = shared_turn();
        // Windows so long that the box still exists at the kill, however slow this machine is.
        let place = Place::new().with_faulty("good", "none").with_study("['test/good']", 2, "4s");
        let started = place.start(&["run", "try"]);
        kill_9(victim(&box_of(started.child.id())));
        let (said, code) = started.finish();
        assert_eq!(code, Some(5), "{said}");
        let records = place.records();
        let failed: Vec<_> = records.iter().filter(|record| record["outcome"]["kind"] == "failed").collect();
        assert_eq!((records.len(), failed.len()), (2, 1), "{said}");
        assert_eq!(failed[0]["outcome"]["reason"], "lab-failed", "{said}");
        assert_all_gone(|| place.processes());
        let verified = place.tolok(&["verify", "latest"]);
        assert_eq!(verified.code, Some(0), "{}", verified.output);
    }
}

#[test]
fn a_trial_that_a_killed_block_lost_is_run_again_by_resume() {
    let _turn = shared_turn();
    let place = place();
    let started = under_way(&place);
    kill_9(box_of(started.child.id()).block);
    let (said, code) = started.finish();
    assert_eq!(code, Some(5), "{said}");
    let lost = place.records().iter().filter(|record| record["outcome"]["reason"] == "lab-failed").count();
    assert_eq!((place.records().len(), lost), (TRIALS, 1), "the later rounds were run: {said}");
    assert_all_gone(|| left_in(&temporary(&place)));
    let said = place.tolok(&["resume", "latest"]);
    assert_done(said.code, &said.progress);
    assert!(said.progress.contains("1 of 6 trials left"), "{}", said.progress);
    assert!(place.records().iter().all(|record| record["outcome"]["kind"] == "completed"), "{}", said.progress);
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}", verified.output);
    assert!(verified.output.contains("was repeated"), "{}", verified.output);
}

#[test]
fn ctrl_c_once_finishes_the_trial_and_reports() {
    let _turn = shared_turn();
    let place = place();
    let started = under_way(&place);
    box_of(started.child.id());
    started.signal(Signal::INT);
    let (said, code) = started.finish();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("Stopping after this trial"), "{said}");
    assert!(said.contains("Next     tolok resume "), "{said}");
    assert!(place.run_folder().join("report.html").is_file());
    assert_can_go_on(&place);
}

#[test]
fn ctrl_c_twice_stops_now_and_drops_the_trial() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("good", "none").with_study("['test/good']", 2, "60s");
    let started = place.start(&["run", "try"]);
    box_of(started.child.id());
    let began = Instant::now();
    let (said, code) = started.stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert!(began.elapsed().as_secs() < 30, "it must not wait for the window of 60 s");
    assert_eq!(place.records().len(), 0, "{said}");
    assert_all_gone(|| place.processes());
}

#[test]
fn a_second_tolok_on_the_machine_is_refused_or_waits() {
    let _turn = shared_turn();
    // Long enough for two more to start, however slowly.
    let place = Place::new().with_faulty("good", "none").with_study("['test/good']", 10, "1s");
    let mut started = Started::of(place.command(&["run", "try"]));
    started.wait_for("1/10 ");
    let second = Place::new().with_faulty("good", "none").with_study("['test/good']", 1, "1s");
    let mut command = second.command(&["run", "try"]);
    let said = Said::of(command.env("TOLOK_IF_OTHER_RUN", "refuse").output().unwrap());
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(
        said.progress.contains("another tolok (pid ") && said.progress.contains("--if-other-run wait"),
        "{}",
        said.progress
    );
    assert!(!second.path().join("runs").exists(), "nothing is begun");
    let mut waiting = Started::of(second.command(&["run", "try", "--if-other-run", "wait"]));
    waiting.wait_for("Waiting for another tolok (pid ");
    assert!(!second.path().join("runs").exists(), "nothing is begun");
    for ended in [started, waiting] {
        let (said, code) = ended.finish();
        assert_done(code, &said);
    }
    assert_eq!(second.records().len(), 1);
}

/// Loops that keep every CPU busy until they are dropped.
struct Busy {
    over: Arc<AtomicBool>,
    loops: Vec<std::thread::JoinHandle<()>>,
}

impl Busy {
    fn begin() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let loops = (0..std::thread::available_parallelism().unwrap().get()).map(|_| {
            let over = Arc::clone(&over);
            std::thread::spawn(move || while !over.load(Ordering::Relaxed) {})
        });
        Self { loops: loops.collect(), over }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.loops.drain(..).for_each(|busy| busy.join().unwrap());
    }
}

/// A study that loses ten trials to [`Busy`] long before its end: about every second trial is disturbed.
fn long_place() -> Place {
    Place::new().with_faulty("good", "none").with_study("['test/good']", 100, "500ms")
}

#[test]
fn a_strict_run_ends_after_ten_discarded_trials() {
    let _turn = shared_turn();
    let place = long_place();
    let busy = Busy::begin();
    let said = place.tolok(&["run", "try", "--strict"]);
    drop(busy);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(
        said.progress.contains("10 trials were discarded") && said.progress.contains("--strict ends"),
        "{}",
        said.progress
    );
    let records = place.records().len();
    assert!((10..100).contains(&records), "{records}: {}", said.progress);
    assert!(said.progress.contains("tolok resume"), "{}", said.progress);
}

/// On a terminal, which `script` provides, tolok asks at the tenth discarded trial.
#[test]
fn on_a_terminal_ten_discarded_trials_are_asked_about() {
    let _turn = shared_turn();
    let place = long_place();
    let line = format!("{} run try", env!("CARGO_BIN_EXE_tolok"));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    place.settle(&mut command);
    let busy = Busy::begin();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Typed ahead. The end of the input would also be an answer, so it must not come first.
    let mut keyboard = child.stdin.take().unwrap();
    keyboard.write_all(b"n\n").unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    drop((busy, keyboard));
    assert_eq!(said.code, Some(130), "{}", said.output);
    assert!(said.output.contains("10 trials were discarded"), "{}", said.output);
    assert!(said.output.contains("Go on? y: yes"), "{}", said.output);
    let records = place.records().len();
    assert!((10..100).contains(&records), "{records}: {}", said.output);
    assert!(said.output.contains("tolok resume"), "{}", said.output);
}

#[test]
fn a_run_that_another_tolok_works_on_is_left_alone() {
    let _turn = shared_turn();
    let place = place();
    let started = under_way(&place);
    let said = place.tolok(&["resume", "latest"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(said.progress.contains("another tolok is working in"), "{}", said.progress);
    let (said, code) = started.finish();
    assert_done(code, &said);
}
