//! The exercise `honesty`: what generators report of a server whose true answers are known, because it writes down when it
//! stood still, or is too slow by a known amount.

use std::io::{Read as _, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Serialize;
use tolok_load::clock::MonotonicNs;
use tolok_load::options::{self, Executor, Options};
use tolok_load::schedule::planned_arrivals;
use tolok_stats::Sample;

use crate::assets::Asset;
use crate::bench::Surroundings;
use crate::error::BenchError;
use crate::measure::{Measurement, Observed, Task, measure, url};
use crate::peers::Peer;
use crate::rated::{Arrivals, Rated, RatedJob};
use crate::reported::{self, Record};
use crate::server::Server;
use crate::stall::Log;
use crate::tool::Tool;
use crate::truth::{Latencies, evenly, one_at_a_time, through_stalls};

pub const CONNECTIONS: u32 = 64;

/// Time for a request of the server that is too slow.
const SERVICE_S: f64 = 0.001;

/// Round trips of which the median is the usual time.
const PROBES: usize = 301;

/// What is the matter with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// A tenth of the time it does nothing at all.
    Stalls,
    /// It answers 1,000 a second, and 1,200 come.
    TooSlow,
}

/// How long everything takes. The parts are always in the same proportion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Of the load on the server that stalls.
    #[serde(rename = "stalls_s", serialize_with = "seconds")]
    pub stalls: Duration,
    /// From stall to stall.
    #[serde(rename = "period_s", serialize_with = "seconds")]
    pub period: Duration,
    #[serde(rename = "stall_s", serialize_with = "seconds")]
    pub stall: Duration,
    /// Of the load on the server that is too slow.
    #[serde(rename = "too_slow_s", serialize_with = "seconds")]
    pub too_slow: Duration,
}

/// A generator at a server.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub case: Case,
    #[serde(rename = "generator")]
    pub rated: Rated,
    /// By round; null where the bench was stopped before.
    pub rounds: Vec<Option<One>>,
}

#[derive(Debug, Clone, Serialize)]
pub struct One {
    #[serde(flatten)]
    pub measurement: Measurement,
    /// Requests that should have been sent.
    pub offered: u64,
    pub truth: Latencies,
    pub reported: Option<Latencies>,
    pub record: Option<Record>,
    /// The code with which the generator left.
    pub code: Option<i32>,
    /// When the server stood still, on CLOCK_MONOTONIC.
    pub stalls_ns: Vec<(u64, u64)>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    pub extent: Extent,
    /// Time of a request outside the stalls: the median of round trips on one connection.
    pub usual_s: Option<f64>,
    pub entries: Vec<Entry>,
}

impl Case {
    /// Requests a second.
    pub fn rate_rps(self) -> u32 {
        match self {
            Case::Stalls => 2000,
            Case::TooSlow => 1200,
        }
    }

    /// As the bench names it while it runs.
    pub fn name(self) -> &'static str {
        match self {
            Case::Stalls => "stalls",
            Case::TooSlow => "too slow",
        }
    }
}

impl Extent {
    /// For a load of that length on the server that stalls: three stalls lie in it, wholly.
    pub fn of(stalls: Duration) -> Extent {
        let period = stalls * 10 / 32;
        Extent { stalls, period, stall: period / 10, too_slow: stalls * 5 / 16 }
    }

    pub fn load(self, case: Case) -> Duration {
        match case {
            Case::Stalls => self.stalls,
            Case::TooSlow => self.too_slow,
        }
    }

    fn server(self, case: Case) -> [String; 4] {
        let milliseconds = |duration: Duration| duration.as_millis().to_string();
        let (stall, period) = (milliseconds(self.stall), milliseconds(self.period));
        let service = format!("{:.0}", SERVICE_S * 1e6);
        match case {
            Case::Stalls => ["--stall-ms".to_owned(), stall, "--period-ms".to_owned(), period],
            Case::TooSlow => ["--service-us".to_owned(), service, "--stall-ms".to_owned(), "0".to_owned()],
        }
    }
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Who takes part, with nothing measured yet.
pub fn prepare(peers: &[Peer], extent: Extent, rounds: u32) -> Outcome {
    let tolok = |arrivals| Rated::Tolok { timer: "hybrid", arrivals };
    let both = [
        tolok(Arrivals::Uniform),
        Rated::Oha { corrected: false },
        Rated::Oha { corrected: true },
        Rated::Hey,
        Rated::K6 { vus: CONNECTIONS },
        Rated::K6 { vus: 1200 },
    ];
    let stalls = [&both[..], &[tolok(Arrivals::Poisson), Rated::Wrk]].concat();
    let plan = stalls.into_iter().map(|rated| (Case::Stalls, rated)).chain(both.map(|rated| (Case::TooSlow, rated)));
    let there = plan.filter(|(_, rated)| peers.iter().any(|peer| peer.tool == rated.tool()));
    let entries = there.map(|(case, rated)| Entry { case, rated, rounds: vec![None; rounds as usize] }).collect();
    Outcome { extent, usual_s: None, entries }
}

/// What a generator is to do.
pub fn job(case: Case, extent: Extent, script: String, port: &str) -> RatedJob {
    let (rate_rps, duration) = (case.rate_rps(), extent.load(case));
    RatedJob { url: url(Asset::Hello, port), connections: CONNECTIONS, duration, rate_rps, script }
}

/// Measures once. None if it was interrupted.
pub fn run(entry: &Entry, extent: Extent, usual_s: f64, around: &Surroundings) -> Result<Option<One>, BenchError> {
    let (case, rated) = (entry.case, entry.rated);
    let task = |port: u16| {
        let script = around.place.script().to_string_lossy().into_owned();
        let job = job(case, extent, script, &port.to_string());
        let told = rated.told(job.duration);
        let (arguments, script) = (rated.arguments(&job), rated.script(&job));
        Task { peer: around.peer(rated.tool()), arguments, script, told, sampled: false }
    };
    let start = || server(around, &extent.server(case));
    let observed = measure(start, task, around.place, around.interrupt)?;
    observed.map(|observed| judge(entry, observed, usual_s)).transpose()
}

/// Sets what was reported beside what is true.
fn judge(entry: &Entry, observed: Observed, usual_s: f64) -> Result<One, BenchError> {
    let failed = |error| BenchError::Server { did: "told no log", reason: format!("{error} in {:?}", observed.told) };
    let log: Log = serde_json::from_str(&observed.told).map_err(failed)?;
    let record = reported::record(&observed.output).filter(|_| entry.rated.tool() == Tool::Tolok);
    let arrivals_ns = match (entry.rated, &record) {
        (Rated::Tolok { arrivals, .. }, Some(record)) => planned(entry.case, arrivals, &observed.measurement, record),
        _ => {
            let rate_rps = f64::from(entry.case.rate_rps());
            evenly(log.first_ns, rate_rps, (rate_rps * observed.measurement.told_s).round() as u64)
        }
    };
    let waits = match entry.case {
        Case::Stalls => through_stalls(&arrivals_ns, &log.stalls_ns, usual_s),
        Case::TooSlow => one_at_a_time(&arrivals_ns, SERVICE_S),
    };
    Ok(One {
        measurement: observed.measurement,
        offered: arrivals_ns.len() as u64,
        truth: Latencies::of(waits),
        reported: reported::latencies(entry.rated.tool(), &observed.output),
        record,
        code: observed.code,
        stalls_ns: log.stalls_ns,
    })
}

/// The instants that tolok's schedule held: a pure function of what it was asked for, its seed, and when its window began.
fn planned(case: Case, arrivals: Arrivals, measurement: &Measurement, record: &Record) -> Vec<u64> {
    let mut options = Options::new("http://127.0.0.1/").expect("this is a URL");
    options.seed = record.seed;
    options.executor = Executor::ConstantArrivalRate {
        rate_rps: f64::from(case.rate_rps()),
        duration: Duration::from_secs_f64(measurement.told_s),
        arrivals: match arrivals {
            Arrivals::Uniform => options::Arrivals::Uniform,
            Arrivals::Poisson => options::Arrivals::Poisson,
        },
    };
    planned_arrivals(&options, MonotonicNs(record.start_ns)).into_iter().map(|at| at.0).collect()
}

fn server(around: &Surroundings, told: &[String]) -> Result<Server, BenchError> {
    let mut command = Command::new(&around.place.own);
    command.arg("stall").args(told);
    Server::start(command, around.place.server_cpu)
}

/// The usual time of a request, outside any stall: the median of round trips on one connection.
pub fn usual_s(around: &Surroundings) -> Result<f64, BenchError> {
    let server = server(around, &[])?;
    let port = server.port;
    let failed = |error: std::io::Error| BenchError::Server { did: "did not answer", reason: error.to_string() };
    let times = round_trips(port).map_err(failed)?;
    server.stop()?;
    Ok(Sample::new(&times).expect("there are round trips, all of them finite").median())
}

fn round_trips(port: u16) -> std::io::Result<Vec<f64>> {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut buffer = [0; 4096];
    let mut times = Vec::with_capacity(PROBES);
    for _ in 0..PROBES {
        let began = Instant::now();
        stream.write_all(b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n")?;
        // The answer is small, and written at once.
        if stream.read(&mut buffer)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        times.push(began.elapsed().as_secs_f64());
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{measurement, peers};

    fn observed(output: &str, told: &str) -> Observed {
        Observed { measurement: measurement(10.0), output: output.to_owned(), code: Some(0), told: told.to_owned() }
    }

    #[test]
    fn the_full_length_is_a_stall_of_half_a_second_in_five() {
        let extent = Extent::of(Duration::from_secs(16));
        assert_eq!((extent.period, extent.stall), (Duration::from_secs(5), Duration::from_millis(500)));
        assert_eq!(extent.too_slow, Duration::from_secs(5));
        assert_eq!(extent.server(Case::Stalls).join(" "), "--stall-ms 500 --period-ms 5000");
        assert_eq!(extent.server(Case::TooSlow).join(" "), "--service-us 1000 --stall-ms 0");
    }

    #[test]
    fn the_truth_begins_with_toloks_window_or_with_the_first_request() {
        let told = r#"{"answers":2000,"refusals":0,"connections":64,"first_ns":1000000000,
            "stalls_ns":[[1500000000,1600000000]]}"#;
        let tolok = r#"{"response_time":{"max_s":0.1,"percentiles":[]},"lateness":{},"ledger":{"scheduled":2000},
            "window_start_monotonic_ns":999000000,"plan":{"seed":7},"verdict":{"trusted":true,"reasons":[]}}"#;
        let max_s = |rated, output: &str| {
            let entry = Entry { case: Case::Stalls, rated, rounds: Vec::new() };
            let one = judge(&entry, observed(output, told), 0.0).unwrap();
            assert_eq!(one.offered, 2000);
            one.truth.max_s.unwrap()
        };
        // An arrival every half millisecond, and one of them right when the stall begins.
        assert!((max_s(Rated::Hey, "") - 0.1).abs() < 1e-6);
        let uniform = Rated::Tolok { timer: "hybrid", arrivals: Arrivals::Uniform };
        assert!((max_s(uniform, tolok) - 0.1).abs() < 1e-6);
        assert!(
            judge(&Entry { case: Case::Stalls, rated: Rated::Hey, rounds: Vec::new() }, observed("", "x"), 0.0)
                .is_err()
        );
    }

    #[test]
    fn the_truth_of_random_arrivals_is_that_of_the_very_instants_that_were_planned() {
        let tolok = |seed: u64| {
            format!(
                r#"{{"response_time":{{"max_s":0.1,"percentiles":[]}},"lateness":{{}},"ledger":{{"scheduled":1}},
                "window_start_monotonic_ns":1000000000,"plan":{{"seed":{seed}}},"verdict":{{"trusted":true,"reasons":[]}}}}"#
            )
        };
        let told = r#"{"answers":2000,"refusals":0,"connections":64,"first_ns":1000000000,
            "stalls_ns":[[1500000000,1600000000]]}"#;
        let rated = Rated::Tolok { timer: "hybrid", arrivals: Arrivals::Poisson };
        let entry = Entry { case: Case::Stalls, rated, rounds: Vec::new() };
        let judged = |seed| judge(&entry, observed(&tolok(seed), told), 0.0).unwrap();
        let (one, other) = (judged(1), judged(2));
        assert_eq!(one.truth, judged(1).truth);
        assert_ne!((one.offered, one.truth), (other.offered, other.truth), "every seed has its own arrivals");
        // Some 200 of some 2,000 arrivals fall into the stall of 100 ms, and hardly any of them right at its begin.
        let max_s = one.truth.max_s.unwrap();
        assert!((1_800..2_200).contains(&one.offered) && (0.09..0.1).contains(&max_s), "{} {max_s}", one.offered);
        let p99_s = one.truth.p99_s.unwrap();
        assert!((0.08..0.098).contains(&p99_s), "{p99_s}");
        assert_eq!(one.truth.p50_s, Some(0.0));
    }

    #[test]
    fn the_truth_of_the_server_that_is_too_slow_is_its_queue() {
        let told = r#"{"answers":1000,"refusals":0,"connections":64,"first_ns":5,"stalls_ns":[]}"#;
        let entry = Entry { case: Case::TooSlow, rated: Rated::Hey, rounds: Vec::new() };
        let one = judge(&entry, observed("", told), 0.0).unwrap();
        // In one second 1,200 come and 1,000 are served: the last waits for 200.
        assert!((one.truth.max_s.unwrap() - 0.2).abs() < 0.002, "{:?}", one.truth);
        assert_eq!((one.offered, one.reported), (1200, None));
    }

    #[test]
    fn all_but_wrk_and_random_arrivals_meet_both_servers() {
        let outcome = prepare(&peers(&Tool::ALL), Extent::of(Duration::from_secs(16)), 3);
        let count = |case| outcome.entries.iter().filter(|entry| entry.case == case).count();
        assert_eq!((count(Case::Stalls), count(Case::TooSlow)), (8, 6));
        assert_eq!(prepare(&peers(&[Tool::Tolok]), outcome.extent, 3).entries.len(), 3);
    }
}
