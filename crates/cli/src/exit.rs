//! Exit codes, and how a verb that failed says so.

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

use crate::mistaken::instead_of;
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
    /// What was asked cannot be told from what there is; of runs that are compared: no regression is known, and of something that
    /// was to be judged it cannot be told.
    CannotTell = 4,
    /// It ran, but not every trial is sound; or there was nothing to measure.
    GateFailed = 5,
    /// A runtime that is needed is missing.
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

    /// Of a file that cannot be written: whether its place was named wrongly, or the machine failed.
    pub fn of_writing(error: &std::io::Error) -> Self {
        if is_of_the_place(error) { Self::Usage } else { Self::Internal }
    }

    /// What another tolok means by its code.
    pub fn of_code(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| *exit as i32 == code)
    }
}

#[derive(Debug)]
pub struct CliError {
    /// The code to leave with.
    pub exit: Exit,
    /// What is wrong and what to do, ready to be shown; it begins with `error:`.
    pub text: String,
    /// Whether the only fault is that this machine lacks something.
    pub is_missing_dependency: bool,
}

impl CliError {
    /// A complaint of one sentence.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        let text = format!("error: {}", quotable(&masked(&message.to_string())));
        Self { exit, text, is_missing_dependency: false }
    }

    /// A complaint about the command line or a file.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A complaint about a name, which may be that of something else than was wanted.
    fn mistaken(wanted: &str, name: &str, error: &dyn std::fmt::Display) -> Self {
        instead_of(wanted, name).map_or_else(|| Self::usage(error), Self::usage)
    }

    /// The same of a machine that lacks what was asked for.
    pub fn lack(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self { is_missing_dependency: true, ..Self::new(exit, message) }
    }
}

/// What is wrong with a name, and what may be meant instead.
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
            StoreError::NoRun { ref name, .. } => Self::mistaken("run", name, &error),
            StoreError::Ambiguous { .. } => Self::usage(error),
            StoreError::Content { .. } => {
                Self::usage(format!("{error}; `tolok verify` lists everything in the run that was changed"))
            }
            // As where another tolok measures: nothing was, and later it can be.
            StoreError::Busy { .. } => Self::new(Exit::GateFailed, error),
            // What is there is no run, or the folder for runs cannot be used.
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

/// Shows a complaint, if there is one, and gives the code for the shell.
pub fn code(ended: Result<Exit, CliError>) -> ExitCode {
    let exit = ended.unwrap_or_else(|complaint| {
        anstream::eprintln!("{}", complaint.text.trim_end());
        complaint.exit
    });
    ExitCode::from(exit as u8)
}

/// Shows what clap has to say: help and versions are data, everything else is a usage error.
pub fn of_clap(error: &clap::Error) -> ExitCode {
    let is_data = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let whole = error.to_string();
    let shown = quotable(&masked(&whole));
    if is_data || shown == whole {
        // In colours. It fails only if the reader has gone, and then an error has no reader either.
        let _ = error.print();
    } else {
        anstream::eprintln!("{}", shown.trim_end());
    }
    if is_data { ExitCode::SUCCESS } else { ExitCode::from(Exit::Usage as u8) }
}
