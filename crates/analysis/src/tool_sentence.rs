//! What several tools report about one subject, in a few sentences made only of figures.
//!
//! Two tools differ only if their ratio within blocks shows it, never because of their medians.

use tolok_model::{LoadProfile, LoadTool};

use crate::figures::{Quantity, amount, figure, listed, small_share};
use crate::findings::{Estimate, ToolRow, ToolsFinding, Verdict};
use crate::flag::{FlagKind, SATURATED};
use crate::observations::{goodput, per_answer};
use crate::tool_differences::waiting;
use crate::tool_rates::{Ends, Said, Tools};
use crate::tools::subject_cpu_s;

/// Which tools agree, which were the limit themselves, which the wire contradicts, and which did not measure latencies.
pub(crate) fn tools_sentence(finding: &ToolsFinding, load: &LoadProfile, tools: &Tools) -> String {
    let rows = &finding.rows;
    let measured: Vec<&ToolRow> = rows.iter().filter(|row| row.goodput_rps.is_some()).collect();
    // The user's own script may send other requests, so its rate is not comparable.
    let (sound, others): (Vec<&ToolRow>, Vec<&ToolRow>) =
        measured.iter().copied().partition(|row| row.voided_by.is_empty() && row.script.is_none());
    let sentences = [
        Some(answer(&measured, &sound, tools)),
        limited(&others, &sound, tools),
        contradicted(&measured, tools),
        impossible(&measured, load),
        left_out(&others),
        not_measured(rows),
        cost(finding, &sound, tools),
        at_a_rate(&sound).filter(|_| load.executor.is_open()),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn answer(measured: &[&ToolRow], sound: &[&ToolRow], tools: &Tools) -> String {
    let asked = format!("{} tools loaded the same server", measured.len());
    match (measured, sound) {
        ([], _) => "No tool has a figure here.".to_owned(),
        ([only], _) => format!("Only {} has a figure here, so there is nothing to compare it with.", only.tool),
        (_, []) => format!("{asked}, and none has a valid rate."),
        (_, [only]) => {
            format!("{asked}: only {} has a valid rate, {} a second.", only.tool, rate_words(only))
        }
        (all, several) => {
            let names = if all.len() == several.len() { "they".to_owned() } else { names(several) };
            let said: Vec<Said> = several.iter().map(|row| (*row, rate(row))).collect();
            let at_limit = several.iter().all(|row| row.subject_busy.is_some_and(|busy| busy >= SATURATED));
            let limit = if at_limit { ", where the server was the limit" } else { "" };
            let agreement = tools.ends(&said, goodput).map(|ends| agreement(&ends, tools.smallest_effect));
            format!("{asked}: {names} {}{limit}.", agreement.unwrap_or_default())
        }
    }
}

/// Whether rates differ, by the two tools that are farthest apart.
fn agreement(ends: &Ends, smallest_effect: f64) -> String {
    let (lowest, highest) = (ends.lowest.0, ends.highest.0);
    let (words, within) = (ends.words(), amount(Quantity::Share, smallest_effect));
    let both = format!("{} over {}", highest.tool, lowest.tool);
    match ends.verdict {
        Verdict::Faster | Verdict::Slower => {
            let says = |row: &ToolRow| format!("{} says {}", row.tool, rate_words(row));
            let by = small_share(ends.size());
            format!("differ by {by} on the rate ({}, {}: {words})", says(highest), says(lowest))
        }
        Verdict::Equivalent => format!("agree within {within} on the rate ({both}: {words})"),
        Verdict::NoDifferenceFound => format!("show no difference on the rate ({both}: {words})"),
        Verdict::CannotTell => format!("show no clear difference on the rate ({both}: {words})"),
    }
}

/// Tools that were the limit themselves, and how their rates compare with that of a tool that was not.
fn limited(others: &[&ToolRow], sound: &[&ToolRow], tools: &Tools) -> Option<String> {
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
    let of = |row: &&ToolRow| Some(figure(Quantity::Ratio, &tools.over(row, reference, goodput)?.ratio).line());
    let shares: Vec<String> = limits.iter().filter_map(of).collect();
    if shares.len() < limits.len() {
        return Some(format!("{used}."));
    }
    let says = if limits.len() == 1 { "it says" } else { "they say" };
    Some(format!("{used}: {says} {} of the rate that {} says.", listed(&shares, "and"), reference.tool))
}

/// tolok's own tool if its rate is sound, or else the highest of the sound ones.
fn reference<'a>(sound: &[&'a ToolRow]) -> Option<&'a ToolRow> {
    let own = sound.iter().copied().find(|row| is_own(row));
    own.or_else(|| sound.iter().copied().max_by(|left, right| rate(left).total_cmp(&rate(right))))
}

fn is_own(row: &ToolRow) -> bool {
    row.tool == LoadTool::Tolok.word()
}

fn contradicted(measured: &[&ToolRow], tools: &Tools) -> Option<String> {
    if measured.is_empty() {
        return None;
    }
    let of = |row: &&ToolRow| {
        let shares = row.counted_of_wire.iter().flat_map(|share| share.trials.iter().copied());
        let worst = shares.max_by(|left, right| (left - 1.0).abs().total_cmp(&(right - 1.0).abs()));
        let share = worst.map(share_of_wire).unwrap_or_else(|| "some".to_owned());
        format!("{} (in the worst trial it counted {share} of the correct responses that crossed it)", row.tool)
    };
    let contradicted: Vec<String> = measured.iter().filter(|row| row.is_contradicted).map(of).collect();
    if !contradicted.is_empty() {
        return Some(format!("The wire contradicts {}.", listed(&contradicted, "and")));
    }
    let over = tools.answerers.first().map(|one| one.scenario.protocol).unwrap_or_default();
    let counted = measured.iter().filter(|row| row.counted_of_wire.is_some()).count();
    Some(match counted {
        1 if measured.len() == 1 => "What it counted agrees with what crossed the wire.".to_owned(),
        0 if !over.is_default() => {
            format!("The packet count cannot see into {}, so their counts are unchecked.", over.title())
        }
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

/// A count as a share of the wire count, with enough digits to show a small difference.
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
    (!found.is_empty()).then(|| format!("{means} {are} not from real responses: {}.", listed(&found, "and")))
}

/// Tools that are not compared for a reason other than a limit or a contradiction.
fn left_out(others: &[&ToolRow]) -> Option<String> {
    let of = |row: &&ToolRow| {
        let is_said = |kind: &&FlagKind| matches!(kind, FlagKind::GeneratorBound | FlagKind::WireContradicts);
        let kinds = row.voided_by.iter().filter(|kind| !is_said(kind)).map(FlagKind::to_string);
        let script = row.script.as_ref().map(|_| "a script of its own".to_owned());
        let reasons: Vec<String> = kinds.chain(script).collect();
        (!reasons.is_empty()).then(|| format!("{} ({})", row.tool, reasons.join(", ")))
    };
    let found: Vec<String> = others.iter().filter_map(of).collect();
    (!found.is_empty()).then(|| format!("Not compared: {}.", listed(&found, "and")))
}

fn not_measured(rows: &[ToolRow]) -> Option<String> {
    let of = |row: &ToolRow| {
        let reason = if row.failures.is_empty() { "no correct response".to_owned() } else { row.failures.join(", ") };
        let reason = if row.trials_scored == 0 && row.failures.is_empty() { "not measured".to_owned() } else { reason };
        format!("{} ({reason})", row.tool)
    };
    let lacking: Vec<String> = rows.iter().filter(|row| row.goodput_rps.is_none()).map(of).collect();
    (!lacking.is_empty()).then(|| format!("Without a figure: {}.", listed(&lacking, "and")))
}

/// The server does the same work for every response, so its CPU time per response is another referee.
fn cost(finding: &ToolsFinding, sound: &[&ToolRow], tools: &Tools) -> Option<String> {
    let cost = |row: &ToolRow| finding.subject_cpu_s(row).map(|cost: &Estimate| cost.value);
    let said: Vec<Said> = sound.iter().filter_map(|row| Some((*row, cost(row)?))).collect();
    let of = if finding.is_cost_per_wire() { subject_cpu_s } else { per_answer };
    let ends = tools.ends(&said, of)?;
    let (lowest, highest) = (ends.lowest, ends.highest);
    let seconds = |seconds: f64| amount(Quantity::Seconds, seconds);
    let (low, high, words) = (seconds(lowest.1), seconds(highest.1), ends.words());
    let both = format!("{} over {}", highest.0.tool, lowest.0.tool);
    Some(match ends.verdict {
        Verdict::Faster | Verdict::Slower => format!(
            "A response cost the server from {low} of CPU time ({} asked) to {high} ({}): {words}.",
            lowest.0.tool, highest.0.tool
        ),
        Verdict::Equivalent => {
            let within = amount(Quantity::Share, tools.smallest_effect);
            format!(
                "A response cost the server {low} of CPU time whichever tool asked, within {within} ({both}: {words})."
            )
        }
        Verdict::NoDifferenceFound => {
            format!("A response cost the server {low} to {high} of CPU time; no difference found ({both}: {words}).")
        }
        Verdict::CannotTell => format!(
            "A response cost the server {low} to {high} of CPU time; whether the tool matters is not clear ({both}: {words})."
        ),
    })
}

/// At a fixed rate, all tools answer the same question about latency, but the answers differ.
fn at_a_rate(sound: &[&ToolRow]) -> Option<String> {
    let said: Vec<Said> = sound.iter().filter_map(|row| Some((*row, row.latency_p99_s.as_ref()?.value))).collect();
    let lowest = said.iter().min_by(|left, right| left.1.total_cmp(&right.1)).filter(|_| said.len() > 1)?;
    let highest = said.iter().rev().max_by(|left, right| left.1.total_cmp(&right.1))?;
    let [low, high] =
        [lowest, highest].map(|(row, p99_s)| format!("{} ({})", amount(Quantity::Seconds, *p99_s), row.tool));
    Some(format!("Their p99 runs from {low} to {high}."))
}

fn rate(row: &ToolRow) -> f64 {
    row.goodput_rps.as_ref().map_or(f64::NAN, |goodput| goodput.value)
}

/// The rate as the table shows it.
fn rate_words(row: &ToolRow) -> String {
    row.goodput_rps.as_ref().map(|goodput| figure(Quantity::Number, goodput).value).unwrap_or_default()
}

fn names(rows: &[&ToolRow]) -> String {
    let names: Vec<String> = rows.iter().map(|row| row.tool.clone()).collect();
    listed(&names, "and")
}
