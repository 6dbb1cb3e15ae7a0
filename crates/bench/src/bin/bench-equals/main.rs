//! `bench-equals`: how often whole runs tell equal servers apart on this machine, in a run and between runs.
//!
//! A study measures copies of one server, run by the product as a user runs it. Every difference that it names is false.

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

/// Measures how often `tolok run` and `tolok compare` tell equal servers apart on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench-equals", version)]
struct Args {
    /// Runs under each condition. With 0 only what the folder holds is looked at.
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: u32,
    /// The study that they run.
    #[arg(long, value_name = "STUDY", default_value = "quick")]
    study: String,
    /// By what its lengths are multiplied.
    #[arg(long, value_name = "FACTOR", default_value_t = 0.1)]
    scale: f64,
    /// The folders of servers, separated by commas. Runs take them in turns.
    #[arg(long, value_name = "DIR", value_delimiter = ',', default_value = "subjects/node/http,subjects/go/nethttp")]
    servers: Vec<PathBuf>,
    /// How many copies of a server meet.
    #[arg(long, value_name = "N", default_value_t = 4)]
    copies: u32,
    /// Build compiled servers anew for each round.
    #[arg(long)]
    rebuild: bool,
    /// What surrounds the runs, separated by commas: a name, and how many busy loops or which command runs beside them.
    #[arg(long, value_name = "NAME[=LOOPS|COMMAND]", value_delimiter = ',', default_value = "as it is")]
    beside: Vec<Condition>,
    /// Seed of the runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where runs are kept, by condition. Runs that are there count as well.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Write a document with everything that is printed.
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
