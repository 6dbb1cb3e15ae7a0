//! What a scenario's subjects asked, and what a case and its database did in the scored trials.
//!
//! What a database or a subject does not tell is absent. Figures are medians over the scored trials and absent if one of them
//! lacks them; maxima are over all of them.

use tolok_model::{DatabaseWindow, LinkWindow, Measurement, Outcome, PoolWindow, Scenario, TrialRecord};

use crate::counter::counter;
use crate::environment::Surroundings;
use crate::estimate::{median, middle};
use crate::findings::{DatabaseFinding, DatabaseUse, PoolUse};
use crate::link::link_use;
use crate::observations::{Observations, answers};
use crate::outage::outage;
use crate::resources::highest;

/// The scenario's database; none where its workload asks none.
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
    let mut versions: Vec<String> = trials.iter().filter_map(version).filter(|version| !version.is_empty()).collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}

/// What the trials of a case say; none where the scenario has no database or no trial was scored.
pub(crate) fn database_use(
    observations: &Observations,
    asked: Option<&DatabaseFinding>,
    around: &Surroundings,
    busy: Option<f64>,
) -> Option<DatabaseUse> {
    let asked = asked.filter(|_| !observations.scored.is_empty())?;
    let each = |figure: &dyn Fn(&Measurement) -> Option<f64>| median(observations.every(figure));
    let count = |figure: fn(&DatabaseWindow) -> Option<u64>| {
        move |trial: &Measurement| trial.database.as_ref().and_then(figure).map(|count| count as f64)
    };
    let middle_of = |figure: &dyn Fn(&Measurement) -> Option<f64>| middle(&observations.every(figure));
    let most = |figure: fn(&DatabaseWindow) -> Option<u64>| {
        observations.scored.iter().filter_map(|(_, trial)| trial.database.as_ref().and_then(figure)).max()
    };
    let rows = |trial: &Measurement| Some(answers(trial)? * f64::from(asked.rows_per_answer?));
    let per_second = |count: Option<f64>, trial: &Measurement| count.map(|count| count / trial.window_s);
    let peak_bytes = observations.each(peak).into_iter().reduce(f64::max);
    let rate_bps = around.environment.database.as_ref().and_then(|database| database.link.rate_bps);
    let queries = count(|window| window.queries);
    let sent = count(|window| window.sent_bytes);
    Some(DatabaseUse {
        rows_per_s: each(&|trial| per_second(rows(trial), trial)),
        subject_cpu_s_per_row: each(&|trial| Some(trial.subject.known()?.cpu_s / rows(trial)?)),
        cpu_s_per_row: each(&|trial| Some(cpu_s(trial)? / rows(trial)?)),
        cpu_s_per_good: each(&|trial| Some(cpu_s(trial)? / answers(trial)?)),
        busy,
        memory_bytes: each(&memory),
        peak_bytes,
        peak_of_limit: peak_bytes.zip(asked.memory_bytes).map(|(peak, limit)| peak / limit as f64),
        queries_per_s: middle_of(&|trial| per_second(queries(trial), trial)),
        queries_per_good: middle_of(&|trial| Some(queries(trial)? / answers(trial)?)),
        sent_bytes_per_s: middle_of(&|trial| per_second(sent(trial), trial)),
        connections_opened: middle_of(&count(|window| window.connections_opened)),
        connections_max: most(|window| window.connections_max),
        running_max: most(|window| window.running_max),
        running_mean: middle_of(&|trial| trial.database.as_ref()?.running_mean),
        refused_connections: most(|window| window.refused_connections),
        pool: pool(observations),
        counter: counter(observations),
        link: link_use(observations, link_window, rate_bps),
        outage: outage(observations),
    })
}

/// The link between subject and database in one trial.
fn link_window(trial: &Measurement) -> Option<&LinkWindow> {
    trial.database.as_ref()?.link.as_ref()
}

/// CPU time of the database's processes in one trial.
pub(crate) fn cpu_s(trial: &Measurement) -> Option<f64> {
    Some(trial.database.as_ref()?.resources.as_ref()?.cpu_s)
}

fn memory(trial: &Measurement) -> Option<f64> {
    let memory = trial.database.as_ref()?.resources.as_ref()?.memory?;
    Some(memory.anonymous_and_kernel_bytes_max as f64)
}

fn peak(trial: &Measurement) -> Option<f64> {
    trial.database.as_ref()?.resources.as_ref()?.memory.map(highest)
}

/// The waits are summed over the trials before they are divided: a trial in which few waited weighs as little as it should.
fn pool(observations: &Observations) -> Option<PoolUse> {
    let windows: Vec<(&Measurement, &PoolWindow)> =
        observations.scored.iter().filter_map(|(_, trial)| Some((*trial, trial.pool.as_ref()?))).collect();
    let size = windows.iter().map(|(_, window)| window.size).max()?;
    let waits: Option<u64> = windows.iter().map(|(_, window)| window.waits).sum();
    let wait_s: Option<f64> = windows.iter().map(|(_, window)| window.wait_s).sum();
    let answered: f64 = windows.iter().filter_map(|(trial, _)| answers(trial)).sum();
    let waited = waits.filter(|waits| *waits > 0);
    let longest_s = windows.iter().map(|(trial, _)| trial.window_s).fold(0.0, f64::max);
    Some(PoolUse {
        size,
        waits_per_good: waits.filter(|_| answered > 0.0).map(|waits| waits as f64 / answered),
        // Waits are counted when they begin, and their time when they end: where they are as long as the window, the two tell
        // of different waits.
        wait_s_mean: waited.zip(wait_s).map(|(waits, wait_s)| wait_s / waits as f64).filter(|mean| *mean < longest_s),
    })
}
