//! The folder of database templates, one for each engine, version and data.
//!
//! ```text
//! mariadb-<digest>/          a template, complete from the moment it has this name
//! mariadb-<digest>.lock      held by the process that makes it
//! mariadb-<digest>.making/   a template in the making, or the remains of an interrupted attempt
//! ```

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tolok_model::Engine;

use super::error::DatabaseError;
use super::load::Script;
use super::template::{self, Template};
use crate::home::{HomeError, user_folder};
use crate::lock::lock;
use crate::toolbox::Program;

/// Increase it when templates are made differently, so that no old one is used.
const WAY: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DatabaseStore {
    folder: PathBuf,
}

impl DatabaseStore {
    /// A store of templates in `folder`, which is created when needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The store in the user's cache, beside the toolbox and the builds.
    pub fn of_the_user() -> Result<Self, HomeError> {
        Ok(Self::new(user_folder("XDG_CACHE_HOME", ".cache")?.join("databases")))
    }

    /// Returns the template with these data. If there is none yet, calls `begins` and makes it. Two tolok processes that
    /// want the same template take turns. Gives up once `is_wanted` returns false.
    ///
    /// `load` writes the statements, run as the database's root, that create databases, tables and accounts. `data_sha256`
    /// identifies them.
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
        let path = lock_file(&folder);
        let held = lock(&path, is_wanted).map_err(|source| DatabaseError::Files { path, source })?;
        let _held = held.ok_or(DatabaseError::Stopped)?;
        if folder.is_dir() {
            return Ok(template);
        }
        self.sweep();
        begins();
        let making = making(&folder);
        let made = template::make(program, load, &making, &folder, is_wanted);
        // Holds the logs of a successful attempt or the parts of a failed one. If it cannot be removed now, the next sweep does it.
        let _ = fs::remove_dir_all(making);
        made.map(|()| template)
    }

    /// Removes the remains of interrupted attempts, including its own, unless another process holds their lock.
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

/// The name covers everything that determines the bytes of a template.
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
