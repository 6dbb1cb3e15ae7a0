//! Errors in a caller's numbers. Written by hand because this crate has no error library.

use std::fmt;

/// The given numbers are unusable. The text states what is wrong, where, and what to do.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum StatsError {
    /// A sample without values has no statistic.
    Empty,
    /// A value is NaN, infinite, or outside the range the function states.
    OutOfRange {
        /// Position in the given slice, from 0.
        index: usize,
        /// The offending value.
        value: f64,
    },
    /// A quantile was requested for a probability outside [0, 1].
    Probability {
        /// The given probability.
        value: f64,
    },
    /// A confidence level outside the open interval (0, 1).
    Level {
        /// The given level.
        value: f64,
    },
    /// A penalty for changes that is negative or not finite.
    Penalty {
        /// The given penalty.
        value: f64,
    },
    /// Two series that should be matched block by block differ in length.
    UnequalLengths {
        /// Blocks in the numerator.
        numerator: usize,
        /// Blocks in the denominator.
        denominator: usize,
    },
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no values in the sample; report the figure as absent instead"),
            Self::OutOfRange { index, value } => write!(
                f,
                "value {value} at position {index} is not a finite number in the accepted range; \
                 give a failed observation as absent, not as a number"
            ),
            Self::Probability { value } => write!(f, "probability {value} is outside 0 to 1; a p95 is 0.95"),
            Self::Level { value } => write!(f, "confidence level {value} is not between 0 and 1; 95% is 0.95"),
            Self::Penalty { value } => {
                write!(f, "penalty {value} is not a finite number from 0 on; take changepoint_penalty(n)")
            }
            Self::UnequalLengths { numerator, denominator } => write!(
                f,
                "{numerator} blocks in the numerator but {denominator} in the denominator; \
                 give one entry a block and mark a missing one as absent"
            ),
        }
    }
}

impl std::error::Error for StatsError {}
