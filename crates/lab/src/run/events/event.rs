//! The events of a run, for a terminal, a log or a test. The run loop prints nothing itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tolok_model::{Node, Outcome, PlannedTrial};

use tolok_tools::LoadSecond;

/// A moment of a run.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The run's folder exists and the first step begins.
    RunStarted {
        /// Its id, which is also the name of its folder.
        run: String,
        folder: PathBuf,
        title: String,
        /// The tolok process that runs it.
        pid: u32,
        trials: u32,
        /// Trials that are finished already.
        finished: u32,
        /// About how long the rest takes.
        estimate_s: f64,
    },
    /// A subject is built, or the data of a database are loaded.
    PreparationStarted {
        /// Which of the two, and of which subject or database.
        what: Preparation,
        /// Counted from 1 among those of its kind that the run needs.
        number: u32,
        /// How many of its kind the run needs. Some may be ready already.
        of: u32,
    },
    PreparationEnded {
        /// Which of the two, and of which subject or database.
        what: Preparation,
        took_s: f64,
        /// Why it failed, if it did.
        failure: Option<String>,
    },
    /// The machine is busy with other work; the run waits for a while.
    Waiting {
        /// What keeps it busy, a sentence each.
        reasons: Vec<String>,
        /// How long it waits; it goes on earlier if the machine becomes quiet.
        at_most_s: f64,
    },
    TrialStarted {
        trial: PlannedTrial,
        /// The subject as a person would write it.
        subject: String,
        scenario: String,
    },
    /// A launch begins. Its cases finish all at once.
    LaunchStarted {
        /// Its number, from 1.
        launch: u32,
        of: u32,
        block: u32,
        cases: u32,
    },
    /// A launch is over, and all of its cases are stored.
    LaunchFinished {
        /// Its number, from 1.
        launch: u32,
        /// Launches of the plan.
        of: u32,
        /// Cases that it measured.
        cases: u32,
        /// Cases that failed.
        failed: u32,
        took_s: f64,
        /// About how long the rest takes.
        left_s: f64,
    },
    /// Something happens in a trial.
    InTrial {
        /// Its number; `None` for an unscored one.
        trial: Option<u32>,
        event: TrialEvent,
    },
    /// A trial is finished and stored.
    TrialFinished {
        trial: PlannedTrial,
        /// The subject as a person would write it.
        subject: String,
        scenario: String,
        outcome: Outcome,
        /// About how long the rest takes.
        left_s: f64,
    },
    /// The unscored trial of a case begins.
    Diagnosing {
        /// The subject as a person would write it.
        subject: String,
        scenario: String,
    },
    /// The unscored trial of a case is over.
    Diagnosed {
        /// The subject as a person would write it.
        subject: String,
        scenario: String,
        /// Why it failed, if it did.
        failure: Option<String>,
    },
    /// A block begins on a machine of a pool.
    BlockPlaced { block: u32, node: Option<Node> },
    /// The pool refuses a machine for a block. The run repeats the request for a while.
    BlockRefused { block: u32, why: String, at_most_s: f64 },
    /// A machine of a pool was lost with the block that it ran.
    BlockLost {
        block: u32,
        node: Option<Node>,
        why: String,
        /// Whether the block runs again elsewhere.
        again: bool,
    },
    /// What the rule for stopping reports after the blocks so far.
    Standing { words: String },
    /// The plan's rule for stopping holds, so no further block begins.
    Settled {
        /// After this many blocks.
        blocks: u32,
        /// Blocks that the run could have taken.
        at_most: u32,
    },
    /// The run is over, and no further trial begins.
    RunEnded {
        /// Trials without a record.
        missing: u32,
        /// Trials whose record says that they failed.
        failed: u32,
    },
}

/// What is prepared once, before the first trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preparation {
    /// The build of a subject, by its id.
    Build(String),
    /// The data of a database, by its title.
    Data(String),
}

/// A moment of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialEvent {
    /// The trial enters its next step.
    Phase { phase: Phase },
    /// The load tool has reported a second of its load.
    Second(LoadSecond),
    /// Some slices of a launch are over.
    Slices { done: u32, of: u32 },
    /// Some turns of a launch of programs are over.
    Turns { done: u32, of: u32 },
    Disturbed {
        /// How, a sentence each.
        reasons: Vec<String>,
        /// Whether it is measured again. If not, it is kept but not scored.
        again: bool,
    },
}

/// The steps of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The subject's processes start, until the first correct response.
    Starting,
    /// Load is on, and its figures are discarded.
    WarmingUp,
    /// Load is on, and its figures count.
    Measuring,
    Stopping,
}
