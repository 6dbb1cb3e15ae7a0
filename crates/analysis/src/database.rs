//! What a scenario's subjects asked, and what a case and its database did in the scored trials.
//!
//! What a database or a subject does not tell is absent. Figures are medians over the scored trials and absent if one of them
//! lacks them; maxima are over all of them.

use schemars::JsonSchema;
use serde::Serialize;
use tolok_model::{DatabaseWindow, Engine, LinkWindow, Measurement, Outcome, PoolWindow, Scenario, TrialRecord};

use crate::counter::{CounterFinding, counter};
use crate::environment::Surroundings;
use crate::estimate::{median, middle};
use crate::findings::Estimate;
use crate::link::{LinkUse, link_use};
use crate::observations::{Observations, answers};
use crate::outage::{OutageFinding, outage};
use crate::resources::highest;

/// The database of a scenario, as it was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DatabaseFinding {
    /// In words: `MariaDB · pool of 16 · rtt 20ms`.
    pub words: String,
    /// Which server.
    pub engine: Engine,
    /// The versions that its servers said of themselves, each once.
    pub versions: Vec<String>,
    /// Connections that a subject may have to it, over all its processes.
    pub pool: u32,
    /// Rows in a good answer; none where the workload does not say.
    pub rows_per_answer: Option<u32>,
    /// Numbers of the CPUs that it ran on; empty for a server that is not ours.
    pub on_cpus: Vec<u32>,
    /// Who had any of these CPUs as well: `subject`, `generator`.
    pub shares_cpus_with: Vec<String>,
    /// Round-trip time between subject and database, in seconds.
    pub rtt_s: f64,
    /// The way between them in words: `loopback`, `rtt 20ms`.
    pub link: String,
    /// Limit of its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Connections that it accepts.
    pub max_connections: u32,
    /// What it may keep of its tables in memory, in bytes.
    pub buffer_pool_bytes: u64,
    /// When it was to be killed, in seconds after the window began.
    pub outage_at_s: Option<f64>,
    /// How long it was to be gone, in seconds.
    pub outage_for_s: Option<f64>,
}

/// What a case and its database did in the scored trials. Where it says per good, it is for each good answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DatabaseUse {
    /// Rows in good answers, per second.
    pub rows_per_s: Option<Estimate>,
    /// CPU time of the subject for each of these rows, in seconds.
    pub subject_cpu_s_per_row: Option<Estimate>,
    /// CPU time of the database for each of these rows, in seconds.
    pub cpu_s_per_row: Option<Estimate>,
    /// CPU time of the database per good answer, in seconds.
    pub cpu_s_per_good: Option<Estimate>,
    /// Share of its CPUs that the database used, from 0 to 1.
    pub busy: Option<f64>,
    /// Most anonymous and kernel memory of the database's control group, in bytes.
    pub memory_bytes: Option<Estimate>,
    /// The highest usage of that group in any trial, page cache included.
    pub peak_bytes: Option<f64>,
    /// That peak as a share of its limit; none without a limit.
    pub peak_of_limit: Option<f64>,
    /// Statements carried out per second.
    pub queries_per_s: Option<f64>,
    /// Statements per good answer.
    pub queries_per_good: Option<f64>,
    /// Bytes sent to its clients per second.
    pub sent_bytes_per_s: Option<f64>,
    /// Connections that were opened to it in the window.
    pub connections_opened: Option<f64>,
    /// Most connections that were open at a reading.
    pub connections_max: Option<u64>,
    /// Most threads that were busy with a statement at a reading.
    pub running_max: Option<u64>,
    /// Threads that were busy with a statement, on average over the readings.
    pub running_mean: Option<f64>,
    /// Most connections that it refused in a trial, because there were as many as it accepts.
    pub refused_connections: Option<u64>,
    /// The subject's pool of connections; none where no subject tells of it.
    pub pool: Option<PoolUse>,
    /// Whether the number that the workload counts was right; none where it counts none.
    pub counter: Option<CounterFinding>,
    /// The link between subject and database; none where tolok emulated none.
    pub link: Option<LinkUse>,
    /// What became of the subject when the database was taken away; none where the study did not ask for that.
    pub outage: Option<OutageFinding>,
}

/// A subject's pool of connections over all scored trials, as the subject tells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PoolUse {
    /// Connections that it may have, over all its processes.
    pub size: u32,
    /// Times that a request had to wait for a connection, per good answer.
    pub waits_per_good: Option<f64>,
    /// How long such a wait took on average, in seconds; none where nobody waited, or waits are as long as the window.
    pub wait_s_mean: Option<f64>,
}

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
