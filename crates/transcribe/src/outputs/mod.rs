//! Outputs of load generators. Each format recognises where a run begins, and reads it.

mod ab;
mod autocannon;
mod bombardier;
mod h2load;
mod hey;
mod k6;
mod oha;
mod pgbench;
mod siege;
mod sysbench;
mod vegeta;
mod wrk;

use crate::block::{Block, Line, shortened};
use crate::json::Json;
use crate::results::results;
use crate::row::{Remark, Row};

/// The tools whose outputs can be read.
pub const TOOLS: &str =
    "wrk, wrk2, ab, hey, oha, h2load, k6, siege, autocannon, vegeta, bombardier, pgbench and sysbench";

/// The contents of a text: a row for each run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outputs {
    pub rows: Vec<Row>,
    /// In line order.
    pub remarks: Vec<Remark>,
}

/// A text format.
struct TextFormat {
    tool: &'static str,
    /// Indices of lines where runs begin.
    begins: fn(&[Line<'_>]) -> Vec<usize>,
    /// Prefix of a line that must be present; if missing, the output is incomplete.
    last: &'static str,
    read: fn(Block<'_>) -> (Row, Vec<Remark>),
}

/// A JSON format.
struct JsonFormat {
    tool: &'static str,
    is: fn(&Json<'_>) -> bool,
    read: fn(&Json<'_>, &mut Row),
}

const TEXTS: [TextFormat; 12] = [
    wrk::TEXT,
    ab::TEXT,
    hey::TEXT,
    oha::TEXT,
    h2load::TEXT,
    k6::TEXT,
    siege::TEXT,
    autocannon::TEXT,
    vegeta::TEXT,
    bombardier::TEXT,
    pgbench::TEXT,
    sysbench::TEXT,
];
const JSONS: [JsonFormat; 4] = [oha::JSON, k6::JSON, autocannon::JSON, vegeta::JSON];

/// Reads the runs in a text; `None` if it recognises none. All are runs of `subject`, except those of a public
/// benchmark, which name their own subjects.
pub fn outputs(text: &str, subject: &str) -> Option<Outputs> {
    let begins_json = text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    let json = if begins_json { Some(Json::read(text).ok()?) } else { None };
    if let Some(mut results) = json.as_ref().and_then(|json| results(text, json, subject)) {
        results.remarks.sort_by_key(|remark| remark.line);
        return (!results.rows.is_empty()).then_some(results);
    }
    let mut outputs = match json {
        Some(json) => of_json(&json)?,
        None => of_text(text)?,
    };
    outputs.rows.retain(|row| !row.figures.is_empty());
    if outputs.rows.is_empty() {
        return None;
    }
    let is_one = outputs.rows.len() == 1;
    for (number, row) in (1..).zip(&mut outputs.rows) {
        row.subject = subject.to_owned();
        row.table = (!is_one).then(|| format!("run {number}"));
    }
    outputs.remarks.sort_by_key(|remark| remark.line);
    Some(outputs)
}

fn of_json(json: &Json<'_>) -> Option<Outputs> {
    let format = JSONS.iter().find(|format| (format.is)(json))?;
    let mut row = Row { line: 1, ..Row::default() };
    row.text("tool", format.tool);
    (format.read)(json, &mut row);
    Some(Outputs { rows: vec![row], remarks: Vec::new() })
}

fn of_text(text: &str) -> Option<Outputs> {
    let plain = without_colours(text);
    let mut lines: Vec<Line<'_>> =
        (1..).zip(plain.lines()).map(|(number, line)| Line { number, text: line.trim_matches(BLANKS) }).collect();
    let mut outputs = Outputs::default();
    // A figure in a line without a newline may be cut off: 990 of 99009.68.
    if !plain.ends_with('\n')
        && let Some(Line { number, .. }) = lines.pop()
    {
        let text = "this line has no end and may be cut off: it is not read".to_owned();
        outputs.remarks.push(Remark { line: number, text });
    }
    let mut begins: Vec<(usize, &TextFormat)> =
        TEXTS.iter().flat_map(|format| (format.begins)(&lines).into_iter().map(move |at| (at, format))).collect();
    begins.sort_by_key(|(at, _)| *at);
    let first = begins.first()?.0;
    outputs.remarks.extend(above(&lines[..first]));
    let ends: Vec<usize> = begins.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]).collect();
    for ((at, format), end) in begins.into_iter().zip(ends) {
        let block = &lines[at..end];
        let (row, remarks) = (format.read)(Block::new(block, format.tool));
        outputs.remarks.extend(remarks);
        let is_last = |line: &Line<'_>| line.text.trim_start_matches(['✓', '✗', ' ']).starts_with(format.last);
        if !block.iter().any(is_last) {
            let text =
                format!("the output of {} that begins here lacks its end, from `{}` on", format.tool, format.last);
            outputs.remarks.push(Remark { line: row.line, text });
        }
        outputs.rows.push(row);
    }
    Some(outputs)
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\u{feff}'];

/// One remark for everything above the first run.
fn above(lines: &[Line<'_>]) -> Option<Remark> {
    let first = lines.iter().find(|line| !line.text.is_empty())?;
    let last = lines.iter().rfind(|line| !line.text.is_empty())?;
    let text = match last.number - first.number {
        0 => format!("no part of an output: {}", shortened(first.text)),
        _ => format!("no part of an output, down to line {}: {}", last.number, shortened(first.text)),
    };
    Some(Remark { line: first.number, text })
}

/// Removes terminal colour codes.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic()).map_or(0, |end| end + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

/// Finds where runs begin in an output with `heads`, in this order, whose upper part may be cut off. A head begins a
/// run unless the current run has so far only reached earlier heads. `is` distinguishes formats with the same heads.
fn by_heads(lines: &[Line<'_>], heads: &[&str], is: fn(&[Line<'_>]) -> bool) -> Vec<usize> {
    let mut begins = Vec::new();
    let mut reached = heads.len();
    for (at, line) in lines.iter().enumerate() {
        let Some(head) = heads.iter().position(|head| line.text.starts_with(head)) else { continue };
        if !is(&lines[at..]) {
            continue;
        }
        if head <= reached {
            begins.push(at);
        }
        reached = head;
    }
    begins
}

/// Whether one of the next `within` lines begins with `label`.
fn has_soon(lines: &[Line<'_>], within: usize, label: &str) -> bool {
    lines.iter().take(within).any(|line| line.text.starts_with(label))
}

/// The percentile in the key of a figure: `99.9` is `p999`. `97.5` is `p97.5`, for which no key exists.
fn percentile_key(percent: &str) -> String {
    let percent = match percent.split_once('.') {
        Some((whole, part)) => match part.trim_end_matches('0') {
            "" => whole.to_owned(),
            part => format!("{whole}.{part}"),
        },
        None => percent.to_owned(),
    };
    match percent.as_str() {
        "99.9" => "p999".to_owned(),
        "99.99" => "p9999".to_owned(),
        "100" => "max".to_owned(),
        other => format!("p{other}"),
    }
}
