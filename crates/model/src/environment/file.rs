//! `[environment]` of a study, as written. Lists make one environment for each combination.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::JsonSchema;
use crate::database::file::DatabaseFile;
use crate::environment::{CpuMode, LinkBackend};
use crate::reading::kinds::read_kinds;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::units::{BitRate, Bytes, Percent, Seconds};

/// `[environment]` of a study.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EnvironmentFile {
    /// What the subject may use.
    #[serde(default)]
    pub subject: Table<LimitsFile>,
    /// What the generator may use.
    #[serde(default)]
    pub generator: Table<GeneratorFile>,
    /// The network between generator and subject: a preset or a table; one or several. Default `localhost`.
    pub link: Option<Spanned<Several<LinkFile>>>,
    /// Settings of a trial's network namespaces.
    #[serde(default)]
    pub network: Table<NetworkFile>,
    /// The database, for workloads with one. Default: a MariaDB with a pool of 16 connections.
    pub database: Option<Table<DatabaseFile>>,
}

/// What the subject may use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub struct LimitsFile {
    /// CPUs, one number or several: whole numbers for `dedicated`, any share of CPU time for `quota`. Default 1.
    #[schemars(with = "Option<Several<Cpus>>")]
    pub cpus: Option<Spanned<Several<f64>>>,
    /// How its CPUs are limited. Default `dedicated`.
    pub mode: Option<Several<CpuMode>>,
    /// Memory of all its processes, including page cache and kernel memory; one size or several.
    pub memory: Option<Several<Bytes>>,
    /// Maximum number of processes and threads.
    #[schemars(range(min = 1))]
    pub pids: Option<Spanned<u32>>,
}

/// What the generator may use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Generator")]
pub struct GeneratorFile {
    /// CPUs: a whole number for `dedicated`, any share of CPU time for `quota`. Default 1.
    #[schemars(with = "Option<Cpus>")]
    pub cpus: Option<Spanned<f64>>,
    /// How its CPUs are limited. Default `dedicated`.
    pub mode: Option<CpuMode>,
}

/// A number of CPUs.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used; the value is read as a number")]
pub struct Cpus(#[schemars(range(min = 0.01, max = 4096))] f64);

/// Settings of a trial's network namespaces.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Network")]
pub struct NetworkFile {
    /// The TCP congestion control of all connections; one name or several. Default `cubic`.
    pub congestion: Option<Several<String>>,
    /// A preset of kernel settings: `web-server-2020`.
    #[schemars(with = "Option<NetworkPreset>")]
    pub preset: Option<Spanned<String>>,
    /// Kernel settings of a network namespace by name, such as `"net.ipv4.tcp_tw_reuse" = 1`. They override the preset.
    #[serde(default)]
    pub sysctl: BTreeMap<Spanned<String>, Setting>,
}

/// The presets of network settings.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used; the value is read as text")]
pub enum NetworkPreset {
    /// The settings that a 2020 comparison of Swoole, Node.js and Go gave its servers.
    #[serde(rename = "web-server-2020")]
    WebServer2020,
}

/// The value of a kernel setting: a number or text.
#[derive(Debug, Clone)]
pub struct Setting(pub String);

/// A link as written: the name of a preset, or a table.
#[derive(Debug)]
pub enum LinkFile {
    Preset(String),
    Table(Box<LinkTable>),
}

/// A link in detail.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Link")]
pub struct LinkTable {
    /// A preset that the other keys override.
    pub preset: Option<Spanned<String>>,
    /// Round-trip time, half of it each way; one or several.
    pub rtt: Option<Several<Seconds>>,
    /// The largest delay added to the round trip, half of it each way, drawn uniformly for each packet; one or several.
    pub jitter: Option<Several<Seconds>>,
    /// Bits of IP packets per second in each direction; one rate or several.
    pub rate: Option<Several<BitRate>>,
    /// Share of packets lost in each direction; one or several.
    pub loss: Option<Several<Percent>>,
    /// Bytes that may queue for the link. Default: what fits the rate, at least 150kB.
    pub queue: Option<Bytes>,
    /// Seed of loss and jitter. Default: derived from the plan's seed.
    pub seed: Option<u64>,
    /// What carries the link. Default `auto`: the loopback interface if nothing is emulated, else `emulator`.
    pub backend: Option<LinkBackend>,
}

const LINK: &str = "the name of a link, such as \"lan-wifi\", or a table such as { rtt = \"20ms\" }";

read_kinds!(LinkFile, LINK,
    visit_str(text: &str) Some(LinkFile::Preset(text.to_owned()));
    [table: LinkTable] Ok(LinkFile::Table(Box::new(table)));
);

pub(crate) const SETTING: &str = "the value of a kernel setting: a number or a text";

read_kinds!(Setting, SETTING,
    visit_i64(number: i64) Some(Setting(number.to_string()));
    visit_str(text: &str) Some(Setting(text.to_owned()));
);
