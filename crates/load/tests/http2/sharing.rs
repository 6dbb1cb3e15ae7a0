//! Which users share a connection, and for how long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tolok_load::options::{Arrivals, ConnectionPolicy, Executor, Pool, Protocol};
use tolok_testkit::{Act, Http2Server};

use crate::stage::{good, options, play};

#[test]
fn each_connection_has_that_many_users_and_the_last_one_the_rest() {
    for (users, streams, connections) in [(6, 1, 6), (6, 2, 3), (7, 3, 3), (5, 100, 1)] {
        let server = Http2Server::start(|_| good());
        let record = play(&options(&server, users, streams, 200));
        assert_eq!(record.ledger.good, 200);
        assert_eq!(record.connections.opened, connections, "{users} users, {streams} streams");
    }
}

#[test]
fn every_thread_has_connections_of_its_own() {
    let server = Http2Server::start(|_| good());
    let mut options = options(&server, 6, 2, 300);
    options.generator.threads = 2;
    let record = play(&options);
    assert_eq!((record.ledger.good, record.connections.opened), (300, 4));
}

#[test]
fn requests_wait_where_the_target_allows_fewer_streams() {
    let server = Http2Server::with(1, None, |_| good());
    let record = play(&options(&server, 8, 8, 100));
    assert_eq!((record.ledger.good, record.ledger.failed), (100, 0));
    assert_eq!((record.connections.opened, server.connections()), (1, 1));
}

#[test]
fn a_connection_that_is_given_up_in_good_order_costs_no_request() {
    // Users share connections; each accepts no more requests after every fifth.
    let server = Http2Server::start(|request| match request.number % 5 {
        4 => Act::AnswerAndGoAway("hello".into()),
        _ => good(),
    });
    let record = play(&options(&server, 4, 4, 100));
    assert_eq!((record.ledger.good, record.ledger.failed), (100, 0));
    assert!(record.connections.opened > 5, "{}", record.connections.opened);
    assert_eq!(record.connections.opened as usize, server.connections());
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may() {
    let seen: Arc<Mutex<BTreeMap<usize, usize>>> = Arc::default();
    let counted = Arc::clone(&seen);
    let server = Http2Server::start(move |request| {
        *counted.lock().unwrap().entry(request.connection).or_default() += 1;
        good()
    });
    let mut options = options(&server, 2, 2, 30);
    options.connection = ConnectionPolicy::Requests { requests_per_connection: 4 };
    let record = play(&options);
    assert_eq!((record.ledger.good, record.connections.opened), (30, 8));
    let carried: Vec<usize> = seen.lock().unwrap().values().copied().collect();
    assert_eq!(carried, [4, 4, 4, 4, 4, 4, 4, 2]);
}

#[test]
fn a_connection_per_request_is_one() {
    let server = Http2Server::start(|_| good());
    let mut options = options(&server, 2, 1, 20);
    options.connection = ConnectionPolicy::PerRequest;
    let record = play(&options);
    assert_eq!((record.ledger.good, record.connections.opened, server.connections()), (20, 20, 20));
}

#[test]
fn arrivals_by_the_clock_have_places_on_shared_connections() {
    for pool in [Pool::Bounded(4), Pool::Unbounded { at_most: Some(4) }] {
        let server = Http2Server::start(|_| good());
        let mut options = options(&server, 1, 2, 1);
        options.executor = Executor::ConstantArrivalRate {
            rate_rps: 500.0,
            duration: Duration::from_millis(400),
            arrivals: Arrivals::Uniform,
        };
        options.pool = pool;
        let record = play(&options);
        assert_eq!((record.ledger.scheduled, record.ledger.failed), (200, 0), "{:?}", record.ledger);
        assert_eq!(record.ledger.good + record.drain.good, 200, "{:?}", record.ledger);
        assert!((1..=2).contains(&record.connections.opened), "{pool:?}: {}", record.connections.opened);
    }
}

#[test]
fn users_that_retire_close_the_connection_that_they_share() {
    let server = Http2Server::start(|_| good());
    let mut options = options(&server, 4, 2, 1);
    options.executor = Executor::PerVuIterations { vus: 4, iterations: 10, max_duration: Duration::from_secs(3600) };
    options.protocol = Protocol::Http2 { streams_per_connection: 2 };
    let record = play(&options);
    assert_eq!((record.ledger.good, record.connections.opened, server.connections()), (40, 2, 2));
}
