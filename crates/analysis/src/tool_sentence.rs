//! What several tools say of one subject, in a few sentences that are made of figures alone.

use tolok_model::{LoadProfile, LoadTool};

use crate::figures::{Quantity, amount, figure, listed, small_share};
use crate::findings::Estimate;
use crate::flags::SATURATED;
use crate::tool_differences::waiting;
use crate::tools::{ToolRow, ToolsFinding};

/// A value of one tool.
type Said<'a> = (&'a ToolRow, f64);

/// Which tools agree, which were themselves the limit, whom the wire contradicts, and whose latencies were not taken.
pub(crate) fn tools_sentence(finding: &ToolsFinding, load: &LoadProfile, smallest_effect: f64) -> String {
    let rows = &finding.rows;
    let measured: Vec<&ToolRow> = rows.iter().filter(|row| row.goodput_rps.is_some()).collect();
    // A script of the user's own may ask for something else, so its rate agrees with nothing.
    let (sound, others): (Vec<&ToolRow>, Vec<&ToolRow>) =
        measured.iter().copied().partition(|row| row.voided_by.is_empty() && row.script.is_none());
    let sentences = [
        Some(answer(&measured, &sound, smallest_effect)),
        limited(&others, &sound),
        contradicted(&measured),
        impossible(&measured, load),
        left_out(&others),
        not_measured(rows),
        cost(finding, &sound, smallest_effect),
        at_a_rate(&sound).filter(|_| load.executor.is_open()),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn answer(measured: &[&ToolRow], sound: &[&ToolRow], smallest_effect: f64) -> String {
    let asked = format!("{} tools asked the same server", measured.len());
    match (measured, sound) {
        ([], _) => "No tool has a figure here.".to_owned(),
        ([only], _) => format!("Only {} has a figure here, so there is nothing to compare it with.", only.tool),
        (_, []) => format!("{asked}, and no rate of theirs stands."),
        (_, [only]) => {
            format!("{asked}: only the rate of {} stands, {} a second.", only.tool, rate_words(only))
        }
        (all, several) => {
            let names = if all.len() == several.len() { "they".to_owned() } else { names(several) };
            let said: Vec<Said> = several.iter().map(|row| (*row, rate(row))).collect();
            let at_limit = several.iter().all(|row| row.subject_busy.is_some_and(|busy| busy >= SATURATED));
            let limit = if at_limit { ", where the server was the limit" } else { "" };
            format!("{asked}: {names} {}{limit}.", agreement(&said, smallest_effect))
        }
    }
}

/// That rates agree, or between whom they lie.
fn agreement(said: &[Said], smallest_effect: f64) -> String {
    let Some((lowest, highest)) = ends(said) else { return String::new() };
    let spread = highest.1 / lowest.1 - 1.0;
    if spread < smallest_effect {
        return format!("agree within {} on the rate", small_share(spread));
    }
    let of = |(row, _): Said| format!("{} says {}", row.tool, rate_words(row));
    format!("differ by {} on the rate ({}, {})", small_share(spread), of(highest), of(lowest))
}

/// The lowest and the highest; of equals the first in the order of the study.
fn ends<'a>(said: &[Said<'a>]) -> Option<(Said<'a>, Said<'a>)> {
    let lowest = said.iter().copied().min_by(|left, right| left.1.total_cmp(&right.1))?;
    let highest = said.iter().copied().rev().max_by(|left, right| left.1.total_cmp(&right.1))?;
    Some((lowest, highest))
}

/// Tools that were the limit themselves, and how their rates stand to one that was not.
fn limited(others: &[&ToolRow], sound: &[&ToolRow]) -> Option<String> {
    let limits: Vec<&ToolRow> = others.iter().copied().filter(|row| row.is_limit).collect();
    let busy: Vec<String> = limits.iter().filter_map(|row| row.generator_busy).map(small_share).collect();
    let (themselves, their) = match limits.len() {
        0 => return None,
        1 => ("was itself the limit", "its"),
        _ => ("were themselves the limit", "their"),
    };
    let is_same = busy.windows(2).all(|pair| pair[0] == pair[1]);
    let busy = match busy.as_slice() {
        [first, _, ..] if is_same => format!("{first} of their CPU time used by each"),
        _ => format!("{} of {their} CPU time used", listed(&busy, "and")),
    };
    let used = format!("{} {themselves}, with {busy}", names(&limits));
    let Some(reference) = reference(sound) else { return Some(format!("{used}.")) };
    let of = |row: &&ToolRow| {
        let paired = row.goodput_of_own.as_ref().filter(|_| is_own(reference));
        let of_medians = || amount(Quantity::Ratio, rate(row) / rate(reference));
        paired.map_or_else(of_medians, |ratio| figure(Quantity::Ratio, ratio).value)
    };
    let shares: Vec<String> = limits.iter().map(of).collect();
    let says = if limits.len() == 1 { "it says" } else { "they say" };
    Some(format!("{used}: {says} {} of the rate that {} says.", listed(&shares, "and"), reference.tool))
}

/// tolok's own tool if its rate stands, or else the highest of those that do.
fn reference<'a>(sound: &[&'a ToolRow]) -> Option<&'a ToolRow> {
    let own = sound.iter().copied().find(|row| is_own(row));
    own.or_else(|| sound.iter().copied().max_by(|left, right| rate(left).total_cmp(&rate(right))))
}

fn is_own(row: &ToolRow) -> bool {
    row.tool == LoadTool::Tolok.word()
}

fn contradicted(measured: &[&ToolRow]) -> Option<String> {
    if measured.is_empty() {
        return None;
    }
    let of = |row: &&ToolRow| {
        let shares = row.counted_of_wire.iter().flat_map(|share| share.trials.iter().copied());
        let worst = shares.max_by(|left, right| (left - 1.0).abs().total_cmp(&(right - 1.0).abs()));
        let share = worst.map(share_of_wire).unwrap_or_else(|| "some".to_owned());
        format!("{} (in the worst trial it counted {share} of the good answers that crossed it)", row.tool)
    };
    let contradicted: Vec<String> = measured.iter().filter(|row| row.is_contradicted).map(of).collect();
    if !contradicted.is_empty() {
        return Some(format!("The wire contradicts {}.", listed(&contradicted, "and")));
    }
    let counted = measured.iter().filter(|row| row.counted_of_wire.is_some()).count();
    Some(match counted {
        1 if measured.len() == 1 => "What it counted agrees with what crossed the wire.".to_owned(),
        0 => "Nothing was counted on the wire, so their counts are unchecked.".to_owned(),
        all if all == measured.len() => "What each counted agrees with what crossed the wire.".to_owned(),
        _ => {
            let unchecked: Vec<&ToolRow> =
                measured.iter().copied().filter(|row| row.counted_of_wire.is_none()).collect();
            format!(
                "What they counted agrees with what crossed the wire, but for {}, where it was not counted.",
                names(&unchecked)
            )
        }
    })
}

/// A count as a share of what crossed the wire: nobody is off by so little that it may be rounded away.
pub fn share_of_wire(share: f64) -> String {
    let percent = share * 100.0;
    match (percent - 100.0).abs() {
        0.0 => "100%".to_owned(),
        off if off < 1.0 => format!("{percent:.2}%"),
        _ => format!("{percent:.1}%"),
    }
}

fn impossible(measured: &[&ToolRow], load: &LoadProfile) -> Option<String> {
    let of = |row: &&ToolRow| Some(format!("that of {} ({})", row.tool, waiting(row, load)?));
    let found: Vec<String> = measured.iter().filter_map(of).collect();
    let (means, are) = if found.len() == 1 { ("One mean latency", "is") } else { ("Some mean latencies", "are") };
    (!found.is_empty()).then(|| format!("{means} {are} not of answers that came: {}.", listed(&found, "and")))
}

/// Those that are compared with nothing for another reason than that they were the limit, or contradicted.
fn left_out(others: &[&ToolRow]) -> Option<String> {
    let of = |row: &&ToolRow| {
        let is_said = |kind: &&String| matches!(kind.as_str(), "generator-bound" | "wire-contradicts");
        let kinds = row.voided_by.iter().filter(|kind| !is_said(kind)).cloned();
        let script = row.script.as_ref().map(|_| "a script of its own".to_owned());
        let reasons: Vec<String> = kinds.chain(script).collect();
        (!reasons.is_empty()).then(|| format!("{} ({})", row.tool, reasons.join(", ")))
    };
    let found: Vec<String> = others.iter().filter_map(of).collect();
    (!found.is_empty()).then(|| format!("Not compared: {}.", listed(&found, "and")))
}

fn not_measured(rows: &[ToolRow]) -> Option<String> {
    let of = |row: &ToolRow| {
        let reason = if row.failures.is_empty() { "no good answer".to_owned() } else { row.failures.join(", ") };
        let reason = if row.trials_scored == 0 && row.failures.is_empty() { "not measured".to_owned() } else { reason };
        format!("{} ({reason})", row.tool)
    };
    let lacking: Vec<String> = rows.iter().filter(|row| row.goodput_rps.is_none()).map(of).collect();
    (!lacking.is_empty()).then(|| format!("Without a figure: {}.", listed(&lacking, "and")))
}

/// The server does the same for every answer, so what an answer costs it is a referee as well.
fn cost(finding: &ToolsFinding, sound: &[&ToolRow], smallest_effect: f64) -> Option<String> {
    let cost = |row: &ToolRow| finding.subject_cpu_s(row).map(|cost: &Estimate| cost.value);
    let said: Vec<Said> = sound.iter().filter_map(|row| Some((*row, cost(row)?))).collect();
    let (lowest, highest) = ends(&said).filter(|_| said.len() > 1)?;
    let seconds = |seconds: f64| amount(Quantity::Seconds, seconds);
    let spread = highest.1 / lowest.1 - 1.0;
    if spread < smallest_effect {
        let of = seconds(lowest.1);
        return Some(format!(
            "An answer cost the server {of} of CPU time whoever asked, within {}.",
            small_share(spread)
        ));
    }
    Some(format!(
        "An answer cost the server from {} of CPU time ({} asked) to {} ({}).",
        seconds(lowest.1),
        lowest.0.tool,
        seconds(highest.1),
        highest.0.tool
    ))
}

/// At one rate all answer the same question about latency, and the tools give different answers.
fn at_a_rate(sound: &[&ToolRow]) -> Option<String> {
    let said: Vec<Said> = sound.iter().filter_map(|row| Some((*row, row.latency_p99_s.as_ref()?.value))).collect();
    let (lowest, highest) = ends(&said).filter(|_| said.len() > 1)?;
    let [low, high] =
        [lowest, highest].map(|(row, p99_s)| format!("{} ({})", amount(Quantity::Seconds, p99_s), row.tool));
    Some(format!("Their p99 runs from {low} to {high}."))
}

fn rate(row: &ToolRow) -> f64 {
    row.goodput_rps.as_ref().map_or(f64::NAN, |goodput| goodput.value)
}

/// As it stands in the table.
fn rate_words(row: &ToolRow) -> String {
    row.goodput_rps.as_ref().map(|goodput| figure(Quantity::Number, goodput).value).unwrap_or_default()
}

fn names(rows: &[&ToolRow]) -> String {
    let names: Vec<String> = rows.iter().map(|row| row.tool.clone()).collect();
    listed(&names, "and")
}
