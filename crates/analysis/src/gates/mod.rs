//! Gates: what every trial must satisfy before its figures are trusted.
//!
//! A gate checks one trial: it passes, fails, or is unknown, with the reason. If a tool or a record does not report something,
//! the gate never passes. A failed gate that bars has a flag (`flags.rs`), which keeps the case out of the ranking. If the flag
//! existed first, the gate follows the same rule.

mod amounts;
mod bodies;
pub(crate) mod headroom;
mod little;
mod schedule;
mod seconds;

use tolok_model::{FOREIGN_TOLERATED, Measurement, STEAL_TOLERATED};

use crate::case_inputs::{CaseInputs, causes_of, warnings_that_count};
use crate::figures::{counted, listed, small_share};
use crate::findings::{GateFinding, GateOutcome};
use crate::flag::{Flag, FlagKind};
use crate::usage::{foreign_share, stolen_share};

pub use amounts::{CPU_READ_LATE_S, UTILISATION_TOLERATED};
pub use little::{FEWEST_ANSWERS_FOR_LITTLE, LITTLE_OFF};
pub(crate) use seconds::is_mostly_unsteady;

/// Shorter windows are not judged by gates for which the window's ends weigh too much.
pub const SHORTEST_JUDGED_S: f64 = 1.0;

/// A gate: its reference text and its judge.
struct Gate {
    word: &'static str,
    asked_of: &'static str,
    fails_if: &'static str,
    flags: &'static [FlagKind],
    remark: &'static str,
    is_asked: fn(&CaseInputs) -> bool,
    judge: Judge,
}

/// How a gate judges.
enum Judge {
    /// Each scored trial separately.
    Trial(fn(&Measurement, &CaseInputs) -> Judged),
    /// The same, then adjusted by what the trials show together.
    Settled(fn(&Measurement, &CaseInputs) -> Judged, fn(Gated, &CaseInputs) -> Gated),
    /// All measured trials at once.
    Case(fn(&'static str, &CaseInputs) -> Option<Gated>),
}

macro_rules! gates {
    ($($word:literal of $asked_of:literal if ($is_asked:expr), fails if $fails_if:literal $(($remark:literal))?:
        $($flag:ident)+ => $judge:ident($($by:expr),+);)+) => {
        &[$(Gate {
            word: $word,
            asked_of: $asked_of,
            fails_if: $fails_if,
            flags: &[$(FlagKind::$flag),+],
            remark: concat!("", $(", ", $remark)?),
            is_asked: $is_asked,
            judge: Judge::$judge($($by),+),
        }),+]
    };
}

/// All gates, in their order.
const GATES: &[Gate] = gates! {
    "ledger" of "every trial" if (|_| true), fails if "requests are not accounted for": LedgerOpen => Trial(ledger);
    "little" of "every trial" if (|_| true), fails if "users, or requests in flight, are not rate × time":
        Little NotTrusted => Trial(little::judge);
    "utilisation" of "every trial" if (|_| true), fails if "a part used more CPU time than it was given":
        Utilisation => Trial(amounts::utilisation);
    "link-bytes" of "trials whose client link has a rate or was counted" if (amounts::has_link),
        fails if "more came through the link than fits or was carried": LinkBytes => Trial(amounts::link_bytes);
    "body-samples" of "every trial" if (|_| true),
        fails if "the wire contradicts the tool, or no body was checked" ("the first reason only"):
        WireContradicts => Trial(bodies::judge);
    "generator-headroom" of "every trial" if (|_| true), fails if "the generator, and not the subject, was at its limit":
        GeneratorBound NotTrusted => Settled(headroom::judge, headroom::settled);
    "offered-rate" of "open loops" if (is_open),
        fails if "requests were not sent although they were due" ("if the tool itself reports it"):
        NotTrusted => Trial(schedule::offered_rate);
    "lateness" of "open loops" if (is_open), fails if "the generator's lateness moved a percentile by more than 5%"
        ("if the tool itself reports it"): NotTrusted => Trial(schedule::lateness);
    "disturbance" of "every trial" if (|_| true),
        fails if "others disturbed every attempt, or a trial in slices" ("which bars if no trial is left"):
        Disturbed => Case(disturbance);
    "steady-state" of "loads of one level" if (|inputs| seconds::is_asked(&inputs.scenario.load)),
        fails if "the seconds of the window have no single level" ("which bars if most trials fail"):
        NotSteady => Settled(seconds::judge, seconds::settled);
};

fn is_open(inputs: &CaseInputs) -> bool {
    inputs.scenario.load.executor.is_open()
}

/// The table of all gates for the reference.
pub fn gates_page() -> String {
    let row = |gate: &Gate| {
        let flags = gate.flags.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(", ");
        format!("| `{}` | {} | {} | {flags}{} |\n", gate.word, gate.asked_of, gate.fails_if, gate.remark)
    };
    let rows: String = GATES.iter().map(row).collect();
    format!("| gate | checked in | a trial fails if | its flag |\n|---|---|---|---|\n{rows}")
}

/// The judgement of a gate on one trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judged {
    /// It holds.
    Passed(Seen),
    /// It fails. The flag, if any, bars the case.
    Failed(Seen, Option<FlagKind>),
    /// It is unknown, for this reason.
    Unknown(String),
}

/// The observation in words, and as a number with its upper limit.
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

    /// Distance beyond the limit; negative below it. The lowest value without a number.
    fn excess(&self) -> f64 {
        self.value.zip(self.limit).map_or(f64::NEG_INFINITY, |(value, limit)| value - limit)
    }
}

/// A gate over all trials of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gated {
    pub(crate) finding: GateFinding,
    /// The flags of its failed trials.
    flags: Vec<FlagKind>,
}

/// All gates that apply to the case, in the order of the table above.
pub(crate) fn gates(inputs: &CaseInputs) -> Vec<Gated> {
    let over = |gate: &Gate, judge: fn(&Measurement, &CaseInputs) -> Judged| {
        let trials = inputs.observations.numbered().map(|(number, trial)| (number, judge(trial, inputs))).collect();
        let is_asked = !inputs.observations.scored.is_empty() && (gate.is_asked)(inputs);
        is_asked.then(|| gathered(gate.word, trials))
    };
    let gated = |gate: &Gate| match gate.judge {
        Judge::Trial(judge) => over(gate, judge),
        Judge::Settled(judge, settled) => over(gate, judge).map(|gated| settled(gated, inputs)),
        Judge::Case(judge) => judge(gate.word, inputs),
    };
    GATES.iter().filter_map(gated).collect()
}

/// Flags that only gates raise.
pub(crate) fn gate_flags(gates: &[Gated]) -> Vec<Flag> {
    const OWN: [FlagKind; 5] =
        [FlagKind::Little, FlagKind::Utilisation, FlagKind::LinkBytes, FlagKind::GeneratorBound, FlagKind::NotSteady];
    let of_gate = |gated: &Gated| {
        let own = gated.flags.iter().find(|word| OWN.contains(word))?;
        own.raised_voiding(gated.finding.bars, gated.finding.message.clone())
    };
    gates.iter().filter_map(of_gate).collect()
}

/// A gate passes if every trial with an answer passes.
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
            format!("; unknown for {}: {reason}", counted(unknown.len() as u64, "trial"))
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

/// The load tool's own warning for this gate in a trial.
fn warning(gate: &str, trial: &Measurement, inputs: &CaseInputs) -> Option<Judged> {
    let warning = warnings_that_count(trial, &inputs.scenario.load).find(|warning| warning.gate == gate)?;
    Some(Judged::Failed(Seen::words(warning.text.trim_end_matches('.')), Some(FlagKind::NotTrusted)))
}

/// Unaccounted requests. [`crate::flags`] uses the same figure.
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
            None => Judged::Unknown("the tool does not report what became of every request".to_owned()),
        }),
    }
}

/// The only gate that includes excluded trials, because failing it is what excludes them. Trials that took turns in a launch stay in
/// the figures even if disturbed. `None` without a measured trial.
fn disturbance(word: &'static str, inputs: &CaseInputs) -> Option<Gated> {
    let observations = inputs.observations;
    let discarded = observations.disturbed.iter().map(|(trial, _)| trial.number);
    let is_taken_from = |(_, trial): &(u32, &Measurement)| {
        taken_by_others(trial, inputs).is_some() || taken_by_hypervisor(trial, inputs).is_some()
    };
    let kept: Vec<u32> = observations.numbered().filter(is_taken_from).map(|(number, _)| number).collect();
    let passed = (observations.scored.len() - kept.len()) as u32;
    let failed: Vec<u32> = discarded.chain(kept).collect();
    let measured = passed + failed.len() as u32;
    let causes = causes_of(observations.disturbed.iter().flat_map(|(_, trial)| &trial.disturbances));
    let message = match failed.len() {
        0 => "nothing disturbed it".to_owned(),
        some => {
            let why: Vec<String> =
                [causes].into_iter().filter(|it| !it.is_empty()).chain(taken_in_turns(inputs)).collect();
            format!("in {some} of {}: {}", counted(u64::from(measured), "trial"), why.join("; "))
        }
    };
    let bars = !failed.is_empty() && observations.scored.is_empty();
    let finding = GateFinding {
        gate: word.to_owned(),
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

/// What others took at most in scored trials. `None` if they took no more than is tolerated.
fn taken_in_turns(inputs: &CaseInputs) -> Option<String> {
    let most = |taken: fn(&Measurement, &CaseInputs) -> Option<f64>| {
        inputs.observations.trials().filter_map(|trial| taken(trial, inputs)).reduce(f64::max).map(small_share)
    };
    let programs = most(taken_by_others).map(|share| format!("other programs used {share} of the CPUs"));
    let hypervisor = most(taken_by_hypervisor).map(|share| format!("the hypervisor took {share} of the CPU time"));
    let both: Vec<String> = programs.into_iter().chain(hypervisor).collect();
    (!both.is_empty()).then(|| format!("{}, and no turn is repeated", listed(&both, "and")))
}

/// The share of the CPUs that other programs used in a scored trial, if it exceeds the limit. `None` for a server that tolok did not
/// start, because that server counts among them.
fn taken_by_others(trial: &Measurement, inputs: &CaseInputs) -> Option<f64> {
    foreign_share(trial, inputs.cpus).filter(|used| *used > FOREIGN_TOLERATED && !inputs.is_external())
}

/// The share of the CPU time that the hypervisor took in a scored trial, if it exceeds the limit.
fn taken_by_hypervisor(trial: &Measurement, inputs: &CaseInputs) -> Option<f64> {
    stolen_share(trial, inputs.cpus).filter(|stolen| *stolen > STEAL_TOLERATED)
}
