//! The folder of database templates, one for each engine, version and data.
//!
//! ```text
//! mariadb-<digest>/          a template, complete from the moment it has this name
//! mariadb-<digest>.lock      held by the process that makes it
//! mariadb-<digest>.making/   a template in the making, or the remains of an interrupted attempt
//! ```

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tolok_model::Engine;

use super::error::DatabaseError;
use super::load::Script;
use super::template::{self, Template};
use crate::home::{HomeError, user_folder};
use crate::lock::lock;
use crate::toolbox::Program;

/// Increase this when templates are made differently, so old ones are not used.
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
    /// `load` writes the statements that create databases, tables and accounts. They run as the database's root.
    /// `data_sha256` identifies them.
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
            return check_readable(&folder, &may).map(|()| template);
        }
        let failed = |source| DatabaseError::Files { path: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let path = lock_file(&folder);
        let held = lock(&path, is_wanted).map_err(|source| DatabaseError::Files { path, source })?;
        let _held = held.ok_or(DatabaseError::Stopped)?;
        if folder.is_dir() {
            return check_readable(&folder, &may).map(|()| template);
        }
        self.sweep();
        begins();
        let making = making(&folder);
        // The sweep spares these remains, because this process holds their lock.
        clear(&making)?;
        let made = template::make(program, load, &making, &folder, is_wanted);
        // Holds the logs of a successful attempt or the parts of a failed one. If this removal fails, the next sweep retries it.
        let _ = fs::remove_dir_all(making);
        made.map(|()| template)
    }

    /// Checks that this account can use the template with these data, or make it. `data_sha256` takes long, so it is called only if
    /// the store or a template is closed to this account.
    pub fn check(
        &self,
        engine: Engine,
        program: &Program,
        data_sha256: &dyn Fn() -> String,
    ) -> Result<(), DatabaseError> {
        self.check_with(&may, engine, program, data_sha256)
    }

    fn check_with(
        &self,
        may: May<'_>,
        engine: Engine,
        program: &Program,
        data_sha256: &dyn Fn() -> String,
    ) -> Result<(), DatabaseError> {
        if !self.folder.is_dir() {
            return Ok(());
        }
        let mut entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_read_only = !may(&self.folder, WRITE);
        if !is_read_only && !entries.any(|path| path.is_dir() && !may(&path, READ)) {
            return Ok(());
        }
        let folder = self.folder.join(name(engine, program, &data_sha256()));
        match folder.is_dir() {
            true => check_readable(&folder, may),
            false if is_read_only => {
                Err(DatabaseError::Files { path: self.folder.clone(), source: io::ErrorKind::PermissionDenied.into() })
            }
            false => Ok(()),
        }
    }

    /// Removes the remains of interrupted attempts, except those whose lock is held. Holds each lock until they are gone, so
    /// that no other process begins the same template meanwhile.
    fn sweep(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for left in entries.filter(|path| path.extension().is_some_and(|ending| ending == "making")) {
            let whole = left.with_extension("");
            let Ok(held) = File::create(lock_file(&whole)) else { continue };
            if held.try_lock().is_ok() {
                let _ = fs::remove_dir_all(left);
            }
        }
    }
}

/// Removes what an attempt that was killed left behind.
fn clear(making: &Path) -> Result<(), DatabaseError> {
    match fs::remove_dir_all(making) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(DatabaseError::Files { path: making.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Rights to a folder: to copy what is in it, and to make something in it.
const READ: Access = Access::READ_OK.union(Access::EXEC_OK);
const WRITE: Access = Access::WRITE_OK.union(Access::EXEC_OK);

/// Whether an account has these rights to a folder.
type May<'a> = &'a dyn Fn(&Path, Access) -> bool;

/// Asks the kernel about this process's account.
fn may(folder: &Path, rights: Access) -> bool {
    access(folder, rights).is_ok()
}

fn check_readable(folder: &Path, may: May<'_>) -> Result<(), DatabaseError> {
    match fs::metadata(folder) {
        Ok(found) if !may(folder, READ) => {
            Err(DatabaseError::OfAnother { path: folder.to_owned(), owner: account_name(found.uid()) })
        }
        _ => Ok(()),
    }
}

/// `root`, or `account 1000` if the machine has no name for it.
fn account_name(uid: u32) -> String {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let number = uid.to_string();
    let line = accounts.lines().find(|line| line.split(':').nth(2) == Some(&number));
    line.and_then(|line| line.split(':').next()).map_or_else(|| format!("account {uid}"), str::to_owned)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::toolbox::Source;

    use super::*;

    #[test]
    fn remains_of_a_killed_attempt_make_way_for_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let making = folder.path().join("mariadb-1.making");
        fs::create_dir_all(making.join("data")).unwrap();
        clear(&making).unwrap();
        assert!(!making.exists());
        clear(&making).unwrap();
    }

    #[test]
    fn a_sweep_spares_what_another_process_is_making() {
        let folder = tempfile::tempdir().unwrap();
        let store = DatabaseStore::new(folder.path());
        let [made, left] = ["mariadb-1", "mariadb-2"].map(|name| folder.path().join(name));
        for template in [&made, &left] {
            fs::create_dir(making(template)).unwrap();
        }
        let held = lock(&lock_file(&made), &|| true).unwrap();
        store.sweep();
        assert!(making(&made).exists() && !making(&left).exists());
        drop(held);
        store.sweep();
        assert!(!making(&made).exists());
    }

    #[test]
    fn a_template_that_another_account_keeps_to_itself_is_refused_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let store = DatabaseStore::new(folder.path());
        let program = Program {
            name: "mariadb".to_owned(),
            title: "MariaDB".to_owned(),
            path: PathBuf::from("/usr/sbin/mariadbd"),
            prefix: String::new(),
            version: "11.8".to_owned(),
            source: Source::System,
            env: BTreeMap::new(),
            extras: BTreeMap::new(),
        };
        let check = |may: May<'_>| store.check_with(may, Engine::Mariadb, &program, &|| "data".to_owned());
        let reader = |_: &Path, rights: Access| !rights.contains(Access::WRITE_OK);
        let refused = check(&reader).unwrap_err().to_string();
        assert!(refused.contains("cannot keep a database") && refused.contains("set XDG_CACHE_HOME"), "{refused}");
        assert!(check(&may).is_ok(), "its owner can make the template");

        let template = folder.path().join(name(Engine::Mariadb, &program, "data"));
        fs::create_dir(&template).unwrap();
        assert!(check(&reader).is_ok());
        let stranger = |path: &Path, rights: Access| path == folder.path() && reader(path, rights);
        let refused = check(&stranger).unwrap_err().to_string();
        let owner = account_name(rustix::process::geteuid().as_raw());
        assert!(refused.contains(&format!("belongs to {owner}")), "{refused}");
        assert!(check(&may).is_ok());
    }
}
