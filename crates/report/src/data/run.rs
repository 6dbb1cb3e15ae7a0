//! The cases of a run: one row per case and scenario, including ceilings.
//!
//! Rows of programs follow those of servers, and rows of factors come last. A missing figure is an empty field.

use tolok_analysis::{
    CaseFinding, DiagnosisFinding, Estimate, Findings, FlagKind, GateOutcome, LatencyMark, MemorySource, NoiseFloor,
    ObjectiveFinding, ObjectiveOutcome, PowerNote, ScenarioFinding, ToolRow, Verdict,
};

use tolok_analysis::figure::{self, DATABASE, Figure, PROGRAM, RESOURCES, SERVER};

use super::{Fields, columns, csv, is_last, number, programs, sensitivity};
use crate::documents::run::gates;

/// A column: its name and its field in a row.
type Column = (&'static str, fn(&Line) -> String);

/// The object of a row.
struct Line<'a> {
    run: &'a str,
    scale: f64,
    scenario: &'a ScenarioFinding,
    role: &'static str,
    case: &'a CaseFinding,
    /// Set if several tools loaded the same.
    tools: Option<&'a ToolRow>,
}

const TEXT_COLUMNS: [Column; 10] = [
    ("run", |line| line.run.to_owned()),
    ("scenario", |line| line.scenario.id.clone()),
    ("workload", |line| line.scenario.workload.clone()),
    ("load", |line| line.scenario.load.clone()),
    ("loop", |line| line.scenario.loop_model.clone()),
    ("role", |line| line.role.to_owned()),
    ("subject", |line| line.case.subject.clone()),
    ("title", |line| line.case.title.clone()),
    ("runtime", |line| line.case.runtime.clone()),
    ("ranked", |line| line.case.ranked.to_string()),
];

const COUNT_COLUMNS: [Column; 12] = [
    ("against_first", |line| line.case.against_first.map(Verdict::words).unwrap_or_default().to_owned()),
    ("trials_planned", |line| line.case.trials_planned.to_string()),
    ("trials_measured", |line| line.case.trials_measured.to_string()),
    ("trials_failed", |line| line.case.failures.len().to_string()),
    ("requests_sent", |line| line.case.requests_sent.to_string()),
    ("requests_failed", |line| line.case.errors.iter().map(|(_, number)| number).sum::<u64>().to_string()),
    ("subject_busy", |line| number(line.case.subject_busy)),
    ("generator_busy", |line| number(line.case.generator_busy)),
    ("foreign_busy", |line| number(line.case.foreign_busy)),
    ("stolen", |line| number(line.case.stolen)),
    ("processes_max", |line| if is_external(line.case) { String::new() } else { line.case.processes_max.to_string() }),
    ("flags", |line| line.case.flags.iter().map(|flag| flag.kind.word()).collect::<Vec<_>>().join(" ")),
];

/// Added after readers relied on the columns above.
const LATER_COLUMNS: [Column; 4] = [
    ("executor", |line| line.scenario.executor.clone()),
    ("offered_rps", |line| number(line.case.offered_rps.as_ref().map(|offered| offered.value))),
    ("requests_unsent", |line| line.case.requests_unsent.to_string()),
    ("objectives", |line| line.case.objectives.iter().map(objective).collect::<Vec<_>>().join("; ")),
];

/// Added after the columns of programs: how a case compares to all others, and how certain that is.
const JUDGEMENT: [&str; 6] = ["tier", "aa_ratio", "aa_ratio_low", "aa_ratio_high", "aa_verdict", "blocks_needed"];

/// Fields from the case and its scenario.
fn judgement(tier: Option<&String>, floor: Option<&NoiseFloor>, power: Option<&PowerNote>) -> [String; 6] {
    let ratio = floor.map(|floor| &floor.ratio);
    [
        tier.cloned().unwrap_or_default(),
        number(ratio.map(|ratio| ratio.value)),
        number(ratio.and_then(|ratio| ratio.low)),
        number(ratio.and_then(|ratio| ratio.high)),
        floor.map(|floor| floor.verdict.words().to_owned()).unwrap_or_default(),
        whole(power.and_then(|power| power.blocks_needed).map(u64::from)),
    ]
}

/// The environment, and columns added with it.
const ENVIRONMENT_COLUMNS: [Column; 14] = [
    ("environment", |line| line.scenario.environment.words.clone()),
    ("cpu_mode", |line| line.scenario.environment.mode.word().to_owned()),
    ("subject_cpus", |line| line.scenario.environment.subject.cpus.to_string()),
    ("generator_cpus", |line| line.scenario.environment.generator.cpus.to_string()),
    ("memory_limit_bytes", |line| whole(line.scenario.environment.subject.memory_bytes)),
    ("link", |line| line.scenario.environment.link.clone()),
    ("link_backend", |line| line.scenario.link.as_ref().map(|link| link.backend.clone()).unwrap_or_default()),
    ("congestion", |line| line.scenario.environment.congestion.clone()),
    ("memory_source", |line| line.scenario.memory_source.map(memory).unwrap_or_default().to_owned()),
    ("cpu_source", |line| line.case.resources.cpu_source.clone().unwrap_or_default()),
    ("trials_scored", |line| line.case.trials_scored.to_string()),
    ("trials_disturbed", |line| line.case.disturbed.len().to_string()),
    ("reruns", |line| line.case.reruns.to_string()),
    (
        "oom_kills",
        |line| {
            if is_external(line.case) { String::new() } else { line.case.resources.oom_kills.to_string() }
        },
    ),
];

/// What limited a case, and columns added with databases.
const LIMIT_COLUMNS: [Column; 12] = [
    ("scale", |line| line.scale.to_string()),
    ("bottleneck", |line| line.case.bottleneck.as_ref().map(|it| it.kind.words().to_owned()).unwrap_or_default()),
    ("bottleneck_sentence", |line| line.case.bottleneck.as_ref().map(|it| it.sentence.clone()).unwrap_or_default()),
    ("goodput_below_rps", |line| number(line.case.goodput_below_rps)),
    ("body_bytes_per_s", |line| value(&line.case.body_bytes_per_s)),
    ("database", |line| line.scenario.database.as_ref().map(|it| it.words.clone()).unwrap_or_default()),
    ("database_version", |line| line.scenario.database.as_ref().map(|it| it.versions.join(" ")).unwrap_or_default()),
    ("database_shares_cpus_with", |line| {
        line.scenario.database.as_ref().map(|it| it.shares_cpus_with.join(" ")).unwrap_or_default()
    }),
    ("database_rtt_s", |line| number(line.scenario.database.as_ref().map(|it| it.rtt_s))),
    ("rows_per_answer", |line| whole(line.scenario.database.as_ref().and_then(|it| it.rows_per_answer).map(u64::from))),
    ("outage_statuses", |line| {
        let outage = line.case.database.as_ref().and_then(|it| it.outage.as_ref());
        let statuses = outage.map(|outage| outage.error_statuses.iter().map(u16::to_string).collect::<Vec<_>>());
        statuses.unwrap_or_default().join(" ")
    }),
    ("counter_worst", |line| {
        let counter = line.case.database.as_ref().and_then(|it| it.counter.as_ref());
        counter.and_then(|counter| counter.worst.clone()).unwrap_or_default()
    }),
];

fn value(estimate: &Option<Estimate>) -> String {
    number(estimate.as_ref().map(|estimate| estimate.value))
}

/// A column for an optional part of a case.
type PartColumn<T> = (&'static str, fn(&T) -> Option<f64>);

/// A column of a tool, if several loaded the same.
type ToolColumn = (&'static str, fn(&ToolRow) -> String);

/// The finding on a case that several tools loaded; empty if only one did.
const TOOL_COLUMNS: [ToolColumn; 17] = [
    ("tool_versions", |it| it.versions.join(" ")),
    ("wire_rps", |it| value(&it.wire_rps)),
    ("counted_of_wire", |it| value(&it.counted_of_wire)),
    ("goodput_of_own_tool", |it| value(&it.goodput_of_own)),
    ("goodput_of_own_tool_low", |it| number(it.goodput_of_own.as_ref().and_then(|ratio| ratio.low))),
    ("goodput_of_own_tool_high", |it| number(it.goodput_of_own.as_ref().and_then(|ratio| ratio.high))),
    ("generator_cpu_s_per_good", |it| value(&it.generator_cpu_s_per_good)),
    ("generator_cpu_of_own_tool", |it| value(&it.generator_cpu_of_own)),
    ("generator_cpu_of_own_tool_low", |it| number(it.generator_cpu_of_own.as_ref().and_then(|ratio| ratio.low))),
    ("generator_cpu_of_own_tool_high", |it| number(it.generator_cpu_of_own.as_ref().and_then(|ratio| ratio.high))),
    ("subject_cpu_s_per_wire", |it| value(&it.subject_cpu_s_per_wire)),
    ("latency_mean_s", |it| value(&it.latency_mean_s)),
    ("latency_max_s", |it| value(&it.latency_max_s)),
    ("latency_marks", |it| it.latency_marks.iter().map(mark).collect::<Vec<_>>().join(" ")),
    ("little", |it| value(&it.little)),
    ("trials_against_little", |it| it.trials_against_little.to_string()),
    ("tool_does_not_tell", |it| it.does_not_tell.join("; ")),
];

/// Checks of a case, and its limits; at the end, after the columns of programs.
const CHECK_COLUMNS: [Column; 8] = [
    ("gates_passed", |line| gates::words(line.case, GateOutcome::Passed)),
    ("gates_failed", |line| gates::words(line.case, GateOutcome::Failed)),
    ("gates_unknown", |line| gates::words(line.case, GateOutcome::Unknown)),
    ("steady", |line| line.case.steady.as_ref().map(|it| gates::class_word(it.class)).unwrap_or_default().to_owned()),
    ("steady_after_s", |line| number(line.case.steady.as_ref().and_then(|it| it.steady_after_s))),
    ("memory_growth_bytes_per_s", |line| {
        value(&line.case.steady.as_ref().and_then(|it| it.memory_growth_bytes_per_s.clone()))
    }),
    ("scarcest_resource", |line| line.case.demands.first().map(|it| it.resource.clone()).unwrap_or_default()),
    ("scarcest_most_rps", |line| number(line.case.demands.first().map(|it| it.most_rps))),
];

/// The word in JSON.
fn mark(mark: &LatencyMark) -> &'static str {
    match mark {
        LatencyMark::BackFilled => "back-filled",
        LatencyMark::DerivedMean => "derived-mean",
        LatencyMark::FromSend => "from-send",
        LatencyMark::WithFailures => "with-failures",
        LatencyMark::Coarse => "coarse",
    }
}

/// Unscored, as every name shows: none of these figures is a result.
const UNSCORED_COLUMNS: [PartColumn<DiagnosisFinding>; 11] = [
    ("unscored_goodput_rps", |it| it.goodput_rps),
    ("unscored_of_scored", |it| it.of_scored),
    ("unscored_cycles_per_good", |it| it.cycles_per_good),
    ("unscored_instructions_per_good", |it| it.instructions_per_good),
    ("unscored_instructions_per_cycle", |it| it.instructions_per_cycle),
    ("unscored_branch_misses_per_good", |it| it.branch_misses_per_good),
    ("unscored_cache_misses_per_good", |it| it.cache_misses_per_good),
    ("unscored_syscalls_per_good", |it| it.syscalls_per_good),
    ("unscored_collections", |it| it.collections.map(|collections| collections as f64)),
    ("unscored_pause_share", |it| it.pause_share),
    ("unscored_pause_s_max", |it| it.pause_s_max),
];

fn memory(source: MemorySource) -> &'static str {
    match source {
        MemorySource::Group => "group",
        MemorySource::Pss => "pss",
    }
}

fn whole(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// `p95 < 50ms: crossed`
fn objective(found: &ObjectiveFinding) -> String {
    let outcome = match found.outcome {
        ObjectiveOutcome::Kept => "kept",
        ObjectiveOutcome::Crossed => "crossed",
        ObjectiveOutcome::Unknown => "unknown",
    };
    format!("{}: {outcome}", found.objective)
}

pub(crate) fn run(findings: &Findings) -> String {
    let names = heading();
    let mut rows = vec![names.clone()];
    for scenario in &findings.scenarios {
        let competing = scenario.cases.iter().map(|case| ("subject", case));
        let ceiling = scenario.ceiling.iter().map(|case| ("ceiling", case));
        for (role, case) in competing.chain(ceiling) {
            let mut of_tools = findings.tools.iter().flat_map(|tools| &tools.rows);
            let tools = of_tools.find(|row| row.case == case.case);
            let line = Line { run: &findings.run.id, scale: findings.run.scale, scenario, role, case, tools };
            let mut row = fields(&line);
            row.extend(programs::heading().iter().map(|_| String::new()));
            row.extend(judgement(case.tier.as_ref(), scenario.noise_floor.as_ref(), scenario.power.as_ref()));
            row.extend(CHECK_COLUMNS.map(|(_, field)| field(&line)));
            row.extend(sensitivity::heading().iter().map(|_| String::new()));
            row.extend(last(Some(case)).into_iter().map(|(_, field)| field));
            row.resize(names.len(), String::new());
            rows.push(row);
        }
    }
    let named = |fields: &Fields| {
        names.iter().map(|name| fields.get(name).cloned().unwrap_or_default()).collect::<Vec<String>>()
    };
    for program in &findings.programs {
        for case in &program.cases {
            let mut fields = programs::fields(&findings.run, program, case);
            let judged = judgement(case.tier.as_ref(), program.noise_floor.as_ref(), program.power.as_ref());
            fields.extend(JUDGEMENT.iter().map(|name| (*name).to_owned()).zip(judged));
            rows.push(named(&fields));
        }
    }
    rows.extend(sensitivity::lines(findings).iter().map(named));
    csv(rows)
}

fn heading() -> Vec<String> {
    let named = |columns: Vec<(String, String)>| columns.into_iter().map(|(name, _)| name);
    let own = |columns: &[Column]| columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<String>>();
    let unscored = UNSCORED_COLUMNS.iter().map(|(name, _)| *name);
    let tools = ["tool"].into_iter().chain(TOOL_COLUMNS.iter().map(|(name, _)| *name));
    own(&TEXT_COLUMNS)
        .into_iter()
        .chain(named(columns(SERVER, None, is_interval)))
        .chain([&COUNT_COLUMNS[..], &LATER_COLUMNS, &ENVIRONMENT_COLUMNS].into_iter().flat_map(own))
        .chain(named(columns(RESOURCES, None, is_in_place)))
        .chain(named(columns(SERVER, None, is_of_link)))
        .chain(unscored.map(str::to_owned))
        .chain(own(&LIMIT_COLUMNS))
        .chain(named(columns(DATABASE, None, is_in_place)))
        .chain(tools.map(str::to_owned))
        .chain(programs::heading())
        .chain(JUDGEMENT.iter().map(|name| (*name).to_owned()))
        .chain(own(&CHECK_COLUMNS))
        .chain(sensitivity::heading())
        .chain(named(last(None)))
        .chain(named(columns(PROGRAM, None, is_last)))
        .collect()
}

fn fields(line: &Line) -> Vec<String> {
    let figures = |columns: Vec<(String, String)>| columns.into_iter().map(|(_, field)| field);
    let own = |columns: &[Column]| columns.iter().map(|(_, field)| field(line)).collect::<Vec<String>>();
    let diagnosis = line.scenario.unscored_diagnoses.iter().find(|diagnosis| diagnosis.case == line.case.case);
    let of_tool = TOOL_COLUMNS.iter().map(|(_, field)| line.tools.map(field).unwrap_or_default());
    own(&TEXT_COLUMNS)
        .into_iter()
        .chain(figures(columns(SERVER, Some(&line.case.figures), is_interval)))
        .chain([&COUNT_COLUMNS[..], &LATER_COLUMNS, &ENVIRONMENT_COLUMNS].into_iter().flat_map(own))
        .chain(figures(columns(RESOURCES, Some(&line.case.resources), is_in_place)))
        .chain(figures(columns(SERVER, Some(&line.case.figures), is_of_link)))
        .chain(UNSCORED_COLUMNS.iter().map(|(_, field)| number(diagnosis.and_then(field))))
        .chain(own(&LIMIT_COLUMNS))
        .chain(figures(columns(DATABASE, line.case.database.as_ref(), is_in_place)))
        .chain([line.scenario.tool.clone()])
        .chain(of_tool)
        .collect()
}

/// Figures of servers that were added after all other columns.
fn last(case: Option<&CaseFinding>) -> Vec<(String, String)> {
    let database = case.and_then(|case| case.database.as_ref());
    [
        columns(SERVER, case.map(|case| &case.figures), is_last),
        columns(RESOURCES, case.map(|case| &case.resources), is_last),
        columns(DATABASE, database, is_last),
    ]
    .concat()
}

pub(super) fn is_interval<F>(figure: &Figure<F>) -> bool {
    matches!(figure.column, figure::Column::Interval(_))
}

/// The columns of the emulated link are together, apart from those of the case.
fn is_of_link<F>(figure: &Figure<F>) -> bool {
    is_in_place(figure) && figure.id.starts_with("link_")
}

fn is_in_place<F>(figure: &Figure<F>) -> bool {
    !is_last(figure)
}

/// Whether tolok did not start it, so that its counts are unknown.
fn is_external(case: &CaseFinding) -> bool {
    case.flags.iter().any(|flag| flag.kind == FlagKind::External)
}
