//! With fewer rights than root: an ordinary user, and machines that forbid some or all namespaces.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::{Signal, geteuid};
use serde_json::Value;
use tolok_testkit::require;

use crate::interruptions::box_of;
use crate::launches::study;
use crate::place::{PATIENCE, Place, Said, Started, assert_all_gone, assert_done, repository, shared_turn};

/// `nobody` on nearly every system, and an ordinary user in any case.
const USER: u32 = 65_534;

/// The window of a study that ends.
const SHORT: &str = "1s";
/// The window of a study that cannot end before it is killed.
const LONG: &str = "10m";

/// A place with a study of two trials, in windows of `duration`, whose subject leaves a daemon behind: a process without a parent
/// in the box.
fn place(duration: &str) -> Place {
    let home = home();
    let server = format!("{} --port {{{{ port }}}} --assets {{{{ assets }}}}", server_of(&home).display());
    let text = format!(
        "title = 'With a daemon'\nruntime = 'test'\nworkloads = ['hello']\n[[process]]\nname = 'server'\n\
         command = ['sh', '-c', '({server} --fault never-listen &); exec {server} --fault none']\n"
    );
    home.with_subject("daemon", &text).with_study("['*']", 2, duration)
}

fn server_of(place: &Place) -> PathBuf {
    place.path().join("faulty-subject")
}

/// A place for every user, with a folder for the user's own files.
fn home() -> Place {
    let place = Place::for_every_user();
    fs::create_dir(place.path().join("own")).unwrap();
    place
}

/// Gives the whole place to the ordinary user. Returns false if that user cannot reach it.
fn give_away(place: &Place) -> bool {
    give_away_below(place.path());
    let mut look = Command::new("test");
    look.arg("-w").arg(place.path()).uid(USER).gid(USER);
    look.status().unwrap().success()
}

fn give_away_below(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give_away_below(&entry.unwrap().path()));
    }
}

/// Makes the place's folder the user's home for programs.
fn at_home(place: &Place, mut command: Command) -> Command {
    for name in ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"] {
        command.env(name, place.path().join("own"));
    }
    command
}

/// Starts the study as the ordinary user.
fn start_as_user(place: &Place) -> Started {
    let mut command = at_home(place, place.command(&["run", "try"]));
    command.uid(USER).gid(USER);
    Started::of(command)
}

/// Starts the study with a program that drops rights and then runs the rest of its command line.
fn start_by(place: &Place, program: &str, arguments: &[&str]) -> Started {
    let mut command = Command::new(program);
    command.args(arguments).arg(place.path().join("tolok")).args(["run", "try"]);
    place.settle(&mut command);
    Started::of(at_home(place, command))
}

/// Asserts that the study ends well: every trial is completed, and nothing keeps running.
fn assert_completes(place: &Place, started: Started) {
    let (said, code) = started.finish();
    assert_done(code, &said);
    let records = place.records();
    assert_eq!(records.len(), 2, "{said}");
    for record in records {
        assert_eq!(record["outcome"]["kind"], "completed", "{said}\n{record}");
    }
    assert_all_gone(|| place.processes());
}

/// Kills the lab in the middle of a trial: its box and its servers end, too. Returns whether they had a namespace.
fn assert_kill_9_leaves_nothing(place: &Place, started: Started) -> bool {
    let boxed = box_of(started.child.id());
    let server = server_of(place).display().to_string();
    let deadline = Instant::now() + PATIENCE;
    while place.processes().iter().filter(|line| line.starts_with(&server)).count() < 2 {
        assert!(Instant::now() < deadline, "not both were started: {:?}", place.processes());
    }
    let namespaced = namespace_of(&boxed.init.to_string()) != namespace_of("self");
    started.signal(Signal::KILL);
    started.finish();
    assert_all_gone(|| place.processes());
    assert_all_gone(|| boxed.pids().iter().filter_map(command_line).collect());
    namespaced
}

fn namespace_of(process: &str) -> PathBuf {
    fs::read_link(format!("/proc/{process}/ns/pid")).unwrap()
}

/// The command line of a process of a box; `None` for one that has ended, even if it is still a zombie.
fn command_line(pid: &u32) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    ["block", "keeper", "init"].iter().any(|verb| line.contains(verb)).then_some(line)
}

/// Whether a program works here.
fn works<A: AsRef<OsStr>>(program: &str, arguments: &[A]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn an_ordinary_user_can_run_a_study() {
    require!(geteuid().is_root(), "only root can become another user; all tests here run as an ordinary one already");
    let _turn = shared_turn();
    let place = place(SHORT);
    require!(give_away(&place), "the folder for temporary files is closed to other users");
    assert_completes(&place, start_as_user(&place));
    let lacking: Vec<Value> = place.records().iter().map(|record| record["isolation"]["fallbacks"].clone()).collect();
    assert_eq!(lacking[0], lacking[1], "a lack common to all trials has the same sentence in each");
}

/// Without control groups the engine reads the CPU clocks of the servers' processes. Otherwise the generator would seem to be the
/// limit.
#[test]
fn without_control_groups_slices_still_have_cpu_time_and_memory() {
    require!(geteuid().is_root(), "only root can become another user; all tests here run as an ordinary one already");
    let _turn = shared_turn();
    let place = home().with_faulty("one", "none").with_faulty("other", "none");
    study(&place, "['test/one', 'test/other']", 1, "400ms");
    require!(give_away(&place), "the folder for temporary files is closed to other users");
    let (said, code) = start_as_user(&place).finish();
    assert_done(code, &said);
    for record in place.records() {
        let measured = &record["outcome"];
        let subject = &measured["subject"];
        assert_eq!(subject["cpu_source"], "threads", "{said}\n{record}");
        assert!(
            subject["pss_bytes"].as_u64().unwrap() > 0 && subject["processes_max"].as_u64().unwrap() > 0,
            "{subject}"
        );
        let rows = measured["slices"]["rows"].as_array().unwrap();
        // With other programs running, a server may get no CPU in such a short slice.
        let served = || rows.iter().filter(|row| row["whole_good"].as_u64() > Some(0));
        assert!(served().count() > 0, "{rows:?}");
        assert!(served().all(|row| row["cpu_s"].as_f64() > Some(0.0)), "each slice has its CPU time: {rows:?}");
    }
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.output, verified.progress);
}

/// If a run does not fit the limits, nothing begins, and one sentence names the limit and a remedy.
#[test]
fn where_limits_leave_no_room_for_a_run_one_sentence_names_the_limit() {
    require!(works("prlimit", &["--nofile=64", "true"]), "prlimit is missing");
    let place = place(SHORT);
    let assert_refused = |limit: &str, user: u32, advice: &str| {
        let mut command = Command::new("prlimit");
        command.arg(limit).arg(place.path().join("tolok")).args(["run", "try"]);
        place.settle(&mut command);
        let output = at_home(&place, command).uid(user).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{limit}: {said}");
        assert!(said.contains(advice), "{limit}: {said}");
    };
    for limit in ["--nofile=16", "--nofile=32", "--nofile=64"] {
        assert_refused(limit, geteuid().as_raw(), "raise `ulimit -n`");
    }
    require!(
        geteuid().is_root() && give_away(&place),
        "only root can become another user, to whom process limits apply"
    );
    for limit in ["--nproc=4", "--nproc=8", "--nproc=16"] {
        assert_refused(limit, USER, "raise `ulimit -u`");
    }
}

#[test]
fn quick_as_an_ordinary_user_says_once_what_it_does_without_and_the_manual_says_what_that_means() {
    require!(geteuid().is_root(), "only root can become another user; all tests here run as an ordinary one already");
    let _turn = shared_turn();
    let place = home().with_faulty("one", "none").with_faulty("two", "none");
    let quick = fs::read_to_string(repository().join("studies/quick.toml")).unwrap();
    fs::write(place.path().join("studies/quick.toml"), format!("reruns = 0\n{quick}")).unwrap();
    require!(give_away(&place), "the folder for temporary files is closed to other users");
    let mut command = at_home(&place, place.command(&["quick", "--no-open", "--blocks", "1", "--scale", "0.2"]));
    let said = Said::of(command.uid(USER).gid(USER).output().unwrap());
    // Beside other tests, a server may get no CPU time in a short slice.
    assert!(matches!(said.code, Some(0 | 5)), "{:?}: {}", said.code, said.progress);
    let records = place.records();
    let lacking: BTreeSet<String> = records
        .iter()
        .flat_map(|record| record["isolation"]["fallbacks"].as_array().cloned().unwrap_or_default())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    assert!(records.len() >= 4, "{}", said.progress);
    let manual = fs::read_to_string(repository().join("docs/environment.md")).unwrap();
    let whole = place.tolok(&["report", "-v", "latest"]).output;
    let in_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in &lacking {
        // The reason after it comes from the kernel, with names of this machine.
        let words = text.split(" (").next().unwrap();
        assert_eq!(in_a_line(&whole).matches(words).count(), 1, "{words}\n{whole}");
        assert!(in_a_line(&manual).contains(words), "docs/environment.md does not say: {words}");
    }
    // Here the control groups belong to root. So at least this is lacking wherever root can become another user.
    let has_groups = records.iter().all(|record| record["isolation"]["groups"].is_string());
    assert!(has_groups || lacking.iter().any(|text| text.starts_with("No control groups")), "{lacking:?}");
    assert_all_gone(|| place.processes());
}

#[test]
fn kill_9_of_an_ordinary_users_lab_leaves_nothing_running() {
    require!(geteuid().is_root(), "only root can become another user; all tests here run as an ordinary one already");
    let _turn = shared_turn();
    let place = place(LONG);
    require!(give_away(&place), "the folder for temporary files is closed to other users");
    let mut probe = place.command(&["namespace-probe", r#"{"pid":true,"net":false}"#]);
    let allowed = probe.uid(USER).gid(USER).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success();
    assert_eq!(assert_kill_9_leaves_nothing(&place, start_as_user(&place)), allowed);
}

/// Guards against boxes that do without a namespace everywhere, which no other test would notice.
#[test]
fn where_root_may_make_namespaces_boxes_have_one() {
    let may = geteuid().is_root() && works("unshare", &["--pid", "--fork", "true"]);
    require!(may, "no pid namespace can be made here (needs root)");
    let _turn = shared_turn();
    let place = place(LONG);
    let started = Started::of(place.command(&["run", "try"]));
    assert!(assert_kill_9_leaves_nothing(&place, started), "the probe failed, or its result was ignored");
}

#[test]
fn without_a_namespace_a_study_completes_and_kill_9_leaves_nothing_running() {
    let _turn = shared_turn();
    let start = |place: &Place| {
        let mut command = place.command(&["run", "try"]);
        command.env("TOLOK_NO_NAMESPACE", "1");
        Started::of(command)
    };
    let whole = place(SHORT);
    assert_completes(&whole, start(&whole));
    let cut_off = place(LONG);
    assert!(!assert_kill_9_leaves_nothing(&cut_off, start(&cut_off)), "the switch must switch namespaces off");
}

/// As on Ubuntu since 23.10: the kernel creates the user namespace, but then refuses to map the user in it. Here the refusal comes
/// from a read-only /proc.
#[test]
fn where_a_user_namespace_can_be_entered_but_not_be_set_up_boxes_do_without() {
    let script = "mount --bind /proc /proc && mount -o remount,bind,ro /proc && \
                  exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";
    let half = ["--mount", "sh", "-c", script, "sh"];
    require!(works("unshare", &[&half[..], &["true"]].concat()), "/proc cannot be made read-only here (needs root)");
    let _turn = shared_turn();
    let whole = place(SHORT);
    require!(give_away(&whole), "the folder for temporary files is closed to other users");
    assert_completes(&whole, start_by(&whole, "unshare", &half));
    let cut_off = place(LONG);
    assert!(give_away(&cut_off));
    assert!(!assert_kill_9_leaves_nothing(&cut_off, start_by(&cut_off, "unshare", &half)), "a box got a namespace");
}

/// As in containers with a single account: root can create no namespace, and cannot switch to another account. Servers that root
/// starts switch by themselves, if they can.
#[test]
fn root_without_the_right_to_change_accounts_starts_servers_as_root_and_tells_them() {
    let less = ["--bounding-set=-sys_admin,-chown"];
    require!(geteuid().is_root() && works("setpriv", &[less[0], "true"]), "root cannot give up a right here");
    let _turn = shared_turn();
    let home = home();
    let server = server_of(&home);
    let text = format!(
        "title = 'As nobody'\nruntime = 'test'\nworkloads = ['hello']\n[[process]]\nname = 'server'\n\
         command = ['setpriv', '--reuid', '{{{{ user }}}}', '--regid', '{{{{ group }}}}', '--clear-groups', \
         '{}', '--port', '{{{{ port }}}}', '--assets', '{{{{ assets }}}}', '--fault', 'none']\n",
        server.display()
    );
    let place = home.with_subject("nobody", &text).with_study("['*']", 2, SHORT);
    assert_completes(&place, start_by(&place, "setpriv", &less));
}
