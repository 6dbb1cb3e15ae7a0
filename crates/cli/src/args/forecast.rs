//! Options of `tolok forecast`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use tolok_model::{Limit, Metric, Objective, Part, Relation};

use super::values;

const EXAMPLES: &str = "\
Examples:
  tolok forecast latest --users 1M --think-time 10s
      a million users, each with a request every ten seconds
  tolok forecast latest --users 5000 --database-rtt 20ms --pool 50 --workload query
      the database in another region, and a larger pool
  tolok forecast latest --users 100k --think-time 5s --objective 'mean < 50ms'
      how many instances keep the mean response time below 50 ms

Exits with 4 if it cannot predict anything: the run has too few scenarios, or the predictions of its
own scenarios are wrong by more than 20% in the median.";

/// Options of `tolok forecast`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ForecastArgs {
    /// A run: its folder, its name or the beginning of it, the name of its study (newest run), or `latest`.
    #[arg(default_value = "latest")]
    pub run: String,
    /// Users of each subject: 500, 10k, 2M.
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub users: u64,
    /// Instances of the subject on one database, each with the CPUs and the pool of the measured one.
    #[arg(long, default_value_t = 1, value_name = "M", value_parser = values::whole::<u32>(1..=1_000_000))]
    pub instances: u32,
    /// Round-trip time between users and subject, such as 20ms [default: as measured].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub rtt: Option<f64>,
    /// Round-trip time between subject and database [default: as measured].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub database_rtt: Option<f64>,
    /// Connections of each instance to the database [default: as measured].
    #[arg(long, value_name = "P", value_parser = values::whole::<u32>(1..=1_000_000))]
    pub pool: Option<u32>,
    /// Mean think time of a user between a response and the next request [default: as measured].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub think_time: Option<f64>,
    /// Find how many instances keep this mean response time, such as 'mean < 50ms'.
    #[arg(long, value_name = "OBJECTIVE", value_parser = mean_below)]
    pub objective: Option<f64>,
    /// Only this subject: `go/nethttp` for all its variants, or `go/nethttp:encoder`.
    #[arg(long, value_name = "SUBJECT")]
    pub subject: Option<String>,
    /// Only this workload: `rows`, or `rows?fields=40&limit=1000`.
    #[arg(long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the forecast.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: ForecastFormat,
    /// Write the forecast to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How a forecast is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ForecastFormat {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
    /// Tables for a pull request or a document.
    Md,
    /// One row per subject and workload.
    Csv,
}

/// Round-trip and think times are at most a day.
const LONGEST_S: f64 = 86_400.0;

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = values::duration(text)?.as_secs_f64();
    if seconds <= LONGEST_S { Ok(seconds) } else { Err("a day is the most".to_owned()) }
}

/// The time in `mean < 50ms`: a queueing model predicts means, not percentiles.
fn mean_below(text: &str) -> Result<f64, String> {
    const EXAMPLE: &str = "only a mean response time can be forecast, such as 'mean < 50ms'";
    let objective = Objective::parse(text).map_err(|error| format!("{error}; {EXAMPLE}"))?;
    let is_mean = objective.metric == Metric::Mean && matches!(objective.part, None | Some(Part::Response));
    match objective.value {
        Limit::Seconds(limit_s)
            if is_mean && limit_s > 0.0 && matches!(objective.comparison, Relation::Below | Relation::AtMost) =>
        {
            Ok(limit_s)
        }
        _ => Err(EXAMPLE.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_upper_limit_of_the_mean_is_an_objective() {
        assert_eq!((mean_below("mean < 50ms"), mean_below("response.mean <= 1s")), (Ok(0.05), Ok(1.0)));
        for other in ["p99 < 50ms", "mean > 50ms", "failed < 1%", "service.mean < 1s", "mean < 0ms"] {
            assert!(mean_below(other).is_err(), "{other}");
        }
    }

    #[test]
    fn ways_and_pauses_end_with_a_day() {
        assert_eq!((seconds("20ms"), seconds("0s"), seconds("1d")), (Ok(0.02), Ok(0.0), Ok(86_400.0)));
        assert!(seconds("2d").is_err() && seconds("20").is_err());
    }
}
