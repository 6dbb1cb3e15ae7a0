//! Cancelling jobs, all that are lost at once and in the background: a controller that has lost nodes is busy enough, and other blocks
//! need their beats.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::{ANSWER_LIMIT, client, said_within};
use crate::run::block::process::BlockProcess;

/// Jobs that are being cancelled. Dropping it waits for that.
#[derive(Debug)]
pub(in crate::run) struct Cancelling {
    conf: Option<PathBuf>,
    names: BTreeSet<String>,
    /// What brought them to their nodes.
    processes: Vec<BlockProcess>,
    /// Held by all who still take processes back.
    withdrawing: Arc<()>,
    at_work: Vec<JoinHandle<()>>,
}

impl Cancelling {
    pub(in crate::run) fn at(conf: Option<&Path>) -> Self {
        Self {
            conf: conf.map(Path::to_owned),
            names: BTreeSet::new(),
            processes: Vec::new(),
            withdrawing: Arc::default(),
            at_work: Vec::new(),
        }
    }

    /// Takes a job that is to be cancelled with the next ones, and what brought it to its node, if that is known.
    pub(in crate::run) fn take(&mut self, name: String, process: Option<BlockProcess>) {
        self.names.insert(name);
        self.processes.extend(process);
    }

    /// Cancels what was noted. Slurm is asked for the numbers of these jobs once, and told once to end them. Without a controller,
    /// blocks notice that their run is gone.
    pub(in crate::run) fn send(&mut self) {
        if self.names.is_empty() {
            return;
        }
        let names: Vec<String> = std::mem::take(&mut self.names).into_iter().collect();
        let (conf, processes) = (self.conf.clone(), std::mem::take(&mut self.processes));
        self.at_work.retain(|thread| !thread.is_finished());
        let withdrawing = Arc::clone(&self.withdrawing);
        self.at_work.extend(Builder::new().spawn(move || {
            BlockProcess::give_up(processes);
            drop(withdrawing);
            cancel(conf.as_deref(), &names.join(","));
        }));
    }

    /// Whether an `srun` that was given up may still be there. It takes its job back by number, and a controller that has just started
    /// may give that number to the next job.
    pub(in crate::run) fn is_withdrawing(&self) -> bool {
        Arc::strong_count(&self.withdrawing) > 1 || !self.processes.is_empty()
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.send();
        self.at_work.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn cancel(conf: Option<&Path>, names: &str) {
    let mut squeue = client("squeue", conf);
    squeue.args(["--noheader", "--format=%A"]).arg(format!("--name={names}"));
    let Some(jobs) = said_within(squeue, ANSWER_LIMIT).filter(|jobs| !jobs.trim().is_empty()) else { return };
    let mut scancel = client("scancel", conf);
    scancel.arg("--quiet").args(jobs.split_whitespace());
    said_within(scancel, ANSWER_LIMIT);
}
