//! Options of `tolok audit`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use tolok_model::transcription::CsvOptions;

/// Options of `tolok audit`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct AuditArgs {
    /// Tables to check: a transcription in TOML, a table in CSV, a saved page in Markdown or HTML, the output of a load generator,
    /// the result file of a public benchmark, `-` for any of these from standard input, or the name of a table that comes with tolok (`tolok list published`).
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
    /// Print only what is wrong. JSON is always complete.
    #[arg(long)]
    pub brief: bool,
    /// How to print the result.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: AuditFormat,
    /// Write the result to this file. Its ending chooses the format.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// What a table that is not a transcription does not state itself.
#[derive(Debug, Default, PartialEq, Eq, ClapArgs)]
#[command(next_help_heading = "Tables that are no transcription")]
pub struct CsvArgs {
    /// What a column holds: the key of a figure, as in TOML, or of [method]. Without a key the column is left out. Repeatable.
    #[arg(long, value_name = "HEADER=KEY", value_parser = CsvOptions::column)]
    pub column: Vec<(String, String)>,
    /// The column that names what was measured [default: subject].
    #[arg(long, value_name = "HEADER")]
    pub subject: Option<String>,
    /// The columns that together name the setting [default: scenario, if there is one].
    #[arg(long, value_name = "HEADER")]
    pub scenario: Vec<String>,
    /// The column that names the source's table [default: table, if there is one]; of a page, which of its tables: 1 is the first.
    #[arg(long, value_name = "HEADER|N")]
    pub table: Option<String>,
    /// Take several rows, or runs, of one subject and setting as repetitions.
    #[arg(long)]
    pub repetitions: bool,
    /// Read numbers such as 1.234,5 with a decimal comma.
    #[arg(long)]
    pub decimal_comma: bool,
    /// Title of the source [default: name of the file].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// The load generator, such as wrk.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Concurrent connections or virtual users.
    #[arg(long, value_name = "N")]
    pub connections: Option<String>,
    /// Length of a run, such as 30s.
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Any other key of [method] that holds for all rows: loop=closed, subject-cpus=4. Repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    pub method: Vec<String>,
}

impl CsvArgs {
    /// Conditions for all rows, in the syntax of `[method]`: `connections=64`.
    pub fn conditions(&self) -> Vec<String> {
        let named = [("tool", &self.tool), ("connections", &self.connections), ("duration", &self.duration)];
        let named = named.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)));
        named.chain(self.method.iter().cloned()).collect()
    }
}

const EXAMPLES: &str = "\
Examples:
  tolok audit table.toml
      every check: what is contradicted, what is undecided and why, what holds
  tolok audit asshuffi-apache-node --brief
      a table that comes with tolok; only what is contradicted
  tolok audit table.csv --subject Server --column Req/s=throughput_rps --connections 64
      a table in CSV, and what its columns are
  tolok audit page.html --table 2 --subject Server --column Req/s=throughput_rps
      the second table of a saved page; without --table, a list of its tables
  tolok audit wrk.txt
      what wrk printed; its lines are the places in findings
  tolok audit published/*.toml --format html -o audits.html
      several tables on one page

How to transcribe a table: tolok help docs/transcribe.md
What a verdict means: tolok help docs/audit.md

Exit codes:
  0    no figure contradicts another one or the text
  2    wrong command line, no such file, or a mistake in a file
  3    a table contradicts itself";

/// How an audit is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
    /// For a document or an issue.
    Md,
    /// One page.
    Html,
    /// A badge of one table, in SVG, for its page.
    Badge,
}
