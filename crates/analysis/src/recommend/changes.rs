//! What would change a recommendation: only conditions for which this run has evidence.

use super::Scene;
use crate::compare::ComparedMetric;
use crate::figures::{listed, small_share};
use crate::findings::{BottleneckKind, CaseFinding, FactorCrossover, FactorPanel};
use crate::grouping::grouped;
use crate::sensitivity::flip_words;

/// From this share of the ceiling on, a case is limited as much by the set-up as by itself.
const NEAR_CEILING: f64 = 0.90;
/// The most flips of the order that are named.
const MOST_FLIPS: usize = 2;

/// The picks, and the best of the others.
pub(super) struct Contestants<'a> {
    pub(super) metric: ComparedMetric,
    pub(super) picks: Vec<&'a CaseFinding>,
    pub(super) next: Option<&'a CaseFinding>,
}

/// Lists conditions, each in a few words with its reason.
pub(super) fn changes(scene: &Scene, contestants: &Contestants) -> Vec<String> {
    let is_goodput = contestants.metric == ComparedMetric::Goodput;
    let is_time = contestants.metric == ComparedMetric::P99;
    let mut changes = Vec::new();
    if is_goodput {
        changes.extend(flips(scene, &contestants.picks));
        changes.extend(near_ceiling(&contestants.picks));
    }
    if is_goodput || is_time {
        changes.extend(limits(contestants));
    }
    if is_time && !scene.planned.load.executor.is_open() {
        changes.push("a given request rate: in a closed loop a slow response delays the next request".to_owned());
    }
    changes
}

/// What would change which case has the highest goodput, and another need that this does not cover.
pub(super) fn goodput_changes(scene: &Scene, picks: Vec<&CaseFinding>, other_need: &str) -> Vec<String> {
    let mut changes = flips(scene, &picks);
    changes.extend(limits(&Contestants { metric: ComparedMetric::Goodput, picks, next: None }));
    changes.push(other_need.to_owned());
    changes
}

/// Where the order of a pick and another case is known to flip, as seen from this scenario. The scene leaves out references, which
/// cannot replace a pick.
fn flips(scene: &Scene, picks: &[&CaseFinding]) -> Vec<String> {
    let is_pick = |subject: &String| picks.iter().any(|pick| pick.subject == *subject);
    let competes = |subject: &String| scene.finding.cases.iter().any(|case| case.subject == *subject);
    let of_panel = |panel: &FactorPanel| -> Vec<String> {
        let Some(here) = panel.levels.iter().find(|level| level.scenario == scene.finding.id) else {
            return Vec::new();
        };
        let overtakes = |crossing: &&FactorCrossover| {
            let (below, above) = (&crossing.faster_below, &crossing.faster_above);
            let (ahead, behind) = if here.value < crossing.at { (below, above) } else { (above, below) };
            crossing.sure && is_pick(ahead) && competes(behind)
        };
        panel.crossovers.iter().filter(overtakes).map(|crossing| flip_words(panel, crossing, here.value)).collect()
    };
    scene.panels.iter().flat_map(of_panel).take(MOST_FLIPS).collect()
}

fn near_ceiling(picks: &[&CaseFinding]) -> Option<String> {
    let near = picks.iter().find_map(|pick| {
        let share = pick.of_ceiling.as_ref()?.value;
        (share >= NEAR_CEILING).then(|| (pick.title.clone(), small_share(share)))
    });
    near.map(|(title, share)| format!("a faster machine: {title} reached {share} of its limit"))
}

/// What limited the compared cases, if it was not their own CPU.
fn limits(contestants: &Contestants) -> Vec<String> {
    let cases = contestants.picks.iter().chain(&contestants.next);
    let limited = cases.filter_map(|case| Some((case.bottleneck.as_ref()?.kind, case.title.clone())));
    let words = |group: &Vec<(BottleneckKind, String)>| {
        let titles: Vec<String> = group.iter().map(|(_, title)| title.clone()).collect();
        condition(group[0].0, &listed(&titles, "and"))
    };
    grouped(limited, |one, other| one.0 == other.0).iter().filter_map(words).collect()
}

fn condition(kind: BottleneckKind, whose: &str) -> Option<String> {
    let (what, limit) = match kind {
        BottleneckKind::Generator => ("a faster generator", "it"),
        BottleneckKind::OfferedRate => ("a higher rate", "the rate"),
        BottleneckKind::DatabaseCpu => ("a faster database", "its CPU"),
        BottleneckKind::SharedCpu => ("CPUs of their own for all parts", "shared ones"),
        BottleneckKind::OneThread => ("a thread for every CPU", "a single one"),
        BottleneckKind::Link => ("a wider link", "it"),
        BottleneckKind::ClientPace => ("clients that read faster", "their pace"),
        BottleneckKind::Pool => ("a larger pool of connections to the database", "it"),
        BottleneckKind::Workers => ("more workers", "their number"),
        BottleneckKind::Memory => ("more memory", "it"),
        BottleneckKind::Latency => ("more users, or shorter round trips", "round trips"),
        BottleneckKind::Backlog => ("more connections", "their number"),
        BottleneckKind::NotSteady => return Some(format!("windows that settle: those of {whose} had no level")),
        BottleneckKind::Noisy => return Some(format!("trials that scatter less than those of {whose}")),
        BottleneckKind::SubjectCpu | BottleneckKind::NoneFound => return None,
    };
    Some(format!("{what}: {limit} limited {whose}"))
}
