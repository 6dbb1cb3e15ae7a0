//! What is stored of a trial's database, and of what the subject did with it.

use serde::{Deserialize, Serialize};

use crate::record::resources::{LinkWindow, Resources};

/// The database in the window. What it does not tell is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseWindow {
    /// Which server and version, as it says itself: `10.11.19-MariaDB`.
    pub version: String,
    /// What its processes used, or `None` for a server that is not ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Statements that it carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// Connections that were opened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_opened: Option<u64>,
    /// Most connections that were open at one of the readings, the lab's own not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_max: Option<u64>,
    /// Most threads that were busy with a statement at one of the readings, the lab's own not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_max: Option<u64>,
    /// Threads that were busy with a statement, on average over the readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_mean: Option<f64>,
    /// Connections that it refused since the trial began, because there were as many as it accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_connections: Option<u64>,
    /// Rows that were read for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_sent: Option<u64>,
    /// Bytes that it sent to its clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// The link between subject and database, where one was emulated by tolok itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkWindow>,
    /// What happened when it was taken away, if the study asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageRecord>,
}

/// A database that was killed and started again in the window, and what the subject did about it. Times are in seconds after
/// the window began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OutageRecord {
    pub began_s: f64,
    /// When a login succeeded again, or `None` if it never did.
    pub ended_s: Option<f64>,
    /// When the subject first answered with a status from 500 on, as it owes, or `None` if it never did.
    pub first_error_s: Option<f64>,
    pub error_status: Option<u16>,
    /// Longest time that a question of the lab's went without any answer, or until its deadline.
    pub longest_silence_s: f64,
    /// When the subject first gave a good answer again, or `None` if it never did.
    pub recovered_s: Option<f64>,
}

/// A subject's pool of connections in the window, as the subject tells. What it does not tell is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolWindow {
    /// Connections that it may have, over all its processes.
    pub size: u32,
    /// Times that a request had to wait for a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
    /// For how long, summed, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<f64>,
}

/// A number that must be exactly right under concurrent increments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterCheck {
    /// Increments that were asked for at once, after the load, all of them answered.
    pub asked: u64,
    /// By how much the number grew.
    pub grew: u64,
    /// Numbers that were answered more than once, or that lie outside what was counted.
    pub wrong_answers: u64,
    /// What the load added to the number, and the least and the most that the ledger allows.
    pub load: u64,
    /// Increments that the load saw answered.
    pub load_least: u64,
    /// Increments that the load sent.
    pub load_most: u64,
}
