//! What one factor of a study does to its cases, where the order of subjects flips, and which factor matters how much.

mod findings;

pub use findings::{
    FactorCrossover, FactorLevel, FactorLine, FactorPanel, FactorPoint, VarianceFinding, VarianceShare,
};
