//! Writes a run of some thousand trials into a folder of runs, to time its reports:
//! `cargo run --release -p tolok-cli --example large-run -- RUNS [BLOCKS]`, and then `time tolok report large --runs RUNS`.
//!
//! Its windows have histograms and seconds, like those of tolok's own load generator. Every figure is invented.

#![allow(clippy::unwrap_used, reason = "a program for developers, which may panic")]

use std::path::Path;
use std::process::ExitCode;

use tolok_model::{RunRecord, SecondSeries};
use tolok_store::RunFolder;

#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;

use invented::judgement::Noise;
use invented::{BUN, FPM, GO, InventedRun, NODE, SWOOLE};

const SCENARIOS: u32 = 10;
const WINDOW_S: u32 = 20;
/// A histogram of a real window (HdrHistogram V2, base64).
const HISTOGRAM: &str = include_str!("histogram.txt");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(runs), blocks) = (arguments.first(), arguments.get(1).map_or(Ok(20), |blocks| blocks.parse())) else {
        return complain("usage: large-run RUNS [BLOCKS]");
    };
    let Ok(blocks) = blocks else { return complain("BLOCKS is a whole number, such as 20") };
    write(Path::new(runs), &invent(blocks));
    ExitCode::SUCCESS
}

/// Ten scenarios of five subjects.
fn invent(blocks: u32) -> InventedRun {
    let (mut run, mut noise) = (InventedRun::new(blocks), Noise::new(7, 0.02));
    let mut unrest = Noise::new(8, 0.02);
    for scenario in 1..=SCENARIOS {
        let vus = 8 * scenario;
        run.scenario(&format!("json-c{vus}"), "json", "JSON", vus);
        for (place, server) in [GO, BUN, NODE, FPM, SWOOLE].into_iter().enumerate() {
            let goodput_rps = 30_000.0 * 0.8f64.powi(place as i32);
            run.case(server, &noise.blocks(goodput_rps, blocks));
            let good: Vec<u64> = unrest.blocks(goodput_rps, WINDOW_S).into_iter().map(|rps| rps as u64).collect();
            run.change(|_, trial| {
                let subject_memory_bytes = (0..u64::from(WINDOW_S)).map(|second| Some(14_000_000 + second)).collect();
                trial.latency.histogram = Some(HISTOGRAM.trim().to_owned());
                trial.series =
                    Some(SecondSeries { good: good.clone(), subject_memory_bytes, ..SecondSeries::default() });
            });
        }
    }
    run
}

/// Writes the run as the lab would.
fn write(runs: &Path, invented: &InventedRun) {
    let record = RunRecord { id: "large".to_owned(), ..invented.run.clone() };
    let folder = RunFolder::create(runs, &record, &invented.plan, "title = \"Invented\"\n", &invented.names).unwrap();
    for trial in &invented.trials {
        let planned = invented.plan.trials.iter().find(|planned| planned.number == trial.number).unwrap();
        folder.begin_trial(planned).unwrap().finish(trial).unwrap();
    }
}

#[allow(clippy::print_stderr, reason = "an example is a separate program")]
fn complain(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
