//! Studies with limits, links and an unscored diagnosis, run to their end on this machine.

use rustix::process::geteuid;
use serde_json::Value;
use tolok_lab::group::{Controller, Hierarchies};
use tolok_testkit::require;

use crate::place::{Place, Said, assert_all_gone, assert_done, my_turn};

/// A place with one subject and a study of it: `json` in one second windows in such an environment.
fn place(fault: &str, environment: &str) -> Place {
    let place = Place::new().with_faulty("server", fault);
    let study = format!(
        "title = 'Try'\nsubjects = ['test/server']\nblocks = 1\nseed = 7\nreruns = 0\nceiling = false\n[[scenario]]\n\
         workload = 'json'\nload = {{ executor = 'constant-vus', vus = 4, duration = '1s', warmup = '200ms' }}\n\
         [environment]\n{environment}\n"
    );
    std::fs::write(place.path().join("studies/try.toml"), study).unwrap();
    place
}

fn run(place: &Place, options: &[&str]) -> (Said, Vec<Value>) {
    let said = place.tolok(&[&["run", "try"], options].concat());
    let records = place.records();
    assert_all_gone(|| place.processes());
    (said, records)
}

/// What the machine's control groups can do here.
fn has_groups(controllers: &[Controller]) -> bool {
    let usable = Hierarchies::find().usable();
    controllers.iter().all(|controller| usable.contains(controller))
}

#[test]
fn a_subject_that_needs_more_memory_than_it_may_have_is_out_of_memory() {
    require!(has_groups(&[Controller::Memory]), "no control group can limit memory here");
    let _turn = my_turn();
    let place = place("leak", "subject = { cpus = 1, memory = '64MiB' }");
    let (said, records) = run(&place, &[]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let outcome = &records[0]["outcome"];
    assert_eq!((&outcome["kind"], &outcome["reason"]), (&"failed".into(), &"out-of-memory".into()), "{outcome}");
    let message = outcome["message"].as_str().unwrap();
    assert!(message.starts_with("the kernel killed 1 process of it at its memory limit of 64MiB"), "{message}");
}

#[test]
fn a_quota_is_told_from_dedicated_cpus_and_counts_what_it_takes() {
    require!(has_groups(&[Controller::Cpu, Controller::CpuSet]), "no control group can limit CPUs here");
    let _turn = my_turn();
    let place = place("none", "subject = { cpus = 1, mode = ['dedicated', 'quota'] }");
    let study = place.path().join("studies/try.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    // The server needs little of a CPU, so only a small quota is felt.
    std::fs::write(&study, text.replace("cpus = 1, mode = ['dedicated', 'quota']", "cpus = 0.05, mode = 'quota'"))
        .unwrap();
    let (said, records) = run(&place, &[]);
    assert!(!records.is_empty(), "{}", said.progress);
    let throttling = &records[0]["outcome"]["subject"]["throttling"];
    let (throttled, periods) =
        (throttling["throttled_periods"].as_u64().unwrap(), throttling["periods"].as_u64().unwrap());
    assert!(throttled > 0 && throttled <= periods, "{throttling}");
    assert!(throttling["throttled_s"].as_f64().unwrap() > 0.0, "{throttling}");
}

#[test]
fn every_packet_of_a_link_takes_its_time() {
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = my_turn();
    let place = place("none", "link = [{ rtt = '30ms' }, { backend = 'veth' }]");
    let (said, records) = run(&place, &[]);
    assert_done(said.code, &said.progress);
    let of = |network: &str| records.iter().find(|record| record["isolation"]["network"] == network).unwrap();
    let (distant, near) = (of("emulator"), of("veth"));
    let fastest = &distant["outcome"]["latency"]["percentiles"][0]["latency_s"];
    assert!(fastest.as_f64().unwrap() >= 0.03, "{fastest}");
    let link = &distant["outcome"]["link"];
    let packets = |direction: &str| link[direction]["packets"].as_u64().unwrap();
    assert!(packets("to_subject") > 0 && packets("to_client") > 0, "{link}");
    assert_eq!(near["outcome"]["link"], Value::Null);
    // A handshake and a request are two round trips: nothing answers in the subject's place.
    assert!(distant["outcome"]["cold_start_s"].as_f64().unwrap() >= 0.06);
    assert_eq!(distant["isolation"]["sysctls"]["net.ipv4.tcp_congestion_control"], "cubic");
}

#[test]
fn more_cpus_than_there_are_are_refused_unless_sharing_is_allowed() {
    let _turn = my_turn();
    let place = place("none", "subject.cpus = 4096");
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(2), "{}", said.progress);
    assert!(said.progress.contains("--allow-shared"), "{}", said.progress);
    let (said, records) = run(&place, &["--allow-shared"]);
    assert_done(said.code, &said.progress);
    let run: Value =
        serde_json::from_str(&std::fs::read_to_string(place.run_folder().join("run.json")).unwrap()).unwrap();
    assert_eq!((&run["cpus"][""]["shared"], records.len()), (&true.into(), 1));
    assert!(said.output.contains("shared"), "{}", said.output);
}

#[test]
fn a_diagnosis_is_a_trial_of_its_own_that_is_not_scored() {
    let _turn = my_turn();
    let place = place("none", "");
    let (said, records) = run(&place, &["--diagnose"]);
    assert_done(said.code, &said.progress);
    assert_eq!(records.len(), 1);
    let folder = place.run_folder().join("diagnosis/json-c4--test-server-default");
    let found: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("diagnosis.json")).unwrap()).unwrap();
    let diagnosis = &found["outcome"]["Ok"];
    let counted = |name: &str| diagnosis[name].as_u64();
    assert!(counted("answers").unwrap() > 0, "{found}");
    // What cannot be counted is named with its reason.
    let unavailable = diagnosis["unavailable"].as_array().unwrap();
    assert!(counted("syscalls").is_some_and(|calls| calls > 0) || !unavailable.is_empty(), "{found}");
    assert!(said.output.contains("Unscored"), "{}", said.output);
}

#[test]
fn a_link_that_carries_too_little_for_the_window_is_no_fault_of_the_subjects() {
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = my_turn();
    let place = place("none", "link = { rate = '5kbit/s' }");
    let study = place.path().join("studies/try.toml");
    let text = std::fs::read_to_string(&study).unwrap().replace("vus = 4", "vus = 64");
    std::fs::write(&study, text).unwrap();
    let (said, records) = run(&place, &[]);
    let outcome = &records[0]["outcome"];
    assert_eq!(outcome["reason"], "link-too-slow", "{}", said.progress);
    assert!(outcome["message"].as_str().unwrap().starts_with("the link of 5kbit/s takes "), "{outcome}");
}

#[test]
fn a_subject_that_may_have_no_more_processes_is_told_of() {
    require!(has_groups(&[Controller::Pids]), "no control group can limit processes here");
    let _turn = my_turn();
    let (said, records) = run(&place("fork", "subject = { cpus = 1, pids = 2 }"), &[]);
    let outcome = &records[0]["outcome"];
    let told = match outcome["message"].as_str() {
        Some(message) => message.contains("could not start a process or thread, as it may have 2 at most"),
        None => outcome["subject"]["refused_tasks"].as_u64() > Some(0) && said.output.contains("tasks-refused"),
    };
    assert!(told, "{outcome}\n{}", said.output);
}
