//! Whether the number that a workload counts was right under concurrent increments.
//!
//! A server that loses an increment does another job, whatever its speed. So every measured trial counts here, disturbed or not.

use tolok_model::CounterCheck;

use crate::figures::{count, counted};
use crate::findings::counter::CounterFinding;
use crate::observations::Observations;

/// `None` if no trial has a counter.
pub(crate) fn counter(observations: &Observations) -> Option<CounterFinding> {
    let checks: Vec<&CounterCheck> = observations.measured().filter_map(|trial| trial.counter.as_ref()).collect();
    let sum = |of: fn(&CounterCheck) -> u64| checks.iter().map(|check| of(check)).sum::<u64>();
    let wrong = checks.iter().filter(|check| badness(check) > 0);
    let worst = wrong.clone().max_by_key(|check| badness(check));
    (!checks.is_empty()).then(|| CounterFinding {
        trials: checks.len() as u32,
        wrong: wrong.count() as u32,
        asked: sum(|check| check.asked),
        grew: sum(|check| check.grew),
        wrong_answers: sum(|check| check.wrong_answers),
        load_off: sum(load_off),
        worst: worst.map(|check| words(check)),
    })
}

/// How many increments and responses of a trial are wrong.
fn badness(check: &CounterCheck) -> u64 {
    check.asked.abs_diff(check.grew) + check.wrong_answers + load_off(check)
}

fn load_off(check: &CounterCheck) -> u64 {
    check.load_least.saturating_sub(check.load) + check.load.saturating_sub(check.load_most)
}

fn words(check: &CounterCheck) -> String {
    let off = |is: u64, should: u64| {
        let by = count(is.abs_diff(should));
        if is < should { format!("{by} were lost") } else { format!("{by} too many") }
    };
    let grown = (check.asked != check.grew).then(|| {
        let asked = counted(check.asked, "increment");
        format!("of {asked} at once {}", off(check.grew, check.asked))
    });
    let answers = (check.wrong_answers > 0)
        .then(|| format!("{} came more than once or out of range", counted(check.wrong_answers, "number")));
    let load = (load_off(check) > 0).then(|| {
        let (least, most) = (check.load_least, check.load_most);
        let should = if check.load < least { least } else { most };
        let (load, off) = (count(check.load), off(check.load, should));
        format!("under load it grew by {load}, and {} to {} were asked for: {off}", count(least), count(most))
    });
    [grown, answers, load].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> CounterCheck {
        CounterCheck { asked: 1_000, grew: 1_000, wrong_answers: 0, load: 9_010, load_least: 9_000, load_most: 9_064 }
    }

    #[test]
    fn a_counter_is_wrong_by_what_is_lost_doubled_or_unexplained() {
        let check = |counter: CounterCheck, expected: &str| assert_eq!(words(&counter), expected);
        assert_eq!(badness(&sound()), 0);
        check(CounterCheck { grew: 997, ..sound() }, "of 1,000 increments at once 3 were lost");
        check(CounterCheck { grew: 1_001, ..sound() }, "of 1,000 increments at once 1 too many");
        check(CounterCheck { wrong_answers: 2, ..sound() }, "2 numbers came more than once or out of range");
        let words = "under load it grew by 8,990, and 9,000 to 9,064 were asked for: 10 were lost";
        check(CounterCheck { load: 8_990, ..sound() }, words);
        let words = "under load it grew by 9,065, and 9,000 to 9,064 were asked for: 1 too many";
        check(CounterCheck { load: 9_065, ..sound() }, words);
    }

    #[test]
    fn the_bounds_themselves_are_right() {
        let loads = [9_000, 9_064].map(|load| badness(&CounterCheck { load, ..sound() }));
        assert_eq!(loads, [0, 0]);
    }
}
