//! Names and sentences of audits, the same for every format.

use crate::finding::{Audit, AuditVerdict, Verdicts};

impl AuditVerdict {
    /// The verdict on a statement about several things: the worst of them.
    pub(crate) fn of_all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let worst = |so_far, verdict| match (so_far, verdict) {
            (Self::Contradicted, _) | (_, Self::Contradicted) => Self::Contradicted,
            (Self::FewerUsers, _) | (_, Self::FewerUsers) => Self::FewerUsers,
            (Self::CannotTell, _) | (_, Self::CannotTell) => Self::CannotTell,
            (Self::Holds, Self::Holds) => Self::Holds,
        };
        verdicts.into_iter().fold(Self::Holds, worst)
    }

    /// The verdict in words: `contradicted`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Contradicted => "contradicted",
            Self::FewerUsers => "fewer users",
            Self::CannotTell => "cannot tell",
        }
    }

    /// The sign before the words, for readers without colour.
    pub fn sign(self) -> char {
        match self {
            Self::Holds => '✓',
            Self::Contradicted => '✗',
            Self::FewerUsers => '!',
            Self::CannotTell => '?',
        }
    }
}

impl Audit {
    /// The findings with a verdict, in order.
    pub fn with(&self, verdict: AuditVerdict) -> impl Iterator<Item = &crate::AuditFinding> {
        self.findings.iter().filter(move |finding| finding.verdict == verdict)
    }

    /// Whether any check is contradicted.
    pub fn is_contradicted(&self) -> bool {
        self.verdicts.contradicted > 0
    }
}

impl Verdicts {
    pub fn all(&self) -> usize {
        self.holds + self.contradicted + self.fewer_users + self.cannot_tell
    }

    /// The verdict on a table, in a sentence: `8 of 41 checks are contradicted by the table's own figures, 12
    /// undecided, 21 hold.`
    pub(crate) fn sentence(&self) -> String {
        let all = self.all();
        let checks = if all == 1 { "check" } else { "checks" };
        let verb =
            |count: usize, one: &str, several: &str| format!("{count} {}", if count == 1 { one } else { several });
        let holds = (self.holds > 0).then(|| verb(self.holds, "holds", "hold"));
        let fewer = (self.fewer_users > 0)
            .then(|| format!("{} fewer users than stated", verb(self.fewer_users, "shows", "show")));
        let undecided = (self.cannot_tell > 0).then(|| format!("{} undecided", self.cannot_tell));
        let listed = |parts: [Option<String>; 3]| parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        match self.contradicted {
            _ if all == 0 => "Nothing could be checked: no law covers the figures of the transcription.".to_owned(),
            0 if self.cannot_tell == all => {
                format!("Nothing is contradicted, and nothing holds: of {all} {checks}, all are undecided.")
            }
            0 if self.holds == all => {
                format!("No check is contradicted by the table’s own figures: {}.", all_hold(all))
            }
            0 => format!(
                "No check is contradicted by the table’s own figures: of {all} {checks}, {}.",
                listed([holds, fewer, undecided])
            ),
            some => {
                let are = if some == 1 { "is" } else { "are" };
                let rest = listed([fewer, undecided, holds]);
                let rest = if rest.is_empty() { rest } else { format!(", {rest}") };
                format!("{some} of {all} {checks} {are} contradicted by the table’s own figures{rest}.")
            }
        }
    }
}

fn all_hold(all: usize) -> String {
    if all == 1 { "the only one holds".to_owned() } else { format!("all {all} hold") }
}

/// The verdict on several tables, in a sentence.
pub fn sentence_of_several(audits: &[Audit]) -> String {
    let contradicted = audits.iter().filter(|audit| audit.is_contradicted()).count();
    let all = audits.len();
    match contradicted {
        0 => format!("None of {all} tables is contradicted by its own figures."),
        1 => format!("1 of {all} tables is contradicted by its own figures."),
        some if some == all => format!("All {all} tables are contradicted by their own figures."),
        some => format!("{some} of {all} tables are contradicted by their own figures."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_counts_and_agrees_with_its_numbers() {
        let of = |contradicted, fewer_users, cannot_tell, holds| {
            Verdicts { holds, contradicted, fewer_users, cannot_tell }.sentence()
        };
        let check = |[contradicted, cannot_tell, holds]: [usize; 3], words: &str| {
            assert_eq!(of(contradicted, 0, cannot_tell, holds), words);
        };
        check([8, 12, 21], "8 of 41 checks are contradicted by the table’s own figures, 12 undecided, 21 hold.");
        check([1, 0, 1], "1 of 2 checks is contradicted by the table’s own figures, 1 holds.");
        check([1, 0, 0], "1 of 1 check is contradicted by the table’s own figures.");
        check([2, 1, 0], "2 of 3 checks are contradicted by the table’s own figures, 1 undecided.");
        check([0, 0, 21], "No check is contradicted by the table’s own figures: all 21 hold.");
        check([0, 0, 1], "No check is contradicted by the table’s own figures: the only one holds.");
        check([0, 4, 1], "No check is contradicted by the table’s own figures: of 5 checks, 1 holds, 4 undecided.");
        check([0, 4, 0], "Nothing is contradicted, and nothing holds: of 4 checks, all are undecided.");
        check([0, 0, 0], "Nothing could be checked: no law covers the figures of the transcription.");
        assert_eq!(
            of(1, 1, 0, 3),
            "1 of 5 checks is contradicted by the table’s own figures, 1 shows fewer users than stated, 3 hold."
        );
        assert_eq!(
            of(0, 2, 1, 1),
            "No check is contradicted by the table’s own figures: of 4 checks, 1 holds, 2 show fewer users than stated, 1 undecided."
        );
    }
}
