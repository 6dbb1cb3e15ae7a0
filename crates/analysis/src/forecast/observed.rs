//! What one scenario shows about a subject: its conditions, and what each correct response took.

use tolok_model::{Connection, LoadTool, Measurement, Pace, Protocol, Scenario, ThinkTime};

use crate::environment::Surroundings;
use crate::estimate::middle;
use crate::figure::database::cpu_s;
use crate::figure::server::{generator_busy, subject_busy};
use crate::figure::table::{Around, Readings};
use crate::flag::SATURATED;
use crate::observations::{Observations, answers};
use crate::usage::Cpus;

/// A thread with at least this share of a subject's CPU time is the only one that works.
const ONE_THREAD_OF_SEVERAL: f64 = 0.75;
/// The most CPUs that a process with a single working thread can appear to use.
const ABOUT_ONE_CPU: f64 = 1.10;

/// The conditions under which a subject works.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) users: u64,
    pub(super) think_s: f64,
    pub(super) rtt_s: f64,
    /// The fewest round trips of a response over the link that the protocol allows.
    pub(super) least_trips: f64,
    /// CPUs that one instance can use at a time.
    pub(super) subject_cpus: f64,
    pub(super) instances: u32,
    pub(super) database: Option<DatabaseSetting>,
}

/// A database and the link to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DatabaseSetting {
    pub(super) rtt_s: f64,
    /// Connections of one instance.
    pub(super) pool: u32,
    /// `None` for an external database.
    pub(super) cpus: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    pub(super) throughput_rps: f64,
    pub(super) response_s: Option<f64>,
    /// CPU time of the subject for each correct response, in seconds.
    pub(super) subject_s: f64,
    /// The same for the database.
    pub(super) database_s: Option<f64>,
    /// Statements for each correct response.
    pub(super) statements: Option<f64>,
    /// CPU time of the generator for each correct response, in seconds.
    pub(super) generator_s: f64,
    pub(super) body_bytes: f64,
}

/// A scenario in which a subject was measured.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    pub(super) scenario: String,
    pub(super) setting: Setting,
    pub(super) timeout_s: f64,
    /// Block and figures of each scored trial.
    pub(super) trials: Vec<(u32, Figures)>,
    /// Parts that share CPUs with the database.
    pub(super) database_shares_with: Vec<&'static str>,
    /// Whether subject and generator shared CPUs.
    pub(super) is_shared: bool,
}

impl Observed {
    /// The data of the scenario, or why a forecast cannot use it.
    pub(super) fn of(
        scenario: &Scenario,
        around: &Surroundings,
        machine_cpus: u32,
        observations: &Observations,
    ) -> Result<Self, &'static str> {
        let cpus = Cpus::of(around, machine_cpus);
        if let Some(reason) = of_no_use(scenario, around, &cpus, observations) {
            return Err(reason);
        }
        let (load, database) = (&scenario.load, around.database(scenario));
        let trials: Vec<(u32, Figures)> =
            observations.scored.iter().filter_map(|(block, trial)| Some((*block, Figures::of(trial)?))).collect();
        if trials.is_empty() {
            return Err("no trial was scored");
        }
        let on = &around.cpus.database;
        let shares = |others: &[u32]| on.iter().any(|cpu| others.contains(cpu));
        let parts = [("subject", &around.cpus.subject), ("generator", &around.cpus.generator)];
        let setting = Setting {
            users: load.executor.level_at(0.0) as u64,
            think_s: load.think_time.map_or(0.0, mean_s),
            rtt_s: around.environment.link.rtt_s + around.environment.link.jitter_s / 2.0,
            least_trips: if load.connection == Connection::PerRequest { 2.0 } else { 1.0 },
            subject_cpus: usable_cpus(cpus.subject, observations),
            instances: 1,
            database: database.map(|database| DatabaseSetting {
                rtt_s: database.link.rtt_s + database.link.jitter_s / 2.0,
                pool: pool(observations).unwrap_or(database.pool).max(1),
                cpus: u32::try_from(on.len()).ok().filter(|cpus| *cpus > 0),
            }),
        };
        Ok(Self {
            scenario: scenario.id.clone(),
            setting,
            timeout_s: load.timeout_s,
            trials,
            database_shares_with: parts.iter().filter(|(_, cpus)| shares(cpus)).map(|(name, _)| *name).collect(),
            is_shared: cpus.shared,
        })
    }

    /// Medians over the trials of these blocks, each counted as often as it is listed. Uses all trials if none of the blocks has
    /// one.
    pub(super) fn figures(&self, blocks: Option<&[u32]>) -> Figures {
        let drawn =
            blocks.into_iter().flatten().filter_map(|drawn| self.trials.iter().find(|(block, _)| block == drawn));
        let drawn: Vec<&Figures> = drawn.map(|(_, figures)| figures).collect();
        let all = || self.trials.iter().map(|(_, figures)| figures).collect();
        Figures::median(&if drawn.is_empty() { all() } else { drawn })
    }
}

/// Why a forecast cannot use a scenario, whatever its trials.
fn of_no_use(
    scenario: &Scenario,
    around: &Surroundings,
    cpus: &Cpus,
    observations: &Observations,
) -> Option<&'static str> {
    let load = &scenario.load;
    let users = load.executor.level_at(0.0);
    if load.executor.is_open() || load.executor.level_at(load.duration_s) != users || users < 1.0 {
        return Some("its number of users was not fixed");
    }
    if scenario.tool.name != LoadTool::Tolok {
        return Some("another load generator than tolok’s own asked");
    }
    if scenario.protocol != Protocol::Http1 {
        return Some("it was asked over another protocol than HTTP/1.1 without TLS");
    }
    if load.pace != Pace::default() {
        return Some("its clients read or wrote slowly");
    }
    let database = around.database(scenario);
    let links = [Some(&around.environment.link), database.map(|database| &database.link)];
    if links.iter().flatten().any(|link| link.rate_bps.is_some() || link.loss > 0.0) {
        return Some("its link had a rate or lost packets");
    }
    if database.is_some_and(|database| database.outage.is_some()) {
        return Some("the database was gone for a part of the window");
    }
    let readings = Readings { trials: observations, around: &Around { cpus: *cpus, ..Around::default() } };
    let subject_is_idle = readings.middle_of_known(subject_busy).is_none_or(|busy| busy < SATURATED);
    if readings.middle_of_known(generator_busy).is_some_and(|busy| busy >= SATURATED) && subject_is_idle {
        return Some("the generator was the limit");
    }
    None
}

impl Figures {
    fn of(trial: &Measurement) -> Option<Self> {
        let answers = answers(trial)?;
        let database = trial.database.as_ref();
        Some(Self {
            throughput_rps: trial.goodput_rps,
            response_s: trial.latency.mean_s.filter(|mean_s| trial.latency.marks.is_empty() && *mean_s > 0.0),
            subject_s: trial.subject.as_ref()?.cpu_s / answers,
            database_s: cpu_s(trial).map(|cpu_s| cpu_s / answers),
            statements: database.and_then(|window| window.queries).map(|queries| queries as f64 / answers),
            generator_s: trial.generator.cpu_s / answers,
            body_bytes: trial.body_bytes as f64 / answers,
        })
    }

    fn median(trials: &[&Self]) -> Self {
        let of = |figure: &dyn Fn(&Self) -> Option<f64>| {
            let values: Option<Vec<f64>> = trials.iter().map(|trial| figure(trial)).collect();
            middle(&values?)
        };
        Self {
            throughput_rps: of(&|trial| Some(trial.throughput_rps)).unwrap_or_default(),
            response_s: of(&|trial| trial.response_s),
            subject_s: of(&|trial| Some(trial.subject_s)).unwrap_or_default(),
            database_s: of(&|trial| trial.database_s),
            statements: of(&|trial| trial.statements),
            generator_s: of(&|trial| Some(trial.generator_s)).unwrap_or_default(),
            body_bytes: of(&|trial| Some(trial.body_bytes)).unwrap_or_default(),
        }
    }
}

fn mean_s(think_time: ThinkTime) -> f64 {
    (think_time.least_s + think_time.most_s) / 2.0
}

/// A process that works on one thread can use one CPU, however many it is given. Its busiest thread shows this. If that was not
/// read, a single process that never used more than about one CPU does.
fn usable_cpus(given: f64, observations: &Observations) -> f64 {
    if given <= 1.0 {
        return given;
    }
    let busiest = |trial: &Measurement| {
        let used = trial.subject.as_ref()?;
        Some(used.busiest_thread_cpu_s? / used.cpu_s.max(f64::MIN_POSITIVE))
    };
    let one = |trial: &Measurement| trial.subject.as_ref().is_some_and(|used| used.processes_max == 1);
    let is_one_process = observations.trials().all(one);
    let works_on_one = match middle(&observations.every(busiest)) {
        Some(share) => share >= ONE_THREAD_OF_SEVERAL,
        None => {
            let used = observations.each(|trial| Some(trial.subject.as_ref()?.cpu_s / trial.window_s));
            let used = used.into_iter().fold(0.0, f64::max);
            (SATURATED..=ABOUT_ONE_CPU).contains(&used)
        }
    };
    if is_one_process && works_on_one { 1.0 } else { given }
}

/// Connections that the subject reports as its limit.
fn pool(observations: &Observations) -> Option<u32> {
    observations.trials().filter_map(|trial| trial.pool.as_ref()).map(|window| window.size).max()
}
