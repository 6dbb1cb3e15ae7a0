//! Little's law on a mean: N users cannot together wait longer than N runs last.
//!
//! Let C answers arrive in a run of T seconds, so X = C ÷ T. In a closed loop, a user waits for one answer at a time,
//! so the waits of one user never overlap. All waits together last at most N · T: C · R ≤ N · T, that is X · R ≤ N.
//! With a pause Z after each answer, X · (R + Z) ≤ N (Little 1961; as the interactive response time law, R ≤ N ÷ X − Z,
//! Denning and Buzen 1978). This is not a limit theorem but a sum over one run.
//!
//! There is one exception: requests that are already in flight when the window opens add waits from before it, at most
//! N. The allowance for these is the longest wait ÷ T, on top of 5%. A tool whose figures begin with its first request
//! needs none. If neither is known, an excess is undecided.
//!
//! Figures that are means over several runs may exceed N if the runs differ, because the mean of X times the mean of 1
//! ÷ X is above 1 (by about the square of the relative spread). If the figures of each run are printed, each run is
//! checked separately. If only their means are, the law cannot tell. It does report how much the runs would have to
//! differ: for values up to k times the smallest, the product is at most (1 + k)² ÷ 4k (Kantorovich 1948).
//!
//! The other direction contradicts nothing, because users who pause, reconnect or have not started yet make X · R
//! smaller. It has a separate verdict, *fewer users*. A stated ramp is not checked for it.
//!
//! Users are connections × `streams`: pipelining, batches and streams of HTTP/2 put several requests on a connection.
//! If neither the source nor the tool says that there was one, an excess is undecided. Times from a planned start and
//! times of a probe are not checked.
//!
//! If the mean covers correct responses only, the bound applies to those: X · (1 − failed share) · R ≤ N. That is what
//! is tested if failures are printed. wrk adds invented times to its mean after stalls (`stats_correct` in its source).
//! Its mean is checked like any other, and the finding names this reason.

use tolok_model::transcription::{Figure, LatencyOf, Moment, Number, Quantity, Row, Transcription};

use crate::draft::{Draft, Lacks, OfRow, crowds_folded, merged};
use crate::finding::{AuditFinding, Input};
use crate::laws::order::in_flight::{BETWEEN, IDLE};
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Companions, Known};
use crate::{tools, wording};

/// Tolerance for clocks and counting, as a share.
const TOLERANCE: f64 = 0.05;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Little’s law",
    says: "In a closed loop, connections = throughput × (mean response time + think time); no server escapes it.",
    needs: "throughput and mean response time in a closed loop, and its connections",
    check,
};

/// Checks the mean of each row with a throughput against the number of users.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let companions = Companions::of(&transcription.rows);
    let mut lacks = Lacks::new(Law::LittlesLaw, "Users waiting = throughput × mean response time.");
    let mut findings = Vec::new();
    for row in &transcription.rows {
        let Some(throughput) = rows::throughput(row).filter(|throughput| throughput.value > 0.0) else { continue };
        // Times from a planned start, or of a probe, are not waits of these users.
        let is_of_users = !matches!(row.conditions.latency_of, Some(LatencyOf::Planned | LatencyOf::Probe));
        if tools::is_closed(&row.conditions) == Some(false) || !is_of_users {
            continue;
        }
        match needed(row) {
            Ok((users, mean)) => {
                let case = Case { row, users, throughput, mean };
                let closeness = case.waiting().0 / users;
                // What makes one mean of a tool too long also affects its others.
                let table = Some(format!("{:?} {:?}", row.table, row.conditions.tool));
                findings.push(OfRow { table, closeness, finding: case.judged(transcription) });
            }
            Err(missing) => {
                // A table may repeat a throughput that another prints with its response times.
                if companions.find(row, &Quantity::Latency(Moment::Mean)).is_none() {
                    lacks.note(row.table.as_ref(), missing, throughput.inputs);
                }
            }
        }
    }
    // A run that two tables print gets one finding.
    merged(crowds_folded(findings)).into_iter().chain(lacks.findings(transcription)).collect()
}

/// Users and mean of a row, or what is missing.
fn needed(row: &Row) -> Result<(f64, &Figure), &'static str> {
    let mean = row.figure(&Quantity::Latency(Moment::Mean)).ok_or("the mean response time")?;
    let users = row.conditions.connections.ok_or("how many connections or users there were at a time")?;
    tools::is_closed(&row.conditions).ok_or("whether requests waited for answers (closed loop)")?;
    Ok((users as f64 * tools::streams(&row.conditions).unwrap_or(1) as f64, mean))
}

/// A row that the law can check.
struct Case<'a> {
    row: &'a Row,
    users: f64,
    throughput: Known,
    mean: &'a Figure,
}

impl Case<'_> {
    fn judged(self, transcription: &Transcription) -> AuditFinding {
        let (value, range) = self.waiting();
        let draft = self.draft(transcription, value);
        match self.excess(value, range) {
            Some((Some(missing), sentence)) => {
                draft.inferring(self.explanation()).lacks([missing]).cannot_tell(sentence)
            }
            Some((None, sentence)) => draft.inferring(self.explanation()).contradicted(sentence),
            None if range.high < self.users * (1.0 - BETWEEN) && self.row.conditions.ramp != Some(true) => {
                self.fewer(draft, range.high)
            }
            None => draft.holds(format!(
                "A mean of {} is possible with {} users at {}.",
                wording::quoted(self.mean),
                wording::number(self.users),
                wording::per_second(self.throughput.value)
            )),
        }
    }

    /// The conclusion if more users wait than exist, and what else would be needed to rule that out.
    fn excess(&self, value: f64, range: Range) -> Option<(Option<&'static str>, String)> {
        let (waits, users) = (wording::number(value), wording::number(self.users));
        let more = format!("{waits} waits at a time are more than {users} users can have");
        if self.is_of_several_runs() && range.low > self.users {
            let fold = wording::number(least_fold(range.low / self.users));
            let sentence = format!(
                "{more}. Both figures are means over several runs, and their product may be larger than in any of them, if one \
                 run was at least {fold} times as fast as another."
            );
            return Some((Some("the figures of each run"), sentence));
        }
        let beyond = |tolerance: f64| range.low > self.users * (1.0 + tolerance);
        match self.tolerance() {
            Err(missing) if beyond(TOLERANCE) => {
                Some((Some(missing), format!("{more}, unless the run was so short that waits from before it count.")))
            }
            Ok(tolerance) if beyond(tolerance) && tools::streams(&self.row.conditions).is_none() => {
                let missing = "how many requests a connection had in flight at a time (`streams`)";
                let sentence = format!(
                    "{more}, unless connections had several requests in flight (pipelining, batches, streams of HTTP/2)."
                );
                Some((Some(missing), sentence))
            }
            Ok(tolerance) if beyond(tolerance) => {
                let most = wording::seconds(self.users / self.throughput.value - self.think_s());
                let sentence = format!(
                    "At {}, {users} users wait {most} for an answer on average at most, so {} is not the mean response time of \
                     these answers.",
                    wording::per_second(self.throughput.value),
                    wording::quoted(self.mean)
                );
                Some((None, sentence))
            }
            _ => None,
        }
    }

    /// The printed responses account for fewer users than stated.
    fn fewer(&self, draft: Draft, most: f64) -> AuditFinding {
        let sentence = format!(
            "{} users were stated, and at most {} of them ({}) waited for the printed responses on average.",
            wording::number(self.users),
            wording::whole(most),
            wording::percent(most / self.users)
        );
        match rows::unsaid_of_idle_users(self.row) {
            Some(unsaid) => draft.lacks([unsaid]).cannot_tell(sentence),
            None => draft.inferring(Some(IDLE.to_owned())).fewer_users(sentence),
        }
    }

    /// Users waiting at a time: X · (R + Z), of correct responses if failures are printed.
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

    /// The share by which the product may exceed the users, or what is missing to tell.
    fn tolerance(&self) -> Result<f64, &'static str> {
        let conditions = &self.row.conditions;
        if tools::begins_empty(conditions) {
            return Ok(TOLERANCE);
        }
        let run_s = rows::duration_s(self.row).ok_or("how long a run took")?;
        let largest = self.row.figure(&Quantity::Latency(Moment::Max)).map(|figure| Range::of(figure).high);
        let longest_s = largest.or(conditions.timeout_s).ok_or("the longest response time, or the time-out")?;
        Ok(TOLERANCE + longest_s / run_s)
    }

    /// Whether throughput and mean are means over runs without printed figures for each run.
    fn is_of_several_runs(&self) -> bool {
        let is_several = self.row.conditions.repetitions.is_some_and(|runs| runs > 1) || self.mean.numbers.len() > 1;
        is_several && self.fullest_run().is_none()
    }

    /// Throughput and mean of the run with the most waits, if those of each run are printed.
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
        let why =
            if tools::begins_empty(&row.conditions) { "counting" } else { "counting and what began before the run" };
        let allowed = most.map_or(String::new(), |most| format!(" (up to {most} with {why})"));
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

    /// Why wrk's mean can be too long.
    fn explanation(&self) -> Option<String> {
        let stalls = "wrk adds invented times to its mean when answers come late, so a mean above this bound is a sign that the \
                      server or the generator stood still at times.";
        tools::is_wrk(&self.row.conditions).then(|| stalls.to_owned())
    }
}

/// For values whose mean times the mean of their inverses is `excess`: the least possible ratio of the largest to the
/// smallest.
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
