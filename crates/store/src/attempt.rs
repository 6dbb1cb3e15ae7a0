//! The measurements of a block on another machine, separate from the run until the block is over.
//!
//! A machine that was given up may still write. Its output stays in `attempts/`, which no figure uses, and the block runs again
//! elsewhere.

use serde::{Deserialize, Serialize};
use tolok_model::manifest::ManifestEntry;
use tolok_model::{Outcome, PlannedTrial, RECORD_FORMAT, TrialRecord};

use crate::error::StoreError;
use crate::file::{self, read_json};
use crate::folder::{Durability, Folder};
use crate::run_folder::{RunFolder, record_of, trial_name};

const ATTEMPTS: &str = "attempts";
/// Marks an attempt whose block is whole.
const WHOLE: &str = "whole.json";

/// The parts that the run takes over.
#[derive(Debug, Serialize, Deserialize)]
struct Whole {
    format: u32,
    /// The folder of the block's record.
    block: String,
    /// Numbers of its trials.
    trials: Vec<u32>,
}

/// The folder of one attempt at a block.
#[derive(Debug)]
pub struct Attempt {
    /// Its name, relative to the run's folder.
    name: String,
    folder: Folder,
}

impl Attempt {
    /// Its name, relative to the run's folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The outcome of a trial that it has finished.
    pub fn outcome(&self, trial: &PlannedTrial) -> Result<Outcome, StoreError> {
        Ok(read_json::<TrialRecord>(&self.folder, &record_of(trial), "trial record")?.outcome)
    }
}

impl RunFolder {
    /// Creates the folder of the next attempt at a block.
    pub fn begin_attempt(&self, block: u32) -> Result<Attempt, StoreError> {
        let mut names = (1_u64..).map(|number| format!("{ATTEMPTS}/b{block}-{number}"));
        let name =
            names.find(|name| !self.folder().has(name)).expect("no folder has as many entries as there are numbers");
        let made = self.folder().make(&name);
        made.map_err(|source| StoreError::Write { path: self.path().join(&name), source })?;
        Ok(Attempt { folder: self.folder().folder(&name), name })
    }

    /// The names of all attempts that are at work or were lost.
    pub fn attempts(&self) -> Vec<String> {
        let entries = self.folder().folder(ATTEMPTS).entries().unwrap_or_default();
        entries.into_iter().map(|entry| format!("{ATTEMPTS}/{}", entry.name)).collect()
    }

    /// Moves a whole block into the run: its record, which is in the folder `block` of the attempt, and its trials, which replace
    /// any existing ones. If this is interrupted, the next opening of the run completes it.
    pub fn adopt(&self, attempt: &Attempt, block: &str, trials: &[&PlannedTrial]) -> Result<(), StoreError> {
        let numbers = trials.iter().map(|trial| trial.number).collect();
        let whole = Whole { format: RECORD_FORMAT, block: block.to_owned(), trials: numbers };
        let content = file::pretty(&self.path().join(&attempt.name).join(WHOLE), &whole)?;
        file::write(&attempt.folder, WHOLE, &content, Durability::WholeAndOnDisk)?;
        self.take_in(attempt, &whole, trials)
    }

    /// Completes the adoption of whole blocks that was interrupted.
    pub(crate) fn finish_adoptions(&self) -> Result<(), StoreError> {
        for name in self.attempts() {
            let attempt = Attempt { folder: self.folder().folder(&name), name };
            if !attempt.folder.has(WHOLE) {
                continue;
            }
            let (whole, plan): (Whole, _) = (read_json(&attempt.folder, WHOLE, "list of trials")?, self.plan()?);
            let trials = plan.trials.iter().filter(|trial| whole.trials.contains(&trial.number));
            self.take_in(&attempt, &whole, &trials.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Moves what is still in the attempt.
    fn take_in(&self, attempt: &Attempt, whole: &Whole, trials: &[&PlannedTrial]) -> Result<(), StoreError> {
        if attempt.folder.has(&whole.block) {
            let free = self.free_block(&whole.block);
            self.take(attempt, &whole.block, &free)?;
            self.enter(ManifestEntry::Block, &free, None)?;
        }
        for trial in trials.iter().filter(|trial| attempt.folder.has(&record_of(trial))) {
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
        let taken = self.folder().make(parent).and_then(|()| {
            self.folder().rename(&format!("{}/{from}", attempt.name), to)?;
            self.folder().folder(parent).sync()
        });
        taken.map_err(|source| StoreError::Write { path: self.path().join(to), source })
    }
}
