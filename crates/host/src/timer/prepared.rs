//! A command in the form that the kernel needs, prepared before the process that executes it.
//!
//! Between fork and exec nothing may be allocated or looked up. So this holds all strings, terminated by a NUL, and the
//! lists of pointers to them.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::job::{Task, TimerJob};

/// Where to look for a program if its environment has no `PATH`.
const PATH: &str = "/usr/bin:/bin";

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    #[error("no program is named")]
    NoProgram,
    #[error("{text:?} has a NUL, which no argument, variable or path can have")]
    Nul { text: String },
    #[error("{program} is in no folder of its PATH, which is {path}")]
    NotFound { program: String, path: String },
    #[error("no process could be made for {program}: {source}")]
    NoProcess { program: String, source: io::Error },
    #[error("cannot enter the folder {folder}: {source}")]
    Folder { folder: String, source: io::Error },
    #[error("the process for {program} could not be set up: {source}")]
    SetUp { program: String, source: io::Error },
    #[error("cannot execute {program}: {source}")]
    Program { program: String, source: io::Error },
}

/// All that a child needs to become a program.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) program: CString,
    pub(super) arguments: Strings,
    pub(super) env: Strings,
    pub(super) folder: CString,
}

/// Strings, and a null-terminated list of pointers to them.
#[derive(Debug)]
pub(super) struct Strings {
    pointers: Vec<*const c_char>,
    /// The strings, which do not move on the heap.
    _kept: Vec<CString>,
}

impl Prepared {
    /// The command of `task`, with the environment and folder of `job`.
    pub(super) fn new(job: &TimerJob, task: &Task) -> Result<Self, NotStarted> {
        let name = task.argv.first().ok_or(NotStarted::NoProgram)?;
        Ok(Self {
            program: c_string(find(name, &job.env, &job.cwd)?.into_os_string().into_vec())?,
            arguments: Strings::new(task.argv.iter().cloned())?,
            env: Strings::new(job.env.iter().map(|(name, value)| format!("{name}={value}")))?,
            folder: c_string(job.cwd.clone().into_os_string().into_vec())?,
        })
    }
}

impl Strings {
    fn new(texts: impl Iterator<Item = String>) -> Result<Self, NotStarted> {
        let kept = texts.map(|text| c_string(text.into_bytes())).collect::<Result<Vec<_>, _>>()?;
        let pointers = kept.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Ok(Self { pointers, _kept: kept })
    }

    /// In the form that `execve` needs.
    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

/// A C string for messages.
pub(super) fn readable(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}

fn c_string(bytes: Vec<u8>) -> Result<CString, NotStarted> {
    let with_nul = |error: std::ffi::NulError| String::from_utf8_lossy(&error.into_vec()).into_owned();
    CString::new(bytes).map_err(|error| NotStarted::Nul { text: with_nul(error) })
}

/// The file to execute. A name without a slash is looked up in `PATH`, as in a shell.
fn find(name: &str, env: &BTreeMap<String, String>, cwd: &Path) -> Result<PathBuf, NotStarted> {
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let path = env.get("PATH").map_or(PATH, String::as_str);
    let is_program = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    let mut files = path.split(':').map(|folder| cwd.join(folder).join(name));
    files.find(is_program).ok_or_else(|| NotStarted::NotFound { program: name.to_owned(), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, path: Option<&str>) -> Result<PathBuf, String> {
        let env = path.map(|path| ("PATH".to_owned(), path.to_owned())).into_iter().collect();
        find(name, &env, Path::new("/bin")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_is_looked_for_in_path_and_a_path_is_not() {
        assert_eq!(found("./queue", None), Ok(PathBuf::from("./queue")));
        assert_eq!(found("sh", Some("/nonexistent:/bin:/usr/bin")), Ok(PathBuf::from("/bin/sh")));
        // An empty entry is the folder where the program runs.
        assert_eq!(found("sh", Some(":/nonexistent")), Ok(PathBuf::from("/bin/sh")));
        assert!(found("sh", None).is_ok());
        let nowhere = "sh is in no folder of its PATH, which is /nonexistent:/etc";
        assert_eq!(found("sh", Some("/nonexistent:/etc")), Err(nowhere.to_owned()));
        // A file that cannot be executed does not count.
        assert!(found("passwd", Some("/etc")).is_err());
    }

    #[test]
    fn a_nul_is_refused() {
        let error = Strings::new(["a".to_owned(), "b\0c".to_owned()].into_iter()).unwrap_err().to_string();
        assert_eq!(error, r#""b\0c" has a NUL, which no argument, variable or path can have"#);
    }
}
