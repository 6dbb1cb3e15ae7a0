//! What other programs and the hypervisor took of the CPUs while the scored trials ran.
//!
//! A trial with a window of its own is discarded when others took too much. Trials that take turns in one launch, as in a duel,
//! are kept: what disturbs a launch disturbs both sides. So a run may have no discarded trial on a machine that was busy throughout.

use tolok_model::{FOREIGN_TOLERATED, STEAL_TOLERATED};

use crate::figures::{counted, small_share};
use crate::findings::{CaseFinding, OthersFinding, ScenarioFinding, TurnsFinding};
use crate::flag::FlagKind;
use crate::programs::Timed;
use crate::usage::share;

/// What others took of a machine with this many CPUs, in the case that suffered most.
pub(crate) fn others(machine_cpus: u32, scenarios: &[ScenarioFinding], timed: &[Timed]) -> OthersFinding {
    let cases = || scenarios.iter().flat_map(|it| it.cases.iter().chain(&it.ceiling)).filter(|case| !is_external(case));
    // Cases that took turns share what was taken.
    let turns = |cpus: fn(&TurnsFinding) -> f64| {
        let of_scenario = move |timed: &Timed| {
            let taken = timed.finding.turns.as_ref().and_then(|turns| share(cpus(turns), f64::from(machine_cpus)));
            std::iter::repeat_n(taken, timed.finding.cases.len()).flatten()
        };
        timed.iter().flat_map(of_scenario)
    };
    let used: Vec<f64> =
        cases().filter_map(|case| case.foreign_busy).chain(turns(|turns| turns.foreign_cpus)).collect();
    let stolen: Vec<f64> = cases().filter_map(|case| case.stolen).chain(turns(|turns| turns.stolen_cpus)).collect();
    OthersFinding { used: most(&used), stolen: most(&stolen), caution: caution(&used, &stolen) }
}

fn most(shares: &[f64]) -> Option<f64> {
    shares.iter().copied().reduce(f64::max)
}

/// Whether tolok did not start the server, which then counts among the other programs.
fn is_external(case: &CaseFinding) -> bool {
    case.flags.iter().any(|flag| flag.kind == FlagKind::External)
}

/// From what was taken of each case.
fn caution(used: &[f64], stolen: &[f64]) -> Option<String> {
    let programs = beyond(used, FOREIGN_TOLERATED, ["other programs used", "of the CPUs"]).map(|words| {
        format!("{words} than a quiet machine gives. `tolok doctor` names those programs: stop them and measure again.")
    });
    let hypervisor = beyond(stolen, STEAL_TOLERATED, ["the hypervisor took", "of the CPU time"])
        .map(|words| format!("{words} than without it. Measure again later, or on a machine with CPUs of its own."));
    let both: Vec<String> = programs.into_iter().chain(hypervisor).collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// In how many cases more was taken than the limit, and how much at most. `None` if in none.
fn beyond(shares: &[f64], limit: f64, [took, whole]: [&str; 2]) -> Option<String> {
    let number = shares.iter().filter(|share| **share > limit).count();
    let most = small_share(most(shares).filter(|most| *most > limit)?);
    let (place, up_to, they) = match number {
        1 => ("one case".to_owned(), "", "it"),
        several => (counted(several as u64, "case"), "up to ", "they"),
    };
    let limit = small_share(limit);
    Some(format!("In {place}, {took} {up_to}{most} {whole} in the median trial (limit {limit}), so {they} got less"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_take_needs_no_caution_and_more_does() {
        assert_eq!(caution(&[0.05], &[0.01]), None);
        let busy = caution(&[0.04, 0.95], &[0.0]).unwrap();
        let words = "In one case, other programs used 95% of the CPUs in the median trial (limit 5%), so it got less than a \
                     quiet machine gives.";
        assert!(busy.starts_with(words), "{busy}");
        let stolen = caution(&[0.04], &[0.02, 0.03]).unwrap();
        let words =
            "In 2 cases, the hypervisor took up to 3% of the CPU time in the median trial (limit 1%), so they got less";
        assert!(stolen.starts_with(words), "{stolen}");
    }
}
