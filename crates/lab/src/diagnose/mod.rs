//! Diagnosis of a subject in an unscored trial: what its runtime reports about itself.

mod gc;

pub use gc::collections;
