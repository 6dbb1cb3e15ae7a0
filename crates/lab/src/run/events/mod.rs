//! The events that a run emits to its listeners.

pub(in crate::run) mod eta;
pub(in crate::run) mod event;
pub(in crate::run) mod line;
pub(in crate::run) mod preparation;
