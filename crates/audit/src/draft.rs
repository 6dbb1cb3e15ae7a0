//! Drafts of findings, before their verdict is known, and merging of finished findings.

use std::collections::{HashMap, HashSet, VecDeque};

use tolok_model::transcription::{Claim, Figure, Row, Series, Transcription};

use crate::finding::{AuditFinding, AuditVerdict, Input};
use crate::laws::Law;

/// Most figures that a finding lists. Its arithmetic names the decisive ones.
const MOST_INPUTS: usize = 24;

/// A finding without a verdict.
pub(crate) struct Draft(AuditFinding);

impl Draft {
    /// Starts a finding: a statement about something.
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

    pub(crate) fn with(mut self, input: Input) -> Self {
        if self.0.inputs.len() < MOST_INPUTS && !self.0.inputs.contains(&input) {
            self.0.inputs.push(input);
        }
        self
    }

    pub(crate) fn figure(self, row: &Row, figure: &Figure) -> Self {
        self.with(Input::of_row(row, figure))
    }

    pub(crate) fn figures<'a>(self, rows: impl IntoIterator<Item = (&'a Row, &'a Figure)>) -> Self {
        rows.into_iter().fold(self, |draft, (row, figure)| draft.figure(row, figure))
    }

    pub(crate) fn series(self, series: &Series, figure: &Figure) -> Self {
        self.with(Input::of_series(series, figure))
    }

    /// Adds the number of a claim, as in the text.
    pub(crate) fn claim(self, claim: &Claim, printed: &str) -> Self {
        self.with(Input { name: "the text".to_owned(), printed: printed.to_owned(), line: claim.line })
    }

    pub(crate) fn inputs(self, inputs: impl IntoIterator<Item = Input>) -> Self {
        inputs.into_iter().fold(self, Self::with)
    }

    pub(crate) fn condition(self, row: &Row, name: &str, printed: impl Into<String>) -> Self {
        self.with(Input { name: name.to_owned(), printed: printed.into(), line: row.line })
    }

    pub(crate) fn arithmetic(mut self, arithmetic: impl Into<String>) -> Self {
        self.0.arithmetic = arithmetic.into();
        self
    }

    /// Sets what the figures suggest beyond what they imply.
    pub(crate) fn inferring(mut self, inference: Option<String>) -> Self {
        self.0.inference = inference;
        self
    }

    /// Adds what the source does not state.
    pub(crate) fn lacks<T: Into<String>>(mut self, missing: impl IntoIterator<Item = T>) -> Self {
        self.0.missing.extend(missing.into_iter().map(Into::into));
        self
    }

    /// Finishes the finding with its verdict and conclusion.
    pub(crate) fn found(mut self, verdict: AuditVerdict, sentence: impl Into<String>) -> AuditFinding {
        self.0.verdict = verdict;
        self.0.sentence = sentence.into();
        self.0.shrink();
        self.0
    }

    pub(crate) fn holds(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::Holds, sentence)
    }

    /// The figures cannot all be as printed, or contradict the text.
    pub(crate) fn contradicted(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::Contradicted, sentence)
    }

    /// The printed responses keep fewer users waiting than the source states.
    pub(crate) fn fewer_users(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::FewerUsers, sentence)
    }

    /// Something is missing, or the figures allow both answers.
    pub(crate) fn cannot_tell(self, sentence: impl Into<String>) -> AuditFinding {
        self.found(AuditVerdict::CannotTell, sentence)
    }
}

/// The content of a finding, apart from its subject.
type Told = (AuditVerdict, String, String, String, Option<String>, Vec<String>);

fn told(finding: &AuditFinding) -> Told {
    let AuditFinding { verdict, statement, sentence, arithmetic, inference, missing, .. } = finding;
    (*verdict, statement.clone(), sentence.clone(), arithmetic.clone(), inference.clone(), missing.clone())
}

/// Merges findings that differ only in their subject.
pub(crate) fn merged(findings: Vec<AuditFinding>) -> Vec<AuditFinding> {
    let (mut places, mut kept): (HashMap<Told, usize>, Vec<AuditFinding>) = Default::default();
    for finding in findings {
        let place = *places.entry(told(&finding)).or_insert(kept.len());
        let Some(other) = kept.get_mut(place) else {
            kept.push(finding);
            continue;
        };
        other.about.push_str("; ");
        other.about.push_str(&finding.about);
        for input in finding.inputs {
            if other.inputs.len() < MOST_INPUTS && !other.inputs.contains(&input) {
                other.inputs.push(input);
            }
        }
    }
    kept
}

/// Rows that a law cannot check, by table and by what is missing.
pub(crate) struct Lacks {
    law: Law,
    statement: &'static str,
    of: Vec<Lack>,
}

/// One missing thing in one table.
struct Lack {
    table: Option<String>,
    missing: &'static str,
    inputs: Vec<Input>,
    arithmetic: Vec<String>,
}

impl Lacks {
    /// Starts without rows, for a statement that cannot be tested.
    pub fn new(law: Law, statement: &'static str) -> Self {
        Self { law, statement, of: Vec::new() }
    }

    /// Adds a row or series that lacks something.
    pub fn note(&mut self, table: Option<&String>, missing: &'static str, inputs: impl IntoIterator<Item = Input>) {
        self.note_with(table, missing, inputs, None);
    }

    /// Like [`note`](Self::note), with what can be computed nevertheless.
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

    /// One finding for each table and missing thing.
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
            draft.lacks([lack.missing]).cannot_tell(sentence)
        };
        self.of.into_iter().map(finding).collect()
    }
}

/// A finding about one row of a table, and how close the row comes to breaking the law.
pub(crate) struct OfRow {
    /// The table, and anything else that findings must share to be folded.
    pub table: Option<String>,
    /// Larger means closer.
    pub closeness: f64,
    pub finding: AuditFinding,
}

/// Folds findings that hold, because they are many and alike. The closest one of each table represents all, with all
/// their figures. Other findings stay as they are.
pub(crate) fn folded(findings: Vec<OfRow>) -> Vec<AuditFinding> {
    folded_where(findings, |one| one.finding.verdict == AuditVerdict::Holds)
}

/// As many contradictions of one kind as a reader follows in one table.
const MOST_ALONE: usize = 3;

/// Folds contradictions of a table that probably have one cause. The worst row represents them if there are more than
/// [`MOST_ALONE`].
pub(crate) fn crowds_folded(findings: Vec<OfRow>) -> Vec<AuditFinding> {
    let mut counts: HashMap<Option<String>, usize> = HashMap::new();
    let is_contradicted = |one: &OfRow| one.finding.verdict == AuditVerdict::Contradicted;
    findings
        .iter()
        .filter(|one| is_contradicted(one))
        .for_each(|one| *counts.entry(one.table.clone()).or_default() += 1);
    folded_where(findings, |one| {
        is_contradicted(one) && counts.get(&one.table).is_some_and(|count| *count > MOST_ALONE)
    })
}

fn folded_where(findings: Vec<OfRow>, is_folded: impl Fn(&OfRow) -> bool) -> Vec<AuditFinding> {
    let (mut places, mut kept): (HashMap<Option<String>, usize>, Vec<Fold>) = Default::default();
    for one in findings {
        if !is_folded(&one) {
            kept.push(Fold::of(one));
            continue;
        }
        let place = *places.entry(one.table.clone()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(fold) => fold.add(one),
            None => kept.push(Fold::of(one)),
        }
    }
    kept.into_iter().map(|fold| standing_for(fold.finding, fold.inputs, fold.rows)).collect()
}

/// The findings of a table that become one.
struct Fold {
    /// The finding of the closest row so far, without its figures.
    finding: AuditFinding,
    closeness: f64,
    /// The figures of all rows, those of the closest row first.
    inputs: VecDeque<Input>,
    known: HashSet<Input>,
    rows: usize,
}

impl Fold {
    fn of(OfRow { closeness, mut finding, .. }: OfRow) -> Self {
        let inputs: VecDeque<Input> = std::mem::take(&mut finding.inputs).into();
        Self { known: inputs.iter().cloned().collect(), finding, closeness, inputs, rows: 1 }
    }

    fn add(&mut self, OfRow { closeness, mut finding, .. }: OfRow) {
        self.rows += 1;
        let own = std::mem::take(&mut finding.inputs);
        if closeness > self.closeness {
            (self.finding, self.closeness) = (finding, closeness);
            let is_new: HashSet<&Input> = own.iter().collect();
            // Few figures are printed twice, and those are rare or near the front.
            if own.iter().any(|input| self.known.contains(input)) {
                self.inputs.retain(|input| !is_new.contains(input));
            }
            own.iter().rev().for_each(|input| self.inputs.push_front(input.clone()));
            self.known.extend(own);
        } else {
            let new: Vec<Input> = own.into_iter().filter(|input| self.known.insert(input.clone())).collect();
            self.inputs.extend(new);
        }
    }
}

/// A finding that states how many rows it represents.
fn standing_for(mut finding: AuditFinding, inputs: VecDeque<Input>, rows: usize) -> AuditFinding {
    finding.inputs = inputs.into();
    match rows {
        1 => {}
        2 => finding.about += ", and one more row",
        rows => finding.about += &format!(", and {} more rows", rows - 1),
    }
    finding
}
