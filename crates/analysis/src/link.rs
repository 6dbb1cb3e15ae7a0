//! The work of an emulated link: what it carried and dropped, how exact it was, and whether it was the limit.

use tolok_model::{LinkDirection, LinkWindow, Measurement};

use crate::estimate::middle;
use crate::findings::link::{LinkDirectionUse, LinkUse};
use crate::observations::Observations;

/// The link's work by the reading that `window` takes from each trial, or `None` if no scored trial has one.
pub(crate) fn link_use(
    observations: &Observations,
    window: fn(&Measurement) -> Option<&LinkWindow>,
    rate_bps: Option<f64>,
) -> Option<LinkUse> {
    let windows: Vec<(&Measurement, &LinkWindow)> =
        observations.trials().filter_map(|trial| Some((trial, window(trial)?))).collect();
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
