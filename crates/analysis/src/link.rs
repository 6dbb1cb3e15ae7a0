//! How an emulated link did: what went through it, what it dropped, how exact it was, and whether it was the limit.

use schemars::JsonSchema;
use serde::Serialize;
use tolok_model::{LinkDirection, LinkWindow, Measurement};

use crate::estimate::middle;
use crate::observations::Observations;

/// An emulated link in the scored trials of one case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkUse {
    /// From client to subject.
    pub to_subject: LinkDirectionUse,
    /// From subject to client.
    pub to_client: LinkDirectionUse,
    /// Whether the emulator had the priority of real-time work in every trial.
    pub realtime: bool,
    /// Share of a CPU that the emulator used in the median trial.
    pub emulator_busy: Option<f64>,
}

/// One direction of an emulated link, over all scored trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkDirectionUse {
    /// Packets that came.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets dropped because the study asks for loss.
    pub dropped_loss: u64,
    /// How late packets left, on average, in seconds.
    pub lateness_s_mean: f64,
    /// How late one left at most, in seconds.
    pub lateness_s_max: f64,
    /// Bits that came over bits that the rate lets through, in the median trial: by the utilisation law the share of time
    /// in which the link was busy. More than 1 where more came than fits. None without a rate.
    pub rate_offered: Option<f64>,
}

/// How the link did that `window` reads of a trial; none if no scored trial has a reading of it.
pub(crate) fn link_use(
    observations: &Observations,
    window: fn(&Measurement) -> Option<&LinkWindow>,
    rate_bps: Option<f64>,
) -> Option<LinkUse> {
    let windows: Vec<(&Measurement, &LinkWindow)> =
        observations.scored.iter().filter_map(|(_, trial)| Some((*trial, window(trial)?))).collect();
    if windows.is_empty() {
        return None;
    }
    let direction = |of: fn(&LinkWindow) -> &LinkDirection| {
        let trials: Vec<(f64, &LinkDirection)> =
            windows.iter().map(|(trial, window)| (trial.window_s, of(window))).collect();
        direction(&trials, rate_bps)
    };
    let busy: Vec<f64> = windows.iter().map(|(trial, window)| window.cpu_s / trial.window_s).collect();
    Some(LinkUse {
        to_subject: direction(|window| &window.to_subject),
        to_client: direction(|window| &window.to_client),
        realtime: windows.iter().all(|(_, window)| window.realtime),
        emulator_busy: middle(&busy),
    })
}

fn direction(trials: &[(f64, &LinkDirection)], rate_bps: Option<f64>) -> LinkDirectionUse {
    let sum = |of: fn(&LinkDirection) -> u64| trials.iter().map(|(_, direction)| of(direction)).sum::<u64>();
    let late_s: f64 = trials.iter().map(|(_, it)| it.lateness_s_mean * it.packets as f64).sum();
    let packets = sum(|it| it.packets);
    let used = |rate_bps: f64| -> Vec<f64> {
        trials.iter().map(|(window_s, it)| it.bytes as f64 * 8.0 / (rate_bps * window_s)).collect()
    };
    LinkDirectionUse {
        packets,
        bytes: sum(|it| it.bytes),
        dropped_queue: sum(|it| it.dropped_queue),
        dropped_loss: sum(|it| it.dropped_loss),
        lateness_s_mean: late_s / packets.max(1) as f64,
        lateness_s_max: trials.iter().map(|(_, it)| it.lateness_s_max).fold(0.0, f64::max),
        rate_offered: rate_bps.and_then(|rate_bps| middle(&used(rate_bps))),
    }
}

impl LinkUse {
    /// Both directions.
    pub fn directions(&self) -> [&LinkDirectionUse; 2] {
        [&self.to_subject, &self.to_client]
    }

    /// The larger of the two directions' shares of the rate.
    pub fn rate_offered(&self) -> Option<f64> {
        self.directions().into_iter().filter_map(|direction| direction.rate_offered).reduce(f64::max)
    }
}
