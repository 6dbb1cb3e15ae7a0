//! The thresholds of a load as JUnit's XML, which servers of continuous integration read.

use std::fmt::Write;

use tolok_load::record::Record;
use tolok_load::threshold::KeptOrCrossed;

use super::document::seen;

/// A test case for each threshold, and one for whether the figures can be trusted.
pub fn junit(record: &Record) -> String {
    let reasons: Vec<&str> = record.verdict.reasons.iter().map(|reason| reason.text.as_str()).collect();
    let trusted = ("the figures can be trusted", (!record.verdict.trusted).then(|| reasons.join("; ")));
    let judged = record.thresholds.iter().map(|judged| {
        let failure = match judged.outcome {
            KeptOrCrossed::Kept => None,
            KeptOrCrossed::Crossed => Some(format!("crossed: {}", seen(judged))),
            KeptOrCrossed::Unknown => Some(format!("not known: {}", seen(judged))),
        };
        (judged.text.as_str(), failure)
    });
    let cases: Vec<(&str, Option<String>)> = [trusted].into_iter().chain(judged).collect();
    let (number, failures) = (cases.len(), cases.iter().filter(|(_, failure)| failure.is_some()).count());
    let (url, time_s) = (escaped(&record.plan.url), record.window_s);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuite name=\"tolok load {url}\" tests=\"{number}\" failures=\"{failures}\" time=\"{time_s:.3}\">"
    );
    for (name, failure) in &cases {
        let _ = write!(text, "  <testcase classname=\"{url}\" name=\"{}\"", escaped(name));
        let _ = match failure {
            None => writeln!(text, "/>"),
            Some(why) => writeln!(text, ">\n    <failure message=\"{}\"/>\n  </testcase>", escaped(why)),
        };
    }
    text + "</testsuite>\n"
}

/// Text inside an attribute. Other control characters than tabs and newlines have no place in XML.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars().filter(|letter| !letter.is_control() || "\t\n".contains(*letter)) {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' => safe.push(' '),
            plain => safe.push(plain),
        }
    }
    safe
}
