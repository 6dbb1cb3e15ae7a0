//! npm packages, locked: the exact versions and checksums that this binary was built with.
//!
//! No install scripts are run: all packages work without them, and a script could do anything.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::fetch::{FetchError, Worker, make_folder};
use tolok_host::call::Call;

/// Bun alone is a download of 40 MB.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// The folders of `toolbox/` that have a lock. The build script lists them.
const PACKAGES: &[NpmPackage] = include!(concat!(env!("OUT_DIR"), "/npm_packages.rs"));

/// A package whose manifest and lock are built into the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NpmPackage {
    name: &'static str,
    manifest: &'static str,
    lock: &'static str,
}

impl<'de> Deserialize<'de> for NpmPackage {
    fn deserialize<D: Deserializer<'de>>(name: D) -> Result<Self, D::Error> {
        let name = String::deserialize(name)?;
        let known = PACKAGES.iter().find(|package| package.name == name);
        let unknown = || D::Error::custom(format!("toolbox/ has no folder `{name}` with a package-lock.json"));
        known.copied().ok_or_else(unknown)
    }
}

impl NpmPackage {
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// The version in the lock.
    pub(super) fn version(self) -> String {
        #[derive(Deserialize)]
        struct Manifest {
            dependencies: std::collections::BTreeMap<String, String>,
        }
        let manifest: Manifest =
            serde_json::from_str(self.manifest).expect("the built-in manifests are read by a test");
        manifest.dependencies.get(self.name).cloned().expect("a manifest depends on its package")
    }
}

pub(super) fn call(package: NpmPackage, staging: &Path) -> Call {
    let folder = staging.join(package.name()).to_string_lossy().into_owned();
    let cache = staging.join("npm-cache").to_string_lossy().into_owned();
    let mut arguments = vec!["ci".to_owned(), "--prefix".to_owned(), folder, "--cache".to_owned(), cache];
    // Bun's binary is an optional dependency, one for each kind of machine. A user's setting must not exclude it.
    arguments.extend(["--ignore-scripts", "--include=optional", "--no-audit", "--no-fund"].map(str::to_owned));
    // By default npm takes more than a minute to notice that there is no network, and leaves a useless log.
    let short = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", "--logs-max=0"];
    arguments.extend(short.map(str::to_owned));
    Call::new("npm", arguments).env("npm_config_update_notifier", "false")
}

/// Installs the package into the staging folder and moves it to its place.
pub(super) fn fetch(package: NpmPackage, worker: &mut Worker<'_>) -> Result<(), FetchError> {
    let staging = worker.toolbox.staging();
    let folder = staging.join(package.name());
    make_folder(&folder)?;
    for (name, text) in [("package.json", package.manifest), ("package-lock.json", package.lock)] {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|source| FetchError::Folder { folder: file.clone(), source })?;
    }
    worker.run(&call(package, &staging), PATIENCE)?;
    worker.put_in_place(&folder, &worker.toolbox.npm_folder(package))?;
    worker.installed.npm.insert(package.name().to_owned(), package.version());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locks_hold_exactly_the_versions_of_the_manifests_and_name_no_registry() {
        for package in PACKAGES.iter().copied() {
            let lock: serde_json::Value = serde_json::from_str(package.lock).unwrap();
            let locked = &lock["packages"][format!("node_modules/{}", package.name())]["version"];
            assert_eq!(locked.as_str(), Some(package.version().as_str()));
            assert!(package.version().chars().all(|c| c.is_ascii_digit() || c == '.'), "an exact version");
            let packages = lock["packages"].as_object().unwrap();
            for (name, entry) in packages.iter().filter(|(name, _)| !name.is_empty()) {
                assert!(entry["integrity"].as_str().is_some_and(|sum| sum.starts_with("sha512-")), "{name}");
                assert!(entry["resolved"].is_null(), "{name} would be fetched from one registry only");
            }
        }
    }
}
