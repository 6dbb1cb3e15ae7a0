//! Estimates how long a plan takes, and how many blocks a budget buys.

use super::{Plan, shuffled};
use crate::database::Database;
use crate::study::Scenario;
use crate::study::blocks::LEAST_FOR_A_RULE;

/// Approximate time of a trial beyond its warm-up and window, in seconds: start, verification and stop.
const OVERHEAD_S: f64 = 0.25;
/// Approximate time to start, fill and stop a private database, in seconds.
const DATABASE_OVERHEAD_S: f64 = 0.6;

/// A plan has this many times the blocks that its budget is expected to buy, in case they are faster.
const SPARE: f64 = 1.25;

impl Plan {
    /// The most blocks that the budget may buy, if they take less time than expected.
    pub(super) fn most_in_budget(&self) -> u32 {
        let Some(budget_s) = self.budget_s else { return u32::MAX };
        let block = shuffled(&self.cases, (&self.scenarios, &self.programs), 1, self.seed);
        let block_s: f64 = block.iter().map(|trial| self.trial_estimate_s(&trial.case)).sum();
        // The cast saturates.
        ((budget_s * SPARE / block_s) as u32).max(LEAST_FOR_A_RULE)
    }

    /// Approximate time of one trial of this case, in seconds.
    pub fn trial_estimate_s(&self, case: &str) -> f64 {
        let case = self.case(case);
        let scenario = case.map(|case| case.scenario.as_str()).unwrap_or_default();
        if let Some(program) = self.program(scenario) {
            // The program's length is unknown, so this assumes the limit for its counted runs.
            return OVERHEAD_S + program.runs.at_most_s;
        }
        let Some(scenario) = self.scenario(scenario) else { return OVERHEAD_S };
        if let Some(estimate_s) = case.and_then(|case| self.sliced_estimate_s(case)) {
            return estimate_s;
        }
        OVERHEAD_S + self.database_estimate_s(scenario) + scenario.load.warmup_s + scenario.load.duration_s
    }

    /// Approximate time to start and stop a scenario's database, in seconds.
    pub(super) fn database_estimate_s(&self, scenario: &Scenario) -> f64 {
        let database = self.environment(scenario).and_then(|environment| environment.database.as_ref());
        let is_private = scenario.database && database.is_some_and(Database::is_private);
        if is_private { DATABASE_OVERHEAD_S } else { 0.0 }
    }

    /// Approximate time of all trials, in seconds. The first rounds run whatever the budget.
    pub fn estimate_s(&self) -> f64 {
        let all_s = self.rounds_estimate_s(u32::MAX);
        let least_s = self.rounds_estimate_s(LEAST_FOR_A_RULE);
        self.budget_s.map_or(all_s, |budget_s| all_s.min(budget_s.max(least_s)))
    }

    /// Approximate time of the rounds that run whatever the budget, in seconds. `None` if the budget covers them, or there is none.
    pub fn beyond_budget_s(&self) -> Option<f64> {
        let least_s = self.rounds_estimate_s(LEAST_FOR_A_RULE);
        self.budget_s.filter(|budget_s| *budget_s < least_s).map(|_| least_s)
    }

    fn rounds_estimate_s(&self, last: u32) -> f64 {
        let own = self.trials.iter().filter(|trial| trial.block <= last);
        own.map(|trial| self.trial_estimate_s(&trial.case)).sum()
    }
}
