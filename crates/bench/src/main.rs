//! `bench-load`: compares the cost of a request for tolok's load engine and other load generators on this machine.
//!
//! One server (the ceiling) runs on one CPU, one generator at a time on another. Every round measures all generators in a new order. The
//! server counts the requests and the kernel the CPU time, so no figure relies on a generator's own report. A minimal generator, the floor,
//! shows the cost of the system calls alone. Two more exercises measure how late requests are at a given rate, and whether reports about a
//! server are true.

mod args;
mod assets;
mod bench;
mod child;
mod counters;
mod exercise;
mod floor;
mod generator;
mod honesty;
mod interrupt;
mod markdown;
mod measure;
mod peers;
mod regime;
mod report;
mod server;
mod stall;
mod transfer;
mod truth;

use std::process::ExitCode;

use clap::Parser as _;
use tolok_bench::error::{self, BenchError};
use tolok_bench::terminal::{exit_code, print, say};

use args::{Args, Hidden};
use bench::{Bench, Ended};

fn main() -> ExitCode {
    let args = Args::parse();
    let printed = |told: Result<String, BenchError>| {
        told.map(|told| {
            print(&told);
            ExitCode::SUCCESS
        })
    };
    let ended = match &args.hidden {
        Some(Hidden::Floor(options)) => printed(floor::run(options)),
        Some(Hidden::Transfer(options)) => printed(transfer::run(options)),
        Some(Hidden::Stall(options)) => stall::run(options, &say, &print).map(|()| ExitCode::SUCCESS),
        None => compare(&args),
    };
    exit_code(ended)
}

/// Measures, prints, and writes the requested files.
fn compare(args: &Args) -> Result<ExitCode, BenchError> {
    let bench = Bench::prepare(args)?;
    let ended = bench.run()?;
    let (Ended::Complete(outcome) | Ended::Interrupted(outcome)) = &ended;
    let report = report::Report::of(outcome);
    print(&report.text());
    if let Some(path) = &args.markdown {
        error::write(path, &markdown::document(outcome, &report))?;
    }
    Ok(match ended {
        Ended::Complete(_) => ExitCode::SUCCESS,
        Ended::Interrupted(_) => {
            say("interrupted: the figures above are those of the rounds so far");
            ExitCode::from(130)
        }
    })
}
