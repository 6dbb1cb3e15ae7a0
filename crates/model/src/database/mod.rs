//! The database of a trial: its engine, its limits, the subject's connection pool, and the link to it.

pub(crate) mod address;
pub(crate) mod file;
pub(crate) mod reading;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::database::address::DatabaseAddress;
use crate::environment::Link;
use crate::units::{format_bytes, format_duration};

/// A database that the subject uses while it is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Database {
    pub engine: Engine,
    /// Address of the server as the study writes it, for [`Engine::External`]: `mysql://user:password@host:3306/name`,
    /// or `env:NAME` for a variable that holds such an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsn: Option<String>,
    /// Connections that the subject may open to it, over all its processes.
    pub pool: u32,
    /// CPUs of its own. `None` means one that the machine has left over, or else the generator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Memory of all its processes, including its data in the private folder. `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Maximum number of connections the server accepts.
    pub max_connections: u32,
    /// How much table data it may cache in memory.
    pub buffer_pool_bytes: u64,
    /// The network between subject and database.
    #[serde(default)]
    pub link: Link,
    /// An outage during the window, to see how the subject copes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
}

/// A database server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// A private MariaDB, started for each trial from data that was loaded once.
    #[default]
    Mariadb,
    /// A private MySQL.
    Mysql,
    /// A private PostgreSQL.
    Postgres,
    /// An existing server, which tolok only queries.
    External,
}

/// The protocol between a database and its clients. Each driver speaks one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// MySQL's, which MariaDB also speaks.
    #[default]
    Mysql,
    Postgres,
}

impl Wire {
    /// The engines that speak it, for people to read.
    pub fn title(self) -> &'static str {
        match self {
            Self::Mysql => "MariaDB and MySQL",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// Its name in subject templates.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Postgres => "postgres",
        }
    }

    /// The default port of such a server.
    pub fn usual_port(self) -> u16 {
        match self {
            Self::Mysql => 3306,
            Self::Postgres => 5432,
        }
    }
}

/// A time during which the database is down.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// When it is killed, in seconds after the window began.
    pub at_s: f64,
    /// How long it stays down before it is restarted, in seconds.
    pub for_s: f64,
}

impl Default for Database {
    fn default() -> Self {
        Self {
            engine: Engine::Mariadb,
            dsn: None,
            pool: 16,
            cpus: None,
            memory_bytes: None,
            max_connections: 200,
            buffer_pool_bytes: 128 << 20,
            link: Link::default(),
            outage: None,
        }
    }
}

impl Engine {
    pub fn title(self) -> &'static str {
        match self {
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
            Self::Postgres => "PostgreSQL",
            Self::External => "a server of the user's own",
        }
    }

    /// Its program in the toolbox, unless it is external.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Self::Mariadb => Some("mariadb"),
            Self::Mysql => Some("mysql"),
            Self::Postgres => Some("postgres"),
            Self::External => None,
        }
    }

    /// Its protocol. For an external server, only the address tells.
    pub fn wire(self) -> Option<Wire> {
        match self {
            Self::Mariadb | Self::Mysql => Some(Wire::Mysql),
            Self::Postgres => Some(Wire::Postgres),
            Self::External => None,
        }
    }
}

impl Database {
    /// Its protocol. `lookup` reads the variable that may hold the address of an external server. Without a valid
    /// address, this is MySQL's.
    pub fn wire(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Wire {
        let address = || DatabaseAddress::read(self.dsn.as_deref()?, lookup).ok();
        self.engine.wire().or_else(|| Some(address()?.wire)).unwrap_or_default()
    }

    /// Whether the lab starts it, and so owns it.
    pub fn is_private(&self) -> bool {
        self.engine != Engine::External
    }

    /// A description for tables and reports: `MariaDB · pool of 16 · rtt 20ms`. It omits default values and the
    /// account.
    pub fn describe(&self) -> String {
        let mut parts = vec![self.engine.title().to_owned(), format!("pool of {}", self.pool)];
        if !self.link.is_local() {
            parts.push(self.link.describe());
        }
        parts.extend(self.cpus.map(|cpus| format!("{cpus} CPU{} of its own", if cpus == 1 { "" } else { "s" })));
        parts.extend(self.memory_bytes.map(|bytes| format!("{} of memory", format_bytes(bytes))));
        let usual = Self::default();
        if self.max_connections != usual.max_connections {
            parts.push(format!("{} connections at most", self.max_connections));
        }
        if self.buffer_pool_bytes != usual.buffer_pool_bytes {
            parts.push(format!("buffer pool {}", format_bytes(self.buffer_pool_bytes)));
        }
        parts.extend(self.outage.map(Outage::describe));
        parts.join(" · ")
    }

    /// A full description for plans, including default values.
    pub fn describe_all(&self) -> String {
        let mut parts = vec![self.engine.title().to_owned(), format!("pool of {}", self.pool)];
        if !self.is_private() {
            parts.extend(self.place());
            return parts.join(" · ");
        }
        parts.push(if self.link.is_local() { "no link".to_owned() } else { format!("link {}", self.link.describe()) });
        parts.push(match self.cpus {
            None => "a CPU of its own if one is left, else the generator's".to_owned(),
            Some(1) => "1 CPU of its own".to_owned(),
            Some(cpus) => format!("{cpus} CPUs of its own"),
        });
        parts.push(match self.memory_bytes {
            None => "no limit of memory".to_owned(),
            Some(bytes) => format!("{} of memory", format_bytes(bytes)),
        });
        parts.push(format!("{} connections at most", self.max_connections));
        parts.push(format!("buffer pool {}", format_bytes(self.buffer_pool_bytes)));
        parts.push(match self.outage {
            None => "no outage".to_owned(),
            Some(outage) => outage.describe(),
        });
        parts.join(" · ")
    }

    /// The address of an external server, without the account.
    fn place(&self) -> Option<String> {
        let dsn = self.dsn.as_deref()?;
        match dsn.strip_prefix("env:") {
            Some(variable) => Some(format!("at the address in ${variable}")),
            None => DatabaseAddress::parse(dsn).ok().map(|address| format!("at {address}")),
        }
    }
}

impl Outage {
    /// In words: `gone for 1s at 2s`.
    fn describe(self) -> String {
        format!("gone for {} at {}", format_duration(self.for_s), format_duration(self.at_s))
    }
}
