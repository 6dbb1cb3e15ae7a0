//! How much of its CPUs a server used.

use tolok_model::transcription::{Conditions, CpuScope, Figure, Moment, Quantity, Row, Series, Transcription, Unit};

use crate::range::Range;
use crate::rows::Elsewhere;
use crate::wording::quoted;

/// The CPU use of a subject in a row's setting, as a share of the CPUs that it had.
pub(super) struct CpuShare {
    /// The possible values.
    pub(super) share: Range,
    /// As printed, with what it is a share of: `50.67% of 8 CPUs`.
    pub(super) printed: String,
    pub(super) line: usize,
    pub(super) key: String,
    /// Whether the source does not say what the percentage is a share of.
    pub(super) of_unknown: bool,
}

/// The CPU share from rows, or else from the series of the subject and setting. Of a series, the highest second counts.
pub(super) fn cpu_share(transcription: &Transcription, elsewhere: &Elsewhere<'_>, row: &Row) -> Option<CpuShare> {
    let moments = [Moment::Mean, Moment::Whole, Moment::Max];
    if let Some((of, figure)) = elsewhere.find(row, &moments.map(Quantity::Cpu)) {
        let share = share(&row.conditions, figure.unit, Range::of(figure))?;
        let of_unknown = is_of_unknown(&row.conditions, figure.unit);
        let printed = with_cpus(quoted(figure), &row.conditions, of_unknown);
        return Some(CpuShare { share, printed, line: of.line, key: figure.key.clone(), of_unknown });
    }
    let mut series = transcription.series.iter().filter(|series| of_same(series, row));
    let (line, figure) = series.find_map(|series| cpu_of_series(series).map(|figure| (series.line, figure)))?;
    let most = figure.numbers.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let share = share(&row.conditions, figure.unit, Range::of_number(most))?;
    let unit = if figure.unit == Unit::Percent { "%" } else { " cores" };
    let of_unknown = is_of_unknown(&row.conditions, figure.unit);
    let printed = with_cpus(format!("at most {}{unit}", most.printed), &row.conditions, of_unknown);
    Some(CpuShare { share, printed, line, key: figure.key.clone(), of_unknown })
}

fn of_same(series: &Series, row: &Row) -> bool {
    series.subject == row.subject && series.scenario == row.scenario
}

fn cpu_of_series(series: &Series) -> Option<&Figure> {
    series.figures.iter().find(|figure| matches!(figure.quantity, Quantity::Cpu(_)) && !figure.numbers.is_empty())
}

/// Whether the source does not say what a percentage is a share of.
fn is_of_unknown(conditions: &Conditions, unit: Unit) -> bool {
    unit == Unit::Percent && conditions.cpu_scope.is_none()
}

fn with_cpus(cpu: String, conditions: &Conditions, of_unknown: bool) -> String {
    match (conditions.subject_cpus, conditions.cpu_scope) {
        _ if of_unknown => cpu,
        (Some(cpus), Some(CpuScope::Core)) => format!("{cpu} of one, with {cpus} CPUs"),
        (Some(cpus), _) => format!("{cpu} of {cpus} CPUs"),
        (None, _) => cpu,
    }
}

/// If the whole is not stated, a percentage is between a share of one core and a share of all cores.
fn share(conditions: &Conditions, unit: Unit, cpu: Range) -> Option<Range> {
    let cpus = conditions.subject_cpus.filter(|cpus| *cpus > 0.0);
    match (unit, conditions.cpu_scope) {
        (Unit::Core, _) | (Unit::Percent, Some(CpuScope::Core)) => cpus.map(|cpus| cpu.over(Range::exact(cpus))),
        (Unit::Percent, Some(CpuScope::Machine)) => Some(cpu),
        (Unit::Percent, None) if cpu.high <= 1.0 + 1e-6 => {
            let low = cpus.map_or(0.0, |cpus| cpu.low / cpus.max(1.0));
            Some(Range { low, ..cpu })
        }
        _ => None,
    }
}
