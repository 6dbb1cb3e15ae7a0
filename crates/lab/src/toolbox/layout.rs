//! The layout of the toolbox folder.
//!
//! ```text
//! lock                held by the process that fetches
//! installed.json      what was fetched, with exact versions
//! root/               the Debian packages, unpacked into one tree
//! newer/<program>/    the packages of a newer Debian that a program is made of, with all their libraries
//! npm/<package>/      one locked npm package each
//! versions/<name>/    a version of a program beside the others: `bun@1.0.0`
//! go/<program>        programs that Go built, one file each
//! swoole/<program>.so the builds of the extension, if they succeeded: `swoole`, `swoole_pgsql`
//! staging-<pid>/      a fetch in progress; everything above is renamed out of it when complete
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Toolbox;
use super::apt;
use super::npm::NpmPackage;

impl Toolbox {
    /// The tree of the unpacked Debian packages.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The tree of a program that comes from a newer Debian.
    pub(super) fn newer_root(&self, program: &str) -> PathBuf {
        self.folder.join("newer").join(program)
    }

    pub(super) fn npm_folder(&self, package: NpmPackage) -> PathBuf {
        self.folder.join("npm").join(package.name())
    }

    pub(super) fn go_program(&self, program: &str) -> PathBuf {
        self.folder.join("go").join(program)
    }

    pub(super) fn version_folder(&self, name: &str) -> PathBuf {
        self.folder.join("versions").join(name)
    }

    /// The build of Swoole that is a program of the catalogue.
    pub(super) fn swoole_extension(&self, program: &str) -> PathBuf {
        self.folder.join("swoole").join(format!("{program}.so"))
    }

    /// This process's own folder: a command of a killed fetch may still be writing into another.
    pub(super) fn staging(&self) -> PathBuf {
        self.folder.join(format!("staging-{}", std::process::id()))
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    pub(super) fn record(&self) -> PathBuf {
        self.folder.join("installed.json")
    }

    /// Makes the loader prefer the libraries of the unpacked tree to the system's.
    pub(super) fn library_env(&self) -> BTreeMap<String, String> {
        let folders = apt::library_folders(&self.root());
        if folders.is_empty() {
            return BTreeMap::new();
        }
        let folders: Vec<String> = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        BTreeMap::from([("LD_LIBRARY_PATH".to_owned(), folders.join(":"))])
    }
}
