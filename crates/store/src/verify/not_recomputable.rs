//! What cannot be recomputed, because only the figure itself was stored.

use tolok_model::{LoadTool, NotRecomputable, Plan};

use crate::RunFolder;
use crate::recompute::RAW_WINDOW;

/// The figures of this run that cannot be recomputed.
pub(super) fn list(folder: &RunFolder, plan: &Plan) -> Vec<NotRecomputable> {
    let has_raw = |name: &String| folder.folder().has(&format!("{name}/{RAW_WINDOW}"));
    let names = folder.finished();
    let (has_window, has_diagnoses) =
        (names.iter().any(has_raw), names.iter().any(|name| name.starts_with("diagnosis/")));
    let has_database = plan.scenarios.iter().any(|scenario| scenario.database);
    let other_tools = plan.scenarios.iter().any(|scenario| scenario.tool.name != LoadTool::Tolok);
    let all = [
        (
            has_window,
            "cold_start_s, host.load_average, subject.pss_bytes, subject.refused_tasks",
            "each was read once; the record is compared with that reading in window.json, which is the only source",
        ),
        (
            true,
            "started_at, took_s, isolation",
            "facts that were noted once; only the manifest shows whether they were changed",
        ),
        (
            true,
            "the reason and the words of failed trials",
            "they say what the lab saw happen; only the manifest shows whether they were changed",
        ),
        (
            has_database,
            "pool, counter, and what the database told of itself",
            "only what came of the answers was kept, in window.json; its CPU time, its memory and its link are recomputed",
        ),
        (
            other_tools,
            "latencies and counts of other load tools than tolok's",
            "they are read again from the tool's output, which does not hold single responses",
        ),
        (
            has_diagnoses,
            "counters of unscored trials",
            "only what was counted over the window was kept; their answers, rate and window are recomputed",
        ),
    ];
    let of_this = all.into_iter().filter(|(is_here, ..)| *is_here);
    of_this.map(|(_, what, why)| NotRecomputable { what: what.to_owned(), why: why.to_owned() }).collect()
}
