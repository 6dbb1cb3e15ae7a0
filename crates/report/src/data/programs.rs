//! The rows of programs: the columns shared with servers, followed by their own.

use tolok_analysis::{CpuMode, ProgramCaseFinding, ProgramFinding, RunFacts, Verdict};

use tolok_analysis::figure::PROGRAM;

use super::run::is_interval;
use super::{Fields, columns, number};

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

/// Headings of the columns after those of servers.
pub(crate) fn heading() -> Vec<String> {
    let others = OTHERS.iter().map(|name| (*name).to_owned());
    others.chain(columns(PROGRAM, None, is_interval).into_iter().map(|(name, _)| name)).collect()
}

/// The fields of a case by column name.
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
        text("at_floor", &case.is_at_floor.to_string()),
        text("cpu_is_mean", &case.cpu_is_mean.to_string()),
    ]
    .into();
    fields.extend(columns(PROGRAM, Some(&case.figures), |_| true));
    fields
}
