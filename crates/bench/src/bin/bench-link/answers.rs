//! Connections from a client's view: the handshake, a short answer, and a long one that slow start delays at first.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use tolok_link::LinkSpec;

use crate::emulated::Emulated;
use crate::flow::{Sorted, now_s};
use crate::spaces::Lab;
use tolok_bench::error::{BenchError, failed};
use tolok_bench::table::Table;

const ROUNDS: u32 = 20;
const SHORT_BYTES: usize = 8;
const LONG_BYTES: usize = 534_000;

/// Answers each byte with a short or a long answer, one connection after another, until a connection sends no byte.
fn serve(listener: &TcpListener) -> io::Result<()> {
    let answer = vec![b'x'; LONG_BYTES];
    loop {
        let (mut connection, _) = listener.accept()?;
        connection.set_nodelay(true)?;
        let (mut wish, mut wishes) = ([0u8], 0);
        while connection.read(&mut wish)? == 1 {
            wishes += 1;
            connection.write_all(&answer[..if wish[0] == b's' { SHORT_BYTES } else { LONG_BYTES }])?;
        }
        if wishes == 0 {
            return Ok(());
        }
    }
}

/// The durations of a new connection and of its answers, in seconds.
fn ask(lab: &Lab, address: SocketAddr, wishes: &[u8]) -> Result<Vec<f64>, BenchError> {
    let start_s = now_s();
    let mut connection = lab.inside(0, || TcpStream::connect(address))?;
    let mut took_s = vec![now_s() - start_s];
    let mut answer = vec![0u8; LONG_BYTES];
    for wish in wishes {
        let start_s = now_s();
        let bytes = if *wish == b's' { SHORT_BYTES } else { LONG_BYTES };
        let asked = connection.write_all(&[*wish]).and_then(|()| connection.read_exact(&mut answer[..bytes]));
        asked.map_err(failed("get an answer"))?;
        took_s.push(now_s() - start_s);
    }
    Ok(took_s)
}

/// Ends the server with a connection that sends no byte.
fn dismiss(lab: &Lab, address: SocketAddr) -> Result<(), BenchError> {
    lab.inside(0, || TcpStream::connect(address)).map(drop)
}

/// Round trips of 0 and 20 ms.
pub fn table(lab: &Lab) -> Result<Table, BenchError> {
    let mut rows = Vec::new();
    for round_ms in [0.0, 20.0] {
        let link = Emulated::start(lab, LinkSpec { delay_s: round_ms / 2e3, ..LinkSpec::default() })?;
        let (listener, address) = lab.listen()?;
        let server = std::thread::spawn(move || serve(&listener));
        let mut took_ms: [Vec<f64>; 4] = Default::default();
        for _ in 0..lab.extent(ROUNDS) {
            let short = ask(lab, address, b"s")?;
            let long = ask(lab, address, b"ll")?;
            for (place, took_s) in [short[0], short[1], long[1], long[2]].into_iter().enumerate() {
                took_ms[place].push(took_s * 1e3);
            }
        }
        dismiss(lab, address)?;
        let _ = server.join();
        let account = link.end(lab)?;
        let mut row = vec![format!("{round_ms} ms")];
        row.extend(took_ms.map(|values| {
            let sorted = Sorted::of(values);
            format!("{:.2} ({:.2}..{:.2})", sorted.quantile(0.5), sorted.quantile(0.0), sorted.quantile(1.0))
        }));
        row.push(account.lateness_words()?);
        rows.push(row);
    }
    let columns = vec![
        "round trip",
        "connect",
        "8 bytes",
        "534 kB, first answer",
        "534 kB, second answer",
        "late µs, mean / max",
    ];
    let notes = vec![
        "median (least..most) in ms; cubic, 10 segments at first (RFC 6928)".to_owned(),
        "534 kB are 369 segments: doubling from 10, they take 6 round trips".to_owned(),
    ];
    Ok(Table { title: "Connections: handshake and slow start".to_owned(), columns, rows, notes })
}
