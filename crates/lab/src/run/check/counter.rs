//! Checks that a number that many requests increment concurrently is exact in the end.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

use tolok_model::{CounterCheck, FailureKind};

use crate::data_contract::{stock_keys, update};
use crate::run::database::trial_database::{TrialDatabase, database_failed};
use crate::run::server::probe_queue::{Server, ask_at_once};
use crate::run::server::trial::TrialError;
use crate::subject::{Answer, ProbeError};
use tolok_host::isolate::TrialBox;
use tolok_tools::ToolReport;

/// Increments after the load: enough to show a lost one, few enough to take no time.
const ASKED: usize = 1_024;
/// How many of them run at once.
const AT_ONCE: usize = 16;
/// Limit for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// A number that has not changed for this long is at rest. Increments that the load gave up may still wait for a row's lock,
/// and each holds it for a round trip or two.
const REST: Duration = Duration::from_secs(1);
/// A number that is not at rest by then is read anyway.
const REST_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// A number to which requests add.
#[derive(Clone, Copy)]
pub(in crate::run) enum Tally<'a> {
    /// The server's own counter, at this path.
    Counter { path: &'a str },
    /// The amounts of the table `stock`; each request to this path raises `n` of them.
    Updates { path: &'a str, n: u32, database: &'a TrialDatabase },
}

/// The seed for requests that all raise the same row, and for finding that row.
const RAISED_SEED: u32 = 1;

impl Tally<'_> {
    /// The sum of everything that the load adds to.
    pub(in crate::run) fn total(self, trial_box: &mut TrialBox, server: Server<'_>) -> Result<u64, TrialError> {
        match self {
            Self::Counter { path } => read_counter(trial_box, server, path),
            Self::Updates { database, .. } => amount(database, "SELECT SUM(amount) FROM stock"),
        }
    }

    /// The number that concurrent requests add to.
    fn raised(self, trial_box: &mut TrialBox, server: Server<'_>) -> Result<u64, TrialError> {
        let Self::Updates { database, .. } = self else { return self.total(trial_box, server) };
        let key = stock_keys(1, RAISED_SEED)[0];
        amount(database, &format!("SELECT amount FROM stock WHERE id = {key}"))
    }

    /// The path of the concurrent requests.
    pub(in crate::run) fn raising_path(self) -> String {
        match self {
            Self::Counter { path } => path.to_owned(),
            Self::Updates { path, .. } => update(path, (1, RAISED_SEED), &|_| 0).path,
        }
    }

    /// How much each request of the load adds.
    fn step(self) -> u64 {
        match self {
            Self::Counter { .. } => 1,
            Self::Updates { n, .. } => n.into(),
        }
    }
}

fn amount(database: &TrialDatabase, sql: &str) -> Result<u64, TrialError> {
    let rows = database.ask_tables(sql).map_err(database_failed)?;
    let told = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    told.parse().map_err(|_| database_failed(format!("{sql} gave `{told}`, which is not a whole number")))
}

/// Reads the number without adding to it.
fn read_counter(trial_box: &mut TrialBox, server: Server<'_>, path: &str) -> Result<u64, TrialError> {
    let answers = ask_at_once(trial_box, server, (1, 1), PATIENCE, &|_| ("GET".to_owned(), path.to_owned()))?;
    answers.into_iter().next().map_or_else(|| Err("nothing was asked".to_owned()), number).map_err(wrong)
}

/// Simultaneous increments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) struct Burst {
    asked: u64,
    grew: u64,
    wrong_answers: u64,
}

impl Burst {
    pub(in crate::run) fn is_right(self) -> bool {
        self.grew == self.asked && self.wrong_answers == 0
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, grew, wrong_answers } = self;
        write!(
            formatter,
            "{asked} increments at once made the number grow by {grew}, and {wrong_answers} answers were wrong"
        )
    }
}

/// Sends many concurrent increments and compares the responses with the growth of the number.
pub(in crate::run) fn check_burst(
    trial_box: &mut TrialBox,
    server: Server<'_>,
    tally: Tally<'_>,
) -> Result<Burst, TrialError> {
    let before = tally.raised(trial_box, server)?;
    let path = tally.raising_path();
    let increment = |_| ("POST".to_owned(), path.clone());
    let answers = ask_at_once(trial_box, server, (ASKED, AT_ONCE), PATIENCE, &increment)?;
    let answered = answers.into_iter().map(number).collect::<Result<Vec<u64>, String>>().map_err(wrong)?;
    let grew = tally.raised(trial_box, server)?.saturating_sub(before);
    Ok(Burst { asked: ASKED as u64, grew, wrong_answers: wrong_answers(&answered, before) })
}

/// Checks the number under a burst of increments. Also compares its growth since `before` with the load's ledger.
pub(in crate::run) fn check_counter(
    trial_box: &mut TrialBox,
    server: Server<'_>,
    tally: Tally<'_>,
    (before, report): (u64, &ToolReport),
) -> Result<CounterCheck, TrialError> {
    let account = report.answered_in_all.zip(report.sent_in_all);
    let (answered, sent) = account.ok_or_else(|| wrong("the load tool does not report how much it sent".to_owned()))?;
    let owed_most = before + sent * tally.step();
    let after_load = at_rest(&mut || tally.total(trial_box, server), owed_most)?;
    let burst = check_burst(trial_box, server, tally)?;
    Ok(CounterCheck {
        asked: burst.asked,
        grew: burst.grew,
        wrong_answers: burst.wrong_answers,
        load: after_load.saturating_sub(before),
        load_least: answered * tally.step(),
        load_most: sent * tally.step(),
    })
}

/// Reads the number once no increment of the load is under way: it has reached `most`, or no longer changes.
fn at_rest<E>(read: &mut dyn FnMut() -> Result<u64, E>, most: u64) -> Result<u64, E> {
    let deadline = Instant::now() + REST_LIMIT;
    let (mut number, mut since) = (read()?, Instant::now());
    while number < most && since.elapsed() < REST && Instant::now() < deadline {
        std::thread::sleep(POLL);
        let again = read()?;
        if again != number {
            (number, since) = (again, Instant::now());
        }
    }
    Ok(number)
}

/// Counts responses that repeat a number, or that cannot have been the next one.
fn wrong_answers(answered: &[u64], before: u64) -> u64 {
    let owed = before + 1..=before + answered.len() as u64;
    let right: BTreeSet<&u64> = answered.iter().filter(|number| owed.contains(number)).collect();
    (answered.len() - right.len()) as u64
}

fn number(answer: Result<Answer, ProbeError>) -> Result<u64, String> {
    let answer = answer.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    if answer.status != 200 {
        return Err(format!(
            "status {} instead of 200: {:?}",
            answer.status,
            text.chars().take(100).collect::<String>()
        ));
    }
    // For a row, the amount in it.
    let is_digit = |character: &char| character.is_ascii_digit();
    let number = text
        .strip_prefix("[{\"amount\":")
        .map_or(text.trim().to_owned(), |rest| rest.chars().take_while(is_digit).collect());
    number.parse().map_err(|_| format!("{:?} is not a whole number", text.chars().take(100).collect::<String>()))
}

fn wrong(message: String) -> TrialError {
    TrialError::Failed(FailureKind::WrongAnswer, format!("the counter cannot be checked: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_expected_once_in_any_order() {
        assert_eq!(wrong_answers(&[8, 6, 7], 5), 0);
        assert_eq!(wrong_answers(&[], 5), 0);
    }

    #[test]
    fn an_increment_that_was_lost_shows_as_a_number_that_stands_there_twice() {
        assert_eq!(wrong_answers(&[6, 6, 7], 5), 1);
        assert_eq!(wrong_answers(&[6, 6, 6], 5), 2);
    }

    #[test]
    fn a_number_that_still_grows_is_waited_for() {
        let mut numbers = [3, 4, 4, 7, 9].into_iter();
        assert_eq!(
            at_rest::<()>(&mut || Ok(numbers.next().unwrap()), 9),
            Ok(9),
            "waiting ends at the largest possible number"
        );
        assert_eq!(at_rest(&mut || Err("gone".to_owned()), 9), Err("gone".to_owned()));
    }

    #[test]
    fn a_number_that_nobody_can_have_counted_to_is_wrong() {
        assert_eq!(wrong_answers(&[5, 6, 9], 5), 2);
    }

    #[test]
    fn an_answer_is_a_whole_number_or_says_why_not() {
        let answer = |status, body: &str| Ok(Answer { status, headers: Vec::new(), body: body.as_bytes().to_vec() });
        assert_eq!(number(answer(200, "17\n")), Ok(17));
        assert_eq!(number(answer(200, r#"[{"amount":105,"id":6808}]"#)), Ok(105));
        assert_eq!(number(answer(503, "gone")), Err("status 503 instead of 200: \"gone\"".to_owned()));
        assert_eq!(number(answer(200, "\"17\"")), Err("\"\\\"17\\\"\" is not a whole number".to_owned()));
    }
}
