//! The document of `tolok fidelity`: what drivers do with types, with two tasks on one connection, and with clients
//! that hang up.

use serde::Serialize;

use crate::JsonSchema;

/// Version of [`FidelityReport`] as JSON.
pub const FIDELITY_SCHEMA: u32 = 1;

/// What was found about the drivers of some subjects.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FidelityReport {
    /// Version of this format.
    pub schema_version: u32,
    /// The database server's version string; empty without a database.
    pub database: String,
    /// Connections given to each subject.
    pub pool: u32,
    /// One report for each subject, in test order.
    pub drivers: Vec<DriverReport>,
    /// Subjects that this machine could not test at all.
    pub left_out: Vec<LeftOut>,
}

/// A subject that could not be tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Its name as people write it: `php/swoole:coroutine`.
    pub subject: String,
    /// Why, and what would help.
    pub reason: String,
}

/// What was found about one subject.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DriverReport {
    /// Its name as people write it: `bun/serve:mysql2`.
    pub subject: String,
    /// What it does, in a few words.
    pub help: String,
    /// What happened to each type; empty if the subject could not be tested.
    pub types: Vec<ColumnVerdict>,
    /// Two tasks on one connection, or `null` if a request cannot run two tasks.
    pub one_connection: Option<TwoTasks>,
    /// Two tasks on two connections of the pool, or `null` if a request cannot run two tasks.
    pub two_connections: Option<TwoTasks>,
    /// What was found after many clients had hung up, or `null` if not tested.
    pub aborts: Option<Aborts>,
    /// Why the test failed or did not finish.
    pub failure: Option<String>,
}

/// What happened to one value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The value is unchanged, in JSON's own form for it.
    Exact,
    /// All digits of the number, as a string.
    AsString,
    /// Nothing is lost, but the form differs, such as "base64".
    Reformatted(String),
    /// Digits were lost; this is the value returned.
    Rounded(String),
    /// No value was returned.
    Lost,
    /// Another value was returned.
    Altered(String),
}

/// What happened to one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColumnVerdict {
    /// The column's name.
    pub column: &'static str,
    /// Its type, as in the `CREATE TABLE` statement.
    pub sql_type: &'static str,
    /// The value that drivers most often get wrong, as a person would write it.
    pub awkward: String,
    /// The worst result for any of its values.
    pub worst: Verdict,
    /// What the driver did, such as "a number, rounded: 9007199254740993 became 9007199254740992".
    pub sentence: String,
}

/// The result of two simultaneous tasks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TwoTasks {
    /// Whether they ran one after the other, side by side, or were refused.
    pub outcome: TwoTasksOutcome,
    /// Time for both together, in seconds; each is busy for 0.2 s.
    pub elapsed_s: f64,
    /// The driver's own error messages.
    pub errors: Vec<String>,
}

/// How two simultaneous tasks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TwoTasksOutcome {
    /// Both ran at the same time.
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
    /// Connections to the database that the subject may hold: its pool, or its number of processes, if that is more.
    pub pool: u32,
    /// Connections before the test, as the database counts them, or `null` if unknown.
    pub connections_before: Option<u64>,
    /// Connections after the test.
    pub connections_after: Option<u64>,
    /// Those of them still busy half a minute later.
    pub busy_after: Option<u64>,
    /// Requests sent afterwards, as many at once as the pool has connections.
    pub asked_after: usize,
    /// Those of them answered correctly.
    pub answered_after: usize,
}

impl FidelityReport {
    /// Whether every subject's test finished and none leaks connections.
    pub fn is_sound(&self) -> bool {
        let is_sound = |driver: &DriverReport| {
            driver.failure.is_none() && driver.aborts.as_ref().is_none_or(|aborts| aborts.differences().is_empty())
        };
        self.drivers.iter().all(is_sound)
    }
}

impl Verdict {
    /// What happened to the value, in a word, or `None` if the value can be recovered.
    pub fn damage(&self) -> Option<&'static str> {
        match self {
            Self::Exact | Self::AsString | Self::Reformatted(_) => None,
            Self::Rounded(_) => Some("rounded"),
            Self::Lost => Some("lost"),
            Self::Altered(_) => Some("altered"),
        }
    }
}

/// Time limit for each answer after clients hung up, in seconds.
pub const ANSWERED_WITHIN_S: u64 = 20;

impl Aborts {
    /// Its problems, one sentence each.
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
    fn a_subject_with_all_connections_free_again_leaks_none() {
        assert_eq!(aborts().differences(), Vec::<String>::new());
        let unknown = Aborts { connections_after: None, busy_after: None, ..aborts() };
        assert!(unknown.differences().is_empty());
        assert!(report(Some(aborts()), None).is_sound() && report(None, None).is_sound());
    }

    #[test]
    fn each_kind_of_leak_is_reported() {
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
