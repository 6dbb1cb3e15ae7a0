//! Runs a load generator: its warm-up, the run that counts, the borders of its window, and its results.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit};
use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_load::slices::SlicesRecord;
use tolok_model::LoadTool;
use tolok_store::Folder;

use tolok_host::isolate::{Placement, place, readable_before};
use tolok_host::shell::command_line;
use tolok_tools::{
    Borders, Driver, Invocation, LOG, LoadJob, OUTPUT_LIMIT, ToolEvent, ToolReport, driver, output_name, sound,
    tool_output,
};

/// How long a tool may take to end after its last output.
const END_LIMIT: Duration = Duration::from_secs(10);
/// Lines of a tool's log that are quoted when it fails.
const QUOTED_LINES: usize = 5;
/// How much of a line without an end is read at once.
const LINE_LIMIT: u64 = 64 << 10;

/// A load generator of this machine.
#[derive(Clone)]
pub struct Tool {
    pub driver: &'static dyn Driver,
    pub program: PathBuf,
    /// The version that it reports.
    pub version: String,
    /// Its whole environment; nothing else is inherited.
    pub env: BTreeMap<String, String>,
}

/// The result of waiting for a tool.
#[derive(Debug, PartialEq)]
pub enum Waited {
    Event(ToolEvent),
    /// Nothing happened in the given time.
    Nothing,
    /// The tool has ended or is about to end.
    Ended,
}

/// A tool that has been started.
pub struct RunningTool<'j> {
    tool: Tool,
    job: &'j LoadJob<'j>,
    invocation: Invocation,
    placement: Placement,
    folder: Folder,
    /// The folder that it writes in: the same, or a private one.
    work: Folder,
    process: Process,
    /// Whether the process is that of the warm-up.
    is_warming_up: bool,
    /// Whether the warm-up has ended and the counted run has not started.
    has_warmed_up: bool,
    /// The borders of the window, as far as they are known.
    window: Window,
}

/// The borders of the window, on `CLOCK_MONOTONIC`, and which of them were reported.
#[derive(Debug, Default)]
struct Window {
    begins: Option<MonotonicNs>,
    ends: Option<MonotonicNs>,
    told_begin: bool,
    told_end: bool,
}

/// A process of the tool, and the messages from it.
struct Process {
    child: Child,
    heard: Receiver<Heard>,
    since: MonotonicNs,
    /// How it ended, once it was waited for. Until then its pid, which is also its process group, cannot be reused.
    ended: Option<ExitStatus>,
}

/// What the lab reads in a tool's standard error.
enum Heard {
    Event(ToolEvent),
    /// The expected line, and when it came.
    Line(MonotonicNs),
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.driver.tool().word(), self.version)
    }
}

impl Tool {
    /// The file in the trial's folder with its standard output.
    fn output_name(&self) -> &'static str {
        output_name(self.driver)
    }

    /// The command lines for a job, one for each process of the tool.
    pub fn command_lines(&self, job: &LoadJob<'_>) -> Vec<String> {
        let Invocation { warm_up, arguments, env, .. } = self.driver.invocation(job);
        let env: String = env.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let program = match self.driver.tool() {
            LoadTool::Tolok => "tolok".to_owned(),
            _ => self.program.display().to_string(),
        };
        warm_up
            .into_iter()
            .chain([arguments])
            .map(|arguments| format!("{env}{program} {}", command_line(&arguments)))
            .collect()
    }

    /// Starts it in its place. Its files, output and log go into the trial's folder.
    pub fn start<'j>(
        &self,
        job: &'j LoadJob<'j>,
        placement: Placement,
        folder: &Folder,
    ) -> io::Result<RunningTool<'j>> {
        let invocation = self.driver.invocation(job);
        let work = placement.seen_folder.as_ref().map_or_else(|| folder.clone(), |work| Folder::at(work));
        for (name, text) in &invocation.files {
            folder.create_file(name)?.write_all(text.as_bytes())?;
            work.create_file(name)?.write_all(text.as_bytes())?;
        }
        let is_warming_up = invocation.warm_up.is_some();
        let (tool, folder) = (self.clone(), folder.clone());
        // A warm-up writes into the same files, which the counted run truncates.
        let process = Process::start(&tool, &invocation, is_warming_up, &placement, [&folder, &work])?;
        let (has_warmed_up, window) = (false, Window::default());
        let mut running = RunningTool {
            tool,
            job,
            invocation,
            placement,
            folder,
            work,
            process,
            is_warming_up,
            has_warmed_up,
            window,
        };
        running.note_the_beginning();
        Ok(running)
    }
}

impl Process {
    fn start(
        tool: &Tool,
        invocation: &Invocation,
        is_warm_up: bool,
        placement: &Placement,
        [folder, work]: [&Folder; 2],
    ) -> io::Result<Self> {
        let arguments = invocation.warm_up.as_ref().filter(|_| is_warm_up).unwrap_or(&invocation.arguments);
        let (output, log) = (folder.create_file(tool.output_name())?, folder.create_file(LOG)?);
        let mut command = Command::new(&tool.program);
        command.args(arguments).env_clear().envs(&tool.env).envs(&invocation.env).current_dir(work.path());
        command.stdin(Stdio::null()).stdout(output).stderr(Stdio::piped());
        place(&mut command, placement)?;
        let since = SystemClock.now();
        let mut child = command.spawn()?;
        let limit = Rlimit { current: Some(OUTPUT_LIMIT), maximum: Some(OUTPUT_LIMIT) };
        // No known tool writes so much. If the limit cannot be set, nothing is lost.
        let _ = prlimit(Some(Pid::from_child(&child)), Resource::Fsize, limit);
        let messages = child.stderr.take().expect("it was set to a pipe above");
        let heard = listen(messages, log, invocation.borders.clone()).inspect_err(|_| drop(child.kill()))?;
        Ok(Self { child, heard, since, ended: None })
    }

    /// Waits for its end, and kills its remaining children. Returns `None` if it still runs after `patience`.
    fn end_within(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            let pid = Pid::from_child(&self.child);
            if !readable_before(pidfd_open(pid, PidfdFlags::empty())?, Instant::now() + patience)? {
                return Ok(None);
            }
            let _ = kill_process_group(pid, Signal::KILL);
            self.ended = Some(self.child.wait()?);
        }
        Ok(self.ended)
    }
}

impl Drop for Process {
    /// Kills it and its children, which are in its process group, and waits for it.
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl RunningTool<'_> {
    /// Its pid, which changes after the warm-up.
    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Whether it sends no requests between the last event before its window and the window itself.
    pub fn is_silent_before_window(&self) -> bool {
        self.invocation.borders == Borders::Process || self.job.scenario.load.warmup_s == 0.0
    }

    /// Waits for the next event.
    pub fn wait_event(&mut self, patience: Duration) -> io::Result<Waited> {
        if let Some(event) = self.due() {
            return Ok(Waited::Event(event));
        }
        let patience = self.until_border().map_or(patience, |left| left.min(patience));
        match self.process.heard.recv_timeout(patience) {
            Ok(Heard::Event(event)) => Ok(Waited::Event(event)),
            Ok(Heard::Line(at)) => {
                if let Borders::AfterLine { after_s, for_s, .. } = self.invocation.borders {
                    self.window.begins = Some(later(at, after_s));
                    self.window.ends = Some(later(at, after_s + for_s));
                }
                Ok(self.due().map_or(Waited::Nothing, Waited::Event))
            }
            Err(RecvTimeoutError::Timeout) => Ok(self.due().map_or(Waited::Nothing, Waited::Event)),
            Err(RecvTimeoutError::Disconnected) => self.after_the_process(),
        }
    }

    /// The process has closed its standard error. After a warm-up, starts the counted run; after that, the tool is done.
    fn after_the_process(&mut self) -> io::Result<Waited> {
        if self.is_warming_up && !self.has_warmed_up {
            // Its result does not matter: if the subject does not answer, the counted run will show it.
            self.process.end_within(END_LIMIT)?;
            self.has_warmed_up = true;
            // Lets the caller count its packets before the next process begins.
            return Ok(Waited::Nothing);
        }
        if self.is_warming_up {
            self.is_warming_up = false;
            self.process = {
                let folders = [&self.folder, &self.work];
                Process::start(&self.tool, &self.invocation, false, &self.placement, folders)?
            };
            self.note_the_beginning();
            return Ok(self.due().map_or(Waited::Nothing, Waited::Event));
        }
        // A process that ends early ends its window.
        if self.window.told_begin && !self.window.told_end {
            let now = SystemClock.now();
            self.window.ends = Some(self.window.ends.map_or(now, |ends| ends.min(now)));
        }
        Ok(self.due().map_or(Waited::Ended, Waited::Event))
    }

    /// If the window is the whole process, it begins with the process.
    fn note_the_beginning(&mut self) {
        if self.invocation.borders == Borders::Process && !self.is_warming_up {
            self.window.begins = Some(self.process.since);
        }
    }

    /// A border that was reached and not yet reported.
    fn due(&mut self) -> Option<ToolEvent> {
        let now = SystemClock.now();
        let Window { begins, ends, told_begin, told_end } = &mut self.window;
        if let Some(at) = begins.filter(|at| !*told_begin && *at <= now) {
            *told_begin = true;
            return Some(ToolEvent::WindowStarted { monotonic_ns: at.0 });
        }
        if let Some(at) = ends.filter(|at| *told_begin && !*told_end && *at <= now) {
            *told_end = true;
            return Some(ToolEvent::WindowEnded { monotonic_ns: at.0 });
        }
        None
    }

    /// Time until the next border, if that is known.
    fn until_border(&self) -> Option<Duration> {
        let Window { begins, ends, told_begin, told_end } = &self.window;
        let next = begins.filter(|_| !told_begin).or(ends.filter(|_| !told_end))?;
        Some(Duration::from_nanos(next.0.saturating_sub(SystemClock.now().0)))
    }

    /// Waits for its end, which is near after the last event, and reads its report. The error describes what went
    /// wrong. The tool's output is kept in any case.
    pub fn finish(mut self) -> Result<ToolReport, String> {
        let name = self.tool.driver.tool().word();
        let waited = self.process.end_within(END_LIMIT).map_err(|error| error.to_string())?;
        let status = waited.ok_or_else(|| format!("{name} closed its output and did not end"))?;
        if let Some(name) = self.tool.driver.file_beside().filter(|_| self.work.path() != self.folder.path()) {
            // The file is missing if the tool did not get that far.
            let told = self.work.lossy(name).unwrap_or_default();
            let kept = self.folder.create_file(name).and_then(|mut file| file.write_all(told.as_bytes()));
            kept.map_err(|error| format!("cannot keep {name}: {error}"))?;
        }
        let (output, written) =
            (self.tool.output_name(), tool_output(self.tool.driver, &|name| self.folder.lossy(name))?);
        let report = self.tool.driver.report(&written, self.job).map_err(|error| {
            let how = match status.signal() {
                _ if status.success() => String::new(),
                Some(libc::SIGKILL) => format!(
                    " (it ended with {status}; where memory is short the kernel does that, and `dmesg` says so)"
                ),
                _ => format!(" (it ended with {status})"),
            };
            let last: Vec<&str> =
                written.stderr.lines().rev().filter(|line| !line.trim().is_empty()).take(QUOTED_LINES).collect();
            let words: Vec<&str> = last.into_iter().rev().map(str::trim).collect();
            let words = if words.is_empty() { String::new() } else { format!("; it said: {}", words.join("; ")) };
            let version = &self.tool.version;
            format!(
                "{name} {version} was not understood{how}: {error}{words}; all that it wrote is in {output} and {LOG}"
            )
        })?;
        sound(report).map_err(|what| format!("{name} {}: {what}; all that it wrote is in {output}", self.tool.version))
    }
}

/// A running `tolok load --slices`. It serves several cases, so no driver can read its output.
pub struct RunningSlices {
    process: Process,
    folder: Folder,
}

impl std::fmt::Debug for RunningSlices {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("RunningSlices")
    }
}

impl RunningSlices {
    /// Starts it in its place. Its record and log go into the folder.
    pub fn start(tool: &Tool, invocation: &Invocation, placement: &Placement, folder: &Folder) -> io::Result<Self> {
        Ok(Self { process: Process::start(tool, invocation, false, placement, [folder; 2])?, folder: folder.clone() })
    }

    /// Waits for the next event.
    pub fn wait_event(&mut self, patience: Duration) -> io::Result<Waited> {
        match self.process.heard.recv_timeout(patience) {
            Ok(Heard::Event(event)) => Ok(Waited::Event(event)),
            Ok(Heard::Line(_)) | Err(RecvTimeoutError::Timeout) => Ok(Waited::Nothing),
            Err(RecvTimeoutError::Disconnected) => Ok(Waited::Ended),
        }
    }

    /// Waits for its end, and reads its record. The error describes what went wrong.
    pub fn finish(mut self) -> Result<SlicesRecord, String> {
        let waited = self.process.end_within(END_LIMIT).map_err(|error| error.to_string())?;
        let status = waited.ok_or("the load engine closed its output and did not end")?;
        let written = tool_output(driver(LoadTool::Tolok), &|name| self.folder.lossy(name))?;
        serde_json::from_str(&written.stdout).map_err(|error| {
            let said = written.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            format!("the load engine gave no record ({status}): {error}; it said: {said}")
        })
    }
}

/// Receives the tool's events until it closes its standard error. Other lines go into its log.
fn listen(messages: ChildStderr, mut log: File, borders: Borders) -> io::Result<Receiver<Heard>> {
    let (sender, heard) = channel();
    std::thread::Builder::new().spawn(move || {
        let mut messages = BufReader::new(messages);
        let mut room = OUTPUT_LIMIT;
        // Once the tool is given up, nobody receives events, but its last output is still logged.
        while let Some(line) = next_line(&mut messages) {
            let found = event_in(&line, &borders);
            if !matches!(found, Some(Heard::Event(_))) {
                let kept = &line[..line.len().min(room as usize)];
                room -= kept.len() as u64;
                drop(log.write_all(kept));
            }
            found.into_iter().for_each(|found| drop(sender.send(found)));
        }
    })?;
    Ok(heard)
}

/// A line with its newline, or a part of one that is too long, or `None` at the end.
fn next_line(messages: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let length = messages.take(LINE_LIMIT).read_until(b'\n', &mut line).ok()?;
    (length > 0).then_some(line)
}

/// The meaning of a line for the lab, if it has one.
fn event_in(line: &[u8], borders: &Borders) -> Option<Heard> {
    match borders {
        Borders::Process => None,
        Borders::Told => serde_json::from_slice(line).ok().map(Heard::Event),
        Borders::AfterLine { text, .. } => {
            String::from_utf8_lossy(line).contains(text.as_str()).then(|| Heard::Line(SystemClock.now()))
        }
    }
}

fn later(at: MonotonicNs, seconds: f64) -> MonotonicNs {
    MonotonicNs(at.0 + (seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests;
