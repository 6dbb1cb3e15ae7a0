//! Builds subjects, once for the same sources and programs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tolok_model::Subject;

use super::log::log_tail;
use super::template::{BuildNames, Render, TemplateError};
use crate::lock::lock;
use tolok_host::guard::{make_open_folder, open_to_accounts};
use tolok_host::isolate::{Placement, place, wait_within};

/// Marks a complete build.
const COMPLETE: &str = ".complete";
/// A build that takes longer hangs.
const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);
/// How often a wait for a build checks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// The folder of cached builds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Builds {
    folder: PathBuf,
}

/// Why a subject could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("cannot build: {}: {source}; see whether the subject's files are whole, and whether there is room in XDG_CACHE_HOME", path.display())]
    Files { path: PathBuf, source: io::Error },
    /// The command cannot be filled in.
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("`{command}` {how}")]
    Command { command: String, how: String, tail: Vec<String> },
    #[error("the build was stopped")]
    Stopped,
}

/// Everything that a build needs.
#[derive(Debug)]
pub struct BuildJob<'a> {
    pub subject: &'a Subject,
    /// The folder of its sources, in which the command runs.
    pub sources: &'a Path,
    /// The values for its templates; `names.build` is the folder for the command's output.
    pub names: &'a BuildNames,
    /// Additional environment variables.
    pub env: &'a BTreeMap<String, String>,
}

impl Builds {
    /// Keeps builds in `folder`, which is created when needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub(crate) fn place(&self) -> &Path {
        &self.folder
    }

    /// A folder beside the cached builds that the programs of a trial can see.
    pub(crate) fn place_for_others(&self) -> io::Result<&Path> {
        make_open_folder(&self.folder)?;
        Ok(&self.folder)
    }

    /// The folder of this subject's build. Its name depends on sources and programs, so a change of either causes a new build.
    pub fn folder(&self, subject: &Subject, sources: &Path, programs: &[String]) -> Result<PathBuf, BuildError> {
        let mut hash = Sha256::new();
        programs.iter().for_each(|program| hash_part(program.as_bytes(), &mut hash));
        hash_files(sources, &mut hash)?;
        for input in subject.build.iter().flat_map(|build| &build.inputs) {
            hash_file(&sources.join(input), &mut hash)?;
        }
        let digest: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(self.folder.join(format!("{}-{digest}", subject.id.replace('/', "-"))))
    }

    /// Whether the build in `folder` is complete.
    pub fn is_built(&self, folder: &Path) -> bool {
        folder.join(COMPLETE).is_file()
    }

    /// Runs the subject's build command, unless its build is complete already. Two tolok processes that want the same build
    /// take turns. Gives up once `is_wanted` returns false.
    pub fn build(&self, job: &BuildJob<'_>, is_wanted: &dyn Fn() -> bool) -> Result<(), BuildError> {
        let folder = PathBuf::from(&job.names.build);
        let _lock = lock_beside(&folder, is_wanted)?;
        let failed = |source| BuildError::Files { path: folder.clone(), source };
        if self.is_built(&folder) {
            // An older tolok left it with permissions by umask. If they cannot be changed, the server reports that itself.
            let _ = open_to_accounts(&folder);
            return Ok(());
        }
        // A failed build may have left partial output.
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => fs::create_dir_all(&folder).map_err(failed)?,
        }
        run(job, &folder, is_wanted)?;
        open_to_accounts(&folder).map_err(failed)?;
        File::create(folder.join(COMPLETE)).map(drop).map_err(failed)
    }
}

/// Waits for the exclusive right to build in `folder`. The lock file is beside it.
fn lock_beside(folder: &Path, is_wanted: &dyn Fn() -> bool) -> Result<File, BuildError> {
    let path = folder.with_added_extension("lock");
    let made = make_open_folder(path.parent().unwrap_or(Path::new(".")));
    let held = made.and_then(|()| lock(&path, is_wanted));
    held.map_err(|source| BuildError::Files { path, source })?.ok_or(BuildError::Stopped)
}

fn run(job: &BuildJob<'_>, folder: &Path, is_wanted: &dyn Fn() -> bool) -> Result<(), BuildError> {
    let Some(build) = &job.subject.build else { return Ok(()) };
    let log = folder.join("build.log");
    let failed = |source| BuildError::Files { path: log.clone(), source };
    let output = File::create(&log).map_err(failed)?;
    let words = job.names.render_command(&build.command)?;
    let (program, arguments) = words.split_first().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(job.sources).envs(job.env).envs(job.names.render_env(&build.env)?);
    command.stdin(Stdio::null()).stdout(output.try_clone().map_err(failed)?).stderr(output);
    place(&mut command, &Placement { dies_with_parent: true, ..Placement::default() }).map_err(failed)?;
    let how = match command.spawn() {
        Ok(mut child) => match wait(&mut child, is_wanted)? {
            None => return Ok(()),
            Some(how) => how,
        },
        Err(error) => format!("cannot be run: {error}"),
    };
    Err(BuildError::Command { command: words.join(" "), how, tail: log_tail(&log, 20) })
}

/// Waits for the end of a build, and describes how it ended if it failed.
fn wait(child: &mut Child, is_wanted: &dyn Fn() -> bool) -> Result<Option<String>, BuildError> {
    let deadline = Instant::now() + BUILD_LIMIT;
    loop {
        match wait_within(child, LOOK) {
            Ok(Some(status)) if status.success() => return Ok(None),
            Ok(Some(status)) => return Ok(Some(format!("ended with {status}"))),
            Err(error) => return Ok(Some(format!("cannot be waited for: {error}"))),
            Ok(None) if is_wanted() && Instant::now() < deadline => {}
            Ok(None) => {
                // It has a process group of its own, so its compilers are killed with it.
                let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
                let _ = child.wait();
                let minutes = BUILD_LIMIT.as_secs() / 60;
                let hung = format!("did not end within {minutes} minutes");
                return if is_wanted() { Ok(Some(hung)) } else { Err(BuildError::Stopped) };
            }
        }
    }
}

/// Hash of all files in a folder except documentation.
pub fn fingerprint(folder: &Path) -> Result<String, BuildError> {
    let mut hash = Sha256::new();
    hash_files(folder, &mut hash)?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn hash_files(folder: &Path, hash: &mut Sha256) -> Result<(), BuildError> {
    let failed = |source| BuildError::Files { path: folder.to_owned(), source };
    let listed = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = listed.map_err(failed)?;
    // Documentation, git history and Python's bytecode do not affect the program.
    let is_beside = |path: &Path| path.ends_with(".git") || path.ends_with("__pycache__");
    paths.retain(|path| path.extension().is_none_or(|ending| ending != "md") && !is_beside(path));
    paths.sort();
    for path in paths {
        hash_part(path.file_name().unwrap_or_default().as_encoded_bytes(), hash);
        let found = fs::symlink_metadata(&path).map_err(failed)?;
        if found.is_dir() {
            hash_files(&path, hash)?;
            // Marks the end of a folder: no file has an empty name.
            hash_part(b"", hash);
        } else if path.is_file() {
            hash_file(&path, hash)?;
        } else if found.is_symlink() {
            // A link to a folder may form a loop, so only its target's path is hashed.
            let leads_to = fs::read_link(&path).map_err(failed)?;
            hash_part(leads_to.as_os_str().as_encoded_bytes(), hash);
        }
    }
    Ok(())
}

fn hash_file(path: &Path, hash: &mut Sha256) -> Result<(), BuildError> {
    let content = fs::read(path).map_err(|source| BuildError::Files { path: path.to_owned(), source })?;
    hash_part(&content, hash);
    Ok(())
}

/// Includes the length, so that the same bytes split differently give another hash.
fn hash_part(part: &[u8], hash: &mut Sha256) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

#[cfg(test)]
mod tests;
