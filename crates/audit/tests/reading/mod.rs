//! Short texts of transcriptions, and what the laws find in them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use tolok_audit::{AuditFinding, AuditVerdict, Law, audit};
use tolok_model::transcription::Transcription;

/// Reads a transcription, adding a title.
pub fn read(text: &str) -> Transcription {
    let text = format!("title = \"Invented\"\n{text}");
    Transcription::read(&text, "invented").unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

/// All laws' findings about it.
pub fn all(text: &str) -> Vec<AuditFinding> {
    audit(&read(text)).findings
}

/// The findings of one law about it.
pub fn findings(law: Law, text: &str) -> Vec<AuditFinding> {
    all(text).into_iter().filter(|finding| finding.law == law).collect()
}

/// The only finding of a law about it.
pub fn only(law: Law, text: &str) -> AuditFinding {
    let mut found = findings(law, text);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// The verdicts of a law.
pub fn verdicts(law: Law, text: &str) -> Vec<AuditVerdict> {
    findings(law, text).iter().map(|finding| finding.verdict).collect()
}

/// Rows of one table and setting: a subject with its keys, one key to a line.
pub fn rows(rows: &[(&str, &str)]) -> String {
    let row = |(subject, keys): &(&str, &str)| {
        format!("[[row]]\ntable = \"Table 1\"\nsubject = \"{subject}\"\nscenario = \"s\"\n{keys}\nraw = \"x\"\n")
    };
    let all: String = rows.iter().map(row).collect();
    format!("[[scenario]]\nname = \"s\"\ntitle = \"hello\"\nraw = \"x\"\n{all}")
}

/// A claim of a text.
pub fn claim(keys: &str) -> String {
    format!("[[claim]]\nid = \"c\"\nplace = \"Abstract\"\nsays = \"what is said\"\nraw = \"words\"\n{keys}\n")
}
