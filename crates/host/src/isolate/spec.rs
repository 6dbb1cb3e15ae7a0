//! What a box should be, and what it turned out to be. The record stores the latter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tolok_link::LinkSpec;
pub use tolok_model::Isolation;

use crate::group::{Controller, Limits};
use crate::guard::Accounts;

/// What a box should be. By default its processes end together, and nothing else.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct BoxSpec {
    /// Control groups for the parts. `None` means no groups.
    pub groups: Option<GroupsSpec>,
    /// The network of the parts.
    pub network: NetworkSpec,
    /// A folder whose content only the box sees.
    pub run_folder: Option<RunFolder>,
    /// What keeps its programs away from the rest of the machine. `None` means nothing does.
    pub guard: Option<GuardSpec>,
    /// The private folder of the lab's session. If the lab is killed, its lock is free and the keeper removes it.
    pub session_folder: Option<PathBuf>,
}

/// What keeps the programs of a box away from the rest of the machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct GuardSpec {
    /// The accounts of the parts, if not the lab's.
    pub accounts: Option<Accounts>,
    /// What programs need; it stays visible, wherever it is.
    pub shown: Vec<PathBuf>,
    /// Folders in which programs see nothing else.
    pub hidden: Vec<PathBuf>,
}

/// Control groups, one for each part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct GroupsSpec {
    /// The parts (`subject`, `generator`, `lab`, `link`, `database`) and the most each may use.
    pub parts: BTreeMap<String, Limits>,
    /// What the groups should count and limit. What the machine lacks is left out and reported.
    pub controllers: BTreeSet<Controller>,
}

/// A folder over which a private tmpfs is mounted inside the box. It goes with the last process of the box.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunFolder {
    /// Its path, which must exist.
    pub path: PathBuf,
    /// Its capacity.
    pub size_bytes: u64,
    /// Its user and group, if not the lab's.
    pub owner: Option<(u32, u32)>,
}

/// The network of the parts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "there is only one for each box")]
pub enum NetworkSpec {
    /// The machine's own network.
    #[default]
    Host,
    /// Separate namespaces, which nothing outside can reach.
    Private {
        /// Kernel settings in every namespace, by their dotted names: `net.ipv4.tcp_congestion_control`.
        sysctls: BTreeMap<String, String>,
        /// Those of them that a trial does without if they cannot be set. The consequence is then reported as a
        /// fallback.
        #[serde(default)]
        dispensable: BTreeSet<String>,
        /// The link between client and subject. Without it they share one namespace and its loopback.
        link: Option<LinkBetween>,
        /// The link between subject and database.
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
    /// The CPUs of the emulating process. Empty means the lab's.
    pub cpus: Vec<u32>,
    /// The file to which the emulator writes what it did, one line a second.
    pub report: PathBuf,
}

/// How a link is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// A tolok process that passes packets between two TUN devices. Works on every kernel with TUN.
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
    /// Its part, which determines its control group and network.
    #[serde(default = "subject")]
    pub part: String,
    pub argv: Vec<String>,
    /// Its whole environment. It inherits nothing else.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    /// The file to which its output is appended.
    pub log: PathBuf,
    /// The CPUs it may use.
    pub cpus: Vec<u32>,
    /// How far it is trusted.
    #[serde(default)]
    pub trust: Trust,
    /// The signal that stops it: `TERM`, `INT`, `QUIT` or `WINCH`, or `KILL` for a process that leaves nothing worth
    /// keeping.
    pub stop: String,
}

/// How far a process of a box is trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Not at all: a third-party program.
    #[default]
    Guarded,
    /// A tolok process that drops its rights itself once it has opened its files.
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
    /// Its part.
    pub part: String,
    /// In words: `exit code 3`, `signal 9`.
    pub how: String,
}
