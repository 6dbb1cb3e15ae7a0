//! Slow and fast clients in one run, against servers with few and with many workers.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tolok_load::options::{ConnectionPolicy, Executor, Options, Pace, ThinkTime};
use tolok_load::record::ClientRecords;

use super::stage::*;

const READ_RATE: u64 = 128 * 1024;
/// A slow client's buffer holds what it reads in two seconds, so a worker is busy with the last third.
const BODY_BYTES: usize = 3 * READ_RATE as usize;

/// Blocking workers, each with one connection at a time.
struct Workers {
    listener: Arc<TcpListener>,
    ended: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Workers {
    fn start(number: usize) -> Workers {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let ended = Arc::new(AtomicBool::new(false));
        let work = || {
            let (listener, ended) = (Arc::clone(&listener), Arc::clone(&ended));
            thread::spawn(move || {
                while let Some((client, _)) = listener.accept().ok().filter(|_| !ended.load(Ordering::Relaxed)) {
                    // A client that gives up must not end the others.
                    let _ = answer(&client);
                }
            })
        };
        let threads = (0..number).map(|_| work()).collect();
        Workers { listener, ended, threads }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let address = self.listener.local_addr().unwrap();
        self.threads.iter().for_each(|_| drop(TcpStream::connect(address)));
        self.threads.drain(..).for_each(|worker| worker.join().unwrap());
    }
}

fn answer(mut client: &TcpStream) -> std::io::Result<()> {
    rustix::net::sockopt::set_socket_send_buffer_size(client, 16 * 1024)?;
    let mut lines = BufReader::new(client).lines();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    write!(client, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {BODY_BYTES}\r\n\r\n")?;
    client.write_all(&vec![b'x'; BODY_BYTES])
}

/// Eight users, two of them slow, for two seconds.
fn clients_of(workers: usize) -> ClientRecords {
    let server = Workers::start(workers);
    let mut options = Options::new(&format!("http://{}/", server.listener.local_addr().unwrap())).unwrap();
    options.executor = Executor::ConstantVus { vus: 8, duration: MS * 2_000 };
    options.connection = ConnectionPolicy::PerRequest;
    options.pace = Pace { read_bytes_per_s: Some(READ_RATE), write_bytes_per_s: None, slow_share: Some(0.25) };
    options.think_time = ThinkTime { least: MS * 10, most: MS * 10 };
    options.grace = Some(MS * 5_000);
    let record = run(&options);
    assert_eq!(record.plan.slow_users, Some(2));
    record.clients.unwrap()
}

#[test]
fn slow_clients_starve_fast_ones_where_workers_are_few() {
    let (few, many) = (clients_of(1), clients_of(8));
    for clients in [&few, &many] {
        assert_eq!((clients.fast.users, clients.slow.users), (6, 2));
        assert!(clients.slow.response_time.min_s.unwrap() > 2.5, "{:?}", clients.slow.response_time.min_s);
    }
    let fast_rps = |clients: &ClientRecords| clients.fast.goodput_rps.unwrap();
    assert!(fast_rps(&many) > 5.0 * fast_rps(&few), "{} and {} a second", fast_rps(&many), fast_rps(&few));
    // A fast client queued behind a slow one waits for as long as the slow one reads.
    assert!(few.fast.response_time.max_s.unwrap() > 0.5, "{:?}", few.fast.response_time.max_s);
}

#[test]
fn one_sort_of_clients_is_no_mixture() {
    let refused = |vus, slow_share| {
        let mut options = Options::new("http://127.0.0.1:1/").unwrap();
        options.executor = Executor::ConstantVus { vus, duration: MS };
        options.pace = Pace { read_bytes_per_s: Some(9), write_bytes_per_s: None, slow_share: Some(slow_share) };
        tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string()
    };
    for (vus, slow_share, says) in [(2, 0.2, "of 2 virtual users 0 would be slow"), (2, 0.8, "of 2 virtual users 2")] {
        assert!(refused(vus, slow_share).contains(says), "{}", refused(vus, slow_share));
    }
}
