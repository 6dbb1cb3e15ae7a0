//! Options of the verbs for authors of subjects, workloads, studies and audits, and of the verbs about the command itself.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueHint};

use super::audit::CsvArgs;
use super::values::{BodyText, body};
use crate::scaffold::Runtime;

/// Options of `tolok new`.
#[derive(Debug, ClapArgs)]
pub struct NewArgs {
    /// What to begin.
    #[command(subcommand)]
    pub thing: NewThing,
}

/// What can be begun.
#[derive(Debug, Subcommand)]
pub enum NewThing {
    /// A server for the workloads `hello` and `json`, with its subject.toml.
    Subject(NewSubjectArgs),
    /// A request and its correct response.
    Workload(NewWorkloadArgs),
    /// A question: which subjects, under which load.
    Study(NewStudyArgs),
    /// A published table as data, for an audit.
    Audit(NewAuditArgs),
}

/// Options of `tolok new subject`.
#[derive(Debug, ClapArgs)]
pub struct NewSubjectArgs {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// What it runs on.
    #[arg(long, default_value = "go", value_name = "RUNTIME")]
    pub runtime: Runtime,
    /// Create it in this folder [default: subjects/RUNTIME of the checkout; outside one, the working folder].
    #[arg(long = "in", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Options of `tolok new workload`.
#[derive(Debug, ClapArgs)]
pub struct NewWorkloadArgs {
    /// Its name: lower-case letters, digits and hyphens. Without --from it is also its path.
    pub name: String,
    /// Record the request and its correct response from a running server: http://127.0.0.1:3000/api/users?page=2. tolok sends it three
    /// times, and compares as much of the body as stays the same.
    #[arg(long, value_name = "URL")]
    pub from: Option<String>,
    /// With --from: POST this body. @FILE reads it from a file.
    #[arg(long, requires = "from", value_name = "TEXT|@FILE", value_parser = body)]
    pub body: Option<BodyText>,
    /// With --body: its type.
    #[arg(long, requires = "body", value_name = "TYPE", default_value = "application/json")]
    pub content_type: String,
    /// Create it in this folder [default: workloads of the checkout; outside one, of the working folder].
    #[arg(long = "in", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Options of `tolok new study`.
#[derive(Debug, ClapArgs)]
pub struct NewStudyArgs {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// Subjects to compare, as a study names them, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "*")]
    pub subjects: Vec<String>,
    /// The workload that they serve.
    #[arg(long, value_name = "WORKLOAD", default_value = "hello")]
    pub workload: String,
    /// Create it in this folder [default: studies of the checkout; outside one, the working folder].
    #[arg(long = "in", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Options of `tolok new audit`.
#[derive(Debug, ClapArgs)]
pub struct NewAuditArgs {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// Start from these files: outputs of load generators, CSV or pages. Without a SUBJECT, an output's subject is its file name.
    /// Repeatable.
    #[arg(long, value_name = "[SUBJECT=]FILE", num_args = 1.., value_hint = ValueHint::FilePath)]
    pub from: Vec<String>,
    /// Create it in this folder [default: published of the checkout; outside one, the working folder].
    #[arg(long = "in", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// Options of `tolok check`.
#[derive(Debug, ClapArgs)]
#[command(after_help = CHECK_CODES)]
pub struct CheckArgs {
    /// Subjects, named as in a study (`go/nethttp`, `node/http:cluster`, `php/fpm:*`), or folders with a `subject.toml`
    /// [default: all variants of all subjects that are ready].
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
}

const CHECK_CODES: &str = "\
Workloads with a database are checked if MariaDB or MySQL is installed.

Exit codes:
  0    every response that a measurement asks for is correct; advice changes no exit code
  2    there is no such subject
  5    a subject does not start, or responds incorrectly
  6    a named subject lacks a program, or nothing is ready";

/// Options of `tolok help`.
#[derive(Debug, ClapArgs)]
pub struct HelpArgs {
    /// A verb, one of exit-codes, environment, files, or a document such as docs/audit.md.
    #[arg(value_name = "VERB|TOPIC", hide_possible_values = true)]
    pub about: Option<String>,
}

/// Options of `tolok completions`.
#[derive(Debug, ClapArgs)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
To have them in every new shell:
  bash        tolok completions bash > ~/.local/share/bash-completion/completions/tolok
  zsh         tolok completions zsh > DIR/_tolok, with DIR in $fpath before compinit
  fish        tolok completions fish > ~/.config/fish/completions/tolok.fish
  elvish      tolok completions elvish > ~/.config/elvish/lib/tolok.elv, and `use tolok` in rc.elv
  powershell  tolok completions powershell >> $PROFILE

Verbs, options, their values and file names are completed. Names of studies, subjects and runs are
not: they depend on the checkout and not on the program (`tolok list` shows them).";

/// Options of `tolok man`.
#[derive(Debug, ClapArgs)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The page of this verb [default: that of tolok].
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,
    /// Write the page to this folder, which is created if it is missing. Without a VERB: the pages of all verbs.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  tolok man | man -l -
  tolok man -o ~/.local/share/man/man1 && man tolok-run";
