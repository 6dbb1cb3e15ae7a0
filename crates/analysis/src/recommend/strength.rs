//! The strength of a recommendation.
//!
//! Three properties count. **Clear**: one case, told apart from every other. **Far**: the near end of the interval of its lead
//! over the next is at least [`CLEARLY_AHEAD`]. **Sound**: no caveat. That takes 10 blocks or more, windows of 10 s or more or
//! slices, no failed check of a trial, dedicated CPUs, and an A/A pair that was not told apart. All three make it *strong*, two
//! *moderate*, fewer *weak*. Without a decision it is *none*.

use super::Scene;
use crate::cautions::{FEWEST_BLOCKS_TO_QUOTE, SHORTEST_WINDOW_TO_QUOTE_S, shortest_window_s};
use crate::figures::{counted, listed, small_share};
use crate::findings::{CaseFinding, GateOutcome, Strength};

/// A case is far ahead if the near end of the interval shows at least this lead.
pub const CLEARLY_AHEAD: f64 = 0.10;

/// The three properties that strength depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub(super) is_clear: bool,
    pub(super) is_far: bool,
    pub(super) is_sound: bool,
}

impl Marks {
    pub(super) fn strength(self) -> Strength {
        match [self.is_clear, self.is_far, self.is_sound].into_iter().filter(|mark| *mark).count() {
            3 => Strength::Strong,
            2 => Strength::Moderate,
            _ => Strength::Weak,
        }
    }
}

/// Reasons not to quote figures of these cases, each worded as what is needed.
pub(super) fn caveats(scene: &Scene, cases: &[&CaseFinding], blocks: u32, needs_window: bool) -> Vec<String> {
    let parts =
        [few_blocks(blocks), short_window(scene, cases).filter(|_| needs_window), failed_gates(cases), shared(scene)];
    parts.into_iter().flatten().collect()
}

/// The noise check differs significantly, by this share.
pub(super) fn aa_caveat(aa_effect: Option<f64>) -> Option<String> {
    let by = small_share(aa_effect?);
    Some(format!("a quieter machine: one server, entered twice, differed by {by}"))
}

fn few_blocks(blocks: u32) -> Option<String> {
    let least = FEWEST_BLOCKS_TO_QUOTE;
    (blocks < least).then(|| format!("{least} rounds or more (now {blocks})"))
}

fn short_window(scene: &Scene, cases: &[&CaseFinding]) -> Option<String> {
    if scene.planned.slices.is_some() {
        // The length of a slice does not decide its value.
        return None;
    }
    let is_of_them = |id: &str| cases.iter().any(|case| case.case == id);
    let shortest_s = shortest_window_s(&scene.planned.load, scene.records.trials, is_of_them)?;
    let [least, these] = [SHORTEST_WINDOW_TO_QUOTE_S, shortest_s].map(|it| format!("{} s", (it * 10.0).round() / 10.0));
    (shortest_s < SHORTEST_WINDOW_TO_QUOTE_S).then(|| format!("windows of {least} or more (now {these})"))
}

fn failed_gates(cases: &[&CaseFinding]) -> Option<String> {
    let has_failed = |case: &&&CaseFinding| case.gates.iter().any(|gate| gate.outcome == GateOutcome::Failed);
    let titles: Vec<String> = cases.iter().filter(has_failed).map(|case| case.title.clone()).collect();
    let whose = if titles.len() > 2 { counted(titles.len() as u64, "case") } else { listed(&titles, "and") };
    (!titles.is_empty()).then(|| format!("trials that pass every check: those of {whose} did not"))
}

fn shared(scene: &Scene) -> Option<String> {
    let cpus = scene.records.run.cpus.get(&scene.planned.environment)?;
    cpus.shared.then(|| "CPUs of their own for subject and generator, which shared them".to_owned())
}
