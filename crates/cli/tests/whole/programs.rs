//! Programs that are not servers: timed by tolok, hyperfine and GNU time, in the box of a trial.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::place::{Place, TOLOK, assert_all_gone, assert_done, shared_turn};

/// Sums numbers by counting. Its argument selects a fault.
const SCRIPT: &str = r#"
fault=$1 n=$3 sum=0 i=0
while [ "$i" -lt "$n" ]; do i=$((i+1)); sum=$((sum+i)); done
echo "$fault $n" >&2
if [ "$n" -gt 0 ]; then
    case $fault in
        exit) exit 3 ;;
        hang) sleep 1000 & sleep 1000 ;;
        wrong) sum=7 ;;
        slow) sleep 0.2 ;;
        gated) while [ ! -e "${0%/*}/gate" ]; do sleep 0.02; done ;;
        hungry) head -c 300000000 /dev/zero | tail -n 1 > /dev/null || exit 9 ;;
    esac
fi
echo "$sum"
"#;

/// A home with the workload `sum` and a subject `test/<fault>` for each fault.
pub fn place(faults: &[&str], study: &str) -> Place {
    let place = Place::new();
    let workloads = place.path().join("workloads");
    fs::remove_file(&workloads).unwrap();
    fs::create_dir_all(workloads.join("sum")).unwrap();
    let text = "title = 'Sum'\n[program]\narguments = ['of', '{{ n }}']\nfloor = ['of', '0']\n\
                output = \"{{ n * (n + 1) // 2 }}\\n\"\nfloor-output = \"0\\n\"\n\
                [parameter.n]\ndefault = 200\nleast = 1\nmost = 100000\nhelp = 'How many numbers'\n";
    fs::write(workloads.join("sum/workload.toml"), text).unwrap();
    fs::write(place.path().join("studies/try.toml"), study).unwrap();
    fs::write(place.path().join("sum.sh"), SCRIPT).unwrap();
    let script = place.path().join("sum.sh").display().to_string();
    faults.iter().fold(place, |place, fault| {
        let text = format!(
            "title = 'Sum {fault}'\nruntime = 'test'\nworkloads = ['sum']\n\
             [program]\ncommand = ['/bin/sh', '{{% if cpus == 99 %}}-x{{% endif %}}', '{script}', '{fault}']\n"
        );
        place.with_subject(fault, &text)
    })
}

fn study(subjects: &str, more: &str, program: &str) -> String {
    format!(
        "title = 'Try'\nsubjects = {subjects}\nblocks = 1\nseed = 7\nceiling = false\naa-pair = false\nreruns = 0\n{more}\n\
         [[program]]\nworkload = 'sum'\n{program}\n"
    )
}

fn trial_folder(place: &Place) -> PathBuf {
    let mut entries = fs::read_dir(place.run_folder().join("trials")).unwrap();
    entries.next().unwrap().unwrap().path()
}

pub fn rows(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

#[test]
fn a_program_is_run_and_timed_beside_its_floor_and_leaves_nothing_behind() {
    let _turn = shared_turn();
    let place = place(&["sound"], &study("['test/sound']", "", "runs = 4\nwarmup-runs = 1"));
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let records = place.records();
    let (record, outcome) = (&records[0], &records[0]["outcome"]);
    assert_eq!(outcome["kind"], "timed", "{record}");
    let script = place.path().join("sum.sh").display().to_string();
    assert_eq!(record["commands"], serde_json::json!([format!("/bin/sh {script} sound of 200")]));
    assert_eq!(outcome["timer"]["name"], "tolok");
    assert_eq!((length(&outcome["runs"]), length(&outcome["floor"]), &outcome["warmup_runs"]), (4, 4, &1.into()));
    // The shell is smaller than the timer, whose size must not be reported as the shell's.
    let rss_bytes = outcome["runs"][0]["rss_bytes_max"].as_u64();
    assert!(rss_bytes.is_none_or(|bytes| bytes < 4 << 20), "{rss_bytes:?}");
    let rows = rows(&trial_folder(&place));
    let marks: Vec<_> = rows.iter().map(|row| (row["warm_up"] == true, row["floor"] == true)).collect();
    assert_eq!(marks[..3], [(true, true), (true, false), (false, true)]);
    assert_eq!(marks.len(), 10);
    let log = fs::read_to_string(trial_folder(&place).join("subject.log")).unwrap();
    assert_eq!(log.lines().filter(|line| *line == "sound 200").count(), 5);
    assert_all_gone(|| place.processes());
}

#[test]
fn what_is_wrong_with_a_program_is_the_reason_of_its_failure() {
    let _turn = shared_turn();
    let subjects = "['test/exit', 'test/hang', 'test/wrong']";
    let text = study(subjects, "", "runs = 2\nwarmup-runs = 0\ntimeout = '3s'");
    let place = place(&["exit", "hang", "wrong"], &text);
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    let check = |subject: &str, reason: &str, words: &str| {
        let of = |record: &&Value| record["case"].as_str().unwrap().contains(subject);
        let outcome = &records.iter().find(of).unwrap()["outcome"];
        assert_eq!(outcome["reason"], reason, "{outcome}");
        assert!(outcome["message"].as_str().unwrap().contains(words), "{outcome}");
        assert!(outcome["log_tail"].to_string().contains(&format!("{subject} 200")), "{outcome}");
    };
    check("exit", "crashed", "exit of 200` ended with exit code 3");
    check("hang", "hung", "hang of 200` did not end within 3 s");
    check("wrong", "wrong-answer", r#"wrote "7\n" and owed "20100\n""#);
    assert_all_gone(|| place.processes());
}

#[test]
fn a_program_that_needs_more_memory_than_it_may_have_is_told_so() {
    let _turn = shared_turn();
    let limits = "[environment.subject]\nmemory = '100MiB'";
    let place = place(&["hungry"], &study("['test/hungry']", limits, "runs = 1\nwarmup-runs = 0"));
    let plan = place.tolok(&["plan", "try"]);
    tolok_testkit::require!(plan.code == Some(0), "no control group limits memory here: {}", plan.progress);
    let said = place.tolok(&["run", "try"]);
    let outcome = &place.records()[0]["outcome"];
    assert_eq!(outcome["reason"], "out-of-memory", "{outcome} {}", said.progress);
    assert!(outcome["message"].as_str().unwrap().contains("100 MiB"), "{outcome}");
}

#[test]
fn the_memory_of_a_program_is_that_of_the_largest_of_its_processes() {
    let _turn = shared_turn();
    let place = place(&["hungry"], &study("['test/hungry']", "", "runs = 1\nwarmup-runs = 0"));
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let rss_bytes = place.records()[0]["outcome"]["runs"][0]["rss_bytes_max"].as_u64();
    assert!(rss_bytes.is_some_and(|bytes| bytes > 300_000_000), "{rss_bytes:?}");
}

#[test]
fn a_small_program_has_its_own_figure_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let told = |script: &str| {
        let job = serde_json::json!({
            "work": { "argv": ["/bin/sh", "-c", script], "output": "" }, "floor": null, "env": { "PATH": "/usr/bin:/bin" },
            "cwd": folder.path(), "log": path("log"), "report": path("report.json"), "warmup_runs": 0, "runs": 10,
            "at_most_s": 60.0, "timeout_s": 60.0,
        });
        fs::write(path("job.json"), job.to_string()).unwrap();
        let ended = Command::new(TOLOK).arg("program-timer").arg(path("job.json")).status().unwrap();
        assert!(ended.success());
        let report: Value = serde_json::from_slice(&fs::read(path("report.json")).unwrap()).unwrap();
        assert_eq!(length(&report["runs"]), 10, "{report}");
        let runs = report["runs"].as_array().unwrap().iter().map(|run| run["rss_bytes_max"].as_u64());
        runs.collect::<Vec<_>>()
    };
    // `tail` keeps 5 MiB until its end, and little else.
    let five = told("head -c 5242880 /dev/zero | tail -n 1 > /dev/null");
    assert!(five.iter().all(|bytes| bytes.is_some_and(|bytes| (5 << 20..8 << 20).contains(&bytes))), "{five:?}");
    // A shell alone has 1.5 MiB, which is more than the timer's process before it. In an unoptimized build the timer is larger than
    // that; then there must be no figure rather than the timer's.
    let shell = told(":");
    let is_small = |bytes: u64| (300 << 10..4 << 20).contains(&bytes);
    assert!(shell.iter().all(|bytes| bytes.map_or(cfg!(debug_assertions), is_small)), "{shell:?}");
}

#[test]
fn two_cpus_are_the_programs_where_there_are_two() {
    let _turn = shared_turn();
    let cpus = std::thread::available_parallelism().unwrap().get();
    tolok_testkit::require!(cpus >= 2, "one CPU only");
    let two = "[environment.subject]\ncpus = 2";
    let place = place(&["sound"], &study("['test/sound']", two, "runs = 1"));
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let run: Value = serde_json::from_slice(&fs::read(place.run_folder().join("run.json")).unwrap()).unwrap();
    assert_eq!(length(&run["cpus"][""]["subject"]), 2, "{run}");
    assert_eq!(place.records()[0]["outcome"]["kind"], "timed");
}

#[test]
fn hyperfine_and_gnu_time_time_the_same_program_as_far_as_they_can() {
    let _turn = shared_turn();
    let place = place(&["sound"], &study("['test/sound']", "", "runs = 3\ntimer = ['tolok', 'hyperfine', 'time']"));
    let plan = place.tolok(&["plan", "try"]);
    let has_both = plan.code == Some(0) && !plan.output.contains("tool [");
    tolok_testkit::require!(has_both, "hyperfine or GNU time is missing: {}", plan.output);
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let records = place.records();
    let of = |timer: &str| {
        let outcomes = records.iter().map(|record| &record["outcome"]);
        outcomes.into_iter().find(|outcome| outcome["timer"]["name"] == timer).unwrap()
    };
    for timer in ["tolok", "hyperfine", "time"] {
        assert_eq!(length(&of(timer)["runs"]), 3, "{timer}");
        assert!(!of(timer)["timer"]["version"].as_str().unwrap().is_empty(), "{timer}");
    }
    let [hyperfine, time] = ["hyperfine", "time"].map(of);
    assert!(hyperfine["said"]["mean_s"].is_f64() && hyperfine["runs"][0]["rss_bytes_max"].is_null(), "{hyperfine}");
    assert!(hyperfine["runs"][0]["user_s"].is_null(), "{hyperfine}");
    assert_eq!((&time["resolution_s"], length(&time["floor"])), (&0.01.into(), 0));
    assert!(time["runs"][0]["rss_bytes_max"].is_u64(), "{time}");
    let trials = fs::read_dir(place.run_folder().join("trials")).unwrap();
    let with_output = trials.filter(|entry| entry.as_ref().unwrap().path().join("tool.out").is_file());
    assert_eq!(with_output.count(), 2);
    assert_all_gone(|| place.processes());
}

#[test]
fn a_run_of_programs_goes_on_where_it_stopped() {
    let _turn = shared_turn();
    let place = place(&["sound"], &study("['test/sound']", "", "runs = 1").replace("blocks = 1", "blocks = 2"));
    assert_done(place.tolok(&["run", "try"]).code, "");
    let mut trials: Vec<PathBuf> =
        fs::read_dir(place.run_folder().join("trials")).unwrap().map(|entry| entry.unwrap().path()).collect();
    trials.sort();
    let kept = fs::read(trials[0].join("trial.json")).unwrap();
    fs::remove_dir_all(&trials[1]).unwrap();
    let said = place.tolok(&["resume", "latest"]);
    assert!(said.progress.contains("1 of 2 trials left"), "{}", said.progress);
    assert_eq!(place.records().len(), 2);
    assert_eq!(fs::read(trials[0].join("trial.json")).unwrap(), kept);
}
