//! A finding while a law is writing it.

use tolok_model::transcription::{Figure, Row, Transcription};

use crate::finding::{AuditFinding, AuditVerdict, Input, Law};

/// A finding without its verdict.
pub(crate) struct Draft(AuditFinding);

impl Draft {
    /// What a law tests, and on what.
    pub fn new(law: Law, about: impl Into<String>, statement: impl Into<String>) -> Self {
        Self(AuditFinding {
            law,
            statement: statement.into(),
            about: about.into(),
            verdict: AuditVerdict::CannotTell,
            inputs: Vec::new(),
            arithmetic: String::new(),
            sentence: String::new(),
            inference: None,
            missing: Vec::new(),
        })
    }

    /// With a figure of a row.
    pub fn figure(mut self, row: &Row, figure: &Figure) -> Self {
        self.0.inputs.push(Input::of_row(row, figure));
        self
    }

    /// With several inputs.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = Input>) -> Self {
        self.0.inputs.extend(inputs);
        self
    }

    /// With what holds for a row.
    pub fn condition(mut self, row: &Row, name: &str, printed: impl Into<String>) -> Self {
        self.0.inputs.push(Input { name: name.to_owned(), printed: printed.into(), line: row.line });
        self
    }

    /// With the arithmetic.
    pub fn arithmetic(mut self, arithmetic: impl Into<String>) -> Self {
        self.0.arithmetic = arithmetic.into();
        self
    }

    /// With what the figures suggest beyond what they imply.
    pub fn inferring(mut self, inference: Option<String>) -> Self {
        self.0.inference = inference;
        self
    }

    /// The figures agree.
    pub fn holds(self, sentence: impl Into<String>) -> AuditFinding {
        self.verdict(AuditVerdict::Holds, sentence)
    }

    /// They do not.
    pub fn contradicted(self, sentence: impl Into<String>) -> AuditFinding {
        self.verdict(AuditVerdict::Contradicted, sentence)
    }

    /// Something is missing, or they allow both.
    pub fn cannot_tell(mut self, sentence: impl Into<String>, missing: &[&str]) -> AuditFinding {
        self.0.missing = missing.iter().map(|&what| what.to_owned()).collect();
        self.verdict(AuditVerdict::CannotTell, sentence)
    }

    /// The finding with its verdict.
    fn verdict(mut self, verdict: AuditVerdict, sentence: impl Into<String>) -> AuditFinding {
        self.0.verdict = verdict;
        self.0.sentence = sentence.into();
        self.0
    }
}

/// Rows of which a law cannot tell anything, counted by table and by what is missing.
pub(crate) struct Lacks {
    law: Law,
    statement: &'static str,
    of: Vec<Lack>,
}

/// One thing that is missing in one table.
struct Lack {
    table: Option<String>,
    missing: &'static str,
    inputs: Vec<Input>,
    arithmetic: Vec<String>,
}

impl Lacks {
    /// None yet, of a statement that cannot be tested.
    pub fn new(law: Law, statement: &'static str) -> Self {
        Self { law, statement, of: Vec::new() }
    }

    /// A row, or series, with something missing.
    pub fn note(&mut self, table: Option<&String>, missing: &'static str, inputs: impl IntoIterator<Item = Input>) {
        self.note_with(table, missing, inputs, None);
    }

    /// The same with what can be computed even so.
    pub fn note_with(
        &mut self,
        table: Option<&String>,
        missing: &'static str,
        inputs: impl IntoIterator<Item = Input>,
        arithmetic: Option<String>,
    ) {
        let inputs = inputs.into_iter().take(1);
        match self.of.iter_mut().find(|lack| lack.table.as_ref() == table && lack.missing == missing) {
            Some(lack) => {
                lack.inputs.extend(inputs);
                lack.arithmetic.extend(arithmetic);
            }
            None => {
                let (inputs, arithmetic) = (inputs.collect(), arithmetic.into_iter().collect());
                self.of.push(Lack { table: table.cloned(), missing, inputs, arithmetic });
            }
        }
    }

    /// One finding for each table and thing.
    pub fn findings(self, transcription: &Transcription) -> Vec<AuditFinding> {
        let (law, statement) = (self.law, self.statement);
        let finding = |lack: Lack| {
            let rows = match lack.inputs.len() {
                1 => "One row cannot be checked".to_owned(),
                several => format!("{several} rows cannot be checked"),
            };
            let about = lack.table.unwrap_or_else(|| transcription.title.clone());
            let sentence = format!("{rows}, because the source does not give this: {}.", lack.missing);
            let draft = Draft::new(law, about, statement).inputs(lack.inputs).arithmetic(lack.arithmetic.join("; "));
            draft.cannot_tell(sentence, &[lack.missing])
        };
        self.of.into_iter().map(finding).collect()
    }
}

/// A finding on one row of a table, and how close it comes to what the law forbids.
pub(crate) struct OfRow {
    /// The row's table.
    pub table: Option<String>,
    /// The closer, the larger.
    pub closeness: f64,
    /// What was found.
    pub finding: AuditFinding,
}

/// Findings that hold are many and alike: the closest of each table stands for all of its rows, with the figures of all. The
/// others stay as they are.
pub(crate) fn folded(findings: Vec<OfRow>) -> Vec<AuditFinding> {
    let mut kept: Vec<(OfRow, usize)> = Vec::new();
    for mut one in findings {
        let is_alike = |other: &OfRow| {
            let both_hold = [&one, other].iter().all(|each| each.finding.verdict == AuditVerdict::Holds);
            both_hold && other.table == one.table
        };
        match kept.iter_mut().find(|(other, _)| is_alike(other)) {
            Some((other, rows)) => {
                *rows += 1;
                if one.closeness > other.closeness {
                    std::mem::swap(other, &mut one);
                }
                other.finding.inputs.extend(one.finding.inputs);
            }
            None => kept.push((one, 1)),
        }
    }
    kept.into_iter().map(|(one, rows)| standing_for(one.finding, rows)).collect()
}

/// A finding that says for how many rows it stands.
fn standing_for(mut finding: AuditFinding, rows: usize) -> AuditFinding {
    match rows {
        1 => {}
        2 => finding.about += ", and one more row",
        rows => finding.about += &format!(", and {} more rows", rows - 1),
    }
    finding
}
