//! What a box should be, and what it turned out to be, which the record keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tolok_link::LinkSpec;
pub use tolok_model::Isolation;

use crate::group::{Controller, Limits};
use crate::guard::Accounts;

/// What a box should be. The default is processes that end together, and nothing else.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct BoxSpec {
    /// Control groups for the parts; none at all without this.
    pub groups: Option<GroupsSpec>,
    /// Which network the parts are in.
    pub network: NetworkSpec,
    /// A folder that only the box sees the inside of.
    pub run_folder: Option<RunFolder>,
    /// What keeps its programs away from the rest of the machine; nothing without this.
    pub guard: Option<GuardSpec>,
    /// The private folder of the lab's session. The keeper removes it where the lab is killed: the lock in it is free then.
    pub session_folder: Option<PathBuf>,
}

/// What keeps the programs of a box away from the rest of the machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct GuardSpec {
    /// The accounts of the parts, if they are not to be the lab's.
    pub accounts: Option<Accounts>,
    /// What programs need, wherever it lies.
    pub shown: Vec<PathBuf>,
    /// Folders of which they are to see nothing else.
    pub hidden: Vec<PathBuf>,
}

/// Control groups, one a part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct GroupsSpec {
    /// The parts (`subject`, `generator`, `lab`, `link`, `database`) and what each may use at most.
    pub parts: BTreeMap<String, Limits>,
    /// What the groups are to count and limit. What the machine does not offer is left out, and said.
    pub controllers: BTreeSet<Controller>,
}

/// A folder over which a private tmpfs is mounted inside the box. It goes with the last process of the box.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunFolder {
    /// Where; it must exist.
    pub path: PathBuf,
    /// What it holds at most.
    pub size_bytes: u64,
    /// User and group that own it, if not those of the lab.
    pub owner: Option<(u32, u32)>,
}

/// Which network the parts are in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "there is one for each box, and it is not kept in numbers")]
pub enum NetworkSpec {
    /// The machine's own.
    #[default]
    Host,
    /// Namespaces of their own, which nothing outside can reach.
    Private {
        /// Kernel settings in every namespace, by their dotted names: `net.ipv4.tcp_congestion_control`.
        sysctls: BTreeMap<String, String>,
        /// Those of them that a trial does without where they cannot be had; what that means is then a fallback.
        #[serde(default)]
        dispensable: BTreeSet<String>,
        /// What lies between client and subject; without it they share one namespace and its loopback.
        link: Option<LinkBetween>,
        /// What lies between subject and database.
        #[serde(default)]
        database_link: Option<LinkBetween>,
    },
}

/// A link between two parts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LinkBetween {
    /// What it does to packets.
    pub spec: LinkSpec,
    pub backend: Backend,
    /// CPUs of the process that emulates; none named means those of the lab.
    pub cpus: Vec<u32>,
    /// File to which the emulator writes what it did, a line a second.
    pub report: PathBuf,
}

/// What a link is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// A process of ours that passes packets between two TUN devices. Works on every kernel with TUN.
    Emulator,
    /// A veth pair with the kernel's network emulator at both ends, where the kernel has it.
    Netem,
    /// A veth pair that emulates nothing.
    Veth,
}

impl Backend {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Emulator => "emulator",
            Self::Netem => "netem",
            Self::Veth => "veth",
        }
    }
}

/// A process to start in a box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// A name for events.
    pub name: String,
    /// The part it belongs to, whose control group it joins and in whose network it is.
    #[serde(default = "subject")]
    pub part: String,
    pub argv: Vec<String>,
    /// Its whole environment; nothing else is inherited.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    /// File that its output is appended to.
    pub log: PathBuf,
    /// The CPUs it may use.
    pub cpus: Vec<u32>,
    /// How far it is trusted.
    #[serde(default)]
    pub trust: Trust,
    /// The signal that stops it: `TERM`, `INT`, `QUIT` or `WINCH`; or `KILL`, for what leaves nothing worth keeping.
    pub stop: String,
}

/// How far a process of a box is trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Not at all: a program of others.
    #[default]
    Guarded,
    /// It is tolok's, and gives up its rights itself when it has opened its files.
    GuardsItself,
    /// A command of the lab.
    Lab,
}

fn subject() -> String {
    "subject".to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitReport {
    pub name: String,
    /// The part that it belonged to.
    pub part: String,
    /// In words: `exit code 3`, `signal 9`.
    pub how: String,
}
