//! What a record stores of a trial's database and of the subject's use of it.

use serde::{Deserialize, Serialize};

use crate::record::resources::{LinkWindow, Resources};

/// The database in the window. What it does not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseWindow {
    /// Server and version, as it reports them: `10.11.19-MariaDB`.
    pub version: String,
    /// The resources of its processes, or `None` for an external server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Statements that it executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// Connections opened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_opened: Option<u64>,
    /// Most open connections at a reading, without the lab's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_max: Option<u64>,
    /// Most threads that ran a statement at a reading, without the lab's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_max: Option<u64>,
    /// Mean threads that ran a statement, over the readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_mean: Option<f64>,
    /// Connections that it refused since the trial began, because it accepts no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_connections: Option<u64>,
    /// Rows read for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_sent: Option<u64>,
    /// Bytes sent to its clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// The link between subject and database, if tolok itself emulated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkWindow>,
    /// Its outage, if the study has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageRecord>,
}

/// A database that was killed and restarted in the window, and the subject's reaction. Times are in seconds after
/// the window began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OutageRecord {
    pub began_s: f64,
    /// When a login succeeded again, or `None` if it never did.
    pub ended_s: Option<f64>,
    /// When the subject first answered with a status of 500 or above, as it should, or `None` if it never did.
    pub first_error_s: Option<f64>,
    pub error_status: Option<u16>,
    /// Longest time that a request of the lab waited for a response or its deadline.
    pub longest_silence_s: f64,
    /// When the subject first gave a correct response again, or `None` if it never did.
    pub recovered_s: Option<f64>,
}

/// A subject's connection pool in the window, as the subject reports it. What it does not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolWindow {
    /// The most connections it may have, over all its processes.
    pub size: u32,
    /// Number of waits for a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
    /// Their total length, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<f64>,
}

/// A number that must stay exact under concurrent increments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterCheck {
    /// Concurrent increments after the load, all of them answered.
    pub asked: u64,
    /// How much the number grew.
    pub grew: u64,
    /// Numbers that were returned twice or that lie outside the counted range.
    pub wrong_answers: u64,
    /// What the load added to the number, and the range that the ledger allows.
    pub load: u64,
    /// Answered increments of the load.
    pub load_least: u64,
    /// Sent increments of the load.
    pub load_most: u64,
}
