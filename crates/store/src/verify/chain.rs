//! The chain of the manifest's lines, and what it shows about repeated trials.

use tolok_model::Check;
use tolok_model::manifest::{Manifest, ManifestEntry, ManifestLine, RUN_ITSELF};

use super::{RESTORE, said};
use crate::MANIFEST;

/// The only outcome that may be measured again.
const LAB_FAILED: &str = "lab-failed";

/// The check of a run without a manifest.
pub(super) fn none() -> Check {
    Check::not_made(
        "manifest",
        "manifest.jsonl is missing: an older tolok made the run, or somebody removed the file; the run's files are still checked against each other",
    )
}

pub(super) fn check(manifest: &Manifest) -> Check {
    let mut check = Check::new("manifest");
    check.compared = manifest.lines.len() as u64;
    for fault in &manifest.faults {
        let difference = said(MANIFEST, format!("line {}: {}", fault.line, fault.what), RESTORE);
        check.differs(tolok_model::Difference { at: Some(format!("line {}", fault.line)), ..difference });
    }
    if manifest.torn_bytes > 0 {
        let what = format!("its last line is torn, {} bytes without an end", manifest.torn_bytes);
        let advice =
            "if tolok was killed while writing it, `tolok resume` cuts it off; otherwise restore the file from a copy";
        check.differs(said(MANIFEST, what, advice));
    }
    if manifest.lines.is_empty() && manifest.torn_bytes == 0 {
        check.differs(said(MANIFEST, "it is empty", RESTORE));
    }
    for (line, _) in &manifest.lines {
        replaced(manifest, line, &mut check);
    }
    late(manifest, &mut check);
    let lines = check.compared;
    check.saying(format!("{lines} lines, each with the hash of the one before it"))
}

/// A trial may be repeated if the lab failed, but never because of its result.
fn replaced(manifest: &Manifest, line: &ManifestLine, check: &mut Check) {
    let before = line.replaces.and_then(|number| manifest.line(number));
    let Some(outcome) = before.and_then(|before| before.outcome.as_deref()) else { return };
    if outcome != LAB_FAILED {
        let what = format!("{} was measured again although it was {outcome}", line.folder);
        check.differs(said(MANIFEST, what, "tolok never does this: ask who made the run, and do not quote the trial"));
    } else if line.entry == ManifestEntry::Trial {
        check.notes.push(format!("{} was repeated, because the lab had failed", line.folder));
    }
}

/// Until a late entry, nothing would have detected changes of its files.
fn late(manifest: &Manifest, check: &mut Check) {
    let late: Vec<&str> =
        manifest.lines.iter().filter(|(line, _)| line.entered_late).map(|(line, _)| line.folder.as_str()).collect();
    if let [first, rest @ ..] = late.as_slice() {
        let first = if *first == RUN_ITSELF { "the run's own files" } else { first };
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        check.notes.push(format!(
            "entered late, when the run resumed: {first}{more}; earlier changes of these files would not show"
        ));
    }
}
