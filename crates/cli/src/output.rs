//! Where results go: standard output or a file.

use std::io::{IsTerminal, Write};
use std::path::Path;

use tolok_model::secrets::masked;
use tolok_model::shown::visible;
use tolok_report::Style;
use tolok_store::Folder;

use crate::exit::{CliError, Exit};

/// Writes a result to a file, or to standard output if none is named (or `-`).
pub fn put(text: &str, file: Option<&Path>) -> Result<(), CliError> {
    let written = match file {
        Some(path) if path != Path::new("-") => {
            write_whole(path, text).map_err(|error| (path.display().to_string(), error))
        }
        _ => {
            let mut output = anstream::stdout().lock();
            let printed = output.write_all(text.as_bytes()).and_then(|()| output.flush());
            match printed {
                // The reader has seen enough, like `head`.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
                other => other.map_err(|error| ("standard output".to_owned(), error)),
            }
        }
    };
    written.map_err(|(target, error)| {
        let message =
            format!("cannot write {target}: {error}; choose where it may be written and has room, with -o FILE");
        CliError::new(Exit::of_writing(&error), message)
    })
}

/// Refuses an unusable output path before anything is measured.
pub fn check_place(file: Option<&Path>) -> Result<(), CliError> {
    let Some(file) = file else { return Ok(()) };
    if file.is_dir() {
        return Err(CliError::usage(format!("--output {}: that is a folder; name a file in it", file.display())));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.filter(|folder| !folder.is_dir()).map_or(Ok(()), |folder| {
        let what = format!("--output {}: there is no folder {}", file.display(), folder.display());
        Err(CliError::usage(format!("{what}; make it, or name another file")))
    })
}

/// Writes a result into a folder. It replaces links in it and never follows them, because the folder may be someone else's.
pub fn put_in(folder: &Path, name: &str, text: &str) -> Result<(), CliError> {
    Folder::at(folder).put(name, text.as_bytes()).map_err(|error| {
        let path = folder.join(name);
        CliError::new(
            Exit::of_writing(&error),
            format!("cannot write {}: {error}; name another folder", path.display()),
        )
    })
}

/// Writes a file atomically: it appears complete or not at all.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    // The user named this path. A pipe or a device is written to directly. A link remains, and its target is replaced.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return std::fs::write(path, text);
    }
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return std::fs::write(&path, text) };
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    Folder::at(folder).put(name, text.as_bytes())
}

/// The style of a text. A file has no colours, because its terminal is unknown.
pub fn style(file: Option<&Path>) -> Style {
    Style { colour: file.is_none(), width: if file.is_none() { width() } else { Style::default().width } }
}

/// Serialises a value as JSON for programs, with a newline at the end.
pub fn json(value: &impl serde::Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| CliError::new(Exit::Internal, format!("cannot write JSON: {error}")))
}

/// Prints a line for people on standard error.
pub fn say(text: impl std::fmt::Display) {
    anstream::eprintln!("{}", visible(&masked(&text.to_string())));
}

/// Whether standard error is a terminal that can redraw a line.
pub fn can_redraw() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stderr().is_terminal() && !is_dumb
}

/// Asks a yes/no question. An empty answer means no. Without a terminal it does not ask, and the answer is no.
pub fn ask(question: &str) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    anstream::eprint!("{question} [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Columns of the terminal, from 60 to 160, or 100 if there is no terminal.
pub fn width() -> u16 {
    let size =
        rustix::termios::tcgetwinsize(std::io::stdout()).or_else(|_| rustix::termios::tcgetwinsize(std::io::stderr()));
    let columns = size.map_or(0, |size| size.ws_col);
    if columns == 0 { 100 } else { columns.clamp(60, 160) }
}
