//! Compares a run with its own raw data by recomputing everything that can be recomputed.
//!
//! Four questions, each a check that names its first difference:
//!
//! - `manifest`: is the chain of lines whole? ([`chain`])
//! - `files`: is every file as it was entered, and none missing or added? ([`files`])
//! - `plan`, `trials`: is the plan the one that was fixed before the first trial, in the order that its seed gives, and does
//!   every planned trial have its record? ([`plan`])
//! - `figures`: do the raw files of each trial give the figures of its record, by the code that made it? ([`figures`])
//!
//! The last check catches a changed file with a rebuilt manifest. A published fingerprint catches a forger who changes raw files
//! and records consistently. Crates that can write reports check the reports.

mod chain;
mod figures;
mod files;
mod not_recomputable;
mod plan;
mod tool_record;

#[cfg(test)]
mod tests;

use tolok_model::{Check, CheckOutcome, Difference, VERIFICATION_SCHEMA, ValueDifference, Verification};

use crate::{RunFolder, StoreError};

/// Relative tolerance of figures, because a sum may have been computed in another order.
pub const TOLERANCE: f64 = 1e-9;

/// Advice on a file that has changed.
const RESTORE: &str =
    "restore the file from a copy of the run that verifies; without one, do not quote what depends on it";

/// Makes every check that does not need a report.
pub fn verify(folder: &RunFolder) -> Verification {
    let name = || folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The run may end during verification. All checks must judge it by the same state, that of the manifest.
    let is_at_work = RunFolder::is_at_work(folder.path());
    let manifest = folder.manifest();
    let mut checks = Vec::new();
    let fingerprint = match &manifest {
        Ok(Some(manifest)) => {
            checks.extend([chain::check(manifest), files::check(folder, manifest, is_at_work)]);
            manifest.fingerprint().map(str::to_owned)
        }
        Ok(None) => {
            checks.extend([chain::none(), files::none()]);
            None
        }
        Err(error) => {
            checks.push(unreadable(folder, "manifest", error));
            None
        }
    };
    let (run, planned) = (folder.run(), folder.plan());
    checks.extend(match (&run, &planned) {
        (Ok(run), Ok(planned)) => {
            let trials = plan::trials(folder, planned, is_at_work);
            vec![plan::check(run, planned), trials, figures::check(folder, run, planned)]
        }
        (run, planned) => {
            let errors = [run.as_ref().err(), planned.as_ref().err()].into_iter().flatten();
            errors.map(|error| unreadable(folder, "plan", error)).collect()
        }
    });
    let (run, version) = run.map_or_else(|_| (name(), String::new()), |run| (run.id, run.tolok_version));
    Verification {
        schema_version: VERIFICATION_SCHEMA,
        run,
        tolok_version: version,
        verified_by: env!("CARGO_PKG_VERSION").to_owned(),
        records_sha256: fingerprint,
        is_equal: checks.iter().all(|check| check.outcome != CheckOutcome::Differs),
        checks,
        not_recomputable: planned.map(|planned| not_recomputable::list(folder, &planned)).unwrap_or_default(),
    }
}

/// Reports a file that cannot be read as a changed file.
fn unreadable(folder: &RunFolder, check: &str, error: &StoreError) -> Check {
    let path = error.path();
    let file = path.strip_prefix(folder.path()).unwrap_or(path).display().to_string();
    let mut found = Check::new(check);
    found.differs(said(file, error.to_string().replace(&path.display().to_string(), "it"), RESTORE));
    found
}

/// A difference that is not between two values.
fn said(file: impl Into<String>, said: impl Into<String>, advice: &str) -> Difference {
    let (at, stored, recomputed) = (None, None, None);
    Difference { file: file.into(), at, stored, recomputed, said: said.into(), advice: advice.to_owned() }
}

/// A difference between a value in a file and one computed from `source`.
pub fn of_values(file: &str, source: &str, found: ValueDifference, advice: &str) -> Difference {
    let ValueDifference { at, stored, made } = found;
    let words = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or_else(|| "absent".to_owned(), |value| shortened(&value.to_string()))
    };
    let said = format!("{at} is {} there, and {} by {source}", words(&stored), words(&made));
    let (file, advice) = (file.to_owned(), advice.to_owned());
    Difference { file, at: Some(at), stored, recomputed: made, said, advice }
}

/// Shortens a long text, such as a histogram, to a readable length.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Checks each item, in parallel on all CPUs, and adds up the results in the order of the items.
fn of_each<T: Sync>(name: &str, items: &[T], check: impl Fn(&T) -> Check + Sync) -> Check {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    let each = items.len().div_ceil(threads).max(1);
    let check = &check;
    let found = std::thread::scope(|scope| {
        let work = |part: &'_ [T]| part.iter().map(check).collect::<Vec<Check>>();
        let start = |part| (part, std::thread::Builder::new().spawn_scoped(scope, move || work(part)));
        let parts: Vec<_> = items.chunks(each).map(start).collect();
        // If the system provides no more threads, this one checks.
        let join = |(part, thread): (_, std::io::Result<std::thread::ScopedJoinHandle<'_, _>>)| match thread {
            Ok(thread) => thread.join(),
            Err(_) => Ok(work(part)),
        };
        parts.into_iter().map(join).collect::<Vec<_>>()
    });
    let mut all = Check::new(name);
    for part in found {
        match part {
            Ok(checks) => checks.into_iter().for_each(|one| all.add(one)),
            Err(_) => all.differs(said(".", "a check broke off: this is a fault of tolok's", "please report it")),
        }
    }
    all
}
