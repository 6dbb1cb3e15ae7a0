//! The logarithm of the gamma function and its derivatives.

/// ln Γ(x) for x > 0 by Stirling's series, after the recurrence has moved x up. NIST DLMF 5.11.1.
pub(crate) fn ln_gamma(mut x: f64) -> f64 {
    const FAR_ENOUGH: f64 = 10.0;
    let mut shift = 0.0;
    while x < FAR_ENOUGH {
        shift -= x.ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1_260.0 - r / 1_680.0))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

/// ψ(x), the derivative of ln Γ, for x > 0. Source: NIST Digital Library of Mathematical Functions, 5.11.2.
pub(crate) fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    below + x.ln() - 0.5 / x - series
}

/// ψ′(x), the second derivative of ln Γ, for x > 0, from the derivative of the same series.
pub(crate) fn trigamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))));
    below + 1.0 / x + square / 2.0 + series / x
}

/// The x at which the trigamma function is `value` > 0. The function decreases, so bisection finds it.
pub(crate) fn trigamma_inverse(value: f64) -> f64 {
    let (mut low, mut high) = (-40.0f64, 40.0f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if trigamma(middle.exp()) > value { low = middle } else { high = middle }
    }
    ((low + high) / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2, ψ′(1) = π²/6, ψ′(1/2) = π²/2.
    #[test]
    fn the_functions_have_their_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let pi = std::f64::consts::PI;
        assert!((digamma(1.0) + EULER).abs() < 1e-12);
        assert!((digamma(0.5) + EULER + 2.0 * 2f64.ln()).abs() < 1e-12);
        assert!((trigamma(1.0) - pi * pi / 6.0).abs() < 1e-12);
        assert!((trigamma(0.5) - pi * pi / 2.0).abs() < 1e-12);
        for value in [1e-6, 0.3, 1.0, 250.0] {
            assert!((trigamma(trigamma_inverse(value)) / value - 1.0).abs() < 1e-9, "{value}");
        }
    }
}
