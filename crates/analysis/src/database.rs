//! The database of a scenario, and what a case and its database did in the scored trials.
//!
//! What a database or a subject does not report is absent. Figures are medians over the scored trials, and absent if one of the
//! trials lacks them. Maxima are over all scored trials.

use tolok_model::{Outcome, Scenario, TrialRecord};

use crate::environment::Surroundings;
use crate::findings::DatabaseFinding;
use crate::grouping::sorted_once;

/// The scenario's database, or `None` if its workload uses none.
pub(crate) fn database(
    scenario: &Scenario,
    around: &Surroundings,
    rows_per_answer: Option<u32>,
    own: &[&TrialRecord],
) -> Option<DatabaseFinding> {
    let database = around.database(scenario)?;
    let on = &around.cpus.database;
    let shares = |cpus: &[u32]| on.iter().any(|cpu| cpus.contains(cpu));
    let others = [("subject", &around.cpus.subject), ("generator", &around.cpus.generator)];
    let link = &database.link;
    Some(DatabaseFinding {
        words: database.describe(),
        engine: database.engine,
        versions: versions(own),
        pool: database.pool,
        rows_per_answer,
        on_cpus: on.clone(),
        shares_cpus_with: others.iter().filter(|(_, cpus)| shares(cpus)).map(|(name, _)| (*name).to_owned()).collect(),
        rtt_s: link.rtt_s,
        link: if link.is_local() { "loopback".to_owned() } else { link.describe() },
        memory_bytes: database.memory_bytes,
        max_connections: database.max_connections,
        buffer_pool_bytes: database.buffer_pool_bytes,
        outage_at_s: database.outage.map(|outage| outage.at_s),
        outage_for_s: database.outage.map(|outage| outage.for_s),
    })
}

fn versions(trials: &[&TrialRecord]) -> Vec<String> {
    let version = |trial: &&TrialRecord| match &trial.outcome {
        Outcome::Completed(measurement) => measurement.database.as_ref().map(|window| window.version.clone()),
        Outcome::Timed(_) | Outcome::Failed(_) => None,
    };
    sorted_once(trials.iter().filter_map(version).filter(|version| !version.is_empty()))
}
