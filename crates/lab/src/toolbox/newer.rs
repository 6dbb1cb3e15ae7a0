//! Debian packages that this release of Debian does not have yet, with all their dependencies, down to the C library.
//!
//! apt gets one source: the system's own for Debian, with the release replaced by a newer one. So mirror,
//! proxy and keys are those of the machine. apt sees an empty list of installed packages, so it fetches all libraries.
//! The programs are started by the loader among them, the only one that fits. None of this affects the system's
//! programs, nor those of the toolbox that use the system's C library.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Surroundings;
use super::apt;
use super::catalogue::NewerPackages;
use super::fetch::{FetchError, Worker, make_folder};

/// Names of a release in a source, besides its codename.
const ALIASES: [&str; 5] = ["stable", "oldstable", "testing", "unstable", "sid"];

/// The source of Debian's main archive, in apt's format.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    /// The file extension of apt's two formats: `list` or `sources`.
    format: &'static str,
    text: String,
}

/// Whether this machine can fetch packages this way.
pub(super) fn is_usable(surroundings: &Surroundings) -> bool {
    apt::is_usable(surroundings) && codename(surroundings).is_some()
}

/// The commands that [`fetch`] runs, as one would type them.
pub(super) fn description(newer: &NewerPackages, staging: &Path) -> Vec<String> {
    apt::description(&newer.packages, staging)
}

/// Downloads the packages with all their dependencies, and unpacks them into a tree of their own.
pub(super) fn fetch(name: &str, newer: &NewerPackages, worker: &mut Worker<'_>) -> Result<(), FetchError> {
    let staging = worker.toolbox.staging();
    let root = staging.join("root");
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(|source| FetchError::Folder { folder: path.clone(), source })
    };
    let surroundings = &worker.toolbox.surroundings;
    let what = || FetchError::Result { what: "a source of Debian's main archive among apt's sources".to_owned() };
    let source = source(surroundings, &newer.suite).ok_or_else(what)?;
    let settings = [
        ("Dir::State::status", staging.join("status")),
        ("Dir::Etc::sourcelist", PathBuf::from("/dev/null")),
        ("Dir::Etc::sourceparts", staging.join("sources")),
        // Preferences refer to the system's releases, and would exclude the newer one.
        ("Dir::Etc::preferences", PathBuf::from("/dev/null")),
        ("Dir::Etc::preferencesparts", staging.join("no-parts")),
        ("APT::Default-Release", PathBuf::new()),
    ];
    apt::prepare(&staging, surroundings, &settings)?;
    make_folder(&staging.join("sources"))?;
    write(staging.join("status"), "")?;
    write(staging.join("sources").join(format!("debian.{}", source.format)), &source.text)?;
    let archives = apt::download_and_unpack(&newer.packages, worker, |_| true)?;
    make_folder(&root.join("bin"))?;
    for program in &newer.programs {
        let file = root.join("bin").join(Path::new(program).file_name().unwrap_or_default());
        write(file.clone(), &starter(&root, program)?)?;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&file, executable).map_err(|source| FetchError::Folder { folder: file, source })?;
    }
    worker.put_in_place(&root, &worker.toolbox.newer_root(name))?;
    worker.installed.newer.insert(name.to_owned(), archives);
    Ok(())
}

/// A script that replaces a program and starts it with its own loader, wherever the tree is.
fn starter(root: &Path, program: &str) -> Result<String, FetchError> {
    let lacking = |what: &str| FetchError::Result { what: what.to_owned() };
    if !root.join(program).is_file() {
        return Err(lacking(program));
    }
    let libraries = apt::library_folders(root);
    // Path and name depend on the machine: lib64/ld-linux-x86-64.so.2, lib/ld-linux-aarch64.so.1.
    let folders = ["usr/lib64", "lib64", "usr/lib", "lib"].map(|folder| root.join(folder));
    let files =
        folders.iter().chain(&libraries).flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let is_loader =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-linux"));
    let loader = files.map(|file| file.path()).find(is_loader).ok_or_else(|| lacking("the loader ld-linux"))?;
    let below = |path: &Path| format!("$root/{}", path.strip_prefix(root).unwrap_or(path).display());
    let libraries: Vec<String> = libraries.iter().map(|folder| below(folder)).collect();
    Ok(format!(
        "#!/bin/sh\n# The program by the loader and with the libraries that it was built for.\nroot=${{0%/*}}/..\n\
         exec \"{}\" --library-path \"{}\" \"$root/{program}\" \"$@\"\n",
        below(&loader),
        libraries.join(":")
    ))
}

/// The codename of this release, or `None` if this is not Debian itself.
fn codename(surroundings: &Surroundings) -> Option<String> {
    let text = fs::read_to_string(surroundings.system_file("/etc/os-release")).ok()?;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_owned())
    };
    value("VERSION_CODENAME").filter(|_| value("ID").as_deref() == Some("debian"))
}

/// The system's source of Debian's main archive, changed to another release.
fn source(surroundings: &Surroundings, suite: &str) -> Option<Source> {
    let codename = codename(surroundings)?;
    let folder = surroundings.system_file("/etc/apt/sources.list.d");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    files.sort();
    files.insert(0, surroundings.system_file("/etc/apt/sources.list"));
    files.iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        match file.extension()?.to_str()? {
            "list" => Some(Source { format: "list", text: from_list(&text, &codename, suite)? }),
            "sources" => Some(Source { format: "sources", text: from_stanzas(&text, &codename, suite)? }),
            _ => None,
        }
    })
}

fn is_release(word: &str, codename: &str) -> bool {
    word == codename || ALIASES.contains(&word)
}

/// From lines such as `deb [options] http://mirror/debian bookworm main`.
fn from_list(text: &str, codename: &str, suite: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("deb")?.strip_prefix([' ', '\t'])?.trim_start();
        let options_end = if rest.starts_with('[') { rest.find(']')? + 1 } else { 0 };
        let (options, place) = rest.split_at(options_end);
        let mut words = place.split_whitespace();
        let (uri, release) = (words.next()?, words.next()?);
        is_release(release, codename).then(|| format!("deb {options} {uri} {suite} main\n"))
    })
}

/// From stanzas with the fields `Types`, `URIs`, `Suites`, `Components` and others, such as multi-line keys.
fn from_stanzas(text: &str, codename: &str, suite: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).find_map(|stanza| {
        let field = |name: &str| {
            let is_it = |line: &&str| line.split(':').next().is_some_and(|key| key.eq_ignore_ascii_case(name));
            stanza.iter().find(|line| is_it(line)).and_then(|line| Some(line.split_once(':')?.1.trim()))
        };
        let has = |name, wanted: &dyn Fn(&str) -> bool| field(name).is_some_and(|it| it.split_whitespace().any(wanted));
        let is_on = field("Enabled").is_none_or(|value| !value.eq_ignore_ascii_case("no"));
        if !is_on || !has("Types", &|word| word == "deb") || !has("Suites", &|word| is_release(word, codename)) {
            return None;
        }
        let mut source = format!("Types: deb\nSuites: {suite}\nComponents: main\n");
        let mut is_kept = false;
        for line in stanza {
            if !line.starts_with([' ', '\t']) {
                let key = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
                is_kept = !["types", "suites", "components"].contains(&key.as_str());
            }
            if is_kept {
                source.push_str(line);
                source.push('\n');
            }
        }
        Some(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_keeps_its_mirror_and_its_keys() {
        let list = "# deb http://old/debian bookworm main\ndeb-src http://m/debian bookworm main\n\
                    deb http://m/debian-security bookworm-security main\n\
                    deb [signed-by=/k.gpg arch=amd64] http://m/debian bookworm main contrib\n";
        let expect = "deb [signed-by=/k.gpg arch=amd64] http://m/debian sid main\n";
        assert_eq!(from_list(list, "bookworm", "sid").unwrap(), expect);
        assert_eq!(
            from_list("deb http://m/debian stable main", "trixie", "sid").unwrap(),
            "deb  http://m/debian sid main\n"
        );
        assert_eq!(from_list("deb http://m/ubuntu noble main", "bookworm", "sid"), None);

        let stanzas = "Types: deb\nURIs: http://m/debian-security\nSuites: bookworm-security\nComponents: main\n\n\
                       Enabled: no\nTypes: deb\nURIs: http://off/debian\nSuites: bookworm\nComponents: main\n\n\
                       Types: deb deb-src\n# a note\nURIs: http://m/debian\nSuites: bookworm bookworm-updates\n\
                       Components: main contrib\n non-free\nSigned-By:\n -----BEGIN\n .\n abc\n";
        let expect =
            "Types: deb\nSuites: sid\nComponents: main\nURIs: http://m/debian\nSigned-By:\n -----BEGIN\n .\n abc\n";
        assert_eq!(from_stanzas(stanzas, "bookworm", "sid").unwrap(), expect);
        assert_eq!(from_stanzas(stanzas, "trixie", "sid"), None);
    }

    #[test]
    fn a_program_is_started_by_the_loader_of_its_tree() {
        let root = tempfile::tempdir().unwrap();
        for file in ["usr/lib64/ld-linux-x86-64.so.2", "usr/lib/x86_64-linux-gnu/libc.so.6", "usr/sbin/mysqld"] {
            fs::create_dir_all(root.path().join(file).parent().unwrap()).unwrap();
            fs::write(root.path().join(file), "").unwrap();
        }
        let script = starter(root.path(), "usr/sbin/mysqld").unwrap();
        let expect = "exec \"$root/usr/lib64/ld-linux-x86-64.so.2\" --library-path \"$root/usr/lib/x86_64-linux-gnu\" \
                      \"$root/usr/sbin/mysqld\" \"$@\"\n";
        assert!(script.starts_with("#!/bin/sh\n") && script.ends_with(expect), "{script}");
        assert!(starter(root.path(), "usr/bin/mysql").unwrap_err().to_string().contains("usr/bin/mysql"));
    }
}
