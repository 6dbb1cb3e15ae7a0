//! What a case does for each response, counted in a separate, unscored trial.
//!
//! The counters slow down the server that they observe, in a virtual machine by a third. So none of this is a result. Every
//! figure shows how much slower the trial was than the scored ones.

use tolok_model::{Diagnosis, DiagnosisRecord, GarbageCollection};

use crate::findings::{CaseFinding, DiagnosisFinding};

/// The unscored trials of a scenario's cases, in the order of the cases.
pub(crate) fn diagnoses(cases: &[CaseFinding], records: &[DiagnosisRecord]) -> Vec<DiagnosisFinding> {
    let of_case = |case: &CaseFinding| Some(finding(case, records.iter().find(|record| record.case == case.case)?));
    cases.iter().filter_map(of_case).collect()
}

fn finding(case: &CaseFinding, record: &DiagnosisRecord) -> DiagnosisFinding {
    let named = DiagnosisFinding { case: case.case.clone(), title: case.title.clone(), ..DiagnosisFinding::default() };
    match &record.outcome {
        Ok(diagnosis) => counted_over(named, case, diagnosis),
        Err(reason) => DiagnosisFinding { failure: Some(reason.clone()), ..named },
    }
}

fn counted_over(named: DiagnosisFinding, case: &CaseFinding, diagnosis: &Diagnosis) -> DiagnosisFinding {
    let per_good = |count: Option<u64>| over(count? as f64, diagnosis.answers as f64);
    let scored = case.goodput_rps.as_ref().map(|goodput| goodput.value);
    let collection = |of: fn(&GarbageCollection) -> f64| diagnosis.garbage_collection.as_ref().map(of);
    DiagnosisFinding {
        answers: Some(diagnosis.answers),
        window_s: Some(diagnosis.window_s),
        goodput_rps: Some(diagnosis.goodput_rps),
        of_scored: scored.and_then(|scored| over(diagnosis.goodput_rps, scored)),
        cycles_per_good: per_good(diagnosis.cycles),
        instructions_per_good: per_good(diagnosis.instructions),
        instructions_per_cycle: diagnosis
            .instructions
            .zip(diagnosis.cycles)
            .and_then(|(instructions, cycles)| over(instructions as f64, cycles as f64)),
        branch_misses_per_good: per_good(diagnosis.branch_misses),
        cache_misses_per_good: per_good(diagnosis.cache_misses),
        syscalls_per_good: per_good(diagnosis.syscalls),
        collections: diagnosis.garbage_collection.map(|found| found.collections),
        pause_share: collection(|found| found.pause_s_total).and_then(|pause_s| over(pause_s, diagnosis.window_s)),
        pause_s_max: collection(|found| found.pause_s_max),
        unavailable: diagnosis.unavailable.clone(),
        ..named
    }
}

fn over(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && part.is_finite()).then(|| part / whole)
}
