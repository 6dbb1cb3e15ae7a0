//! Service demands from scenarios, as functions of the number of requests in progress.
//!
//! A response's CPU time is not one number: a wake-up costs as much for one request as for many in progress. So each scenario
//! gives the demands at its number of requests in progress. Between scenarios, demands are linear in one over that number, as a
//! shared cost is. Beyond the ends they are constant (the idea of MVASD: A. Kattepur and M. Nambiar, "Performance modeling of
//! multi-tiered web applications with varying service demands", IPDPS Workshops 2015). Time that no CPU explains is fitted from
//! scenarios in which nothing was full: over loopback as a separate time, over a link as the round trips of a response.

use tolok_stats::queueing::Solved;

use super::network::{Demands, Model, at_work};
use super::observed::{Figures, Setting};
use crate::estimate::middle;

/// A scenario in which every CPU was less busy than this shows the time between the parts.
const NOTHING_FULL: f64 = 0.90;
/// The fit stops when the relative error of the time per response is below this.
const MET: f64 = 1e-6;
/// The most iterations of the fit, and until demands and requests at work agree.
const STEPS: u32 = 40;
/// A relative change of the demands below this ends the iteration.
const SETTLED: f64 = 1e-9;

/// A scenario as input of the calibration.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) setting: Setting,
    pub(super) figures: Figures,
}

/// The demands of a subject, from its scenarios.
#[derive(Debug, Clone)]
pub(super) struct Calibration {
    /// Requests at work, and CPU time of subject and database per response; the fewest requests first.
    levels: Vec<(f64, f64, f64)>,
    other_s: f64,
    /// Whether any scenario showed the time between the parts.
    knows_other: bool,
    link_trips: Option<f64>,
    database_trips: f64,
}

/// A solved network with the demands that it used.
pub(super) struct Outcome {
    pub(super) model: Model,
    pub(super) demands: Demands,
    pub(super) solved: Solved,
}

impl Calibration {
    /// The calibration from these scenarios, or `None` without any.
    pub(super) fn of(points: &[Point]) -> Option<Self> {
        let statements: Vec<f64> = points.iter().filter_map(|point| point.figures.statements).collect();
        let mut found = Self {
            levels: Vec::new(),
            other_s: 0.0,
            knows_other: false,
            link_trips: None,
            database_trips: middle(&statements).unwrap_or(1.0),
        };
        let over_link = |point: &Point| point.setting.rtt_s > 0.0;
        let over_database_link =
            |point: &Point| point.setting.database.as_ref().is_some_and(|database| database.rtt_s > 0.0);
        let fits = |found: &Self, of: &dyn Fn(&Point) -> bool, change: fn(&mut Demands, f64), most: f64| {
            let told = points.iter().filter(|point| of(point) && found.tells(point));
            told.filter_map(|point| found.fitted(point, change, most)).collect::<Vec<f64>>()
        };
        let most_s = points.iter().map(|point| point.setting.users as f64 / point.figures.throughput_rps);
        let most_s = most_s.fold(0.0, f64::max);
        let is_near = |point: &Point| !over_link(point) && !over_database_link(point);
        // Waits that no demand covers, such as those for a CPU that other programs used, only increase this value. So the
        // smallest value is the best.
        let others_s = fits(&found, &is_near, |demands, value| demands.other_s = value, most_s);
        found.other_s = others_s.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let is_far = |point: &Point| over_link(point) && !over_database_link(point);
        found.link_trips = middle(&fits(&found, &is_far, |demands, value| demands.link_trips = value, MOST_TRIPS));
        let trips = fits(&found, &over_database_link, |demands, value| demands.database_trips = value, MOST_TRIPS);
        found.knows_other = !others_s.is_empty() || found.link_trips.is_some() || !trips.is_empty();
        found.database_trips = middle(&trips).unwrap_or(found.database_trips);
        found.levels = levels(points, &found)?;
        Some(found)
    }

    /// Whether the time between the parts is known, because some scenario kept every CPU below full.
    pub(super) fn knows_other(&self) -> bool {
        self.knows_other
    }

    /// Whether no CPU was full in a scenario, so its throughput shows the time between the parts. If a CPU was full, the
    /// slightest scatter could look like a time as long as all users' waits.
    fn tells(&self, point: &Point) -> bool {
        point.figures.throughput_rps < NOTHING_FULL * cpus_rps(&point.setting, &self.own(point))
    }

    /// The demands that a scenario shows directly.
    fn own(&self, point: &Point) -> Demands {
        Demands {
            subject_s: point.figures.subject_s,
            database_s: point.figures.database_s.unwrap_or(0.0),
            other_s: self.other_s,
            link_trips: self.link_trips(&point.setting),
            database_trips: self.database_trips,
        }
    }

    fn link_trips(&self, setting: &Setting) -> f64 {
        self.link_trips.unwrap_or(setting.least_trips)
    }

    /// The value with which the scenario's own demands give its throughput. The result is 0 if even 0 gives no more than that.
    ///
    /// The time per response, 1 / X, is almost linear in this value, so false position finds it in a few steps. The end that
    /// stays in place gets half its weight each time (the Illinois rule), because curvature would keep it there.
    fn fitted(&self, point: &Point, change: fn(&mut Demands, f64), most: f64) -> Option<f64> {
        let mut demands = self.own(point);
        let measured_s = point.figures.throughput_rps.recip();
        let mut beyond_s = |value: f64| {
            change(&mut demands, value);
            let solved = Model::of(&point.setting, &demands).ok()?.solve(&point.setting);
            Some(solved.throughput_rps.recip() - measured_s)
        };
        let (mut low, mut high) = (0.0, most);
        let (mut below_s, mut above_s) = (beyond_s(low)?, beyond_s(high)?);
        if below_s >= 0.0 {
            return Some(low);
        }
        let mut stayed = 0;
        for _ in 0..STEPS {
            let middle = if above_s > 0.0 { low - below_s * (high - low) / (above_s - below_s) } else { high };
            let found_s = beyond_s(middle)?;
            if found_s.abs() <= MET * measured_s || above_s <= 0.0 {
                return Some(middle);
            }
            if found_s < 0.0 {
                (low, below_s) = (middle, found_s);
                stayed = if stayed > 0 { stayed + 1 } else { 1 };
                above_s /= if stayed > 1 { 2.0 } else { 1.0 };
            } else {
                (high, above_s) = (middle, found_s);
                stayed = if stayed < 0 { stayed - 1 } else { -1 };
                below_s /= if stayed < -1 { 2.0 } else { 1.0 };
            }
        }
        Some(low)
    }

    /// Throughput and response time under these conditions. The demands are those for the resulting number of requests at work.
    pub(super) fn predict(&self, setting: &Setting) -> Option<Outcome> {
        let instances = f64::from(setting.instances);
        let mut jobs = setting.users as f64;
        let mut outcome = self.solve_at(setting, jobs / instances)?;
        for _ in 0..STEPS {
            // The geometric mean keeps the iteration from oscillating between two values.
            let found = at_work(setting, outcome.demands.link_trips, outcome.solved.throughput_rps).max(1.0);
            jobs = (jobs.max(1.0) * found).sqrt();
            let before_s = outcome.demands.subject_s + outcome.demands.database_s;
            let next = self.solve_at(setting, jobs / instances)?;
            let after_s = next.demands.subject_s + next.demands.database_s;
            outcome = next;
            if (after_s / before_s - 1.0).abs() < SETTLED && (found / jobs).ln().abs() < 1.0 {
                break;
            }
        }
        Some(outcome)
    }

    fn solve_at(&self, setting: &Setting, jobs: f64) -> Option<Outcome> {
        let (subject_s, database_s) = self.at(jobs);
        let demands = Demands {
            subject_s,
            database_s,
            other_s: self.other_s,
            link_trips: self.link_trips(setting),
            database_trips: self.database_trips,
        };
        let model = Model::of(setting, &demands).ok()?;
        let solved = model.solve(setting);
        Some(Outcome { model, demands, solved })
    }

    /// CPU time of subject and database with this number of requests at work.
    fn at(&self, jobs: f64) -> (f64, f64) {
        let [first, .., last] = self.levels.as_slice() else {
            return self.levels.first().map_or((0.0, 0.0), |(_, subject_s, database_s)| (*subject_s, *database_s));
        };
        let jobs = jobs.clamp(first.0, last.0);
        let above = self.levels.partition_point(|level| level.0 < jobs).clamp(1, self.levels.len() - 1);
        let (one, other) = (self.levels[above - 1], self.levels[above]);
        let share = (one.0.recip() - jobs.recip()) / (one.0.recip() - other.0.recip());
        let between = |one: f64, other: f64| one + (other - one) * share;
        (between(one.1, other.1), between(one.2, other.2))
    }
}

/// No response takes more round trips than this.
const MOST_TRIPS: f64 = 1_000.0;

/// The throughput that the CPUs of subject and database allow.
fn cpus_rps(setting: &Setting, demands: &Demands) -> f64 {
    let subject_rps = setting.subject_cpus * f64::from(setting.instances) / demands.subject_s;
    let database_cpus = setting.database.as_ref().and_then(|database| database.cpus);
    subject_rps.min(database_cpus.map_or(f64::INFINITY, f64::from) / demands.database_s)
}

/// Demands by requests at work. Scenarios within a factor of two of each other form one level, because between them there is more
/// scatter than change.
fn levels(points: &[Point], found: &Calibration) -> Option<Vec<(f64, f64, f64)>> {
    let mut at: Vec<(f64, &Figures)> = points
        .iter()
        .map(|point| {
            let trips = found.link_trips(&point.setting);
            (at_work(&point.setting, trips, point.figures.throughput_rps).max(1.0), &point.figures)
        })
        .collect();
    at.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut levels: Vec<(f64, f64, f64)> = Vec::new();
    let mut rest = at.as_slice();
    while let Some((first, _)) = rest.first() {
        let end = rest.partition_point(|(jobs, _)| *jobs < 2.0 * first);
        let (level, after) = rest.split_at(end);
        let of = |value: &dyn Fn(&(f64, &Figures)) -> f64| middle(&level.iter().map(value).collect::<Vec<_>>());
        let database_s = of(&|(_, figures)| figures.database_s.unwrap_or(0.0))?;
        levels.push((of(&|(jobs, _)| *jobs)?, of(&|(_, figures)| figures.subject_s)?, database_s));
        rest = after;
    }
    (!levels.is_empty()).then_some(levels)
}
