//! Runs beside the load in a trial with a database: reads the pool, and carries out the study's outage.

use std::time::{Duration, Instant};

use tolok_load::clock::MonotonicNs;
use tolok_model::{Database, OutageRecord, PoolWindow};

use crate::run::database::outage::OutageAtWork;
use crate::run::database::pool::{Pending, ask_for_pool, pool_window};
use crate::run::database::trial_database::TrialDatabase;
use crate::run::server::probe_queue::{Asker, Orders, Server, asker};
use crate::run::server::trial::TrialError;
use crate::run::stop::Stop;
use tolok_host::isolate::TrialBox;

/// A thread that was just started requests its connection within this time.
const ORDER: Duration = Duration::from_millis(20);
/// After the load, answers and a restarting database get this long.
const LAST_ANSWER: Duration = Duration::from_secs(20);
/// During an outage study, the trial checks this often.
const LOOK: Duration = Duration::from_millis(5);

/// What goes on beside the load.
#[derive(Debug)]
pub(in crate::run) struct DatabaseWatch<'a> {
    database: &'a mut TrialDatabase,
    asked: &'a Database,
    /// Path and status of a request of the workload.
    question: (&'a str, u16),
    asker: Asker,
    orders: Orders,
    window_began: Option<MonotonicNs>,
    pool_before: Option<Pending>,
    pool_after: Option<Pending>,
    outage: Option<OutageAtWork>,
    stop: &'a Stop,
}

/// What the watch found.
#[derive(Debug, Default)]
pub(in crate::run) struct Found {
    pub(in crate::run) pool: Option<PoolWindow>,
    pub(in crate::run) outage: Option<OutageRecord>,
}

impl<'a> DatabaseWatch<'a> {
    pub(in crate::run) fn new(
        database: &'a mut TrialDatabase,
        asked: &'a Database,
        question: (&'a str, u16),
        server: Server<'a>,
    ) -> Self {
        let (asker, orders) = asker(server);
        let (window_began, pool_before, pool_after, outage) = Default::default();
        Self {
            database,
            asked,
            question,
            asker,
            orders,
            window_began,
            pool_before,
            pool_after,
            outage,
            stop: server.stop,
        }
    }

    /// How long the trial may sleep, at most `usual`.
    pub(in crate::run) fn patience(&self, usual: Duration) -> Duration {
        if self.outage.is_some() { LOOK } else { usual }
    }

    pub(in crate::run) fn window_started(
        &mut self,
        began: MonotonicNs,
        trial_box: &mut TrialBox,
    ) -> Result<(), TrialError> {
        self.database.look();
        self.window_began = Some(began);
        self.pool_before = Some(ask_for_pool(&self.asker));
        let begin = |outage| OutageAtWork::begin(outage, &self.asker, self.question);
        self.outage = self.asked.outage.map(begin).transpose()?;
        self.orders.serve(trial_box, ORDER);
        Ok(())
    }

    pub(in crate::run) fn window_ended(&mut self, trial_box: &mut TrialBox) {
        self.database.look();
        self.pool_after = Some(ask_for_pool(&self.asker));
        self.orders.serve(trial_box, ORDER);
    }

    /// Takes the step that is due, and returns whether the database was restarted.
    pub(in crate::run) fn step(&mut self, trial_box: &mut TrialBox) -> Result<bool, TrialError> {
        self.orders.serve(trial_box, Duration::ZERO);
        match (&mut self.outage, self.window_began) {
            (Some(outage), Some(began)) => outage.step(began, self.database, trial_box),
            _ => Ok(false),
        }
    }

    /// Waits for outstanding answers, and ends the watch.
    pub(in crate::run) fn finish(mut self, trial_box: &mut TrialBox) -> Result<Found, TrialError> {
        self.wait(trial_box, |it| it.pool_is_told() && !it.outage.as_mut().is_some_and(OutageAtWork::goes_on))?;
        let pool_is_told = self.pool_is_told();
        if let Some(outage) = &self.outage {
            outage.stop_asking();
        }
        self.wait(trial_box, |it| it.outage.as_ref().is_none_or(OutageAtWork::has_stopped_asking))?;
        self.database.stop_watching();
        let pool = self.pool_before.zip(self.pool_after).filter(|_| pool_is_told);
        let pool = pool.and_then(|(before, after)| pool_window(before, after, self.asked.pool));
        let outage = self.outage.zip(self.window_began).and_then(|(outage, began)| outage.record(began));
        Ok(Found { pool, outage })
    }

    fn pool_is_told(&self) -> bool {
        [&self.pool_before, &self.pool_after].into_iter().flatten().all(Pending::is_over)
    }

    /// Serves connections after the load until `is_over` returns true or the time limit passes.
    fn wait(&mut self, trial_box: &mut TrialBox, is_over: impl Fn(&mut Self) -> bool) -> Result<(), TrialError> {
        let deadline = Instant::now() + LAST_ANSWER;
        while !is_over(self) && Instant::now() < deadline {
            if self.stop.is_immediate() {
                return Err(TrialError::Stopped);
            }
            self.orders.serve(trial_box, LOOK);
            if self.outage.as_ref().is_some_and(OutageAtWork::is_coming_back) {
                self.step(trial_box)?;
            }
        }
        Ok(())
    }

    /// In words, if the database has ended unexpectedly.
    pub(in crate::run) fn database_has_ended(
        &mut self,
        trial_box: &mut TrialBox,
    ) -> Result<Option<String>, TrialError> {
        self.database.has_ended(trial_box)
    }
}
