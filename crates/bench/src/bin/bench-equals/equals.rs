//! Copies of a server, and the runs that compare them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tolok_bench::beside::{Condition, program_beside_this};
use tolok_bench::error::{BenchError, failed};
use tolok_bench::terminal::say;

use crate::Args;

/// Copies every server. Returns the folders of the copies, by server.
pub fn lay_out(args: &Args) -> Result<Vec<Vec<PathBuf>>, BenchError> {
    let of_server = |(place, server): (usize, &PathBuf)| {
        let copy = |number: u32| {
            let copy = args.folder.join(format!("servers/{place}/equal-{number}"));
            copy_folder(server, &copy).map_err(failed(format!("copy {}", server.display())))?;
            Ok(copy)
        };
        (1..=args.copies).map(copy).collect()
    };
    args.servers.iter().enumerate().map(of_server).collect()
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// Runs the study under a condition, with the copies of one server after another. Reports a failed run and goes on.
pub fn run(args: &Args, condition: &Condition, copies: &[Vec<PathBuf>]) -> Result<(), BenchError> {
    let tolok = program_beside_this("tolok")?;
    let _beside = condition.begin()?;
    for (number, copies) in (1..=args.runs).zip(copies.iter().cycle()) {
        let names: Vec<String> = (1..=args.copies).map(|copy| format!("local/equal-{copy}")).collect();
        let mut command = Command::new(&tolok);
        command.arg("run").arg(&args.study).args(["--format", "id", "--scale", &args.scale.to_string()]);
        for copy in copies {
            command.arg("--subject").arg(copy);
        }
        command.args(["--subjects", &names.join(",")]);
        command.arg("--seed").arg((args.seed * 1000 + u64::from(number)).to_string());
        command.arg("--runs").arg(condition.runs(&args.folder));
        if args.rebuild {
            command.arg("--rebuild");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(failed("run tolok"))?;
        say(&format!("{}: run {number} of {}: {status}", condition.name, args.runs));
    }
    Ok(())
}
