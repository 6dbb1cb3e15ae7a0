//! The special functions behind the normal and Student's t distribution, and the inversion of a symmetric distribution.
//!
//! Implemented here because they are short: the incomplete beta function, by its continued fraction, and the error
//! functions.

/// The most terms of a continued fraction or of a series. Most arguments need fewer than 200. Near the mean of a
/// binomial, the number grows with the square root of its trials: 100 million need almost 4,000.
const MOST_TERMS: u32 = 20_000;

/// The relative change by a term below which evaluation stops.
const PRECISION: f64 = 1e-16;

/// The least absolute value of denominators in a continued fraction (Lentz's method as modified by Thompson and
/// Barnett).
const TINY: f64 = 1e-300;

/// Γ(a + 1/2) / (Γ(a) Γ(1/2)), which is 1 / B(a, 1/2), for `a > 0`.
///
/// The recurrence of Γ moves the argument up to where the asymptotic series of the quotient has an error below 10⁻¹⁶
/// (F. G. Tricomi and A. Erdélyi, "The asymptotic expansion of a ratio of gamma functions", Pacific Journal of
/// Mathematics 1(1), 1951). The difference of two logarithms of Γ would lose digits for large arguments.
fn inverse_beta_with_half(a: f64) -> f64 {
    const FAR_ENOUGH: f64 = 16.0;
    let (mut a, mut factor) = (a, 1.0);
    while a < FAR_ENOUGH {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let r = 1.0 / (a * a);
    let series = (((-31.0 / 18_432.0 * r + 17.0 / 14_336.0) * r - 1.0 / 640.0) * r + 1.0 / 192.0) * r - 1.0 / 8.0;
    factor * (a / std::f64::consts::PI).sqrt() * (series / a).exp()
}

/// The regularised incomplete beta functions I_x(a, 1/2) and I_y(1/2, a) = 1 − I_x(a, 1/2), for `x + y = 1` and `a >
/// 0`. It takes both arguments because computing the smaller one from the larger loses digits. The smaller of the two
/// results keeps full precision.
pub(crate) fn incomplete_beta_with_half(a: f64, x: f64, y: f64) -> (f64, f64) {
    let front = inverse_beta_with_half(a) * (a * x.ln()).exp() * y.sqrt();
    if x < (a + 1.0) / (a + 2.5) {
        let below = if x > 0.0 { front * beta_fraction(a, 0.5, x) / a } else { 0.0 };
        (below, 1.0 - below)
    } else {
        let above = front * beta_fraction(0.5, a, y) / 0.5;
        (1.0 - above, above)
    }
}

/// The continued fraction of the incomplete beta function. Converges fast for `x < (a + 1) / (a + b + 2)`.
///
/// Source: NIST Digital Library of Mathematical Functions, 8.17.22.
pub(crate) fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let odd = |m: f64| -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    let even = |m: f64| m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    let mut terms = (0..MOST_TERMS).flat_map(|m| [odd(f64::from(m)), even(f64::from(m + 1))]);
    1.0 / continued_fraction(1.0, || terms.next().map(|numerator| (numerator, 1.0)))
}

/// The value of first + n₁/(d₁ + n₂/(d₂ + …)). Stops when a pair (nᵢ, dᵢ) no longer changes it or there are no more
/// pairs.
fn continued_fraction(first: f64, mut next: impl FnMut() -> Option<(f64, f64)>) -> f64 {
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut c, mut d) = (away(first), away(first), 0.0);
    while let Some((numerator, denominator)) = next() {
        d = 1.0 / away(denominator + numerator * d);
        c = away(denominator + numerator / c);
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

/// The error function and its complement, (erf x, erfc x), for `x >= 0`. Each is precise where it is small.
///
/// Below 2 it uses the series of positive terms 7.6.2, above that the continued fraction 7.9.2 of the NIST Digital
/// Library of Mathematical Functions.
pub(crate) fn error_functions(x: f64) -> (f64, f64) {
    let square = x * x;
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..MOST_TERMS {
            term *= square / (f64::from(n) + 0.5);
            sum += term;
            if term <= PRECISION * sum {
                break;
            }
        }
        let erf = std::f64::consts::FRAC_2_SQRT_PI * (-square).exp() * sum;
        (erf, 1.0 - erf)
    } else {
        let mut terms = (1..MOST_TERMS).map(|n| (f64::from(n) / 2.0, x));
        let erfc = (-square).exp() / std::f64::consts::PI.sqrt() / continued_fraction(x, || terms.next());
        (1.0 - erfc, erfc)
    }
}

/// The quantile of a distribution that is symmetric about 0. `masses(t)` for `t > 0` returns the probabilities between
/// 0 and t, and beyond t. NaN unless `0 <= p <= 1`; infinite at 0 and 1.
pub(crate) fn symmetric_quantile(p: f64, masses: impl Fn(f64) -> (f64, f64)) -> f64 {
    if p < 0.5 {
        return -upper_quantile(p, 0.5 - p, masses);
    }
    upper_quantile(1.0 - p, p - 0.5, masses)
}

/// The `t >= 0` with the given masses beyond it and between 0 and it. Matches the smaller of the two.
fn upper_quantile(beyond: f64, within: f64, masses: impl Fn(f64) -> (f64, f64)) -> f64 {
    if !(0.0..=0.5).contains(&beyond) {
        return f64::NAN;
    }
    if within == 0.0 || beyond == 0.0 {
        return if beyond == 0.0 { f64::INFINITY } else { 0.0 };
    }
    // On a log-log scale the masses are nearly straight lines: they are close to a power of t, or to t itself near 0.
    let excess = |log_t: f64| {
        let found = masses(log_t.exp());
        if within < beyond { (found.0 / within).ln() } else { (beyond / found.1).ln() }
    };
    rising_root(excess).exp()
}

/// Where a rising function crosses zero. Brackets it by growing steps from 0, then uses the Illinois variant of false
/// position.
pub(crate) fn rising_root(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    while f(low) > 0.0 && low > -800.0 {
        (low, high) = (2.0 * low, low);
    }
    while f(high) < 0.0 && high < 800.0 {
        (low, high) = (high, 2.0 * high);
    }
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut moved_low = None;
    for _ in 0..200 {
        // With infinite values, from masses that underflow, only bisection is left.
        let secant = (low * at_high - high * at_low) / (at_high - at_low);
        let middle = if secant > low && secant < high { secant } else { low + (high - low) / 2.0 };
        let at_middle = f(middle);
        if at_middle.abs() < 1e-15 || high - low < 1e-15 || middle <= low || middle >= high {
            return middle;
        }
        // An end that stays for the second time counts for half, so that it moves too.
        let is_low = at_middle < 0.0;
        let other = if moved_low == Some(is_low) { 0.5 } else { 1.0 };
        moved_low = Some(is_low);
        if is_low {
            (low, at_low, at_high) = (middle, at_middle, other * at_high);
        } else {
            (high, at_high, at_low) = (middle, at_middle, other * at_low);
        }
    }
    low + (high - low) / 2.0
}
