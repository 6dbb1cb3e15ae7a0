//! The exercises: each is one kind of load on one server, measured for every generator that can generate it.

use std::time::Duration;

use serde::Serialize;
use tolok_model::{Arrivals, LoadTool};

use crate::args::Args;
use crate::assets::Asset;
use crate::generator::{Contender, Load, TIMERS, Tool, Way};
use crate::measure::Measurement;
use crate::peers::Peer;

/// The names for `--only`.
pub const NAMES: [&str; 7] = ["hello-64", "hello-512", "hello-10000", "big", "close", "lateness", "honesty"];

const CONNECTIONS: u32 = 64;
/// Requests per second of the exercise `lateness`; other generators take part only at the first rate.
const RATES: [u32; 2] = [10_000, 50_000];

/// The question of an exercise. The measurements of one question are complete before those of the next begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The cost of a request, at the highest possible rate.
    Cost,
    /// The lateness of requests at a given rate.
    Lateness,
    /// What generators report of a server whose truth is known.
    Honesty,
}

/// The server under load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    Ceiling,
    /// It does nothing for a tenth of the time.
    Stalling {
        stall: Duration,
        period: Duration,
    },
    /// It answers 1,000 requests per second, one at a time, but 1,200 arrive.
    TooSlow,
}

#[derive(Debug, Clone, Serialize)]
pub struct Exercise {
    pub name: &'static str,
    pub title: String,
    #[serde(skip)]
    pub question: Question,
    #[serde(skip)]
    pub served: Served,
    #[serde(skip)]
    pub load: Load,
    pub entries: Vec<Entry>,
    /// Contenders that take part elsewhere but not here, and why.
    pub left_out: Vec<String>,
}

/// A contender's measurements in an exercise.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    #[serde(rename = "generator")]
    pub contender: Contender,
    /// By round; null for rounds that did not take place.
    pub rounds: Vec<Option<Measurement>>,
}

impl Entry {
    /// Measurements without a problem.
    pub fn good(&self) -> impl Iterator<Item = &Measurement> {
        self.rounds.iter().flatten().filter(|one| one.problem.is_none())
    }

    /// A quantity by round, `None` where it is unknown.
    pub fn values(&self, quantity: impl Fn(&Measurement) -> Option<f64>) -> Vec<Option<f64>> {
        let value = |one: &Option<Measurement>| quantity(one.as_ref().filter(|one| one.problem.is_none())?);
        self.rounds.iter().map(value).collect()
    }
}

impl Exercise {
    /// The requested exercises, with all contenders that can take part.
    pub fn all(args: &Args, peers: &[Peer]) -> Vec<Exercise> {
        let duration = args.extent().1;
        let keep = |connections| Load { asset: Asset::Hello, connections, keep_alive: true, rate_rps: None, duration };
        let cost = |name, title: &str, load| (name, title.to_owned(), Question::Cost, Served::Ceiling, load);
        let mut all = vec![
            cost("hello-64", "hello, keep-alive, 64 connections", keep(64)),
            cost("hello-512", "hello, keep-alive, 512 connections", keep(512)),
            cost("hello-10000", "hello, keep-alive, 10,000 connections", keep(10_000)),
            cost("big", "534 KB, keep-alive, 16 connections", Load { asset: Asset::File534k, ..keep(16) }),
            cost("close", "hello, a connection per request, 64 at a time", Load { keep_alive: false, ..keep(64) }),
        ];
        all.extend(RATES.map(|rate| {
            let title = format!("lateness: {rate}/s, {CONNECTIONS} connections");
            let load = Load { rate_rps: Some(rate), ..keep(CONNECTIONS) };
            ("lateness", title, Question::Lateness, Served::Ceiling, load)
        }));
        all.extend(honesty(args.honesty().0));
        let wanted =
            all.into_iter().filter(|(name, ..)| args.only.is_empty() || args.only.iter().any(|one| one == name));
        let exercise = |(name, title, question, served, load)| {
            let empty = Exercise { name, title, question, served, load, entries: Vec::new(), left_out: Vec::new() };
            empty.with(peers, if question == Question::Honesty { args.honesty().1 } else { args.extent().0 })
        };
        wanted.map(exercise).collect()
    }

    /// Whether any of it was measured.
    pub fn is_begun(&self) -> bool {
        self.entries.iter().any(|entry| entry.rounds.iter().any(Option::is_some))
    }

    fn with(mut self, peers: &[Peer], rounds: u32) -> Exercise {
        for contender in self.contenders() {
            if !peers.iter().any(|peer| peer.tool == contender.tool) {
                continue;
            }
            match contender.invocation(&self.load, String::new(), "".as_ref()) {
                Ok(_) => self.entries.push(Entry { contender, rounds: vec![None; rounds as usize] }),
                Err(reason) => self.left_out.push(format!("{} takes no part: {reason}", contender.label())),
            }
        }
        self
    }

    /// The candidates for this exercise.
    fn contenders(&self) -> Vec<Contender> {
        let tolok = |timer, arrivals| Contender { tool: Tool::TOLOK, way: Way::Timed { timer, arrivals } };
        let lab = |tool, way| Contender { tool: Tool::Lab(tool), way };
        match self.question {
            Question::Cost => {
                let usual = Tool::ALL.map(Contender::usual);
                // Discarding bodies only matters if they are large.
                let has_much = self.load.asset == Asset::File534k;
                let discarding = [Tool::Floor, Tool::TOLOK].map(|tool| Contender { tool, way: Way::Discarding });
                usual.into_iter().chain(discarding.into_iter().filter(|_| has_much)).collect()
            }
            Question::Lateness => {
                let others = [LoadTool::Oha, LoadTool::Hey, LoadTool::K6].map(|tool| lab(tool, Way::Usual));
                let is_first = self.load.rate_rps == Some(RATES[0]);
                let timers = TIMERS.map(|timer| tolok(timer, Arrivals::Uniform));
                timers.into_iter().chain(others.into_iter().filter(|_| is_first)).collect()
            }
            Question::Honesty => {
                let mut all = vec![
                    tolok("hybrid", Arrivals::Uniform),
                    lab(LoadTool::Oha, Way::Uncorrected),
                    lab(LoadTool::Oha, Way::Usual),
                    lab(LoadTool::Hey, Way::Usual),
                    lab(LoadTool::K6, Way::Users(CONNECTIONS)),
                    lab(LoadTool::K6, Way::Users(1200)),
                ];
                if self.served != Served::TooSlow {
                    all.extend([tolok("hybrid", Arrivals::Poisson), lab(LoadTool::Wrk, Way::ClosedLoop)]);
                }
                all
            }
        }
    }
}

/// Two servers. The load on the stalling one lasts for `duration` and contains three whole stalls.
fn honesty(duration: Duration) -> [(&'static str, String, Question, Served, Load); 2] {
    let period = duration * 10 / 32;
    let stall = period / 10;
    let (stall_ms, period_s) = (stall.as_millis(), period.as_secs_f64());
    let stalls = format!("a server that stands still for {stall_ms} ms in every {period_s} s");
    let servers = [
        (2000, duration, Served::Stalling { stall, period }, stalls),
        (1200, duration * 5 / 16, Served::TooSlow, "a server that takes 1 ms for each, one at a time".to_owned()),
    ];
    servers.map(|(rate, duration, served, server)| {
        let title = format!("honesty: {rate}/s for {} s at {server}", duration.as_secs_f64());
        let (asset, connections, rate_rps) = (Asset::Hello, CONNECTIONS, Some(rate));
        ("honesty", title, Question::Honesty, served, Load { asset, connections, keep_alive: true, rate_rps, duration })
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// All exercises, with the contenders from these generators that can take part.
    fn all(tools: &[Tool]) -> Vec<Exercise> {
        let peer =
            |tool: &Tool| Peer { tool: *tool, path: "/x".into(), version: String::new(), env: Default::default() };
        let peers: Vec<Peer> = tools.iter().map(peer).collect();
        Exercise::all(&Args::try_parse_from(["bench-load"]).unwrap(), &peers)
    }

    #[test]
    fn everyone_who_can_takes_part_and_the_others_are_named() {
        let all = all(&Tool::ALL);
        let counts = |one: &Exercise| (one.name, one.entries.len(), one.left_out.len());
        let expected = [
            ("hello-64", 10, 0),
            ("hello-512", 10, 0),
            ("hello-10000", 9, 1),
            ("big", 12, 0),
            ("close", 9, 1),
            ("lateness", 6, 0),
            ("lateness", 3, 0),
            ("honesty", 8, 0),
            ("honesty", 6, 0),
        ];
        assert_eq!(all.iter().map(counts).collect::<Vec<_>>(), expected);
        assert_eq!(all[4].left_out, ["h2load takes no part: h2load keeps its connections"]);
        assert!(all.iter().flat_map(|one| &one.entries).all(|entry| [3, 10].contains(&entry.rounds.len())));
    }

    #[test]
    fn the_full_length_is_a_stall_of_half_a_second_in_five() {
        let all = all(&[Tool::TOLOK]);
        let title = "honesty: 2000/s for 16 s at a server that stands still for 500 ms in every 5 s";
        assert_eq!(all[7].title, title);
        assert_eq!((all[7].entries.len(), all[8].entries.len()), (2, 1));
        assert_eq!(all[8].load.duration, Duration::from_secs(5));
    }
}
