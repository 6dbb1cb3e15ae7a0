//! The messages between a run and the process of one of its blocks, a JSON line each.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tolok_model::{CaseId, Database, Failure, MachineSummary, Node};

use crate::run::database::prepared::Prepared;
use crate::run::events::event::TrialEvent;
use crate::run::session::Laboratory;

/// What a block is to do: the first line of its input. The plan and the CPUs are in the run's folder.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::run) struct BlockJob {
    pub(in crate::run) folder: PathBuf,
    pub(in crate::run) part: Part,
    /// Where it runs, if not on the machine of the run.
    pub(in crate::run) apart: Option<Elsewhere>,
    /// How many more times disturbed trials may be repeated, in all.
    pub(in crate::run) reruns_left: u32,
    /// Whether to wait a while for a busy machine to become quiet before the first trial.
    pub(in crate::run) wait_until_quiet: bool,
    /// Without the subjects and workloads that the plan does not name.
    pub(in crate::run) laboratory: Laboratory,
    pub(in crate::run) prepared: Preparations,
}

/// What only a block on another machine needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::run) struct Elsewhere {
    /// The folder of its results, relative to the run's folder.
    pub(in crate::run) attempt: String,
    /// The machine whose hardware its node must match.
    pub(in crate::run) alike: Option<MachineSummary>,
    /// How many other nodes generate its load.
    pub(in crate::run) generators: u32,
    /// The secret by which the generators recognise the block.
    pub(in crate::run) token: String,
}

/// A generating node is alive: its line on standard error, which the run passes on to the block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct GeneratorAlive {
    /// From 1.
    pub(in crate::run) number: u32,
    pub(in crate::run) name: String,
    /// Where it accepts connections of the block's load engine.
    pub(in crate::run) address: SocketAddr,
    pub(in crate::run) machine: MachineSummary,
}

/// The part of a run that a process runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::run) enum Part {
    /// These trials of a block, in this order.
    Block { block: u32, trials: Vec<u32> },
    /// The unscored trials of these cases.
    Diagnoses(Vec<CaseId>),
}

impl Part {
    /// The block, from 1; 0 stands for unscored trials.
    pub(in crate::run) fn block(&self) -> u32 {
        match self {
            Self::Block { block, .. } => *block,
            Self::Diagnoses(_) => 0,
        }
    }
}

/// What was prepared before the first trial.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::run) struct Preparations {
    /// Where the build of each subject is, or why there is none.
    pub(in crate::run) builds: BTreeMap<String, Result<PathBuf, Failure>>,
    pub(in crate::run) databases: Vec<PreparedDatabase>,
}

/// A database of trials.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::run) struct PreparedDatabase {
    pub(in crate::run) asked: Database,
    /// The result of its preparation, or why it failed.
    pub(in crate::run) prepared: Result<Prepared, Failure>,
}

/// What the run sends to the block, and to the nodes that generate its load, after the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::run) enum Word {
    /// Consent to the trial that the block has announced.
    Go,
    /// A request to stop: once means after this trial, twice means now.
    Stop,
    /// The run is alive. Sent only to blocks on other machines.
    Beat,
    /// A generating node is alive.
    Generator(Box<GeneratorAlive>),
    /// The block is over, and its generators end.
    End,
}

/// What the block sends to the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::run) enum BlockEvent {
    /// The block is alive. A block on another machine names its node.
    Alive(Option<Node>),
    /// A block on another machine has done its work. It ends when the run sends [`Word::Go`]; if the run is gone, it ends its own job.
    Over,
    /// The block has recorded machine and time in this folder of the results. `session` is the private folder in which it works.
    Recorded { folder: String, session: PathBuf },
    /// The machine is busy; the block waits for a while.
    Waiting { reasons: Vec<String>, at_most_s: f64 },
    /// The block is ready for this trial, and begins when the run sends [`Word::Go`].
    Ready(TrialId),
    /// An event of the current trial.
    InTrial(TrialEvent),
    /// The record of the trial is on the disk.
    Finished(TrialId),
    /// The block cannot go on, for this reason.
    Failed(String),
    /// A generating node is lost, and the block with it.
    Lost { node: Option<String>, why: String },
}

/// A trial, scored or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::run) enum TrialId {
    /// A scored trial, by its number.
    Scored(u32),
    /// The unscored trial of a case.
    Diagnosis(CaseId),
    /// All trials of a launch, by its number. Each trial is also reported as finished.
    Launch(u32),
}
