//! How much a link can carry, and the CPU cost.

use std::time::Duration;

use tolok_link::{LinkRow, LinkSpec};

use crate::emulated::{Account, Emulated, pair};
use crate::flow::{now_s, send};
use crate::rate::stream;
use crate::spaces::Lab;
use tolok_bench::error::BenchError;
use tolok_bench::table::{Table, digits, grouped};

/// Large enough to drop nothing. Also makes the link handle packets one by one.
const LARGE_QUEUE: Option<u64> = Some(64 << 20);
/// A small packet: IP, UDP and 36 bytes.
const SMALL_BYTES: usize = 36;

/// Sends small datagrams as fast as possible. Returns the rate per second, and the CPU time of the link as a share of one CPU.
fn flood(lab: &Lab, link: &Emulated, lasts_s: f64) -> Result<(f64, f64), BenchError> {
    let [near, _far] = pair(lab)?;
    let (start_s, before_s, mut sent) = (now_s(), link.cpu_s()?, 0u64);
    while now_s() - start_s < lasts_s {
        sent += u64::from(send(&near, sent, SMALL_BYTES));
    }
    let passed_s = now_s() - start_s;
    Ok((sent as f64 / passed_s, (link.cpu_s()? - before_s) / passed_s))
}

/// Delivered packets per second, in the best second.
fn best_second(account: &Account) -> f64 {
    let packets = |row: &LinkRow| row.directions.iter().map(|counts| counts.packets).sum::<u64>() as f64;
    let pairs = account.rows.iter().zip(account.rows.iter().skip(1));
    // The last row comes before a full second is over.
    let whole = pairs.filter(|(before, after)| after.monotonic_ns - before.monotonic_ns > 900_000_000);
    let rates = whole.map(|(before, after)| {
        (packets(after) - packets(before)) / (after.monotonic_ns - before.monotonic_ns) as f64 * 1e9
    });
    rates.fold(0.0, f64::max)
}

/// TCP with and without offload, and small packets.
pub fn table(lab: &Lab) -> Result<Table, BenchError> {
    let lasts = Duration::from_millis(u64::from(lab.extent(5_000)));
    let streams = [
        ("TCP, offload, 0 ms", 0.0, None),
        ("TCP, offload, 20 ms", 0.01, None),
        ("TCP, packets of 1,500 bytes, 0 ms", 0.0, LARGE_QUEUE),
        ("TCP, packets of 1,500 bytes, 20 ms", 0.01, LARGE_QUEUE),
    ];
    let mut rows = Vec::new();
    for (name, delay_s, queue_bytes) in streams {
        let link = Emulated::start(lab, LinkSpec { delay_s, queue_bytes, ..LinkSpec::default() })?;
        let streamed = stream(lab, &link, lasts)?;
        let account = link.end(lab)?;
        let carried = format!("{} Gbit/s", digits(streamed.payload_bps / 1e9));
        rows.push(row(name, carried, streamed.busy, &account)?);
    }
    let link = Emulated::start(lab, LinkSpec { queue_bytes: LARGE_QUEUE, ..LinkSpec::default() })?;
    let (sent, busy) = flood(lab, &link, lasts.as_secs_f64())?;
    let account = link.end(lab)?;
    rows.push(row("UDP, packets of 64 bytes, one way", format!("{}/s sent", grouped(sent)), busy, &account)?);
    let columns = vec![
        "what",
        "carried",
        "packets/s, best second",
        "CPU of the link",
        "late µs, mean / max",
        "dropped by the link",
        "dropped before it",
    ];
    let notes = vec!["with offload a packet is what the kernel hands over in one piece, up to 64 KiB".to_owned()];
    Ok(Table { title: "Capacity".to_owned(), columns, rows, notes })
}

fn row(name: &str, carried: String, busy: f64, account: &Account) -> Result<Vec<String>, BenchError> {
    let dropped: u64 =
        account.last()?.directions.iter().map(|counts| counts.dropped_queue + counts.dropped_refused).sum();
    Ok(vec![
        name.to_owned(),
        carried,
        grouped(best_second(account)),
        format!("{:.0}%", busy * 100.0),
        account.lateness_words()?,
        grouped(dropped as f64),
        grouped(account.unseen as f64),
    ])
}
