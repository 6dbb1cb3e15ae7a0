//! Loss: numbered datagrams, counted at both ends, by the link, and by the model without a link.

use tolok_link::{Direction, Fate, Held, LinkSpec};

use crate::emulated::{Emulated, pair};
use crate::flow::{now_s, receive, send};
use crate::spaces::Lab;
use tolok_bench::error::BenchError;
use tolok_bench::table::{Table, grouped};

/// Datagrams for each probability.
const DATAGRAMS: u32 = 100_000;
/// Time between them: a rate that a link can easily carry.
const GAP_S: f64 = 40e-6;
/// IP and UDP headers, and the number.
const PACKET_BYTES: u64 = 36;

/// How many of the first `packets` packets the model loses.
fn computed(spec: LinkSpec, packets: u64) -> u64 {
    let mut direction = Direction::new(&spec, 0);
    let fates: Vec<Fate> = (0..packets).map(|number| direction.offer(number, PACKET_BYTES, Held::default())).collect();
    fates.iter().filter(|fate| **fate == Fate::Lost).count() as u64
}

/// Sends all datagrams and counts those that arrive.
fn send_all(lab: &Lab, datagrams: u64) -> Result<u64, BenchError> {
    let [near, far] = pair(lab)?;
    let start_s = now_s();
    let (mut number, mut came, mut last_s) = (0u64, 0u64, start_s);
    while number < datagrams || now_s() - last_s < 0.5 {
        if number < datagrams && now_s() - start_s >= number as f64 * GAP_S {
            while !send(&near, number, 8) {}
            number += 1;
            last_s = now_s();
        }
        if receive(&far).is_some() {
            came += 1;
            last_s = now_s();
        }
    }
    Ok(came)
}

pub fn table(lab: &Lab) -> Result<Table, BenchError> {
    let datagrams = u64::from(lab.extent(DATAGRAMS));
    let mut rows = Vec::new();
    for (loss, seed) in [(0.0, 1), (0.001, 2), (0.01, 3), (0.03, 4)] {
        let spec = LinkSpec { loss, seed, delay_s: 0.001, queue_bytes: Some(64 << 20), ..LinkSpec::default() };
        let link = Emulated::start(lab, spec)?;
        let came = send_all(lab, datagrams)?;
        let account = link.end(lab)?;
        let there = account.last()?.directions[0];
        let expected = loss * datagrams as f64;
        let spread = (expected * (1.0 - loss)).sqrt();
        rows.push(vec![
            format!("{}%", loss * 100.0),
            grouped(datagrams as f64),
            format!("{} ± {:.0}", grouped(expected), 1.96 * spread),
            grouped((datagrams - came) as f64),
            format!("{:.3}%", (datagrams - came) as f64 / datagrams as f64 * 100.0),
            grouped(there.dropped_loss as f64),
            grouped(computed(spec, there.offered_packets) as f64),
            account.unseen.to_string(),
            account.lateness_words()?,
        ]);
    }
    let columns = vec![
        "loss",
        "sent",
        "expected (95%)",
        "did not come",
        "share",
        "lost, says the link",
        "lost, computed from the seed",
        "dropped before the link",
        "late µs, mean / max",
    ];
    let notes = vec![
        "the link's figure and the computed one include the few packets that showed that the link runs".to_owned(),
    ];
    Ok(Table { title: "Loss".to_owned(), columns, rows, notes })
}
