//! `tolok audit`: checks whether a published table's figures agree with each other, and with the text about them.

use std::path::{Path, PathBuf};

use tolok_audit::{Audit, audit as check};
use tolok_lab::bounded;
use tolok_lab::home::Home;
use tolok_model::Problem;
use tolok_model::limits::TABLE;
use tolok_model::transcription::{Conditions, CsvOptions, Transcription};
use tolok_report::document::Depth;
use tolok_report::print::{html, markdown, terminal};
use tolok_report::{badge, data, documents};
use tolok_transcribe::{
    Outputs, PageTable, RESULTS, Row, TOOLS, merge_repetitions, outputs, page_tables, read_page_table,
};

use crate::args::{AuditArgs, AuditFormat, CsvArgs};
use crate::exit::{CliError, Exit};
use crate::mistaken::Found;
use crate::output::{put, say, style};
use crate::problems;

/// Stands for standard input in place of a file name.
const STANDARD_INPUT: &str = "-";
/// Limit of remarks about one file: more are usually one remark, repeated.
const MOST_REMARKS: usize = 8;
/// Limits of the list of a page's tables.
const MOST_TABLES: usize = 50;
const MOST_OF_HEADER: usize = 100;

/// Audits the tables and prints the result. It prints nothing unless all of them can be read.
pub fn audit(args: &AuditArgs) -> Result<Exit, CliError> {
    if args.brief && matches!(args.format, AuditFormat::Json | AuditFormat::Badge) {
        let message = "--brief is for people, and json and a badge are always whole; leave one of them out";
        return Err(CliError::usage(message));
    }
    let audits: Vec<Audit> = all(args)?.iter().map(check).collect();
    let document = |depth| documents::audit(&audits, args.brief, depth);
    let output = args.output.as_deref();
    if args.format == AuditFormat::Badge && audits.len() > 1 {
        return Err(CliError::usage("a badge is of one table; name one file"));
    }
    let text = match args.format {
        AuditFormat::Text => terminal(&document(Depth::Short), &style(output)),
        AuditFormat::Json => data::json(&audits),
        AuditFormat::Md => markdown(&document(Depth::Full)),
        AuditFormat::Html => html(&document(Depth::Page)),
        AuditFormat::Badge => audits.iter().map(badge).collect(),
    };
    put(&text, output)?;
    Ok(if audits.iter().any(Audit::is_contradicted) { Exit::ThresholdCrossed } else { Exit::Done })
}

/// A table as text, not yet parsed.
pub(super) struct Written {
    pub path: PathBuf,
    pub text: String,
    pub form: Form,
}

/// The form of a text.
pub(super) enum Form {
    Transcription,
    Csv,
    /// Runs of load generators.
    Runs(Outputs),
    /// The tables of a page in Markdown or HTML.
    Page(Vec<PageTable>),
}

/// Reads all tables, or reports everything that is wrong with any of them.
fn all(args: &AuditArgs) -> Result<Vec<Transcription>, CliError> {
    if args.files.iter().filter(|name| *name == STANDARD_INPUT).count() > 1 {
        return Err(CliError::usage("standard input can be read once; write `-` once"));
    }
    let options = csv_options(&args.csv)?;
    let (mut read, mut takes_options) = (Vec::new(), false);
    let mut wrong: Option<CliError> = None;
    for name in &args.files {
        let found = written(name).and_then(|written| {
            refuse_columns(&written, &args.csv)?;
            Ok((!matches!(written.form, Form::Transcription), table(written, &options)?))
        });
        match (found, &mut wrong) {
            (Ok((takes, table)), _) => {
                takes_options |= takes;
                read.push(table);
            }
            (Err(complaint), Some(earlier)) => earlier.text += &format!("\n\n{}", complaint.text),
            (Err(complaint), None) => wrong = Some(complaint),
        }
    }
    if wrong.is_none() && !takes_options && args.csv != CsvArgs::default() {
        let message = "a transcription states its own columns and method; leave out the options for other tables";
        return Err(CliError::usage(message));
    }
    wrong.map_or(Ok(read), Err)
}

/// The text of a file, of a table that comes with tolok, or, for `-`, of standard input, which has no extension to reveal its form.
pub(super) fn written(name: &str) -> Result<Written, CliError> {
    let (path, text) = if name == STANDARD_INPUT {
        let path = PathBuf::from("standard input");
        let text = bounded::text_from(std::io::stdin(), &TABLE).map_err(|error| unreadable(&path, &error))?;
        (path, text)
    } else {
        let path = file(name)?;
        refuse_what_is_no_table(&path)?;
        (path.clone(), text_of(&path)?)
    };
    let form = form(&path, &text, name == STANDARD_INPUT)?;
    Ok(Written { path, text, form })
}

/// Refuses a file that cannot contain a table, and reports what it is instead.
fn refuse_what_is_no_table(path: &Path) -> Result<(), CliError> {
    let found = Found::at(path).filter(|found| matches!(found, Found::Empty | Found::Binary | Found::Study));
    let refused = |found: Found| {
        let what = found.words(&path.display().to_string());
        Err(CliError::usage(format!(
            "{} has no table: it is {what}. `tolok help docs/audit.md` lists what can be checked",
            path.display()
        )))
    };
    found.map_or(Ok(()), refused)
}

fn form(path: &Path, text: &str, may_be_csv: bool) -> Result<Form, CliError> {
    let has_ending = |known: &[&str]| {
        path.extension().is_some_and(|ending| known.iter().any(|known| ending.eq_ignore_ascii_case(known)))
    };
    if has_ending(&["toml"]) {
        return Ok(Form::Transcription);
    }
    if let Some(runs) = outputs(text, &key_of(path)) {
        return Ok(Form::Runs(runs));
    }
    if has_ending(&["csv", "tsv"]) {
        return Ok(Form::Csv);
    }
    let is_page = has_ending(&["md", "markdown", "html", "htm"]);
    if !is_page && !looks_like_csv(text) {
        return Ok(Form::Transcription);
    }
    let tables = page_tables(text);
    match tables.is_empty() {
        false => Ok(Form::Page(tables)),
        true if may_be_csv => Ok(Form::Csv),
        true => Err(CliError::usage(format!(
            "{} has no table that tolok knows: no transcription in TOML, no CSV (with the ending .csv), no table in Markdown or HTML, \
             no output of {TOOLS}, and no result file of {RESULTS}",
            path.display()
        ))),
    }
}

/// Whether the first line that is not a comment is a row. In a transcription, it is a table header, or a key and its value.
fn looks_like_csv(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    let is_key = |key: &str| key.trim().chars().all(|it| it.is_alphanumeric() || "_-.\"'".contains(it));
    !first.starts_with('[') && !first.split_once('=').is_some_and(|(key, _)| is_key(key))
}

/// Finds the file of a name. Without tolok's own tables, it accepts paths, but not names.
fn file(name: &str) -> Result<PathBuf, CliError> {
    match Home::find() {
        Ok(home) => Ok(home.published_file(name)?),
        Err(_) if Path::new(name).is_file() => Ok(PathBuf::from(name)),
        Err(error) => Err(error.into()),
    }
}

/// Parses a table in any form.
pub(super) fn table(written: Written, options: &CsvOptions) -> Result<Transcription, CliError> {
    let Written { path, text, form } = written;
    let key = key_of(&path);
    let read = match form {
        Form::Csv => Transcription::read_csv(&text, &CsvOptions { key, ..options.clone() }),
        Form::Transcription => Transcription::read(&text, &key),
        Form::Page(tables) => {
            let table = chosen(&path, &tables, options.table.as_deref())?;
            read_page_table(&text, table, &CsvOptions { key, table: None, ..options.clone() })
        }
        Form::Runs(runs) => {
            let rows = told(&path, runs);
            let rows = if options.repetitions { merge_repetitions(rows) } else { rows };
            let title = options.title.as_ref().unwrap_or(&key);
            return tolok_transcribe::transcription(&rows, &key, title, &options.conditions).map_err(|found| {
                let why: Vec<String> = found.into_iter().map(|problem| problem.message).collect();
                CliError::new(Exit::Internal, format!("cannot read {}: {}", path.display(), why.join("; ")))
            });
        }
    };
    read.map_err(|found| mistakes(&path, &text, &found))
}

/// The table of a page that `--table` selects, or the only one.
fn chosen<'a>(path: &Path, tables: &'a [PageTable], named: Option<&str>) -> Result<&'a PageTable, CliError> {
    let found = match named.map(str::parse::<usize>) {
        None if tables.len() == 1 => tables.first(),
        Some(Ok(number)) => number.checked_sub(1).and_then(|at| tables.get(at)),
        _ => None,
    };
    found.ok_or_else(|| {
        let each = (1..).zip(tables).map(|(number, PageTable { header, line, rows })| {
            let header: String = header.join(" | ").chars().take(MOST_OF_HEADER).collect();
            format!("\n  --table {number}   line {line}, rows: {}   {header}", rows.len())
        });
        let tables = if tables.len() == 1 { "one table".to_owned() } else { format!("{} tables", tables.len()) };
        let message = format!("{} has {tables}; --table takes its number:", path.display());
        CliError::usage(message + &each.take(MOST_TABLES).collect::<String>())
    })
}

/// The runs of a file. Prints which lines could not be parsed.
pub(super) fn told(path: &Path, runs: Outputs) -> Vec<Row> {
    for remark in runs.remarks.iter().take(MOST_REMARKS) {
        say(format!("{}:{}: {}", path.display(), remark.line, remark.text));
    }
    if runs.remarks.len() > MOST_REMARKS {
        say(format!("{}: … and {} more lines", path.display(), runs.remarks.len() - MOST_REMARKS));
    }
    runs.rows
}

/// Refuses options for columns, because runs have none.
pub(super) fn refuse_columns(written: &Written, args: &CsvArgs) -> Result<(), CliError> {
    let names_columns = !args.column.is_empty()
        || args.subject.is_some()
        || !args.scenario.is_empty()
        || args.table.is_some()
        || args.decimal_comma;
    if names_columns && matches!(written.form, Form::Runs(_)) {
        let message = "is the output of a load generator and has no columns; leave out the options that name some";
        return Err(CliError::usage(format!("{} {message}", written.path.display())));
    }
    Ok(())
}

pub(super) fn transcription(path: &Path) -> Result<Transcription, CliError> {
    let written = Written { text: text_of(path)?, path: path.to_owned(), form: Form::Transcription };
    table(written, &CsvOptions::default())
}

fn key_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn text_of(path: &Path) -> Result<String, CliError> {
    bounded::text(path, &TABLE).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> CliError {
    let remedy = match error.kind() {
        std::io::ErrorKind::InvalidData => "; save it as UTF-8",
        std::io::ErrorKind::FileTooLarge => "",
        _ => "; see whether you may read it",
    };
    CliError::usage(format!("cannot read {}: {error}{remedy}", path.display()))
}

fn mistakes(path: &Path, text: &str, found: &[Problem]) -> CliError {
    CliError { exit: Exit::Usage, text: problems::render(path, text, found), is_missing_dependency: false }
}

/// The options for tables in CSV, except for their keys.
pub(super) fn csv_options(args: &CsvArgs) -> Result<CsvOptions, CliError> {
    let conditions = Conditions::from_options(&args.conditions());
    let conditions = conditions.map_err(CliError::usage)?;
    Ok(CsvOptions {
        key: String::new(),
        title: args.title.clone(),
        subject: args.subject.clone(),
        scenario: args.scenario.clone(),
        table: args.table.clone(),
        columns: args.column.clone(),
        conditions,
        repetitions: args.repetitions,
        decimal_comma: args.decimal_comma,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_an_ending_is_known_by_its_first_line() {
        for csv in ["Server,Req/s\nGo,1", "#,Server,Req/s\n1,Go,1", "Server,p95 (c=50)\nGo,1", "\n\nServer;Req/s"] {
            assert!(looks_like_csv(csv), "{csv}");
        }
        for toml in ["# a comment\ntitle = \"x\"", "\u{feff}title = \"x\"", "[method]\ntool = \"wrk\"", "\"title\"='x'"]
        {
            assert!(!looks_like_csv(toml), "{toml}");
        }
    }
}
