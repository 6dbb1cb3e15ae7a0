//! Several generators as one: their results add up, and no loss goes unnoticed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use tolok_load::Judgement;
use tolok_load::error::LoadError;
use tolok_load::generators::{Generator, admits, run_on, serve};
use tolok_load::options::{Arrivals, Executor, Options};
use tolok_load::record::Record;
use tolok_testkit::ScriptedServer;

use crate::stage::{BODY, ENDLESS, check_account, options};

const TOKEN: &str = "secret";

/// A generator of this machine, for one run.
fn generator(name: &str) -> (Generator, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        assert!(admits(&socket, TOKEN).unwrap());
        serve(&socket).unwrap();
    });
    (Generator { name: name.to_owned(), address }, serving)
}

fn run_all(generators: &[Generator], options: &Options) -> Result<Record, LoadError> {
    run_on(generators, TOKEN, (options, &Judgement::default()), &AtomicBool::new(false), &mut |_| {})
}

/// Runs on `count` generators with two threads each.
fn play(executor: Executor, count: usize) -> (Record, usize) {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    (options.executor, options.generator.threads) = (executor, 2);
    let (generators, serving): (Vec<_>, Vec<_>) = (0..count).map(|number| generator(&format!("n{number}"))).unzip();
    let record = run_all(&generators, &options).unwrap();
    serving.into_iter().for_each(|one| one.join().unwrap());
    check_account(&record);
    (record, server.requests())
}

#[test]
fn iterations_are_split_exactly_and_counted_once() {
    for count in [1, 3] {
        let (record, asked) =
            play(Executor::SharedIterations { vus: 7, iterations: 1_000, max_duration: ENDLESS }, count);
        assert_eq!((record.ledger.scheduled, record.ledger.good, asked), (1_000, 1_000, 1_000), "{count} generators");
        assert_eq!(record.response_time.count, 1_000);
        assert_eq!((record.generator.nodes.len(), record.generator.threads.len()), (count, 2 * count));
        for node in &record.generator.nodes {
            // They share a clock.
            assert!(node.clock.offset_ns.unsigned_abs() <= node.clock.error_ns, "{node:?}");
            assert!(node.clock_after.offset_ns.unsigned_abs() <= node.clock_after.error_ns, "{node:?}");
        }
        assert!(!record.interrupted && record.window_s < 60.0);
    }
}

#[test]
fn users_are_split_exactly() {
    let (record, asked) = play(Executor::PerVuIterations { vus: 5, iterations: 20, max_duration: ENDLESS }, 2);
    assert_eq!((record.ledger.good, asked, record.connections.opened), (100, 100, 5));
}

#[test]
fn arrivals_are_those_of_one_generator() {
    let arrivals =
        |arrivals| Executor::ConstantArrivalRate { rate_rps: 200.0, duration: Duration::from_secs(1), arrivals };
    for spaced in [Arrivals::Uniform, Arrivals::Poisson] {
        let scheduled = [1, 3].map(|count| play(arrivals(spaced), count).0.ledger.scheduled);
        assert_eq!(scheduled[0], scheduled[1]);
        assert!(spaced == Arrivals::Poisson || scheduled[0] == 200);
    }
}

#[test]
fn a_generator_says_why_it_cannot_reach_the_target() {
    let server = ScriptedServer::answering(BODY);
    let options = options(&server);
    drop(server);
    let (far, serving) = generator("n2");
    let error = run_all(&[far], &options).unwrap_err().to_string();
    assert!(error.contains("load from the generator n2: it failed to reach the target"), "{error}");
    serving.join().unwrap();
}

/// A generator that ends in the middle of its work.
fn faithless() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut words = BufReader::new(socket.try_clone().unwrap()).lines();
        assert_eq!(words.next().unwrap().unwrap(), TOKEN);
        assert!(words.next().unwrap().unwrap().starts_with("{\"Work\":"));
        socket.write_all(b"{\"Ready\":{\"congestion_control\":null}}\n").unwrap();
        while let Some(Ok(word)) = words.next()
            && !word.starts_with("{\"Start\":")
        {
            if word == "\"Ping\"" {
                socket.write_all(b"{\"Pong\":{\"at\":5}}\n").unwrap();
            }
        }
    });
    address
}

#[test]
fn a_generator_that_is_lost_ends_the_run_and_the_others() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = Executor::ConstantVus { vus: 2, duration: ENDLESS };
    let (whole, serving) = generator("n1");
    let lost = Generator { name: "n2".to_owned(), address: faithless() };
    let error = run_all(&[whole, lost], &options).unwrap_err();
    assert!(matches!(&error, LoadError::GeneratorLost { generator, .. } if generator == "n2"), "{error}");
    serving.join().unwrap();
}

#[test]
fn a_run_with_another_token_is_not_admitted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let refusing = spawn(move || admits(&listener.accept().unwrap().0, TOKEN).unwrap());
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    socket.write_all(b"Secret\n").unwrap();
    assert!(!refusing.join().unwrap());
    let mut said = Vec::new();
    let _ = socket.read_to_end(&mut said);
    assert!(said.is_empty());
}
