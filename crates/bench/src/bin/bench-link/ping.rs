//! Delay and jitter: numbered datagrams, timed on the way there and back.

use std::time::Duration;

use tolok_link::LinkSpec;

use crate::emulated::{Emulated, pair};
use crate::flow::{STAMP_BYTES, Sorted, now_s, receive, send};
use crate::spaces::Lab;
use tolok_bench::error::{BenchError, failed};
use tolok_bench::table::{Table, grouped};

/// Datagrams per figure, for a probe that never sleeps.
const PROBES: u32 = 3_000;
/// Time between them. Not a multiple of any other interval here.
const GAP_S: f64 = 0.003_1;
const SLEEPERS: u32 = 200;
/// How long the first packet may take in addition to the link's own delay.
const PATIENCE_S: u64 = 5;

/// The measurements of the probe, in seconds.
struct Seen {
    there: Vec<f64>,
    back: Vec<f64>,
    round: Vec<f64>,
}

/// Waits until packets pass the link in both directions.
pub fn wait_for(lab: &Lab, spec: LinkSpec) -> Result<(), BenchError> {
    let [near, far] = pair(lab)?;
    let end_s = now_s() + PATIENCE_S as f64 + 2.0 * (spec.delay_s + spec.jitter_s);
    // One packet is enough, because nothing is lost before the link reads it; a lossy link needs more.
    let again_s = if spec.loss > 0.0 { 0.05 } else { f64::INFINITY };
    for (from, to) in [(&near, &far), (&far, &near)] {
        let mut next_s = now_s();
        loop {
            if now_s() >= next_s {
                send(from, 0, STAMP_BYTES);
                next_s += again_s;
            }
            if receive(to).is_some() {
                break;
            }
            if now_s() > end_s {
                return Err(BenchError::Silent { seconds: PATIENCE_S });
            }
        }
    }
    Ok(())
}

/// Sends `probes` datagrams there and back. This thread times them all, and polls both sockets without a pause.
fn probe(lab: &Lab, probes: u32) -> Result<Seen, BenchError> {
    let [near, far] = pair(lab)?;
    let mut sent_s: Vec<f64> = Vec::new();
    let mut turned_s = vec![0.0; probes as usize];
    let mut seen = Seen { there: Vec::new(), back: Vec::new(), round: Vec::new() };
    let mut next_s = now_s() + GAP_S;
    let end_s = next_s + f64::from(probes) * GAP_S + PATIENCE_S as f64;
    while seen.round.len() < probes as usize && now_s() < end_s {
        if sent_s.len() < probes as usize && now_s() >= next_s {
            next_s += GAP_S;
            sent_s.push(now_s());
            send(&near, sent_s.len() as u64 - 1, STAMP_BYTES);
        }
        if let Some(number) = receive(&far) {
            turned_s[number as usize] = now_s();
            seen.there.push(turned_s[number as usize] - sent_s[number as usize]);
            send(&far, number, STAMP_BYTES);
        }
        if let Some(number) = receive(&near) {
            seen.back.push(now_s() - turned_s[number as usize]);
            seen.round.push(now_s() - sent_s[number as usize]);
        }
    }
    Ok(seen)
}

/// Sends one ping at a time between two threads that sleep until a packet arrives.
fn sleepers(lab: &Lab, pings: u32) -> Result<Vec<f64>, BenchError> {
    let [near, far] = pair(lab)?;
    let settle = || -> std::io::Result<()> {
        for socket in [&near, &far] {
            socket.set_nonblocking(false)?;
            socket.set_read_timeout(Some(Duration::from_secs(PATIENCE_S)))?;
        }
        Ok(())
    };
    settle().map_err(failed("make sockets wait"))?;
    let echo = std::thread::spawn(move || {
        for _ in 0..pings {
            let Some(number) = receive(&far) else { return };
            send(&far, number, STAMP_BYTES);
        }
    });
    let mut round_s = Vec::new();
    for number in 0..u64::from(pings) {
        let start_s = now_s();
        send(&near, number, STAMP_BYTES);
        if receive(&near).is_none() {
            break;
        }
        round_s.push(now_s() - start_s);
    }
    // It ends on its own, at the latest by a timeout.
    let _ = echo.join();
    Ok(round_s)
}

pub fn delays(lab: &Lab) -> Result<Table, BenchError> {
    let mut rows = Vec::new();
    for target_ms in [0.0, 10.0, 20.0, 100.0] {
        let link = Emulated::start(lab, LinkSpec { delay_s: target_ms / 2e3, ..LinkSpec::default() })?;
        let before_s = (link.cpu_s()?, now_s());
        let seen = probe(lab, lab.extent(PROBES))?;
        let busy = (link.cpu_s()? - before_s.0) / (now_s() - before_s.1);
        let slept = Sorted::of(sleepers(lab, lab.extent(SLEEPERS))?);
        let account = link.end(lab)?;
        let (round, there, back) = (Sorted::of(seen.round), Sorted::of(seen.there), Sorted::of(seen.back));
        let ms = |value_s: f64| format!("{:.3}", value_s * 1e3);
        rows.push(vec![
            format!("{target_ms}"),
            ms(round.quantile(0.5)),
            format!("{:+.3}", round.quantile(0.5) * 1e3 - target_ms),
            ms(round.quantile(0.99)),
            ms(round.quantile(1.0)),
            ms(round.deviation()),
            format!("{} / {}", ms(there.quantile(0.5)), ms(back.quantile(0.5))),
            ms(slept.quantile(0.5)),
            account.lateness_words()?,
            format!("{:.1}%", busy * 100.0),
            grouped(round.count() as f64),
        ]);
    }
    let columns = vec![
        "round trip, ms",
        "p50",
        "p50 − target",
        "p99",
        "max",
        "sd",
        "there / back p50",
        "sleepers p50",
        "late µs, mean / max",
        "CPU of the link",
        "n",
    ];
    Ok(Table { title: "Delay".to_owned(), columns, rows, notes: vec![] })
}

/// One-way delays that vary by packet, next to those of a uniform distribution.
pub fn jitters(lab: &Lab) -> Result<Table, BenchError> {
    let mut rows = Vec::new();
    for (delay_ms, jitter_ms) in [(1.0, 1.5), (10.0, 2.0)] {
        let spec = LinkSpec { delay_s: delay_ms / 1e3, jitter_s: jitter_ms / 1e3, seed: 1, ..LinkSpec::default() };
        let link = Emulated::start(lab, spec)?;
        let seen = probe(lab, lab.extent(PROBES))?;
        let account = link.end(lab)?;
        for (direction, values) in [("there", seen.there), ("back", seen.back)] {
            let sorted = Sorted::of(values);
            let beside =
                |share: f64| format!("{:.3} / {:.3}", sorted.quantile(share) * 1e3, delay_ms + share * jitter_ms);
            rows.push(vec![
                format!("{delay_ms} + U(0, {jitter_ms}) ms, {direction}"),
                beside(0.01),
                beside(0.25),
                beside(0.5),
                beside(0.75),
                beside(0.99),
                format!("{:.3} / {:.3}", sorted.deviation() * 1e3, jitter_ms / 12f64.sqrt()),
                account.lateness_words()?,
                grouped(sorted.count() as f64),
            ]);
        }
    }
    let columns = vec!["one way", "p1", "p25", "p50", "p75", "p99", "sd", "late µs, mean / max", "n"];
    let notes = vec!["each figure: measured / target, in ms".to_owned()];
    Ok(Table { title: "Jitter".to_owned(), columns, rows, notes })
}
