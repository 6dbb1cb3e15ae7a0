//! The command line: what can be typed. What it means is decided in `verbs`.

mod audit;
mod author;
mod bring;
mod command;
mod compare;
mod fidelity;
mod forecast;
mod load;
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
    CheckArgs, CompletionsArgs, HelpArgs, ManArgs, NewArgs, NewAuditArgs, NewRuntime, NewStudyArgs, NewSubjectArgs,
    NewThing, NewWorkloadArgs,
};
pub use bring::{BringArgs, NamedUrl};
pub use command::{parse, parse_from, visible};
pub use compare::{CompareArgs, CompareFormat};
pub use fidelity::{FidelityArgs, FidelityFormat};
pub use forecast::{ForecastArgs, ForecastFormat};
pub use load::{LoadArgs, LoadFormat};
pub use replicate::{ReplicateArgs, ReplicateFormat};
pub use serve::ServeArgs;
#[cfg(test)]
pub use threshold::threshold;
use tolok_model::Scale;
pub use topics::Topic;
pub use values::{BodyText, Threads, method};
pub use verify::{VerifyArgs, VerifyFormat};

/// A benchmark laboratory: which backend runtime is faster here, how sure is that, and what limits each.
#[derive(Debug, Parser)]
#[command(name = "tolok", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Args {
    /// Colours: `auto` obeys the terminal, NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What tolok can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// First run: see what is there, fetch the rest, measure two minutes, show the report.
    ///
    /// Nothing is fetched without being asked for.
    Quick(QuickArgs),
    /// Run a study: plan, check, measure, analyse, report.
    Run(RunArgs),
    /// Show what a study would do, up to the point of running.
    Plan(PlanArgs),
    /// Go on with a run where it stopped.
    Resume(ResumeArgs),
    /// Build the reports of a run anew from its records.
    Report(ReportArgs),
    /// Predict throughput and latency under loads that nobody measured.
    ///
    /// From a run's service demands: what an answer took of each resource.
    Forecast(ForecastArgs),
    /// Lay two runs beside each other: what became worse, what better.
    ///
    /// And what cannot be told; figures are compared case by case, and judged together.
    Compare(CompareArgs),
    /// Measure a published comparison again, and judge each of its claims.
    ///
    /// Its studies are run as the source describes them; published and measured stand side by side, with what explains a difference.
    Replicate(ReplicateArgs),
    /// Show the stored runs in a browser, and one at work second by second.
    ///
    /// On pages for this machine alone.
    Serve(ServeArgs),
    /// Compute every figure of a run again from its raw data.
    ///
    /// And say whether each is the one that is stored.
    Verify(VerifyArgs),
    /// Hold a published table's figures against each other.
    ///
    /// And against what its text says of them: a table that contradicts itself cannot be right.
    Audit(AuditArgs),
    /// Put load on a URL with the load engine alone.
    Load(Box<LoadArgs>),
    /// Ask a database through each subject's driver what becomes of each type.
    ///
    /// And what clients leave behind that hang up.
    Fidelity(FidelityArgs),
    /// Fetch runtimes into the toolbox; nothing outside that folder changes.
    Setup(SetupArgs),
    /// Say what this machine can and cannot measure.
    Doctor(DoctorArgs),
    /// List subjects, workloads, studies, published tables, tools or runs.
    List(ListArgs),
    /// Begin a subject, a workload, a study or an audit of your own, with files that work at once.
    New(NewArgs),
    /// Start subjects and see whether they answer, and refuse, as they should.
    ///
    /// Nothing is measured.
    Check(CheckArgs),
    /// Explain a verb or a topic: exit-codes, environment, files.
    Help(HelpArgs),
    /// Print what completes tolok's verbs and options in a shell.
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them into a folder.
    Man(ManArgs),
    /// Runs the trials of one block of a run.
    #[command(hide = true)]
    Block(BlockArgs),
    /// Holds the box of a trial together.
    #[command(hide = true)]
    Keeper(JobArgs),
    /// Tries whether the box of a trial can have namespaces.
    #[command(hide = true)]
    NamespaceProbe(JobArgs),
    /// First process in the box of a trial.
    #[command(hide = true)]
    Init(JobArgs),
    /// Passes packets between the network namespaces of a trial.
    #[command(hide = true)]
    Link(JobArgs),
    /// Runs a program again and again and takes its time.
    #[command(hide = true)]
    ProgramTimer(JobFileArgs),
}

impl Verb {
    /// Whether it opens boxes for servers, which needs a control group that this process may divide. A block has the group
    /// of its run.
    pub fn opens_boxes(&self) -> bool {
        match self {
            Self::Quick(_) | Self::Run(_) | Self::Plan(_) | Self::Resume(_) => true,
            Self::Doctor(_) | Self::Check(_) | Self::Fidelity(_) => true,
            Self::Replicate(options) => !options.stored,
            _ => false,
        }
    }
}

/// The folder of a run, so that a list of processes tells which run a block is of.
#[derive(Debug, ClapArgs)]
pub struct BlockArgs {
    /// The folder.
    pub folder: PathBuf,
}

/// What tolok tells the hidden verbs to do.
#[derive(Debug, ClapArgs)]
pub struct JobArgs {
    /// The job, in JSON.
    pub job: String,
}

/// What tolok tells a hidden verb whose job may be longer than a command line.
#[derive(Debug, ClapArgs)]
pub struct JobFileArgs {
    /// File with the job, in JSON.
    pub job: PathBuf,
}

/// The arguments of the hidden verb `program-timer`, as the lab gives them: read without clap, which takes some hundred KiB.
/// Nothing for any other verb, and if there is any other argument; clap then says what is wrong.
pub fn of_program_timer(mut arguments: impl Iterator<Item = OsString>) -> Option<JobFileArgs> {
    arguments.nth(1).filter(|verb| verb == "program-timer")?;
    let job = arguments.next().filter(|job| !job.as_encoded_bytes().starts_with(b"-"))?;
    arguments.next().is_none().then(|| JobFileArgs { job: job.into() })
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
    /// Makes it so for everything that is printed from here on.
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
#[derive(Debug, ClapArgs)]
pub struct MeasureArgs {
    /// Run each case this often instead of as often as the study says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// Multiply every warm-up, window and number of requests of the study, to see in a tenth of the time (0.1) whether it works.
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<Scale>,
    /// Seed of the order of trials; without it (here or in the study) one is drawn and recorded.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Only these subjects, as a study would name them, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// Leave with code 6 if any subject of the study is missing, instead of going on without it.
    #[arg(long)]
    pub strict: bool,
    /// Run cases that ask for more CPUs than there are on shared ones, and mark them, instead of leaving them out.
    #[arg(long)]
    pub allow_shared: bool,
    /// After the trials, run each case once more, unscored, and count cycles, instructions, system calls and garbage
    /// collections.
    #[arg(long)]
    pub diagnose: bool,
}

/// Where runs are kept and how results are shown.
#[derive(Debug, ClapArgs)]
pub struct ResultArgs {
    /// Folder in which runs are kept [default: ./runs of the checkout, else the user's data folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
    /// Write the result to this file instead of standard output.
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
    /// One row a case.
    Csv,
    /// CSV with one row an observation: each figure of each trial.
    Tidy,
    /// LaTeX tables for a paper.
    Tex,
    /// The whole report as one page.
    Html,
    /// A line of JSON for each event as it happens, and one with the findings; of an old run that one alone.
    Jsonl,
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
    pub result: ResultArgs,
}

/// Options of `tolok run`.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// A study file, or the name of a study that comes with tolok; may be left out with --subject or --url.
    #[arg(value_hint = ValueHint::FilePath)]
    pub study: Option<String>,
    #[command(flatten)]
    pub bring: BringArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// Options of `tolok plan`.
#[derive(Debug, ClapArgs)]
pub struct PlanArgs {
    /// A study file, or the name of a study that comes with tolok; may be left out with --subject or --url.
    #[arg(value_hint = ValueHint::FilePath)]
    pub study: Option<String>,
    #[command(flatten)]
    pub bring: BringArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// How to print the plan.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: PlanFormat,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Options of `tolok resume`.
#[derive(Debug, ClapArgs)]
pub struct ResumeArgs {
    /// A run's folder, its name or the beginning of it, the name of its study (the newest run of it), or `latest`.
    #[arg(default_value = "latest", value_hint = ValueHint::DirPath)]
    pub run: String,
    /// Yes, put load again on a server of the run that is not on this machine. Only where you still may.
    #[arg(long)]
    pub allow_remote: bool,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// Options of `tolok report`.
#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// A run's folder, its name or the beginning of it, the name of its study (the newest run of it), or `latest`.
    #[arg(default_value = "latest", value_hint = ValueHint::DirPath)]
    pub run: String,
    /// Folder in which runs are kept [default: ./runs of the checkout, else the user's data folder].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    /// How to print the report; several, separated by commas, go into the folder of --output.
    #[arg(long, default_value = "text", value_name = "FORMATS", value_delimiter = ',')]
    pub format: Vec<Format>,
    /// Write the report to this file instead of standard output; with several formats, to this folder.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// In short, for a README (`text` and `md`): the verdict, a table for each scenario, and how it was measured.
    #[arg(long)]
    pub brief: bool,
    /// Write each chart to this folder: as SVG, as PDF where a converter is installed, and all in figures.tex.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
}

/// Options of `tolok setup`.
#[derive(Debug, ClapArgs)]
pub struct SetupArgs {
    /// Programs to fetch, where they are missing; `tools` are all load generators and timers [default: all that a subject needs].
    pub programs: Vec<String>,
    /// Do not ask.
    #[arg(short, long)]
    pub yes: bool,
    /// Print the commands and run none.
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of `tolok doctor`.
#[derive(Debug, ClapArgs)]
pub struct DoctorArgs {
    /// How to print it.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: PlanFormat,
}

/// Options of `tolok list`.
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// What to list.
    pub what: Listed,
    /// Folder in which runs are kept.
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Servers under test and their variants.
    Subjects,
    /// Requests and the answers owed to them.
    Workloads,
    /// Questions that come with tolok.
    Studies,
    /// Published tables that come with tolok, for `audit`.
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
        let job = |line: &str| of_program_timer(line.split(' ').map(OsString::from)).map(|options| options.job);
        assert_eq!(job("tolok program-timer /run/job.json"), Some(PathBuf::from("/run/job.json")));
        let others = ["tolok", "tolok run program-timer", "tolok program-timer", "tolok program-timer --help"];
        assert!(others.iter().all(|line| job(line).is_none()));
        assert_eq!(job("tolok program-timer job.json more"), None);
    }
}
