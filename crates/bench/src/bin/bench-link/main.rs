//! `bench-link`: how true the emulated link is, on this machine. Target and measurement side by side.
//!
//! Two network namespaces and a link between them, made here and gone with this program. The probe is one thread with
//! sockets in both namespaces, so that one clock times both directions and no thread has to wake up to answer. Where
//! programs that sleep are measured, or TCP, it says so.

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

/// Measures something and puts it in a table.
type Part = fn(&Lab) -> Result<Table, BenchError>;

/// What is measured, by name, in this order.
const PARTS: [(&str, Part); 6] = [
    ("delay", ping::delays),
    ("jitter", ping::jitters),
    ("rate", rate::table),
    ("loss", loss::table),
    ("answers", answers::table),
    ("capacity", capacity::table),
];

/// Measures how true the emulated link is on this machine.
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
    /// A tenth of everything: shows that it works, and no more.
    #[arg(long)]
    quick: bool,
    /// What else a reader of the document must know, such as what ran beside this.
    #[arg(long, value_name = "TEXT", requires = "markdown")]
    conditions: Option<String>,
    /// Write a document with everything that is printed, and how to read it.
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
    // Before anything starts a thread: only then can a program enter a user namespace.
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
