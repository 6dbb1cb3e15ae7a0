//! The words of an audit, and the order of its findings.

use tolok_analysis::figures::counted;
use tolok_audit::{Audit, AuditFinding, AuditVerdict, Input, Law};

/// The verdicts and words of an audit, and their meanings.
pub(super) const MEANINGS: [(&str, &str); 6] = [
    (
        "contradicted",
        "the figures cannot all be right as printed, or they do not support the text. Rounding, marks such as “about” and stated tolerances get the benefit of the doubt. The audit does not show which figure is wrong, or why.",
    ),
    (
        "fewer users",
        "the printed responses keep fewer users waiting than the source states. Users who pause or fail may be the reason, and the source does not say so.",
    ),
    ("cannot tell", "the source omits something that the check needs, or its figures allow both answers."),
    (
        "holds",
        "the figures agree with each other. That does not make them true: a table can pass every check and still be wrong.",
    ),
    (
        "inference",
        "what the figures suggest but do not imply. Another explanation may be right, so no verdict uses it.",
    ),
    ("line", "of the file. Somebody typed a transcription off its source: compare the two before you quote this."),
];

/// The columns of every count of findings.
pub(super) const VERDICTS: [AuditVerdict; 4] =
    [AuditVerdict::Contradicted, AuditVerdict::FewerUsers, AuditVerdict::CannotTell, AuditVerdict::Holds];

/// The findings of an audit in the order of the report.
pub(super) struct Sorted<'a> {
    pub(super) contradicted: Vec<ByLaw<'a>>,
    pub(super) fewer_users: Vec<ByLaw<'a>>,
    pub(super) lacking: Vec<Lack<'a>>,
    pub(super) held: Vec<ByLaw<'a>>,
}

/// Findings of a law, in the order of the file.
pub(super) struct ByLaw<'a> {
    pub(super) law: Law,
    pub(super) findings: Vec<&'a AuditFinding>,
}

/// Findings that lack the same figure.
pub(super) struct Lack<'a> {
    pub(super) what: String,
    pub(super) parts: Vec<Part<'a>>,
}

/// Findings that share an inference, which is printed once, or that have none.
pub(super) struct Part<'a> {
    pub(super) findings: Vec<&'a AuditFinding>,
    pub(super) inference: Option<&'a str>,
}

impl<'a> Lack<'a> {
    fn add(&mut self, finding: &'a AuditFinding) {
        let inference = finding.inference.as_deref();
        match self.parts.iter_mut().find(|part| part.inference == inference) {
            Some(part) => part.findings.push(finding),
            None => self.parts.push(Part { findings: vec![finding], inference }),
        }
    }

    fn findings(&self) -> impl Iterator<Item = &AuditFinding> {
        self.parts.iter().flat_map(|part| part.findings.iter().copied())
    }
}

impl Part<'_> {
    /// The words before an inference. They show when it follows from several findings together.
    pub(super) fn label(&self) -> String {
        match self.findings.len() {
            1 => "Inference:".to_owned(),
            all => format!("Inference, from all {all}:"),
        }
    }
}

impl<'a> Sorted<'a> {
    pub(super) fn of(audit: &'a Audit) -> Self {
        let by_law = |verdict| {
            let of = |law: Law| ByLaw { law, findings: audit.with(verdict).filter(|it| it.law == law).collect() };
            Law::ALL.into_iter().map(of).filter(|own| !own.findings.is_empty()).collect()
        };
        Self {
            contradicted: by_law(AuditVerdict::Contradicted),
            fewer_users: by_law(AuditVerdict::FewerUsers),
            lacking: lacking(audit),
            held: by_law(AuditVerdict::Holds),
        }
    }
}

/// Undecided findings, grouped by what is missing. The groups with the most findings come first.
fn lacking(audit: &Audit) -> Vec<Lack<'_>> {
    let mut groups: Vec<Lack<'_>> = Vec::new();
    for finding in audit.with(AuditVerdict::CannotTell) {
        let what = if finding.missing.is_empty() {
            "Nothing is missing, but the figures allow both".to_owned()
        } else {
            format!("Missing: {}", finding.missing.join("; "))
        };
        let place = groups.iter().position(|group| group.what == what).unwrap_or_else(|| {
            groups.push(Lack { what, parts: Vec::new() });
            groups.len() - 1
        });
        groups[place].add(finding);
    }
    // The sort is stable, so equal groups keep the order of the file. Groups that nothing would settle come last.
    groups.sort_by_key(|group| {
        let is_settled_by_nothing = group.findings().all(|finding| finding.missing.is_empty());
        (is_settled_by_nothing, std::cmp::Reverse(group.findings().count()))
    });
    groups
}

/// `asshuffi-apache-node · A. Author, 2024 · 48 rows, 1,014 numbers, 12 claims`
pub(super) fn subtitle(audit: &Audit) -> String {
    let read = [
        counted(audit.read.rows as u64, "row"),
        counted(audit.read.numbers as u64, "number"),
        counted(audit.read.claims as u64, "claim"),
    ];
    let parts = [audit.key.clone(), audit.source.clone(), read.join(", ")];
    // A bare file's only title is its name, which the heading already shows.
    parts.into_iter().filter(|part| !part.is_empty() && *part != audit.title).collect::<Vec<String>>().join(" · ")
}

/// The number of findings with each verdict: `✗ 8 contradicted`.
pub(super) fn tallies(audit: &Audit) -> [(AuditVerdict, usize, String); 4] {
    let counts = &audit.verdicts;
    VERDICTS.map(|verdict| {
        let count = match verdict {
            AuditVerdict::Contradicted => counts.contradicted,
            AuditVerdict::FewerUsers => counts.fewer_users,
            AuditVerdict::CannotTell => counts.cannot_tell,
            AuditVerdict::Holds => counts.holds,
        };
        (verdict, count, format!("{} {count} {}", verdict.sign(), many(verdict, count)))
    })
}

/// The words of a verdict after a number.
pub(super) fn many(verdict: AuditVerdict, count: usize) -> &'static str {
    match verdict {
        AuditVerdict::CannotTell => "undecided",
        AuditVerdict::Holds if count != 1 => "hold",
        other => other.words(),
    }
}

/// Findings of a law by verdict: contradicted, fewer users, cannot tell, holds. Dashes if it found nothing to check.
pub(super) fn counts(audit: &Audit, law: Law) -> [String; 4] {
    if audit.findings.iter().all(|finding| finding.law != law) {
        return VERDICTS.map(|_| "–".to_owned());
    }
    VERDICTS.map(|verdict| audit.with(verdict).filter(|finding| finding.law == law).count().to_string())
}

/// The figures of one line of the transcription.
pub(super) struct OfLine<'a> {
    /// `line 34`, or empty for figures without a line.
    pub(super) place: String,
    pub(super) inputs: Vec<&'a Input>,
}

/// The figures behind a finding, by line, in the order of the file. Figures without a line come last.
pub(super) fn by_line(inputs: &[Input]) -> Vec<OfLine<'_>> {
    let mut lines: Vec<usize> = inputs.iter().map(|input| input.line).collect();
    lines.sort_by_key(|line| (*line == 0, *line));
    lines.dedup();
    let of_line = |line: usize| OfLine {
        place: if line == 0 { String::new() } else { format!("line {line}") },
        inputs: inputs.iter().filter(|input| input.line == line).collect(),
    };
    lines.into_iter().map(of_line).collect()
}
