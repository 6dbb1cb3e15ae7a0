//! Why the catalogue or a study cannot be read.

use std::path::{Path, PathBuf};

use tolok_model::Problem;
use tolok_model::wording::suggestion;

use super::HOME_VARIABLE;

/// Why the catalogue or a study cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error(
        "cannot lay out the subjects and workloads of this program in {}: {source}; set XDG_CACHE_HOME to a folder that you \
         may write and that has room, or {HOME_VARIABLE} to a checkout", path.display()
    )]
    NotLaidOut { path: PathBuf, source: std::io::Error },
    #[error("HOME is not set, and {} cannot be used: {source}; set HOME, or XDG_CACHE_HOME to a folder of your own", path.display())]
    NoFolder { path: PathBuf, source: std::io::Error },
    #[error("cannot read {}: {source}; {}", path.display(), readable(source))]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error(
        "the study names the script `{file}`, and {} cannot be read: {source}; it must be a file in the study's folder or below, and no link", path.display()
    )]
    NoScript { file: String, path: PathBuf, source: std::io::Error },
    #[error("{} is no study: {what}", path.display())]
    NoToml { path: PathBuf, what: String },
    #[error(
        "the script {} imports `{module}`, and k6 gets a single file; bundle it first, for example: npx esbuild {} --bundle \
         --external:k6 --external:'k6/*' --format=esm --outfile=bundled.js", path.display(), path.display()
    )]
    Imports { path: PathBuf, module: String },
    #[error("{} has the name of a workload that comes with tolok; give the folder another name than {name}", path.display())]
    Taken { path: PathBuf, name: String },
    #[error("{} has {} problem(s)", path.display(), problems.len())]
    Wrong { path: PathBuf, text: String, problems: Vec<Problem> },
    #[error(
        "there is no source `{name}` that can be measured again; {}; tolok list sources shows all",
        suggestion(name, known)
    )]
    NoSource { name: String, known: Vec<String> },
    #[error("there is no study `{name}`, neither a file nor one that comes with tolok; {}", meant(name, known))]
    NoStudy { name: String, known: Vec<String> },
    #[error(
        "there is no published table `{name}`, neither a file nor one that comes with tolok; {}",
        transcribed(name, known)
    )]
    NoPublished { name: String, known: Vec<String> },
}

fn readable(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::NotFound => {
            "it belongs to the checkout: get it back with git, or set TOLOK_HOME to a whole checkout"
        }
        std::io::ErrorKind::InvalidData => "save it as UTF-8",
        std::io::ErrorKind::FileTooLarge => "what is larger is not read",
        _ => "see whether you may read it",
    }
}

/// Suggests a known study, and how to create a new one.
fn meant(name: &str, known: &[String]) -> String {
    format!("{}; to begin one: tolok new study NAME", among(name, known))
}

/// Suggests a known table, and how to write one.
fn transcribed(name: &str, known: &[String]) -> String {
    let known = if known.is_empty() { String::new() } else { among(name, known) + "; " };
    format!("{known}`tolok help docs/audit.md` says how to write one")
}

/// For a path, compare its name: somebody may have looked for a known file in the wrong folder.
fn among(name: &str, known: &[String]) -> String {
    suggestion(&Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy()), known)
}
