//! Whether the figures of a run are sound.

use crate::figures::{count, counted};
use crate::findings::{ProgramFinding, ScenarioFinding, TrialCounts};
use crate::flag::{Flag, FlagKind};

/// Why a run is not sound, the most serious reason first; empty if it is sound. A saturated generator is not a fault of the run:
/// its figures are lower bounds.
pub(crate) fn unsound(counts: TrialCounts, scenarios: &[ScenarioFinding], programs: &[ProgramFinding]) -> Vec<String> {
    let TrialCounts { measured, failed, disturbed, .. } = counts;
    let all = measured + failed;
    let is_most_discarded = disturbed * 2 > all;
    let discarded = || format!("{} of {} discarded", count(disturbed.into()), counted(all.into(), "trial"));
    let of_servers = scenarios.iter().flat_map(|scenario| scenario.cases.iter().chain(&scenario.ceiling));
    let of_programs = programs.iter().flat_map(|program| &program.cases);
    let flags: Vec<&[Flag]> =
        of_servers.map(|case| case.flags.as_slice()).chain(of_programs.map(|case| case.flags.as_slice())).collect();
    let cases = |kind: &FlagKind| {
        // The reason about all trials already covers this.
        let words = kind.unsound().filter(|_| *kind != FlagKind::Disturbed || !is_most_discarded)?;
        let is_out = |flags: &&&[Flag]| flags.iter().any(|flag| flag.voids_rank && flag.kind == *kind);
        let number = flags.iter().filter(is_out).count();
        (number > 0).then(|| format!("{} {words}", counted(number as u64, "case")))
    };
    let failed = (failed > 0).then(|| format!("{} failed", counted(failed.into(), "trial")));
    let of_trials = is_most_discarded.then(discarded).into_iter().chain(failed);
    of_trials.chain(FlagKind::ALL.iter().filter_map(cases)).collect()
}
