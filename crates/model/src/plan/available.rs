//! The study's environments that this machine offers, and what the study does in each.

use crate::environment::Environment;
use crate::plan::Here;
use crate::plan::skipped::Skipped;
use crate::program::ProgramScenario;
use crate::study::{Scenario, Study};

/// Which of the study's environments this machine offers.
#[derive(Debug, Default)]
pub(super) struct AvailableEnvironments {
    /// The available ones. Each lacks its database if only that is unavailable.
    pub(super) environments: Vec<Environment>,
    /// The unavailable environments, each with its reason.
    pub(super) refused: Vec<Skipped>,
    /// The unavailable databases, each once.
    pub(super) without_database: Vec<Skipped>,
}

impl AvailableEnvironments {
    pub(super) fn of(study: &Study, here: Here<'_>) -> Self {
        let mut available = Self::default();
        study.environments.iter().for_each(|environment| available.sort_in(study, environment, here));
        available
    }

    /// Tries an environment with its database, then without.
    fn sort_in(&mut self, study: &Study, environment: &Environment, here: Here<'_>) {
        let missing = match &environment.database {
            None => None,
            Some(database) => match (here.database)(environment, database).and_then(|()| (here.fits)(environment)) {
                Ok(()) => return self.environments.push(environment.clone()),
                Err(reason) => {
                    let subject = format!("database [{}]", database.describe());
                    Some(Skipped::new(subject, reason).with_scenarios(ids_with_database(study, environment)))
                }
            },
        };
        let without_database = Environment { database: None, ..environment.clone() };
        match (here.fits)(&without_database) {
            Ok(()) => {
                missing.into_iter().for_each(|missing| missing.join(&mut self.without_database));
                self.environments.push(without_database);
            }
            Err(reason) => {
                let subject = format!("environment [{}]", environment.describe());
                Skipped::new(subject, reason).with_scenarios(ids_in(study, environment)).join(&mut self.refused);
            }
        }
    }
}

/// Ids of all that the study does in one of its environments.
fn ids_in(study: &Study, environment: &Environment) -> Vec<String> {
    let scenarios = in_environments(study, &study.environments).into_iter().map(|it| (it.environment, it.id));
    let programs = programs_in_environments(study, &study.environments).into_iter().map(|it| (it.environment, it.id));
    scenarios.chain(programs).filter(|(own, _)| *own == environment.id).map(|(_, id)| id).collect()
}

/// Ids of the scenarios that use a database there.
fn ids_with_database(study: &Study, environment: &Environment) -> Vec<String> {
    let all = in_environments(study, &study.environments).into_iter();
    all.filter(|scenario| scenario.database && scenario.environment == environment.id).map(|it| it.id).collect()
}

/// Each scenario, in each environment that makes a difference to it.
pub(crate) fn in_environments(study: &Study, environments: &[Environment]) -> Vec<Scenario> {
    let distinct = distinct_without_database(environments);
    let of = |scenario: &Scenario| -> Vec<Scenario> {
        let own: Vec<&Environment> = match scenario.database {
            true => environments.iter().filter(|environment| environment.database.is_some()).collect(),
            false => distinct.clone(),
        };
        let entered = own.into_iter().map(|environment| {
            let id = id_in(study, &scenario.id, environment, scenario.database);
            Scenario { id, environment: environment.id.clone(), ..scenario.clone() }
        });
        entered.collect()
    };
    study.scenarios.iter().flat_map(of).collect()
}

/// Each program, in each environment that makes a difference to it.
pub(crate) fn programs_in_environments(study: &Study, environments: &[Environment]) -> Vec<ProgramScenario> {
    let distinct = distinct_without_database(environments);
    let each = study.programs.iter().flat_map(|program| distinct.iter().map(move |environment| (program, environment)));
    let entered = each.map(|(program, environment)| {
        let id = id_in(study, &program.id, environment, false);
        ProgramScenario { id, environment: environment.id.clone(), ..program.clone() }
    });
    entered.collect()
}

/// Scenarios without a database do not distinguish environments that differ only in their databases.
fn distinct_without_database(environments: &[Environment]) -> Vec<&Environment> {
    let mut distinct: Vec<&Environment> = Vec::new();
    for environment in environments {
        if distinct.iter().all(|earlier| !earlier.is_same_without_database(environment)) {
            distinct.push(environment);
        }
    }
    distinct
}

/// The id of a scenario or program in an environment.
fn id_in(study: &Study, id: &str, environment: &Environment, with_database: bool) -> String {
    let without_database = study.ids_without_database.get(&environment.id).filter(|_| !with_database);
    match without_database.unwrap_or(&environment.id).as_str() {
        "" => id.to_owned(),
        environment => format!("{id}-{environment}"),
    }
}
