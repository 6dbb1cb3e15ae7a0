//! What a run stored, as the analysis reads it.

use tolok_model::{DiagnosisRecord, Plan, RunRecord, TrialRecord};

use crate::names::Names;

#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    /// What the run was and where.
    pub run: &'a RunRecord,
    /// Its cases and the order of its trials.
    pub plan: &'a Plan,
    /// What its subjects and workloads are called.
    pub names: &'a Names,
    /// What its trials found, in any order.
    pub trials: &'a [TrialRecord],
    /// What its unscored trials counted, in any order.
    pub diagnoses: &'a [DiagnosisRecord],
    /// The fingerprint of all of them and of the raw files behind them, where it is known.
    pub records_sha256: Option<&'a str>,
}
