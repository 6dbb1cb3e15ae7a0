//! What holds for all verbs and is asked for by itself: `tolok help exit-codes`, the manual page, the reference.

use std::fmt::Write;

use crate::exit::Exit;

/// Something that `tolok help` explains and that is no verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// What tolok leaves with.
    ExitCodes,
    /// What it reads of its environment.
    Environment,
    /// What it reads and writes.
    Files,
}

impl Topic {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::ExitCodes, Self::Environment, Self::Files];

    /// What is typed behind `tolok help`.
    pub fn word(self) -> &'static str {
        match self {
            Self::ExitCodes => "exit-codes",
            Self::Environment => "environment",
            Self::Files => "files",
        }
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::ExitCodes => "Exit codes",
            Self::Environment => "Environment variables",
            Self::Files => "Files",
        }
    }

    /// A name and what is to be known about it, one for each.
    pub fn entries(self) -> Vec<(String, &'static str)> {
        match self {
            Self::ExitCodes => Exit::ALL.iter().map(|exit| ((*exit as i32).to_string(), in_full(*exit))).collect(),
            Self::Environment => owned(&VARIABLES),
            Self::Files => owned(&FILES),
        }
    }

    /// All of it, for a terminal of `width` columns.
    pub fn text(self, width: usize) -> String {
        let entries = self.entries();
        let names = entries.iter().map(|(name, _)| name.len()).filter(|length| *length < 24).max().unwrap_or_default();
        let mut text = format!("{}:\n", self.title());
        for (name, words) in entries {
            let lines = wrapped(words, width.saturating_sub(names + 4).max(30));
            let first = lines.first().map(String::as_str).unwrap_or_default();
            // A long name has a line of its own, or it would push all others aside.
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

/// The exit codes in a few words each, for the end of `tolok --help`.
pub fn exit_codes_in_short() -> String {
    let lines: Vec<String> = Exit::ALL.iter().map(|exit| format!("  {:<4} {}", *exit as i32, exit.means())).collect();
    format!(
        "Exit codes (in full: tolok help exit-codes):\n{}\n\nResults go to standard output, progress to standard error.",
        lines.join("\n")
    )
}

fn in_full(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "done",
        Exit::Internal => {
            "internal error: something inside tolok or the machine failed (a full disk, too few open files)"
        }
        Exit::Usage => {
            "wrong command line or study file, no such run; for `compare`: runs that cannot be compared, as their conditions \
             differ"
        }
        Exit::ThresholdCrossed => {
            "an objective of the study was crossed by a subject; the ceiling's do not count; for `load`: a threshold is not \
             kept; for `compare`: a regression; for `audit`: a published table contradicts itself"
        }
        Exit::CannotTell => {
            "cannot tell: `forecast` predicts nothing from this run; for `compare`: no regression, but of a main figure it \
             cannot be told; for `replicate`: of no claim anything can be told"
        }
        Exit::GateFailed => {
            "ran, but not every trial is sound (this comes before 3): a trial failed or is missing, or a case is not ranked \
             because of failed requests or no good answer, an open ledger, disturbed trials, a late link, a wrong counter, a \
             wire that contradicts the tool, a law of physics or of accounting that does not hold, windows without a steady \
             state, or figures that the load tool does not stand by; for `compare`: in one of the runs no case may be ranked; \
             for `load`: its figures cannot be trusted, no good answer came, the target cannot be reached, or a request failed \
             and no threshold is on failures or goodput; for `replicate`: a run of it is not sound; for `fidelity`: a subject could not be asked, or leaks connections; for `check`: \
             a subject does not start, or does not answer as it should; for `verify`: something is not as it was, or does not \
             follow from the raw data"
        }
        Exit::Missing => {
            "a needed runtime or database is missing, or every tool that the study names: nothing to run, `--strict`, or \
             `setup` could not get it; for `fidelity`: no database, or no subject; for `check`: a subject that was named \
             lacks a program, or nothing is ready"
        }
        Exit::Interrupted => "interrupted; finished trials are kept",
    }
}

const VARIABLES: [(&str, &str); 10] = [
    (
        "TOLOK_HOME",
        "the checkout with `subjects/`, `workloads/`, `studies/`; else the working folder or one above it, else the program's \
         own place. The wrapper sets it",
    ),
    ("TOLOK_RUNS", "as `--runs`"),
    ("TOLOK_TOOLBOX", "the toolbox; else `$XDG_CACHE_HOME/tolok/toolbox` or `~/.cache/tolok/toolbox`"),
    ("TOLOK_SWOOLE_SO", "a `swoole.so` that you built"),
    (
        "XDG_CACHE_HOME",
        "builds of subjects are kept in `tolok/builds` below it, and loaded databases in `tolok/databases`",
    ),
    ("XDG_DATA_HOME", "runs go to `tolok/runs` below it where the checkout cannot be written"),
    ("TMPDIR", "where trials have their private folders"),
    ("NO_COLOR, CLICOLOR_FORCE", "no colours; colours"),
    ("TERM", "`dumb`: no bar"),
    ("CARGO_TARGET_DIR", "where the wrapper builds"),
];

const FILES: [(&str, &str); 8] = [
    ("studies/NAME.toml", "a study: a question, the subjects, and the load that they are asked it with"),
    ("subjects/RUNTIME/NAME/subject.toml", "a subject: how it is built, started and tuned; its sources lie beside it"),
    ("workloads/NAME/workload.toml", "a workload: a request and the answer that is owed to it"),
    ("published/NAME.toml", "a published table as it is printed, with what its source says of how it was measured"),
    (
        "schemas/*.schema.json",
        "JSON Schemas of these files and of what tolok writes; with `#:schema PATH` in its first line, a study is checked by \
         the editor",
    ),
    (
        "runs/DATE-TIME-STUDY-SEED/",
        "a run: its study, its plan, a record of every trial with the raw data, and the reports, which can be built anew",
    ),
    ("~/.cache/tolok/toolbox/", "programs that `setup` fetched"),
    (
        "~/.cache/tolok/builds/, databases/",
        "what was built and loaded once for many trials; may be removed at any time",
    ),
];

/// Words in lines of at most `width` columns.
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
