//! A closed network of stations, and its solution.

use super::{Bounds, laws, mva, open};
use crate::StatsError;

/// Exact steps may touch at most this many numbers, which takes less than a millisecond.
const EXACT_WORK: f64 = 2e5;
/// The most stations whose rate depends on the number of jobs. Each doubles the work of an exact step.
const MOST_DEPENDENT: usize = 6;

/// A resource that jobs take time of.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// Time that each job takes of it in all its visits, in seconds. Unused for [`Service::Rates`].
    pub demand_s: f64,
    /// How it serves.
    pub service: Service,
}

/// How a station serves its jobs.
#[derive(Debug, Clone, PartialEq)]
pub enum Service {
    /// No job waits for another: a delay or a pause.
    Delay,
    /// Copies of one server. Each job goes to one of them at random, as behind a load balancer without knowledge of
    /// their load.
    Copies(u32),
    /// Several servers with one queue: a job waits only if all of them are busy.
    Servers(u32),
    /// Jobs per second with 1, 2, … jobs in it, never decreasing. With more jobs than rates, the last applies. Not
    /// empty.
    Rates(Vec<f64>),
}

impl Station {
    /// A delay or a pause.
    pub fn delay(demand_s: f64) -> Self {
        Self { demand_s, service: Service::Delay }
    }

    /// One queue in front of this many servers.
    pub fn servers(demand_s: f64, servers: u32) -> Self {
        let service = if servers <= 1 { Service::Copies(1) } else { Service::Servers(servers) };
        Self { demand_s, service }
    }

    /// This many servers with a queue each.
    pub fn copies(demand_s: f64, copies: u32) -> Self {
        Self { demand_s, service: Service::Copies(copies.max(1)) }
    }

    /// The most jobs per second that it can do. Infinite if it is never full.
    pub fn capacity_rps(&self) -> f64 {
        match &self.service {
            Service::Delay => f64::INFINITY,
            Service::Copies(servers) | Service::Servers(servers) => f64::from(*servers) / self.demand_s,
            Service::Rates(rates) => rates.last().copied().unwrap_or(f64::INFINITY),
        }
    }

    /// The time that a single job takes of it, in seconds.
    pub fn alone_s(&self) -> f64 {
        match &self.service {
            Service::Rates(rates) => rates.first().map_or(0.0, |rate| rate.recip()),
            _ => self.demand_s,
        }
    }

    /// Jobs per second with `jobs` in it, for stations whose rate depends on the number of jobs.
    pub(super) fn rate_rps(&self, jobs: usize) -> f64 {
        match &self.service {
            Service::Servers(servers) => jobs.min(*servers as usize) as f64 / self.demand_s,
            Service::Rates(rates) => rates[jobs.min(rates.len()) - 1],
            Service::Delay | Service::Copies(_) => f64::INFINITY,
        }
    }

    /// The number of jobs from which on its rate is constant. `None` if the rate does not depend on the number of jobs.
    pub(super) fn levels(&self) -> Option<usize> {
        match &self.service {
            Service::Servers(servers) => Some(*servers as usize),
            Service::Rates(rates) => Some(rates.len()),
            Service::Delay | Service::Copies(_) => None,
        }
    }

    /// Whether its numbers are valid.
    fn is_sound(&self) -> bool {
        let is_amount = |value: f64| value.is_finite() && value >= 0.0;
        match &self.service {
            Service::Delay => is_amount(self.demand_s),
            Service::Copies(servers) | Service::Servers(servers) => is_amount(self.demand_s) && *servers > 0,
            Service::Rates(rates) => {
                let is_rising = rates.windows(2).all(|pair| pair[0] <= pair[1]);
                is_rising && rates.first().is_some_and(|rate| *rate > 0.0) && rates.iter().all(|rate| rate.is_finite())
            }
        }
    }
}

/// Users who think, and the stations that each of their jobs visits.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    think_s: f64,
    stations: Vec<Station>,
}

/// How a solution was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Mean value analysis, one user after the other.
    Exact,
    /// The limit for many users with rare requests: jobs arrive at random. At the knee, where it is worst, its
    /// throughput is too low by a share of 0.2 / √users.
    OpenLimit,
}

/// The means of a network with a number of users.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// Jobs per second.
    pub throughput_rps: f64,
    /// From sending a job until it is back, in seconds.
    pub response_s: f64,
    /// Its stations, in their order.
    pub stations: Vec<SolvedStation>,
    /// How it was found.
    pub method: Method,
}

/// A station of a solved network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolvedStation {
    /// Time that a job spends there, including waiting, in seconds.
    pub residence_s: f64,
    /// Mean number of jobs there.
    pub jobs: f64,
    /// Throughput as a share of its capacity, from 0 to 1. 0 if it is never full.
    pub utilisation: f64,
}

impl Network {
    /// Users with a mean think time of `think_s` between two jobs, and the stations of a job.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] for a time that is negative or not finite, for rates that are missing or decrease,
    /// and for a network in which a job takes no time. The index is the station's, or the number of stations.
    pub fn new(think_s: f64, stations: Vec<Station>) -> Result<Self, StatsError> {
        if let Some(index) = stations.iter().position(|station| !station.is_sound()) {
            return Err(StatsError::OutOfRange { index, value: stations[index].demand_s });
        }
        // A job must take time at some station. A station with zero demand is allowed, since it changes nothing.
        let takes_time = stations.iter().any(|station| station.alone_s() > 0.0);
        if !(think_s.is_finite() && think_s >= 0.0 && takes_time) {
            return Err(StatsError::OutOfRange { index: stations.len(), value: think_s });
        }
        Ok(Self { think_s, stations })
    }

    /// Its stations, in the order in which they were given.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// Mean think time of its users, in seconds.
    pub fn think_s(&self) -> f64 {
        self.think_s
    }

    /// Bounds for this many users, whatever the structure of the network.
    pub fn bounds(&self, users: u64) -> Bounds {
        let demand_s = self.stations.iter().map(Station::alone_s).sum();
        Bounds::of(users as f64, demand_s, self.think_s, self.capacity_rps())
    }

    /// Jobs per second at the capacity of its first bottleneck.
    pub fn capacity_rps(&self) -> f64 {
        self.stations.iter().map(Station::capacity_rps).fold(f64::INFINITY, f64::min)
    }

    /// The station that fills up first, or `None` if none ever does.
    pub fn bottleneck(&self) -> Option<usize> {
        let full = self.stations.iter().enumerate().filter(|(_, station)| station.capacity_rps().is_finite());
        full.min_by(|(_, one), (_, other)| one.capacity_rps().total_cmp(&other.capacity_rps())).map(|(place, _)| place)
    }

    /// Throughput, response time and stations with this many users, exact as long as that is cheap. Zero users give
    /// zero throughput.
    pub fn solve(&self, users: u64) -> Solved {
        let affordable = (EXACT_WORK / self.work_of_step()) as u64;
        if users <= affordable {
            return mva::solve(self, users);
        }
        // The throughput never falls with more users, so the limit, which is slightly too low, must not be below the
        // exact value for fewer users.
        open::solve(self, users, mva::solve(self, affordable).throughput_rps)
    }

    /// Exact throughput with 1, 2, … up to `users` users.
    pub(super) fn throughputs(&self, users: u64) -> Vec<f64> {
        mva::throughputs(self, users)
    }

    /// How many numbers an exact step touches.
    pub(super) fn work_of_step(&self) -> f64 {
        let levels: Vec<usize> = self.stations.iter().filter_map(Station::levels).collect();
        if levels.len() > MOST_DEPENDENT {
            return f64::INFINITY;
        }
        let each = self.stations.len() + levels.iter().sum::<usize>();
        (each << levels.len()) as f64
    }

    /// A solution from the residence times at its stations.
    pub(super) fn solved(&self, users: u64, throughput_rps: f64, residence_s: &[f64], method: Method) -> Solved {
        let station = |(station, residence_s): (&Station, &f64)| SolvedStation {
            residence_s: *residence_s,
            jobs: laws::jobs_present(throughput_rps, *residence_s),
            utilisation: (throughput_rps / station.capacity_rps()).min(1.0),
        };
        let response_s =
            if users == 0 { 0.0 } else { laws::response_time_s(users as f64, throughput_rps, self.think_s) };
        Solved {
            throughput_rps,
            response_s,
            stations: self.stations.iter().zip(residence_s).map(station).collect(),
            method,
        }
    }
}
