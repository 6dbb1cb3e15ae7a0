//! What several laws read from rows: throughput, failed shares, CPUs in use, and figures that other rows print.

use std::collections::HashMap;

use tolok_model::transcription::{CpuScope, Figure, Moment, Quantity, Row, Transcription, Unit};

use crate::finding::Input;
use crate::range::Range;
use crate::tools;

/// A quantity of a row, printed or computed from printed figures.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The best single value.
    pub value: f64,
    pub range: Range,
    /// The figures that it is computed from.
    pub inputs: Vec<Input>,
}

impl Known {
    /// A figure as printed.
    pub fn printed(row: &Row, figure: &Figure) -> Self {
        Self { value: figure.value(), range: Range::of(figure), inputs: vec![Input::of_row(row, figure)] }
    }

    /// Combines two quantities.
    fn with(self, other: Self, value: fn(f64, f64) -> f64, range: fn(Range, Range) -> Range) -> Self {
        let inputs = self.inputs.into_iter().chain(other.inputs).collect();
        Self { value: value(self.value, other.value), range: range(self.range, other.range), inputs }
    }

    pub fn over(self, other: Self) -> Self {
        self.with(other, |a, b| a / b, Range::over)
    }

    pub fn times(self, other: Self) -> Self {
        self.with(other, |a, b| a * b, Range::times)
    }
}

/// A figure of a row.
pub(crate) fn known(row: &Row, quantity: &Quantity) -> Option<Known> {
    row.figure(quantity).filter(|figure| !figure.numbers.is_empty()).map(|figure| Known::printed(row, figure))
}

/// Answers per second: as printed, or requests ÷ length of the run.
pub(crate) fn throughput(row: &Row) -> Option<Known> {
    let requests_over_time = || {
        let duration_s = row.conditions.duration_s.filter(|seconds| *seconds > 0.0)?;
        let Known { value, range, mut inputs } = known(row, &Quantity::Requests)?;
        inputs.push(Input { name: "length of the run".to_owned(), printed: format!("{duration_s} s"), line: row.line });
        Some(Known { value: value / duration_s, range: range.over(Range::exact(duration_s)), inputs })
    };
    known(row, &Quantity::Throughput).or_else(requests_over_time)
}

/// The rate by which rows are compared: answers per second, or correct ones if only these are printed.
pub(crate) fn rate(row: &Row) -> Option<Known> {
    throughput(row).or_else(|| known(row, &Quantity::Goodput))
}

/// The figures behind the rates of rows.
pub(crate) fn rate_inputs<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Input> {
    rows.into_iter().filter_map(rate).flat_map(|rate| rate.inputs).collect()
}

/// The length of a run in seconds: as stated, or requests ÷ throughput.
pub(crate) fn duration_s(row: &Row) -> Option<f64> {
    let requests = row.figure(&Quantity::Requests).map(Figure::value).or(row.conditions.requests.map(|n| n as f64));
    let of_requests = || {
        let throughput = row.figure(&Quantity::Throughput)?.value();
        (throughput > 0.0).then_some(requests? / throughput)
    };
    row.conditions.duration_s.or_else(of_requests)
}

/// Answers of a run: as printed, or throughput × length of the run.
fn requests(row: &Row) -> Option<Known> {
    let rate_times_time = || {
        let duration_s = row.conditions.duration_s?;
        let Known { value, range, inputs } = known(row, &Quantity::Throughput)?;
        Some(Known { value: value * duration_s, range: range.times(Range::exact(duration_s)), inputs })
    };
    known(row, &Quantity::Requests).or_else(rate_times_time)
}

/// Share of requests that failed: from HTTP failures, else from errors, else from counts.
pub(crate) fn failed_share(row: &Row) -> Option<Known> {
    let printed = known(row, &Quantity::HttpFailRate).or_else(|| known(row, &Quantity::ErrorRate));
    printed.or_else(|| {
        let failures = known(row, &Quantity::Failures).or_else(|| known(row, &Quantity::Timeouts))?;
        requests(row).filter(|requests| requests.value > 0.0).map(|requests| failures.over(requests))
    })
}

/// Whether a row reports any failures or time-outs.
pub(crate) fn has_failures(row: &Row) -> bool {
    let all = [Quantity::HttpFailRate, Quantity::ErrorRate, Quantity::Failures, Quantity::Timeouts];
    all.iter().filter_map(|quantity| row.figure(quantity)).any(|figure| figure.value() > 0.0)
}

/// What the source leaves open and could explain why the printed response times do not account for all users.
pub(crate) fn unsaid_of_idle_users(row: &Row) -> Option<&'static str> {
    let conditions = &row.conditions;
    let says_failures = failed_share(row).is_some();
    match () {
        () if conditions.keep_alive == Some(false) => Some("whether the response times include connecting"),
        () if tools::leaves_out_given_up(conditions) && has_failures(row) => {
            Some("how long the requests given up took")
        }
        () if tools::leaves_out_given_up(conditions) && !says_failures => {
            Some("how many requests were given up; the tool prints no times of them")
        }
        () if tools::may_pause(conditions) => Some("whether users paused between requests"),
        () => None,
    }
}

/// CPU in use of a row: its mean, else a figure without a moment, else its peak.
pub(crate) fn cpu_figure(row: &Row) -> Option<(&Figure, Moment)> {
    let of = |moment| row.figure(&Quantity::Cpu(moment)).map(|figure| (figure, moment));
    [Moment::Mean, Moment::Whole, Moment::Max].into_iter().find_map(of)
}

/// CPUs in use, from a figure that may be a share of one CPU or of all.
pub(crate) fn cpus_in_use(row: &Row, figure: &Figure) -> Result<Known, &'static str> {
    let Known { value, range, inputs } = Known::printed(row, figure);
    let times =
        |cpus: f64| Known { value: value * cpus, range: range.times(Range::exact(cpus)), inputs: inputs.clone() };
    if figure.unit != Unit::Percent {
        return Ok(times(1.0));
    }
    match row.conditions.cpu_scope {
        Some(CpuScope::Core) => Ok(times(1.0)),
        // A share of the machine cannot exceed 100%.
        None if range.low > 1.0 => Ok(times(1.0)),
        Some(CpuScope::Machine) => row.conditions.subject_cpus.map(times).ok_or("how many CPUs the machine had"),
        None => Err("whether the CPU percentage is of one CPU or of the machine"),
    }
}

/// What a figure describes: subject, setting, connections or CPUs, quantity.
type About<'a> = (&'a str, Option<&'a str>, Option<u64>, &'a Quantity);

/// The figures of all rows, by what they describe.
pub(crate) struct Companions<'a>(HashMap<About<'a>, Vec<(&'a Row, &'a Figure)>>);

impl<'a> Companions<'a> {
    pub fn of(rows: &'a [Row]) -> Self {
        let mut all: HashMap<About, Vec<(&Row, &Figure)>> = HashMap::new();
        for row in rows {
            for (place, figure) in row.figures.iter().enumerate() {
                // If a row prints a quantity twice, the first counts.
                if row.figures[..place].iter().all(|earlier| earlier.quantity != figure.quantity) {
                    all.entry(about(row, &figure.quantity)).or_default().push((row, figure));
                }
            }
        }
        Self(all)
    }

    /// The figure of a quantity for a row: its own, or else that of the only other row with the same subject and
    /// setting.
    pub fn find<'q>(&'q self, row: &'a Row, quantity: &'q Quantity) -> Option<(&'a Row, &'a Figure)> {
        if let Some(figure) = row.figure(quantity) {
            return Some((row, figure));
        }
        match self.0.get(&about(row, quantity))?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

fn about<'a>(row: &'a Row, quantity: &'a Quantity) -> About<'a> {
    (row.subject.as_str(), row.scenario.as_deref(), row.conditions.connections, quantity)
}

/// The first figure of each subject and setting, from any table. Rows without a setting apply to all settings of their
/// subject.
pub(crate) struct Elsewhere<'a> {
    /// By subject, setting, CPUs and quantity.
    of_setting: HashMap<About<'a>, Entry<'a>>,
    of_all: HashMap<(&'a str, &'a Quantity), Entry<'a>>,
}

type Entry<'a> = (&'a Row, &'a Figure);

impl<'a> Elsewhere<'a> {
    pub fn of(transcription: &'a Transcription) -> Self {
        let (mut of_setting, mut of_all): (HashMap<_, _>, HashMap<_, _>) = Default::default();
        for row in &transcription.rows {
            for figure in &row.figures {
                let (subject, scenario) = (row.subject.as_str(), row.scenario.as_deref());
                of_setting.entry((subject, scenario, cpus(row), &figure.quantity)).or_insert((row, figure));
                if scenario.is_none() {
                    of_all.entry((subject, &figure.quantity)).or_insert((row, figure));
                }
            }
        }
        Self { of_setting, of_all }
    }

    /// The figure for a row's subject and setting. The first of `quantities` that is found counts.
    pub fn find<'q>(&'q self, row: &'q Row, quantities: &'q [Quantity]) -> Option<(&'a Row, &'a Figure)> {
        let (subject, scenario) = (row.subject.as_str(), row.scenario.as_deref());
        quantities.iter().find_map(|quantity| {
            let own = self.of_setting.get(&(subject, scenario, cpus(row), quantity));
            own.or_else(|| self.of_all.get(&(subject, quantity))).copied()
        })
    }
}

fn cpus(row: &Row) -> Option<u64> {
    row.conditions.subject_cpus.map(f64::to_bits)
}
