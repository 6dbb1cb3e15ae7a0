//! Help that belongs to all verbs: `tolok help exit-codes`, the manual page, the reference.

use std::fmt::Write;

use crate::exit::Exit;

/// A topic of `tolok help` that is not a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    ExitCodes,
    Environment,
    Files,
}

impl Topic {
    /// In display order.
    pub const ALL: [Self; 3] = [Self::ExitCodes, Self::Environment, Self::Files];

    pub fn word(self) -> &'static str {
        match self {
            Self::ExitCodes => "exit-codes",
            Self::Environment => "environment",
            Self::Files => "files",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::ExitCodes => "Exit codes",
            Self::Environment => "Environment variables",
            Self::Files => "Files",
        }
    }

    /// Pairs of a name and its explanation.
    pub fn entries(self) -> Vec<(String, &'static str)> {
        match self {
            Self::ExitCodes => Exit::ALL.iter().map(|exit| ((*exit as i32).to_string(), in_full(*exit))).collect(),
            Self::Environment => owned(&VARIABLES),
            Self::Files => owned(&FILES),
        }
    }

    /// The whole topic, for a terminal of `width` columns.
    pub fn text(self, width: usize) -> String {
        let entries = self.entries();
        let names = entries.iter().map(|(name, _)| name.len()).filter(|length| *length < 24).max().unwrap_or_default();
        let mut text = format!("{}:\n", self.title());
        for (name, words) in entries {
            let lines = wrapped(words, width.saturating_sub(names + 4).max(30));
            let first = lines.first().map(String::as_str).unwrap_or_default();
            // A long name gets its own line; otherwise it would widen the column of all others.
            let _ = if name.len() > names {
                writeln!(text, "  {name}\n  {:names$}  {first}", "")
            } else {
                writeln!(text, "  {name:names$}  {first}")
            };
            for line in lines.iter().skip(1) {
                let _ = writeln!(text, "  {:names$}  {line}", "");
            }
        }
        text
    }
}

fn owned(entries: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    entries.iter().map(|(name, words)| ((*name).to_owned(), *words)).collect()
}

/// A short summary of the exit codes, for the end of `tolok --help`.
pub fn exit_codes_in_short() -> String {
    let lines: Vec<String> = Exit::ALL.iter().map(|exit| format!("  {:<4} {}", *exit as i32, exit.means())).collect();
    format!(
        "Exit codes (in full: tolok help exit-codes):\n{}\n\nResults go to standard output, progress to standard error.",
        lines.join("\n")
    )
}

fn in_full(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "done; `resume`: also a finished run that is unsound",
        Exit::Interrupted => exit.means(),
        Exit::Internal => "internal error: tolok or the machine failed (a full disk, too few open files)",
        Exit::Usage => "wrong command line or file, or no such run; `compare`: the conditions of the runs differ",
        Exit::ThresholdCrossed => {
            "a subject crossed an objective of the study (the ceiling does not count); `load`: a threshold failed; `compare`: a regression, shown by two or more runs of each; `audit`: a published table contradicts itself"
        }
        Exit::CannotTell => {
            "cannot tell: `forecast` predicts nothing from this run; `compare`: no regression shown, but a main figure is undecided, or worse in one pair of runs, or a history has no figure; `replicate`: every claim is undecided"
        }
        Exit::GateFailed => {
            "ran, but not every trial is sound (comes before 3): one failed or is missing, or a flag keeps a case out of the \
             ranking. `compare`: a run has no ranked case; `load`: its figures cannot be trusted, no correct response came, or a \
             request failed without a threshold on failures or goodput; `replicate`: a run is not sound; `fidelity`: a subject \
             could not be tested, or leaks connections; `check`: a subject does not start or respond correctly; `verify`: a file \
             was changed, or does not follow from the raw data; `pool`: machines do not fit, or a node is down"
        }
        Exit::Missing => {
            "a runtime, database or tool is missing, so nothing can run, or with `--strict`; `setup` could not fetch it; `check`: a named subject lacks a program, or nothing is ready"
        }
    }
}

const VARIABLES: [(&str, &str); 13] = [
    (
        "TOLOK_HOME",
        "the checkout with `subjects/`, `workloads/`, `studies/` [default: the working folder or one above it, else the \
         program's own place, else what is built in]. The wrapper sets it",
    ),
    ("TOLOK_RUNS", "the same as `--runs`"),
    ("TOLOK_IF_OTHER_RUN", "the same as `--if-other-run`"),
    ("TOLOK_IF_BUSY", "the same as `--if-busy` of `tolok load`"),
    ("TOLOK_TOOLBOX", "the toolbox [default: `$XDG_CACHE_HOME/tolok/toolbox` or `~/.cache/tolok/toolbox`]"),
    ("TOLOK_SWOOLE_SO", "a `swoole.so` that you built"),
    ("TOLOK_SWOOLE_SOURCE", "Swoole's source archive for `tolok setup swoole`, the same as `--from`"),
    (
        "XDG_CACHE_HOME",
        "its `tolok/builds` keeps builds of subjects, `tolok/databases` loaded databases, `tolok/shipped` what is built in",
    ),
    ("XDG_DATA_HOME", "runs go to its `tolok/runs` if the checkout is read-only"),
    ("TMPDIR", "the private folders of trials"),
    ("NO_COLOR, CLICOLOR_FORCE", "no colours; colours"),
    ("TERM", "`dumb`: no progress bar"),
    ("CARGO_TARGET_DIR", "where the wrapper builds"),
];

const FILES: [(&str, &str); 8] = [
    ("studies/NAME.toml", "a study: a question, the subjects, and their load"),
    ("subjects/RUNTIME/NAME/subject.toml", "a subject: how to build, start and tune it, beside its sources"),
    ("workloads/NAME/workload.toml", "a workload: a request and its correct response"),
    ("published/NAME.toml", "a published table as printed, with its source's description of the measurement"),
    (
        "schemas/*.schema.json",
        "JSON Schemas of these files and of what tolok writes. Editors check a study whose first line is `#:schema PATH`",
    ),
    (
        "runs/DATE-TIME-STUDY-SEED/",
        "a run: its study, its plan, a record of every trial with the raw data, and its reports",
    ),
    ("~/.cache/tolok/toolbox/", "programs that `setup` fetched"),
    (
        "~/.cache/tolok/builds/, databases/",
        "builds and loaded databases, shared by many trials. You can delete them at any time",
    ),
];

/// Wraps words into lines of at most `width` columns.
pub fn wrapped(words: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_fit_the_terminal_and_say_each_code_once() {
        for topic in Topic::ALL {
            let text = topic.text(100);
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
        let codes: Vec<String> = Topic::ExitCodes.entries().into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["0", "1", "2", "3", "4", "5", "6", "130"]);
    }

    #[test]
    fn words_are_broken_between_and_never_within() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 3), ["incomprehensible"]);
    }
}
