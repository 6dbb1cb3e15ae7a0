//! Reads the results of timing a program from the files of the timers.

use serde::{Deserialize, Serialize};
use tolok_load::clock::MonotonicNs;
use tolok_model::{ProgramRun, ProgramScenario, ProgramTurns, Timer, TimerSummary};

use super::text;
use crate::Folder;
use tolok_host::sample::Window;
use tolok_host::timer::{TimedRun, TimerReport};
use tolok_tools::timer::{gnu_time_runs, hyperfine_report};

/// One line for each run.
pub const ROWS: &str = "runs.jsonl";
/// The last report of tolok's own timer.
pub const TIMER_REPORT: &str = "timer.json";
/// The output of hyperfine and GNU time.
pub const TOOL_OUTPUT: &str = "tool.out";
/// The kernel's clock counts nanoseconds, and tolok's timer and hyperfine write all digits.
const FINE_S: f64 = 1e-9;
/// GNU time writes two decimals.
const GNU_TIME_S: f64 = 0.01;
/// CPU seconds that a window needs to be judged. The hypervisor may take a hundredth of them, which must exceed the kernel's
/// counting step of a hundredth of a second.
const JUDGED_CPU_S: f64 = 1.0;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) runs: Vec<ProgramRun>,
    pub(super) floor: Vec<ProgramRun>,
    pub(super) warmup_runs: u32,
    pub(super) said: Option<TimerSummary>,
    /// From the start of the first counted run to the end of the last, or `None` if the timer does not report this.
    pub(super) window_s: Option<f64>,
}

/// A line of `runs.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    timer: String,
    warm_up: bool,
    floor: bool,
    /// On the monotonic clock; only from tolok's timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began_ns: Option<u64>,
    /// Round and half of its turn, for a case that takes turns with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<(u32, u32)>,
    #[serde(flatten)]
    run: ProgramRun,
}

impl RunRow {
    /// A run of tolok's timer.
    pub fn own(run: &TimedRun) -> Self {
        let TimedRun { warm_up, floor, began_ns, .. } = *run;
        let timer = Timer::Tolok.word().to_owned();
        Self { timer, warm_up, floor, began_ns: Some(began_ns), turn: None, run: run_of(run) }
    }

    /// A run that another timer reports.
    pub fn of_tool(timer: Timer, run: ProgramRun) -> Self {
        Self { timer: timer.word().to_owned(), warm_up: false, floor: false, began_ns: None, turn: None, run }
    }

    /// All runs of a timer that took turns. Each counted turn has a run and its floor, in either order.
    pub fn in_turns(runs: &[TimedRun], turns: impl Iterator<Item = (u32, u32)>) -> Vec<Self> {
        let mut of_counted = turns.flat_map(|turn| [turn, turn]);
        let row = |run| {
            let own = Self::own(run);
            let turn = if own.counts() { of_counted.next() } else { None };
            Self { turn, ..own }
        };
        runs.iter().map(row).collect()
    }

    /// Round and half of its turn.
    pub(crate) fn turn(&self) -> Option<(u32, u32)> {
        self.turn
    }

    /// Whether it is a counted run with the work.
    pub(crate) fn is_measured(&self) -> bool {
        self.counts() && !self.floor
    }

    pub fn counts(&self) -> bool {
        !self.warm_up
    }

    /// When it ended, on the monotonic clock.
    fn ended_ns(&self) -> Option<u64> {
        Some(self.began_ns? + (self.run.wall_s * 1e9) as u64)
    }
}

/// The finest step of a timer's wall times.
pub(super) fn resolution_s(timer: Timer) -> f64 {
    match timer {
        Timer::Tolok | Timer::Hyperfine => FINE_S,
        Timer::Time => GNU_TIME_S,
    }
}

/// Whether a window is long enough to judge disturbances.
pub(super) fn is_judged(length_s: f64, machine_cpus: u32) -> bool {
    length_s * f64::from(machine_cpus) >= JUDGED_CPU_S
}

pub(super) fn length_s(window: Window) -> f64 {
    seconds_between(window.began, window.ended)
}

/// All rows of a trial.
pub(crate) fn rows_in(folder: &Folder) -> Result<Vec<RunRow>, String> {
    let rows = text(folder, ROWS)?.lines().map(serde_json::from_str).collect::<Result<Vec<RunRow>, _>>();
    rows.map_err(|error| format!("{ROWS}: {error}"))
}

/// The turns of a launch's counted runs, from their rows.
pub(super) fn turns_by(folder: &Folder, launch: u32) -> Result<ProgramTurns, String> {
    let rows = rows_in(folder)?;
    let places = rows.iter().filter(|row| row.is_measured()).map(RunRow::turn).collect::<Option<_>>();
    let places = places.ok_or_else(|| format!("{ROWS} does not tell the turn of every run"))?;
    Ok(ProgramTurns { launch, places })
}

/// The rows of the counted runs according to the timers' own reports, with their turns if there are any.
pub(crate) fn rows_told(
    folder: &Folder,
    (timer, version): (Timer, &str),
    turns: Option<Vec<(u32, u32)>>,
) -> Result<Vec<RunRow>, String> {
    let of_tool = |runs: Vec<ProgramRun>| runs.into_iter().map(|run| RunRow::of_tool(timer, run)).collect();
    match timer {
        Timer::Tolok => {
            let runs = told(folder)?;
            let rows = match turns {
                None => runs.iter().map(RunRow::own).collect(),
                Some(turns) => RunRow::in_turns(&runs, turns.into_iter()),
            };
            Ok(rows.into_iter().filter(RunRow::counts).collect())
        }
        Timer::Hyperfine => Ok(of_tool(hyperfine_report(&text(folder, TOOL_OUTPUT)?).map_err(words)?.runs)),
        Timer::Time => Ok(of_tool(gnu_time_runs(&text(folder, TOOL_OUTPUT)?, version).map_err(words)?)),
    }
}

/// The results of a scenario's timer.
pub(super) fn found_by(folder: &Folder, scenario: &ProgramScenario, version: &str) -> Result<Found, String> {
    let rows = rows_in(folder)?;
    let before = rows.iter().filter(|row| row.warm_up && !row.floor).count() as u32;
    match scenario.timer {
        Timer::Tolok => Ok(Found { warmup_runs: before, ..by_own(&rows) }),
        Timer::Hyperfine => {
            let report = hyperfine_report(&text(folder, TOOL_OUTPUT)?).map_err(words)?;
            let warmup_runs = before + scenario.runs.warmup_runs;
            Ok(Found { runs: report.runs, said: Some(report.said), warmup_runs, ..Found::default() })
        }
        Timer::Time => {
            let runs = gnu_time_runs(&text(folder, TOOL_OUTPUT)?, version).map_err(words)?;
            // tolok's timer ran hyperfine, so its report has the times.
            let made: Vec<RunRow> = told(folder)?.iter().map(RunRow::own).collect();
            Ok(Found { runs, warmup_runs: before, window_s: by_own(&made).window_s, ..Found::default() })
        }
    }
}

/// The results of tolok's own timer for the counted runs.
fn by_own(rows: &[RunRow]) -> Found {
    let counted: Vec<&RunRow> = rows.iter().filter(|row| row.counts()).collect();
    let of = |floor: bool| counted.iter().filter(|row| row.floor == floor).map(|row| row.run).collect();
    let ends = counted.first().and_then(|row| row.began_ns).zip(counted.last().and_then(|row| row.ended_ns()));
    let window_s = ends.map(|(began, ended)| seconds_between(MonotonicNs(began), MonotonicNs(ended)));
    Found { runs: of(false), floor: of(true), window_s, ..Found::default() }
}

/// The last report of tolok's own timer.
fn told(folder: &Folder) -> Result<Vec<TimedRun>, String> {
    let report = serde_json::from_str::<TimerReport>(&text(folder, TIMER_REPORT)?);
    report.map(|report| report.runs).map_err(|error| format!("{TIMER_REPORT}: {error}"))
}

fn run_of(run: &TimedRun) -> ProgramRun {
    ProgramRun {
        wall_s: run.wall_s,
        user_s: Some(run.user_s),
        system_s: Some(run.system_s),
        rss_bytes_max: run.rss_bytes_max,
    }
}

fn seconds_between(began: MonotonicNs, ended: MonotonicNs) -> f64 {
    ended.since(began).as_secs_f64()
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(floor: bool, began_s: f64, wall_s: f64) -> TimedRun {
        let began_ns = (began_s * 1e9) as u64;
        TimedRun { warm_up: false, floor, began_ns, wall_s, user_s: 0.1, system_s: 0.0, rss_bytes_max: None }
    }

    #[test]
    fn runs_and_their_floors_are_told_apart_and_the_window_spans_all_that_count() {
        let warm_up = TimedRun { warm_up: true, ..run(false, 1.0, 9.0) };
        let made = [warm_up, run(true, 5.0, 0.25), run(false, 5.5, 1.0), run(false, 7.0, 1.5), run(true, 9.0, 0.5)];
        let found = by_own(&made.iter().map(RunRow::own).collect::<Vec<_>>());
        let walls = |runs: &[ProgramRun]| runs.iter().map(|run| run.wall_s).collect::<Vec<_>>();
        assert_eq!((walls(&found.runs), walls(&found.floor)), (vec![1.0, 1.5], vec![0.25, 0.5]));
        assert_eq!(found.window_s, Some(4.5));
        assert_eq!(by_own(&[]).window_s, None);
    }

    #[test]
    fn a_row_says_which_timer_told_it_and_leaves_out_what_that_does_not_tell() {
        let row = |row: &RunRow| serde_json::to_string(row).unwrap();
        let of_tool = RunRow::of_tool(Timer::Hyperfine, ProgramRun { wall_s: 0.5, ..ProgramRun::default() });
        assert_eq!(row(&of_tool), r#"{"timer":"hyperfine","warm_up":false,"floor":false,"wall_s":0.5}"#);
        let own = RunRow::own(&run(true, 2.0, 0.5));
        assert!(row(&own).contains(r#""floor":true,"began_ns":2000000000,"wall_s":0.5,"user_s":0.1"#), "{own:?}");
        assert_eq!(serde_json::from_str::<RunRow>(&row(&own)).unwrap(), own, "and comes back the same");
    }
}
