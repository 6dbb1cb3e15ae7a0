//! Checks times of programs that are little more than their start.

use tolok_model::transcription::{Figure, Moment, Quantity, Row, Transcription};

use crate::draft::Draft;
use crate::groups::tables;
use crate::range::Range;
use crate::wording::{counted, listed, quoted, setting};
use crate::{AuditFinding, Law};

/// hyperfine's own limit, in seconds.
const LEAST_TIME_S: f64 = 5e-3;

/// For each table with times of programs: one finding for each subject with times below the limit, or one that holds if
/// there is none.
pub(super) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    for (table, rows) in tables(transcription) {
        let times: Vec<(&Row, &Figure)> = rows.iter().filter_map(|row| time(row).map(|time| (*row, time))).collect();
        let (short, long): (Vec<_>, Vec<_>) = times.into_iter().partition(|(_, time)| is_short(time));
        let mut subjects: Vec<&str> = Vec::new();
        for (row, _) in &short {
            if !subjects.contains(&row.subject.as_str()) {
                subjects.push(&row.subject);
            }
        }
        for subject in &subjects {
            let of: Vec<(&Row, &Figure)> = short.iter().copied().filter(|(row, _)| row.subject == *subject).collect();
            found.push(too_short(transcription, table, subject, &of));
        }
        if subjects.is_empty() && !long.is_empty() {
            let number = counted(long.len(), "time");
            found.push(
                draft(table.unwrap_or("the table"))
                    .figures(long)
                    .holds(format!("The {number} of programs: none is below 5 ms.")),
            );
        }
    }
    found
}

fn draft(about: &str) -> Draft {
    Draft::new(Law::Noise, about, "The times are long beside the start of a program.")
        .arithmetic("limit of the timer: 5 ms")
}

fn time(row: &Row) -> Option<&Figure> {
    row.figure(&Quantity::Time(Moment::Mean)).or_else(|| row.figure(&Quantity::Time(Moment::Whole)))
}

fn is_short(time: &Figure) -> bool {
    Range::of(time).high < LEAST_TIME_S
}

fn too_short(
    transcription: &Transcription,
    table: Option<&str>,
    subject: &str,
    rows: &[(&Row, &Figure)],
) -> AuditFinding {
    let table = table.map(|table| format!(" ({table})")).unwrap_or_default();
    let names: Vec<String> =
        rows.iter().filter_map(|(row, _)| setting(transcription, row.scenario.as_deref())).collect();
    let under = if names.is_empty() { String::new() } else { format!(" under {}", listed(&names)) };
    let number = counted(rows.len(), "time");
    let is_hyperfine =
        rows.iter().any(|(row, _)| row.conditions.tool.as_deref().is_some_and(|tool| tool.contains("hyperfine")));
    let who = if is_hyperfine { "hyperfine, which timed them, warns" } else { "hyperfine, a timer of programs, warns" };
    draft(&format!("{subject}{table}"))
        .figures(rows.iter().copied())
        .inferring(floor(subject, rows))
        .lacks(["the time that the program takes to start and do nothing"])
        .cannot_tell(format!(
            "Below 5 ms: {number} of {subject}{under}. There {who} that it cannot time exactly, and the times include the start of the program, which is not printed."
        ))
}

/// Settings that all take the same time do not show the work.
fn floor(subject: &str, rows: &[(&Row, &Figure)]) -> Option<String> {
    let (_, first) = rows.first()?;
    let equal: Vec<&(&Row, &Figure)> =
        rows.iter().filter(|(_, time)| Range::of(time).meets(Range::of(first))).collect();
    (equal.len() >= 3).then(|| {
        format!(
            "{subject} takes {} under {} settings: most of that is probably its start, not its work.",
            quoted(first),
            equal.len()
        )
    })
}
