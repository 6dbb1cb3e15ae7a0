//! How well trials were isolated from each other and from the machine.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::JsonSchema;

/// What isolated the parts of all trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct IsolationFinding {
    /// Trials that recorded it: those that started their parts.
    pub trials: u32,
    /// Private namespaces of the subjects in all these trials: `pid`, `mount`, `net`, `ipc`, `user`.
    pub namespaces: Vec<String>,
    /// Layouts of the control groups: `v1`, `hybrid`, `v2`, or `none`; several only if trials differ.
    pub groups: Vec<String>,
    /// Controllers that were used in all these trials.
    pub controllers: Vec<String>,
    /// Weights of their control groups; absent if no trial has a record of them.
    pub weights: Option<WeightsFinding>,
    /// The network between client and subject: `host`, `private`, `veth`, `emulator`, `netem`.
    pub networks: Vec<String>,
    /// Kernel settings of the trials' own network namespaces, as read back.
    pub sysctls: Vec<SysctlFinding>,
    /// Whether the scheduler weighs sessions instead of processes; absent if the record does not say.
    pub autogroup: Option<bool>,
    /// Isolation that was not available and what that means, each once.
    pub fallbacks: Vec<FallbackFinding>,
}

/// CPU weights of the trials' control groups: 100 is an ordinary group's weight. Several
/// values only if trials differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct WeightsFinding {
    /// Trials that recorded them.
    pub trials: u32,
    /// The group in which the lab started, the parent of the trials' groups; absent if that is the root of all groups.
    pub own_group: Vec<u32>,
    /// A whole trial, relative to the rest of the lab's group.
    pub whole: Vec<u32>,
    /// The parts of a trial, relative to each other.
    pub parts: BTreeMap<String, Vec<u32>>,
}

/// A kernel setting of the trials' own network namespaces.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SysctlFinding {
    /// Its name: `net.ipv4.tcp_congestion_control`.
    pub name: String,
    /// Its values; several only if environments differ.
    pub values: Vec<String>,
    /// Its value on the machine itself, if recorded.
    pub machine: Option<String>,
}

/// Isolation that was not available.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FallbackFinding {
    /// What is missing and what that means.
    pub text: String,
    /// Number of trials.
    pub trials: u32,
}

impl IsolationFinding {
    /// Whether autogroup can affect the parts of the trials: processes in a group of the cpu controller are exempt from it.
    pub fn is_autogrouped(&self) -> bool {
        self.autogroup == Some(true) && !self.controllers.iter().any(|controller| controller == "cpu")
    }
}
