//! Budgets: had those who are compared the same CPUs, workers, memory and bytes to send?
//!
//! What the source states of each row is compared within a setting of a table; bytes of an answer are those printed, or
//! bandwidth ÷ throughput with both roundings. Unequal budgets contradict no figure: they say that the figures are not of the
//! subjects alone, so that the law cannot tell who is faster. It holds where CPUs and workers are stated and all that is
//! stated is equal. One process that is said to serve alone but uses more than one CPU is shown, and not contradicted, because
//! a process may have threads. Source: the fairness ledger of this project; there is no formula beyond division.

use tolok_model::sentences::capital;
use tolok_model::transcription::{CpuScope, Figure, Moment, Quantity, Row, Transcription, Unit};

use super::bounds::Bounds;
use super::groups::{Group, find, groups, measured, throughput};
use super::words::{figure, listed, place, value_of};
use crate::draft::{Draft, merged};
use crate::{AuditFinding, Law};

/// Sizes of answers within this share of each other are equal: headers with dates and lengths vary by as much.
const SAME_BYTES: f64 = 0.03;

/// Compares the subjects of every setting with two of them.
pub(crate) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    let mut unstated: Vec<(Vec<&'static str>, Group)> = Vec::new();
    for group in groups(measured(transcription)) {
        found.extend(group.rows.iter().filter_map(|row| beyond_one(transcription, row)));
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

/// What is stated of a setting.
struct Budgets {
    /// `CPUs: go 8, node 1`.
    unequal: Vec<String>,
    /// `8 CPUs`.
    same: Vec<String>,
    missing: Vec<&'static str>,
}

/// A budget of a row.
type Stated = fn(&Row) -> Option<Bounds>;

impl Budgets {
    fn of(group: &Group) -> Self {
        let budgets: [(&str, &str, Stated); 4] = [
            ("CPUs", "the CPUs of each subject", |row| {
                row.conditions.subject_cpus.map(|cpus| Bounds::between(cpus, cpus))
            }),
            ("processes or threads", "the processes or threads of each subject", |row| {
                row.conditions.subject_workers.map(|workers| Bounds::between(workers as f64, workers as f64))
            }),
            ("bytes of memory", "", |row| {
                row.conditions.subject_memory_bytes.map(|bytes| Bounds::between(bytes, bytes))
            }),
            ("bytes an answer", "", bytes_of_answer),
        ];
        let mut found = Self { unequal: Vec::new(), same: Vec::new(), missing: Vec::new() };
        for (what, missing, stated) in budgets {
            let all: Vec<(&str, Bounds)> =
                group.rows.iter().filter_map(|row| stated(row).map(|budget| (row.subject.as_str(), budget))).collect();
            let tolerance = if what == "bytes an answer" { SAME_BYTES } else { 0.0 };
            let differ = all.iter().any(|(_, a)| all.iter().any(|(_, b)| a.low > b.high * (1.0 + tolerance)));
            if differ {
                let list: Vec<String> =
                    all.iter().map(|(name, budget)| format!("{name} {}", middle(*budget))).collect();
                found.unequal.push(format!("{what}: {}", list.join(", ")));
            } else if all.len() == group.rows.len() {
                found.same.push(format!("{what}: {}", middle(all[0].1)));
            } else if !missing.is_empty() {
                found.missing.push(missing);
            }
        }
        found
    }
}

fn middle(budget: Bounds) -> String {
    let middle = f64::midpoint(budget.low, budget.high);
    // What is exactly known was widened by the last bits only.
    figure(if (middle - middle.round()).abs() < 1e-6 * middle.abs() { middle.round() } else { middle })
}

/// As printed, or bandwidth ÷ throughput.
fn bytes_of_answer(row: &Row) -> Option<Bounds> {
    if let Some(body) = row.figure(&Quantity::Body) {
        return Some(Bounds::of_figure(body));
    }
    let bandwidth = row.figure(&Quantity::Bandwidth)?;
    let (_, rate) = throughput(row)?;
    Bounds::of_figure(bandwidth).over(rate)
}

fn draft(transcription: &Transcription, group: &Group) -> Draft {
    let statement = "Those who are compared had the same CPUs, workers, memory and bytes to send.";
    let compared = group.rows.iter().filter_map(|row| throughput(row).map(|(figure, _)| (*row, figure)));
    let sizes = group.rows.iter().filter_map(|row| {
        let size = row.figure(&Quantity::Body).or_else(|| row.figure(&Quantity::Bandwidth));
        size.map(|figure| (*row, figure))
    });
    Draft::new(Law::Budgets, place(transcription, group.scenario, group.table), statement)
        .figures(compared)
        .figures(sizes)
}

fn unequal(transcription: &Transcription, group: &Group, budgets: &Budgets) -> AuditFinding {
    let what: Vec<String> =
        budgets.unequal.iter().filter_map(|text| text.split_once(':').map(|(what, _)| what.to_owned())).collect();
    draft(transcription, group)
        .arithmetic(budgets.unequal.join("; "))
        .lacks(["figures with equal budgets"])
        .cannot_tell(format!(
            "{} differ ({}), so that the figures do not compare the subjects alone.",
            capital(&listed(&what)),
            budgets.unequal.join("; ")
        ))
}

fn equal(transcription: &Transcription, group: &Group, budgets: &Budgets) -> AuditFinding {
    draft(transcription, group)
        .arithmetic(budgets.same.join("; "))
        .holds(format!("All that the source states of budgets is equal: {}.", listed(&budgets.same)))
}

fn not_stated(missing: &[&str], group: &Group) -> AuditFinding {
    let list = listed(&missing.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    Draft::new(
        Law::Budgets,
        group.table.unwrap_or("the table"),
        "Those who are compared had the same CPUs, workers, memory and bytes to send.",
    )
    .lacks(missing.iter().copied())
    .cannot_tell(format!("The source does not state {list} for all that it compares."))
}

/// One worker that uses more than one CPU.
fn beyond_one(transcription: &Transcription, row: &Row) -> Option<AuditFinding> {
    if row.conditions.subject_workers != Some(1) {
        return None;
    }
    let (of, cpu) = find(transcription, row, &[Moment::Mean, Moment::Whole, Moment::Max].map(Quantity::Cpu))?;
    let cores = cores(row, cpu)?;
    // Collectors and compilers of a runtime run beside its one serving thread.
    (std::ptr::eq(of, row) && cores.low > 2.0).then(|| {
        let name = transcription.row_name(row);
        Draft::new(Law::Budgets, name.clone(), "One process that serves from one thread uses about one CPU.")
            .figure(row, cpu)
            .arithmetic(format!("{} = {} CPUs; 1 worker", value_of(cpu), figure(cpu_cores(&cores))))
            .lacks(["from how many threads or processes it served"])
            .inferring(Some("Probably more than one thread or process served.".to_owned()))
            .cannot_tell(format!(
                "{name} is said to be one process, and used {} CPUs; a process that serves from one thread uses about one.",
                figure(cpu_cores(&cores))
            ))
    })
}

fn cpu_cores(cores: &Bounds) -> f64 {
    if cores.high.is_finite() { f64::midpoint(cores.low, cores.high) } else { cores.low }
}

fn cores(row: &Row, cpu: &Figure) -> Option<Bounds> {
    let used = Bounds::of_figure(cpu);
    match (cpu.unit, row.conditions.cpu_scope) {
        (Unit::Core, _) | (Unit::Percent, Some(CpuScope::Core)) => Some(used),
        // More than 100 % can only be of one core.
        (Unit::Percent, None) if used.low > 1.0 => Some(used),
        _ => None,
    }
}
