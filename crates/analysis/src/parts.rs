//! The parts of a mixed workload, over the trials of a case.

use tolok_model::{Measurement, PartFigures};

use crate::estimate::median;
use crate::findings::{Estimate, MixedPartFinding};
use crate::observations::Observations;

/// One finding for each part, in the order of the workload; empty for any other workload.
pub(crate) fn parts(observations: &Observations) -> Vec<MixedPartFinding> {
    let trials: Vec<&Measurement> = observations.trials().collect();
    let Some(first) = trials.first() else { return Vec::new() };
    let every = |name: &str| -> Option<Vec<&PartFigures>> {
        trials.iter().map(|trial| trial.parts.iter().find(|part| part.part == name)).collect()
    };
    let all_sent: u64 = trials.iter().flat_map(|trial| &trial.parts).map(|part| part.sent).sum();
    let finding = |part: &PartFigures| Some(of_trials(part, &every(&part.part)?, all_sent));
    first.parts.iter().filter_map(finding).collect()
}

fn of_trials(part: &PartFigures, trials: &[&PartFigures], all_sent: u64) -> MixedPartFinding {
    let sum = |of: fn(&PartFigures) -> u64| trials.iter().map(|part| of(part)).sum::<u64>();
    let at = |quantile: f64| -> Option<Estimate> {
        median(trials.iter().map(|part| part.at(quantile)).collect::<Option<Vec<f64>>>()?)
    };
    let sent = sum(|part| part.sent);
    MixedPartFinding {
        part: part.part.clone(),
        asked_share: part.asked_share,
        sent_share: (all_sent > 0).then(|| sent as f64 / all_sent as f64),
        sent,
        good: sum(|part| part.good),
        failed: sum(|part| part.failed),
        latency_p50_s: at(0.5),
        latency_p99_s: at(0.99),
    }
}
