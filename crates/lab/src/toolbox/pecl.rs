//! PHP extensions from PECL, built into the toolbox.
//!
//! `pecl install` would write into the system's folder of extensions, so only the download is left to it; the build is what
//! it would do. It is tried where PECL is there, and its refusal is the reason that is shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::fetch::{FetchError, Worker, make_folder};
use tolok_host::call::Call;

/// The programs without which there is no point in trying.
pub(super) const NEEDED: [&str; 5] = ["pecl", "phpize", "php-config", "make", "c++"];

/// A channel that does not answer in this time is not there.
const DOWNLOAD_PATIENCE: Duration = Duration::from_secs(120);
/// Swoole takes some five minutes of CPU time, which a loaded machine stretches.
const BUILD_PATIENCE: Duration = Duration::from_secs(45 * 60);

/// The commands that build an extension, in this order.
pub(super) fn calls(extension: &str, staging: &Path) -> [Call; 5] {
    let folder = staging.join(extension);
    let source = folder.join("source");
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    // PECL names the archive after the version, which is not known before it is there.
    let unpack = format!("tar -xzf {extension}-*.tgz --strip-components=1 -C source --wildcards '{extension}-*/*'");
    [
        Call::new("pecl", ["download", extension]).in_folder(&folder),
        Call::new("sh", ["-c", &unpack]).in_folder(&folder),
        Call::new("phpize", [""; 0]).in_folder(&source),
        Call::new("./configure", [""; 0]).in_folder(&source),
        Call::new("make", [format!("-j{jobs}")]).in_folder(&source),
    ]
}

/// Downloads and builds the extension and puts the one file that matters in its place.
pub(super) fn fetch(extension: &str, worker: &mut Worker<'_>) -> Result<(), FetchError> {
    let staging = worker.toolbox.staging();
    let folder = staging.join(extension);
    make_folder(&folder.join("source"))?;
    let [download, build @ ..] = calls(extension, &staging);
    worker.run(&download, DOWNLOAD_PATIENCE)?;
    for call in build {
        worker.run(&call, BUILD_PATIENCE)?;
    }
    let built = folder.join("source/modules").join(format!("{extension}.so"));
    if !built.is_file() {
        return Err(FetchError::Result { what: format!("{extension}.so") });
    }
    worker.put_in_place(&built, &worker.toolbox.swoole_extension())?;
    worker.installed.swoole = archive(&folder).and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    Ok(())
}

fn archive(folder: &Path) -> Option<PathBuf> {
    let mut paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "tgz"))
}
