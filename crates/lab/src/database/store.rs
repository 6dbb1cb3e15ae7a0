//! The folder in which templates of databases are kept, one for each engine, version and data.
//!
//! ```text
//! mariadb-<digest>/          a template, whole from the moment it has this name
//! mariadb-<digest>.lock      held by the process that makes it
//! mariadb-<digest>.making/   one at work, or what is left of one that was interrupted
//! ```

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tolok_model::Engine;

use super::error::DatabaseError;
use super::load::Script;
use super::pipes::LOOK;
use super::template::{self, Template};
use crate::home::{HomeError, user_folder};
use crate::toolbox::Program;

/// Goes up when templates are made in another way, so that none of the old way is used.
const WAY: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DatabaseStore {
    folder: PathBuf,
}

impl DatabaseStore {
    /// Templates are kept in `folder`, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The one in the user's cache, beside the toolbox and the builds.
    pub fn of_the_user() -> Result<Self, HomeError> {
        Ok(Self::new(user_folder("XDG_CACHE_HOME", ".cache")?.join("databases")))
    }

    /// The template with these data, which is made if there is none yet: `begins` is called then. Two tolok processes that
    /// want the same do it one after the other. Waits no longer than `is_wanted` says.
    ///
    /// `load` writes the statements, as the database's root, that make databases, tables and accounts; `data_sha256` stands
    /// for them.
    pub fn template(
        &self,
        engine: Engine,
        program: &Program,
        load: Script<'_>,
        data_sha256: &str,
        begins: &mut dyn FnMut(),
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Template, DatabaseError> {
        let folder = self.folder.join(name(engine, program, data_sha256));
        let template = Template::new(folder.clone(), program);
        if folder.is_dir() {
            return Ok(template);
        }
        let failed = |source| DatabaseError::Files { path: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let _lock = lock(&folder, is_wanted)?;
        if folder.is_dir() {
            return Ok(template);
        }
        self.sweep();
        begins();
        let making = making(&folder);
        let made = template::make(program, load, &making, &folder, is_wanted);
        // The logs of a good one, the parts of another; if they cannot be removed now, the next sweep takes them.
        let _ = fs::remove_dir_all(making);
        made.map(|()| template)
    }

    /// Removes the remains of interrupted attempts, its own included, unless another process is at work on them.
    fn sweep(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for left in entries.filter(|path| path.extension().is_some_and(|ending| ending == "making")) {
            let whole = left.with_extension("");
            let free = File::create(lock_file(&whole)).is_ok_and(|lock| lock.try_lock().is_ok());
            if free {
                let _ = fs::remove_dir_all(left);
            }
        }
    }
}

/// Everything that decides about the bytes of a template is in its name.
fn name(engine: Engine, program: &Program, data_sha256: &str) -> String {
    let mut hash = Sha256::new();
    for part in [&WAY.to_string(), &program.version, data_sha256] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digest}", engine.program().unwrap_or("external"))
}

fn lock_file(template: &Path) -> PathBuf {
    template.with_added_extension("lock")
}

fn making(template: &Path) -> PathBuf {
    template.with_added_extension("making")
}

/// Waits for the right to make this template. The lock ends with the file that is returned, which no child inherits, as
/// Rust opens files close-on-exec.
fn lock(template: &Path, is_wanted: &dyn Fn() -> bool) -> Result<File, DatabaseError> {
    let path = lock_file(template);
    let failed = |source: io::Error| DatabaseError::Files { path: path.clone(), source };
    let lock = File::create(&path).map_err(failed)?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if !is_wanted() => return Err(DatabaseError::Stopped),
            // No call waits for the lock of another process and for a wish to stop at once.
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
        }
    }
}
