//! Looking into a subject in an unscored trial: what its runtime tells of itself when it is asked to.

mod gc;

pub use gc::collections;
