//! Finds the generators: where one is, which version it is, what it needs to start.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tool::Tool;

/// A generator that can be run.
#[derive(Debug, Clone)]
pub struct Peer {
    pub tool: Tool,
    pub path: PathBuf,
    pub version: String,
    /// What it needs to find its libraries.
    pub environment: Vec<(String, String)>,
    /// It knows how to throw bodies away.
    pub discards: bool,
}

/// A generator that takes no part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    pub tool: Tool,
    pub reason: String,
}

#[derive(Debug, Default)]
pub struct Search {
    pub given: Vec<(Tool, PathBuf)>,
    /// Folders of programs, in order.
    pub folders: Vec<PathBuf>,
}

impl Search {
    /// The PATH, then tolok's toolbox, then our own private folder.
    pub fn new(given: Vec<(Tool, PathBuf)>, ours: Option<&Path>) -> Search {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        folders.extend(toolbox().iter().flat_map(|toolbox| folders_of(toolbox)));
        folders.extend(ours.iter().flat_map(|ours| [ours.join("root/usr/bin"), ours.join("bin")]));
        Search { given, folders }
    }

    /// The generator, or why it takes no part.
    pub fn find(&self, tool: Tool) -> Result<Peer, Absent> {
        let absent = |reason| Absent { tool, reason };
        let given = self.given.iter().find(|(one, _)| *one == tool).map(|(_, path)| path.clone());
        let path = match given {
            Some(path) if is_program(&path) => path,
            Some(path) => return Err(absent(format!("{} is no program", path.display()))),
            None => {
                let places = self.folders.iter().map(|folder| folder.join(tool.name()));
                let found = places.into_iter().find(|path| is_program(path));
                found.ok_or_else(|| absent(format!("not on the PATH; name it with --tool {}=PATH", tool.name())))?
            }
        };
        let environment = environment(&path);
        let version = version(tool, &path, &environment).map_err(absent)?;
        let discards = tool != Tool::Tolok || {
            let help = say(Command::new(&path).args(["load", "--help"]));
            help.is_ok_and(|help| help.contains("--discard"))
        };
        Ok(Peer { tool, path, version, environment, discards })
    }
}

/// Folder of the generators that were fetched.
pub fn private_folder() -> Option<PathBuf> {
    cache().map(|cache| cache.join("tolok/bench-peers"))
}

fn toolbox() -> Option<PathBuf> {
    let named = std::env::var_os("TOLOK_TOOLBOX").filter(|value| !value.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(cache()?.join("tolok/toolbox")))
}

/// Where it has generators: unpacked Debian packages, and what Go built.
fn folders_of(toolbox: &Path) -> [PathBuf; 2] {
    [toolbox.join("root/usr/bin"), toolbox.join("go")]
}

fn cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A program of a Debian tree that was unpacked somewhere has its libraries in that tree.
fn environment(path: &Path) -> Vec<(String, String)> {
    let root = path.parent().and_then(Path::parent).filter(|usr| usr.ends_with("usr")).and_then(Path::parent);
    let Some(root) = root.filter(|root| *root != Path::new("/")) else { return Vec::new() };
    let libraries = root.join("usr/lib");
    let entries = std::fs::read_dir(&libraries).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().contains("-linux-gnu") && path.is_dir()).collect();
    folders.push(libraries);
    let before = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&before).filter(|path| !path.as_os_str().is_empty()));
    let joined = std::env::join_paths(folders).map(|paths| paths.to_string_lossy().into_owned());
    joined.map(|paths| vec![("LD_LIBRARY_PATH".to_owned(), paths)]).unwrap_or_default()
}

/// Nothing is measured whose version is unknown, with two exceptions: hey does not know its own, and not every machine has
/// a go to ask; gcannon has none.
fn version(tool: Tool, path: &Path, environment: &[(String, String)]) -> Result<String, String> {
    let Some(arguments) = tool.version_arguments() else {
        let found = match tool {
            Tool::Floor => Some(env!("CARGO_PKG_VERSION").to_owned()),
            Tool::Gcannon => None,
            _ => say(Command::new("go").args(["version", "-m"]).arg(path)).ok().and_then(|text| module_version(&text)),
        };
        return Ok(found.unwrap_or_else(|| "of unknown version".to_owned()));
    };
    let output = say(Command::new(path).args(arguments).envs(environment.iter().cloned()));
    let output = output.map_err(|error| format!("it does not start: {error}"))?;
    version_in(tool, &output).ok_or_else(|| format!("it does not tell its version: {}", output.trim()))
}

/// Both outputs: some tell their version on the one, some on the other, and not all call that a success.
fn say(command: &mut Command) -> std::io::Result<String> {
    let output = command.stdin(std::process::Stdio::null()).output()?;
    Ok([output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat())
}

fn version_in(tool: Tool, output: &str) -> Option<String> {
    let first = output.lines().next()?;
    let version = match tool {
        Tool::Ab => first.split_once("Version ")?.1,
        // It calls itself by the name of its ancestor.
        Tool::Wrk2 => first.strip_prefix("wrk ")?,
        _ => first.strip_prefix(tool.name())?.strip_prefix(' ')?,
    };
    version.split_whitespace().next().map(str::to_owned)
}

/// From the line that begins with `mod`, as in `mod github.com/rakyll/hey v0.1.5 h1:…`, with tabs between.
fn module_version(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("mod\t"))?;
    line.split('\t').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        // Written by another process: a file that this one has open for writing cannot be run, and a test beside this one
        // may just have forked with it.
        let mut shell = Command::new("sh");
        shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(&path).arg(script);
        assert!(shell.status().unwrap().success());
        path
    }

    #[test]
    fn versions_are_read_from_what_the_tools_say() {
        let check = |tool, output: &str, version: &str| assert_eq!(version_in(tool, output).as_deref(), Some(version));
        check(Tool::Wrk, "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage", "debian/4.1.0-3+b2");
        check(Tool::Wrk2, "wrk 4.0.0 [epoll] Copyright (C) 2012 Will Glozer\nUsage", "4.0.0");
        check(Tool::Ab, "This is ApacheBench, Version 2.3 <$Revision$>\n", "2.3");
        check(Tool::H2load, "h2load nghttp2/1.52.0\n", "nghttp2/1.52.0");
        check(Tool::Oha, "oha 1.16.0\n", "1.16.0");
        check(Tool::K6, "k6 v1.8.1 (go1.26.8, linux/amd64)\n", "v1.8.1");
        check(Tool::Tolok, "tolok 0.1.0\n", "0.1.0");
        // A program that does not start says its name as well, with a colon.
        assert_eq!(version_in(Tool::Wrk, "wrk: error while loading shared libraries\n"), None);
        let go = "/x/hey: go1.26.8\n\tpath\tgithub.com/rakyll/hey\n\tmod\tgithub.com/rakyll/hey\tv0.1.5\th1:oc3=\n";
        assert_eq!(module_version(go).as_deref(), Some("v0.1.5"));
    }

    #[test]
    fn a_named_program_goes_before_a_found_one_and_the_missing_are_told_why() {
        let folder = tempfile::tempdir().unwrap();
        program(&folder.path().join("bin"), "wrk", "echo wrk 1");
        program(&folder.path().join("bin"), "oha", "echo cannot open libx >&2; exit 127");
        let named = program(folder.path(), "mine", "echo wrk 2");
        let folders = vec![folder.path().join("empty"), folder.path().join("bin")];
        let mut search = Search { given: Vec::new(), folders };
        assert_eq!(search.find(Tool::Wrk).unwrap().version, "1");
        search.given = vec![(Tool::Wrk, named), (Tool::Ab, folder.path().join("none"))];
        assert_eq!(search.find(Tool::Wrk).unwrap().version, "2");
        let reason = |tool| search.find(tool).unwrap_err().reason;
        assert_eq!(reason(Tool::K6), "not on the PATH; name it with --tool k6=PATH");
        assert!(reason(Tool::Ab).ends_with("none is no program"));
        assert_eq!(reason(Tool::Oha), "it does not tell its version: cannot open libx");
    }

    #[test]
    fn generators_of_the_toolbox_are_found_wherever_it_keeps_them() {
        let toolbox = tempfile::tempdir().unwrap();
        let folders = folders_of(toolbox.path());
        program(&folders[0], "wrk", "echo 'wrk 4.1'");
        program(&folders[1], "k6", "echo 'k6 v1.8.1'");
        let search = Search { given: Vec::new(), folders: folders.to_vec() };
        assert!(search.find(Tool::Wrk).is_ok() && search.find(Tool::K6).is_ok());
        assert!(toolbox.path().join("go/k6").is_file() && toolbox.path().join("root/usr/bin/wrk").is_file());
    }

    #[test]
    fn tolok_is_asked_whether_it_can_discard() {
        let folder = tempfile::tempdir().unwrap();
        let find = |help: &str| {
            let path = program(folder.path(), "tolok", &format!("echo 'tolok 1 {help}'"));
            Search { given: vec![(Tool::Tolok, path)], folders: Vec::new() }.find(Tool::Tolok).unwrap().discards
        };
        assert!(find("--discard"));
        assert!(!find("--expect-body"));
    }

    #[test]
    fn a_program_of_an_unpacked_tree_finds_its_libraries_there() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("usr/lib/x86_64-linux-gnu")).unwrap();
        let path = program(&tree.path().join("usr/bin"), "wrk", "");
        let found = environment(&path);
        let libraries = tree.path().join("usr/lib");
        assert!(found[0].1.starts_with(&format!("{0}/x86_64-linux-gnu:{0}", libraries.display())), "{found:?}");
        assert_eq!(environment(Path::new("/usr/bin/wrk")), []);
        assert_eq!(environment(Path::new("/home/u/bin/wrk")), []);
    }
}
