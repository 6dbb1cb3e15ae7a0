//! Checks that no part used or carried more than existed: CPU time, and bytes of links.

use tolok_model::{CpuMode, Measurement};

use super::{Judged, SHORTEST_JUDGED_S, Seen};
use crate::case_inputs::CaseInputs;
use crate::figure::database::cpu_s;
use crate::figures::small_share;
use crate::flag::FlagKind;
use crate::observations::answers;

/// Clocks of CPU time, of bytes and of the window are read one after the other, so a part may appear this much larger than the
/// whole.
pub const UTILISATION_TOLERATED: f64 = 1.02;
/// Delay of a CPU time reading, however long the window. On a machine without an idle CPU, the reader may wait between the clock
/// and the counter. The kernel also updates the time of a running thread only at ticks.
pub const CPU_READ_LATE_S: f64 = 0.05;
/// A quota is granted in periods, so a window may use up to one period more than its length.
const QUOTA_PERIOD_S: f64 = 0.1;

/// A part of a trial, the CPU time that it used, and the CPU time that it was given.
type Part = (&'static str, Option<f64>, f64);

/// The utilisation law: no part can be busy for longer than the window.
pub(super) fn utilisation(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    let window_s = trial.window_s;
    if window_s < SHORTEST_JUDGED_S {
        return Judged::Unknown("the window is too short".to_owned());
    }
    let environment = &inputs.around.environment;
    let time_s = |mode: &CpuMode| if *mode == CpuMode::Quota { window_s + QUOTA_PERIOD_S } else { window_s };
    let of = |cpus: f64, mode: &CpuMode| cpus * time_s(mode);
    let emulators = [trial.link.as_ref(), trial.database.as_ref().and_then(|window| window.link.as_ref())];
    let emulated_s: f64 = emulators.into_iter().flatten().map(|link| link.cpu_s).sum();
    // Emulators without CPUs of their own may run on any CPU. A database adds a second emulator.
    let link_cpus = match inputs.around.cpus.link.len() {
        0 => inputs.cpus.machine,
        some => some as f64,
    };
    let parts: [Part; 7] = [
        ("the subject", trial.subject.as_ref().map(|it| it.cpu_s), of(inputs.cpus.subject, &environment.subject.mode)),
        ("the subject’s busiest thread", trial.subject.as_ref().and_then(|it| it.busiest_thread_cpu_s), window_s),
        ("the generator", Some(trial.generator.cpu_s), of(inputs.cpus.generator, &environment.generator.mode)),
        ("the generator’s busiest thread", trial.generator.busiest_thread_cpu_s, window_s),
        ("the database", cpu_s(trial), inputs.cpus.database * window_s),
        ("the link’s emulator", Some(emulated_s), link_cpus * window_s),
        ("the rest of the machine", Some(trial.host.foreign_cpu_s), inputs.cpus.machine * window_s),
    ];
    let shares = parts.iter().filter(|(.., given)| *given > 0.0);
    let shares = shares.filter_map(|(name, used, given)| Some((*name, (*used)? / given)));
    let Some((name, share)) = shares.max_by(|left, right| left.1.total_cmp(&right.1)) else {
        return Judged::Unknown("what its parts were given is unknown".to_owned());
    };
    let untold = if trial.subject.is_none() { "; what the subject used is unknown" } else { "" };
    let text = format!("{name} used {} of the CPU time that it was given{untold}", small_share(share));
    let tolerated = UTILISATION_TOLERATED + CPU_READ_LATE_S / window_s;
    if share <= tolerated {
        return Judged::Passed(Seen::number(text, share, tolerated));
    }
    let text = format!("{text}, so the account of it is wrong");
    Judged::Failed(Seen::number(text, share, tolerated), Some(FlagKind::Utilisation))
}

/// Whether the link between client and subject has a rate, or an emulator that counted. The database link is not checked, because
/// the database's own byte count includes the lab's readings.
pub(super) fn has_link(inputs: &CaseInputs) -> bool {
    let has_rate = inputs.around.environment.link.rate_bps.is_some();
    has_rate || inputs.observations.trials().any(|trial| trial.link.is_some())
}

/// Compares the bytes of the received bodies with what the link's rate allows and with what its emulator carried.
pub(super) fn link_bytes(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    if trial.body_bytes == 0 {
        return Judged::Unknown("how many bytes came over the link is unknown".to_owned());
    }
    let rate_bps = inputs.around.environment.link.rate_bps;
    let let_through = rate_bps.map(|rate_bps| (rate_bps * trial.window_s / 8.0, "what the link lets through"));
    let emulated = trial.link.as_ref().map(|link| (link.to_client.bytes as f64, "what the link’s emulator carried"));
    let share = |(most_bytes, words): (f64, &'static str)| (trial.body_bytes as f64 / most_bytes.max(1.0), words);
    let shares = let_through.into_iter().chain(emulated).map(share);
    let Some((share, words)) = shares.max_by(|left, right| left.0.total_cmp(&right.0)) else {
        return Judged::Unknown("nothing was counted on the link".to_owned());
    };
    // Data that was under way when the window began arrived in it but was not let through in it. Each connection counts as one
    // request, and no more connections are open than the load has.
    let most = inputs.scenario.load.connections_max().map(u64::from);
    let Some(connections) = most.or(trial.ledger.connections) else {
        return Judged::Unknown("how many responses were under way when the window began is unknown".to_owned());
    };
    let tolerated = UTILISATION_TOLERATED + connections as f64 / answers(trial).unwrap_or(f64::INFINITY).max(1.0);
    let text = format!("the bodies were {} of {words}", small_share(share));
    if share <= tolerated {
        return Judged::Passed(Seen::number(text, share, tolerated));
    }
    let text = format!("{text}, more than is possible");
    Judged::Failed(Seen::number(text, share, tolerated), Some(FlagKind::LinkBytes))
}
