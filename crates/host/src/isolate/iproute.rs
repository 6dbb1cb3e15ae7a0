//! Runs the programs of iproute2, which configure network devices and routes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::spawn::{Placement, place};

/// Runs one of them in this process's namespace and returns its output.
pub(super) fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let path = find(program).ok_or_else(|| format!("the program {program} is not installed (package iproute2)"))?;
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::null());
    let placed = place(&mut command, &Placement { dies_with_parent: true, ..Placement::default() });
    let failed = |why: String| format!("{program} {} failed: {why}", arguments.join(" "));
    let output = placed.and_then(|()| command.output()).map_err(|error| failed(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(failed(text(&output.stderr).lines().collect::<Vec<_>>().join(" ")))
    }
}

/// The path of a program. Ordinary users often lack the administration folders in `PATH`.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}
