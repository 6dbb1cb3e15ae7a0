//! What a table prints of one subject in one setting: responses per second, CPU time of a response, time of a program.

use tolok_model::transcription::{Conditions, Mark, Moment, Quantity, Row, Work};

use crate::range::Range;
use crate::rows::{self, Elsewhere, Known};
use crate::{tools, wording};

/// A row whose work is stated.
pub(super) struct Setting<'a> {
    pub row: &'a Row,
    pub work: &'a Work,
    pub responses: Option<Responses>,
    /// CPU time of a response.
    pub cpu: Option<Known>,
    /// Time of a program.
    pub time: Option<Known>,
}

/// Responses per second.
pub(super) struct Responses {
    /// Failed ones included, unless the source prints only the others.
    pub all: Known,
    /// Correct ones, if failures are known.
    pub correct: Option<Known>,
}

impl<'a> Setting<'a> {
    /// `None` if the row does not state its work, or has no figure that work could change.
    pub fn of(row: &'a Row, elsewhere: &Elsewhere<'a>) -> Option<Self> {
        let work = row.conditions.work.as_ref()?;
        let responses = Responses::of(row);
        let cpu = match &responses {
            Some(responses) => cpu_time(row, elsewhere, responses),
            None => known(row, &Quantity::CpuPerRequest),
        };
        let means = [Quantity::Time(Moment::Mean), Quantity::Time(Moment::Whole)];
        let time = means.iter().find_map(|quantity| known(row, quantity));
        let has_figures = responses.is_some() || cpu.is_some() || time.is_some();
        has_figures.then_some(Self { row, work, responses, cpu, time })
    }

    /// Whether this setting, with less work, should keep its subject at least as fast as `other`: it has no less load
    /// and no smaller budget, as far as the source states them.
    pub fn is_no_harder_than(&self, other: &Self) -> bool {
        let (own, others) = (self.row.conditions.as_ref(), other.row.conditions.as_ref());
        let is_no_less = |stated: fn(&Conditions) -> Option<f64>| match (stated(own), stated(others)) {
            (Some(own), Some(other)) => own >= other,
            _ => true,
        };
        let amounts: [fn(&Conditions) -> Option<f64>; 6] = [
            |it| it.connections.map(|count| count as f64),
            |it| it.streams.map(|count| count as f64),
            |it| it.subject_cpus,
            |it| it.subject_workers.map(|count| count as f64),
            |it| it.subject_memory_bytes,
            |it| it.link_bits_per_s,
        ];
        let (pauses, keeps) = (own.think_time_s == others.think_time_s, own.keep_alive == others.keep_alive);
        pauses && keeps && own.rtt_s == others.rtt_s && amounts.into_iter().all(is_no_less)
    }

    /// Whether the authors set the rate.
    pub fn is_open(&self) -> bool {
        tools::is_closed(&self.row.conditions) == Some(false)
    }

    /// Its figures, for the arithmetic: `50,000 rows × fields: 2.02/s correct of 2.15/s`.
    pub fn told(&self) -> String {
        let responses = self.responses.as_ref().map(|it| match &it.correct {
            Some(correct) => format!("{} correct of {}", rate(correct), rate(&it.all)),
            None => rate(&it.all),
        });
        let cpu = self.cpu.as_ref().map(|cpu| format!("{} of CPU time for one", time(cpu)));
        let figures: Vec<String> = responses.into_iter().chain(cpu).chain(self.time.as_ref().map(time)).collect();
        format!("{} {}: {}", wording::number(self.work.amount), self.work.of, figures.join(", "))
    }
}

impl Responses {
    fn of(row: &Row) -> Option<Self> {
        let printed = correct_as_printed(row);
        let mut all = rows::throughput(row).or_else(|| printed.clone())?;
        if let Some(figure) = row.figure(&Quantity::Throughput) {
            all.range = Range::spanning(figure);
        }
        let correct = printed.or_else(|| correct_of(row, &all));
        Some(Self { all, correct })
    }
}

/// Correct responses per second, if the source prints them or their number.
fn correct_as_printed(row: &Row) -> Option<Known> {
    let of_run = || {
        let duration_s = row.conditions.duration_s?;
        let seconds = Known { value: duration_s, range: Range::exact(duration_s), inputs: Vec::new() };
        Some(known(row, &Quantity::Successes)?.over(seconds))
    };
    known(row, &Quantity::Goodput).or_else(of_run)
}

/// Correct ones of all responses per second, if the row says how many failed.
fn correct_of(row: &Row, all: &Known) -> Option<Known> {
    let failed = rows::failed_share(row).filter(|failed| failed.value <= 1.0)?;
    let good = Known { value: 1.0 - failed.value, range: failed.range.complement(), inputs: failed.inputs };
    let correct = all.clone().times(good);
    // Other tools may leave failed ones out of the rate, and ab counts correct ones of another length as failed. What wrk and
    // hey gave up, or could not send, is in no rate; an HTTP failure is.
    let are_answers = row.figure(&Quantity::HttpFailRate).is_some() || !tools::leaves_out_given_up(&row.conditions);
    let is_sure = tools::counts_failed_answers(&row.conditions) && !tools::is_ab(&row.conditions) && are_answers;
    let range = if is_sure { correct.range } else { correct.range.hull(all.range) };
    Some(Known { range, ..correct })
}

/// A figure of a row. Repetitions may have any of their values, because a difference within them is no difference.
fn known(row: &Row, quantity: &Quantity) -> Option<Known> {
    let figure = row.figure(quantity).filter(|figure| !figure.numbers.is_empty())?;
    Some(Known { range: Range::spanning(figure), ..Known::printed(row, figure) })
}

/// CPU time of a response: as printed, or CPUs in use ÷ responses per second. How much of it went to failed ones is
/// unknown, so it reaches up to what a correct one takes if failed ones take nothing.
fn cpu_time<'a>(row: &'a Row, elsewhere: &Elsewhere<'a>, responses: &Responses) -> Option<Known> {
    let of_used = || Some(cpus_in_use(row, elsewhere)?.over(responses.all.clone()));
    let of_any = known(row, &Quantity::CpuPerRequest).or_else(of_used).filter(|it| it.value.is_finite())?;
    let range = match responses.correct.clone() {
        Some(correct) => of_any.clone().times(responses.all.clone()).over(correct).range.hull(of_any.range),
        None => of_any.range,
    };
    Some(Known { range, ..of_any })
}

/// The CPUs that the subject used in this setting on average. A figure without a setting counts only as the range that
/// holds for all of them.
fn cpus_in_use<'a>(row: &'a Row, elsewhere: &Elsewhere<'a>) -> Option<Known> {
    let quantities = [Quantity::Cpu(Moment::Mean), Quantity::Cpu(Moment::Whole)];
    let own = quantities.iter().find_map(|quantity| Some((row, row.figure(quantity)?)));
    let (of, figure) = own.or_else(|| elsewhere.find(row, &quantities))?;
    let is_range = figure.numbers.iter().all(|number| matches!(number.mark, Mark::Between { .. }));
    let (theirs, ours) = (&of.conditions, &row.conditions);
    let is_same = of.scenario == row.scenario && theirs.work == ours.work && theirs.connections == ours.connections;
    (is_same || is_range).then(|| rows::cpus_in_use(of, figure).ok()).flatten()
}

pub(super) fn rate(known: &Known) -> String {
    wording::per_second(known.value)
}

/// A time, or from where to where it lies if that is all that the figures tell.
pub(super) fn time(known: &Known) -> String {
    let Range { low, high, vague } = known.range;
    match vague && high.is_finite() {
        true => format!("{} to {}", wording::seconds(low), wording::seconds(high)),
        false => wording::seconds(known.value),
    }
}
