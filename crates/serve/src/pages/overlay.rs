//! Several runs overlaid.

use serde::Serialize;
use tolok_analysis::Findings;
use tolok_report::documents;
use tolok_report::print::piece;

use super::{Refusal, encoded, page};
use crate::library::Library;

/// With more runs, the lines of a chart cannot be told apart.
const RUNS_MAX: usize = 8;

#[derive(Serialize)]
struct Overlay {
    content: String,
    /// The URL of their comparison, if there are two.
    compare: Option<String>,
}

/// Overlays the runs, earliest first.
pub fn overlay(library: &Library, chosen: &[String]) -> Result<String, Refusal> {
    let mut ids: Vec<&String> = Vec::new();
    chosen.iter().for_each(|id| {
        if !ids.contains(&id) {
            ids.push(id)
        }
    });
    if !(2..=RUNS_MAX).contains(&ids.len()) {
        let reason = format!("Two to {RUNS_MAX} runs can be overlaid, and {} were chosen.", ids.len());
        return Err(Refusal::of_question("Choose some runs", vec![reason]));
    }
    let read = |id: &&String| {
        let found = library.find(id).ok_or_else(|| Refusal::no_run(id))?;
        library.analysed(&found).map_err(|error| Refusal::unreadable(id, &error))
    };
    let mut runs = ids.iter().map(read).collect::<Result<Vec<_>, Refusal>>()?;
    runs.sort_by(|one, other| one.findings.run.started_at.cmp(&other.findings.run.started_at));
    let findings: Vec<&Findings> = runs.iter().map(|run| &run.findings).collect();
    let compare = match findings.as_slice() {
        [one, other] => Some(format!("/compare?a={}&b={}", encoded(&one.run.id), encoded(&other.run.id))),
        _ => None,
    };
    Ok(page("overlay.html", &Overlay { content: piece(&documents::overlay(&findings)), compare }))
}
