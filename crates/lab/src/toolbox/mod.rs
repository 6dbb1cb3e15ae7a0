//! Finds and fetches the programs that subjects need.
//!
//! There are three sources, in this order: the user's own program on `PATH`, the toolbox (a private folder that `tolok setup` fills
//! with ordinary clients, without root and without touching the system), and a suggestion: the command that would install the
//! program. A program of unknown version is never used.
//!
//! [`Toolbox::detect`] only looks, [`Toolbox::plan`] only describes, and [`Toolbox::fetch`] acts; it
//! writes only below the toolbox folder.

mod apt;
mod asked;
mod build_info;
mod catalogue;
mod detect;
mod dpkg;
mod extras;
mod fetch;
mod go;
mod installed;
mod layout;
mod newer;
mod npm;
mod php_driver;
mod php_extension;
mod plan;
mod shim;
mod swoole;
mod version;
mod versions;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::home::HOME_VARIABLE;

pub use catalogue::{Catalogue, Recipe};
pub use fetch::{FetchError, FetchEvent, FetchFailure, FetchOutcome};
pub use plan::{FetchPlan, FetchStep, ManualStep};
pub use version::Version;
pub use versions::{at_version, without_version};

/// Names a folder to use as the toolbox instead of the default one.
pub const TOOLBOX_VARIABLE: &str = "TOLOK_TOOLBOX";
/// Names a `swoole.so` that the user built.
pub const SWOOLE_VARIABLE: &str = "TOLOK_SWOOLE_SO";
/// Names an archive of Swoole's source to build from, for machines that cannot reach PECL.
pub const SWOOLE_SOURCE_VARIABLE: &str = "TOLOK_SWOOLE_SOURCE";

/// Even on a loaded machine, a program prints its version within this time.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that is installed, works, and has a known version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The name that subjects use in `needs`.
    pub name: String,
    /// The name that people use.
    pub title: String,
    /// Absolute path of the executable (of the script, for pm2 and mysql2).
    pub path: PathBuf,
    /// Empty for a program of the system, else the root of the unpacked Debian tree.
    pub prefix: String,
    /// As the program prints it.
    pub version: String,
    /// Where it comes from.
    pub source: Source,
    /// Environment variables that the program needs to start.
    pub env: BTreeMap<String, String>,
    /// Further facts for the subjects' templates, such as the folder of the PHP extensions.
    pub extras: BTreeMap<String, String>,
}

/// Where a program comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Found on the user's `PATH` or in a folder of system programs.
    System,
    /// Fetched by `tolok setup`.
    Toolbox,
}

/// The state of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ProgramState {
    /// It can be used.
    Ready(Program),
    /// It is neither on this machine nor in the toolbox.
    Missing {
        /// Why it is missing, if more is known than that it was not found.
        reason: Option<String>,
        /// How to get it.
        remedy: Remedy,
    },
    /// It exists but must not be used: it fails, hangs, hides its version, or is too old.
    Broken {
        /// What was run and what it did.
        seen: String,
        /// How to get a working one.
        remedy: Remedy,
    },
}

impl ProgramState {
    /// The program, if it can be used.
    pub fn ready(&self) -> Option<&Program> {
        match self {
            Self::Ready(program) => Some(program),
            Self::Missing { .. } | Self::Broken { .. } => None,
        }
    }
}

/// How to get a program that is not ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Remedy {
    /// `tolok setup` can fetch it into the toolbox.
    Fetch {
        /// Its name for `tolok setup`.
        program: String,
        /// Its source, in a few words: "npm package bun 1.4.5".
        from: String,
    },
    /// The user must install it.
    ByHand {
        /// The command to run, or what to install.
        command: String,
    },
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetch { program, from } => write!(f, "tolok setup {program} ({from})"),
            Self::ByHand { command } => f.write_str(command),
        }
    }
}

/// What the toolbox needs to know about the machine and the user; a value, so that tests can make it up.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folders of `PATH`, followed by system folders that users' `PATH`s lack.
    pub search_path: Vec<PathBuf>,
    /// The root of the file system, `/` outside tests.
    pub system_root: PathBuf,
    /// The `swoole.so` that the user has named.
    pub swoole_so: Option<PathBuf>,
    /// The archive of Swoole's source that the user has named.
    pub swoole_source: Option<PathBuf>,
    /// A program that takes longer to answer hangs.
    pub patience: Duration,
    /// The working folder for queries: rustup selects the cargo that the checkout's `rust-toolchain.toml` names.
    pub folder: PathBuf,
}

impl Surroundings {
    pub fn of_this_process() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut search_path: Vec<PathBuf> =
            std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        for folder in ["/usr/local/sbin", "/usr/sbin", "/sbin"] {
            let folder = PathBuf::from(folder);
            if !search_path.contains(&folder) {
                search_path.push(folder);
            }
        }
        // Made absolute, because programs are queried from another folder.
        let named = |variable| std::env::var_os(variable).and_then(|value| std::path::absolute(value).ok());
        let (swoole_so, swoole_source) = (named(SWOOLE_VARIABLE), named(SWOOLE_SOURCE_VARIABLE));
        let folder = named(HOME_VARIABLE).filter(|home| home.is_dir()).unwrap_or_else(|| PathBuf::from("/"));
        Self { search_path, system_root: PathBuf::from("/"), swoole_so, swoole_source, patience: PATIENCE, folder }
    }

    /// The first executable file of that name on the search path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        detect::first_on_path(&self.search_path, name)
    }
}

/// Problems with the toolbox itself, before any program is examined.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    #[error(
        "find a folder for the toolbox: neither XDG_CACHE_HOME nor HOME is set; set {TOOLBOX_VARIABLE} to a folder"
    )]
    NoFolder,
    #[error("find the program `{name}`: tolok knows none of that name; {known}")]
    UnknownProgram { name: String, known: String },
    #[error("find `{name}`: versions such as bun@1.0.0 can be fetched of {known}")]
    NoVersions { name: String, known: String },
}

/// A folder with programs, and the catalogue for finding and fetching them.
#[derive(Debug, Clone)]
pub struct Toolbox {
    folder: PathBuf,
    surroundings: Surroundings,
    catalogue: Catalogue,
}

impl Toolbox {
    /// The toolbox in that folder, which need not exist yet. Touches nothing.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self::with_surroundings(folder, Surroundings::of_this_process())
    }

    /// The toolbox in the folder that `TOLOK_TOOLBOX`, `XDG_CACHE_HOME` or `HOME` name, in this order.
    ///
    /// # Errors
    /// If none of the three is set.
    pub fn open_default() -> Result<Self, ToolboxError> {
        default_folder(|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
            .map(Self::open)
    }

    /// The toolbox in that folder, on a machine that may be made up.
    pub fn with_surroundings(folder: impl Into<PathBuf>, surroundings: Surroundings) -> Self {
        let folder = folder.into();
        // Servers change their working folder, so they need absolute paths.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Self { folder, surroundings, catalogue: Catalogue::built_in() }
    }

    /// The same toolbox, but builds Swoole from that archive.
    pub fn with_swoole_source(mut self, archive: PathBuf) -> Self {
        self.surroundings.swoole_source = Some(archive);
        self
    }

    /// The folder that everything is fetched into.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The state of one program.
    ///
    /// # Errors
    /// If the name is not in the catalogue.
    pub fn detect(&self, name: &str) -> Result<ProgramState, ToolboxError> {
        let mut states = self.detect_some(&[name])?;
        Ok(states.remove(name).expect("detect_some answers for every name it was given"))
    }

    /// The state of every program of the catalogue, queried concurrently.
    pub fn detect_all(&self) -> BTreeMap<String, ProgramState> {
        let recipes: Vec<&Recipe> = self.catalogue.recipes().collect();
        detect::detect(&recipes, self)
    }

    /// The state of the named programs, queried concurrently.
    ///
    /// # Errors
    /// If one of the names is not in the catalogue.
    pub fn detect_some(&self, names: &[&str]) -> Result<BTreeMap<String, ProgramState>, ToolboxError> {
        let recipes = names.iter().map(|name| self.recipe(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(detect::detect(&recipes.iter().collect::<Vec<_>>(), self))
    }

    /// Whether setup succeeds without this program, because its build takes minutes.
    pub fn is_optional(&self, name: &str) -> bool {
        self.recipe(name).is_ok_and(|recipe| recipe.optional)
    }

    /// What `fetch` would do to get the named programs. Changes nothing and uses no network.
    ///
    /// # Errors
    /// If one of the names is not in the catalogue.
    pub fn plan(&self, missing: &[&str]) -> Result<FetchPlan, ToolboxError> {
        let recipes = missing.iter().map(|name| self.recipe(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(plan::plan(&recipes.iter().collect::<Vec<_>>(), self))
    }

    /// Carries out the plan, and reports each command through `events`.
    ///
    /// A failed step leaves everything as it was, and the other steps are still carried out. The outcome lists
    /// what failed and why.
    ///
    /// # Errors
    /// If the toolbox folder itself cannot be written or locked.
    pub fn fetch(&self, plan: &FetchPlan, events: &mut dyn FnMut(FetchEvent)) -> Result<FetchOutcome, FetchError> {
        fetch::fetch(plan, self, events)
    }
}

fn default_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, ToolboxError> {
    if let Some(folder) = variable(TOOLBOX_VARIABLE) {
        return Ok(folder);
    }
    // By the XDG specification, a relative XDG_CACHE_HOME must be ignored.
    let cache = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("tolok/toolbox")).ok_or(ToolboxError::NoFolder)
}

#[cfg(test)]
mod tests;
