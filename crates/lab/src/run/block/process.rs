//! The process of a block, as the run sees it: started, heard, told to go on or to stop, and never left behind.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::protocol::{BlockEvent, BlockJob, Word};
use crate::run::stop::Stop;
use tolok_host::isolate::{Placement, place, wait_within};

/// The hidden verb that runs a block.
const VERB: &str = "block";
/// A block that has said its last word ends within this time, or is killed.
const END_LIMIT: Duration = Duration::from_secs(20);
/// What ends a block elsewhere has this time.
const CANCEL_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(in crate::run) struct BlockProcess {
    child: Child,
    /// Closed when the run has nothing more to say.
    words: Option<ChildStdin>,
    /// The last line that was printed on standard error, where the run listens to that.
    complaint: Arc<Mutex<String>>,
}

/// What the run hears while a block is at work.
#[derive(Debug)]
pub(in crate::run) enum Heard {
    Block(BlockEvent),
    /// The run was asked to stop.
    StopAsked,
    /// The block says nothing more.
    Silence,
}

/// Who hears a block, and by which number it knows the block.
pub(in crate::run) type Listener = (u32, Sender<(u32, Heard)>);

impl BlockProcess {
    /// Starts tolok's own program as the block of a job. `command` is what starts it, on the CPUs that this run may use; an
    /// `srun` that takes tolok elsewhere, with what srun says on standard error, or tolok itself.
    pub(in crate::run) fn start(
        mut command: Command,
        job: &BlockJob,
        cpus: Vec<u32>,
        stop: &Stop,
        (number, run): Listener,
    ) -> io::Result<Self> {
        // The folder is for people who list processes.
        command.arg(VERB).arg(&job.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        if job.apart.is_some() {
            command.stderr(Stdio::piped());
        }
        place(&mut command, &Placement { cpus, dies_with_parent: true, ..Placement::default() })?;
        let mut child = command.spawn()?;
        let (words, events, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Self { child, words, complaint: Arc::default() };
        if let Some(errors) = errors {
            let complaint = Arc::clone(&process.complaint);
            std::thread::Builder::new().spawn(move || keep_last_line(errors, &complaint))?;
        }
        if let Some(events) = events {
            let run = run.clone();
            std::thread::Builder::new().spawn(move || hear(BufReader::new(events), number, &run))?;
        }
        let mut text = serde_json::to_vec(job)?;
        text.push(b'\n');
        // One that has ended already is noticed by its silence.
        let _ = process.words.as_mut().map(|words| words.write_all(&text));
        let asked_before = stop.on_ask(move || run.send((number, Heard::StopAsked)).is_ok());
        (0..asked_before).for_each(|_| process.tell(Word::Stop));
        Ok(process)
    }

    /// Says a word; a block that has ended does not hear it.
    pub(in crate::run) fn tell(&mut self, word: Word) {
        let line = serde_json::to_string(&word).unwrap_or_default() + "\n";
        let _ = self.words.as_mut().map(|words| words.write_all(line.as_bytes()));
    }

    /// Waits for the end of a block that says nothing more; how it ended.
    pub(in crate::run) fn end(mut self) -> io::Result<ExitStatus> {
        self.close()
    }

    /// What it printed last on standard error.
    pub(in crate::run) fn complaint(&self) -> Option<String> {
        let last = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        (!last.is_empty()).then(|| last.clone())
    }

    /// Gives a block up that runs elsewhere: ends what brought it there at once, and lets `cancel` end it in its own time.
    pub(in crate::run) fn give_up(mut self, mut cancel: Command) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
        let cancelling = std::thread::Builder::new().spawn(move || {
            let mut child = cancel.spawn()?;
            match wait_within(&mut child, CANCEL_LIMIT)? {
                Some(_) => Ok(()),
                None => child.kill().and_then(|()| child.wait().map(drop)),
            }
        });
        // It is Slurm's to end the job by its time limit, if it cannot be asked.
        drop(cancelling);
    }

    fn close(&mut self) -> io::Result<ExitStatus> {
        drop(self.words.take());
        if let Some(status) = wait_within(&mut self.child, END_LIMIT)? {
            return Ok(status);
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for BlockProcess {
    fn drop(&mut self) {
        // It stops when its input ends, and cleans up. One that has been waited for stays as it is.
        let _ = self.close();
    }
}

/// Passes events on until the block says nothing more. A line that is none of them, such as one that tells of lost lines, is
/// passed over.
fn hear(events: impl BufRead, number: u32, run: &Sender<(u32, Heard)>) {
    for line in events.lines().map_while(Result::ok) {
        let Ok(event) = serde_json::from_str(&line) else { continue };
        if run.send((number, Heard::Block(event))).is_err() {
            return;
        }
    }
    let _ = run.send((number, Heard::Silence));
}

fn keep_last_line(errors: impl Read, kept: &Mutex<String>) {
    for line in BufReader::new(errors).lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = line;
    }
}
