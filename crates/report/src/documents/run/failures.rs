//! Failures of a run: trials that failed or were disturbed, and failed requests of the clean ones.

use tolok_analysis::figures::{NONE, Quantity, amount, count, counted, listed, small_share};
use tolok_analysis::{CaseFinding, Findings, ProgramCaseFinding, ProgramFinding, ScenarioFinding, TrialFailure};

use super::{list, section, surroundings};
use crate::document::{Block, Cell, Column, Depth, Look, Row, Table, Text};

/// Failed and disturbed trials, and skipped subjects.
pub(crate) fn trials(findings: &Findings, depth: Depth) -> Vec<Block> {
    let disturbed = if depth == Depth::Short { Vec::new() } else { disturbed_trials(findings) };
    let skipped = findings.skipped.iter().map(|skipped| format!("{}: {}", skipped.subject, skipped.reason)).collect();
    let mut blocks = [
        list("Failed trials", "-", failed_trials(findings)),
        list("Discarded trials", "-", disturbed),
        list::<String>("Skipped", "-", skipped),
    ]
    .concat();
    if depth == Depth::Page && !blocks.is_empty() {
        // Within a section, the headings of the lists have rank 3.
        for block in &mut blocks {
            if let Block::Heading(heading) = block {
                heading.rank = 3;
            }
        }
        return section("failures", "Failed, discarded, skipped", blocks);
    }
    blocks
}

/// Requests without a correct response in time, case by case. A page has nothing if no request failed.
pub(crate) fn requests(findings: &Findings, depth: Depth) -> Vec<Block> {
    let (telling, silent): (Vec<Of>, Vec<Of>) =
        cases(findings).filter(|(_, case)| case.trials_scored > 0).partition(|(_, case)| is_telling(case));
    let rest = rest(&telling, &silent).map(|rest| Block::Paragraph(rest.into()));
    let blocks = match (telling.is_empty(), depth) {
        (true, Depth::Full | Depth::Page) => Vec::new(),
        (true, Depth::Short) => rest.into_iter().collect(),
        (false, _) => std::iter::once(Block::Table(table(&telling))).chain(rest).collect(),
    };
    section("requests", "Requests without a correct response in time", blocks)
}

/// A case and the scenario that it belongs to.
type Of<'a> = (&'a ScenarioFinding, &'a CaseFinding);

/// All failed trials. Equal failures of a case share a line.
fn failed_trials(findings: &Findings) -> Vec<String> {
    let of_servers = cases(findings).map(|(scenario, case)| (&scenario.id, &case.title, &case.failures));
    let of_programs = programs(findings).map(|(program, case)| (&program.id, &case.title, &case.failures));
    let mut lines = Vec::new();
    for (scenario, title, failures) in of_servers.chain(of_programs) {
        let mut ways: Vec<(&TrialFailure, Vec<u32>)> = Vec::new();
        for failure in failures {
            let is_same = |it: &TrialFailure| it.reason == failure.reason && it.message == failure.message;
            match ways.iter_mut().find(|(known, _)| is_same(known)) {
                Some((_, trials)) => trials.push(failure.trial),
                None => ways.push((failure, vec![failure.trial])),
            }
        }
        let line = |(failure, trials): &(&TrialFailure, Vec<u32>)| {
            format!("{}, {scenario}, {title}: {}: {}", numbers(trials), failure.reason, failure.message)
        };
        lines.extend(ways.iter().map(line));
    }
    lines
}

/// All trials that were discarded as disturbed, a line each.
fn disturbed_trials(findings: &Findings) -> Vec<String> {
    let servers = cases(findings).flat_map(|(scenario, case)| {
        case.disturbed.iter().map(|it| {
            let seen = format!("{} correct responses/s", amount(Quantity::Number, it.goodput_rps));
            format!(
                "trial {}, {}, {}: {}",
                it.trial,
                scenario.id,
                case.title,
                disturbed(it.attempts, &seen, &it.causes)
            )
        })
    });
    let programs = programs(findings).flat_map(|(program, case)| {
        case.disturbed.iter().map(|it| {
            let seen = it.wall_s.map_or(NONE.to_owned(), |wall_s| amount(Quantity::Seconds, wall_s));
            format!("trial {}, {}, {}: {}", it.trial, program.id, case.title, disturbed(it.attempts, &seen, &it.causes))
        })
    });
    servers.chain(programs).collect()
}

fn disturbed(attempts: u32, seen: &str, causes: &[String]) -> String {
    let times = if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") };
    format!("measured {times}, {seen} the last time: {}", listed(causes, "and"))
}

/// The cases without failures, in a sentence.
fn rest(telling: &[Of], silent: &[Of]) -> Option<String> {
    let sent: u64 = silent.iter().map(|(_, case)| case.requests_sent).sum();
    match silent.len() as u64 {
        0 => None,
        _ if telling.is_empty() => Some(format!("No request failed in the clean trials; {} were sent.", count(sent))),
        1 => Some(format!("In the other case no request failed; {} were sent.", count(sent))),
        number => {
            Some(format!("In the other {} no request failed; {} were sent.", counted(number, "case"), count(sent)))
        }
    }
}

/// A column for each class of failures that occurs.
fn table(telling: &[Of]) -> Table {
    let mut classes: Vec<&str> = Vec::new();
    for (class, _) in telling.iter().flat_map(|(_, case)| &case.errors) {
        if !classes.contains(&class.as_str()) {
            classes.push(class);
        }
    }
    let has_unsent = telling.iter().any(|(_, case)| case.requests_unsent > 0);
    let has_slow = telling.iter().any(|(_, case)| slow_answers(case) > 0);
    let mut headings = ["scenario", "subject", "requests sent"].map(str::to_owned).to_vec();
    headings.extend(classes.iter().map(|class| class.replace('_', " ")));
    headings.extend((!classes.is_empty()).then(|| "failed".to_owned()));
    headings.extend(has_unsent.then(|| "never sent".to_owned()));
    headings.extend(has_slow.then(|| "good, but late".to_owned()));
    let row = |(scenario, case): &Of| {
        let failed: u64 = case.errors.iter().map(|(_, number)| number).sum();
        let of_class =
            |class: &&str| case.errors.iter().find(|(known, _)| known == class).map_or(0, |(_, number)| *number);
        let scenario = Cell::from(Text::of(scenario.id.as_str(), Look::Code));
        let mut cells = vec![scenario, case.title.as_str().into(), count(case.requests_sent).into()];
        cells.extend(classes.iter().map(|class| Cell::from(count(of_class(class)))));
        let share = small_share(failed as f64 / case.requests_sent.max(1) as f64);
        cells.extend((!classes.is_empty()).then(|| Cell::from(share)));
        cells.extend(has_unsent.then(|| Cell::from(count(case.requests_unsent))));
        cells.extend(has_slow.then(|| Cell::from(slow(case))));
        Row::of(cells)
    };
    let columns = headings.into_iter().map(Column::words).collect();
    Table {
        caption: "Failed requests".to_owned(),
        columns,
        rows: telling.iter().map(row).collect(),
        ..Table::default()
    }
}

/// Correct responses later than the bound, which are not failures.
fn slow(case: &CaseFinding) -> String {
    let Some(slow) = &case.slow else { return NONE.to_owned() };
    let bound = amount(Quantity::Seconds, slow.bound_s);
    match slow.answers {
        0 => "0".to_owned(),
        answers => format!("{} ({}, over {bound})", count(answers), small_share(slow.share)),
    }
}

/// Whether any request of a case failed, was not sent, or was answered late.
fn is_telling(case: &CaseFinding) -> bool {
    !case.errors.is_empty() || case.requests_unsent > 0 || slow_answers(case) > 0
}

fn slow_answers(case: &CaseFinding) -> u64 {
    case.slow.as_ref().map_or(0, |slow| slow.answers)
}

/// Every case with its scenario, including ceilings.
fn cases(findings: &Findings) -> impl Iterator<Item = (&ScenarioFinding, &CaseFinding)> {
    findings.scenarios.iter().flat_map(|scenario| surroundings::cases(scenario).map(move |case| (scenario, case)))
}

/// Every case of programs with its scenario.
fn programs(findings: &Findings) -> impl Iterator<Item = (&ProgramFinding, &ProgramCaseFinding)> {
    findings.programs.iter().flat_map(|program| program.cases.iter().map(move |case| (program, case)))
}

fn numbers(trials: &[u32]) -> String {
    let numbers: Vec<String> = trials.iter().map(u32::to_string).collect();
    let noun = if trials.len() == 1 { "trial" } else { "trials" };
    format!("{noun} {}", listed(&numbers, "and"))
}
