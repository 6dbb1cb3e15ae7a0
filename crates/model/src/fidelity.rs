//! What drivers make of types, of two tasks on one connection, and of clients that hang up: the document of `tolok fidelity`.

use serde::Serialize;

use crate::JsonSchema;

/// Version of [`FidelityReport`] as JSON.
pub const FIDELITY_SCHEMA: u32 = 1;

/// What was found of the drivers of some subjects.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FidelityReport {
    /// Version of this format.
    pub schema_version: u32,
    /// The database server by its own version string; empty without one.
    pub database: String,
    /// Connections that each subject was given.
    pub pool: u32,
    /// Each subject, in the order of the tests.
    pub drivers: Vec<DriverReport>,
    /// Subjects that could not be tested here at all.
    pub left_out: Vec<LeftOut>,
}

/// A subject that could not be tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// As a person would name it: `php/swoole:coroutine`.
    pub subject: String,
    /// Why, and what would help.
    pub reason: String,
}

/// What was found of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DriverReport {
    /// As a person would name it: `bun/serve:mysql2`.
    pub subject: String,
    /// What it does, in a few words.
    pub help: String,
    /// What became of each type; empty if the subject could not be tested.
    pub types: Vec<ColumnVerdict>,
    /// Two tasks on one connection, or `null` if a request cannot have two tasks.
    pub one_connection: Option<TwoTasks>,
    /// Two tasks on two connections of the pool, or `null` if a request cannot have two tasks.
    pub two_connections: Option<TwoTasks>,
    /// What was found after many clients had hung up, or `null` if that was not tried.
    pub aborts: Option<Aborts>,
    /// Why it could not be tested, or not to the end.
    pub failure: Option<String>,
}

/// What became of one value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The value, in the form that JSON has for it.
    Exact,
    /// The number with all its digits, as a string.
    AsString,
    /// Nothing is lost, but it is in another form, such as "base64".
    Reformatted(String),
    /// It has lost digits; this is what was given.
    Rounded(String),
    /// Nothing was given in its place.
    Lost,
    /// Something else was given in its place.
    Altered(String),
}

/// What became of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColumnVerdict {
    /// The column.
    pub column: &'static str,
    /// Its type, as in the statement that made the table.
    pub sql_type: &'static str,
    /// The value of the table that drivers trip over most, as a person would write it.
    pub awkward: String,
    /// The worst that became of any of its values.
    pub worst: Verdict,
    /// What the driver did, such as "a number, rounded: 9007199254740993 became 9007199254740992".
    pub sentence: String,
}

/// What two simultaneous tasks come to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TwoTasks {
    /// One after the other, side by side, or refused.
    pub outcome: TwoTasksOutcome,
    /// How long both took together, in seconds; each is busy for 0.2 s.
    pub elapsed_s: f64,
    /// What the driver said, in its own words.
    pub errors: Vec<String>,
}

/// What two simultaneous tasks come to, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TwoTasksOutcome {
    /// Both were served at the same time.
    SideBySide,
    /// The second waited for the first.
    OneAfterTheOther,
    /// At least one of them was refused.
    Refused,
}

/// What was found after many clients had hung up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Aborts {
    /// Requests that were given up.
    pub aborted: usize,
    /// Connections to the database that the subject may have: its pool, or as many as it has processes, if that is more.
    pub pool: u32,
    /// Connections that it had before, as the database counts them, or `null` if unknown.
    pub connections_before: Option<u64>,
    /// Connections that it has afterwards.
    pub connections_after: Option<u64>,
    /// Of these, those that were still busy half a minute later.
    pub busy_after: Option<u64>,
    /// Requests that followed, as many at once as the pool has connections.
    pub asked_after: usize,
    /// Those of them that were answered well.
    pub answered_after: usize,
}

impl FidelityReport {
    /// Whether every subject could be tested to the end, and none leaks a connection.
    pub fn is_sound(&self) -> bool {
        let is_sound = |driver: &DriverReport| {
            driver.failure.is_none() && driver.aborts.as_ref().is_none_or(|aborts| aborts.differences().is_empty())
        };
        self.drivers.iter().all(is_sound)
    }
}

impl Verdict {
    /// What happened to the value, in a word, or `None` if it can be recovered from what was given.
    pub fn damage(&self) -> Option<&'static str> {
        match self {
            Self::Exact | Self::AsString | Self::Reformatted(_) => None,
            Self::Rounded(_) => Some("rounded"),
            Self::Lost => Some("lost"),
            Self::Altered(_) => Some("altered"),
        }
    }
}

/// How long a subject is given for each answer after clients hung up.
pub const ANSWERED_WITHIN_S: u64 = 20;

impl Aborts {
    /// What is wrong with it, a sentence each.
    pub fn differences(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let aborted = self.aborted;
        if let Some(connections) = self.connections_after.filter(|connections| *connections > u64::from(self.pool)) {
            let pool = self.pool;
            wrong.push(format!(
                "after {aborted} clients hung up, it has {connections} connections, and may have {pool}"
            ));
        }
        if let Some(busy) = self.busy_after.filter(|busy| *busy > 0) {
            wrong.push(format!("{busy} connections are still busy after {aborted} clients hung up"));
        }
        if self.answered_after < self.asked_after {
            let (answered, asked) = (self.answered_after, self.asked_after);
            wrong.push(format!(
                "after {aborted} clients hung up, it answered {answered} of {asked} requests within {ANSWERED_WITHIN_S} s; \
                 return the connection to its pool when the client is gone"
            ));
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aborts() -> Aborts {
        Aborts {
            aborted: 1_000,
            pool: 16,
            connections_before: Some(2),
            connections_after: Some(16),
            busy_after: Some(0),
            asked_after: 64,
            answered_after: 64,
        }
    }

    fn report(aborts: Option<Aborts>, failure: Option<&str>) -> FidelityReport {
        let driver = DriverReport {
            subject: "go/nethttp:stream".to_owned(),
            help: String::new(),
            types: Vec::new(),
            one_connection: None,
            two_connections: None,
            aborts,
            failure: failure.map(str::to_owned),
        };
        let database = "11.8.3-MariaDB".to_owned();
        FidelityReport { schema_version: FIDELITY_SCHEMA, database, pool: 16, drivers: vec![driver], left_out: vec![] }
    }

    #[test]
    fn whoever_has_all_connections_again_leaks_none() {
        assert_eq!(aborts().differences(), Vec::<String>::new());
        let unknown = Aborts { connections_after: None, busy_after: None, ..aborts() };
        assert!(unknown.differences().is_empty());
        assert!(report(Some(aborts()), None).is_sound() && report(None, None).is_sound());
    }

    #[test]
    fn each_way_to_leak_is_said() {
        let leaking = Aborts { connections_after: Some(40), busy_after: Some(3), answered_after: 0, ..aborts() };
        assert_eq!(
            leaking.differences(),
            [
                "after 1000 clients hung up, it has 40 connections, and may have 16",
                "3 connections are still busy after 1000 clients hung up",
                "after 1000 clients hung up, it answered 0 of 64 requests within 20 s; return the connection to its pool when the \
                 client is gone",
            ]
        );
        assert!(!report(Some(leaking), None).is_sound());
        assert!(!report(None, Some("did-not-start")).is_sound());
    }
}
