//! A/A pairs: which cases are entered twice, and in which blocks.
//!
//! Both halves of a pair are the same subject, so they differ only by noise. In each block, one case of a scenario is
//! entered twice, and cases take turns. Scenarios that share servers enter the same subject twice, so that its second
//! server has all the workloads of its first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tolok_rng::SplitMix64;

use super::slices::Group;
use super::{Case, CaseId};
use crate::program::ProgramScenario;
use crate::study::Scenario;
use crate::study::aa_pair::AaPair;
use crate::subject::Role;

/// Keeps these turns independent of the order of trials, which comes from the same seed.
const STREAM: u64 = 0xaa_aa;

/// Enters competing cases twice, unless they have no competitors.
pub(super) fn add(cases: &mut Vec<Case>, which: AaPair) {
    let mut twins: Vec<Case> = Vec::new();
    for case in cases.iter().filter(|case| case.role == Role::Subject) {
        let competes_too = |other: &&Case| other.scenario == case.scenario && other.role == Role::Subject;
        let is_wanted = match which {
            AaPair::None => false,
            AaPair::First => !twins.iter().any(|twin| twin.scenario == case.scenario),
            AaPair::Rotating => true,
        };
        if is_wanted && cases.iter().filter(competes_too).count() > 1 {
            let id = format!("{}--again", case.id);
            twins.push(Case { id, twin_of: Some(case.id.clone()), ..case.clone() });
        }
    }
    cases.extend(twins);
}

/// Cases that take turns together: those of a launch, or else of a scenario.
#[derive(PartialEq, Eq)]
enum Unit<'a> {
    Launch(Group<'a>),
    Scenario(&'a str),
}

/// For each block, the ids of its second halves.
pub(super) fn of_blocks<'a>(
    cases: &'a [Case],
    (scenarios, programs): (&'a [Scenario], &'a [ProgramScenario]),
    blocks: u32,
    seed: u64,
) -> Vec<BTreeSet<&'a CaseId>> {
    let unit =
        |case: &'a Case| Group::of(case, scenarios, programs).map_or(Unit::Scenario(&case.scenario), Unit::Launch);
    let mut units: Vec<(Unit, Vec<&Case>)> = Vec::new();
    for twin in cases.iter().filter(|case| case.twin_of.is_some()) {
        match units.iter_mut().find(|(known, _)| *known == unit(twin)) {
            Some((_, own)) => own.push(twin),
            None => units.push((unit(twin), vec![twin])),
        }
    }
    let mut by_block = vec![BTreeSet::new(); blocks as usize];
    for (stream, (_, twins)) in (1..).zip(units) {
        let mut turns = Turns::of(&twins, SplitMix64::new(seed ^ STREAM.wrapping_mul(stream)));
        for of_block in &mut by_block {
            let label = turns.next_subject();
            of_block.extend(twins.iter().filter(|it| label.is_none_or(|own| it.subject.label == own)).map(|it| &it.id));
        }
    }
    by_block
}

/// Decides which subject is entered twice next.
struct Turns<'a> {
    /// The scenarios of each subject.
    scenarios: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// How many turns each subject or scenario has had.
    had: BTreeMap<&'a str, u32>,
    is_fixed: bool,
    random: SplitMix64,
}

impl<'a> Turns<'a> {
    fn of(twins: &[&'a Case], random: SplitMix64) -> Self {
        let mut scenarios: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for twin in twins {
            scenarios.entry(&twin.subject.label).or_default().insert(&twin.scenario);
        }
        let all: BTreeSet<&str> = twins.iter().map(|twin| twin.scenario.as_str()).collect();
        Self { is_fixed: all.len() == twins.len(), scenarios, had: BTreeMap::new(), random }
    }

    /// The subject for the next block, or `None` if no scenario has a choice. It is a subject with the fewest turns. Of
    /// those, it is one in most of the scenarios with the fewest turns. Ties are broken at random.
    fn next_subject(&mut self) -> Option<&'a str> {
        if self.is_fixed {
            return None;
        }
        let had = |name: &str| self.had.get(name).copied().unwrap_or_default();
        let fewest = self.scenarios.values().flatten().map(|scenario| had(scenario)).min()?;
        let helps = |own: &BTreeSet<&str>| own.iter().filter(|scenario| had(scenario) == fewest).count();
        let rank = |(label, own): &(&&'a str, &BTreeSet<&str>)| (had(label), Reverse(helps(own)));
        let first = self.scenarios.iter().map(|entry| rank(&entry)).min()?;
        let next: Vec<&'a str> =
            self.scenarios.iter().filter(|entry| rank(entry) == first).map(|(label, _)| *label).collect();
        let label = *next.get(self.random.below(next.len() as u64) as usize)?;
        let own = self.scenarios.get(label).cloned().unwrap_or_default();
        for name in own.into_iter().chain([label]) {
            *self.had.entry(name).or_default() += 1;
        }
        Some(label)
    }
}
