//! Runs by strangers: they reach nothing outside their folder, do not make tolok hang, and execute nothing without consent.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::place::{TOLOK, repository};

/// A stored run in a folder of runs, beside files that it must not reach.
struct Stranger {
    root: TempDir,
    run: PathBuf,
}

impl Stranger {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let archive = repository().join("tests/stored-runs/programs.tgz");
        fs::create_dir(root.path().join("runs")).unwrap();
        let unpacked = Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(root.path().join("runs")).status();
        assert!(unpacked.unwrap().success());
        let mut names = fs::read_dir(root.path().join("runs")).unwrap().map(|entry| entry.unwrap().path());
        let run = names.find(|path| path.join("run.json").is_file()).unwrap();
        Self { root, run }
    }

    /// Runs tolok with these arguments and a time limit of twenty seconds.
    fn tolok(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.args(["20", TOLOK]).args(arguments).current_dir(self.root.path()).env("NO_COLOR", "1");
        command.env("TOLOK_HOME", repository()).env("TOLOK_RUNS", self.root.path().join("runs"));
        command.env("XDG_CACHE_HOME", self.root.path().join("cache")).output().unwrap()
    }

    fn name(&self) -> String {
        self.run.file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The record of its first trial.
    fn first_trial(&self) -> String {
        let trials = fs::read_dir(self.run.join("trials")).unwrap().map(|entry| entry.unwrap().file_name());
        format!("trials/{}/trial.json", trials.min().unwrap().to_str().unwrap())
    }

    /// Replaces a file of the run.
    fn replace(&self, name: &str, make: impl FnOnce(&Path)) {
        let path = self.run.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap()
        } else {
            drop(fs::remove_file(&path))
        }
        make(&path);
    }

    fn change_plan(&self, change: impl FnOnce(&mut Value)) {
        let path = self.run.join("plan.json");
        let mut plan: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        change(&mut plan);
        fs::write(path, plan.to_string()).unwrap();
    }
}

/// Standard error.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const REPORTS: [&str; 6] = ["report.html", "report.md", "report.csv", "report.json", "share.svg", "share.png"];

#[test]
fn links_in_a_run_reach_no_file_outside() {
    let stranger = Stranger::new();
    let victim = stranger.root.path().join("victim");
    fs::write(&victim, "of the user").unwrap();
    for name in REPORTS {
        stranger.replace(name, |path| symlink(&victim, path).unwrap());
    }
    let reported = stranger.tolok(&["report", &stranger.name()]);
    assert_eq!(reported.status.code(), Some(0), "{}", said(&reported));
    assert!(REPORTS.iter().all(|name| stranger.run.join(name).symlink_metadata().unwrap().is_file()));
    for name in [".lock", "manifest.jsonl", "events.jsonl", "trials"] {
        let stranger = Stranger::new();
        let (target, before) = match name {
            "trials" => (stranger.root.path().to_owned(), fs::read_dir(stranger.root.path()).unwrap().count()),
            _ => (victim.clone(), 0),
        };
        stranger.replace(name, |path| symlink(&target, path).unwrap());
        let resumed = stranger.tolok(&["resume", &stranger.name()]);
        assert_ne!(resumed.status.code(), Some(0), "{name}: {}", said(&resumed));
        if name == "trials" {
            assert_eq!(fs::read_dir(&target).unwrap().count(), before);
        }
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "of the user");
}

#[test]
fn a_fifo_in_the_place_of_a_file_holds_nobody_up() {
    let files = ["plan.json", "names.json", "manifest.jsonl", ".lock", "events.jsonl", "report.json"];
    for place in 0..=files.len() {
        let stranger = Stranger::new();
        let name = files.get(place).map_or_else(|| stranger.first_trial(), |name| (*name).to_owned());
        stranger.replace(&name, |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()));
        let run = stranger.name();
        for arguments in [&["verify", &run][..], &["report", &run], &["list", "runs"]] {
            let output = stranger.tolok(arguments);
            assert!(output.status.code().is_some_and(|code| code != 124), "{name}: {arguments:?}: {}", said(&output));
        }
    }
}

#[test]
fn a_damaged_file_is_a_wrong_file_and_is_said_in_short() {
    let long = vec![b'x'; 1 << 20];
    for name in ["plan.json", "names.json", "run.json", "a trial"] {
        let stranger = Stranger::new();
        let name = if name == "a trial" { stranger.first_trial() } else { name.to_owned() };
        for content in [&b"{"[..], b"\xff\xfe", &long] {
            fs::write(stranger.run.join(&name), content).unwrap();
            assert_wrong(&name, &stranger.tolok(&["report", &stranger.name()]));
        }
    }
    let stranger = Stranger::new();
    fs::write(stranger.root.path().join("study.toml"), b"title = '\xff'").unwrap();
    assert_wrong("a study", &stranger.tolok(&["plan", "./study.toml"]));
}

/// Asserts that tolok blames its input, in a short message.
fn assert_wrong(what: &str, output: &Output) {
    assert_eq!(output.status.code(), Some(2), "{what}: {}", said(output));
    assert!(said(output).len() < 1_000, "{what}: {}", said(output));
}

/// The memory limit leaves no room beyond the largest input.
#[test]
fn what_has_no_end_is_refused() {
    const URL: &str = "http://127.0.0.1:9/";
    for arguments in [
        &["load", URL, "-m", "POST", "--body", "@/dev/zero"][..],
        &["load", URL, "--expect-body", "/dev/zero"],
        &["load", URL, "--request-file", "/dev/zero"],
        &["audit", "-"],
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 1000000; exec timeout 20 \"$@\"", "sh", TOLOK]).args(arguments);
        let output = command.stdin(fs::File::open("/dev/zero").unwrap()).output().unwrap();
        assert_wrong(arguments.last().unwrap(), &output);
        assert!(said(&output).contains("at most 64 MiB"), "{arguments:?}: {}", said(&output));
    }
    let stranger = Stranger::new();
    fs::File::create(stranger.root.path().join("study.toml")).unwrap().set_len((1 << 20) + 1).unwrap();
    let refused = stranger.tolok(&["plan", "./study.toml"]);
    assert_wrong("a study", &refused);
    assert!(said(&refused).contains("at most 1 MiB"), "{}", said(&refused));
}

#[test]
fn a_study_takes_no_script_from_outside_its_folder() {
    let stranger = Stranger::new();
    let folder = stranger.root.path().join("study");
    fs::create_dir_all(folder.join("below")).unwrap();
    let secret = stranger.root.path().join("secret.js");
    fs::write(&secret, "// of the user\nexport default function () {}\n").unwrap();
    fs::write(folder.join("below/users.js"), "export default function () {}\n").unwrap();
    symlink(&secret, folder.join("link.js")).unwrap();
    symlink(stranger.root.path(), folder.join("above")).unwrap();
    let plan = |script: &str| {
        let study = format!(
            "title = 'T'\nsubjects = ['rust/ceiling']\nceiling = false\n[[scenario]]\nworkload = 'hello'\n\
             load = {{ executor = 'constant-vus', vus = 1, duration = '1s' }}\n\
             tool = {{ name = 'k6', script = '{script}' }}\n"
        );
        fs::write(folder.join("study.toml"), study).unwrap();
        stranger.tolok(&["plan", folder.join("study.toml").to_str().unwrap()])
    };
    for outside in ["../secret.js", secret.to_str().unwrap(), "link.js", "above/secret.js", "below/../../secret.js"] {
        let refused = plan(outside);
        assert_eq!(refused.status.code(), Some(2), "{outside}: {}", said(&refused));
        assert!(!said(&refused).contains("of the user"), "{}", said(&refused));
    }
    let below = said(&plan("below/users.js"));
    assert!(!below.contains("users.js"), "a script below the folder is read: {below}");
}

#[test]
fn a_case_whose_name_leads_out_is_refused() {
    let stranger = Stranger::new();
    let mut text = fs::read_to_string(stranger.run.join("plan.json")).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    let case = plan["cases"][0]["id"].as_str().unwrap();
    text = text.replace(&format!("\"{case}\""), "\"../../../outside\"");
    fs::write(stranger.run.join("plan.json"), text).unwrap();
    for arguments in [&["report", &stranger.name()][..], &["resume", &stranger.name()]] {
        let output = stranger.tolok(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("leads out of its folder"), "{}", said(&output));
    }
}

/// tolok lists everything that resuming would execute, and touches none of it before.
#[test]
fn what_a_strangers_plan_would_run_is_asked_for() {
    let stranger = Stranger::new();
    let (folder, mark) = (stranger.run.join("evil"), stranger.root.path().join("mark"));
    fs::create_dir(&folder).unwrap();
    let text = format!(
        "title = 'Evil'\nruntime = 'test'\nworkloads = ['hello']\n[[process]]\nname = 'server'\ncommand = ['touch', '{}']\n",
        mark.display()
    );
    fs::write(folder.join("subject.toml"), text).unwrap();
    stranger.change_plan(|plan| {
        let brought = json!({ "subject": "local/evil", "folder": folder, "sha256": "00" });
        plan["brought"] =
            json!({ "folders": [brought], "servers": [{ "subject": "external/x", "base": "http://127.0.0.1:9" }] });
    });
    let resumed = stranger.tolok(&["resume", &stranger.name()]);
    assert_eq!(resumed.status.code(), Some(2), "{}", said(&resumed));
    for part in ["did not make the plan", "local/evil", "touch ", "http://127.0.0.1:9", "tolok resume --trust"] {
        assert!(said(&resumed).contains(part), "{part}: {}", said(&resumed));
    }
    assert!(!mark.exists());
    let trusted = stranger.tolok(&["resume", "--trust", &stranger.name()]);
    assert!(!said(&trusted).contains("did not make the plan"), "{}", said(&trusted));
    // Trust covers this plan only.
    let again = stranger.tolok(&["resume", &stranger.name()]);
    assert!(!said(&again).contains("did not make the plan"), "{}", said(&again));
    stranger.change_plan(|plan| plan["seed"] = json!(8));
    let changed = stranger.tolok(&["resume", &stranger.name()]);
    assert!(said(&changed).contains("did not make the plan"), "{}", said(&changed));
}

#[test]
fn a_hidden_verb_refuses_a_person_in_one_sentence() {
    let keeper = r#"{"spec":{},"channel":999}"#;
    for arguments in [
        &["keeper"][..],
        &["keeper", "{}"],
        &["keeper", keeper],
        &["init"],
        &["init", "words"],
        &["link", "{}"],
        &["namespace-probe", ""],
        &["program-timer"],
        &["program-timer", "/etc/passwd"],
        &["block"],
        &["block", "/tmp"],
        &["ceiling"],
    ] {
        let output = Command::new(TOLOK).args(arguments).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{arguments:?}: {said}");
        assert!(said.len() < 300 && output.stdout.is_empty(), "{arguments:?}: {said}");
    }
}

#[test]
fn a_wrong_command_line_is_quoted_in_part_and_without_its_passwords() {
    let long = "x".repeat(100_000);
    for wrong in [&long, "--mysql://me:5ecret@host/shop", "mysql://me:5ecret@host/shop"] {
        let output = Command::new(TOLOK).args(["list", "runs", wrong]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.len() < 1_000 && !said.contains("5ecret"), "{said}");
    }
}
