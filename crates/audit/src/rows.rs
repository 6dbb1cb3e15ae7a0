//! What several laws read off rows: throughput, shares of failures, CPUs in use, and which rows belong together.

use tolok_model::transcription::{CpuScope, Figure, Moment, Quantity, Row, Transcription, Unit};

use crate::finding::Input;
use crate::range::Range;

/// A quantity of a row, printed or computed from what is printed.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The best single value.
    pub value: f64,
    /// All that it can be.
    pub range: Range,
    /// The figures that it comes from.
    pub inputs: Vec<Input>,
}

impl Known {
    /// A figure as it is.
    pub fn printed(row: &Row, figure: &Figure) -> Self {
        Self { value: figure.value(), range: Range::of(figure), inputs: vec![Input::of_row(row, figure)] }
    }

    /// Two put together.
    fn with(self, other: Self, value: fn(f64, f64) -> f64, range: fn(Range, Range) -> Range) -> Self {
        let inputs = self.inputs.into_iter().chain(other.inputs).collect();
        Self { value: value(self.value, other.value), range: range(self.range, other.range), inputs }
    }

    /// Quotient.
    pub fn over(self, other: Self) -> Self {
        self.with(other, |a, b| a / b, Range::over)
    }

    /// Product.
    pub fn times(self, other: Self) -> Self {
        self.with(other, |a, b| a * b, Range::times)
    }
}

/// A figure of a row.
pub(crate) fn known(row: &Row, quantity: &Quantity) -> Option<Known> {
    row.figure(quantity).filter(|figure| !figure.numbers.is_empty()).map(|figure| Known::printed(row, figure))
}

/// Answers a second: as printed, or the requests over the length of the run.
pub(crate) fn throughput(row: &Row) -> Option<Known> {
    let requests_over_time = || {
        let duration_s = row.conditions.duration_s.filter(|seconds| *seconds > 0.0)?;
        let Known { value, range, mut inputs } = known(row, &Quantity::Requests)?;
        inputs.push(Input { name: "length of the run".to_owned(), printed: format!("{duration_s} s"), line: row.line });
        Some(Known { value: value / duration_s, range: range.over(Range::exact(duration_s)), inputs })
    };
    known(row, &Quantity::Throughput).or_else(requests_over_time)
}

/// How long a run took: as stated, or its requests over its throughput.
pub(crate) fn duration_s(row: &Row) -> Option<f64> {
    let requests = row.figure(&Quantity::Requests).map(Figure::value).or(row.conditions.requests.map(|n| n as f64));
    let of_requests = || {
        let throughput = row.figure(&Quantity::Throughput)?.value();
        (throughput > 0.0).then_some(requests? / throughput)
    };
    row.conditions.duration_s.or_else(of_requests)
}

/// Answers of a run: as printed, or its throughput over its length.
fn requests(row: &Row) -> Option<Known> {
    let rate_times_time = || {
        let duration_s = row.conditions.duration_s?;
        let Known { value, range, inputs } = known(row, &Quantity::Throughput)?;
        Some(Known { value: value * duration_s, range: range.times(Range::exact(duration_s)), inputs })
    };
    known(row, &Quantity::Requests).or_else(rate_times_time)
}

/// Share of requests that failed: of HTTP failures, or else of errors, or else of counts.
pub(crate) fn failed_share(row: &Row) -> Option<Known> {
    let printed = known(row, &Quantity::HttpFailRate).or_else(|| known(row, &Quantity::ErrorRate));
    printed.or_else(|| {
        let failures = known(row, &Quantity::Failures).or_else(|| known(row, &Quantity::Timeouts))?;
        requests(row).filter(|requests| requests.value > 0.0).map(|requests| failures.over(requests))
    })
}

/// Whether a row says that anything failed or was given up.
pub(crate) fn has_failures(row: &Row) -> bool {
    let all = [Quantity::HttpFailRate, Quantity::ErrorRate, Quantity::Failures, Quantity::Timeouts];
    all.iter().filter_map(|quantity| row.figure(quantity)).any(|figure| figure.value() > 0.0)
}

/// CPU in use of a row: its mean, or what the source does not call anything, or its peak.
pub(crate) fn cpu_figure(row: &Row) -> Option<(&Figure, Moment)> {
    let of = |moment| row.figure(&Quantity::Cpu(moment)).map(|figure| (figure, moment));
    [Moment::Mean, Moment::Whole, Moment::Max].into_iter().find_map(of)
}

/// CPUs in use, of a figure that may be a share of one or of all.
pub(crate) fn cpus_in_use(row: &Row, figure: &Figure) -> Result<Known, &'static str> {
    let Known { value, range, inputs } = Known::printed(row, figure);
    let times =
        |cpus: f64| Known { value: value * cpus, range: range.times(Range::exact(cpus)), inputs: inputs.clone() };
    if figure.unit != Unit::Percent {
        return Ok(times(1.0));
    }
    match row.conditions.cpu_scope {
        Some(CpuScope::Core) => Ok(times(1.0)),
        // More than all of a machine is no share of a machine.
        None if range.low > 1.0 => Ok(times(1.0)),
        Some(CpuScope::Machine) => row.conditions.subject_cpus.map(times).ok_or("how many CPUs the machine had"),
        None => Err("whether the CPU percentage is of one CPU or of the machine"),
    }
}

/// The figure of a quantity for what a row is about: its own, or else that of the one other row of the same subject and setting.
pub(crate) fn companion<'a>(all: &'a [Row], row: &'a Row, quantity: &Quantity) -> Option<(&'a Row, &'a Figure)> {
    if let Some(figure) = row.figure(quantity) {
        return Some((row, figure));
    }
    let same = |other: &&Row| {
        let conditions = (&other.conditions.connections, &row.conditions.connections);
        other.subject == row.subject && other.scenario == row.scenario && conditions.0 == conditions.1
    };
    let mut others = all.iter().filter(same).filter_map(|other| other.figure(quantity).map(|figure| (other, figure)));
    let only = others.next();
    if others.next().is_some() { None } else { only }
}

/// Rows of one table and setting, with one subject each: what a reader compares.
pub(crate) struct Group<'a> {
    /// The rows, in the order of the file.
    pub rows: Vec<&'a Row>,
}

impl Group<'_> {
    /// `10,000 rows (Table 4)`: the name of what the rows share.
    pub fn name(&self, transcription: &Transcription) -> String {
        let Some(first) = self.rows.first() else { return String::new() };
        let setting = first.scenario.as_deref().map(|name| transcription.setting(name).map_or(name, |own| &own.title));
        match (setting, &first.table) {
            (Some(setting), Some(table)) => format!("{setting} ({table})"),
            (Some(setting), None) => setting.to_owned(),
            (None, Some(table)) => table.clone(),
            (None, None) => transcription.title.clone(),
        }
    }
}

/// Rows by table, setting and connections. Where a subject stands twice, nobody can say which row is meant, so there is no group.
pub(crate) fn groups(transcription: &Transcription) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    let key = |row: &Row| (row.table.clone(), row.scenario.clone(), row.conditions.connections);
    for row in &transcription.rows {
        match groups.iter_mut().find(|group| group.rows.first().is_some_and(|first| key(first) == key(row))) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { rows: vec![row] }),
        }
    }
    let is_plain = |group: &Group| {
        let subjects: std::collections::BTreeSet<&str> = group.rows.iter().map(|row| row.subject.as_str()).collect();
        subjects.len() == group.rows.len()
    };
    groups.into_iter().filter(is_plain).collect()
}
