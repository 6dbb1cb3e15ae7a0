//! One search, as a pure function of the rates tried so far.

use serde::{Deserialize, Serialize};

use super::Plan;

/// Factor between the rates of the first search, which has no starting estimate.
pub(super) const FIRST_STEP: f64 = 2.0;

/// The same for repeats, which start near the limit.
pub(super) const STEP_OF_REPEATS: f64 = 1.25;

/// The lowest rate to try.
const LEAST_RPS: f64 = 0.5;

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// The highest kept rate below the lowest failed one; null if none was kept.
    pub kept_rps: Option<f64>,
    /// The lowest rate that failed; null if all were kept.
    pub crossed_rps: Option<f64>,
}

#[derive(Debug)]
pub(super) struct Search {
    next: f64,
    step: f64,
    precision: f64,
    most_rps: f64,
    kept: Option<f64>,
    crossed: Option<f64>,
}

impl Search {
    pub fn new(start_rps: f64, step: f64, plan: &Plan) -> Search {
        let next = start_rps.min(plan.most_rps);
        Search { next, step, precision: plan.precision, most_rps: plan.most_rps, kept: None, crossed: None }
    }

    /// The rate to try next, or `None` when the search is over.
    pub fn next(&self) -> Option<f64> {
        match (self.kept, self.crossed) {
            (Some(kept), Some(crossed)) if crossed / kept <= 1.0 + self.precision => None,
            (Some(kept), None) if kept >= self.most_rps => None,
            (None, Some(crossed)) if crossed <= LEAST_RPS => None,
            _ => Some(self.next),
        }
    }

    /// Adds the result of a rate.
    pub fn tried(&mut self, rate_rps: f64, kept: bool) {
        let side = if kept { &mut self.kept } else { &mut self.crossed };
        *side = Some(rate_rps);
        self.next = match (self.kept, self.crossed) {
            (Some(kept), Some(crossed)) => (kept * crossed).sqrt(),
            (Some(kept), None) => (kept * self.step).min(self.most_rps),
            (None, Some(crossed)) => (crossed / self.step).max(LEAST_RPS),
            (None, None) => self.next,
        };
    }

    pub fn bracket(&self) -> Bracket {
        Bracket { kept_rps: self.kept, crossed_rps: self.crossed }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan() -> Plan {
        Plan { start_rps: 100.0, most_rps: 1e6, precision: 0.05, repeats: 1 }
    }

    /// Searches a target that keeps every rate up to `limit`. Returns the rates tried and the result.
    fn search(mut search: Search, limit: f64) -> (Vec<f64>, Bracket) {
        let mut tried = Vec::new();
        while let Some(rate) = search.next() {
            tried.push(rate);
            assert!(tried.len() < 100, "{tried:?}");
            search.tried(rate, rate <= limit);
        }
        (tried, search.bracket())
    }

    #[test]
    fn the_first_search_doubles_and_then_halves_the_ratio() {
        let (tried, bracket) = search(Search::new(100.0, FIRST_STEP, &plan()), 1_000.0);
        assert_eq!(tried[..5], [100.0, 200.0, 400.0, 800.0, 1_600.0]);
        assert_eq!(tried[5], (800.0f64 * 1_600.0).sqrt());
        let Bracket { kept_rps: Some(kept), crossed_rps: Some(crossed) } = bracket else { panic!("{bracket:?}") };
        assert!(kept <= 1_000.0 && crossed > 1_000.0 && crossed / kept <= 1.05);
    }

    #[test]
    fn a_repeat_begins_near_the_limit_and_needs_few_runs() {
        let (tried, _) = search(Search::new(980.0 / 1.5, STEP_OF_REPEATS, &plan()), 1_000.0);
        assert!(tried.len() <= 6, "{tried:?}");
    }

    #[test]
    fn it_goes_down_where_the_start_is_too_high() {
        let (tried, bracket) = search(Search::new(100.0, FIRST_STEP, &plan()), 30.0);
        assert_eq!(tried[..3], [100.0, 50.0, 25.0]);
        assert!(bracket.kept_rps.unwrap() <= 30.0 && bracket.crossed_rps.unwrap() > 30.0);
    }

    #[test]
    fn it_ends_where_nothing_and_where_everything_is_kept() {
        let (_, nothing) = search(Search::new(100.0, FIRST_STEP, &plan()), 0.0);
        assert_eq!(nothing, Bracket { kept_rps: None, crossed_rps: Some(LEAST_RPS) });
        let (_, everything) = search(Search::new(100.0, FIRST_STEP, &plan()), f64::INFINITY);
        assert_eq!(everything, Bracket { kept_rps: Some(1e6), crossed_rps: None });
    }

    proptest! {
        #[test]
        fn the_limit_lies_between_what_was_kept_and_what_was_not(limit in 1.0f64..9e5, start in 1.0f64..1e5, step in 1.1f64..4.0) {
            let (_, bracket) = search(Search::new(start, step, &plan()), limit);
            let (kept, crossed) = (bracket.kept_rps.unwrap(), bracket.crossed_rps.unwrap());
            prop_assert!(kept <= limit && limit < crossed && crossed / kept <= 1.05);
        }
    }
}
