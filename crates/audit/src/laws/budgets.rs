//! Budgets: did all compared subjects have the same CPUs, workers and memory?
//!
//! The law compares what the source states about each row, within a setting of a table. Unequal budgets do not
//! contradict a figure. But the figures then do not describe the subjects alone, so the law cannot tell which is
//! faster. It holds if CPUs and workers are stated and all stated budgets are equal. The law of bytes checks whether
//! all subjects sent the same bytes.
//!
//! Source: this project's own rules of fairness. Nothing is computed.

use tolok_model::transcription::{Row, Transcription};

use crate::draft::{Draft, merged};
use crate::groups::{Group, groups, measured};
use crate::laws::LawInfo;
use crate::rows::rate_inputs;
use crate::wording::{listed, precise};
use crate::{AuditFinding, Law};

/// The tested statement.
const STATEMENT: &str = "All compared subjects had the same CPUs, workers and memory.";

pub(super) const LAW: LawInfo = LawInfo {
    title: "Budgets",
    says: "All compared subjects had the same CPUs, workers and memory.",
    needs: "two subjects under one setting",
    check,
};

/// Compares the subjects of every setting that has at least two.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    let mut unstated: Vec<(Vec<&'static str>, Group)> = Vec::new();
    for group in groups(measured(transcription)) {
        if !has_two_subjects(&group) {
            continue;
        }
        let budgets = Budgets::of(&group);
        if !budgets.unequal.is_empty() {
            found.push(unequal(transcription, &group, &budgets));
        } else if budgets.missing.is_empty() {
            found.push(equal(transcription, &group, &budgets));
        } else {
            let known =
                unstated.iter_mut().find(|(missing, of)| *missing == budgets.missing && of.table == group.table);
            match known {
                Some((_, of)) => of.rows.extend(group.rows),
                None => unstated.push((budgets.missing, group)),
            }
        }
    }
    found.extend(unstated.iter().map(|(missing, group)| not_stated(missing, group)));
    merged(found)
}

fn has_two_subjects(group: &Group) -> bool {
    group.rows.iter().any(|row| row.subject != group.rows[0].subject)
}

/// The stated budgets of a setting.
struct Budgets {
    /// `CPUs: go 8, node 1`.
    unequal: Vec<String>,
    /// `8 CPUs`.
    same: Vec<String>,
    missing: Vec<&'static str>,
}

type Stated = fn(&Row) -> Option<f64>;

/// The compared budgets, and what is missing if a row does not state one. Memory is optional, because it is only
/// limited if someone set a limit.
const BUDGETS: [(&str, Option<&str>, Stated); 3] = [
    ("CPUs", Some("the CPUs of each subject"), |row| row.conditions.subject_cpus),
    ("processes or threads", Some("the processes or threads of each subject"), |row| {
        row.conditions.subject_workers.map(|workers| workers as f64)
    }),
    ("bytes of memory", None, |row| row.conditions.subject_memory_bytes),
];

impl Budgets {
    fn of(group: &Group) -> Self {
        let mut found = Self { unequal: Vec::new(), same: Vec::new(), missing: Vec::new() };
        for (what, missing, stated) in BUDGETS {
            let all: Vec<(&str, f64)> =
                group.rows.iter().filter_map(|row| stated(row).map(|budget| (row.subject.as_str(), budget))).collect();
            if all.iter().any(|(_, budget)| *budget != all[0].1) {
                let list: Vec<String> =
                    all.iter().map(|(name, budget)| format!("{name} {}", precise(*budget))).collect();
                found.unequal.push(format!("{what}: {}", list.join(", ")));
            } else if all.len() == group.rows.len() {
                found.same.push(format!("{what}: {}", precise(all[0].1)));
            } else {
                found.missing.extend(missing);
            }
        }
        found
    }
}

fn draft(transcription: &Transcription, group: &Group) -> Draft {
    Draft::new(Law::Budgets, group.name(transcription), STATEMENT).inputs(rate_inputs(group.rows.iter().copied()))
}

fn unequal(transcription: &Transcription, group: &Group, budgets: &Budgets) -> AuditFinding {
    let what: Vec<String> =
        budgets.unequal.iter().filter_map(|text| text.split_once(':').map(|(what, _)| what.to_owned())).collect();
    draft(transcription, group)
        .arithmetic(budgets.unequal.join("; "))
        .lacks(["figures with equal budgets"])
        .cannot_tell(format!(
            "{} differ ({}), so the figures compare more than the subjects.",
            tolok_model::sentences::capital(&listed(&what)),
            budgets.unequal.join("; ")
        ))
}

fn equal(transcription: &Transcription, group: &Group, budgets: &Budgets) -> AuditFinding {
    draft(transcription, group)
        .arithmetic(budgets.same.join("; "))
        .holds(format!("All stated budgets are equal: {}.", listed(&budgets.same)))
}

fn not_stated(missing: &[&str], group: &Group) -> AuditFinding {
    let list = listed(&missing.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    Draft::new(Law::Budgets, group.table.unwrap_or("the table"), STATEMENT)
        .lacks(missing.iter().copied())
        .cannot_tell(format!("The source does not state {list} for every compared subject."))
}
