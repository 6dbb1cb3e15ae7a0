//! Finds the extensions with which PHP connects to a database. The toolbox treats them as a part of that PHP.
//!
//! Distributions package them separately, so PHP may be here without them. tolok searches PHP's own folder of extensions, then
//! the same folder of the system and of the toolbox. PHP must then load them. A PHP inside a web server cannot be asked, so
//! there the files decide.

use std::path::{Path, PathBuf};

use super::detect::{Refusal, ask, complaint};
use super::{Program, Recipe, Toolbox};
use tolok_host::call::Call;

/// In load order.
const MYSQL: [&str; 3] = ["pdo", "mysqlnd", "pdo_mysql"];
const POSTGRES: [&str; 2] = ["pdo", "pdo_pgsql"];

/// `pdo`, `mysqlnd`, `pdo_mysql`, or those of another driver: the files to load, empty if this PHP loads the extension already.
/// `program` is the PHP, and becomes the part.
pub(super) fn complete(recipe: &Recipe, program: &mut Program, toolbox: &Toolbox) -> Result<(), Refusal> {
    let driver_name = recipe.driver.as_deref().unwrap_or("pdo_mysql");
    let extensions: &[&str] = if driver_name == "pdo_pgsql" { &POSTGRES } else { &MYSQL };
    let asks = !recipe.asked.is_empty();
    let own = own(recipe, program, toolbox)?;
    let files = files(&own, program, extensions, toolbox);
    let loaded: Vec<&Path> = files.iter().flatten().map(PathBuf::as_path).collect();
    if loaded.iter().any(|file| file.starts_with(toolbox.root())) {
        // The toolbox has the libraries of its extensions, even if PHP is the system's.
        program.env.extend(toolbox.library_env());
    }
    let driver = files.last().and_then(Option::as_ref);
    if driver.is_none() && !has(&own, driver_name) {
        let (path, version) = (program.path.display(), &program.version);
        return Err(Refusal::Incomplete(format!("{path} {version} is here, without PHP's extension {driver_name}")));
    }
    if asks && !loaded.is_empty() {
        let list = list(recipe, program, &loaded, toolbox)?;
        if !has(&list, driver_name) {
            let path = program.path.display();
            let said = complaint(&list);
            return Err(Refusal::Broken(format!("{path} does not load PHP's extension {driver_name}{said}")));
        }
    }
    if let Some(version) = program.extras.remove("php_version") {
        program.version = version;
    }
    if let Some(driver) = driver {
        program.path.clone_from(driver);
    }
    let text = |file: Option<PathBuf>| file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    program.extras = extensions.iter().map(|name| (*name).to_owned()).zip(files.into_iter().map(text)).collect();
    Ok(())
}

/// The files of these extensions, without those that this PHP loads by itself and those that are not here.
pub(super) fn files_to_load(
    recipe: &Recipe,
    program: &Program,
    extensions: &[&str],
    toolbox: &Toolbox,
) -> Result<Vec<Option<PathBuf>>, Refusal> {
    Ok(files(&own(recipe, program, toolbox)?, program, extensions, toolbox))
}

fn files(own: &str, program: &Program, extensions: &[&str], toolbox: &Toolbox) -> Vec<Option<PathBuf>> {
    let folders = folders(program, toolbox);
    let file = |name: &&str| {
        let files = folders.iter().map(|folder| folder.join(format!("{name}.so")));
        files.filter(|_| !has(own, name)).find(|file| file.is_file())
    };
    extensions.iter().map(file).collect()
}

/// The extensions that PHP loads by itself; empty if it cannot be asked.
fn own(recipe: &Recipe, program: &Program, toolbox: &Toolbox) -> Result<String, Refusal> {
    if recipe.asked.is_empty() { Ok(String::new()) } else { list(recipe, program, &[], toolbox) }
}

/// The extensions that PHP lists, one per line, when it is started with these files.
fn list(recipe: &Recipe, program: &Program, files: &[&Path], toolbox: &Toolbox) -> Result<String, Refusal> {
    let options = files.iter().flat_map(|file| ["-d".to_owned(), format!("extension={}", file.display())]);
    let arguments = options.chain(recipe.asked.iter().cloned());
    let call = Call::new(&program.path, arguments).with_env(&program.env);
    Ok(ask(&call, &toolbox.surroundings)?.text)
}

fn has(list: &str, extension: &str) -> bool {
    list.lines().any(|line| line.trim().eq_ignore_ascii_case(extension))
}

/// Folders that may contain this PHP's extensions: its own, and the same folder of the system and of the toolbox.
///
/// apt downloads only packages that the system lacks. If the system has `php8.2-common` but no PHP, the toolbox gets a PHP without
/// `pdo.so`, and that file is in the system's folder.
fn folders(program: &Program, toolbox: &Toolbox) -> Vec<PathBuf> {
    let own = ["extensions", "php_extensions"].into_iter().find_map(|name| program.extras.get(name));
    let Some(own) = own.filter(|folder| !folder.is_empty()).map(PathBuf::from) else { return Vec::new() };
    let (system, fetched) = (&toolbox.surroundings.system_root, toolbox.root());
    // Strips the toolbox's root first, because it is itself below the system's root.
    let below = own.strip_prefix(&fetched).or_else(|_| own.strip_prefix(system)).map(Path::to_owned);
    let others = below.into_iter().flat_map(|below| [system.join(&below), fetched.join(&below)]);
    let mut folders = vec![own.clone()];
    folders.extend(others.filter(|folder| *folder != own));
    folders
}
