//! Mean value analysis: solves a closed network exactly, adding one user at a time.
//!
//! The recursion is that of Reiser and Lavenberg 1980: a job that arrives at a station finds there the mean of the
//! network with one user less. For stations whose rate depends on the number of jobs, it needs the probability that a
//! station is empty. The textbook computes that as 1 minus all others. Near saturation this is a difference of almost
//! equal numbers, which soon is only rounding error, and negative. Here it comes from a product instead,
//!
//! p(0 | n) = p(0 | n − 1) · X(n) / X′(n),
//!
//! where X′ is the throughput of the network without that station (M. Reiser, "Mean-value analysis and convolution
//! method for queue-dependent servers in closed queueing networks", Performance Evaluation 1(1), 1981). So the networks
//! without each such station are solved along with it, 2ᵏ for k stations, and no step subtracts anything.

use super::network::{Method, Network, Service, Solved, Station};

/// The network with this many users.
pub(super) fn solve(network: &Network, users: u64) -> Solved {
    let mut family = Family::of(network);
    for n in 1..=users {
        family.add_user(n as f64);
    }
    let whole = family.whole();
    network.solved(users, whole.throughput_rps, &whole.residence_s, Method::Exact)
}

/// Its throughput with 1, 2, … users.
pub(super) fn throughputs(network: &Network, users: u64) -> Vec<f64> {
    let mut family = Family::of(network);
    let step = |n| {
        family.add_user(n as f64);
        family.whole().throughput_rps
    };
    (1..=users).map(step).collect()
}

/// The network, and the networks without some of its dependent stations.
struct Family<'a> {
    network: &'a Network,
    /// Rates of the dependent stations with 1, 2, … jobs, up to the number from which on they are constant.
    rates: Vec<Vec<f64>>,
    /// One for each set of dependent stations, where bit k means the k-th of them. The last has all.
    members: Vec<Member>,
}

/// The state of one network of the family with the users so far.
struct Member {
    throughput_rps: f64,
    residence_s: Vec<f64>,
    /// Mean jobs at each station; for copies, at each copy.
    jobs: Vec<f64>,
    /// For each dependent station, the probability of 0, 1, … jobs there, as far as its rate changes.
    probability: Vec<Vec<f64>>,
}

impl<'a> Family<'a> {
    fn of(network: &'a Network) -> Self {
        let rates_of = |station: &Station| {
            station.levels().map(|levels| (1..=levels).map(|jobs| station.rate_rps(jobs)).collect::<Vec<f64>>())
        };
        let rates: Vec<Vec<f64>> = network.stations().iter().filter_map(rates_of).collect();
        let stations = network.stations().len();
        let empty = |rates: &Vec<f64>| (0..rates.len()).map(|jobs| if jobs == 0 { 1.0 } else { 0.0 }).collect();
        let member = |_| Member {
            throughput_rps: 0.0,
            residence_s: vec![0.0; stations],
            jobs: vec![0.0; stations],
            probability: rates.iter().map(empty).collect(),
        };
        let members = (0..1usize << rates.len()).map(member).collect();
        Self { network, rates, members }
    }

    fn whole(&self) -> &Member {
        &self.members[self.members.len() - 1]
    }

    /// Subsets come before larger sets, so what a member needs of others is already computed.
    fn add_user(&mut self, users: f64) {
        for set in 0..self.members.len() {
            self.members[set].visit(self.network, &self.rates, set, users);
            for dependent in (0..self.rates.len()).filter(|dependent| set >> dependent & 1 == 1) {
                let without_rps = self.members[set & !(1 << dependent)].throughput_rps;
                self.members[set].shift(dependent, &self.rates[dependent], without_rps);
            }
        }
    }
}

impl Member {
    /// Updates residence times, throughput and jobs for one more user.
    fn visit(&mut self, network: &Network, rates: &[Vec<f64>], set: usize, users: f64) {
        let mut dependent = 0;
        for (place, station) in network.stations().iter().enumerate() {
            self.residence_s[place] = match station.service {
                Service::Delay => station.demand_s,
                Service::Copies(_) => station.demand_s * (1.0 + self.jobs[place]),
                Service::Servers(_) | Service::Rates(_) => {
                    dependent += 1;
                    let is_member = set >> (dependent - 1) & 1 == 1;
                    if is_member { self.at_dependent(place, dependent - 1, &rates[dependent - 1]) } else { 0.0 }
                }
            };
        }
        // Without stations and think time, jobs return at once and the throughput is infinite. Every share of that is
        // zero.
        self.throughput_rps = users / (network.think_s() + self.residence_s.iter().sum::<f64>());
        for (place, station) in network.stations().iter().enumerate() {
            let copies = if let Service::Copies(copies) = station.service { f64::from(copies) } else { 1.0 };
            let residence_s = self.residence_s[place];
            self.jobs[place] = if residence_s > 0.0 { self.throughput_rps * residence_s / copies } else { 0.0 };
        }
    }

    /// Σ j / μ(j) · p(j − 1), computed as if the rate were always the last one, plus what the slower rates add.
    fn at_dependent(&self, place: usize, dependent: usize, rates: &[f64]) -> f64 {
        let last_s = rates[rates.len() - 1].recip();
        let slower = rates.iter().zip(&self.probability[dependent]).enumerate();
        let added = slower.map(|(less, (rate, probability))| (less + 1) as f64 * (rate.recip() - last_s) * probability);
        (1.0 + self.jobs[place]) * last_s + added.sum::<f64>()
    }

    /// Updates the probabilities for one more user.
    fn shift(&mut self, dependent: usize, rates: &[f64], without_rps: f64) {
        let throughput_rps = self.throughput_rps;
        let probability = &mut self.probability[dependent];
        for jobs in (1..probability.len()).rev() {
            probability[jobs] = throughput_rps / rates[jobs - 1] * probability[jobs - 1];
        }
        probability[0] *= throughput_rps / without_rps;
    }
}
