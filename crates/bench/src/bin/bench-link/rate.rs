//! Rate: datagrams above the rate, and TCP.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tolok_link::LinkSpec;

use crate::emulated::{Emulated, pair};
use crate::flow::{now_s, receive, send};
use crate::spaces::Lab;
use tolok_bench::error::{BenchError, failed};
use tolok_bench::table::{Table, digits, grouped};

/// Payload of the largest TCP packet, with the usual timestamps, and of the largest datagram.
const SEGMENT_BYTES: f64 = 1_448.0;
const DATAGRAM_BYTES: usize = 1_472;
const PACKET_BYTES: f64 = 1_500.0;
/// How much faster than the rate to send datagrams.
const EXCESS: f64 = 1.5;
/// Time for TCP to fill the link; not counted.
const SETTLE: Duration = Duration::from_millis(1_500);

/// The measurements of a TCP stream.
#[derive(Debug)]
pub struct Streamed {
    /// Payload in bits per second, after the stream had settled.
    pub payload_bps: f64,
    /// CPU time of the link over the same period, as a share of one CPU.
    pub busy: f64,
}

/// Sends over TCP from the far end, and measures at the near end for this long, once the stream has settled.
pub fn stream(lab: &Lab, link: &Emulated, lasts: Duration) -> Result<Streamed, BenchError> {
    let (listener, address) = lab.listen()?;
    let mut receiver = lab.inside(0, || TcpStream::connect(address))?;
    let (mut sender, _) = listener.accept().map_err(failed("accept a connection"))?;
    let enough = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&enough);
    let writer = std::thread::spawn(move || {
        let bytes = [0u8; 256 << 10];
        while !stop.load(Ordering::Relaxed) && sender.write_all(&bytes).is_ok() {}
        // The bytes in its buffer would take seconds to pass a slow link.
        let _ = sender.shutdown(Shutdown::Both);
    });
    let mut count = |lasts: Duration| -> Result<(f64, f64), BenchError> {
        let (mut buffer, mut bytes, start_s) = (vec![0u8; 1 << 20], 0, now_s());
        loop {
            bytes += receiver.read(&mut buffer).map_err(failed("receive"))?;
            let passed_s = now_s() - start_s;
            if passed_s >= lasts.as_secs_f64() {
                return Ok((bytes as f64, passed_s));
            }
        }
    };
    count(SETTLE)?;
    let before_s = link.cpu_s()?;
    let (bytes, passed_s) = count(lasts)?;
    let busy = (link.cpu_s()? - before_s) / passed_s;
    enough.store(true, Ordering::Relaxed);
    let _ = receiver.shutdown(Shutdown::Both);
    drop(receiver);
    let _ = writer.join();
    Ok(Streamed { payload_bps: bytes * 8.0 / passed_s, busy })
}

/// Sends datagrams faster than the rate. Returns the rate at which they arrived, in bits per second of IP, and their number.
fn overload(lab: &Lab, rate_bps: f64, lasts_s: f64) -> Result<(f64, u64), BenchError> {
    let [near, far] = pair(lab)?;
    let gap_s = PACKET_BYTES * 8.0 / (rate_bps * EXCESS);
    let (start_s, mut number) = (now_s(), 0u64);
    let (mut first_s, mut last_s, mut came) = (f64::NAN, f64::NAN, 0u64);
    loop {
        let passed_s = now_s() - start_s;
        if passed_s < lasts_s {
            if passed_s >= number as f64 * gap_s {
                send(&near, number, DATAGRAM_BYTES);
                number += 1;
            }
        } else if now_s() - last_s > 0.5 {
            break;
        }
        if receive(&far).is_some() {
            last_s = now_s();
            came += 1;
            if came == 1 {
                first_s = last_s;
            }
        } else if last_s.is_nan() && passed_s > 10.0 {
            return Err(BenchError::Silent { seconds: 10 });
        }
    }
    Ok(((came - 1) as f64 * PACKET_BYTES * 8.0 / (last_s - first_s), came))
}

pub fn table(lab: &Lab) -> Result<Table, BenchError> {
    let mut rows = Vec::new();
    for rate_mbps in [10.0, 54.0, 100.0] {
        let spec = LinkSpec { rate_bps: Some(rate_mbps * 1e6), delay_s: 0.005, ..LinkSpec::default() };
        let link = Emulated::start(lab, spec)?;
        let (came_bps, datagrams) = overload(lab, rate_mbps * 1e6, f64::from(lab.extent(30)) / 10.0)?;
        let streamed = stream(lab, &link, Duration::from_millis(u64::from(lab.extent(6_000))))?;
        let account = link.end(lab)?;
        let dropped: u64 = account.last()?.directions.iter().map(|counts| counts.dropped_queue).sum();
        let waited = account.rows.iter().flat_map(|row| row.directions).map(|counts| counts.queued_bytes_max).max();
        let most_mbps = rate_mbps * SEGMENT_BYTES / PACKET_BYTES;
        rows.push(vec![
            format!("{rate_mbps} Mbit/s"),
            format!("{:.4}", came_bps / 1e6),
            format!("{:.3}%", (came_bps / rate_mbps / 1e6 - 1.0).abs() * 100.0),
            grouped(datagrams as f64),
            digits(most_mbps),
            digits(streamed.payload_bps / 1e6),
            format!("{:.1}%", streamed.payload_bps / most_mbps / 1e4),
            grouped(dropped as f64),
            grouped(waited.unwrap_or(0) as f64),
            account.lateness_words()?,
            format!("{:.1}%", streamed.busy * 100.0),
            account.unseen.to_string(),
        ]);
    }
    let columns = vec![
        "rate of IP packets",
        "datagrams at 1.5 × the rate came at, Mbit/s",
        "off by",
        "n",
        "TCP payload at most, Mbit/s",
        "TCP payload, Mbit/s",
        "of it",
        "dropped by the queue",
        "waited at most, bytes",
        "late µs, mean / max",
        "CPU of the link",
        "dropped before the link",
    ];
    Ok(Table { title: "Rate, at a round trip of 10 ms".to_owned(), columns, rows, notes: vec![] })
}
