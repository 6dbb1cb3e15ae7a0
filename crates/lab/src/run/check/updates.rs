//! Checks that a server that updates rows reads what is there, answers what it wrote, and has written it.

use std::time::Duration;

use tolok_model::{SplitMix64, Workload};

use crate::data_contract::{LARGEST_SEED, PathAnswer, difference, stock_keys, update};
use crate::run::check::counter::{Tally, check_burst};
use crate::run::check::started_server::{StartedServer, words};
use crate::run::database::trial_database::TrialDatabase;
use crate::run::server::probe_queue::Server;
use crate::run::stop::Stop;
use crate::subject::{Question, check};

/// Limit for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// What the lab itself adds to rows, to expose a server that caches amounts.
const OWN_STEP: u64 = 1_000;

/// Describes the first wrong answer; if there is none, whether concurrent requests lose updates.
pub(super) fn updates(server: &mut StartedServer, workload: &Workload, random: &mut SplitMix64) -> Option<String> {
    let mut seed = || 1 + random.below(LARGEST_SEED) as u32;
    let (one, other) = (seed(), seed());
    // Before the last request, the lab changes rows that the server has changed.
    let asked = [(1, LARGEST_SEED as u32, 0), (20, one, 0), (20, one, 0), (100, other, 0), (20, one, OWN_STEP)];
    let mut differences = asked.into_iter().map(|(n, seed, own_step)| {
        let owed = expected(server.database.as_ref()?, workload, (n, seed), own_step);
        owed.and_then(|owed| one_request(server, workload, &owed)).err()
    });
    let found = differences.find_map(|difference| difference);
    found.or_else(|| at_once(server, workload))
}

/// A request, what the server owes for it, and the amounts of all rows afterwards.
struct Expected {
    answer: PathAnswer,
    amounts: Vec<u64>,
}

fn expected(
    database: &TrialDatabase,
    workload: &Workload,
    (n, seed): (u32, u32),
    own_step: u64,
) -> Result<Expected, String> {
    let keys = stock_keys(n, seed);
    if own_step > 0 {
        let list: Vec<String> = keys.iter().map(u32::to_string).collect();
        let change = format!("UPDATE stock SET amount = amount + {own_step} WHERE id IN ({})", list.join(", "));
        database.ask_tables(&change).map_err(|error| error.to_string())?;
    }
    let mut amounts = held(database)?;
    for key in keys {
        let amount = amounts.get_mut(key as usize - 1);
        *amount.ok_or_else(|| format!("the table `stock` has no row {key}"))? += 1;
    }
    let answer = update(&workload.path, (n, seed), &|key| amounts[key as usize - 1]);
    Ok(Expected { answer, amounts })
}

/// The amounts in the table, in key order.
fn held(database: &TrialDatabase) -> Result<Vec<u64>, String> {
    let rows = database.ask_tables("SELECT amount FROM stock ORDER BY id").map_err(|error| error.to_string())?;
    rows.into_iter()
        .flatten()
        .map(|told| told?.parse().ok())
        .collect::<Option<_>>()
        .ok_or_else(|| "the table `stock` has an amount that is no number".to_owned())
}

fn one_request(server: &mut StartedServer, workload: &Workload, owed: &Expected) -> Result<(), String> {
    let Expected { answer: PathAnswer { path, body, .. }, amounts } = owed;
    let named = |what: String| format!("{} {path}: {what}", workload.method);
    let asked = server.ask_with_body(Question::plain(&workload.method, path), PATIENCE);
    let answer = asked.map_err(|error| named(error.to_string()))?;
    check(&answer, workload, body).map_err(named)?;
    if answer.body != *body {
        return Err(named(difference(body, &answer.body)));
    }
    let Some(database) = &server.database else { return Ok(()) };
    let mut rows = held(database)?.into_iter().zip(amounts).zip(1..);
    let wrong = rows.find(|((held, owed), _)| held != *owed);
    wrong.map_or(Ok(()), |((held, owed), key)| {
        Err(named(format!("row {key} of the table `stock` holds {held} after it instead of {owed}")))
    })
}

/// Sends concurrent requests that raise the same row.
fn at_once(server: &mut StartedServer, workload: &Workload) -> Option<String> {
    let asked = Server { address: server.address, speech: server.speech, stop: &Stop::default() };
    let tally = Tally::Updates { path: &workload.path, n: 1, database: server.database.as_ref()? };
    let what = match check_burst(&mut server.trial_box, asked, tally) {
        Ok(burst) if burst.is_right() => return None,
        Ok(burst) => burst.to_string(),
        Err(error) => words(error),
    };
    Some(format!("{} {}: {what}", workload.method, tally.raising_path()))
}
