//! `bench-resolution`: how small a difference a duel can detect on this machine, and how often it reports one that does not exist.
//!
//! Three servers meet in whole duels, run by the product: the base, one that takes 3% more CPU time, and one that takes 1% more. The
//! ceiling plants the differences by its own clock, so the truth is known independently. Rates over more duels than were run come from
//! resampling launches.

mod draws;
mod duels;
mod launches;
mod page;
mod planted;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tolok_bench::beside::{Condition, folders_of_runs};
use tolok_bench::error::{self, BenchError};
use tolok_bench::machine::Machine;
use tolok_bench::terminal::{exit_code, print};

use launches::Launches;

/// Measures how small a difference `tolok duel` can detect on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench-resolution", version)]
struct Args {
    /// Whole duels under each condition; 0 only evaluates the runs in the folder.
    #[arg(long, value_name = "N", default_value_t = 5)]
    duels: u32,
    /// Length of each duel.
    #[arg(long, value_name = "S", default_value = "180", value_parser = seconds)]
    seconds: Duration,
    /// Conditions of the duels, separated by commas: a name, and the number of busy loops or the command to run at the same time.
    #[arg(
        long,
        value_name = "NAME[=LOOPS|COMMAND]",
        value_delimiter = ',',
        default_value = "as it is,two busy loops=2"
    )]
    beside: Vec<Condition>,
    /// How many duels to draw from the launches of each condition.
    #[arg(long, value_name = "N", default_value_t = 500)]
    draws: u32,
    /// Seed of the duels and of the draws.
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
    if args.duels > 0 {
        let servers = planted::lay_out(&args.folder)?;
        for condition in &args.beside {
            duels::run(args, condition, &servers)?;
        }
    }
    let mut tables = Vec::new();
    for folder in folders_of_runs(&args.folder)? {
        let launches = Launches::read(&folder)?;
        tables.push(page::condition(&launches, args.draws, args.seed));
    }
    let text: String = tables.iter().map(|table| table.text() + "\n").collect();
    print(&text);
    if let Some(path) = &args.markdown {
        error::write(path, &page::document(&machine, &tables))?;
    }
    Ok(())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1.0..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "write seconds from 1 to 3600".to_owned())
}
