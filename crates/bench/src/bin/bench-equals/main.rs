//! `bench-equals`: how often whole runs find differences between equal servers on this machine, within a run and between runs.
//!
//! A study measures copies of one server, run by the product as a user would. Every difference that it reports is false.

mod equals;
mod found;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tolok_bench::beside::{Condition, folders_of_runs};
use tolok_bench::error::{self, BenchError};
use tolok_bench::machine::Machine;
use tolok_bench::terminal::{exit_code, print};

use found::Found;

/// Measures how often `tolok run` and `tolok compare` find differences between equal servers on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench-equals", version)]
struct Args {
    /// Runs under each condition; 0 only evaluates the runs in the folder.
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: u32,
    /// The study to run.
    #[arg(long, value_name = "STUDY", default_value = "quick")]
    study: String,
    /// Factor for the lengths in the study.
    #[arg(long, value_name = "FACTOR", default_value_t = 0.1)]
    scale: f64,
    /// The folders of the servers, separated by commas. Runs use them in turn.
    #[arg(long, value_name = "DIR", value_delimiter = ',', default_value = "subjects/node/http,subjects/go/nethttp")]
    servers: Vec<PathBuf>,
    /// How many copies of a server to compare.
    #[arg(long, value_name = "N", default_value_t = 4)]
    copies: u32,
    /// Rebuild compiled servers for each round.
    #[arg(long)]
    rebuild: bool,
    /// Conditions of the runs, separated by commas: a name, and the number of busy loops or the command to run at the same time.
    #[arg(long, value_name = "NAME[=LOOPS|COMMAND]", value_delimiter = ',', default_value = "as it is")]
    beside: Vec<Condition>,
    /// Seed of the runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder of the runs, by condition. Existing runs count as well.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Write a document with the printed results.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

fn main() -> ExitCode {
    exit_code(measure(&Args::parse()).map(|()| ExitCode::SUCCESS))
}

fn measure(args: &Args) -> Result<(), BenchError> {
    let machine = Machine::read();
    if args.runs > 0 {
        let copies = equals::lay_out(args)?;
        for condition in &args.beside {
            equals::run(args, condition, &copies)?;
        }
    }
    let found = folders_of_runs(&args.folder)?;
    let found = found.iter().map(|folder| Found::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let table = found::table(&found);
    print(&table.text());
    if let Some(path) = &args.markdown {
        error::write(path, &found::document(&machine, &table))?;
    }
    Ok(())
}
