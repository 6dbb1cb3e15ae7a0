//! Watches jobs that wait in Slurm's queue. A controller may die before it saves a job that it accepted, and the job's `srun` then
//! waits forever.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::{ANSWER_LIMIT, own_jobs, said_within};

/// Interval between queries of the queue.
const QUERY_INTERVAL: Duration = Duration::from_secs(10);

/// Finds jobs that Slurm no longer lists.
#[derive(Debug)]
pub(in crate::run) struct QueueWatch {
    conf: Option<PathBuf>,
    next_query: Instant,
    /// The query under way: the jobs that were waiting when it began, and the receiver of the names that Slurm lists.
    query: Option<(BTreeSet<String>, Receiver<BTreeSet<String>>)>,
    /// Jobs that the last query did not list.
    missing: BTreeSet<String>,
}

impl QueueWatch {
    pub(in crate::run) fn at(conf: Option<&Path>) -> Self {
        let next_query = Instant::now() + QUERY_INTERVAL;
        Self { conf: conf.map(Path::to_owned), next_query, query: None, missing: BTreeSet::new() }
    }

    /// Returns the `waiting` jobs that two queries in a row did not list. It never blocks, because queries run in the background.
    pub(in crate::run) fn forgotten(&mut self, waiting: BTreeSet<String>) -> BTreeSet<String> {
        if let Some((asked, answer)) = self.query.take() {
            match answer.try_recv() {
                Ok(known) => return self.note(&(&asked & &waiting), &known),
                Err(TryRecvError::Empty) => self.query = Some((asked, answer)),
                // Without an answer, the jobs may still exist, so counting starts afresh.
                Err(TryRecvError::Disconnected) => self.missing.clear(),
            }
        } else if self.next_query <= Instant::now() && !waiting.is_empty() {
            self.next_query = Instant::now() + QUERY_INTERVAL;
            let answer = ask(self.conf.as_deref());
            self.query = Some((waiting, answer));
        }
        BTreeSet::new()
    }

    /// Takes in one query. A job whose `srun` has started may not be in the queue yet, so only a second miss makes it forgotten.
    fn note(&mut self, waiting: &BTreeSet<String>, known: &BTreeSet<String>) -> BTreeSet<String> {
        let missing = waiting - known;
        let forgotten = &missing & &self.missing;
        self.missing = &missing - &forgotten;
        forgotten
    }
}

/// Queries the names of all the user's jobs in the background. If Slurm does not answer in time, the channel closes empty.
fn ask(conf: Option<&Path>) -> Receiver<BTreeSet<String>> {
    let squeue = own_jobs(conf, "%j");
    let (sender, answer) = channel();
    let _ = Builder::new().spawn(move || {
        let said = said_within(squeue, ANSWER_LIMIT)?;
        sender.send(said.lines().map(|name| name.trim().to_owned()).collect()).ok()
    });
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_job_is_forgotten_once_two_queries_in_a_row_miss_it() {
        let mut watch = QueueWatch::at(None);
        let waiting = names(&["a", "b"]);
        assert_eq!(watch.note(&waiting, &names(&["b"])), names(&[]), "it may not be in the queue yet");
        assert_eq!(watch.note(&waiting, &waiting), names(&[]));
        assert_eq!(watch.note(&waiting, &names(&["b"])), names(&[]), "the query between listed it");
        assert_eq!(watch.note(&waiting, &names(&["b"])), names(&["a"]));
        assert_eq!(watch.note(&waiting, &names(&["b"])), names(&[]), "it is returned once");
    }

    #[test]
    fn a_controller_that_does_not_answer_forgets_nothing() {
        let mut watch = QueueWatch::at(None);
        watch.missing = names(&["a"]);
        watch.query = Some((names(&["a"]), channel().1));
        assert_eq!(watch.forgotten(names(&["a"])), names(&[]));
        assert!(watch.missing.is_empty());
    }

    #[test]
    fn a_job_that_reached_its_node_during_the_query_is_not_forgotten() {
        let mut watch = QueueWatch::at(None);
        let (sender, answer) = channel();
        watch.missing = names(&["a", "b"]);
        watch.query = Some((names(&["a", "b"]), answer));
        sender.send(names(&[])).unwrap();
        assert_eq!(watch.forgotten(names(&["b"])), names(&["b"]));
    }
}
