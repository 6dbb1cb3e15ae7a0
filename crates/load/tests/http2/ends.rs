//! Runs that end with requests in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tolok_load::options::Executor;
use tolok_testkit::{Act, Http2Server};

use crate::stage::{good, options, play};

#[test]
fn what_is_never_answered_is_in_flight_at_the_end_and_abandoned() {
    let server = Http2Server::start(|_| Act::Silence);
    let mut options = options(&server, 3, 2, 1);
    options.executor = Executor::ConstantVus { vus: 3, duration: Duration::from_millis(200) };
    options.grace = Some(Duration::ZERO);
    let record = play(&options);
    assert_eq!((record.ledger.sent, record.ledger.in_flight_at_end, record.drain.abandoned), (3, 3, 3));
    assert_eq!((record.connections.opened, record.connections.never_answered), (2, 2));
    assert_eq!(record.whole_run.sent, 3);
}

#[test]
fn requests_that_the_target_has_no_room_for_were_never_sent() {
    let server = Http2Server::with(1, None, |_| Act::Silence);
    let mut options = options(&server, 4, 4, 1);
    options.executor = Executor::ConstantVus { vus: 4, duration: Duration::from_millis(300) };
    options.grace = Some(Duration::ZERO);
    let record = play(&options);
    assert_eq!((record.ledger.sent, record.drain.abandoned), (4, 4));
    assert_eq!(server.requests() as u64, record.whole_run.sent);
}

#[test]
fn an_interrupted_run_says_so_and_its_account_closes() {
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    let server = Http2Server::start(move |request| {
        if request.number == 51 {
            stopping.store(true, Ordering::Relaxed);
        }
        if request.number >= 50 { Act::Silence } else { good() }
    });
    let mut options = options(&server, 2, 2, 1);
    options.executor = Executor::ConstantVus { vus: 2, duration: Duration::from_secs(3600) };
    options.grace = Some(Duration::ZERO);
    let record = tolok_load::run(&options, &stop, &mut |_| {}).unwrap();
    assert!(record.interrupted && record.ledger.closes(), "{:?}", record.ledger);
    assert_eq!((record.ledger.good, record.ledger.in_flight_at_end, record.ledger.failed), (50, 2, 0));
}
