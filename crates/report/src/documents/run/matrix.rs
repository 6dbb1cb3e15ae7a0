//! Subjects against scenarios: how well each did, what limited it, and the cost of a response.
//!
//! A share is the ratio of two printed values, so it never contradicts the figures beside it. Tiers decide which is best.

use tolok_analysis::figures::{NONE, Quantity, amount};
use tolok_analysis::{
    CaseFinding, Estimate, Findings, FlagKind, ProgramCaseFinding, ProgramFinding, ScenarioFinding, least_trials,
};
use tolok_model::Judge;

use super::program_table::time_in_steps;
use super::programs;
use super::sections::is_of_tools;
use super::standings::{competitors, first_tier};
use crate::document::{Look, Matrix, MatrixCell, MatrixColumn, MatrixRow, Text};
use crate::wording::{LOWER_BOUND, heading, is_lower_bound, no_figure};

/// A case in a matrix.
struct Entry<'a> {
    subject: &'a str,
    title: &'a str,
    short: &'a str,
    runtime: &'a str,
    /// The figure that ranks it, if it is ranked.
    ranked: Option<f64>,
    value: String,
    tier: &'a str,
    below: String,
    costs: Vec<String>,
}

/// A scenario in a matrix.
struct Contest<'a> {
    column: MatrixColumn,
    /// Whether less is better.
    is_time: bool,
    /// Whether any two cases share enough rounds to be compared.
    is_told: bool,
    /// Subjects that share the first tier of those that compete.
    first: Vec<&'a str>,
    entries: Vec<Entry<'a>>,
    limit: Option<(&'a CaseFinding, String)>,
    costs: &'static [&'static str],
}

const COSTS: &[&str] = &["CPU/req", "memory", "p99"];
const COSTS_BY_CPU: &[&str] = &["responses/s", "memory", "p99"];
const COSTS_OF_PROGRAMS: &[&str] = &["CPU", "memory"];

/// The matrix of a run with its notes; `None` if no scenario has several subjects.
pub(crate) fn matrix(findings: &Findings, sections: &[&ScenarioFinding]) -> (Option<Matrix>, Vec<(usize, Text)>) {
    let notes = notes(findings);
    let numbers = |subject: &str| {
        let about = (1..).zip(&notes).filter(|(_, note)| note.subject == subject);
        about.map(|(number, _)| number).collect::<Vec<usize>>()
    };
    match filled(findings, sections, &numbers) {
        None => (None, Vec::new()),
        some => (some, (1..).zip(notes.into_iter().map(|note| note.words.into())).collect()),
    }
}

/// A note on a subject.
struct Note {
    subject: String,
    words: String,
}

/// Notes on references among the competitors, and on subjects whose percentiles cover only part of their requests.
fn notes(findings: &Findings) -> Vec<Note> {
    let references = findings.fairness.rows.iter().filter_map(|row| {
        let words = format!("{}: a reference, not a competitor", row.less_work.as_ref()?);
        Some(Note { subject: row.subject.clone(), words })
    });
    let mut notes: Vec<Note> = references.collect();
    for case in findings.scenarios.iter().flat_map(|scenario| &scenario.cases) {
        let Some(flag) = case.flags.iter().find(|flag| flag.kind == FlagKind::ConnectionsWaiting) else { continue };
        if notes.iter().all(|note| note.subject != case.subject || note.words.ends_with("competitor")) {
            notes.push(Note { subject: case.subject.clone(), words: flag.message.clone() });
        }
    }
    notes
}

fn filled(findings: &Findings, sections: &[&ScenarioFinding], notes: &dyn Fn(&str) -> Vec<usize>) -> Option<Matrix> {
    let servers = sections.iter().filter(|section| !is_of_tools(section)).map(|section| of_servers(findings, section));
    let programs = findings.programs.iter().map(|program| of_programs(findings, program));
    let mut contests: Vec<Contest> = servers.chain(programs).collect();
    let headings: Vec<String> = contests.iter().map(|contest| contest.column.heading.clone()).collect();
    let common = common(&headings);
    for contest in &mut contests {
        contest.column.heading = contest.column.heading.strip_suffix(&common).unwrap_or_default().to_owned();
    }
    let first = contests.first()?;
    let rows = subjects(&contests).into_iter().map(|subject| row(subject, &contests, notes));
    let limits =
        contests.iter().find_map(|contest| contest.limit.as_ref()).map(|(ceiling, _)| limit(ceiling, &contests));
    let rows: Vec<MatrixRow> = rows.chain(limits).collect();
    // A figure that no subject has gets no column: slices, for example, are too short for a p99.
    let is_told = |place: &usize| rows.iter().any(|row| row.costs.get(*place).is_some_and(|cost| cost != NONE));
    let told: Vec<usize> = (0..first.costs.len()).filter(is_told).collect();
    let costs = |row: &MatrixRow| told.iter().filter_map(|place| row.costs.get(*place).cloned()).collect();
    Some(Matrix {
        caption: "At a glance".to_owned(),
        costs: told.iter().map(|place| first.costs[*place].to_owned()).collect(),
        costs_of: first.column.heading.clone(),
        columns: contests.iter().map(|contest| contest.column.clone()).collect(),
        rows: rows.iter().map(|row| MatrixRow { costs: costs(row), ..row.clone() }).collect(),
    })
}

fn of_servers<'a>(findings: &Findings, scenario: &'a ScenarioFinding) -> Contest<'a> {
    let is_by_cpu = scenario.judged_by == Judge::Cpu;
    let cpu_time = |case: &CaseFinding| of(Quantity::Seconds, case.shown_cpu_s_per_good());
    let value = |case| if is_by_cpu { cpu_time(case) } else { case_value(case) };
    let entry = |case| {
        let costs = vec![
            if is_by_cpu { case_value(case) } else { cpu_time(case) },
            of(Quantity::Bytes, case.shown_memory_bytes()),
            of(Quantity::Seconds, case.latency_p99_s.as_ref()),
        ];
        let below = case.bottleneck.as_ref().map(|it| it.kind.words().to_owned()).filter(|_| case.ranked);
        let judged = if is_by_cpu { case.shown_cpu_s_per_good() } else { case.shown_goodput_rps() };
        entry(case, judged, value(case), below, costs)
    };
    Contest {
        column: MatrixColumn { heading: heading(scenario), beside: load_in_short(&scenario.load) },
        is_time: is_by_cpu,
        is_told: is_told(scenario),
        first: first(findings, &scenario.cases),
        entries: scenario.cases.iter().map(entry).collect(),
        limit: scenario.ceiling.as_ref().map(|ceiling| (ceiling, value(ceiling))),
        costs: if is_by_cpu { COSTS_BY_CPU } else { COSTS },
    }
}

fn of_programs<'a>(findings: &Findings, program: &'a ProgramFinding) -> Contest<'a> {
    Contest {
        column: MatrixColumn { heading: programs::heading(program), beside: "wall time".to_owned() },
        is_time: true,
        is_told: is_program_told(program),
        first: first(findings, &program.cases),
        entries: program.cases.iter().map(|case| program_entry(case, program.timer_resolution_s)).collect(),
        limit: None,
        costs: COSTS_OF_PROGRAMS,
    }
}

fn first<'a, F>(findings: &Findings, cases: &'a [CaseFinding<F>]) -> Vec<&'a str> {
    first_tier(&competitors(findings, cases)).into_iter().map(|case| case.subject.as_str()).collect()
}

fn program_entry(case: &ProgramCaseFinding, step_s: Option<f64>) -> Entry<'_> {
    let time = |of: Option<&Estimate>| time_in_steps(of, step_s).unwrap_or_else(|| NONE.to_owned());
    let value = time(case.shown_wall_s());
    let costs = vec![time(case.cpu_s.as_ref()), of(Quantity::Bytes, case.rss_bytes.as_ref())];
    entry(case, case.shown_wall_s(), value, None, costs)
}

fn entry<'a, F>(
    case: &'a CaseFinding<F>,
    figure: Option<&Estimate>,
    value: String,
    below: Option<String>,
    costs: Vec<String>,
) -> Entry<'a> {
    let reason = || case.flags.iter().find(|flag| flag.voids_rank).map_or("not measured", |flag| in_short(flag.kind));
    Entry {
        subject: &case.subject,
        title: &case.title,
        short: &case.short,
        runtime: &case.runtime,
        ranked: figure.map(|figure| figure.value).filter(|value| case.ranked && *value > 0.0),
        value,
        tier: case.tier.as_deref().unwrap_or_default(),
        below: below.unwrap_or_else(|| if case.ranked { String::new() } else { reason().to_owned() }),
        costs,
    }
}

/// Why a case is not ranked, in short.
fn in_short(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::Disturbed => "discarded: CPU busy",
        FlagKind::GeneratorBound => "generator-bound",
        kind => kind.word(),
    }
}

fn case_value(case: &CaseFinding) -> String {
    let Some(goodput) = case.shown_goodput_rps() else { return no_figure(case) };
    let bound = if is_lower_bound(case) { LOWER_BOUND } else { "" };
    format!("{bound}{}", amount(Quantity::Number, goodput.value))
}

fn of(quantity: Quantity, estimate: Option<&Estimate>) -> String {
    estimate.map_or(NONE.to_owned(), |estimate| amount(quantity, estimate.value))
}

/// A name for each scenario, those of servers first. Scenarios with equal names include their load.
pub(crate) fn labels(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<String> {
    let own = sections.iter().filter(|section| !is_of_tools(section));
    let of_servers = own.map(|it| (heading(it), it.load.clone()));
    let of_programs = findings.programs.iter().map(|it| (programs::heading(it), format!(", {}", it.id)));
    let all: Vec<(String, String)> = of_servers.chain(of_programs).collect();
    let headings: Vec<String> = all.iter().map(|(heading, _)| heading.clone()).collect();
    let common = common(&headings);
    let label = |(heading, load): &(String, String)| {
        let namesakes = all.iter().filter(|(other, other_load)| other == heading && other_load != load);
        let loads: Vec<&str> = namesakes.map(|(_, load)| load.as_str()).collect();
        let heading = heading.strip_suffix(&common).unwrap_or(heading);
        if loads.is_empty() { heading.to_owned() } else { format!("{heading} ({})", load_apart(load, &loads)) }
    };
    all.iter().map(label).collect()
}

/// Whether any two cases of a scenario share enough rounds for an interval.
pub(crate) fn is_told(scenario: &ScenarioFinding) -> bool {
    scenario.comparisons.iter().any(|pair| pair.ratio.low.is_some() && pair.blocks >= least_trials())
}

/// The same for a scenario of programs.
pub(crate) fn is_program_told(program: &ProgramFinding) -> bool {
    program.comparisons.iter().any(|pair| pair.wall.ratio.low.is_some() && pair.wall.blocks >= least_trials())
}

/// The common ending of all headings, such as ` · by hyperfine`, which can then be left out.
pub(crate) fn common(headings: &[String]) -> String {
    let parts = |heading: &String| heading.split(" · ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    let all: Vec<Vec<String>> = headings.iter().map(parts).collect();
    let Some(first) = all.first().filter(|_| all.len() > 1) else { return String::new() };
    let is_common = |number: &usize| all.iter().all(|parts| parts.ends_with(&first[first.len() - number..]));
    let number = (1..=first.len()).take_while(is_common).last().unwrap_or(0);
    first[first.len() - number..].iter().map(|part| format!(" · {part}")).collect()
}

/// `64 users` from `closed loop, 64 virtual users, keep-alive, 10s`.
pub(crate) fn load_in_short(load: &str) -> String {
    let mut parts = load.split(", ");
    let first = parts.next().unwrap_or_default();
    parts.next().unwrap_or(first).replace("virtual user", "user")
}

/// `64 users, a new connection each`: as much of a load as distinguishes it from others.
fn load_apart(load: &str, others: &[&str]) -> String {
    let parts: Vec<&str> = load.split(", ").collect();
    let differs =
        |place: &usize| others.iter().any(|other| other.split(", ").nth(*place) != parts.get(*place).copied());
    let is_same = others.iter().any(|other| load_in_short(other) == load_in_short(load));
    let also = (2..parts.len()).find(differs).filter(|_| is_same).map(|place| format!(", {}", parts[place]));
    load_in_short(load) + &also.unwrap_or_default()
}

/// Every subject once, ordered by average speed over its scenarios, the fastest first.
fn subjects<'a>(contests: &[Contest<'a>]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for entry in contests.iter().flat_map(|contest| &contest.entries) {
        if !all.contains(&entry.subject) {
            all.push(entry.subject);
        }
    }
    let mean = |subject: &str| {
        let shares: Vec<f64> = contests.iter().filter_map(|contest| contest.share(contest.find(subject)?)).collect();
        if shares.is_empty() {
            f64::NEG_INFINITY
        } else {
            shares.iter().map(|it| it.ln()).sum::<f64>() / shares.len() as f64
        }
    };
    let mut by_mean: Vec<(f64, &str)> = all.into_iter().map(|subject| (mean(subject), subject)).collect();
    by_mean.sort_by(|left, right| right.0.total_cmp(&left.0));
    by_mean.into_iter().map(|(_, subject)| subject).collect()
}

impl<'a> Contest<'a> {
    fn find(&self, subject: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.subject == subject)
    }

    /// The figure of a ranked entry as a share of the best.
    fn share(&self, entry: &Entry) -> Option<f64> {
        let value = entry.ranked?;
        let all = self.entries.iter().filter_map(|entry| entry.ranked);
        let better = if self.is_time { f64::min } else { f64::max };
        let best = all.reduce(better)?;
        Some(if self.is_time { best / value } else { value / best })
    }

    fn cell(&self, entry: &Entry) -> MatrixCell {
        let share = self.share(entry);
        let is_compared = self.is_told && self.entries.iter().filter(|entry| !entry.tier.is_empty()).count() > 1;
        MatrixCell {
            value: entry.value.clone(),
            share,
            ratio: share.map(|share| amount(Quantity::Ratio, share)).unwrap_or_default(),
            tier: if is_compared { entry.tier.to_owned() } else { String::new() },
            is_best: is_compared && self.first.contains(&entry.subject),
            below: entry.below.clone(),
        }
    }
}

fn row(subject: &str, contests: &[Contest], notes: &dyn Fn(&str) -> Vec<usize>) -> MatrixRow {
    let none = || MatrixCell { value: NONE.to_owned(), ..MatrixCell::default() };
    let cells = contests.iter().map(|contest| contest.find(subject).map_or_else(none, |entry| contest.cell(entry)));
    let known = contests.iter().find_map(|contest| contest.find(subject));
    let word = |of: fn(&Entry) -> String| known.map(of).unwrap_or_default();
    let costs = contests.first().and_then(|first| first.find(subject)).map(|entry| entry.costs.clone());
    let no_costs = || vec![NONE.to_owned(); contests.first().map_or(0, |first| first.costs.len())];
    MatrixRow {
        runtime: word(|it| it.runtime.to_owned()),
        name: word(|it| it.title.to_owned()),
        short: word(|it| it.short.to_owned()),
        look: Look::Plain,
        notes: notes(subject),
        cells: cells.collect(),
        costs: costs.unwrap_or_else(no_costs),
    }
}

/// The row of the machine limit.
fn limit(ceiling: &CaseFinding, contests: &[Contest]) -> MatrixRow {
    let value = |contest: &Contest| contest.limit.as_ref().map_or(NONE.to_owned(), |(_, value)| value.clone());
    let cell = |contest| MatrixCell { value: value(contest), ..MatrixCell::default() };
    MatrixRow {
        runtime: ceiling.runtime.clone(),
        name: "machine limit".to_owned(),
        short: "machine limit".to_owned(),
        look: Look::Muted,
        cells: contests.iter().map(cell).collect(),
        ..MatrixRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_headings_end_in_is_common() {
        let common = |headings: &[&str]| common(&headings.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(common(&["A · lan · by wrk", "B · lan · by wrk"]), " · lan · by wrk");
        assert_eq!(common(&["A · lan · by wrk", "B · wan · by wrk"]), " · by wrk");
        assert_eq!(common(&["A", "B · by wrk"]), "");
        assert_eq!(common(&["A · by wrk"]), "", "a single heading has no common part");
    }

    #[test]
    fn of_a_load_the_number_of_users_or_the_rate_is_said() {
        assert_eq!(load_in_short("closed loop, 64 virtual users, keep-alive, 10 s"), "64 users");
        assert_eq!(load_in_short("open loop, 1,000 requests/s, 10s"), "1,000 requests/s");
        assert_eq!(load_in_short("ramp"), "ramp");
    }
}
