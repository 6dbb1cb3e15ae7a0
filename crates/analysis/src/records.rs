//! The records of a run, as input of the analysis.

use tolok_model::{DiagnosisRecord, Plan, RunRecord, TrialRecord};

use crate::findings::CaseFinding;
use crate::names::Names;

#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    /// The description of the run and its machine.
    pub run: &'a RunRecord,
    /// Its cases and the order of its trials.
    pub plan: &'a Plan,
    /// Titles of its subjects and workloads.
    pub names: &'a Names,
    /// Records of its trials, in any order.
    pub trials: &'a [TrialRecord],
    /// Records of its unscored trials, in any order.
    pub diagnoses: &'a [DiagnosisRecord],
    /// The fingerprint of all of them and of the raw files behind them, if known.
    pub records_sha256: Option<&'a str>,
}

impl Records<'_> {
    /// Whether the subject of a case is a reference.
    pub(crate) fn is_reference<F>(&self, case: &CaseFinding<F>) -> bool {
        self.plan.case(&case.case).is_some_and(|case| self.names.is_reference(&case.subject))
    }
}
