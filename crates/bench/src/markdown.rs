//! The document: tables, and everything one must know to read them or to get them again.

use std::fmt::Write as _;
use std::time::Duration;

use crate::bench::{CellOutcome, Outcome};
use crate::cell::{Contender, Exercise};
use crate::honesty::{self, Extent};
use crate::lateness;
use crate::measure::url;
use crate::part::Part;
use crate::rated::RatedJob;
use crate::report::{Report, Section};
use crate::tool::{Job, Tool};

const HOW_TO_READ: &str = include_str!("../document/how-to-read.md");
const LATENESS: &str = include_str!("../document/lateness.md");
const HONESTY: &str = include_str!("../document/honesty.md");
const NOT_COVERED: &str = include_str!("../document/not-covered.md");

pub fn document(outcome: &Outcome, report: &Report) -> String {
    let mut text = String::from("# Load generators compared\n\n");
    let _ = writeln!(text, "Made by `script/bench-load --markdown`; not edited by hand.\n");
    let _ = writeln!(text, "- Machine: {}.\n- Extent: {}.", report.machine, report.extent);
    let _ = writeln!(text, "- Generators: {}.", generators(outcome));
    let _ = writeln!(
        text,
        "- Server: tolok's ceiling (`subjects/rust/ceiling`), one thread, a fresh one for every measurement."
    );
    report.sections.iter().for_each(|section| text.push_str(&in_words(section)));
    if !report.absent.is_empty() {
        text.push_str("\n## Not compared\n\n");
        report.absent.iter().for_each(|line| {
            let _ = writeln!(text, "- {line}");
        });
    }
    if report.sections.iter().any(|section| matches!(section.part, Part::Cell(_))) {
        let _ = write!(text, "\n{HOW_TO_READ}");
    }
    let _ = write!(text, "\n{NOT_COVERED}\n{}", commands(outcome));
    text
}

fn generators(outcome: &Outcome) -> String {
    let peers = outcome.peers.iter().filter(|peer| peer.tool != Tool::Floor);
    peers.map(|peer| format!("{} {}", peer.tool.name(), peer.version)).collect::<Vec<_>>().join(", ")
}

/// The tables of an exercise, and how to read them. How to read closed loops stands below all of them, because it is the same.
fn in_words(section: &Section) -> String {
    let how = match section.part {
        Part::Cell(_) => String::new(),
        Part::Lateness => format!("\n{LATENESS}"),
        Part::Honesty => format!("\n{HONESTY}"),
    };
    let tables = section.tables.iter().map(|table| format!("\n## {}\n\n{}", table.title, table.markdown()));
    tables.collect::<String>() + &how
}

/// The exact commands, with words for what differs from run to run.
fn commands(outcome: &Outcome) -> String {
    let mut text = String::from(
        "## Commands\n\nEach in a session of its own, on its CPU alone. `PORT` is the server's, `BODY` a file with the \
         answer's body, `SCRIPT` the script below.\n",
    );
    let mut script = None;
    for cell in &outcome.cells {
        let _ = write!(text, "\n{}:\n\n```text\n", cell.cell.title);
        for entry in &cell.entries {
            let job = job(cell, entry.contender, outcome);
            let arguments = entry.contender.tool.arguments(&job).expect("who cannot do this does not take part");
            let _ = writeln!(text, "{}", command(entry.contender.tool, &arguments));
            script = script.or_else(|| entry.contender.tool.script(&job));
        }
        text.push_str("```\n");
    }
    let (rated, rated_script) = rated_commands(outcome);
    text.push_str(&rated);
    for (script, of) in [(script, "closed loops"), (rated_script, "rates")] {
        let Some(script) = script else { continue };
        let _ = write!(text, "\nThe script of k6 for {of}, as it is in the first of them:\n\n```js\n{script}```\n");
    }
    text
}

/// The commands of the exercises with a rate, and the first script.
fn rated_commands(outcome: &Outcome) -> (String, Option<String>) {
    let job = |rate_rps: u32, connections: u32, duration: Duration| {
        let (url, script) = (url(crate::assets::Asset::Hello, "PORT"), "SCRIPT".to_owned());
        RatedJob { url, connections, duration, rate_rps, script }
    };
    let lateness = outcome.lateness.iter();
    let lateness = lateness
        .map(|entry| (entry.rated, job(entry.rate_rps, lateness::CONNECTIONS, outcome.duration)))
        .collect::<Vec<_>>();
    let at = |extent: Extent, case: honesty::Case| honesty::job(case, extent, "SCRIPT".to_owned(), "PORT");
    let honesty = outcome.honesty.iter();
    let honesty = honesty
        .flat_map(|one| one.entries.iter().map(|entry| (entry.rated, at(one.extent, entry.case))))
        .collect::<Vec<_>>();
    let (mut text, mut script) = (String::new(), None);
    for (title, jobs) in [("lateness", lateness), ("honesty", honesty)] {
        if jobs.is_empty() {
            continue;
        }
        let _ = write!(text, "\n{title}:\n\n```text\n");
        for (rated, job) in jobs {
            let _ = writeln!(text, "{}", command(rated.tool(), &rated.arguments(&job)));
            script = script.or_else(|| rated.script(&job));
        }
        text.push_str("```\n");
    }
    (text, script)
}

fn job(cell: &CellOutcome, contender: Contender, outcome: &Outcome) -> Job {
    Job {
        url: url(cell.cell.asset, "PORT"),
        connections: cell.cell.connections,
        duration: outcome.duration,
        keep_alive: cell.cell.exercise == Exercise::KeepAlive,
        discards: contender.discards,
        body: "BODY".to_owned(),
        script: "SCRIPT".to_owned(),
    }
}

fn command(tool: Tool, arguments: &[String]) -> String {
    let quoted = |word: &String| match word.is_empty() || word.contains([' ', '\'', '"']) {
        true => format!("'{word}'"),
        false => word.clone(),
    };
    let name = if tool == Tool::Floor { "bench-load" } else { tool.name() };
    let words: Vec<String> = std::iter::once(name.to_owned()).chain(arguments.iter().map(quoted)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::COLUMNS;
    use crate::summary::tests::outcome;

    #[test]
    fn the_document_has_tables_versions_and_commands_and_no_path_of_this_machine() {
        let k6 = Contender { tool: Tool::K6, discards: false };
        let entries: [(Contender, &[f64]); 3] =
            [(Contender::TOLOK, &[8.0; 5]), (Contender::WRK, &[10.0; 5]), (k6, &[80.0; 5])];
        let outcome = outcome(&[("close", &entries)]);
        let text = document(&outcome, &Report::of(&outcome));
        for words in [
            "- Generators: tolok 1.2, wrk 1.2, k6 1.2.\n",
            "| wrk 1.2 | 100,000 | 10.0 | 10.0..10.0 | 1 | 1.25 [1.25, 1.25] |",
            "wrk -t1 -c64 -d1s -H 'Connection: close' http://127.0.0.1:PORT/hello\n",
            "tolok load http://127.0.0.1:PORT/hello -c 64 -d 1000ms --format json --no-keepalive --expect-body BODY\n",
            "k6 run --quiet --no-color --no-usage-report --address '' SCRIPT\n",
            "executor: 'constant-vus', vus: 64",
            "## How to read the closed loops",
            "passes with a probability of at most 2^-32",
            "## What is not covered",
        ] {
            assert!(text.contains(words), "{words:?} in {text}");
        }
        assert!(!text.contains("/tmp") && !text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
        let columns = |line: &&str| {
            line.starts_with('|') && line.matches(" | ").count() != COLUMNS.len() - 1 && !line.starts_with("|---")
        };
        assert_eq!(text.lines().find(columns), None);
    }
}
