//! Exit codes, and how verbs report failures.

use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use tolok_lab::home::HomeError;
use tolok_lab::pool::PoolError;
use tolok_lab::request_list::ListError;
use tolok_lab::run::{RunError, SlurmError};
use tolok_lab::toolbox::ToolboxError;
use tolok_load::error::LoadError;
use tolok_model::secrets::masked;
use tolok_model::shown::quotable;
use tolok_store::{StoreError, is_of_the_place};

use crate::mistaken::{Found, instead_of};
use crate::problems;

/// How tolok ended; `tolok help` lists the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    /// Something inside tolok or the machine failed.
    Internal = 1,
    /// The command line or a study file is wrong.
    Usage = 2,
    /// A threshold was crossed, a regression found, or a published table contradicts itself.
    ThresholdCrossed = 3,
    /// The data cannot answer the question. For compared runs: no regression is shown, but a figure to judge is undecided.
    CannotTell = 4,
    /// It ran, but not every trial is sound; or there was nothing to measure.
    GateFailed = 5,
    /// A required runtime is missing.
    Missing = 6,
    /// Interrupted; finished trials are kept.
    Interrupted = 130,
}

impl Exit {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Internal,
        Self::Usage,
        Self::ThresholdCrossed,
        Self::CannotTell,
        Self::GateFailed,
        Self::Missing,
        Self::Interrupted,
    ];

    /// What it means, in a few words.
    pub fn means(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Internal => "internal error",
            Self::Usage => "wrong command line or file",
            Self::ThresholdCrossed => {
                "a threshold was crossed, a regression found, or a published table contradicts itself"
            }
            Self::CannotTell => "cannot tell",
            Self::GateFailed => "ran, but the figures are not sound",
            Self::Missing => "a needed runtime is missing",
            Self::Interrupted => "interrupted; finished trials are kept",
        }
    }

    /// The code for a file that cannot be written: a wrong path is a usage error, anything else a failure of the machine.
    pub fn of_writing(error: &std::io::Error) -> Self {
        if is_of_the_place(error) { Self::Usage } else { Self::Internal }
    }

    /// The exit that another tolok's code means.
    pub fn of_code(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| *exit as i32 == code)
    }
}

#[derive(Debug)]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// What is wrong and what to do, ready to print; it begins with `error:`.
    pub text: String,
    /// Whether the only problem is that this machine lacks something.
    pub is_missing_dependency: bool,
}

impl CliError {
    /// An error of one sentence.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        let text = format!("error: {}", quotable(&masked(&message.to_string())));
        Self { exit, text, is_missing_dependency: false }
    }

    /// An error in the command line or a file.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A usage error about a name. If something else has that name, the message says what.
    fn mistaken(wanted: &str, name: &str, error: &dyn std::fmt::Display) -> Self {
        instead_of(wanted, name).map_or_else(|| Self::usage(error), Self::usage)
    }

    /// An error because this machine lacks something.
    pub fn lack(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self { is_missing_dependency: true, ..Self::new(exit, message) }
    }
}

/// What is wrong with a name, and what the user may have meant.
pub fn with_help((message, help): (String, Option<String>)) -> String {
    help.map_or_else(|| message.clone(), |help| format!("{message}; {help}"))
}

impl From<HomeError> for CliError {
    fn from(error: HomeError) -> Self {
        match error {
            HomeError::Wrong { path, text, problems } => Self {
                exit: Exit::Usage,
                text: problems::render(&path, &text, &problems),
                is_missing_dependency: false,
            },
            HomeError::NoStudy { ref name, .. } => Self::mistaken("study", name, &error),
            HomeError::NoSource { ref name, .. } => Self::mistaken("source to measure again", name, &error),
            HomeError::NoPublished { ref name, .. } => Self::mistaken("table", name, &error),
            HomeError::NoScript { .. }
            | HomeError::NoToml { .. }
            | HomeError::Taken { .. }
            | HomeError::Imports { .. } => Self::usage(error),
            // The user chose the file or the folder.
            HomeError::Unreadable { .. } | HomeError::NotLaidOut { .. } | HomeError::NoFolder { .. } => {
                Self::usage(error)
            }
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        match error {
            // No verb takes a plain folder, so the names of the nearest runs help more.
            StoreError::NoRun { ref name, .. } if Found::at(Path::new(name)) == Some(Found::Folder) => {
                Self::usage(&error)
            }
            StoreError::NoRun { ref name, .. } => Self::mistaken("run", name, &error),
            StoreError::Ambiguous { .. } => Self::usage(error),
            StoreError::Content { .. } => {
                Self::usage(format!("{error}; `tolok verify` lists everything in the run that was changed"))
            }
            // As when another tolok measures: nothing was done, and a later try can succeed.
            StoreError::Busy { .. } => Self::new(Exit::GateFailed, error),
            // The folder is not a run, or the folder for runs cannot be used.
            _ if error.is_of_the_folder() => Self::usage(error),
            _ => Self::new(Exit::Internal, error),
        }
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            error => Self::new(Exit::Internal, error),
        }
    }
}

impl From<SlurmError> for CliError {
    fn from(error: SlurmError) -> Self {
        match error {
            SlurmError::NotStarted { .. } => Self::lack(Exit::Missing, error),
            SlurmError::Pool(error) => error.into(),
            error => Self::new(Exit::GateFailed, error),
        }
    }
}

impl From<PoolError> for CliError {
    fn from(error: PoolError) -> Self {
        let exit = match &error {
            PoolError::WrongFile { .. } | PoolError::NotWritten { .. } | PoolError::IsThere(_) => Exit::Usage,
            PoolError::Stopped => Exit::Interrupted,
            PoolError::HalfUndone(why, _) if matches!(**why, PoolError::Stopped) => Exit::Interrupted,
            _ => Exit::GateFailed,
        };
        Self::new(exit, error)
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        let exit = match error {
            LoadError::Option { option, reason } => return Self::usage(format!("--{option}: {reason}")),
            LoadError::Url { .. } => Exit::Usage,
            LoadError::Host { .. }
            | LoadError::Unreachable { .. }
            | LoadError::Tls { .. }
            | LoadError::Http2 { .. } => Exit::GateFailed,
            _ => Exit::Internal,
        };
        Self::new(exit, format!("failed to {error}"))
    }
}

impl From<ListError> for CliError {
    fn from(error: ListError) -> Self {
        Self::usage(error)
    }
}

impl From<ToolboxError> for CliError {
    fn from(error: ToolboxError) -> Self {
        Self::usage(format!("failed to {error}"))
    }
}

/// Prints the error, if there is one, and returns the code for the shell.
pub fn code(ended: Result<Exit, CliError>) -> ExitCode {
    let exit = ended.unwrap_or_else(|complaint| {
        anstream::eprintln!("{}", complaint.text.trim_end());
        complaint.exit
    });
    ExitCode::from(exit as u8)
}

/// Prints clap's output: help and versions are results, everything else is a usage error.
pub fn of_clap(error: &clap::Error) -> ExitCode {
    let is_data = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let whole = error.to_string();
    let shown = quotable(&masked(&whole));
    if is_data || shown == whole {
        // With colours. Printing fails only if the reader has gone, and then there is no one to tell.
        let _ = error.print();
    } else {
        anstream::eprintln!("{}", shown.trim_end());
    }
    if is_data { ExitCode::SUCCESS } else { ExitCode::from(Exit::Usage as u8) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_place_of_a_run_keeps_the_names_of_the_nearest_runs() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().display().to_string();
        let near = vec!["2026-11-21-users-7f3a".to_owned()];
        let refused = CliError::from(StoreError::NoRun { name, runs: "runs".into(), near });
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.text.contains("the nearest is 2026-11-21-users-7f3a"), "{}", refused.text);
    }
}
