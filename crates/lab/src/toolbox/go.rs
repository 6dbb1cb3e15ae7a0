//! Programs that Go builds from the sources of a module, at one exact version.
//!
//! The modules come from the user's own settings (`GOPROXY` and similar, `go env -w`), and their checksums are verified as
//! the user's Go does. Go writes only to the staging folder, and only the finished program is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::catalogue::GoPackage;
use super::detect::state;
use super::fetch::{FetchError, Worker, make_folder};
use super::{ProgramState, Toolbox, Version};
use tolok_host::call::Call;

/// k6 takes some two minutes of CPU time, more on a loaded machine, and its modules are a long download on a slow line.
const PATIENCE: Duration = Duration::from_secs(45 * 60);

/// Why the package cannot be built here; `None` if it can.
pub(super) fn obstacle(package: &GoPackage, toolbox: &Toolbox) -> Option<String> {
    let needed = format!("it is built from source with Go {} or newer, but this machine has", package.go);
    let go = toolbox.catalogue.recipe("go").map(|recipe| state(recipe, toolbox));
    match go {
        Ok(ProgramState::Ready(go)) if Version::parse(&go.version) >= Version::parse(&package.go) => None,
        Ok(ProgramState::Ready(go)) => Some(format!("{needed} Go {}", go.version)),
        Ok(ProgramState::Broken { seen, .. }) => Some(format!("{needed} none that will do: {seen}")),
        Ok(ProgramState::Missing { .. }) | Err(_) => Some(format!("{needed} no Go")),
    }
}

/// The command that builds the package.
pub(super) fn call(package: &GoPackage, staging: &Path) -> Call {
    let folder = |name: &str| folder(staging, name).to_string_lossy().into_owned();
    Call::new("go", ["install".to_owned(), format!("{}@{}", package.package, package.version)])
        .env("GOBIN", folder("bin"))
        .env("GOCACHE", folder("cache"))
        .env("GOMODCACHE", folder("modules"))
        .env("GOPATH", folder("path"))
        .env("GOTMPDIR", folder("tmp"))
        // Replaces the user's flags, which are for other builds; and lets the modules be removed again.
        .env("GOFLAGS", "-modcacherw")
        .env("GO111MODULE", "on")
        .env("GOWORK", "off")
        // Only the installed Go, no downloaded one; and no C compiler, because its presence would change the result.
        .env("GOTOOLCHAIN", "local")
        .env("CGO_ENABLED", "0")
}

/// Builds the package in the staging folder and puts the program in its place.
pub(super) fn fetch(program: &str, package: &GoPackage, worker: &mut Worker<'_>) -> Result<(), FetchError> {
    let staging = worker.toolbox.staging();
    make_folder(&folder(&staging, "tmp"))?;
    worker.run(&call(package, &staging), PATIENCE)?;
    // Go names a program after the last component of its package path.
    let name = package.package.rsplit('/').next().unwrap_or_default();
    let built = folder(&staging, "bin").join(name);
    if !built.is_file() {
        return Err(FetchError::Result { what: name.to_owned() });
    }
    worker.put_in_place(&built, &worker.toolbox.go_program(program))?;
    worker.installed.go.insert(package.package.clone(), package.version.clone());
    Ok(())
}

fn folder(staging: &Path, name: &str) -> PathBuf {
    staging.join("go").join(name)
}
