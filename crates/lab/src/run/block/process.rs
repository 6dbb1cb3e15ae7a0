//! The process of a block, as the run sees it: started, heard, told to go on or to stop, and never left behind.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::protocol::{BlockEvent, BlockJob, Word};
use crate::run::stop::Stop;
use tolok_host::isolate::{Placement, place, wait_within};

/// The hidden verb that runs a block.
const VERB: &str = "block";
/// A block that has said its last word ends within this time, or is killed.
const END_LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(in crate::run) struct BlockProcess {
    child: Child,
    /// Closed when the run has nothing more to say.
    words: Option<ChildStdin>,
    heard: Receiver<Heard>,
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

impl BlockProcess {
    /// Starts tolok's own `program` as the block of a job, on the CPUs that this run may use.
    pub(in crate::run) fn start(program: &Path, job: &BlockJob, cpus: Vec<u32>, stop: &Stop) -> io::Result<Self> {
        let mut command = Command::new(program);
        // The folder is for people who list processes.
        command.arg(VERB).arg(&job.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        place(&mut command, &Placement { cpus, dies_with_parent: true, ..Placement::default() })?;
        let mut child = command.spawn()?;
        let (words, events) = (child.stdin.take(), child.stdout.take());
        let (sender, heard) = channel();
        let mut process = Self { child, words, heard };
        if let Some(events) = events {
            let sender = sender.clone();
            std::thread::Builder::new().spawn(move || hear(BufReader::new(events), &sender))?;
        }
        let mut text = serde_json::to_vec(job)?;
        text.push(b'\n');
        // One that has ended already is noticed by its silence.
        let _ = process.words.as_mut().map(|words| words.write_all(&text));
        let asked_before = stop.on_ask(move || sender.send(Heard::StopAsked).is_ok());
        (0..asked_before).for_each(|_| process.tell(Word::Stop));
        Ok(process)
    }

    /// Waits for what comes next.
    pub(in crate::run) fn next(&self) -> Heard {
        self.heard.recv().unwrap_or(Heard::Silence)
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
fn hear(events: impl BufRead, run: &Sender<Heard>) {
    for line in events.lines().map_while(Result::ok) {
        let Ok(event) = serde_json::from_str(&line) else { continue };
        if run.send(Heard::Block(event)).is_err() {
            return;
        }
    }
    let _ = run.send(Heard::Silence);
}
