//! The whole comparison: the participants, their order, and the results.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tempfile::TempDir;
use tolok_bench::beside::program_beside_this;
use tolok_bench::error::{self, BenchError, failed};
use tolok_bench::machine::Machine;
use tolok_bench::terminal::say;
use tolok_model::SplitMix64;
use tolok_model::figures::counted;

use crate::args::Args;
use crate::counters::Counters;
use crate::exercise::{Exercise, Question};
use crate::generator::Tool;
use crate::interrupt::Interrupt;
use crate::measure::{Measurement, Place, Surroundings, measure};
use crate::peers::{Absent, Peer, Search};
use crate::regime::Transfer;
use crate::{assets, honesty};

const FORMAT: u32 = 3;

#[derive(Debug)]
pub struct Bench {
    place: Place,
    /// Removed when this is dropped.
    _folder: TempDir,
    outcome: Outcome,
    json: Option<PathBuf>,
}

/// Everything that was measured; as JSON, the figures of every round for programs.
#[derive(Debug, Serialize)]
pub struct Outcome {
    pub format: u32,
    pub machine: Machine,
    pub load_average_at_end: Option<f64>,
    /// Whether server and generator always had the highest priority on their CPUs; null before the first measurement.
    pub raised: Option<bool>,
    /// Whether instructions can be counted.
    pub has_counters: bool,
    pub server_cpu: u32,
    pub generator_cpu: u32,
    pub peers: Vec<Peer>,
    /// Generators that do not take part, and why.
    #[serde(skip)]
    pub absent: Absent,
    #[serde(skip)]
    pub duration: Duration,
    pub rounds: u32,
    /// Seed of the order of measurements.
    pub seed: u64,
    /// Time of a request outside the stalls of `honesty`.
    pub usual_s: Option<f64>,
    pub exercises: Vec<Exercise>,
}

#[derive(Debug)]
pub enum Ended {
    /// As planned.
    Complete(Outcome),
    /// By a signal; holds the results so far.
    Interrupted(Outcome),
}

impl Outcome {
    fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        self.exercises.iter().flat_map(|one| &one.entries).flat_map(|entry| entry.rounds.iter().flatten())
    }

    pub fn transfers(&self) -> impl Iterator<Item = Transfer> {
        self.measurements().filter_map(|one| one.transfer)
    }
}

impl Bench {
    /// Finds the generators and prepares files and folders.
    pub fn prepare(args: &Args) -> Result<Bench, BenchError> {
        // Some generators do not raise the limit themselves. The result is ignored, because a generator reports a limit that is too low.
        tolok_load::open_files::raise();
        let machine = tolok_host::machine::Machine::read();
        let (server_cpu, generator_cpu) = cpus(args, machine.allowed_cpus)?;
        args.markdown.iter().chain(&args.json).try_for_each(|path| error::prepare_file(path))?;
        let ceiling = args.place.ceiling.clone().map_or_else(|| program_beside_this("ceiling"), Ok)?;
        let temporary = tempfile::Builder::new().prefix("bench-load-").tempdir().map_err(failed("make a folder"))?;
        let folder = temporary.path().to_owned();
        let (peers, absent) = take_part(args, &folder)?;
        assets::lay_out(&folder.join("assets"))?;
        let (rounds, duration) = args.extent();
        let outcome = Outcome {
            format: FORMAT,
            machine: Machine::read(),
            load_average_at_end: None,
            raised: None,
            has_counters: Counters::open().is_some(),
            server_cpu,
            generator_cpu,
            exercises: Exercise::all(args, &peers),
            peers,
            absent,
            duration,
            rounds,
            seed: args.seed,
            usual_s: None,
        };
        let own = program_beside_this("bench-load")?;
        let place = Place { own, ceiling, folder, server_cpu, generator_cpu };
        Ok(Bench { place, _folder: temporary, outcome, json: args.json.clone() })
    }

    /// Runs every requested exercise, round by round.
    pub fn run(mut self) -> Result<Ended, BenchError> {
        let interrupt = Interrupt::listen().map_err(failed("listen for signals"))?;
        let mut random = SplitMix64::new(self.outcome.seed);
        for question in [Question::Cost, Question::Lateness, Question::Honesty] {
            if !self.answer(question, &interrupt, &mut random)? {
                self.save()?;
                return Ok(Ended::Interrupted(self.outcome));
            }
        }
        Ok(Ended::Complete(self.outcome))
    }

    /// Measures every contender in every exercise of a question. Returns false if interrupted.
    fn answer(
        &mut self,
        question: Question,
        interrupt: &Interrupt,
        random: &mut SplitMix64,
    ) -> Result<bool, BenchError> {
        let exercises = &self.outcome.exercises;
        let entries = || exercises.iter().filter(|one| one.question == question).flat_map(|one| &one.entries);
        let (each, rounds) = (entries().count(), entries().map(|entry| entry.rounds.len()).max().unwrap_or(0));
        if each == 0 {
            return Ok(true);
        }
        say(&format!("{question:?}: {} of {each} measurements", counted(rounds as u64, "round")));
        if question == Question::Honesty {
            self.outcome.usual_s = Some(honesty::usual_s(&self.place)?);
        }
        let (peers, usual_s) = (self.outcome.peers.clone(), self.outcome.usual_s.unwrap_or_default());
        for round in 0..rounds {
            for (exercise, entry) in order(&self.outcome.exercises, question, random) {
                let around = Surroundings { place: &self.place, peers: &peers, interrupt, usual_s };
                let kind = &self.outcome.exercises[exercise];
                let contender = kind.entries[entry].contender;
                let Some(measured) = measure(kind, contender, &around)? else { return Ok(false) };
                let cost = match (&measured.problem, measured.cpu_us()) {
                    (None, Some(cpu_us)) => format!("{cpu_us:.2} µs of CPU time a request"),
                    (problem, _) => problem.clone().unwrap_or_default(),
                };
                say(&format!("round {}/{rounds}  {:<12} {:<36} {cost}", round + 1, kind.name, contender.label()));
                self.outcome.exercises[exercise].entries[entry].rounds[round] = Some(measured);
            }
            self.save()?;
        }
        Ok(true)
    }

    /// Saves the results so far, because later measurements may fail.
    fn save(&mut self) -> Result<(), BenchError> {
        let raised = self.outcome.measurements().all(|one| one.raised);
        self.outcome.raised = Some(raised);
        self.outcome.load_average_at_end = Machine::read().load_average;
        let Some(path) = &self.json else { return Ok(()) };
        let text = serde_json::to_string_pretty(&self.outcome).expect("names and finite numbers serialise");
        error::write(path, &(text + "\n"))
    }
}

/// Every contender in every exercise of a question, as indices into the outcome, in a new random order each time. Each exercise is
/// completed before the next begins: its contenders are compared, and a machine may change within minutes.
fn order(exercises: &[Exercise], question: Question, random: &mut SplitMix64) -> Vec<(usize, usize)> {
    let mut places: Vec<usize> = (0..exercises.len()).filter(|place| exercises[*place].question == question).collect();
    random.shuffle(&mut places);
    let mut order = Vec::new();
    for place in places {
        let mut entries: Vec<usize> = (0..exercises[place].entries.len()).collect();
        random.shuffle(&mut entries);
        order.extend(entries.into_iter().map(|entry| (place, entry)));
    }
    order
}

/// The generators that take part, and those that do not. tolok and the floor are built with this program and always take part.
fn take_part(args: &Args, folder: &Path) -> Result<(Vec<Peer>, Absent), BenchError> {
    let mut given = args.tools.clone();
    if !given.iter().any(|(tool, _)| *tool == Tool::TOLOK) {
        given.push((Tool::TOLOK, program_beside_this("tolok")?));
    }
    given.push((Tool::Floor, program_beside_this("bench-load")?));
    let search = Search::new(&given, &folder.join("given"))?;
    let is_wanted = |tool: &Tool| {
        args.generators.is_empty() || [Tool::TOLOK, Tool::Floor].contains(tool) || args.generators.contains(tool)
    };
    let wanted: Vec<Tool> = Tool::ALL.into_iter().filter(is_wanted).collect();
    let (mut peers, mut absent) = search.all(&wanted);
    if args.fetch {
        let missing: Vec<Tool> = absent.iter().map(|(tool, _)| *tool).collect();
        search.fetch(&missing)?;
        (peers, absent) = search.all(&wanted);
    }
    Ok((peers, absent))
}

/// Different CPUs for the server and the generator.
fn cpus(args: &Args, allowed: Vec<u32>) -> Result<(u32, u32), BenchError> {
    let first_but = |other: Option<u32>| allowed.iter().copied().find(|cpu| Some(*cpu) != other);
    let server = args.place.server_cpu.or_else(|| first_but(args.place.generator_cpu));
    let generator = args.place.generator_cpu.or_else(|| first_but(server));
    match server.zip(generator) {
        Some((server, generator))
            if server != generator && [server, generator].iter().all(|cpu| allowed.contains(cpu)) =>
        {
            Ok((server, generator))
        }
        _ => Err(BenchError::Cpus { allowed }),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::counters::Counted;
    use crate::exercise::Entry;
    use crate::generator::{Claim, Contender};
    use crate::server::Counts;
    use clap::Parser as _;

    /// A made-up measurement: 1000 answers, each of which took `cpu_us` microseconds of CPU time.
    fn measurement(cpu_us: f64) -> Measurement {
        Measurement {
            told_s: 1.0,
            wall_s: 0.1,
            server: Counts { answers: 1000, refusals: 0, connections: 64 },
            rate_rps: Some(1e6 / cpu_us),
            cpu_user_s: cpu_us * 0.25e-3,
            cpu_system_s: cpu_us * 0.75e-3,
            server_cpu_s: 0.5,
            peak_bytes: Some(5 << 20),
            counted: Some(Counted {
                instructions_user: (cpu_us * 1e6) as u64,
                instructions_kernel: (cpu_us * 3e6) as u64,
                cycles_user: (cpu_us * 1e6) as u64,
                cycles_kernel: (cpu_us * 2e6) as u64,
            }),
            claim: Some(Claim { requests: 990, failed: 0 }),
            transfer: Some(Transfer { before_ns: 100.0, after_ns: 100.0 }),
            problem: None,
            offered: None,
            truth: None,
            reported: None,
            record: None,
            code: Some(0),
            stalls_ns: Vec::new(),
            raised: true,
        }
    }

    /// An exercise in which each contender took the given CPU time per answer, round by round.
    pub fn outcome(name: &str, entries: &[(Contender, &[f64])]) -> Outcome {
        let args = Args::try_parse_from(["bench-load", "--only", name]).unwrap();
        let mut exercises = Exercise::all(&args, &[]);
        exercises.truncate(1);
        let entry = |(contender, costs): &(Contender, &[f64])| {
            let rounds = costs.iter().map(|cost| Some(measurement(*cost))).collect();
            Entry { contender: *contender, rounds }
        };
        exercises[0].entries = entries.iter().map(entry).collect();
        let mut tools: Vec<Tool> = entries.iter().map(|(one, _)| one.tool).collect();
        tools.dedup();
        let peer = |tool| Peer { tool, path: "/x".into(), version: "1.2".to_owned(), env: Default::default() };
        Outcome {
            format: FORMAT,
            machine: Machine::read(),
            load_average_at_end: None,
            raised: Some(true),
            has_counters: true,
            server_cpu: 0,
            generator_cpu: 1,
            peers: tools.into_iter().map(peer).collect(),
            absent: Vec::new(),
            duration: Duration::from_secs(1),
            rounds: 5,
            seed: 1,
            usual_s: None,
            exercises,
        }
    }

    #[test]
    fn each_round_has_everyone_once_in_an_order_of_its_own() {
        let mut exercises = outcome("hello-64", &[(Contender::TOLOK, &[]), (Contender::WRK, &[])]).exercises;
        exercises.extend(outcome("close", &[(Contender::TOLOK, &[])]).exercises);
        exercises.extend(outcome("lateness", &[(Contender::TOLOK, &[])]).exercises);
        let rounds = |seed: u64| -> Vec<Vec<(usize, usize)>> {
            let mut random = SplitMix64::new(seed);
            (0..20).map(|_| order(&exercises, Question::Cost, &mut random)).collect()
        };
        for round in rounds(7) {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [(0, 0), (0, 1), (1, 0)]);
            assert!(round[1] != (1, 0), "no exercise interrupts another: {round:?}");
        }
        let firsts: std::collections::BTreeSet<_> = rounds(7).iter().map(|round| round[0]).collect();
        assert_eq!((firsts.len(), rounds(7)), (3, rounds(7)));
    }
}
