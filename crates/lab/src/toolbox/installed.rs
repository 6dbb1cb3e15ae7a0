//! The record of what was fetched: exact versions, for the records of runs and the next fetch.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The format that this version writes. A record in another format counts as empty, so the next fetch starts over.
const FORMAT_VERSION: u32 = 1;

/// `installed.json`.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Installed {
    format_version: u32,
    /// The package names that were requested; the tree is apt's resolution of all of them.
    pub(super) apt_asked: Vec<String>,
    /// The packages in the tree.
    pub(super) apt: Vec<DebianPackage>,
    /// The packages in the trees of programs that come from a newer Debian.
    #[serde(default)]
    pub(super) newer: BTreeMap<String, Vec<DebianPackage>>,
    /// npm packages and their versions.
    pub(super) npm: BTreeMap<String, String>,
    /// Packages that Go built, and their versions.
    #[serde(default)]
    pub(super) go: BTreeMap<String, String>,
    /// Versions beside the others, and their sources.
    #[serde(default)]
    pub(super) versions: BTreeMap<String, String>,
    /// The archive that Swoole was built from.
    pub(super) swoole: Option<String>,
    /// The same for its build with PostgreSQL.
    pub(super) swoole_pgsql: Option<String>,
}

/// A package, parsed from the name of its archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct DebianPackage {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) architecture: String,
}

impl Installed {
    /// The record in that file; empty if it cannot be read.
    pub(super) fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        let record: Option<Self> = serde_json::from_str(&text).ok();
        record.filter(|record| record.format_version == FORMAT_VERSION).unwrap_or_default()
    }

    /// Replaces the record atomically, so that no reader sees half of it.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let record = Self { format_version: FORMAT_VERSION, ..self.clone() };
        let mut text = serde_json::to_string_pretty(&record).map_err(io::Error::other)?;
        text.push('\n');
        let new = file.with_extension("json.new");
        fs::write(&new, text)?;
        fs::rename(new, file)
    }
}

impl DebianPackage {
    /// `name_version_architecture.deb`; apt writes the colon of an epoch as `%3a`.
    pub(super) fn from_file_name(file: &str) -> Option<Self> {
        let mut parts = file.strip_suffix(".deb")?.splitn(3, '_');
        let mut part = || parts.next().map(|part| part.replace("%3a", ":")).filter(|part| !part.is_empty());
        Some(Self { name: part()?, version: part()?, architecture: part()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_read_from_the_name_of_its_archive() {
        let package = DebianPackage::from_file_name("php-common_2%3a93_all.deb").unwrap();
        assert_eq!(
            (package.name.as_str(), package.version.as_str(), package.architecture.as_str()),
            ("php-common", "2:93", "all")
        );
        for wrong in ["lock", "a.deb", "a_b.deb", "partial"] {
            assert_eq!(DebianPackage::from_file_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_record_comes_back_and_an_unknown_one_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("installed.json");
        assert_eq!(Installed::read(&file), Installed::default());
        let record = Installed { apt_asked: vec!["nginx".to_owned()], ..Installed::default() };
        record.write(&file).unwrap();
        assert_eq!(Installed::read(&file).apt_asked, ["nginx"]);
        let newer = fs::read_to_string(&file).unwrap().replace("\"format_version\": 1", "\"format_version\": 2");
        fs::write(&file, newer).unwrap();
        assert_eq!(Installed::read(&file), Installed::default());
    }
}
