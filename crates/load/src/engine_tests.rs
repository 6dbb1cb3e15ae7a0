//! The loop against targets that the first look at a target would have refused: nobody listens, or nobody accepts.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};

use super::*;
use crate::clock::SystemClock;
use crate::fault::ErrorClass;
use crate::http::request;
use crate::options::Executor;

/// Runs one user without the first look.
fn run(target: SocketAddr, window: Duration, connect_timeout: Duration, events: &mut dyn FnMut(Event)) -> Recorded {
    run_until(target, window, connect_timeout, &AtomicBool::new(false), events)
}

fn run_until(
    target: SocketAddr,
    window: Duration,
    connect_timeout: Duration,
    stop: &AtomicBool,
    events: &mut dyn FnMut(Event),
) -> Recorded {
    let mut options = Options::new(&format!("http://{target}/")).unwrap();
    options.executor = Executor::ConstantVus { vus: 1, duration: window };
    options.warm_up = Duration::from_millis(50);
    options.connect_timeout = connect_timeout;
    options.grace = Some(Duration::ZERO);
    let connector = Connector::new(target, &options);
    let request = request::render(&options).unwrap();
    let recorded = Engine::new(SystemClock, &options, connector, request, events).unwrap().run(stop).unwrap().recorded;
    assert!(recorded.ledger.closes(), "{:?}", recorded.ledger);
    recorded
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
    let recorded = run(full.address(), Duration::from_millis(400), Duration::from_millis(100), &mut |_| {});
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
        // Room is made when the warm-up is over: by then the first attempt has been made and not answered.
        let recorded = run_until(address, Duration::from_secs(3600), Duration::from_secs(3600), &stop, &mut |event| {
            if matches!(event, Event::WindowStarted { .. })
                && let Some(full) = accept.take()
            {
                let stop = &stop;
                scope.spawn(move || answer_one(full, stop));
            }
        });
        assert_eq!((recorded.connections.opened, recorded.connections.failed), (1, 0));
        assert_eq!((recorded.warm_up.sent, recorded.warm_up.carried_over_good), (1, 1));
        // The kernel tries again after a second.
        assert!(recorded.connect_time.min_s.unwrap() > 0.05);
    });
}

/// Accepts everything, answers the first request, and ends the run with the second.
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
    // Ends when the engine closes the connection, so that the second request is in flight at the end.
    assert_eq!(stream.read(&mut request).unwrap_or(0), 0);
}

#[test]
fn a_target_that_is_not_there_is_asked_ever_less_often() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let recorded = run(gone, Duration::from_millis(550), Duration::from_secs(5), &mut |_| {});
    // Attempts at 0, 10, 30, 70, 150 and 310 ms at the earliest; the next is due after the end at 600 ms.
    let attempts = recorded.connections.failed;
    assert!((2..=6).contains(&attempts), "{attempts}");
    assert!(recorded.ledger.failed_by_class.keys().all(|class| *class == ErrorClass::Connect));
    assert_eq!(recorded.ledger.in_flight_at_end, 0);
}
