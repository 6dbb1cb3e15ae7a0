//! Errors that prevent a bench from measuring. A problem with one generator is a result, not an error.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A program of ours is not next to this one.
    #[error("{} is missing; the scripts of the benches build it", path.display())]
    NotBuilt { path: PathBuf },
    /// Server and generator would share a CPU.
    #[error(
        "server and generator need a CPU each, and this process may use {allowed:?}; name two with --server-cpu and --generator-cpu"
    )]
    Cpus { allowed: Vec<u32> },
    #[error("cannot write {}: {source}; free some space or name another place", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("the server under load {did}: {reason}")]
    Server { did: &'static str, reason: String },
    #[error("failed to {doing}: {source}")]
    Failed { doing: String, source: io::Error },
    #[error("failed to {0}")]
    Toolbox(String),
    #[error(transparent)]
    Link(#[from] tolok_link::LinkError),
    #[error("no packet came through the link within {seconds} s")]
    Silent { seconds: u64 },
    /// The link's account does not balance, or differs from the measurements.
    #[error("the account of the link does not close: {what}")]
    Account { what: String },
}

/// For `map_err`.
pub fn failed<E: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(E) -> BenchError {
    move |source| BenchError::Failed { doing: doing.into(), source: source.into() }
}

/// Creates the folder of a file that will be written much later, and checks now that the file can be written.
pub fn prepare_file(path: &Path) -> Result<(), BenchError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    let opened = made.and_then(|()| std::fs::File::options().create(true).append(true).open(path));
    opened.map(drop).map_err(|source| BenchError::Write { path: path.to_owned(), source })
}

/// Writes a whole file; the error names the file.
pub fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    std::fs::write(path, text).map_err(|source| BenchError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_found_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/load.md");
        prepare_file(&path).unwrap();
        write(&path, "text").unwrap();
        prepare_file(&path).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "text",
            "the old content stays until the new one is written"
        );
        let error = prepare_file(&path.join("below-a-file")).unwrap_err().to_string();
        assert!(error.contains("below-a-file") && error.ends_with("free some space or name another place"), "{error}");
    }
}
