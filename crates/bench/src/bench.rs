//! The whole comparison: who takes part, in which order, and what became of everybody.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;
use tolok_stats::Rng;

use crate::args::Args;
use crate::cell::{Cell, Contender};
use crate::error::{self, BenchError};
use crate::interrupt::Interrupt;
use crate::machine::{Machine, allowed_cpus, load_average};
use crate::measure::{Measurement, Place, measure_cell};
use crate::part::Part;
use crate::peers::{Absent, Peer, Search, private_folder};
use crate::regime::Transfer;
use crate::table::rounds;
use crate::tool::Tool;
use crate::{assets, fetch, honesty, lateness, raw, say};

#[derive(Debug)]
pub struct Bench {
    place: Place,
    /// Removed when this is dropped.
    _folder: TempDir,
    machine: Machine,
    peers: Vec<Peer>,
    absent: Vec<Absent>,
    cells: Vec<&'static Cell>,
    lateness: bool,
    honesty: Option<(honesty::Extent, u32)>,
    rounds: u32,
    seed: u64,
    json: Option<PathBuf>,
}

/// What a measurement needs from around it.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub place: &'a Place,
    pub peers: &'a [Peer],
    pub interrupt: &'a Interrupt,
}

#[derive(Debug)]
pub struct Outcome {
    pub machine: Machine,
    pub peers: Vec<Peer>,
    /// Who did not, and why.
    pub absent: Vec<Absent>,
    pub duration: Duration,
    pub rounds: u32,
    /// Seed of the order.
    pub seed: u64,
    pub cells: Vec<CellOutcome>,
    /// Everybody at every rate; empty if that was not asked for.
    pub lateness: Vec<lateness::Entry>,
    /// What is reported, beside the truth.
    pub honesty: Option<honesty::Outcome>,
}

/// What was measured in a cell.
#[derive(Debug)]
pub struct CellOutcome {
    pub cell: &'static Cell,
    /// Everybody who took part, and his measurements by round; none where the round did not come to it.
    pub entries: Vec<Entry>,
    /// Who takes part elsewhere and not here, and why.
    pub left_out: Vec<(Contender, String)>,
}

/// A contender's measurements in a cell.
#[derive(Debug)]
pub struct Entry {
    pub contender: Contender,
    pub rounds: Vec<Option<Measurement>>,
}

#[derive(Debug)]
pub enum Ended {
    /// As planned.
    Complete(Outcome),
    /// By a signal, with what there was.
    Interrupted(Outcome),
}

impl Surroundings<'_> {
    pub fn peer(&self, tool: Tool) -> &Peer {
        self.peers.iter().find(|peer| peer.tool == tool).expect("only tools that were found take part")
    }
}

impl Outcome {
    pub fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        let cells = self.cells.iter().flat_map(|cell| &cell.entries).flat_map(|entry| entry.rounds.iter().flatten());
        let lateness = self.lateness.iter().flat_map(|entry| entry.rounds.iter().flatten()).map(|one| &one.measurement);
        let honesty = self.honesty.iter().flat_map(|one| &one.entries).flat_map(|entry| entry.rounds.iter().flatten());
        cells.chain(lateness).chain(honesty.map(|one| &one.measurement))
    }

    pub fn transfers(&self) -> impl Iterator<Item = Transfer> {
        self.measurements().filter_map(|one| one.transfer)
    }
}

impl Bench {
    /// Finds everybody and lays out what is needed.
    pub fn prepare(args: &Args) -> Result<Bench, BenchError> {
        allow_many_connections();
        let (server_cpu, generator_cpu) = cpus(args)?;
        args.markdown.iter().chain(&args.json).try_for_each(|path| error::prepare_file(path))?;
        let ceiling = match &args.place.ceiling {
            Some(path) => path.clone(),
            None => beside_this_program("ceiling")?,
        };
        let (peers, absent) = take_part(args)?;
        let folder = tempfile::Builder::new().prefix("bench-load-").tempdir();
        let folder = folder.map_err(|source| BenchError::Write { path: std::env::temp_dir(), source })?;
        let assets = folder.path().join("assets");
        std::fs::create_dir(&assets).map_err(|source| BenchError::Write { path: assets.clone(), source })?;
        assets::lay_out(&assets)?;
        let (rounds, duration) = args.extent();
        let own = beside_this_program("bench-load")?;
        let place = Place { own, ceiling, folder: folder.path().to_owned(), server_cpu, generator_cpu, duration };
        let machine = Machine::look(server_cpu, generator_cpu);
        let (cells, seed, json) = (args.cells(), args.seed, args.json.clone());
        let (lateness, honesty) = (args.wants(Part::Lateness), args.wants(Part::Honesty).then(|| args.honesty()));
        Ok(Bench { place, _folder: folder, machine, peers, absent, cells, lateness, honesty, rounds, seed, json })
    }

    /// Does every exercise that was asked for.
    pub fn run(self) -> Result<Ended, BenchError> {
        let interrupt = Interrupt::listen();
        let interrupt =
            interrupt.map_err(|source| BenchError::Run { program: "the signal handler".to_owned(), source })?;
        let around = Surroundings { place: &self.place, peers: &self.peers, interrupt: &interrupt };
        let mut rng = Rng::seeded(self.seed);
        let mut outcome = self.outcome();
        let complete = self.run_cells(&mut outcome, around, &mut rng)?
            && self.run_lateness(&mut outcome, around, &mut rng)?
            && self.run_honesty(&mut outcome, around, &mut rng)?;
        self.save(&mut outcome)?;
        Ok(if complete { Ended::Complete(outcome) } else { Ended::Interrupted(outcome) })
    }

    /// Measures everybody in every cell, round by round. False if that was interrupted.
    fn run_cells(&self, outcome: &mut Outcome, around: Surroundings, rng: &mut Rng) -> Result<bool, BenchError> {
        let each = outcome.cells.iter().map(|cell| cell.entries.len()).sum::<usize>();
        self.announce("closed loops", each);
        for round in (0..self.rounds).filter(|_| each > 0) {
            for (cell, entry) in order(outcome, rng) {
                let (kind, contender) = (outcome.cells[cell].cell, outcome.cells[cell].entries[entry].contender);
                let peer = around.peer(contender.tool);
                let Some(measured) = measure_cell(kind, contender, peer, &self.place, around.interrupt)? else {
                    return Ok(false);
                };
                say(&progress((round, self.rounds), kind.name, &contender.label(), &measured));
                outcome.cells[cell].entries[entry].rounds[round as usize] = Some(measured);
            }
            self.save(outcome)?;
        }
        Ok(true)
    }

    fn run_lateness(&self, outcome: &mut Outcome, around: Surroundings, rng: &mut Rng) -> Result<bool, BenchError> {
        let each = outcome.lateness.len();
        self.announce("rates", each);
        for round in (0..self.rounds).filter(|_| each > 0) {
            for place in shuffled(each, rng) {
                let entry = &mut outcome.lateness[place];
                let Some(one) = lateness::run(entry, &around)? else { return Ok(false) };
                let what = format!("{}/s", entry.rate_rps);
                say(&progress((round, self.rounds), &what, &entry.rated.label(), &one.measurement));
                entry.rounds[round as usize] = Some(one);
            }
            self.save(outcome)?;
        }
        Ok(true)
    }

    /// In fewer rounds, because each takes long, and because what is wrong there is wrong by far.
    fn run_honesty(&self, outcome: &mut Outcome, around: Surroundings, rng: &mut Rng) -> Result<bool, BenchError> {
        let (Some(honesty), Some((extent, rounds))) = (&mut outcome.honesty, self.honesty) else { return Ok(true) };
        let usual_s = honesty::usual_s(&around)?;
        honesty.usual_s = Some(usual_s);
        for round in 0..rounds {
            let count = outcome.honesty.as_ref().map_or(0, |honesty| honesty.entries.len());
            for place in shuffled(count, rng) {
                let Some(honesty) = &mut outcome.honesty else { return Ok(true) };
                let entry = &mut honesty.entries[place];
                let Some(one) = honesty::run(entry, extent, usual_s, &around)? else { return Ok(false) };
                say(&progress((round, rounds), entry.case.name(), &entry.rated.label(), &one.measurement));
                entry.rounds[round as usize] = Some(one);
            }
            self.save(outcome)?;
        }
        Ok(true)
    }

    fn announce(&self, what: &str, each: usize) {
        if each > 0 {
            let planned = self.place.duration * self.rounds * each as u32;
            say(&format!("{what}: {} of {each} measurements, {} s or more", rounds(self.rounds), planned.as_secs()));
        }
    }

    /// What there is so far, because what comes may fail.
    fn save(&self, outcome: &mut Outcome) -> Result<(), BenchError> {
        let raised = outcome.measurements().all(|one| one.raised);
        outcome.machine.raised = Some(raised);
        outcome.machine.load_average_at_end = load_average();
        self.json.as_ref().map_or(Ok(()), |path| raw::write(path, outcome))
    }

    /// Everybody in his place, with nothing measured yet.
    fn outcome(&self) -> Outcome {
        let cells = self.cells.iter().map(|cell| {
            let mut outcome = CellOutcome { cell, entries: Vec::new(), left_out: Vec::new() };
            for contender in cell.contenders() {
                let Some(peer) = self.peers.iter().find(|peer| peer.tool == contender.tool) else { continue };
                let job = crate::measure::job(cell, contender, &self.place, 0);
                match peer.tool.arguments(&job) {
                    Err(reason) => outcome.left_out.push((contender, reason.to_owned())),
                    Ok(_) if contender.discards && !peer.discards => {
                        let reason = format!("{} {} has no way to discard", peer.tool.name(), peer.version);
                        outcome.left_out.push((contender, reason));
                    }
                    Ok(_) => outcome.entries.push(Entry { contender, rounds: vec![None; self.rounds as usize] }),
                }
            }
            outcome
        });
        Outcome {
            machine: self.machine.clone(),
            peers: self.peers.clone(),
            absent: self.absent.clone(),
            duration: self.place.duration,
            rounds: self.rounds,
            seed: self.seed,
            cells: cells.collect(),
            lateness: if self.lateness { lateness::entries(&self.peers, self.rounds) } else { Vec::new() },
            honesty: self.honesty.map(|(extent, rounds)| honesty::prepare(&self.peers, extent, rounds)),
        }
    }
}

/// Everybody in every cell, as places in the outcome, in a new order each time. A cell is done before the next one begins,
/// because its contenders are compared with each other, and a machine may change within minutes.
fn order(outcome: &Outcome, rng: &mut Rng) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    for cell in shuffled(outcome.cells.len(), rng) {
        order.extend(shuffled(outcome.cells[cell].entries.len(), rng).into_iter().map(|entry| (cell, entry)));
    }
    order
}

fn shuffled(count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    order
}

fn progress((round, rounds): (u32, u32), what: &str, who: &str, measured: &Measurement) -> String {
    let cost = match (&measured.problem, measured.cpu_us()) {
        (None, Some(cpu_us)) => format!("{cpu_us:.2} µs of CPU time a request"),
        (problem, _) => problem.clone().unwrap_or_default(),
    };
    format!("round {}/{rounds}  {what:<10} {who:<36} {cost}", round + 1)
}

/// Who takes part and who does not. tolok and the floor are built with this program.
fn take_part(args: &Args) -> Result<(Vec<Peer>, Vec<Absent>), BenchError> {
    let mut given = args.tools.clone();
    let own = |name: &str| beside_this_program(name);
    if !given.iter().any(|(tool, _)| *tool == Tool::Tolok) {
        given.push((Tool::Tolok, own("tolok")?));
    }
    given.push((Tool::Floor, own("bench-load")?));
    let wanted: Vec<Tool> = Tool::ALL.into_iter().filter(|tool| is_wanted(*tool, &args.generators)).collect();
    let folder = private_folder();
    let search = Search::new(given, folder.as_deref());
    let seek = || wanted.iter().map(|tool| search.find(*tool)).collect::<Vec<_>>();
    let mut found = seek();
    if let Some(folder) = folder.filter(|_| args.fetch) {
        let missing: Vec<Tool> = found.iter().filter_map(|one| one.as_ref().err()).map(|one| one.tool).collect();
        fetch::fetch(&missing, &folder, &mut |line| say(line))?;
        found = seek();
    }
    let (mut peers, mut absent) = (Vec::new(), Vec::new());
    for one in found {
        match one {
            Ok(peer) => peers.push(peer),
            Err(reason) => absent.push(reason),
        }
    }
    Ok((peers, absent))
}

/// Raises the limit on open files as far as it goes, for those that do not do so themselves. Who finds it too low says so.
fn allow_many_connections() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn is_wanted(tool: Tool, only: &[Tool]) -> bool {
    only.is_empty() || matches!(tool, Tool::Tolok | Tool::Floor) || only.contains(&tool)
}

fn beside_this_program(name: &str) -> Result<PathBuf, BenchError> {
    let here = std::env::current_exe().unwrap_or_default();
    let path = here.parent().unwrap_or(Path::new("/")).join(name);
    if path.is_file() { Ok(path) } else { Err(BenchError::NotBuilt { path }) }
}

/// A CPU for the server and another one for the generator.
fn cpus(args: &Args) -> Result<(u32, u32), BenchError> {
    let allowed = allowed_cpus();
    let server = args.place.server_cpu.or_else(|| {
        let free = |cpu: &&u32| Some(**cpu) != args.place.generator_cpu;
        allowed.iter().find(free).copied()
    });
    let generator = args.place.generator_cpu.or_else(|| allowed.iter().find(|cpu| Some(**cpu) != server).copied());
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
mod tests {
    use super::*;
    use crate::summary::tests::outcome;

    #[test]
    fn each_round_has_everybody_once_in_an_order_of_its_own() {
        let outcome = outcome(&[
            ("hello-64", &[(Contender::TOLOK, &[]), (Contender::WRK, &[]), (Contender::FLOOR, &[])]),
            ("close", &[(Contender::TOLOK, &[])]),
        ]);
        let all = [(0, 0), (0, 1), (0, 2), (1, 0)];
        let mut rng = Rng::seeded(7);
        let rounds: Vec<_> = (0..20).map(|_| order(&outcome, &mut rng)).collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, all);
            assert!(round[0] == (1, 0) || round[3] == (1, 0), "a cell is not interrupted by another one: {round:?}");
        }
        let firsts: std::collections::BTreeSet<_> = rounds.iter().map(|round| round[0]).collect();
        assert_eq!(firsts.len(), 4, "in twenty rounds everybody was first once");
        assert_eq!(order(&outcome, &mut Rng::seeded(7)), rounds[0]);
    }

    #[test]
    fn a_program_of_ours_that_is_not_there_is_to_be_built() {
        let error = beside_this_program("no-such-program").unwrap_err().to_string();
        assert!(error.ends_with("no-such-program is missing; script/bench-load builds it"), "{error}");
    }

    #[test]
    fn only_some_take_part_but_tolok_and_the_floor_always_do() {
        let check = |tool, only: &[Tool], wanted| assert_eq!(is_wanted(tool, only), wanted, "{tool:?} {only:?}");
        check(Tool::K6, &[], true);
        check(Tool::K6, &[Tool::Wrk], false);
        check(Tool::Wrk, &[Tool::Wrk], true);
        check(Tool::Tolok, &[Tool::Wrk], true);
        check(Tool::Floor, &[Tool::Wrk], true);
    }
}
