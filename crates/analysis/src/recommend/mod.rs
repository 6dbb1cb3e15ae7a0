//! Recommends subjects for needs: declared rules ([`RULES`]) over measured findings.
//!
//! A rule names a need. It looks at each scenario, or at the run as a whole, and gives the pick, the reason, its strength, and
//! what would change it. It never picks unranked cases, nor references, which declare that they do less work. It picks tied cases
//! together, and none if the run decides nothing. Scenarios with the same picks share a row.
//!
//! Each file has one task: `by_figure.rs` compares cases by one figure. `objective.rs`, `database.rs`, `everything.rs`,
//! `rows_of_answers.rs` and `small_machine.rs` are separate rules. `strength.rs` has the strength, `changes.rs` what would change
//! a pick, and `rows.rs` groups scenarios.

mod by_figure;
mod changes;
mod database;
mod everything;
mod objective;
mod rows;
mod rows_of_answers;
mod small_machine;
mod strength;

use std::borrow::Cow;

use tolok_model::{Judge, Scenario};

use crate::compare::ComparedMetric;
use crate::findings::{CaseFinding, FactorPanel, Recommendation, ScenarioFinding, Strength};
use crate::records::Records;

pub use strength::CLEARLY_AHEAD;

/// A need, and the rule for picking.
struct Rule {
    name: &'static str,
    words: &'static str,
    /// The name of the need, which precedes the scenarios.
    need: &'static str,
    says: Says,
}

enum Says {
    /// Looks at one scenario. `None` if the need does not arise.
    OfScenario(fn(&Scene) -> Option<Said>),
    /// Looks at all scenarios together.
    OfRun(fn(&[Scene]) -> Option<Said>),
}

macro_rules! rules {
    ($($name:literal for $need:literal: $words:literal => $says:ident($($rule:tt)+);)+) => {
        &[$(Rule { name: $name, words: $words, need: $need, says: Says::$says($($rule)+) }),+]
    };
}

const RULES: &[Rule] = rules! {
    "most-answers" for "most correct responses per second":
        "In a closed loop: the ranked case with the most correct responses per second, and the cases after it, up to the first verdict of slower."
        => OfScenario(|scene| by_figure::in_loop(scene, ComparedMetric::Goodput, false));
    "shortest-p99" for "shortest p99 at this rate":
        "In an open loop: the shortest 99th percentile of response times at that rate."
        => OfScenario(|scene| by_figure::in_loop(scene, ComparedMetric::P99, true));
    "one-for-everything" for "best all-rounder":
        "Cases that are ranked in every closed loop with two ranked cases: the one whose lowest goodput, as a share of the scenario’s best, is highest. No pick if another is faster in any of them."
        => OfRun(everything::everything);
    "many-rows" for "answers of many rows":
        "In closed loops with answers of more than 5,000 rows, if the run has other numbers of rows too: the most correct responses per second; over several scenarios, the highest lowest share of the best."
        => OfRun(rows_of_answers::many);
    "few-rows" for "answers of few rows":
        "The same with answers of 1,000 rows or fewer."
        => OfRun(rows_of_answers::few);
    "each-its-own" for "answers of many rows beside answers of few":
        "One pick for both if the pick for many rows is also one for few; otherwise one for each."
        => OfRun(rows_of_answers::each_its_own);
    "least-cpu" for "least CPU per response":
        "The least CPU time of the subject for each correct response."
        => OfScenario(|scene| by_figure::by_figure(scene, ComparedMetric::Cpu));
    "least-memory" for "least memory":
        "The least memory of the subject under the load."
        => OfScenario(|scene| by_figure::by_figure(scene, ComparedMetric::Memory));
    "fastest-start" for "fastest first answer":
        "The shortest time from the start of its processes to the first correct response."
        => OfScenario(|scene| by_figure::by_figure(scene, ComparedMetric::ColdStart));
    "keeps-objectives" for "keeps its objectives":
        "Every ranked case that kept all objectives of the scenario in every trial."
        => OfScenario(objective::objectives);
    "right-in-outage" for "stays right when the database goes away":
        "Every case that answered with an error while its database was gone, and gave correct responses again, in every \
         trial."
        => OfScenario(database::outage);
    "counts-right" for "counts right under concurrent increments":
        "Every ranked case that lost no increment and doubled none, in every trial."
        => OfScenario(database::counter);
    "shortest-p99-of-users" for "shortest p99 for this number of users":
        "In a closed loop: the shortest 99th percentile for that number of users, which says nothing about a given \
         rate."
        => OfScenario(|scene| by_figure::in_loop(scene, ComparedMetric::P99, false));
    "small-machine" for "a machine with little memory":
        "In a closed loop: the most correct responses per second for each MiB of the subject's memory."
        => OfScenario(small_machine::small_machine);
};

/// A scenario with further inputs of the rules.
struct Scene<'a> {
    records: &'a Records<'a>,
    finding: &'a ScenarioFinding,
    planned: &'a Scenario,
    panels: &'a [FactorPanel],
}

/// The result of a rule for a scenario.
#[derive(Debug, Clone)]
struct Said {
    scenarios: Vec<String>,
    picks: Vec<String>,
    because: String,
    strength: Strength,
    /// What would change it, or what would decide.
    changes: Vec<String>,
    /// What its figures lack to be quotable.
    caveats: Vec<String>,
    /// How far the picks are ahead of the next; the smallest lead when scenarios are merged.
    lead: f64,
}

impl Said {
    fn nothing() -> Self {
        let (scenarios, picks, changes, caveats) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { scenarios, picks, because: String::new(), strength: Strength::None, changes, caveats, lead: 0.0 }
    }

    /// A recommendation for one scenario, without conditions that would change it.
    fn of(scene: &Scene, picks: &[&CaseFinding], because: String, strength: Strength) -> Self {
        let picks = picks.iter().map(|case| case.title.clone()).collect();
        let scenarios = vec![scene.finding.id.clone()];
        Self { scenarios, picks, because, strength, changes: Vec::new(), caveats: Vec::new(), lead: 0.0 }
    }
}

/// All recommendations for a run, in the order of the rules.
pub(crate) fn recommend(
    records: &Records,
    scenarios: &[ScenarioFinding],
    panels: &[FactorPanel],
) -> Vec<Recommendation> {
    let scenarios: Vec<Cow<ScenarioFinding>> = scenarios.iter().map(|it| without_references(records, it)).collect();
    let compared = scenarios.iter().map(AsRef::as_ref).filter(|scenario| scenario.cases.len() > 1);
    let scenes: Vec<Scene> = compared
        .filter_map(|finding| {
            let planned = records.plan.scenario(&finding.id)?;
            Some(Scene { records, finding, planned, panels })
        })
        .collect();
    let said = |rule: &Rule| -> Vec<Said> {
        match rule.says {
            Says::OfScenario(says) => scenes.iter().filter_map(says).collect(),
            Says::OfRun(says) => says(&scenes).into_iter().collect(),
        }
    };
    let mut rules: Vec<&Rule> = RULES.iter().collect();
    if records.plan.judge == Judge::Cpu {
        // The rule for the response that judges comes first.
        rules.sort_by_key(|rule| rule.name != "least-cpu");
    }
    let scenarios: Vec<&ScenarioFinding> = scenarios.iter().map(AsRef::as_ref).collect();
    rules.into_iter().flat_map(|rule| rows::rows(rule, said(rule), &scenarios)).collect()
}

/// The scenario without its references. They do less work, so they show a limit and cannot replace another case.
fn without_references<'s>(records: &Records, scenario: &'s ScenarioFinding) -> Cow<'s, ScenarioFinding> {
    if !scenario.cases.iter().any(|case| records.is_reference(case)) {
        return Cow::Borrowed(scenario);
    }
    let mut others = scenario.clone();
    others.cases.retain(|case| !records.is_reference(case));
    let stays = |subject: &str| others.cases.iter().any(|case| case.subject == subject);
    others.comparisons.retain(|pair| stays(&pair.a) && stays(&pair.b));
    Cow::Owned(others)
}
