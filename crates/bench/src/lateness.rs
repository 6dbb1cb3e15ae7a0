//! The exercise `lateness`: rates at the ceiling. How late requests are sent, and what it costs to be on time.

use serde::Serialize;
use tolok_stats::Sample;

use crate::assets::Asset;
use crate::bench::Surroundings;
use crate::error::BenchError;
use crate::measure::{Measurement, Task, measure, url};
use crate::peers::Peer;
use crate::rated::{Arrivals, Rated, RatedJob, TIMERS};
use crate::regime::Transfer;
use crate::reported::{self, Record};
use crate::server::Server;
use crate::table::{NONE, Table, digits, grouped, or_dash, percent};
use crate::tool::Tool;

/// Requests a second, the lower of which the others are given as well.
pub const RATES: [u32; 2] = [10_000, 50_000];

pub const CONNECTIONS: u32 = 64;

const COLUMNS: [&str; 11] = [
    "generator",
    "rate/s",
    "sent of offered",
    "late p50 µs",
    "p99 µs",
    "p99.9 µs",
    "max µs",
    "CPU of a core",
    "CPU µs/request",
    "trusts itself",
    "rounds",
];

#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    #[serde(rename = "generator")]
    pub rated: Rated,
    /// Requests a second.
    pub rate_rps: u32,
    pub rounds: Vec<Option<One>>,
}

#[derive(Debug, Clone, Serialize)]
pub struct One {
    #[serde(flatten)]
    pub measurement: Measurement,
    /// Requests that should have been sent.
    pub offered: u64,
    pub record: Option<Record>,
}

/// Who takes part, with nothing measured yet.
pub fn entries(peers: &[Peer], rounds: u32) -> Vec<Entry> {
    let mut plan = Vec::new();
    for rate_rps in RATES {
        plan.extend(TIMERS.map(|timer| (Rated::Tolok { timer, arrivals: Arrivals::Uniform }, rate_rps)));
    }
    let others = [Rated::Oha { corrected: false }, Rated::Hey, Rated::K6 { vus: CONNECTIONS }];
    plan.extend(others.map(|rated| (rated, RATES[0])));
    plan.retain(|(rated, _)| peers.iter().any(|peer| peer.tool == rated.tool()));
    let entry = |(rated, rate_rps)| Entry { rated, rate_rps, rounds: vec![None; rounds as usize] };
    plan.into_iter().map(entry).collect()
}

/// What a generator is to do.
pub fn job(rate_rps: u32, around: &Surroundings, port: &str) -> RatedJob {
    RatedJob {
        url: url(Asset::Hello, port),
        connections: CONNECTIONS,
        duration: around.place.duration,
        rate_rps,
        script: around.place.script().to_string_lossy().into_owned(),
    }
}

/// Measures once. None if it was interrupted.
pub fn run(entry: &Entry, around: &Surroundings) -> Result<Option<One>, BenchError> {
    let rated = entry.rated;
    let task = |port: u16| {
        let job = job(entry.rate_rps, around, &port.to_string());
        let told = rated.told(job.duration);
        let (arguments, script) = (rated.arguments(&job), rated.script(&job));
        Task { peer: around.peer(rated.tool()), arguments, script, told, sampled: false }
    };
    let observed = measure(|| Server::ceiling(around.place), task, around.place, around.interrupt)?;
    Ok(observed.map(|observed| {
        let record = reported::record(&observed.output).filter(|_| rated.tool() == Tool::Tolok);
        let planned = (f64::from(entry.rate_rps) * observed.measurement.told_s).round() as u64;
        let offered = record.as_ref().map_or(planned, |record| record.scheduled);
        One { measurement: observed.measurement, offered, record }
    }))
}

/// The table of those measurements that belong in it.
pub fn table(title: String, entries: &[Entry], name: impl Fn(Rated) -> String, kept: Kept) -> Table {
    let rows = entries.iter().map(|entry| row(entry, &name, kept)).collect();
    let problem = |entry: &Entry, one: &One| {
        let problem = one.measurement.problem.as_ref()?;
        Some(format!("{} at {}/s left out: {problem}", name(entry.rated), grouped(f64::from(entry.rate_rps))))
    };
    let ones = entries.iter().flat_map(|entry| entry.rounds.iter().flatten().map(move |one| (entry, one)));
    let notes = ones.filter(|(_, one)| kept(one.measurement.transfer)).filter_map(|(entry, one)| problem(entry, one));
    Table { title, columns: COLUMNS.to_vec(), notes: notes.collect(), rows }
}

/// Whether a measurement belongs in a table.
pub type Kept<'a> = &'a dyn Fn(Option<Transfer>) -> bool;

fn row(entry: &Entry, name: impl Fn(Rated) -> String, kept: Kept) -> Vec<String> {
    let ones: Vec<&One> = entry.rounds.iter().flatten().filter(|one| kept(one.measurement.transfer)).collect();
    let good: Vec<&&One> = ones.iter().filter(|one| one.measurement.problem.is_none()).collect();
    let median = |value: &dyn Fn(&One) -> Option<f64>| {
        let values: Vec<f64> = good.iter().filter_map(|one| value(one)).collect();
        Sample::new(&values).ok().map(|sample| sample.median())
    };
    let late = |which: usize| {
        let value = median(&|one| one.record.as_ref()?.lateness.all()[which]);
        or_dash(value, |value| digits(value * 1e6))
    };
    let maxima = good.iter().filter_map(|one| one.record.as_ref()?.lateness.max_s);
    let sum = |count: &dyn Fn(&One) -> u64| good.iter().map(|one| count(one)).sum::<u64>();
    let (sent, offered) = (sum(&|one| one.measurement.answers()), sum(&|one| one.offered));
    let trusted = good.iter().filter_map(|one| one.record.as_ref()).filter(|record| record.trusted).count();
    let is_tolok = entry.rated.tool() == Tool::Tolok;
    vec![
        name(entry.rated),
        grouped(f64::from(entry.rate_rps)),
        format!("{} of {}{}", grouped(sent as f64), grouped(offered as f64), if sent == offered { "" } else { " !" }),
        late(0),
        late(1),
        late(2),
        or_dash(maxima.reduce(f64::max), |value| digits(value * 1e6)),
        percent(median(&|one| Some(one.measurement.cpu_s() / one.measurement.wall_s))),
        or_dash(median(&|one| one.measurement.cpu_us()), digits),
        if is_tolok { format!("{trusted} of {}", good.len()) } else { NONE.to_owned() },
        good.len().to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{measurement, peers};
    use crate::truth::Latencies;

    fn one(late_s: f64, transfer_ns: f64, trusted: bool) -> One {
        let lateness = Latencies { p50_s: Some(late_s), p99_s: Some(2.0 * late_s), max_s: Some(late_s), p999_s: None };
        let transfer = Some(Transfer { before_ns: transfer_ns, after_ns: transfer_ns });
        let measurement = Measurement { transfer, ..measurement(20.0) };
        let record = Record { lateness, scheduled: 1000, trusted, gates: Vec::new(), start_ns: 0, seed: 1 };
        One { measurement, offered: 1000, record: Some(record) }
    }

    #[test]
    fn a_row_holds_the_median_of_rounds_and_the_greatest_of_all() {
        let mut entry = entries(&peers(&[Tool::Tolok]), 4).remove(0);
        entry.rounds = vec![Some(one(1e-6, 100.0, true)), Some(one(3e-6, 100.0, false)), Some(one(2e-6, 100.0, true))];
        entry.rounds.extend([Some(one(9e-3, 400.0, true)), None]);
        let fast = |transfer: Option<Transfer>| transfer.is_some_and(|transfer| transfer.before_ns < 200.0);
        let table = table("T".to_owned(), &[entry], |rated| rated.way(), &fast);
        let expected =
            ["sleep", "10,000", "3,000 of 3,000", "2.00", "4.00", "–", "3.00", "20 %", "20.0", "2 of 3", "3"];
        assert_eq!(table.rows, [expected]);
    }

    #[test]
    fn what_was_not_sent_is_marked_and_a_failure_noted() {
        let mut entry = entries(&peers(&[Tool::Hey]), 1).remove(0);
        let mut short = one(1e-6, 100.0, true);
        (short.offered, short.record) = (1100, None);
        entry.rounds = vec![Some(short.clone())];
        let words = |entry: &Entry| table("T".to_owned(), std::slice::from_ref(entry), |_| "hey".to_owned(), &|_| true);
        let found = words(&entry);
        assert_eq!((found.rows[0][2].as_str(), found.rows[0][9].as_str()), ("1,000 of 1,100 !", "–"));
        short.measurement.problem = Some("it did not end".to_owned());
        entry.rounds = vec![Some(short)];
        assert_eq!(words(&entry).notes, ["hey at 10,000/s left out: it did not end"]);
    }

    #[test]
    fn everybody_who_is_there_and_has_a_rate_takes_part() {
        let all = entries(&peers(&Tool::ALL), 2);
        assert_eq!(all.len(), 2 * TIMERS.len() + 3);
        assert!(all.iter().all(|entry| entry.rounds.len() == 2 && entry.rated != Rated::Wrk));
        assert!(all.iter().all(|entry| entry.rate_rps == RATES[0] || entry.rated.tool() == Tool::Tolok));
    }
}
