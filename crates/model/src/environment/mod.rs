//! The environment of a trial: the limits of its parts, the link between them, their network settings, and the
//! database.

pub(crate) mod file;
pub(crate) mod reading;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::database::Database;
use crate::reading::wording::words;
use crate::units::{format_bit_rate, format_bytes, format_duration, percent_words};

/// What surrounds a subject in a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// A name for folders and tables, such as `lan-wifi`; empty if the study has only one environment.
    pub id: String,
    /// What the subject may use.
    pub subject: Limits,
    /// What the generator may use.
    pub generator: Limits,
    /// The network between generator and subject.
    pub link: Link,
    /// Settings of the network that all parts share.
    pub network: Network,
    /// The database, for scenarios whose workload uses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Database>,
}

/// What a part of a trial may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub mode: CpuMode,
    /// CPUs: a whole number of dedicated ones, or any share of CPU time as a quota.
    pub cpus: f64,
    /// Memory of all its processes, including page cache and kernel memory, or `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Maximum number of processes and threads, or `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<u32>,
}

/// How CPUs are limited. Figures from different modes never share a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuMode {
    /// CPUs of its own, all of the time.
    #[default]
    Dedicated,
    /// Any CPU, but only for a share of each period, as containers are limited.
    Quota,
}

words!(CpuMode { Dedicated: "dedicated", Quota: "quota" });

/// A network path between two parts of a trial. The default is the loopback interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// The preset it comes from, if any: `lan-wifi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Round-trip time, half of it each way.
    pub rtt_s: f64,
    /// The largest delay added to the round trip, half of it each way, drawn uniformly for each packet. Packets keep
    /// their order.
    pub jitter_s: f64,
    /// Bits of IP packets per second in each direction, or `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// Probability, from 0 to 1, that a packet is lost, in each direction.
    pub loss: f64,
    /// Bytes that may queue for the link; more are dropped. `None` for a queue that fits the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// Seed of loss and jitter. `None` derives it from the plan's seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    pub backend: LinkBackend,
}

/// What carries a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBackend {
    /// The loopback interface if nothing is emulated, else tolok's own emulator.
    #[default]
    Auto,
    /// tolok's own emulator.
    Emulator,
    /// The kernel's emulator, where it has one.
    Netem,
    /// A pair of virtual Ethernet interfaces, which emulates nothing.
    Veth,
}

/// Settings of a trial's network namespaces. They change nothing outside the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// The TCP congestion control of all connections.
    pub congestion: String,
    /// Kernel settings by name, such as `net.ipv4.tcp_tw_reuse`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
}

/// The congestion control that most systems have.
pub const USUAL_CONGESTION: &str = "cubic";

/// Prefixes of the kernel settings that belong to a network namespace.
pub(crate) const NAMESPACED: [&str; 4] = ["net.ipv4.", "net.ipv6.", "net.core.somaxconn", "net.mptcp."];

impl Default for Network {
    fn default() -> Self {
        Self { congestion: USUAL_CONGESTION.to_owned(), sysctls: BTreeMap::new() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { mode: CpuMode::Dedicated, cpus: 1.0, memory_bytes: None, pids: None }
    }
}

impl Environment {
    /// A description for tables and reports: `1 CPU · 512 MiB · link lan-wifi (rtt 2ms, …)`. The database has its own
    /// ([`Database::describe`]), because not every scenario uses one.
    pub fn describe(&self) -> String {
        let mut parts = vec![self.subject.describe()];
        if !self.link.is_local() {
            parts.push(format!("link {}", self.link.describe()));
        }
        if self.network.congestion != USUAL_CONGESTION {
            parts.push(self.network.congestion.clone());
        }
        parts.extend(self.network.sysctls.iter().map(|(name, value)| format!("{name}={value}")));
        parts.join(" · ")
    }

    /// Whether the two differ at most in their names and databases.
    pub fn is_same_without_database(&self, other: &Self) -> bool {
        let Self { id: _, subject, generator, link, network, database: _ } = self;
        (subject, generator, link, network) == (&other.subject, &other.generator, &other.link, &other.network)
    }

    /// The first setting that needs control groups.
    pub fn needs_groups(&self) -> Option<&'static str> {
        let limits = [&self.subject, &self.generator];
        if limits.iter().any(|limits| limits.mode == CpuMode::Quota) {
            return Some("a CPU quota");
        }
        if limits.iter().any(|limits| limits.memory_bytes.is_some()) {
            return Some("a memory limit");
        }
        if self.database.as_ref().is_some_and(|database| database.memory_bytes.is_some()) {
            return Some("a memory limit of the database");
        }
        limits.iter().any(|limits| limits.pids.is_some()).then_some("a limit on processes")
    }

    /// The first setting that needs a network namespace.
    pub fn needs_namespaces(&self) -> Option<&'static str> {
        if !self.link.is_local() {
            return Some("a link");
        }
        if self.database.as_ref().is_some_and(|database| !database.link.is_local()) {
            return Some("a link to the database");
        }
        let has_settings = !self.network.sysctls.is_empty() || self.network.congestion != USUAL_CONGESTION;
        has_settings.then_some("network settings of its own")
    }
}

impl Limits {
    /// The smallest whole number of CPUs that its processes need.
    pub fn whole_cpus(&self) -> u32 {
        self.cpus.ceil().max(1.0) as u32
    }

    /// In words: `1 CPU`, `quota of 0.5 CPUs · 512 MiB`.
    pub fn describe(&self) -> String {
        let cpus = match (self.mode, self.cpus) {
            (CpuMode::Dedicated, 1.0) => "1 dedicated CPU".to_owned(),
            (CpuMode::Dedicated, cpus) => format!("{cpus} dedicated CPUs"),
            (CpuMode::Quota, 1.0) => "a quota of 1 CPU".to_owned(),
            (CpuMode::Quota, cpus) => format!("a quota of {cpus} CPUs"),
        };
        let memory = self.memory_bytes.map(|bytes| format!("{} of memory", format_bytes(bytes)));
        let pids = self.pids.map(|pids| format!("{pids} processes and threads at most"));
        [Some(cpus), memory, pids].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

impl Link {
    /// Whether it is the loopback interface.
    pub fn is_local(&self) -> bool {
        self.backend == LinkBackend::Auto && !self.emulates()
    }

    /// Whether it changes anything about packets.
    pub fn emulates(&self) -> bool {
        let changes = self.rate_bps.is_some() || self.queue_bytes.is_some();
        self.rtt_s > 0.0 || self.jitter_s > 0.0 || self.loss > 0.0 || changes
    }

    /// In words: `lan-wifi (rtt 2ms, jitter 3ms, 54 Mbit/s)`.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        if self.rtt_s > 0.0 {
            parts.push(format!("rtt {}", format_duration(self.rtt_s)));
        }
        if self.jitter_s > 0.0 {
            parts.push(format!("jitter {}", format_duration(self.jitter_s)));
        }
        parts.extend(self.rate_bps.map(format_bit_rate));
        if self.loss > 0.0 {
            parts.push(format!("loss {}%", percent_words(self.loss)));
        }
        parts.extend(self.queue_bytes.map(|bytes| format!("queue {}", format_bytes(bytes))));
        match self.backend {
            LinkBackend::Auto | LinkBackend::Emulator => {}
            LinkBackend::Netem => parts.push("netem".to_owned()),
            LinkBackend::Veth => parts.push("veth".to_owned()),
        }
        let words = if parts.is_empty() { "nothing emulated".to_owned() } else { parts.join(", ") };
        match &self.preset {
            Some(preset) => format!("{preset} ({words})"),
            None => words,
        }
    }

    /// Looks up a preset.
    ///
    /// | name | what it imitates |
    /// |---|---|
    /// | `localhost` | nothing: the loopback interface |
    /// | `lan-wifi` | a crowded 54 Mbit/s wireless network |
    /// | `wan-170ms` | a path across an ocean, between data centres |
    /// | `cloud-db-20ms` to `cloud-db-100ms` | a service that is reached over the internet |
    pub fn preset(name: &str) -> Option<Self> {
        let base = Self { preset: Some(name.to_owned()), ..Self::default() };
        match name {
            "localhost" => Some(base),
            "lan-wifi" => {
                Some(Self { rtt_s: 0.002, jitter_s: 0.003, rate_bps: Some(54e6), queue_bytes: Some(150_000), ..base })
            }
            "wan-170ms" => Some(Self { rtt_s: 0.170, ..base }),
            _ => {
                let millis: u32 = name.strip_prefix("cloud-db-")?.strip_suffix("ms")?.parse().ok()?;
                (20..=100).contains(&millis).then(|| Self { rtt_s: f64::from(millis) / 1e3, ..base })
            }
        }
    }

    /// The names of presets, for messages.
    pub const PRESETS: [&'static str; 6] =
        ["localhost", "lan-wifi", "wan-170ms", "cloud-db-20ms", "cloud-db-50ms", "cloud-db-100ms"];
}

impl Network {
    /// Looks up a preset of settings.
    ///
    /// `web-server-2020` holds what a 2020 comparison of Swoole, Node.js and Go gave its servers, as far as it belongs
    /// to a network namespace. It omits that comparison's machine-wide settings: fs.file-max,
    /// net.core.netdev_max_backlog, vm.swappiness.
    pub fn preset(name: &str) -> Option<BTreeMap<String, String>> {
        let settings: &[(&str, &str)] = match name {
            "web-server-2020" => &[
                ("net.core.somaxconn", "65535"),
                ("net.ipv4.ip_local_port_range", "2000 65535"),
                ("net.ipv4.tcp_fin_timeout", "5"),
                ("net.ipv4.tcp_rfc1337", "1"),
                ("net.ipv4.tcp_slow_start_after_idle", "0"),
                ("net.ipv4.tcp_synack_retries", "2"),
                ("net.ipv4.tcp_syncookies", "1"),
                ("net.ipv4.tcp_timestamps", "1"),
                ("net.ipv4.tcp_tw_reuse", "1"),
            ],
            _ => return None,
        };
        Some(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// The names of presets, for messages.
    pub const PRESETS: [&'static str; 1] = ["web-server-2020"];
}
