//! Work done once, before the first trial, and its events.

use std::time::Instant;

use tolok_model::Failure;

use crate::run::events::event::{Preparation, RunEvent};

/// A preparation, under way or found ready.
pub(in crate::run) struct Step<'a> {
    what: Preparation,
    /// Its number, and how many there are.
    place: (u32, u32),
    began: Option<Instant>,
    emit: &'a mut dyn FnMut(RunEvent),
}

impl<'a> Step<'a> {
    pub(in crate::run) fn new(what: Preparation, place: (u32, u32), emit: &'a mut dyn FnMut(RunEvent)) -> Self {
        Self { what, place, began: None, emit }
    }

    /// Work is needed, and will take a while.
    pub(in crate::run) fn begins(&mut self) {
        self.began = Some(Instant::now());
        let (number, of) = self.place;
        (self.emit)(RunEvent::PreparationStarted { what: self.what.clone(), number, of });
    }

    /// The preparation is done or has failed.
    pub(in crate::run) fn ended(self, failure: Option<&Failure>) {
        let Some(began) = self.began else { return };
        let (took_s, failure) = (began.elapsed().as_secs_f64(), failure.map(|failure| failure.message.clone()));
        (self.emit)(RunEvent::PreparationEnded { what: self.what, took_s, failure });
    }
}
