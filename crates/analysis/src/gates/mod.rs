//! Gates: what has to hold in every trial before its figures are believed.
//!
//! A gate looks at one trial and says that it passed, that it failed, or that it cannot be told, and why. What a tool or a
//! record does not tell is never a pass. A failed gate that bars has a flag beside it (`flags.rs`), which keeps the case out of
//! the ranking; where a flag was there first, the gate rests on the same rule.

mod amounts;
mod bodies;
pub(crate) mod headroom;
mod little;
mod schedule;
mod seconds;

use tolok_model::Measurement;

use crate::case_inputs::{CaseInputs, causes_of, warnings_that_count};
use crate::figures::counted;
use crate::findings::{GateFinding, GateOutcome};
use crate::flag::{Flag, FlagKind};

pub use amounts::{CPU_READ_LATE_S, UTILISATION_TOLERATED};
pub use little::{FEWEST_ANSWERS_FOR_LITTLE, LITTLE_OFF};
pub(crate) use seconds::is_mostly_unsteady;

/// A window shorter than this is not judged where its ends weigh more than what is judged.
pub const SHORTEST_JUDGED_S: f64 = 1.0;

/// A gate, for its reference.
struct About {
    word: &'static str,
    asked_of: &'static str,
    fails_if: &'static str,
    flags: &'static [FlagKind],
    remark: &'static str,
}

/// All gates, in the order in which they are asked.
const GATES: [About; 10] = [
    About {
        word: "ledger",
        asked_of: "every trial",
        fails_if: "requests are not accounted for",
        flags: &[FlagKind::LedgerOpen],
        remark: "",
    },
    About {
        word: "little",
        asked_of: "every trial",
        fails_if: "users, or requests in flight, are not rate × time",
        flags: &[FlagKind::Little, FlagKind::NotTrusted],
        remark: "",
    },
    About {
        word: "utilisation",
        asked_of: "every trial",
        fails_if: "a part used more CPU time than it was given",
        flags: &[FlagKind::Utilisation],
        remark: "",
    },
    About {
        word: "link-bytes",
        asked_of: "trials whose client link has a rate or was counted",
        fails_if: "more came through the link than fits or was carried",
        flags: &[FlagKind::LinkBytes],
        remark: "",
    },
    About {
        word: "body-samples",
        asked_of: "every trial",
        fails_if: "the wire contradicts the tool, or no body was looked at",
        flags: &[FlagKind::WireContradicts],
        remark: "the first reason only",
    },
    About {
        word: "generator-headroom",
        asked_of: "every trial",
        fails_if: "the generator, and not the subject, was at its limit",
        flags: &[FlagKind::GeneratorBound, FlagKind::NotTrusted],
        remark: "",
    },
    About {
        word: "offered-rate",
        asked_of: "open loops",
        fails_if: "requests were not sent although they were due",
        flags: &[FlagKind::NotTrusted],
        remark: "if the tool itself reports it",
    },
    About {
        word: "lateness",
        asked_of: "open loops",
        fails_if: "requests left so late that it shows in a figure",
        flags: &[FlagKind::NotTrusted],
        remark: "",
    },
    About {
        word: "disturbance",
        asked_of: "every trial",
        fails_if: "other programs disturbed it each time it was measured",
        flags: &[FlagKind::Disturbed],
        remark: "which bars if no trial is left",
    },
    About {
        word: "steady-state",
        asked_of: "loads of one level",
        fails_if: "the seconds of the window have no single level",
        flags: &[FlagKind::NotSteady],
        remark: "which bars if most trials fail",
    },
];

/// The reference page of all gates.
pub fn gates_page() -> String {
    let row = |gate: &About| {
        let flags = gate.flags.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(", ");
        let remark = if gate.remark.is_empty() { String::new() } else { format!(", {}", gate.remark) };
        format!("| `{}` | {} | {} | {flags}{remark} |\n", gate.word, gate.asked_of, gate.fails_if)
    };
    let rows: String = GATES.iter().map(row).collect();
    format!("| gate | asked of | a trial fails if | its flag |\n|---|---|---|---|\n{rows}")
}

/// What a gate says of one trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judged {
    /// It held.
    Passed(Seen),
    /// It did not, and the flag that bars the case for it, if any does.
    Failed(Seen, Option<FlagKind>),
    /// It cannot be told, and why.
    Unknown(String),
}

/// What was seen, in words, and as a number with what it may be at most.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    text: String,
    value: Option<f64>,
    limit: Option<f64>,
}

impl Seen {
    fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None, limit: None }
    }

    fn number(text: String, value: f64, limit: f64) -> Self {
        Self { text, value: Some(value), limit: Some(limit) }
    }

    /// How near to its limit, or how far beyond it; nothing where there is no number.
    fn excess(&self) -> f64 {
        self.value.zip(self.limit).map_or(f64::NEG_INFINITY, |(value, limit)| value - limit)
    }
}

/// A gate over all trials of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gated {
    pub(crate) finding: GateFinding,
    /// The flags that its failed trials have.
    flags: Vec<FlagKind>,
}

/// Judges one trial.
type Judge = fn(&Measurement, &CaseInputs) -> Judged;

/// Every gate that is asked of the case, in the order of the table above.
pub(crate) fn gates(inputs: &CaseInputs) -> Vec<Gated> {
    let load = &inputs.scenario.load;
    let is_open = load.executor.is_open();
    let over = |word: &'static str, applies: bool, judge: Judge| {
        let trials = inputs.observations.numbered().map(|(number, trial)| (number, judge(trial, inputs))).collect();
        applies.then(|| gathered(word, trials))
    };
    let of_scored = || {
        [
            over("ledger", true, ledger),
            over("little", true, little::judge),
            over("utilisation", true, amounts::utilisation),
            over("link-bytes", amounts::has_link(inputs), amounts::link_bytes),
            over("body-samples", true, bodies::judge),
            over("generator-headroom", true, headroom::judge).map(|gated| headroom::settled(gated, inputs)),
            over("offered-rate", is_open, schedule::offered_rate),
            over("lateness", is_open, schedule::lateness),
        ]
    };
    let has_any = !inputs.observations.scored.is_empty();
    let mut found: Vec<Gated> = if has_any { of_scored().into_iter().flatten().collect() } else { Vec::new() };
    found.extend(disturbance(inputs));
    found.extend(
        over("steady-state", has_any && seconds::is_asked(load), seconds::judge)
            .map(|gated| seconds::settled(gated, inputs)),
    );
    found
}

/// Flags of gates that had none of their own.
pub(crate) fn gate_flags(gates: &[Gated]) -> Vec<Flag> {
    const OWN: [FlagKind; 5] =
        [FlagKind::Little, FlagKind::Utilisation, FlagKind::LinkBytes, FlagKind::GeneratorBound, FlagKind::NotSteady];
    let of_gate = |gated: &Gated| {
        let own = gated.flags.iter().find(|word| OWN.contains(word))?;
        own.raised_voiding(gated.finding.bars, gated.finding.message.clone())
    };
    gates.iter().filter_map(of_gate).collect()
}

/// Every trial of which it can be told has to pass.
fn gathered(word: &'static str, trials: Vec<(u32, Judged)>) -> Gated {
    let (mut passed, mut failed, mut unknown, mut flags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, judged) in trials {
        match judged {
            Judged::Passed(seen) => passed.push(seen),
            Judged::Failed(seen, flag) => {
                failed.push((number, seen));
                flags.extend(flag);
            }
            Judged::Unknown(reason) => unknown.push(reason),
        }
    }
    let judged = passed.len() + failed.len();
    let worst = failed.iter().map(|(_, seen)| seen).chain(passed.iter().filter(|_| failed.is_empty()));
    let worst = worst.reduce(|worst, next| if next.excess() > worst.excess() { next } else { worst });
    let text = worst.map(|seen| seen.text.clone()).or(unknown.first().cloned()).unwrap_or_default();
    let place = match failed.len() {
        0 => String::new(),
        number => format!("in {number} of {} ", counted(judged as u64, "trial")),
    };
    let lacks = match unknown.first() {
        Some(reason) if judged > 0 => {
            format!("; of {} it cannot be told: {reason}", counted(unknown.len() as u64, "trial"))
        }
        _ => String::new(),
    };
    let outcome = match (failed.len(), passed.len()) {
        (0, 0) => GateOutcome::Unknown,
        (0, _) => GateOutcome::Passed,
        _ => GateOutcome::Failed,
    };
    let finding = GateFinding {
        gate: word.to_owned(),
        outcome,
        trials_passed: passed.len() as u32,
        trials_failed: failed.iter().map(|(number, _)| *number).collect(),
        trials_unknown: unknown.len() as u32,
        worst: worst.and_then(|seen| seen.value),
        limit: worst.and_then(|seen| seen.limit),
        message: format!("{place}{text}{lacks}"),
        bars: !flags.is_empty(),
    };
    flags.sort_unstable();
    flags.dedup();
    Gated { finding, flags }
}

/// What the load tool itself says against this of a trial.
fn warning(gate: &str, trial: &Measurement, inputs: &CaseInputs) -> Option<Judged> {
    let warning = warnings_that_count(trial, &inputs.scenario.load).find(|warning| warning.gate == gate)?;
    Some(Judged::Failed(Seen::words(warning.text.trim_end_matches('.')), Some(FlagKind::NotTrusted)))
}

/// How much of it is not accounted for, as [`crate::flags`] asks as well.
fn ledger(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    let seen = |requests: u64| {
        let text = match requests {
            0 => "every request is accounted for".to_owned(),
            lost => format!("{} not accounted for", counted(lost, "request")),
        };
        Seen::number(text, requests as f64, 0.0)
    };
    match trial.ledger.unaccounted() {
        Some(lost) if lost > 0 => Judged::Failed(seen(lost), Some(FlagKind::LedgerOpen)),
        told => warning("ledger", trial, inputs).unwrap_or_else(|| match told {
            Some(none) => Judged::Passed(seen(none)),
            None => Judged::Unknown("the tool does not tell what became of every request".to_owned()),
        }),
    }
}

/// The only gate of trials that are in no figure: failing it is what took them out. Nothing without a measured trial.
fn disturbance(inputs: &CaseInputs) -> Option<Gated> {
    let observations = inputs.observations;
    let failed: Vec<u32> = observations.disturbed.iter().map(|(trial, _)| trial.number).collect();
    let passed = observations.scored.len() as u32;
    let measured = passed + failed.len() as u32;
    let message = match failed.len() {
        0 => "nobody disturbed it".to_owned(),
        some => format!(
            "in {some} of {}: {}",
            counted(u64::from(measured), "trial"),
            causes_of(observations.disturbed.iter().flat_map(|(_, trial)| &trial.disturbances))
        ),
    };
    let bars = !failed.is_empty() && passed == 0;
    let finding = GateFinding {
        gate: "disturbance".to_owned(),
        outcome: if failed.is_empty() { GateOutcome::Passed } else { GateOutcome::Failed },
        trials_passed: passed,
        trials_failed: failed,
        trials_unknown: 0,
        worst: None,
        limit: None,
        message,
        bars,
    };
    (measured > 0).then(|| Gated { flags: if bars { vec![FlagKind::Disturbed] } else { Vec::new() }, finding })
}
