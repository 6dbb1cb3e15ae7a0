//! The figures of a case and its database. What a database or a subject does not report is absent.

use serde::Serialize;
use tolok_model::{DatabaseWindow, LinkWindow, Measurement, PoolWindow};

use super::resources::highest;
use super::table::{Around, Column, Figure, HasValue, Readings, Rows, TrialFigure, Unit, figures, row};
use crate::JsonSchema;
use crate::counter::counter;
use crate::findings::counter::CounterFinding;
use crate::findings::database::PoolUse;
use crate::findings::estimate::{Better, Estimate};
use crate::findings::link::LinkUse;
use crate::findings::outage::OutageFinding;
use crate::link::link_use;
use crate::observations::answers;
use crate::outage::outage;
use crate::usage::share;

figures! {
    /// The figures of a case and its database in the scored trials. "Per good" means for each correct response.
    pub struct DatabaseUse of Measurement, DATABASE, DATABASE_OF_TRIALS;

    /// Rows in correct responses, per second.
    rows_per_s: Option<Estimate> = median(|it, around| Some(rows(it, around)? / it.window_s)) [PerSecond Higher] csv "rows_per_s";
    /// CPU time of the subject for each of these rows.
    subject_cpu_s_per_row: Option<Estimate> = median(|it, around| Some(it.subject.as_ref()?.cpu_s / rows(it, around)?))
        [Seconds Lower] csv "subject_cpu_s_per_row";
    /// CPU time of the database for each of these rows.
    cpu_s_per_row: Option<Estimate> = median(|it, around| Some(cpu_s(it)? / rows(it, around)?)) [Seconds Lower] csv "database_cpu_s_per_row";
    /// CPU time of the database per correct response.
    cpu_s_per_good: Option<Estimate> = median(|it, _| Some(cpu_s(it)? / answers(it)?))
        [Seconds Lower] csv "database_cpu_s_per_good" tidy "database_cpu_s_per_good";
    /// Share of its CPUs that the database used.
    busy: Option<f64> = middle_of_known(|it, around| share(cpu_s(it)?, around.cpus.database * it.window_s)) [Share] csv "database_busy";
    /// Highest anonymous and kernel memory of the database's control group.
    memory_bytes: Option<Estimate> = median(|it, _| memory(it)) [Bytes Lower] csv "database_memory_bytes";
    /// The highest usage of that group in any trial, page cache included.
    peak_bytes: Option<f64> = highest(|it, _| peak(it)) [Bytes Lower] csv "database_peak_bytes";
    /// That peak as a share of its limit; absent without a limit.
    peak_of_limit: Option<f64> = highest(|it, around| Some(peak(it)? / around.database_limit_bytes? as f64))
        [Share Lower] csv "database_peak_of_limit";
    /// Statements that it ran per second.
    queries_per_s: Option<f64> = middle(|it, _| Some(count(it, |window| window.queries)? / it.window_s)) [PerSecond] csv "database_queries_per_s";
    /// Statements per correct response.
    queries_per_good: Option<f64> = middle(|it, _| Some(count(it, |window| window.queries)? / answers(it)?))
        [Count] csv "database_queries_per_good";
    /// Bytes sent to its clients per second.
    sent_bytes_per_s: Option<f64> = middle(|it, _| Some(count(it, |window| window.sent_bytes)? / it.window_s))
        [BytesPerSecond] csv "database_sent_bytes_per_s";
    /// Connections opened to it in the window.
    connections_opened: Option<f64> = middle(|it, _| count(it, |window| window.connections_opened)) [Count] csv "database_connections_opened";
    /// The most open connections at any reading.
    connections_max: Option<u64> = most(|it| it.database.as_ref()?.connections_max) [Count] csv "database_connections_max";
    /// The most threads that ran a statement at any reading.
    running_max: Option<u64> = most(|it| it.database.as_ref()?.running_max) [Count] csv "database_running_max";
    /// Mean threads that ran a statement, over the readings.
    running_mean: Option<f64> = middle(|it, _| it.database.as_ref()?.running_mean) [Count] csv "database_running_mean";
    /// The most connections that it refused in a trial because it was at its limit.
    refused_connections: Option<u64> = most(|it| it.database.as_ref()?.refused_connections) [Count Lower] csv "database_refused_connections";
    /// The link between subject and database; absent if tolok emulated none.
    link: Option<LinkUse> = whole(|it| link_use(it.trials, link_window, it.around.database_rate_bps));
    + "database_link_lateness_s_mean" [Seconds Lower] "How late packets left the emulator of the link to the database, on average, in the worse direction."
        = |it| it.link.as_ref()?.worse(|way| way.lateness_s_mean);
    + "database_link_lateness_s_max" [Seconds Lower] "The latest packet of that link."
        = |it| it.link.as_ref()?.worse(|way| way.lateness_s_max);
    + "database_link_rate_offered" [Share Lower] "Bits offered to that link over what its rate lets through, in the busier direction."
        = |it| it.link.as_ref()?.rate_offered();
    /// The subject's connection pool; absent if the subject does not report it.
    pool: Option<PoolUse> = whole(pool);
    + "pool_size" [Count] "Connections that the subject may have to its database, over all its processes." = |it| it.pool.map(|pool| f64::from(pool.size));
    + "pool_waits_per_good" [Count Lower] "Times that a request waited for such a connection, per correct response." = |it| it.pool?.waits_per_good;
    + "pool_wait_s_mean" [Seconds Lower] "How long such a wait took on average." = |it| it.pool?.wait_s_mean;
    /// Whether the workload's counter was exact; absent if it counts nothing.
    counter: Option<CounterFinding> = whole(|it| counter(it.trials));
    + "counter_trials" [Count] "Trials in which the counter was checked." = |it| it.counter.as_ref().map(|counter| u64::from(counter.trials));
    + "counter_wrong" [Count Lower] "Trials in which the counter was wrong." = |it| it.counter.as_ref().map(|counter| u64::from(counter.wrong));
    + "counter_asked" [Count] "Increments asked for at once after the load." = |it| it.counter.as_ref().map(|counter| counter.asked);
    + "counter_grew" [Count] "By how much the counter grew from them." = |it| it.counter.as_ref().map(|counter| counter.grew);
    + "counter_wrong_answers" [Count Lower] "Numbers answered more than once or out of range." = |it| it.counter.as_ref().map(|counter| counter.wrong_answers);
    + "counter_load_off" [Count Lower] "By how much the load's own increments lie outside what its ledger allows." = |it| it.counter.as_ref().map(|counter| counter.load_off);
    /// What the subject did during the outage; absent if the study has none.
    outage: Option<OutageFinding> = whole(|it| outage(it.trials));
    + "outage_trials" [Count] "Trials in which the database was taken away." = |it| it.outage.as_ref().map(|outage| u64::from(outage.trials));
    + "outage_gone_at_s" [Seconds] "When the database was killed, after the window began." = |it| it.outage.as_ref().map(|outage| outage.gone_at_s);
    + "outage_back_at_s" [Seconds] "When the database accepted a login again." = |it| it.outage.as_ref()?.back_at_s;
    + "outage_first_error_after_s" [Seconds Lower] "From the database's end to the subject's first response with a status of 500 or above." = |it| it.outage.as_ref()?.first_error_after_s;
    + "outage_never_answered_error" [Count Lower] "Trials in which the subject never gave such a response." = |it| it.outage.as_ref().map(|outage| u64::from(outage.never_answered_error));
    + "outage_longest_silence_s" [Seconds Lower] "Longest time that a request went without any response." = |it| it.outage.as_ref().map(|outage| outage.longest_silence_s);
    + "outage_longest_silence_s_max" [Seconds Lower] "The same in the worst trial." = |it| it.outage.as_ref().map(|outage| outage.longest_silence_s_max);
    + "outage_recovered_after_s" [Seconds Lower] "From the database's return to the subject's next correct response." = |it| it.outage.as_ref()?.recovered_after_s;
    + "outage_never_recovered" [Count Lower] "Trials in which the subject never recovered, although the database came back." = |it| it.outage.as_ref().map(|outage| u64::from(outage.never_recovered));
    + "outage_never_back" [Count Lower] "Trials in which the database never came back." = |it| it.outage.as_ref().map(|outage| u64::from(outage.never_back));
}

fn rows(trial: &Measurement, around: &Around) -> Option<f64> {
    Some(answers(trial)? * f64::from(around.rows_per_answer?))
}

fn count(trial: &Measurement, of: fn(&DatabaseWindow) -> Option<u64>) -> Option<f64> {
    trial.database.as_ref().and_then(of).map(|count| count as f64)
}

fn link_window(trial: &Measurement) -> Option<&LinkWindow> {
    trial.database.as_ref()?.link.as_ref()
}

/// CPU time of the database's processes in one trial.
pub(crate) fn cpu_s(trial: &Measurement) -> Option<f64> {
    Some(trial.database.as_ref()?.resources.as_ref()?.cpu_s)
}

fn memory(trial: &Measurement) -> Option<f64> {
    let memory = trial.database.as_ref()?.resources.as_ref()?.memory?;
    Some(memory.anonymous_and_kernel_bytes_max as f64)
}

fn peak(trial: &Measurement) -> Option<f64> {
    trial.database.as_ref()?.resources.as_ref()?.memory.map(highest)
}

/// Sums the waits over the trials before dividing, so a trial with few waits weighs little.
fn pool(readings: &Readings) -> Option<PoolUse> {
    let windows: Vec<(&Measurement, &PoolWindow)> =
        readings.trials.trials().filter_map(|trial| Some((trial, trial.pool.as_ref()?))).collect();
    let size = windows.iter().map(|(_, window)| window.size).max()?;
    let waits: Option<u64> = windows.iter().map(|(_, window)| window.waits).sum();
    let wait_s: Option<f64> = windows.iter().map(|(_, window)| window.wait_s).sum();
    let answered: f64 = windows.iter().filter_map(|(trial, _)| answers(trial)).sum();
    let waited = waits.filter(|waits| *waits > 0);
    let longest_s = windows.iter().map(|(trial, _)| trial.window_s).fold(0.0, f64::max);
    Some(PoolUse {
        size,
        waits_per_good: waits.filter(|_| answered > 0.0).map(|waits| waits as f64 / answered),
        // Waits are counted when they begin, and their time when they end. If the mean is as long as the window, count and time
        // belong to different waits.
        wait_s_mean: waited.zip(wait_s).map(|(waits, wait_s)| wait_s / waits as f64).filter(|mean| *mean < longest_s),
    })
}
