//! `database` of an `[environment]`, as written. Lists make one environment for each combination.

use serde::Deserialize;

use crate::JsonSchema;
use crate::database::Engine;
use crate::environment::file::LinkFile;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::units::{Bytes, Seconds};

/// The database for scenarios whose workload needs one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Database")]
pub struct DatabaseFile {
    /// The server that each trial starts; one or several. Default `mariadb`.
    pub engine: Option<Spanned<Several<EngineWord>>>,
    /// An existing server instead: `mysql://user:password@host:3306/name`, the same with `postgres://`, or `env:NAME`
    /// for a variable that holds such an address.
    #[schemars(regex(pattern = "^((mysql|postgres)://.+/.+|env:[A-Za-z_][A-Za-z0-9_]*)$"))]
    pub dsn: Option<Spanned<String>>,
    /// Connections of all the subject's processes together; one number or several. Default 16.
    #[schemars(with = "Option<Several<PoolSize>>")]
    pub pool: Option<Several<u32>>,
    /// Round-trip time between subject and database; one or several. Default `0ms`.
    pub rtt: Option<Spanned<Several<Seconds>>>,
    /// The network between subject and database, if a round-trip time is not enough: a preset or a table; one or
    /// several.
    pub link: Option<Spanned<Several<LinkFile>>>,
    /// CPUs of its own. Default: one if the machine has one left over, else it shares the generator's.
    #[schemars(range(min = 1))]
    pub cpus: Option<Spanned<u32>>,
    /// Memory limit for all its processes, including its data. Default: no limit.
    pub memory: Option<Spanned<Bytes>>,
    /// Maximum number of connections it accepts. Default 200.
    #[schemars(range(min = 10, max = 100_000))]
    pub max_connections: Option<Spanned<u32>>,
    /// How much table data it may cache in memory. Default `128MiB`.
    pub buffer_pool: Option<Spanned<Bytes>>,
    /// When tolok kills and restarts it during the window. Default none.
    pub outage: Option<Table<OutageFile>>,
}

/// When the database is down.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Outage")]
pub struct OutageFile {
    /// When it is killed, from the start of the window.
    #[schemars(with = "Seconds")]
    pub at: Option<Spanned<Seconds>>,
    /// How long it stays down before it is restarted.
    #[serde(rename = "for")]
    #[schemars(with = "Seconds")]
    pub duration: Option<Spanned<Seconds>>,
}

/// The servers that tolok can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Engine")]
pub enum EngineWord {
    /// A private MariaDB.
    Mariadb,
    /// A private MySQL.
    Mysql,
    /// A private PostgreSQL.
    Postgres,
}

impl From<EngineWord> for Engine {
    fn from(word: EngineWord) -> Self {
        match word {
            EngineWord::Mariadb => Self::Mariadb,
            EngineWord::Mysql => Self::Mysql,
            EngineWord::Postgres => Self::Postgres,
        }
    }
}

/// A number of connections.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used; the value is read as a number")]
pub struct PoolSize(#[schemars(range(min = 1, max = 100_000))] u32);
