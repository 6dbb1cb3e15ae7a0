//! A forecast for the terminal.

use tolok_analysis::forecast::{Forecast, SubjectForecast};

use super::lines::{READ_WITH, lines};
use crate::terminal::wrapped;

const INDENT: usize = 2;
/// The labels' column, with the gap behind it.
const LABELS: usize = 15;
/// Narrower than this nothing can be read.
const NARROWEST: u16 = 50;

/// The forecast in lines of at most `width` columns, without colours.
pub fn text(forecast: &Forecast, width: u16) -> String {
    let width = usize::from(width.max(NARROWEST));
    let mut text = filled(&format!("Forecast from run {}", forecast.run), 0, width);
    text += &filled(&forecast.machine, 0, width);
    text += &filled(READ_WITH, 0, width);
    text + &forecast.subjects.iter().map(|subject| of_subject(subject, width)).collect::<String>()
}

fn of_subject(subject: &SubjectForecast, width: usize) -> String {
    let heading = format!("{} · {}", subject.title, subject.workload_title);
    let mut text = format!("\n{}", filled(&heading, 0, width));
    for (label, words) in lines(subject) {
        let words = filled(&words, INDENT + LABELS, width);
        let label = format!("{:INDENT$}{label:LABELS$}", "");
        text += &words.replacen(&" ".repeat(INDENT + LABELS), &label, 1);
    }
    let remark = |remark: &String| {
        let filled = filled(remark, INDENT * 2, width);
        filled.replacen(&" ".repeat(INDENT * 2), &format!("{:INDENT$}! ", ""), 1)
    };
    text + &subject.remarks.iter().map(remark).collect::<String>()
}

/// Words in lines behind so many blanks.
fn filled(words: &str, indent: usize, width: usize) -> String {
    wrapped(words, width - indent, 0).iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
