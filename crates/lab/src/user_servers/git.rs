//! Checks out states of a folder in git, each into a folder of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

/// Why a state of a folder cannot be checked out.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("`{command}` failed: {said}")]
    Git { command: String, said: String },
    #[error("cannot write {}: {source}; set XDG_CACHE_HOME to a folder that has room", path.display())]
    Files { path: PathBuf, source: io::Error },
}

/// Writes `folder` as it was at `revision` below `cache`, and returns the new folder, which is named after `folder` and the
/// revision. An existing state is not written again. Ignored and uncommitted files are not included.
pub fn state_of_folder(folder: &Path, revision: &str, cache: &Path) -> Result<PathBuf, GitError> {
    let top = PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"])?);
    let within = git(folder, &["rev-parse", "--show-prefix"])?;
    // Otherwise a revision that begins with a dash would be an option.
    let commit =
        git(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
            .map_err(|_| GitError::Git {
                command: format!("git rev-parse {revision}"),
                said: format!("{} knows no such revision", top.display()),
            })?;
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let revision: String = revision.chars().map(plain).collect();
    let place = cache.join(digest(&[&whole.to_string_lossy(), &commit]));
    let state = place.join(format!("{name}-{revision}"));
    if state.is_dir() {
        return Ok(state);
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| GitError::Files { path, source }
    };
    fs::create_dir_all(&place).map_err(failed(&place))?;
    let unfinished = place.join(format!("unfinished-{}", std::process::id()));
    fs::create_dir_all(&unfinished).map_err(failed(&unfinished))?;
    let written = write_tree(&top, &format!("{commit}:{within}"), &unfinished)
        .and_then(|()| fs::rename(&unfinished, &state).map_err(failed(&state)));
    if written.is_err() {
        // Another tolok may have written the same state; if not, report the first error.
        let _ = fs::remove_dir_all(&unfinished);
    }
    if state.is_dir() { Ok(state) } else { written.map(|()| state) }
}

/// Writes the files of a tree into a folder, through an index of its own, so that the user's checkout is not touched.
fn write_tree(top: &Path, tree: &str, folder: &Path) -> Result<(), GitError> {
    let index = folder.with_added_extension("index");
    let prefix = format!("--prefix={}/", folder.display());
    let run = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env("GIT_INDEX_FILE", &index);
        command.arg("-C").arg(top).args(arguments);
        ran(command, arguments)
    };
    let written = run(&["read-tree", tree]).and_then(|_| run(&["checkout-index", "--all", "--force", &prefix]));
    let _ = fs::remove_file(&index);
    written.map(drop)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, GitError> {
    let mut command = Command::new("git");
    // Git sets these in hooks, for the repository of the hook.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    command.arg("-C").arg(folder).args(arguments);
    ran(command, arguments)
}

fn ran(mut command: Command, arguments: &[&str]) -> Result<String, GitError> {
    let failed = |said: String| GitError::Git { command: format!("git {}", arguments.join(" ")), said };
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(if said.is_empty() { output.status.to_string() } else { said }))
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let server = root.path().join("servers/mine");
        fs::create_dir_all(&server).unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
            super::git(root.path(), &[&identity[..], arguments].concat()).unwrap();
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        for text in ["first", "second"] {
            fs::write(server.join("server.js"), text).unwrap();
            git(&["add", "."]);
            git(&["commit", "--quiet", "--message", text]);
        }
        root
    }

    #[test]
    fn each_state_is_a_folder_named_by_its_revision() {
        let (root, cache) = (repository(), tempfile::tempdir().unwrap());
        let server = root.path().join("servers/mine");
        fs::write(server.join("server.js"), "not committed").unwrap();
        let state = |revision: &str| state_of_folder(&server, revision, cache.path()).unwrap();
        let read = |folder: &Path| fs::read_to_string(folder.join("server.js")).unwrap();
        let (before, after) = (state("HEAD~1"), state("main"));
        assert_eq!((read(&before).as_str(), read(&after).as_str()), ("first", "second"));
        assert!(before.ends_with("mine-HEAD-1") && after.ends_with("mine-main"));
        assert_eq!(state("main"), after, "a state is written once");
        assert_eq!(read(&server), "not committed", "the checkout is not touched");
    }

    #[test]
    fn what_git_does_not_know_is_refused_by_its_name() {
        let (root, cache) = (repository(), tempfile::tempdir().unwrap());
        let said =
            |folder: &Path, revision: &str| state_of_folder(folder, revision, cache.path()).unwrap_err().to_string();
        assert!(said(&root.path().join("servers/mine"), "mian").contains("knows no such revision"));
        assert!(said(&root.path().join("servers/mine"), "--output=/tmp/x").contains("knows no such revision"));
        assert!(said(cache.path(), "main").contains("not a git repository"));
    }
}
