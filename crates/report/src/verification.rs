//! What `tolok verify` found, for people: a list of what was checked, with the first difference of each.

use tolok_model::{Check, CheckOutcome, Difference, Verification};

use crate::figures::counted;
use crate::terminal::wrapped;

/// Where the words of a check begin.
const MARGIN: usize = 24;

/// The list, in lines of at most `width` columns where words allow it.
pub fn text(found: &Verification, width: u16) -> String {
    let width = usize::from(width);
    let version = if found.tolok_version.is_empty() { "unknown" } else { found.tolok_version.as_str() };
    let mut text = format!("{}\nmade by tolok {version}, verified by tolok {}\n", found.run, found.verified_by);
    if let Some(hash) = &found.records_sha256 {
        text += &format!("records {hash}\n");
    }
    text.push('\n');
    found.checks.iter().for_each(|check| text += &of_check(check, width));
    if !found.not_recomputable.is_empty() {
        text += "\nNot recomputable:\n";
        for one in &found.not_recomputable {
            text += &indented(&format!("{}: {}", one.what, one.why), 2, width);
        }
    }
    text.push('\n');
    text + &verdict(found, width)
}

fn verdict(found: &Verification, width: usize) -> String {
    let differing = found.checks.iter().filter(|check| check.outcome == CheckOutcome::Differs).count();
    let made = found.checks.iter().filter(|check| check.outcome == CheckOutcome::Equal).count();
    if differing > 0 {
        let of = counted(found.checks.len() as u64, "check");
        return indented(&format!("NOT VERIFIED: {differing} of {of} found a difference."), 0, width);
    }
    let unmade = found.checks.len() - made;
    let rest = if unmade > 0 {
        format!(" {} could not be made.", counted(unmade as u64, "other check"))
    } else {
        String::new()
    };
    indented(&format!("Verified: {} found no difference.{rest}", counted(made as u64, "check")), 0, width)
}

fn of_check(check: &Check, width: usize) -> String {
    let mark = match check.outcome {
        CheckOutcome::Equal => "ok",
        CheckOutcome::Differs => "DIFFERS",
        CheckOutcome::NotChecked => "not made",
    };
    let said = match check.differences_total {
        0 => check.said.clone(),
        1 if check.compared == 0 => "nothing could be compared:".to_owned(),
        total => format!("{} in {} compared; the first:", counted(total, "difference"), grouped(check.compared)),
    };
    let label = format!("{mark:<10}{:<14}", check.name);
    let mut text = indented(&said, MARGIN, width).replacen(&" ".repeat(MARGIN), &label, 1);
    text += &check.differences.first().map(|difference| of_difference(difference, width)).unwrap_or_default();
    for note in &check.notes {
        text += &indented(&format!("note: {note}"), MARGIN, width);
    }
    text
}

fn of_difference(difference: &Difference, width: usize) -> String {
    let what = indented(&format!("{}: {}", difference.file, difference.said), MARGIN, width);
    what + &indented(&format!("what to do: {}", difference.advice), MARGIN, width)
}

/// A number with its thousands told apart.
fn grouped(number: u64) -> String {
    let text = counted(number, "");
    text.trim_end_matches(['s', ' ']).to_owned()
}

fn indented(words: &str, margin: usize, width: usize) -> String {
    let lines = wrapped(words, width.saturating_sub(margin).max(20), 0);
    lines.into_iter().map(|line| format!("{}{line}\n", " ".repeat(margin))).collect()
}

#[cfg(test)]
mod tests {
    use tolok_model::{NotRecomputable, VERIFICATION_SCHEMA};

    use super::*;

    fn difference() -> Difference {
        Difference {
            file: "trials/0003-json-c64--go-nethttp-b1/trial.json".to_owned(),
            at: Some("outcome.goodput_rps".to_owned()),
            stored: Some(51_234.5.into()),
            recomputed: Some(31_234.5.into()),
            said: "outcome.goodput_rps is 51234.5 there, and 31234.5 by tool.json".to_owned(),
            advice: "take the file from a copy of the run that verifies".to_owned(),
        }
    }

    fn verification(checks: Vec<Check>) -> Verification {
        Verification {
            schema_version: VERIFICATION_SCHEMA,
            run: "2026-11-21-quick-7f3a".to_owned(),
            tolok_version: "0.1.0".to_owned(),
            verified_by: "0.1.0".to_owned(),
            records_sha256: Some("9b1f0c7d5e3a4826".to_owned()),
            is_equal: checks.iter().all(|check| check.outcome != CheckOutcome::Differs),
            checks,
            not_recomputable: vec![NotRecomputable { what: "took_s".to_owned(), why: "noted once".to_owned() }],
        }
    }

    fn checks() -> Vec<Check> {
        let mut files = Check::new("files")
            .saying("182 files, 14.2 MiB: each has the length and the SHA-256 with which it was entered");
        files.notes.push("trials/0002 entered late".to_owned());
        vec![files, Check::not_made("report.md", "it is not there")]
    }

    #[test]
    fn what_is_equal_is_a_list_and_what_was_not_made_is_said() {
        insta::assert_snapshot!(text(&verification(checks()), 80));
    }

    #[test]
    fn a_difference_is_named_with_both_values_and_what_to_do() {
        let mut figures = Check::new("figures").saying("all equal");
        figures.compared = 1_512;
        figures.differs(difference());
        figures.differs(difference());
        let checks = [checks(), vec![figures]].concat();
        insta::assert_snapshot!(text(&verification(checks), 80));
    }
}
