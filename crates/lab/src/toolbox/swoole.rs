//! Finds the extension Swoole, and the build of it whose coroutines wait for PostgreSQL.
//!
//! With libpq, Swoole maps some twenty more libraries into every process. So tolok builds it a second time, and only trials with
//! PostgreSQL load that build.

use std::path::{Path, PathBuf};

use super::catalogue::PackageManager;
use super::detect::{Refusal, ask};
use super::version::find_version;
use super::{Program, Recipe, Toolbox, extras, php_driver};
use tolok_host::call::Call;

/// What Swoole reports about itself if it was built with `--enable-swoole-pgsql`.
const WAITS_FOR_POSTGRES: &str = "coroutine_pgsql => enabled";

/// `extension` (empty if PHP already loads Swoole), `extensions` and `php_version`; the version becomes that of Swoole.
pub(super) fn extension(program: &mut Program, info: &str, toolbox: &Toolbox) -> Result<(), Refusal> {
    extras::php_extensions(program, info, toolbox)?;
    let own_folder = program.extras.get("extensions").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let named = toolbox.surroundings.swoole_so.clone();
    let built = toolbox.swoole_extension("swoole");
    let installed = own_folder.map(|folder| folder.join("swoole.so"));
    let mut files = vec![None];
    files.extend(named.into_iter().chain(installed.filter(|file| file.is_file())).map(Some));
    files.extend(Some(built).filter(|file| file.is_file()).map(Some));
    let mut refusal = None;
    for file in files {
        match version(program, file.as_deref(), toolbox) {
            Ok(version) => {
                let php_version = std::mem::replace(&mut program.version, version);
                program.extras.insert("php_version".to_owned(), php_version);
                program.extras.insert("extension".to_owned(), text(file.as_deref()));
                return Ok(());
            }
            // The problem of an existing file is more informative than that PHP has no Swoole of its own.
            Err(found) => refusal = Some(found),
        }
    }
    Err(refusal.expect("at least PHP itself was asked"))
}

fn version(program: &Program, extension: Option<&Path>, toolbox: &Toolbox) -> Result<String, Refusal> {
    let call = question(program, extension);
    match ask(&call, &toolbox.surroundings) {
        Ok(answer) => version_in(&answer.text, &call),
        Err(refusal) if extension.is_some() => Err(refusal),
        Err(_) => {
            let (path, version) = (program.path.display(), &program.version);
            Err(Refusal::Incomplete(format!("{path} {version} is here, without swoole")))
        }
    }
}

/// `extension`, and `pdo`, which it needs: the files to load, empty if PHP loads them already. `program` is the PHP with Swoole,
/// and becomes the part.
pub(super) fn postgres(recipe: &Recipe, program: &mut Program, toolbox: &Toolbox) -> Result<(), Refusal> {
    let is_ours = is_ours(program, toolbox);
    if is_ours {
        // The toolbox may have libpq, even if PHP is the system's.
        program.env.extend(toolbox.library_env());
    }
    let extension = if is_ours { Some(toolbox.swoole_extension(&recipe.name)) } else { loaded(program) };
    let name = |file: Option<&Path>| file.unwrap_or(&program.path).display().to_string();
    if is_ours && !extension.as_ref().is_some_and(|file| file.is_file()) {
        let file = name(Some(&toolbox.swoole_extension("swoole")));
        return Err(Refusal::Incomplete(format!("{file} {} is here, built without PostgreSQL", program.version)));
    }
    let pdo = php_driver::files_to_load(recipe, program, &["pdo"], toolbox)?.remove(0);
    let files = pdo.iter().chain(&extension).map(PathBuf::as_path);
    let call = question(program, files);
    let said = ask(&call, &toolbox.surroundings)?.text;
    if !said.contains(WAITS_FOR_POSTGRES) {
        let reason = format!("the Swoole of {} was built without --enable-swoole-pgsql", name(extension.as_deref()));
        return Err(Refusal::Unsupported { reason, command: recipe.by_hand(PackageManager::Unknown) });
    }
    program.version = version_in(&said, &call)?;
    program.extras =
        [("extension", &extension), ("pdo", &pdo)].map(|(name, file)| (name.to_owned(), text(file.as_deref()))).into();
    program.path = extension.unwrap_or_else(|| program.path.clone());
    Ok(())
}

/// The version in Swoole's answer to [`question`].
fn version_in(said: &str, call: &Call) -> Result<String, Refusal> {
    find_version(said, "Version => ").ok_or_else(|| Refusal::Broken(format!("`{call}` printed no version")))
}

/// Why the recipe's build would not be used: a user's own Swoole is loaded, and PHP cannot load another beside it.
pub(super) fn obstacle(recipe: &Recipe, toolbox: &Toolbox) -> Option<String> {
    let whole = recipe.part_of.as_deref().filter(|_| recipe.pecl.is_some())?;
    let state = toolbox.detect(whole).ok()?;
    let other = state.ready().filter(|program| !is_ours(program, toolbox))?;
    Some(format!("{} loads a Swoole that tolok did not build", other.path.display()))
}

fn is_ours(program: &Program, toolbox: &Toolbox) -> bool {
    loaded(program) == Some(toolbox.swoole_extension("swoole"))
}

/// The extension file of Swoole; `None` if PHP loads Swoole by itself.
fn loaded(program: &Program) -> Option<PathBuf> {
    program.extras.get("extension").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// Asks PHP about Swoole, with these extensions loaded.
fn question<'a>(program: &Program, files: impl IntoIterator<Item = &'a Path>) -> Call {
    let load = |file: &Path| ["-d".to_owned(), format!("extension={}", file.display())];
    let arguments = files.into_iter().flat_map(load).chain(["--ri", "swoole"].map(str::to_owned));
    Call::new(&program.path, arguments).with_env(&program.env)
}

fn text(file: Option<&Path>) -> String {
    file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default()
}
