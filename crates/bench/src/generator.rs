//! The generators, and how to call each. The lab's drivers cover most of them. Nothing is run here.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use tolok_load::record::{Distribution, Record as LoadRecord};
use tolok_load::verdict::Gate;
use tolok_model::{Arrivals, Connection, Executor, LoadProfile, LoadTool, Pace, Pool, Scenario, ToolChoice};
use tolok_tools::{Answers, Invocation, LoadJob, driver, output_name, report_in};

use crate::assets::Asset;
use crate::truth::Latencies;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The minimal generator, built into this program.
    Floor,
    /// giltene/wrk2, at an unreachable rate.
    Wrk2,
    /// MDA2AV/gcannon.
    Gcannon,
    /// A generator with a driver in the lab.
    Lab(LoadTool),
}

/// A generator in one of its modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    pub tool: Tool,
    pub way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Usual,
    /// Discards bodies unread.
    Discarding,
    /// tolok with one of its timers.
    Timed {
        timer: &'static str,
        arrivals: Arrivals,
    },
    /// oha without its latency correction.
    Uncorrected,
    /// k6 with this many virtual users from the start.
    Users(u32),
    /// A generator without a rate, for comparison.
    ClosedLoop,
}

/// The load to generate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    pub asset: Asset,
    pub connections: u32,
    pub keep_alive: bool,
    /// Requests per second, or `None` in a closed loop.
    pub rate_rps: Option<u32>,
    pub duration: Duration,
}

/// A generator's report of its own run. The bench compares its count with the server's, and its latencies with the true ones.
#[derive(Debug, Default)]
pub struct Said {
    pub claim: Option<Claim>,
    pub latencies: Option<Latencies>,
    pub record: Option<Record>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Requests that were answered, correctly or not.
    pub requests: u64,
    /// Requests that failed in its own judgement, including answers with a bad status.
    pub failed: u64,
}

/// Further figures from tolok's record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// How late requests were sent, by tolok's own clock.
    pub lateness: Latencies,
    pub scheduled: u64,
    pub trusted: bool,
    pub gates: Vec<Gate>,
    /// When its window began, on CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Seed of its random draws.
    pub seed: u64,
}

/// tolok's names for its timers.
pub const TIMERS: [&str; 3] = ["sleep", "hybrid", "spin"];

/// wrk2 requires a rate.
const UNREACHED_RATE: &str = "-R10000000";

/// More of k6's virtual users could use up all memory.
const MOST_VIRTUAL_USERS: u32 = 2_000;

/// wrk, ab and hey accept only whole seconds.
const TIMEOUT_S: f64 = 10.0;

impl Tool {
    pub const TOLOK: Tool = Tool::Lab(LoadTool::Tolok);

    /// All generators, ours first.
    pub const ALL: [Tool; 10] = [
        Tool::Floor,
        Tool::TOLOK,
        Tool::Lab(LoadTool::Wrk),
        Tool::Wrk2,
        Tool::Gcannon,
        Tool::Lab(LoadTool::Ab),
        Tool::Lab(LoadTool::H2load),
        Tool::Lab(LoadTool::Hey),
        Tool::Lab(LoadTool::Oha),
        Tool::Lab(LoadTool::K6),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Floor => "floor",
            Tool::Wrk2 => "wrk2",
            Tool::Gcannon => "gcannon",
            Tool::Lab(tool) => tool.word(),
        }
    }

    pub fn named(name: &str) -> Result<Tool, String> {
        let found = Tool::ALL.into_iter().find(|tool| tool.name() == name);
        found.ok_or_else(|| format!("the generators are {}", Tool::ALL.map(Tool::name).join(", ")))
    }

    /// The lab's tool with the same arguments and output.
    fn driven_as(self) -> Option<LoadTool> {
        match self {
            Tool::Floor | Tool::Gcannon => None,
            Tool::Wrk2 => Some(LoadTool::Wrk),
            Tool::Lab(tool) => Some(tool),
        }
    }

    /// How long it runs for a requested `duration`: some support only whole seconds.
    pub fn runs_for(self, duration: Duration) -> Duration {
        let tool = if self == Tool::Gcannon { Some(LoadTool::Wrk) } else { self.driven_as() };
        tool.map_or(duration, |tool| Duration::from_secs_f64(tool.nearest_window_s(duration.as_secs_f64())))
    }

    /// The file with its standard output.
    pub fn output_file(self) -> &'static str {
        self.driven_as().map_or("tool.out", |tool| output_name(driver(tool)))
    }
}

impl Contender {
    /// tolok in normal use: it compares every byte.
    pub const TOLOK: Contender = Contender::usual(Tool::TOLOK);
    /// The usual reference in the literature.
    pub const WRK: Contender = Contender::usual(Tool::Lab(LoadTool::Wrk));
    /// Only system calls.
    pub const FLOOR: Contender = Contender::usual(Tool::Floor);

    pub const fn usual(tool: Tool) -> Contender {
        Contender { tool, way: Way::Usual }
    }

    /// Its mode, unless it is the usual one.
    pub fn way(self) -> Option<String> {
        match self.way {
            Way::Usual => None,
            Way::Discarding => Some("discarding".to_owned()),
            Way::Timed { timer, arrivals: Arrivals::Uniform } => Some(timer.to_owned()),
            Way::Timed { timer, arrivals: Arrivals::Poisson } => Some(format!("{timer}, Poisson")),
            Way::Uncorrected => Some("without latency correction".to_owned()),
            Way::Users(users) => Some(format!("{users} VUs")),
            Way::ClosedLoop => Some("closed loop, no rate".to_owned()),
        }
    }

    /// Its name and its mode.
    pub fn label(self) -> String {
        let way = self.way().map(|way| format!(" ({way})")).unwrap_or_default();
        format!("{}{way}", self.tool.name())
    }

    /// How to call it, or why it cannot generate this load. `body` is a file with the correct body.
    pub fn invocation(self, load: &Load, url: String, body: &Path) -> Result<Invocation, String> {
        let scenario = self.scenario(load);
        if let Tool::Lab(tool) = self.tool {
            let refusal = tool.refuses_load(&scenario.load);
            let too_large = tool == LoadTool::K6 && load.connections > MOST_VIRTUAL_USERS;
            let refusal = refusal.or(too_large.then(|| "k6 takes megabytes for each virtual user".to_owned()));
            refusal.map_or(Ok(()), Err)?;
        }
        let Some(tool) = self.tool.driven_as() else {
            let arguments = self.own_arguments(load, &url).split(' ').map(str::to_owned).collect();
            return Ok(Invocation { arguments, ..Invocation::default() });
        };
        let mut invocation = driver(tool).invocation(&job(load, url, &scenario));
        let arguments = &mut invocation.arguments;
        // With events, tolok would leave the judgement of its figures to the lab and exit with 0.
        arguments.retain(|word| word != "--events");
        match self.way {
            Way::Discarding => arguments.push("--discard".to_owned()),
            Way::Uncorrected => arguments.retain(|word| word != "--latency-correction"),
            _ if self.tool == Tool::Wrk2 => arguments.insert(0, UNREACHED_RATE.to_owned()),
            _ if tool == LoadTool::Tolok => arguments.push(format!("--expect-body={}", body.display())),
            _ => {}
        }
        if let Way::Timed { timer, .. } = self.way {
            arguments.push(format!("--timer={timer}"));
        }
        Ok(invocation)
    }

    /// The command line of a generator without a driver.
    fn own_arguments(self, load: &Load, url: &str) -> String {
        let (connections, runs_for) = (load.connections, self.tool.runs_for(load.duration));
        let when = |condition: bool, words| if condition { words } else { "" };
        if self.tool == Tool::Gcannon {
            let close = when(!load.keep_alive, " -r1");
            return format!("{url} -t 1 -c {connections} -d {}s --json{close}", runs_for.as_secs());
        }
        let (close, discard) = (when(!load.keep_alive, " --close"), when(self.way == Way::Discarding, " --discard"));
        let milliseconds = runs_for.as_millis();
        format!("floor {url} --connections {connections} --milliseconds {milliseconds}{close}{discard}")
    }

    /// Its report, as far as the files in its folder could be parsed. gcannon leaves its first tenth of a second out of its counts.
    pub fn said(self, load: &Load, folder: &Path) -> Said {
        let output = || std::fs::read_to_string(folder.join(self.tool.output_file())).unwrap_or_default();
        match self.tool.driven_as() {
            None => Said { claim: serde_json::from_str(&output()).ok(), ..Said::default() },
            Some(LoadTool::Tolok) => serde_json::from_str(&output()).map_or_else(|_| Said::default(), said_by_tolok),
            Some(tool) => {
                let scenario = self.scenario(load);
                let read = |name: &str| std::fs::read_to_string(folder.join(name));
                let Ok(report) = report_in(driver(tool), &read, &job(load, String::new(), &scenario)) else {
                    return Said::default();
                };
                let failed = &report.ledger.failed;
                let answered_badly =
                    ["bad_status", "bad_body"].iter().filter_map(|class| failed.get(*class)).sum::<u64>();
                let claim = Claim { requests: report.ledger.good + answered_badly, failed: failed.values().sum() };
                let latencies = Latencies::at(|quantile| report.latency.at(quantile), report.latency.max_s);
                Said { claim: Some(claim), latencies: Some(latencies), record: None }
            }
        }
    }

    fn scenario(self, load: &Load) -> Scenario {
        let arrivals = if let Way::Timed { arrivals, .. } = self.way { arrivals } else { Arrivals::Uniform };
        let rate = load.rate_rps.filter(|_| self.way != Way::ClosedLoop);
        let pool = if let Way::Users(users) = self.way { users } else { load.connections };
        let profile = LoadProfile {
            executor: match rate {
                Some(rate) => Executor::ConstantArrivalRate { rate_rps: f64::from(rate), arrivals },
                None => Executor::ConstantVus { vus: load.connections },
            },
            duration_s: self.tool.runs_for(load.duration).as_secs_f64(),
            warmup_s: 0.0,
            connection: if load.keep_alive { Connection::KeepAlive } else { Connection::PerRequest },
            timeout_s: TIMEOUT_S,
            pool: rate.map(|_| Pool::Bounded(pool)),
            think_time: None,
            pace: Pace::default(),
        };
        Scenario {
            id: profile.id(),
            environment: String::new(),
            workload: load.asset.name().to_owned(),
            database: false,
            load: profile,
            protocol: tolok_model::Protocol::Http1,
            streams: 1,
            tool: ToolChoice { name: self.tool.driven_as().unwrap_or_default(), script: None },
            objectives: Vec::new(),
            abort: false,
            slices: None,
        }
    }
}

/// A job for one CPU. `Status` makes tolok's driver wait for requests in flight at the end, which the server counts as well.
fn job<'a>(load: &Load, url: String, scenario: &'a Scenario) -> LoadJob<'a> {
    let body_bytes = Some(load.asset.bytes());
    let answers = Answers::Status;
    LoadJob {
        url,
        method: "GET",
        sent: None,
        status: 200,
        answers,
        body_bytes,
        scenario,
        cpus: 1,
        seed: 1,
        generators: &[],
    }
}

fn said_by_tolok(record: LoadRecord) -> Said {
    let latencies = |of: &Distribution| {
        let at = |quantile| of.percentiles.iter().find(|found| found.quantile == quantile)?.latency_s;
        Latencies::at(at, of.max_s)
    };
    let failed = record.ledger.failed + record.drain.failed;
    let requests = record.ledger.good + record.drain.good + failed;
    Said {
        claim: Some(Claim { requests, failed }),
        latencies: Some(latencies(&record.response_time)),
        record: Some(Record {
            lateness: latencies(&record.lateness),
            scheduled: record.ledger.scheduled,
            trusted: record.verdict.trusted,
            gates: record.verdict.reasons.iter().map(|reason| reason.gate).collect(),
            start_ns: record.window_start_monotonic_ns,
            seed: record.plan.seed,
        }),
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Contender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load() -> Load {
        let duration = Duration::from_millis(2_500);
        Load { asset: Asset::Hello, connections: 64, keep_alive: true, rate_rps: None, duration }
    }

    fn check(contender: Contender, load: &Load, line: &str) {
        let invocation = contender.invocation(load, "http://h/x".to_owned(), "BODY".as_ref()).unwrap();
        assert_eq!(invocation.arguments.join(" "), line, "{contender:?}");
    }

    #[test]
    fn generators_are_called_as_the_lab_calls_them() {
        let tolok = "load http://h/x --vus=64 --duration=2500000us --warmup=0us --timeout=10000000us --grace=5s \
                     --expect-status=200 --format=json";
        check(Contender::TOLOK, &load(), &format!("{tolok} --expect-body=BODY"));
        let discarding = |tool| Contender { tool, way: Way::Discarding };
        check(discarding(Tool::TOLOK), &load(), &format!("{tolok} --discard"));
        check(discarding(Tool::Floor), &load(), "floor http://h/x --connections 64 --milliseconds 2500 --discard");
        let wrk = "-t1 -c64 -d3s --timeout 10s --latency http://h/x";
        check(Contender::WRK, &load(), wrk);
        check(Contender::usual(Tool::Wrk2), &load(), &format!("-R10000000 {wrk}"));
        let close = Load { keep_alive: false, ..load() };
        check(Contender::FLOOR, &close, "floor http://h/x --connections 64 --milliseconds 2500 --close");
        check(Contender::usual(Tool::Gcannon), &close, "http://h/x -t 1 -c 64 -d 3s --json -r1");
        let refused = |tool, load: &Load| {
            Contender::usual(Tool::Lab(tool)).invocation(load, String::new(), "".as_ref()).unwrap_err()
        };
        assert_eq!(refused(LoadTool::H2load, &close), "h2load keeps its connections");
        assert!(refused(LoadTool::K6, &Load { connections: 10_000, ..load() }).contains("megabytes"));
    }

    #[test]
    fn ways_to_keep_a_rate_differ_in_their_arguments() {
        let load = Load { rate_rps: Some(2000), ..load() };
        let arguments = |tool, way| {
            let invocation = Contender { tool, way }.invocation(&load, String::new(), "".as_ref()).unwrap();
            invocation.arguments.join(" ")
        };
        let poisson = arguments(Tool::TOLOK, Way::Timed { timer: "spin", arrivals: Arrivals::Poisson });
        assert!(poisson.contains("--rate=2000 --arrivals=poisson") && poisson.ends_with("--timer=spin"), "{poisson}");
        let oha = Tool::Lab(LoadTool::Oha);
        assert!(arguments(oha, Way::Usual).contains("-q 2000 --latency-correction"));
        assert!(!arguments(oha, Way::Uncorrected).contains("--latency-correction"));
        let wrk = arguments(Tool::Lab(LoadTool::Wrk), Way::ClosedLoop);
        assert!(wrk.starts_with("-t1 -c64 -d3s"), "{wrk}");
    }

    #[test]
    fn counts_and_latencies_are_read_from_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let said = |contender: Contender, text: &str| {
            std::fs::write(folder.path().join(contender.tool.output_file()), text).unwrap();
            std::fs::write(folder.path().join("tool.log"), "").unwrap();
            contender.said(&load(), folder.path())
        };
        let floor = said(Contender::FLOOR, r#"{"requests":9,"failed":1}"#);
        assert_eq!(floor.claim, Some(Claim { requests: 9, failed: 1 }));
        let wrk = "  2 threads and 64 connections\n    Latency     1.05ms    3.85ms  99.12ms   97.46%\n  \
                   Latency Distribution\n     50%  123.00us\n     75%  125.00us\n     90%  130.00us\n     99%    2.00ms\n  \
                   5000 requests in 1.00s, 1.00MB read\n  Non-2xx or 3xx responses: 7\nRequests/sec:   5000.00\nTransfer/sec:      1.00MB\n";
        let wrk = said(Contender::WRK, wrk);
        assert_eq!(wrk.claim, Some(Claim { requests: 5000, failed: 7 }));
        assert_eq!(wrk.latencies.unwrap().all(), [Some(0.000_123), Some(0.002), None, Some(0.099_12)]);
        for tool in Tool::ALL {
            assert!(said(Contender::usual(tool), "error: {").claim.is_none(), "{tool:?}");
        }
    }

    #[test]
    fn names_lead_back_to_their_generators() {
        assert!(Tool::ALL.into_iter().all(|tool| Tool::named(tool.name()) == Ok(tool)));
        assert!(Tool::named("siege").unwrap_err().contains("floor, tolok, wrk"));
    }
}
