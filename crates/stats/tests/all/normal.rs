//! Noise for simulations.

use tolok_stats::Rng;

/// A standard normal number, by the method of Box and Muller.
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}
