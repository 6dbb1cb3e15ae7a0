//! Cancels jobs in batches and in the background. A controller that has lost nodes is busy already, and the run has to keep sending
//! beats to its other blocks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::{ANSWER_LIMIT, own_jobs, said_within};
use crate::pool::client;
use crate::run::block::process::BlockProcess;

/// The second attempt is for a controller that did not answer the first.
const ATTEMPTS: usize = 2;

/// Jobs to cancel. Dropping it cancels them and waits until all cancellations are done.
#[derive(Debug)]
pub(in crate::run) struct Cancelling {
    conf: Option<PathBuf>,
    names: BTreeSet<String>,
    /// Cancel every job whose name starts with this.
    prefix: Option<String>,
    /// The jobs' `srun` processes.
    processes: Vec<BlockProcess>,
    /// Cloned by every thread that is still ending `srun` processes, so its count shows whether any is.
    withdrawing: Arc<()>,
    at_work: Vec<JoinHandle<()>>,
}

impl Cancelling {
    pub(in crate::run) fn at(conf: Option<&Path>) -> Self {
        Self {
            conf: conf.map(Path::to_owned),
            names: BTreeSet::new(),
            prefix: None,
            processes: Vec::new(),
            withdrawing: Arc::default(),
            at_work: Vec::new(),
        }
    }

    /// Notes a job to cancel with the next [`Self::send`], and its `srun` process if there is one.
    pub(in crate::run) fn take(&mut self, name: String, process: Option<BlockProcess>) {
        self.names.insert(name);
        self.processes.extend(process);
    }

    /// Notes every job whose name starts with `prefix`, including those of earlier sessions.
    pub(in crate::run) fn take_all(&mut self, prefix: String) {
        self.prefix = Some(prefix);
    }

    /// Cancels the noted jobs with one `squeue`, which lists their numbers, and one `scancel`. If no controller answers, the blocks
    /// themselves notice that their run is gone.
    pub(in crate::run) fn send(&mut self) {
        let (names, prefix) = (std::mem::take(&mut self.names), self.prefix.take());
        if names.is_empty() && prefix.is_none() {
            return;
        }
        let (conf, processes) = (self.conf.clone(), std::mem::take(&mut self.processes));
        self.at_work.retain(|thread| !thread.is_finished());
        let withdrawing = Arc::clone(&self.withdrawing);
        self.at_work.extend(Builder::new().spawn(move || {
            BlockProcess::give_up(processes);
            drop(withdrawing);
            let is_meant = |name: &str| {
                names.contains(name) || prefix.as_ref().is_some_and(|prefix| name.starts_with(prefix.as_str()))
            };
            let _ = (0..ATTEMPTS).find(|_| cancel(conf.as_deref(), is_meant).is_some());
        }));
    }

    /// Whether an `srun` that was given up may still be running. It cancels its job by number, and a controller that has just started
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

/// Cancels the jobs whose names satisfy `is_meant`. Returns `None` if Slurm did not answer.
fn cancel(conf: Option<&Path>, is_meant: impl Fn(&str) -> bool) -> Option<()> {
    let said = said_within(own_jobs(conf, "%A %j"), ANSWER_LIMIT)?;
    let jobs = said.lines().filter_map(|line| line.trim().split_once(' '));
    let numbers: Vec<&str> = jobs.filter(|(_, name)| is_meant(name)).map(|(number, _)| number).collect();
    if numbers.is_empty() {
        return Some(());
    }
    let mut scancel = client("scancel", conf);
    scancel.arg("--quiet").args(numbers);
    said_within(scancel, ANSWER_LIMIT).map(drop)
}
