//! Queueing networks against closed forms, sums over all states, and an event simulation. `fixtures/queueing.py` makes
//! the figures in `fixtures/queueing.json` without mean value analysis.

use proptest::prelude::*;
use serde::Deserialize;
use tolok_stats::StatsError;
use tolok_stats::queueing::{Method, Network, Service, Station, limited_pool};

#[derive(Deserialize)]
struct Fixtures {
    repairmen: Vec<Repairmen>,
    networks: Vec<ProductForm>,
    pools: Vec<Pool>,
}

#[derive(Deserialize)]
struct Repairmen {
    users: u64,
    think_s: String,
    service_s: String,
    servers: u32,
    /// Throughput and response time.
    solution: (f64, f64),
}

#[derive(Deserialize)]
struct ProductForm {
    users: u64,
    think_s: String,
    /// Kind, demand and servers.
    stations: Vec<(String, String, u32)>,
    /// Throughput, and jobs at each station.
    solution: (f64, Vec<f64>),
}

#[derive(Deserialize)]
struct Pool {
    users: u64,
    think_s: f64,
    rtt_s: f64,
    cpu_s: f64,
    pool: u64,
    database_rtt_s: f64,
    database_cpu_s: f64,
    throughput_rps: f64,
    response_s: f64,
    standard_error_rps: f64,
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../../fixtures/queueing.json")).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

fn seconds(text: &str) -> f64 {
    text.parse().unwrap()
}

fn network(think_s: f64, stations: &[Station]) -> Network {
    Network::new(think_s, stations.to_vec()).unwrap()
}

#[test]
fn machine_repairmen_have_their_closed_form() {
    for case in fixtures().repairmen {
        let solved = network(seconds(&case.think_s), &[Station::servers(seconds(&case.service_s), case.servers)])
            .solve(case.users);
        assert_eq!(solved.method, Method::Exact);
        close(solved.throughput_rps, case.solution.0, 1e-11);
        close(solved.response_s, case.solution.1, 1e-9);
    }
}

#[test]
fn product_form_networks_agree_with_the_sum_over_all_states() {
    for case in fixtures().networks {
        let station = |(kind, demand, servers): &(String, String, u32)| match kind.as_str() {
            "delay" => Station::delay(seconds(demand)),
            _ => Station::servers(seconds(demand), *servers),
        };
        let stations: Vec<Station> = case.stations.iter().map(station).collect();
        let solved = network(seconds(&case.think_s), &stations).solve(case.users);
        close(solved.throughput_rps, case.solution.0, 1e-11);
        for (found, expected) in solved.stations.iter().zip(&case.solution.1) {
            close(found.jobs, *expected, 1e-9);
        }
    }
}

/// Link, subject, and a pool of connections to a database with its own link.
fn with_pool(case: &Pool) -> Network {
    let inside = network(0.0, &[Station::servers(case.database_cpu_s, 1), Station::delay(case.database_rtt_s)]);
    let connections = limited_pool(&inside, case.pool).unwrap();
    network(case.think_s, &[Station::delay(case.rtt_s), Station::servers(case.cpu_s, 1), connections])
}

#[test]
fn a_pool_agrees_with_a_simulation_of_every_event() {
    for case in fixtures().pools {
        let solved = with_pool(&case).solve(case.users);
        // Four standard errors, plus the approximation error of the station that represents the pool.
        close(solved.throughput_rps, case.throughput_rps, 4.0 * case.standard_error_rps / case.throughput_rps + 0.005);
        close(solved.response_s, case.response_s, 0.025);
    }
}

#[test]
fn many_servers_near_saturation_stay_sound() {
    // With 1 minus all others, the probability that all servers are idle is only rounding error from some hundred users
    // on, and then negative.
    let network = network(0.1, &[Station::servers(0.64, 64), Station::servers(0.32, 32)]);
    let mut before_rps = 0.0;
    for users in (1..=2_000).step_by(37) {
        let solved = network.solve(users);
        assert!(solved.throughput_rps >= before_rps * (1.0 - 1e-12), "{users}");
        assert!(solved.throughput_rps <= network.bounds(users).most_rps * (1.0 + 1e-12), "{users}");
        assert!(solved.stations.iter().all(|station| station.jobs >= 0.0 && station.residence_s >= 0.0));
        before_rps = solved.throughput_rps;
    }
    close(before_rps, 100.0, 0.002);
}

#[test]
fn a_thousand_million_users_wait_for_the_bottleneck() {
    let network = network(5.0, &[Station::servers(0.000_1, 4), Station::copies(0.000_2, 3), Station::delay(0.05)]);
    let solved = network.solve(1_000_000_000);
    close(solved.throughput_rps, 15_000.0, 1e-6);
    close(solved.response_s, 1e9 / 15_000.0 - 5.0, 1e-6);
    assert_eq!((solved.method, network.bottleneck()), (Method::OpenLimit, Some(1)));
    close(solved.stations.iter().map(|station| station.residence_s).sum(), solved.response_s, 1e-6);
    close(network.bounds(1).knee_users, 15_000.0 * 5.050_3, 1e-9);
}

#[test]
fn the_limit_for_many_users_meets_the_exact_solution() {
    // Before the knee, at it, where they differ most, and beyond it. One more user is no longer solved exactly.
    for demand_s in [4e-5, 5.01e-5, 6e-5] {
        let network = network(5.0, &[Station::servers(demand_s, 1), Station::delay(0.01)]);
        let (exact, limit) = (network.solve(100_000), network.solve(100_001));
        assert_eq!((exact.method, limit.method), (Method::Exact, Method::OpenLimit));
        close(limit.throughput_rps, exact.throughput_rps, 0.7e-3);
    }
}

#[test]
fn a_network_that_is_never_full_has_no_queue() {
    let solved = network(1.0, &[Station::delay(0.25)]).solve(1_000_000_000_000);
    assert_eq!((solved.throughput_rps, solved.response_s), (0.8e12, 0.25));
}

#[test]
fn no_users_have_no_throughput() {
    let solved = network(1.0, &[Station::servers(0.25, 2)]).solve(0);
    assert_eq!((solved.throughput_rps, solved.response_s), (0.0, 0.0));
}

#[test]
fn zero_and_invalid_times_are_refused() {
    let refused = |think_s: f64, station: Station| Network::new(think_s, vec![station]).unwrap_err();
    assert_eq!(refused(0.0, Station::servers(-1.0, 1)), StatsError::OutOfRange { index: 0, value: -1.0 });
    assert_eq!(refused(1.0, Station::delay(0.0)), StatsError::OutOfRange { index: 1, value: 1.0 });
    assert!(matches!(refused(f64::NAN, Station::delay(1.0)), StatsError::OutOfRange { index: 1, .. }));
    for rates in [vec![], vec![2.0, 1.0], vec![0.0, 1.0], vec![f64::INFINITY]] {
        refused(0.0, Station { demand_s: 0.0, service: Service::Rates(rates) });
    }
}

#[test]
fn a_large_pool_is_told_as_far_as_it_changes() {
    let inside = network(0.0, &[Station::servers(0.001, 1), Station::delay(0.1)]);
    let Service::Rates(rates) = limited_pool(&inside, 1_000_000).unwrap().service else { panic!("a pool has rates") };
    assert!(rates.len() < 20_001, "{}", rates.len());
    close(*rates.last().unwrap(), 1_000.0, 1e-9);
    close(rates[0], 1.0 / 0.101, 1e-12);
}

fn any_station() -> impl Strategy<Value = Station> {
    prop_oneof![
        (1e-5..0.5_f64, 1u32..12).prop_map(|(demand_s, servers)| Station::servers(demand_s, servers)),
        (1e-5..0.5_f64, 1u32..12).prop_map(|(demand_s, copies)| Station::copies(demand_s, copies)),
        (0.0..2.0_f64).prop_map(Station::delay),
    ]
}

fn any_network() -> impl Strategy<Value = Network> {
    let stations = prop::collection::vec(any_station(), 1..4);
    (0.001..3.0_f64, stations).prop_map(|(think_s, mut stations)| {
        stations.push(Station::servers(0.001, 1));
        Network::new(think_s, stations).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn more_users_never_get_less_and_no_bound_is_broken(network in any_network(), users in 1u64..300) {
        let [fewer, more] = [users, users + 1].map(|users| network.solve(users));
        prop_assert!(more.throughput_rps >= fewer.throughput_rps * (1.0 - 1e-9));
        prop_assert!(more.response_s >= fewer.response_s * (1.0 - 1e-9));
        let bounds = network.bounds(users);
        prop_assert!(fewer.throughput_rps <= bounds.most_rps * (1.0 + 1e-9));
        prop_assert!(fewer.response_s >= bounds.least_response_s * (1.0 - 1e-9));
    }

    #[test]
    fn jobs_and_thinkers_are_all_users(network in any_network(), users in 1u64..300) {
        let solved = network.solve(users);
        let there: f64 = solved.stations.iter().map(|station| station.jobs).sum();
        let all = there + solved.throughput_rps * network.think_s();
        prop_assert!((all / users as f64 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn times_that_are_all_longer_are_a_slower_clock(network in any_network(), users in 1u64..300, factor in 0.01..100.0_f64) {
        let slower = network.stations().iter().map(|it| Station { demand_s: it.demand_s * factor, ..it.clone() });
        let slower = Network::new(network.think_s() * factor, slower.collect()).unwrap();
        let (one, other) = (network.solve(users), slower.solve(users));
        prop_assert!((one.throughput_rps / other.throughput_rps / factor - 1.0).abs() < 1e-9);
        prop_assert!((other.response_s / one.response_s / factor - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_pool_for_all_users_is_no_pool(
        users in 1u64..60, cpu_s in 0.001..0.1_f64, rtt_s in 0.0..0.2_f64, servers in 1u32..4, think_s in 0.0..1.0_f64,
    ) {
        // Norton's theorem: the part and the station that represents it are equivalent for the rest.
        let part = [Station::servers(cpu_s, servers), Station::delay(rtt_s)];
        let subject = Station::servers(0.02, 1);
        let flat = Network::new(think_s, [vec![subject.clone()], part.to_vec()].concat()).unwrap();
        let pool = limited_pool(&network(0.0, &part), users).unwrap();
        let nested = Network::new(think_s, vec![subject, pool]).unwrap();
        prop_assert!((nested.solve(users).throughput_rps / flat.solve(users).throughput_rps - 1.0).abs() < 1e-8);
    }

    #[test]
    fn any_number_of_users_has_an_answer(network in any_network(), users in any::<u64>()) {
        let solved = network.solve(users.max(1));
        prop_assert!(solved.throughput_rps > 0.0 && solved.throughput_rps.is_finite());
        prop_assert!(solved.response_s >= 0.0 && solved.response_s.is_finite());
        prop_assert!(solved.stations.iter().all(|station| (0.0..=1.0).contains(&station.utilisation)));
    }
}
