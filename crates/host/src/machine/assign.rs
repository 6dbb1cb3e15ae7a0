//! Which part runs on which CPUs.
//!
//! [`assign_cpus`] is a pure function of a topology and a request. Two parts share a CPU only where that is allowed, or
//! where it was requested (a quota lets a subject run anywhere). They share a core only if there are too few cores.
//! Siblings share the core's units and caches, so the load of one would be measured as slowness of the other.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cpus::{Cpu, Topology, format_cpu_list};

/// The CPUs that the parts of a trial request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuWish {
    pub subject: SubjectCpus,
    /// How many CPUs the generator requests.
    pub generator: usize,
    /// The database's CPUs, where one is started.
    pub database: Option<DatabaseCpus>,
    /// Whether subject and generator may share CPUs, and get fewer than they requested.
    pub shared_allowed: bool,
    /// Which part gets the generator's CPUs.
    pub beside: BesideSubject,
}

/// The part that runs beside the subject, as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BesideSubject {
    Generator,
    /// The lab, where generators have machines of their own.
    Lab,
}

impl fmt::Display for BesideSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Generator => "generator",
            Self::Lab => "lab",
        })
    }
}

/// The two ways to give a subject CPU time. Their figures never appear in one table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SubjectCpus {
    /// This many CPUs, not shared with other parts.
    Dedicated(usize),
    /// This much CPU time, on any CPU, as `docker --cpus` gives.
    Quota(f64),
}

/// What a database gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseCpus {
    /// This many CPUs, not shared with other parts.
    Own(usize),
    /// One of its own if subject and generator leave one that is not on a core of the subject, else the generator's.
    WhereLeft,
}

/// Which part runs on which CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuMap {
    pub subject: Vec<u32>,
    pub generator: Vec<u32>,
    /// The CPU of the link emulators: one of their own if one is left over, else the generator's.
    pub link: Vec<u32>,
    /// The CPUs of the database: its own or the generator's. Empty if there is no database.
    pub database: Vec<u32>,
    /// Whether subject and generator share a CPU, so neither can be measured separately.
    pub shared: bool,
    /// What falls short of the request, in one sentence.
    pub note: Option<String>,
}

/// Why the CPUs cannot be assigned as requested.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CpuRefusal {
    #[error(
        "asked for {subject} + {generator} CPUs (subject + {beside}), {available} may be used: take a bigger machine, ask \
         for fewer CPUs, or let the parts share what there is with --allow-shared, which puts the {beside}'s own cost into \
         the figures"
    )]
    TooFew { subject: usize, generator: usize, available: usize, beside: BesideSubject },
    #[error(
        "asked for {subject} + {generator} + {database} CPUs (subject + {beside} + database), {available} may be used: take a \
         bigger machine, ask for fewer CPUs, or leave out the CPUs of the database, which then has the {beside}'s where none is \
         left"
    )]
    TooFewWithDatabase { subject: usize, generator: usize, database: usize, available: usize, beside: BesideSubject },
    #[error(
        "asked for a quota of {quota} CPUs, {available} may be used, so the quota would limit nothing: take a bigger \
         machine, ask for a smaller quota, or take what there is with --allow-shared"
    )]
    QuotaTooLarge { quota: f64, available: usize },
    #[error(
        "only {available} CPU may be used, and subject and {beside} need one each: take a machine with 2 CPUs or more, or \
         let both share it with --allow-shared, which puts the {beside}'s own cost into the figures"
    )]
    OneCpu { available: usize, beside: BesideSubject },
}

/// CPUs grouped by core.
type Cores = Vec<Vec<u32>>;

/// Gives the parts the CPUs they requested, out of those in `allowed`.
///
/// Dedicated CPUs are preferred in this order: every CPU alone on its core; whole cores for each part; different CPUs
/// of shared cores. Unless sharing is allowed, it refuses a request that it cannot meet. A database gets its CPUs
/// first, from the end; the other parts get the rest.
pub fn assign_cpus(topology: &Topology, allowed: &[u32], wish: CpuWish) -> Result<CpuMap, CpuRefusal> {
    let cores = allowed_cores(topology, allowed);
    let available: usize = cores.iter().map(Vec::len).sum();
    if available <= 1 {
        if !wish.shared_allowed {
            return Err(CpuRefusal::OneCpu { available, beside: wish.beside });
        }
        return Ok(one_cpu(cores.into_iter().flatten().next().unwrap_or(0), wish));
    }
    match wish.database {
        None => without_database(&cores, wish),
        Some(DatabaseCpus::Own(count)) => beside_database(&cores, count.max(1), wish),
        Some(DatabaseCpus::WhereLeft) => {
            let strict = CpuWish { shared_allowed: false, ..wish };
            match beside_database(&cores, 1, strict) {
                // A CPU is not left over if taking it harms the other parts.
                Ok(map) if map.note.is_none() => Ok(map),
                _ => without_database(&cores, wish).map(|map| CpuMap { database: map.generator.clone(), ..map }),
            }
        }
    }
}

fn one_cpu(id: u32, wish: CpuWish) -> CpuMap {
    let beside = wish.beside;
    let note = format!("one CPU only: subject and {beside} share it, so every figure includes the {beside}'s own cost");
    let only = vec![id];
    let database = if wish.database.is_some() { only.clone() } else { Vec::new() };
    let (subject, generator) = (only.clone(), only.clone());
    CpuMap { subject, generator, link: only, database, shared: true, note: Some(note) }
}

fn without_database(cores: &Cores, wish: CpuWish) -> Result<CpuMap, CpuRefusal> {
    match wish.subject {
        SubjectCpus::Dedicated(subject) => dedicated(cores, subject.max(1), wish),
        SubjectCpus::Quota(quota) => with_quota(cores, quota, wish),
    }
}

/// Gives the database this many CPUs of its own. It gets whole cores if that does not harm the other parts, else the
/// last CPUs.
fn beside_database(cores: &Cores, count: usize, wish: CpuWish) -> Result<CpuMap, CpuRefusal> {
    let available: usize = cores.iter().map(Vec::len).sum();
    let (generator, beside) = (wish.generator.max(1), wish.beside);
    let subject = match wish.subject {
        SubjectCpus::Dedicated(subject) => subject,
        SubjectCpus::Quota(quota) => quota.ceil() as usize,
    };
    let subject = subject.max(1);
    if subject + generator + count > available {
        if !wish.shared_allowed {
            return Err(CpuRefusal::TooFewWithDatabase { subject, generator, database: count, available, beside });
        }
        return without_database(cores, wish).map(|map| with_generators(map, count, beside));
    }
    let strict = CpuWish { shared_allowed: false, ..wish };
    let dealt = [last_cores(cores, count), last_cpus(cores, count)].into_iter().flatten().filter_map(|(own, rest)| {
        let map = without_database(&rest, strict).ok()?;
        let taken = [own.clone(), map.generator.clone()].concat();
        let link = link_cpu(cores, &map.subject, &taken).map_or_else(|| map.generator.clone(), |id| vec![id]);
        let note = map.note.map(|note| format!("{note}; the database has {} for itself", format_cpu_list(&own)));
        Some(CpuMap { link, database: own, note, ..map })
    });
    let dealt: Vec<CpuMap> = dealt.collect();
    let best = dealt.iter().find(|map| map.note.is_none()).or(dealt.last()).cloned();
    best.ok_or(CpuRefusal::TooFewWithDatabase { subject, generator, database: count, available, beside })
}

/// If there are too few CPUs and sharing is allowed, the database gets the generator's.
fn with_generators(map: CpuMap, asked: usize, beside: BesideSubject) -> CpuMap {
    let unit = if asked == 1 { "CPU" } else { "CPUs" };
    let own = format!(
        "asked for {asked} {unit} for the database alone, and none is left: it runs on the {beside}'s, {}, and what they share is \
         measured as one",
        format_cpu_list(&map.generator)
    );
    let note = map.note.map_or_else(|| own.clone(), |note| format!("{note}; {own}"));
    CpuMap { database: map.generator.clone(), note: Some(note), ..map }
}

/// The first CPU of each of the last `count` cores, whose siblings stay idle, and the cores before them.
fn last_cores(cores: &Cores, count: usize) -> Option<(Vec<u32>, Cores)> {
    let (rest, last) = cores.split_at(cores.len().checked_sub(count)?);
    Some((last.iter().filter_map(|core| core.first().copied()).collect(), rest.to_vec()))
}

/// The last `count` CPUs, and all the others.
fn last_cpus(cores: &Cores, count: usize) -> Option<(Vec<u32>, Cores)> {
    let all: Vec<u32> = cores.iter().flatten().copied().collect();
    let mut own = all[all.len().checked_sub(count)?..].to_vec();
    let rest = cores.iter().map(|core| core.iter().copied().filter(|id| !own.contains(id)).collect::<Vec<u32>>());
    let rest = rest.filter(|core| !core.is_empty()).collect();
    own.sort_unstable();
    Some((own, rest))
}

fn on_siblings(beside: BesideSubject) -> String {
    format!("too few cores: subject and {beside} run on siblings of one core and slow each other")
}

fn dedicated(cores: &Cores, subject: usize, wish: CpuWish) -> Result<CpuMap, CpuRefusal> {
    let available: usize = cores.iter().map(Vec::len).sum();
    let (generator, beside) = (wish.generator.max(1), wish.beside);
    if subject + generator <= available {
        let (subject, generator, siblings) = deal(cores, subject, generator);
        return Ok(map(cores, subject, generator, siblings.then(|| on_siblings(beside))));
    }
    if !wish.shared_allowed {
        return Err(CpuRefusal::TooFew { subject, generator, available, beside });
    }
    // The subject from the front and the generator from the back, so that they share as few CPUs as possible.
    let all: Vec<u32> = cores.iter().flatten().copied().collect();
    let for_subject = all[..subject.min(available)].to_vec();
    let for_generator = all[available - generator.min(available)..].to_vec();
    let note = format!(
        "asked for {subject} + {generator} CPUs, {available} may be used: subject on {}, {beside} on {}, and what they share \
         is measured as one",
        format_cpu_list(&for_subject),
        format_cpu_list(&for_generator)
    );
    Ok(map(cores, for_subject, for_generator, Some(note)))
}

/// A quota only limits a subject that could run on more CPUs than its quota, so it needs one more.
fn with_quota(cores: &Cores, quota: f64, wish: CpuWish) -> Result<CpuMap, CpuRefusal> {
    let all: Vec<u32> = cores.iter().flatten().copied().collect();
    let (generator, beside) = (wish.generator.max(1), wish.beside);
    if !wish.shared_allowed && quota.ceil() > all.len() as f64 {
        return Err(CpuRefusal::QuotaTooLarge { quota, available: all.len() });
    }
    if !wish.shared_allowed && generator > all.len() {
        return Err(CpuRefusal::TooFew { subject: quota.ceil() as usize, generator, available: all.len(), beside });
    }
    let wanted = quota.max(0.0).ceil().max(1.0) as usize + 1;
    // First whole cores behind those of the subject, then any CPUs behind.
    let generator_cores = cores.iter().rev().take(generator).rev();
    let alone: Vec<u32> = generator_cores.clone().map(|core| core[0]).collect();
    let touched: Vec<u32> = generator_cores.flatten().copied().collect();
    let without = |taken: &[u32]| all.iter().copied().filter(|id| !taken.contains(id)).collect::<Vec<u32>>();
    if alone.len() == generator && without(&touched).len() >= wanted {
        return Ok(map(cores, without(&touched), alone, None));
    }
    let last = all[all.len().saturating_sub(generator)..].to_vec();
    let rest = without(&last);
    if rest.len() >= wanted {
        let siblings = splits_a_core(cores, &rest, &last).then(|| on_siblings(beside));
        return Ok(map(cores, rest, last, siblings));
    }
    let unit = if quota == 1.0 { "CPU" } else { "CPUs" };
    let note = format!(
        "under a quota of {quota} {unit} a subject should have {wanted} CPUs to run on beside the {beside}'s, and {} may be used \
         in all: it runs on the {beside}'s as well, and they get in each other's way",
        all.len()
    );
    Ok(map(cores, all, last, Some(note)))
}

fn map(cores: &Cores, mut subject: Vec<u32>, mut generator: Vec<u32>, note: Option<String>) -> CpuMap {
    subject.sort_unstable();
    generator.sort_unstable();
    let shared = subject.iter().any(|id| generator.contains(id));
    let link = link_cpu(cores, &subject, &generator).map_or_else(|| generator.clone(), |id| vec![id]);
    CpuMap { subject, generator, link, database: Vec::new(), shared, note }
}

/// A spare CPU for the link emulator: on a core of its own, or beside the generator. Beside the subject it would slow
/// down what is measured.
fn link_cpu(cores: &Cores, subject: &[u32], generator: &[u32]) -> Option<u32> {
    let holds = |core: &Vec<u32>, part: &[u32]| core.iter().any(|id| part.contains(id));
    let apart = cores.iter().filter(|core| !holds(core, subject));
    let own = apart.clone().find(|core| !holds(core, generator)).and_then(|core| core.first());
    own.or_else(|| apart.flatten().find(|id| !generator.contains(id))).copied()
}

fn splits_a_core(cores: &Cores, subject: &[u32], generator: &[u32]) -> bool {
    let holds = |core: &Vec<u32>, part: &[u32]| core.iter().any(|id| part.contains(id));
    cores.iter().any(|core| holds(core, subject) && holds(core, generator))
}

/// The CPUs of the subject and of the generator, and whether they split a core.
fn deal(cores: &[Vec<u32>], subject_count: usize, generator_count: usize) -> (Vec<u32>, Vec<u32>, bool) {
    if cores.len() >= subject_count + generator_count {
        let first_of = |cores: &[Vec<u32>]| cores.iter().map(|core| core[0]).collect();
        let (subject, rest) = cores.split_at(subject_count);
        return (first_of(subject), first_of(&rest[..generator_count]), false);
    }
    // Whole cores: the subject fills cores from the front, and the generator takes those behind.
    let mut held = 0;
    let subject_cores = cores.iter().position(|core| {
        held += core.len();
        held >= subject_count
    });
    let (subject_cores, generator_cores) = cores.split_at(subject_cores.map_or(cores.len(), |last| last + 1));
    if generator_cores.iter().map(Vec::len).sum::<usize>() >= generator_count {
        let take = |cores: &[Vec<u32>], count| cores.iter().flatten().copied().take(count).collect();
        return (take(subject_cores, subject_count), take(generator_cores, generator_count), false);
    }
    let mut all = cores.iter().flatten().copied();
    let subject: Vec<u32> = all.by_ref().take(subject_count).collect();
    let generator: Vec<u32> = all.take(generator_count).collect();
    (subject, generator, true)
}

/// The allowed CPUs grouped by core. Cores of one memory node and package are adjacent, so neighbours share caches.
fn allowed_cores(topology: &Topology, allowed: &[u32]) -> Cores {
    let mut cores: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
    for &id in allowed {
        // A CPU with unknown place counts as a core of its own.
        let cpu = topology.cpus.iter().find(|cpu| cpu.id == id);
        let cpu = cpu.copied().unwrap_or(Cpu { id, core: id, package: u32::MAX, node: 0 });
        let core = cores.entry((cpu.node, cpu.package, cpu.core)).or_default();
        if !core.contains(&id) {
            core.push(id);
        }
    }
    let mut cores: Cores = cores.into_values().collect();
    cores.iter_mut().for_each(|core| core.sort_unstable());
    cores
}
