//! What a block on another machine has measured, apart from the run until the block is over.
//!
//! A machine that was given up may still write. What it writes stays in `attempts/`, where no figure looks, and the block runs
//! again elsewhere.

use tolok_model::manifest::ManifestEntry;
use tolok_model::{Outcome, PlannedTrial, TrialRecord};

use crate::error::StoreError;
use crate::file::read_json;
use crate::folder::Folder;
use crate::run_folder::{RunFolder, record_of, trial_name};

const ATTEMPTS: &str = "attempts";

/// The folder of one attempt at a block.
#[derive(Debug)]
pub struct Attempt {
    /// Its name, from the run's folder on.
    name: String,
    folder: Folder,
}

impl Attempt {
    /// Its name, from the run's folder on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What came of a trial that it has finished.
    pub fn outcome(&self, trial: &PlannedTrial) -> Result<Outcome, StoreError> {
        Ok(read_json::<TrialRecord>(&self.folder, &record_of(trial), "trial record")?.outcome)
    }
}

impl RunFolder {
    /// Makes the folder of the next attempt at a block.
    pub fn begin_attempt(&self, block: u32) -> Result<Attempt, StoreError> {
        let names = (1..u32::MAX).map(|number| format!("{ATTEMPTS}/b{block}-{number}"));
        let name = names.into_iter().find(|name| !self.folder().has(name)).unwrap_or_default();
        let made = self.folder().make(&name);
        made.map_err(|source| StoreError::Write { path: self.path().join(&name), source })?;
        Ok(Attempt { folder: self.folder().folder(&name), name })
    }

    /// Takes a whole block into the run: its record, which lies in the folder `block` of the attempt, and its trials, in the place
    /// of any that were there.
    pub fn adopt(&self, attempt: &Attempt, block: &str, trials: &[&PlannedTrial]) -> Result<(), StoreError> {
        let free = self.free_block(block);
        self.take(attempt, block, &free)?;
        self.enter(ManifestEntry::Block, &free, None)?;
        for trial in trials {
            let (name, outcome) = (trial_name(trial), attempt.outcome(trial)?);
            self.withdraw_trial(trial)?;
            self.take(attempt, &name, &name)?;
            self.enter(ManifestEntry::Trial, &name, Some(&outcome))?;
        }
        let path = || self.path().join(&attempt.name);
        self.folder().remove(&attempt.name).map_err(|source| StoreError::Write { path: path(), source })
    }

    fn take(&self, attempt: &Attempt, from: &str, to: &str) -> Result<(), StoreError> {
        let parent = to.rsplit_once('/').map_or("", |(parent, _)| parent);
        let taken =
            self.folder().make(parent).and_then(|()| self.folder().rename(&format!("{}/{from}", attempt.name), to));
        taken.map_err(|source| StoreError::Write { path: self.path().join(to), source })
    }
}
