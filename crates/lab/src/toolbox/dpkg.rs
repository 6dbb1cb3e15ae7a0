//! Finds the package of a file, and its version, in Debian's records.

use std::fs;
use std::path::Path;

use super::installed::Installed;
use super::{Surroundings, Toolbox};

const INFO: &str = "/var/lib/dpkg/info";
const STATUS: &str = "/var/lib/dpkg/status";

/// The version of the package, if the file belongs to it, in the toolbox's tree or the system.
pub(super) fn version_with(package: &str, file: &Path, toolbox: &Toolbox) -> Option<String> {
    if file.starts_with(toolbox.root()) {
        let packages = Installed::read(&toolbox.record()).apt;
        return packages.into_iter().find(|one| one.name == package).map(|one| one.version);
    }
    if !is_of(package, file, &toolbox.surroundings) {
        return None;
    }
    let status = fs::read_to_string(toolbox.surroundings.system_file(STATUS)).ok()?;
    installed_version(&status, package)
}

/// Whether the file is in the package's list of files.
fn is_of(package: &str, file: &Path, surroundings: &Surroundings) -> bool {
    let Ok(file) = fs::canonicalize(file) else { return false };
    let folder = surroundings.system_file(INFO);
    // For packages that can be installed for several architectures, the name of the list includes one.
    let is_list = |name: &str| {
        let architecture = name.strip_prefix(package).and_then(|rest| rest.strip_suffix(".list"));
        architecture.is_some_and(|it| it.is_empty() || it.starts_with(':'))
    };
    let lists = fs::read_dir(folder).into_iter().flatten().flatten();
    let lists = lists.filter(|list| list.file_name().to_str().is_some_and(is_list));
    let is_file = |line: &str| {
        Path::new(line).file_name() == file.file_name()
            && fs::canonicalize(surroundings.system_file(line)).is_ok_and(|path| path == file)
    };
    lists.filter_map(|list| fs::read_to_string(list.path()).ok()).any(|text| text.lines().any(is_file))
}

/// The version in the record of a package.
fn installed_version(status: &str, package: &str) -> Option<String> {
    let is_it = |record: &&str| record.lines().next().and_then(|line| line.strip_prefix("Package: ")) == Some(package);
    let record = status.split("\n\n").map(str::trim_start).find(is_it)?;
    record.lines().find_map(|line| line.strip_prefix("Version: ")).map(|version| version.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_in_the_record_of_the_package() {
        let status = "Package: timelimit\nVersion: 1.9\n\nPackage: time\nStatus: install ok installed\nVersion: 1.9-0.2\n\
                      Description: GNU time\n Version: none of this\n\nPackage: tzdata\nVersion: 2026a\n";
        assert_eq!(installed_version(status, "time").as_deref(), Some("1.9-0.2"));
        assert_eq!(installed_version(status, "wrk"), None);
    }
}
