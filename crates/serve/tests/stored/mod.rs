//! A folder of invented runs, as the lab would write them.
//!
//! Two runs of one study, of which the second is slower, and one on another machine; one with more scenarios; one that was stopped; one
//! that has just begun, without trials; and one that cannot be read.

#![allow(dead_code, reason = "the library's own tests write single runs only")]

use std::error::Error;
use std::fs;
use std::path::Path;

use tolok_model::PlannedTrial;
use tolok_store::RunFolder;

use crate::invented::{BUN, GO, InventedRun, ordinary, two_runs};

/// Writes all of them.
pub fn write_all(runs: &Path) -> Result<(), Box<dyn Error>> {
    let (before, after) = two_runs::regressed();
    let (_, mut elsewhere) = two_runs::elsewhere();
    elsewhere.run.id = "2026-11-19-api-e15e00".to_owned();
    elsewhere.run.started_at = "2026-11-19T10:00:00Z".to_owned();
    let mut stopped = ordinary();
    stopped.run.id = "2026-11-23-quick-57099d".to_owned();
    stopped.run.started_at = "2026-11-23T08:15:00Z".to_owned();
    stopped.trials.truncate(stopped.trials.len() / 2);
    for run in [before, after, elsewhere, ordinary(), stopped, begun()] {
        write(runs, &run)?;
    }
    let unreadable = runs.join("2026-11-20-quick-0bad00");
    fs::create_dir_all(&unreadable)?;
    fs::write(unreadable.join("run.json"), "{ \"format\": 99 }\n")?;
    Ok(())
}

/// A run of two subjects and three blocks, before its first trial.
fn begun() -> InventedRun {
    let mut run = InventedRun::new(3);
    run.run.id = "2026-11-24-live-11fe00".to_owned();
    run.run.study = "live".to_owned();
    run.run.started_at = "2026-11-24T09:30:00Z".to_owned();
    run.plan.title = "What does a run look like while it goes on?".to_owned();
    run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0).steady(BUN, 39_600.0);
    // In the order of a plan, block by block, with the order of the cases reversed in every other block.
    let cases: Vec<String> = run.plan.cases.iter().map(|case| case.id.clone()).collect();
    let of_block =
        |block: u32| if block.is_multiple_of(2) { cases.iter().rev().cloned().collect() } else { cases.clone() };
    let trials = (1..=3).flat_map(|block| of_block(block).into_iter().map(move |case| (block, case)));
    let numbered = trials.zip(1..).map(|((block, case), number)| PlannedTrial { number, block, case, launch: None });
    run.plan.trials = numbered.collect();
    run.trials.clear();
    run
}

/// Writes a run like the lab, without the raw data of its trials.
pub fn write(runs: &Path, invented: &InventedRun) -> Result<(), Box<dyn Error>> {
    let title = format!("title = \"{}\"\n", invented.plan.title);
    let folder = RunFolder::create(runs, &invented.run, &invented.plan, &title, &invented.names)?;
    for record in &invented.trials {
        let planned =
            PlannedTrial { number: record.number, block: record.block, case: record.case.clone(), launch: None };
        let trial = folder.begin_trial(&planned)?;
        trial.write("subject.log", b"listening\n")?;
        trial.finish(record)?;
    }
    Ok(())
}
