//! Building subjects, once for the same sources and the same programs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};
use tolok_model::Subject;

use super::template::{TemplateError, TemplateNames};

/// The folder of finished builds.
#[derive(Debug, Clone)]
pub struct Builds {
    folder: PathBuf,
}

/// Why a subject could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file or folder failed.
    #[error("cannot build in {}: {source}", path.display())]
    Files {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The command cannot be filled in.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The command failed.
    #[error("`{command}` {how}")]
    Command {
        /// As it was run.
        command: String,
        /// How it ended.
        how: String,
        /// Its last lines.
        tail: Vec<String>,
    },
}

/// Marks a build that is whole.
const COMPLETE: &str = ".complete";

impl Builds {
    /// Builds are kept in `folder`, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder of this subject's build: named by its sources and programs, so that a change of either builds anew.
    pub fn folder(&self, subject: &Subject, sources: &Path, programs: &[String]) -> io::Result<PathBuf> {
        let mut hash = Sha256::new();
        for program in programs {
            hash.update(program.as_bytes());
            hash.update([0]);
        }
        hash_files(sources, &mut hash)?;
        let digest: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(self.folder.join(format!("{}-{digest}", subject.id.replace('/', "-"))))
    }

    /// Whether the build in `folder` is whole.
    pub fn is_built(&self, folder: &Path) -> bool {
        folder.join(COMPLETE).is_file()
    }

    /// Runs the subject's build command in its sources, with `names.build` as the place for what it makes. Two tolok
    /// processes that want the same build do it one after the other.
    pub fn build(
        &self,
        subject: &Subject,
        sources: &Path,
        names: &TemplateNames,
        env: &BTreeMap<String, String>,
    ) -> Result<(), BuildError> {
        let folder = PathBuf::from(&names.build);
        let Some(build) = &subject.build else { return Ok(()) };
        let failed = |source| BuildError::Files { path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(failed)?;
        let lock = File::create(folder.join(".lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        if self.is_built(&folder) {
            return Ok(());
        }
        let command = names.render_command(&build.command)?;
        let output = File::create(folder.join("build.log")).map_err(failed)?;
        let (program, arguments) = command.split_first().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let status = Command::new(program)
            .args(arguments)
            .current_dir(sources)
            .envs(env)
            .envs(names.render_env(&build.env)?)
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(failed)?)
            .stderr(output)
            .status();
        let how = match status {
            Ok(status) if status.success() => return File::create(folder.join(COMPLETE)).map(drop).map_err(failed),
            Ok(status) => format!("ended with {status}"),
            Err(error) => format!("cannot be run: {error}"),
        };
        Err(BuildError::Command { command: command.join(" "), how, tail: log_tail(&folder.join("build.log"), 20) })
    }
}

/// The last lines of a log, long ones cut.
pub fn log_tail(log: &Path, lines: usize) -> Vec<String> {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(64 << 10)..]).into_owned();
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| line.chars().take(400).collect()).collect()
}

fn hash_files(folder: &Path, hash: &mut Sha256) -> io::Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        if path.is_dir() {
            hash_files(&path, hash)?;
        } else {
            hash.update(fs::read(&path)?);
        }
        hash.update([0]);
    }
    Ok(())
}
