//! The queueing network of a subject: its users outside, its connections to a database inside.
//!
//! Outside, users think, and their requests cross the link and queue for the subject's CPUs. Inside, at most as many requests as
//! there are connections cross the link to the database and queue for its CPUs. The subject's own work is outside the pool, so
//! the model ignores the cost of returning a connection late. The validation reveals it.

use tolok_stats::StatsError;
use tolok_stats::queueing::{Network, Solved, Station, limited_pool};

use super::observed::{DatabaseSetting, Setting};

/// What each correct response takes in the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Demands {
    pub(super) subject_s: f64,
    pub(super) database_s: f64,
    /// Time that is neither CPU time nor round trips between parts, in seconds.
    pub(super) other_s: f64,
    pub(super) link_trips: f64,
    pub(super) database_trips: f64,
}

/// A network with the indexes of its stations.
pub(super) struct Model {
    pub(super) network: Network,
    pub(super) subject: usize,
    /// The pool, if there is a database that takes any time.
    pub(super) pool: Option<usize>,
}

impl Model {
    pub(super) fn of(setting: &Setting, demands: &Demands) -> Result<Self, StatsError> {
        let link = Station::delay(demands.link_trips * setting.rtt_s);
        let [subject, beside] = subject(setting, demands.subject_s);
        let mut stations = vec![link, Station::delay(demands.other_s), subject, beside];
        let inside = setting.database.as_ref().and_then(|database| inside(database, demands));
        let pool = match (inside, &setting.database) {
            (Some(inside), Some(database)) => {
                let connections = u64::from(database.pool) * u64::from(setting.instances);
                stations.push(limited_pool(&inside?, connections)?);
                Some(stations.len() - 1)
            }
            _ => None,
        };
        Ok(Self { network: Network::new(setting.think_s, stations)?, subject: 2, pool })
    }

    /// Solves the network for the users of these conditions.
    pub(super) fn solve(&self, setting: &Setting) -> Solved {
        self.network.solve(setting.users)
    }

    /// The resource that saturates first.
    pub(super) fn bottleneck(&self, setting: &Setting, demands: &Demands) -> &'static str {
        let capacity_rps = |place: usize| self.network.stations()[place].capacity_rps();
        let Some(pool) = self.pool.filter(|pool| capacity_rps(*pool) < capacity_rps(self.subject)) else {
            return "subject-cpu";
        };
        let cpus = setting.database.as_ref().and_then(|database| database.cpus);
        let database_rps = cpus.map_or(f64::INFINITY, f64::from) / demands.database_s;
        // A pool that admits almost as many requests as the database can serve is not the bottleneck.
        if capacity_rps(pool) >= ALMOST * database_rps { "database-cpu" } else { "pool" }
    }
}

/// A pool that allows at least this share of the database's capacity is large enough.
const ALMOST: f64 = 0.95;

/// The CPUs of all instances, and the delay that represents further CPUs of each.
///
/// A share of a CPU is a slower CPU. For several instances with several CPUs each, each instance is modelled as one faster CPU
/// plus a delay for the rest of the work. This is exact for one user and for very many (A. Seidmann, P. J. Schweitzer and S.
/// Shalev-Oren, "Computerized closed queueing network models of flexible manufacturing systems", Large Scale Systems 12, 1987).
fn subject(setting: &Setting, demand_s: f64) -> [Station; 2] {
    let whole = setting.subject_cpus.ceil().max(1.0);
    let demand_s = demand_s * whole / setting.subject_cpus;
    if setting.instances == 1 {
        return [Station::servers(demand_s, whole as u32), Station::delay(0.0)];
    }
    [Station::copies(demand_s / whole, setting.instances), Station::delay(demand_s * (whole - 1.0) / whole)]
}

/// The network inside the pool, or `None` if it takes no time.
fn inside(database: &DatabaseSetting, demands: &Demands) -> Option<Result<Network, StatsError>> {
    let trips_s = demands.database_trips * database.rtt_s;
    let cpus = database.cpus.filter(|_| demands.database_s > 0.0);
    if cpus.is_none() && trips_s <= 0.0 {
        return None;
    }
    let cpu = cpus.map(|cpus| Station::servers(demands.database_s, cpus));
    Some(Network::new(0.0, cpu.into_iter().chain([Station::delay(trips_s)]).collect()))
}

/// Requests that are neither thinking nor under way between user and subject.
pub(super) fn at_work(setting: &Setting, link_trips: f64, throughput_rps: f64) -> f64 {
    setting.users as f64 - throughput_rps * (setting.think_s + link_trips * setting.rtt_s)
}
