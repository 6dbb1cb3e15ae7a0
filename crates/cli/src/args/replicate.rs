//! Options of `tolok replicate`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use tolok_model::Scale;

use super::SharingArgs;
use super::values::positive;

/// Options of `tolok replicate`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ReplicateArgs {
    /// The source, as `tolok list sources` names it.
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// Measure only these parts of it, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub part: Vec<String>,
    /// Run this many rounds, whatever the studies say. A confidence interval needs at least 5.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub blocks: Option<u32>,
    /// Multiply every warm-up, window and number of requests of the studies.
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<Scale>,
    /// If a case needs more CPUs than this machine has, run it on shared CPUs and mark it. By default it is left out.
    #[arg(long)]
    pub allow_shared: bool,
    /// Measure nothing: use the newest stored run of each part.
    #[arg(long, conflicts_with_all = ["blocks", "scale", "allow_shared", "resume"])]
    pub stored: bool,
    /// Finish the newest stored run of each part, and measure only parts without one.
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub sharing: SharingArgs,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: ReplicateFormat,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  tolok replicate nunez-queue --scale 0.2 --blocks 5     a quick look, in minutes
  tolok replicate nunez-queue --format html -o page.html at the source's own length
  tolok replicate nunez-queue --stored --format md       the result of the stored runs

Exit codes:
  0    done, whatever became of the claims
  2    wrong command line or files
  4    every claim is undecided or lacks what it needs; with --stored: no run is stored
  5    a run is not sound
  130  interrupted; it shows what was measured and keeps the runs";

/// How a replication is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplicateFormat {
    /// For the terminal.
    Text,
    /// Findings with their uncertainty, for programs.
    Json,
    /// For a repository or a pull request.
    Md,
    /// One page.
    Html,
}
