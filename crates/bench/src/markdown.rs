//! The document: tables, and everything needed to read or reproduce them.

use std::fmt::Write as _;

use tolok_host::shell::command_line;

use crate::bench::Outcome;
use crate::exercise::Question;
use crate::generator::Tool;
use crate::measure::url;
use crate::report::{Report, has_script};

const HOW_TO_READ: &str = include_str!("../document/how-to-read.md");
const LATENESS: &str = include_str!("../document/lateness.md");
const HONESTY: &str = include_str!("../document/honesty.md");
const NOT_COVERED: &str = include_str!("../document/not-covered.md");

pub fn document(outcome: &Outcome, report: &Report) -> String {
    let mut text = String::from("# Load generators compared\n\n");
    let _ = writeln!(text, "Made by `script/bench-load --markdown`; not edited by hand.\n");
    let _ = writeln!(text, "- Machine: {}.\n- Extent: {}.", report.machine, report.extent);
    let peers = outcome.peers.iter().filter(|peer| peer.tool != Tool::Floor);
    let generators: Vec<String> = peers.map(|peer| format!("{} {}", peer.tool.name(), peer.version)).collect();
    let _ = writeln!(text, "- Generators: {}.", generators.join(", "));
    let _ =
        writeln!(text, "- Server: tolok's ceiling (`crates/ceiling`), one thread, a fresh one for every measurement.");
    for (question, how_to_read) in
        [(Question::Cost, HOW_TO_READ), (Question::Lateness, LATENESS), (Question::Honesty, HONESTY)]
    {
        let mut tables =
            report.sections.iter().filter(|(of, _)| *of == question).flat_map(|(_, tables)| tables).peekable();
        if tables.peek().is_some() {
            tables.for_each(|table| text.push_str(&format!("\n{}", table.markdown())));
            let _ = write!(text, "\n{how_to_read}");
        }
    }
    if !report.absent.is_empty() {
        let _ = writeln!(text, "\n## Not compared\n\n- {}", report.absent.join("\n- "));
    }
    let _ = write!(text, "\n{NOT_COVERED}\n{}", commands(outcome));
    text
}

/// The exact commands, with placeholders for what differs from run to run.
fn commands(outcome: &Outcome) -> String {
    let mut text = String::from(
        "## Commands\n\nEach in a session of its own, on its CPU alone. `PORT` is the server's, `BODY` a file with the \
         answer's body; the scripts of k6 are below.\n",
    );
    let mut scripts = String::new();
    for exercise in &outcome.exercises {
        let _ = write!(text, "\n{}:\n\n```text\n", exercise.title);
        let load = &exercise.load;
        for contender in exercise.entries.iter().map(|entry| entry.contender) {
            let invocation = contender.invocation(load, url(load.asset, "PORT"), "BODY".as_ref());
            let invocation = invocation.expect("only capable tools take part");
            let program = if contender.tool == Tool::Floor { "bench-load" } else { contender.tool.name() };
            let words: Vec<String> = std::iter::once(program.to_owned()).chain(invocation.arguments).collect();
            let _ = writeln!(text, "{}", command_line(&words));
            if let Some((_, script)) = invocation.files.first().filter(|_| has_script(contender) && scripts.is_empty())
            {
                scripts = format!("\nThe script of k6 in the first of them:\n\n```js\n{script}```\n");
            }
        }
        text.push_str("```\n");
    }
    text + &scripts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tests::outcome;
    use crate::generator::Contender;
    use tolok_model::LoadTool;

    #[test]
    fn the_document_has_tables_versions_and_commands_and_no_path_of_this_machine() {
        let k6 = Contender::usual(Tool::Lab(LoadTool::K6));
        let entries: [(Contender, &[f64]); 3] =
            [(Contender::TOLOK, &[8.0; 5]), (Contender::WRK, &[10.0; 5]), (k6, &[80.0; 5])];
        let outcome = outcome("close", &entries);
        let text = document(&outcome, &Report::of(&outcome));
        for words in [
            "- Generators: tolok 1.2, wrk 1.2, k6 1.2.\n",
            "| wrk 1.2 | 100,000 | 10.0 | 10.0 | 1 | 1.25 \\[1.25, 1.25\\] |",
            "wrk -t1 -c64 -d3s --timeout 10s --latency -H 'Connection: close' http://127.0.0.1:PORT/hello\n",
            "tolok load http://127.0.0.1:PORT/hello --vus=64 --duration=3000000us",
            " --no-keepalive --expect-body=BODY\n",
            "--config k6-config.json k6.js\n",
            "\"executor\": \"constant-vus\"",
            "## How to read the closed loops",
            "passes with a probability of at most 2^-32",
            "## What is not covered",
        ] {
            assert!(text.contains(words), "{words:?} in {text}");
        }
        assert!(!text.contains("/tmp") && !text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
    }
}
