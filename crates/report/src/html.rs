//! One self-contained page: no script, no font, no picture from anywhere else.
//!
//! The words and their order stand in the template, the looks in the style sheet, the charts in [`crate::svg`]. Here the
//! findings are only put into the shape that the template reads. The content security policy of the page forbids
//! everything but its own style, and the template escapes whatever a server or a study file may have said.

use minijinja::value::Serde;
use serde::Serialize;
use tolok_analysis::figures::{self, Figure, NONE, Quantity, counted, moment};
use tolok_analysis::{Comparison, Findings, MemorySource, RunFacts, ScenarioFinding, TrialCounts};

use crate::charts;
use crate::cold_start::ColdStart;
use crate::database;
use crate::details::{self, Grid};
use crate::failures::{Disturbed, FailedRequests, FailedTrials, disturbed_trials, failed_requests, failed_trials};
use crate::fairness::Fairness;
use crate::frame;
use crate::gates;
use crate::isolation::{self, Fact};
use crate::judgement::{self, Sureness, p_words, simultaneous};
use crate::latency::Latency;
use crate::limits;
use crate::objectives;
use crate::page;
use crate::palette::{STYLE, marker};
use crate::programs::html::Programs;
use crate::published::Published;
use crate::recommendations::Recommendations;
use crate::seconds::Seconds;
use crate::sections::{is_of_tools, sections};
use crate::sensitivity::html::Sensitivity;
use crate::standings::{Standing, standings};
use crate::surroundings::{asked, common_environment, environment, heading};
use crate::table::{Row, Table, percentiles_heading};
use crate::tool_remarks::{Remark, Remarks};
use crate::tools::{self, ToolsPart};
use crate::trust::{Check, checks};
use crate::untested::Untested;

const TEMPLATE: &str = include_str!("../templates/report.html");
const PROGRAMS: &str = include_str!("../templates/programs.html");
const SENSITIVITY: &str = include_str!("../templates/sensitivity.html");
const MACROS: &str = include_str!("../templates/macros.html");
const LATENCY: &str = include_str!("../templates/latency.html");
const SECONDS: &str = include_str!("../templates/seconds.html");
const COLD_START: &str = include_str!("../templates/cold-start.html");
const PUBLISHED: &str = include_str!("../templates/published.html");
const RECOMMENDATIONS: &str = include_str!("../templates/recommendations.html");
const FAIRNESS: &str = include_str!("../templates/fairness.html");
const UNTESTED: &str = include_str!("../templates/untested.html");

pub(crate) fn render(findings: &Findings) -> String {
    let mut environment = page::templates();
    let sections = sections(findings);
    let page = Page::of(findings, &sections.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let templates = [
        ("report.html", TEMPLATE),
        ("programs.html", PROGRAMS),
        ("sensitivity.html", SENSITIVITY),
        ("macros.html", MACROS),
        ("latency.html", LATENCY),
        ("seconds.html", SECONDS),
        ("cold-start.html", COLD_START),
        ("published.html", PUBLISHED),
        ("recommendations.html", RECOMMENDATIONS),
        ("fairness.html", FAIRNESS),
        ("untested.html", UNTESTED),
    ];
    for (name, text) in templates {
        // The name's ending turns escaping on.
        environment.add_template(name, text).expect("the template is part of the program, and tests render it");
    }
    let template = environment.get_template("report.html").expect("it was added above");
    frame::finish(
        template.render(Serde(&page)).expect("the page has every name that the template reads, as tests show"),
    )
}

/// All that the template reads.
#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    run: &'a RunFacts,
    facts: String,
    /// That the run was shorter or longer than its study, if it was.
    scaled: Option<String>,
    /// What all scenarios ran in, if that is the same.
    environment: Option<String>,
    /// When the run was to end, if not after all blocks.
    stopping: String,
    /// Differences below it do not matter.
    effect: String,
    chips: Vec<Chip>,
    /// Whether there is only one scenario, and no program.
    single: bool,
    /// Who is in the first tier where, of a run with more scenarios than can be read at a glance; empty of others.
    standings: Vec<Standing>,
    /// Whether any two cases were compared.
    compared: bool,
    scenarios: Vec<Scenario<'a>>,
    /// How sure they are, side by side, where there are several.
    sureness: Option<Sureness>,
    /// What limited their cases.
    limits: Vec<limits::Group>,
    bottlenecks: Option<limits::Matrix>,
    meanings: Vec<(&'static str, &'static str)>,
    /// Whether there is anything of servers to show; a run without anything shows their empty sections.
    has_servers: bool,
    programs: Option<Programs<'a>>,
    /// What the factors of the study do.
    sensitivity: Option<Sensitivity<'a>>,
    /// What each tool says of the same server.
    tools: Vec<ToolsPart<'a>>,
    /// What holds for a tool in several of those tables.
    remarks: Vec<Remark>,
    latency: Option<Latency>,
    seconds: Option<Seconds>,
    cold_start: Option<ColdStart>,
    published: Option<Published>,
    recommendations: Option<Recommendations>,
    fairness: Option<Fairness>,
    untested: Option<Untested>,
    /// Blocks in words: `6 blocks`.
    blocks: String,
    /// Whether any section has charts of its own.
    has_charts: bool,
    /// Whether anything was counted on the wire for them.
    has_wire: bool,
    columns: &'static str,
    /// What the charts call memory.
    memory: &'static str,
    has_links: bool,
    has_diagnoses: bool,
    failed_trials: Vec<FailedTrials<'a>>,
    disturbed_trials: Vec<Disturbed<'a>>,
    failed_requests: Option<FailedRequests<'a>>,
    skipped: &'a [tolok_analysis::SkippedSubject],
    checks: Vec<Check>,
    cautions: &'a [String],
    isolation: Vec<Fact>,
    fallbacks: Vec<String>,
    /// When an objective is kept.
    objectives_rule: &'static str,
    /// What a bottleneck is.
    limits_rule: &'static str,
}

/// A word on the whole run, at the top.
#[derive(Serialize)]
struct Chip {
    class: &'static str,
    text: String,
    href: &'static str,
}

#[derive(Serialize)]
struct Scenario<'a> {
    id: &'a str,
    title: String,
    load: &'a str,
    environment: String,
    /// The same for the subject alone.
    place: &'a str,
    /// What sets it apart from others of its title, or from those in other environments.
    apart: String,
    has_quota: bool,
    /// Which memory its table holds.
    memory: &'static str,
    /// What p50 and p99 are.
    percentiles: String,
    verdict: &'a str,
    /// Whether it is of several tools, whose chart stands where they are compared.
    is_of_tools: bool,
    is_compared: bool,
    has_ceiling: bool,
    throughput: String,
    ratios: Option<String>,
    /// Whether anything is known of what its answers cost.
    has_costs: bool,
    costs: String,
    rows: Vec<Line>,
    ceiling: Option<Line>,
    notes: Vec<String>,
    /// Its A/A pair, and what its blocks can show.
    sureness: Vec<judgement::Line>,
    /// Whether its subjects ask a database.
    has_database: bool,
    database: Vec<Grid>,
    /// What the subjects owed in an outage and did not do.
    failing: Vec<String>,
    objectives: Vec<objectives::Line>,
    pairs: Vec<Pair>,
    resources: Vec<Grid>,
    /// Every check of its cases.
    gates: Option<Grid>,
    /// Where the resources were read.
    sources: String,
    /// What was asked of the link, and how it did.
    asked: Option<String>,
    link: Option<Grid>,
    diagnosis: Option<Grid>,
    undiagnosed: Vec<String>,
}

/// A case in the table.
#[derive(Serialize)]
struct Line {
    marker: String,
    title: String,
    subject: String,
    notes: Vec<usize>,
    goodput: WithInterval,
    against_first: WithInterval,
    verdict: &'static str,
    tier: String,
    of_ceiling: String,
    throttled: String,
    cpu_us: String,
    memory_mib: String,
    p50_ms: String,
    p99_ms: String,
    cold_start_ms: String,
    busy: String,
    processes: String,
    trials: String,
}

/// A figure and its interval, which may be empty.
#[derive(Serialize)]
struct WithInterval {
    value: String,
    interval: String,
}

/// Two cases and how they compare.
#[derive(Serialize)]
struct Pair {
    a: String,
    b: String,
    ratio: String,
    /// The interval that holds for all pairs together.
    simultaneous: String,
    p: String,
    blocks: String,
    verdict: &'static str,
}

impl<'a> Page<'a> {
    fn of(findings: &'a Findings, sections: &[&'a ScenarioFinding]) -> Self {
        let remarks = Remarks::of(findings);
        let charts = sections.iter().filter(|section| !is_of_tools(section)).count();
        let run = &findings.run;
        let effect = run.smallest_effect;
        let blocks = counted(u64::from(run.blocks), "block");
        let single = findings.scenarios.len() == 1 && findings.programs.is_empty();
        let limits = limits::groups(sections);
        Self {
            environment: common_environment(sections.iter().copied()),
            sureness: if single { None } else { Sureness::of_servers(sections) },
            bottlenecks: limits::matrix(sections),
            meanings: limits::meanings(&limits),
            limits,
            style: STYLE,
            run,
            facts: format!(
                "{} · {} · tolok {} · {blocks}, each in its own order",
                run.id,
                moment(&run.started_at),
                run.tolok_version
            ),
            scaled: findings.scaled(),
            stopping: judgement::stopping(findings),
            effect: figures::amount(Quantity::Share, effect),
            chips: chips(findings),
            single,
            has_servers: !findings.scenarios.is_empty() || findings.programs.is_empty(),
            programs: Programs::of(findings),
            sensitivity: Sensitivity::of(findings),
            standings: standings(findings, sections),
            compared: findings.scenarios.iter().any(|scenario| !scenario.comparisons.is_empty()),
            columns: columns(charts),
            has_charts: charts > 0 || findings.scenarios.is_empty(),
            scenarios: sections.iter().map(|section| Scenario::of(findings, section, sections)).collect(),
            tools: tools::parts(findings, &remarks),
            remarks: remarks.numbered().map(|(_, remark)| remark.clone()).collect(),
            latency: Latency::of(findings),
            seconds: Seconds::of(findings),
            cold_start: ColdStart::of(findings),
            published: Published::of(findings),
            recommendations: Recommendations::of(findings),
            fairness: Fairness::of(findings),
            untested: Untested::of(findings),
            blocks: blocks.clone(),
            has_wire: findings.tools.iter().flat_map(|it| &it.rows).any(|row| row.wire_rps.is_some()),
            memory: memory(findings),
            has_links: findings.scenarios.iter().any(|scenario| scenario.link.is_some()),
            has_diagnoses: findings.scenarios.iter().any(|scenario| !scenario.unscored_diagnoses.is_empty()),
            failed_trials: failed_trials(findings),
            disturbed_trials: disturbed_trials(findings),
            failed_requests: failed_requests(findings),
            skipped: &findings.skipped,
            checks: worst_first(checks(findings)),
            cautions: &findings.cautions,
            isolation: isolation::facts(findings),
            fallbacks: isolation::fallbacks(findings),
            objectives_rule: objectives::RULE,
            limits_rule: limits::RULE,
        }
    }
}

/// Two or four charts stand better in two columns; one scenario has its three charts side by side.
fn columns(scenarios: usize) -> &'static str {
    if matches!(scenarios, 2 | 4) { "two" } else { "three" }
}

/// What the charts call memory, in a sentence of their note.
fn memory(findings: &Findings) -> &'static str {
    let of = |source| findings.scenarios.iter().any(|scenario| scenario.memory_source == Some(source));
    match (of(MemorySource::Group), of(MemorySource::Pss)) {
        (true, false) => "the most anonymous and kernel memory of the subject’s control group in the window",
        (false, _) => {
            "the proportional set sizes of its processes when the window ended, which count shared pages once"
        }
        (true, true) => {
            "what its heading says, anonymous and kernel memory of a control group or proportional set sizes (PSS)"
        }
    }
}

/// The load and the environment of a scenario where the study has several, and the load where another has its title.
fn apart(scenario: &ScenarioFinding, all: &[&ScenarioFinding]) -> String {
    let namesakes = all.iter().filter(|other| heading(other) == heading(scenario)).count();
    match (scenario.environment.id.is_empty(), namesakes) {
        (false, _) => format!("{}; {}", scenario.load, scenario.environment.words),
        (true, 1) => String::new(),
        (true, _) => scenario.load.clone(),
    }
}

/// What failed before what is unknown, and that before what held.
fn worst_first(mut checks: Vec<Check>) -> Vec<Check> {
    checks.sort_by_key(|check| match check.passed {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    });
    checks
}

fn chips(findings: &Findings) -> Vec<Chip> {
    let of_servers = findings.scenarios.iter().flat_map(|scenario| &scenario.cases);
    let of_programs = findings.programs.iter().flat_map(|program| &program.cases);
    let cases: Vec<bool> = of_servers.map(|case| case.ranked).chain(of_programs.map(|case| case.ranked)).collect();
    let ranked = cases.iter().filter(|is_ranked| **is_ranked).count();
    let all = counted(cases.len() as u64, "case");
    let passed = ranked == cases.len();
    let class = |passed: bool| if passed { "ok" } else { "warn" };
    let sign = |passed: bool| if passed { "✓" } else { "!" };
    let mut chips =
        vec![Chip { class: class(passed), text: format!("{} {ranked} of {all} ranked", sign(passed)), href: "#trust" }];
    let checks = checks(findings);
    let good = checks.iter().filter(|check| check.passed == Some(true)).count();
    let passed = !checks.iter().any(Check::has_failed);
    let (all, bad) = (checks.len(), checks.iter().filter(|check| check.has_failed()).count());
    let text = match (bad, all - good - bad) {
        (0, 0) => format!("✓ all {all} checks passed"),
        (0, unknown) => format!("✓ {good} checks passed, {unknown} unknown"),
        (bad, 0) => format!("! {bad} of {all} checks failed"),
        (bad, unknown) => format!("! {bad} of {all} checks failed, {unknown} unknown"),
    };
    chips.push(Chip { class: class(passed), text, href: "#trust" });
    let crossed = objectives::crossed(findings);
    if crossed > 0 {
        let text = format!("! {} crossed", counted(crossed as u64, "objective"));
        chips.push(Chip { class: "warn", text, href: "#figures" });
    }
    let TrialCounts { failed, disturbed, .. } = findings.trials;
    if failed > 0 {
        let text = format!("! {} failed", counted(u64::from(failed), "trial"));
        chips.push(Chip { class: "warn", text, href: "#failures" });
    }
    if disturbed > 0 {
        let text = format!("! {} disturbed", counted(u64::from(disturbed), "trial"));
        chips.push(Chip { class: "warn", text, href: "#failures" });
    }
    if !findings.skipped.is_empty() {
        let text = format!("! {} left out", findings.skipped.len());
        chips.push(Chip { class: "warn", text, href: "#failures" });
    }
    if findings.scaled().is_some() {
        let what = if findings.has_programs_only() { "runs" } else { "windows" };
        let text = format!("! {what} at {}", figures::amount(Quantity::Share, findings.run.scale));
        chips.push(Chip { class: "warn", text, href: "#trust" });
    }
    chips.push(Chip { class: "", text: "Run it again".to_owned(), href: "#again" });
    chips
}

impl<'a> Scenario<'a> {
    fn of(findings: &Findings, scenario: &'a ScenarioFinding, all: &[&ScenarioFinding]) -> Self {
        let table = Table::of(scenario);
        let title = |subject: &str| {
            let case = scenario.cases.iter().find(|case| case.subject == subject);
            case.map_or(subject, |case| case.title.as_str()).to_owned()
        };
        let pair = |pair: &Comparison| Pair {
            a: title(&pair.a),
            b: title(&pair.b),
            ratio: figures::figure(Quantity::Ratio, &pair.ratio).line(),
            simultaneous: simultaneous(&pair.ratio, pair.simultaneous_low, pair.simultaneous_high),
            p: p_words(pair.p_adjusted),
            blocks: format!("{} of {}", pair.blocks_won, pair.blocks),
            verdict: pair.verdict.words(),
        };
        Self {
            id: &scenario.id,
            title: heading(scenario),
            load: &scenario.load,
            environment: environment(scenario),
            place: &scenario.environment.words,
            apart: apart(scenario, all),
            has_quota: table.has_quota,
            memory: table.memory,
            is_of_tools: is_of_tools(scenario),
            is_compared: table.is_compared,
            has_ceiling: table.has_ceiling,
            percentiles: percentiles_heading(scenario),
            sureness: judgement::lines(scenario.noise_floor.as_ref(), scenario.power.as_ref()),
            has_database: scenario.database.is_some(),
            database: database::grids(scenario),
            failing: database::failing(scenario),
            objectives: objectives::lines(scenario),
            verdict: &scenario.verdict,
            throughput: charts::throughput(findings, scenario).svg,
            ratios: charts::ratios(findings, scenario).map(|chart| chart.svg),
            has_costs: charts::has_costs(scenario),
            costs: charts::costs(findings, scenario).svg,
            notes: table.notes.numbered().map(|(_, note)| note).collect(),
            rows: table.rows.into_iter().map(Line::of).collect(),
            ceiling: table.ceiling.map(Line::of),
            pairs: scenario.comparisons.iter().map(pair).collect(),
            resources: details::resources(scenario),
            gates: gates::table(scenario),
            sources: details::sources(scenario),
            asked: scenario.link.as_ref().map(asked),
            link: details::link(scenario),
            diagnosis: details::diagnosis(scenario),
            undiagnosed: details::undiagnosed(scenario),
        }
    }
}

impl Line {
    fn of(row: Row) -> Self {
        let case = row.case;
        let share = |share: Option<f64>| share.map_or(NONE.to_owned(), |share| figures::amount(Quantity::Share, share));
        let database = case.database.as_ref().map(|database| share(database.busy));
        let busy = [Some(share(case.subject_busy)), database, Some(share(case.generator_busy))];
        let busy: Vec<String> = busy.into_iter().flatten().collect();
        Self {
            marker: marker(&case.runtime),
            title: case.title.clone(),
            subject: case.subject.clone(),
            notes: row.notes,
            goodput: row.goodput.into(),
            against_first: row.against_first.into(),
            verdict: case.against_first.map(tolok_analysis::Verdict::words).unwrap_or_default(),
            tier: row.tier,
            of_ceiling: row.of_ceiling,
            throttled: row.throttled,
            cpu_us: row.cpu_us,
            memory_mib: row.memory_mib,
            p50_ms: row.p50_ms,
            p99_ms: row.p99_ms,
            cold_start_ms: row.cold_start_ms,
            busy: if case.trials_scored > 0 { busy.join(" / ") } else { NONE.to_owned() },
            processes: if case.processes_max > 0 { case.processes_max.to_string() } else { NONE.to_owned() },
            trials: format!("{} of {}", case.trials_scored, case.trials_planned),
        }
    }
}

impl From<Figure> for WithInterval {
    fn from(figure: Figure) -> Self {
        Self { value: figure.value, interval: figure.interval.unwrap_or_default() }
    }
}
