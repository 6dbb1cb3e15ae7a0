//! Version managers such as pyenv, rbenv, asdf, mise and Volta put a shim before a program: a script or a link of their own. At
//! every start, the shim chooses a version by the current folder. This takes longer than many servers need to start. So servers
//! get the program itself.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::detect::{ask, is_executable};
use super::{Program, Recipe, Toolbox};
use tolok_host::call::Call;

/// The program itself, if the file found is a shim. A program that does not say where it is keeps its path.
pub(super) fn behind(recipe: &Recipe, program: &Program, toolbox: &Toolbox) -> PathBuf {
    let own = recipe.own_path.as_ref().filter(|_| is_shim(&program.path, &recipe.names));
    let said = own.and_then(|arguments| {
        let call = Call::new(&program.path, arguments.clone()).with_env(&program.env);
        ask(&call, &toolbox.surroundings).ok()
    });
    // Warnings may precede the path.
    let mut lines = said.iter().flat_map(|answer| answer.text.lines()).map(|line| PathBuf::from(line.trim()));
    lines.find(|path| path.is_absolute() && is_executable(path)).unwrap_or_else(|| program.path.clone())
}

/// Whether a file is a script, or a link to a file that is named differently.
fn is_shim(path: &Path, names: &[String]) -> bool {
    let Ok(real) = fs::canonicalize(path) else { return false };
    let file = real.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let is_named_so = names.iter().any(|name| file.starts_with(name.as_str()));
    !is_named_so || is_script(&real)
}

fn is_script(path: &Path) -> bool {
    let mut head = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"#!"
}
