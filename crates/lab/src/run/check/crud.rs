//! Checks that a server that caches rows reads what is there, writes to the database, and invalidates what it has changed.

use std::cell::RefCell;
use std::time::Duration;

use tolok_model::{SplitMix64, Workload};

use crate::data_contract::{any_amount, crud_row, crud_sent, difference, with_parameter};
use crate::run::check::started_server::StartedServer;
use crate::subject::{Answer, Question, SENT_TYPE};

/// Limit for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of rows in the table, and the first of the keys that it does not use.
const ROWS: u64 = 10_000;
const FREE: u64 = 1_000_000;

/// Describes the first wrong answer.
pub(super) fn crud(server: &mut StartedServer, workload: &Workload, random: &mut SplitMix64) -> Option<String> {
    let server = RefCell::new(server);
    let mut ask = |question: Question<'_>| {
        server.borrow_mut().ask_with_body(question, PATIENCE).map_err(|error| error.to_string())
    };
    let mut table = |sql: &str| {
        let server = server.borrow();
        let rows = server.database.as_ref().map(|database| database.ask_tables(sql)).transpose();
        let value = |rows: Vec<Vec<Option<String>>>| rows.into_iter().flatten().next().flatten();
        rows.map(|rows| rows.and_then(value)).map_err(|error| error.to_string())
    };
    World { path: &workload.path, ask: &mut ask, table: &mut table }.difference(random).err()
}

/// A request, and what the server owes for it.
#[derive(Clone, Copy)]
enum Step {
    /// The row with this amount, or 404 for `None`.
    Read(Option<u64>),
    /// The row with this amount, which the table must hold afterwards.
    Write(u64),
    /// An empty response; the table must no longer hold the row.
    Delete,
}

/// A server and its database.
struct World<'a> {
    path: &'a str,
    ask: &'a mut dyn FnMut(Question<'_>) -> Result<Answer, String>,
    /// Runs a statement and returns the first value of its result.
    table: &'a mut dyn FnMut(&str) -> Result<Option<String>, String>,
}

impl World<'_> {
    fn difference(&mut self, random: &mut SplitMix64) -> Result<(), String> {
        let known = 1 + random.below(ROWS) as u32;
        let new = (FREE + random.below(FREE)) as u32;
        let [first, second, third, created, again] = [(); 5].map(|()| any_amount(random));
        // A server that has the table built in does not have this value.
        (self.table)(&format!("UPDATE stock SET amount = {first} WHERE id = {known}"))?;
        let read = |amount| Step::Read(Some(amount));
        let (gone, write) = (Step::Read(None), Step::Write);
        let of_known = [read(first), read(first), write(second), read(second), write(third), read(third)];
        let of_new = [gone, write(created), read(created), Step::Delete, gone, Step::Delete];
        let at_last = [write(again), read(again), Step::Delete, gone];
        let of_new = of_new.into_iter().chain(at_last).map(|step| (new, step));
        let mut before = String::new();
        for (id, step) in of_known.into_iter().map(|step| (known, step)).chain(of_new) {
            let (method, path) = (step.method(), with_parameter(self.path, "id", id));
            self.step(id, step, &path).map_err(|wrong| format!("{before}{method} {path}: {wrong}"))?;
            if !matches!(step, Step::Read(_)) {
                before = format!("after {method} {path}, ");
            }
        }
        Ok(())
    }

    /// Sends the request, then compares the answer and the row in the table.
    fn step(&mut self, id: u32, step: Step, path: &str) -> Result<(), String> {
        let sent = if let Step::Write(amount) = step { Some(crud_sent(amount)) } else { None };
        let body = sent.as_ref().map(|sent| (SENT_TYPE, sent.as_bytes()));
        let answer = (self.ask)(Question { body, ..Question::plain(step.method(), path) })?;
        if answer.status != step.status() {
            return Err(format!("status {} instead of {}", answer.status, step.status()));
        }
        if let Step::Read(Some(amount)) | Step::Write(amount) = step {
            let owed = crud_row(amount, id).into_bytes();
            if answer.body != owed {
                return Err(difference(&owed, &answer.body));
            }
        }
        let owed = match step {
            Step::Read(_) => return Ok(()),
            Step::Write(amount) => Some(amount.to_string()),
            Step::Delete => None,
        };
        let held = (self.table)(&format!("SELECT amount FROM stock WHERE id = {id}"))?;
        let words = |amount: &Option<String>| amount.clone().unwrap_or_else(|| "no such row".to_owned());
        let wrong = || format!("the table `stock` holds {} after it instead of {}", words(&held), words(&owed));
        (held == owed).then_some(()).ok_or_else(wrong)
    }
}

impl Step {
    fn method(self) -> &'static str {
        match self {
            Self::Read(_) => "GET",
            Self::Write(_) => "PUT",
            Self::Delete => "DELETE",
        }
    }

    fn status(self) -> u16 {
        match self {
            Self::Read(None) => 404,
            Self::Delete => 204,
            Self::Read(Some(_)) | Self::Write(_) => 200,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What a server does wrong.
    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        KeepsWhatItChanged,
        KeepsWhatItDeleted,
        WritesNothing,
        KnowsByHeart,
    }

    #[derive(Default)]
    struct Rows {
        table: BTreeMap<u32, u64>,
        cache: BTreeMap<u32, u64>,
    }

    impl Rows {
        fn answer(&mut self, asked: Question<'_>, fault: Fault) -> Answer {
            let id: u32 = asked.path.split('=').nth(1).unwrap().parse().unwrap();
            let answer = |status, body: String| Answer { status, headers: Vec::new(), body: body.into_bytes() };
            match asked.method {
                "PUT" => {
                    let (_, sent) = asked.body.unwrap();
                    let digits: String = String::from_utf8_lossy(sent).chars().filter(char::is_ascii_digit).collect();
                    let amount = digits.parse().unwrap();
                    if fault != Fault::WritesNothing {
                        self.table.insert(id, amount);
                    }
                    if fault != Fault::KeepsWhatItChanged {
                        self.cache.remove(&id);
                    }
                    answer(200, crud_row(amount, id))
                }
                "DELETE" => {
                    self.table.remove(&id);
                    if fault != Fault::KeepsWhatItDeleted {
                        self.cache.remove(&id);
                    }
                    answer(204, String::new())
                }
                _ => {
                    let known = if fault == Fault::KnowsByHeart { Some(1) } else { self.table.get(&id).copied() };
                    match self.cache.get(&id).copied().or(known) {
                        Some(amount) => {
                            self.cache.insert(id, amount);
                            answer(200, crud_row(amount, id))
                        }
                        None => answer(404, String::new()),
                    }
                }
            }
        }

        /// Understands `UPDATE stock SET amount = 17 WHERE id = 4`, and a SELECT.
        fn ask(&mut self, sql: &str) -> Option<String> {
            let words: Vec<&str> = sql.split(' ').collect();
            let id: u32 = words.last().unwrap().parse().unwrap();
            match words[0] {
                "UPDATE" => {
                    self.table.insert(id, words[5].parse().unwrap());
                    None
                }
                _ => self.table.get(&id).map(u64::to_string),
            }
        }
    }

    fn found(fault: Fault) -> Result<(), String> {
        let rows = RefCell::new(Rows::default());
        let mut ask = |question: Question<'_>| Ok(rows.borrow_mut().answer(question, fault));
        let mut table = |sql: &str| Ok(rows.borrow_mut().ask(sql));
        World { path: "/crud", ask: &mut ask, table: &mut table }.difference(&mut SplitMix64::new(7))
    }

    #[test]
    fn a_server_that_does_what_it_should_is_right() {
        assert_eq!(found(Fault::None), Ok(()));
    }

    #[test]
    fn what_is_kept_too_long_or_not_written_is_told_with_the_request_that_shows_it() {
        let check = |fault, begins: &str, has: &str| {
            let told = found(fault).unwrap_err();
            assert!(told.starts_with(begins) && told.contains(has), "{told}");
        };
        check(Fault::KnowsByHeart, "GET /crud?id=", ": field `amount`: 1 instead of ");
        check(Fault::KeepsWhatItChanged, "after PUT /crud?id=", ", GET /crud?id=");
        check(Fault::KeepsWhatItDeleted, "after DELETE /crud?id=", ": status 200 instead of 404");
        check(Fault::WritesNothing, "PUT /crud?id=", ": the table `stock` holds ");
    }
}
