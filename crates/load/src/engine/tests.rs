//! The loop against targets that the initial probe would have rejected: no one listens, or no one accepts.

mod honesty;

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};

use super::*;
use crate::clock::SystemClock;
use crate::fault::ErrorClass;
use crate::histogram::Durations;
use crate::options::{Arrivals, Executor, Pool as PoolOption};
use crate::recording::Row;
use crate::transport::Address;

/// Listens for the borders of the window. Drops the rows, except for the connect times.
struct Borders<F> {
    told: F,
    connect_times: Rc<RefCell<Durations>>,
}

impl<F> Rows for Borders<F> {
    fn exchange(&mut self, row: &mut Box<Row>) {
        self.connect_times.borrow_mut().add(&row.times.connect);
        row.clear();
    }
}

impl<F: FnMut(Border)> Listener for Borders<F> {
    fn passed(&mut self, border: Border) {
        (self.told)(border);
    }
}

fn one_user(target: SocketAddr, window: Duration, connect_timeout: Duration) -> Options {
    let mut options = Options::new(&format!("http://{target}/")).unwrap();
    options.executor = Executor::ConstantVus { vus: 1, duration: window };
    options.warm_up = Duration::from_millis(50);
    options.connect_timeout = connect_timeout;
    options.grace = Some(Duration::ZERO);
    options
}

/// Runs one thread without the initial probe. Returns what it recorded, and the connect times.
fn run(options: &Options, asked: &AtomicBool, told: impl FnMut(Border)) -> (Recorded, Durations) {
    let address = Address::Inet(options.target.resolve().unwrap());
    let connector = Connector::new(address, options);
    let (stop, iterations) = (Stop::new(asked, Duration::ZERO), Arc::default());
    let run = Run {
        options,
        connector: &connector,
        stop: &stop,
        iterations: &iterations,
        most_connections: u32::MAX,
        most_lingering: MOST_LINGERING,
    };
    let span = Span::new(SystemClock.now(), options.warm_up, options.executor.window());
    let connect_times = Rc::new(RefCell::new(Durations::new()));
    let borders = Borders { told, connect_times: Rc::clone(&connect_times) };
    let recorded = Engine::new(SystemClock, &run, Share::ALL, span, borders).unwrap().run().unwrap().recorded;
    assert!(recorded.ledger.closes(), "{:?}", recorded.ledger);
    (recorded, connect_times.replace(Durations::new()))
}

/// A listener whose queue of connections is full: the kernel answers no further attempt until one is accepted.
struct FullListener {
    listener: TcpListener,
    fillers: Vec<TcpStream>,
}

impl FullListener {
    fn new() -> FullListener {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        listen(&socket, 0).unwrap();
        let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
        let mut fillers = Vec::new();
        while let Ok(filler) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
            assert!(fillers.len() < 100, "the kernel queues without end");
            fillers.push(filler);
        }
        FullListener { listener: socket.into(), fillers }
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }
}

#[test]
fn a_target_that_takes_no_connection_is_a_connect_timeout() {
    let full = FullListener::new();
    let options = one_user(full.address(), Duration::from_millis(400), Duration::from_millis(100));
    let (recorded, _) = run(&options, &AtomicBool::new(false), |_| {});
    let classes: Vec<_> = recorded.ledger.failed_by_class.keys().copied().collect();
    assert_eq!(classes, [ErrorClass::ConnectTimeout]);
    assert_eq!((recorded.connections.opened, recorded.ledger.good), (0, 0));
    assert!(recorded.connections.failed > 0);
}

#[test]
fn a_connection_that_is_established_late_is_used() {
    let full = FullListener::new();
    let address = full.address();
    let stop = AtomicBool::new(false);
    let mut accept = Some(full);
    thread::scope(|scope| {
        // Room is made after the warm-up; by then the first attempt was made but not answered.
        let options = one_user(address, Duration::from_secs(3600), Duration::from_secs(3600));
        let (recorded, connect_times) = run(&options, &stop, |border| {
            if matches!(border, Border::WindowStarted { .. })
                && let Some(full) = accept.take()
            {
                let stop = &stop;
                scope.spawn(move || answer_one(full, stop));
            }
        });
        assert_eq!((recorded.connections.opened, recorded.connections.failed), (1, 0));
        assert_eq!((recorded.warm_up.sent, recorded.warm_up.carried_over_good), (1, 1));
        // The kernel retries after a second.
        assert!(connect_times.min_s().unwrap() > 0.05);
    });
}

/// Accepts all connections, answers the first request, and ends the run with the second.
fn answer_one(full: FullListener, stop: &AtomicBool) {
    for _ in 0..full.fillers.len() {
        full.listener.accept().unwrap();
    }
    let mut stream = full.listener.accept().unwrap().0;
    let mut request = [0; 1024];
    assert!(stream.read(&mut request).unwrap() > 0);
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
    assert!(stream.read(&mut request).unwrap() > 0);
    stop.store(true, Ordering::Relaxed);
    // Returns when the engine closes the connection, so the second request is in flight at the end.
    assert_eq!(stream.read(&mut request).unwrap_or(0), 0);
}

#[test]
fn a_target_that_is_not_there_is_asked_ever_less_often() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let options = one_user(gone, Duration::from_millis(550), Duration::from_secs(5));
    let (recorded, _) = run(&options, &AtomicBool::new(false), |_| {});
    // Attempts at 0, 10, 30, 70, 150 and 310 ms at the earliest; the next would be after the end, at 600 ms.
    let attempts = recorded.connections.failed;
    assert!((2..=6).contains(&attempts), "{attempts}");
    assert!(recorded.ledger.failed_by_class.keys().all(|class| *class == ErrorClass::Connect));
    assert_eq!(recorded.ledger.in_flight_at_end, 0);
}

#[test]
fn arrivals_for_a_target_that_is_not_there_fail_one_by_one_and_on_time() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut options = one_user(gone, Duration::from_millis(200), Duration::from_secs(5));
    options.warm_up = Duration::ZERO;
    options.grace = None;
    options.executor = Executor::ConstantArrivalRate {
        rate_rps: 500.0,
        duration: Duration::from_millis(200),
        arrivals: Arrivals::Uniform,
    };
    options.pool = PoolOption::Bounded(4);
    let (Recorded { ledger, drain, connections, .. }, _) = run(&options, &AtomicBool::new(false), |_| {});
    // The clock does not pause: no arrival waits for a dead target to come back.
    assert_eq!((ledger.scheduled, ledger.good), (100, 0));
    assert_eq!(ledger.failed + drain.failed, 100);
    assert_eq!((connections.failed, connections.opened), (100, 0));
    assert!(ledger.failed_by_class.keys().all(|class| *class == ErrorClass::Connect));
}
