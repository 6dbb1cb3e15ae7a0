//! Options of `tolok verify`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// Options of `tolok verify`.
#[derive(Debug, ClapArgs)]
pub struct VerifyArgs {
    /// A run: its folder, its name or the beginning of it, the name of its study (newest run), or `latest`.
    #[arg(default_value = "latest")]
    pub run: String,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: VerifyFormat,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// A list of what was checked, for people.
    Text,
    /// Every check with its differences, for programs.
    Json,
}
