//! A malicious subject: each of its attempts is refused, as root and as an ordinary user.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;
use tolok_testkit::require;

use crate::place::{Place, Said, TOLOK, assert_done, copy_program, shared_turn};

/// `nobody` on nearly every system, and an ordinary user in any case.
const USER: u32 = 65_534;

/// A place with an intruder beside a good server, a secret in the user's home, and another run.
fn place() -> Place {
    let place = Place::for_every_user();
    let path = place.path();
    copy_program(&Path::new(TOLOK).with_file_name("intruder"), &path.join("intruder"));
    for folder in ["own/.ssh", "runs/other", "temporary"] {
        fs::create_dir_all(path.join(folder)).unwrap();
    }
    for file in ["own/.ssh/id", "runs/other/run.json"] {
        fs::write(path.join(file), "secret").unwrap();
    }
    fs::set_permissions(path.join("own/.ssh/id"), Permissions::from_mode(0o600)).unwrap();
    let here = path.display();
    let text = format!(
        "title = 'An intruder'\nruntime = 'test'\nworkloads = ['hello']\n[[process]]\nname = 'server'\n\
         command = ['sh', '-c', 'id -u; {here}/intruder {}; echo managed >{{{{ run }}}}/own && echo it writes; exec \
         {here}/faulty-subject --port {{{{ port }}}} --assets {{{{ assets }}}} --fault none']\n",
        attempts(path).join(" ")
    );
    place.with_subject("intruder", &text).with_study("['*']", 1, "1s")
}

/// What it tries to read and write.
fn attempts(place: &Path) -> Vec<String> {
    let read = ["own/.ssh/id", "own", "runs/other/run.json", "runs"].map(|path| place.join(path));
    let write = ["own", "runs", "runs/other", "subjects/test/intruder"].map(|path| place.join(path));
    let read = read.iter().map(PathBuf::as_path).chain(["/root", "/proc/1/environ"].map(Path::new));
    let write = write.iter().map(PathBuf::as_path).chain(["/usr", "/var/tmp", "/etc"].map(Path::new));
    let option = |name: &str, path: &Path| format!("--{name} {}", path.display());
    read.map(|path| option("read", path)).chain(write.map(|path| option("write", path))).collect()
}

/// Runs the study with this command. Returns the uid of the subject, and what the intruder achieved.
fn managed(place: &Place, mut command: Command) -> (u32, Vec<String>) {
    for name in ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(name, place.path().join("own"));
    }
    let said = Said::of(command.output().unwrap());
    assert_done(said.code, &said.progress);
    let runs = fs::read_dir(place.path().join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let run = runs.into_iter().find(|run| !run.ends_with("other") && !run.is_symlink()).unwrap();
    let trial = fs::read_dir(run.join("trials")).unwrap().next().unwrap().unwrap().path();
    let log = fs::read_to_string(trial.join("subject.log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines.contains(&"it writes"), "its own folder is its own: {log}");
    let tried = lines.iter().filter(|line| line.contains(": refused") || line.contains(": managed"));
    assert_eq!(tried.count(), 10 + attempts(place.path()).len(), "{log}");
    let managed = lines.iter().filter_map(|line| line.strip_suffix(": managed"));
    (lines[0].parse().unwrap(), managed.map(|what| what.replace(&place.path().display().to_string(), "")).collect())
}

#[test]
fn as_root_a_subject_has_an_account_without_rights_and_manages_nothing() {
    require!(geteuid().is_root(), "another test is for ordinary users");
    let _turn = shared_turn();
    let place = place();
    let (account, managed) = managed(&place, place.command(&["run", "try"]));
    assert_eq!(managed, [""; 0]);
    assert!((61_184..=65_519).contains(&account), "{account}");
}

/// As in an unprivileged container.
#[test]
fn where_root_may_mount_nothing_a_subject_still_has_that_account() {
    require!(geteuid().is_root(), "another test is for ordinary users");
    let _turn = shared_turn();
    let place = place();
    let mut command = place.command(&["run", "try"]);
    command.env("TOLOK_NO_NAMESPACE", "1");
    let (account, managed) = managed(&place, command);
    assert!((61_184..=65_519).contains(&account), "{account}");
    // What any account may do, as `doctor` reports.
    for what in &managed {
        let is_public = what.starts_with("read /") && !what.contains(".ssh") && what != "read /root";
        assert!(is_public || what == "write /var/tmp", "{managed:?}");
    }
}

#[test]
fn as_an_ordinary_user_a_subject_sees_no_home_and_writes_nothing() {
    require!(geteuid().is_root(), "only root can become another user");
    let _turn = shared_turn();
    let place = place();
    give_away(place.path());
    let mut probe = place.command(&["namespace-probe", r#"{"pid":true,"net":false}"#]);
    let may_mount = probe.uid(USER).gid(USER).output().unwrap().status.success();
    require!(may_mount, "ordinary users may make no namespaces here");
    let mut command = place.command(&["run", "try"]);
    command.uid(USER).gid(USER).env("TMPDIR", place.path().join("temporary"));
    assert_eq!(managed(&place, command), (USER, Vec::new()));
}

fn give_away(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        fs::read_dir(path).unwrap().for_each(|entry| give_away(&entry.unwrap().path()));
    }
}
