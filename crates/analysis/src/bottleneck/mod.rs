//! What limited a case, with the figures that show it.
//!
//! The rules apply in the order of [`RULES`]; the first that holds wins. All of them read medians over the scored trials. A part
//! that used at least [`SATURATED`](crate::SATURATED) of its CPUs is busy. If no part is busy, the rules look at what requests
//! wait for.

mod cpus;
mod rest;
mod waiting;

use tolok_model::sentences::sentence;
use tolok_model::{Connection, CpuMode};

use crate::case_inputs::CaseInputs;
use crate::figures::{listed, small_share};
use crate::findings::{Bottleneck, BottleneckKind};

pub use cpus::BUSY_THREAD;
pub use rest::NOISY_HALF_WIDTH;
pub use waiting::{LATENCY_OF_ANSWER, POOL_AT_WORK};

/// Waits for a connection per correct response that are worth naming as the limit.
pub const POOL_WAITS_CONSIDERABLE: f64 = 0.10;
/// In an open loop, the offered rate was the limit of a case that answered at least this share of it.
pub const KEEPS_UP: f64 = 0.99;

/// Returns the bottleneck if this rule holds.
type Rule = fn(&CaseInputs) -> Option<Bottleneck>;

const RULES: [Rule; 16] = [
    rest::outage,
    cpus::generator,
    rest::offered_rate,
    cpus::database_cpu,
    cpus::subject_cpu,
    cpus::shared_cpu,
    cpus::one_thread,
    rest::link,
    waiting::client_pace,
    waiting::pool,
    waiting::workers,
    rest::memory,
    waiting::latency,
    waiting::backlog,
    rest::not_steady,
    rest::noisy,
];

/// What limited a case, or `None` if no trial was scored.
pub(crate) fn bottleneck(inputs: &CaseInputs) -> Option<Bottleneck> {
    if inputs.observations.scored.is_empty() {
        return None;
    }
    let mut found = RULES.iter().find_map(|rule| rule(inputs)).unwrap_or_else(|| rest::none_found(inputs));
    // A busy share of a CPU that two parts shared says less than that of a dedicated one.
    let has_outage = inputs.asked.is_some_and(|asked| asked.outage_at_s.is_some());
    if inputs.shares_with("generator") && !has_outage && !found.sentence.contains("same CPU") {
        found.sentence += " Database and generator ran on the same CPU.";
    }
    Some(found)
}

/// Completes a sentence with the evidence.
fn found(kind: BottleneckKind, begins: &str, evidence: String) -> Option<Bottleneck> {
    Some(Bottleneck { kind, sentence: format!("{begins} {evidence}."), evidence })
}

/// Uses the evidence as the sentence, after adding a capital letter and a full stop.
fn said(kind: BottleneckKind, evidence: String) -> Option<Bottleneck> {
    Some(Bottleneck { kind, sentence: sentence(&evidence), evidence })
}

impl CaseInputs<'_> {
    /// Whether the database shared CPUs with this part.
    fn shares_with(&self, part: &str) -> bool {
        self.asked.is_some_and(|asked| asked.shares_cpus_with.iter().any(|other| other == part))
    }

    fn of_subject(&self, busy: f64) -> String {
        of_cpus(busy, &self.around.environment.subject.mode, self.cpus.subject)
    }

    /// States that nothing was busy, with the figures: `the subject used 12%, the generator 31% of their CPUs`.
    fn idle(&self) -> String {
        let database = self.asked.map(|_| match self.database_busy() {
            Some(database) => format!(", the database {}", small_share(database)),
            None => String::new(),
        });
        let unknown = match (self.asked, self.database_busy()) {
            (Some(_), None) => "; what the database used is not known",
            _ => "",
        };
        let (subject, generator) = (busy(self.figures.subject_busy), busy(self.figures.generator_busy));
        let database = database.unwrap_or_default();
        if self.is_external() {
            return format!("the generator used {generator} of its CPUs; what the subject used is unknown");
        }
        format!("the subject used {subject}{database}, the generator {generator} of their CPUs{unknown}")
    }

    /// Time of the fewest round trips that a response needs, in seconds. A new connection for each request adds one.
    fn round_trips_s(&self) -> f64 {
        let per_answer = if self.scenario.load.connection == Connection::PerRequest { 2.0 } else { 1.0 };
        let queries = self.database().and_then(|database| database.queries_per_good).unwrap_or(1.0);
        let to_database_s = self.asked.map_or(0.0, |asked| queries * asked.rtt_s);
        per_answer * self.around.environment.link.rtt_s + to_database_s
    }
}

/// A share of CPUs in words: `98% of its CPU`.
fn of_cpus(busy: f64, mode: &CpuMode, cpus: f64) -> String {
    let busy = small_share(busy);
    match mode {
        CpuMode::Quota => format!("{busy} of its quota"),
        CpuMode::Dedicated if cpus == 1.0 => format!("{busy} of its CPU"),
        CpuMode::Dedicated => format!("{busy} of its {cpus} CPUs"),
    }
}

/// `CPU 1`, `CPUs 0 and 1`
fn counted_cpus(on: &[u32]) -> String {
    let names: Vec<String> = on.iter().map(u32::to_string).collect();
    format!("CPU{} {}", if on.len() == 1 { "" } else { "s" }, listed(&names, "and"))
}

fn busy(share: Option<f64>) -> String {
    share.map_or_else(|| "an unknown part".to_owned(), small_share)
}
