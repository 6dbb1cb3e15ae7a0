//! Options of `tolok compare`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use tolok_analysis::ComparedMetric;

/// Options of `tolok compare`.
#[derive(Debug, ClapArgs)]
#[command(after_help = CODES)]
pub struct CompareArgs {
    /// The run before: its folder, its name or the beginning of it, the name of its study (newest run), or `latest`. One run of
    /// each shows what changed between the two, never a regression.
    #[arg(value_name = "A", required_unless_present_any = ["before", "history"],
          conflicts_with_all = ["before", "history"])]
    pub a: Option<String>,
    /// The run after.
    #[arg(value_name = "B")]
    pub b: Option<String>,
    /// Two or more runs before. Intervals then include what differs from run to run of one version.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "after")]
    pub before: Vec<String>,
    /// Two or more runs after.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "before")]
    pub after: Vec<String>,
    /// The runs of one study over time, with the runs at which a level changes: the name of a study, or four runs or more.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "before")]
    pub history: Vec<String>,
    /// Judge by these figures only, separated by commas [default: goodput, CPU time and memory; p50 and p99 of open loops;
    /// wall and CPU time of programs].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub metric: Vec<MetricName>,
    /// Differences smaller than this do not matter [default: the largest smallest effect of the studies].
    #[arg(long, value_name = "PERCENT", value_parser = threshold)]
    pub threshold: Option<f64>,
    /// Compare runs under different conditions too (machine, limits, load), and mark the result.
    #[arg(long)]
    pub allow_differences: bool,
    /// Show all figures on the terminal, including those without a change.
    #[arg(short, long)]
    pub verbose: bool,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: CompareFormat,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const CODES: &str = "Exit codes:
  0    nothing is worse; with --history, figures were judged, whatever was found
  2    wrong command line, or the conditions of the runs differ
  3    a regression, shown by two or more runs of each
  4    no regression shown, but a main figure is undecided, or worse in a single pair of runs;
       with --history, no figure is in enough runs
  5    one of the runs has no ranked case";

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables for the terminal.
    Text,
    /// For a comment on a pull request.
    Md,
    /// For programs.
    Json,
    /// One row per figure.
    Csv,
    /// A page for a browser.
    Html,
}

/// A figure by which runs can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricName {
    /// Correct responses per second.
    Goodput,
    /// Wall time of programs.
    Wall,
    /// Median response time.
    P50,
    /// 99th percentile of response times.
    P99,
    /// CPU time per correct response, or of a program.
    Cpu,
    /// Memory.
    Memory,
    /// From the start to the first correct response.
    ColdStart,
}

impl MetricName {
    /// Its name in the analysis.
    pub fn metric(self) -> ComparedMetric {
        match self {
            Self::Goodput => ComparedMetric::Goodput,
            Self::Wall => ComparedMetric::Wall,
            Self::P50 => ComparedMetric::P50,
            Self::P99 => ComparedMetric::P99,
            Self::Cpu => ComparedMetric::Cpu,
            Self::Memory => ComparedMetric::Memory,
            Self::ColdStart => ComparedMetric::ColdStart,
        }
    }
}

/// Parses `3%` as 0.03. A number without the sign is refused, because it could mean either.
pub fn threshold(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0).filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "a threshold is a percentage of more than 0 and less than 100, such as 3%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_percentage_and_says_so() {
        assert_eq!(threshold("3%"), Ok(0.03));
        assert_eq!(threshold(" 2.5 %"), Ok(0.025));
        for wrong in ["0.03", "3", "0%", "100%", "-1%", "NaN%", "three"] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_figure_is_asked_for_by_the_word_that_files_have() {
        for name in MetricName::value_variants() {
            let word = name.to_possible_value().map(|value| value.get_name().to_owned());
            assert_eq!(word.as_deref(), Some(name.metric().word()));
        }
    }
}
