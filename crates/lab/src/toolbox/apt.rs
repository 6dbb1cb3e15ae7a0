//! Debian and Ubuntu packages without root: apt resolves and downloads what the system lacks, and dpkg-deb unpacks it.
//!
//! apt gets its own lists, cache and configuration, and only reads the system's real status file. The
//! packages' scripts are not run, so nothing is registered, started or changed outside the toolbox.

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

/// The packages database, which lists what the system has.
const STATUS: &str = "/var/lib/dpkg/status";

/// The C library must be the system's, because it must fit the loader. That is part of the system and cannot be replaced by
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

/// Downloads the packages with all dependencies that the system lacks, and unpacks them into one tree.
pub(super) fn fetch(packages: &[String], worker: &mut Worker<'_>) -> Result<(), FetchError> {
    // While this process waited for the lock, another may have fetched programs that are not in the plan.
    let packages = together(&worker.installed.apt_asked, packages);
    let staging = worker.toolbox.staging();
    prepare(&staging, &worker.toolbox.surroundings, &[])?;
    let archives = download_and_unpack(&packages, worker, |package| !SYSTEM_ONLY.contains(&package.name.as_str()))?;
    worker.put_in_place(&staging.join("root"), &worker.toolbox.root())?;
    worker.installed.apt_asked = packages;
    worker.installed.apt = archives;
    Ok(())
}

/// Creates apt's working folders and its configuration. `settings` come last, so they take precedence.
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

/// Downloads the packages, and unpacks the wanted ones into the staging folder's `root`.
pub(super) fn download_and_unpack(
    packages: &[String],
    worker: &mut Worker<'_>,
    is_wanted: impl Fn(&DebianPackage) -> bool,
) -> Result<Vec<DebianPackage>, FetchError> {
    let staging = worker.toolbox.staging();
    // A source that is down may not matter here: the download decides.
    let update = worker.run(&update(&staging), DOWNLOAD_PATIENCE);
    worker.run(&download(packages, &staging), DOWNLOAD_PATIENCE).map_err(|error| update.err().unwrap_or(error))?;
    let mut archives = downloaded(&staging)?;
    archives.retain(|(package, _)| is_wanted(package));
    let command = format!("dpkg-deb --extract ({} packages)", archives.len());
    let surroundings = &worker.toolbox.surroundings;
    worker.tell(&command, || unpack(&archives, surroundings, &staging))?;
    Ok(archives.into_iter().map(|(package, _)| package).collect())
}

/// The library folders of an unpacked tree.
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

/// All packages ever requested: the tree must always be a single resolution by apt, never a mixture of two days.
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

/// apt's configuration on this system; empty if it cannot be read.
fn system_configuration(surroundings: &Surroundings) -> String {
    let call = Call::new("apt-config", ["dump"]).found_by(|name| surroundings.find(name));
    let answer = call.ask(QUESTION_PATIENCE);
    answer.ok().filter(|answer| answer.status.success()).map(|answer| answer.text).unwrap_or_default()
}

/// apt's configuration for a fetch: our folders, and only those system settings that concern downloads.
///
/// The system's own files are not read again, because they may contain hooks that change the system: container images
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
        // Under root, apt would switch to a user who cannot reach the toolbox.
        ("APT::Sandbox::User", String::new()),
        // An unreachable source must fail the update, not only warn.
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

/// Keeps proxies, mirrors' certificates, the release and the architecture; drops indexes other than packages.
fn is_wanted(line: &str) -> bool {
    let kept = ["Acquire::", "APT::Default-Release", "APT::Architecture"];
    let dropped = ["Acquire::IndexTargets", "Acquire::Languages"];
    kept.iter().any(|name| line.starts_with(name)) && !dropped.iter().any(|name| line.starts_with(name))
}

/// The archives that apt downloaded.
fn downloaded(staging: &Path) -> Result<Vec<(DebianPackage, PathBuf)>, FetchError> {
    let folder = archives(staging);
    let entries = fs::read_dir(&folder).map_err(|source| FetchError::Folder { folder, source })?;
    let archive =
        |entry: fs::DirEntry| Some((DebianPackage::from_file_name(entry.file_name().to_str()?)?, entry.path()));
    let mut archives: Vec<_> = entries.flatten().filter_map(archive).collect();
    archives.sort();
    Ok(archives)
}

/// Unpacks on all CPUs, because decompression takes nearly all the time.
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
        // This thread works too, in case the system allows no more.
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
