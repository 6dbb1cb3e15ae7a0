//! The runs of a study over time, like `tolok compare --history`.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tolok_analysis::{CompareRequest, ComparedRun, FEWEST_RUNS, history as over_time};
use tolok_report::document::Depth;
use tolok_report::documents::{self, difference};
use tolok_report::print::piece;
use tolok_store::RunFolder;

use super::{Refusal, page};
use crate::library::{Analysed, Library};

/// Most runs on the page, the latest ones. The command on the page includes all.
const RUNS_MAX: usize = 100;

#[derive(Serialize)]
struct History {
    title: String,
    content: String,
    command: String,
}

/// The history of the chosen runs; for a single one, that of the latest runs of its study.
pub fn history(library: &Library, chosen: &[String]) -> Result<String, Refusal> {
    let read = |id: &str| {
        let found = library.find(id).ok_or_else(|| Refusal::no_run(id))?;
        library.analysed(&found).map_err(|error| Refusal::unreadable(id, &error))
    };
    let mut runs = chosen.iter().map(|id| read(id)).collect::<Result<Vec<Arc<Analysed>>, Refusal>>()?;
    let study = if let [one] = runs.as_slice() { Some(one.records().run.study.clone()) } else { None };
    if let Some(study) = &study {
        let is_of = |path: &Path| RunFolder::open(path).run().is_ok_and(|run| run.study == *study);
        // An unreadable run must not hide the others.
        let all = library.all().into_iter().filter(|found| is_of(&found.path)).take(RUNS_MAX);
        runs = all.filter_map(|found| library.analysed(&found).ok()).collect();
    }
    let records: Vec<_> = runs.iter().map(|run| run.records()).collect();
    let compared: Vec<ComparedRun> =
        records.iter().zip(&runs).map(|(records, run)| ComparedRun { records, findings: &run.findings }).collect();
    let found = over_time(&compared, &CompareRequest::default()).map_err(|left_out| {
        let comparable = runs.len() - left_out.len();
        let given = format!("A history needs at least {FEWEST_RUNS} comparable runs of one study; found {comparable}.");
        let words = left_out.iter().map(|run| {
            let what: Vec<String> = run.conditions.iter().map(difference).collect();
            format!("{}: {}", run.id, if what.is_empty() { "no common case".to_owned() } else { what.join("; ") })
        });
        Refusal::of_question("Too few runs", std::iter::once(given).chain(words).collect())
    })?;
    let named = study.unwrap_or_else(|| found.runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(" "));
    let document = documents::history(&found, false, Depth::Page);
    let (title, content) = (document.title.clone(), piece(&document));
    Ok(page("history.html", &History { title, content, command: format!("tolok compare --history {named}") }))
}
