//! The figures of every round, for programs.

use std::path::Path;

use serde::Serialize;

use crate::bench::Outcome;
use crate::error::{self, BenchError};
use crate::machine::Machine;
use crate::measure::Measurement;
use crate::{honesty, lateness};

const FORMAT: u32 = 2;

#[derive(Serialize)]
struct File<'a> {
    format: u32,
    machine: &'a Machine,
    seconds: f64,
    rounds: u32,
    seed: u64,
    generators: Vec<Generator<'a>>,
    cells: Vec<Cell<'a>>,
    lateness: &'a [lateness::Entry],
    honesty: Option<&'a honesty::Outcome>,
}

#[derive(Serialize)]
struct Generator<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Serialize)]
struct Cell<'a> {
    name: &'a str,
    title: &'a str,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    generator: &'a str,
    discards: bool,
    /// By round; null where the bench was stopped before.
    rounds: &'a [Option<Measurement>],
}

/// Writes what there is so far.
pub fn write(path: &Path, outcome: &Outcome) -> Result<(), BenchError> {
    let cells = outcome.cells.iter().map(|one| Cell {
        name: one.cell.name,
        title: one.cell.title,
        entries: one
            .entries
            .iter()
            .map(|entry| Entry {
                generator: entry.contender.tool.name(),
                discards: entry.contender.discards,
                rounds: &entry.rounds,
            })
            .collect(),
    });
    let generators = outcome.peers.iter().map(|peer| Generator { name: peer.tool.name(), version: &peer.version });
    let file = File {
        format: FORMAT,
        machine: &outcome.machine,
        seconds: outcome.duration.as_secs_f64(),
        rounds: outcome.rounds,
        seed: outcome.seed,
        generators: generators.collect(),
        cells: cells.collect(),
        lateness: &outcome.lateness,
        honesty: outcome.honesty.as_ref(),
    };
    let text = serde_json::to_string_pretty(&file).expect("names and finite numbers are JSON");
    error::write(path, &(text + "\n"))
}
