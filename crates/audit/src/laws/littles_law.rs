//! Little's law on a mean: N users cannot together wait longer than N runs last.
//!
//! Let C answers come in a run of T seconds, so that X = C ÷ T. In a closed loop a user waits for one answer at a time, so the waits
//! of one user never overlap, and all waits together last N · T at most: C · R ≤ N · T, that is X · R ≤ N, and with a pause Z after
//! each answer X · (R + Z) ≤ N (Little 1961; as the interactive response time law, R ≤ N ÷ X − Z, Denning and Buzen 1978). This is no
//! limit theorem but a sum over one run, with one exception: requests already under way when the window opens bring waits from
//! before it, N of them at most. The allowance for these is the longest wait ÷ T, on top of 3 %. Figures that are means over several
//! runs may exceed N where the runs differ, because the mean of X times the mean of 1 ÷ X is above 1 (by the square of the relative
//! spread, about). So each run is held to the law by itself where the figures of each are printed, and where only their means are, it
//! cannot be told; but how far the runs would have to differ can: of values up to k times as large as the smallest, the product is at
//! most (1 + k)² ÷ 4k (Kantorovich 1948).
//!
//! The other direction proves nothing: users who pause, reconnect or have not started yet make X · R smaller. It is an inference.
//!
//! If the mean covers correct responses only, the bound is on those: X · (1 − failed share) · R ≤ N, which is what is tested where failures
//! are printed. wrk adds invented times to its mean after stalls (`stats_correct` in its source), so its mean is held to the law
//! like any other, and the reason is named.

use tolok_model::transcription::{Figure, Moment, Number, Quantity, Row, Transcription};

use crate::draft::{Draft, Lacks};
use crate::finding::{AuditFinding, Input};
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Companions, Known};
use crate::{tools, wording};

/// Tolerance for clocks and counting, as a share.
const TOLERANCE: f64 = 0.03;

/// Assumed ratio of the longest wait to the mean where neither a maximum nor a time-out is known.
const LONGEST_OF_MEAN: f64 = 10.0;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Little’s law",
    says: "In a closed loop, connections = throughput × (mean response time + think time); no server escapes it.",
    check,
};

/// Holds the mean of each row with a throughput against the number of users.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let companions = Companions::of(&transcription.rows);
    let mut lacks = Lacks::new(Law::LittlesLaw, "Users waiting = throughput × mean response time.");
    let mut findings = Vec::new();
    for row in &transcription.rows {
        let Some(throughput) = rows::throughput(row).filter(|throughput| throughput.value > 0.0) else { continue };
        if tools::is_closed(&row.conditions) == Some(false) {
            continue;
        }
        match needed(row) {
            Ok((users, mean)) => {
                let case = Case { row, users, throughput, mean };
                findings.push(case.judged(transcription));
            }
            Err(missing) => {
                // A table may repeat a throughput that stands with its response times elsewhere.
                if companions.find(row, &Quantity::Latency(Moment::Mean)).is_none() {
                    lacks.note(row.table.as_ref(), missing, throughput.inputs);
                }
            }
        }
    }
    findings.extend(lacks.findings(transcription));
    findings
}

/// Users and mean of a row, or what is missing.
fn needed(row: &Row) -> Result<(f64, &Figure), &'static str> {
    let mean = row.figure(&Quantity::Latency(Moment::Mean)).ok_or("the mean response time")?;
    let users = row.conditions.connections.ok_or("how many connections or users there were at a time")?;
    tools::is_closed(&row.conditions).ok_or("whether requests waited for answers (closed loop)")?;
    Ok((users as f64, mean))
}

/// A row that can be held to the law.
struct Case<'a> {
    row: &'a Row,
    users: f64,
    throughput: Known,
    mean: &'a Figure,
}

impl Case<'_> {
    fn judged(self, transcription: &Transcription) -> AuditFinding {
        let users = self.users;
        let (value, range) = self.waiting();
        let allowed = self.tolerance().map(|tolerance| users * (1.0 + tolerance));
        let draft = self.draft(transcription, value);
        let mean = wording::quoted(self.mean);
        let most = wording::seconds(users / self.throughput.value - self.think_s());
        let x = wording::per_second(self.throughput.value);
        if self.is_of_several_runs() && range.low > users {
            let sentence = format!(
                "{} waits at a time are more than {} users can have. Both figures are means over several runs, and their product may be \
                 larger than in any of them, if one run was at least {} times as fast as another.",
                wording::number(value),
                wording::number(users),
                wording::number(least_fold(range.low / users))
            );
            return draft.lacks(["the figures of each run"]).cannot_tell(sentence);
        }
        if range.low > users * (1.0 + TOLERANCE) && allowed.is_none() {
            let sentence = format!(
                "{} waits at a time are more than {} users can have, unless the run was so short that waits from before it count.",
                wording::number(value),
                wording::number(users)
            );
            return draft.inferring(self.explanation(value)).lacks(["how long a run took"]).cannot_tell(sentence);
        }
        if allowed.is_some_and(|allowed| range.low > allowed) {
            let sentence = format!(
                "At {x}, {} users wait {most} for an answer on average at most, so {mean} is not the mean response time of these \
                 answers.",
                wording::number(users)
            );
            return draft.inferring(self.explanation(value)).contradicted(sentence);
        }
        let idle = (range.high < users * (1.0 - TOLERANCE)).then(|| {
            format!(
                "Only {} of {} users were waiting on average; the others paused, connected again, had not started yet, or waited \
                 for answers that never came.",
                wording::number(value),
                wording::number(users)
            )
        });
        let users = wording::number(users);
        draft.inferring(idle).holds(format!("A mean of {mean} is possible with {users} users at {x}."))
    }

    /// Users waiting at a time: X · (R + Z), of correct responses where failures are printed.
    fn waiting(&self) -> (f64, Range) {
        let (throughput, mean) = match self.fullest_run() {
            Some((x, mean)) => ((x.value, Range::of_number(x)), (mean.value, Range::of_number(mean))),
            None => ((self.throughput.value, self.throughput.range), (self.mean.value(), Range::of(self.mean))),
        };
        let range = throughput.1.times(mean.1.plus(Range::exact(self.think_s())));
        let good = rows::failed_share(self.row).map_or(Range::exact(1.0), |failed| failed.range.complement());
        let lowest = Range { low: range.times(good).low, ..range };
        (throughput.0 * (mean.0 + self.think_s()), lowest)
    }

    /// The share by which the product may exceed the users, or `None` if the length of the run is not known.
    fn tolerance(&self) -> Option<f64> {
        let run_s = rows::duration_s(self.row)?;
        let largest = self.row.figure(&Quantity::Latency(Moment::Max)).map(|figure| Range::of(figure).high);
        let longest_s = largest.or(self.row.conditions.timeout_s).unwrap_or(LONGEST_OF_MEAN * self.mean.value());
        Some(TOLERANCE + longest_s / run_s)
    }

    /// Whether throughput and mean are means over runs whose own figures are not both printed.
    fn is_of_several_runs(&self) -> bool {
        let is_several = self.row.conditions.repetitions.is_some_and(|runs| runs > 1) || self.mean.numbers.len() > 1;
        is_several && self.fullest_run().is_none()
    }

    /// Throughput and mean of the run with most waits, if those of each run are printed.
    fn fullest_run(&self) -> Option<(&Number, &Number)> {
        let throughput = &self.row.figure(&Quantity::Throughput)?.numbers;
        let is_paired = throughput.len() > 1 && throughput.len() == self.mean.numbers.len();
        let waits = |(x, mean): &(&Number, &Number)| x.value * (mean.value + self.think_s());
        let runs = throughput.iter().zip(&self.mean.numbers).filter(|_| is_paired);
        runs.max_by(|a, b| waits(a).total_cmp(&waits(b)))
    }

    fn think_s(&self) -> f64 {
        self.row.conditions.think_time_s.unwrap_or(0.0)
    }

    fn draft(&self, transcription: &Transcription, waiting: f64) -> Draft {
        let (row, users) = (self.row, wording::number(self.users));
        let think_s = row.conditions.think_time_s.filter(|seconds| *seconds > 0.0);
        let pause = think_s.map_or(String::new(), |seconds| format!(" and pauses of {}", wording::seconds(seconds)));
        let statement =
            format!("{users} users at a time have the waits{pause} that throughput and mean response time imply.");
        let wait = match think_s {
            Some(seconds) => format!("({} + {})", wording::quoted(self.mean), wording::seconds(seconds)),
            None => wording::quoted(self.mean),
        };
        let x = wording::per_second(self.throughput.value);
        let most = self.tolerance().map(|tolerance| wording::whole(self.users * (1.0 + tolerance)));
        let allowed =
            most.map_or(String::new(), |most| format!(" (up to {most} with counting and what began before the run)"));
        let waiting = wording::number(waiting);
        let arithmetic = match self.fullest_run() {
            Some((x, mean)) => format!(
                "the run with most waits: {} × {} = {waiting} users waiting, of {users}{allowed}",
                wording::per_second(x.value),
                wording::seconds(mean.value + self.think_s())
            ),
            None => format!(
                "{x} × {wait} = {waiting} users waiting, of {users}{allowed}; {users} ÷ {x} = {}",
                wording::seconds(self.users / self.throughput.value)
            ),
        };
        let inputs: Vec<Input> = self.throughput.inputs.clone();
        Draft::new(Law::LittlesLaw, transcription.row_name(row), statement)
            .inputs(inputs)
            .figure(row, self.mean)
            .condition(row, "connections", users)
            .arithmetic(arithmetic)
    }

    /// A reason why the mean can be too long: pipelining, or the times that wrk adds.
    fn explanation(&self, waiting: f64) -> Option<String> {
        let stalls = "wrk adds invented times to its mean when answers come late, so a mean above this bound is a sign that the \
                      server or the generator stood still at times.";
        let streams = "Several requests under way on each connection (pipelining, streams of HTTP/2) would look the same: \
                       `connections` is how many there were at a time.";
        let is_wrk = tools::is_wrk(&self.row.conditions);
        let said = [is_wrk.then_some(stalls), (waiting >= 2.0 * self.users).then_some(streams)];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// How many times as large as the smallest the largest of several values must be, so that the product of their mean and of the mean of
/// their inverses is `excess`.
fn least_fold(excess: f64) -> f64 {
    2.0 * excess - 1.0 + 2.0 * (excess * excess - excess).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fold_is_that_of_two_runs_at_the_ends() {
        assert_eq!(least_fold(1.0), 1.0);
        // Runs at 1 and at 4 a second: (1 + 4) / 2 times (1 + 1/4) / 2.
        assert!((least_fold(2.5 * 0.625) - 4.0).abs() < 1e-12);
    }
}
