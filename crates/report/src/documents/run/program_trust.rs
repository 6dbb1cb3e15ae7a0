//! The checks of programs.

use tolok_analysis::figures::counted;
use tolok_analysis::{Findings, FlagKind, ProgramCaseFinding};

use super::programs::runs_in_all;
use super::trust::{Check, left_by_others};

/// Every check of a run's programs; empty without programs.
pub(crate) fn checks(findings: &Findings) -> Vec<Check> {
    let cases: Vec<&ProgramCaseFinding> = findings.programs.iter().flat_map(|program| &program.cases).collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let checks = vec![
        intervals(&cases),
        steps(&cases),
        above_start(&cases),
        outliers(findings, &cases),
        quiet(findings, &cases),
    ];
    if cases.iter().any(|case| case.trials_measured > 0) {
        return checks;
    }
    let unknown = |check: Check| Check { passed: None, seen: "nothing was measured".to_owned(), ..check };
    checks.into_iter().map(unknown).collect()
}

fn intervals(cases: &[&ProgramCaseFinding]) -> Check {
    let lacks = |case: &&&ProgramCaseFinding| case.wall_s.as_ref().is_none_or(|wall| wall.low.is_none());
    let lacking = cases.iter().filter(lacks).count();
    let seen = format!("{} of {} have one", cases.len() - lacking, counted(cases.len() as u64, "case"));
    check("Every wall time has an interval", lacking == 0, seen)
}

fn steps(cases: &[&ProgramCaseFinding]) -> Check {
    let coarse = flagged(cases, FlagKind::CoarseTimer);
    check("Every timer’s steps were fine enough for what it timed", coarse == 0, of_cases(coarse, cases))
}

/// Cases without a floor are unknown, so they do not count as passed.
fn above_start(cases: &[&ProgramCaseFinding]) -> Check {
    let known = cases.iter().filter(|case| case.above_floor_s.is_some()).count();
    let at_floor = cases.iter().filter(|case| case.is_at_floor).count();
    let seen = format!("{} of {} known; {at_floor} at the start", known, counted(cases.len() as u64, "case"));
    let check = check("The work could be separated from the start", at_floor == 0, seen);
    if known == 0 { Check { passed: None, ..check } } else { check }
}

fn outliers(findings: &Findings, cases: &[&ProgramCaseFinding]) -> Check {
    let outliers: u64 = cases.iter().map(|case| u64::from(case.outliers)).sum();
    let seen = format!("{} of {}", counted(outliers, "outlier"), runs_in_all(&findings.programs));
    let seen = if outliers == 0 { seen } else { format!("{seen}; kept in every figure") };
    check("No run was far from the others of its trial", outliers == 0, seen)
}

fn quiet(findings: &Findings, cases: &[&ProgramCaseFinding]) -> Check {
    let disturbed = cases.iter().map(|case| case.disturbed.len()).sum();
    let reruns: u32 = cases.iter().map(|case| case.reruns).sum();
    left_by_others(findings, "Others left the CPU to the programs", &counted(reruns.into(), "time"), disturbed)
}

fn check(rule: &'static str, passed: bool, seen: String) -> Check {
    Check { rule, seen, passed: Some(passed) }
}

fn flagged(cases: &[&ProgramCaseFinding], kind: FlagKind) -> usize {
    cases.iter().filter(|case| case.flags.iter().any(|flag| flag.kind == kind)).count()
}

fn of_cases(flagged: usize, cases: &[&ProgramCaseFinding]) -> String {
    let cases = counted(cases.len() as u64, "case");
    if flagged == 0 { format!("none of {cases} flagged") } else { format!("{flagged} of {cases} flagged") }
}
