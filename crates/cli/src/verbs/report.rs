//! `tolok report`: renders findings from a run's records in every format.

mod figures;
mod pdf;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use tolok_analysis::Findings;
use tolok_report::{Format as ReportFormat, Style, brief, render, verbose};

use crate::args::{Format, ReportArgs};
use crate::closing::{Next, close};
use crate::exit::{CliError, Exit};
use crate::json_lines::{FindingsLine, JsonLines};
use crate::output::{put, put_in, say, width};
use crate::reports::{find_run, keep, report_format};

/// Rebuilds the reports of a run, and prints or writes the requested ones.
pub fn report(args: &ReportArgs) -> Result<Exit, CliError> {
    let formats = formats(args)?;
    check_places(args, &formats)?;
    let folder = find_run(args.runs.as_deref(), &args.run)?;
    let findings = keep(&folder)?;
    match (formats.as_slice(), args.output.as_deref()) {
        ([], output) if args.format == [Format::Id] => put(&format!("{}\n", findings.run.id), output)?,
        ([], output) => JsonLines::to(output)?.write(&FindingsLine::of(&findings, folder.path(), 0.0)),
        ([only], output) => put(&text_of(&findings, *only, args, output.is_some()), output)?,
        (several, Some(folder)) => {
            make_folder(folder, "--output")?;
            for format in several {
                let file = format!("report.{}", format.ending());
                put_in(folder, &file, &text_of(&findings, *format, args, true))?;
                say(format!("report  {}", folder.join(&file).display()));
            }
        }
        // `formats` has already refused this.
        (_, None) => {}
    }
    if let Some(folder) = &args.figures {
        make_folder(folder, "--figures")?;
        figures::write(&findings, folder)?;
    }
    if formats == [ReportFormat::Terminal] && args.output.is_none() && !args.brief {
        close(folder.path(), &[], &next(&findings, args.verbose));
    }
    if args.open {
        open_as_asked(&folder.path().join("report.html"));
    }
    Ok(Exit::Done)
}

/// Next steps after a report on a terminal.
fn next(findings: &Findings, is_verbose: bool) -> Vec<Next> {
    let id = &findings.run.id;
    let more = (!is_verbose).then(|| Next::new(format!("tolok report -v {id}"), "all figures, checks and cautions"));
    let resume = || Next::new(format!("tolok resume {id}"), "go on where it stopped");
    let again = Next::new(findings.run.command.as_str(), "this run again");
    let whole = if findings.trials_missing > 0 { resume() } else { again };
    more.into_iter().chain([whole]).collect()
}

/// The requested formats, each once. The list is empty for JSON Lines and the id, which are not reports and must be alone.
fn formats(args: &ReportArgs) -> Result<Vec<ReportFormat>, CliError> {
    let usage = |message: String| Err(CliError::usage(message));
    let mut seen = BTreeSet::new();
    let mut formats: Vec<ReportFormat> = args.format.iter().filter_map(|format| report_format(*format)).collect();
    if let Some(alone) = args.format.iter().find(|format| report_format(**format).is_none())
        && args.format.iter().any(|format| format != alone)
    {
        let name = if *alone == Format::Id { "id" } else { "jsonl" };
        return usage(format!("{name} cannot be combined with other formats; use it alone: --format {name}"));
    }
    formats.retain(|format| seen.insert(format.name()));
    let is_brief = |format: &&ReportFormat| matches!(format, ReportFormat::Terminal | ReportFormat::Markdown);
    if let Some(whole) = formats.iter().find(|format| args.brief && !is_brief(format)) {
        return usage(format!(
            "--brief works with text and md only, not with {}; use --brief --format md, or leave --brief out",
            whole.name()
        ));
    }
    if let Some(other) = formats.iter().find(|format| args.verbose && **format != ReportFormat::Terminal) {
        return usage(format!(
            "--verbose works with text only, and {} is complete already; leave it out",
            other.name()
        ));
    }
    if formats.len() > 1 && args.output.as_deref().is_none_or(|path| path == Path::new("-")) {
        return usage("several formats need a folder: -o DIR".to_owned());
    }
    Ok(formats)
}

/// Refuses a file in place of a folder, or a folder in place of a file, before anything is read.
fn check_places(args: &ReportArgs, formats: &[ReportFormat]) -> Result<(), CliError> {
    let usage = |message: String| Err(CliError::usage(message));
    let is_other_than_folder = |path: &Path| path.exists() && !path.is_dir();
    if let Some(path) = args.figures.as_deref().filter(|path| is_other_than_folder(path)) {
        return usage(format!(
            "{} is not a folder, and figures are several files; name a folder: --figures DIR",
            path.display()
        ));
    }
    match (args.output.as_deref(), formats) {
        (Some(path), [] | [_]) if path.is_dir() => {
            let (what, ending) = formats
                .first()
                .map_or(("lines go to a file", "jsonl"), |only| ("one report is one file", only.ending()));
            let file = path.join(format!("report.{ending}"));
            usage(format!("{} is a folder, and {what}; name the file: -o {}", path.display(), file.display()))
        }
        (Some(path), [_, _, ..]) if is_other_than_folder(path) => usage(format!(
            "{} is not a folder, and several formats are several files; name a folder: -o DIR",
            path.display()
        )),
        _ => Ok(()),
    }
}

fn make_folder(folder: &Path, option: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot make the folder {}: {error}; name another one: {option} DIR", folder.display());
        CliError::new(Exit::of_writing(&error), message)
    };
    std::fs::create_dir_all(folder).map_err(failed)
}

/// A report in the requested form. Only terminals get colours.
fn text_of(findings: &Findings, format: ReportFormat, args: &ReportArgs, is_for_file: bool) -> String {
    let style = Style { colour: !is_for_file, width: width() };
    match (args.verbose, args.brief) {
        (true, _) => verbose(findings, &style),
        (_, true) => brief(findings, format, &style).unwrap_or_else(|| render(findings, format, &style)),
        _ => render(findings, format, &style),
    }
}

/// Opens a page, by path or address, in the user's browser, because the user asked for it.
pub fn open_as_asked(page: &(impl AsRef<OsStr> + ?Sized)) {
    if !open_in_browser(page) {
        say(format!("There is no display to open it on: open {} yourself.", page.as_ref().display()));
    }
}

/// Opens a page in the user's browser if there is a screen. Returns whether there is one.
pub fn open_in_browser(page: &(impl AsRef<OsStr> + ?Sized)) -> bool {
    let page = page.as_ref();
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| std::env::var_os(name).is_some());
    if has_screen && let Err(error) = open::that_detached(page) {
        say(format!("the browser could not be opened ({error}); the page is {}", page.display()));
    }
    has_screen
}
