//! Versions of a program beside the one that this machine has: `bun@1.0.0`.
//!
//! `versions` in `programs.toml` names their source. Each has its own folder in the toolbox, and is taken only from there:
//! a user's program never replaces a requested version.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tolok_host::call::Call;

use super::fetch::{FetchError, Worker, make_folder};
use super::{Recipe, Toolbox};

/// A Go toolchain is a download of 80 MB.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Where the versions of a program come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum VersionsFrom {
    /// An npm package for each kind of machine, and the program in it.
    Npm { x86_64: String, aarch64: String, file: String },
    /// The toolchains that Go itself downloads.
    GoToolchain,
}

/// The name of a version of a program: `bun@1.0.0`.
pub fn at_version(program: &str, version: &str) -> String {
    format!("{program}@{version}")
}

/// The name of the program without its version, if it has one.
pub fn without_version(name: &str) -> &str {
    name.split('@').next().unwrap_or_default()
}

impl Recipe {
    /// The recipe for one version of the program, or `None` if versions cannot be fetched.
    pub(super) fn at_version(&self, version: &str) -> Option<Self> {
        self.versions.as_ref()?;
        Some(Self {
            name: at_version(&self.name, version),
            title: at_version(&self.title, version),
            at: Some(version.to_owned()),
            names: Vec::new(),
            apt: Vec::new(),
            npm: None,
            newer: None,
            smallest: None,
            ..self.clone()
        })
    }

    /// The required version, and its source.
    pub(super) fn version_wanted(&self) -> Option<(&str, &VersionsFrom)> {
        self.at.as_deref().zip(self.versions.as_ref())
    }
}

impl VersionsFrom {
    /// The client that fetches them.
    pub(super) fn client(&self) -> &'static str {
        match self {
            Self::Npm { .. } => "npm",
            Self::GoToolchain => "go",
        }
    }

    /// The program's path in the folder of its version.
    pub(super) fn file(&self) -> String {
        match self {
            Self::Npm { file, .. } => format!("node_modules/{}/{file}", self.package()),
            Self::GoToolchain => "golang.org/toolchain@*/bin/go".to_owned(),
        }
    }

    /// Its source, in a few words.
    pub(super) fn source(&self, version: &str) -> String {
        match self {
            Self::Npm { .. } => format!("npm package {} {version}", self.package()),
            Self::GoToolchain => format!("Go toolchain go{version}"),
        }
    }

    fn package(&self) -> &str {
        match self {
            Self::Npm { aarch64, .. } if cfg!(target_arch = "aarch64") => aarch64,
            Self::Npm { x86_64, .. } => x86_64,
            Self::GoToolchain => "golang.org/toolchain",
        }
    }

    /// The command that fetches a version into `folder`.
    pub(super) fn call(&self, version: &str, folder: &Path, staging: &Path) -> Call {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        match self {
            Self::Npm { .. } => {
                let package = at_version(self.package(), version);
                let cache = text(&staging.join("npm-cache"));
                let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--logs-max=0"].map(str::to_owned);
                let arguments =
                    ["install".to_owned(), "--prefix".to_owned(), text(folder), "--cache".to_owned(), cache];
                Call::new("npm", arguments.into_iter().chain(options).chain([package]).collect::<Vec<_>>())
                    .env("npm_config_update_notifier", "false")
            }
            // Go downloads the toolchain, verifies its checksum, and runs it.
            Self::GoToolchain => Call::new("go", ["version".to_owned()])
                .env("GOTOOLCHAIN", format!("go{version}"))
                .env("GOMODCACHE", text(folder))
                .env("GOFLAGS", "-modcacherw"),
        }
    }
}

/// Fetches a version into the staging folder and moves it to its place.
pub(super) fn fetch(
    program: &str,
    (version, from): (&str, &VersionsFrom),
    worker: &mut Worker<'_>,
) -> Result<(), FetchError> {
    let staging = worker.toolbox.staging();
    let folder = staging.join("version");
    make_folder(&folder)?;
    worker.run(&from.call(version, &folder, &staging), PATIENCE)?;
    worker.put_in_place(&folder, &worker.toolbox.version_folder(program))?;
    worker.installed.versions.insert(program.to_owned(), from.source(version));
    Ok(())
}

impl Toolbox {
    /// The recipe of a program, or of a version of one.
    pub(super) fn recipe(&self, name: &str) -> Result<Recipe, super::ToolboxError> {
        let Some((program, version)) = name.split_once('@') else { return self.catalogue.recipe(name).cloned() };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
        let is_version = version.starts_with(|first: char| first.is_ascii_digit()) && version.chars().all(is_plain);
        let recipe = self.catalogue.recipe(program)?.at_version(version).filter(|_| is_version);
        recipe.ok_or_else(|| super::ToolboxError::NoVersions {
            name: name.to_owned(),
            known: self.catalogue.with_versions().collect::<Vec<_>>().join(", "),
        })
    }
}
