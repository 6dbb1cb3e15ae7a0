//! Formats the figures of findings for people. Digits and units come from [`tolok_model::figures`].

pub use tolok_model::figures::*;

use crate::findings::estimate::Estimate;

/// Formats an estimate with the decimals that its interval supports.
pub fn figure(quantity: Quantity, estimate: &Estimate) -> Figure {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => with_interval(quantity, estimate.value, [low, high]),
        _ => Figure { value: amount(quantity, estimate.value), interval: None },
    }
}

/// Formats a figure of an objective in its unit (see [`crate::ObjectiveFinding::unit`]): `84.2 ms`, `99.93%`, `1.2k/s`, `17`.
pub fn of_objective(unit: &str, value: f64) -> String {
    match unit {
        "s" => amount(Quantity::Seconds, value),
        "per_s" => format!("{}/s", amount(Quantity::Number, value)),
        // Objectives can depend on the last tenth of a per cent, which other shares do not show.
        "share" if value >= 0.1 => format!("{}%", (value * 1e5).round() / 1e3),
        "share" => small_share(value),
        _ => count(value.max(0.0) as u64),
    }
}
