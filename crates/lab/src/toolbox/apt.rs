//! Debian and Ubuntu packages without root: apt computes and downloads what the system lacks, dpkg-deb unpacks it.
//!
//! apt gets lists, a cache and a configuration of its own, and the system's real status file, which it only reads. The
//! packages' own scripts are not run, so nothing is registered, started or changed outside the toolbox.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::Surroundings;
use super::fetch::{FetchError, Worker, make_folder, run_logged};
use super::installed::DebianPackage;
use tolok_host::call::Call;
use tolok_host::shell::quoted;

/// Lists, or some hundred megabytes of packages, over a slow line.
const DOWNLOAD_PATIENCE: Duration = Duration::from_secs(30 * 60);
const UNPACK_PATIENCE: Duration = Duration::from_secs(10 * 60);
const QUESTION_PATIENCE: Duration = Duration::from_secs(10);

/// The packages database, which tells what the system has.
const STATUS: &str = "/var/lib/dpkg/status";

/// The C library stays that of the system: it must fit the loader, which is a part of the system and cannot be replaced by
/// an environment variable.
const SYSTEM_ONLY: [&str; 3] = ["libc6", "libc-bin", "libc6-i386"];

/// Whether this machine can fetch packages this way.
pub(super) fn is_usable(surroundings: &Surroundings) -> bool {
    let programs = ["apt-get", "apt-config", "dpkg-deb"];
    surroundings.system_file(STATUS).is_file() && programs.iter().all(|name| surroundings.find(name).is_some())
}

/// The commands that [`fetch`] runs, as one would type them.
pub(super) fn description(packages: &[String], staging: &Path) -> Vec<String> {
    let folder = |path: PathBuf| quoted(&path.to_string_lossy());
    let (archives, root) = (folder(archives(staging)), folder(staging.join("root")));
    let unpack = format!("for package in {archives}/*.deb; do dpkg-deb --extract \"$package\" {root}; done");
    vec![update(staging).to_string(), download(packages, staging).to_string(), unpack]
}

/// Downloads the packages and all that they need beyond what the system has, and unpacks them into one tree.
pub(super) fn fetch(packages: &[String], worker: &mut Worker<'_>) -> Result<(), FetchError> {
    // While this process waited for the lock, another one may have brought programs that the plan does not know.
    let packages = together(&worker.installed.apt_asked, packages);
    let staging = worker.toolbox.staging();
    prepare(&staging, &worker.toolbox.surroundings, &[])?;
    let archives = download_and_unpack(&packages, worker, |package| !SYSTEM_ONLY.contains(&package.name.as_str()))?;
    worker.put_in_place(&staging.join("root"), &worker.toolbox.root())?;
    worker.installed.apt_asked = packages;
    worker.installed.apt = archives;
    Ok(())
}

/// Makes what apt works in, and its configuration; `settings` come last and so hold.
pub(super) fn prepare(
    staging: &Path,
    surroundings: &Surroundings,
    settings: &[(&str, PathBuf)],
) -> Result<(), FetchError> {
    let folders = ["root", "lists/partial", "cache/archives/partial", "no-parts"];
    folders.iter().try_for_each(|folder| make_folder(&staging.join(folder)))?;
    let mut text = configuration(staging, &system_configuration(surroundings));
    for (name, value) in settings {
        let _ = writeln!(text, "{name} \"{}\";", value.display());
    }
    let file = configuration_file(staging);
    fs::write(&file, text).map_err(|source| FetchError::Folder { folder: file, source })
}

/// Lets apt bring the packages, and unpacks those that are wanted into the staging folder's `root`.
pub(super) fn download_and_unpack(
    packages: &[String],
    worker: &mut Worker<'_>,
    is_wanted: impl Fn(&DebianPackage) -> bool,
) -> Result<Vec<DebianPackage>, FetchError> {
    let staging = worker.toolbox.staging();
    // One of the user's sources may be down while those that matter here are up: the download decides.
    let update = worker.run(&update(&staging), DOWNLOAD_PATIENCE);
    worker.run(&download(packages, &staging), DOWNLOAD_PATIENCE).map_err(|error| update.err().unwrap_or(error))?;
    let mut archives = downloaded(&staging)?;
    archives.retain(|(package, _)| is_wanted(package));
    let command = format!("dpkg-deb --extract ({} packages)", archives.len());
    let surroundings = &worker.toolbox.surroundings;
    worker.tell(&command, || unpack(&archives, surroundings, &staging))?;
    Ok(archives.into_iter().map(|(package, _)| package).collect())
}

/// The folders of an unpacked tree that hold libraries.
pub(super) fn library_folders(root: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for base in ["usr/lib", "lib"] {
        // The folder is named after the machine: x86_64-linux-gnu, aarch64-linux-gnu, arm-linux-gnueabihf.
        let entries = fs::read_dir(root.join(base)).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_triplet = |path: &PathBuf| path.to_string_lossy().contains("-linux-gnu") && path.is_dir();
        let mut triplets: Vec<PathBuf> = entries.filter(is_triplet).collect();
        triplets.sort();
        folders.append(&mut triplets);
    }
    folders
}

/// The tree is always apt's one answer to all that was ever asked for, never a mixture of the answers of two days.
pub(super) fn together(asked_before: &[String], asked_now: &[String]) -> Vec<String> {
    let mut packages = [asked_before, asked_now].concat();
    packages.sort();
    packages.dedup();
    packages
}

fn update(staging: &Path) -> Call {
    apt_get(staging, ["--quiet", "update"].map(str::to_owned).to_vec())
}

fn download(packages: &[String], staging: &Path) -> Call {
    let mut arguments = ["--quiet", "--yes", "--download-only", "install"].map(str::to_owned).to_vec();
    arguments.extend(packages.iter().cloned());
    apt_get(staging, arguments)
}

fn apt_get(staging: &Path, arguments: Vec<String>) -> Call {
    let configuration = configuration_file(staging).to_string_lossy().into_owned();
    Call::new("apt-get", arguments).env("APT_CONFIG", configuration)
}

fn configuration_file(staging: &Path) -> PathBuf {
    staging.join("apt.conf")
}

fn archives(staging: &Path) -> PathBuf {
    staging.join("cache/archives")
}

/// What apt is configured with on this system; empty where it does not say.
fn system_configuration(surroundings: &Surroundings) -> String {
    let call = Call::new("apt-config", ["dump"]).found_by(|name| surroundings.find(name));
    let answer = call.ask(QUESTION_PATIENCE);
    answer.ok().filter(|answer| answer.status.success()).map(|answer| answer.text).unwrap_or_default()
}

/// apt's configuration for a fetch: our folders, and of the system's settings only how things are acquired.
///
/// The system's own files are not read again, because they may hold hooks, and hooks touch the system: container images
/// empty the system's package cache after each update.
fn configuration(staging: &Path, system: &str) -> String {
    let folder = |name: &str| staging.join(name).to_string_lossy().into_owned();
    let mut text = String::new();
    for line in system.lines().filter(|line| is_wanted(line)) {
        let _ = writeln!(text, "{line}");
    }
    for (name, value) in [
        ("Dir::State::lists", folder("lists/")),
        ("Dir::State::status", STATUS.to_owned()),
        ("Dir::Cache", folder("cache/")),
        ("Dir::Etc::parts", folder("no-parts")),
        ("Dir::Etc::main", "/dev/null".to_owned()),
        ("Debug::NoLocking", "true".to_owned()),
        ("APT::Install-Recommends", "false".to_owned()),
        ("APT::Install-Suggests", "false".to_owned()),
        // apt run by root would switch to a user who cannot reach the toolbox.
        ("APT::Sandbox::User", String::new()),
        // A source that cannot be reached shall fail the update, not only warn.
        ("APT::Update::Error-Mode", "any".to_owned()),
        ("Acquire::Languages", "none".to_owned()),
        ("Acquire::Retries", "2".to_owned()),
        ("Acquire::http::Timeout", "30".to_owned()),
        ("Acquire::https::Timeout", "30".to_owned()),
    ] {
        let _ = writeln!(text, "{name} \"{value}\";");
    }
    text
}

/// Proxies, mirrors' certificates, the release and the architecture; what else is acquired than packages is left out.
fn is_wanted(line: &str) -> bool {
    let kept = ["Acquire::", "APT::Default-Release", "APT::Architecture"];
    let dropped = ["Acquire::IndexTargets", "Acquire::Languages"];
    kept.iter().any(|name| line.starts_with(name)) && !dropped.iter().any(|name| line.starts_with(name))
}

/// The archives that apt brought.
fn downloaded(staging: &Path) -> Result<Vec<(DebianPackage, PathBuf)>, FetchError> {
    let folder = archives(staging);
    let entries = fs::read_dir(&folder).map_err(|source| FetchError::Folder { folder, source })?;
    let archive =
        |entry: fs::DirEntry| Some((DebianPackage::from_file_name(entry.file_name().to_str()?)?, entry.path()));
    let mut archives: Vec<_> = entries.flatten().filter_map(archive).collect();
    archives.sort();
    Ok(archives)
}

/// Unpacks on all CPUs: nearly all of the time goes into decompression.
fn unpack(
    archives: &[(DebianPackage, PathBuf)],
    surroundings: &Surroundings,
    staging: &Path,
) -> Result<(), FetchError> {
    let root = staging.join("root");
    let queue = Mutex::new(archives.iter());
    let work = |worker: usize| {
        let log = staging.join(format!("log-unpack-{worker}"));
        loop {
            let next = queue.lock().expect("no thread panics with the lock held").next();
            let Some((_, archive)) = next else { return Ok(()) };
            let paths = [archive, &root].map(|path: &PathBuf| path.to_string_lossy().into_owned());
            let call = Call::new("dpkg-deb", ["--extract".to_owned()].into_iter().chain(paths));
            run_logged(&call, surroundings, &log, UNPACK_PATIENCE)?;
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        // This thread is one of them, as the system may give no more.
        let start = |number| thread::Builder::new().spawn_scoped(scope, move || work(number)).ok();
        let workers: Vec<_> = (1..threads).filter_map(start).collect();
        work(0)?;
        workers.into_iter().try_for_each(|worker| worker.join().expect("an unpacking thread returns its failure"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
APT \"\";
APT::Architecture \"amd64\";
APT::Update::Post-Invoke:: \"rm -f /var/cache/apt/archives/*.deb\";
APT::Sandbox::User \"_apt\";
Acquire::http::Proxy \"http://proxy.example:3128\";
Acquire::IndexTargets::deb::DEP-11::MetaKey \"x\";
Acquire::Languages \"environment\";
Dir::Etc::parts \"apt.conf.d\";
DPkg::Pre-Install-Pkgs:: \"/usr/sbin/dpkg-preconfigure\";
";

    #[test]
    fn the_configuration_takes_proxies_along_and_leaves_hooks_behind() {
        let text = configuration(Path::new("/t/staging"), DUMP);
        assert!(text.contains("Acquire::http::Proxy \"http://proxy.example:3128\";\n"), "{text}");
        assert!(text.contains("APT::Architecture \"amd64\";\n"), "{text}");
        assert!(text.contains("Dir::State::lists \"/t/staging/lists/\";\n"), "{text}");
        assert!(text.contains("Dir::State::status \"/var/lib/dpkg/status\";\n"), "{text}");
        for hook in ["Post-Invoke", "DPkg", "_apt", "DEP-11", "environment"] {
            assert!(!text.contains(hook), "{hook}: {text}");
        }
    }

    #[test]
    fn what_apt_brought_are_the_archives_and_nothing_else() {
        let staging = tempfile::tempdir().unwrap();
        let folder = archives(staging.path());
        fs::create_dir_all(folder.join("partial")).unwrap();
        for file in ["nginx_1.22.1-9_amd64.deb", "libc6_2.36-9_amd64.deb", "php-fpm_2%3a8.2+93_all.deb", "lock"] {
            fs::write(folder.join(file), "").unwrap();
        }
        let names: Vec<String> =
            downloaded(staging.path()).unwrap().into_iter().map(|(package, _)| package.name).collect();
        assert_eq!(names, ["libc6", "nginx", "php-fpm"]);
    }
}
