//! Rows that stand beside each other: those of one setting in one table.

use tolok_model::transcription::{Conditions, CpuScope, Figure, Moment, Quantity, Row, Series, Transcription, Unit};

use super::bounds::Bounds;

/// Rows of one setting in one table.
pub(crate) struct Group<'a> {
    pub(crate) table: Option<&'a str>,
    pub(crate) scenario: Option<&'a str>,
    pub(crate) rows: Vec<&'a Row>,
}

/// All of them, in the order of the file.
pub(crate) fn groups<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Group<'a>> {
    let mut found: Vec<Group<'a>> = Vec::new();
    for row in rows {
        let (table, scenario) = (row.table.as_deref(), row.scenario.as_deref());
        match found.iter_mut().find(|group| group.table == table && group.scenario == scenario) {
            Some(group) => group.rows.push(row),
            None => found.push(Group { table, scenario, rows: vec![row] }),
        }
    }
    found
}

/// Rows without those that only print again what an earlier table has: the same throughput of the same subject and setting.
pub(crate) fn measured(transcription: &Transcription) -> Vec<&Row> {
    let rows = &transcription.rows;
    let is_again = |index: usize, row: &Row| {
        let Some((_, rate)) = throughput(row) else { return false };
        rows[..index].iter().any(|earlier| {
            let same = earlier.subject == row.subject && earlier.scenario == row.scenario && earlier.table != row.table;
            same && throughput(earlier).is_some_and(|(_, before)| !before.apart(rate))
        })
    };
    rows.iter().enumerate().filter(|(index, row)| !is_again(*index, row)).map(|(_, row)| row).collect()
}

/// The tables of some rows, in words: `Table 1 and Table 2`.
pub(crate) fn names_of_tables(rows: &[&Row]) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in rows.iter().filter_map(|row| row.table.clone()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "the table".to_owned() } else { super::words::listed(&names) }
}

/// Tables in the order of the file, each with its rows.
pub(crate) fn tables(transcription: &Transcription) -> Vec<(Option<&str>, Vec<&Row>)> {
    let mut found: Vec<(Option<&str>, Vec<&Row>)> = Vec::new();
    for row in &transcription.rows {
        match found.iter_mut().find(|(table, _)| *table == row.table.as_deref()) {
            Some((_, rows)) => rows.push(row),
            None => found.push((row.table.as_deref(), vec![row])),
        }
    }
    found
}

/// A figure of a subject under a setting, from whichever table has it; also from a row that names no setting, because it is
/// then of all of them. The first quantity that is found counts.
pub(crate) fn find<'a>(
    transcription: &'a Transcription,
    row: &Row,
    quantities: &[Quantity],
) -> Option<(&'a Row, &'a Figure)> {
    quantities.iter().find_map(|quantity| {
        let of = |with_setting: bool| {
            let mut rows = transcription.rows.iter().filter(move |other| {
                let same =
                    other.scenario == row.scenario && other.conditions.subject_cpus == row.conditions.subject_cpus;
                other.subject == row.subject && if with_setting { same } else { other.scenario.is_none() }
            });
            rows.find_map(|other| other.figure(quantity).map(|figure| (other, figure)))
        };
        of(true).or_else(|| of(false))
    })
}

/// Answers per second: as printed, or requests of a run ÷ its length.
pub(crate) fn throughput(row: &Row) -> Option<(&Figure, Bounds)> {
    if let Some(figure) = row.figure(&Quantity::Throughput).or_else(|| row.figure(&Quantity::Goodput)) {
        return Some((figure, Bounds::of_figure(figure)));
    }
    let requests = row.figure(&Quantity::Requests)?;
    let duration_s = row.conditions.duration_s.filter(|duration_s| *duration_s > 0.0)?;
    Some((requests, Bounds::of_figure(requests).times(1.0 / duration_s)))
}

/// The CPU of a subject in a row's setting, in shares of the CPUs that it had.
pub(crate) struct CpuShare {
    /// From where to where.
    pub(crate) share: Bounds,
    /// As printed, with what it is of: `50.67 % of 8 CPUs`.
    pub(crate) printed: String,
    /// Line.
    pub(crate) line: usize,
    /// Key of the figure.
    pub(crate) key: String,
    /// Whether the source does not say of what the percentage is a share.
    pub(crate) of_unknown: bool,
}

/// The same of the rows, else of the series of the subject and setting, of which the highest second counts.
pub(crate) fn cpu_share(transcription: &Transcription, row: &Row) -> Option<CpuShare> {
    let moments = [Moment::Mean, Moment::Whole, Moment::Max];
    if let Some((of, figure)) = find(transcription, row, &moments.map(Quantity::Cpu)) {
        let share = share(&row.conditions, figure.unit, Bounds::of_figure(figure))?;
        let of_unknown = is_of_unknown(&row.conditions, figure.unit);
        let printed = with_cpus(super::words::value_of(figure), &row.conditions, of_unknown);
        return Some(CpuShare { share, printed, line: of.line, key: figure.key.clone(), of_unknown });
    }
    let mut series = transcription.series.iter().filter(|series| of_same(series, row));
    let (line, figure) = series.find_map(|series| cpu_of_series(series).map(|figure| (series.line, figure)))?;
    let most = figure.numbers.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let share = share(&row.conditions, figure.unit, Bounds::of(most))?;
    let unit = if figure.unit == Unit::Percent { " %" } else { " cores" };
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

/// Whether the source does not say of what a percentage is a share.
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

/// A percentage of which the source does not say what it is of lies between that of one core among all and that of all.
fn share(conditions: &Conditions, unit: Unit, cpu: Bounds) -> Option<Bounds> {
    let cpus = conditions.subject_cpus.filter(|cpus| *cpus > 0.0);
    match (unit, conditions.cpu_scope) {
        (Unit::Core, _) | (Unit::Percent, Some(CpuScope::Core)) => cpus.map(|cpus| cpu.times(1.0 / cpus)),
        (Unit::Percent, Some(CpuScope::Machine)) => Some(cpu),
        (Unit::Percent, None) if cpu.high <= 1.0 + 1e-6 => {
            let low = cpus.map_or(0.0, |cpus| cpu.low / cpus.max(1.0));
            Some(Bounds { low, high: cpu.high, vague: cpu.vague })
        }
        _ => None,
    }
}
