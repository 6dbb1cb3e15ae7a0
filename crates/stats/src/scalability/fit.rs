//! The least-squares fit behind [`super::scalability`].

/// Steps after which the search ends in any case. Fits take about ten.
const MOST_STEPS: u32 = 200;

/// 1 + σ(N − 1) + κN(N − 1): by how much N at a time are slower than N alone would be.
pub(super) fn slowing(sigma: f64, kappa: f64, n: f64) -> f64 {
    1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve {
    pub(super) lambda: f64,
    pub(super) sigma: f64,
    pub(super) kappa: f64,
}

impl Curve {
    /// N*, where there is one that is not below 1.
    pub(super) fn peak(&self) -> Option<f64> {
        let peak = ((1.0 - self.sigma) / self.kappa).sqrt();
        (peak.is_finite() && peak >= 1.0).then_some(peak)
    }
}

/// The values of one concurrency.
#[derive(Debug, Clone, Copy)]
struct Point {
    n: f64,
    /// Mean of ln(X / N).
    mean: f64,
    /// How many values it is of.
    weight: f64,
}

/// One point for each concurrency that has a value. To fit their means, each weighted by its number of values, is to
/// fit all values: what they differ by among themselves no curve explains.
pub(super) struct Points(Vec<Point>);

impl Points {
    pub(super) fn new(concurrencies: &[f64], rows: &[&[Option<f64>]]) -> Self {
        let point = |(index, &n): (usize, &f64)| {
            let values = rows.iter().filter_map(|row| row[index]);
            let (sum, weight) = values.fold((0.0, 0.0), |(sum, weight), x| (sum + x.ln() - n.ln(), weight + 1.0));
            (weight > 0.0).then(|| Point { n, mean: sum / weight, weight })
        };
        Self(concurrencies.iter().enumerate().filter_map(point).collect())
    }

    /// Concurrencies that have a value.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The curve with the least sum of squares of ln(X), with σ and κ not below 0.
    pub(super) fn fit(&self) -> Curve {
        let mut best = self.search(self.straight_line());
        // Other starts, because the squares may have more than one valley: next to none, contention only, crosstalk
        // only.
        let widest = self.0.iter().fold(1.0, |widest: f64, point| widest.max(point.n));
        for start in [[0.01, 1e-6], [1.0, 0.0], [0.0, 1.0 / (widest * widest)]] {
            let other = self.search(start);
            if other.1 < best.1 * (1.0 - 1e-9) {
                best = other;
            }
        }
        self.curve(best.0)
    }

    /// The same from the parameters of another curve that is not far.
    pub(super) fn fit_near(&self, other: &Curve) -> Curve {
        self.curve(self.search([other.sigma, other.kappa]).0)
    }

    /// The curve of these σ and κ, with the best λ.
    fn curve(&self, [sigma, kappa]: [f64; 2]) -> Curve {
        let (sum, weight) = self.0.iter().fold((0.0, 0.0), |(sum, weight), point| {
            (sum + point.weight * (point.mean + slowing(sigma, kappa, point.n).ln()), weight + point.weight)
        });
        Curve { lambda: (sum / weight).exp(), sigma, kappa }
    }

    /// N / X = 1/λ + (σ/λ)(N − 1) + (κ/λ)N(N − 1), by least squares of shares of N / X; what is negative is set to 0.
    fn straight_line(&self) -> [f64; 2] {
        let mut sums = [[0.0; 4]; 3];
        for &Point { n, mean, weight } in &self.0 {
            let share = mean.exp();
            let row = [share, share * (n - 1.0), share * n * (n - 1.0), 1.0];
            for (i, sums) in sums.iter_mut().enumerate() {
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum += weight * row[i] * row[j];
                }
            }
        }
        let Some([free, contention, crosstalk]) = solve_3(sums) else { return [0.01, 1e-6] };
        let parameter = |value: f64| if value.is_finite() && free > 0.0 { (value / free).max(0.0) } else { 0.0 };
        [parameter(contention), parameter(crosstalk)]
    }

    /// Levenberg–Marquardt in σ and κ from a start, with ln λ always at its best. Gives the parameters and their
    /// squares.
    fn search(&self, start: [f64; 2]) -> ([f64; 2], f64) {
        let (mut at, mut damping) = (start, 1e-3);
        let mut normal = self.normal_equations(at);
        for _ in 0..MOST_STEPS {
            let next = normal.step(at, damping);
            let there = self.normal_equations(next);
            if there.squares <= normal.squares {
                let gained = normal.squares - there.squares;
                let moved = (0..2).any(|i| (next[i] - at[i]).abs() > 1e-13 * next[i].abs());
                (at, normal, damping) = (next, there, (damping * 0.1f64).max(1e-12));
                if !moved || (gained <= 1e-16 * normal.squares && damping <= 1e-9) {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        (at, normal.squares)
    }

    fn normal_equations(&self, [sigma, kappa]: [f64; 2]) -> NormalEquations {
        let rows = self.0.iter().map(|&Point { n, mean, weight }| {
            let slowing = slowing(sigma, kappa, n);
            (weight, [mean + slowing.ln(), (n - 1.0) / slowing, n * (n - 1.0) / slowing])
        });
        let mut sums = [0.0; 3];
        let mut count = 0.0;
        for (weight, row) in rows.clone() {
            sums = std::array::from_fn(|i| sums[i] + weight * row[i]);
            count += weight;
        }
        let mut found = NormalEquations::default();
        // ln λ is at its best where the residuals have the mean 0, so everything is taken from its mean.
        for (weight, row) in rows {
            let [residual, a, b] = std::array::from_fn(|i| row[i] - sums[i] / count);
            let gradient = [a * residual, b * residual].map(|share| weight * share);
            let matrix = [a * a, a * b, b * b].map(|share| weight * share);
            found.squares += weight * residual * residual;
            found.gradient = std::array::from_fn(|i| found.gradient[i] + gradient[i]);
            found.matrix = std::array::from_fn(|i| found.matrix[i] + matrix[i]);
        }
        found
    }
}

/// JᵀJ, as its three different entries, Jᵀr and rᵀr.
#[derive(Debug, Clone, Copy, Default)]
struct NormalEquations {
    matrix: [f64; 3],
    gradient: [f64; 2],
    squares: f64,
}

impl NormalEquations {
    /// The damped step, kept at or above 0. A parameter at 0 that would go below it is held, and the other moves alone.
    fn step(&self, at: [f64; 2], damping: f64) -> [f64; 2] {
        let held: [bool; 2] = std::array::from_fn(|i| at[i] <= 0.0 && self.gradient[i] >= 0.0);
        let [a, b, c] = self.matrix;
        let (a, c) = (a * (1.0 + damping), c * (1.0 + damping));
        let [g, h] = self.gradient;
        let alone = |diagonal: f64, gradient: f64| if diagonal > 0.0 { -gradient / diagonal } else { 0.0 };
        let determinant = a * c - b * b;
        let step = match held {
            [true, true] => [0.0, 0.0],
            [true, false] => [0.0, alone(c, h)],
            [false, true] => [alone(a, g), 0.0],
            [false, false] if determinant > 0.0 => [(b * h - c * g) / determinant, (b * g - a * h) / determinant],
            [false, false] => [alone(a, g), alone(c, h)],
        };
        std::array::from_fn(|i| (at[i] + step[i]).max(0.0))
    }
}

/// Solves three linear equations, the right-hand side in the fourth column. `None` where they do not determine it.
fn solve_3(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for pivot in 0..3 {
        let largest = (pivot..3).max_by(|&i, &j| rows[i][pivot].abs().total_cmp(&rows[j][pivot].abs()))?;
        rows.swap(pivot, largest);
        let pivot_row = rows[pivot];
        if pivot_row[pivot] == 0.0 || !pivot_row[pivot].is_finite() {
            return None;
        }
        for (index, row) in rows.iter_mut().enumerate() {
            if index != pivot {
                let factor = row[pivot] / pivot_row[pivot];
                for (value, above) in row.iter_mut().zip(pivot_row) {
                    *value -= factor * above;
                }
            }
        }
    }
    Some(std::array::from_fn(|i| rows[i][3] / rows[i][i]))
}

/// What the curve explains beyond X = λN.
pub(super) struct Bend {
    pub(super) p: f64,
    pub(super) residual: f64,
}

impl Points {
    /// The F test of the curve against X = λN, of the means of the concurrencies, each counted once.
    pub(super) fn bend(&self, curve: &Curve) -> Bend {
        let once = Self(self.0.iter().map(|&point| Point { weight: 1.0, ..point }).collect());
        let bent = once.normal_equations([curve.sigma, curve.kappa]).squares;
        let straight = once.normal_equations([0.0, 0.0]).squares;
        let freedom = self.len() as f64 - 3.0;
        let f = (straight - bent).max(0.0) / 2.0 / (bent / freedom);
        // With two degrees of freedom above, the tail of F is a power. Nothing left of either is no bend.
        let p = if f.is_nan() { 1.0 } else { (1.0 + 2.0 * f / freedom).powf(-freedom / 2.0) };
        Bend { p, residual: (bent / freedom).sqrt() }
    }
}
