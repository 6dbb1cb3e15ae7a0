//! The command line: what a user can type. `verbs` decides what it means.

mod audit;
mod author;
mod bring;
mod command;
mod compare;
mod documents;
mod duel;
mod fidelity;
mod forecast;
mod load;
mod pool;
#[cfg(test)]
mod reference;
mod replicate;
mod serve;
mod threshold;
mod topics;
mod values;
mod verify;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};

pub use audit::{AuditArgs, AuditFormat, CsvArgs};
pub use author::{
    CheckArgs, CompletionsArgs, HelpArgs, ManArgs, NewArgs, NewAuditArgs, NewStudyArgs, NewSubjectArgs, NewThing,
    NewWorkloadArgs,
};
pub use bring::{BringArgs, NamedUrl};
pub use command::{parse, parse_from, visible};
pub use compare::{CompareArgs, CompareFormat};
pub use documents::document;
pub use duel::{DuelArgs, DuelFormat, DuelJudge};
pub use fidelity::{FidelityArgs, FidelityFormat};
pub use forecast::{ForecastArgs, ForecastFormat};
pub use load::{IfBusy, LoadArgs, LoadFormat};
pub use pool::{DownArgs, InitArgs, MachinesArgs, MachinesVerb, PoolArgs, StatusArgs};
pub use replicate::{ReplicateArgs, ReplicateFormat};
pub use serve::ServeArgs;
pub use threshold::threshold;
use tolok_model::Scale;
pub use topics::Topic;
pub use values::{BodyText, Threads};
pub use verify::{VerifyArgs, VerifyFormat};

/// A benchmark laboratory: which backend runtime is faster here, how certain is that, and what limits each.
#[derive(Debug, Parser)]
#[command(name = "tolok", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Args {
    /// Colours: `auto` follows the terminal, NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What tolok can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// First run: show what is installed, fetch the rest, measure for three minutes, open the report.
    ///
    /// It asks before it fetches anything.
    Quick(QuickArgs),
    /// Run a study: plan, check, measure, analyse, report.
    Run(RunArgs),
    /// Compare two or more servers for a few minutes: versions, variants, folders, or two states of one folder in git.
    ///
    /// It ends with the ratio of correct responses per second and of CPU time, each with its interval, and an exit code for CI.
    Duel(DuelArgs),
    /// Show what a study would do, up to the point of running.
    Plan(PlanArgs),
    /// Resume an interrupted run.
    Resume(ResumeArgs),
    /// Rebuild the reports of a run from its records.
    Report(ReportArgs),
    /// Predict throughput and latency under loads that were not measured.
    ///
    /// The prediction uses the service demands of a run: how much of each resource one response took.
    Forecast(ForecastArgs),
    /// Compare stored runs: what became worse, and what better.
    ///
    /// It also lists what cannot be decided. Figures are compared case by case and judged together.
    Compare(CompareArgs),
    /// Measure a published comparison again and judge each of its claims.
    ///
    /// The studies follow the source's description. Published and measured figures stand side by side, with explanations of
    /// differences.
    Replicate(ReplicateArgs),
    /// Show stored runs in a browser, and a current run second by second.
    ///
    /// Only this machine can open the pages.
    Serve(ServeArgs),
    /// Recompute every figure of a run from its raw data.
    ///
    /// Each is compared with the stored one.
    Verify(VerifyArgs),
    /// Check whether a published table contradicts itself.
    ///
    /// Its figures are compared with each other and with the claims of its text. A table that contradicts itself cannot be right.
    Audit(AuditArgs),
    /// Generate load on a URL, without a study.
    Load(Box<LoadArgs>),
    /// Show how each subject's driver converts each database type.
    ///
    /// It also shows what remains after clients that hang up.
    Fidelity(FidelityArgs),
    /// Make machines that ssh reaches a pool, for `tolok run --on hosts.toml`.
    Pool(MachinesArgs),
    /// Fetch runtimes into the toolbox. Nothing outside that folder changes.
    Setup(SetupArgs),
    /// Report what this machine can and cannot measure.
    Doctor(DoctorArgs),
    /// List subjects, workloads, studies, published tables, tools or runs.
    List(ListArgs),
    /// Create a subject, a workload, a study or an audit of your own, with files that work at once.
    New(NewArgs),
    /// Start subjects and check that they respond and refuse correctly.
    ///
    /// It measures nothing.
    Check(CheckArgs),
    /// Explain a verb or a topic: exit-codes, environment, files.
    Help(HelpArgs),
    /// Print a shell script that completes tolok's verbs and options.
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them to a folder.
    Man(ManArgs),
    /// Runs the trials of one block of a run.
    #[command(hide = true)]
    Block(BlockArgs),
    /// Holds the box of a trial together.
    #[command(hide = true)]
    Keeper(JobArgs),
    /// Tests whether the box of a trial can have namespaces.
    #[command(hide = true)]
    NamespaceProbe(JobArgs),
    /// First process in the box of a trial.
    #[command(hide = true)]
    Init(JobArgs),
    /// Passes packets between the network namespaces of a trial.
    #[command(hide = true)]
    Link(JobArgs),
    /// Runs a program repeatedly and times it.
    #[command(hide = true)]
    ProgramTimer(JobFileArgs),
    /// Generates a part of the load of another machine's run.
    #[command(hide = true)]
    LoadPart,
    /// Serves the ceiling's responses.
    #[command(hide = true)]
    Ceiling(CeilingArgs),
}

impl Verb {
    /// Whether the verb cannot work without running a trial.
    pub fn starts_trials(&self) -> bool {
        self.opens_boxes() && !matches!(self, Self::Plan(_) | Self::Doctor(_))
    }

    /// Whether the verb opens boxes for servers, which requires a control group that this process may divide. A block uses the
    /// group of its run.
    pub fn opens_boxes(&self) -> bool {
        match self {
            Self::Quick(_) | Self::Run(_) | Self::Duel(_) | Self::Plan(_) | Self::Resume(_) => true,
            Self::Doctor(_) | Self::Check(_) | Self::Fidelity(_) => true,
            Self::Replicate(options) => !options.stored,
            _ => false,
        }
    }
}

/// The folder of a run. It makes a list of processes show which run a block belongs to.
#[derive(Debug, ClapArgs)]
pub struct BlockArgs {
    /// The folder.
    pub folder: Option<PathBuf>,
}

/// The job of a hidden verb.
#[derive(Debug, ClapArgs)]
pub struct JobArgs {
    /// The job, in JSON. The verb refuses a call without one.
    #[arg(default_value = "", hide_default_value = true)]
    pub job: String,
}

/// The job of a hidden verb, in a file because it may be too long for a command line.
#[derive(Debug, ClapArgs)]
pub struct JobFileArgs {
    /// File with the job, in JSON.
    pub job: Option<PathBuf>,
}

/// The arguments of the ceiling, which parses them itself.
#[derive(Debug, ClapArgs)]
pub struct CeilingArgs {
    /// The arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

/// Parses the arguments of the hidden verb `program-timer` as the lab passes them, without clap, which takes some hundred KiB.
/// Returns `None` for any other verb or argument; clap then reports what is wrong.
pub fn of_program_timer(mut arguments: impl Iterator<Item = OsString>) -> Option<JobFileArgs> {
    arguments.nth(1).filter(|verb| verb == "program-timer")?;
    let job = arguments.next().filter(|job| !job.as_encoded_bytes().starts_with(b"-"))?;
    arguments.next().is_none().then(|| JobFileArgs { job: Some(job.into()) })
}

/// When to use colours.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// If the terminal can.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Applies to everything printed from now on.
    pub fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Options of every verb that measures.
#[derive(Debug, Default, ClapArgs)]
pub struct MeasureArgs {
    /// Run this many rounds, whatever the study says.
    #[arg(long, value_name = "N", value_parser = values::positive)]
    pub blocks: Option<u32>,
    /// Multiply every warm-up, window and number of requests of the study, but shorten no time below 100 ms. With 0.1 a trial run takes
    /// about a tenth of the time.
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<Scale>,
    /// Measure long enough to quote the figures: ten rounds, and windows of 10 s unless cases take turns in slices.
    #[arg(long, conflicts_with_all = ["blocks", "scale"])]
    pub publish: bool,
    /// What to call the run in reports and lists [default: the study's title, or the names of your own servers].
    #[arg(long, value_name = "TITLE")]
    pub name: Option<String>,
    /// Seed of the order of trials [default: the study's, else a random one, which is recorded].
    #[arg(long, value_name = "N", value_parser = values::any_whole)]
    pub seed: Option<u64>,
    /// Measure only these subjects, named as in a study and separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// Exit with code 6 instead of leaving a missing subject out, and with code 5 after ten discarded trials.
    #[arg(long)]
    pub strict: bool,
    /// If a case needs more CPUs than this machine has, run it on shared CPUs and mark it. By default it is left out.
    #[arg(long)]
    pub allow_shared: bool,
    /// Rebuild compiled subjects for each round, with their functions in random order (`{{ layout }}` in `[build]`).
    #[arg(long)]
    pub rebuild: bool,
    /// After the trials, run each case once more without scoring it, and count cycles, instructions, system calls and
    /// garbage collections.
    #[arg(long)]
    pub diagnose: bool,
}

/// How a run shares the machine.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub struct SharingArgs {
    /// What to do if another tolok measures on this machine, which would disturb both.
    #[arg(long, value_name = "HOW", default_value = "refuse", env = "TOLOK_IF_OTHER_RUN")]
    pub if_other_run: IfOtherRun,
}

/// What to do if another tolok measures here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IfOtherRun {
    /// Measure nothing: exit with code 5.
    Refuse,
    /// Begin when it has ended.
    Wait,
    /// Measure beside it.
    Ignore,
}

/// Where runs are kept and how results are shown.
#[derive(Debug, ClapArgs)]
pub struct ResultArgs {
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for the terminal.
    Text,
    /// Findings with their uncertainty, for programs.
    Json,
    /// Tables for a pull request or a README.
    Md,
    /// One row per case.
    Csv,
    /// One row per figure of each trial.
    Tidy,
    /// LaTeX tables for a paper.
    #[value(aliases = ["latex", "paper"])]
    Tex,
    /// The whole report as one page.
    Html,
    /// The headline and the bars of the first scenario.
    Svg,
    /// Objectives as test cases.
    Junit,
    /// A line for each event as it happens, then one with the findings.
    Jsonl,
    /// The id of the run alone.
    Id,
}

/// Options of `tolok quick`.
#[derive(Debug, ClapArgs)]
pub struct QuickArgs {
    /// Fetch what is missing without asking.
    #[arg(short, long)]
    pub yes: bool,
    /// Do not open the report in a browser.
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub bring: BringArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub sharing: SharingArgs,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The requests that servers get.
#[derive(Debug, ClapArgs)]
pub struct WhatArgs {
    /// A study file, or the name of a study that comes with tolok. Optional with --workload, --subject or --url.
    #[arg(value_hint = ValueHint::FilePath)]
    pub study: Option<String>,
    /// Instead of a study: load this workload with 16 and 64 users. Its name is as in a study (`rows?limit=100`). Repeatable.
    #[arg(long = "workload", value_name = "WORKLOAD", conflicts_with = "study")]
    pub workloads: Vec<String>,
}

/// Options of `tolok run`.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    #[command(flatten)]
    pub what: WhatArgs,
    #[command(flatten)]
    pub bring: BringArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub sharing: SharingArgs,
    #[command(flatten)]
    pub result: ResultArgs,
    #[command(flatten)]
    pub pool: PoolArgs,
}

/// Options of `tolok plan`.
#[derive(Debug, ClapArgs)]
pub struct PlanArgs {
    #[command(flatten)]
    pub what: WhatArgs,
    #[command(flatten)]
    pub bring: BringArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// How to print the plan.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: TextOrJson,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Options of `tolok resume`.
#[derive(Debug, ClapArgs)]
pub struct ResumeArgs {
    /// A run: its folder, its name or the beginning of it, the name of its study (newest run), or `latest`.
    #[arg(default_value = "latest", value_hint = ValueHint::DirPath)]
    pub run: String,
    /// Allow load on a server of the run that is not on this machine. Use it only where you are still permitted to.
    #[arg(long)]
    pub allow_remote: bool,
    /// Run what the plan of another's run brings along: its programs, scripts, servers and databases. tolok lists them before.
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub sharing: SharingArgs,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// Options of `tolok report`.
#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// A run: its folder, its name or the beginning of it, the name of its study (newest run), or `latest`.
    #[arg(default_value = "latest", value_hint = ValueHint::DirPath)]
    pub run: String,
    /// Folder in which runs are kept [default: runs of the checkout, or of the working folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the report. Several formats, separated by commas, go to the folder of --output.
    #[arg(long, default_value = "text", value_name = "FORMATS", value_delimiter = ',')]
    pub format: Vec<Format>,
    /// Write the report to this file. Its ending chooses the format. With several formats it is a folder.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print everything that `text` can show: all figures with their intervals, checks, fairness and cautions.
    #[arg(short, long, conflicts_with = "brief")]
    pub verbose: bool,
    /// Print a short version for a README (`text` and `md`): the verdict, a table per scenario, and the method.
    #[arg(long)]
    pub brief: bool,
    /// Open the page in a browser.
    #[arg(long)]
    pub open: bool,
    /// Write each chart to this folder as SVG, and as PDF if a converter is installed, with figures.tex for all.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
}

/// Options of `tolok setup`.
#[derive(Debug, ClapArgs)]
pub struct SetupArgs {
    /// Missing programs to fetch. `tools` means all load generators and timers [default: all that a subject needs].
    pub programs: Vec<String>,
    /// Do not ask.
    #[arg(short, long)]
    pub yes: bool,
    /// Print the commands without running them.
    #[arg(long)]
    pub dry_run: bool,
    /// Build Swoole from this source archive instead of PECL's.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

/// Options of `tolok doctor`.
#[derive(Debug, ClapArgs)]
pub struct DoctorArgs {
    /// How to print it.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: TextOrJson,
}

/// Options of `tolok list`.
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// What to list [default: what can be listed].
    pub what: Option<Listed>,
    /// Folder in which runs are kept.
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Servers under test and their variants.
    Subjects,
    /// Requests and their correct responses.
    Workloads,
    /// Questions that come with tolok.
    Studies,
    /// Published tables that come with tolok, for `audit`.
    #[value(alias = "tables")]
    Published,
    /// Load generators and timers that a study can name.
    Tools,
    /// Published comparisons that can be measured again.
    Sources,
    /// What has been run here.
    Runs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_s_arguments_are_read_without_clap_only_as_the_lab_gives_them() {
        let job = |line: &str| of_program_timer(line.split(' ').map(OsString::from)).and_then(|options| options.job);
        assert_eq!(job("tolok program-timer /run/job.json"), Some(PathBuf::from("/run/job.json")));
        let others = ["tolok", "tolok run program-timer", "tolok program-timer", "tolok program-timer --help"];
        assert!(others.iter().all(|line| job(line).is_none()));
        assert_eq!(job("tolok program-timer job.json more"), None);
    }
}
