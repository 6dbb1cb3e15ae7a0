//! Targets that send endless frames, requested or not. A run must still end on time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tolok_load::options::{Executor, ExpectBody, Options, Protocol};
use tolok_load::record::Record;
use tolok_testkit::{Act, Http2Server};

use crate::stage::{options, play};

const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// Far longer than the run, and far shorter than a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// A target that sends its settings and then repeats these frames until the connection is closed.
fn flooding(frames: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || flood(stream, frames));
        }
    });
    address
}

fn flood(mut stream: TcpStream, frames: &[u8]) {
    let mut reader = stream.try_clone().unwrap();
    thread::spawn(move || while reader.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {});
    let many = frames.repeat(65_536 / frames.len());
    if stream.write_all(SETTINGS).is_ok() {
        while stream.write_all(&many).is_ok() {}
    }
}

/// A run of a third of a second, or `None` if it does not end.
fn run_against(address: SocketAddr) -> Option<Record> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut options = Options::new(&format!("http://{address}/")).unwrap();
        options.protocol = Protocol::Http2 { streams_per_connection: 4 };
        options.executor = Executor::ConstantVus { vus: 8, duration: Duration::from_millis(300) };
        options.timeout = Duration::from_millis(100);
        options.grace = Some(Duration::from_millis(100));
        let _ = sender.send(tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap());
    });
    receiver.recv_timeout(PATIENCE).ok()
}

#[test]
fn no_flood_of_frames_moves_the_end_of_a_run() {
    const RESET: &[u8] = b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08";
    const WINDOW: &[u8] = b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01";
    const PRIORITY: &[u8] = b"\0\0\x05\x02\0\0\0\0\x01\0\0\0\0\x10";
    const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0abcdefgh";
    const UNKNOWN: &[u8] = b"\0\0\x04\xfe\0\0\0\0\0abcd";
    for (name, frames) in
        [("RST_STREAM", RESET), ("WINDOW_UPDATE", WINDOW), ("PRIORITY", PRIORITY), ("PING", PING), ("unknown", UNKNOWN)]
    {
        let record = run_against(flooding(frames)).unwrap_or_else(|| panic!("{name}: the run did not end"));
        assert!(record.ledger.closes() && record.ledger.good == 0, "{name}: {:?}", record.ledger);
        assert!(record.window_s < 1.0, "{name}: {}", record.window_s);
    }
}

/// Repeats the head of a good answer without a body, for the first stream of a connection.
#[test]
fn an_answer_that_nobody_asked_for_is_not_good() {
    let record = run_against(flooding(b"\0\0\x01\x01\x05\0\0\0\x01\x88")).expect("the run ends");
    let (ledger, opened) = (&record.ledger, record.connections.opened);
    assert!(ledger.closes() && ledger.good <= opened && opened > 0, "{ledger:?} over {opened} connections");
}

/// A few compressed bytes may unpack to a very large head, which h2 buffers until it is complete.
#[test]
fn a_head_beyond_its_bound_fails_its_request() {
    let server = Http2Server::start(|request| Act::LongHead(if request.number == 0 { 60_000 } else { 70_000 }));
    let mut options = options(&server, 1, 1, 3);
    options.requests[0].expect.body = ExpectBody::Anything;
    let ledger = play(&options).ledger;
    assert_eq!((ledger.good, ledger.failed_by_class.values().sum()), (1, 2_u64), "{ledger:?}");
}
