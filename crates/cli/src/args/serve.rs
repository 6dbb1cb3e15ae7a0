//! Options of `tolok serve`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::values::whole;

/// Options of `tolok serve`.
#[derive(Debug, ClapArgs)]
#[command(after_help = NOTE)]
pub struct ServeArgs {
    /// Port on 127.0.0.1; 0 for any free port [default: 7357, or any free port if that is taken].
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=65_535))]
    pub port: Option<u16>,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// Open the list of runs in a browser.
    #[arg(long)]
    pub open: bool,
}

const NOTE: &str = "\
The address is printed on standard output. Only this machine reaches it, and nothing is written. Ctrl-C ends it.";
