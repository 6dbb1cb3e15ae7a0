//! What each subject had.

use serde::Serialize;
use tolok_analysis::Findings;

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Fairness {}

impl Fairness {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(_findings: &Findings) -> Option<Self> {
        None
    }
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(_findings: &Findings) -> String {
    String::new()
}
