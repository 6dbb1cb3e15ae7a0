//! Whether a run's figures can be trusted: each check with what was found, passed or not.

use tolok_analysis::figures::{Quantity, amount, count, counted, listed, small_share};
use tolok_analysis::{
    ABOVE_CEILING_TOLERATED, CaseFinding, DatabaseFinding, Findings, FlagKind, ScenarioFinding, TrialCounts,
};

use super::surroundings::cpus;
use super::{gates, muted, program_trust, section};
use crate::document::{Block, Cell, Column, Heading, Look, Row, Table, Text};
use crate::documents::glance::own_nodes;
use crate::wording::{heading, is_lower_bound, of_limit};

/// The section of a page: every check, followed by those of each case.
pub(crate) fn blocks(findings: &Findings, scenarios: &[&ScenarioFinding]) -> Vec<Block> {
    let mut checks = checks(findings);
    // Failed checks first, then unknown, then passed.
    checks.sort_by_key(|check| match check.passed {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    });
    let (failed, others): (Vec<Check>, Vec<Check>) = checks.into_iter().partition(Check::has_failed);
    let (unknown, passed): (Vec<Check>, Vec<Check>) = others.into_iter().partition(|check| check.passed.is_none());
    let table = |caption: &str, checks: Vec<Check>| {
        let columns = ["check", "held", "seen"].map(Column::words).to_vec();
        Block::Table(Table::of(caption, columns, checks.into_iter().map(Check::row).collect()))
    };
    let of_case = |scenario: &&ScenarioFinding| {
        let beside = format!("{}; {}", scenario.load, scenario.environment.words);
        let title = Heading { rank: 3, text: heading(scenario).into(), beside };
        gates::table(scenario).map(|table| [Block::Heading(title), table])
    };
    let of_cases: Vec<Block> = scenarios.iter().filter_map(of_case).flatten().collect();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend((!failed.is_empty()).then(|| table("Checks that failed", failed)));
    for (checks, caption, what) in
        [(unknown, "Checks without an answer", "unknown"), (passed, "Checks that passed", "passed")]
    {
        if !checks.is_empty() {
            let summary = format!("{} {what}", counted(checks.len() as u64, "check")).into();
            blocks.push(Block::Folded { summary, blocks: vec![table(caption, checks)] });
        }
    }
    if !of_cases.is_empty() {
        let note = muted(
            "✓: it held in every trial that can show it. A number: failed trials, out of those that can show it; some failures keep the case out of the ranking. Seconds: whether the correct responses per second were steady, and after which second.",
        );
        let summary = "Each check of each case".into();
        blocks.push(Block::Folded { summary, blocks: note.into_iter().chain(of_cases).collect() });
    }
    section("trust", "Can these figures be trusted?", blocks)
}

#[derive(Debug, PartialEq)]
pub(crate) struct Check {
    /// What must hold, as a sentence.
    pub(crate) rule: &'static str,
    pub(crate) seen: String,
    /// Whether it held; `None` if there was nothing to check.
    pub(crate) passed: Option<bool>,
}

impl Check {
    fn row(self) -> Row {
        let held = match self.passed {
            Some(false) => Text::of("! no", Look::Warning),
            Some(true) => Text::of("✓ yes", Look::Good),
            None => Text::of("– unknown", Look::Muted),
        };
        Row::of(vec![self.rule.into(), held.into(), Cell::from(self.seen)])
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.passed == Some(false)
    }
}

/// Every check, in display order.
pub(crate) fn checks(findings: &Findings) -> Vec<Check> {
    let competing: Vec<&CaseFinding> = findings.scenarios.iter().flat_map(|scenario| &scenario.cases).collect();
    let ceilings = || findings.scenarios.iter().flat_map(|scenario| &scenario.ceiling);
    let all: Vec<&CaseFinding> = competing.iter().copied().chain(ceilings()).collect();
    if findings.scenarios.is_empty() && !findings.programs.is_empty() {
        let of_programs = program_trust::checks(findings);
        return [trials(findings)].into_iter().chain(held_apart(findings)).chain(of_programs).collect();
    }
    let mut of_plan = vec![trials(findings), enough_trials(&all), own_cpus(findings)];
    of_plan.extend(database_apart(findings));
    of_plan.extend(ceiling(findings));
    let of_measurements = [
        wire_agrees(findings, &all),
        Some(no_errors(&all)),
        Some(stood_by(&competing)),
        Some(quiet(findings)),
        enough_memory(findings, &all),
        link_in_time(findings, &all),
        counters_right(&competing),
        database_accepted(findings, &competing),
        below_ceiling(findings),
    ];
    let checks = of_plan.into_iter().chain(held_apart(findings));
    let of_programs = program_trust::checks(findings);
    if all.iter().any(|case| case.trials_measured > 0) {
        return checks
            .chain(gates::checks(findings))
            .chain(of_measurements.into_iter().flatten())
            .chain(of_programs)
            .collect();
    }
    let unknown = |check: Check| Check { passed: None, seen: "nothing was measured".to_owned(), ..check };
    checks.chain(of_measurements.into_iter().flatten().map(unknown)).chain(of_programs).collect()
}

fn check(rule: &'static str, passed: bool, seen: String) -> Check {
    Check { rule, seen, passed: Some(passed) }
}

fn trials(findings: &Findings) -> Check {
    let TrialCounts { planned, measured, failed, .. } = findings.trials;
    let seen = format!("{measured} of {planned} measured, {failed} failed, {} missing", findings.trials_missing);
    check("Every planned trial was measured", measured == planned, seen)
}

fn enough_trials(cases: &[&CaseFinding]) -> Check {
    let lacking =
        cases.iter().filter(|case| case.goodput_rps.as_ref().is_none_or(|goodput| goodput.low.is_none())).count();
    let seen = format!("{} of {} have one", cases.len() - lacking, counted(cases.len() as u64, "case"));
    check("Every goodput has an interval", lacking == 0, seen)
}

/// `None` if tools were not compared and no count was contradicted.
fn wire_agrees(findings: &Findings, cases: &[&CaseFinding]) -> Option<Check> {
    let contradicted = flagged(cases, FlagKind::WireContradicts);
    let rows = findings.tools.iter().flat_map(|tools| &tools.rows);
    let has_wire = rows.filter(|row| row.counted_of_wire.is_some()).count() > 0;
    let seen = of_cases(contradicted, cases);
    (has_wire || contradicted > 0).then(|| check("Each tool counted what crossed the wire", contradicted == 0, seen))
}

fn no_errors(cases: &[&CaseFinding]) -> Check {
    let sent: u64 = cases.iter().map(|case| case.requests_sent).sum();
    let failed: u64 = cases.iter().flat_map(|case| &case.errors).map(|(_, number)| number).sum();
    let share = small_share(failed as f64 / sent.max(1) as f64);
    check("Every request got a correct response", failed == 0, format!("{} failed ({share})", count(failed)))
}

fn stood_by(cases: &[&CaseFinding]) -> Check {
    let flagged = flagged(cases, FlagKind::NotTrusted);
    check("The load generator passed its own checks", flagged == 0, of_cases(flagged, cases))
}

fn own_cpus(findings: &Findings) -> Check {
    let mut seen: Vec<String> = Vec::new();
    for scenario in &findings.scenarios {
        let (subject, generator) = (&scenario.environment.subject.on_cpus, &scenario.environment.generator.on_cpus);
        let load = match scenario.environment.generator_nodes {
            Some(nodes) => format!("load from {}", own_nodes(nodes)),
            None => format!("generator on {}", cpus(generator)),
        };
        let words = format!("subject on {}, {load}", cpus(subject));
        if !subject.is_empty() && !seen.contains(&words) {
            seen.push(words);
        }
    }
    let seen = if seen.is_empty() { "not recorded".to_owned() } else { seen.join("; ") };
    let overlap = |scenario: &&ScenarioFinding| {
        let (subject, generator) = (&scenario.environment.subject.on_cpus, &scenario.environment.generator.on_cpus);
        subject.iter().any(|cpu| generator.contains(cpu))
    };
    let shared = findings.scenarios.iter().filter(overlap).count();
    let mut check = check("Subject and generator had CPUs of their own", shared == 0, seen);
    let cases = findings.scenarios.iter().flat_map(|scenario| &scenario.cases);
    if shared == 0 && flagged(&cases.collect::<Vec<_>>(), FlagKind::External) > 0 {
        check.passed = None;
        check.seen += "; unknown for subjects that tolok did not start";
    }
    check
}

/// `None` without a database of ours.
fn database_apart(findings: &Findings) -> Option<Check> {
    let databases = || findings.scenarios.iter().filter_map(|scenario| scenario.database.as_ref());
    let mut seen: Vec<String> = databases().filter(|it| !it.on_cpus.is_empty()).map(place).collect();
    seen.sort_unstable();
    seen.dedup();
    let shared = databases().any(|database| !database.shares_cpus_with.is_empty());
    (!seen.is_empty()).then(|| check("The database had CPUs of its own", !shared, seen.join("; ")))
}

fn place(database: &DatabaseFinding) -> String {
    let with = match database.shares_cpus_with.as_slice() {
        [] => String::new(),
        others => format!(", shared with the {}", listed(others, "and the")),
    };
    format!("database on {}{with}", cpus(&database.on_cpus))
}

/// `None` if no workload counts.
fn counters_right(cases: &[&CaseFinding]) -> Option<Check> {
    let counters = cases.iter().filter_map(|case| case.database.as_ref()?.counter.as_ref());
    let asked: u64 = counters.map(|counter| counter.asked).sum();
    let wrong = flagged(cases, FlagKind::CounterWrong);
    let seen = format!("{} at once; {}", counted(asked, "increment"), of_cases(wrong, cases));
    (asked > 0 || wrong > 0).then(|| check("Every counter was exactly right", wrong == 0, seen))
}

/// `None` if no database reports it.
fn database_accepted(findings: &Findings, cases: &[&CaseFinding]) -> Option<Check> {
    findings.scenarios.iter().find(|scenario| scenario.database.is_some())?;
    cases.iter().find(|case| case.database.as_ref().is_some_and(|it| it.refused_connections.is_some()))?;
    let refused = flagged(cases, FlagKind::DatabaseRefused);
    Some(check("The database refused no connection", refused == 0, of_cases(refused, cases)))
}

/// `None` if no trial got as far as isolation.
fn held_apart(findings: &Findings) -> Option<Check> {
    let isolation = &findings.isolation;
    let lacking = isolation.fallbacks.len();
    let seen = match lacking {
        0 => "all planned isolation was active".to_owned(),
        _ => format!("{} not available: see isolation", counted(lacking as u64, "part")),
    };
    (isolation.trials > 0).then(|| check("All planned isolation was active", lacking == 0, seen))
}

/// For servers only: programs have a check of their own.
fn quiet(findings: &Findings) -> Check {
    let programs = || findings.programs.iter().flat_map(|program| &program.cases);
    let of_programs: usize = programs().map(|case| case.disturbed.len()).sum();
    let disturbed = findings.trials.disturbed as usize - of_programs;
    let reruns = findings.trials.measurements_discarded - programs().map(|case| case.reruns).sum::<u32>();
    let repeated = counted(u64::from(reruns), "measurement");
    left_by_others(findings, "Others left the CPU to the servers", &repeated, disturbed)
}

/// The check that others left the CPU free: no trial was discarded, and others took little during those that were kept.
pub(crate) fn left_by_others(findings: &Findings, rule: &'static str, repeated: &str, disturbed: usize) -> Check {
    let others = &findings.others;
    let discarded = counted(disturbed as u64, "trial");
    let taken = others.used.zip(others.stolen).map(|(used, stolen)| {
        format!(
            "; in the median clean trial of a case other programs used at most {} of the machine’s CPUs, and the hypervisor \
             took at most {}",
            small_share(used),
            small_share(stolen)
        )
    });
    let seen = format!("{repeated} repeated; {discarded} discarded{}", taken.unwrap_or_default());
    check(rule, disturbed == 0 && others.caution.is_none(), seen)
}

/// `None` if there was no limit and nothing was killed.
fn enough_memory(findings: &Findings, cases: &[&CaseFinding]) -> Option<Check> {
    let killed = flagged(cases, FlagKind::OutOfMemory);
    let is_limited = findings.scenarios.iter().any(|it| it.environment.subject.memory_bytes.is_some());
    let highest = busiest(cases, |case| case.resources.peak_of_limit);
    let highest = highest.map(|(case, share)| {
        format!("; highest: {} with {} of its limit, page cache included", case.title, small_share(share))
    });
    let seen = format!("{}{}", of_cases(killed, cases), highest.unwrap_or_default());
    (is_limited || killed > 0).then(|| check("No subject ran out of memory", killed == 0, seen))
}

/// `None` if tolok emulated no link.
fn link_in_time(findings: &Findings, cases: &[&CaseFinding]) -> Option<Check> {
    let late = flagged(cases, FlagKind::LinkLate);
    let latest_s = cases.iter().filter_map(|case| case.link.as_ref()).flat_map(|link| link.directions());
    let latest_s = latest_s.map(|direction| direction.lateness_s_max).reduce(f64::max)?;
    let is_emulated = findings.scenarios.iter().any(|scenario| scenario.link.is_some());
    let seen = format!("{}; latest packet: {}", of_cases(late, cases), amount(Quantity::Seconds, latest_s));
    is_emulated.then(|| check("The link’s emulator kept its times", late == 0, seen))
}

/// `None` for a duel, which reports only ratios.
fn ceiling(findings: &Findings) -> Option<Check> {
    let without = findings
        .scenarios
        .iter()
        .filter(|scenario| scenario.ceiling.as_ref().is_none_or(|ceiling| ceiling.goodput_rps.is_none()));
    let without = without.count();
    let scenarios = counted(findings.scenarios.len() as u64, "scenario");
    let seen = format!("in {} of {scenarios}", findings.scenarios.len() - without);
    let is_asked = findings.duel.is_none();
    is_asked.then(|| check("The machine’s limit was measured beside the subjects", without == 0, seen))
}

/// Counts only cases whose share of the ceiling can be told. `None` for a duel, which reports only ratios.
fn below_ceiling(findings: &Findings) -> Option<Check> {
    let of_scenario = |scenario: &ScenarioFinding| {
        let told = |case: &CaseFinding| {
            let (share, words) = (case.of_ceiling.as_ref()?.value, of_limit(case, scenario)?);
            // The share of a limit that is only a lower bound may be smaller.
            let share = if scenario.ceiling.as_ref().is_some_and(is_lower_bound) { share.min(1.0) } else { share };
            Some((share, format!("highest: {} with {words} of the ceiling", case.title)))
        };
        scenario.cases.iter().filter_map(told).collect::<Vec<_>>()
    };
    let all = findings.scenarios.iter().flat_map(of_scenario);
    let highest = all.max_by(|left, right| left.0.total_cmp(&right.0));
    let passed = highest.as_ref().map(|(share, _)| *share <= 1.0 + ABOVE_CEILING_TOLERATED);
    let seen = highest.map_or_else(|| "there is no figure and ceiling to compare".to_owned(), |(_, seen)| seen);
    findings.duel.is_none().then_some(Check { rule: "No subject was above the machine’s limit", seen, passed })
}

fn flagged(cases: &[&CaseFinding], kind: FlagKind) -> usize {
    cases.iter().filter(|case| case.flags.iter().any(|flag| flag.kind == kind)).count()
}

fn of_cases(flagged: usize, cases: &[&CaseFinding]) -> String {
    let cases = counted(cases.len() as u64, "case");
    if flagged == 0 { format!("none of {cases} flagged") } else { format!("{flagged} of {cases} flagged") }
}

fn busiest<'a>(cases: &[&'a CaseFinding], of: impl Fn(&CaseFinding) -> Option<f64>) -> Option<(&'a CaseFinding, f64)> {
    let shares = cases.iter().filter_map(|case| of(case).map(|share| (*case, share)));
    shares.max_by(|left, right| left.1.total_cmp(&right.1))
}
