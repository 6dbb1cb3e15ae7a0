//! Whether the window had a single level, second by second.

use tolok_model::Measurement;

use super::{Gated, Judged, Seen};
use crate::case_inputs::CaseInputs;
use crate::findings::{SteadyClass, SteadyFinding};
use crate::flag::FlagKind;
use crate::steadiness::{of_class, of_trial, words};

/// Whether the load has a single level, so the responses must have one as well.
pub(super) use crate::steadiness::is_asked;

pub(super) fn judge(trial: &Measurement, _: &CaseInputs) -> Judged {
    match of_trial(trial) {
        Err(reason) => Judged::Unknown(reason.to_owned()),
        Ok(found) if found.class == SteadyClass::Flat => Judged::Passed(Seen::words("it had one level throughout")),
        Ok(found) => Judged::Failed(Seen::words(of_class(found.class)), Some(FlagKind::NotSteady)),
    }
}

/// One unsteady trial is only mentioned. A case with mostly unsteady trials has no rate to compare.
pub(super) fn settled(mut gated: Gated, inputs: &CaseInputs) -> Gated {
    let Some(steady) = inputs.steady else { return gated };
    gated.finding.bars = is_mostly_unsteady(steady);
    gated.finding.message = words(steady);
    gated
}

/// Whether more than half of the trials that could be judged had no single level.
pub(crate) fn is_mostly_unsteady(steady: &SteadyFinding) -> bool {
    let judged: u32 = steady.trials.iter().map(|(_, trials)| trials).sum();
    let flat: u32 =
        steady.trials.iter().filter(|(class, _)| *class == SteadyClass::Flat).map(|(_, trials)| trials).sum();
    2 * (judged - flat) > judged
}
