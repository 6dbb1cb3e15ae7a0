//! The cost of following many processes: `script/bench-sampler [PROCESSES [SECONDS]]`.
//!
//! Starts sleeping processes in a control group. A sampler follows them as it follows a subject in a trial: the group
//! every 100 ms, the processes and the machine once a second. The cost is the CPU time of the sampling thread. A second
//! measurement follows the process tree, as where tolok may not create groups. Sleepers cost the sampler as much as
//! busy processes, because it reads the same files for each.
#![allow(clippy::print_stdout, reason = "a program for developers that prints what it measured")]

use std::collections::BTreeSet;
use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tolok_host::group::{Controller, Group, Hierarchies};
use tolok_host::sample::{Folders, Followed, Members, NetOf, Part, Sampler, Scope, SoftwareCounters};
use tolok_load::clock::SystemClock;

/// How often the caller of a sampler must tick.
const TICK: Duration = Duration::from_millis(100);
/// One tick in this many reads everything.
const TICKS_A_SECOND: u32 = 10;
const WANTED: [Controller; 6] = [
    Controller::Cpu,
    Controller::CpuAccounting,
    Controller::Memory,
    Controller::Pids,
    Controller::Io,
    Controller::Core,
];

/// The sleepers and their group. Dropping this ends both.
struct Sleepers {
    group: Group,
    shell: Child,
}

impl Sleepers {
    fn start(count: u32) -> Result<Self, Box<dyn Error>> {
        let name = format!("tolok-bench-sampler-{}", std::process::id());
        let group = Hierarchies::find().create(&name, &BTreeSet::from(WANTED))?;
        // The shell joins first, so every sleeper is born in the group.
        let script = "read go; i=0; while [ $i -lt $0 ]; do sleep 3600 & i=$((i+1)); done; wait";
        let mut command = Command::new("sh");
        let shell = command.args(["-c", script, &count.to_string()]).stdin(Stdio::piped()).spawn();
        let mut shell = shell.inspect_err(|_| drop(group.remove()))?;
        let go = shell.stdin.take().ok_or("the shell has no standard input")?;
        let sleepers = Self { group, shell };
        for entrance in sleepers.group.entrances() {
            std::fs::write(entrance, sleepers.shell.id().to_string())?;
        }
        drop(go);
        while sleepers.group.members()?.len() <= count as usize {
            thread::sleep(TICK);
        }
        Ok(sleepers)
    }
}

impl Drop for Sleepers {
    fn drop(&mut self) {
        if let Err(error) = self.group.kill() {
            println!("cannot end the sleepers: {error}");
        }
        let _ = self.shell.wait();
        if let Err(error) = self.group.remove() {
            println!("cannot remove their group: {error}");
        }
    }
}

/// This thread's CPU time so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What sampling costs.
struct Cost {
    /// CPU time divided by elapsed time.
    share: f64,
    /// Median of a tick that reads groups only.
    fast: Duration,
    /// Median of a tick that reads everything.
    slow: Duration,
}

fn measure(subject: Members, scopes: &[Scope], seconds: u32) -> Cost {
    let followed = |part, members| Followed { part, members, net_of: Some(NetOf::Process(std::process::id())) };
    let lab = followed(Part::Lab, Members::Process(std::process::id()));
    let mut sampler = Sampler::new(SystemClock, Folders::default(), vec![followed(Part::Subject, subject), lab]);
    sampler.count_events(Part::Subject, SoftwareCounters::attach(scopes));
    let (start, start_cpu) = (Instant::now(), cpu_time());
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    for tick in 0..seconds * TICKS_A_SECOND {
        thread::sleep((start + TICK * tick).saturating_duration_since(Instant::now()));
        let before = cpu_time();
        sampler.tick(start.elapsed().as_secs_f64());
        // The first tick of each second reads everything.
        let ticks = if tick % TICKS_A_SECOND == 0 { &mut slow } else { &mut fast };
        ticks.push(cpu_time() - before);
    }
    thread::sleep((start + TICK * TICKS_A_SECOND * seconds).saturating_duration_since(Instant::now()));
    let share = (cpu_time() - start_cpu).as_secs_f64() / start.elapsed().as_secs_f64();
    Cost { share, fast: median(fast), slow: median(slow) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u32> = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let count = numbers.first().copied().unwrap_or(1000);
    let seconds = numbers.get(1).copied().unwrap_or(20).max(1);
    let sleepers = Sleepers::start(count)?;
    let below = sleepers.shell.id();
    let group_scope: Vec<Scope> = Scope::of(&sleepers.group).into_iter().collect();
    println!("{count} processes, {seconds} s each way\n");
    println!("| members found by | of a core | tick of the group alone | tick of everything |\n|---|---:|---:|---:|");
    for (way, members, scopes) in [
        ("control group", Members::Group(sleepers.group.clone()), group_scope.as_slice()),
        ("process tree", Members::Below(below), &[]),
    ] {
        let Cost { share, fast, slow } = measure(members, scopes, seconds);
        let (fast_us, slow_ms) = (fast.as_secs_f64() * 1e6, slow.as_secs_f64() * 1e3);
        println!("| {way} | {:.2} % | {fast_us:.0} µs | {slow_ms:.2} ms |", share * 100.0);
    }
    Ok(())
}
