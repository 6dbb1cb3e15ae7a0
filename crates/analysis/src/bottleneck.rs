//! What limited a case, with the figures that say so.
//!
//! The rules are asked in the order of [`RULES`]; the first that holds is the answer. All of them read medians over the scored
//! trials. A part that used [`SATURATED`] of its CPUs is busy; where nothing is, what requests wait for is looked at.

use schemars::JsonSchema;
use serde::Serialize;
use tolok_model::{Connection, CpuMode, Measurement};

use crate::database::cpu_s;
use crate::estimate::middle;
use crate::figures::{Quantity, amount, counted, listed, small_share};
use crate::flags::{Clues, LINK_FULL, MEMORY_LIMIT_NEAR, SATURATED};
use crate::link::LinkUse;
use crate::usage::share;

/// So many waits for a connection per good answer are considerable.
pub const POOL_WAITS_CONSIDERABLE: f64 = 0.10;
/// In an open loop whoever answers this share of the rate that was offered was limited by it.
pub const KEEPS_UP: f64 = 0.99;
/// Round trips that are this share of a median answer are what it waits for.
pub const LATENCY_OF_ANSWER: f64 = 0.50;
/// A subject with more CPUs than one that uses so many of them uses about one.
const ABOUT_ONE_CPU: std::ops::RangeInclusive<f64> = 0.90..=1.10;

/// What limited a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bottleneck {
    /// In a word.
    pub kind: BottleneckKind,
    /// The figures that it rests on, as they stand behind a name.
    pub evidence: String,
    /// The same in a sentence.
    pub sentence: String,
}

/// What can limit a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BottleneckKind {
    /// The generator could send no more.
    Generator,
    /// In an open loop, no more was asked for.
    OfferedRate,
    /// The database used all of its CPUs.
    DatabaseCpu,
    /// The subject used all of its CPUs, or of its quota.
    SubjectCpu,
    /// Parts that ran on the same CPUs used all of them together.
    SharedCpu,
    /// The subject has several CPUs and used about one.
    OneThread,
    /// A link carried as much as it can.
    Link,
    /// Requests waited for one of the connections to the database.
    Pool,
    /// Memory was at its limit.
    Memory,
    /// Nothing was busy: the users of a closed loop waited for round trips.
    Latency,
    /// None of these.
    NoneFound,
}

impl BottleneckKind {
    /// The word for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::OfferedRate => "offered rate",
            Self::DatabaseCpu => "database CPU",
            Self::SubjectCpu => "subject CPU",
            Self::SharedCpu => "shared CPU",
            Self::OneThread => "one thread",
            Self::Link => "link",
            Self::Pool => "pool",
            Self::Memory => "memory",
            Self::Latency => "latency",
            Self::NoneFound => "none found",
        }
    }
}

/// What says that something was the limit, if it was.
type Rule = fn(&Clues) -> Option<Bottleneck>;

const RULES: [Rule; 11] =
    [outage, generator, offered_rate, database_cpu, subject_cpu, shared_cpu, one_thread, link, pool, memory, latency];

/// What limited a case; none where no trial was scored.
pub(crate) fn bottleneck(clues: &Clues) -> Option<Bottleneck> {
    if clues.observations.scored.is_empty() {
        return None;
    }
    let mut found = RULES.iter().find_map(|rule| rule(clues)).unwrap_or_else(|| none_found(clues));
    // A share of a CPU that two parts had means less than one of a CPU of its own.
    let has_outage = clues.asked.is_some_and(|asked| asked.outage_at_s.is_some());
    if clues.shares_with("generator") && !has_outage && !found.sentence.contains("same CPU") {
        found.sentence += " Database and generator ran on the same CPU.";
    }
    Some(found)
}

/// With the evidence behind the beginning of a sentence.
fn found(kind: BottleneckKind, begins: &str, evidence: String) -> Option<Bottleneck> {
    Some(Bottleneck { kind, sentence: format!("{begins} {evidence}."), evidence })
}

/// With evidence that is a sentence but for its capital and its full stop.
fn said(kind: BottleneckKind, evidence: String) -> Option<Bottleneck> {
    let mut letters = evidence.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    Some(Bottleneck { kind, sentence: format!("{first}{}.", letters.as_str()), evidence })
}

/// A window in which the database was gone has two halves, and no limit of its own.
fn outage(clues: &Clues) -> Option<Bottleneck> {
    clues.asked?.outage_at_s?;
    said(BottleneckKind::NoneFound, "the database was gone for a part of the window".to_owned())
}

/// The same rule as that of the flag.
fn generator(clues: &Clues) -> Option<Bottleneck> {
    let (generator, subject) = clues.usage.generator.zip(clues.usage.subject)?;
    if clues.scenario.load.executor.is_open() || generator < SATURATED || subject >= SATURATED {
        return None;
    }
    let also = match clues.shares_with("generator") {
        true => format!(", although the database ran on the same CPU and used {} of it", busy(clues.usage.database)),
        false => String::new(),
    };
    let own = clues.of_subject(subject).replace("its CPU", "its own CPU");
    let generator = of_cpus(generator, &clues.around.environment.generator.mode, clues.cpus.generator);
    found(BottleneckKind::Generator, "The generator used", format!("{generator}{also}; the subject {own}"))
}

fn offered_rate(clues: &Clues) -> Option<Bottleneck> {
    let kept = |trial: &Measurement| Some(trial.goodput_rps / trial.offered_rps?);
    let kept = middle(&clues.observations.every(kept)).filter(|kept| *kept >= KEEPS_UP)?;
    let offered = middle(&clues.observations.every(|trial| trial.offered_rps))?;
    let (kept, offered) = (small_share(kept.min(1.0)), amount(Quantity::Number, offered));
    found(BottleneckKind::OfferedRate, "It answered", format!("{kept} of the {offered} requests offered per second"))
}

fn database_cpu(clues: &Clues) -> Option<Bottleneck> {
    let database = clues.usage.database.filter(|busy| *busy >= SATURATED)?;
    // Where both are at their limit, it is the busier one.
    let subject = clues.usage.subject.filter(|subject| *subject <= database)?;
    let also = match clues.shares_with("generator") {
        true => format!(", although the generator ran on the same CPU and used {} of it", busy(clues.usage.generator)),
        false => String::new(),
    };
    let own = clues.of_subject(subject).replace("its CPU", "its own CPU");
    let database = of_cpus(database, &CpuMode::Dedicated, clues.cpus.database);
    found(BottleneckKind::DatabaseCpu, "The database used", format!("{database}{also}; the subject {own}"))
}

fn subject_cpu(clues: &Clues) -> Option<Bottleneck> {
    let subject = clues.usage.subject.filter(|busy| *busy >= SATURATED)?;
    let database = clues.usage.database.map(|database| format!("; the database used {}", small_share(database)));
    let evidence = clues.of_subject(subject) + &database.unwrap_or_default();
    found(BottleneckKind::SubjectCpu, "The subject used", evidence)
}

/// A part of a trial, the CPUs that it ran on, and the CPU time that it used.
type Part<'a> = (&'static str, &'a [u32], fn(&Measurement) -> Option<f64>);

/// Parts that have the very same CPUs, and used them up together although none did alone.
fn shared_cpu(clues: &Clues) -> Option<Bottleneck> {
    let cpus = &clues.around.cpus;
    // A quota is another limit than the CPUs on which it is used.
    let has_quota = clues.around.environment.subject.mode == CpuMode::Quota;
    let parts: [Part; 3] = [
        ("database", &cpus.database, cpu_s),
        ("generator", &cpus.generator, |trial| Some(trial.generator.cpu_s)),
        ("subject", if has_quota { &[] } else { &cpus.subject }, |trial| Some(trial.subject.cpu_s)),
    ];
    let together = |on: &[u32]| {
        let same = || parts.iter().filter(|(_, cpus, _)| !on.is_empty() && *cpus == on);
        let all = |trial: &Measurement| same().map(|(_, _, cpu_s)| cpu_s(trial)).sum::<Option<f64>>();
        let of = |cpu_s: &dyn Fn(&Measurement) -> Option<f64>| {
            let given = |trial: &Measurement| share(cpu_s(trial)?, on.len() as f64 * trial.window_s);
            middle(&clues.observations.every(given))
        };
        let total = of(&all).filter(|total| same().count() > 1 && *total >= SATURATED)?;
        let each = same().map(|(name, _, cpu_s)| format!("the {name} {}", busy(of(cpu_s))));
        let names: Vec<String> = same().map(|(name, ..)| (*name).to_owned()).collect();
        let cpu = counted_cpus(on);
        let (names, total, each) = (listed(&names, "and"), small_share(total), each.collect::<Vec<_>>().join(", "));
        said(BottleneckKind::SharedCpu, format!("{names} ran on the same {cpu} and used {total} together: {each}"))
    };
    parts.iter().find_map(|(_, on, _)| together(on))
}

/// A process that computes on one thread leaves its other CPUs idle, whatever waits.
fn one_thread(clues: &Clues) -> Option<Bottleneck> {
    let used = clues.usage.subject? * clues.cpus.subject;
    let processes = clues.observations.scored.iter().map(|(_, trial)| trial.subject.processes_max).max();
    if clues.cpus.subject <= 1.0 || !ABOUT_ONE_CPU.contains(&used) || processes != Some(1) {
        return None;
    }
    let (used, had) = (amount(Quantity::Number, used), clues.cpus.subject);
    let evidence = format!("{used} of its {had} CPUs, about what one thread can");
    found(BottleneckKind::OneThread, "The subject, which is one process, used", evidence)
}

fn link(clues: &Clues) -> Option<Bottleneck> {
    let environment = &clues.around.environment;
    let answers_bps = middle(&clues.observations.every(|trial| Some(8.0 * trial.body_bytes as f64 / trial.window_s)));
    let rows_bps = clues.database.and_then(|database| database.sent_bytes_per_s).map(|bytes| 8.0 * bytes);
    // What an emulator was offered, or where none tells of it, at least the bytes that arrived.
    let used = |rate_bps: Option<f64>, link: Option<&LinkUse>, seen_bps: Option<f64>| {
        let rate_bps = rate_bps?;
        let offered = link.and_then(LinkUse::rate_offered);
        let used = offered.or(seen_bps.map(|seen_bps| seen_bps / rate_bps)).filter(|used| *used >= LINK_FULL)?;
        Some(format!("{} of its {}bit/s", small_share(used), amount(Quantity::Number, rate_bps)))
    };
    if let Some(evidence) = used(environment.link.rate_bps, clues.link, answers_bps) {
        return found(BottleneckKind::Link, "The link between client and subject was offered", evidence);
    }
    let database_rate_bps = environment.database.as_ref().and_then(|database| database.link.rate_bps);
    let database_link = clues.database.and_then(|database| database.link.as_ref());
    let evidence = used(database_rate_bps.filter(|_| clues.asked.is_some()), database_link, rows_bps)?;
    found(BottleneckKind::Link, "The link between subject and database was offered", evidence)
}

/// Nobody is busy, and the connections are: by what the subject counts, by what the database sees, or because so many round
/// trips a second keep so many connections occupied.
fn pool(clues: &Clues) -> Option<Bottleneck> {
    let (asked, database) = clues.asked.zip(clues.database)?;
    let size = database.pool.map_or(asked.pool, |pool| pool.size);
    let connections = format!("its {}", counted(u64::from(size), "connection"));
    let waits = database.pool.and_then(|pool| Some((pool.waits_per_good?, pool.wait_s_mean)));
    if let Some((waits, wait_s)) = waits.filter(|(waits, _)| *waits >= POOL_WAITS_CONSIDERABLE) {
        let each = wait_s.map(|wait_s| format!(", {} each", amount(Quantity::Seconds, wait_s))).unwrap_or_default();
        let waits = amount(Quantity::Number, waits);
        let evidence = format!("{waits} waits an answer for one of {connections}{each}; {}", clues.idle());
        return found(BottleneckKind::Pool, "There were", evidence);
    }
    let has_more_users = clues.scenario.load.connections_max().is_none_or(|users| users > size);
    if size == 0 || !has_more_users {
        return None;
    }
    let taken = |by: Option<f64>| by.map(|by| by / f64::from(size)).filter(|taken| *taken >= SATURATED);
    if let Some(taken) = taken(database.running_mean) {
        let evidence =
            format!("{} of {connections} had a statement running; {}", small_share(taken.min(1.0)), clues.idle());
        return found(BottleneckKind::Pool, "On average", evidence);
    }
    let taken = taken(database.queries_per_s.map(|queries| queries * asked.rtt_s))?;
    let busy = small_share(taken.min(1.0));
    let evidence = format!("{connections} were taken by round trips for {busy} of the time at least; {}", clues.idle());
    said(BottleneckKind::Pool, evidence)
}

fn memory(clues: &Clues) -> Option<Bottleneck> {
    let near = |peak: Option<f64>| peak.filter(|share| *share >= MEMORY_LIMIT_NEAR).map(small_share);
    let evidence = |peak: String| format!("{peak} of its limit, page cache included; {}", clues.idle());
    if let Some(peak) = near(clues.resources.peak_of_limit) {
        return found(BottleneckKind::Memory, "The subject’s memory came to", evidence(peak));
    }
    let peak = near(clues.database.and_then(|database| database.peak_of_limit))?;
    found(BottleneckKind::Memory, "The database’s memory came to", evidence(peak))
}

/// In a closed loop a user asks for nothing while its answer is on the way.
fn latency(clues: &Clues) -> Option<Bottleneck> {
    let load = &clues.scenario.load;
    if load.executor.is_open() {
        return None;
    }
    let median_s = middle(&clues.observations.every(|trial| trial.latency.at(0.5)));
    let waits = median_s.map(|median_s| (clues.round_trips_s(), median_s));
    if let Some((trips_s, median_s)) = waits.filter(|(trips_s, median_s)| *trips_s >= LATENCY_OF_ANSWER * median_s) {
        let [trips, median] = [trips_s, median_s].map(|seconds| amount(Quantity::Seconds, seconds));
        let evidence = format!("{trips} of round trips in a median answer of {median}; {}", clues.idle());
        return found(BottleneckKind::Latency, "There were", evidence);
    }
    let is_alone = load.executor.vus_max() == Some(1);
    let evidence = format!("one user, who waits while one part after the other works; {}", clues.idle());
    is_alone.then(|| found(BottleneckKind::Latency, "There was", evidence))?
}

fn none_found(clues: &Clues) -> Bottleneck {
    let evidence = clues.idle();
    let mut letters = evidence.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    let sentence = format!("{first}{}.", letters.as_str());
    Bottleneck { kind: BottleneckKind::NoneFound, evidence, sentence }
}

impl Clues<'_> {
    /// Whether the database had CPUs of this part.
    fn shares_with(&self, part: &str) -> bool {
        self.asked.is_some_and(|asked| asked.shares_cpus_with.iter().any(|other| other == part))
    }

    fn of_subject(&self, busy: f64) -> String {
        of_cpus(busy, &self.around.environment.subject.mode, self.cpus.subject)
    }

    /// That nothing was busy, with the figures: `the subject used 12%, the generator 31% of their CPUs`.
    fn idle(&self) -> String {
        let database = self.asked.map(|_| match self.usage.database {
            Some(database) => format!(", the database {}", small_share(database)),
            None => String::new(),
        });
        let unknown = match (self.asked, self.usage.database) {
            (Some(_), None) => "; what the database used is not known",
            _ => "",
        };
        let (subject, generator) = (busy(self.usage.subject), busy(self.usage.generator));
        let database = database.unwrap_or_default();
        format!("the subject used {subject}{database}, the generator {generator} of their CPUs{unknown}")
    }

    /// Round trips that an answer needs at least, in seconds. A connection of its own takes one more.
    fn round_trips_s(&self) -> f64 {
        let per_answer = if self.scenario.load.connection == Connection::PerRequest { 2.0 } else { 1.0 };
        let queries = self.database.and_then(|database| database.queries_per_good).unwrap_or(1.0);
        let to_database_s = self.asked.map_or(0.0, |asked| queries * asked.rtt_s);
        per_answer * self.around.environment.link.rtt_s + to_database_s
    }
}

/// A share of CPUs as it is read: `98% of its CPU`.
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
