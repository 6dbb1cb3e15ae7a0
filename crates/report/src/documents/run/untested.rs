//! What was not tested.

use serde::Serialize;
use tolok_analysis::Findings;
use tolok_analysis::figures::listed;
use tolok_model::sentences::capital;

use crate::markdown::{escaped, lines};

/// So many stand in the one line of a terminal.
const MOST_IN_A_LINE: usize = 6;
/// So many stand on the page; one or two more are not worth folding away.
const MOST_SHOWN: usize = 8;
/// Stands where nothing of this version would look at it.
const NO_WAY: &str = "not with this version";

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Untested {
    rows: Vec<Row>,
    /// So many of them are shown; the rest is folded away.
    first: usize,
}

#[derive(Serialize)]
struct Row {
    what: String,
    because: String,
    /// What would look at it, in parts that are code and parts that are not.
    how: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Part {
    is_code: bool,
    text: String,
}

impl Untested {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        let row = |untested: &tolok_analysis::Untested| Row {
            what: capital(&untested.what),
            because: untested.because.clone(),
            how: parts(untested.how.as_deref().unwrap_or(NO_WAY)),
        };
        let rows: Vec<Row> = findings.untested.iter().map(row).collect();
        (!rows.is_empty())
            .then_some(Self { first: if rows.len() > MOST_SHOWN + 2 { MOST_SHOWN } else { rows.len() }, rows })
    }
}

/// What stands between backticks is code.
fn parts(text: &str) -> Vec<Part> {
    let part = |(place, text): (usize, &str)| Part { is_code: place % 2 == 1, text: text.to_owned() };
    text.split('`').enumerate().map(part).filter(|part| !part.text.is_empty()).collect()
}

/// All of it in a line; nothing where there is nothing to say.
pub(crate) fn line(findings: &Findings) -> Option<String> {
    let all: Vec<String> = findings.untested.iter().map(|untested| untested.what.clone()).collect();
    let named = &all[..all.len().min(MOST_IN_A_LINE)];
    match all.len() - named.len() {
        _ if all.is_empty() => None,
        0 => Some(format!("Not tested: {}; see the report.", listed(named, "and"))),
        more => Some(format!("Not tested: {} and {more} more; see the report.", named.join(", "))),
    }
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(findings: &Findings) -> String {
    if findings.untested.is_empty() {
        return String::new();
    }
    let row = |untested: &tolok_analysis::Untested| {
        // Its backticks are meant.
        let how = untested.how.as_deref().unwrap_or(NO_WAY).replace('|', "\\|");
        vec![escaped(&capital(&untested.what)), escaped(&untested.because), how]
    };
    let rows: Vec<Vec<String>> = findings.untested.iter().map(row).collect();
    format!("\n## Not tested\n\n{}", lines(&["what", "why not", "what would test it"], &rows, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_between_backticks() {
        let part = |is_code, text: &str| Part { is_code, text: text.to_owned() };
        assert_eq!(
            parts("`vus = [1, 2]`, or `studies/core.toml`"),
            [part(true, "vus = [1, 2]"), part(false, ", or "), part(true, "studies/core.toml")]
        );
    }
}
