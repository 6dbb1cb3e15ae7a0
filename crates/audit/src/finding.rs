//! What an audit finds.

use serde::Serialize;
use tolok_model::transcription::{Figure, Row, Series, Transcription};

use crate::JsonSchema;
use crate::laws::Law;

/// Version of the JSON of an audit.
pub const AUDIT_SCHEMA: u32 = 1;

/// The findings of all laws about a transcription.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Audit {
    /// Version of this format.
    pub schema_version: u32,
    /// Name of the transcription.
    pub key: String,
    /// Title of the source.
    pub title: String,
    /// Its authors and year, as far as known.
    pub source: String,
    /// The number of rows, numbers and claims that were checked.
    pub read: Tally,
    /// The number of checks with each verdict.
    pub verdicts: Verdicts,
    /// The same in a sentence.
    pub sentence: String,
    /// Every check, including those that are impossible because the source lacks something.
    pub findings: Vec<AuditFinding>,
    /// The laws whose columns the table lacks, and what they need.
    pub left_out: Vec<LeftOut>,
}

/// A law that the table has no figures for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The law.
    pub law: Law,
    /// The columns that it needs.
    pub needs: String,
}

/// The size of a transcription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Tally {
    /// Rows.
    pub rows: usize,
    /// Numbers, including those of series.
    pub numbers: usize,
    /// Claims.
    pub claims: usize,
}

/// The number of checks with each verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Verdicts {
    /// Checks that hold.
    pub holds: usize,
    /// Checks that are contradicted.
    pub contradicted: usize,
    /// Checks that show fewer users than stated.
    pub fewer_users: usize,
    /// Checks that are undecided.
    pub cannot_tell: usize,
}

/// One check: a statement, the figures, the arithmetic, and the conclusion.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditFinding {
    /// The law.
    pub law: Law,
    /// The tested statement, which holds or does not: `Mean time of 200 connections at 11,705/s is at most the p95.`
    pub statement: String,
    /// Its subject, in a few words: `Node, 10,000 rows (Table 4)`.
    pub about: String,
    /// The verdict.
    pub verdict: AuditVerdict,
    /// The figures that it uses.
    pub inputs: Vec<Input>,
    /// The arithmetic: `200 / 11,705/s = 17.1 ms; printed 29.13 ms`. Empty if nothing could be computed.
    pub arithmetic: String,
    /// The conclusion, as one plain sentence that claims only what the figures imply.
    pub sentence: String,
    /// What the figures suggest beyond that, as a sentence. Always shown as an inference.
    pub inference: Option<String>,
    /// What the check needs but the source does not state.
    pub missing: Vec<String>,
}

impl AuditFinding {
    /// Frees unused capacity: a large table has a hundred thousand findings.
    pub(crate) fn shrink(&mut self) {
        let Self { statement, about, inputs, arithmetic, sentence, missing, .. } = self;
        [statement, about, arithmetic, sentence].into_iter().for_each(String::shrink_to_fit);
        inputs.shrink_to_fit();
        missing.shrink_to_fit();
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    /// The figures agree.
    Holds,
    /// The figures cannot all be as printed, or do not support the text.
    Contradicted,
    /// The printed responses keep fewer users waiting than the source states. The reason is unknown.
    FewerUsers,
    /// Something is missing, or the figures allow both answers.
    CannotTell,
}

/// A figure that a check uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Input {
    /// Its name: `throughput of Node`, or the figure's key.
    pub name: String,
    /// As printed, with its unit's key: `11705.0`.
    pub printed: String,
    /// Line of the transcription, from 1.
    pub line: usize,
}

impl Input {
    pub fn of_row(row: &Row, figure: &Figure) -> Self {
        Self { name: format!("{} of {}", figure.key, row.subject), printed: printed(figure), line: row.line }
    }

    pub fn of_series(series: &Series, figure: &Figure) -> Self {
        Self { name: format!("{} of {}", figure.key, series.subject), printed: printed(figure), line: series.line }
    }
}

/// The numbers as printed, or the first and last of more than six.
fn printed(figure: &Figure) -> String {
    let all: Vec<&str> = figure.numbers.iter().map(|number| number.printed.as_str()).collect();
    match all.as_slice() {
        [first, .., last] if all.len() > 6 => format!("{first}, …, {last} ({} numbers)", all.len()),
        few => few.join(", "),
    }
}

impl Audit {
    /// The findings of a transcription, with counts.
    pub fn of(transcription: &Transcription, findings: Vec<AuditFinding>) -> Self {
        let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        let of_rows = transcription.rows.iter().flat_map(|row| &row.figures);
        let of_series = transcription.series.iter().flat_map(|series| &series.figures);
        let numbers = of_rows.chain(of_series).map(|figure| figure.numbers.len()).sum();
        let year = transcription.year.map(|year| year.to_string());
        let verdicts = Verdicts {
            holds: count(AuditVerdict::Holds),
            contradicted: count(AuditVerdict::Contradicted),
            fewer_users: count(AuditVerdict::FewerUsers),
            cannot_tell: count(AuditVerdict::CannotTell),
        };
        let has_none = |law: &Law| findings.iter().all(|finding| finding.law != *law);
        let is_left_out = |law: &Law| has_none(law) && !law.reads_in_silence(transcription);
        let left_out = Law::ALL.into_iter().filter(is_left_out);
        let left_out = left_out.map(|law| LeftOut { law, needs: law.needs().to_owned() }).collect();
        let source: Vec<String> = transcription.authors.iter().cloned().chain(year).collect();
        Self {
            schema_version: AUDIT_SCHEMA,
            key: transcription.key.clone(),
            title: transcription.title.clone(),
            source: source.join(", "),
            read: Tally {
                rows: transcription.rows.len() + transcription.series.len(),
                numbers,
                claims: transcription.claims.len(),
            },
            sentence: verdicts.sentence(),
            verdicts,
            findings,
            left_out,
        }
    }
}
