//! The processes of a subject, as in `subject.toml`.

use crate::reading::table::{Spanned, Table};
use crate::reading::text::{ROOT, Reading, Span};
use crate::reading::wording::suggestion;
use crate::subject::Process;
use crate::subject::file::ProcessFile;

pub(super) fn read_processes(written: Option<Vec<Table<ProcessFile>>>, reading: &mut Reading) -> Vec<Process> {
    let written = written.unwrap_or_default();
    if written.is_empty() && !reading.is_damaged(&ROOT, "process") {
        reading.note(ROOT, "no process is given", "for example: [[process]] with a `name` and a `command`");
    }
    let mut processes: Vec<Process> = Vec::new();
    for process in written {
        let Table { span, entries: process } = process;
        let name = reading.require(process.name, &span, "name", "name = \"server\"").unwrap_or_default();
        if processes.iter().any(|earlier| !name.is_empty() && earlier.name == name) {
            reading.note(span.clone(), format!("two processes have the name `{name}`"), None);
        }
        let command = read_command(process.command, &span, reading);
        let stop = process.stop.map(|stop| read_stop(stop, reading));
        processes.push(Process { name, command, env: process.env, cwd: process.cwd, stop });
    }
    processes
}

/// The signals that ask a server to stop.
const STOP_SIGNALS: [&str; 4] = ["TERM", "INT", "QUIT", "WINCH"];

fn read_stop(stop: Spanned<String>, reading: &mut Reading) -> String {
    let span = stop.span();
    let name = stop.into_inner();
    if !STOP_SIGNALS.contains(&name.as_str()) {
        // People write `SIGTERM` or `term`. Without `SIG` and in upper case, the suggestion recognises them.
        let bare = name.to_uppercase().replace("SIG", "");
        reading.note(span, format!("`{name}` is not a signal to stop with"), suggestion(&bare, &STOP_SIGNALS));
    }
    name
}

pub(super) fn read_command(command: Option<Spanned<Vec<String>>>, table: &Span, reading: &mut Reading) -> Vec<String> {
    let example = "command = [\"{{ build }}/server\", \"-port\", \"{{ port }}\"]";
    let Some(command) = reading.require(command, table, "command", example) else { return Vec::new() };
    if command.get_ref().is_empty() && !reading.is_damaged(table, "command") {
        reading.note(command.span(), "the command is empty", format!("for example: {example}"));
    }
    command.into_inner()
}
