//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::exercise::NAMES;
use crate::floor::FloorArgs;
use crate::generator::Tool;
use crate::stall::StallArgs;
use crate::transfer::TransferArgs;

/// Length of a short honesty exercise: a stall of 200 ms in every 2 s.
const SHORT_HONESTY: Duration = Duration::from_millis(6_400);

/// Compares the cost of a request for tolok's load engine and other load generators on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench-load", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Commands with which the bench starts itself.
    #[command(subcommand)]
    pub hidden: Option<Hidden>,
    /// Path of a generator, such as wrk=/path/to/wrk; can be repeated. Others are searched on the PATH and in the toolbox.
    #[arg(long = "tool", value_name = "NAME=PATH", value_parser = given)]
    pub tools: Vec<(Tool, PathBuf)>,
    /// Only these exercises, separated by commas: hello-64, hello-512, hello-10000, big, close, lateness, honesty.
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true, value_parser = NAMES)]
    pub only: Vec<String>,
    /// Only these generators, separated by commas; tolok and the floor always take part.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Tool::named)]
    pub generators: Vec<Tool>,
    /// How long each generator runs in each exercise and round, except in honesty.
    #[arg(long, value_name = "S", default_value = "3", value_parser = seconds)]
    pub seconds: Duration,
    /// How often everything except honesty is repeated; intervals need at least 5.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Length of the honesty load on the stalling server, which stalls three times; all other lengths there are proportional.
    #[arg(long, value_name = "S", default_value = "16", value_parser = seconds)]
    pub honesty_seconds: Duration,
    /// How often honesty is repeated.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub honesty_rounds: u32,
    /// 6 rounds of 1 s, and 3 of 6.4 s for honesty: everything with intervals in about 20 minutes.
    #[arg(long, conflicts_with_all = ["seconds", "rounds", "honesty_seconds", "honesty_rounds"])]
    pub brief: bool,
    /// 3 rounds of 1 s, and one of 6.4 s for honesty: only shows that it works.
    #[arg(long, conflicts_with_all = ["seconds", "rounds", "honesty_seconds", "honesty_rounds", "brief"])]
    pub quick: bool,
    /// Seed of the order within rounds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where everything runs.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Fetch missing generators into tolok's toolbox first, as `tolok setup tools` does. Nothing is installed in the system.
    #[arg(long)]
    pub fetch: bool,
    /// Write a document with the printed results and how to read them.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the figures of every round; updated after each measurement.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Where everything runs.
#[derive(Debug, ClapArgs)]
pub struct PlaceArgs {
    /// CPU of the server [default: the first that this process may use].
    #[arg(long, value_name = "CPU")]
    pub server_cpu: Option<u32>,
    /// CPU of the generators [default: the second].
    #[arg(long, value_name = "CPU")]
    pub generator_cpu: Option<u32>,
    /// The server under load [default: the ceiling next to this program].
    #[arg(long, value_name = "PATH")]
    pub ceiling: Option<PathBuf>,
}

/// Commands with which the bench starts itself.
#[derive(Debug, Subcommand)]
pub enum Hidden {
    /// The minimal generator.
    #[command(hide = true)]
    Floor(FloorArgs),
    /// The transfer time of a cache line between CPUs.
    #[command(hide = true)]
    Transfer(TransferArgs),
    /// The server with a known slowness.
    #[command(hide = true)]
    Stall(StallArgs),
}

impl Args {
    /// Number of rounds and length of each measurement.
    pub fn extent(&self) -> (u32, Duration) {
        match (self.quick, self.brief) {
            (true, _) => (3, Duration::from_secs(1)),
            (_, true) => (6, Duration::from_secs(1)),
            _ => (self.rounds, self.seconds),
        }
    }

    /// Length of the honesty load, and its number of rounds.
    pub fn honesty(&self) -> (Duration, u32) {
        match (self.quick, self.brief) {
            (true, _) => (SHORT_HONESTY, 1),
            (_, true) => (SHORT_HONESTY, 3),
            _ => (self.honesty_seconds, self.honesty_rounds),
        }
    }
}

fn given(text: &str) -> Result<(Tool, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("write it as NAME=PATH")?;
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok((Tool::named(name)?, path))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "write seconds from 0.1 to 3600".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercise::Exercise;
    use tolok_model::LoadTool;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn generators_and_exercises_are_named() {
        let args =
            parse("bench-load --tool wrk=/a/wrk --generators wrk,k6 --only close,hello-512,honesty --seconds 0.5");
        let args = args.unwrap();
        let [wrk, k6] = [LoadTool::Wrk, LoadTool::K6].map(Tool::Lab);
        assert_eq!(args.tools, [(wrk, PathBuf::from("/a/wrk"))]);
        assert_eq!(args.generators, [wrk, k6]);
        let names = |args: &Args| Exercise::all(args, &[]).iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(&args), ["hello-512", "close", "honesty", "honesty"]);
        assert_eq!(names(&parse("bench-load").unwrap()).len(), 9);
        assert_eq!(args.honesty(), (Duration::from_secs(16), 3));
        assert_eq!(args.extent(), (10, Duration::from_millis(500)));
        assert_eq!(parse("bench-load --quick").unwrap().extent(), (3, Duration::from_secs(1)));
        assert_eq!(parse("bench-load --quick").unwrap().honesty(), (Duration::from_millis(6_400), 1));
        let brief = parse("bench-load --brief").unwrap();
        assert_eq!((brief.extent(), brief.honesty().1), ((6, Duration::from_secs(1)), 3));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "--tool wrk",
            "--tool siege=/a",
            "--only x",
            "--generators x",
            "--seconds 0",
            "--rounds 0",
            "--quick --rounds 2",
            "--quick --brief",
        ] {
            assert!(parse(&format!("bench-load {line}")).is_err(), "{line}");
        }
    }
}
