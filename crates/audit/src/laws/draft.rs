//! A finding in the making: what was tested and with what, until the verdict is known.

use tolok_model::transcription::{Claim, Figure, Row, Series};

use crate::{AuditFinding, AuditVerdict, Input, Law};

/// More figures than these are not listed under a finding; its arithmetic names those that decide.
const MOST_INPUTS: usize = 12;

/// Findings that say the same of several settings, made one.
pub(crate) fn merged(findings: Vec<AuditFinding>) -> Vec<AuditFinding> {
    let mut kept: Vec<AuditFinding> = Vec::new();
    for finding in findings {
        let same = |other: &&mut AuditFinding| {
            let told = (&other.statement, &other.sentence, &other.arithmetic, &other.inference, &other.missing);
            other.verdict == finding.verdict
                && told
                    == (
                        &finding.statement,
                        &finding.sentence,
                        &finding.arithmetic,
                        &finding.inference,
                        &finding.missing,
                    )
        };
        match kept.iter_mut().find(same) {
            Some(other) => {
                other.about = format!("{}; {}", other.about, finding.about);
                let room = MOST_INPUTS.saturating_sub(other.inputs.len());
                let new: Vec<Input> =
                    finding.inputs.into_iter().filter(|input| !other.inputs.contains(input)).collect();
                other.inputs.extend(new.into_iter().take(room));
            }
            None => kept.push(finding),
        }
    }
    kept
}

/// A finding without a verdict.
pub(crate) struct Draft(AuditFinding);

impl Draft {
    /// A statement about something.
    pub(crate) fn new(law: Law, about: impl Into<String>, statement: impl Into<String>) -> Self {
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

    /// A figure that goes in.
    pub(crate) fn with(mut self, input: Input) -> Self {
        if self.0.inputs.len() < MOST_INPUTS && !self.0.inputs.contains(&input) {
            self.0.inputs.push(input);
        }
        self
    }

    /// A figure of a row.
    pub(crate) fn with_row(self, row: &Row, figure: &Figure) -> Self {
        self.with(Input::of_row(row, figure))
    }

    /// Several of them.
    pub(crate) fn with_rows<'a>(self, rows: impl IntoIterator<Item = (&'a Row, &'a Figure)>) -> Self {
        rows.into_iter().fold(self, |draft, (row, figure)| draft.with_row(row, figure))
    }

    /// A figure of a series.
    pub(crate) fn with_series(self, series: &Series, figure: &Figure) -> Self {
        self.with(Input::of_series(series, figure))
    }

    /// The number of a claim, as the text has it.
    pub(crate) fn with_claim(self, claim: &Claim, printed: &str) -> Self {
        self.with(Input { name: "the text".to_owned(), printed: printed.to_owned(), line: claim.line })
    }

    /// The arithmetic.
    pub(crate) fn by(mut self, arithmetic: impl Into<String>) -> Self {
        self.0.arithmetic = arithmetic.into();
        self
    }

    /// What the figures suggest beyond what they imply.
    pub(crate) fn suggests(mut self, inference: Option<String>) -> Self {
        self.0.inference = inference;
        self
    }

    /// What the source does not say.
    pub(crate) fn lacks<T: Into<String>>(mut self, missing: impl IntoIterator<Item = T>) -> Self {
        self.0.missing.extend(missing.into_iter().map(Into::into));
        self
    }

    /// The finding, with its verdict and what follows.
    pub(crate) fn found(mut self, verdict: AuditVerdict, sentence: impl Into<String>) -> AuditFinding {
        self.0.verdict = verdict;
        self.0.sentence = sentence.into();
        self.0
    }

    /// The figures agree.
    pub(crate) fn holds(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::Holds, sentence)
    }

    /// The figures cannot all be as printed, or do not say what is said of them.
    pub(crate) fn contradicted(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::Contradicted, sentence)
    }

    /// Something is missing, or the figures allow both.
    pub(crate) fn cannot_tell(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::CannotTell, sentence)
    }
}
