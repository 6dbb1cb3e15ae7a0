//! Flags of cases that use a database: see the table in `flag.rs`.

use crate::bottleneck::POOL_WAITS_CONSIDERABLE;
use crate::counter::counter;
use crate::figures::{Quantity, amount, count, counted};
use crate::findings::{DatabaseFinding, DatabaseUse};
use crate::flag::{Flag, FlagKind};
use crate::observations::Observations;

pub(crate) fn database_flags(
    observations: &Observations,
    asked: Option<&DatabaseFinding>,
    database: Option<&DatabaseUse>,
) -> [Option<Flag>; 4] {
    [
        counter_wrong(observations),
        outage(observations, asked),
        asked.zip(database).and_then(|(asked, database)| refused(asked, database)),
        database.and_then(pool_waits),
    ]
}

/// A subject that counts wrong does a different job from the others.
fn counter_wrong(observations: &Observations) -> Option<Flag> {
    let counter = counter(observations)?;
    let worst = counter.worst?;
    let trials = counted(u64::from(counter.trials), "trial");
    let message = format!("its counter was wrong in {} of {trials}; the worst: {worst}", counter.wrong);
    FlagKind::CounterWrong.raised(message)
}

fn outage(observations: &Observations, asked: Option<&DatabaseFinding>) -> Option<Flag> {
    asked?.outage_at_s?;
    let message =
        "the database was taken away in the window, as the study asks, so goodput is not comparable".to_owned();
    if observations.scored.is_empty() { None } else { FlagKind::Outage.raised(message) }
}

fn refused(asked: &DatabaseFinding, database: &DatabaseUse) -> Option<Flag> {
    let refused = database.refused_connections.filter(|refused| *refused > 0)?;
    let message = format!(
        "the database refused up to {} in a trial, because it accepts {} at most",
        counted(refused, "connection"),
        count(u64::from(asked.max_connections))
    );
    FlagKind::DatabaseRefused.raised(message)
}

fn pool_waits(database: &DatabaseUse) -> Option<Flag> {
    let pool = database.pool?;
    let waits = pool.waits_per_good.filter(|waits| *waits >= POOL_WAITS_CONSIDERABLE)?;
    let wait_s = pool.wait_s_mean.map(|wait_s| format!(", {} each", amount(Quantity::Seconds, wait_s)));
    let message = format!(
        "its requests waited for one of {} to the database: {} waits per response{}",
        counted(u64::from(pool.size), "connection"),
        amount(Quantity::Number, waits),
        wait_s.unwrap_or_default()
    );
    FlagKind::PoolWaits.raised(message)
}
