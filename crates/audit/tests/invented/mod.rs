//! Invented tables for tests, written as transcriptions.

#![allow(dead_code, reason = "each test file uses a part of it")]

use tolok_audit::{AuditFinding, AuditVerdict, Law};
use tolok_model::transcription::Transcription;

/// Reads the text of a transcription that should be free of mistakes.
pub fn read(text: &str) -> Transcription {
    Transcription::read(text, "invented").unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

/// A transcription of one table: its method, and its rows as `subject: figures`, in one setting.
pub fn table(method: &str, rows: &[(&str, &str)]) -> Transcription {
    let mut text = format!(
        "title = \"Invented\"\n[method]\n{method}\n[[scenario]]\nname = \"hello\"\ntitle = \"Hello\"\nraw = \"hello\"\n"
    );
    for (subject, figures) in rows {
        text.push_str(&format!(
            "[[row]]\ntable = \"Table 1\"\nsubject = \"{subject}\"\nscenario = \"hello\"\nraw = \"{subject}\"\n{figures}\n"
        ));
    }
    read(&text)
}

/// The laws that contradict a transcription, each once, limited to `among`.
pub fn contradicting(transcription: &Transcription, among: &[Law]) -> Vec<Law> {
    let mut laws: Vec<Law> =
        of_verdict(transcription, AuditVerdict::Contradicted).iter().map(|finding| finding.law).collect();
    laws.retain(|law| among.contains(law));
    laws.dedup();
    laws
}

/// The findings with a verdict.
pub fn of_verdict(transcription: &Transcription, verdict: AuditVerdict) -> Vec<AuditFinding> {
    let all = tolok_audit::audit(transcription).findings;
    all.into_iter().filter(|finding| finding.verdict == verdict).collect()
}

/// The laws about times, answers, bytes and CPU.
pub const OF_FIGURES: &[Law] = &[
    Law::LittlesLaw,
    Law::Order,
    Law::Censoring,
    Law::Goodput,
    Law::Totals,
    Law::Room,
    Law::Bytes,
    Law::CpuTime,
    Law::Work,
    Law::Percentages,
];
