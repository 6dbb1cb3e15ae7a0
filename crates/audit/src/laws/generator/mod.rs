//! Generator: is the limit the server, the load generator, or the network between them?
//!
//! - **Utilisation.** U = CPU in use ÷ CPUs (the utilisation law; P. J. Denning and J. P. Buzen, "The operational
//!   analysis of queueing network models", *ACM Computing Surveys* 10(3), 1978). The law holds for a server with U of
//!   90% or more. Below that, the limit may be something else: one thread of the server, a lock, a database, the
//!   network, the generator. So the law cannot tell, and reports what the figures suggest: less than half of the CPUs
//!   in use, or two leaders within 3% of each other while both have CPU left. If the source does not say what a
//!   percentage is a share of, it is between that of one core and that of all.
//! - **Response times that do not grow.** In a closed loop, the mean response time is N ÷ X − think time (the
//!   interactive response time law, ibid.). A server that is the limit answers at its capacity, so with twice the
//!   connections N ÷ X doubles. If N ÷ X stays within 5% while the connections at least double, the server had room at
//!   the smaller numbers. Answers then take only the time of the network and of one request.
//!
//! Neither contradicts a figure.

mod cpu_share;

use std::collections::HashMap;

use tolok_model::transcription::{LoopModel, Row, Transcription, Unit};

use self::cpu_share::{CpuShare, cpu_share};
use crate::draft::{Draft, merged};
use crate::groups::{Group, groups, measured, names_of_tables};
use crate::laws::LawInfo;
use crate::rows::{Elsewhere, Known, rate, rate_inputs};
use crate::wording::{amount, listed, percent, precise};
use crate::{AuditFinding, Input, Law, tools};

/// Leaders within this share of each other are tied.
const TIE: f64 = 0.03;

/// Response times within this share of each other are equal.
const SAME_TIME: f64 = 0.05;

/// A server that uses this share of its CPUs is at its limit.
const BUSY: f64 = 0.9;

/// A server below this share has more CPU left than it uses.
const IDLE: f64 = 0.5;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Load generator",
    says: "The server sets the figure, not the load generator or the network.",
    needs: "throughput, and CPU use of the server",
    check,
};

/// Checks settings, then response times.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let elsewhere = Elsewhere::of(transcription);
    let mut found = Vec::new();
    let mut unknown: Vec<&Row> = Vec::new();
    for group in groups(measured(transcription)) {
        let asked = Asked::of(transcription, &elsewhere, &group);
        if asked.is_empty() {
            continue;
        }
        if asked.iter().all(|of| of.cpu.is_none()) {
            unknown.extend(group.rows);
        } else {
            found.push(setting(transcription, &group, &asked));
        }
    }
    if !unknown.is_empty() {
        found.push(without_cpu(&unknown));
    }
    found.extend(constant(transcription));
    merged(found)
}

/// A row with an answer rate.
struct Asked<'a> {
    row: &'a Row,
    rate: Known,
    cpu: Option<CpuShare>,
}

impl<'a> Asked<'a> {
    fn of(transcription: &Transcription, elsewhere: &Elsewhere<'_>, group: &Group<'a>) -> Vec<Self> {
        let one = |row: &&'a Row| Some(Self { row, rate: rate(row)?, cpu: cpu_share(transcription, elsewhere, row) });
        group.rows.iter().filter_map(one).collect()
    }

    fn is_of_unknown(&self) -> bool {
        self.cpu.as_ref().is_some_and(|cpu| cpu.of_unknown)
    }
}

fn setting(transcription: &Transcription, group: &Group, asked: &[Asked]) -> AuditFinding {
    let busy = |of: &Asked| of.cpu.as_ref().is_some_and(|cpu| cpu.share.low >= BUSY - 1e-9);
    let place = group.name(transcription);
    let used: Vec<String> = asked
        .iter()
        .filter_map(|of| of.cpu.as_ref().map(|cpu| format!("{} {}", of.row.subject, cpu.printed)))
        .collect();
    let draft = Draft::new(Law::Generator, place, "The server was the limit, not the load generator or the network.");
    let draft = asked.iter().fold(draft, |draft, of| {
        let draft = draft.inputs(of.rate.inputs.iter().cloned());
        match &of.cpu {
            Some(cpu) => draft.with(Input {
                name: format!("{} of {}", cpu.key, of.row.subject),
                printed: cpu.printed.clone(),
                line: cpu.line,
            }),
            None => draft,
        }
    });
    let draft = draft.arithmetic(format!("CPU: {}", used.join(", ")));
    if asked.iter().all(busy) {
        return draft.holds(format!("Every server used at least {} of its CPUs: {}.", percent(BUSY), listed(&used)));
    }
    let others: Vec<String> = asked.iter().filter(|of| !busy(of)).map(|of| of.row.subject.clone()).collect();
    let were = if others.len() == 1 { "was not shown to be at its" } else { "were not shown to be at their" };
    draft
        .inferring(inference(asked))
        .lacks(["the CPU time of the load generator", "the busiest thread of each server"])
        .lacks(asked.iter().any(Asked::is_of_unknown).then_some("whether the CPU is in % of one CPU or of all"))
        .cannot_tell(format!("{} {were} limit: {}.", listed(&others), listed(&used)))
}

/// What the figures suggest: a tie of leaders with CPU left, or servers that are mostly idle.
fn inference(asked: &[Asked]) -> Option<String> {
    let mut ranked: Vec<&Asked> = asked.iter().collect();
    ranked.sort_by(|a, b| b.rate.value.total_cmp(&a.rate.value));
    let has_room = |of: &Asked, share: f64| of.cpu.as_ref().is_some_and(|cpu| cpu.share.high < share);
    if let [first, second, ..] = ranked.as_slice() {
        let gap = 1.0 - second.rate.value / first.rate.value;
        if gap <= TIE && has_room(first, BUSY) && has_room(second, BUSY) {
            return Some(format!(
                "{} and {} come within {} of each other with CPU time to spare: both seem to meet the same limit outside the servers{}.",
                first.row.subject,
                second.row.subject,
                percent(gap),
                tool(first.row)
            ));
        }
    }
    let idle: Vec<String> = asked.iter().filter(|of| has_room(of, IDLE)).map(|of| of.row.subject.clone()).collect();
    (!idle.is_empty()).then(|| {
        format!(
            "{} used less than half of the CPUs: probably something else was the limit, such as one busy thread, a database, the network or the load generator{}.",
            listed(&idle),
            tool(asked[0].row)
        )
    })
}

/// What is known about the generator that may limit it.
fn tool(row: &Row) -> String {
    let one_thread = tools::is_ab(&row.conditions) || row.conditions.generator_threads == Some(1);
    let connects = row.conditions.keep_alive == Some(false);
    match (one_thread, connects) {
        (true, true) => " (the load generator has one thread, and each request opens a connection)".to_owned(),
        (true, false) => " (the load generator has one thread)".to_owned(),
        (false, true) => " (each request opens a connection)".to_owned(),
        (false, false) => String::new(),
    }
}

fn without_cpu(rows: &[&Row]) -> AuditFinding {
    let statement = "The server was the limit, not the load generator or the network.";
    Draft::new(Law::Generator, names_of_tables(rows), statement)
        .inputs(rate_inputs(rows.iter().copied()))
        .lacks(["the CPU time of the servers", "the CPU time of the load generator"])
        .cannot_tell(
            "Without the CPU time of both sides, the limit may be the servers, the load generator or the network.",
        )
}

/// A subject and workload at several numbers of connections.
struct Sweep<'a> {
    subject: &'a str,
    workload: String,
    points: Vec<(&'a Row, Known, u64, f64)>,
}

/// Response times that stay constant while the connections at least double.
fn constant(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    let mut places: HashMap<(&str, String), usize> = HashMap::new();
    for row in transcription.rows.iter().filter(|row| row.conditions.loop_model != Some(LoopModel::Open)) {
        let Some((connections, rate)) = row.conditions.connections.zip(rate(row)) else { continue };
        let (Some(scenario), false) = (row.scenario.as_deref(), row.conditions.ramp == Some(true)) else { continue };
        if rate.value <= 0.0 || !rate.value.is_finite() {
            continue;
        }
        let response_s = connections as f64 / rate.value - row.conditions.think_time_s.unwrap_or(0.0);
        let workload = without(scenario, connections);
        let point = (row, rate, connections, response_s);
        let place = *places.entry((row.subject.as_str(), workload.clone())).or_insert(sweeps.len());
        match sweeps.get_mut(place) {
            Some(sweep) => sweep.points.push(point),
            None => sweeps.push(Sweep { subject: &row.subject, workload, points: vec![point] }),
        }
    }
    sweeps.iter().filter_map(Sweep::finding).collect()
}

/// The name of a setting without its number of connections, so that settings that differ only in it share a workload.
fn without(scenario: &str, connections: u64) -> String {
    let number = connections.to_string();
    let parts = scenario.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.filter(|part| part.strip_prefix('c').unwrap_or(part) != number).collect::<Vec<_>>().join("-")
}

impl Sweep<'_> {
    fn finding(&self) -> Option<AuditFinding> {
        let least = self.points.iter().min_by_key(|point| point.2)?;
        let most = self.points.iter().max_by_key(|point| point.2)?;
        let times = || self.points.iter().map(|point| point.3);
        let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        if most.2 < 2 * least.2 || low <= 0.0 || high / low - 1.0 > SAME_TIME {
            return None;
        }
        let each: Vec<String> = self
            .points
            .iter()
            .map(|(_, _, connections, response_s)| {
                format!("{} at {}", amount(*response_s, Unit::Millisecond), precise(*connections as f64))
            })
            .collect();
        let rtt = least
            .0
            .conditions
            .rtt_s
            .map(|rtt_s| format!(" (the source states a round trip of {})", amount(rtt_s, Unit::Millisecond)));
        let (subject, list) = (self.subject, listed(&each));
        let name = if self.workload.is_empty() { subject.to_owned() } else { format!("{subject}, {}", self.workload) };
        let draft = Draft::new(
            Law::Generator,
            name,
            "Response times grow with the number of connections once the server is the limit.",
        );
        let draft = draft.inputs(self.points.iter().flat_map(|(_, rate, _, _)| rate.inputs.clone()));
        Some(
            draft
                .arithmetic(format!("connections / throughput: {list} connections"))
                .inferring(Some(format!(
                    "Answers of {subject} took the time of a round trip and of one request alone{}.",
                    rtt.unwrap_or_default()
                )))
                .lacks(["more connections, up to the limit of the server"])
                .cannot_tell(format!(
                    "The mean response time of {subject} is {list} connections: it does not grow, so the server had room for more with fewer than {} connections.",
                    precise(most.2 as f64)
                )),
        )
    }
}
