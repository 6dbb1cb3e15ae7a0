//! Reads a table of a page like CSV, with the same options.

use std::collections::HashMap;

use tolok_model::Problem;
use tolok_model::transcription::{CsvOptions, Number, Transcription};

use super::PageTable;
use crate::row::{Figure, Row};
use crate::writing::quoted;

/// Reads a table of `text` according to `options`.
///
/// # Errors
///
/// Everything that is wrong, each problem with its line in `text`.
pub fn read_page_table(text: &str, table: &PageTable, options: &CsvOptions) -> Result<Transcription, Vec<Problem>> {
    let rows = table.rows.iter().map(|row| (&row.cells, row.line));
    let all: Vec<(&Vec<String>, usize)> = std::iter::once((&table.header, table.line)).chain(rows).collect();
    let lines: Vec<String> = all.iter().map(|(cells, _)| in_csv(cells)).collect();
    let csv = lines.join("\n") + "\n";
    let place = |line: usize| all.get(line.saturating_sub(1)).map_or(1, |(_, line)| *line);
    let mut read = Transcription::read_csv(&csv, options).map_err(|problems| {
        let moved = problems.into_iter().map(|problem| {
            let (line, _) = problem.line_column(&csv);
            Problem { span: span_of(text, place(line)), ..problem }
        });
        moved.collect::<Vec<_>>()
    })?;
    let shown: HashMap<&str, String> =
        lines.iter().zip(&all).map(|(line, (cells, _))| (line.as_str(), cells.join(" | "))).collect();
    for row in &mut read.rows {
        row.line = place(row.line);
        for raw in &mut row.raw {
            if let Some(shown) = shown.get(raw.as_str()) {
                raw.clone_from(shown);
            }
        }
    }
    Ok(read)
}

fn in_csv(cells: &[String]) -> String {
    cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect::<Vec<_>>().join(",")
}

/// The byte range of a line.
fn span_of(text: &str, line: usize) -> std::ops::Range<usize> {
    let start = text.match_indices('\n').map(|(at, _)| at + 1).nth(line.wrapping_sub(2)).unwrap_or(0);
    let start = if line < 2 { 0 } else { start };
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    start..start + text[start..end].trim_end().len()
}

/// The rows of a table, for writing: their figures, and the conditions from its columns.
pub fn from_transcription(read: &Transcription) -> Vec<Row> {
    read.rows.iter().map(row).collect()
}

fn row(read: &tolok_model::transcription::Row) -> Row {
    let figures = read.figures.iter().map(|figure| Figure {
        key: figure.key.clone(),
        numbers: figure.numbers.iter().map(|Number { printed, .. }| printed.clone()).collect(),
        comment: None,
    });
    let mut row = Row {
        line: read.line,
        subject: read.subject.clone(),
        table: read.table.clone(),
        figures: figures.collect(),
        raw: read.raw.clone(),
        ..Row::default()
    };
    let conditions = &read.conditions;
    let scenario = read.scenario.as_deref().map(quoted);
    let body = conditions.body_bytes.map(|(low, high)| match low == high {
        true => quoted(&format!("{low}B")),
        false => format!("[{}, {}]", quoted(&format!("{low}B")), quoted(&format!("{high}B"))),
    });
    let settings = [
        ("scenario", scenario),
        ("tool", conditions.tool.as_deref().map(quoted)),
        ("connections", conditions.connections.map(|count| count.to_string())),
        ("duration", conditions.duration_s.map(|seconds| quoted(&format!("{seconds}s")))),
        ("subject-cpus", conditions.subject_cpus.map(|count| format!("{count:?}"))),
        ("subject-workers", conditions.subject_workers.map(|count| count.to_string())),
        ("body", body),
        ("repetitions", conditions.repetitions.map(|count| count.to_string())),
    ];
    for (key, value) in settings {
        if let Some(value) = value {
            row.setting(key, value, None);
        }
    }
    row
}
