//! What other programs and the hypervisor took of the CPUs while the scored trials ran.
//!
//! A trial with a window of its own is discarded when others took too much. Trials that take turns in one launch, as in a duel,
//! are kept: what disturbs a launch disturbs both sides. So a run may have no discarded trial on a machine that was busy throughout.

use tolok_model::{FOREIGN_TOLERATED, STEAL_TOLERATED};

use crate::figures::small_share;
use crate::findings::{CaseFinding, OthersFinding, ScenarioFinding};
use crate::flag::FlagKind;
use crate::programs::Timed;
use crate::usage::share;

/// What others took of a machine with this many CPUs, in the case that suffered most.
pub(crate) fn others(machine_cpus: u32, scenarios: &[ScenarioFinding], timed: &[Timed]) -> OthersFinding {
    let cases = || scenarios.iter().flat_map(|it| it.cases.iter().chain(&it.ceiling)).filter(|case| !is_external(case));
    let turns = || timed.iter().filter_map(|timed| timed.finding.turns.as_ref());
    let of_machine = |cpus: f64| share(cpus, f64::from(machine_cpus));
    let used = cases().filter_map(|case| case.foreign_busy);
    let used = used.chain(turns().filter_map(|turns| of_machine(turns.foreign_cpus))).reduce(f64::max);
    let stolen = cases().filter_map(|case| case.stolen);
    let stolen = stolen.chain(turns().filter_map(|turns| of_machine(turns.stolen_cpus))).reduce(f64::max);
    OthersFinding { used, stolen, caution: caution(used.unwrap_or_default(), stolen.unwrap_or_default()) }
}

/// Whether tolok did not start the server, which then counts among the other programs.
fn is_external(case: &CaseFinding) -> bool {
    case.flags.iter().any(|flag| flag.kind == FlagKind::External)
}

fn caution(used: f64, stolen: f64) -> Option<String> {
    let programs = (used > FOREIGN_TOLERATED).then(|| {
        format!(
            "Other programs used up to {} of the CPUs (limit {}), so servers and programs got less than a quiet machine gives them. \
             `tolok doctor` names those programs: stop them and measure again.",
            small_share(used),
            small_share(FOREIGN_TOLERATED)
        )
    });
    let hypervisor = (stolen > STEAL_TOLERATED).then(|| {
        format!(
            "The hypervisor took up to {} of the CPU time (limit {}). Measure again later, or on a machine with CPUs of its own.",
            small_share(stolen),
            small_share(STEAL_TOLERATED)
        )
    });
    let both: Vec<String> = [programs, hypervisor].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_take_needs_no_caution_and_more_does() {
        assert_eq!(caution(0.05, 0.01), None);
        let busy = caution(0.95, 0.0).unwrap();
        assert!(busy.starts_with("Other programs used up to 95% of the CPUs (limit 5%)"), "{busy}");
        let stolen = caution(0.0, 0.03).unwrap();
        assert!(stolen.starts_with("The hypervisor took up to 3% of the CPU time (limit 1%)"), "{stolen}");
    }
}
