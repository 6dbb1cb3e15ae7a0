//! Lines of real programs, made-up logs of several processes, and local programs that are made to collect.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use tolok_testkit::require;

use super::*;

const GO: &str = "\
2026/11/22 03:30:54 listening
gc 1 @0.010s 5%: 0.053+0.24+0.001 ms clock, 0.10+0.027/0.022/0.029+0.002 ms cpu, 18->24->23 MB, 21 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 2 @1.500s 5%: 0.50+17+0.25 ms clock, 0.17+0/0.046/0+0.001 ms cpu, 40->47->8 MB, 47 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 3 @2.000s 4% (checking for goroutine leaks): 2+1.5+0 ms clock, 0.03+0.01/0.02/0+0.01 ms cpu, 29->30->10 MB, 34 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
scvg: 8 MB released
gc 4 @3.000s 4%: 0.1+1.5+0.1 ms clo
";

const V8: &str = "\
[13041:0x2189cc00]        9 ms: Scavenge 3.9 (4.0) -> 3.7 (5.0) MB, 0.37 / 0.00 ms  (average mu = 1.000, current mu = 1.000) allocation failure; 
[13050:0x13956df0]     1100 ms: Scavenge 4.6 (6.0) -> 4.0 (6.2) MB, 0.50 / 0.00 ms  (average mu = 1.000, current mu = 1.000) task; 
listening
[13041:0x2189cc00]     1200 ms: Mark-Compact (reduce) 23.7 (40.6) -> 23.2 (40.1) MB, 2.25 / 0.75 ms  (+ 0.4 ms in 16 steps since start of marking, biggest step 0.1 ms, walltime since start of marking 4 ms) (average mu = 1.000, current mu = 1.000) finalize incremental marking via stack guard; GC in old space requested
[13050:0x13956df0]     1300 ms: Scavenge 4.8 (6.2) -> 4.0 (6.2) MB, 0.25 / 0.00 ms  (average mu = 1.000, current mu = 1.000) task; 
[error: 12 ms: a line of somebody else, 1 MB, 1 / 2 ms]
[13041:0x2189cc00]     2400 ms: Scavenge 4.8 (6.2) -> 4.0 (6.2) MB, 0.0
";

#[track_caller]
fn check(log: &str, format: GcLog, window: Range<f64>, expect: (u64, f64, f64)) {
    let found = collections(log, format, window);
    assert_eq!(found.collections, expect.0, "{found:?}");
    assert!((found.pause_s_total - expect.1).abs() < 1e-12, "{found:?}");
    assert!((found.pause_s_max - expect.2).abs() < 1e-12, "{found:?}");
}

#[test]
fn of_go_the_two_stops_of_each_collection_are_its_pause() {
    check(GO, GcLog::Go, 0.0..10.0, (3, 0.000_054 + 0.000_75 + 0.002, 0.002));
    check(GO, GcLog::Go, 1.0..2.0, (1, 0.000_75, 0.000_75));
    check(GO, GcLog::Go, 1.5..2.001, (2, 0.002_75, 0.002));
}

#[test]
fn of_v8_the_first_duration_is_the_pause_and_processes_are_summed() {
    check(V8, GcLog::V8, 0.0..10.0, (4, 0.003_37, 0.002_25));
    check(V8, GcLog::V8, 1.0..1.3, (2, 0.002_75, 0.002_25));
}

#[test]
fn a_log_without_collections_or_of_another_runtime_has_none() {
    for (log, format) in [("", GcLog::Go), ("", GcLog::V8), (GO, GcLog::V8), (V8, GcLog::Go)] {
        assert_eq!(collections(log, format, 0.0..1e9), GarbageCollection::default(), "{format:?}");
    }
    assert_eq!(collections(GO, GcLog::Go, 5.0..5.0), GarbageCollection::default(), "an empty window");
}

/// Whether a program runs on this machine.
fn runs(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// Its output, and how long it ran, in seconds.
fn run(command: &mut Command) -> (String, f64) {
    let began = Instant::now();
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = [stdout, stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(status.success(), "{said}");
    (said, began.elapsed().as_secs_f64())
}

/// Invariants of any real program: its collections fall within its life, and pauses fit into that time.
fn sane(log: &str, format: GcLog, lived_s: f64, least: u64) {
    let found = collections(log, format, 0.0..lived_s);
    assert!(found.collections >= least, "{found:?} in\n{log}");
    assert!(found.pause_s_max > 0.0 && found.pause_s_max <= found.pause_s_total, "{found:?}");
    assert!(found.pause_s_total < lived_s, "{found:?} in {lived_s} s");
    assert_eq!(collections(log, format, lived_s..f64::INFINITY), GarbageCollection::default(), "after its end\n{log}");
}

fn source(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_real_go_program_tells_of_the_collections_that_it_asks_for() {
    require!(runs("go", "version"), "there is no Go on this machine");
    let folder = tempfile::tempdir().unwrap();
    let text = "package main\n\nimport \"runtime\"\n\nfunc main() {\n\tfor range 20 {\n\t\t_ = make([]byte, 1<<20)\n\t\truntime.GC()\n\t}\n}\n";
    source(folder.path(), "main.go", text);
    source(folder.path(), "go.mod", "module collects\n\ngo 1.22\n");
    let build = ["build", "-o", "collects", "."];
    run(Command::new("go").args(build).env("GOTOOLCHAIN", "local").current_dir(folder.path()));
    let (log, lived_s) = run(Command::new(folder.path().join("collects")).env("GODEBUG", "gctrace=1"));
    // A forced collection may find another one done already, and the program may end before the last is printed.
    assert!(log.lines().filter(|line| line.ends_with("(forced)")).count() >= 5, "{log}");
    sane(&log, GcLog::Go, lived_s, 5);
    let own = collections(&log, GcLog::Go, 0.0..lived_s).collections;
    // The program may end in the middle of its last line.
    let whole = log.lines().filter(|line| line.starts_with("gc ") && line.contains(" ms clock")).count();
    assert_eq!(own as usize, whole, "no line is missed:\n{log}");
}

const NODE_COLLECTS: &str = "\
const kept = [];
for (let i = 0; i < 400; i++) kept.push(new Array(10_000).fill(i + 0.5));
global.gc();
";

#[test]
fn a_real_node_tells_of_its_collections() {
    require!(runs("node", "--version"), "there is no Node.js on this machine");
    let folder = tempfile::tempdir().unwrap();
    let script = source(folder.path(), "collects.js", NODE_COLLECTS);
    let (log, lived_s) = run(Command::new("node").args(["--expose-gc", "--trace-gc"]).arg(script));
    assert!(log.contains("Scavenge") && log.contains("Mark-Compact"), "{log}");
    sane(&log, GcLog::V8, lived_s, 2);
    let own = collections(&log, GcLog::V8, 0.0..lived_s).collections;
    assert_eq!(own as usize, log.lines().count(), "no line is missed:\n{log}");
}

#[test]
fn the_workers_of_a_real_node_cluster_tell_of_theirs_as_well() {
    require!(runs("node", "--version"), "there is no Node.js on this machine");
    let folder = tempfile::tempdir().unwrap();
    let worker = source(folder.path(), "worker.js", &format!("{NODE_COLLECTS}process.disconnect();\n"));
    let text = format!(
        "const cluster = require('node:cluster');\ncluster.setupPrimary({{ exec: {worker:?} }});\n\
         cluster.fork();\ncluster.fork();\n"
    );
    let primary = source(folder.path(), "primary.js", &text);
    let (log, lived_s) = run(Command::new("node").args(["--expose-gc", "--trace-gc"]).arg(primary));
    let pids: std::collections::BTreeSet<&str> =
        log.lines().filter(|line| line.contains("Mark-Compact")).filter_map(|line| line.split(':').next()).collect();
    assert_eq!(pids.len(), 2, "each worker logs its own collections:\n{log}");
    sane(&log, GcLog::V8, lived_s, 4);
}
