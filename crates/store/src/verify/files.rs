//! Compares every file of the run with its line in the manifest.

use std::collections::BTreeMap;

use tolok_model::manifest::{FileSum, Manifest, ManifestLine, RUN_ITSELF};
use tolok_model::{Check, Difference};

use super::{RESTORE, of_each, said, unreadable};
use crate::{RunFolder, StoreError};

/// The check of a run without a manifest.
pub(super) fn none() -> Check {
    Check::not_made("files", "without a manifest the original state of the files is unknown")
}

/// Checks length and hash of every entered file, and whether there are others. `is_at_work`: a tolok was writing the run before the
/// manifest was read.
pub(super) fn check(folder: &RunFolder, manifest: &Manifest, is_at_work: bool) -> Check {
    let standing: Vec<&ManifestLine> = manifest.standing().into_values().map(|(_, line)| line).collect();
    let mut check = of_each("files", &standing, |line| match files_of(folder, line) {
        Ok(check) => check,
        Err(error) => unreadable(folder, "files", &error),
    });
    // A running tolok writes a record first, and its line right after it.
    for name in folder.finished().into_iter().chain(folder.blocks()).filter(|_| !is_at_work) {
        if standing.iter().all(|line| line.folder != name) {
            let what = "it is finished, but the manifest has no line for it: the line was removed, or tolok was killed before writing it";
            let advice = "if tolok was killed, `tolok resume` enters it; otherwise restore manifest.jsonl from a copy";
            check.differs(said(name, what, advice));
        }
    }
    let bytes: u64 = standing.iter().flat_map(|line| &line.files).map(|file| file.bytes).sum();
    let (files, mib) = (check.compared, bytes as f64 / f64::from(1 << 20));
    check.saying(format!("{files} files, {mib:.1} MiB: each has the recorded length and SHA-256"))
}

fn files_of(folder: &RunFolder, line: &ManifestLine) -> Result<Check, StoreError> {
    let mut check = Check::new("files");
    check.compared = line.files.len() as u64;
    let found = match line.folder.as_str() {
        // The run's own folder also has reports, which can be made again.
        RUN_ITSELF => {
            let sums = line.files.iter().map(|file| folder.sum(&file.name));
            Some(sums.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
        name => folder.sums(name)?,
    };
    let Some(found) = found else {
        let what = format!("the folder is gone, with its {} recorded files", line.files.len());
        check.differs(said(line.folder.as_str(), what, RESTORE));
        return Ok(check);
    };
    let mut found: BTreeMap<String, FileSum> = found.into_iter().map(|sum| (sum.name.clone(), sum)).collect();
    for entered in &line.files {
        let now = found.remove(&entered.name);
        check_file(&mut check, &path(line, &entered.name), entered, now.as_ref());
    }
    for name in found.keys() {
        let advice = "remove it if you put it there";
        check.differs(said(path(line, name), "it was not there when its folder was recorded", advice));
    }
    Ok(check)
}

fn check_file(check: &mut Check, path: &str, entered: &FileSum, now: Option<&FileSum>) {
    let Some(now) = now else {
        return check.differs(said(path, "it is gone", RESTORE));
    };
    if now == entered {
        return;
    }
    let what = match now.bytes == entered.bytes {
        true => "it was changed: its SHA-256 differs from the recorded one".to_owned(),
        false => format!("it was changed: it has {} bytes instead of the recorded {}", now.bytes, entered.bytes),
    };
    let (stored, entered) = (now.sha256.as_str().into(), entered.sha256.as_str().into());
    let at = Some("sha256".to_owned());
    check.differs(Difference { at, stored: Some(stored), recomputed: Some(entered), ..said(path, what, RESTORE) });
}

fn path(line: &ManifestLine, name: &str) -> String {
    match line.folder.as_str() {
        RUN_ITSELF => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}
