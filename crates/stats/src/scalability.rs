//! The Universal Scalability Law: how throughput grows with concurrency, and where it stops growing.

mod fit;

use std::fmt;

use crate::bootstrap::ordered_rows;
use crate::quantile::{LARGEST, LEAST_POSITIVE};
use crate::{Bootstrap, Interval, Sample, StatsError};

/// Fewer different concurrencies than this cannot tell three parameters from noise.
pub const LEAST_CONCURRENCIES: usize = 6;

/// The chance at which data that do not bend are said to bend.
pub const BEND_P: f64 = 0.05;

/// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scalability {
    /// λ: throughput at N = 1, in the unit of the throughput.
    pub lambda: f64,
    /// σ, contention: the part of the work that only one can do at a time. Not negative.
    pub sigma: f64,
    /// κ, crosstalk: what each pair costs. Not negative; 0 where throughput never falls again.
    pub kappa: f64,
    /// Where throughput is greatest. None where κ = 0, where σ ≥ 1, and below N = 1.
    pub peak: Option<Peak>,
    /// Intervals of the three parameters. None with too few blocks for the level.
    pub intervals: Option<ScalabilityIntervals>,
    /// Standard deviation of ln(throughput) of the concurrencies' geometric means about the curve: 0.02 is about 2 %.
    pub residual: f64,
    /// How likely an improvement over X = λN as great as this would be if throughput were proportional to N.
    pub bend_p: f64,
}

/// The greatest throughput of a fitted curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// N* = √((1 − σ) / κ), not a whole number.
    pub concurrency: f64,
    /// X(N*).
    pub throughput: f64,
    /// Interval of N*. None with too few blocks, and where its upper end is not bounded: the blocks then do not agree
    /// that there is a peak at all.
    pub interval: Option<Interval>,
    /// Whether N* lies within the concurrencies measured. Beyond them it is a guess.
    pub observed: bool,
}

/// Percentile bootstrap intervals over blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalabilityIntervals {
    /// Of λ.
    pub lambda: Interval,
    /// Of σ.
    pub sigma: Interval,
    /// Of κ.
    pub kappa: Interval,
}

/// Why no curve is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalabilityRefusal {
    /// Too few different concurrencies with a value.
    TooFewConcurrencies {
        /// So many have one.
        given: usize,
        /// So many are needed: [`LEAST_CONCURRENCIES`].
        least: usize,
    },
    /// A concurrency is below 1, is no number, or stands there twice.
    Concurrency {
        /// Its position.
        index: usize,
    },
    /// A throughput is zero, negative or no number, so it has no logarithm.
    Throughput {
        /// Position of its block.
        block: usize,
        /// Position of its concurrency.
        index: usize,
    },
    /// A row has not as many entries as there are concurrencies.
    RowLength {
        /// Position of its block.
        block: usize,
    },
    /// The data do not bend: that throughput is proportional to N explains them as well.
    NoBend {
        /// As [`Scalability::bend_p`].
        p: f64,
    },
    /// The resampling of the intervals was refused.
    Resampling(StatsError),
}

impl fmt::Display for ScalabilityRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewConcurrencies { given, least } => {
                write!(f, "{given} different concurrencies have a value; measure at {least} or more for a curve")
            }
            Self::Concurrency { index } => {
                write!(f, "the concurrency at position {index} is not a number from 1 on, or stands there twice")
            }
            Self::Throughput { block, index } => write!(
                f,
                "the throughput of block {block} at position {index} is not positive; \
                 give one that is missing as absent, and leave out concurrencies at which nothing is answered"
            ),
            Self::RowLength { block } => {
                write!(f, "block {block} has not one entry for each concurrency; mark a missing one as absent")
            }
            Self::NoBend { p } => write!(
                f,
                "throughput in proportion to concurrency explains the data as well (p = {p:.2}); \
                 measure at higher concurrencies"
            ),
            Self::Resampling(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ScalabilityRefusal {}

impl Scalability {
    /// X(N) of the curve.
    pub fn throughput(&self, concurrency: f64) -> f64 {
        self.lambda * concurrency / fit::slowing(self.sigma, self.kappa, concurrency)
    }
}

/// Fits the Universal Scalability Law to the throughput of blocks: row b of `blocks` has one entry for each of the
/// `concurrencies`, `None` where it is missing.
///
/// The sum of squared differences of ln(throughput) is minimised over λ > 0, σ ≥ 0 and κ ≥ 0: throughput varies by a
/// share of itself, not by so many answers. For given σ and κ the best ln λ is a mean, so only two parameters are
/// searched, by Levenberg and Marquardt's method with parameters at their bound held there; the start is the
/// straight-line form N / X = (1 + σ(N − 1) + κN(N − 1)) / λ.
///
/// **Bend**: RSS of ln(throughput) means of the k concurrencies about the curve and about X = λN give F = ((RSS₀ − RSS)
/// / 2) / (RSS / (k − 3)) with 2 and k − 3 degrees of freedom; above [`BEND_P`] the curve is refused. The bounds σ, κ ≥
/// 0 make that test stricter than it says. Means are taken because values of one concurrency share what the curve does
/// not explain.
///
/// **Intervals**: percentile intervals over whole blocks ([`Bootstrap::interval_over_blocks`]), because the block is
/// what was repeated; resampling residuals would take the curve for the truth. Always [`Bootstrap::expanded`]: of 300
/// simulated studies of 5, 6 and 10 blocks with noise of 3 %, 92 % to 95 % of the intervals at 95 % held σ and κ (N*
/// where it lay within the concurrencies: 93 % to 95 %); without it 84 % to 92 %. Of those in proportion to N at most 1
/// % were fitted. A parameter whose best value is at its bound 0 has an interval that begins at 0, which covers it, but
/// is no test of it.
///
/// Source: N. J. Gunther, *Guerrilla Capacity Planning*, Springer 2007, chapters 4 to 6; D. W. Marquardt, "An algorithm
/// for least-squares estimation of nonlinear parameters", Journal of SIAM 11(2), 1963; G. H. Golub and V. Pereyra, "The
/// differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate", SIAM Journal on
/// Numerical Analysis 10(2), 1973.
///
/// # Errors
/// A [`ScalabilityRefusal`].
pub fn scalability<R: AsRef<[Option<f64>]>>(
    concurrencies: &[f64],
    blocks: &[R],
    bootstrap: Bootstrap,
) -> Result<Scalability, ScalabilityRefusal> {
    check(concurrencies, blocks)?;
    let rows = ordered_rows(blocks).map_err(ScalabilityRefusal::Resampling)?;
    let points = fit::Points::new(concurrencies, &rows);
    if points.len() < LEAST_CONCURRENCIES {
        return Err(ScalabilityRefusal::TooFewConcurrencies { given: points.len(), least: LEAST_CONCURRENCIES });
    }
    let curve = points.fit();
    let bend = points.bend(&curve);
    if bend.p > BEND_P {
        return Err(ScalabilityRefusal::NoBend { p: bend.p });
    }
    let spread = spread(concurrencies, &rows, &curve, bootstrap.expanded()).map_err(ScalabilityRefusal::Resampling)?;
    let greatest = concurrencies.iter().copied().fold(0.0, f64::max);
    let found = Scalability {
        lambda: curve.lambda,
        sigma: curve.sigma,
        kappa: curve.kappa,
        peak: None,
        intervals: spread.as_ref().map(|spread| spread.intervals),
        residual: bend.residual,
        bend_p: bend.p,
    };
    let peak = curve.peak().map(|concurrency| Peak {
        concurrency,
        throughput: found.throughput(concurrency),
        interval: spread.and_then(|spread| spread.peak),
        observed: concurrency <= greatest,
    });
    Ok(Scalability { peak, ..found })
}

fn check<R: AsRef<[Option<f64>]>>(concurrencies: &[f64], blocks: &[R]) -> Result<(), ScalabilityRefusal> {
    for (index, &n) in concurrencies.iter().enumerate() {
        if !(1.0..=LARGEST.cbrt()).contains(&n) || concurrencies[..index].contains(&n) {
            return Err(ScalabilityRefusal::Concurrency { index });
        }
    }
    for (block, row) in blocks.iter().map(AsRef::as_ref).enumerate() {
        if row.len() != concurrencies.len() {
            return Err(ScalabilityRefusal::RowLength { block });
        }
        let positive = |value: &Option<f64>| value.is_none_or(|value| (LEAST_POSITIVE..=LARGEST).contains(&value));
        if let Some(index) = row.iter().position(|value| !positive(value)) {
            return Err(ScalabilityRefusal::Throughput { block, index });
        }
    }
    Ok(())
}

struct Spread {
    intervals: ScalabilityIntervals,
    peak: Option<Interval>,
}

/// Intervals over resampled blocks. A resample can lack concurrencies, where blocks have gaps; it is then not used.
fn spread(
    concurrencies: &[f64],
    rows: &[&[Option<f64>]],
    curve: &fit::Curve,
    bootstrap: Bootstrap,
) -> Result<Option<Spread>, StatsError> {
    let Some((resamples, beyond)) = bootstrap.plan(rows.len())? else { return Ok(None) };
    let (mut lambdas, mut sigmas, mut kappas, mut peaks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    bootstrap.each_resample_of_rows(rows, resamples, |rows| {
        let points = fit::Points::new(concurrencies, rows);
        if points.len() < LEAST_CONCURRENCIES {
            return;
        }
        let curve = points.fit_near(curve);
        lambdas.push(curve.lambda);
        sigmas.push(curve.sigma);
        kappas.push(curve.kappa);
        // 1 / N*², which is 0 where there is no peak, so that such resamples stand in their place.
        peaks.push(curve.peak().map_or(0.0, |peak| 1.0 / (peak * peak)));
    });
    if lambdas.len() < resamples as usize / 2 {
        return Ok(None);
    }
    let interval = |values: Vec<f64>| -> Result<Interval, StatsError> {
        bootstrap.between(&Sample::from_vec(values)?, beyond, 1.0 - beyond)
    };
    let peak = interval(peaks)?;
    let peak = (peak.low > 0.0).then(|| Interval {
        low: peak.high.sqrt().recip(),
        high: peak.low.sqrt().recip(),
        level: peak.level,
    });
    let intervals =
        ScalabilityIntervals { lambda: interval(lambdas)?, sigma: interval(sigmas)?, kappa: interval(kappas)? };
    Ok(Some(Spread { intervals, peak }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    const CONCURRENCIES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    /// At 80 % few resamples do.
    fn bootstrap() -> Bootstrap {
        Bootstrap::new(Level::new(0.8).unwrap(), 1).with_resamples(400).unwrap()
    }

    /// Blocks on a curve, with a small regular unrest that differs from block to block.
    fn blocks(sigma: f64, kappa: f64) -> Vec<Vec<Option<f64>>> {
        let at = |block: usize, level: usize| {
            let n = CONCURRENCIES[level];
            let unrest = [0.0, 0.012, -0.008, 0.004, -0.011, 0.006, -0.002][(3 * block + 5 * level) % 7];
            Some(1_000.0 * n / fit::slowing(sigma, kappa, n) * (1.0 + unrest))
        };
        (0..6).map(|block| (0..CONCURRENCIES.len()).map(|level| at(block, level)).collect()).collect()
    }

    #[test]
    fn a_known_curve_is_found_with_its_peak() {
        let found = scalability(&CONCURRENCIES, &blocks(0.05, 0.0005), bootstrap()).unwrap();
        let intervals = found.intervals.unwrap();
        assert!(intervals.sigma.contains(0.05) && intervals.kappa.contains(0.0005), "{found:?}");
        let peak = found.peak.unwrap();
        assert!((peak.concurrency - 43.6).abs() < 2.0 && peak.observed, "{peak:?}");
        assert!(peak.interval.unwrap().contains(43.6), "{peak:?}");
    }

    #[test]
    fn throughput_that_is_proportional_to_concurrency_is_refused() {
        let refused = scalability(&CONCURRENCIES, &blocks(0.0, 0.0), bootstrap());
        assert!(matches!(refused, Err(ScalabilityRefusal::NoBend { .. })), "{refused:?}");
    }

    #[test]
    fn a_curve_that_only_levels_off_has_no_peak_within_sight() {
        let found = scalability(&CONCURRENCIES, &blocks(0.1, 0.0), bootstrap()).unwrap();
        assert!((found.sigma - 0.1).abs() < 0.02, "{found:?}");
        assert!(found.peak.is_none_or(|peak| !peak.observed && peak.interval.is_none()), "{found:?}");
    }

    #[test]
    fn refusals_say_what_and_where() {
        let refused = |concurrencies: &[f64], blocks: &[Vec<Option<f64>>]| {
            scalability(concurrencies, blocks, bootstrap()).unwrap_err()
        };
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let too_few = ScalabilityRefusal::TooFewConcurrencies { given: 5, least: 6 };
        assert_eq!(refused(&five, &[vec![Some(1.0); 5]]), too_few);
        let missing = vec![Some(1.0), None, None, Some(2.0), Some(3.0), Some(3.0), Some(3.0), None];
        assert_eq!(refused(&CONCURRENCIES, &[missing]), too_few);
        assert_eq!(refused(&[1.0, 1.0], &[]), ScalabilityRefusal::Concurrency { index: 1 });
        assert_eq!(refused(&[0.5], &[]), ScalabilityRefusal::Concurrency { index: 0 });
        assert_eq!(refused(&five, &[vec![Some(1.0); 4]]), ScalabilityRefusal::RowLength { block: 0 });
        let zero = vec![vec![Some(1.0); 5], vec![Some(1.0), Some(0.0), None, None, None]];
        assert_eq!(refused(&five, &zero), ScalabilityRefusal::Throughput { block: 1, index: 1 });
    }

    #[test]
    fn few_blocks_give_a_curve_without_intervals() {
        let found = scalability(&CONCURRENCIES, &blocks(0.05, 0.0005)[..4], bootstrap()).unwrap();
        assert!(found.intervals.is_none() && found.peak.unwrap().interval.is_none(), "{found:?}");
    }
}
