//! Shares of repetitions, with their intervals.

/// The 95% interval of a share (Wilson 1927).
pub fn share_interval(hits: u32, of: u32) -> [f64; 2] {
    let (n, z) = (f64::from(of), 1.959_964);
    let share = f64::from(hits) / n;
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// `93.0% (90.4–94.9)`
pub fn rate(hits: u32, of: u32) -> String {
    let [low, high] = share_interval(hits, of);
    format!("{:.1}% ({:.1}–{:.1})", f64::from(hits) / f64::from(of) * 100.0, low * 100.0, high * 100.0)
}

/// The median; NaN without values.
pub fn middle(values: &[f64]) -> f64 {
    tolok_stats::Sample::new(values).map_or(f64::NAN, |sample| sample.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0 of 10 gives z²/(10 + z²), and 5 of 10 gives 1/2 ± z/(2·√(10 + z²)).
    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        let [low, high] = share_interval(0, 10);
        assert!(low == 0.0 && (high - 0.2775).abs() < 1e-3, "{high}");
        let [low, high] = share_interval(5, 10);
        assert!((low - 0.2366).abs() < 1e-3 && (high - 0.7634).abs() < 1e-3, "{low} {high}");
    }
}
