//! Fetches generators into a private folder. Nothing is installed: apt downloads what the system lacks with lists and a
//! cache of our own, and the packages are only unpacked; their scripts are not run.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{self, BenchError};
use crate::tool::Tool;

/// The C library must fit the system's loader, so it stays that of the system.
const SYSTEM_ONLY: [&str; 2] = ["libc6_", "libc-bin_"];

/// k6 as it was compared first; there is no package of it in Debian.
const K6: &str = "go.k6.io/k6@v1.8.1";

/// Debian's package of a generator.
fn package(tool: Tool) -> Option<&'static str> {
    match tool {
        Tool::Wrk => Some("wrk"),
        Tool::Ab => Some("apache2-utils"),
        Tool::H2load => Some("nghttp2-client"),
        Tool::Hey => Some("hey"),
        Tool::Floor | Tool::Tolok | Tool::Wrk2 | Tool::Gcannon | Tool::Oha | Tool::K6 => None,
    }
}

/// Fetches those of the missing that can be fetched. What fails is said, and the others are still fetched.
pub fn fetch(missing: &[Tool], folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
    let packages: Vec<&str> = missing.iter().filter_map(|tool| package(*tool)).collect();
    if !packages.is_empty() {
        tell(&format!("fetching {} from Debian into {}", packages.join(" "), folder.display()));
        if let Err(error) = debian(&packages, folder) {
            tell(&format!("that failed: {error}"));
        }
    }
    if missing.contains(&Tool::K6) {
        tell(&format!("building {K6} with go into {}; that takes from some minutes to half an hour", folder.display()));
        let mut install = Command::new("go");
        install.args(["install", K6]).env("GOBIN", folder.join("bin"));
        if let Err(error) = run(&mut install) {
            tell(&format!("that failed: {error}"));
        }
    }
    Ok(())
}

fn debian(packages: &[&str], folder: &Path) -> Result<(), BenchError> {
    let root = folder.join("root");
    for folder in
        [root.clone(), folder.join("lists/partial"), archives(folder).join("partial"), folder.join("no-parts")]
    {
        fs::create_dir_all(&folder).map_err(|source| BenchError::Write { path: folder, source })?;
    }
    let settings = folder.join("apt.conf");
    let dump = Command::new("apt-config").arg("dump").stdin(Stdio::null()).output();
    let dump = dump.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    error::write(&settings, &configuration(folder, &dump))?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(["-q", "-y"]).args(arguments).env("APT_CONFIG", &settings);
        run(&mut command)
    };
    apt(&["update"])?;
    apt(&[&["--download-only", "install"], packages].concat())?;
    let mut found = Vec::new();
    for entry in fs::read_dir(archives(folder)).into_iter().flatten().flatten() {
        found.push(entry.path());
    }
    for archive in found.iter().filter(|path| is_wanted(path)) {
        run(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(&root))?;
    }
    Ok(())
}

fn archives(folder: &Path) -> PathBuf {
    folder.join("cache/archives")
}

fn is_wanted(archive: &Path) -> bool {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".deb") && !SYSTEM_ONLY.iter().any(|package| name.starts_with(package))
}

/// apt's configuration: our folders, and of the system's settings only how things are acquired. Its other settings may
/// hold hooks, and hooks touch the system.
fn configuration(folder: &Path, system: &str) -> String {
    let kept = ["Acquire::", "APT::Default-Release", "APT::Architecture"];
    let dropped = ["Acquire::IndexTargets", "Acquire::Languages"];
    let is_kept = |line: &&str| {
        kept.iter().any(|name| line.starts_with(name)) && !dropped.iter().any(|name| line.starts_with(name))
    };
    let mut text = String::new();
    for line in system.lines().filter(is_kept) {
        let _ = writeln!(text, "{line}");
    }
    let inside = |name: &str| folder.join(name).to_string_lossy().into_owned();
    for (name, value) in [
        ("Dir::State::lists", inside("lists/")),
        ("Dir::State::status", "/var/lib/dpkg/status".to_owned()),
        ("Dir::Cache", inside("cache/")),
        ("Dir::Etc::parts", inside("no-parts")),
        ("Dir::Etc::main", "/dev/null".to_owned()),
        ("Debug::NoLocking", "true".to_owned()),
        ("APT::Install-Recommends", "false".to_owned()),
        // Run by root, apt would switch to a user who cannot reach our folder.
        ("APT::Sandbox::User", String::new()),
        ("Acquire::Languages", "none".to_owned()),
    ] {
        let _ = writeln!(text, "{name} \"{value}\";");
    }
    text
}

fn run(command: &mut Command) -> Result<(), BenchError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| BenchError::Run { program, source };
    match command.stdin(Stdio::null()).stdout(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it gave no reason").to_owned();
            Err(failed(io::Error::other(last)))
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apt_keeps_to_our_folder_and_takes_proxies_along_but_no_hooks() {
        let system = "Acquire::http::Proxy \"http://proxy.example:1\";\nAPT::Update::Post-Invoke:: \"rm\";\n";
        let text = configuration(Path::new("/t"), system);
        assert!(text.starts_with("Acquire::http::Proxy \"http://proxy.example:1\";\n"), "{text}");
        assert!(text.contains("Dir::Cache \"/t/cache/\";\n") && !text.contains("Post-Invoke"), "{text}");
    }

    #[test]
    fn everything_is_unpacked_but_the_c_library() {
        let check = |name: &str, wanted| assert_eq!(is_wanted(&Path::new("/t").join(name)), wanted, "{name}");
        check("wrk_4.1.0-3+b2_amd64.deb", true);
        check("libc-ares2_1.18.1-3_amd64.deb", true);
        check("libc6_2.36-9_amd64.deb", false);
        check("lock", false);
    }

    #[test]
    fn what_cannot_be_fetched_is_said_and_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Vec::new();
        fetch(&[Tool::Oha, Tool::Tolok], folder.path(), &mut |line| told.push(line.to_owned())).unwrap();
        assert_eq!(told, Vec::<String>::new());
        let failed = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(failed.to_string().starts_with("cannot run no-such-program-here: "), "{failed}");
    }
}
