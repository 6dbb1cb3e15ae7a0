//! The process of a block, from the run's side: it is started, read, told to continue or to stop, and never left behind.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::protocol::{BlockEvent, BlockJob, GeneratorAlive, Word};
use crate::run::stop::Stop;
use tolok_host::isolate::{Placement, end_within, place};

/// The hidden verb that runs a block.
const VERB: &str = "block";
/// A block that was told to end gets this long before it is killed.
const END_LIMIT: Duration = Duration::from_secs(20);

/// The program that brings a block to another machine gets this long to cancel its job before it is killed.
const WITHDRAWAL_LIMIT: Duration = Duration::from_secs(1);
/// Standard error of a process that has ended may stay open this long, because a child of its own may hold it.
const COMPLAINT_LIMIT: Duration = Duration::from_secs(1);
/// This many lines of its standard error are kept.
const COMPLAINT_LINES: usize = 3;

#[derive(Debug)]
pub(in crate::run) struct BlockProcess {
    /// `None` once another thread waits for its end.
    child: Option<Child>,
    /// Closed when the run has no more words for it.
    words: Option<Sender<String>>,
    /// Brings the last lines of standard error once it ends, if the run captures it.
    complaint: Option<Receiver<String>>,
}

/// What the run receives while a block is at work.
#[derive(Debug)]
pub(in crate::run) enum Heard {
    Block(BlockEvent),
    /// A node that generates load for the block is there.
    Generator(Box<GeneratorAlive>),
    /// The run was asked to stop.
    StopAsked,
    /// The block sends nothing more.
    Silence,
    /// The last lines of its standard error, after [`BlockProcess::ask_why`].
    Complaint(Option<String>),
}

/// The channel to the run, and the number by which the run identifies the block.
pub(in crate::run) type Listener = (u32, Sender<(u32, Heard)>);

impl BlockProcess {
    /// Starts tolok's own program as the block of a job, on the CPUs that this run may use. `command` is tolok itself, or an `srun` that
    /// starts tolok elsewhere; standard error is read only in the second case.
    pub(in crate::run) fn start(
        mut command: Command,
        job: &BlockJob,
        cpus: Vec<u32>,
        stop: &Stop,
        (number, run): Listener,
    ) -> io::Result<Self> {
        // The folder shows people who list processes which run this is.
        command.arg(VERB).arg(&job.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        if job.apart.is_some() {
            command.stderr(Stdio::piped());
        }
        place(&mut command, &Placement { cpus, dies_with_parent: true, ..Placement::default() })?;
        let mut child = command.spawn()?;
        let (input, events, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (words, said) = channel();
        let mut process = Self { child: Some(child), words: Some(words), complaint: None };
        if let Some(input) = input {
            Builder::new().spawn(move || say(input, &said))?;
        }
        if let Some(errors) = errors {
            let run = run.clone();
            let (complaint, last_lines) = channel();
            process.complaint = Some(last_lines);
            Builder::new().spawn(move || complaint.send(hear_errors(errors, number, &run)))?;
        }
        if let Some(events) = events {
            let run = run.clone();
            Builder::new().spawn(move || hear(BufReader::new(events), number, &run))?;
        }
        process.say(serde_json::to_string(job)?);
        let again = run.clone();
        let asked_before = stop.on_ask(move || run.send((number, Heard::StopAsked)).is_ok());
        (0..asked_before).for_each(|_| drop(again.send((number, Heard::StopAsked))));
        Ok(process)
    }

    /// Sends a word. A block that has ended ignores it.
    pub(in crate::run) fn tell(&mut self, word: Word) {
        self.say(serde_json::to_string(&word).unwrap_or_default());
    }

    fn say(&self, line: String) {
        // The run notices the end of a block by its silence.
        let _ = self.words.as_ref().map(|words| words.send(line + "\n"));
    }

    /// Waits for the end of a block that sends nothing more, and returns how it ended.
    pub(in crate::run) fn end(mut self) -> io::Result<ExitStatus> {
        self.close()
    }

    /// Waits in the background for the end of a silent block, then sends the run the last lines of its standard error.
    pub(in crate::run) fn ask_why(&mut self, (number, run): Listener) {
        drop(self.words.take());
        let (child, complaint) = (self.child.take(), self.complaint.take());
        let unheard = run.clone();
        let asked = Builder::new().spawn(move || {
            let _ = child.map(|mut child| end_within(&mut child, END_LIMIT));
            let said = complaint.and_then(|complaint| complaint.recv_timeout(COMPLAINT_LIMIT).ok());
            let said = said.filter(|said| !said.is_empty());
            let _ = run.send((number, Heard::Complaint(said)));
        });
        if asked.is_err() {
            let _ = unheard.send((number, Heard::Complaint(None)));
        }
    }

    /// Gives up blocks that run elsewhere: asks all their launchers at once to end, and kills those that do not.
    pub(in crate::run) fn give_up(mut all: Vec<Self>) {
        let deadline = Instant::now() + WITHDRAWAL_LIMIT;
        for child in all.iter().filter_map(|block| block.child.as_ref()) {
            let _ = Pid::from_raw(child.id() as i32).map(|pid| kill_process(pid, Signal::TERM));
        }
        for child in all.iter_mut().filter_map(|block| block.child.as_mut()) {
            let _ = end_within(child, deadline.saturating_duration_since(Instant::now()));
        }
    }

    fn close(&mut self) -> io::Result<ExitStatus> {
        drop(self.words.take());
        self.child.as_mut().map_or(Ok(ExitStatus::default()), |child| end_within(child, END_LIMIT))
    }
}

impl Drop for BlockProcess {
    fn drop(&mut self) {
        // A block stops and cleans up when its input ends. Closing twice does no harm.
        let _ = self.close();
    }
}

/// Passes events on until the block sends nothing more. Skips other lines, such as a note about lost lines.
fn hear(events: impl BufRead, number: u32, run: &Sender<(u32, Heard)>) {
    for line in events.lines().map_while(Result::ok) {
        let Ok(event) = serde_json::from_str(&line) else { continue };
        if run.send((number, Heard::Block(event))).is_err() {
            return;
        }
    }
    let _ = run.send((number, Heard::Silence));
}

/// Writes the run's words. An `srun` in the queue reads nothing, and the run must not wait for it.
fn say(mut input: ChildStdin, words: &Receiver<String>) {
    let _ = words.iter().try_for_each(|line| input.write_all(line.as_bytes()));
}

/// Reports the nodes that generate load. Returns the last of the other lines.
fn hear_errors(errors: impl Read, number: u32, run: &Sender<(u32, Heard)>) -> String {
    let mut kept: Vec<String> = Vec::new();
    for line in BufReader::new(errors).lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
        if let Ok(generator) = serde_json::from_str(&line) {
            let _ = run.send((number, Heard::Generator(generator)));
            continue;
        }
        kept.push(line.trim().to_owned());
        kept.drain(..kept.len().saturating_sub(COMPLAINT_LINES));
    }
    kept.join("; ")
}
