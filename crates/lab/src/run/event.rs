//! What a run tells whoever watches it: a terminal, a log, a test. The run loop knows no screen.

use std::path::PathBuf;

use serde::Serialize;
use tolok_model::{Outcome, PlannedTrial};

/// A moment of a run.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The run's folder is there and the first step begins.
    RunStarted {
        /// The folder.
        folder: PathBuf,
        /// Trials of the plan.
        trials: u32,
        /// Trials that are finished already.
        finished: u32,
        /// About how long the rest takes.
        estimate_s: f64,
    },
    /// A subject is built.
    Building {
        /// Its id.
        subject: String,
    },
    /// The data of a database are loaded.
    LoadingData {
        /// Which server.
        database: String,
    },
    /// A trial begins.
    TrialStarted {
        /// Which.
        trial: PlannedTrial,
        /// The subject as a person would write it.
        subject: String,
        /// Id of the scenario.
        scenario: String,
    },
    /// A trial goes on to its next step.
    Phase {
        /// Which step.
        phase: Phase,
    },
    /// The machine is busy with other things; the run waits for a while.
    Waiting {
        /// With what, a sentence each.
        reasons: Vec<String>,
    },
    /// Others disturbed a trial.
    Disturbed {
        /// How, a sentence each.
        reasons: Vec<String>,
        /// Whether it is measured anew; if not, it is kept and not scored.
        again: bool,
    },
    /// The unscored trial of a case begins.
    Diagnosing {
        /// The subject as a person would write it.
        subject: String,
        /// Id of the scenario.
        scenario: String,
    },
    /// The unscored trial of a case is over.
    Diagnosed {
        /// The subject as a person would write it.
        subject: String,
        /// Id of the scenario.
        scenario: String,
        /// Why it failed, if it did.
        failure: Option<String>,
    },
    /// A trial is finished and stored.
    TrialFinished {
        /// Which.
        trial: PlannedTrial,
        /// The subject as a person would write it.
        subject: String,
        /// Id of the scenario.
        scenario: String,
        /// What came of it.
        outcome: Outcome,
        /// About how long the rest takes.
        left_s: f64,
    },
    /// The plan's rule for stopping holds, so that no further block is begun.
    Settled {
        /// After so many blocks.
        blocks: u32,
        /// Blocks that it might have taken.
        at_most: u32,
    },
    /// No further trial is begun.
    RunEnded {
        /// Trials without a record.
        missing: u32,
    },
}

/// The steps of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The subject's processes are started, until the first good answer.
    Starting,
    /// Load is on, and discarded.
    WarmingUp,
    /// Load is on, and measured.
    Measuring,
    /// Everything is stopped.
    Stopping,
}
