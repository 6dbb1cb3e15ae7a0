//! Events for programs: a JSON object for each, as a line of `events.jsonl` and of `--format jsonl`.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tolok_model::{Failure, Measurement, Outcome, PlannedTrial, ProgramTiming, Resources};

use crate::run::events::event::{Preparation, RunEvent, TrialEvent};
use tolok_tools::LoadSecond;

/// Version of these lines. New kinds and fields do not change it: readers must ignore what they do not know.
pub const EVENTS_SCHEMA: u32 = 1;

/// A serialised event: its kind and time first, then its fields in the order given here.
#[derive(Debug, Clone, PartialEq)]
pub struct EventLine {
    kind: &'static str,
    t_s: f64,
    fields: Fields,
}

type Fields = Vec<(&'static str, Value)>;

impl EventLine {
    /// The line of an event. `t_s` is the time since this tolok process began or resumed the run.
    pub fn of(event: &RunEvent, t_s: f64) -> Self {
        let (kind, fields) = told(event);
        // More digits are noise.
        Self { kind, t_s: (t_s * 1e3).round() / 1e3, fields }
    }
}

impl Serialize for EventLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = [("event", json!(self.kind)), ("t_s", json!(self.t_s))];
        serializer.collect_map(head.iter().chain(&self.fields).map(|(name, value)| (name, value)))
    }
}

/// The kind of an event and its fields.
fn told(event: &RunEvent) -> (&'static str, Fields) {
    match event {
        RunEvent::RunStarted { run, folder, title, pid, trials, finished, estimate_s } => (
            "run-started",
            vec![
                ("schema_version", json!(EVENTS_SCHEMA)),
                ("run", json!(run)),
                ("folder", json!(folder)),
                ("title", json!(title)),
                ("pid", json!(pid)),
                ("trials", json!(trials)),
                ("finished", json!(finished)),
                ("estimate_s", json!(estimate_s)),
            ],
        ),
        RunEvent::PreparationStarted { what, number, of } => started(what, *number, *of),
        RunEvent::PreparationEnded { what, took_s, failure } => ended(what, *took_s, failure.as_deref()),
        RunEvent::Waiting { reasons, at_most_s } => {
            ("waiting", vec![("reasons", json!(reasons)), ("at_most_s", json!(at_most_s))])
        }
        RunEvent::TrialStarted { trial, subject, scenario } => ("trial-started", which(trial, subject, scenario)),
        RunEvent::LaunchStarted { launch, of, block, cases } => (
            "launch-started",
            vec![("launch", json!(launch)), ("of", json!(of)), ("block", json!(block)), ("cases", json!(cases))],
        ),
        RunEvent::LaunchFinished { launch, of, cases, failed, took_s, left_s } => (
            "launch-finished",
            vec![
                ("launch", json!(launch)),
                ("of", json!(of)),
                ("cases", json!(cases)),
                ("failed", json!(failed)),
                ("took_s", json!(took_s)),
                ("left_s", json!(left_s)),
            ],
        ),
        RunEvent::InTrial { trial, event } => in_trial(*trial, event),
        RunEvent::TrialFinished { trial, subject, scenario, outcome, left_s } => {
            let mut fields = which(trial, subject, scenario);
            fields.extend(Came::of(outcome).fields());
            fields.push(("left_s", json!(left_s)));
            ("trial-finished", fields)
        }
        RunEvent::Diagnosing { subject, scenario } => {
            ("diagnosing", vec![("subject", json!(subject)), ("scenario", json!(scenario))])
        }
        RunEvent::Diagnosed { subject, scenario, failure } => {
            let failure = ("failure", json!(failure));
            ("diagnosed", vec![("subject", json!(subject)), ("scenario", json!(scenario)), failure])
        }
        RunEvent::BlockPlaced { block, node } => ("block-placed", vec![("block", json!(block)), ("node", json!(node))]),
        RunEvent::BlockRefused { block, why, at_most_s } => {
            ("block-refused", vec![("block", json!(block)), ("why", json!(why)), ("at_most_s", json!(at_most_s))])
        }
        RunEvent::BlockLost { block, node, why, again } => (
            "block-lost",
            vec![("block", json!(block)), ("node", json!(node)), ("why", json!(why)), ("again", json!(again))],
        ),
        RunEvent::Standing { words } => ("standing", vec![("words", json!(words))]),
        RunEvent::Settled { blocks, at_most } => {
            ("settled", vec![("blocks", json!(blocks)), ("at_most", json!(at_most))])
        }
        RunEvent::RunEnded { missing, failed } => {
            ("run-ended", vec![("missing", json!(missing)), ("failed", json!(failed))])
        }
    }
}

fn started(what: &Preparation, number: u32, of: u32) -> (&'static str, Fields) {
    let counted = [("number", json!(number)), ("of", json!(of))];
    let (kind, whose) = match what {
        Preparation::Build(subject) => ("building", ("subject", json!(subject))),
        Preparation::Data(database) => ("loading-data", ("database", json!(database))),
    };
    (kind, [whose].into_iter().chain(counted).collect())
}

fn ended(what: &Preparation, took_s: f64, failure: Option<&str>) -> (&'static str, Fields) {
    let came = [("took_s", json!(took_s)), ("failure", json!(failure))];
    let (kind, whose) = match what {
        Preparation::Build(subject) => ("built", ("subject", json!(subject))),
        Preparation::Data(database) => ("data-loaded", ("database", json!(database))),
    };
    (kind, [whose].into_iter().chain(came).collect())
}

fn in_trial(trial: Option<u32>, event: &TrialEvent) -> (&'static str, Fields) {
    let trial = ("trial", json!(trial));
    match event {
        TrialEvent::Phase { phase } => ("phase", vec![trial, ("phase", json!(phase))]),
        TrialEvent::Second(second) => {
            let LoadSecond { phase, start_s, duration_s, good, failed, p50_s, p99_s } = second;
            let when = [("phase", json!(phase)), ("start_s", json!(start_s)), ("duration_s", json!(duration_s))];
            let counts = [("good", json!(good)), ("failed", json!(failed))];
            let latencies = [("p50_s", json!(p50_s)), ("p99_s", json!(p99_s))];
            ("second", [trial].into_iter().chain(when).chain(counts).chain(latencies).collect())
        }
        TrialEvent::Slices { done, of } => ("slices", vec![trial, ("done", json!(done)), ("of", json!(of))]),
        TrialEvent::Turns { done, of } => ("turns", vec![trial, ("done", json!(done)), ("of", json!(of))]),
        TrialEvent::Disturbed { reasons, again } => {
            ("disturbed", vec![trial, ("reasons", json!(reasons)), ("again", json!(again))])
        }
    }
}

fn which(trial: &PlannedTrial, subject: &str, scenario: &str) -> Fields {
    vec![
        ("trial", json!(trial.number)),
        ("block", json!(trial.block)),
        ("case", json!(trial.case)),
        ("subject", json!(subject)),
        ("scenario", json!(scenario)),
    ]
}

/// The outcome of a trial, in a few figures. Fields that do not apply are absent.
#[derive(Debug, Default)]
struct Came {
    outcome: &'static str,
    goodput_rps: Option<f64>,
    p50_s: Option<f64>,
    p99_s: Option<f64>,
    cpu_s_per_good: Option<f64>,
    memory_bytes: Option<u64>,
    /// Median wall time of a timed program's run.
    wall_p50_s: Option<f64>,
    reason: Option<String>,
    message: Option<String>,
}

impl Came {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Completed(measured) => Self::of_server(measured),
            Outcome::Timed(timed) => Self::of_program(timed),
            Outcome::Failed(failure) => Self::of_failure(failure),
        }
    }

    fn of_server(measured: &Measurement) -> Self {
        let percentile = |quantile: f64| {
            let mut all = measured.latency.percentiles.iter();
            all.find(|found| (found.quantile - quantile).abs() < 1e-9).and_then(|found| found.latency_s)
        };
        let (good, subject) = (measured.goodput_rps * measured.window_s, measured.subject.as_ref());
        let of_group = |used: &Resources| used.memory.map(|memory| memory.anonymous_and_kernel_bytes_max);
        let memory = |used| of_group(used).or(Some(used.rss_sum_bytes_max).filter(|bytes| *bytes > 0));
        Self {
            outcome: "completed",
            goodput_rps: Some(measured.goodput_rps),
            p50_s: percentile(0.5),
            p99_s: percentile(0.99),
            cpu_s_per_good: subject.filter(|_| good > 0.0).map(|used| used.cpu_s / good),
            memory_bytes: subject.and_then(memory),
            ..Self::default()
        }
    }

    fn of_program(timed: &ProgramTiming) -> Self {
        Self { outcome: "timed", wall_p50_s: timed.median_wall_s(), ..Self::default() }
    }

    fn of_failure(failure: &Failure) -> Self {
        let reason = failure.reason.word().replace(' ', "-");
        Self { outcome: "failed", reason: Some(reason), message: Some(failure.message.clone()), ..Self::default() }
    }

    fn fields(self) -> [(&'static str, Value); 9] {
        [
            ("outcome", json!(self.outcome)),
            ("goodput_rps", json!(self.goodput_rps)),
            ("p50_s", json!(self.p50_s)),
            ("p99_s", json!(self.p99_s)),
            ("cpu_s_per_good", json!(self.cpu_s_per_good)),
            ("memory_bytes", json!(self.memory_bytes)),
            ("wall_p50_s", json!(self.wall_p50_s)),
            ("reason", json!(self.reason)),
            ("message", json!(self.message)),
        ]
    }
}

#[cfg(test)]
mod tests;
