//! Gates of cases: a row each in the page's list of checks, a table of all of them, and a few lines for terminals.

use tolok_analysis::figures::{Quantity, amount, counted, in_column, listed, small_share};
use tolok_analysis::{CaseFinding, Findings, GateFinding, GateOutcome, ScenarioFinding, ServiceDemand, SteadyClass};

use super::columns::{Filled, of_cases};
use super::list;
use super::surroundings::cases;
use super::trust::Check;
use crate::document::{Block, Depth, Look, Text};

/// The most failed cases that are named one by one.
const MOST_TOLD: usize = 3;

/// What each gate requires, in a sentence, in the order of the findings.
const RULES: [(&str, &str); 10] = [
    ("ledger", "Every request is accounted for"),
    ("little", "Users, or requests in flight, are rate × time (Little’s law)"),
    ("utilisation", "No part used more CPU time than it was given"),
    ("link-bytes", "What came over the client’s link fits through it"),
    ("body-samples", "Response bodies were compared with the expected ones"),
    ("generator-headroom", "The generator was not the limit"),
    ("offered-rate", "All scheduled requests were sent"),
    ("lateness", "Requests left on time"),
    ("disturbance", "Others left the CPU to the servers"),
    ("steady-state", "The seconds of each window had one level"),
];

/// Gates for which the page's list of checks has its own words.
const TOLD_ELSEWHERE: [&str; 1] = ["disturbance"];

/// A row for each gate that applies to any case. The generator may limit the ceiling, but no other case.
pub(crate) fn checks(findings: &Findings) -> Vec<Check> {
    let shown = RULES.iter().filter(|(word, _)| !TOLD_ELSEWHERE.contains(word));
    shown.filter_map(|(word, rule)| check(findings, word, rule)).collect()
}

fn check(findings: &Findings, word: &str, rule: &'static str) -> Option<Check> {
    let asked: Vec<(&CaseFinding, &GateFinding)> = gates(findings, word)
        .filter(|(_, case, is_ceiling)| !(*is_ceiling && word == "generator-headroom") && case.trials_measured > 0)
        .filter_map(|(_, case, _)| Some((case, case.gates.iter().find(|gate| gate.gate == word)?)))
        .collect();
    let of = |outcome| asked.iter().filter(move |(_, gate)| gate.outcome == outcome);
    let (failed, unknown) = (of(GateOutcome::Failed).count(), of(GateOutcome::Unknown).count());
    let all = counted(asked.len() as u64, "case");
    let sent: u64 = asked.iter().map(|(case, _)| case.requests_sent).sum();
    let mut seen = vec![
        if word == "ledger" { format!("{} sent", counted(sent, "request")) } else { String::new() },
        match failed {
            0 if unknown == asked.len() => String::new(),
            0 => format!("{} of {all} passed", asked.len() - unknown),
            some => format!("{some} of {all} failed"),
        },
    ];
    let worst = of(GateOutcome::Failed).max_by(|left, right| excess(left.1).total_cmp(&excess(right.1)));
    // If all passed, how close the nearest came to the limit.
    let has_limit = |gate: &GateFinding| gate.limit.is_some_and(|limit| limit > 0.0);
    let nearest = of(GateOutcome::Passed)
        .filter(|(_, gate)| has_limit(gate))
        .max_by(|left, right| excess(left.1).total_cmp(&excess(right.1)));
    let near = if failed == 0 { "nearest to the limit: " } else { "" };
    seen.extend(worst.or(nearest).map(|(case, gate)| format!("{near}{}: {}", case.title, gate.message)));
    let reason = of(GateOutcome::Unknown).next().map(|(_, gate)| gate.message.as_str());
    seen.extend(reason.map(|reason| format!("unknown for {}: {reason}", counted(unknown as u64, "case"))));
    seen.retain(|part| !part.is_empty());
    let passed = match (failed, unknown == asked.len()) {
        (0, true) => None,
        (failed, _) => Some(failed == 0),
    };
    (!asked.is_empty()).then(|| Check { rule, seen: seen.join("; "), passed })
}

fn excess(gate: &GateFinding) -> f64 {
    gate.worst.zip(gate.limit).map_or(f64::NEG_INFINITY, |(worst, limit)| worst - limit)
}

/// Every gate of this word, with its scenario, its case, and whether that is a ceiling.
fn gates<'a>(
    findings: &'a Findings,
    word: &str,
) -> impl Iterator<Item = (&'a ScenarioFinding, &'a CaseFinding, bool)> + use<'a> {
    let word = word.to_owned();
    let of = |scenario: &'a ScenarioFinding| {
        let competing = scenario.cases.iter().map(move |case| (scenario, case, false));
        competing.chain(scenario.ceiling.iter().map(move |case| (scenario, case, true)))
    };
    let has = move |case: &CaseFinding| case.gates.iter().any(|gate| gate.gate == word);
    findings.scenarios.iter().flat_map(of).filter(move |(_, case, _)| has(case))
}

/// A sentence on the checks, and whether one failed.
struct Line {
    text: String,
    is_failed: bool,
}

/// How many checks passed, and which failed. A terminal has a single line if all passed.
pub(crate) fn summary(findings: &Findings, depth: Depth) -> Vec<Block> {
    let lines = lines(findings);
    match lines.as_slice() {
        [line] if depth == Depth::Short => {
            vec![Block::Paragraph(format!("Checks of the trials: {}", line.text).into())]
        }
        _ => {
            let look = |line: &Line| if line.is_failed { Look::Warning } else { Look::Plain };
            list(
                "Checks of the trials",
                "-",
                lines.iter().map(|line| Text::of(line.text.as_str(), look(line))).collect(),
            )
        }
    }
}

/// How many checks passed, and which failed or are unknown. Empty if no server was measured.
fn lines(findings: &Findings) -> Vec<Line> {
    let all: Vec<(&ScenarioFinding, &CaseFinding, &GateFinding)> = RULES
        .iter()
        .flat_map(|(word, _)| {
            gates(findings, word).map(move |(scenario, case, _)| {
                let gate = case.gates.iter().find(|gate| gate.gate == *word);
                gate.map(|gate| (scenario, case, gate))
            })
        })
        .flatten()
        .collect();
    if all.is_empty() {
        return Vec::new();
    }
    let passed = all.iter().filter(|(.., gate)| gate.outcome == GateOutcome::Passed).count();
    let failed = RULES.iter().flat_map(|(word, _)| failed_lines(&all, word));
    let unknown: Vec<String> = RULES.iter().filter_map(|(word, _)| unknown_words(&all, word)).collect();
    let plain = |text: String| Line { text, is_failed: false };
    let mut lines = vec![plain(match passed == all.len() {
        true => format!("all {passed} checks passed in every trial"),
        false => format!("{} passed in every trial{}", counted(passed as u64, "check"), others(&all)),
    })];
    lines.extend(failed.map(|text| Line { text, is_failed: true }));
    lines.extend((!unknown.is_empty()).then(|| plain(format!("skipped: {}", unknown.join("; ")))));
    lines
}

/// `, 2 failed, 32 skipped`
fn others(all: &[Asked]) -> String {
    let of = |(outcome, word): (GateOutcome, &str)| {
        let number = all.iter().filter(|(.., gate)| gate.outcome == outcome).count();
        (number > 0).then(|| format!(", {number} {word}"))
    };
    [(GateOutcome::Failed, "failed"), (GateOutcome::Unknown, "skipped")].into_iter().filter_map(of).collect()
}

type Asked<'a> = (&'a ScenarioFinding, &'a CaseFinding, &'a GateFinding);

fn failed_lines(all: &[Asked], word: &str) -> Vec<String> {
    let failed: Vec<&Asked> =
        all.iter().filter(|(.., gate)| gate.gate == word && gate.outcome == GateOutcome::Failed).collect();
    if failed.len() <= MOST_TOLD {
        let line =
            |(scenario, case, gate): &&Asked| format!("{word}: {} ({}): {}", case.title, scenario.id, gate.message);
        return failed.iter().map(line).collect();
    }
    let names: Vec<String> =
        failed.iter().map(|(scenario, case, _)| format!("{} ({})", case.title, scenario.id)).collect();
    vec![format!("{word}: {} failed: {}", counted(failed.len() as u64, "case"), listed(&names, "and"))]
}

/// `body-samples of 7 cases (the record does not tell …)`
fn unknown_words(all: &[Asked], word: &str) -> Option<String> {
    let unknown: Vec<&Asked> =
        all.iter().filter(|(.., gate)| gate.gate == word && gate.outcome == GateOutcome::Unknown).collect();
    let mut reasons: Vec<&str> = unknown.iter().map(|(.., gate)| gate.message.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    (!unknown.is_empty())
        .then(|| format!("{word} of {} ({})", counted(unknown.len() as u64, "case"), reasons.join(", or ")))
}

const GATES: [Filled<CaseFinding>; 10] = [
    ("ledger", |case| cell(case, "ledger")),
    ("Little", |case| cell(case, "little")),
    ("utilisation", |case| cell(case, "utilisation")),
    ("link bytes", |case| cell(case, "link-bytes")),
    ("bodies", |case| cell(case, "body-samples")),
    ("generator’s headroom", |case| cell(case, "generator-headroom")),
    ("offered rate", |case| cell(case, "offered-rate")),
    ("lateness", |case| cell(case, "lateness")),
    ("disturbance", |case| cell(case, "disturbance")),
    ("seconds", |case| steady(case).or_else(|| cell(case, "steady-state"))),
];

/// Every gate of every case of a scenario.
pub(crate) fn table(scenario: &ScenarioFinding) -> Option<Block> {
    of_cases("Checks, over the trials of each case", scenario, &GATES)
        .filter(|_| cases(scenario).any(|case| !case.gates.is_empty()))
}

fn cell(case: &CaseFinding, word: &str) -> Option<String> {
    let gate = case.gates.iter().find(|gate| gate.gate == word)?;
    let failed = gate.trials_failed.len();
    let judged = failed + gate.trials_passed as usize;
    Some(match gate.outcome {
        GateOutcome::Passed => "✓".to_owned(),
        GateOutcome::Unknown => "unknown".to_owned(),
        GateOutcome::Failed => format!("! {failed} of {judged}{}", if gate.bars { ", not ranked" } else { "" }),
    })
}

/// `warms up, 3 s`, if its trials could be judged.
fn steady(case: &CaseFinding) -> Option<String> {
    let steady = case.steady.as_ref()?;
    let after = steady.steady_after_s.map(|after_s| format!(", {}", amount(Quantity::Seconds, after_s)));
    Some(format!("{}{}", class(steady.class), after.unwrap_or_default()))
}

/// The word in reports.
fn class(class: SteadyClass) -> &'static str {
    match class {
        SteadyClass::Flat => "flat",
        SteadyClass::WarmUp => "warms up",
        SteadyClass::Slowdown => "slows down",
        SteadyClass::NoSteadyState => "not steady",
        SteadyClass::Inconsistent => "trials differ",
    }
}

/// The word in JSON.
pub(crate) fn class_word(class: SteadyClass) -> &'static str {
    match class {
        SteadyClass::Flat => "flat",
        SteadyClass::WarmUp => "warm-up",
        SteadyClass::Slowdown => "slowdown",
        SteadyClass::NoSteadyState => "no-steady-state",
        SteadyClass::Inconsistent => "inconsistent",
    }
}

const DEMANDS: [Filled<CaseFinding>; 8] = [
    ("scarcest", |case| case.demands.first().map(|demand| resource(&demand.resource).to_owned())),
    ("used of it", |case| case.demands.first().map(|demand| small_share(demand.utilisation))),
    ("subject’s CPU", |case| demand(case, "subject-cpu")),
    ("database’s CPU", |case| demand(case, "database-cpu")),
    ("generator’s CPU", |case| demand(case, "generator-cpu")),
    ("link", |case| demand(case, "link")),
    ("database’s link", |case| demand(case, "database-link")),
    ("connections to the database", |case| demand(case, "pool")),
];

/// What a response takes of each resource.
pub(crate) fn demands(scenario: &ScenarioFinding) -> Option<Block> {
    of_cases(
        "Service demands: µs of each resource for each correct response → correct responses/s that it allows",
        scenario,
        &DEMANDS,
    )
}

fn demand(case: &CaseFinding, resource: &str) -> Option<String> {
    let found: &ServiceDemand = case.demands.iter().find(|demand| demand.resource == resource)?;
    Some(format!("{} → {}", in_column(found.demand_s.value * 1e6), amount(Quantity::Number, found.most_rps)))
}

fn resource(word: &str) -> &str {
    match word {
        "subject-cpu" => "subject’s CPU",
        "database-cpu" => "database’s CPU",
        "generator-cpu" => "generator’s CPU",
        "database-link" => "database’s link",
        "pool" => "connections",
        other => other,
    }
}

/// Words of the gates with this outcome, for programs.
pub(crate) fn words(case: &CaseFinding, outcome: GateOutcome) -> String {
    let gates = case.gates.iter().filter(|gate| gate.outcome == outcome);
    gates.map(|gate| gate.gate.as_str()).collect::<Vec<_>>().join(" ")
}
