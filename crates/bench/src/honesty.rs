//! The truth to compare generators' reports with: a server's own log of its stalls, or its known slowness.

use std::io::{Read as _, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use tolok_bench::error::{BenchError, failed};
use tolok_load::clock::MonotonicNs;
use tolok_load::options::{self, Executor, Options};
use tolok_load::schedule::planned_arrivals;
use tolok_model::Arrivals;
use tolok_stats::Sample;

use crate::exercise::{Exercise, Served};
use crate::generator::{Contender, Record, Way};
use crate::measure::Place;
use crate::server::Server;
use crate::stall::Log;
use crate::truth::{Latencies, evenly, one_at_a_time, through_stalls};

/// Time per request of the server that is too slow.
const SERVICE_S: f64 = 0.001;

/// Number of round trips; their median is the usual time.
const PROBES: usize = 301;

/// Requests that should have been sent, and how long users should have waited.
pub fn truth(
    exercise: &Exercise,
    contender: Contender,
    record: Option<&Record>,
    log: &Log,
    usual_s: f64,
) -> (u64, Latencies) {
    let rate_rps = f64::from(exercise.load.rate_rps.unwrap_or_default());
    let duration = contender.tool.runs_for(exercise.load.duration);
    let arrivals_ns = match (contender.way, record) {
        (Way::Timed { arrivals, .. }, Some(record)) => planned(rate_rps, duration, arrivals, record),
        _ => evenly(log.first_ns, rate_rps, (rate_rps * duration.as_secs_f64()).round() as u64),
    };
    let waits = match exercise.served {
        Served::TooSlow => one_at_a_time(&arrivals_ns, SERVICE_S),
        _ => through_stalls(&arrivals_ns, &log.stalls_ns, usual_s),
    };
    (arrivals_ns.len() as u64, Latencies::of(waits))
}

/// The instants of tolok's schedule: a pure function of its options, its seed, and the start of its window.
fn planned(rate_rps: f64, duration: Duration, arrivals: Arrivals, record: &Record) -> Vec<u64> {
    let mut options = Options::new("http://127.0.0.1/").expect("this is a URL");
    options.seed = record.seed;
    let arrivals = match arrivals {
        Arrivals::Uniform => options::Arrivals::Uniform,
        Arrivals::Poisson => options::Arrivals::Poisson,
    };
    options.executor = Executor::ConstantArrivalRate { rate_rps, duration, arrivals };
    planned_arrivals(&options, MonotonicNs(record.start_ns)).into_iter().map(|at| at.0).collect()
}

/// Starts the server of an exercise with a known truth.
pub fn server(place: &Place, served: Served) -> Result<Server, BenchError> {
    let mut command = Command::new(&place.own);
    command.arg("stall");
    match served {
        Served::Ceiling => {}
        Served::Stalling { stall, period } => {
            command.arg(format!("--stall-ms={}", stall.as_millis()));
            command.arg(format!("--period-ms={}", period.as_millis()));
        }
        Served::TooSlow => {
            command.arg(format!("--service-us={:.0}", SERVICE_S * 1e6));
        }
    }
    Server::start(command, place.server_cpu)
}

/// The usual time of a request outside stalls: the median of round trips on one connection.
pub fn usual_s(place: &Place) -> Result<f64, BenchError> {
    let server = server(place, Served::Ceiling)?;
    let times = round_trips(server.port).map_err(failed("ask the server that stalls"))?;
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
        // The answer is small and written at once.
        if stream.read(&mut buffer)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        times.push(began.elapsed().as_secs_f64());
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Args;
    use crate::generator::Tool;
    use tolok_model::LoadTool;

    /// The stalling server and the one that is too slow, under a load of 1 s.
    fn exercises() -> [Exercise; 2] {
        let args = Args::try_parse_from(["bench-load", "--only", "honesty"]).unwrap();
        let mut both: [Exercise; 2] = Exercise::all(&args, &[]).try_into().unwrap();
        both.iter_mut().for_each(|one| one.load.duration = Duration::from_secs(1));
        both
    }

    fn log(stalls_ns: Vec<(u64, u64)>) -> Log {
        Log { first_ns: 1_000_000_000, stalls_ns, ..Log::default() }
    }

    fn record(start_ns: u64, seed: u64) -> Record {
        Record { lateness: Latencies::default(), scheduled: 1, trusted: true, gates: Vec::new(), start_ns, seed }
    }

    fn tolok(arrivals: Arrivals) -> Contender {
        Contender { tool: Tool::TOLOK, way: Way::Timed { timer: "hybrid", arrivals } }
    }

    #[test]
    fn the_truth_begins_with_toloks_window_or_with_the_first_request() {
        let [stalls, _] = exercises();
        let log = log(vec![(1_500_000_000, 1_600_000_000)]);
        let max_s = |contender, record: Option<&Record>| {
            let (offered, truth) = truth(&stalls, contender, record, &log, 0.0);
            assert_eq!(offered, 2000);
            truth.max_s.unwrap()
        };
        // One arrival every half millisecond; one of them comes exactly when the stall begins.
        assert!((max_s(Contender::usual(Tool::Lab(LoadTool::Hey)), None) - 0.1).abs() < 1e-6);
        assert!((max_s(tolok(Arrivals::Uniform), Some(&record(999_000_000, 7))) - 0.1).abs() < 1e-6);
    }

    #[test]
    fn the_truth_of_random_arrivals_is_that_of_the_very_instants_that_were_planned() {
        let [stalls, _] = exercises();
        let log = log(vec![(1_500_000_000, 1_600_000_000)]);
        let judged = |seed| truth(&stalls, tolok(Arrivals::Poisson), Some(&record(1_000_000_000, seed)), &log, 0.0);
        let (offered, one) = judged(1);
        assert_eq!(judged(1), (offered, one));
        assert_ne!(judged(2), (offered, one), "different seeds give different arrivals");
        // About 200 of 2,000 arrivals fall into the stall of 100 ms; hardly any comes right at its start.
        let max_s = one.max_s.unwrap();
        assert!((1_800..2_200).contains(&offered) && (0.09..0.1).contains(&max_s), "{offered} {max_s}");
        assert!((0.08..0.098).contains(&one.p99_s.unwrap()), "{one:?}");
        assert_eq!(one.p50_s, Some(0.0));
    }

    #[test]
    fn the_truth_of_the_server_that_is_too_slow_is_its_queue() {
        let [_, too_slow] = exercises();
        let hey = Contender::usual(Tool::Lab(LoadTool::Hey));
        let (offered, truth) = truth(&too_slow, hey, None, &log(Vec::new()), 0.0);
        // In one second 1,200 arrive and 1,000 are served, so the last one waits for 200.
        assert!((truth.max_s.unwrap() - 0.2).abs() < 0.002, "{truth:?}");
        assert_eq!(offered, 1200);
    }
}
