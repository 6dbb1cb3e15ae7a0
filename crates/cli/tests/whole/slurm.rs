//! Runs on a Slurm cluster: every round ends complete, even if a node, the controller or the run is lost on the way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use tolok_testkit::require;

use crate::cluster::{Cluster, lacks};
use crate::place::{Place, Said, Started, assert_all_gone, assert_done, shared_turn, signal_all};

const BLOCKS: u32 = 6;

/// Two subjects in rounds of about five seconds.
fn place() -> Place {
    place_of(BLOCKS)
}

fn place_of(blocks: u32) -> Place {
    let place = Place::new().with_faulty("one", "none").with_faulty("two", "none");
    place.with_study("['test/one', 'test/two']", blocks, "1500ms")
}

fn tolok(place: &Place, cluster: &Cluster, arguments: &[&str]) -> Command {
    cluster.submitter(&place.command(arguments))
}

/// The nodes on which rounds ran, from their records. Asserts that each round has exactly one record.
fn nodes_of(run: &Path) -> BTreeSet<String> {
    let blocks = blocks_of(run);
    assert_eq!(blocks.len(), BLOCKS as usize, "each round has one record, that of the node that ran it whole");
    blocks.iter().map(|block| block["node"]["name"].as_str().unwrap().to_owned()).collect()
}

fn assert_whole(place: &Place) -> PathBuf {
    let records = place.records();
    assert_eq!(records.len(), 2 * BLOCKS as usize);
    assert!(records.iter().all(|record| record["outcome"]["kind"] == "completed"), "{records:?}");
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}", verified.output);
    place.run_folder()
}

/// The node's name in a line about the beginning of a round.
fn node_in(line: &str) -> String {
    let (_, behind) = line.rsplit_once(" on ").unwrap();
    behind.split(' ').next().unwrap().to_owned()
}

fn attempts(run: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(run.join("attempts")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn losing_nodes_and_the_controller_costs_no_round() {
    let lack = lacks();
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, mut cluster) = (place(), Cluster::of(4));
    let mut run = Started::of(tolok(&place, &cluster, &["run", "try", "--on", "slurm", "--max-jobs", "2"]));
    let killed = node_in(run.wait_for("began on").trim_end());
    cluster.kill(&killed);
    let lost = run.wait_for("was lost");
    assert!(lost.contains(&format!("was lost on {killed}")) && lost.contains("it runs again elsewhere"), "{lost}");
    let cut = loop {
        let node = node_in(run.wait_for("began on").trim_end());
        if node != killed {
            break node;
        }
    };
    cluster.kill_controller();
    cluster.cut(&cut);
    run.wait_for(&format!("was lost on {cut}"));
    run.wait_for("cannot begin");
    cluster.start_controller();
    let (said, code) = run.finish();
    assert_done(code, &said);
    let run = assert_whole(&place);
    let nodes = nodes_of(&run);
    assert!(!nodes.contains(&killed), "{nodes:?}");
    assert!(!attempts(&run).is_empty(), "what the lost nodes had measured is kept apart");
    cluster.wait_for(|cluster| cluster.jobs().is_empty(), "no job is left");
    cluster.wait_for(|_| place.processes().is_empty(), "the node that was cut off notices that the run is gone");
}

/// Adds the study `count`: one round, whose requests the generators share.
fn with_counted(place: Place) -> Place {
    let text = "title = 'Count'\nsubjects = ['test/counting']\nblocks = 1\nseed = 7\nceiling = false\naa-pair = false\nreruns = 0\n\
                [[scenario]]\nworkload = 'hello'\n\
                load = { executor = 'shared-iterations', vus = 5, iterations = 301, max-duration = '60s', think-time = '20ms', warmup = '0s', timeout = '5s' }\n";
    std::fs::write(place.path().join("studies/count.toml"), text).unwrap();
    place.with_faulty("counting", "count")
}

/// The generator nodes of a round.
fn generators_of(block: &Value) -> BTreeSet<String> {
    let generators = block["generators"].as_array().unwrap().iter();
    generators.map(|generator| generator["name"].as_str().unwrap().to_owned()).collect()
}

/// The folder of the only trial of the only run.
fn trial_of(place: &Place) -> PathBuf {
    let mut trials = std::fs::read_dir(place.run_folder().join("trials")).unwrap();
    trials.next().unwrap().unwrap().path()
}

fn blocks_of(run: &Path) -> Vec<Value> {
    let folders = std::fs::read_dir(run.join("blocks")).unwrap().map(|entry| entry.unwrap().path());
    folders.map(|it| serde_json::from_str(&std::fs::read_to_string(it.join("block.json")).unwrap()).unwrap()).collect()
}

#[test]
fn two_generators_count_what_the_server_counts_and_a_round_that_loses_one_runs_again() {
    let lack = lacks();
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, mut cluster) = (with_counted(place_of(2)), Cluster::of(5));
    let options = ["--on", "slurm", "--max-jobs", "1", "--generators", "2"];
    let said = Said::of(tolok(&place, &cluster, &[&["run", "count"], &options[..]].concat()).output().unwrap());
    assert_done(said.code, &said.progress);
    let in_trial = |name: &str| std::fs::read_to_string(trial_of(&place).join(name)).unwrap();
    let record: Value = serde_json::from_str(&in_trial("tool.json")).unwrap();
    assert_eq!(record["ledger"]["good"], 301);
    // The lab's readiness check is the one extra request.
    let counted = in_trial("subject.log");
    assert_eq!(counted.lines().filter(|line| line.ends_with("answers")).count(), 302, "{counted}");
    assert_eq!(record["generator"]["threads"].as_array().unwrap().len(), 2);
    let blocks = blocks_of(&place.run_folder());
    let (server, generators) = (blocks[0]["node"]["name"].as_str().unwrap(), generators_of(&blocks[0]));
    assert!(generators.len() == 2 && !generators.contains(server), "{blocks:?}");
    std::fs::remove_dir_all(place.run_folder()).unwrap();

    let mut run = Started::of(tolok(&place, &cluster, &[&["run", "try"], &options[..]].concat()));
    let server = node_in(run.wait_for("began on").trim_end());
    let generator = if server == "n2" { "n3" } else { "n2" };
    run.wait_for("1/4");
    cluster.kill(generator);
    // Slurm may have ended the block before it could report which node was lost. A busy machine may silence another node first.
    let is_told =
        |lost: &str| lost.contains(&format!("was lost on {generator}")) || lost.contains("its nodes were silent");
    let lost = loop {
        let lost = run.wait_for("was lost");
        if is_told(&lost) {
            break lost;
        }
    };
    assert!(lost.contains("it runs again elsewhere"), "{lost}");
    let (said, code) = run.finish();
    assert_done(code, &said);
    assert!(!attempts(&place.run_folder()).is_empty());
    for block in blocks_of(&place.run_folder()) {
        assert!(!generators_of(&block).contains(generator) && generators_of(&block).len() == 2, "{block}");
    }
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}", verified.output);
    cluster.wait_for(|cluster| cluster.jobs().is_empty(), "no job is left");
    assert_all_gone(|| place.processes());
}

#[test]
fn a_killed_run_leaves_no_job_and_resumes_after_its_complete_rounds() {
    let lack = lacks();
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, cluster) = (place(), Cluster::of(2));
    // Two rounds run, and two wait in the queue.
    let mut run = Started::of(tolok(&place, &cluster, &["run", "try", "--on", "slurm"]));
    while place_blocks(&place) == 0 {
        run.wait_for("began on");
    }
    // `run` is `nsenter`, so tolok itself needs the signal.
    kill_tolok(&place);
    run.finish();
    cluster.wait_for(|cluster| cluster.jobs().is_empty(), "the nodes notice that the run is gone");
    assert_all_gone(|| place.processes());
    let said = Said::of(tolok(&place, &cluster, &["resume", "latest"]).output().unwrap());
    assert_done(said.code, &said.progress);
    nodes_of(&assert_whole(&place));
    assert!(cluster.jobs().is_empty());
}

#[test]
fn ctrl_c_takes_jobs_out_of_the_queue_and_the_run_can_go_on() {
    let lack = lacks();
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, cluster) = (place(), Cluster::of(1));
    let mut run = Started::of(tolok(&place, &cluster, &["run", "try", "--on", "slurm"]));
    run.wait_for("began on");
    cluster.wait_for(|cluster| cluster.jobs().len() == 4, "one round runs and three wait");
    signal_tolok(&place, Signal::INT);
    let (said, code) = run.finish();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("tolok resume"), "{said}");
    cluster.wait_for(|cluster| cluster.jobs().is_empty(), "no job is left");
    assert_all_gone(|| place.processes());
    let said = Said::of(tolok(&place, &cluster, &["resume", "latest"]).output().unwrap());
    assert_done(said.code, &said.progress);
    nodes_of(&assert_whole(&place));
}

#[test]
fn what_slurm_refuses_is_said_before_anything_is_measured() {
    let lack = lacks();
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, cluster) = (place(), Cluster::of(1));
    let refused = |arguments: &[&str]| {
        let all = [&["run", "try", "--on", "slurm"], arguments].concat();
        let said = Said::of(tolok(&place, &cluster, &all).output().unwrap());
        (said.code, said.progress)
    };
    let (code, said) = refused(&["--constraint", "arm"]);
    assert_eq!(code, Some(5));
    assert!(said.contains("Slurm has no node for constraint `arm`"), "{said}");
    let (code, said) = refused(&["--partition", "night"]);
    assert_eq!(code, Some(5));
    assert!(said.contains("Slurm has no node for partition `night`"), "{said}");
    assert!(!place.path().join("runs").exists());
    let (code, said) = refused(&["--generators", "1"]);
    assert_eq!(code, Some(5));
    assert!(said.contains("each round needs 2 nodes, and Slurm has 1 for any partition"), "{said}");
    for (arguments, reason) in [
        (["run", "try", "--max-jobs", "2"], "--max-jobs needs --on slurm"),
        (["run", "try", "--generators", "2"], "--generators needs --on slurm"),
        (["run", "try", "--on=slurm", "--rebuild"], "--on excludes --rebuild"),
    ] {
        let said = place.tolok(&arguments);
        assert_eq!(said.code, Some(2));
        assert!(said.progress.contains(reason), "{}", said.progress);
    }
    let without = place.command(&["run", "try", "--on", "slurm"]).env("PATH", "/nowhere").output().unwrap();
    let said = Said::of(without);
    assert_eq!(said.code, Some(6));
    assert!(said.progress.contains("cannot start Slurm's `sinfo`") && said.progress.contains("slurm-client"));
}

fn place_blocks(place: &Place) -> usize {
    if place.path().join("runs").exists() { place.records().len() } else { 0 }
}

/// Signals the tolok that runs the study, but not those on nodes.
fn signal_tolok(place: &Place, signal: Signal) {
    signal_all(place, &format!("{} run try", place.command(&[]).get_program().to_string_lossy()), signal);
}

fn kill_tolok(place: &Place) {
    signal_tolok(place, Signal::KILL);
}
