//! How far trials were kept apart from each other and from the machine.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::JsonSchema;

/// What held the parts of all trials apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct IsolationFinding {
    /// Trials that say so: those that came as far as to have parts.
    pub trials: u32,
    /// Namespaces that the subjects of all these trials had to themselves: `pid`, `mount`, `net`, `ipc`, `user`.
    pub namespaces: Vec<String>,
    /// Layouts of the control groups: `v1`, `hybrid`, `v2`, or `none`; more than one only where trials differ.
    pub groups: Vec<String>,
    /// Controllers that were used in all these trials.
    pub controllers: Vec<String>,
    /// What their control groups weigh; none where no trial was weighed, or no record says it.
    pub weights: Option<WeightsFinding>,
    /// What lay between client and subject: `host`, `private`, `veth`, `emulator`, `netem`.
    pub networks: Vec<String>,
    /// Kernel settings of the trials' own network namespaces, as read back.
    pub sysctls: Vec<SysctlFinding>,
    /// Whether the machine's scheduler weighs sessions instead of processes; none where the record does not say.
    pub autogroup: Option<bool>,
    /// What could not be had and what that means, each once.
    pub fallbacks: Vec<FallbackFinding>,
}

/// What the control groups of trials weigh when more than one wants a CPU: 100 is an ordinary group's weight. More than one
/// value only where trials differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct WeightsFinding {
    /// Trials that say so.
    pub trials: u32,
    /// Of the group in which the lab was started, below which those of the trials are; none where that is the root of all
    /// groups.
    pub own_group: Vec<u32>,
    /// Of a trial as a whole, beside whatever else is in the group in which the lab was started.
    pub whole: Vec<u32>,
    /// Of the parts of a trial among each other.
    pub parts: BTreeMap<String, Vec<u32>>,
}

/// A kernel setting of the trials' own network namespaces.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SysctlFinding {
    /// Its name: `net.ipv4.tcp_congestion_control`.
    pub name: String,
    /// Its values; more than one only where environments differ.
    pub values: Vec<String>,
    /// Its value on the machine itself, as far as that was recorded.
    pub machine: Option<String>,
}

/// Something that could not be had.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FallbackFinding {
    /// What, and what that means.
    pub text: String,
    /// In how many trials.
    pub trials: u32,
}

impl IsolationFinding {
    /// Whether autogroup can weigh the parts of the trials: processes in a group of the cpu controller escape it.
    pub fn is_autogrouped(&self) -> bool {
        self.autogroup == Some(true) && !self.controllers.iter().any(|controller| controller == "cpu")
    }
}
