//! `bench-link`: how accurate the emulated link is on this machine. Shows targets and measurements side by side.
//!
//! The program creates two network namespaces and a link between them; they disappear with it. The probe is one thread with sockets in both
//! namespaces, so one clock times both directions and no thread has to wake up to answer. Measurements of sleeping programs or of TCP are
//! marked as such.

mod answers;
mod capacity;
mod document;
mod emulated;
mod flow;
mod loss;
mod ping;
mod rate;
mod spaces;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tolok_bench::error::{self, BenchError};
use tolok_bench::machine::Machine;
use tolok_bench::table::Table;
use tolok_bench::terminal::{exit_code, print};

use spaces::Lab;

/// A measurement that yields a table.
type Part = fn(&Lab) -> Result<Table, BenchError>;

/// The measurements by name, in order.
const PARTS: [(&str, Part); 6] = [
    ("delay", ping::delays),
    ("jitter", ping::jitters),
    ("rate", rate::table),
    ("loss", loss::table),
    ("answers", answers::table),
    ("capacity", capacity::table),
];

/// Measures how accurate the emulated link is on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench-link", version, args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    hidden: Option<Hidden>,
    /// CPU of the link.
    #[arg(long, value_name = "CPU", default_value_t = 0)]
    link_cpu: u32,
    /// CPU of the probe, and of the programs that use the link.
    #[arg(long, value_name = "CPU", default_value_t = 1)]
    probe_cpu: u32,
    /// Only these parts, separated by commas: delay, jitter, rate, loss, answers, capacity.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = PARTS.map(|(name, _)| name))]
    only: Vec<String>,
    /// A tenth of everything: only shows that it works.
    #[arg(long)]
    quick: bool,
    /// Other facts for readers of the document, such as what ran at the same time.
    #[arg(long, value_name = "TEXT", requires = "markdown")]
    conditions: Option<String>,
    /// Write a document with the printed results and how to read them.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Hidden {
    /// The link itself.
    #[command(hide = true)]
    Link {
        /// Its job, in JSON.
        job: String,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    let ended = match &args.hidden {
        Some(Hidden::Link { job }) => emulated::run(job),
        None => measure(&args),
    };
    exit_code(ended.map(|()| ExitCode::SUCCESS))
}

fn measure(args: &Args) -> Result<(), BenchError> {
    // Before any thread starts: only a single-threaded program can enter a user namespace.
    let lab = Lab::make(args.link_cpu, args.probe_cpu, args.quick)?;
    let start = Machine::read();
    let mut tables = Vec::new();
    for (name, part) in PARTS {
        if args.only.is_empty() || args.only.iter().any(|wanted| wanted == name) {
            let made = part(&lab)?;
            print(&made.text());
            tables.push(made);
        }
    }
    if let Some(path) = &args.markdown {
        let text = document::write(&start, &lab, args.conditions.as_deref(), &tables);
        std::fs::write(path, text).map_err(error::failed("write the document"))?;
    }
    Ok(())
}
