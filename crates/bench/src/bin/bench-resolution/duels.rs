//! Whole duels, run by `tolok duel` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;

use tolok_bench::error::{BenchError, failed};

use crate::planted::beside_this;
use crate::{Args, say};

/// What surrounds duels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub name: String,
    /// Busy loops of normal weight that run beside them.
    pub loops: u32,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, loops) = match text.split_once('=') {
            Some((name, loops)) => (name, loops.parse().map_err(|_| format!("{loops} is not a number of loops"))?),
            None => (text, 0),
        };
        if name.is_empty() || name.contains('/') || name == "servers" {
            return Err("give the condition a name that a folder can have".to_owned());
        }
        Ok(Self { name: name.to_owned(), loops })
    }
}

/// Runs all duels of a condition. It reports one that fails, and begins the next.
pub fn run(args: &Args, condition: &Condition, servers: &[PathBuf]) -> Result<(), BenchError> {
    let tolok = beside_this("tolok")?;
    let _loops = Loops::start(condition.loops)?;
    for number in 1..=args.duels {
        let mut command = Command::new(&tolok);
        command.arg("duel").args(servers).args(["--workload", "hello", "--format", "json"]);
        command.arg("--budget").arg(format!("{}s", args.seconds.as_secs_f64()));
        command.arg("--seed").arg((args.seed * 1000 + u64::from(number)).to_string());
        command.arg("--runs").arg(runs_of(&args.folder, &condition.name));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(failed("run tolok duel"))?;
        say(&format!("{}: duel {number} of {}: {status}", condition.name, args.duels));
    }
    Ok(())
}

/// The folders of all conditions with runs, by name.
pub fn conditions(folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let entries = std::fs::read_dir(folder).map_err(failed(format!("read {}", folder.display())))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("runs")).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    Ok(found)
}

fn runs_of(folder: &Path, condition: &str) -> PathBuf {
    folder.join(condition).join("runs")
}

/// Programs that keep CPUs busy until this is dropped.
struct Loops(Vec<Child>);

impl Loops {
    fn start(number: u32) -> Result<Self, BenchError> {
        let start = |_| Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        let mut loops = Self(Vec::new());
        for one in (0..number).map(start) {
            loops.0.push(one.map_err(failed("start a busy loop"))?);
        }
        Ok(loops)
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for one in &mut self.0 {
            // One that is gone already needs no end.
            let _ = one.kill();
            let _ = one.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_a_name_and_may_have_loops() {
        let condition = |name: &str, loops| Condition { name: name.to_owned(), loops };
        assert_eq!("as it is".parse(), Ok(condition("as it is", 0)));
        assert_eq!("two loops=2".parse(), Ok(condition("two loops", 2)));
        for text in ["", "a/b", "x=many", "servers"] {
            assert!(text.parse::<Condition>().is_err(), "{text:?}");
        }
    }
}
