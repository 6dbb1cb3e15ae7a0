//! The rows of programs, with the columns that servers have as well and their own columns behind those.

use tolok_analysis::{CpuMode, Estimate, ProgramCaseFinding, ProgramFinding, RunFacts, Verdict};

use super::{Fields, estimate, number};

/// An estimate takes three columns: the name, and the name with `_low` and `_high`.
type EstimateColumn = (&'static str, fn(&ProgramCaseFinding) -> &Option<Estimate>);

/// Columns of programs that are estimates.
const ESTIMATES: [EstimateColumn; 12] = [
    ("wall_s", |case| &case.wall_s),
    // A longer time is a larger figure, so this is no `of_first` of servers.
    ("wall_of_first", |case| &case.of_first),
    ("above_floor_s", |case| &case.above_floor_s),
    ("floor_s", |case| &case.floor_s),
    ("cpu_s", |case| &case.cpu_s),
    ("user_s", |case| &case.user_s),
    ("system_s", |case| &case.system_s),
    ("above_floor_cpu_s", |case| &case.above_floor_cpu_s),
    ("floor_cpu_s", |case| &case.floor_cpu_s),
    ("rss_bytes", |case| &case.rss_bytes),
    ("floor_rss_bytes", |case| &case.floor_rss_bytes),
    ("cpus_used", |case| &case.busy),
];

/// The other columns of programs.
const OTHERS: [&str; 10] = [
    "timer",
    "timer_version",
    "timer_resolution_s",
    "runs",
    "floor_runs",
    "outliers",
    "fastest_run_s",
    "slowest_run_s",
    "at_floor",
    "cpu_is_mean",
];

/// What comes behind the columns of servers.
pub(crate) fn heading() -> Vec<String> {
    let ends = |(name, _): &(&str, _)| ["", "_low", "_high"].map(|end| format!("{name}{end}"));
    let others = OTHERS.iter().map(|name| (*name).to_owned());
    others.chain(ESTIMATES.iter().flat_map(ends)).collect()
}

/// The fields of a case by the names of their columns.
pub(crate) fn fields(run: &RunFacts, program: &ProgramFinding, case: &ProgramCaseFinding) -> Fields {
    let kinds: Vec<&str> = case.flags.iter().map(|flag| flag.kind.word()).collect();
    let subject = &program.environment.subject;
    let mode = if program.environment.mode == CpuMode::Quota { "quota" } else { "dedicated" };
    let text = |name: &str, field: &str| (name.to_owned(), field.to_owned());
    let mut fields: Fields = [
        text("run", &run.id),
        text("scenario", &program.id),
        text("workload", &program.workload),
        text("load", &program.runs),
        text("role", "subject"),
        text("subject", &case.subject),
        text("title", &case.title),
        text("runtime", &case.runtime),
        text("ranked", &case.ranked.to_string()),
        text("against_first", case.against_first.map(Verdict::words).unwrap_or_default()),
        text("trials_planned", &case.trials_planned.to_string()),
        text("trials_measured", &case.trials_measured.to_string()),
        text("trials_failed", &case.failures.len().to_string()),
        text("trials_scored", &case.trials_scored.to_string()),
        text("trials_disturbed", &case.disturbed.len().to_string()),
        text("reruns", &case.reruns.to_string()),
        text("flags", &kinds.join(" ")),
        text("environment", &program.environment.words),
        text("cpu_mode", mode),
        text("subject_cpus", &subject.cpus.to_string()),
        text("memory_limit_bytes", &subject.memory_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()),
        text("scale", &run.scale.to_string()),
        text("timer", &program.timer),
        text("timer_version", &program.timer_versions.join(" ")),
        text("timer_resolution_s", &number(program.timer_resolution_s)),
        text("runs", &case.runs.to_string()),
        text("floor_runs", &case.floor_runs.to_string()),
        text("outliers", &case.outliers.to_string()),
        text("fastest_run_s", &number(case.fastest_run_s)),
        text("slowest_run_s", &number(case.slowest_run_s)),
        text("at_floor", &case.is_at_floor.to_string()),
        text("cpu_is_mean", &case.cpu_is_mean.to_string()),
    ]
    .into();
    fields.extend(ESTIMATES.iter().flat_map(|(name, of)| estimate(name, of(case).as_ref())));
    fields
}
