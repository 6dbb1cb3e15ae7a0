//! Studies with limits, links and an unscored diagnosis, run completely on this machine.

use rustix::process::geteuid;
use serde_json::Value;
use tolok_host::group::{Controller, Hierarchies};
use tolok_testkit::require;

use crate::place::{Place, Said, assert_all_gone, assert_done, shared_turn};

/// A place with one subject and a study of it: `json` in windows of one second in this environment.
pub fn place(fault: &str, environment: &str) -> Place {
    let place = Place::new().with_faulty("server", fault);
    let study = format!(
        "title = 'Try'\nsubjects = ['test/server']\nblocks = 1\nseed = 7\nreruns = 0\nceiling = false\n[[scenario]]\n\
         workload = 'json'\nload = {{ executor = 'constant-vus', vus = 4, duration = '1s', warmup = '200ms' }}\n\
         [environment]\n{environment}\n"
    );
    std::fs::write(place.path().join("studies/try.toml"), study).unwrap();
    place
}

pub fn run(place: &Place, options: &[&str]) -> (Said, Vec<Value>) {
    let said = place.tolok(&[&["run", "try"], options].concat());
    let records = place.records();
    assert_all_gone(|| place.processes());
    (said, records)
}

/// Whether control groups here have these controllers.
pub fn has_groups(controllers: &[Controller]) -> bool {
    let usable = Hierarchies::find().usable();
    controllers.iter().all(|controller| usable.contains(controller))
}

#[test]
fn a_subject_that_needs_more_memory_than_it_may_have_is_out_of_memory() {
    require!(has_groups(&[Controller::Memory]), "no control group can limit memory here");
    let _turn = shared_turn();
    let place = place("leak", "subject = { cpus = 1, memory = '64MiB' }");
    let (said, records) = run(&place, &[]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let outcome = &records[0]["outcome"];
    assert_eq!((&outcome["kind"], &outcome["reason"]), (&"failed".into(), &"out-of-memory".into()), "{outcome}");
    let message = outcome["message"].as_str().unwrap();
    assert!(message.starts_with("the kernel killed 1 process of it at its memory limit of 64 MiB"), "{message}");
}

#[test]
fn what_a_subject_leaves_in_temporary_folders_goes_with_its_trial() {
    require!(geteuid().is_root(), "without a mount namespace some of it stays");
    let _turn = shared_turn();
    let place = place("none", "");
    let file = place.path().join("subjects/test/server/subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let name = place.path().file_name().unwrap().to_str().unwrap().to_owned() + ".left";
    let script = format!(
        r#"for folder in $TMPDIR /tmp /dev/shm; do echo x > $folder/{name} && echo left in $folder; done; exec "$@""#
    );
    std::fs::write(&file, text.replace("command = [", &format!("command = ['sh', '-c', '{script}', 'sh', "))).unwrap();
    let (said, records) = run(&place, &[]);
    assert_eq!(records[0]["outcome"]["kind"], "completed", "{}\n{}", said.progress, records[0]);
    let log = find(&place.path().join("runs"), "subject.log");
    let log = std::fs::read_to_string(log.first().unwrap()).unwrap();
    let own = log.lines().next().unwrap();
    assert!(own.starts_with("left in ") && own.contains("/tolok-session-") && own.contains("/trial-"), "{log}");
    assert!(log.contains("left in /tmp\nleft in /dev/shm\n"), "{log}");
    for folder in ["/tmp", "/dev/shm"] {
        assert!(!std::path::Path::new(folder).join(&name).exists(), "{folder}");
    }
}

/// Files with this name below a folder.
fn find(folder: &std::path::Path, name: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = |path: std::path::PathBuf| {
        if path.is_dir() { find(&path, name) } else { vec![path] }
    };
    entries.flat_map(found).filter(|path| path.ends_with(name)).collect()
}

#[test]
fn more_cpus_than_there_are_are_refused_unless_sharing_is_allowed() {
    let _turn = shared_turn();
    let place = place("none", "subject.cpus = 4096");
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(2), "{}", said.progress);
    assert!(said.progress.contains("--allow-shared"), "{}", said.progress);
    let (said, records) = run(&place, &["--allow-shared"]);
    assert_done(said.code, &said.progress);
    let run: Value =
        serde_json::from_str(&std::fs::read_to_string(place.run_folder().join("run.json")).unwrap()).unwrap();
    assert_eq!((&run["cpus"][""]["shared"], records.len()), (&true.into(), 1));
    let whole = place.tolok(&["report", "-v"]).output;
    assert!(whole.contains("shared"), "{}", whole);
}

#[test]
fn rebuild_builds_each_round_with_a_layout_of_its_own() {
    let _turn = shared_turn();
    let place = place("none", "");
    let (file, layouts) = (place.path().join("subjects/test/server/subject.toml"), place.path().join("layouts"));
    let text = std::fs::read_to_string(&file).unwrap();
    let program = text.split("command = ['").nth(1).and_then(|rest| rest.split('\'').next()).unwrap().to_owned();
    let text = text.replace(&program, "{{ build }}/server");
    let layouts_of = layouts.display();
    let build = format!(
        "[build]\ncommand = ['sh', '-c', 'echo {{{{ layout }}}} >> {layouts_of}; cp {program} {{{{ build }}}}/server']\n"
    );
    std::fs::write(&file, format!("{text}\n{build}")).unwrap();
    let (said, records) = run(&place, &["--blocks", "2", "--rebuild"]);
    assert_done(said.code, &said.progress);
    assert_eq!(records.len(), 2);
    let built = std::fs::read_to_string(&layouts).unwrap();
    let built: Vec<u32> = built.lines().map(|line| line.parse().unwrap()).collect();
    assert!(matches!(built[..], [0, one, two] if one != 0 && two != 0 && one != two), "{built:?}");
    let whole = place.tolok(&["report", "-v"]).output;
    assert!(whole.contains("--rebuild"), "{whole}");
}

#[test]
fn a_diagnosis_is_a_trial_of_its_own_that_is_not_scored() {
    let _turn = shared_turn();
    let place = place("none", "");
    let (said, records) = run(&place, &["--diagnose"]);
    assert_done(said.code, &said.progress);
    assert_eq!(records.len(), 1);
    let folder = place.run_folder().join("diagnosis/json-c4--test-server-default");
    let found: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("diagnosis.json")).unwrap()).unwrap();
    let diagnosis = &found["outcome"]["Ok"];
    let counted = |name: &str| diagnosis[name].as_u64();
    assert!(counted("answers").unwrap() > 0, "{found}");
    // A count that is unavailable is listed with the reason.
    let unavailable = diagnosis["unavailable"].as_array().unwrap();
    assert!(counted("syscalls").is_some_and(|calls| calls > 0) || !unavailable.is_empty(), "{found}");
    let whole = place.tolok(&["report", "-v"]).output;
    assert!(whole.contains("Unscored"), "{}", whole);
}

#[test]
fn a_link_that_carries_too_little_for_the_window_is_no_fault_of_the_subjects() {
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = shared_turn();
    let place = place("none", "link = { rate = '5kbit/s' }");
    let study = place.path().join("studies/try.toml");
    let text = std::fs::read_to_string(&study).unwrap().replace("vus = 4", "vus = 64");
    std::fs::write(&study, text).unwrap();
    let (said, records) = run(&place, &[]);
    let outcome = &records[0]["outcome"];
    assert_eq!(outcome["reason"], "link-too-slow", "{}", said.progress);
    assert!(outcome["message"].as_str().unwrap().starts_with("the link of 5 kbit/s takes "), "{outcome}");
}

#[test]
fn a_subject_that_may_have_no_more_processes_is_told_of() {
    require!(has_groups(&[Controller::Pids]), "no control group can limit processes here");
    let _turn = shared_turn();
    let place = place("fork", "subject = { cpus = 1, pids = 2 }");
    let (said, records) = run(&place, &[]);
    let outcome = &records[0]["outcome"];
    let told = match outcome["message"].as_str() {
        Some(message) => message.contains("could not start a process or thread, as it may have 2 at most"),
        None => {
            outcome["subject"]["refused_tasks"].as_u64() > Some(0)
                && place.tolok(&["report", "-v"]).output.contains("tasks-refused")
        }
    };
    assert!(told, "{outcome}\n{}", said.output);
}
