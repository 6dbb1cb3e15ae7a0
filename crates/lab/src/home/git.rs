//! The git state of a checkout.

use std::path::Path;
use std::process::{Command, Stdio};

/// Commit of the checkout at `root`, with a mark if there are changes, or `None` without git or a checkout.
pub(super) fn git_state(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
    Some(if changed { format!("{commit}, changed") } else { commit })
}
