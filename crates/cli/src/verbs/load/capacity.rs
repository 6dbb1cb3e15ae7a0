//! `tolok load --capacity`: finds the highest rate that keeps the thresholds.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tolok_analysis::figures::{NONE, count, counted, share, significant};
use tolok_load::capacity::{self, Bracket, Capacity, Limit, Plan, Probe, ProbeOutcome, Progress};
use tolok_load::error::LoadError;
use tolok_load::threshold::KeptOrCrossed;
use tolok_report::document::{Block, Column, Document, Fact, List, Look, Row, Table, Text};
use tolok_report::print::{Style, markdown};

use super::options::{Asked, asked};
use super::others::Before;
use super::plan_words::{duration, rate};
use super::style::{TIE, tied};
use super::{document, hear_interrupts, refusal, session};
use crate::args::{LoadArgs, LoadFormat};
use crate::exit::{CliError, Exit};
use crate::output::{json, put, say, width};

/// Default length of each run. It is too short for a thousand values above the 99th percentile at 100 requests per second, but
/// enough near the limit of most servers.
const RUN: std::time::Duration = std::time::Duration::from_secs(5);
/// Default warm-up of each run: the run before it may have left a queue behind.
const WARM_UP: std::time::Duration = std::time::Duration::from_secs(1);

/// Searches, and prints the result.
pub fn find(args: &LoadArgs) -> Result<Exit, CliError> {
    let defaults = Plan::default();
    let plan = Plan {
        start_rps: args.rate.unwrap_or(defaults.start_rps),
        most_rps: args.capacity_most.unwrap_or(defaults.most_rps),
        precision: args.capacity_precision.unwrap_or(defaults.precision),
        repeats: args.capacity_searches.unwrap_or(defaults.repeats),
    };
    let asked = asked_for_search(args, &plan)?;
    if args.own_session
        && let Some(exit) = session::enter()?
    {
        return Ok(exit);
    }
    let stop = hear_interrupts()?;
    let before = Before::look(args);
    let found = search(&asked, &plan, &stop);
    let mut found = found.map_err(|error| refusal::told(error, args, &asked.options))?;
    found.doubt = before.filter(|_| found.limit != Limit::Interrupted).and_then(|before| before.doubt());
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    put(&shown(&found, &asked, args.format, file.is_some())?, file)?;
    match &found.doubt {
        None => Ok(exit_of(&found)),
        Some(reason) => Err(CliError::new(Exit::GateFailed, format!("not trusted: {}", reason.text))),
    }
}

/// The options of a run at the first rate.
fn asked_for_search(args: &LoadArgs, plan: &Plan) -> Result<Asked, CliError> {
    let refuse = |sentence: &str| Err(CliError::new(Exit::Usage, sentence.to_owned()));
    if args.thresholds.is_empty() {
        return refuse("--capacity needs a --threshold that the rate must keep, such as --threshold 'p99 < 50ms'");
    }
    if !args.stages.is_empty() || args.iterations.is_some() || args.iterations_per_vu.is_some() {
        return refuse("--capacity looks for a constant rate; leave out --stage, --iterations and --iterations-per-vu");
    }
    let mut args = args.clone();
    args.rate = Some(plan.start_rps.min(plan.most_rps));
    args.duration.get_or_insert(RUN);
    args.warmup.get_or_insert(WARM_UP);
    asked(&args)
}

fn search(asked: &Asked, plan: &Plan, stop: &AtomicBool) -> Result<Capacity, LoadError> {
    let mut searched = None;
    let found = capacity::find(&asked.options, &asked.judgement, plan, stop, &mut |progress| match progress {
        Progress::Trying { search, .. } if searched != Some(search) => {
            searched = Some(search);
            say(format!("search {} of {}", search + 1, plan.repeats));
        }
        Progress::Trying { .. } | Progress::Running(_) => {}
        Progress::Tried(probe) => say(format!("  {}", tried(probe))),
    })?;
    Ok(found)
}

/// One run as a line: rate, mark, the thresholds' figures, and the goodput or another reason if it failed.
fn tried(probe: &Probe) -> String {
    let sign = match probe.outcome {
        ProbeOutcome::Kept => "✓",
        ProbeOutcome::Crossed => "✗",
        ProbeOutcome::GeneratorLimited => "?",
    };
    let mut line = format!("{:>12} {sign}", rate(probe.rate_rps));
    for judged in &probe.thresholds {
        let _ = write!(line, "  {} ({})", document::seen(judged), judged.text);
    }
    if probe.outcome == ProbeOutcome::GeneratorLimited {
        line += "  the generator was the limit";
    } else if probe.outcome == ProbeOutcome::Crossed
        && let Some(goodput) = probe.goodput_rps
    {
        let _ = write!(line, "  {} resp/s", significant(goodput, 4));
        // Every threshold held, so the run failed for another reason.
        if probe.thresholds.iter().all(|judged| judged.outcome == KeptOrCrossed::Kept)
            && let Some(reason) = probe.reasons.first()
        {
            let _ = write!(line, "  {}", reason.split(';').next().unwrap_or(reason));
        }
    }
    line
}

fn shown(found: &Capacity, asked: &Asked, format: LoadFormat, is_for_file: bool) -> Result<String, CliError> {
    Ok(match format {
        LoadFormat::Json => json(found)?,
        LoadFormat::Csv => csv(found),
        LoadFormat::Md => markdown(&of_capacity(found, asked)).replace(TIE, " "),
        LoadFormat::Text | LoadFormat::Junit => {
            let style = Style { colour: !is_for_file, width: width() };
            document::printed(&of_capacity(found, asked), style)
        }
    })
}

/// The result, every search, and the warnings about them.
fn of_capacity(found: &Capacity, asked: &Asked) -> Document {
    let title = format!("capacity of {}", found.url);
    let run = duration(asked.options.executor.window().as_secs_f64());
    let searches = counted(found.searches.len() as u64, "search");
    let runs = counted(found.probes.len() as u64, "run");
    let plan = format!("{} · {searches}, {runs} of {run}", found.thresholds.join(" · "));
    let capacity = Fact::of("capacity", Text::of(headline(found), Look::Strong));
    let range = range(found).map(|range| Fact::of("", tied(&range)));
    let blocks = vec![
        Block::heading(2, title.as_str()),
        Block::Paragraph(tied(&plan).into()),
        Block::Facts(std::iter::once(capacity).chain(range).collect()),
        Block::Table(searches_of(found)),
    ];
    let warnings = caution(found).map(|it| Text::of(it, Look::Warning)).into_iter();
    let warnings = warnings.chain(too_short(found, asked).map(|it| Text::of(tied(&it), Look::Warning))).collect();
    let record = Block::Section { id: "capacity".to_owned(), blocks };
    Document { title, blocks: vec![record, Block::List(List { sign: "!", items: warnings })] }
}

fn searches_of(found: &Capacity) -> Table {
    let row = |(search, bracket): (usize, &Bracket)| {
        let cell = |rps: Option<f64>| rps.map_or_else(|| NONE.to_owned(), rate);
        let runs = found.probes.iter().filter(|probe| probe.search as usize == search).count();
        let cells = [(search + 1).to_string(), cell(bracket.kept_rps), cell(bracket.crossed_rps), count(runs as u64)];
        Row::of(cells.map(Into::into).to_vec())
    };
    let numbers = ["kept at", "not kept at", "runs"].map(Column::numbers);
    let columns = std::iter::once(Column::words("search")).chain(numbers).collect();
    Table::of("Searches", columns, found.searches.iter().enumerate().map(row).collect())
}

/// A warning if a run has too few responses: a percentile of them depends on luck.
fn too_short(found: &Capacity, asked: &Asked) -> Option<String> {
    let window_s = asked.options.executor.window().as_secs_f64();
    let answers = found.capacity_rps? * window_s;
    let widest = asked.judgement.thresholds.iter().max_by_key(|threshold| threshold.answers_needed())?;
    let needed = widest.answers_needed();
    (answers < needed as f64).then(|| {
        format!(
            "a run of {} at this rate has about {} responses, and `{}` depends on luck with fewer than {}; make runs longer (-d {:.0}s)",
            duration(window_s),
            count(answers as u64),
            widest.text,
            count(needed),
            (needed as f64 / found.capacity_rps.unwrap_or(1.0)).ceil()
        )
    })
}

fn headline(found: &Capacity) -> String {
    match (found.capacity_rps, found.limit) {
        (Some(capacity), Limit::Target) => rate(capacity),
        (Some(capacity), _) => format!("at least {}", rate(capacity)),
        (None, Limit::Interrupted) => match highest_kept(found) {
            Some(kept) => format!("unknown: the search was interrupted; {} was kept", rate(kept)),
            None => "unknown: the search was interrupted".to_owned(),
        },
        (None, _) => "none: no rate keeps the thresholds".to_owned(),
    }
}

fn highest_kept(found: &Capacity) -> Option<f64> {
    let kept = found.probes.iter().filter(|probe| probe.outcome == ProbeOutcome::Kept);
    kept.map(|probe| probe.rate_rps).max_by(f64::total_cmp)
}

/// The range in which the searches ended, and its confidence.
fn range(found: &Capacity) -> Option<String> {
    let (low, high) = (found.low_rps?, found.high_rps?);
    let sure = found
        .range_confidence
        .map(|confidence| format!(" (holds the median of such searches with {})", share(confidence)));
    Some(format!("all searches ended between {} and {}{}", rate(low), rate(high), sure.unwrap_or_default()))
}

fn caution(found: &Capacity) -> Option<&'static str> {
    match found.limit {
        Limit::Target | Limit::Interrupted => None,
        Limit::Generator => Some(
            "the generator was the limit in some run, so the server may hold more; give the generator more threads \
             (--threads) and CPUs of its own (--cpus)",
        ),
        Limit::HighestRate => Some("the search went no higher (--capacity-most); the server may hold more"),
        Limit::Nothing => {
            Some("not even the lowest rate kept the thresholds; look at a single run at that rate (--rate)")
        }
    }
}

fn csv(found: &Capacity) -> String {
    let mut text = String::from("search,rate_rps,outcome,goodput_rps,threshold,value\n");
    for probe in &found.probes {
        for judged in &probe.thresholds {
            let outcome = match probe.outcome {
                ProbeOutcome::Kept => "kept",
                ProbeOutcome::Crossed => "crossed",
                ProbeOutcome::GeneratorLimited => "generator-limited",
            };
            let shown = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let (goodput, value) = (shown(probe.goodput_rps), shown(judged.value));
            let threshold = judged.text.replace('"', "\"\"");
            let _ = writeln!(text, "{},{},{outcome},{goodput},\"{threshold}\",{value}", probe.search, probe.rate_rps);
        }
    }
    text
}

fn exit_of(found: &Capacity) -> Exit {
    match found.limit {
        Limit::Interrupted => Exit::Interrupted,
        Limit::Target | Limit::HighestRate => Exit::Done,
        Limit::Generator => Exit::GateFailed,
        Limit::Nothing => Exit::ThresholdCrossed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tolok_load::verdict::{Gate, Reason};

    use super::*;

    #[test]
    fn the_stored_result_says_why_it_is_in_doubt() {
        let mut found = Capacity {
            format: Capacity::FORMAT,
            url: "http://localhost/".to_owned(),
            thresholds: vec!["p99 < 50ms".to_owned()],
            capacity_rps: Some(100.0),
            low_rps: Some(100.0),
            high_rps: Some(105.0),
            range_confidence: None,
            limit: Limit::Target,
            searches: Vec::new(),
            probes: Vec::new(),
            interrupted: false,
            doubt: None,
        };
        let stored = |found: &Capacity| serde_json::from_str::<Value>(&json(found).unwrap()).unwrap();
        assert_eq!(stored(&found).get("doubt"), None);
        let text = "other programs used 60% of the CPUs just before the load".to_owned();
        found.doubt = Some(Reason { gate: Gate::BusyMachine, text });
        let stored = stored(&found);
        let doubt = &stored["doubt"];
        assert_eq!(doubt["gate"], "busy-machine");
        assert!(doubt["text"].as_str().unwrap().starts_with("other programs used 60%"), "{doubt}");
    }
}
