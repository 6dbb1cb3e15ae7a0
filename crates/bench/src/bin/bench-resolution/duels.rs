//! Whole duels, run by `tolok duel` as a user would.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tolok_bench::beside::{Condition, program_beside_this};
use tolok_bench::error::{BenchError, failed};
use tolok_bench::terminal::say;

use crate::Args;

/// Runs all duels of a condition. Reports a failed duel and goes on.
pub fn run(args: &Args, condition: &Condition, servers: &[PathBuf]) -> Result<(), BenchError> {
    let tolok = program_beside_this("tolok")?;
    let _beside = condition.begin()?;
    for number in 1..=args.duels {
        let mut command = Command::new(&tolok);
        command.arg("duel").args(servers).args(["--workload", "hello", "--format", "json"]);
        command.arg("--budget").arg(format!("{}s", args.seconds.as_secs_f64()));
        command.arg("--seed").arg((args.seed * 1000 + u64::from(number)).to_string());
        command.arg("--runs").arg(condition.runs(&args.folder));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(failed("run tolok duel"))?;
        say(&format!("{}: duel {number} of {}: {status}", condition.name, args.duels));
    }
    Ok(())
}
