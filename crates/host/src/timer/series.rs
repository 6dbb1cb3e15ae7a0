//! The order of runs: first the warm-up runs, then those that count, each beside a floor run if there is a floor.

use std::fs::File;
use std::io;
use std::time::Instant;

use super::job::{FaultyRun, TimedRun, TimerJob, TimerReport};
use super::one_run::run_once;

/// If a program's largest resident set exceeds the inherited mark by less than this, it may really be smaller. The
/// kernel maps up to 16 pages of a file at a time, and `exec` itself may touch them.
const MARK_MOVES_BYTES: u64 = 64 << 10;

/// Makes the runs of a job until all are made, their time is up, or one fails.
pub(super) fn run(job: &TimerJob, log: &File) -> io::Result<TimerReport> {
    let mut report = TimerReport::default();
    for pair in 0..job.warmup_runs {
        if !run_pair(job, log, (true, pair), &mut report)? {
            return Ok(report);
        }
    }
    let began = Instant::now();
    for pair in 0..job.runs {
        let is_time_left = pair == 0 || began.elapsed().as_secs_f64() < job.at_most_s;
        if !is_time_left || !run_pair(job, log, (false, pair), &mut report)? {
            break;
        }
    }
    Ok(report)
}

/// Makes one run and one of the floor, in alternating order, so that steady changes affect both alike. Returns whether
/// all went well.
pub(super) fn run_pair(
    job: &TimerJob,
    log: &File,
    (warm_up, pair): (bool, u32),
    report: &mut TimerReport,
) -> io::Result<bool> {
    let floor_first = pair % 2 == 0;
    for floor in [floor_first, !floor_first] {
        let task = if floor { job.floor.as_ref() } else { Some(&job.work) };
        let Some(task) = task else { continue };
        match run_once(job, log, task)? {
            Ok(ended) => {
                report.runs.push(TimedRun {
                    warm_up,
                    floor,
                    began_ns: ended.began_ns,
                    wall_s: ended.wall_s,
                    user_s: ended.user_s,
                    system_s: ended.system_s,
                    rss_bytes_max: told_bytes(ended.rss_bytes_max, ended.mark_bytes),
                });
            }
            Err(fault) => {
                report.fault = Some(FaultyRun { number: report.runs.len() as u32 + 1, floor, fault });
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The largest resident set of a run, unless it may be the mark that the process had before it executed the program.
fn told_bytes(rss_bytes_max: u64, mark_bytes: u64) -> Option<u64> {
    Some(rss_bytes_max).filter(|bytes| *bytes > mark_bytes + MARK_MOVES_BYTES)
}

#[cfg(test)]
mod tests;
