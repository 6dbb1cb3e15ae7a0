//! The servers of the duels, and their true differences.

use std::path::{Path, PathBuf};

use tolok_bench::beside::program_beside_this;
use tolok_bench::error::{BenchError, failed};

/// Work per answer: about 100 µs. With 20 µs, a slower server wakes the waiting generator more often and pays for it, so 3% of its own time
/// became 3.15% per answer.
const STEPS: u32 = 45_000;

/// A server with a planted slowness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planted {
    /// The name of its folder.
    pub name: &'static str,
    /// Its extra CPU time, as a share of the base's.
    pub slowness: f64,
}

/// The base reads the same clock as often, but does not spin.
pub const BASE: Planted = Planted { name: "base", slowness: 0.0 };
/// The servers to detect.
pub const SLOWER: [Planted; 2] =
    [Planted { name: "slower-3", slowness: 0.03 }, Planted { name: "slower-1", slowness: 0.01 }];

impl Planted {
    /// CPU time per answer relative to the base.
    pub fn true_cpu(self) -> f64 {
        1.0 + self.slowness
    }

    /// Answers per second relative to the base: all CPU time goes into answers.
    pub fn true_goodput(self) -> f64 {
        self.true_cpu().recip()
    }
}

/// Creates a folder for each server. Returns them, the base first.
pub fn lay_out(folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let ceiling = program_beside_this("ceiling")?;
    let servers = folder.join("servers");
    [BASE].iter().chain(&SLOWER).map(|planted| one(&servers, *planted, &ceiling)).collect()
}

fn one(servers: &Path, planted: Planted, ceiling: &Path) -> Result<PathBuf, BenchError> {
    let Planted { name, slowness } = planted;
    let folder = servers.join(name);
    let text = format!(
        "title = 'Planted {}%'\nruntime = 'rust'\nworkloads = ['hello']\n[[process]]\nname = 'server'\n\
         command = ['{}', '--host', '{{{{ host }}}}', '--port', '{{{{ port }}}}', '--assets', '{{{{ assets }}}}', \
         '--steps', '{STEPS}', '--slowness', '{slowness}']\n",
        slowness * 100.0,
        ceiling.display()
    );
    std::fs::create_dir_all(&folder).map_err(failed("make a folder for a server"))?;
    std::fs::write(folder.join("subject.toml"), text).map_err(failed("write a subject"))?;
    Ok(folder)
}
