//! The last lines of a verb that shows a run: where its report is, what was wrong, and what to do next.
//!
//! They go to standard error after the result, because people notice what is printed last.

use std::path::Path;

use crate::output::say;

/// Width of the label before each line.
const LABEL: usize = 9;

/// Explanations after longer commands are not aligned with the others.
const MOST_ALIGNED: usize = 50;

/// A command and its purpose.
pub struct Next {
    pub command: String,
    pub why: &'static str,
}

impl Next {
    pub fn new(command: impl Into<String>, why: &'static str) -> Self {
        Self { command: command.into(), why }
    }
}

/// Prints where the report is, the remarks, and what to do next.
pub fn close(folder: &Path, remarks: &[(&str, String)], next: &[Next]) {
    say("");
    line("Report", &near(&folder.join("report.html")));
    for (label, words) in remarks {
        line(label, words);
    }
    let widths = next.iter().map(|next| next.command.chars().count());
    let widest = widths.filter(|width| *width <= MOST_ALIGNED).max().unwrap_or_default();
    for (place, Next { command, why }) in next.iter().enumerate() {
        let label = if place == 0 { "Next" } else { "" };
        line(label, format!("{command:widest$}  {why}").trim_end());
    }
}

fn line(label: &str, words: &str) {
    say(format!("  {label:LABEL$}{words}"));
}

/// The shorter form of a path: relative if it is below the working folder.
fn near(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}
