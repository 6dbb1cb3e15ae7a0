//! Options of `tolok duel`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use tolok_model::Scale;

use super::SharingArgs;
use super::compare::threshold;
use super::values::{any_whole, duration, whole};

/// Options of `tolok duel`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct DuelArgs {
    /// What to compare; the first is the base. A subject as a study names it, a runtime, a version of one (`bun@1.0.0`), or a
    /// folder with a `subject.toml`.
    #[arg(required = true, value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    /// Compare two states of one folder: `main..HEAD`, or `main` for main and the files as they are.
    #[arg(long, value_name = "OLD[..NEW]")]
    pub git: Option<String>,
    /// Workloads to measure, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "json")]
    pub workload: Vec<String>,
    /// Virtual users, each with one connection [default: 64, and 8 with a database].
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
    pub vus: Option<u32>,
    /// How long to measure.
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = duration)]
    pub budget: Duration,
    /// Losses smaller than this never count. A loss of three times this should be detected.
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = threshold)]
    pub smallest: f64,
    /// The figure that decides.
    #[arg(long, value_name = "RESPONSE", default_value = "goodput")]
    pub judge: DuelJudge,
    /// Seed of the order of slices [default: a random one, which is recorded].
    #[arg(long, value_name = "N", value_parser = any_whole)]
    pub seed: Option<u64>,
    /// Multiply the measuring time of each launch. With 0.1 a launch takes a tenth of the time.
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<Scale>,
    /// Use shared CPUs where this machine has too few.
    #[arg(long)]
    pub allow_shared: bool,
    /// Fetch missing versions without asking.
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub sharing: SharingArgs,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: DuelFormat,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  tolok duel go node --budget 3m
  tolok duel bun@1.0.0 bun@1.4.5
  tolok duel go/nethttp go/nethttp:prerendered
  tolok duel --git main..HEAD servers/mine --format md

Exit codes:
  0    no challenger is worse
  3    one is worse than the base, by the smallest effect or more
  4    a loss of three times the smallest effect is not excluded
  5    it ran, but the figures are not sound";

/// The figure that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DuelJudge {
    /// Correct responses per second.
    Goodput,
    /// CPU time per correct response.
    Cpu,
}

/// How a duel is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DuelFormat {
    /// A table for the terminal.
    Text,
    /// For a comment on a pull request.
    Md,
    /// For programs.
    Json,
}
