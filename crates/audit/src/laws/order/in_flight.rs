//! How many users the printed answers account for.
//!
//! Of N users in a closed loop, X · R wait at a time for counted answers, where R is their mean (Little 1961). R cannot
//! exceed the largest mean M that the percentiles allow, so the printed answers account for at most X · M users. If no
//! maximum is printed, the longest wait is at most the run itself. With k6, it is 30 s more, because k6 lets requests
//! finish for that long. A stated time-out shortens it.
//!
//! If N ÷ X is above the highest percentile, say p95, but not above M, the slowest 5% must have taken (N ÷ X − 0.95 ·
//! p95) ÷ 0.05 on average. The law cannot tell whether they did.
//!
//! Users who wait when the run ends are not counted either, each for at most a highest wait. The allowance for them is
//! the share (highest wait) ÷ T. Another tenth is for what a generator does between an answer and the next request.
//!
//! Fewer users than N is not an arithmetic mistake, so it is a separate verdict: the row claims N users who were served
//! throughout, but was not measured so. A source that says that users were being added (a ramp) makes no such claim. If
//! a mean is printed, Little's law says more.

use tolok_model::transcription::{Figure, Moment, Quantity, Row, Transcription};

use super::{Shape, named};
use crate::draft::{Draft, Lacks, OfRow, folded};
use crate::finding::AuditFinding;
use crate::laws::Law;
use crate::range::Range;
use crate::rows::{self, Known};
use crate::{tools, wording};

/// Tolerance for the generator's time between an answer and the next request, as a share.
pub(in crate::laws) const BETWEEN: f64 = 0.10;

/// What users did who did not wait for printed responses.
pub(in crate::laws) const IDLE: &str =
    "The other users paused, had not started yet, or waited for answers that never came.";

/// The statement, if it cannot be tested.
const STATEMENT: &str = "The figures are possible if all users are served throughout.";

/// Checks percentiles against users ÷ throughput.
pub(super) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut lacks = Lacks::new(Law::Order, STATEMENT);
    let mut findings = Vec::new();
    for row in &transcription.rows {
        let shape = Shape::of(row, Quantity::Latency);
        let Some(&(share, highest)) = shape.ladder.last().filter(|(share, _)| *share > 0.0) else { continue };
        let Some(throughput) = rows::throughput(row).filter(|known| known.value > 0.0) else { continue };
        match needed(row) {
            Ok(Some(users)) => {
                let case = Case { row, users, throughput, shape, share, highest };
                let closeness = users / case.throughput.value / highest.value();
                findings.push(OfRow { table: row.table.clone(), closeness, finding: case.judged(transcription) });
            }
            Ok(None) => {}
            Err(missing) => {
                lacks.note(row.table.as_ref(), missing, throughput.inputs);
            }
        }
    }
    folded(findings).into_iter().chain(lacks.findings(transcription)).collect()
}

/// The users of a closed loop; `None` if the row does not claim users served throughout; or what is missing.
fn needed(row: &Row) -> Result<Option<f64>, &'static str> {
    let conditions = &row.conditions;
    let has_mean = row.figure(&Quantity::Latency(Moment::Mean)).is_some();
    if has_mean || conditions.ramp == Some(true) {
        return Ok(None);
    }
    match tools::is_closed(conditions) {
        None => return Err("whether requests waited for answers (closed loop)"),
        Some(false) => return Ok(None),
        Some(true) => {}
    }
    let users = conditions.connections.ok_or("how many connections or users there were at a time")?;
    match rows::has_failures(row) {
        true if tools::leaves_out_given_up(conditions) => return Err("how long the requests given up took"),
        true if !tools::counts_failed_answers(conditions) => {
            return Err("whether the response times are those of failed answers too");
        }
        _ => {}
    }
    Ok(Some(users as f64))
}

/// The longest possible wait, in words.
fn the_run(run_s: f64, grace_s: f64) -> String {
    let run = format!("the whole run of {}", wording::seconds(run_s));
    if grace_s > 0.0 {
        format!("{run} and the {} in which k6 lets requests end", wording::seconds(grace_s))
    } else {
        run
    }
}

/// A row whose users can be checked.
struct Case<'a> {
    row: &'a Row,
    users: f64,
    throughput: Known,
    shape: Shape<'a>,
    share: f64,
    highest: &'a Figure,
}

impl Case<'_> {
    fn judged(&self, transcription: &Transcription) -> AuditFinding {
        let cycle_s = self.users / self.throughput.value;
        let highest_s = self.highest.value();
        let (longest, what) = self.longest().unzip();
        let most_mean = self.shape.largest_mean(longest);
        let think_s = self.row.conditions.think_time_s.unwrap_or(0.0);
        let accounted = most_mean.map(|mean| self.throughput.range.high * (mean + think_s));
        let least = self.users * (1.0 - self.allowance());
        let draft = self.draft(transcription, most_mean, accounted);
        match accounted {
            Some(accounted) if accounted < least => self.too_few(draft, accounted, what),
            _ if cycle_s - think_s > highest_s * (1.0 + BETWEEN) && self.share < 1.0 => self.open(draft, cycle_s - think_s),
            _ => draft.holds(format!(
                "If all {} users waited all the time, an answer took {} on average, and the printed response times allow that.",
                wording::number(self.users),
                wording::seconds(cycle_s - think_s)
            )),
        }
    }

    /// The share of users that the printed responses need not account for.
    fn allowance(&self) -> f64 {
        let at_the_end = |run_s: f64| Range::of(self.highest).high / run_s;
        BETWEEN + rows::duration_s(self.row).map_or(1.0, at_the_end)
    }

    /// The longest possible wait if no maximum is printed, and what limits it.
    fn longest(&self) -> Option<(f64, String)> {
        let conditions = &self.row.conditions;
        let highest_s = Range::of(self.highest).high;
        let stated = conditions.timeout_s.map(|limit_s| (limit_s * (1.0 + BETWEEN), "up to the time-out".to_owned()));
        let grace_s = tools::grace_s(conditions);
        let run = rows::duration_s(self.row).map(|run_s| (run_s + grace_s, the_run(run_s, grace_s)));
        stated.filter(|(limit_s, _)| *limit_s >= highest_s).or(run)
    }

    /// The printed answers account for fewer users than stated.
    fn too_few(&self, draft: Draft, accounted: f64, what: Option<String>) -> AuditFinding {
        let (users, row) = (wording::number(self.users), self.row);
        let highest = wording::quoted(self.highest);
        let within = match self.share {
            1.0 => format!("none of which took longer than {highest}"),
            share => format!("{} of them within {highest}", wording::percent(share)),
        };
        let even_if = match what.filter(|_| self.share < 1.0) {
            Some(what) => {
                format!(", even if each of the slowest {} had taken {what}", wording::percent(1.0 - self.share))
            }
            None => String::new(),
        };
        let sentence = format!(
            "{} answers a second, {within}, account for at most {} of {users} users on average{even_if}.",
            wording::number(self.throughput.value),
            wording::whole(accounted),
        );
        if let Some(unsaid) = rows::unsaid_of_idle_users(row) {
            return draft.lacks([unsaid]).cannot_tell(sentence);
        }
        draft.inferring(Some(IDLE.to_owned())).fewer_users(sentence)
    }

    /// All users can have waited only if the slowest answers were slow enough.
    fn open(&self, draft: Draft, mean_s: f64) -> AuditFinding {
        let below = self.shape.largest_mean(Some(0.0)).unwrap_or(0.0);
        let slowest_s = (mean_s - below) / (1.0 - self.share);
        let sentence = format!(
            "If all {} users waited all the time, an answer took {} on average, more than the {}; that needs the slowest {} to take \
             at least {} on average.",
            wording::number(self.users),
            wording::seconds(mean_s),
            named(self.share, self.highest),
            wording::percent(1.0 - self.share),
            wording::seconds(slowest_s)
        );
        draft.lacks(["the longest response time"]).cannot_tell(sentence)
    }

    fn draft(&self, transcription: &Transcription, most_mean: Option<f64>, accounted: Option<f64>) -> Draft {
        let x = wording::per_second(self.throughput.value);
        let users = wording::number(self.users);
        let cycle = wording::seconds(self.users / self.throughput.value);
        let bound = match (most_mean, accounted) {
            (Some(mean), Some(accounted)) => format!(
                "; the mean is at most {}, so at most {} users wait",
                wording::seconds(mean),
                wording::whole(accounted)
            ),
            _ => String::new(),
        };
        let statement = format!("The figures are possible if all {users} users are served throughout.");
        let draft = Draft::new(Law::Order, transcription.row_name(self.row), statement)
            .inputs(self.throughput.inputs.clone())
            .condition(self.row, "connections", users.clone())
            .arithmetic(format!("{users} ÷ {x} = {cycle}; {}{bound}", named(self.share, self.highest)));
        self.shape.ladder.iter().fold(draft, |draft, (_, figure)| draft.figure(self.row, figure))
    }
}
