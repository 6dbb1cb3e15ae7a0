//! The transfer time of a cache line between two CPUs: two threads bounce one back and forth. On some machines, especially virtual ones, it
//! changes within a run, and with it the cost of everything that two CPUs do together.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use clap::Args as ClapArgs;
use rustix::thread::{CpuSet, sched_setaffinity};
use tolok_bench::error::{BenchError, failed};
use tolok_stats::Sample;

use crate::child::spawn;
use crate::measure::Place;

/// Bursts are short, so most are not interrupted, and numerous, so the median is not. Each uses a different line, because lines differ: the
/// address determines how far from both CPUs the line's state is tracked.
const BURSTS: usize = 64;

/// Two transfers each: a burst takes tens to a few hundred microseconds.
const ROUND_TRIPS: u32 = 500;

/// Distance between the lines of successive bursts: large enough that they share nothing.
const STRIDE: usize = 33;

/// Options of the measuring program.
#[derive(Debug, ClapArgs)]
pub struct TransferArgs {
    /// CPU of the first thread.
    #[arg(long)]
    from: u32,
    /// CPU of the second thread.
    #[arg(long)]
    to: u32,
}

/// A separate cache line that both threads write.
#[derive(Default)]
#[repr(align(128))]
struct Ball(AtomicU32);

/// Measures, and returns the line to print: nanoseconds per transfer.
pub fn run(args: &TransferArgs) -> Result<String, BenchError> {
    let bursts = bounce(args.from, args.to).map_err(failed("time a cache line"))?;
    let median = Sample::new(&bursts).map(|sample| sample.median()).expect("there are bursts, all of them finite");
    Ok(format!("{median:.1}"))
}

/// Nanoseconds per transfer, for each burst.
fn bounce(from: u32, to: u32) -> Result<Vec<f64>, rustix::io::Errno> {
    // The first line only wakes both CPUs; its result is discarded.
    let balls: Vec<Ball> = std::iter::repeat_with(Ball::default).take((BURSTS + 1) * STRIDE).collect();
    let turns = |first: u32| (first..first + ROUND_TRIPS * 2).step_by(2);
    pin(from)?;
    std::thread::scope(|scope| {
        let (ready, other) = std::sync::mpsc::channel();
        let balls = &balls;
        scope.spawn(move || {
            let pinned = pin(to);
            let ok = pinned.is_ok();
            let told = ready.send(pinned);
            if ok && told.is_ok() {
                balls.iter().step_by(STRIDE).for_each(|ball| turns(1).for_each(|turn| hit(ball, turn)));
            }
        });
        other.recv().unwrap_or(Err(rustix::io::Errno::CHILD))?;
        let mut bursts = Vec::with_capacity(BURSTS + 1);
        for ball in balls.iter().step_by(STRIDE) {
            let began = Instant::now();
            turns(0).for_each(|turn| hit(ball, turn));
            bursts.push(began.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND_TRIPS * 2));
        }
        Ok(bursts.split_off(1))
    })
}

/// Waits for its turn and passes it on. The loop has no pause instruction: in a virtual machine, many of them may make a processor exit to
/// the host.
#[allow(clippy::missing_spin_loop, reason = "the hint is a pause instruction, which may exit to the host")]
fn hit(ball: &Ball, turn: u32) {
    while ball.0.load(Ordering::Acquire) != turn {}
    ball.0.store(turn + 1, Ordering::Release);
}

fn pin(cpu: u32) -> Result<(), rustix::io::Errno> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu as usize);
    sched_setaffinity(None, &cpus)
}

/// Runs this program's transfer measurement in a session of the highest priority, like all measurements here. `None` if it fails.
pub fn transfer_ns(place: &Place) -> Option<f64> {
    let (from, to) = (place.server_cpu.to_string(), place.generator_cpu.to_string());
    let mut command = Command::new(&place.own);
    command.args(["transfer", "--from", &from, "--to", &to]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut placed = spawn(&mut command, place.server_cpu).ok()?;
    let mut told = String::new();
    placed.child.stdout.take()?.read_to_string(&mut told).ok()?;
    placed.reap().ok()?;
    told.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_travels_between_two_cpus() {
        // With a single CPU there is nothing to measure, and the threads would wait for each other's time slices.
        let [from, to, ..] = tolok_host::machine::Machine::read().allowed_cpus[..] else { return };
        // In a separate thread, because pinning is permanent.
        let told = std::thread::spawn(move || run(&TransferArgs { from, to }).unwrap()).join().unwrap();
        let nanoseconds: f64 = told.parse().unwrap();
        // No processor is faster. An upper limit would fail whenever other programs run in between.
        assert!(nanoseconds > 1.0, "{nanoseconds}");
    }
}
